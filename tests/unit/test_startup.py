"""The start-up phase: series of which one knows what to find."""

from __future__ import annotations

import random
from itertools import accumulate

import pytest

from ffslab.protocol.own_latencies import bucket_of
from ffslab.workloads.micro import startup
from ffslab.workloads.micro.startup import MIN_REQUESTS, startup_count

CHEAP, DEAR = 300_000, 5_000_000


def _noisy(rng: random.Random, level: int, count: int) -> list[int]:
    return [round(level * rng.uniform(0.8, 1.25)) for _ in range(count)]


@pytest.mark.parametrize("latency", [0, 1, 127, 128, CHEAP, 2**62])
def test_constant_series_has_none(latency: int) -> None:
    assert startup_count([latency] * 500) == 0


@pytest.mark.parametrize("count", [MIN_REQUESTS, 20, 100, 250])
def test_step_is_found_to_the_request(count: int) -> None:
    assert startup_count([CHEAP] * count + [DEAR] * (500 - count)) == count


@pytest.mark.parametrize(("count", "found"), [(300, 300), (450, 450), (451, 0), (490, 0)])
def test_a_running_phase_is_at_least_a_tenth(count: int, found: int) -> None:
    """A partition that becomes full late has a long start-up; a dear end is no running phase."""
    assert startup_count([CHEAP] * count + [DEAR] * (500 - count)) == found


@pytest.mark.parametrize("seed", range(10))
def test_noisy_step(seed: int) -> None:
    rng = random.Random(seed)
    found = startup_count(_noisy(rng, CHEAP, 120) + _noisy(rng, 2 * CHEAP, 600))
    assert found == pytest.approx(120, abs=3)


@pytest.mark.parametrize("seed", range(10))
def test_collector_that_sets_in_is_found(seed: int) -> None:
    """After the start-up only some requests are dear."""
    rng = random.Random(seed)
    running = [rng.choice((CHEAP, CHEAP, CHEAP, 20 * DEAR)) for _ in range(2000)]
    assert 400 <= startup_count([CHEAP] * 400 + running) <= 430


@pytest.mark.parametrize("seed", range(5))
def test_rare_and_very_dear_requests_are_found(seed: int) -> None:
    rng = random.Random(seed)
    running = [50 * DEAR if rng.random() < 0.04 else CHEAP for _ in range(3000)]
    assert 2000 <= startup_count([CHEAP] * 2000 + running) <= 2150


@pytest.mark.parametrize("period", [2, 3, 10, 64, 100, 333])
@pytest.mark.parametrize("count", [40, 400, 4000])
def test_periodic_work_is_no_startup(period: int, count: int) -> None:
    """A collector that works at every k-th request, the first time at the k-th."""
    series = [DEAR if (i + 1) % period == 0 else CHEAP for i in range(count)]
    assert startup_count(series) == 0


@pytest.mark.parametrize("run", [20, 50])
def test_bursts_are_no_startup(run: int) -> None:
    assert startup_count(([CHEAP] * run + [DEAR] * run) * 5) == 0


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_no_startup(seed: int) -> None:
    rng = random.Random(seed)
    assert startup_count([round(rng.lognormvariate(13, 1)) for _ in range(600)]) == 0
    assert startup_count([rng.choice((CHEAP, DEAR)) for _ in range(600)]) == 0


def test_ramp_has_none() -> None:
    assert startup_count([round(CHEAP * 1.01**i) for i in range(400)]) == 0
    assert startup_count([CHEAP + 20_000 * i for i in range(400)]) == 0


def test_cheaper_running_phase_is_none() -> None:
    assert startup_count([DEAR] * 100 + [CHEAP] * 400) == 0


def test_small_difference_is_none() -> None:
    assert startup_count([100_000] * 100 + [120_000] * 400) == 0
    assert startup_count([100_000] * 100 + [130_000] * 400) == 100


@pytest.mark.parametrize("series", [[], [5], [1, 9], [1] * 3 + [900] * 4, [1] * 4 + [900] * 3])
def test_tiny_series_have_none(series: list[int]) -> None:
    assert startup_count(series) == 0


