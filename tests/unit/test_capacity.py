"""capacity: its plans, results, figures and report, with values worked out by hand."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from host_support import cases_of
from made_records import lines_of, read_records
from micro_support import AGENT, Guest, Row, Stream, micro_cases, micro_records
from rich.console import Console

from ffslab.errors import DamagedResultError, SpecError
from ffslab.model.case import Case
from ffslab.protocol.plan import parse_step
from ffslab.protocol.records import Phase, parse_records
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.targets.virtual_flash import plans
from ffslab.workloads.capacity import terminal
from ffslab.workloads.capacity.metrics import criteria
from ffslab.workloads.capacity.report import cause_words
from ffslab.workloads.capacity.result import (
    check_records,
    compared_times_ns,
    result_keys,
    shortfall,
)
from ffslab.workloads.capacity.stored import capacity_of
from ffslab.workloads.figures import figures_of, tasks_of

MIB = 2**20
STUDY = """
schema = 1
name = "full"
title = "Until it is full"

[base]
board = "apf27"
filesystem = "jffs2"
partition_bytes = "16 MiB"
options = { compression = "none" }

[base.workload]
kind = "capacity"
"""
REQUESTS = """
schema = 1
name = "requests"
title = "The agent's requests"

[base]
board = "apf27"
filesystem = "jffs2"
partition_bytes = "16 MiB"

