"""Latency distributions from the agent's log-linear histograms: merging, percentiles, tails.

A bucket is [low, high); its mid-point is within 0.4 % of every value in it. Format:
guest/agent/core/histogram.h.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ffslab.report.data import Case, Histogram, together
from ffslab.report.quantity import duration
from ffslab.results.metrics import BUCKETS, bucket_bounds

Tail = tuple[tuple[float, float], ...]
PERCENTILES = (50.0, 90.0, 99.0, 99.9)


@dataclass(frozen=True)
class Distribution:
    """One or more histograms together; `buckets` are (low_ns, high_ns, count) in order."""

    count: int
    sum_ns: int
    min_ns: int
    max_ns: int
    buckets: tuple[tuple[int, int, int], ...]

    @property
    def mean_ns(self) -> float:
        return self.sum_ns / self.count if self.count else 0.0

    def percentile_ns(self, percent: float) -> float:
        """The mid-point of the bucket that holds the value of that rank, inside [min, max]."""
        rank = max(1, math.ceil(self.count * percent / 100 - 1e-9))
        seen = 0
        for low, high, count in self.buckets:
            seen += count
            if seen >= rank:
                return min(max((low + high - 1) / 2, self.min_ns), self.max_ns)
        return float(self.max_ns)

    def tail(self, points: int = 140) -> Tail:
        """(t_ns, share of values ≥ t) from min to max, thinned to about `points` steps evenly on
        both log axes.
        """
        steps: list[tuple[float, float]] = []
        left = self.count
        for low, _high, count in self.buckets:
            steps.append((float(max(low, self.min_ns, 1)), left / self.count))
            left -= count
        if steps and self.max_ns > steps[-1][0]:
            steps.append((float(self.max_ns), steps[-1][1]))
        return _thinned(steps, points)


def distribution_of(cases: Iterable[Case], op: str) -> Distribution | None:
    """An operation in cases, of which none is without those that share its histograms."""
    shared = {id(case.histograms): case.histograms for case in cases}
    return merge(own[op] for own in shared.values() if op in own)


def merge(histograms: Iterable[Histogram]) -> Distribution | None:
    """All histograms as one; None when they hold nothing."""
    kept = [histogram for histogram in histograms if histogram.count]
    if not kept:
        return None
    counts = Counts()
    for histogram in kept:
        counts.add(list(histogram.buckets()))
    summed = sorted(map(tuple, counts.buckets()))
    buckets = tuple((*bucket_bounds(number), count) for number, count in summed)
    return Distribution(*together(kept), buckets)


class Counts:
    """Adds up the buckets of histograms. The first is kept; a second needs a place for each bucket
    that there is, and there a count is added in two thirds of the time that a dict takes.
    """

    def __init__(self) -> None:
        self._first: Sequence[Sequence[int]] | None = None
        self._places: list[int] = []

    def add(self, buckets: Sequence[Sequence[int]]) -> None:
        """ValueError or IndexError for what is no bucket, here or from `packed_buckets`."""
        if self._first is None:
            self._first = buckets
            return
        added = [buckets]
        if not self._places:
            self._places = [0] * 2 * BUCKETS  # those of negative numbers are in the second half
            added.append(self._first)
        places = self._places
        for more in added:
            for number, count in more:
                places[number] += count

    def buckets(self) -> Sequence[Sequence[int]]:
        """Number and count of each bucket."""
        if self._places:
            return [(number, count) for number, count in enumerate(self._places) if count]
        return self._first or ()


def spread_head(percents: Sequence[float] = PERCENTILES) -> tuple[str, ...]:
    """What stands over `spread_cells`."""
    return ("mean", *(f"p{percent:g}" for percent in percents), "max")


def spread_cells(
    distribution: Distribution, percents: Sequence[float] = PERCENTILES
) -> tuple[str, ...]:
    """The mean, some percentiles and the maximum, for a row of a table."""
    known = (distribution.percentile_ns(percent) for percent in percents)
    return tuple(map(duration, (distribution.mean_ns, *known, distribution.max_ns)))


def _thinned(steps: Sequence[tuple[float, float]], points: int) -> Tail:
    """Drop steps too close to the last kept one to be seen at that resolution; the ends stay."""
    if len(steps) <= points:
        return tuple(steps)
    width = math.log(steps[-1][0] / steps[0][0]) or 1.0
    height = math.log(steps[0][1] / steps[-1][1]) or 1.0
    kept = [steps[0]]
    for step in steps[1:-1]:
        moved = math.log(step[0] / kept[-1][0]) / width + math.log(kept[-1][1] / step[1]) / height
        if moved >= 2 / points:
            kept.append(step)
    return (*kept, steps[-1])
