"""Ratios between scenarios: exact for one, described (never tested) for several."""

from __future__ import annotations

import math

import pytest

from ffslab.compare.ratios import (
    Pair,
    alike,
    all_alike,
    distance,
    factor,
    geometric_mean,
    log_mean,
    mean,
    ratio_from,
    ratio_of,
    summarise,
)


def test_one_pair_is_exact() -> None:
    summary = summarise([Pair("seed 1", 4.0, 6.0)])
    assert summary is not None
    assert summary.exact
    assert summary.ratio == summary.minimum == summary.maximum == 1.5


def test_several_pairs_give_ratio_and_range() -> None:
    summary = summarise([Pair("seed 1", 1.0, 2.0), Pair("seed 2", 1.0, 8.0)])
    assert summary is not None
    assert not summary.exact
    assert (summary.ratio, summary.minimum, summary.maximum) == (5.0, 2.0, 8.0)
    assert (summary.before_mean, summary.after_mean) == (1.0, 5.0)


@pytest.mark.parametrize(
    ("before", "after", "ratio"), [(0.0, 0.0, 1.0), (0.0, 5.0, None), (5.0, 0.0, 0.0)]
)
def test_zeros(before: float, after: float, ratio: float | None) -> None:
    assert Pair("a", before, after).ratio == ratio


def test_pairs_without_a_ratio_are_counted_or_leave_no_summary() -> None:
    assert summarise([]) is None
    assert summarise([Pair("a", 0.0, 3.0)]) is None
    summary = summarise([Pair("a", 0.0, 3.0), Pair("b", 1.0, 3.0)])
    assert summary is not None
    assert summary.undefined == 1
    assert summary.ratio == 6.0  # 0.5 to 3 on average, though the one ratio is 3
    summary = summarise([Pair("a", 0.0, 3.0), Pair("b", 0.0, 0.0)])
    assert summary is not None and summary.ratio is None


def test_a_summary_worked_out_by_hand() -> None:
    """Ratios 8 ÷ 2 = 4, 3 ÷ 6 = 0.5 and 4 ÷ 4 = 1; the means are 12 ÷ 3 and 15 ÷ 3."""
    summary = summarise([Pair("a", 2.0, 8.0), Pair("b", 6.0, 3.0), Pair("c", 4.0, 4.0)])
    assert summary is not None
    assert (summary.before_mean, summary.after_mean) == (4.0, 5.0)
    assert summary.ratio == 1.25
    assert (summary.minimum, summary.maximum, summary.undefined) == (0.5, 4.0, 0)
    assert [pair.key for pair in summary.pairs] == ["a", "b", "c"]
    assert not summary.exact


def test_a_geometric_mean_with_nothing_in_it_is_nothing() -> None:
    assert geometric_mean((0.0, 9.0)) == 0.0
    summary = summarise([Pair("a", 1.0, 0.0), Pair("b", 1.0, 9.0)])
    assert summary is not None
    assert (summary.ratio, summary.minimum) == (4.5, 0.0)


def test_how_far_a_ratio_is_from_1() -> None:
    assert [factor(ratio) for ratio in (4.0, 0.25, 1.0, 0.0)] == [4.0, 4.0, 1.0, math.inf]


def test_how_far_it_is_as_a_logarithm() -> None:
    assert distance(4.0) == distance(0.25) == 2 * distance(2.0) == pytest.approx(1.386294, abs=1e-6)
    assert (distance(1.0), distance(0.0), distance(-1.0)) == (0.0, math.inf, math.inf)


def test_values_within_two_percent_of_each_other_are_alike() -> None:
    assert [alike(ratio) for ratio in (1.0, 1.02, 1 / 1.02, 1.021, 0.98)] == [
        True, True, True, False, False,
    ]  # fmt: skip


def test_means() -> None:
    assert mean(iter((1.0, 2.0, 6.0))) == 3.0
    assert mean((0.1, 0.2, 0.3)) == mean((0.3, 0.2, 0.1))  # as sums they differ in the last digit
    assert log_mean((1.0, math.e, math.e**2)) == pytest.approx(1.0)
    assert geometric_mean((1.0, 2.0, 4.0)) == pytest.approx(2.0)


def test_a_ratio_of_values_that_differ_is_not_1() -> None:
    assert ratio_of(4.0, 6.0) == 1.5 and ratio_of(3.0, 3.0) == 1
    for high in (2.0, math.nextafter(2.0, 0), 1.5, 1e300):
        low = math.nextafter(high, 0)
        up, down = ratio_of(low, high), ratio_of(high, low)
        assert up is not None and down is not None and up > 1 > down


def test_a_ratio_of_nothing_is_one_of_the_least() -> None:
    assert ratio_from(0.0, 8.0, 2.0) == 4.0
    assert ratio_from(8.0, 0.0, 2.0) == 0.25
    assert ratio_from(1.0, 0.0, 2.0) == 1.0
    assert ratio_from(4.0, 6.0, 2.0) == 1.5


def test_several_values_are_alike_if_the_ends_are() -> None:
    assert all_alike([100.0, 102.0, 101.0]) and all_alike([0.0, 0.0])
    assert not all_alike([100.0, 102.1]) and not all_alike([0.0, 1.0])
