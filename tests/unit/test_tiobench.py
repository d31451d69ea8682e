"""tiobench: its settings, plans, results and figures, with values worked out by hand."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from host_support import cases_of
from made_records import (
    counters,
    end_record,
    latency_record,
    made_run,
    phase_record,
    planned,
    read_records,
    step_record,
    tasks_record,
)
from made_records import task as made_task
from rich.console import Console
from test_report_support import charts_of, page_of_words, plain, section_of

from ffslab.errors import DamagedResultError, SpecError
from ffslab.model.case import Case
from ffslab.protocol.plan import parse_step
from ffslab.results.casefile import case_result
from ffslab.results.outcome import judge
from ffslab.targets.virtual_flash import plans
from ffslab.workloads.figures import criteria_of, figures_of, tasks_of
from ffslab.workloads.results import asked_of
from ffslab.workloads.tiobench import report, terminal
from ffslab.workloads.tiobench.keys import Tiobench
from ffslab.workloads.tiobench.result import (
    check_records,
    compared_times_ns,
    result_keys,
    shortfall,
)
from loaded_support import load_run

S = 10**9
MIB = 2**20
STUDY = """
schema = 1
name = "tio"
title = "A small one"

[base]
board = "apf27"
partition_bytes = "16 MiB"

[base.workload]
kind = "tiobench"
file_bytes = "4 MiB"
random_bytes = "1 MiB"
block_bytes = "1 MiB"

