"""What the mount after a cut took: pages read and programmed, blocks erased, and time.

Of guests whose chip took no time the time is that of the kernel's own delays only, and is not
shown. In its place stands an estimate from the counts and the board's figures, between two bounds:
each operation's command, array and the driver's fixed part alone; and the same with a whole page
and its OOB area on the bus, through ECC and the driver (`ffslab.model.specs.Board.flash_ns`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ffslab.report.quantity import grouped, significant
from ffslab.workloads.cuts.report.load import Part

_MS = 1e6


@dataclass(frozen=True)
class Series:
    """A quantity after each cut: `points` are operations with values, in order of operations.

    `uncut` is its value at the mount without a cut, None if nobody mounted that.
    """

    name: str
    points: tuple[tuple[int, float], ...]
    uncut: float | None = None
    unit: str = ""

    @property
    def worst(self) -> tuple[int, float]:
        """The first operation with the highest value."""
        return max(self.points, key=lambda point: point[1])

    def percentile(self, percent: float) -> float:
        """The value of that rank, which is above 0."""
        values = sorted(value for _, value in self.points)
        return values[math.ceil(len(values) * percent / 100) - 1]

    def text(self, value: float | None) -> str:
        """A value in its unit, "–" for none."""
        if value is None:
            return "–"
        return significant(value) if self.unit else grouped(round(value))


@dataclass(frozen=True)
class Recovery:
    """The mounts of a case: what is drawn, and what is only told (`estimate`, two bounds)."""

    part: Part
    drawn: tuple[Series, ...]
    estimate: tuple[Series, ...] = ()

    @property
    def times(self) -> tuple[Series, ...]:
        """The measured time, or the two bounds of the estimate."""
        return self.estimate or self.drawn[:1]

    @property
    def counts(self) -> tuple[Series, ...]:
        return tuple(series for series in self.drawn if not series.unit)

    @property
    def worst(self) -> int:
        """The operation after which it took longest, by the upper bound of an estimate."""
        return self.times[-1].worst[0]

    @property
    def is_exhaustive(self) -> bool:
        return len(self.drawn[0].points) == self.part.cuts["operations"]


def recovery_of(part: Part) -> Recovery | None:
    """What is known of the mounts of a case; None if no operation was just lost."""
    curve = sorted(part.cuts["recovery"]["curve"])
    if not curve:
        return None
    uncut = part.cuts["recovery"].get("uncut")

    def series(name: str, column: int, scale: float = 1.0, unit: str = "") -> Series:
        points = tuple((row[0], row[column] / scale) for row in curve)
        return Series(name, points, None if uncut is None else uncut[column - 1] / scale, unit)

    counts = (series("pages read", 1), series("pages programmed", 2), series("blocks erased", 3))
    if part.is_timed:
        return Recovery(part, (series("virtual time of the mount", 4, _MS, "ms"), *counts))
    bounds = tuple(
        Series(
            name,
            tuple((row[0], part.board.flash_ns(row[1:4], whole=whole) / _MS) for row in curve),
            None if uncut is None else part.board.flash_ns(uncut[:3], whole=whole) / _MS,
            "ms",
        )
        for name, whole in (("at least", False), ("at most", True))
    )
    return Recovery(part, counts, bounds)
