"""The table of + / o / −: each file system by each criterion, by a rule that the page states.

A criterion is a step's time, the size of the image or the memory after a mount. At each point
(value of the section's axis) and seed that all have which have the criterion at all, a file
system's value is the geometric mean over its configurations; its factor is the geometric mean over
these of its value ÷ the smallest of all. Nothing here knows a result beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ffslab.report import data
from ffslab.report.quantity import duration, significant, times
from ffslab.report.tree.data import TreeRun
from ffslab.report.tree.figures import size_text
from ffslab.report.tree.series import (
    Either,
    Section,
    Spots,
    duration_ns,
    images,
    memory_bytes,
    spots,
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
    f"{SIZE.bad:g} times or more. The factor is that to the best at the same point (files, size of "
    "partition) and seed; of several it is the geometric mean over those that all have, with its "
    "range, and of several options of one file system the geometric mean of their values. Memory "
    "below a page (4 KiB) counts as one. Steps are compared after the same steps. Only criteria "
    "that two file systems or more have; n/a: not measured, or not at a point and seed that all "
    "have."
)

Values = Mapping[str, Spots]  # by configuration or file system


@dataclass(frozen=True)
class Criterion:
    """What is rated: values by configuration, point and seed; smaller is better."""

    title: str
    measure: Measure
    values: Values
    is_size: bool = False
    word: str = ""  # of the step it is about
    topic: str = ""  # of its section

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
    value: str = ""

    @property
    def text(self) -> str:
        factor = "best" if self.high == 1 else times(self.factor)
        if times(self.low) != times(self.high):
            factor += f" ({significant(self.low)}\u2060–\u2060{significant(self.high)})"
        return f"{self.value}, {factor}" if self.value else factor


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
        label: {(float(n), ""): float(image.image_bytes) for n, image in enumerate(kept)}
        for label, kept in images(run).items()
    }
    if sizes:
        rated.append(Criterion("image size", SIZE, sizes, is_size=True))
    several = len(found) > 1
    for section in found:
        topic = section.topic if several else ""
        for place, role in section.results.items():
            samples = [sample for sample in section.samples if sample.place == place]
            for words, group in _by_history(samples):
                values = _values(group, duration_ns)
                title = f"time of {place}{words}"
                rated.append(Criterion(title, TIME, values, word=role.word, topic=topic))
        after = [s for s in section.memory if s.memory.role and s.memory.role.word == MOUNT]
        for place in dict.fromkeys(sample.place for sample in after):
            for words, taken in _by_history([s for s in after if s.place == place]):
                sizes_of = _values(taken, memory_bytes)
                title = f"memory after {place}{words}"
                rated.append(Criterion(title, MEMORY, sizes_of, is_size=True, topic=topic))
    return tuple(rated)


def _by_history(samples: Sequence[Either]) -> list[tuple[str, list[Either]]]:
    """Samples by the steps before them, with words for these; none for those that most
    configurations have.
    """
    groups: dict[tuple[str, ...], list[Either]] = {}
    for sample in samples:
        groups.setdefault(sample.history, []).append(sample)
    order = sorted(groups, key=lambda history: -len({s.label for s in groups[history]}))
    return [
        (f" (before it: {' '.join(history) or 'nothing'})" if number else "", groups[history])
        for number, history in enumerate(order)
    ]


def _values(samples: Sequence[Either], value_of: Callable[[Either], float | None]) -> Values:
    return {label: line for (_, label), line in spots(samples, value_of).items()}


def by_filesystem(run: TreeRun, criterion: Criterion) -> Criterion:
    """The same with the geometric mean over a file system's configurations wherever all
    of them have.
    """
    groups: dict[str, list[Spots]] = {}
    for label, line in criterion.values.items():
        name = data.filesystem_name(run.lines[label][data.FILESYSTEM])
        groups.setdefault(name, []).append(line)
    values = {
        name: {
            spot: _geometric([max(line[spot], criterion.measure.least) for line in lines])
            for spot in lines[0]
            if all(spot in line for line in lines)
        }
        for name, lines in groups.items()
    }
    return replace(criterion, values=values)


def rate(criterion: Criterion) -> Rated | None:
    """None unless two have the criterion; without marks where they have nothing in common."""
    lines = {name: line for name, line in criterion.values.items() if line}
    if len(lines) < 2:
        return None
    first = next(iter(lines.values()))
    common = [spot for spot in first if all(spot in line for line in lines.values())]
    if not common:
        return Rated(criterion, {}, 0)
    points = len({x for x, _ in common})
    least = criterion.measure.least
    best = {spot: max(min(line[spot] for line in lines.values()), least) for spot in common}
    marks = {}
    for name, line in lines.items():
        factors = [max(line[spot], least) / best[spot] for spot in common]
        factor = _geometric(factors)
        mean = sum(line[spot] for spot in common) / len(common)
        marks[name] = Mark(
            sign=sign_of(factor, criterion.measure),
            factor=factor,
            low=min(factors),
            high=max(factors),
            value=criterion.text(mean) if points == 1 else "",
        )
    return Rated(criterion, marks, points)


def sign_of(factor: float, measure: Measure) -> str:
    """The sign of a factor to the best."""
    factor = float(f"{factor:.3g}")  # as it is shown
    if factor <= measure.good:
        return PLUS
    return MINUS if factor >= measure.bad else MIDDLE


def _geometric(values: Sequence[float]) -> float:
    return math.exp(sum(math.log(value) for value in values) / len(values))