[axes]
filesystem = ["jffs2", "ubifs"]
"""
COUNTERS = ("pages_read", "pages_programmed", "blocks_erased")
CHIP = ("chip_read_ns", "chip_program_ns", "chip_erase_ns", "chip_transfer_ns")
# The requests of each phase in ns; 1 MiB each, so that 4 of them are 4 MiB.
TIMES: Mapping[str, Sequence[int]] = {
    "write": (S, S, 3 * S, 11 * S),
    "random-write": (2 * S,),
    "read": (S // 4, S // 4, S // 4, S // 4),
    "random-read": (S // 2,),
}


def busy(programmed: int, busy_ns: int) -> dict[str, int]:
    chip = dict.fromkeys(CHIP, 0)
    return counters(programmed=programmed, **{**chip, "chip_program_ns": busy_ns})


def records_of(
    times: Mapping[str, Sequence[int]] = TIMES, stopped: str = "", faster: int = 1
) -> list[dict[str, Any]]:
    """A guest whose pages are 2,048 bytes, which programs 1,000 pages in a phase and 24 in its
    flush, and whose chip is busy for a quarter of each phase; a flush takes 4 s.
    """
    found: list[dict[str, Any]] = [mtd()]
    now, pages, busy_ns = 100 * S, 0, 0
    for name, values in times.items():
        values = [value // faster for value in values]
        took, writes = sum(values), name.endswith("write")
        before, wrote = busy(pages, busy_ns), 1000 if writes else 0
        pages, busy_ns = pages + wrote, busy_ns + took // 4
        errno = stopped if name == list(times)[-1] else ""
        flash = (before, busy(pages, busy_ns))
        moved = {"bytes_written" if writes else "bytes_read": len(values) * MIB}
        op = "write" if writes else "read"
        found += [
            phase_record("tiobench", name, (now, now + took), flash, errno, **moved),
            latency_record("tiobench", name, op, values),
            tasks_record("tiobench", name, [task("init", wrote)]),
            tiobench(name, values, now, errno),
        ]
        now += took
        if writes and not errno:
            flash = (busy(pages, busy_ns), busy(pages + 24, busy_ns))
            found.append(phase_record("tiobench", f"{name}-flush", (now, now + 4 * S), flash))
            now, pages = now + 4 * S, pages + 24
    step = step_record("tiobench", 100 * S, now, stopped)
    return [*found, {**step, "may_fill": True}, end_record(now + S, stopped)]


def mtd() -> dict[str, Any]:
    sizes = {"size_bytes": 16 * MIB, "erase_block_bytes": 131_072, "page_bytes": 2048}
    rest = {"subpage_bytes": 512, "oob_bytes": 64, "blocks": 128, "bad_blocks": 0}
    return {"type": "mtd", "name": "data", **sizes, **rest}


def task(name: str, pages: int) -> dict[str, Any]:
    return made_task(name, pages_programmed=pages, busy_ns=5)


def tiobench(name: str, values: Sequence[int], start: int, stopped: str) -> dict[str, Any]:
    at = values.index(max(values))
    slowest = {"thread": 0, "request": at, "offset": at * MIB, "t_start_ns": start}
    return {
        "type": "tiobench",
        "phase": name,
        "threads": 1,
        "block_bytes": MIB,
        "file_bytes": 4 * MIB,
        "requests": len(values) + bool(stopped),
        "requests_done": len(values),
        "above_2s": sum(value > 2 * S for value in values),
        "above_10s": sum(value > 10 * S for value in values),
        "stopped": stopped,
        "slowest": {**slowest, "latency_ns": max(values), "tasks": [task("kworker/0:1", 64)]},
    }


def tio_case(**keys: Any) -> Case:
    text = STUDY
    for name, value in keys.items():
        lines = [line for line in text.splitlines() if not line.startswith(f"{name} =")]
        at = lines.index('kind = "tiobench"') + 1
        text = "\n".join([*lines[:at], f"{name} = {json.dumps(value)}", *lines[at:]])
    return cases_of(text)[0]


def result_of(records: Sequence[Mapping[str, Any]], case: Case | None = None) -> Any:
    case, stream = case or tio_case(), read_records(records)
    outcome = judge(stream, "", 0, None, asked_of(case.workload, own=True))
    return case_result(case, outcome, stream, None)


def keys_of(plan: str, verb: str) -> dict[str, str]:
    steps = map(parse_step, plan.splitlines()[1:])
    (keys,) = [dict(keys) for name, keys in steps if name == verb]
    return keys


# Settings and plans.


def test_the_agent_gets_every_key() -> None:
    case = tio_case(
        threads=2,
        random_bytes="2 MiB",
        sync="end",
        contents="zeros",
        drop_caches=False,
        full=True,
    )
    assert keys_of(plans(case)[-1], "tiobench") == {
        "dir": "/mnt",
        "threads": "2",
        "file_bytes": "4194304",
        "random_bytes": "2097152",
        "block_bytes": "1048576",
        "sync": "end",
        "contents": "zeros",
        "drop_caches": "0",
        "full": "1",
        "seed": "1",
    }
    with pytest.raises(SpecError, match="have no block of 1 MiB for each of 2"):
        tio_case(threads=2)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"block_bytes": 15}, "block_bytes is 15, not from 16"),
        ({"block_bytes": 2**20 + 1}, "block_bytes is 1048577"),
        ({"file_bytes": MIB - 1}, "have no block"),
        ({"random_bytes": MIB - 1}, "have no block"),
        ({"file_bytes": 16 * MIB + 1}, "on a partition of"),
        # Twice 2**17 + 2**15 requests: 327,680.
        ({"block_bytes": 32, "full": True}, "would record 327,680 latencies"),
    ],
)
def test_settings_that_contradict_each_other(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message) as caught:
        tio_case(**keys)
    assert caught.value.cause and caught.value.remedy


def test_settings_at_their_bounds() -> None:
    assert tio_case(file_bytes="16 MiB").workload.spec["file_bytes"] == 16 * MIB
    assert tio_case(file_bytes="17 MiB", contents="zeros").workload.kind == "tiobench"
    # Twice 2**15 + 2**13 requests: 81,920.
    assert tio_case(block_bytes=128, full=True).workload.kind == "tiobench"


def test_another_guest_prepares_the_state() -> None:
    text = STUDY.replace("[base.workload]", 'state = "aged"\n[base.workload]')
    preparing, own = plans(cases_of(text)[0])
    assert keys_of(preparing, "prepare")["state"] == "aged"
    assert keys_of(own, "tiobench")["remove"] == "1"
    bad = STUDY.replace("[base.workload]", "state = { settle_ms = 5 }\n[base.workload]")
    with pytest.raises(SpecError, match="settle_ms"):
        cases_of(bad)


# Results.


def test_throughput_latency_and_flash_of_a_phase() -> None:
    phases = {one["phase"]: one for one in result_of(records_of())["tiobench"]["phases"]}
    assert list(phases) == ["write", "random-write", "read", "random-read"]
    write = phases["write"]
    # 4 MiB in 1 + 1 + 3 + 11 = 16 s, and in 20 s with the flush.
    assert write["throughput_bytes_per_s"] == 4 * MIB / 16
    assert write["on_flash_bytes_per_s"] == 4 * MIB / 20
    assert write["off_chip_share"] == 0.75
    # One of four is above 10 s, two are above 2 s.
    assert (write["above_2s"], write["above_10s"]) == (2, 1)
    assert (write["above_2s_share"], write["above_10s_share"]) == (0.5, 0.25)
    # Rank 4 of 4, the middle of its bucket.
    assert write["p95_ns"] == pytest.approx(11 * S, rel=0.004)
    # 1,000 pages and 24 of the flush, of 2 KiB: 2 MiB for 4 MiB.
    assert write["on_flash_pages"] == 1024 and write["on_flash_amplification"] == 0.5
    assert write["slowest"]["request"] == 3 and write["slowest"]["latency_ns"] == 11 * S
    assert write["slowest"]["tasks"][0]["pages_programmed"] == 64
    read = phases["read"]
    assert read["throughput_bytes_per_s"] == 4 * MIB and read["op"] == "read"
    assert read["on_flash_bytes_per_s"] is read["on_flash_amplification"] is None
    assert phases["random-write"]["on_flash_amplification"] == 2.0
    assert phases["random-read"]["throughput_bytes_per_s"] == 2 * MIB


def test_the_95th_percentile_is_neither_the_90th_nor_the_99th() -> None:
    # 100 requests of 1, 2, … 100 ms: the 95th of them in order took 95 ms.
    times = {"write": tuple(ms * 10**6 for ms in range(100, 0, -1))}
    (write,) = result_of(records_of(times))["tiobench"]["phases"]
    assert write["p95_ns"] == pytest.approx(95 * 10**6, rel=0.004)


def test_figures_tasks_and_criteria() -> None:
    result = result_of(records_of())
    figures = {figure.key: figure for figure in figures_of(result)}
    assert figures["write/write.throughput_bytes_per_s"].value == MIB / 4
    assert figures["write/write.throughput_bytes_per_s"].better == "higher"
    assert figures["read/read.mean_ns"].value == S / 4
    assert figures["write.pages_programmed"].value == 1000
    found = [(work.place, work.task, work.counts["pages_programmed"]) for work in tasks_of(result)]
    assert found == [
        ("write", "init", 1000),
        ("random-write", "init", 1000),
        ("read", "init", 0),
        ("random-read", "init", 0),
    ]
    shown = {one.title: one.figure.value for one in criteria_of(result)}
    assert shown["sequential writing until it is on the flash"] == 4 * MIB / 20
    assert shown["random reading"] == 2 * MIB
    assert shown["a request, sequential reading, longest time"] == S / 4
    assert compared_times_ns(result)["mean of a write, phase write"] == 4 * S


def test_a_full_partition_is_a_short_case() -> None:
    result = result_of(records_of({"write": (S, S)}, stopped="ENOSPC"))
    assert result["outcome"] == "short"
    assert (result["short"]["what"], result["short"]["measured"], result["short"]["asked"]) == (
        "requests",
        2,
        3,
    )
    (write,) = result["tiobench"]["phases"]
    assert write["on_flash_bytes_per_s"] is None and write["stopped"] == "ENOSPC"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"phase": "writ"}, "of the phases"),
        ({"requests_done": 5}, "more requests"),
        ({"requests_done": 3}, "not as many latencies"),
        ({"above_10s": 3}, "more requests of one kind"),
        ({"above_2s": None}, "lacks a number"),
        ({"above_10s": -1}, "lacks a number"),
        ({"threads": True}, "lacks a number"),
        ({"slowest": None}, "slowest request"),
        ({"stopped": "EIO"}, "stopped by"),
    ],
)
def test_records_that_contradict_each_other(change: dict[str, Any], message: str) -> None:
    records = records_of()
    at = next(i for i, record in enumerate(records) if record["type"] == "tiobench")
    records[at] |= change
    stream = read_records(records)
    with pytest.raises(DamagedResultError, match=message):
        check_records(stream)
    assert result_keys(tio_case(), stream, ()) == {"tiobench": None}
    assert result_of(records)["outcome"] == "crash"


def test_a_phase_keeps_what_its_record_says() -> None:
    write = result_of(records_of())["tiobench"]["phases"][0]
    assert (write["threads"], write["block_bytes"], write["file_bytes"]) == (1, MIB, 4 * MIB)
    assert (write["requests"], write["requests_done"], write["stopped"]) == (4, 4, "")
    # The fourth request of 1 MiB is the slowest.
    assert (write["slowest"]["offset"], write["slowest"]["t_start_ns"]) == (3 * MIB, 100 * S)
    assert (write["slowest"]["thread"], write["op"]) == (0, "write")
    # All of a phase may be above 10 s, and so above 2 s.
    (slow,) = result_of(records_of({"write": (11 * S,)}))["tiobench"]["phases"]
    assert (slow["above_2s_share"], slow["above_10s_share"]) == (1, 1)


def test_a_phase_without_a_request_has_no_latency() -> None:
    records = [one for one in records_of({"write": (S,)}) if one["type"] != "latency"]
    at = next(i for i, one in enumerate(records) if one["type"] == "tiobench")
    records[at] |= {"requests_done": 0}
    (write,) = result_of(records)["tiobench"]["phases"]
    assert (write["requests_done"], write["p95_ns"], write["slowest"]) == (0, None, None)
    assert write["above_2s_share"] is write["above_10s_share"] is None
    # No time, no share of it.
    for one in records:
        if one["type"] == "phase" and one["phase"] == "write":
            one["t_end_ns"] = one["t_start_ns"]
    (write,) = result_of(records)["tiobench"]["phases"]
    assert write["off_chip_share"] is None


def test_what_is_of_other_phases_is_in_none_of_these() -> None:
    """Another workload's phase has the name of one of these; its tasks are a name of its own."""
    records = records_of()
    other = next(one for one in records if one["type"] == "phase") | {"workload": "prepare"}
    other |= {"t_start_ns": 0, "t_end_ns": S}
    tasks = {"type": "tasks", "workload": "prepare", "phase": "fill", "tasks": [task("init", 7)]}
    mixed = [*records[:-2], other, {"v": 1, **tasks}, *records[-2:]]
    stream = read_records(mixed)
    assert result_keys(tio_case(), stream, ()) == result_keys(tio_case(), read_records(records), ())
    # Of a phase whose own record is missing nothing is said.
    without = [one for one in records if (one["type"], one.get("phase")) != ("phase", "read")]
    found = result_keys(tio_case(), read_records(without), ())["tiobench"]
    assert found is not None
    names = [one["phase"] for one in found["phases"]]
    assert names == ["write", "random-write", "random-read"]


