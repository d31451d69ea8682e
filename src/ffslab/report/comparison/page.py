"""The HTML page of comparisons: one offline file in the look of the report.

First the headline and the chart, then the figures that changed, the findings of power cuts, the
cases with their causes, the functions where both sides were profiled, and what differs between the
two sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ffslab.compare.cases import Side, split_perturbed
from ffslab.compare.engine import CaseRow, Comparison, FigureRow
from ffslab.compare.pairs import ANOTHER_TARGET
from ffslab.compare.tables import Choice, case_counts, figure_counts
from ffslab.compare.verdicts import CHANGES, GRAVEST, REGRESSIONS, Verdict, is_change
from ffslab.compare.words import (
    OTHER_WORK,
    band_words,
    cause_words,
    change_words,
    counts_words,
    range_words,
    row_title,
    values_text,
)
from ffslab.model.specs import FIRST_REPEAT
from ffslab.report.comparison.chart import Drawn, chart_of
from ffslab.report.comparison.functions import ShownFunctions, functions_of_cases
from ffslab.report.comparison.headline import case_words, headline
from ffslab.report.elements import Table, environment
from ffslab.report.quantity import unbroken

_GOOD = frozenset({Verdict.BETTER, Verdict.FIXED, Verdict.NEW})
_SIGNS = {Verdict.WORSE: "✗", Verdict.MIXED: "✗", Verdict.INCOMPARABLE: "?"}
_OPTIONAL = {"over seeds": 6, "band of builds": 7}  # columns that are left out where all is empty
_HEAD = ("case", "figure", "verdict", "change", "base", "new", *_OPTIONAL)


@dataclass(frozen=True)
class ShownCase:
    """A case with a change: `tone` is "bad", "good" or neither; `lines`: why, and its causes."""

    label: str
    verdict: str
    tone: str
    counts: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class ShownComparison:
    """One comparison; `key` is its anchor, `sign` its outcome as a character.

    `hidden`: figures that changed beyond those of the table. `unchanged`: the cases that nothing is
    to be said of.
    """

    key: str
    title: str
    headline: str
    sign: str
    chart: Drawn
    status: str
    warnings: tuple[str, ...]
    figures: Table
    hidden: int
    findings: Table
    cases: tuple[ShownCase, ...]
    unchanged: tuple[str, ...]
    functions: tuple[ShownFunctions, ...]
    sides: Table


def render_comparisons(comparisons: Sequence[Comparison], choice: Choice) -> str:
    """The page; MissingExtraError without the packages that a report needs."""
    template = environment().get_template("compare.html.j2")
    every = [
        shown(comparison, choice, f"c{n}") for n, comparison in enumerate(comparisons, start=1)
    ]
    return str(template.render(comparisons=every))


def shown(comparison: Comparison, choice: Choice, key: str) -> ShownComparison:
    """What the page says of one comparison; `key` is its anchor."""
    changed = [case for case in comparison.cases if is_change(case.verdict) or case.broken]
    others = [case for case in comparison.cases if case not in changed]
    cases = _counts(case_counts(comparison))
    return ShownComparison(
        key=key,
        title=f"{comparison.new.name} against {comparison.base.name}",
        headline=headline(comparison),
        sign=_SIGNS.get(comparison.verdict, "✓"),
        chart=chart_of(comparison, f"{key}-chart"),
        status=f"Cases: {cases}. Figures: {_counts(figure_counts(comparison))}.",
        warnings=tuple(_warnings(comparison)),
        figures=_figures(comparison, choice),
        hidden=sum(choice.hidden(case) for case in comparison.cases),
        findings=_findings(comparison),
        cases=tuple(_case(comparison, case) for case in changed),
        unchanged=tuple(f"{case.label}: {case.verdict}" for case in others),
        functions=functions_of_cases(comparison, key),
        sides=_sides(comparison),
    )


def _warnings(comparison: Comparison) -> Iterator[str]:
    """What went wrong, a sentence each; the first word of it is said loudly."""
    for case in comparison.broken:
        more = f" and {len(case.broken) - 3} more" if len(case.broken) > 3 else ""
        yield f"**Not deterministic:** {case.label}: {', '.join(case.broken[:3])}{more}"
    for case in comparison.cases:
        for word, line in case.missed.words:
            yield f"**Limit missed ({word}):** {case.label}: {line}"
    if comparison.other_work:
        yield f"**Not the same work:** {OTHER_WORK}"
    if comparison.is_of_targets:
        yield f"**Not judged:** {ANOTHER_TARGET}"
    for side in (comparison.base, comparison.new):
        if len(side.cases) < side.planned:
            count = f"{len(side.cases)} of {side.planned} cases have a result"
            yield f"**Incomplete:** {side.name}, {count}"


def _figures(comparison: Comparison, choice: Choice) -> Table:
    """The figures that changed, the gravest verdict first and there the largest change."""
    changes = [
        (case, row)
        for case in comparison.cases
        for row in choice.rows(case)
        if row.verdict in CHANGES or row.verdict is Verdict.INCOMPARABLE
    ]
    changes.sort(key=lambda entry: (GRAVEST.index(entry[1].verdict), -entry[1].distance))
    rows = [(case_words(comparison, case), *_row(row)) for case, row in changes]
    empty = {number for number in _OPTIONAL.values() if all(row[number] == "–" for row in rows)}
    kept = [number for number in range(len(_HEAD)) if number not in empty]
    return Table(
        "",
        tuple(_HEAD[number] for number in kept),
        (),
        tuple(tuple(row[number] for number in kept) for row in rows),
        text_columns=4,
        told=True,
    )


def _row(row: FigureRow) -> tuple[str, ...]:
    words = row.why if row.verdict is Verdict.INCOMPARABLE else change_words(row)
    return (
        row_title(row),
        str(row.verdict),
        words or "–",
        *(unbroken(value) or "–" for value in values_text(row.figure.metric, row.base, row.new)),
        range_words(row) or "–",
        band_words(row) or "–",
    )


def _findings(comparison: Comparison) -> Table:
    """The findings of power cuts: the new ones of all cases, then what is gone, then the same."""
    told = [
        (word, case.label, line) for case in comparison.cases for word, line in case.findings.words
    ]
    order = ("new", "known", "gone", "same")
    rows = tuple(sorted(told, key=lambda row: order.index(row[0])))
    return Table("", ("", "case", "finding"), (), rows, text_columns=3, wrapped=(2,))


def _case(comparison: Comparison, case: CaseRow) -> ShownCase:
    phases = {row.figure.phase for row in case.deciding if row.verdict in CHANGES}
    causes = [cause for cause in case.causes if cause.phase in phases] or case.causes[:1]
    tone = "bad" if case.verdict in REGRESSIONS or case.broken else ""
    return ShownCase(
        label=case_words(comparison, case),
        verdict=str(case.verdict),
        tone=tone or ("good" if case.verdict in _GOOD else ""),
        counts=counts_words(case),
        lines=tuple(line for line in (case.why, *map(cause_words, causes)) if line),
    )


def _sides(comparison: Comparison) -> Table:
    """The two sides, and what differs between them."""
    facts = [_facts(side) for side in (comparison.base, comparison.new)]
    rows = [
        (name, facts[0].get(name, "–"), facts[1].get(name, "–"), "")
        for name in dict.fromkeys(name for side in facts for name in side)
    ]
    rows += [
        (entry.name, entry.base, entry.new, str(entry.cases or "all"))
        for entry in comparison.circumstances
    ]
    head = ("", "base", "new", "cases that it is in")
    note = "" if comparison.circumstances else "Build, version and settings are the same."
    return Table("", head, (), tuple(rows), text_columns=3, wrapped=(0, 1, 2), note=note)


def _facts(side: Side) -> dict[str, str]:
    own, versions = split_perturbed(side)
    perturbed = sum(bool(case.perturbation) for case in versions)
    repeats = sum(case.repeat != FIRST_REPEAT for case in versions)
    facts = {
        "run": side.name,
        "study": side.study,
        "started": str(side.manifest.get("started") or ""),
        "build": str(side.manifest.get("build_id", ""))[:12],
        "cases": str(len(own)),
        "perturbed": str(perturbed or ""),
        "repeats": str(repeats or ""),
    }
    return {name: value for name, value in facts.items() if value}


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {word}" for word, count in counts.items()) or "none"
