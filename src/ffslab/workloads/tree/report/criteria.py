"""The table of + / o / −: each configuration by each criterion, by a rule that the page states.

A criterion is a step's time, the size of the image or the memory after a mount. At each point
(value of the section's axis) a configuration's value, the mean over the seeds that all have there,
is divided by the smallest at that point; `ffslab.rating.factors` has the signs. Nothing here knows
a result beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ffslab.compare.standing import Extent, extent, ratios_to_first
from ffslab.rating.factors import (
    MIDDLE,
    MINUS,
    PLUS,
    Measure,
    Values,
    joined,
    means_of,
    signs_of,
)
from ffslab.report import data
from ffslab.report.axes import Axis
from ffslab.report.quantity import duration
from ffslab.report.standings import TO, factors_text
from ffslab.workloads.tree.report.data import TreeRun
from ffslab.workloads.tree.report.figures import size_text
from ffslab.workloads.tree.report.series import (
    Either,
    Section,
    duration_ns,
    images,
    memory_bytes,
    spots,
)
from ffslab.workloads.tree.report.words import MOUNT

PAGE_BYTES = 4096  # less memory than a page is no difference
TIME = Measure(2, 10, 1)
SIZE = Measure(1.25, 2, 1)
MEMORY = Measure(2, 10, PAGE_BYTES)

RULE = (
    f"Time and memory: {PLUS} within {TIME.good:g} times the best, {MINUS} {TIME.bad:g} times the "
    f"best or more, {MIDDLE} between. Image size: {PLUS} within {SIZE.good:g} times, {MINUS} "
    f"{SIZE.bad:g} times or more. The factor is that to the best at the same point (files, size of "
    "partition); of several points, and of several options of one file system, the range is given, "
    "with a sign for either end where they differ. Memory below a page (4 KiB) counts as one. "
    "Steps are compared after the same steps, at the seeds that all have. Only criteria that two "
    "file systems or more have; n/a: not measured."
)


@dataclass(frozen=True)
class Criterion:
    """What is rated: values by configuration, point and seed; smaller is better."""

    title: str
    measure: Measure
    values: Values
    is_size: bool = False
    word: str = ""  # of the step it is about
    topic: str = ""  # of its section
    axis: Axis | None = None  # what its points are on

    def text(self, value: float) -> str:
        return size_text(value) if self.is_size else duration(round(value))


@dataclass(frozen=True)
class Mark:
    """One cell: the signs of the smallest and the largest factor to the best, these factors, and
    the smallest and the largest value if there is but one point.
    """

    sign: str
    factors: Extent
    values: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        factor = factors_text(self.factors)
        shown = "best" if factor == "×1.00" else factor
        return f"{TO.join(self.values)}, {shown}" if self.values else shown


@dataclass(frozen=True)
class Rated:
    """A criterion with a mark for each that has it, at how many points."""

    criterion: Criterion
    marks: Mapping[str, Mark]
    points: int


def criteria(run: TreeRun, all_sections: Sequence[Section]) -> tuple[Criterion, ...]:
    """Everything that can be rated, in the order of the page."""
    rated = []
    sizes = {
        label: {(float(n), ""): float(image.image_bytes) for n, image in enumerate(kept)}
        for label, kept in images(run).items()
    }
    if sizes:
        rated.append(Criterion("image size", SIZE, sizes, is_size=True))
    several = len(all_sections) > 1
    for section in all_sections:
        topic = section.topic if several else ""
        for role_name, role in section.results.items():
            samples = [sample for sample in section.samples if sample.place == role_name]
            for words, group in _by_history(samples):
                values = _values(group, duration_ns)
                title = f"time of {role_name}{words}"
                rated.append(Criterion(title, TIME, values, False, role.word, topic, section.axis))
        after = [s for s in section.memory if s.memory.role and s.memory.role.word == MOUNT]
        for role_name in dict.fromkeys(sample.place for sample in after):
            for words, taken in _by_history([s for s in after if s.place == role_name]):
                sizes_of = _values(taken, memory_bytes)
                title = f"memory after {role_name}{words}"
                rated.append(Criterion(title, MEMORY, sizes_of, True, "", topic, section.axis))
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


def lines_of(criterion: Criterion) -> dict[str, dict[float, float]]:
    """Values by configuration and point: means over the seeds that all have which are there."""
    return means_of(criterion.values, criterion.measure.least)


def rate(criterion: Criterion) -> Rated | None:
    """None unless two have the criterion; without marks where they have no point in common."""
    if sum(bool(line) for line in criterion.values.values()) < 2:
        return None
    lines = lines_of(criterion)
    marks = {}
    ratios = ratios_to_first(lines)
    points = {x for line in ratios.values() for x in line}
    for label, line in ratios.items():
        factors = extent(line.items())
        if factors:
            values = [criterion.text(lines[label][x]) for x in line] if len(points) == 1 else []
            marks[label] = Mark(signs_of(factors, criterion.measure), factors, tuple(values))
    return Rated(criterion, marks, len(points))


def by_filesystem(run: TreeRun, rated: Rated) -> Rated | None:
    """The same with one mark for all configurations of a file system; None for one file system."""
    groups: dict[str, list[str]] = {}
    for label in rated.marks:
        name = data.filesystem_name(run.lines[label][data.FILESYSTEM])
        groups.setdefault(name, []).append(label)
    if len(groups) < 2:
        return None
    marks = {name: _joined(rated, labels) for name, labels in groups.items()}
    return Rated(rated.criterion, marks, rated.points)


def _joined(rated: Rated, labels: Sequence[str]) -> Mark:
    marks = sorted((rated.marks[label] for label in labels), key=lambda mark: mark.factors.low)
    factors = joined([mark.factors for mark in marks])
    last = max(marks, key=lambda mark: mark.factors.high)
    values = tuple(dict.fromkeys((*marks[0].values, *last.values)))
    return Mark(signs_of(factors, rated.criterion.measure), factors, values)
