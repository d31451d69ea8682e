"""How the wear of blocks grows, from their erases at checkpoints: pure (docs/lifetime.md).

The clock is *wear*: the mean number of erases per block of the partition. Of each block, the share
by which it is erased more or less often than the mean is taken as the sum of two: one that stays
(a block that holds data which never move), and one that is forgotten in the course of `memory`
erases (a block that holds such data for a while, or has just been used much). Both show in the
covariance of what the blocks gained in two periods: with the distance between the periods it falls
from the sum of both variances to that of the share that stays,

    C(d) = persistent + passing × exp(-d ÷ memory).

Counts that go up and down by one within a period have a covariance of 0 between periods, and are in
neither. The parameters are those that fit C best, by least squares over pairs of periods.

Limits: one memory for all blocks; nothing that happens later than the last checkpoint is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

_MEMORIES = tuple(2 ** (step / 2) for step in range(-8, 13))  # of the periods' whole length
_LEAST_WEAR = 1.0  # before it, blocks that were free from the beginning are used


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The erases of every block of the partition when `written_bytes` had been written."""

    written_bytes: int
    erases: tuple[int, ...]

    @property
    def wear(self) -> float:
        """Mean erases per block."""
        return sum(self.erases) / len(self.erases)


@dataclass(frozen=True, slots=True)
class Period:
    """Between two checkpoints: what each block gained beyond the mean, as a share of the mean."""

    start: float  # in wear
    end: float
    shares: tuple[float, ...]

    @property
    def middle(self) -> float:
        """In wear."""
        return (self.start + self.end) / 2

    @property
    def length(self) -> float:
        """In wear."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Correlation:
    """Variances of the shares that stay and that pass, and how long the latter are remembered, in
    erases of the mean block.
    """

    persistent: float
    passing: float
    memory: float


@dataclass(frozen=True, slots=True)
class Growth:
    """The wear of each block from the last checkpoint on.

    `wear_per_byte`: of the mean block. `persistent`, `passing`: the shares of each block.
    """

    wear_per_byte: float
    persistent: tuple[float, ...]
    passing: tuple[float, ...]
    correlation: Correlation


def periods_of(checkpoints: Sequence[Checkpoint]) -> tuple[Period, ...]:
    """The periods between the checkpoints in which something was erased; from the first checkpoint
    on at which the mean block has been erased once, if two are left.
    """
    known = [one for one in checkpoints if one.wear >= _LEAST_WEAR]
    if len(known) < 2:
        first = Checkpoint(0, (0,) * len(checkpoints[0].erases))
        known = [first, *checkpoints]
    found = []
    for before, after in pairwise(known):
        gained = [b - a for a, b in zip(before.erases, after.erases, strict=True)]
        mean = sum(gained) / len(gained)
        if mean > 0:
            shares = tuple(one / mean - 1 for one in gained)
            found.append(Period(before.wear, after.wear, shares))
    return tuple(found)


def correlation_of(periods: Sequence[Period], blocks: Sequence[int]) -> Correlation:
    """The correlation of the blocks with these numbers, which may be repeated. Of a single period
    nothing can be known: all is taken to stay.
    """
    if len(periods) < 2:
        return Correlation(_covariance(periods[0], periods[0], blocks), 0.0, math.inf)
    points = [
        (two.middle - one.middle, _covariance(one, two, blocks), min(one.length, two.length))
        for one, two in combinations(periods, 2)
    ]
    span = periods[-1].end - periods[0].start
    fits = [_fitted(points, memory * span) for memory in _MEMORIES]
    return min(fits, key=lambda fit: fit[0])[1]


def growth_of(
    checkpoints: Sequence[Checkpoint], periods: Sequence[Period], correlation: Correlation
) -> Growth:
    """What each block's wear will be made of: each share is estimated from the periods, and drawn
    to 0 as far as chance explains it.
    """
    weights = [one.length for one in periods]
    whole = _weighted([one.shares for one in periods], weights)
    stays = _part(correlation.persistent, whole)
    persistent = [stays * share for share in whole]
    ages = [periods[-1].end - one.middle for one in periods]
    recent = _weighted(
        [one.shares for one in periods],
        [w * math.exp(-a / correlation.memory) for w, a in zip(weights, ages, strict=True)],
    )
    rest = [share - known for share, known in zip(recent, persistent, strict=True)]
    now = _part(correlation.passing, rest)
    passing = tuple(now * share for share in rest)
    return Growth(_wear_per_byte(checkpoints), tuple(persistent), passing, correlation)


def _wear_per_byte(checkpoints: Sequence[Checkpoint]) -> float:
    """In the second half of what was written: by then no block is left that was free from the
    beginning, and the file system cleans up as it will go on to.
    """
    last = checkpoints[-1]
    earlier = [one for one in checkpoints[:-1] if one.written_bytes * 2 >= last.written_bytes]
    first = earlier[0] if earlier else None
    wear = last.wear - (first.wear if first else 0)
    return wear / (last.written_bytes - (first.written_bytes if first else 0))


def _covariance(one: Period, two: Period, blocks: Sequence[int]) -> float:
    mean = sum(one.shares[i] for i in blocks) / len(blocks)
    other = sum(two.shares[i] for i in blocks) / len(blocks)
    total = sum((one.shares[i] - mean) * (two.shares[i] - other) for i in blocks)
    return total / len(blocks)


def _fitted(
    points: Sequence[tuple[float, float, float]], memory: float
) -> tuple[float, Correlation]:
    """Least squares for both variances, neither below 0, and what is left."""

    def left(persistent: float, passing: float) -> float:
        return sum(
            w * (c - persistent - passing * math.exp(-d / memory)) ** 2 for d, c, w in points
        )

    total = sum(w for _, _, w in points)
    e1 = sum(w * math.exp(-d / memory) for d, _, w in points)
    e2 = sum(w * math.exp(-d / memory) ** 2 for d, _, w in points)
    c0 = sum(w * c for _, c, w in points)
    c1 = sum(w * c * math.exp(-d / memory) for d, c, w in points)
    candidates = [(max(0.0, c0 / total), 0.0), (0.0, max(0.0, c1 / e2))]
    determinant = total * e2 - e1 * e1
    if determinant > 1e-12 * total * e2:
        both = ((c0 * e2 - c1 * e1) / determinant, (total * c1 - e1 * c0) / determinant)
        if min(both) >= 0:
            candidates.append(both)
    error, best = min((left(*one), one) for one in candidates)
    return error, Correlation(best[0], best[1], memory)


def _weighted(rows: Sequence[Sequence[float]], weights: Sequence[float]) -> list[float]:
    total = sum(weights)
    return [
        sum(w * row[i] for w, row in zip(weights, rows, strict=True)) / total
        for i in range(len(rows[0]))
    ]


def _part(variance: float, shares: Sequence[float]) -> float:
    """How much of what is seen is real: its variance, of that of all."""
    seen = sum(share * share for share in shares) / len(shares)
    return min(1.0, variance / seen) if seen else 0.0
