"""How far a model of time is from a real clock: a run of the lab beside one of a board. Pure.

Where exactly one side of a comparison has a real clock, neither is the better one. What is asked is
how far the lab is off, per phase and metric: its value divided by the median of the board's
repeats, less 1. An error that is smaller than half of the repeats' own range tells nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ffslab.compare.cases import Side, split_perturbed
from ffslab.compare.engine import Comparison
from ffslab.results.schema import Figure, Metric


@dataclass(frozen=True, slots=True)
class ModelError:
    """One figure of a case. `board` is the median of `repeats` from `low` to `high`."""

    case: str
    figure: Figure
    lab: float
    board: float
    low: float
    high: float
    repeats: int

    @property
    def error(self) -> float:
        """How far the lab is off, relative to the board: 0.1 is 10 % more."""
        return self.lab / self.board - 1

    @property
    def spread(self) -> float:
        """The range of the repeats relative to their median."""
        return (self.high - self.low) / self.board


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """A metric over all cases and places: the median of the errors' sizes, and the worst one."""

    metric: Metric
    count: int
    median: float
    worst: ModelError


def model_errors(comparison: Comparison) -> tuple[ModelError, ...]:
    """The errors of all figures that both sides have and the board has some of, in their order.

    Empty unless one side, and one only, has a real clock.
    """
    sides = (comparison.base, comparison.new)
    if sum(side.has_real_clock for side in sides) != 1:
        return ()
    board_is_new = comparison.new.has_real_clock
    ranges = _Ranges(comparison.new if board_is_new else comparison.base)
    errors = []
    for case in comparison.cases:
        ids = [pair[board_is_new] for pair in case.ids]
        for row in case.rows:
            if row.base is None or row.new is None:
                continue
            lab, board = (row.base, row.new) if board_is_new else (row.new, row.base)
            if board > 0:
                low, high, repeats = ranges.of(ids, row.figure.key, board)
                errors.append(ModelError(case.label, row.figure, lab, board, low, high, repeats))
    return tuple(errors)


class _Ranges:
    """The ranges of a side's repeats."""

    def __init__(self, side: Side) -> None:
        own, aside = split_perturbed(side)
        self._specs = {case.id: case.unperturbed for case in own}
        self._repeats: dict[str, list[dict[str, float]]] = {}
        for case in aside:
            values = {key: figure.value for key, figure in case.figures.items()}
            self._repeats.setdefault(case.unperturbed, []).append(values)

    def of(self, ids: Sequence[str], key: str, value: float) -> tuple[float, float, int]:
        """Lowest, highest and number of a figure; of several seeds the widest, around their mean.

        Of a case that was not repeated it is the value itself.
        """
        low, high, repeats = value, value, 1
        for case_id in ids:
            known = self._repeats.get(self._specs.get(case_id, ""), ())
            values = [figures[key] for figures in known if key in figures]
            if values:
                middle = median(values)
                low = min(low, value + min(values) - middle)
                high = max(high, value + max(values) - middle)
                repeats = len(values)
        return low, high, repeats


def summaries(errors: Sequence[ModelError]) -> tuple[ErrorSummary, ...]:
    """One for each metric, in the order of their first figures."""
    by_metric: dict[str, list[ModelError]] = {}
    for error in errors:
        by_metric.setdefault(error.figure.metric.name, []).append(error)
    return tuple(
        ErrorSummary(
            group[0].figure.metric,
            len(group),
            median(abs(error.error) for error in group),
            max(group, key=lambda error: abs(error.error)),
        )
        for group in by_metric.values()
    )
