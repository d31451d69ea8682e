"""Whether ours agrees with what was published, by one rule for all statements: pure.

- A figure *agrees* if it is within a factor of 1.5 of the published one, or of its range.
- A ratio also has a *direction*: above 1, below 1, or "alike" if it is within 2 % of 1. It
  agrees only if ours has the same direction. It is *reversed* if ours has the opposite one, or if
  the published one is "alike" and ours is beyond the factor of 1.5.
- An order agrees if it holds and its sides are not alike, and is reversed if the opposite holds so.
  Of sides that are alike it is neither; of "at least" (>=) it agrees.
- A statement is ✔ if all its figures and orders agree, ✘ if one of them is reversed, else ≈.

Limits: an absolute figure (seconds, erases) has no direction, so it is never ✘ however far it is
off; statements about what is faster are orders.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf

from ffslab.compare.ratios import SAME
from ffslab.published.formula import Compared, NotMeasuredError, SkippedError

FACTOR = 1.5  # within which a figure agrees
ALIKE = 1 + SAME  # within which two figures are alike, here as in the report


class Mark(StrEnum):
    """What becomes of a statement, and of each of its figures and orders; the worst last."""

    AGREES = "✔"
    DIRECTION = "≈"
    REVERSED = "✘"
    NOT_MEASURED = "–"


MEASURED = (Mark.AGREES, Mark.DIRECTION, Mark.REVERSED)
_GRAVITY = tuple(Mark)


@dataclass(frozen=True, slots=True)
class Published:
    """A number, or a range that may be open at one side."""

    low: float
    high: float

    @property
    def text(self) -> str:
        """As people write it: "4", "≥ 2", "8 to 12"."""
        if self.low == self.high:
            return number_text(self.low)
        if self.high == inf:
            return f"≥ {number_text(self.low)}"
        if not self.low:
            return f"≤ {number_text(self.high)}"
        return f"{number_text(self.low)} to {number_text(self.high)}"

    @property
    def shown(self) -> float:
        """The number that a chart shows: the end of the range that is none of 0 and infinity."""
        return self.low if self.high == inf else self.high

    @property
    def side(self) -> int:
        """Of a ratio: 1 above 1, -1 below, 0 if it is published as no difference."""
        if self.low == self.high:
            return side_of(self.low)
        return 1 if self.low >= 1 else -1 if self.high <= 1 else 0

    def ratio(self, ours: float) -> float:
        """Ours ÷ the number, or the nearer end of the range; 1 within."""
        if self.low <= ours <= self.high:
            return 1.0
        end = self.low if ours < self.low else self.high
        return ours / end if end else inf


@dataclass(frozen=True, slots=True)
class Judged:
    """A figure or an order: what was published, what is ours, and what that comes to.

    `ratio`: ours ÷ published, of an order the side that is stated to be the larger ÷ the other;
    None if not measured, with the reason in `why`, and `skipped` if the target cannot. An order has
    no `published`, but the two `sides` of its worst comparison, and its `sign`. `of` is what its
    error is counted with, `spent` what our time is made of, of a figure of a board.
    """

    title: str
    mark: Mark
    published: Published | None = None
    unit: str = ""
    ours: float | None = None
    sides: tuple[float, ...] = ()
    sign: str = ""
    ratio: float | None = None
    why: str = ""
    skipped: bool = False
    of: str = ""
    spent: str = ""

    @property
    def is_order(self) -> bool:
        return self.published is None

    @property
    def published_text(self) -> str:
        """What a table's column has."""
        if self.published is None:
            return self.sign
        return with_unit(self.published.text, self.unit)

    @property
    def ours_text(self) -> str:
        """What a table's column has: a number, or the two sides of an order."""
        if self.sides:
            return with_unit(" : ".join(map(number_text, self.sides)), self.unit)
        return "–" if self.ours is None else with_unit(number_text(self.ours), self.unit)

    @property
    def ratio_text(self) -> str:
        if self.ratio is None:
            return "–"
        return number_text(self.ratio, 2) if self.ratio < inf else "∞"


def judged_figure(title: str, published: Published, ours: float, unit: str) -> Judged:
    """A figure; without a unit it is a ratio."""
    ratio = published.ratio(ours)
    is_near = 1 / FACTOR <= ratio <= FACTOR
    mark = Mark.AGREES if is_near else Mark.DIRECTION
    if not unit:
        mark = _ratio_mark(published.side, side_of(ours), is_near=is_near)
    return Judged(title, mark, published, unit, ours, ratio=ratio)


def side_of(ratio: float) -> int:
    """1 above 1, -1 below, 0 within 2 % of it."""
    return 1 if ratio > ALIKE else -1 if ratio * ALIKE < 1 else 0


def _ratio_mark(published: int, ours: int, *, is_near: bool) -> Mark:
    if published == 0:
        return Mark.AGREES if is_near else Mark.REVERSED
    if ours == -published:
        return Mark.REVERSED
    return Mark.AGREES if is_near and ours == published else Mark.DIRECTION


def judged_order(title: str, pairs: Sequence[Compared], unit: str) -> Judged:
    """An order of several is as good as its worst pair of neighbours."""
    marks = [_order_mark(pair) for pair in pairs]
    mark = worst(marks)
    pair = min((p for p, m in zip(pairs, marks, strict=True) if m is mark), key=_leading)
    sides = pair.left, pair.right
    return Judged(title, mark, unit=unit, sides=sides, sign=pair.sign, ratio=_leading(pair))


def _leading(pair: Compared) -> float:
    """The side that is stated to be the larger, ÷ the other one."""
    more, less = (pair.left, pair.right) if ">" in pair.sign else (pair.right, pair.left)
    if less:
        return more / less
    return inf if more else 1.0


def _order_mark(pair: Compared) -> Mark:
    ratio = _leading(pair)
    if ratio * ALIKE < 1:
        return Mark.REVERSED
    return Mark.AGREES if ratio > ALIKE or "=" in pair.sign else Mark.DIRECTION


def not_measured(
    title: str, error: NotMeasuredError, published: Published | None, unit: str = ""
) -> Judged:
    """A figure or an order that a failed case has no part in."""
    skipped = isinstance(error, SkippedError)
    return Judged(title, Mark.NOT_MEASURED, published, unit, why=str(error), skipped=skipped)


def worst(marks: Iterable[Mark]) -> Mark:
    """The mark of what has several."""
    return max(marks, key=_GRAVITY.index)


def number_text(number: float, digits: int = 3) -> str:
    """A number with so many digits that count, whole ones all: 12,300; 1.23; 0.0123."""
    rounded = float(f"{number:.{digits}g}")
    if rounded == 0 or abs(rounded) >= 10 ** (digits - 1):
        return f"{rounded:,.0f}"
    if abs(rounded) < 1e-3:
        return f"{rounded:.1e}"
    text = f"{rounded:.10f}"
    whole, _, fraction = text.partition(".")
    lead = len(fraction) - len(fraction.lstrip("0")) if whole.lstrip("-") == "0" else 0
    kept = (
        digits - len(whole.lstrip("-")) if lead == 0 and whole.lstrip("-") != "0" else digits + lead
    )
    shown = f"{rounded:.{kept}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def percent(share: float) -> str:
    """A share as people write an error: "14 %"."""
    return f"{number_text(100 * share, 2)} %"


def with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}".strip()
