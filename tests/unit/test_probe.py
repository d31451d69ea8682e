"""probe: its plans, result and report, with values worked out by hand."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from host_support import cases_of, page_of_case
from made_records import lines_of
from rich.console import Console

from ffslab.errors import DamagedResultError, SpecError
from ffslab.model.case import Case
from ffslab.protocol.plan import parse_step
from ffslab.protocol.records import parse_records
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.targets.virtual_flash import plans
from ffslab.workloads.figures import criteria_of, figures_of
from ffslab.workloads.probe import terminal
from ffslab.workloads.probe.result import check_records, compared_times_ns
from ffslab.workloads.probe.stored import probe_of

STUDY = """
schema = 1
name = "probes"
title = "Probes"

[base]
board = "apf27"
filesystem = "mtd"
partition_bytes = "8 MiB"

[base.workload]
kind = "probe"
blocks = 3
calls = 100
"""
MOUNTED = STUDY.replace('"mtd"', '"ubifs"').replace("blocks = 3\ncalls = 100", "files = 20")


def probe_case(text: str = STUDY) -> Case:
    return cases_of(text)[0]


def steps_of(case: Case) -> list[tuple[str, dict[str, str]]]:
    (plan,) = plans(case)
    return [(verb, dict(keys)) for verb, keys in map(parse_step, plan.splitlines()[1:])]


def probe_records(*rows: tuple[str, int, int, int | None]) -> bytes:
    """Phases that took `ns` for `count` operations, with so much CPU time; None: no probe."""
    return lines_of(_records(rows))


def _records(rows: Sequence[tuple[str, int, int, int | None]]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = [
        {"type": "start", "agent": "t", "kernel": "6.1", "clock": "page", "seed": 1}
    ]
    now = 1_000
    for phase, took_ns, count, cpu_ns in rows:
        times = {"t_start_ns": now, "t_end_ns": now + took_ns, "status": "ok"}
        found.append({"type": "phase", "workload": "probe", "phase": phase, **times})
        if cpu_ns is not None:
            told = {"phase": phase, "what": phase, "count": count, "bytes": 64, "cpu_ns": cpu_ns}
            found.append({"type": "probe", **told})
        now += took_ns + 10
    end = {"status": "ok", "steps_run": 1, "steps_total": 1, "t_ns": now}
    return [*found, {"type": "end", **end}]


# 192 reads of 61.5 us, 25 us of each asleep; a mount of 75 ms.
ROWS = (("read-oob", 11_808_000, 192, 7_008_000), ("mount", 75_000_000, 1, None))


def probe_result(*rows: tuple[str, int, int, int | None]) -> dict[str, Any]:
    stream = parse_records(probe_records(*(rows or ROWS)))
    return case_result(probe_case(), Outcome("pass"), stream, "f" * 64)


def test_on_the_device_each_operation_is_a_step() -> None:
    """Twice as many pages as blocks would be no surprise: the agent counts them, not the plan."""
    steps = steps_of(probe_case())
    flash = [keys for verb, keys in steps if verb == "probe-flash"]
    assert [keys["what"] for keys in flash] == [
        *("program", "read", "read-part", "read-oob", "erase", "program-oob")
    ]
    assert {keys["blocks"] for keys in flash} == {"3"} and {keys["mtd"] for keys in flash} == {
        "data"
    }
    cpu = {keys["what"]: int(keys["count"]) for verb, keys in steps if verb == "probe-cpu"}
    assert cpu["syscall"] == 1000 and cpu["open"] == 100 and cpu["copy"] == 10
    assert cpu["user-crc32"] == 2
    verbs = [verb for verb, _ in steps]
    assert "mount" not in verbs and verbs.index("erase") < verbs.index("probe-flash")
    assert verbs[-3:-2] == ["erase"]  # in front of the statistics


def test_with_a_file_system_its_life_is_in_phases() -> None:
    """20 files in directories of 8 at most: three and the top, so 5 in each."""
    steps = steps_of(probe_case(MOUNTED))
    (create,) = [keys for verb, keys in steps if verb == "tree-create"]
    assert (create["files"], create["directories"]) == ("constant(5)", "constant(3)")
    named = [keys["phase"] for _, keys in steps if keys.get("phase")]
    assert named == [
        *("create", "sync", "copy-files", "copy-sync", "list", "unmount", "detach"),
        *("attach", "mount", "list-again", "delete", "delete-sync"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('8 MiB"', "8 MiB\"\nstate = 'aged'", "it has no state 'aged'"),
        ("blocks = 3", "file_bytes = 0", "file_bytes is 0"),
        ("blocks = 3", "blocks = 0", "greater than or equal to 1"),
        ('"mtd"', '"squashfs"', "squashfs"),
    ],
)
def test_what_cannot_be_is_told(old: str, new: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        cases_of(STUDY.replace(old, new))


def test_an_operation_is_the_phase_by_their_number() -> None:
    """11.808 ms ÷ 192 are 61.5 us, of which 7.008 ÷ 11.808, 59 %, are the CPU's."""
    result: Any = probe_result()
    found = probe_of(result)
    assert found is not None
    oob, mount = found["phases"]
    assert oob == {
        "phase": "read-oob",
        "count": 192,
        "bytes": 64,
        "duration_ns": 11_808_000,
        "cpu_ns": 7_008_000,
    }
    assert (mount["count"], mount["bytes"], mount["cpu_ns"]) == (1, 0, None)
    figures = {figure.key: figure.value for figure in figures_of(result)}
    assert figures["read-oob.operation_ns"] == 61_500
    assert [one.title for one in criteria_of(result)] == ["read-oob", "mount"]
    assert compared_times_ns(result) == {"read-oob": 11_808_000.0, "mount": 75_000_000.0}
    shown = io.StringIO()
    terminal.print_case(Console(file=shown, width=80), result)
    assert "read-oob: 61.5 µs each of 192, 64 B, CPU 59%" in shown.getvalue()
    assert list(terminal.cells(result)) == ["", "", "", "", "75.0 ms"]


def test_a_guest_that_measured_nothing_has_no_key() -> None:
    assert probe_of(probe_result(("other", 5, 1, None))) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([("read", 100, 4, 101)], "101 ns of the CPU in 100 ns"),
        ([("read", 100, 4, 7)], "phase 'other', which does not exist"),
    ],
)
def test_records_that_contradict_each_other_are_told(
    records: list[tuple[str, int, int, int]], words: str
) -> None:
    data = probe_records(*records)
    if "other" in words:
        data = data.replace(b'"phase":"read","what"', b'"phase":"other","what"')
        data = data.replace(b'"phase": "read", "what"', b'"phase": "other", "what"')
    with pytest.raises(DamagedResultError, match=words):
        check_records(parse_records(data))


def test_a_probe_without_its_count_is_damage() -> None:
    data = probe_records(ROWS[0]).replace(b'"count"', b'"number"')
    assert "a probe record without 'count'" in parse_records(data).damage[0]


@pytest.mark.slow
def test_the_report_has_a_row_for_each(tmp_path: Path) -> None:
    page = page_of_case(tmp_path, STUDY, probe_records(*ROWS))
    assert "read-oob" in page and "61.5" in page and "75.0" in page
