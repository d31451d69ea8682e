"""Ratios between scenarios: exact for one, described (never tested) for several."""

from __future__ import annotations

import math

import pytest

from ffslab.compare.ratios import Pair, factor, summarise


def test_one_pair_is_exact() -> None:
    summary = summarise([Pair("seed 1", 4.0, 6.0)])
    assert summary is not None
    assert summary.exact
    assert summary.mean == summary.minimum == summary.maximum == 1.5
    assert summary.geometric_mean == pytest.approx(1.5)


def test_several_pairs_give_mean_range_and_geometric_mean() -> None:
    summary = summarise([Pair("seed 1", 1.0, 2.0), Pair("seed 2", 1.0, 8.0)])
    assert summary is not None
    assert not summary.exact
    assert (summary.mean, summary.minimum, summary.maximum) == (5.0, 2.0, 8.0)
    assert summary.geometric_mean == pytest.approx(4.0)
    assert (summary.before_mean, summary.after_mean) == (1.0, 5.0)


def test_direction_that_differs_between_scenarios_is_seen() -> None:
    summary = summarise([Pair("a", 1.0, 2.0), Pair("b", 2.0, 1.0)])
    assert summary is not None
    assert not summary.one_sided
    assert summary.geometric_mean == pytest.approx(1.0)


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
    assert summary.mean == 3.0


def test_a_summary_worked_out_by_hand() -> None:
    """Ratios 8 ÷ 2 = 4, 3 ÷ 6 = 0.5 and 4 ÷ 4 = 1; the geometric mean is the third root of 2."""
    summary = summarise([Pair("a", 2.0, 8.0), Pair("b", 6.0, 3.0), Pair("c", 4.0, 4.0)])
    assert summary is not None
    assert (summary.before_mean, summary.after_mean) == (4.0, 5.0)
    assert summary.mean == pytest.approx(5.5 / 3)
    assert (summary.minimum, summary.maximum, summary.undefined) == (0.5, 4.0, 0)
    assert summary.geometric_mean == pytest.approx(1.259921, abs=1e-6)
    assert [pair.key for pair in summary.pairs] == ["a", "b", "c"]
    assert not summary.exact and not summary.one_sided


@pytest.mark.parametrize(
    ("ratios", "one_sided"),
    [((1.0, 2.0), True), ((0.5, 1.0), True), ((0.99, 2.0), False), ((0.5, 1.01), False)],
)
def test_one_sided_includes_no_move(ratios: tuple[float, ...], one_sided: bool) -> None:
    summary = summarise([Pair(str(ratio), 1.0, ratio) for ratio in ratios])
    assert summary is not None
    assert summary.one_sided is one_sided


def test_a_geometric_mean_with_nothing_in_it_is_nothing() -> None:
    summary = summarise([Pair("a", 1.0, 0.0), Pair("b", 1.0, 9.0)])
    assert summary is not None
    assert (summary.geometric_mean, summary.mean, summary.minimum) == (0.0, 4.5, 0.0)


def test_how_far_a_ratio_is_from_1() -> None:
    assert [factor(ratio) for ratio in (4.0, 0.25, 1.0, 0.0)] == [4.0, 4.0, 1.0, math.inf]
