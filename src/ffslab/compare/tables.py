"""Comparisons as JSON, CSV and Markdown, and which rows of one are shown. Pure."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.compare.engine import CaseRow, Comparison, FigureRow
from ffslab.compare.verdicts import CHANGES, GRAVEST, ORDER, Verdict, is_change
from ffslab.compare.words import (
    band_words,
    cause_words,
    change_words,
    range_words,
    row_title,
    values_text,
)
from ffslab.results.profiles import FunctionChange

Functions = Callable[[Comparison, CaseRow], Sequence[FunctionChange]]
DOCUMENT_VERSION = 2
_MOST_OTHERS = 5  # figures that are not asked for first, unless all are wanted
_CSV_HEAD = (
    *("base", "new", "case", "case_verdict", "figure", "verdict", "decides", "per"),
    *("base_value", "new_value"),
    *("ratio", "ratio_low", "ratio_high", "seeds", "band_low", "band_high", "words", "why"),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a comparison is shown: changes only; every figure that changed."""

    only_changed: bool = False
    all_figures: bool = False

    def cases(self, comparison: Comparison) -> tuple[CaseRow, ...]:
        """The cases, those with a change only if that is wanted."""
        if not self.only_changed:
            return comparison.cases
        return tuple(case for case in comparison.cases if is_change(case.verdict) or case.broken)

    def rows(self, case: CaseRow) -> tuple[FigureRow, ...]:
        """Figures that decide, then the others that changed, the most first."""
        main = [row for row in case.rows if row.decides]
        others = [row for row in case.rows if not row.decides]
        nothing = all(row.verdict is Verdict.SAME for row in case.rows)
        if self.only_changed or nothing or case.verdict is Verdict.FAILING:
            main = [row for row in main if is_change(row.verdict)]
        changed = sorted((row for row in others if row.verdict in CHANGES), key=_rank)
        if not self.all_figures:
            changed = changed[:_MOST_OTHERS]
        return (*main, *changed)

    def hidden(self, case: CaseRow) -> int:
        """How many figures changed that are not shown."""
        shown = {row.figure.key for row in self.rows(case)}
        return sum(row.verdict in CHANGES and row.figure.key not in shown for row in case.rows)


def _rank(row: FigureRow) -> tuple[int, float]:
    return GRAVEST.index(row.verdict), -row.distance


def has_change(comparison: Comparison) -> bool:
    """Whether anything differs by more than chance, a figure that does not decide among it."""
    return bool(comparison.broken) or any(
        is_change(case.verdict)
        or any(row.verdict in CHANGES for row in case.rows)
        or any(change.new or change.gone for change in (case.findings, case.missed))
        for case in comparison.cases
    )


def case_counts(comparison: Comparison) -> Counter[str]:
    """How many cases have which verdict, the gravest first."""
    return _ordered(case.verdict for case in comparison.cases)


def figure_counts(comparison: Comparison) -> Counter[str]:
    """How many figures have which verdict."""
    return _ordered(row.verdict for case in comparison.cases for row in case.rows)


def _ordered(verdicts: Iterator[Verdict]) -> Counter[str]:
    counts = Counter(verdicts)
    return Counter({str(verdict): counts[verdict] for verdict in ORDER if counts[verdict]})


