"""Metrics against figures worked out by hand."""

from __future__ import annotations

import statistics

import pytest
from host_support import cases_of, golden

from ffslab.results.casefile import case_result
from ffslab.results.metrics import (
    bucket_bounds,
    quantile_ns,
    wear_metrics,
    write_amplification,
)
from ffslab.results.outcome import Outcome
from ffslab.results.records import parse_records


def _index(value: int) -> int:
    """agent/histogram.h's definition."""
    if value < 128:
        return value
    exponent = value.bit_length() - 1
    return (exponent - 6) * 128 + (value >> (exponent - 7)) - 128


@pytest.mark.parametrize("value", [0, 1, 127, 128, 255, 256, 257, 1000, 123_456_789, 2**63 - 1])
def test_bucket_holds_its_value(value: int) -> None:
    low, high = bucket_bounds(_index(value))
    assert low <= value < high
    assert (high - low) <= max(1, value / 128)


def test_buckets_are_adjacent() -> None:
    for index in range(2000):
        assert bucket_bounds(index)[1] == bucket_bounds(index + 1)[0]


def test_quantiles_are_within_the_stated_error() -> None:
    values = sorted((i * 7919) % 1_000_003 + 500 for i in range(5000))
    counts: dict[int, int] = {}
    for value in values:
        counts[_index(value)] = counts.get(_index(value), 0) + 1
    buckets = sorted(counts.items())
    for q in (0.5, 0.9, 0.99, 0.999):
        exact = values[int(q * 5000) - 1]
        estimate = quantile_ns(buckets, 5000, q, values[0], values[-1])
        assert estimate == pytest.approx(exact, rel=0.005)
    assert quantile_ns([], 0, 0.5, 0, 0) == 0


def test_wear() -> None:
    after = [5, 2, 9, 2]
    wear = wear_metrics([1, 1, 1, 1], after)
    gained = [4, 1, 8, 1]
    assert wear["erases_mean"] == statistics.fmean(gained)
    assert wear["erases_std"] == pytest.approx(statistics.pstdev(gained))
    assert (wear["erases_spread"], wear["erases_max"]) == (7, 8)


def test_write_amplification_of_nothing_is_unknown() -> None:
    assert write_amplification(10, 2048, 4096) == 5.0
    assert write_amplification(10, 2048, 0) is None


def test_phases_of_a_recorded_run() -> None:
    case = cases_of()[0]
    stream = parse_records(golden("records/pass.jsonl"))
    result = case_result(case, Outcome("pass"), stream, "00")
    phases = {phase["phase"]: phase for phase in result["phases"]}
    creation, whole = phases["creation"], phases["workload"]
    assert creation["duration_ns"] == 2 * 10**9
    assert creation["write_bytes_per_s"] == 819200 / 2
    assert creation["pages_programmed"] == 400
    assert creation["write_amplification"] == 400 * 2048 / 819200
    assert phases["transactions"]["blocks_erased"] == 6
    assert phases["transactions"]["erases_spread"] == 2
    assert phases["deletion"]["write_amplification"] is None
    assert whole["duration_ns"] == 7 * 10**9
    assert whole["pages_programmed"] == 1040
    assert whole["bytes_written"] == 819200 + 1228800
    (latency,) = result["latencies"]
    assert latency["p50_ns"] == pytest.approx(50_000_000, rel=0.005)
    assert latency["max_ns"] == 100_000_000


def test_cut_records_still_give_a_result() -> None:
    case = cases_of()[0]
    stream = parse_records(golden("records/cut.jsonl"))
    result = case_result(case, Outcome("crash", "x"), stream, None)
    assert result["virtual_ns"] is None
    assert [phase["phase"] for phase in result["phases"]] == ["creation"]