def test_the_phase_that_filled_the_partition_is_the_one_that_is_short() -> None:
    stream = read_records(records_of({"write": (S, S), "random-write": (S,)}, stopped="ENOSPC"))
    full = next(phase for phase in stream.phases if phase.name == "random-write")
    found = shortfall(Tiobench(), stream, full)
    # Random writing made one request of two; sequential writing made all of its own.
    assert found is not None and (found.measured, found.asked) == (1, 2)
    assert (found.what, found.stopped, found.accepted) == ("requests", "ENOSPC", False)
    assert shortfall(Tiobench(), stream, None) is None


def test_verdicts_are_of_the_requests_alone() -> None:
    def latency_of(phase: str, op: str, count: int) -> dict[str, Any]:
        return {"phase": phase, "op": op, "count": count, "mean_ns": 5.0}

    rows = [("write", "write", 4), ("write", "sync", 1), ("read", "read", 0), ("fill", "write", 3)]
    result: Any = {"latencies": [latency_of(*row) for row in rows]}
    assert compared_times_ns(result) == {"mean of a write, phase write": 5.0}


def test_what_people_decide_by() -> None:
    jffs2, ubifs = cases_of(STUDY)

    def criteria(case: Case, stopped: str = "") -> dict[str, Any]:
        times = {"write": (S, S)} if stopped else TIMES
        return {one.title: one for one in criteria_of(result_of(records_of(times, stopped), case))}

    for case in (jffs2, ubifs):
        found = criteria(case)
        rates = [title for title, one in found.items() if one.aspect == "time"]
        assert rates == [
            "sequential writing until it is on the flash",
            "random writing until it is on the flash",
            "sequential reading",
            "random reading",
        ]
        assert all(found[title].headline for title in rates)
        waits = {title: one.in_memory for title, one in found.items() if one.aspect == "wait"}
        # UBIFS returns from write() before anything is on the flash; reads wait for it.
        for title, in_memory in waits.items():
            assert in_memory == (case is ubifs and "writing" in title), title
        assert len(waits) == 8
    # What a full partition stopped is no throughput.
    stopped = criteria(jffs2, "ENOSPC")
    assert not [title for title in stopped if title.startswith("sequential writing")]
    assert not [one for one in stopped.values() if one.aspect in ("time", "wait")]


