"""How blocks differ, found again in periods whose covariances are known (docs/lifetime.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from ffslab.lifetime.growth import (
    Checkpoint,
    Component,
    Correlation,
    Period,
    correlation_of,
    growth_of,
    wear_per_byte,
)

GONE = Component(0.0, 1.0)
BLOCKS = 16


def rows_of(kept: float, number: int) -> list[list[float]]:
    """So many rows of the same length, whose products are kept^distance."""
    rows = [[1.0] + [0.0] * (number - 1)]
    for new in range(1, number):
        row = [kept * one for one in rows[-1]]
        row[new] = math.sqrt(1 - kept**2)
        rows.append(row)
    return rows


def periods_with(
    slow: tuple[float, float],
    fast: tuple[float, float],
    *,
    length: float = 10.0,
    start: float = 0.0,
    mean: float = 0.0,
) -> list[Period]:
    """Four periods of 16 blocks: variances, and what of them is kept from one period to the next.
    Each number is in a pair of blocks, above and below the mean, and in no other.
    """
    rows = [
        [math.sqrt(8 * slow[0]) * a for a in first] + [math.sqrt(8 * fast[0]) * b for b in second]
        for first, second in zip(rows_of(slow[1], 4), rows_of(fast[1], 4), strict=True)
    ]
    return [
        Period(
            start + n * length,
            start + (n + 1) * length,
            tuple(mean + sign * one for one in row for sign in (1, -1)),
        )
        for n, row in enumerate(rows)
    ]


def moved_within(wear: float) -> list[Checkpoint]:
    """Looks at 16 blocks that make the slow memory a quarter of this wear: 8 blocks are still, all
    of them move, half way in the mean. (1 − 8 ÷ 16) × 8 × wear ÷ 2 ÷ 8.
    """
    last = round(10 + wear)
    return [Checkpoint(1, (20,) * 8 + (0,) * 8), Checkpoint(2, (last,) * BLOCKS)]


STILL = [Checkpoint(1, (10,) * BLOCKS), Checkpoint(2, (50,) * BLOCKS)]  # moves nothing


@pytest.mark.parametrize("mean", [0.0, 0.25])
@pytest.mark.parametrize("fast_memory", [5.0, 10.0, 20.0])
def test_both_parts_are_found_though_the_slow_one_fades(fast_memory: float, mean: float) -> None:
    """A slow memory of 160 ÷ 4 = 40. What all blocks have alike is no difference."""
    slow, fast = (0.5, math.exp(-10 / 40)), (0.25, math.exp(-10 / fast_memory))
    found = correlation_of(
        moved_within(160), periods_with(slow, fast, mean=mean, start=30.0), range(BLOCKS)
    )
    assert (found.slow.memory, found.fast.memory) == pytest.approx((40, fast_memory))
    assert (found.slow.variance, found.fast.variance) == pytest.approx((0.5, 0.25))


def test_a_block_that_was_drawn_twice_counts_twice() -> None:
    """Of blocks 0 and 1 at ±1 and 2 and 3 at ±0.5, drawn 0, 0, 1, 2 and 0, 0, 0, 3."""
    periods = [Period(0, 10, (1, -1, 0.5, -0.5)), Period(10, 20, (1, -1, 0.5, -0.5))]
    looked = [Checkpoint(1, (10,) * 4)]
    # Mean (1 + 1 − 1 + 0.5) ÷ 4 = 0.375; squares 3.25 ÷ 4, less 0.375².
    first = correlation_of(looked, periods, [0, 0, 1, 2]).slow.variance
    assert first == pytest.approx(3.25 / 4 - 0.375**2)
    # Mean 2.5 ÷ 4, squares 3.25 ÷ 4.
    assert correlation_of(looked, periods, [0, 0, 0, 3]).slow.variance == pytest.approx(
        3.25 / 4 - 0.625**2
    )


@pytest.mark.parametrize(
    ("memory", "expected"),
    # From a sixteenth of the periods' length to 64 times; what is shorter or longer is taken for
    # that. The steps between are of √2.
    [(40 / 16, 40 / 16), (1.0, 40 / 16), (40 * 64, 40 * 64), (40 * 90.5, 40 * 64)]
    + [(40 * 2 ** (n / 2), 40 * 2 ** (n / 2)) for n in (-7, -5, 1, 3, 11)],
)
@pytest.mark.parametrize("start", [0.0, 100.0])
def test_the_memories_that_can_be_found(memory: float, expected: float, start: float) -> None:
    fast = (1.0, math.exp(-10 / memory))
    found = correlation_of(STILL, periods_with((0.0, 1.0), fast, start=start), range(BLOCKS))
    assert found.slow.memory == math.inf
    assert found.fast.memory == pytest.approx(expected)


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e6])
def test_how_long_periods_are_does_not_matter(length: float) -> None:
    """Two looks may be a single erase apart, on a partition of a million blocks."""
    periods = periods_with((0.5, 1.0), (0.25, math.exp(-1)), length=length)
    found = correlation_of(STILL, periods, range(BLOCKS))
    assert found.fast.memory == pytest.approx(length)
    assert (found.slow.variance, found.fast.variance) == pytest.approx((0.5, 0.25))


def test_what_passes_is_shorter_than_what_stays() -> None:
    """All of it is kept for 40 of wear; static data are known to be moved after 10."""
    periods = periods_with((0.0, 1.0), (1.0, math.exp(-10 / 40)))
    found = correlation_of(moved_within(40), periods, range(BLOCKS))
    assert found.slow.memory == pytest.approx(10) and found.fast.memory < 10
    # Static data that move within a sixteenth of the whole, 40: no memory that is tried is
    # shorter, and half of it is taken.
    short = correlation_of(moved_within(10), periods, range(BLOCKS))
    assert (short.slow.memory, short.fast.memory) == (2.5, 1.25)


def of_rows(rows: Sequence[Sequence[float]], lengths: Sequence[float]) -> list[Period]:
    """Periods one after the other."""
    found, at = [], 0.0
    for row, length in zip(rows, lengths, strict=True):
        found.append(Period(at, at + length, tuple(row)))
        at += length
    return found


def test_a_pair_of_periods_counts_as_much_as_the_shorter_one() -> None:
    """Covariances that rise with the distance: nothing passes, and what stays is their mean."""
    rows = [(1, -1, 0, 0), (0.2, -0.2, 0.8, -0.8), (0.8, -0.8, 0.8, -0.8)]
    # First and second 2 × 0.2 ÷ 4 = 0.1, first and third 0.4, second and third
    # 2 × (0.16 + 0.64) ÷ 4 = 0.4; periods of 10, 20 and 40 make weights of 10, 10 and 20.
    found = correlation_of([], of_rows(rows, (10, 20, 40)), range(4))
    assert found.slow.variance == pytest.approx((0.1 * 10 + 0.4 * 10 + 0.4 * 20) / 40)
    assert found.fast.variance == 0


def test_blocks_that_take_turns_do_not_differ() -> None:
    """What one gains another loses: each two periods have a covariance of −1 ÷ 3."""
    rows = [(1, 0, -1), (-1, 1, 0), (0, -1, 1)]
    found = correlation_of([], of_rows(rows, (10, 10, 10)), range(3))
    assert (found.slow.variance, found.fast.variance) == (0, 0)


def test_of_periods_too_far_apart_nothing_is_known() -> None:
    """A slow memory of 1, and 1,000 between two middles: exp(−2,000) is no number any more."""
    periods = periods_with((0.5, 1.0), (0.25, 1.0), length=1000)
    found = correlation_of(moved_within(4), periods, range(BLOCKS))
    assert found == Correlation(Component(0.0, 1.0), Component(0.0, 0.5))


def test_three_periods_are_enough_to_tell_both_apart_and_two_are_not() -> None:
    slow, fast = (0.5, math.exp(-10 / 40)), (0.25, math.exp(-1))
    periods = periods_with(slow, fast)
    found = correlation_of(moved_within(160), periods[:3], range(BLOCKS))
    # Some memory explains the covariances at both distances.
    for distance in (1, 2):
        told = sum(part.variance * part.kept(10 * distance) for part in (found.slow, found.fast))
        assert told == pytest.approx(sum(one[0] * one[1] ** distance for one in (slow, fast)))
    found = correlation_of(moved_within(160), periods[:2], range(BLOCKS))
    assert found.slow.memory == pytest.approx(40)
    assert found.slow.variance == pytest.approx(slow[0] * slow[1] + fast[0] * fast[1])
    assert found.fast == GONE


def test_what_is_known_to_stay_is_not_counted_again_as_what_passes() -> None:
    """Shares of 0.5, then of 0.2, each for 10 of wear: with a memory without end 0.35 of them
    stay; with one of 5 it is (0.5 × exp(−2) + 0.2) ÷ (exp(−2) + 1) now, of which 0.35 are known.
    """
    periods = [Period(0, 10, (0.5, -0.5)), Period(10, 20, (0.2, -0.2))]
    known = Correlation(Component(1.0, math.inf), Component(1.0, 5.0))
    found = growth_of([Checkpoint(1, (20, 20))], periods, known)
    now = (0.5 * math.exp(-2) + 0.2) / (math.exp(-2) + 1)
    assert found.slow == pytest.approx((0.35, -0.35))
    assert found.fast == pytest.approx((now - 0.35, 0.35 - now))


def test_a_memory_that_is_short_against_a_period_has_the_last_one_left() -> None:
    """Of periods 5,000 apart, the last 4,000 long: exp(−2,000) is no number any more."""
    periods = [Period(0, 2000, (0.5, -0.5)), Period(3000, 7000, (0.2, -0.2))]
    known = Correlation(Component(1.0, 1.0), GONE)
    assert growth_of([Checkpoint(1, (7, 7))], periods, known).slow == pytest.approx((0.2, -0.2))


def looks(*points: tuple[int, int]) -> list[Checkpoint]:
    """Of one block: (bytes written, erases)."""
    return [Checkpoint(written, (erases,)) for written, erases in points]


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        # Each third has 1 erase a byte: nothing is to come. The last quarter, from 300 of 400 on,
        # has 120 in 100 bytes.
        ([(40, 10), (160, 130), (280, 250), (300, 250), (400, 370)], 1.2),
        # A look at three quarters is in time, one behind it is not: 50 in 100 bytes.
        ([(40, 10), (160, 70), (280, 130), (300, 140), (310, 145), (400, 190)], 0.5),
        # All looks are in the last quarter: that of the last third, which each third has.
        ([(310, 10), (340, 70), (370, 130), (400, 190)], 2.0),
        # Likewise with thirds of 1, 2 and 2 ÷ 3 a byte: a turn is no way to go.
        ([(310, 10), (340, 40), (370, 100), (400, 120)], 2 / 3),
        # 1, 2 and 3 erases in 1 byte: the changes are equal, both come once more: 3 + 2.
        ([(8, 8), (16, 16), (24, 32), (32, 56)], 3 + 2),
    ],
)
def test_the_wear_per_byte(points: Sequence[tuple[int, int]], expected: float) -> None:
    assert wear_per_byte(looks(*points)) == pytest.approx(expected)
