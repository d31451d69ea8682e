"""Ratios between scenarios: exact for one, described (never tested) for several."""

from __future__ import annotations

import pytest

from ffslab.stats.compare import Pair, compare, summarise


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


def test_result_sets_are_compared_case_by_case() -> None:
    before = {"x": {"t": 2.0, "n": 1.0}, "y": {"t": 4.0}, "gone": {"t": 1.0}}
    after = {"y": {"t": 4.0}, "x": {"t": 3.0}, "new": {"t": 1.0}}
    result = compare(before, after, ["t", "n", "unknown"])
    assert set(result.ratios) == {"t"}
    assert [pair.key for pair in result.ratios["t"].pairs] == ["x", "y"]
    assert (result.ratios["t"].minimum, result.ratios["t"].maximum) == (1.0, 1.5)
    assert result.only_before == ("gone",)
    assert result.only_after == ("new",)
