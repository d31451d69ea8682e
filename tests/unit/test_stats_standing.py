"""Who is first where, and where lines cross, on lines whose answer is known."""

from __future__ import annotations

import pytest

from ffslab.stats.standing import Crossing, Reign, extent, ratios_to_first, standing

FALLING = {1.0: 8.0, 2.0: 4.0, 4.0: 2.0, 8.0: 1.0}
LEVEL = dict.fromkeys(FALLING, 3.0)


def test_the_first_changes_where_lines_cross() -> None:
    found = standing({"falling": FALLING, "level": LEVEL})
    assert found is not None
    assert found.reigns == (Reign(("level",), (1.0, 2.0)), Reign(("falling",), (4.0, 8.0)))
    assert found.crossings == (Crossing("level", "falling", 2.0, 4.0),)
    assert found.followers == ()
    falling, level = found.behind["falling"], found.behind["level"]
    assert (falling.low, falling.high, falling.high_at) == pytest.approx((1, 8 / 3, 1.0))
    assert (level.low, level.high, level.high_at) == pytest.approx((1, 3, 8.0))


def test_each_point_has_a_first_of_ratio_1_and_none_below() -> None:
    lines = {"a": FALLING, "b": LEVEL, "c": {1.0: 5.0, 4.0: 2.5, 8.0: 0.5}}
    ratios = ratios_to_first(lines)
    for point in FALLING:
        at = [line[point] for line in ratios.values() if point in line]
        assert min(at) == 1


def test_alike_lines_are_first_together_and_do_not_cross() -> None:
    near = {1.0: 3.03, 2.0: 2.98, 4.0: 3.01, 8.0: 2.99}
    far = dict.fromkeys(FALLING, 9.0)
    found = standing({"level": LEVEL, "near": near, "far": far})
    assert found is not None
    assert len(found.reigns) == 1
    assert set(found.reigns[0].labels) == {"level", "near"}
    assert found.crossings == ()
    assert found.followers == ("far",)


def test_a_crossing_is_told_by_the_points_at_which_the_order_is_decided() -> None:
    other = {1.0: 2.0, 2.0: 2.99, 4.0: 3.01, 8.0: 4.0}  # alike in the middle
    found = standing({"level": LEVEL, "other": other})
    assert found is not None
    assert found.crossings == (Crossing("other", "level", 1.0, 8.0),)


def test_a_line_may_lack_points_and_one_point_is_enough() -> None:
    found = standing({"level": LEVEL, "short": {2.0: 1.0}})
    assert found is not None
    assert found.points == (2.0,)
    assert found.lacking == {}
    found = standing({"level": LEVEL, "falling": FALLING, "short": {2.0: 1.0}})
    assert found is not None
    assert found.lacking == {"short": (1.0, 4.0, 8.0)}
    assert found.reigns[1] == Reign(("short",), (2.0,))
    assert standing({"level": LEVEL, "apart": {16.0: 1.0}}) is None
    assert standing({"level": LEVEL}) is None


def test_an_extent_says_where_its_ends_are() -> None:
    found = extent([(2.0, 1.5), (4.0, 0.25), (8.0, 3.0)])
    assert found is not None
    assert (found.low, found.low_at, found.high, found.high_at) == (0.25, 4.0, 3.0, 8.0)
    assert (found.inverse.low_at, found.inverse.high) == (8.0, 4.0)
    assert extent([]) is None
