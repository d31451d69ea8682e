"""When blocks go bad, and when nothing can be written any more: pure (docs/lifetime.md).

Each draw gives every block an endurance (uniform, `spread` around the chip's figure), and its wear
the chance that `growth` leaves. A block is bad when its erases reach its endurance. Blocks that are
bad leave their share of the erases to the others, so that wear goes faster. The first of them is
the first grown bad block; writing ends with the one after the last spare block. Estimates are the
median of the draws and the range that has nine tenths of them.

With a threshold (UBI's) static data are moved as soon as two blocks differ by more erases: counts
are drawn together to that difference, their sum stays.

Assumed: the workload goes on as it was, and the file system does too. Not known: write
amplification that changes later; endurance that is not as stated.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from ffslab.lifetime.growth import (
    Checkpoint,
    Correlation,
    Growth,
    correlation_of,
    growth_of,
    periods_of,
)

SPREAD = 0.1  # of the virtual chip: endurance_of() in kmod/vnand/faults.c
LIKELY = 0.9  # what the range of an estimate holds
_BLOCK_DRAWS = 10_000  # in all; a forecast of many blocks needs fewer draws
_LEAST_DRAWS, _MOST_DRAWS = 25, 150
_STEPS = 80  # of wear, from now to where all blocks would be bad if all wore alike
_NEARLY = 0.999
_MOST_STEPS = 20 * _STEPS  # blocks that hardly wear are not waited for


@dataclass(frozen=True, slots=True)
class Flash:
    """What is known of the blocks: `before`, erases of each before the first checkpoint counts.

    `spares`: blocks that may go bad before writing ends. `threshold`: the difference in erases at
    which static data are moved; None: nobody looks.
    """

    endurance: int
    before: tuple[int, ...]
    spares: int
    threshold: int | None = None
    spread: float = SPREAD
    static: frozenset[int] = frozenset()  # numbers of blocks that got data which stay


@dataclass(frozen=True, slots=True)
class Estimate:
    """Bytes written: the median, and the range of nine tenths of the draws."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """The volumes of the first grown bad block and of the end of writing, and what they are from.

    `wear`: of the mean block at the last checkpoint; `worst`: of the most worn one.
    """

    first_bad: Estimate
    end: Estimate
    written_bytes: int
    checkpoints: int
    wear: float
    worst: int
    wear_per_byte: float
    correlation: Correlation


def forecast(checkpoints: Sequence[Checkpoint], flash: Flash, seed: int = 1) -> Forecast:
    """What the checkpoints promise; ValueError if nothing was erased between them."""
    return _forecast(tuple(checkpoints), flash, seed)


@lru_cache(maxsize=100)  # a report asks for the same in several places, and it takes seconds
def _forecast(checkpoints: tuple[Checkpoint, ...], flash: Flash, seed: int) -> Forecast:
    periods = periods_of(checkpoints) if checkpoints else ()
    if not periods:
        raise ValueError("no block was erased between the checkpoints")
    rng = random.Random(seed)
    numbers = range(len(flash.before))
    draws = min(max(_LEAST_DRAWS, _BLOCK_DRAWS // len(numbers)), _MOST_DRAWS)
    ends = []
    for _ in range(draws):
        some = rng.choices(numbers, k=len(numbers))
        growth = growth_of(
            checkpoints, periods, correlation_of(checkpoints, periods, some, flash.static)
        )
        ends.append(_drawn(checkpoints[-1], growth, flash, rng))
    correlation = correlation_of(checkpoints, periods, numbers, flash.static)
    return Forecast(
        first_bad=_estimate([first for first, _ in ends]),
        end=_estimate([end for _, end in ends]),
        written_bytes=checkpoints[-1].written_bytes,
        checkpoints=len(checkpoints),
        wear=checkpoints[-1].wear,
        worst=max(checkpoints[-1].erases),
        wear_per_byte=growth_of(checkpoints, periods, correlation).wear_per_byte,
        correlation=correlation,
    )


def _estimate(values: Sequence[float]) -> Estimate:
    ranked = sorted(values)
    tail = (1 - LIKELY) / 2
    return Estimate(*(_quantile(ranked, share) for share in (tail, 0.5, 1 - tail)))


def _quantile(ranked: Sequence[float], share: float) -> float:
    at = share * (len(ranked) - 1)
    low = int(at)
    high = min(low + 1, len(ranked) - 1)
    return ranked[low] + (ranked[high] - ranked[low]) * (at - low)


def _drawn(
    last: Checkpoint, growth: Growth, flash: Flash, rng: random.Random
) -> tuple[float, float]:
    """The volumes of the first bad block and of the end in one draw."""
    limits = [flash.endurance * (1 + flash.spread * (2 * rng.random() - 1)) for _ in flash.before]
    paths = Paths(last, growth, flash, [rng.gauss(0, 1) for _ in flash.before])
    deaths = _deaths(paths, limits, flash)
    volumes = _volumes(deaths, paths, last.written_bytes)
    return volumes[0], volumes[min(flash.spares, len(volumes) - 1)]


class Paths:
    """The erases of every block as a function of the wear since the last checkpoint."""

    def __init__(
        self, last: Checkpoint, growth: Growth, flash: Flash, chances: Sequence[float]
    ) -> None:
        self.growth, self.chances, self.threshold = growth, chances, flash.threshold
        self.start = [a + b for a, b in zip(last.erases, flash.before, strict=True)]
        shares = [1 + a + b for a, b in zip(growth.slow, growth.fast, strict=True)]
        self.fastest = max(1.0, *shares)

    def erases(self, wear: float) -> list[float]:
        """Of every block."""
        growth, parts = self.growth, self.growth.correlation
        slow, fast = parts.slow.gain(wear), parts.fast.gain(wear)
        chance = math.sqrt(parts.slow.chance(wear) + parts.fast.chance(wear))
        highest = self.fastest * wear
        counts = [
            at + min(highest, max(0.0, wear + a * slow + b * fast + z * chance))
            for at, a, b, z in zip(self.start, growth.slow, growth.fast, self.chances, strict=True)
        ]
        return counts if self.threshold is None else drawn_together(counts, self.threshold)

    def rates(self, wear: float) -> list[float]:
        """How fast each block wears, relative to the mean; the same for all once data are moved."""
        if self.threshold is not None:
            counts = self.erases(wear)
            if max(counts) - min(counts) >= self.threshold * _NEARLY:
                return [1.0] * len(counts)
        parts = self.growth.correlation
        slow, fast = parts.slow.kept(wear), parts.fast.kept(wear)
        return [
            max(0.0, 1 + a * slow + b * fast)
            for a, b in zip(self.growth.slow, self.growth.fast, strict=True)
        ]


def drawn_together(counts: Sequence[float], difference: float) -> list[float]:
    """The counts with the same sum, the lowest no more than `difference` below the highest."""
    ranked = sorted(counts)
    if ranked[-1] - ranked[0] <= difference:
        return list(counts)
    sums = (0.0, *accumulate(ranked))
    low, high = ranked[0] - difference, ranked[-1]
    for _ in range(30):
        level = (low + high) / 2
        below, above = bisect_left(ranked, level), bisect_right(ranked, level + difference)
        ends = below * level + (len(ranked) - above) * (level + difference)
        if ends + sums[above] - sums[below] < sums[-1]:
            low = level
        else:
            high = level
    return [min(max(count, high), high + difference) for count in counts]


def _deaths(paths: Paths, limits: Sequence[float], flash: Flash) -> list[tuple[float, int]]:
    """At which wear each block reaches its limit, and its number, in order."""
    most = flash.endurance * (1 + flash.spread)
    # All blocks together cannot last longer than until each has its limit.
    step = max(most - sum(paths.start) / len(paths.start), 1.0) / _STEPS
    deaths: list[tuple[float, int]] = []
    alive = list(range(len(limits)))
    before: Sequence[float] = paths.start
    at = 0.0
    for _ in range(_MOST_STEPS):
        if not alive or len(deaths) > flash.spares:
            break
        now = paths.erases(at + step)
        left = []
        for i in alive:
            if now[i] < limits[i]:
                left.append(i)
                continue
            gained = now[i] - before[i]
            part = (limits[i] - before[i]) / gained if gained > 0 else 0.0
            deaths.append((at + step * min(1.0, max(0.0, part)), i))
        alive, before, at = left, now, at + step
    return sorted(deaths)


def _volumes(deaths: Sequence[tuple[float, int]], paths: Paths, written_bytes: int) -> list[float]:
    """The bytes written at each death: those that are dead leave their wear to the others."""
    volumes, at, bytes_now = [], 0.0, float(written_bytes)
    dead: set[int] = set()
    for wear, number in deaths:
        share = 1.0
        if dead:
            rates = paths.rates(wear)
            share = 1 - sum(rates[i] for i in dead) / sum(rates)
        bytes_now += (wear - at) / paths.growth.wear_per_byte * max(share, 0.0)
        volumes.append(bytes_now)
        dead.add(number)
        at = wear
    return volumes
