"""database's part of a report: what a transaction takes, for each case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.report import data
from ffslab.report.configurations import chosen_among
from ffslab.report.elements import Table
from ffslab.report.load import Read, explained, open_run, plain_outline
from ffslab.report.page import common
from ffslab.report.quantity import duration, significant
from ffslab.results.result import CaseResult
from ffslab.workloads.database.result import transaction_latency
from ffslab.workloads.database.stored import stored_of

TITLE = "Transactions of a database"
_NONE = "–"
_HEAD = (
    *("configuration", "case", "rate", "median", "99 %", "longest"),
    *("programmed", "erased", "written ÷ changed", "programmed ÷ changed"),
)
_UNITS = ("", "", "per s", "", "", "", "pages each", "blocks per 1,000", "", "")


@dataclass(frozen=True, slots=True)
class Figures:
    """What the page needs of a result: rate and amplifications, and times of a transaction."""

    rate: float | None
    times_ns: tuple[float, ...]
    numbers: tuple[float | None, ...]


def figures_of(row: CaseResult) -> Figures | None:
    """What a case measured; None if it did not get so far."""
    stored, latency = stored_of(row), transaction_latency(row)
    if stored is None or latency is None:
        return None
    whole = next((phase for phase in row["phases"] if phase["phase"] == "workload"), None)
    return Figures(
        rate=stored["transactions_per_s"],
        times_ns=(latency["p50_ns"], latency["p99_ns"], latency["max_ns"]),
        numbers=(
            stored["programs_per_transaction"],
            stored["erases_per_1000_transactions"],
            stored["journal_amplification"],
            whole.get("write_amplification") if whole else None,
        ),
    )


def page(run_dir: Path, read_cases: Sequence[Read[Figures | None]]) -> dict[str, Any]:
    """Everything that page.html.j2 shows of a run's cases of this workload."""
    manifest = open_run(run_dir).manifest()
    with explained(run_dir, manifest):
        run = plain_outline(run_dir, manifest, read_cases)
    shown = (data.FILESYSTEM, *chosen_among(run.cases))
    rows = tuple(
        (data.group_label(case.axes, shown), case.id, *_cells(read.figures))
        for case, read in zip(run.cases, read_cases, strict=True)
        if case.passed and read.figures is not None
    )
    return {**common(run), "database_table": Table(TITLE, _HEAD, _UNITS, rows, text_columns=2)}


def _cells(figures: Figures) -> tuple[str, ...]:
    return (
        _shown(figures.rate),
        *map(duration, figures.times_ns),
        *map(_shown, figures.numbers),
    )


def _shown(value: float | None) -> str:
    return _NONE if value is None else significant(value)
