"""The table of + / o / −: each file system by each criterion, by a rule that the page states.

A criterion is a step's time, the size of the image or the memory after a mount. At each point
(value of the section's axis) that all have which have the criterion at all, a file system's value
is the geometric mean over its configurations; its factor is the geometric mean over the points of
its value ÷ the smallest of all. Nothing here knows a result beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ffslab.report import data
from ffslab.report.quantity import duration, significant, times
from ffslab.report.tree.data import TreeRun
from ffslab.report.tree.figures import size_text
from ffslab.report.tree.series import (
    Lines,
    Section,
    duration_ns,
    images,
    means,
    memory_bytes,
)
from ffslab.report.tree.words import MOUNT

PLUS, MIDDLE, MINUS = "+", "o", "−"
PAGE_BYTES = 4096  # less memory than a page is no difference


@dataclass(frozen=True)
class Measure:
    """A kind of criterion: up to which factor of the best it is +, and from which on −."""

    good: float
    bad: float
    least: float  # smaller values count as this


TIME = Measure(2, 10, 1)
SIZE = Measure(1.25, 2, 1)
MEMORY = Measure(2, 10, PAGE_BYTES)

RULE = (
    f"Time and memory: {PLUS} within {TIME.good:g} times the best, {MINUS} {TIME.bad:g} times the "
    f"best or more, {MIDDLE} between. Image size: {PLUS} within {SIZE.good:g} times, {MINUS} "
    f"{SIZE.bad:g} times or more. The factor is that to the best; of several points (files, sizes "
    "of partition) it is the geometric mean of the factors at the points that all have, with its "
    "range, and of several options of one file system the geometric mean of their values. Memory "
    "below a page (4 KiB) counts as one. Only criteria that two file systems or more have; n/a: "
    "not measured, or not wholly. Where seeds are missing, means are over those that there are."
)

Values = Mapping[str, Mapping[float, float]]  # by configuration or file system, and point


@dataclass(frozen=True)
class Criterion:
    """What is rated: values by configuration and point, smaller is better."""

    title: str
    measure: Measure
    values: Values
    is_size: bool = False
    word: str = ""  # of the step it is about

    def text(self, value: float) -> str:
        return size_text(value) if self.is_size else duration(round(value))


@dataclass(frozen=True)
class Mark:
    """One cell: the sign, the factor to the best with its range, and the value if there is but
    one point.
    """

    sign: str
    factor: float
    low: float
    high: float
    points: int
    value: str = ""

    @property
    def text(self) -> str:
        factor = "best" if self.high == 1 else times(self.factor)
        if self.value:
            return f"{self.value}, {factor}"
        if times(self.low) == times(self.high):
            return factor
        return f"{factor} ({significant(self.low)}–{significant(self.high)})"


@dataclass(frozen=True)
class Rated:
    """A criterion with a mark for each that has it, at how many points."""

    criterion: Criterion
    marks: Mapping[str, Mark]
    points: int


def criteria(run: TreeRun, found: Sequence[Section]) -> tuple[Criterion, ...]:
    """Everything that can be rated, in the order of the page."""
    rated = []
    sizes = {
        label: {float(number): float(image.image_bytes) for number, image in enumerate(kept)}
        for label, kept in images(run).items()
    }
    if sizes:
        rated.append(Criterion("image size", SIZE, sizes, is_size=True))
    several = len(found) > 1
    for section in found:
        lead = f"{section.title}: " if several else ""
        lines = means(section.samples, duration_ns)
        for place, role in section.results.items():
            values = _values_at(lines, place)
            rated.append(Criterion(f"{lead}time of {place}", TIME, values, word=role.word))
        after = [s for s in section.memory if s.memory.role and s.memory.role.word == MOUNT]
        memory = means(after, memory_bytes)
        for place in dict.fromkeys(sample.place for sample in after):
            title = f"{lead}memory after {place}"
            rated.append(Criterion(title, MEMORY, _values_at(memory, place), is_size=True))
    return tuple(rated)


def _values_at(lines: Lines, place: str) -> Values:
    return {
        label: {x: mean.mean for x, mean in line.items()}
        for (where, label), line in lines.items()
        if where == place
    }


def by_filesystem(run: TreeRun, criterion: Criterion) -> Criterion:
    """The same with the geometric mean over a file system's configurations at each point that all
    of them have.
    """
    groups: dict[str, list[Mapping[float, float]]] = {}
    for label, line in criterion.values.items():
        name = data.filesystem_name(run.lines[label][data.FILESYSTEM])
        groups.setdefault(name, []).append(line)
    values = {
        name: {
            x: _geometric([max(line[x], criterion.measure.least) for line in lines])
            for x in lines[0]
            if all(x in line for line in lines)
        }
        for name, lines in groups.items()
    }
    return replace(criterion, values=values)


def rate(criterion: Criterion) -> Rated | None:
    """None unless two have the criterion at a common point."""
    lines = {name: line for name, line in criterion.values.items() if line}
    if len(lines) < 2:
        return None
    points = [x for x in next(iter(lines.values())) if all(x in line for line in lines.values())]
    if not points:
        return None
    least = criterion.measure.least
    best = {x: max(min(line[x] for line in lines.values()), least) for x in points}
    marks = {}
    for name, line in lines.items():
        factors = [max(line[x], least) / best[x] for x in points]
        factor = _geometric(factors)
        value = criterion.text(line[points[0]]) if len(points) == 1 else ""
        sign = sign_of(factor, criterion.measure)
        marks[name] = Mark(sign, factor, min(factors), max(factors), len(points), value)
    return Rated(criterion, marks, len(points))


def sign_of(factor: float, measure: Measure) -> str:
    """The sign of a factor to the best."""
    factor = float(f"{factor:.3g}")  # as it is shown
    if factor <= measure.good:
        return PLUS
    return MINUS if factor >= measure.bad else MIDDLE


def _geometric(values: Sequence[float]) -> float:
    return math.exp(sum(math.log(value) for value in values) / len(values))
