"""Which is first where, and where lines cross, on lines whose answer is known."""

from __future__ import annotations

import pytest

from ffslab.compare.standing import (
    Crossing,
    Extent,
    Reign,
    extent,
    ratios_to_first,
    standing,
)

FALLING = {1.0: 8.0, 2.0: 4.0, 4.0: 2.0, 8.0: 1.0}
LEVEL = dict.fromkeys(FALLING, 3.0)


def test_the_first_changes_where_lines_cross() -> None:
    found = standing({"falling": FALLING, "level": LEVEL})
    assert found is not None
    assert found.reigns == (Reign(("level",), (1.0, 2.0)), Reign(("falling",), (4.0, 8.0)))
    assert found.crossings == (Crossing("level", "falling", 2.0, 4.0),)
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
    assert extent([]) is None
    assert extent([(1.0, 0.0), (2.0, -3.0), (4.0, 5.0)]) == Extent(5.0, 5.0, 4.0, 4.0, 1)


def test_an_extents_figures() -> None:
    found = Extent(0.25, 3.0, 4.0, 8.0, 3)
    assert found.distance == pytest.approx(1.386294, abs=1e-6)  # ln 4, since 1 ÷ 0.25 > 3
    assert Extent(1 / 3, 4.0, 8.0, 4.0, 3).distance == found.distance


def test_ratios_are_to_the_smallest_at_points_that_two_have() -> None:
    lines = {"a": {4.0: 6.0, 1.0: 5.0}, "b": {1.0: 4.0, 2.0: 7.0}, "c": {1.0: 10.0, 4.0: 3.0}}
    found = ratios_to_first(lines)
    assert found == {"a": {1.0: 1.25, 4.0: 2.0}, "b": {1.0: 1.0}, "c": {1.0: 2.5, 4.0: 1.0}}
    assert list(found["a"]) == [1.0, 4.0]
    # Nothing is smaller than 0: it counts as 10⁻⁹, so that both have a ratio.
    assert ratios_to_first({"a": {1.0: 0.0}, "b": {1.0: 2.0}, "c": {1.0: 0.0}}) == {
        "a": {1.0: 1.0}, "b": {1.0: pytest.approx(2e9)}, "c": {1.0: 1.0},
    }  # fmt: skip


def test_the_order_is_by_firsts_and_then_by_the_mean_factor() -> None:
    """a is first twice, b and c once, and c's other factors are smaller than b's."""
    lines = {
        "d": {1.0: 90.0, 2.0: 90.0, 4.0: 90.0, 8.0: 90.0},
        "b": {1.0: 10.0, 2.0: 80.0, 4.0: 80.0, 8.0: 80.0},
        "c": {1.0: 20.0, 2.0: 10.0, 4.0: 20.0, 8.0: 20.0},
        "a": {1.0: 70.0, 2.0: 70.0, 4.0: 10.0, 8.0: 10.0},
    }
    found = standing(lines)
    assert found is not None
    assert found.order == ("a", "c", "b", "d")
    assert found.points == (1.0, 2.0, 4.0, 8.0)
    assert found.leaders == ("b", "c", "a")
    assert found.behind["c"] == Extent(1.0, 2.0, 2.0, 1.0, 4)
    assert found.reigns == (Reign(("b",), (1.0,)), Reign(("c",), (2.0,)), Reign(("a",), (4.0, 8.0)))
    # Each pair in the order above: a is behind c until 2 and behind b at 1 only.
    assert found.crossings == (
        Crossing("b", "a", 1.0, 2.0),
        Crossing("b", "c", 1.0, 2.0),
        Crossing("c", "a", 2.0, 4.0),
    )


@pytest.mark.parametrize(
    ("value", "firsts"),
    # Within 2 %, the bound among it, two are alike; so near there is no crossing either.
    [(102.0, ("level", "other")), (102.1, ("level",))],
)
def test_alike_is_within_two_percent(value: float, firsts: tuple[str, ...]) -> None:
    level = {1.0: 100.0, 2.0: 100.0}
    found = standing({"level": level, "other": {1.0: value, 2.0: 50.0}})
    assert found is not None
    (label,) = set(firsts) & {"other"} or {""}
    assert found.reigns[0].labels == (("other",) if label else ("level",))
    assert found.crossings == (() if label else (Crossing("level", "other", 1.0, 2.0),))
    # The other way round: 100 ÷ 102 is alike too.
    found = standing({"other": {1.0: value, 2.0: 50.0}, "level": level})
    assert found is not None
    assert bool(found.crossings) is not bool(label)


def test_a_reign_keeps_those_who_are_first_at_all_of_its_points() -> None:
    lines = {
        "a": {1.0: 10.0, 2.0: 10.0, 4.0: 30.0},
        "b": {1.0: 10.0, 2.0: 30.0, 4.0: 30.0},
        "c": {1.0: 30.0, 2.0: 10.0, 4.0: 10.0},
    }
    found = standing(lines)
    assert found is not None
    assert found.reigns == (Reign(("a",), (1.0, 2.0)), Reign(("c",), (4.0,)))


def test_two_lines_of_nothing_are_alike() -> None:
    found = standing({"a": {1.0: 0.0, 2.0: 5.0}, "b": {1.0: 0.0, 2.0: 1.0}})
    assert found is not None
    assert found.reigns == (Reign(("b",), (1.0, 2.0)),)
    assert found.crossings == ()


def test_alike_counts_as_first_and_few_points_as_much_as_many() -> None:
    # b is alike a at 1, which is worth more than that c is nearer on the whole.
    lines = {
        "c": {1.0: 300.0, 2.0: 150.0},
        "b": {1.0: 102.0, 2.0: 1000.0},
        "a": {1.0: 100.0, 2.0: 100.0},
    }
    found = standing(lines)
    assert found is not None and found.order == ("a", "b", "c")
    # Twice the first at two points is nearer than thrice at one.
    found = standing({"c": {1.0: 3.0}, "b": {1.0: 2.0, 2.0: 2.0}, "a": {1.0: 1.0, 2.0: 1.0}})
    assert found is not None and found.order == ("a", "b", "c")


def test_crossings_are_in_the_order_of_the_axis() -> None:
    """Points may be given in any order; those of c lie around those of b."""
    lines = {
        "a": {8.0: 10.0, 4.0: 10.0, 2.0: 10.0, 1.0: 10.0},
        "b": {4.0: 5.0, 2.0: 20.0},
        "c": {8.0: 5.0, 1.0: 20.0},
        "d": {2.0: 4.0, 1.0: 30.0},
    }
    found = standing(lines)
    assert found is not None
    assert found.crossings == (
        Crossing("a", "d", 1.0, 2.0),
        Crossing("a", "c", 1.0, 8.0),
        Crossing("a", "b", 2.0, 4.0),
    )
    # 100 ÷ 102 is within 2 % as well: nothing is decided at 1.
    lines = {"a": dict.fromkeys((1.0, 2.0, 4.0), 100.0), "b": {1.0: 102.0, 2.0: 50.0, 4.0: 300.0}}
    found = standing(lines)
    assert found is not None and found.order == ("a", "b")
    assert found.crossings == (Crossing("b", "a", 2.0, 4.0),)
