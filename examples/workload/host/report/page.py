"""sample-files' part of a report: what a file takes, for each configuration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ffslab.report import data
from ffslab.report.configurations import chosen_among
from ffslab.report.load import Read, explained, open_run, plain_outline
from ffslab.report.page import common
from ffslab.report.elements import Table
from ffslab.report.quantity import duration, grouped
from ffslab.results.result import CaseResult
from ffslab.workloads.sample_files.stored import Stored, stored_of

TITLE = "Files written"
_NONE = "–"
_HEAD = ("configuration", "case", "files", "mean of a file")


def figures_of(row: CaseResult) -> Stored | None:
    """What the page needs of a result: little, since it is kept of all."""
    return stored_of(row)


def page(run_dir: Path, read_cases: Sequence[Read[Stored | None]]) -> dict[str, Any]:
    """Everything that page.html.j2 shows of a run's cases of this workload."""
    manifest = open_run(run_dir).manifest()
    with explained(run_dir, manifest):
        run = plain_outline(run_dir, manifest, read_cases)
    shown = (data.FILESYSTEM, *chosen_among(run.cases))
    # Draw against the axes that vary: `ffslab.report.axes` and `curves`, as append_log does.
    rows = tuple(
        (data.group_label(case.axes, shown), case.id, *_cells(read.figures))
        for case, read in zip(run.cases, read_cases, strict=True)
        if case.passed and read.figures is not None
    )
    return {
        **common(run),
        "sample_files_table": Table("Files written", _HEAD, (), rows, text_columns=2),
    }


def _cells(found: Stored) -> tuple[str, str]:
    mean = found["sample_files_mean_ns"]
    return grouped(found["files_done"]), _NONE if mean is None else duration(mean)