[base.workload]
kind = "micro"
pattern = "sequential-write"
request_bytes = "128 KiB"
volume_bytes = "1 MiB"
"""
WRITES = (70, 80, 500, 90)  # ms
COLLECTED = (
    Row(2, pages_read=40, pages_programmed=200, busy_ns=300_000_000),
    Row(2, "jffs2_gcd_mtd0", 0, 4, 6, 1, busy_ns=9_000_000),
)


def space(label: str, available: int) -> dict[str, Any]:
    names = ("total_bytes", "free_bytes", "files", "files_free", "page_cache_bytes")
    zeros = dict.fromkeys((*names, "mem_free_bytes"), 0)
    return {"type": "space", "label": label, **zeros, "available_bytes": available}


def capacity_case(more: str = "") -> Case:
    return cases_of(STUDY + more)[0]


def capacity_records(*, again: bool = True) -> bytes:
    """Four writes of 128 KiB, the third of which collects garbage; 600 KiB had been promised."""
    (case,) = micro_cases(REQUESTS)
    writes = Stream(tuple(ms * 10**6 for ms in WRITES), rows=COLLECTED)
    guest = Guest(streams=(writes,), stopped="ENOSPC", planned=129)
    records = [json.loads(line) for line in micro_records(case, guest).splitlines()]
    measured = next(n for n, one in enumerate(records) if one.get("phase") == "measure")
    end = records.pop()
    records.insert(measured, space("measure:start", 600 * 1024))
    for label, kib in (("deleted", 100), ("synced", 550), ("settled", 590)):
        records.append(space(label, kib * 1024))
    if again:
        phase = next(one for one in records if one.get("phase") == "measure")
        records.append({**phase, "workload": "tree", "phase": "again", "bytes_written": 500 * 1024})
    return lines_of([*records, end])


def records_of() -> list[dict[str, Any]]:
    return [json.loads(line) for line in capacity_records().splitlines()]


def capacity_result(*, again: bool = True) -> dict[str, Any]:
    stream = parse_records(capacity_records(again=again))
    return case_result(capacity_case(), Outcome("pass"), stream, "f" * 64)


def steps_of(plan: str) -> list[tuple[str, dict[str, str]]]:
    return [(verb, dict(keys)) for verb, keys in map(parse_step, plan.splitlines()[1:])]


def test_a_guest_fills_deletes_and_fills_again() -> None:
    """16 MiB are 128 requests of 128 KiB: one more is asked for than can fit."""
    steps = steps_of(plans(capacity_case())[-1])
    fill = next(keys for verb, keys in steps if verb == "micro")
    assert (fill["until_full"], fill["limit"]) == ("1", "0")
    assert int(fill["volume_bytes"]) == 129 * 128 * 1024
    words = [verb for verb, _ in steps]
    after = words[words.index("micro") :]
    assert after[1:8] == ["remove", "space", "sync", "space", "settle", "space", "tree-warm"]
    once = [verb for verb, _ in steps_of(plans(capacity_case("again = false"))[-1])]
    assert "tree-warm" not in once


def test_sizes_that_cannot_be() -> None:
    for size in ("100", '"65 MiB"'):
        with pytest.raises(SpecError, match="not from 512"):
            capacity_case(f"request_bytes = {size}")


def test_more_requests_than_are_recorded() -> None:
    large = STUDY.replace('"16 MiB"', '"256 MiB"') + "request_bytes = 512"
    with pytest.raises(SpecError, match="are more than 500,000"):
        cases_of(large)
    # As many as it says are enough.
    cases_of(large.replace("request_bytes = 512", f"request_bytes = {-(-256 * MIB // 499_999)}"))


def test_what_was_written_promised_and_came_back() -> None:
    found = capacity_of(capacity_result())  # type: ignore[arg-type]
    assert found is not None
    assert found["written_bytes"] == 512 * 1024
    assert found["promised_bytes"] == 600 * 1024
    assert found["partition_share"] == 512 / (16 * 1024)
    back = [found[f"{name}_bytes"] for name in ("deleted", "synced", "settled", "again")]  # type: ignore[literal-required]
    assert back == [100 * 1024, 550 * 1024, 590 * 1024, 500 * 1024]
    latency = found["latency"]
    assert latency is not None
    assert (latency["count"], latency["mean_ns"], latency["max_ns"]) == (4, 185e6, 500_000_000)


def test_the_longest_write_has_its_cause_and_its_tasks() -> None:
    found = capacity_of(capacity_result())  # type: ignore[arg-type]
    assert found is not None
    longest = found["peaks"][0]
    assert (longest["request"], longest["offset"]) == (2, 2 * 128 * 1024)
    # 128 KiB are 64 pages: 200 are more than half as many again, and a block was erased.
    assert longest["cause"] == "garbage collection and erase"
    assert [task["name"] for task in longest["tasks"]] == [AGENT, "jffs2_gcd_mtd0"]
    assert cause_words(longest) == "garbage collection and erase"
    assert cause_words({**longest, "cause": "waits for ubifs_bgt0_0"}) == "UBIFS’s commit"
    assert cause_words({**longest, "cause": "waits for somebody"}) == "waits for somebody"


def test_without_a_second_file_there_is_no_figure_of_it() -> None:
    result: Any = capacity_result(again=False)
    found = capacity_of(result)
    assert found is not None and found["again_bytes"] is None
    keys = {figure.key for figure in figures_of(result)}
    assert "returned.again_bytes" not in keys
    assert {"file.written_bytes", "returned.settled_bytes", "measure/writes.max_ns"} <= keys


@pytest.mark.parametrize("errno", ["ENOSPC", "EIO"])
def test_a_second_filling_that_failed_is_no_figure(errno: str) -> None:
    """It wrote 500 KiB before: that is not what fits."""
    records = records_of()
    again = next(one for one in records if one.get("phase") == "again")
    again |= {"status": "error", "errno_name": errno, "message": "failed"}
    stream = read_records(records)
    found = result_keys(capacity_case(), stream, ())["capacity"]
    assert found is not None and found["again_bytes"] is None
    assert found["written_bytes"] == 512 * 1024


def test_what_people_decide_by_and_what_is_shown_first() -> None:
    result: Any = capacity_result()
    result["virtual_ns"] = 7
    (measure,) = (one for one in result["phases"] if one["phase"] == "measure")
    result["phases"] = [measure, {**measure, "phase": "workload"}]
    rows = [
        (one.title, one.aspect, one.headline, one.figure.key, one.figure.value)
        for one in criteria(result)
    ]
    # 0.5 of 16 MiB; (70 + 80 + 500 + 90) ÷ 4 = 185 ms.
    assert rows[:5] == [
        ("share of the partition in one file", "space", True, "file.partition_share", 0.5 / 16),
        ("bytes in one file", "space", False, "file.written_bytes", 512 * 1024),
        ("bytes in the next file", "space", False, "returned.again_bytes", 500 * 1024),
        ("a write, mean", "time", False, "measure/writes.mean_ns", 185e6),
        ("a write, longest time", "wait", False, "measure/writes.max_ns", 500e6),
    ]
    assert compared_times_ns(result) == {"mean write": 185e6, "longest write": 500e6}
    assert {work.place for work in tasks_of(result)} == {"measure"}
    once: Any = capacity_result(again=False)
    assert "bytes in the next file" not in [one.title for one in criteria(once)]
    figures = {figure.key: figure for figure in figures_of(result)}
    assert (figures["virtual_ns"].value, figures["file.promised_bytes"].value) == (7, 600 * 1024)
    values = [figures[key].value for key in ("file.written_bytes", "returned.again_bytes")]
    assert values == [512 * 1024, 500 * 1024]
    assert figures["file.partition_share"].value == 0.5 / 16
    main = {key for key, figure in figures.items() if figure.main}
    assert {"file.written_bytes", "measure.write_bytes_per_s", "measure/writes.mean_ns"} <= main
    assert {"workload.pages_programmed", "measure/writes.max_ns"} <= main
    assert not main & {"file.promised_bytes", "returned.again_bytes", "measure.pages_programmed"}


def test_a_full_partition_is_no_shortfall_but_a_flush_without_room_is() -> None:
    stream = parse_records(capacity_records())
    workload: Any = capacity_case().workload
    assert shortfall(workload, stream, None) is None
    flush = next(phase for phase in stream.phases if phase.name == "flush")
    found = shortfall(workload, stream, flush)
    assert found is not None and not found.accepted and "flush" in found.told
    assert isinstance(flush, Phase)
    assert (found.what, found.measured, found.asked) == ("bytes", 0, None)
    assert found.stopped == "ENOSPC"


def test_without_latencies_nobody_can_decide_or_compare() -> None:
    result: Any = capacity_result()
    assert result["capacity"]["request_bytes"] == 128 * 1024
    for without in ({**result["capacity"], "latency": None}, None):
        result["capacity"] = without
        assert list(criteria(result)) == [] and compared_times_ns(result) == {}


def test_what_other_phases_asked_of_the_flash_is_in_no_sum() -> None:
    """The tasks of `delete` and of `again` are not those of the filling and its flush."""
    records = records_of()
    measured = next(one for one in records if one["type"] == "tasks")
    (task,) = measured["tasks"]
    flushed = next(one for one in records if one.get("phase") == "flush" and "tasks" in one)
    flushed["tasks"] = [{**task, "pages_read": 7}]
    end = records.pop()
    for phase in ("delete", "again"):
        records.append({**measured, "phase": phase})
    found = result_keys(capacity_case(), read_records([*records, end]), ())["capacity"]
    assert found is not None
    told = [(one["phase"], one["pages_read"]) for one in found["tasks"]]
    assert told == [("measure", task["pages_read"]), ("flush", 7)]


def test_a_file_may_end_because_it_is_full_or_was_written_as_a_whole() -> None:
    records = records_of()
    micro = next(one for one in records if one["type"] == "micro")
    for stopped in ("", "ENOSPC"):
        micro["stopped"] = stopped
        check_records(read_records(records))
    for changed, told in (({"stopped": "EIO"}, "stopped by 'EIO'"), ({"requests_done": 3}, None)):
        micro |= {"stopped": "ENOSPC", **changed}
        stream = read_records(records)
        with pytest.raises(DamagedResultError, match=told):
            check_records(stream)
        assert result_keys(capacity_case(), stream, ()) == {"capacity": None}
    assert result_keys(capacity_case(), read_records([]), ()) == {"capacity": None}


def test_a_case_that_did_not_get_so_far_has_no_figures() -> None:
    """The promise, the filling and its requests are all needed."""
    records = records_of()
    assert result_keys(capacity_case(), read_records(records), ())["capacity"]
    for left_out in (
        {"label": "measure:start", "type": "space"},
        {"phase": "measure", "type": "phase"},
        {"type": "requests"},
    ):
        # Without requests there is no record of their whole, either.
        of_them = ("micro", "request-flash") if left_out == {"type": "requests"} else ()
        rest = [
            one
            for one in records
            if not left_out.items() <= one.items() and one["type"] not in of_them
        ]
        assert len(rest) < len(records)
        found = result_keys(capacity_case(), read_records(rest), ())
        assert found == {"capacity": None}, left_out


def test_in_a_terminal() -> None:
    result: Any = capacity_result()
    assert list(terminal.cells(result)) == ["0.5 MiB", "3.1 %", "0.5 MiB", "185 ms", "500 ms"]
    shown = io.StringIO()
    terminal.print_case(Console(file=shown, width=80), result)
    assert "garbage collection and erase" in shown.getvalue()
    assert "jffs2_gcd_mtd0: 4 pages read, 6 programmed, 1 blocks erased" in shown.getvalue()
    assert list(terminal.cells({**result, "capacity": None})) == [""] * 5
