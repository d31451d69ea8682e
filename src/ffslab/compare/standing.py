"""Which is first at which points of an axis, how far the others are behind there, and where two
lines cross.

One factor for a whole axis misleads where the order changes along it: its mean stands for no point.
So lines are compared point by point, with the smallest value at that point, and what is said of
many points is their range and where its ends are. Smaller is better. What is alike, and how far a
ratio is from 1, is told by `ffslab.compare.ratios`.

Limits: between two points nothing is known; a crossing is told by the points on both sides of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from ffslab.compare.ratios import alike, distance, log_mean, ratio_from

_LEAST = 1e-9  # what a value of 0 counts as, so that a ratio exists

Line = Mapping[float, float]  # value by point of the axis


@dataclass(frozen=True)
class Extent:
    """Ratios over points: the smallest and the largest, and the points where these are."""

    low: float
    high: float
    low_at: float
    high_at: float
    points: int

    @property
    def distance(self) -> float:
        """The logarithm of the ratio that is furthest from 1."""
        return max(distance(self.low), distance(self.high))


@dataclass(frozen=True)
class Reign:
    """Neighbouring points at which the same lines are first, alike where there are several."""

    labels: tuple[str, ...]
    points: tuple[float, ...]


@dataclass(frozen=True)
class Crossing:
    """`before` is smaller at `left`, `after` at `right`, and nothing is decided between them."""

    before: str
    after: str
    left: float
    right: float


@dataclass(frozen=True)
class Standing:
    """Several lines at all points that two of them or more have.

    `order`: the one that is first most often leads. `behind`: each line's value ÷ the smallest at
    the same point. `lacking`: the points that a line does not have.
    """

    order: tuple[str, ...]
    points: tuple[float, ...]
    reigns: tuple[Reign, ...]
    behind: Mapping[str, Extent]
    crossings: tuple[Crossing, ...]
    lacking: Mapping[str, tuple[float, ...]]

    @property
    def leaders(self) -> tuple[str, ...]:
        """Whoever is first somewhere."""
        return tuple(dict.fromkeys(label for reign in self.reigns for label in reign.labels))


def extent(ratios: Iterable[tuple[float, float]]) -> Extent | None:
    """The extent of (point, ratio) pairs; None without any above 0."""
    known = [(ratio, at) for at, ratio in ratios if ratio > 0]
    if not known:
        return None
    low = min(known, key=lambda entry: entry[0])
    high = max(known, key=lambda entry: entry[0])
    return Extent(low[0], high[0], low[1], high[1], len(known))


def ratios_to_first(lines: Mapping[str, Line]) -> dict[str, dict[float, float]]:
    """Each line's value ÷ the smallest at the same point, where two lines or more have one."""
    counts: dict[float, int] = {}
    for line in lines.values():
        for point in line:
            counts[point] = counts.get(point, 0) + 1
    best = {
        point: min(line[point] for line in lines.values() if point in line)
        for point, count in counts.items()
        if count > 1
    }
    return {
        label: {
            point: ratio_from(best[point], value, _LEAST)
            for point, value in sorted(line.items())
            if point in best
        }
        for label, line in lines.items()
    }


def standing(lines: Mapping[str, Line]) -> Standing | None:
    """None unless two lines have a point in common."""
    ratios = {label: line for label, line in ratios_to_first(lines).items() if line}
    points = tuple(sorted({point for line in ratios.values() for point in line}))
    behind = {label: span for label, line in ratios.items() if (span := extent(line.items()))}
    if len(behind) < 2:
        return None

    def rank(label: str) -> tuple[float, float]:
        own = ratios[label].values()
        return -sum(map(alike, own)), log_mean(own)

    order = tuple(sorted(behind, key=rank))
    return Standing(
        order=order,
        points=points,
        reigns=_reigns(order, points, ratios),
        behind=behind,
        crossings=_crossings(order, lines),
        lacking={
            label: missing
            for label in order
            if (missing := tuple(point for point in points if point not in ratios[label]))
        },
    )


def _reigns(
    order: tuple[str, ...], points: tuple[float, ...], ratios: Mapping[str, Line]
) -> tuple[Reign, ...]:
    """As few stretches of neighbouring points as have a first in common."""
    reigns: list[Reign] = []
    for point in points:
        first = tuple(label for label in order if alike(ratios[label].get(point, math.inf)))
        shared = tuple(label for label in reigns[-1].labels if label in first) if reigns else ()
        if shared:
            reigns[-1] = Reign(shared, (*reigns[-1].points, point))
        else:
            reigns.append(Reign(first, (point,)))
    return tuple(reigns)


def _crossings(order: tuple[str, ...], lines: Mapping[str, Line]) -> tuple[Crossing, ...]:
    crossings = []
    for label, other in combinations(order, 2):
        smaller, at = "", 0.0
        for point in sorted(point for point in lines[label] if point in lines[other]):
            ratio = ratio_from(lines[other][point], lines[label][point], _LEAST)
            if alike(ratio):
                continue
            now = label if ratio < 1 else other
            if smaller and now != smaller:
                crossings.append(Crossing(smaller, now, at, point))
            smaller, at = now, point
    return tuple(sorted(crossings, key=lambda crossing: (crossing.left, crossing.right)))
