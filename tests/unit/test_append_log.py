"""append-log: its settings, plans, results and figures, with values worked out by hand."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from append_log_support import (
    LOG_STUDY,
    MS,
    Made,
    line_latencies,
    log_case,
    log_result,
    outcome_of,
    stream_of,
)
from host_support import cases_of
from rich.console import Console

from ffslab.errors import DamagedResultError, SpecError
from ffslab.protocol.plan import parse_step
from ffslab.protocol.records import RecordStream
from ffslab.targets.virtual_flash import plans
from ffslab.workloads.append_log import terminal
from ffslab.workloads.append_log.keys import AppendLog
from ffslab.workloads.append_log.result import (
    check_records,
    compared_times_ns,
    line_latency,
    result_keys,
    slow_share,
)
from ffslab.workloads.figures import criteria_of, figures_of, tasks_of

SYNCED = {
    "append": line_latencies(MS // 100, MS // 100, 0),
    "sync": line_latencies(1 * MS, 90 * MS, 10),
    "append-sync": line_latencies(1 * MS, 90 * MS, 10),
}


def steps_of(plan: str) -> list[tuple[str, dict[str, str]]]:
    lines = plan.splitlines()[1:]
    return [(verb, dict(keys)) for verb, keys in map(parse_step, lines)]


def keys_of(plan: str, verb: str) -> dict[str, str]:
    (keys,) = [keys for name, keys in steps_of(plan) if name == verb]
    return keys


# Settings.


def test_the_agent_gets_every_key() -> None:
    case = log_case(
        line_bytes="1 KiB", fsync_every=10, sync="fdatasync", rotate_bytes="64 KiB", keep=2
    )
    assert keys_of(plans(case)[-1], "append-log") == {
        "dir": "/mnt",
        "lines": "1000",
        "line_bytes": "1024",
        "interval_us": "100000",
        "fsync_every": "10",
        "sync": "fdatasync",
        "rotate_bytes": "65536",
        "keep": "2",
        "verify": "0",
        "seed": "1",
    }


def test_keys_that_mean_nothing_are_left_out_of_what_a_guest_is_told() -> None:
    never = AppendLog(fsync_every=0, sync="fdatasync", keep=9)
    assert never.without_idle_keys() == AppendLog(fsync_every=0)
    every = AppendLog(sync="fdatasync", rotate_bytes=4096, keep=9)
    assert every.without_idle_keys() == every


def test_how_much_all_files_hold() -> None:
    assert AppendLog(lines=100, line_bytes=64).kept_bytes == 6400
    # Three old files and the one being written, of 1,000 bytes at most.
    rotated = AppendLog(lines=100, line_bytes=64, rotate_bytes=1000, keep=3)
    assert rotated.kept_bytes == 4000
    assert replace(rotated, lines=10).kept_bytes == 640


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"line_bytes": 15}, "line_bytes is 15, not from 16"),
        ({"line_bytes": 65_537}, "line_bytes is 65537"),
        ({"rotate_bytes": 127}, "rotate_bytes 127 B is less than one line of 128 B"),
        # 1,000 lines of 64 KiB + 1: above four times 16 MiB is 1,024 lines.
        ({"line_bytes": 65_536, "lines": 1025}, "the log grows to"),
    ],
)
def test_settings_that_contradict_each_other(keys: dict[str, Any], message: str) -> None:
    lines = keys.pop("lines", 1000)
    stated = "".join(f"{name} = {value}\n" for name, value in keys.items())
    text = LOG_STUDY.replace("lines = 1000\n", f"lines = {lines}\n{stated}")
    with pytest.raises(SpecError, match=message) as caught:
        cases_of(text)
    assert caught.value.cause and caught.value.remedy


@pytest.mark.parametrize(
    "keys",
    [
        {"line_bytes": 16},
        {"line_bytes": 65_536},
        {"rotate_bytes": 128},
        {"line_bytes": 65_536, "rotate_bytes": 65_536, "keep": 0},
    ],
)
def test_settings_at_their_bounds(keys: dict[str, Any]) -> None:
    assert log_case(**keys).workload.kind == "append-log"


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("{ valid_percent = 50, settle_ms = 5 }", "settle_ms is 5"),
        ("{ rate_percent = 50, settle_ms = 5 }", "has no invalid data"),
        ('"image"', "it is for workload tree"),
    ],
)
def test_states_that_it_cannot_have(state: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        cases_of(LOG_STUDY.replace("[base.workload]", f"state = {state}\n[base.workload]"))


# Plans.


@pytest.mark.parametrize(
    ("state", "keys"),
    [
        ('"free"', {"state": "free"}),
        (
            "{ valid_percent = 85 }",
            {"state": "aged", "valid_percent": "85", "invalid_percent": "0"},
        ),
        ('"saturated"', {"state": "saturated"}),
        (
            "{ rate_percent = 60 }",
            {"state": "filled", "rate_percent": "60", "partition_bytes": "16777216"},
        ),
    ],
)
def test_another_guest_prepares_the_state(state: str, keys: dict[str, str]) -> None:
    text = LOG_STUDY.replace("[base.workload]", f"state = {state}\n[base.workload]")
    preparing, own = plans(cases_of(text)[0])
    assert keys_of(preparing, "prepare") == {"dir": "/mnt", **keys, "seed": "1"}
    assert "append-log" not in [verb for verb, _ in steps_of(preparing)]
    # The second one mounts what the first has left, and erases nothing.
    assert not {"erase", "prepare", "ubi-mkvol"} & {verb for verb, _ in steps_of(own)}


@pytest.mark.parametrize(
    ("state", "removal"),
    [
        ('"free"', {}),
        ("{ valid_percent = 85 }", {}),
        ("{ rate_percent = 60 }", {}),
        ('"aged"', {"remove": "1", "settle_ms": "0"}),
        ('"saturated"', {"remove": "1", "settle_ms": "0"}),
        ("{ kind = 'saturated', settle_ms = 7 }", {"remove": "1", "settle_ms": "7"}),
        ("{ invalid_percent = 25, settle_ms = 7 }", {"remove": "1", "settle_ms": "7"}),
        ("{ invalid_percent = 25, remount = false }", {"remove": "1", "settle_ms": "0"}),
    ],
)
def test_invalid_data_goes_right_before_the_log(state: str, removal: dict[str, str]) -> None:
    text = LOG_STUDY.replace("[base.workload]", f"state = {state}\n[base.workload]")
    keys = keys_of(plans(cases_of(text)[0])[-1], "append-log")
    assert {key: keys[key] for key in ("remove", "settle_ms") if key in keys} == removal


def test_what_is_appended_changes_nothing_of_the_preparation() -> None:
    assert plans(log_case(line_bytes=64))[0] == plans(log_case(fsync_every=0, keep=1))[0]


def test_without_a_remount_one_guest_does_both() -> None:
    text = LOG_STUDY.replace("[base.workload]", "state = { remount = false }\n[base.workload]")
    (only,) = plans(cases_of(text)[0])
    verbs = [verb for verb, _ in steps_of(only)]
    assert verbs.index("erase") < verbs.index("prepare") < verbs.index("append-log")


# Results.


def test_what_a_line_costs() -> None:
    made = Made(
        SYNCED, tasks={"init": 2000, "kworker/0:1": 100}, flush_pages=60, pages_read=30, erases=16
    )
    log = log_result(made)["append_log"]
    # (2,000 + 100 + 60) pages, 30 reads and 16 erases for 1,000 lines.
    assert (log["pages_per_line"], log["pages_read_per_line"]) == (2.16, 0.03)
    assert log["erases_per_1000_lines"] == 16
    # 1,000 × 0.01 ms in write(), 990 × 1 ms and 10 × 90 ms in syncs: 1.90 ms for a line.
    assert log["line_mean_ns"] == pytest.approx(1.9 * MS)
    assert log["slow_share"] == 0.01
    assert [(t["phase"], t["name"], t["pages_programmed"]) for t in log["tasks"]] == [
        ("append", "init", 2000),
        ("append", "kworker/0:1", 100),
        ("flush", "kworker/u2:1", 60),
    ]
    # 1,000 lines of 128 bytes.
    numbers = ("lines", "lines_done", "synced", "rotations", "bytes", "stopped")
    assert [log[key] for key in numbers] == [1000, 1000, 1000, 0, 128_000, ""]


def test_reading_back_is_no_part_of_what_a_line_costs() -> None:
    made = Made(SYNCED, flush_pages=60, pages_read=30, erases=16)
    without, verified = (log_result(one) for one in (made, replace(made, verify="ok")))
    assert verified["append_log"] == without["append_log"]
    assert [phase["phase"] for phase in verified["phases"]] == [
        "append",
        "flush",
        "verify",
        "workload",
    ]


def test_the_phases_together_are_the_workload() -> None:
    phases = {p["phase"]: p for p in log_result(Made(SYNCED, flush_pages=48, erases=3))["phases"]}
    whole = phases["workload"]
    assert whole["pages_programmed"] == 2048 and whole["blocks_erased"] == 3
    assert whole["duration_ns"] == 11 * 10**9
    # 2,048 pages of 2,048 bytes for 1,000 lines of 128.
    assert whole["write_amplification"] == pytest.approx(2048 * 2048 / 128_000)


def test_lines_without_a_sync() -> None:
    result = log_result(Made({"append": line_latencies(MS, 11 * MS, 5)}, synced=0))
    line = line_latency(result["latencies"])
    assert line is not None and line["op"] == "append"
    assert result["append_log"]["slow_share"] == 0.005
    assert compared_times_ns(result) == {
        "mean time of a line": pytest.approx(1.05 * MS),
        "p99 of a line": pytest.approx(MS, rel=0.004),
    }
    assert line_latency([{"op": "append-sync", "count": 0}, *result["latencies"]]) == line


def test_slow_is_more_than_ten_times_the_median() -> None:
    def share(slow_ns: int) -> float | None:
        result = log_result(Made({"append": line_latencies(100, slow_ns, 250)}))
        return slow_share(result["latencies"][0])

    # Values below 128 are their own bucket; 1,000 is in the bucket from 1,000 to 1,003.
    assert share(1000) == 0
    assert share(1004) == 0.25
    assert slow_share({"count": 0}) is None


def test_records_that_contradict_each_other() -> None:
    wrong = (
        {"lines_done": 1001},
        {"synced": 1001},
        {"stopped": "EIO"},
        {"rotations": None},
        {"bytes": -1},
        {"lines": True},
    )
    for more in wrong:
        made = Made(SYNCED, more=more)
        with pytest.raises(DamagedResultError):
            check_records(stream_of(made))
        assert outcome_of(made).kind == "crash"
        assert log_result(made)["append_log"] is None
    check_records(stream_of(Made(SYNCED)))


def test_a_partition_that_fills_up() -> None:
    made = Made(SYNCED, done=700, synced=700, stopped="ENOSPC")
    outcome = outcome_of(made)
    assert outcome.kind == "short" and outcome.short is not None
    assert outcome.short.plain == {
        "what": "lines",
        "measured": 700,
        "asked": 1000,
        "stopped": "ENOSPC",
        "accepted": False,
    }
    assert "after 700 of 1,000 lines" in outcome.reason
    # 2,000 pages for 700 lines; there was no flush, and no phase `workload`.
    result = log_result(made)
    assert result["append_log"]["pages_per_line"] == pytest.approx(2000 / 700)
    assert [phase["phase"] for phase in result["phases"]] == ["append"]


def test_a_line_that_is_read_back_wrong_is_corruption() -> None:
    assert outcome_of(Made(SYNCED, verify="EBADMSG")).kind == "corrupt"


def test_a_guest_that_ends_in_the_middle() -> None:
    whole = stream_of(Made(SYNCED)).records
    cut = [record for record in whole if not str(record.get("label", "")).endswith(":end")]
    for records in (cut, [record for record in whole if record["type"] != "flash"]):
        stream = RecordStream(tuple(records), (), cut=True)
        log = result_keys(log_case(), stream, ())["append_log"]
        assert (log["pages_per_line"], log["erases_per_1000_lines"]) == (None, None)
        assert log["line_mean_ns"] == pytest.approx(1.9 * MS)
    assert result_keys(log_case(), RecordStream((), (), cut=True), ()) == {"append_log": None}


def test_no_line_at_all() -> None:
    result = log_result(Made({}, done=0, synced=0, stopped="ENOSPC"))
    log = result["append_log"]
    assert (log["pages_per_line"], log["line_mean_ns"], log["slow_share"]) == (None, None, None)
    assert compared_times_ns(result) == {}
    assert terminal.cells(result) == ("", "", "", "", "")


# Figures, and the terminal.


def test_figures() -> None:
    made = Made(SYNCED, tasks={"init": 900, "jffs2_gcd_mtd0": 100}, erases=5)
    result = log_result(made)
    found = {figure.key: figure for figure in figures_of(result)}
    values = {key: found[key].value for key in found if key.startswith("workload/line.")}
    assert values == {
        "workload/line.pages_per_line": 1.0,
        "workload/line.pages_read_per_line": 0,
        "workload/line.erases_per_1000_lines": 5,
        "workload/line.line_mean_ns": pytest.approx(1.9 * MS),
        "workload/line.slow_share": 0.01,
        # 8,192 pages × 100,000 programs, one for each line of 10 ms; a year has 365.25 days.
        "workload/line.life_years": pytest.approx(8192e5 * 0.01 / 31_557_600),
    }
    main = {key for key, figure in found.items() if figure.main}
    assert {
        "workload/line.pages_per_line",
        "append/append-sync.p99_ns",
        "workload.blocks_erased",
    } <= main
    assert found["virtual_ns"].value == 14 * 10**9
    assert "append/sync.p99_ns" in found and "append/sync.p99_ns" not in main
    work = {(task.place, task.task): task.counts["pages_programmed"] for task in tasks_of(result)}
    assert work[("append", "jffs2_gcd_mtd0")] == 100


def with_space(result: dict[str, Any]) -> Any:
    """With what statfs said of the empty partition and of the full one, and of memory."""
    mib = 2**20
    empty = {"label": "mount", "available_bytes": 15 * mib, "mem_free_bytes": 0}
    last = {"label": "flush:end", "available_bytes": 9 * mib, "mem_free_bytes": 70 * mib}
    return result | {"space": [one | {"page_cache_bytes": 8 * mib} for one in (empty, last)]}


def test_what_people_decide_by() -> None:
    made = Made(SYNCED, tasks={"init": 2000}, flush_pages=60, erases=16)
    result = with_space(log_result(made))
    ram_bytes = result["spec"]["board"]["ram_bytes"]
    mib = 2**20
    told = [
        (one.title, one.figure.key, one.figure.value, one.aspect, one.headline)
        for one in criteria_of(result)
    ]
    line = "append/append-sync"
    assert told == [
        # 1.90 ms for a line, and of the flush of 1 s for 1,000 lines 1 ms.
        (
            "a line, with its part of the flush at the end",
            "workload/line.on_flash_mean_ns",
            pytest.approx(2.9 * MS),
            "time",
            True,
        ),
        # 990 of 1 ms, 10 of 90 ms; the 990th is 1 ms.
        ("the wait for a line, mean", f"{line}.mean_ns", pytest.approx(1.89 * MS), "time", False),
        (
            "the wait for a line, 99 % of the times",
            f"{line}.p99_ns",
            pytest.approx(MS, rel=0.004),
            "wait",
            False,
        ),
        ("the wait for a line, longest time", f"{line}.max_ns", 90 * MS, "wait", False),
        ("pages programmed per line", "workload/line.pages_per_line", 2.06, "wear", False),
        ("blocks erased per 1,000 lines", "workload/line.erases_per_1000_lines", 16, "wear", False),
        # 16 of 128 blocks were erased once.
        ("most erases of a block", "workload.erases_max", 1, "wear", False),
        (
            "wear spread, most minus least erased block",
            "workload.erases_spread",
            1,
            "wear",
            False,
        ),
        # 8,192 pages × 100,000 ÷ 2.06 for a line of 10 ms.
        ("life at this pace", "workload/line.life_years", pytest.approx(0.126014), "life", False),
        (
            "space for files on the empty partition",
            "mount.available_bytes",
            15 * mib,
            "space",
            False,
        ),
        ("space left after the last line", "flush:end.available_bytes", 9 * mib, "space", False),
        (
            "RAM in use after the last line (kernel and file system)",
            "flush:end.memory_used_bytes",
            ram_bytes - 78 * mib,
            "memory",
            False,
        ),
    ]
    assert not any(one.in_memory for one in criteria_of(result))


WAITS = [f"the wait for a line, {of}" for of in ("mean", "99 % of the times", "longest time")]


def test_a_line_that_is_not_synced_ends_in_memory_where_the_file_system_writes_back() -> None:
    jffs2, ubifs = cases_of(LOG_STUDY)
    unsynced = Made({"append": line_latencies(MS, 11 * MS, 5)}, synced=0)
    for case, made, late in (
        (ubifs, unsynced, sorted(WAITS)),
        (jffs2, unsynced, []),
        (ubifs, Made(SYNCED), []),
    ):
        found = criteria_of(with_space(log_result(made, case)))
        assert sorted(one.title for one in found if one.in_memory) == late


def test_without_a_line_or_a_flush_nothing_is_decided_by_them() -> None:
    def titles(result: dict[str, Any]) -> list[str]:
        return [one.title for one in criteria_of(with_space(result))]

    full = titles(log_result(Made(SYNCED, done=700, synced=700, stopped="ENOSPC")))
    assert full[:3] == WAITS
    assert titles(log_result(Made({}, done=0, synced=0, stopped="ENOSPC"))) == []
    assert titles(log_result(Made(SYNCED, more={"bytes": -1}))) == []
    # A stranger's result may have a mean of no line.
    result = log_result(Made(SYNCED))
    for change in ({"lines_done": 0}, {"line_mean_ns": None}):
        strange = result | {"append_log": result["append_log"] | change}
        assert "a line, with its part of the flush at the end" not in titles(strange)


def test_the_terminal() -> None:
    result = log_result(Made(SYNCED, synced=990, rotations=3, erases=5))
    assert terminal.cells(result) == ("1.00 ms", "1.00 ms", "90.0 ms", "2.00", "5.0")
    assert len(terminal.HEADINGS) == len(terminal.cells(result))
    console = Console(file=io.StringIO(), width=80)
    terminal.print_case(console, result)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "1,000 of 1,000 lines, 990 synced, 3 rotations\n" in shown
    assert "append, init: 0 pages read, 2,000 programmed" in shown
