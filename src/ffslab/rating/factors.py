"""From values to signs by the distance from the best: +, o and −. Pure.

Values stand at points of an axis, each under several seeds; smaller is better. Over several points,
and over several options of one file system, the range of the factors to the best counts, with a
sign for either end: a mean of sizes over compressions, or of factors where the order changes, would
stand for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ffslab.compare.standing import Extent

PLUS, MIDDLE, MINUS = "+", "o", "−"
Values = Mapping[str, Mapping[tuple[float, str], float]]  # of each that is rated, by point and seed


@dataclass(frozen=True)
class Measure:
    """A kind of criterion: up to which factor of the best it is +, and from which on −."""

    good: float
    bad: float
    least: float  # smaller values count as this


def means_of(values: Values, least: float) -> dict[str, dict[float, float]]:
    """Means at each point over the seeds that all have which are there; none below `least`."""
    seeds: dict[float, set[str]] = {}
    for line in values.values():
        own: dict[float, set[str]] = {}
        for x, seed in line:
            own.setdefault(x, set()).add(seed)
        for x, found in own.items():
            seeds[x] = seeds.get(x, found) & found
    return {
        label: {
            x: sum(max(line[x, seed], least) for seed in shared) / len(shared)
            for x, shared in sorted(seeds.items())
            if shared and all((x, seed) in line for seed in shared)
        }
        for label, line in values.items()
    }


def joined(extents: Sequence[Extent]) -> Extent:
    """The range over all; of several with the same end, the place of the first."""
    first = min(extents, key=lambda one: one.low)
    last = max(extents, key=lambda one: one.high)
    points = sum(one.points for one in extents)
    return Extent(first.low, last.high, first.low_at, last.high_at, points)


def signs_of(factors: Extent, measure: Measure) -> str:
    """The sign of a range of factors: both where its ends have different ones."""
    ends = (sign_of(factors.low, measure), sign_of(factors.high, measure))
    return f"{ends[0]}\u2060/\u2060{ends[1]}" if ends[0] != ends[1] else ends[0]


def sign_of(factor: float, measure: Measure) -> str:
    """The sign of a factor to the best."""
    factor = float(f"{factor:.3g}")  # as it is shown
    if factor <= measure.good:
        return PLUS
    return MINUS if factor >= measure.bad else MIDDLE
