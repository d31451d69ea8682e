"""A system of equations with few unknowns, none of them negative: which can be told apart, and what
they are. Pure.

An equation says that a measured time is the sum of some unknowns, each times a known slope. The
columns of the unknowns are taken in an order of preference. One whose column is, but for a small
part, a sum of columns taken before is *held*: it stays where it is, and what it is mixed with is
told. Of the others the smallest relative error is sought, in the sense of least squares
(Lawson and Hanson, "Solving Least Squares Problems", 1974, chapter 23, for unknowns that are not
negative). The standard error of each follows from the equations that are left over.

Limits: dense, a few dozens of unknowns; errors are taken as independent and relative.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Column = list[float]
# A column whose part beyond the others is smaller multiplies an error more than fivefold.
TOLD_APART = 0.2
LEAST_SHARE = 0.01  # of a measured time: what is less everywhere is not looked for
_MIXED = 0.1  # shares of a column below this are not worth naming
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Equation:
    """`measured` = `modelled` + sum of slope × (unknown - where it was when that was modelled).

    `weight`: how much its relative error counts.
    """

    name: str
    measured: float
    modelled: float
    slopes: Mapping[str, float]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Unknown:
    """An unknown, where it was for `modelled`, and the size of change that matters (above 0)."""

    name: str
    around: float
    scale: float


@dataclass(frozen=True, slots=True)
class Found:
    """What became of an unknown.

    `error`: its standard error; None if it was held, or if no equation is left over. `mixed_with`:
    why it was held: the others, with which it cannot be told apart; empty if its share is small in
    every equation.
    """

    value: float
    held: bool
    error: float | None = None
    mixed_with: tuple[str, ...] = ()


def solve(equations: Sequence[Equation], unknowns: Sequence[Unknown]) -> dict[str, Found]:
    """The unknowns in order of preference, which decides who is held."""
    columns = {one.name: _column(equations, one) for one in unknowns}
    free, mixed = _told_apart(columns)
    scales = {one.name: one.scale for one in unknowns}
    around = {one.name: one.around for one in unknowns}
    wanted = [
        one.weight * (one.measured - one.modelled) / one.measured
        + sum(columns[name][row] * around[name] / scales[name] for name in free)
        for row, one in enumerate(equations)
    ]
    solution = not_negative([columns[name] for name in free], wanted)
    errors = _errors([columns[name] for name in free], wanted, solution)
    found = {
        name: Found(value * scales[name], False, None if error is None else error * scales[name])
        for name, value, error in zip(free, solution, errors, strict=True)
    }
    held = {name: Found(around[name], True, None, names) for name, names in mixed.items()}
    return {one.name: {**found, **held}[one.name] for one in unknowns}


def _column(equations: Sequence[Equation], unknown: Unknown) -> Column:
    """What a change of the unknown by its scale is in each equation, relative to what it says."""
    name, scale = unknown.name, unknown.scale
    return [one.weight * one.slopes.get(name, 0.0) * scale / one.measured for one in equations]


def _told_apart(columns: Mapping[str, Column]) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """The names whose columns stand for themselves, and of the others with what they are mixed."""
    free: list[str] = []
    mixed: dict[str, tuple[str, ...]] = {}
    for name, column in columns.items():
        size, largest = _norm(column), max(map(abs, column), default=0.0)
        if largest < LEAST_SHARE:
            mixed[name] = ()
            continue
        shares = _least([columns[other] for other in free], column)
        rest = _rest([columns[other] for other in free], column, shares)
        if _norm(rest) >= TOLD_APART * size:
            free.append(name)
            continue
        weights = {
            other: abs(share) * _norm(columns[other])
            for other, share in zip(free, shares, strict=True)
        }
        # Sorted by their part in it.
        named = sorted(weights, key=lambda other: -weights[other])
        mixed[name] = tuple(other for other in named if weights[other] > _MIXED * size)
    return free, mixed


def not_negative(columns: Sequence[Column], wanted: Sequence[float]) -> list[float]:
    """The least-squares solution of `wanted` = sum of columns × solution; nothing is negative."""
    passive: list[int] = []
    solution = [0.0] * len(columns)
    for _ in range(3 * len(columns) + 1):
        rest = _rest(columns, wanted, solution)
        gains = {
            at: _dot(columns[at], rest) / max(_norm(columns[at]), _TINY)
            for at in range(len(columns))
            if at not in passive
        }
        best = max(gains, key=lambda at: gains[at], default=None)
        if best is None or gains[best] <= _TINY * max(_norm(wanted), 1.0):
            break
        passive.append(best)
        solution = _feasible(columns, wanted, passive, solution)
    return solution


def _feasible(
    columns: Sequence[Column], wanted: Sequence[float], passive: list[int], before: list[float]
) -> list[float]:
    """The solution with `passive` unknowns; those that would be negative leave it, one by one."""
    while True:
        found = _least([columns[at] for at in passive], wanted)
        trial = dict(zip(passive, found, strict=True))
        negative = [at for at in passive if trial[at] <= 0]
        if not negative:
            return [trial.get(at, 0.0) for at in range(len(columns))]
        steps = [before[at] / (before[at] - trial[at]) for at in negative if before[at] > 0]
        step = min(steps, default=0.0)
        before = [
            value + step * (trial[at] - value) if at in trial else 0.0
            for at, value in enumerate(before)
        ]
        for at in [at for at in negative if before[at] <= _TINY]:
            passive.remove(at)
            before[at] = 0.0


def _errors(
    columns: Sequence[Column], wanted: Sequence[float], solution: Sequence[float]
) -> list[float | None]:
    """Standard errors, from the size of what remains; None with no equation to spare."""
    spare = len(wanted) - len(columns)
    if spare <= 0 or not columns:
        return [None] * len(columns)
    variance = _norm(_rest(columns, wanted, solution)) ** 2 / spare
    errors: list[float | None] = []
    for at, column in enumerate(columns):
        others = [other for number, other in enumerate(columns) if number != at]
        alone = _norm(_rest(others, column, _least(others, column)))
        errors.append(math.sqrt(variance) / alone)
    return errors


def _least(columns: Sequence[Column], wanted: Sequence[float]) -> list[float]:
    """Least squares of independent columns, by their QR decomposition (modified Gram-Schmidt)."""
    basis: list[Column] = []
    upper: list[list[float]] = []  # of each column its parts along those before, and its own
    for column in columns:
        rest, parts = list(column), []
        for direction in basis:
            part = _dot(direction, rest)
            rest = [value - part * of for value, of in zip(rest, direction, strict=True)]
            parts.append(part)
        size = _norm(rest)
        basis.append([value / size for value in rest])
        upper.append([*parts, size])
    rest, right = list(wanted), []
    for direction in basis:
        part = _dot(direction, rest)
        rest = [value - part * of for value, of in zip(rest, direction, strict=True)]
        right.append(part)
    solution = [0.0] * len(columns)
    for at in reversed(range(len(columns))):
        later = sum(upper[other][at] * solution[other] for other in range(at + 1, len(columns)))
        solution[at] = (right[at] - later) / upper[at][at]
    return solution


def _rest(columns: Sequence[Column], wanted: Sequence[float], by: Sequence[float]) -> Column:
    return [
        value - sum(column[row] * factor for column, factor in zip(columns, by, strict=True))
        for row, value in enumerate(wanted)
    ]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def _norm(values: Sequence[float]) -> float:
    return math.sqrt(_dot(values, values))
