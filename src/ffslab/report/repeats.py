"""The section of a report on a real clock: how far the repeats of a case spread, what is absent.

The other sections show the repeat in the middle (`ffslab.results.repeats`); here are the median and
the range over all repeats of the figures that one asks for first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from ffslab.compare.words import figure_title, percent_text, value_text
from ffslab.report.elements import Table
from ffslab.report.load import all_rows, open_run, repeated_ids
from ffslab.results.repeats import group_of
from ffslab.results.result import CaseResult
from ffslab.results.schema import Figure
from ffslab.results.shortfall import is_good
from ffslab.workloads.figures import figures_of

_HEAD = ("Case", "Figure", "Median", "Lowest", "Highest", "Range")


@dataclass(frozen=True)
class RepeatsView:
    """What the template shows; `absent`: what such a run cannot tell, and why."""

    lead: str
    table: Table
    absent: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Repeats:
    """A case: how often it was measured, of how often it was run, and its figures then."""

    name: str
    good: int
    figures: Sequence[Sequence[Figure]]


def repeats_view(run_dir: Path) -> RepeatsView | None:
    """The section of the run in `run_dir`; None where time is virtual."""
    directory = open_run(run_dir)
    manifest = directory.manifest()
    if not manifest.get("real_clock"):
        return None
    groups: dict[str, list[CaseResult]] = {}
    for row in all_rows(directory):
        groups.setdefault(group_of(row), []).append(row)
    cases = [
        _Repeats(
            rows[0]["id"],
            len(good := [row for row in rows if is_good(row) and row["outcome"] != "skip"]),
            [[figure for figure in figures_of(row) if figure.main] for row in good],
        )
        for rows in groups.values()
    ]
    return RepeatsView(
        lead=_lead(manifest, cases, bool(repeated_ids(manifest))),
        table=Table(
            "Medians and ranges of all repeats",
            _HEAD,
            ("",) * len(_HEAD),
            tuple(row for case in cases for row in _rows(case)),
            text_columns=2,
        ),
        absent=tuple((str(what), str(why)) for what, why in manifest.get("absent") or ()),
    )


def _lead(manifest: Mapping[str, Any], cases: Sequence[_Repeats], repeated: bool) -> str:
    where = str(manifest.get("cpu_time") or "those of a board")
    if not repeated:
        return f"Time is real: {where}. No case was repeated, so nobody knows how far it varies."
    counts = sorted({case.good for case in cases})
    times = " or ".join(map(str, counts))
    return (
        f"Time is real: {where}. Each case was measured {times} times. The rest of this report "
        "shows the middle repeat, by the time of all its phases."
    )


def _rows(case: _Repeats) -> list[tuple[str, ...]]:
    values: dict[str, list[Figure]] = {}
    for figures in case.figures:
        for figure in figures:
            values.setdefault(figure.key, []).append(figure)
    rows = []
    for measured in values.values():
        numbers = [figure.value for figure in measured]
        middle, low, high = median(numbers), min(numbers), max(numbers)
        shown = (value_text(measured[0].metric, value) for value in (middle, low, high))
        spread = percent_text(100 * (high - low) / middle, 2) if middle else "–"
        rows.append((case.name, figure_title(measured[0]), *shown, spread))
    return rows
