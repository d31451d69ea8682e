"""The table that a comparison begins with: a row for each case, a column for each deciding figure.

A cell says how the figure changed, in few letters. Cases with equal cells are one row, columns in
which nothing changed are left out and named, and rows go from the worst to the best. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from ffslab.compare.engine import CaseRow, Comparison, FigureRow
from ffslab.compare.ratios import factor
from ffslab.compare.verdicts import CHANGES, LOSSES, ORDER, UNCHANGED, Verdict
from ffslab.compare.words import signed_percent
from ffslab.results.criteria import MOST_DECIDING

ALIKE = "="
UNLIKE = "–"
_TIMES_FROM = 2.0  # a factor of that and more is told as one
_PERCENT_DIGITS = 2


@dataclass(frozen=True, slots=True)
class Cell:
    """How one figure changed; `verdict` is None where the case has no such figure."""

    text: str = ""
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class BoardRow:
    """Cases that changed alike: the name of the first, how many more there are, their cells."""

    name: str
    more: int
    verdict: Verdict
    cells: tuple[Cell, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Board:
    """`heads` of the columns in which something changed; `alike`: those of the others."""

    heads: tuple[str, ...]
    alike: tuple[str, ...]
    rows: tuple[BoardRow, ...]


def board_of(comparison: Comparison, name_of: Callable[[CaseRow], str]) -> Board:
    """The table of a comparison; `name_of` says what a case is called."""
    counts = Counter(row.head for case in comparison.cases for row in case.deciding)
    moved = Counter(
        row.head for case in comparison.cases for row in case.deciding if not _is_alike(row)
    )
    order = {head: number for number, head in enumerate(counts)}
    heads = tuple(sorted(dict(moved.most_common(MOST_DECIDING)), key=lambda head: order[head]))
    groups: dict[tuple[Verdict, tuple[Cell, ...], str], list[CaseRow]] = {}
    for case in sorted(comparison.cases, key=_gravity):
        groups.setdefault((case.verdict, _cells(case, heads), case.why), []).append(case)
    rows = tuple(
        BoardRow(name_of(cases[0]), len(cases) - 1, verdict, cells, why)
        for (verdict, cells, why), cases in groups.items()
    )
    return Board(heads, tuple(head for head in counts if head not in moved), rows)


def cell_of(row: FigureRow) -> Cell:
    """For example "+5.1 %", "×3.2", "=" or "–"."""
    if row.verdict is Verdict.INCOMPARABLE:
        return Cell(UNLIKE, row.verdict)
    if _is_alike(row):
        return Cell(ALIKE, row.verdict)
    if not row.ratio:
        return Cell("from 0" if row.base == 0 else "to 0", row.verdict)
    if factor(row.ratio) >= _TIMES_FROM:
        return Cell(f"×{row.ratio:.3g}", row.verdict)
    return Cell(signed_percent(100 * (row.ratio - 1), _PERCENT_DIGITS), row.verdict)


def largest_change(comparison: Comparison) -> tuple[CaseRow, FigureRow] | None:
    """The deciding figure that changed most, of those that became worse if any did; any figure of a
    case that may not differ.
    """
    changed = [
        (case, row)
        for case in comparison.cases
        for row in case.rows
        if row.verdict in CHANGES and (row.decides or case.broken)
    ]
    worse = [(case, row) for case, row in changed if row.verdict in LOSSES]
    return max(worse or changed, key=lambda change: change[1].distance, default=None)


def _is_alike(row: FigureRow) -> bool:
    return row.verdict in UNCHANGED


def _cells(case: CaseRow, heads: tuple[str, ...]) -> tuple[Cell, ...]:
    own: dict[str, FigureRow] = {}
    for row in case.deciding:  # of two figures under one head the one that changed most
        if row.head not in own or row.distance > own[row.head].distance:
            own[row.head] = row
    return tuple(cell_of(own[head]) if head in own else Cell() for head in heads)


def _gravity(case: CaseRow) -> tuple[int, float]:
    furthest = max((row.distance for row in case.deciding), default=0.0)
    return ORDER.index(case.verdict), -furthest
