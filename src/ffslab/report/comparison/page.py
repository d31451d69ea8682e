"""The HTML page of comparisons: one offline file in the look of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ffslab.compare.cases import Side, split_perturbed
from ffslab.compare.engine import CaseRow, Comparison, FigureRow
from ffslab.compare.tables import Choice, case_counts, figure_counts, is_regression, unjudged
from ffslab.compare.verdicts import CHANGES, REGRESSIONS, Verdict, is_change
from ffslab.compare.words import (
    band_words,
    cause_words,
    change_words,
    counts_words,
    figure_title,
    lacking,
    range_words,
    values_text,
)
from ffslab.model.specs import FIRST_REPEAT
from ffslab.report.charts import PALETTE
from ffslab.report.elements import Table, environment
from ffslab.report.wear import RAMP

_GOOD = frozenset({Verdict.BETTER, Verdict.FIXED, Verdict.NEW})
_HEAD = ("figure", "verdict", "change", "base", "new", "over seeds", "band of builds")


@dataclass(frozen=True)
class ShownSide:
    """A side's name and what is said of it."""

    name: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ShownCase:
    """A case with a change: `tone` is "bad", "good" or neither."""

    label: str
    verdict: str
    tone: str
    why: str
    counts: str
    table: Table
    further: Table
    causes: tuple[str, ...]
    findings: tuple[tuple[str, str], ...]
    broken: tuple[str, ...]


@dataclass(frozen=True)
class ShownComparison:
    """One comparison. `headline` is its outcome; `unchanged`: the cases that nothing is to be said
    of.
    """

    key: str
    title: str
    sides: tuple[ShownSide, ShownSide]
    is_bad: bool
    headline: str
    status: str
    figures: str
    circumstances: Table
    cases: tuple[ShownCase, ...]
    unchanged: tuple[str, ...]
    broken: int


def render_comparisons(comparisons: Sequence[Comparison], choice: Choice) -> str:
    """The page; MissingExtraError without the packages that a report needs."""
    template = environment().get_template("compare.html.j2")
    every = [
        shown(comparison, choice, f"c{n}") for n, comparison in enumerate(comparisons, start=1)
    ]
    return str(template.render(comparisons=every, palette=PALETTE, ramp=RAMP))


def shown(comparison: Comparison, choice: Choice, key: str) -> ShownComparison:
    """What the page says of one comparison; `key` is its anchor."""
    changed = [case for case in comparison.cases if is_change(case.verdict) or case.broken]
    others = [case for case in comparison.cases if case not in changed]
    return ShownComparison(
        key=key,
        title=f"{comparison.new.name} against {comparison.base.name}",
        sides=(_side(comparison.base), _side(comparison.new)),
        is_bad=is_regression(comparison),
        headline=_headline(comparison, bool(changed)),
        status=_counts(case_counts(comparison)),
        figures=_counts(figure_counts(comparison)),
        circumstances=Table(
            "What differs",
            ("", "base", "new", "cases"),
            (),
            tuple(
                (
                    circumstance.name,
                    circumstance.base,
                    circumstance.new,
                    str(circumstance.cases or "all"),
                )
                for circumstance in comparison.circumstances
            ),
            text_columns=3,
            wrapped=(0, 1, 2),
        ),
        cases=tuple(_case(case, choice) for case in changed),
        unchanged=tuple(f"{case.label}: {case.verdict}" for case in others),
        broken=len(comparison.broken),
    )


def _headline(comparison: Comparison, is_changed: bool) -> str:
    if is_regression(comparison):
        return "✕ Worse."
    if unjudged(comparison):
        return f"? Not judged: {lacking(comparison.base.manifest, comparison.new.manifest)}."
    return "✓ Nothing is worse." if is_changed else "✓ Nothing changed."


def _side(side: Side) -> ShownSide:
    own, versions = split_perturbed(side)
    perturbed = [case for case in versions if case.perturbation]
    repeats = [case for case in versions if case.repeat != FIRST_REPEAT]
    facts = [
        ("Cases", str(len(own))),
        ("Perturbed", str(len(perturbed)) if perturbed else ""),
        ("Repeats", str(len(repeats)) if repeats else ""),
        ("Build", str(side.manifest.get("build_id", ""))[:12]),
        ("Study", side.study),
        ("Started", str(side.manifest.get("started") or "")),
        ("Incomplete", f"of {side.planned}" if len(side.cases) < side.planned else ""),
    ]
    return ShownSide(side.name, tuple((name, value) for name, value in facts if value))


def _case(case: CaseRow, choice: Choice) -> ShownCase:
    main = choice.rows(case)
    shown = {row.figure.key for row in main}
    further = [r for r in case.rows if r.verdict in CHANGES and r.figure.key not in shown]
    phases = dict.fromkeys(row.figure.phase for row in main)
    tone = "bad" if case.verdict in REGRESSIONS or case.broken else ""
    return ShownCase(
        label=case.label,
        verdict=str(case.verdict),
        tone=tone or ("good" if case.verdict in _GOOD else ""),
        why=case.why,
        counts=counts_words(case),
        table=_table(main),
        further=_table(further),
        causes=tuple(cause_words(cause) for cause in case.causes if cause.phase in phases),
        findings=case.findings.words,
        broken=case.broken,
    )


def _table(rows: Sequence[FigureRow]) -> Table:
    return Table("", _HEAD, (), tuple(_row(row) for row in rows), text_columns=3, wrapped=(0, 2))


def _row(row: FigureRow) -> tuple[str, ...]:
    words = f"{row.why}" if row.verdict is Verdict.INCOMPARABLE else change_words(row)
    return (
        figure_title(row.figure),
        str(row.verdict),
        words or "–",
        *(value or "–" for value in values_text(row.figure.metric, row.base, row.new)),
        range_words(row) or "–",
        band_words(row) or "–",
    )


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {word}" for word, count in counts.items()) or "none"