def test_the_space_that_is_left_is_that_after_the_random_writes() -> None:
    result = result_of(records_of())
    space = {"available_bytes": 3 * MIB, "mem_free_bytes": 2 * MIB, "page_cache_bytes": MIB}
    result["space"] = [{"label": "random-write-flush:end", **space}, {"label": "end", **space}]
    found = {one.title: one.figure.value for one in criteria_of(result)}
    assert found["space left after the random writes"] == 3 * MIB
    ram = result["spec"]["board"]["ram_bytes"]
    assert found["RAM in use after the random writes (kernel and file system)"] == ram - 3 * MIB


def test_figures_of_the_whole_case_are_among_them() -> None:
    result = result_of(records_of())
    result["virtual_ns"] = 7
    # The phase that sums all others is what a reader asks for first.
    (write, *_) = result["phases"]
    result["phases"] = [write, {**write, "phase": "workload"}]
    figures = {figure.key: figure for figure in figures_of(result)}
    assert (figures["virtual_ns"].value, figures["measured_share"].value) == (7, 1)
    assert figures["workload.pages_programmed"].main
    assert not figures["write.pages_programmed"].main


def test_the_terminal_fits_into_80_columns() -> None:
    result = result_of(records_of())
    assert terminal.cells(result) == ("0.26", "0.52", "4.19", "2.10", "11.0 s")
    out = io.StringIO()
    terminal.print_case(Console(file=out, width=80), result)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == ("sequential writing: 4 of 4 requests, 0.26 MB/s, 0.21 until on flash")
    assert lines[1:4] == [
        "  2 above 2 s, 1 above 10 s",
        "  slowest: request 3 of thread 0, 11.0 s",
        "    kworker/0:1: 0 pages read, 64 programmed, 0 blocks erased",
    ]
    assert terminal.cells(result_of([])) == ("", "", "", "", "")


