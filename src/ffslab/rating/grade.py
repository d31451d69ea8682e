"""From values to grades: pure.

A grade is an index into the rating's words, 0 the best. What was not measured has none, and so has
a criterion of which one rule has none: a grade from half of the rules would be another criterion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ffslab.compare.ratios import mean
from ffslab.model.rating import GRADES, CriterionFile, RatingFile, RuleFile

WORST = len(GRADES) - 1


@dataclass(frozen=True, slots=True)
class Readings:
    """What a rule found: the values of each file system, in the unit that its limits are in.

    `missing`: why a file system has none.
    """

    values: Mapping[str, Sequence[float]]
    missing: Mapping[str, str]
    unit: str = ""
    higher_is_better: bool = False


@dataclass(frozen=True, slots=True)
class Graded:
    """One rule for one file system. `limits` in the value's unit; `grade` None: not measured."""

    rule: RuleFile
    value: float | None
    grade: int | None
    limits: tuple[float, ...]
    unit: str
    higher_is_better: bool
    why: str = ""
    of: int = 0  # so many values


@dataclass(frozen=True, slots=True)
class Cell:
    """A criterion for one file system."""

    grade: int | None
    rules: tuple[Graded, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A criterion, by file system."""

    criterion: CriterionFile
    cells: Mapping[str, Cell]


def rate(
    rating: RatingFile, filesystems: Sequence[str], read: Callable[[RuleFile], Readings]
) -> tuple[Column, ...]:
    """Every criterion for every file system; `read` finds the values of a rule."""
    return tuple(_column(criterion, filesystems, read) for criterion in rating.criterion)


def _column(
    criterion: CriterionFile, filesystems: Sequence[str], read: Callable[[RuleFile], Readings]
) -> Column:
    found = [(rule, read(rule)) for rule in criterion.rule]
    cells = {}
    for name in filesystems:
        graded = tuple(graded_of(rule, readings, name) for rule, readings in found)
        cells[name] = Cell(combined([one.grade for one in graded], criterion.combine), graded)
    return Column(criterion, cells)


def graded_of(rule: RuleFile, readings: Readings, filesystem: str) -> Graded:
    """One rule for one file system."""
    higher = readings.higher_is_better
    limits = limits_of(rule, readings)
    values = readings.values.get(filesystem, ())
    if not values:
        why = readings.missing.get(filesystem, "not measured")
        return Graded(rule, None, None, limits, readings.unit, higher, why)
    value = picked(rule.of, values, higher)
    grade = grade_of(value, limits, higher)
    return Graded(rule, value, grade, limits, readings.unit, higher, of=len(values))


def picked(of: str, values: Sequence[float], higher_is_better: bool) -> float:
    """The value that stands for several; of one metric, so that worst and best have a meaning."""
    if of == "mean":
        return mean(values)
    return max(values) if (of == "best") == higher_is_better else min(values)


def limits_of(rule: RuleFile, readings: Readings) -> tuple[float, ...]:
    """The three limits in the unit of the values; of `times_best` those that the best gives."""
    if rule.limits is not None:
        return tuple(float(limit) for limit in rule.limits)
    if rule.times_best is None:
        return ()
    higher = readings.higher_is_better
    every = [picked(rule.of, found, higher) for found in readings.values.values() if found]
    if not every:
        return ()
    best = picked("best", every, higher)
    return tuple(best / factor if higher else best * factor for factor in rule.times_best)


def grade_of(value: float, limits: Sequence[float], higher_is_better: bool) -> int:
    """How many of the limits the value misses; a limit itself is met. Without limits the value is
    met (above 0) or not.
    """
    if not limits:
        return 0 if value > 0 else WORST
    met = [value >= limit if higher_is_better else value <= limit for limit in limits]
    return met.index(True) if True in met else WORST


def combined(grades: Sequence[int | None], how: str) -> int | None:
    """One grade of several: the worst, or the middle one, of an even number the worse."""
    known = sorted(grade for grade in grades if grade is not None)
    if not known or len(known) < len(grades):
        return None
    return known[-1] if how == "worst" else known[len(known) // 2]
