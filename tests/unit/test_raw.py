"""raw: its plan, result and report, with values worked out by hand."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from host_support import cases_of, page_of_case
from rich.console import Console
from tree_support import Phase, tree_records

from ffslab.errors import SpecError
from ffslab.model.case import Case
from ffslab.protocol.plan import parse_step
from ffslab.protocol.records import parse_records
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.targets.virtual_flash import plans
from ffslab.workloads.figures import criteria_of, figures_of
from ffslab.workloads.raw import terminal
from ffslab.workloads.raw.result import compared_times_ns
from ffslab.workloads.raw.stored import raw_of

MIB = 2**20
STUDY = """
schema = 1
name = "raw"
title = "The device"

[base]
board = "celf-mips"
filesystem = "mtd"
partition_bytes = "8 MiB"

[base.workload]
kind = "raw"
erase_mb_s = 10.0
write_mb_s = 2.0
"""
# 64 blocks of 128 KiB are 8 MiB: in 0.8 s, 4.1 s and 3.2 s 10, 1.951 and 2.5 MiB/s.
PHASES = (
    Phase("erase", 800_000_000, {"blocks_erased": 64}),
    Phase("write", 4_100_000_000, {"pages_programmed": 4096}),
    Phase("read", 3_200_000_000, {"pages_read": 4096}),
)


def raw_case(more: str = "") -> Case:
    return cases_of(STUDY + more)[0]


def raw_result(phases: tuple[Phase, ...] = PHASES, more: str = "") -> dict[str, Any]:
    stream = parse_records(tree_records(phases))
    return case_result(raw_case(more), Outcome("pass"), stream, "f" * 64)


def test_the_device_is_erased_written_and_read_and_nothing_is_mounted() -> None:
    (plan,) = plans(raw_case())
    steps = [(verb, dict(keys)) for verb, keys in map(parse_step, plan.splitlines()[1:])]
    told = [(verb, keys.get("phase", "")) for verb, keys in steps]
    at = told.index(("erase", ""))
    assert told[at : at + 4] == [
        ("erase", ""),
        ("erase", "erase"),
        ("raw-write", "write"),
        ("raw-read", "read"),
    ]
    assert "mount" not in dict(steps)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"mtd"', '"jffs2"', "it mounts no jffs2"),
        ('kind = "raw"\nerase_mb_s = 10.0\nwrite_mb_s = 2.0', 'kind = "wear"', "not a file system"),
        ('"8 MiB"', '"8 MiB"\nstate = "aged"', "it has no state 'aged'"),
    ],
)
def test_what_cannot_be_is_told(old: str, new: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        cases_of(STUDY.replace(old, new))


def test_throughput_is_what_the_flash_was_asked_for_by_its_time() -> None:
    """2.5 MiB/s has nothing published beside it; 8 / 4.1 is 2.44 % below 2.0, as much as agrees."""
    result: Any = raw_result()
    found = raw_of(result)
    assert found is not None and found["within"] == 0.03
    erase, write, read = found["phases"]
    assert (erase["bytes"], write["bytes"], read["bytes"]) == (8 * MIB,) * 3
    assert erase["raw_bytes_per_s"] == 10 * MIB and erase["difference"] == 0
    assert write["difference"] == pytest.approx(8 / 4.1 / 2 - 1)
    assert erase["agrees"] is True and write["agrees"] is True
    assert read["raw_bytes_per_s"] == 2.5 * MIB
    assert (read["published_bytes_per_s"], read["difference"], read["agrees"]) == (None,) * 3
    figures = {figure.key: figure.value for figure in figures_of(result)}
    assert figures["read.raw_bytes_per_s"] == 2.5 * MIB
    assert [one.title for one in criteria_of(result)] == ["raw erase", "raw write", "raw read"]
    assert compared_times_ns(result)["write"] == 4.1e9


def test_a_difference_above_the_stated_is_told() -> None:
    """2.44 % are more than 2."""
    result: Any = raw_result(more="within_percent = 2.0\n")
    found = raw_of(result)
    assert found is not None
    assert [one["agrees"] for one in found["phases"]] == [True, False, None]
    assert list(terminal.cells(result)) == ["10.49", "2.05", "2.62", "differs"]
    shown = io.StringIO()
    terminal.print_case(Console(file=shown, width=80), result)
    told = "write: 2.046 MB/s, published 2.00 MiB/s (2.097 MB/s), -2.4%, outside"
    assert told in shown.getvalue().splitlines()
    assert list(terminal.cells(raw_result()))[3] == "as published"  # type: ignore[arg-type]


def test_a_phase_that_failed_has_no_throughput() -> None:
    failed = Phase("write", 1000, {"pages_programmed": 9}, error="EIO")
    found = raw_of(raw_result((PHASES[0], failed)))  # type: ignore[arg-type]
    assert found is not None and [one["phase"] for one in found["phases"]] == ["erase"]
    assert raw_of(raw_result(())) is None  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("within", "words"), [("3.0", "as published"), ("2.0", "not as published: write")]
)
def test_the_report_says_whether_it_is_as_published(
    tmp_path: Path, within: str, words: str
) -> None:
    """One rate in one unit, on the scoreboard as in the table, the published one beside it."""
    page = page_of_case(tmp_path, f"{STUDY}within_percent = {within}\n", tree_records(PHASES))
    section = page[page.index('<section id="published"') :].partition("</section>")[0]
    assert f"it is <strong>{words}</strong>; write differs most, by -2.44" in section
    assert "<td>2.046 MB/s</td><td>2.00 MiB/s (2.097 MB/s)</td><td>-2.44%</td>" in section
    board = page[page.index('<table class="score"') :].partition("</table>")[0]
    assert ">2.05\xa0MB/s<" in board and ">1.95" not in board