# The report.


def run_folder(place: Path) -> Path:
    """JFFS2 as in TIMES, UBIFS four times as fast."""

    def result(case: Case) -> Any:
        return result_of(records_of(faster=4 if case.id.startswith("ubifs") else 1), case)

    return made_run(place / "run", planned(STUDY), result)


def test_phases_and_slowest_requests_of_a_run(tmp_path: Path) -> None:
    phases, slowest = report.sections(load_run(run_folder(tmp_path)), "")
    # 4 MiB in 16 s, with the flush in 20 s; 64 of the 128 pages that they fill.
    assert plain(phases.sentence) == (
        "The longest phase takes 16.0 s, 75 % of it outside the chip: "
        "**sequential writing · JFFS2**."
    )
    row = phases.tables[0].rows[0]
    assert row[:5] == ("sequential writing", "JFFS2", "", "0.262", "0.210") and row[-1] == "0.500"
    assert phases.tables[0].rows[-1][:2] == ("random reading", "UBIFS")
    (chart,) = charts_of(phases.charts[0].drawing).values()
    assert chart["data"]["rows"]["value"][:2] == [4, 12]
    assert plain(slowest.sentence) == (
        "11.0 s in sequential writing, **JFFS2**; meanwhile kworker/0:1 64 programmed."
    )
    (chart,) = charts_of(slowest.charts[0].drawing).values()
    rows = chart["data"]["rows"]
    assert (rows["label"][:2], rows["value"][:2]) == (["JFFS2", "UBIFS"], [11_000, 2_750])
    assert rows["cause"][0] == slowest.tables[0].rows[0][-1] == "kworker/0:1 64 programmed"


def test_the_page(tmp_path: Path) -> None:
    page = page_of_words(run_folder(tmp_path), validate=True)
    assert "UBIFS is fastest at all" in section_of(page, "verdict")
    assert {"phases-0", "slowest-dots", "latency-write", "latency-read"} <= set(charts_of(page))
