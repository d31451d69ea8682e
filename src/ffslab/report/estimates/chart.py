"""A ratio's tornado: how far each estimate moves it when halved and doubled, the farthest on top.

The axis is logarithmic, so that a factor has one length wherever it is. The solid line is the
ratio as stated; the dashed one is 1, where the order turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ffslab.model.estimates import AS_STATED, OTHER_WAIT, TITLES
from ffslab.report.bars import PANEL, Frame, Rows, Scale
from ffslab.report.elements import Key
from ffslab.report.estimates.robustness import Ratio, estimate_of
from ffslab.report.quantity import times

KEYS = (
    Key("estimate halved", "t0"),
    Key("estimate doubled", "t2"),
    Key("the other wait model", "t1"),
)
_ROOM = 56  # pixels on both sides of the bars, for their numbers
_SHOWN = 1.002  # below, there is no bar: nothing would be seen
_NAMED = 1.01  # below, a bar has no number: two of them would be one on the other


@dataclass(frozen=True)
class Shift:
    """What a change of one estimate makes of a ratio, and by what factor that moves it."""

    change: str
    value: float
    reach: float

    @property
    def estimate(self) -> str:
        return TITLES[estimate_of(self.change)]

    @property
    def colour(self) -> str:
        if self.change == OTHER_WAIT:
            return "t1"
        return "t0" if self.change.startswith("half") else "t2"


def tornado(ratio: Ratio, identifier: str) -> str:
    """The chart of one ratio; empty if no change moves it."""
    stated = ratio.mean()
    shifts = [
        Shift(change, value, reach)
        for change in ratio.values
        if change != AS_STATED
        and (value := ratio.mean(change)) is not None
        and (reach := ratio.reach_of([change])) >= _SHOWN
    ]
    if stated is None or not shifts:
        return ""
    ends = [stated, *(shift.value for shift in shifts)]
    farthest = sorted(shifts, key=lambda shift: shift.reach, reverse=True)
    names = dict.fromkeys(("", shift.estimate) for shift in farthest)
    rows = Rows.of(list(names), 1, PANEL)
    room = (max(ends) / min(ends)) ** (_ROOM / (rows.width - 2 * _ROOM))
    scale = Scale(min(ends) / room, max(ends) * room, rows.width, logarithmic=True)
    frame = Frame(rows, scale)
    caption = f"{ratio.metric}, {ratio.where}: {ratio.name}: " + "; ".join(
        f"{shift.change} {times(shift.value)}" for shift in shifts
    )
    marks = _marks(frame, stated, shifts)
    return frame.drawing(marks, ratio.name, caption, identifier, "×")


def _marks(frame: Frame, stated: float, shifts: list[Shift]) -> Iterator[str]:
    """Bars from the ratio as stated, the lines, and the number of the longer bar at each end: two
    numbers at one end would be one on the other.
    """
    for shift in shifts:
        ends = sorted((stated, shift.value))
        yield frame.bar(frame.rows.top(("", shift.estimate)), ends[0], ends[1], shift.colour)
    yield frame.line(stated)
    if frame.scale.low < 1 < frame.scale.high:
        yield frame.line(1, "4 3")
    longest: dict[tuple[str, bool], Shift] = {}
    for shift in shifts:
        end = (shift.estimate, shift.value < stated)
        longest[end] = max(longest.get(end, shift), shift, key=lambda either: either.reach)
    for (estimate, below), shift in longest.items():
        if shift.reach >= _NAMED:
            top = frame.rows.top(("", estimate))
            yield frame.text(top, shift.value, times(shift.value), before=below)
