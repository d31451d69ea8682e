"""A case that measured less than was asked for says so everywhere; one that measured nothing fails.

The records micro-*.jsonl are of JFFS2 on a partition of 10 MiB, filled to 75, 78 and 86 %: 2 MiB of
random overwrites were asked for.
"""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from host_support import cases_of, golden, stream_of, whole
from micro_support import micro_cases
from rich.console import Console

from ffslab.campaign.run import RunEnd
from ffslab.cli.run import _exit_code
from ffslab.cli.tables import case_tables, failure_lines, outcome_counts, print_cases, short_lines
from ffslab.errors import EXIT_FAILED, EXIT_OK
from ffslab.model.case import Case
from ffslab.model.workload import Workload
from ffslab.protocol.records import Phase, RecordStream, parse_records
from ffslab.report.load import plain_case
from ffslab.results.casefile import case_result
from ffslab.results.outcome import NOTHING, OUTCOMES, Outcome, judge
from ffslab.results.rundir import RunDirectory
from ffslab.results.shortfall import is_good
from ffslab.results.store import case_rows
from ffslab.workloads.ended import Ended
from ffslab.workloads.ffsmark import result as ffsmark
from ffslab.workloads.ffsmark.keys import Ffsmark
from ffslab.workloads.micro import result as micro
from ffslab.workloads.micro.keys import Micro
from ffslab.workloads.results import asked_of
from ffslab.workloads.tree import result as tree
from ffslab.workloads.tree.keys import Tree

MIB = 2**20
SMALL = Micro(request_bytes=4096, volume_bytes=2 * MIB, existing=True)
LARGE = replace(SMALL, request_bytes=512 * 1024)
WORKLOADS: dict[str, Workload] = {
    "enospc": Ffsmark(number=100),
    "tree-enospc": Tree(),
    "micro-cut": LARGE,
    "micro-enospc": SMALL,
    "micro-nothing": LARGE,
}


def outcome_of(records: str, workload: Workload | None, console: str = "pass") -> Outcome:
    stream = parse_records(golden(f"records/{records}.jsonl"))
    asked = NOTHING if workload is None else asked_of(workload, own=True)
    return judge(stream, golden(f"console/{console}.log").decode(), 0, None, asked)


def result_of(records: str, workload: Workload | None = None) -> dict[str, Any]:
    """A result with these records; the case's other properties do not matter."""
    workload = workload or WORKLOADS[records]
    cases = micro_cases() if isinstance(workload, Micro) else cases_of()
    case: Case = replace(cases[0], id=records, workload=workload)
    stream = parse_records(golden(f"records/{records}.jsonl"))
    return case_result(case, outcome_of(records, workload), stream, None)


