"""The result of a micro-benchmark's case against figures worked out by hand."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from host_support import cases_of, stream_of
from made_records import lines_of
from micro_support import (
    AGENT,
    MICRO_STUDY,
    Guest,
    Row,
    Stream,
    micro_cases,
    micro_records,
    micro_result,
    prepared_records,
    write_micro_run,
)
from rich.console import Console

from ffslab.cli.tables import case_tables, print_cases
from ffslab.errors import DamagedResultError
from ffslab.protocol.records import parse_records
from ffslab.results.casefile import case_result, skipped_result, unprepared_result
from ffslab.results.outcome import Outcome, judge
from ffslab.results.preparation import Preparation, own_preparation_results
from ffslab.results.rundir import RunDirectory
from ffslab.results.store import COLUMNS, export_tables, open_store
from ffslab.workloads.micro.requests import FlashRow, RequestSeries
from ffslab.workloads.micro.result import (
    RequestShape,
    cause_of,
    latency_summary,
    mean_response_ns,
    request_results,
)
from ffslab.workloads.micro.terminal import print_preparation, print_requests
from ffslab.workloads.results import asked_of

GCD = "jffs2_gcd_mtd0"
SHAPE = RequestShape(4096, 2048)


def test_quantiles_are_exact() -> None:
    summary = latency_summary(list(range(1000, 0, -1)))
    assert summary == {
        "count": 1000,
        "mean_ns": 500.5,
        "min_ns": 1,
        "p50_ns": 500,
        "p90_ns": 900,
        "p99_ns": 990,
        "p999_ns": 999,
        "max_ns": 1000,
    }
    assert latency_summary([7]) == dict.fromkeys(summary, 7) | {"count": 1}
    # 1,001 values: the 501st (500.5 rounded up), the 901st, the 991st and the 1,000th (999.999).
    summary = latency_summary(list(range(1001)))
    assert summary is not None
    assert [summary[key] for key in ("p50_ns", "p90_ns", "p99_ns", "p999_ns")] == [
        500, 900, 990, 999,
    ]  # fmt: skip
    assert latency_summary([]) is None


def test_the_mean_response_is_over_all_requests() -> None:
    streams = [{"all": {"count": 2, "mean_ns": 10}}, {"all": None}]
    streams.append({"all": {"count": 6, "mean_ns": 30}})
    assert mean_response_ns({"requests": streams}) == 25  # (20 + 180) ÷ 8
    for nothing in ({}, {"requests": None}, {"requests": streams[1:2]}):
        assert mean_response_ns(nothing) is None


@pytest.mark.parametrize(
    ("request_bytes", "page_bytes", "most"),
    [
        (4096, 4096, 3),  # 1 page, no half, 2
        (10_000, 4096, 6),  # 2.44 are 3 pages, 1, 2
        (2048, 512, 8),  # 4, 2, 2
        (4096, 8192, 3),  # half a page is one
    ],
)
def test_what_a_write_may_program(request_bytes: int, page_bytes: int, most: int) -> None:
    assert RequestShape(request_bytes, page_bytes).most_programmed == most


@pytest.mark.parametrize(
    ("offset", "page_bytes", "most"),
    [
        (0, 512, 10),  # one page of the page cache is 8 of the flash, and 2
        (2048, 512, 18),  # half of the first and half of the second
        (8192, 512, 10),
        (8192, 4096, 3),
        (2048, 4096, 4),
        (0, 8192, 3),  # half a page of the flash is one
    ],
)
def test_what_a_write_of_4_kib_may_read(offset: int, page_bytes: int, most: int) -> None:
    assert RequestShape(4096, page_bytes).most_read(offset) == most


def _flash(
    task: str = AGENT, read: int = 0, programmed: int = 0, erased: int = 0, oob: int = 0
) -> FlashRow:
    busy = 100 * read + 300 * programmed + 2000 * erased + 50 * oob
    return FlashRow(0, task, task == AGENT, read, programmed, erased, busy, oob)


@pytest.mark.parametrize(
    ("op", "rows", "cause"),
    [
        ("write", [], "no flash operation"),
        ("read", [], "no flash operation"),
        ("read", [_flash(read=2)], "read"),
        ("read", [_flash(read=200)], "read"),
        ("write", [_flash(programmed=2)], "program"),
        ("write", [_flash(programmed=5)], "program"),
        ("write", [_flash(programmed=6)], "garbage collection"),
        ("write", [_flash(read=4, programmed=2)], "program"),
        ("write", [_flash(read=2, programmed=2, oob=64)], "OOB areas"),
        ("write", [_flash(programmed=2, oob=2)], "program"),
        ("write", [_flash(read=5, programmed=2)], "garbage collection"),
        ("write", [_flash(read=60, programmed=2, erased=1)], "erase"),
        ("write", [_flash(read=60, programmed=60, erased=1)], "garbage collection and erase"),
        ("write", [_flash(programmed=2), _flash(GCD, erased=1)], f"waits for {GCD}"),
        ("write", [_flash(programmed=9), _flash(GCD, erased=1)], "garbage collection and erase"),
        ("write", [_flash("kworker/u2:1", programmed=99), _flash(GCD, erased=1)], "write-back"),
        ("write", [_flash(programmed=2), _flash(GCD, read=64)], f"waits for {GCD}"),
        ("write", [_flash(programmed=2), _flash(GCD, read=1)], "program"),
        ("write", [_flash("kworker/u2:1", programmed=64)], "write-back"),
        ("read", [_flash("kworker/u2:1", programmed=9), _flash(GCD, read=1)], "write-back"),
        ("read", [_flash(read=1), _flash("ubi_bgt0d", programmed=9)], "waits for ubi_bgt0d"),
        ("write", [_flash(programmed=20), _flash(GCD, programmed=9)], "garbage collection"),
        ("write", [_flash(programmed=2), _flash(GCD, read=6)], "program"),
        ("read", [_flash(read=4, oob=3)], "read"),
    ],
)  # fmt: skip
def test_causes(op: str, rows: list[FlashRow], cause: str) -> None:
    assert cause_of(op, 0, rows, SHAPE) == cause


def test_reading_the_rest_of_a_page_is_no_garbage_collection() -> None:
    small = RequestShape(512, 512)
    assert cause_of("write", 0, [_flash(read=8, programmed=1)], small) == "program"
    assert cause_of("write", 0, [_flash(read=11, programmed=1)], small) == "garbage collection"
    across = RequestShape(4096, 2048)
    assert cause_of("write", 2048, [_flash(read=6, programmed=2)], across) == "program"


def _two_phases() -> Guest:
    latencies = [1_000_000] * 100 + [4_000_000] * 150 + [90_000_000]
    rows = [Row(i, pages_programmed=2, busy_ns=600_000) for i in range(250)]
    rows += [
        Row(250, pages_read=64, pages_programmed=64, blocks_erased=1, busy_ns=30_000_000),
        Row(250, GCD, 0, pages_read=3, busy_ns=300_000, oob_pages=5),
        Row(250, GCD, 1, blocks_erased=2, busy_ns=4_000_000),
    ]
    return Guest((Stream(latencies, rows=rows),), erases=(1, 0, 3, 0), flush_pages=10)


def test_requests_of_a_result() -> None:
    result = micro_result(guest=_two_phases())
    (stream,) = result["requests"]
    assert (stream["count"], stream["bytes"]) == (251, 251 * 4096)
    assert (stream["op"], stream["startup_count"]) == ("write", 100)
    assert stream["startup"]["mean_ns"] == 1_000_000
    assert stream["running"]["mean_ns"] == (150 * 4_000_000 + 90_000_000) / 151
    assert stream["all"]["max_ns"] == 90_000_000
    assert stream["flash"] == {
        "request": {
            "pages_read": 67,
            "pages_programmed": 564,
            "blocks_erased": 1,
            "oob_pages": 5,
        },
        "after": {"pages_read": 0, "pages_programmed": 0, "blocks_erased": 2, "oob_pages": 0},
    }
    assert [(task["name"], task["when"]) for task in stream["tasks"]] == [
        (AGENT, "request"),
        (GCD, "request"),
        (GCD, "after"),
    ]
    assert len(stream["slowest"]) == 10
    assert stream["slowest"][0] == {
        "request": 250,
        "latency_ns": 90_000_000,
        "offset": 250 * 4096,
        "cause": "garbage collection and erase",
        "tasks": [
            {
                "name": AGENT,
                "pages_read": 64,
                "pages_programmed": 64,
                "blocks_erased": 1,
                "oob_pages": 0,
            },
            {
                "name": GCD,
                "pages_read": 3,
                "pages_programmed": 0,
                "blocks_erased": 0,
                "oob_pages": 5,
            },
        ],
    }
    assert [slow["request"] for slow in stream["slowest"][1:3]] == [100, 101]
    assert result["micro"]["requests_done"] == 251
    assert result["micro"]["tasks"][0]["phase"] == "measure"
    assert "t_start_ns" not in json.dumps(result["requests"])


def test_workload_is_measure_and_flush() -> None:
    result = micro_result(guest=_two_phases())
    phases = {phase["phase"]: phase for phase in result["phases"]}
    assert list(phases) == ["invalidate", "measure", "flush", "workload"]
    whole = phases["workload"]
    assert whole["duration_ns"] == 790_000_000 + 5_000_000
    assert whole["pages_programmed"] == 564 + 10
    assert whole["bytes_written"] == 251 * 4096
    assert (whole["erases_mean"], whole["erases_spread"]) == (1.0, 3)


def test_preparation_of_a_result() -> None:
    case = micro_cases()[0]
    preparation = micro_result(case)["preparation"]
    assert preparation["prepared"]["state"] == "saturated"
    capacity = preparation["prepared"]["capacity_bytes"]
    assert preparation["reserve_bytes"] == 16 * 2**20 - capacity
    (phase,) = preparation["phases"]
    assert (phase["phase"], phase["pages_programmed"]) == ("prepare", 8000)
    assert preparation["virtual_ns"] == 7_500_000_000
    free = micro_cases(MICRO_STUDY.replace('state = "saturated"', 'state = "free"'))[0]
    records = prepared_records(free, total_bytes=15 * 2**20)
    assert micro_result(free, prepared=records)["preparation"]["reserve_bytes"] == 2**20
    assert micro_result(free, prepared=b"")["preparation"] == {
        "key": "5" * 64,
        "outcome": "pass",
        "reason": "",
        "excerpt": [],
        "virtual_ns": None,
        "prepared": None,
        "phases": [],
        "space": [],
        "reserve_bytes": None,
    }


def test_preparation_in_the_case_s_own_guest() -> None:
    case = micro_cases()[0]
    own = prepared_records(case).splitlines(keepends=True)[:-1]
    stream = parse_records(b"".join(own) + micro_records(case))
    preparation = case_result(case, Outcome("pass"), stream, None)["preparation"]
    assert (preparation["key"], preparation["outcome"]) == (None, "pass")
    assert preparation["prepared"]["capacity_bytes"] > 0
    assert preparation["reserve_bytes"] > 0


PREPARED = {
    "state": "fill",
    "valid_bytes": 7,
    "invalid_bytes": 0,
    "invalid_present": 0,
    "file_bytes": 5,
    "capacity_bytes": 700,
}
SPACE = {
    "label": "mount",
    **dict.fromkeys(("free_bytes", "available_bytes", "files", "files_free"), 3),
    **dict.fromkeys(("page_cache_bytes", "mem_free_bytes"), 4),
}


def own_preparation(*records: dict[str, Any]) -> dict[str, Any] | None:
    return own_preparation_results(stream_of(*records), 1000)


def test_the_case_s_own_guest_says_how_it_prepared() -> None:
    prepared = {"v": 1, "type": "prepared", **PREPARED}
    mount = {"type": "step", "verb": "mount", "status": "error", "t_end_ns": 1}
    step = {"type": "step", "verb": "prepare", "status": "ok", "t_start_ns": 4, "t_end_ns": 9}
    spaces = [{"type": "space", **SPACE, "total_bytes": size} for size in (900, 800, 100)]
    whole = {
        "key": None,
        "outcome": "pass",
        "reason": "",
        "excerpt": [],
        "virtual_ns": 9,
        "phases": [],
        "prepared": PREPARED,
        "space": [{**SPACE, "total_bytes": size} for size in (900, 800, 100)],
        "reserve_bytes": 100,  # 1000 − 900: on the file system just mounted
    }
    assert own_preparation(mount, *spaces, prepared, step) == whole
    failed = {**step, "status": "error", "message": "why"}
    assert own_preparation(*spaces, prepared, failed) == {
        **whole, "outcome": "fail", "reason": "why",
    }  # fmt: skip
    # A guest that was cut has not told the step's end.
    assert own_preparation(mount, *spaces, prepared) == {**whole, "virtual_ns": None}
    full = {**prepared, "state": "saturated"}
    found = own_preparation(*spaces, full, step)
    assert found is not None and found["reserve_bytes"] == 300  # 1000 − 700
    found = own_preparation(prepared, step)
    assert found is not None and found["reserve_bytes"] is None
    assert own_preparation(mount, *spaces) is None


def test_tasks_and_slowest_are_in_order() -> None:
    """By time in the driver, then by name; by latency, then by number."""
    during = tuple(
        FlashRow(request, task, False, 1, 2, 3, busy, 4)
        for request, task, busy in ((0, "c", 5), (1, "b", 9), (2, "a", 9), (2, "c", 2), (2, "d", 8))
    )
    series = RequestSeries(
        3, "read", tuple(range(0, 120, 10)), (0,) * 12, (7, 8, *[8] * 10), during
    )
    found = request_results(series, RequestShape(512, 512))
    sums = {"pages_read": 1, "pages_programmed": 2, "blocks_erased": 3, "oob_pages": 4}
    twice = {name: 2 * value for name, value in sums.items()}
    assert found["tasks"] == [
        {"name": "a", "when": "request", "busy_ns": 9, **sums},
        {"name": "b", "when": "request", "busy_ns": 9, **sums},
        {"name": "d", "when": "request", "busy_ns": 8, **sums},
        {"name": "c", "when": "request", "busy_ns": 7, **twice},
    ]
    assert [slow["request"] for slow in found["slowest"]] == list(range(1, 11))
    assert found["slowest"][1] == {
        "request": 2,
        "latency_ns": 8,
        "offset": 20,
        "cause": "waits for a",
        "tasks": [{"name": name, **sums} for name in "acd"],
    }
    assert (found["stream"], found["op"], found["count"], found["bytes"]) == (3, "read", 12, 6144)


def test_unreachable_rate_fails_with_the_agent_s_words() -> None:
    case = micro_cases()[0]
    message = "rate_percent=95 cannot be reached: lower it: No space left on device"
    stream = parse_records(prepared_records(case, error=message))
    outcome = judge(stream, "", 0, None)
    assert (outcome.kind, outcome.reason) == ("fail", f"phase prepare: {message}")
    result = unprepared_result(case, [Preparation("5" * 64, outcome, stream)])
    assert result["outcome"] == "fail"
    assert result["reason"] == f"preparation: phase prepare: {message}"
    assert (result["micro"], result["requests"], result["phases"]) == (None, [], [])
    assert result["preparation"]["outcome"] == "fail"


@pytest.mark.parametrize("kind", ["crash", "timeout", "corrupt", "fail"])
def test_unprepared_has_the_outcome_of_its_preparation(kind: Any) -> None:
    preparation = Preparation("5" * 64, Outcome(kind, "why", ("line",)), parse_records(b""))
    result = unprepared_result(micro_cases()[0], [preparation])
    assert (result["outcome"], result["reason"]) == (kind, "preparation: why")
    assert result["excerpt"] == ["line"]


def test_stopped_by_a_full_partition_is_short_and_not_fail() -> None:
    case = micro_cases()[0]
    guest = Guest((Stream((5, 6, 7)),), planned=256, stopped="ENOSPC")
    stream = parse_records(micro_records(case, guest))
    outcome = judge(stream, "", 0, None, asked_of(case.workload, own=True))
    assert outcome.kind == "short"
    assert "3 of 256 requests: the partition is full" in outcome.reason
    assert micro_result(case, guest)["micro"]["stopped"] == "ENOSPC"


def test_other_workloads_have_empty_keys() -> None:
    case = cases_of()[0]
    for result in (
        skipped_result(case, "x"),
        case_result(case, Outcome("pass"), parse_records(b""), None),
    ):
        assert (result["preparation"], result["micro"], result["requests"]) == (None, None, [])


def test_contradictory_records_leave_a_result_without_requests() -> None:
    case = micro_cases()[0]
    records = [json.loads(line) for line in micro_records(case).splitlines()]
    next(record for record in records if record["type"] == "requests")["first"] = 1
    stream = parse_records(lines_of(records))
    result = case_result(
        case, judge(stream, "", 0, None, asked_of(case.workload, own=True)), stream, None
    )
    assert (result["outcome"], result["requests"]) == ("crash", [])


def test_cut_records_still_give_a_result() -> None:
    case = micro_cases()[0]
    whole = micro_records(case, _two_phases())
    for length in range(0, len(whole) - 1, 499):
        stream = parse_records(whole[:length])
        outcome = judge(stream, "", -6, None)
        assert outcome.kind == "crash"
        case_result(case, outcome, stream, None)


def test_tables(tmp_path: Path) -> None:
    run = RunDirectory(write_micro_run(tmp_path / "run", guest_of=lambda _: _two_phases()))
    store = open_store([run])
    for name, columns in COLUMNS.items():
        found = store.execute(f"SELECT * FROM {name} LIMIT 0").description
        assert found is not None
        assert [column[0] for column in found] == list(columns), name
    cases = store.execute(
        "SELECT workload, pattern, request_bytes, state_kind, rate_percent, part FROM cases"
    ).fetchall()
    assert cases == [("micro", "random-write", 4096, "saturated", 0, None)] * 2
    assert store.execute(
        "SELECT running, count(*), sum(pages_programmed), sum(after_blocks_erased), "
        "max(latency_ns) FROM requests WHERE case_id = 'jffs2-s1' GROUP BY 1 ORDER BY 1"
    ).fetchall() == [(False, 100, 200, 0, 1_000_000), (True, 151, 364, 2, 90_000_000)]
    assert store.execute(
        'SELECT "when", task, pages_read, blocks_erased, busy_ns FROM request_tasks '
        "WHERE case_id = 'jffs2-s1' AND request = 250"
    ).fetchall() == [
        ("request", AGENT, 64, 1, 30_000_000),
        ("request", GCD, 3, 0, 300_000),
        ("after", GCD, 0, 2, 4_000_000),
    ]
    files = export_tables(run, tmp_path / "csv", "csv")
    assert [file.stem for file in files] == list(COLUMNS)
    lines = (tmp_path / "csv" / "requests.csv").read_text().splitlines()
    assert len(lines) == 1 + 2 * 251
    assert lines[1].startswith("run,jffs2-s1,0,0,write,0,10000000000,1000000,false,0,2,0,0,0,0")


def test_tables_need_the_records(tmp_path: Path) -> None:
    run = RunDirectory(write_micro_run(tmp_path / "run"))
    (run.case_dir("jffs2-s1") / "records.jsonl").unlink()
    with pytest.raises(DamagedResultError, match=r"jffs2-s1/records.jsonl: cannot be read"):
        open_store([run])


def test_a_failed_case_has_no_requests_in_the_tables(tmp_path: Path) -> None:
    outcomes = {"jffs2-s1": Outcome("crash", "x")}
    run = RunDirectory(write_micro_run(tmp_path / "run", outcomes=outcomes))
    found = open_store([run]).execute("SELECT DISTINCT case_id FROM requests").fetchall()
    assert found == [("ubifs-s1",)]


def _shown(show: Any, *arguments: Any) -> str:
    console = Console(width=80, file=io.StringIO(), highlight=False)
    show(console, *arguments)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert all(len(line) <= 80 for line in text.splitlines())
    return text


def test_a_case_is_shown() -> None:
    result = micro_result(guest=_two_phases())
    text = _shown(print_preparation, result)
    assert "preparation: pass (555555555555)" in text
    assert "saturated: valid data 0 B, invalid data 14.4 MiB, reserve 1.6 MiB" in text
    text = _shown(print_requests, result)
    for words in ("251 of 251 requests", "start-up", "running", "between", "90.0 ms", "erase"):
        assert words in text
    stopped = micro_result(guest=Guest(planned=300, stopped="ENOSPC"))
    assert "256 of 300 requests, stopped by ENOSPC" in _shown(print_requests, stopped)


def test_a_case_that_was_not_run_is_shown() -> None:
    preparation = Preparation("5" * 64, Outcome("fail", "full"), parse_records(b""))
    result = unprepared_result(micro_cases()[0], [preparation])
    assert "full" in _shown(print_preparation, result)
    assert _shown(print_requests, result) == ""


def test_a_run_is_shown() -> None:
    ffsmark = skipped_result(cases_of()[0], "no module")
    text = _shown(print_cases, case_tables([micro_result(guest=_two_phases()), ffsmark], {}))
    assert "1.00 ± 1.22" in text and "3.15 ms" in text and "creation" in text
    text = _shown(print_cases, case_tables([micro_result()], {}))
    assert "erases/block" in text and "creation" not in text
