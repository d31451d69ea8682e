"""The solver: systems worked out by hand, noise, unknowns that cannot be told apart."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from ffslab.calibrate.solve import Equation, Found, Unknown, solve


def equations(
    rows: Sequence[tuple[float, Mapping[str, float]]], modelled: Sequence[float] = ()
) -> list[Equation]:
    """Equations at the unknowns' origin: what is modelled there is 0 unless it is given."""
    at = [*modelled] or [0.0] * len(rows)
    return [
        Equation(f"e{number}", measured, at[number], slopes)
        for number, (measured, slopes) in enumerate(rows)
    ]


def unknowns(*names: str, around: float = 0.0) -> list[Unknown]:
    return [Unknown(name, around, 1.0) for name in names]


def values(found: Mapping[str, Found]) -> dict[str, float]:
    return {name: one.value for name, one in found.items()}


def test_two_unknowns_of_two_equations() -> None:
    """2a + 3b = 13 and 4a + b = 11 are met by a = 2, b = 3; nothing is left over for an error."""
    found = solve(equations([(13, {"a": 2, "b": 3}), (11, {"a": 4, "b": 1})]), unknowns("a", "b"))
    assert values(found) == pytest.approx({"a": 2, "b": 3})
    assert [one.error for one in found.values()] == [None, None]
    assert not any(one.held for one in found.values())


def test_it_begins_anywhere() -> None:
    """At a = b = 10 the same sums are 50 and 50; what they lack leads to the same place."""
    rows = [(13.0, {"a": 2.0, "b": 3.0}), (11.0, {"a": 4.0, "b": 1.0})]
    found = solve(equations(rows, [50, 50]), unknowns("a", "b", around=10))
    assert values(found) == pytest.approx({"a": 2, "b": 3})


def test_what_is_left_over_is_relative_and_gives_the_error() -> None:
    """x = 100 and x = 102, each to be met relatively: with weights 1/100 and 1/102 x is
    (100/100² + 102/102²) ÷ (1/100² + 1/102²) = 100.980. It misses by -0.98 % and 1.00 %, together
    1.400 %, of one equation to spare; by sqrt(1/100² + 1/102²) = 0.0140 that is 1.000.
    """
    found = solve(equations([(100, {"x": 1}), (102, {"x": 1})]), unknowns("x"))["x"]
    assert found.value == pytest.approx(100.980, abs=0.001)
    assert found.error == pytest.approx(1.000, abs=0.001)


def test_noise_stays_within_a_few_errors() -> None:
    """A percent of noise on forty sums of three; each is found within four of its own errors."""
    draw = random.Random(7)
    truth = {"a": 20.0, "b": 7.0, "c": 3.0}
    rows = []
    for _ in range(40):
        slopes = {name: draw.uniform(0, 100) for name in truth}
        exact = sum(slopes[name] * truth[name] for name in truth)
        rows.append((exact * draw.gauss(1, 0.01), slopes))
    found = solve(equations(rows), unknowns(*truth))
    for name, value in truth.items():
        error = found[name].error
        assert error is not None and 0 < error < 0.05 * value
        assert abs(found[name].value - value) < 4 * error, name


def test_two_that_always_come_together_are_told() -> None:
    """b is half of a in every equation: the later is held where it was, the earlier takes it up.

    a + b/2 of 10 and of 20, with b at 4: a = 8.
    """
    rows = [(10.0, {"a": 1.0, "b": 0.5}), (20.0, {"a": 2.0, "b": 1.0})]
    both = [Unknown("a", 1.0, 1.0), Unknown("b", 4.0, 4.0)]
    found = solve(equations(rows, [3, 6]), both)
    assert found["b"] == Found(4.0, True, None, ("a",))
    assert found["a"].value == pytest.approx(8) and not found["a"].held
    turned = solve(equations(rows, [3, 6]), both[::-1])
    assert turned["a"].held and turned["a"].mixed_with == ("b",)
    assert turned["b"].value == pytest.approx(18)


def test_a_sum_of_two_others_names_both() -> None:
    rows = [(2.0, {"a": 1.0, "c": 1.0}), (3.0, {"b": 1.0, "c": 1.0})]
    found = solve(equations(rows), unknowns("a", "b", "c"))
    assert found["c"].held and sorted(found["c"].mixed_with) == ["a", "b"]


def test_nearly_alike_is_held_and_clearly_apart_is_not() -> None:
    """The part of b beside a is 0.1 of b in the first, 0.5 in the second."""
    near = [(1.0, {"a": 1.0, "b": 1.0}), (1.0, {"b": 0.1})]
    apart = [(1.0, {"a": 1.0, "b": 1.0}), (1.0, {"b": 0.6})]
    assert solve(equations(near), unknowns("a", "b"))["b"].held
    assert not solve(equations(apart), unknowns("a", "b"))["b"].held


def test_what_no_equation_has_a_hundredth_of_is_held() -> None:
    rows = [(100.0, {"a": 1.0, "b": 0.5}), (90.0, {"a": 1.0, "b": 0.0})]
    found = solve(equations(rows), [Unknown("a", 50, 50), Unknown("b", 1.0, 1.0)])
    assert found["b"] == Found(1.0, True, None, ())


def test_nothing_is_negative() -> None:
    """a + b = 1 and a = 2 are met by b = -1. With b = 0, a is the relative mean of 1 and 2:
    (1 + 1/2) ÷ (1 + 1/4) = 1.2.
    """
    rows = [(1.0, {"a": 1.0, "b": 1.0}), (2.0, {"a": 1.0})]
    found = solve(equations(rows), unknowns("a", "b"))
    assert found["b"].value == 0 and found["a"].value == pytest.approx(1.2)


def test_one_that_was_put_to_zero_may_come_back() -> None:
    """Many systems with a solution that has no negative part are met, whoever enters first."""
    draw = random.Random(3)
    for _ in range(50):
        truth = {name: draw.choice([0.0, draw.uniform(1, 9)]) for name in "abcd"}
        rows = []
        for row in range(7):
            slopes = {name: draw.uniform(0, 1) for name in truth}
            slopes["abcd"[row % 4]] += 5  # so that they are well apart
            rows.append((1 + sum(slopes[name] * truth[name] for name in truth), slopes))
        found = solve(equations(rows, [1] * 7), unknowns(*truth))
        assert values(found) == pytest.approx(truth, abs=1e-6)


def test_a_weight_says_how_much_an_equation_counts() -> None:
    """x = 100 with a weight of 2 and x = 110 with 1: (2²/100 + 1/110) ÷ (2²/100² + 1/110²)."""
    rows = equations([(100, {"x": 1}), (110, {"x": 1})])
    found = solve([replace(rows[0], weight=2.0), rows[1]], unknowns("x"))["x"]
    assert found.value == pytest.approx((0.04 + 1 / 110) / (0.0004 + 1 / 12100))