@pytest.mark.parametrize(
    ("records", "short", "reason"),
    [
        (
            *("enospc", ("files created", 60, 100, "ENOSPC", False)),
            "phase creation: no space left on the partition (ENOSPC) after 60 of 100 files",
        ),
        (
            *("tree-enospc", ("files created", 9, 30, "ENOSPC", False)),
            "phase create-2: no space left on the partition (ENOSPC): cannot write file00002",
        ),
        (
            *("micro-cut", ("bytes", 3 * MIB // 2, 2 * MIB, "", True)),
            "1.5 MiB of 2 MiB: the file system has room for no more",
        ),
        (
            *("micro-enospc", ("bytes", 47 * 4096, 2 * MIB, "ENOSPC", False)),
            "less than 10 % of what was asked for was measured; 47 of 128 requests: the partition "
            "is full (ENOSPC); 512 KiB of 2 MiB",
        ),
        (
            *("micro-nothing", ("bytes", 0, 2 * MIB, "ENOSPC", False)),
            "nothing was measured; 0 of 2 requests: the partition is full (ENOSPC)",
        ),
    ],
)
def test_a_short_case_says_how_much_it_measured(
    records: str, short: tuple[Any, ...], reason: str
) -> None:
    result = result_of(records)
    keys = ("what", "measured", "asked", "stopped", "accepted")
    assert (result["outcome"], result["short"]) == ("short", dict(zip(keys, short, strict=True)))
    assert result["reason"].startswith(reason)
    assert is_good(result) == short[-1]


def test_who_asks_for_what_was_measured_gets_a_pass() -> None:
    asked = replace(LARGE, volume_bytes=3 * MIB // 2)
    result = result_of("micro-cut", asked)
    assert (result["outcome"], result["short"]) == ("pass", None)


def test_a_test_file_that_is_smaller_is_short_too() -> None:
    # The volume was made by going over a smaller file twice.
    asked = replace(LARGE, volume_bytes=3 * MIB // 2, file_bytes=4 * MIB)
    result = result_of("micro-cut", asked)
    assert result["short"]["what"] == "bytes of the test file"
    assert (result["short"]["measured"], result["short"]["asked"]) == (3 * MIB // 2, 4 * MIB)
    assert is_good(result)


def test_a_tenth_is_the_least_that_counts() -> None:
    # 47 requests of 4 KiB are 188 KiB.
    for asked_kib, good in ((1880, True), (1884, False)):
        result = result_of("micro-enospc", replace(SMALL, volume_bytes=asked_kib * 1024))
        assert (result["outcome"], is_good(result)) == ("short", good)


ASKED = Micro(request_bytes=512, volume_bytes=51_200)  # 100 requests
MICRO_RECORD = {
    "type": "micro", "requests": 100, "requests_done": 100, "stopped": "",
    "volume_bytes": 51_200, "file_bytes": 51_200,
}  # fmt: skip
PARTITION_FULL = "100 requests: the partition is full (ENOSPC)"
FULL_PHASE = {"phase": "flush", "workload": "micro"}


@pytest.mark.parametrize(
    ("changes", "full", "short"),
    [
        ({}, None, None),
        (
            {"requests_done": 60, "stopped": "ENOSPC"},
            None,
            ("bytes", 30_720, 51_200, "ENOSPC", f"60 of {PARTITION_FULL}"),
        ),
        # The flush filled the partition, when all requests had been made.
        (
            {},
            FULL_PHASE,
            ("bytes", 51_200, 51_200, "ENOSPC", f"100 of {PARTITION_FULL}"),
        ),
        ({"requests_done": 99}, None, ("bytes", 50_688, 51_200, "", "99 of 100 requests")),
        # 40 of 50 requests of half the volume: 20,480 of the 51,200 that were asked for.
        (
            {"requests": 50, "requests_done": 40, "volume_bytes": 25_600},
            None,
            (
                *("bytes", 20_480, 51_200, ""),
                "40 of 50 requests; 25 KiB of 50 KiB: the file system has room for no more",
            ),
        ),
        (
            {"file_bytes": 10_240},
            None,
            (
                *("bytes of the test file", 10_240, 51_200, ""),
                "a test file of 10 KiB instead of 50 KiB",
            ),
        ),
        (
            {"file_bytes": 1},
            None,
            (
                *("bytes of the test file", 1, 51_200, ""),
                "less than 10 % of what was asked for was measured; a test file of 1 B instead of "
                "50 KiB",
            ),
        ),
        ({"file_bytes": 0}, None, None),  # the agent was not asked for a file
        ({"file_bytes": 99_999}, None, None),
    ],
)  # fmt: skip
def test_what_a_micro_benchmark_did_not_measure(
    changes: dict[str, Any], full: Any, short: tuple[Any, ...] | None
) -> None:
    stream = RecordStream(({**MICRO_RECORD, **changes},), (), False)
    found = micro.shortfall(ASKED, stream, full)
    told = found and (found.what, found.measured, found.asked, found.stopped, found.told)
    assert told == short
    assert found is None or found.accepted == (found.measured * 10 >= 51_200)


def test_without_limit_less_is_a_failure() -> None:
    result = result_of("micro-cut", replace(LARGE, limit=False))
    assert (result["outcome"], is_good(result)) == ("short", False)


def test_a_guest_that_prepares_and_a_graver_reason_are_no_short() -> None:
    assert outcome_of("enospc", None).kind == "fail"
    assert outcome_of("enospc", Ffsmark(), console="rule-violation").kind == "fail"
    assert outcome_of("micro-cut", LARGE, console="warning").kind == "fail"
    assert outcome_of("micro-cut", LARGE).kind == "short"


@pytest.mark.parametrize(
    ("phase", "counts", "short"),
    [
        ("transactions", {"files_read": 7, "files_deleted": 8}, ("transactions", 8, 15000)),
        # The larger half: 7 + 5 against 4 + 6, then 3 + 4 against 5 + 6.
        (
            "transactions",
            {"files_read": 7, "files_appended": 5, "files_created": 4, "files_deleted": 6},
            ("transactions", 12, 15000),
        ),
        (
            "transactions",
            {"files_read": 3, "files_appended": 4, "files_created": 5, "files_deleted": 6},
            ("transactions", 11, 15000),
        ),
        ("deletion", {"files_deleted": 11}, ("files deleted", 11, 60)),
    ],
)
def test_ffsmark_ends_in_any_phase(
    phase: str, counts: dict[str, int], short: tuple[str, int, int]
) -> None:
    stream = parse_records(golden("records/enospc.jsonl"))
    none = dict.fromkeys(("files_created", "files_deleted", "files_read", "files_appended"), 0)
    records = []
    for record in stream.records:
        if record["type"] == "phase":
            records.append({**record, "status": "ok", "errno_name": ""})
            records.append({**record, **none, **counts, "phase": phase})
        else:
            records.append(dict(record))
    outcome = judge(
        replace(stream, records=tuple(records)), "", 0, None, asked_of(Ffsmark(), own=True)
    )
    assert outcome.short is not None
    assert (outcome.short.what, outcome.short.measured, outcome.short.asked) == short


def test_what_was_to_be_deleted_is_what_the_phases_before_left() -> None:
    """100 and 40 were created, 5 and 20 deleted; what deletion itself did does not count."""
    counts = {"creation": (100, 5), "transactions": (40, 20), "deletion": (0, 30)}
    records = tuple(
        {"type": "phase", "phase": name, "files_created": made, "files_deleted": gone}
        | {"files_read": 1000}
        for name, (made, gone) in counts.items()
    )
    found = ffsmark.shortfall(Ffsmark(), stream_of(*records), Phase.of(whole(records[2])))
    assert found is not None
    assert (found.what, found.measured, found.asked) == ("files deleted", 30, 115)
    assert found.told.endswith("(ENOSPC) after 30 of 115 files deleted")
    other = {**records[2], "phase": "mount"}
    assert ffsmark.shortfall(Ffsmark(), stream_of(*records), Phase.of(whole(other))) is None


def test_a_tree_that_is_cut_short_may_say_nothing() -> None:
    phase = {"type": "phase", "phase": "create", "workload": "tree"}
    others = ({"type": "tree", "phase": "copy", "files": 9},)
    found = tree.shortfall(Tree(), stream_of(*others), Phase.of(whole(phase)))
    assert found is not None
    assert (found.measured, found.asked, found.accepted) == (0, None, False)
    assert found.told == "phase create: no space left on the partition (ENOSPC)"
    message = "No space after 7 of 12 files"
    made = (*others, {"type": "tree", "phase": "create", "files": 7})
    found = tree.shortfall(Tree(), stream_of(*made), Phase.of(whole({**phase, "message": message})))
    assert found is not None
    assert (found.what, found.measured, found.asked) == ("files created", 7, 12)
    assert found.told.endswith(f"(ENOSPC): {message}")
    assert (
        tree.shortfall(Tree(), stream_of(*made), Phase.of(whole({**phase, "workload": "x"})))
        is None
    )


def test_which_results_are_no_failures() -> None:
    good = {outcome: is_good({"outcome": outcome}) for outcome in OUTCOMES}
    assert [outcome for outcome, is_it in good.items() if is_it] == ["skip", "pass"]


def test_the_table_shows_shares_and_the_summary_names_them() -> None:
    passed = {**result_of("micro-cut"), "id": "whole", "outcome": "pass", "short": None}
    results = [result_of("micro-cut"), result_of("micro-enospc"), result_of("micro-nothing")]
    out = io.StringIO()
    tables = case_tables([*results, passed], {})
    print_cases(Console(file=out, width=80, highlight=False), tables)
    text = out.getvalue()
    for row in (r"micro-cut +short 75%", r"micro-enospc +short 9%", r"micro-nothing +short 0%"):
        assert re.search(row, text), text
    assert all(len(line) <= 80 for line in text.splitlines())
    told = "SHORT: 1 of 4 cases measured less than was asked for, 75% of it: 1 had no room for all"
    (line, example) = short_lines([*results, passed], examples=True)
    assert line.startswith(told) and example.startswith("  micro-cut: ")
    assert short_lines([*results, passed], examples=False) == [line]
    _, failure = failure_lines(results, each=True)
    assert failure.startswith("micro-nothing: short: nothing was measured; 0 of 2 requests")
    assert outcome_counts([*results, passed]) == "1 pass, 3 short (2 of them failed)"
    assert short_lines([passed], examples=True) == []


def test_exit_code_is_0_only_for_what_the_study_allows(tmp_path: Path) -> None:
    def code(*records: str) -> int:
        results = tuple(result_of(name) for name in records)
        good = Ended(results).is_good(is_whole=True)
        return _exit_code(RunEnd(RunDirectory(tmp_path), results, False, 1.0), is_good=good)

    assert code("micro-cut") == EXIT_OK
    for name in ("micro-nothing", "micro-enospc", "enospc", "tree-enospc"):
        assert code("micro-cut", name) == EXIT_FAILED


def test_report_and_tables_have_it() -> None:
    manifest: dict[str, Any] = {}
    cut = plain_case(result_of("micro-cut"), manifest, "study", ())
    nothing = plain_case(result_of("micro-nothing"), manifest, "study", ())
    assert (cut.passed, cut.short["measured"]) == (True, 3 * MIB // 2)
    assert not nothing.passed
    (row,) = case_rows("run", result_of("micro-cut"), {})["cases"]
    assert [row[f"short_{key}"] for key in ("what", "measured", "asked", "accepted")] == [
        *("bytes", 3 * MIB // 2, 2 * MIB),
        True,
    ]
    # Runs of older versions have no such key.
    old = {key: value for key, value in result_of("micro-cut").items() if key != "short"}
    (row,) = case_rows("run", old | {"outcome": "pass"}, {})["cases"]
    assert row["short_what"] is None
    assert is_good(old | {"outcome": "pass"})