def test_smallest_series() -> None:
    assert startup_count([CHEAP] * 4 + [DEAR] * 4) == 4
    assert startup_count([4] * 4 + [5] * 4) == 4
    assert startup_count([4] * 4 + [5, 5, 5, 4]) == 0  # 4.75 is less than 5/4 of 4
    assert startup_count([CHEAP] * 30 + [DEAR] * 4) == 30


# The rules at their bounds, on numbers that can be worked out: those of whole series hardly ever
# come near one. `sums` are running sums of levels; only those named are looked at.


def _sums(*levels: int) -> list[int]:
    return list(accumulate(levels, initial=0))


@pytest.mark.parametrize(
    ("latency", "level"),
    [
        (0, 0),
        (127, 127),
        (128, 128),
        (255, 255),
        (256, 256),
        (258, 257),  # 2^8: 128 × 1 + 258 ÷ 2
        (1000, 506),  # 2^9: 128 × 2 + 1000 ÷ 4
    ],
)
def test_levels_are_the_histograms_indices(latency: int, level: int) -> None:
    assert bucket_of(latency) == level


@pytest.mark.parametrize(
    ("levels", "cut"),
    [
        ([0] * 5 + [1] + [0] * 4, 5),  # k = 4: 16 ÷ 24; 5: 25 ÷ 25; 6: 16 ÷ 24
        ([0] * 8 + [1] * 4, 8),  # the last one possible
        ([0] * 9 + [1] * 3, 8),  # 9 would be better and leaves only three
        ([0] * 8, 4),
    ],
)
def test_the_cut_leaves_the_least_error_and_four_requests(levels: list[int], cut: int) -> None:
    assert startup._best_cut(_sums(*levels), len(levels)) == cut


@pytest.mark.parametrize(
    ("scatter", "holds"),
    # explained = (10,000 × 0 − 5,000 × 1)², whole = scatter × 5,000²: 1 ÷ scatter. The F is
    # 9,998 ÷ (scatter − 1), about 50.
    [(199, True), (200, True), (201, False), (0, False)],
)
def test_a_cut_explains_one_part_in_200(scatter: int, holds: bool) -> None:
    assert startup._explains({5_000: 0, 10_000: 1}, 10_000, 5_000, scatter) is holds  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("scatter", "holds"),
    # explained = (9 × 60)² = 291,600, whole = scatter × 9 × 18. With 3,600: 583,200, so the rest
    # is as much, and F = 25 × 1. With 3,601 it is 0.05 % less.
    [(3_600, True), (3_601, False)],
)
def test_f_is_25_at_least(scatter: int, holds: bool) -> None:
    assert startup._explains({9: 0, 27: 60}, 27, 9, scatter) is holds  # type: ignore[arg-type]


def test_no_scatter_explains_nothing() -> None:
    assert not startup._explains(_sums(*[7] * 8), 8, 4, 0)


@pytest.mark.parametrize(
    ("levels", "holds"),
    # Means 0 and 4, so the bound is 1: the first two of the running phase are at it, or below.
    [([0, 0, 1, 1, 7, 7], True), ([0, 0, 0, 1, 7, 8], False)],
)
def test_the_startup_level_stays_away(levels: list[int], holds: bool) -> None:
    assert startup._stays_away(_sums(*levels), 6, 2) is holds


@pytest.mark.parametrize(
    ("levels", "cut", "holds"),
    [
        # The halves' means differ by 1, the phases' by 3.5 − 0.5 = 3, then by 3.25.
        ([0, 0, 1, 1, 3, 4, 3, 4], 4, False),
        ([1, 1, 0, 0, 3, 4, 3, 4], 4, False),
        ([0, 0, 1, 1, 4, 4, 3, 4], 4, True),
        # 3 ÷ 3 against 3 − 0.5, and with the 3 in the middle of seven in neither half.
        ([0, 0, 3, 0, 0, 0, *[3] * 6], 6, False),
        ([0, 0, 0, 3, 0, 0, 0, *[3] * 7], 7, True),
    ],
)
def test_the_startup_is_level(levels: list[int], cut: int, holds: bool) -> None:
    assert startup._is_level(_sums(*levels), len(levels), cut) is holds
