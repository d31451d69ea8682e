"""The section of a report on a real clock: how far the repeats of a case spread, what is absent.

The other sections show the repeat in the middle (`ffslab.results.repeats`); here are the median and
the range over all repeats of the figures that one asks for first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from ffslab.compare.words import figure_title, percent_text, value_text
from ffslab.report import plots
from ffslab.report.elements import Table
from ffslab.report.load import Opened, all_rows
from ffslab.report.sections.section import Chart, Section
from ffslab.results.repeats import group_of
from ffslab.results.result import CaseResult
from ffslab.results.schema import Figure
from ffslab.results.shortfall import is_good
from ffslab.results.stated import repeated_ids
from ffslab.workloads.figures import figures_of

_HEAD = ("Case", "Figure", "Median", "Lowest", "Highest", "Range")


@dataclass(frozen=True)
class _Repeats:
    """A case: how often it was measured, of how often it was run, and its figures then."""

    name: str
    filesystem: str
    good: int
    figures: Sequence[Sequence[Figure]]


def sections(run: Opened) -> Iterator[Section]:
    """The section of a run; none where time is virtual."""
    manifest = run.manifest
    if not manifest.get("real_clock"):
        return
    groups: dict[str, list[CaseResult]] = {}
    for row in all_rows(run):
        groups.setdefault(group_of(row), []).append(row)
    cases = [
        _Repeats(
            rows[0]["id"],
            rows[0]["spec"]["filesystem"]["name"],
            len(good := [row for row in rows if is_good(row) and row["outcome"] != "skip"]),
            [[figure for figure in figures_of(row) if figure.main] for row in good],
        )
        for rows in groups.values()
    ]
    told = "Medians and ranges of all repeats"
    rows = tuple(row for case in cases for row in _rows(case))
    repeated = bool(repeated_ids(manifest))
    ranges = plots.ratios(_ends(cases), "÷ median of the repeats", "repeats-ranges")
    absent = (f"Absent: {what}, because {why}." for what, why in manifest.get("absent") or ())
    where = manifest.get("cpu_time") or "those of a board"
    yield Section(
        key="repeats",
        title="How far do repeats spread?",
        sentence=_sentence(cases, repeated),
        charts=(Chart(told, ranges, "Lowest and highest of each case."),) if repeated else (),
        tables=(Table(told, _HEAD, ("",) * len(_HEAD), rows, text_columns=2),) if rows else (),
        note=" ".join((f"Time is real: {where}.", *absent)),
    )


def _sentence(cases: Sequence[_Repeats], repeated: bool) -> str:
    if not repeated:
        return "No case was repeated, so nobody knows how far it varies."
    times = " or ".join(map(str, sorted({case.good for case in cases})))
    return (
        f"Each case was measured {times} times; other sections show the middle repeat, by the "
        "time of all its phases."
    )


def _measured(case: _Repeats) -> Iterator[list[Figure]]:
    """The values of each figure in all repeats."""
    values: dict[str, list[Figure]] = {}
    for figures in case.figures:
        for figure in figures:
            values.setdefault(figure.key, []).append(figure)
    yield from values.values()


def _ends(cases: Sequence[_Repeats]) -> list[plots.Ratio]:
    """The lowest and the highest value of each figure, ÷ its median."""
    ends = []
    for case in cases:
        for measured in _measured(case):
            numbers = [figure.value for figure in measured]
            middle = median(numbers)
            name, metric = figure_title(measured[0]), measured[0].metric
            for end in (min(numbers), max(numbers)) if middle else ():
                text = value_text(metric, end)
                ends.append(plots.Ratio(name, case.name, case.filesystem, end / middle, "", text))
    return ends


def _rows(case: _Repeats) -> list[tuple[str, ...]]:
    rows = []
    for measured in _measured(case):
        numbers = [figure.value for figure in measured]
        middle, low, high = median(numbers), min(numbers), max(numbers)
        shown = (value_text(measured[0].metric, value) for value in (middle, low, high))
        spread = percent_text(100 * (high - low) / middle, 2) if middle else "–"
        rows.append((case.name, figure_title(measured[0]), *shown, spread))
    return rows
