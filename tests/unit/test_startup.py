"""The start-up phase: series of which one knows what to find."""

from __future__ import annotations

import random

import pytest

from ffslab.results.startup import MIN_REQUESTS, startup_count

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


@pytest.mark.parametrize("series", [[], [5], [1, 9], [1] * 3 + [900] * 4, [1, 900] * 3])
def test_tiny_series_have_none(series: list[int]) -> None:
    assert startup_count(series) == 0


def test_smallest_series() -> None:
    assert startup_count([CHEAP] * 4 + [DEAR] * 4) == 4
