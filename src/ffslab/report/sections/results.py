"""All cases with the figures that people decide by, as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ffslab.compare.words import value_text
from ffslab.report.data import Run
from ffslab.report.elements import Table
from ffslab.results.criteria import Criterion

_MOST_COLUMNS = 12


def results_table(run: Run, criteria: Mapping[str, Sequence[Criterion]], title: str) -> Table:
    """A row for each case, a column for each figure."""
    columns: dict[str, str] = {}
    for case in run.cases:
        for criterion in criteria.get(case.id, ()):
            if criterion.tally is None or criterion.tally.whole:
                columns.setdefault(criterion.title, criterion.column)
    chosen = list(columns)[:_MOST_COLUMNS]
    rows = []
    for case in run.cases:
        values = {criterion.title: _text(criterion) for criterion in criteria.get(case.id, ())}
        rows.append((case.id, case.outcome, *(values.get(name, "–") for name in chosen)))
    head = ("case", "outcome", *(columns[name] for name in chosen))
    return Table(title, head, (), tuple(rows), text_columns=2, outcomes=True)


def _text(criterion: Criterion) -> str:
    tally = criterion.tally
    if tally is not None:
        return f"✕ {tally.count:,}" if tally.count else f"✓ {tally.whole:,}"
    return value_text(criterion.figure.metric, criterion.figure.value)
