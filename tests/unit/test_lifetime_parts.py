"""The parts of a forecast one by one, with values worked out by hand (docs/lifetime.md)."""

from __future__ import annotations

import math
import random

import pytest

from ffslab.lifetime.forecast import (
    Estimate,
    Flash,
    Forecast,
    Paths,
    _deaths,
    drawn_together,
    forecast,
)
from ffslab.lifetime.growth import (
    Checkpoint,
    Component,
    Correlation,
    Growth,
    Period,
    correlation_of,
    growth_of,
    periods_of,
    slow_memory,
    wear_per_byte,
)
from ffslab.lifetime.read import CaseLife, WearOut
from ffslab.lifetime.rows import basis_words, document_of, outcome_words, rows_of, volume
from ffslab.lifetime.spares import Spares

NOTHING = Component(0.0, 1.0)


def even(*points: tuple[int, float]) -> list[Checkpoint]:
    """Ten blocks that wear alike: (bytes written, erases of each in tenths)."""
    found = []
    for written, wear in points:
        total = round(10 * wear)
        found.append(Checkpoint(written, tuple(total // 10 + (i < total % 10) for i in range(10))))
    return found


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        # Three that count: everything since the beginning, 3 ÷ 300.
        ([(100, 1), (200, 2.5), (300, 3)], 0.01),
        # Before the mean block was erased once nothing counts: 3 left of four.
        ([(50, 0.9), (100, 1), (200, 2.5), (300, 3)], 0.01),
        # 0.02, 0.01, 0.006: changes of −0.01 and −0.004, a ratio of 0.4; −0.004 × 0.4 ÷ 0.6.
        ([(100, 1), (200, 3), (300, 4), (400, 4.6)], 0.006 - 0.004 * 0.4 / 0.6),
        # 0.05, 0.03, 0.02: a ratio of 0.5, so the last change comes once more.
        ([(100, 1), (200, 6), (300, 9), (400, 11)], 0.01),
        # 0.01, 0.02, 0.04: it grows; both changes come once more.
        ([(100, 1), (200, 2), (300, 4), (400, 8)], 0.07),
        # 0.06, 0.05, 0.03 likewise, downwards.
        ([(100, 1), (200, 7), (300, 12), (400, 15)], 0.0),
        # It turns: nothing is to come.
        ([(100, 1), (200, 2), (300, 4), (400, 5.5)], 0.015),
        # 0.100, 0.110, 0.119: a ratio of 0.9; not 9 times the last change, but 1 + 1 ÷ 0.9.
        ([(100, 1), (200, 11), (300, 22), (400, 33.9)], 0.119 + 0.009 * (1 + 1 / 0.9)),
        # The last quarter begins at 300 of 400, not at 350; thirds of 0.01, 0.01 and 0.015.
        ([(100, 1), (200, 2), (300, 3), (350, 3.5), (400, 4.5)], 0.015),
    ],
)
def test_the_wear_per_byte_and_what_it_leads_to(
    points: list[tuple[int, float]], expected: float
) -> None:
    assert wear_per_byte(even(*points)) == pytest.approx(expected)


def test_periods_begin_where_the_mean_block_was_erased_once() -> None:
    early, one, two = Checkpoint(1, (1, 0)), Checkpoint(2, (1, 1)), Checkpoint(3, (4, 2))
    (only,) = periods_of([early, one, two])
    # 3 and 1 more erases, 2 in the mean: half above it, half below.
    assert (only.start, only.end, only.shares) == (1, 3, (0.5, -0.5))
    assert (only.middle, only.length) == (2, 2)
    # One that counts is no period: then all of them, from a flash that was not erased.
    first, second = periods_of([early, one])
    assert (first.start, first.end, first.shares) == (0, 0.5, (1, -1))
    assert (second.start, second.end, second.shares) == (0.5, 1, (-1, 1))
    # A period in which nothing was erased says nothing.
    assert len(periods_of([one, one, two])) == 1


def test_how_long_data_stay() -> None:
    """Wear 10 to 20; of three still blocks of four two are moved, one half way in the mean."""
    points = [Checkpoint(1, (40, 0, 0, 0)), Checkpoint(2, (60, 10, 0, 10))]
    blocks = range(4)
    # (3 − 2 ÷ 2) × 10 = 20 of wear for two moves; a quarter of the blocks are not still.
    assert slow_memory(points, blocks) == pytest.approx((1 - 3 / 4) * 20 / 2)
    # Of those that got such data one, moved half way: 5 of wear.
    assert slow_memory(points, blocks, {1}) == pytest.approx((1 - 1 / 4) * 5)
    assert slow_memory(points, blocks, {2}) == math.inf
    assert slow_memory(points[:1], blocks) == math.inf
    # Not less than a wear of 1, and nothing that happens before it counts.
    assert slow_memory([Checkpoint(1, (4, 0, 0, 0)), Checkpoint(2, (5, 1, 1, 1))], blocks) == 1
    assert slow_memory([Checkpoint(1, (3, 0, 0, 0)), *points], blocks) == pytest.approx(2.5)


def test_what_is_left_of_a_share_and_what_it_comes_to() -> None:
    part, forever = Component(2.0, 10.0), Component(2.0, math.inf)
    assert part.kept(10) == pytest.approx(math.exp(-1))
    assert (forever.kept(10), forever.gain(10), forever.chance(10)) == (1, 10, 0)
    # 10 × (1 − 1 ÷ e).
    assert part.gain(10) == pytest.approx(6.32121, rel=1e-5)
    # 2 × 10² × (2 − 3 + 4 ÷ e − 1 ÷ e²).
    assert part.chance(10) == pytest.approx(67.2365, rel=1e-5)
    assert part.chance(0) == 0


@pytest.mark.parametrize(("variance", "real"), [(0.25, 1.0), (1.0, 1.0), (0.125, 0.5), (0, 0)])
def test_a_share_is_drawn_to_0_as_far_as_chance_explains_it(variance: float, real: float) -> None:
    """Half above and half below the mean: a variance of 0.25 is seen."""
    periods = [Period(1, 3, (0.5, -0.5))]
    points = even((100, 1), (200, 3))
    slow = growth_of(points, periods, Correlation(Component(variance, math.inf), NOTHING))
    assert slow.slow == pytest.approx((0.5 * real, -0.5 * real))
    assert slow.fast == pytest.approx((0, 0))
    fast = growth_of(
        points, periods, Correlation(Component(0.0, math.inf), Component(variance, 5.0))
    )
    assert fast.slow == pytest.approx((0, 0))
    assert fast.fast == pytest.approx((0.5 * real, -0.5 * real))
    assert fast.wear_per_byte == wear_per_byte(points)


def test_late_periods_count_as_far_as_the_memory_goes() -> None:
    """Periods of 4 and 2 of wear, their middles 4 and 1 before the end."""
    periods = [Period(0, 4, (0.5, -0.5)), Period(4, 6, (0.2, -0.2))]
    known = Correlation(Component(9.0, math.inf), NOTHING)
    found = growth_of(even((1, 1), (2, 6)), periods, known)
    assert found.slow[0] == pytest.approx((4 * 0.5 + 2 * 0.2) / 6)
    recent = growth_of(even((1, 1), (2, 6)), periods, Correlation(NOTHING, Component(9.0, 3.0)))
    old, new = 4 * math.exp(-4 / 3), 2 * math.exp(-1 / 3)
    assert recent.fast[0] == pytest.approx((old * 0.5 + new * 0.2) / (old + new))


def correlated(kept: float, constant: float) -> list[Period]:
    """Four periods of 10 of wear and ten blocks, in pairs above and below the mean. The products of
    two periods have the mean (kept^distance + constant²) ÷ 5.
    """
    row = [1.0, 0.0, 0.0, 0.0]
    rows = [row]
    for number in range(1, 4):
        row = [kept * one for one in row]
        row[number] = math.sqrt(1 - kept**2)
        rows.append(row)
    return [
        Period(10 * n, 10 * n + 10, tuple(s * v for v in (*row, constant) for s in (1, -1)))
        for n, row in enumerate(rows)
    ]


@pytest.mark.parametrize("constant", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("memory", [20.0, 40.0])
def test_both_parts_are_found_again(constant: float, memory: float) -> None:
    periods = correlated(math.exp(-10 / memory), constant)
    points = [Checkpoint(1, (10,) * 10), Checkpoint(2, (50,) * 10)]  # no block is still
    found = correlation_of(points, periods, range(10))
    assert found.slow.memory == math.inf
    assert found.slow.variance == pytest.approx(constant**2 / 5, abs=1e-9)
    assert found.fast.variance == pytest.approx(1 / 5)
    assert found.fast.memory == pytest.approx(memory)


def test_of_two_periods_all_is_taken_to_be_slow() -> None:
    periods = correlated(0.5, 1.0)[:2]
    found = correlation_of(even((1, 10), (2, 20)), periods, range(10))
    # (0.5 + 1) ÷ 5.
    assert found.slow.variance == pytest.approx(0.3)
    assert found.slow.memory == math.inf
    assert found.fast.variance == 0
    opposite = [periods[0], Period(10, 20, tuple(-one for one in periods[0].shares))]
    assert correlation_of(even((1, 10), (2, 20)), opposite, range(10)).slow.variance == 0


@pytest.mark.parametrize(
    ("counts", "difference", "expected"),
    [
        ([0, 10], 4, [3, 7]),
        ([0, 0, 12], 3, [3, 3, 6]),
        ([5, 9], 4, [5, 9]),
        ([0, 5, 10], 10, [0, 5, 10]),
        # The one in the middle stays: 2 and 6 to 0 and 8.
        ([0, 4, 8], 4, [2, 4, 6]),
    ],
)
def test_counts_are_drawn_together(
    counts: list[float], difference: float, expected: list[float]
) -> None:
    assert drawn_together(counts, difference) == pytest.approx(expected, abs=1e-6)


def paths(chances: tuple[float, float], threshold: int | None = None) -> Paths:
    """Of two blocks: 101 and 52 erases, one half as fast again as the mean for ever and a tenth of
    late.
    """
    growth = Growth(
        0.01,
        (0.5, -0.5),
        (0.1, -0.1),
        Correlation(Component(0.25, math.inf), Component(0.04, 10.0)),
    )
    flash = Flash(1000, (1, 2), 0, threshold)
    return Paths(Checkpoint(500, (100, 50)), growth, flash, chances)


def test_the_erases_of_a_block_in_the_future() -> None:
    # After 10 of wear: 10 + 0.5 × 10 + 0.1 × 6.32121 = 15.63212, and 4.36788; by chance a
    # deviation of √(0.04 × 10² × 0.3361825) = 1.159625.
    assert paths((0, 0)).erases(10) == pytest.approx([116.63212, 56.36788], rel=1e-6)
    assert paths((-1, 1)).erases(10) == pytest.approx([115.472496, 57.527504], rel=1e-6)
    # None is faster than the fastest is now, 1.6 of the mean, and none is erased less than before.
    assert paths((9, -9)).erases(10) == pytest.approx([117, 52])
    assert paths((0, 0), 30).erases(10) == pytest.approx([101.5, 71.5], abs=1e-5)


def test_how_fast_a_block_wears_in_the_future() -> None:
    # 1 ± (0.5 + 0.1 ÷ e).
    expected = [1.536788, 0.463212]
    assert paths((0, 0)).rates(10) == pytest.approx(expected, rel=1e-6)
    assert paths((0, 0), 100).rates(10) == pytest.approx(expected, rel=1e-6)
    # Once static data are moved all wear alike.
    assert paths((0, 0), 30).rates(10) == [1, 1]


def test_shares_that_fade_and_a_difference_that_is_nearly_reached() -> None:
    correlation = Correlation(Component(0.25, 10.0), Component(0.04, 5.0))
    flash = Flash(2000, (1000, 1), 0, 1000)
    growth = Growth(0.01, (0.5, -0.5), (0.1, -0.1), correlation)
    # After 10 of wear: 1 ± (0.5 ÷ e + 0.1 ÷ e²).
    far = Paths(Checkpoint(1, (0, 999)), growth, flash, (0, 0)).rates(10)
    rest = 0.5 / math.e + 0.1 / math.e**2
    assert far == pytest.approx([1 + rest, 1 - rest])
    # 999 apart, of 1,000, is as good as reached.
    assert Paths(Checkpoint(1, (0, 0)), growth, flash, (0, 0)).rates(0) == [1, 1]


def straight(starts: tuple[int, ...], rates: tuple[float, ...], flash: Flash) -> Paths:
    """Blocks that each wear at their own rate for ever."""
    shares = tuple(rate - 1 for rate in rates)
    growth = Growth(
        0.01, shares, (0.0,) * len(rates), Correlation(Component(1.0, math.inf), NOTHING)
    )
    return Paths(Checkpoint(1, starts), growth, flash, (0,) * len(rates))


def test_when_blocks_reach_their_limits() -> None:
    """In order, at the wear at which each does, whatever steps are between; and no more than are
    asked for, but those of the same step.
    """
    flash = Flash(40, (0,) * 4, 3)
    # (41 − 5) ÷ 1.5 = 24, (30 − 4) ÷ 0.5 = 52, (33 − 0) ÷ 2 = 16.5; the last has had its limit.
    starts, rates, limits = (5, 4, 0, 7), (1.5, 0.5, 2.0, 0.0), (41, 30, 33, 7)
    paths = straight(starts, rates, flash)
    expected = [(0, 3), (16.5, 2), (24, 0), (52, 1)]
    assert _deaths(paths, limits, flash) == pytest.approx([pytest.approx(x) for x in expected])
    one = Flash(40, (0,) * 4, 1)
    assert [number for _, number in _deaths(paths, limits, one)] == [3, 2]


@pytest.mark.parametrize(
    ("start", "left"),
    # The weakest endure 900, the strongest 1,100; beyond that 1 of wear is taken to be left.
    [(100, 1000), (600, 500), (1100, 1), (1300, 1)],
)
def test_blocks_that_hardly_wear_are_not_waited_for(start: int, left: int) -> None:
    """Not longer than for 20 times what the mean block has left: 19.5 times is in time, 20.5 not.
    Of three blocks, the last of which wears instead of the others, two wear by a hundredth.
    """
    flash = Flash(1000, (0,) * 3, 9)
    paths = straight((start,) * 3, (0.01, 0.01, 2.98), flash)
    limits = [start + 0.01 * times * left for times in (19.5, 20.5)]
    found = _deaths(paths, [*limits, start + 2.98 * left], flash)
    assert found == [(pytest.approx(left), 2), (pytest.approx(19.5 * left), 0)]


@pytest.mark.parametrize(
    ("blocks", "draws"),
    # 10,000 blocks in all: 150.2 would be those of 66, 10,001 ÷ 137 is 73, and 25 at least.
    [(2, 150), (66, 150), (67, 149), (100, 100), (137, 72), (400, 25), (450, 25)],
)
def test_a_forecast_of_many_blocks_has_fewer_draws(
    blocks: int, draws: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    class Counting(random.Random):
        def choices(self, *words: object, **more: object) -> list[int]:  # type: ignore[override]
            drawn.append(more)
            return super().choices(*words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(random, "Random", Counting)
    # All blocks are worn out at once, so that a draw takes no time.
    points = [Checkpoint(n, (n,) * blocks) for n in (1, 2, 3)]
    forecast(points, Flash(1, (9,) * blocks, 0))
    assert len(drawn) == draws


def test_a_seed_is_a_forecast() -> None:
    points, flash = even((100, 1), (200, 2), (300, 3.5)), Flash(1000, (0,) * 10, 2)
    assert forecast(points, flash) == forecast(points, flash, seed=1)
    assert forecast(points, flash) != forecast(points, flash, seed=2)


def test_a_forecast_goes_on_from_the_last_look() -> None:
    """One erase of each block in 100 bytes, then two: of 1,000 there are 995 left after 400."""
    points = even((100, 1), (200, 2), (300, 3), (400, 5))
    told = forecast(points, Flash(1000, (0,) * 10, 0, spread=0.0))
    assert told.first_bad.middle == pytest.approx(400 + 995 / 0.02)
    uneven = [*points[:-1], Checkpoint(400, (6, 4) * 5)]
    assert forecast(uneven, Flash(1000, (0,) * 10, 0)).worst == 6


def test_a_long_period_in_which_all_still_blocks_move() -> None:
    """A draw without the block that was used first knows of still blocks alone: a memory of 1, and
    a period of 3,995 of wear. All blocks are erased once in 250 bytes, and endure 90,000 to
    110,000 of it.
    """
    points = [Checkpoint(100, (40,) + (0,) * 7), Checkpoint(1_000_000, (4000,) * 8)]
    told = forecast(points, Flash(100_000, (0,) * 8, 0)).first_bad
    assert 22_500_000 <= told.low <= told.high <= 27_500_000


@pytest.mark.parametrize("spares", [0, 1, 9])
def test_blocks_that_wear_alike_go_bad_together(spares: int) -> None:
    """One erase of each block in 100 bytes: 1,000 after 100,000, without any spread."""
    points = [Checkpoint(100 * n, (n,) * 4) for n in range(1, 11)]
    told = forecast(points, Flash(1000, (0,) * 4, spares, spread=0.0))
    for estimate in (told.first_bad, told.end):
        assert estimate.low == estimate.middle == estimate.high == pytest.approx(100_000)
    assert (told.written_bytes, told.checkpoints, told.wear, told.worst) == (1000, 10, 10, 10)
    assert told.wear_per_byte == pytest.approx(0.01)
    # 200 erases that are not of this writing are 20,000 bytes less.
    used = forecast(points, Flash(1000, (200,) * 4, spares, spread=0.0))
    assert used.first_bad.middle == pytest.approx(80_000)


def life(checkpoints: int = 3, *, spares: Spares | None = None) -> CaseLife:
    """The first bad block at 2 GB, the end at 8 GB; they came at 1 GB and not at all."""
    told = Forecast(
        Estimate(1e9, 2e9, 3e9),
        Estimate(4e9, 8e9, 16e9),
        *(500_000_000, checkpoints, 12.5, 20, 2.5e-8),
        Correlation(Component(0.25, math.inf), Component(0.04, 10.0)),
    )
    return CaseLife("one", {}, 1000, told, spares, WearOut(10**9, None, "", 3))


def test_rows_have_years_and_how_far_off_a_forecast_was() -> None:
    first, end = rows_of([life()], 10_000_000)
    # 10 MB a day are 3.6525 GB a year.
    assert first.years is not None and first.years.middle == pytest.approx(2 / 3.6525)
    assert (first.years.low, first.years.high) == pytest.approx((1 / 3.6525, 3 / 3.6525))
    assert (first.event, first.measured, first.off) == ("first_bad", 10**9, 1.0)
    assert (end.event, end.measured, end.off) == ("end", None, None)
    assert end.forecast == Estimate(4e9, 8e9, 16e9)
    assert [row.years for row in rows_of([life()])] == [None, None]
    assert rows_of([CaseLife("none", {}, 0, None, None, None, "why")]) == ()


def test_the_document_says_what_a_forecast_is_from() -> None:
    none = CaseLife("none", {"fs": "x"}, 0, None, None, None, "why")
    document = document_of([life(spares=Spares(4, "reserve", 80)), none], 7)
    one, other = document["cases"]
    assert document["daily_bytes"] == 7
    assert one["from"] == {
        "written_bytes": 500_000_000,
        "checkpoints": 3,
        "erases_mean": 12.5,
        "erases_max": 20,
        "erases_per_byte": 2.5e-8,
        "slow": {"variance": 0.25, "memory_erases": None},
        "fast": {"variance": 0.04, "memory_erases": 10.0},
    }
    assert one["spares"] == {"blocks": 4, "words": "reserve", "threshold": 80}
    outcome = {"first_bad_bytes": 10**9, "end_bytes": None, "stopped": "", "bad_blocks": 3}
    assert (one["id"], one["endurance"], one["outcome"], one["why"]) == ("one", 1000, outcome, "")
    assert [row["event"] for row in one["rows"]] == ["first_bad", "end"]
    assert other == {
        "id": "none",
        "axes": {"fs": "x"},
        "endurance": None,
        "why": "why",
        "from": None,
        "spares": None,
        "outcome": None,
        "rows": [],
    }


def test_volumes_and_bases_in_words() -> None:
    sizes = (999e6, 1e9, 999e9, 1e12, 999e12, 1e15)
    words = ["999 MB", "1 GB", "999 GB", "1 TB", "999 TB", "1 PB"]
    assert [volume(size) for size in sizes] == words
    spares = Spares(4, "reserve")
    told = "up to 500 MB, 12.5 erases per block (most 20) of 1,000; 4 blocks to lose (reserve)"
    assert basis_words(life(3, spares=spares)) == f"from 3 looks {told}"
    assert basis_words(life(1, spares=spares)) == f"from 1 look {told}"
    # Both are needed, the forecast and the blocks that may be lost.
    assert basis_words(life()) == "no forecast: "
    assert basis_words(CaseLife("n", {}, 0, None, spares, None, "why")) == "no forecast: why"
    assert (
        outcome_words(WearOut(1, None, "", 3)) == "measured: 3 grown bad blocks, and it still wrote"
    )
    assert outcome_words(WearOut(1, 2, "EROFS", 3)) == "measured: 3 grown bad blocks, then EROFS"
