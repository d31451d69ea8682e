"""The arithmetic and the printing of the benchmark: pure.

A figure is worth something only beside another that was taken on the same host
at the same time. So each repeat runs baseline and subject one after the other,
gives one ratio, and a line shows the median of these ratios with their extremes.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

COLUMNS = 80
_LABEL_COLUMNS = 37
Direction = Literal["at most", "at least"]


@dataclass(frozen=True, slots=True)
class Goal:
    """A limit for the median; `unit` is empty for a ratio."""

    limit: float
    direction: Direction = "at most"
    unit: str = ""

    def is_met(self, value: float) -> bool:
        """Whether `value` is on the right side of the limit, which belongs to it."""
        return value <= self.limit if self.direction == "at most" else value >= self.limit

    def __str__(self) -> str:
        sign = "≤" if self.direction == "at most" else "≥"
        digits = 2 if self.limit < 100 else 0
        return f"{sign} {self.limit:.{digits}f}{self.unit and ' ' + self.unit}"


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and extremes of a figure over the repeats."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table. A heading has no spread, an informational line no goal."""

    label: str
    spread: Spread | None = None
    goal: Goal | None = None
    unit: str = ""

    @property
    def missed(self) -> bool:
        """Whether there is a goal and the median misses it."""
        return bool(self.goal and self.spread and not self.goal.is_met(self.spread.median))


def spread(values: Sequence[float]) -> Spread:
    """Median, minimum and maximum; ValueError if there are no values."""
    if not values:
        raise ValueError("a spread of no values")
    return Spread(statistics.median(values), min(values), max(values))


def ratio_spread(subject: Sequence[float], baseline: Sequence[float]) -> Spread:
    """Spread of the ratios subject ÷ baseline, paired by repeat.

    ValueError if the pairs do not match or a baseline is not above 0.
    """
    if any(value <= 0 for value in baseline):
        raise ValueError("a ratio to a baseline that is not above 0")
    return spread([mine / its for mine, its in zip(subject, baseline, strict=True)])


def slope(low: tuple[float, float], high: tuple[float, float]) -> float:
    """Cost per unit from two (units, cost) points: what both cost anyway cancels out."""
    if high[0] <= low[0]:
        raise ValueError("a slope needs two sizes")
    return (high[1] - low[1]) / (high[0] - low[0])


@dataclass(frozen=True, slots=True)
class DriverCost:
    """Host CPU of a driver in seconds: per page programmed, per block erased."""

    page_s: float
    erase_s: float


def driver_cost(
    full: Mapping[int, float], empty: Mapping[int, float], blocks: int, pages_per_block: int
) -> DriverCost:
    """Costs of a driver from runs of rounds that erase `blocks` each.

    `full` and `empty` give the host CPU seconds by number of rounds, two numbers
    each: in full rounds every page is programmed before its block is erased, in
    empty ones nothing is. The slope of the empty rounds is the erase's cost, what
    full rounds cost more is the pages'. So what erasing costs more for a page
    that was programmed counts to the page.
    """
    full_s, empty_s = (
        slope((min(runs), runs[min(runs)]), (max(runs), runs[max(runs)])) / blocks
        for runs in (full, empty)
    )
    return DriverCost((full_s - empty_s) / pages_per_block, empty_s)


def format_line(line: Line) -> str:
    """The line for a terminal of 80 columns."""
    if line.spread is None:
        return line.label[:COLUMNS]
    shown = line.spread
    digits = 3 if shown.high < 0.1 else 2 if shown.high < 100 else 0
    figure = f"{shown.median:.{digits}f}{line.unit and ' ' + line.unit}"
    extremes = f"{shown.low:.{digits}f}–{shown.high:.{digits}f}"
    text = f"  {line.label:<{_LABEL_COLUMNS}.{_LABEL_COLUMNS}} {figure:>8} {extremes:>13}"
    if line.goal is not None:
        text += f"  {line.goal!s:<8} {'missed' if line.missed else 'met'}"
    return text.rstrip()


def format_table(lines: Sequence[Line]) -> str:
    """The whole table with its heading."""
    head = f"  {'':<{_LABEL_COLUMNS}} {'median':>8} {'min–max':>13}  goal"
    return "\n".join([head, *(format_line(line) for line in lines)])


def load_warning(load: float, limit: float) -> str:
    """What to say about the load average at the start; empty on a quiet host."""
    if load <= limit:
        return ""
    return (
        f"warning: the load average is above {limit:g}, so wall times are disturbed;\n"
        "goals are judged on host CPU time where there is one"
    )
