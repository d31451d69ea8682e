"""How the wear of blocks grows, from their erases at checkpoints: pure (docs/lifetime.md).

The clock is *wear*: the mean number of erases per block of the partition. Of each block, the share
by which it is erased more or less often than the mean is taken as the sum of two. Both are
forgotten in the course of time, one slowly: that a block holds data which stay; one quickly: that
it has been used much of late. They show in the covariance of what the blocks gained in two periods,
which falls with the distance between the periods:

    C(d) = slow × exp(-d ÷ slow_memory) + fast × exp(-d ÷ fast_memory).

The slow memory is counted: blocks that were not erased since the beginning hold data that stay. Of
those, so many are erased for the first time per erase of the mean block; with none, they never are.
A block that has lost such data may get others again, so with a share c of still blocks the memory
is (1 - c) ÷ that rate. The rest is fitted to C by least squares over pairs of periods. Counts that
go up and down by one from period to period have no covariance, and are in neither.

The wear per byte is that of the last quarter, and where it still changes, what three thirds of the
periods lead to (Aitken's delta-squared process; no change is taken to be larger than what was seen
of it, and one that grows to come once more).

Limits: two memories for all blocks; nothing that happens later than the last checkpoint is known.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

_MEMORIES = tuple(2 ** (step / 2) for step in range(-8, 13))  # of the periods' whole length
_LEAST_WEAR = 1.0  # before it, blocks that were free from the beginning are used
_POINTS_OF_A_LIMIT = 4  # checkpoints: three thirds
_PERIODS_OF_A_FIT = 3
_SINGULAR = 1e-12


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
class Component:
    """A part of what blocks differ by: its variance, and how long it lasts, in wear."""

    variance: float
    memory: float

    def kept(self, wear: float) -> float:
        """What is left of a share after so much wear."""
        return math.exp(-wear / self.memory)

    def gain(self, wear: float) -> float:
        """The erases that a share of 1 comes to."""
        return wear if math.isinf(self.memory) else self.memory * -math.expm1(-wear / self.memory)

    def chance(self, wear: float) -> float:
        """The variance of the erases that come by chance: the integral of an Ornstein-Uhlenbeck
        process that begins as known.
        """
        if math.isinf(self.memory):
            return 0.0
        x = wear / self.memory
        return max(
            0.0,
            self.variance * self.memory**2 * (2 * x - 3 + 4 * math.exp(-x) - math.exp(-2 * x)),
        )


@dataclass(frozen=True, slots=True)
class Correlation:
    """What blocks differ by."""

    slow: Component
    fast: Component


@dataclass(frozen=True, slots=True)
class Growth:
    """The wear of each block from the last checkpoint on.

    `wear_per_byte`: of the mean block. `slow`, `fast`: the shares of each block.
    """

    wear_per_byte: float
    slow: tuple[float, ...]
    fast: tuple[float, ...]
    correlation: Correlation


def periods_of(checkpoints: Sequence[Checkpoint]) -> tuple[Period, ...]:
    """The periods between the checkpoints in which something was erased; from the first checkpoint
    on at which the mean block has been erased once, if two are left.
    """
    known = [checkpoint for checkpoint in checkpoints if checkpoint.wear >= _LEAST_WEAR]
    if len(known) < 2:
        first = Checkpoint(0, (0,) * len(checkpoints[0].erases))
        known = [first, *checkpoints]
    periods = []
    for before, after in pairwise(known):
        gained = [b - a for a, b in zip(before.erases, after.erases, strict=True)]
        mean = sum(gained) / len(gained)
        if mean > 0:
            shares = tuple(gain / mean - 1 for gain in gained)
            periods.append(Period(before.wear, after.wear, shares))
    return tuple(periods)


def correlation_of(
    checkpoints: Sequence[Checkpoint],
    periods: Sequence[Period],
    blocks: Sequence[int],
    static: Collection[int] = (),
) -> Correlation:
    """The correlation of the blocks with these numbers, which may be repeated. Of one or two
    periods little can be known: all is taken to be slow. `static`: as for `slow_memory`.
    """
    slow = slow_memory(checkpoints, blocks, static)
    if len(periods) < _PERIODS_OF_A_FIT:
        last = _covariance(periods[0], periods[-1], blocks)
        return Correlation(Component(max(0.0, last), slow), Component(0.0, 1.0))
    points = [
        (
            later.middle - earlier.middle,
            _covariance(earlier, later, blocks),
            min(earlier.length, later.length),
        )
        for earlier, later in combinations(periods, 2)
    ]
    span = periods[-1].end - periods[0].start
    memories = [memory * span for memory in _MEMORIES if memory * span < slow]
    fits = [_fitted(points, slow, memory) for memory in memories or [slow / 2]]
    return min(fits, key=lambda fit: fit[0])[1]


def slow_memory(
    checkpoints: Sequence[Checkpoint], blocks: Sequence[int], static: Collection[int] = ()
) -> float:
    """How long a block holds data that stay, in wear; infinite if no such data were moved.

    `static`: the blocks that got such data; without them, any that has not been erased counts.
    """
    number = len(blocks)
    blocks = [i for i in blocks if i in static] if static else blocks
    known = [checkpoint for checkpoint in checkpoints if checkpoint.wear >= _LEAST_WEAR]
    moved, exposed, still = 0, 0.0, 0
    for before, after in pairwise(known):
        here = [i for i in blocks if not before.erases[i]]
        left = sum(1 for i in here if after.erases[i])
        moved += left
        exposed += (len(here) - left / 2) * (after.wear - before.wear)
        still = max(still, len(here))
    if not moved:
        return math.inf
    return max(1.0, (1 - still / number) * exposed / moved)


def growth_of(
    checkpoints: Sequence[Checkpoint], periods: Sequence[Period], correlation: Correlation
) -> Growth:
    """What each block's wear will be made of: each share is estimated from the periods, and drawn
    to 0 as far as chance explains it.
    """
    slow = _seen(periods, correlation.slow.memory)
    stays = _real(correlation.slow.variance, slow)
    slow = [stays * share for share in slow]
    recent = _seen(periods, correlation.fast.memory)
    rest = [share - known for share, known in zip(recent, slow, strict=True)]
    now = _real(correlation.fast.variance, rest)
    return Growth(
        wear_per_byte(checkpoints), tuple(slow), tuple(now * part for part in rest), correlation
    )


def wear_per_byte(checkpoints: Sequence[Checkpoint]) -> float:
    """In the last quarter of what was written, or since the last checkpoint before it; and what it
    is on the way to. Before all blocks have been used once it says nothing.
    """
    last = checkpoints[-1]
    used = [checkpoint for checkpoint in checkpoints if checkpoint.wear >= _LEAST_WEAR]
    if len(used) < _POINTS_OF_A_LIMIT:
        return _rate(Checkpoint(0, (0,) * len(last.erases)), last)
    span = last.written_bytes - used[0].written_bytes
    marks = [used[0].written_bytes + span * third / 3 for third in (1, 2)]
    near = [
        min(used, key=lambda checkpoint, mark=mark: abs(checkpoint.written_bytes - mark))  # type: ignore[misc]
        for mark in marks
    ]
    thirds = [_rate(a, b) for a, b in pairwise((used[0], *near, last))]
    quarter = [
        checkpoint for checkpoint in used if checkpoint.written_bytes * 4 <= last.written_bytes * 3
    ]
    now = _rate(quarter[-1], last) if quarter else thirds[-1]
    return now + _still_to_come(thirds)


def _still_to_come(rates: Sequence[float]) -> float:
    """By how much the last of three rates will change; never by more than it has."""
    first, second = rates[1] - rates[0], rates[2] - rates[1]
    if first * second <= 0:
        return 0.0
    if abs(second) >= abs(first):
        return first + second
    ratio = second / first
    return second * min(ratio / (1 - ratio), 1 + 1 / ratio)


def _rate(earlier: Checkpoint, later: Checkpoint) -> float:
    return (later.wear - earlier.wear) / (later.written_bytes - earlier.written_bytes)


def _seen(periods: Sequence[Period], memory: float) -> list[float]:
    """The shares of the blocks, of late as far as the memory goes."""
    last = periods[-1].middle  # whose weight is not 0, however short the memory
    weights = [period.length * math.exp(-(last - period.middle) / memory) for period in periods]
    total = sum(weights)
    return [
        sum(w * share for w, share in zip(weights, shares, strict=True)) / total
        for shares in zip(*(period.shares for period in periods), strict=True)
    ]


def _covariance(earlier: Period, later: Period, blocks: Sequence[int]) -> float:
    mean = sum(earlier.shares[i] for i in blocks) / len(blocks)
    other = sum(later.shares[i] for i in blocks) / len(blocks)
    total = sum((earlier.shares[i] - mean) * (later.shares[i] - other) for i in blocks)
    return total / len(blocks)


def _fitted(
    points: Sequence[tuple[float, float, float]], slow: float, fast: float
) -> tuple[float, Correlation]:
    """Least squares for both variances, neither below 0; before it, what is left."""
    rows = [(math.exp(-d / slow), math.exp(-d / fast), c, w) for d, c, w in points]
    aa = sum(w * a * a for a, _, _, w in rows)
    ab = sum(w * a * b for a, b, _, w in rows)
    bb = sum(w * b * b for _, b, _, w in rows)
    ac = sum(w * a * c for a, _, c, w in rows)
    bc = sum(w * b * c for _, b, c, w in rows)
    candidates = [(_variance(ac, aa), 0.0), (0.0, _variance(bc, bb))]
    determinant = aa * bb - ab * ab
    if determinant > _SINGULAR * aa * bb:
        both = ((ac * bb - bc * ab) / determinant, (aa * bc - ab * ac) / determinant)
        if min(both) >= 0:
            candidates.append(both)

    def left(variances: tuple[float, float]) -> float:
        return sum(w * (c - variances[0] * a - variances[1] * b) ** 2 for a, b, c, w in rows)

    error, best = min((left(candidate), candidate) for candidate in candidates)
    return error, Correlation(Component(best[0], slow), Component(best[1], fast))


def _variance(product: float, square: float) -> float:
    """The best of one part alone; none if it is gone before any distance that was seen."""
    return max(0.0, product / square) if square else 0.0


def _real(variance: float, shares: Sequence[float]) -> float:
    """How much of what is seen is real: its variance, of that of all."""
    seen = sum(share * share for share in shares) / len(shares)
    return min(1.0, variance / seen) if seen else 0.0
