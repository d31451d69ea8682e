"""The lab against itself: the figures of statements on two targets, side by side. Pure.

"Here" is the lab's own target, where code costs a board's prices; "there" another one, where it
takes what it takes: where both agree, no price decides. Error: |here ÷ there - 1|. A statement
*flips* if its mark is another one there.

Limits: both are of one kernel and one virtual chip, so a mistake of these is in both. An order has
the error of its two sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.published.beside import JudgedPublication, JudgedStatement
from ffslab.published.errors import Errors, errors_of, short_title
from ffslab.published.formula import UNITS
from ffslab.published.judge import Judged, Mark, number_text, percent, with_unit

_TIMES, _RATIOS = "times", "ratios"
_SIZES = ("KB", "MB", "KiB", "MiB")


@dataclass(frozen=True, slots=True)
class Pair:
    """A figure, or a side of an order, here and there."""

    title: str
    unit: str
    here: float
    there: float

    @property
    def error(self) -> float:
        return abs(self.here / self.there - 1) if self.there else float(self.here != 0)

    @property
    def kind(self) -> str:
        """What it is counted with: times of all units are one kind."""
        if not self.unit:
            return _RATIOS
        return _TIMES if self.unit in UNITS and self.unit not in _SIZES else self.unit

    @property
    def text(self) -> tuple[str, str]:
        """Both values with their unit."""
        here, there = (
            with_unit(number_text(value), self.unit) for value in (self.here, self.there)
        )
        return here, there


@dataclass(frozen=True, slots=True)
class Both:
    """A statement here and there; `pairs` are those figures that both have."""

    id: str
    here: Mark
    there: Mark
    pairs: tuple[Pair, ...]
    why: str  # it is not measured there

    @property
    def flips(self) -> bool:
        return self.here is not self.there and Mark.NOT_MEASURED not in (self.here, self.there)

    @property
    def furthest(self) -> Pair | None:
        return max(self.pairs, key=lambda pair: pair.error, default=None)


def beside_each_other(
    here: Sequence[JudgedPublication], there: Sequence[JudgedPublication]
) -> tuple[Both, ...]:
    """The statements of the same publications, measured on two targets."""
    publications = zip(here, there, strict=True)
    return tuple(
        _both(*statements)
        for known, tried in publications
        for statements in zip(known.statements, tried.statements, strict=True)
    )


def _both(here: JudgedStatement, there: JudgedStatement) -> Both:
    pairs = tuple(
        pair for checks in zip(here.checks, there.checks, strict=True) for pair in _pairs(*checks)
    )
    why = next((check.why for check in there.checks if check.why), "")
    return Both(here.statement.id, here.mark, there.mark, pairs, why)


def _pairs(here: Judged, there: Judged) -> Iterator[Pair]:
    if here.ours is not None and there.ours is not None:
        yield Pair(here.title, here.unit, here.ours, there.ours)
    # An order tells the two neighbours of several that decide; they may be others there.
    if len(here.sides) == len(there.sides) == 2 and here.sign == there.sign:
        for number, values in enumerate(zip(here.sides, there.sides, strict=True), 1):
            yield Pair(f"{here.title}, side {number}", here.unit, *values)


def agreements(statements: Sequence[Both]) -> tuple[Errors, ...]:
    """By kind of figure, those with the most figures first."""
    kinds: dict[str, list[tuple[float, str]]] = {}
    for both in statements:
        for pair in both.pairs:
            kinds.setdefault(pair.kind, []).append((pair.error, f"{both.id}, {pair.title}"))
    return errors_of(dict(sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))))


ROW_HEAD = ("", "here", "there", "furthest figure", "here", "there", "error")


def rows(statements: Sequence[Both]) -> Iterator[tuple[str, ...]]:
    """A row for each statement: its marks, and the figure that is furthest off."""
    for both in statements:
        pair = both.furthest
        if pair is None:
            yield (both.id, both.here.value, both.there.value, both.why, "", "", "")
        else:
            told = (short_title(pair.title), *pair.text, percent(pair.error))
            yield (both.id, both.here.value, both.there.value, *told)


def flips_text(statements: Sequence[Both]) -> str:
    """Which statements have another mark there."""
    flips = [f"{both.id} ({both.here} → {both.there})" for both in statements if both.flips]
    measured = sum(both.there is not Mark.NOT_MEASURED for both in statements)
    told = f"{len(flips)} of {measured} statements have another mark there"
    return f"{told}: {', '.join(flips)}." if flips else f"{told}."


def against_document(statements: Sequence[Both], target: str) -> dict[str, Any]:
    """The same for JSON, with exact numbers."""
    return {
        "target": target,
        "statements": [
            {
                "id": both.id,
                "here": both.here.value,
                "there": both.there.value,
                "why": both.why,
                "figures": [
                    {"title": p.title, "unit": p.unit, "here": p.here, "there": p.there}
                    for p in both.pairs
                ],
            }
            for both in statements
        ],
        "kinds": [
            {"of": each.of, "count": each.count, "median": each.median, "largest": each.worst}
            for each in agreements(statements)
        ],
    }
