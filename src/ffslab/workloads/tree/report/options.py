"""What an option of a file system changes: its compression, summaries, the kind of its volume.

Two configurations of one file system that differ in one axis only are a pair: that with the axis's
base (no compression, else the value that the study names first) and another. The sizes of their
images and the times of their steps are related at the same point and seed; of several points the
range is given. A table has every pair, a sentence the extremes of each option.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ffslab.compare.ratios import SAME
from ffslab.compare.standing import Extent
from ffslab.compare.words import ratio_span
from ffslab.report import data
from ffslab.report.elements import Table
from ffslab.report.standings import extent_text
from ffslab.report.topics import Sentence
from ffslab.results.schema import DURATION, Metric
from ffslab.workloads.tree.metrics import IMAGE_METRICS
from ffslab.workloads.tree.report.data import TreeRun
from ffslab.workloads.tree.report.series import (
    Section,
    Spots,
    duration_ns,
    extent_of,
    images,
    spots,
)

IMAGE = "image size"
_MOST = 4  # so many changed steps are named in a sentence

Axes = Mapping[str, str]


@dataclass(frozen=True)
class Pair:
    """A value of an option against its base, all else equal: ratios by what was measured.

    `beside` is what else tells the two configurations from others of the file system.
    """

    value: str
    beside: str
    changes: Mapping[str, Extent]


@dataclass(frozen=True)
class Option:
    """An axis of which a file system has several values, in pairs with the base."""

    filesystem: str
    axis: str
    base: str
    pairs: tuple[Pair, ...]

    @property
    def name(self) -> str:
        return f"{data.filesystem_name(self.filesystem)}, {data.axis_name(self.axis)}"


def options_of(run: TreeRun, section: Section) -> tuple[Option, ...]:
    """Every option that a file system of the section has several values of."""
    lines = {label: run.lines[label] for label in section.labels}
    values = _values(run, section)
    options = []
    for name in dict.fromkeys(axes[data.FILESYSTEM] for axes in lines.values()):
        own = {label: axes for label, axes in lines.items() if axes[data.FILESYSTEM] == name}
        for axis in dict.fromkeys(axis for axes in own.values() for axis in axes):
            option = None if axis == data.FILESYSTEM else _option(name, axis, own, values)
            options += [option] if option else []
    return tuple(options)


def _option(
    name: str, axis: str, own: Mapping[str, Axes], values: Mapping[str, Mapping[str, Spots]]
) -> Option | None:
    known = list(dict.fromkeys(axes[axis] for axes in own.values() if axes.get(axis)))
    if len(known) < 2:
        return None
    base = data.NO_COMPRESSION if data.NO_COMPRESSION in known else known[0]

    def beside(axes: Axes) -> str:
        return data.group_label(axes, [k for k in axes if k not in (axis, data.FILESYSTEM)])

    bases = {beside(axes): label for label, axes in own.items() if axes.get(axis) == base}
    pairs = []
    for label, axes in own.items():
        before = bases.get(beside(axes))
        if before is None or axes.get(axis) in (base, None, ""):
            continue
        related = {
            title: extent
            for title, lines in values.items()
            if (extent := extent_of(lines.get(before, {}), lines.get(label, {})))
        }
        pairs.append(Pair(axes[axis], beside(axes), related))
    return Option(name, axis, base, tuple(pairs)) if pairs else None


def _values(run: TreeRun, section: Section) -> dict[str, dict[str, Spots]]:
    """What is compared: by title and configuration. The image first, then the steps in order."""
    by_role: dict[str, dict[str, Spots]] = {
        IMAGE: {
            label: {(float(n), ""): float(image.image_bytes) for n, image in enumerate(kept)}
            for label, kept in images(run).items()
        }
    }
    lines = spots((s for s in section.samples if s.role.is_result), duration_ns)
    for role_name in section.results:
        by_role[role_name] = {
            label: line for (where, label), line in lines.items() if where == role_name
        }
    return by_role


def sentences(options: Sequence[Option]) -> Iterable[Sentence]:
    """A sentence for each option: its image, and the steps that it changes most."""
    for option in options:
        titles = dict.fromkeys(title for pair in option.pairs for title in pair.changes)
        reach = {title: _reach(option, title) for title in titles if title != IMAGE}
        moved = sorted(
            (title for title in reach if not _is_alike(option, title)), key=lambda t: -reach[t]
        )[:_MOST]
        named = [title for title in titles if title == IMAGE or title in moved]
        parts = [f"{title} {_between(option, title)}" for title in named]
        text = "; ".join(parts) if parts else f"all steps within {100 * SAME:.0f} % of those"
        against = f"against {_text(option.axis, option.base)}"
        yield Sentence(f"**{option.name}** {against}: {text}.", max(reach.values(), default=0))


def _reach(option: Option, title: str) -> float:
    """How far a title's ratio that is furthest from 1 is from it."""
    return max(pair.changes[title].distance for pair in option.pairs if title in pair.changes)


def _is_alike(option: Option, title: str) -> bool:
    return all(pair.changes[title].is_alike for pair in option.pairs if title in pair.changes)


def _between(option: Option, title: str) -> str:
    """The smallest and the largest ratio with the values that they are of."""
    known = [pair for pair in option.pairs if title in pair.changes]
    low = min(known, key=lambda pair: pair.changes[title].low)
    high = max(known, key=lambda pair: pair.changes[title].high)
    several = len({pair.beside for pair in option.pairs}) > 1
    places = (f" ({pair.value}{f', {pair.beside}' * several})" for pair in (low, high))
    ends = low.changes[title].low, high.changes[title].high
    return f"**{ratio_span(_metric(title), *ends, *places)}**"


def _metric(title: str) -> Metric:
    """What says in which words it changes."""
    return IMAGE_METRICS[0] if title == IMAGE else DURATION


def _text(axis: str, value: str) -> str:
    if axis == data.COMPRESSION:
        return data.compression_text(value)
    return f"{data.axis_name(axis)} {value}"


def table(options: Sequence[Option]) -> Table | None:
    """Every pair: a row each, below its option."""
    titles = tuple(
        dict.fromkeys(t for option in options for pair in option.pairs for t in pair.changes)
    )
    rows: list[tuple[str, ...]] = []
    headings = {}
    for option in options:
        headings[len(rows)] = f"{option.name}: against {_text(option.axis, option.base)}"
        for pair in option.pairs:
            label = data.BETWEEN.join(word for word in (pair.value, pair.beside) if word)
            cells = [
                extent_text(change, metric=_metric(title))
                if (change := pair.changes.get(title))
                else "–"
                for title in titles
            ]
            rows.append((label, *cells))
    if not rows:
        return None
    title = "What each option changes: image size and times against those with the base value"
    return Table(title, ("option", *titles), (), tuple(rows), headings=headings, told=True)
