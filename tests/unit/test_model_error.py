"""How far the lab is off, against the repeats of a board."""

from __future__ import annotations

from typing import Any

import pytest
from compare_support import MS, TIME, result, scaled, side
from rich.console import Console
from test_repeats import repeats

from ffslab.cli.compare_tables import print_comparison
from ffslab.compare.engine import Comparison, compare_runs
from ffslab.compare.model_error import model_errors, summaries
from ffslab.compare.tables import Choice


def lab(factor: float = 1.0) -> list[dict[str, Any]]:
    return [scaled(result(), TIME, factor)]


def beside(lab_factor: float, *board: float) -> Comparison:
    """A creation of 2 s: the lab's by a factor, the board's by one for each repeat."""
    there = side(repeats(*board), "board", "b2", real_clock=True, target="ssh")
    return compare_runs(side(lab(lab_factor)), there)


def test_the_error_is_of_the_lab_against_the_median() -> None:
    """2.1 s in the lab, and 2.0, 2.4 and 2.8 s there: 2.1 ÷ 2.4 − 1, range 0.8 s ÷ 2.4 s."""
    errors = {one.figure.key: one for one in model_errors(beside(1.05, 1.0, 1.4, 1.2))}
    found = errors[TIME]
    assert (found.lab, found.board) == (2100 * MS, 2400 * MS)
    assert found.error == pytest.approx(-0.125)
    assert (found.low, found.high, found.repeats) == (2000 * MS, 2800 * MS, 3)
    assert found.spread == pytest.approx(1 / 3)


def test_which_side_the_board_is_makes_no_difference() -> None:
    there = side(repeats(1.0, 1.2, 1.4), "board", "b2", real_clock=True, target="ssh")
    one = model_errors(compare_runs(there, side(lab(1.05))))
    assert {e.figure.key: e.error for e in one} == {
        e.figure.key: e.error for e in model_errors(beside(1.05, 1.0, 1.2, 1.4))
    }


def test_without_a_board_or_with_two_there_is_no_error_of_a_model() -> None:
    assert model_errors(compare_runs(side(lab()), side(lab(1.1), "new", "b2"))) == ()
    boards = [side(repeats(1.0, 1.1), name, "b", real_clock=True) for name in ("one", "two")]
    assert model_errors(compare_runs(*boards)) == ()


def test_metrics_are_summed_up() -> None:
    """Times of three phases: creation is off by 10 %, deletion and workload by nothing."""
    of_times = next(
        found for found in summaries(model_errors(beside(1.1, 1.0))) if found.metric.is_time
    )
    assert of_times.worst.figure.key == TIME
    assert of_times.worst.error == pytest.approx(0.1)
    assert of_times.median == 0


def test_it_is_printed_and_nothing_is_called_worse() -> None:
    console = Console(width=100, record=True)
    with console.capture() as captured:
        print_comparison(console, beside(1.05, 1.0, 1.2, 1.4), Choice())
    text = captured.get()
    assert "model error: the lab against the median of the board's repeats" in text
    line = next(
        one for one in text.splitlines() if "creation: time" in one and "%" in one and "33" in one
    )
    assert "−12.5 %" in line and "33.3 %" in line
    assert "median error" in text
    assert text.startswith("not comparable: ") and "another target" in text
    assert "worse" not in text.partition("model error")[2]