def as_json(
    comparisons: Sequence[Comparison], choice: Choice, functions: Functions = lambda *_: ()
) -> str:
    """All cases and figures, or those that changed; `functions` has those of a profiled case."""
    document = {
        "v": DOCUMENT_VERSION,
        "comparisons": [_document(comparison, choice, functions) for comparison in comparisons],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _document(comparison: Comparison, choice: Choice, functions: Functions) -> dict[str, Any]:
    return {
        "base": comparison.base.name,
        "new": comparison.new.name,
        "axis": comparison.axis,
        "verdict": comparison.verdict,
        "other_work": [[d.key, d.base, d.new] for d in comparison.other_work],
        "differs": [
            {"what": c.name, "base": c.base, "new": c.new, "cases": c.cases}
            for c in comparison.circumstances
        ],
        "cases": [
            {**_case(case, choice), "functions": [*map(_function, functions(comparison, case))]}
            for case in choice.cases(comparison)
        ],
        "case_counts": dict(case_counts(comparison)),
        "figure_counts": dict(figure_counts(comparison)),
    }


def _case(case: CaseRow, choice: Choice) -> dict[str, Any]:
    return {
        "case": case.label,
        "verdict": case.verdict,
        "why": case.why,
        "ids": [list(ids) for ids in case.ids],
        "spec_differences": [[d.key, d.base, d.new] for d in case.differences],
        "equal_build_and_spec": case.is_exact,
        "not_deterministic": list(case.broken),
        "causes": [cause_words(cause) for cause in case.causes],
        "findings": {
            "new": list(case.findings.new),
            "known": list(case.findings.known),
            "gone": list(case.findings.gone),
            "same": list(case.findings.same),
        },
        "missed": {
            "new": list(case.missed.new),
            "gone": list(case.missed.gone),
            "same": list(case.missed.same),
        },
        "figures": [_figure(row) for row in _all_rows(case, choice)],
    }


def _function(row: FunctionChange) -> dict[str, Any]:
    return {"function": row.name, "base_ns": row.old_ns, "new_ns": row.new_ns}


def _all_rows(case: CaseRow, choice: Choice) -> tuple[FigureRow, ...]:
    if not choice.only_changed:
        return case.rows
    return tuple(row for row in case.rows if is_change(row.verdict))


def _figure(row: FigureRow) -> dict[str, Any]:
    low, high = _band(row)
    return {
        "figure": row.figure.key,
        "title": row_title(row),
        "verdict": row.verdict,
        "decides": row.decides,
        "per": row.per,
        "base": row.base,
        "new": row.new,
        "ratio": row.ratio,
        "ratio_low": row.summary.minimum if row.summary else None,
        "ratio_high": row.summary.maximum if row.summary and not row.summary.undefined else None,
        "seeds": row.seeds,
        "band_low": low,
        "band_high": high,
        "words": change_words(row),
        "why": row.why,
    }


def _band(row: FigureRow) -> tuple[float | None, float | None]:
    """The band as ratios, like the ratio of the figure itself."""
    if row.band is None or row.band.relative is None:
        return None, None
    return 1 + row.band.relative[0], 1 + row.band.relative[1]


def as_csv(comparisons: Sequence[Comparison], choice: Choice) -> str:
    """One line per case and figure; a case without figures has one line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CSV_HEAD)
    for comparison in comparisons:
        sides = (comparison.base.name, comparison.new.name)
        for case in choice.cases(comparison):
            rows = _all_rows(case, choice)
            if not rows:
                empty = [""] * (len(_CSV_HEAD) - len(sides) - 3)
                writer.writerow([*sides, case.label, case.verdict, *empty, case.why])
            for row in rows:
                cells = _figure(row)
                del cells["title"]
                writer.writerow([*sides, case.label, case.verdict, *map(_cell, cells.values())])
    return text.getvalue()


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def as_markdown(comparisons: Sequence[Comparison], choice: Choice) -> str:
    """Tables for a pull request: what differs, the cases that are shown, and why."""
    return (
        "\n".join(line for comparison in comparisons for line in _markdown(comparison, choice))
        + "\n"
    )


def _markdown(comparison: Comparison, choice: Choice) -> Iterator[str]:
    yield f"## {_md(comparison.new.name)} against {_md(comparison.base.name)}\n"
    if comparison.circumstances:
        yield "| what differs | base | new | cases |\n|---|---|---|---|"
        for circumstance in comparison.circumstances:
            cases = str(circumstance.cases or "")
            values = f"{_md(circumstance.base)} | {_md(circumstance.new)}"
            yield f"| {_md(circumstance.name)} | {values} | {cases} |"
    else:
        yield "Nothing differs in the circumstances."
    yield f"\n**{comparison.verdict}**: {_counts(case_counts(comparison))}\n"
    shown = choice.cases(comparison)
    if shown:
        yield "| case | figure | base | new | change | verdict |\n|---|---|---|---|---|---|"
    for case in shown:
        yield from _markdown_rows(case, choice)
    causes = [(case, cause) for case in shown for cause in case.causes]
    findings = [(case, *told) for case in shown for told in case.findings.words]
    missed = [(case, *told) for case in shown for told in case.missed.words]
    if causes or findings or missed:
        yield ""
    for case, word, line in findings:
        yield f"- {_md(case.label)}, finding, {word}: {_md(line)}"
    for case, word, line in missed:
        yield f"- {_md(case.label)}, limit missed, {word}: {_md(line)}"
    for case, cause in causes:
        yield f"- {_md(case.label)}, {_md(cause_words(cause))}"


def _markdown_rows(case: CaseRow, choice: Choice) -> Iterator[str]:
    rows = choice.rows(case)
    if not rows:
        yield f"| {_md(case.label)} | | | | {_md(case.why)} | {case.verdict} |"
    for row in rows:
        base, new = values_text(row.figure.metric, row.base, row.new)
        cells = (case.label, row_title(row), base, new, told_change(row), row.verdict)
        yield f"| {' | '.join(_md(cell) for cell in cells)} |"


def told_change(row: FigureRow) -> str:
    """The change of a figure with its range over seeds and its band, or why there is none."""
    if row.verdict is Verdict.INCOMPARABLE:
        return f"not comparable: {row.why}"
    told = change_words(row)
    extent, band = range_words(row), band_words(row)
    further = ", ".join(word for word in (extent, f"band {band}" if band else "") if word)
    return f"{told} ({further})" if further and told else told


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in counts.items()) or "no case"


def _md(text: str) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")
