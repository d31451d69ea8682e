"""Studies whose parts vary a setting each, as uFLIP's: response time against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ffslab.compare.words import ratio_words
from ffslab.report import data, plots
from ffslab.report.axes import Axis, axis_of
from ffslab.report.configurations import are_numbers
from ffslab.report.data import Case, Group, Run
from ffslab.report.load import open_run, part_titles
from ffslab.report.quantity import capitalized
from ffslab.report.sections.section import Chart, Section
from ffslab.workloads.micro.metrics import RESPONSE

_PART = "part"
# What an axis's values are compared with, where that is not the smallest.
_BASES: Mapping[str, float] = {"workload.increment": 1.0}


def part_sections(run: Run, names: Mapping[str, str], prefix: str) -> Iterator[Section]:
    """A section for each part with an axis of its own; none if the parts have the same ones."""
    parts: dict[str, list[Case]] = {}
    for case in run.passed:
        parts.setdefault(case.axes.get(_PART, ""), []).append(case)
    axes = {name: _axis(cases) for name, cases in parts.items()}
    if len({axis.name for axis in axes.values() if axis}) < 2:
        return
    titles = part_titles(open_run(run.path).manifest, parts)
    for name, cases in parts.items():
        axis = axes[name]
        if axis is not None:
            points = _points(cases, axis, names)
            key = f"{prefix}part-{name}"
            drawing = plots.curves(points, RESPONSE, axis, "Mean response", f"{key}-curves")
            about = titles.get(name, "")
            yield Section(
                key=key,
                title=f"{capitalized(name)}: {about}" if about else capitalized(name),
                sentence=_sentence(points, axis),
                charts=(Chart(f"Mean response against {axis.word}", drawing),),
            )


def _axis(cases: Sequence[Case]) -> Axis | None:
    """The longest axis of numbers along which the cases of a part vary."""
    axes = []
    for name in data.varying_axes(cases):
        texts = data.values_of(cases, name)
        if are_numbers(name, texts) and name != data.SEED:
            axes.append(axis_of(name, sorted(map(float, texts))))
    return max(axes, key=lambda axis: len(axis.values), default=None)


def _points(cases: Sequence[Case], axis: Axis, names: Mapping[str, str]) -> list[plots.Point]:
    """A point for each configuration, pattern and value: of a mix one for each of its streams."""
    points = []
    for group in data.group_by_seed(cases):
        for panel, value in _means(group).items():
            points.append(
                plots.Point(
                    label=names[group.first.id],
                    filesystem=group.first.filesystem,
                    value=value,
                    x=float(group.axes[axis.name]),
                    facet=panel,
                )
            )
    return points


def _means(group: Group) -> dict[str, float]:
    """Mean response by panel, over all requests of all seeds: a pattern, or each side of a mix."""
    first_pattern, other = group.first.own.pattern, group.first.own.mix_pattern
    streams = [case.own.streams for case in group.cases if case.own.streams]
    sides = {first_pattern: [stream for own in streams for stream in own]}
    if other:
        sides = {
            f"{first_pattern} beside {other}": [own[0] for own in streams],
            f"{other} beside {first_pattern}": [stream for own in streams for stream in own[1:]],
        }
    return {
        panel: sum(s.mean_ns * s.count for s in members) / sum(s.count for s in members)
        for panel, members in sides.items()
        if members
    }


def _sentence(points: Sequence[plots.Point], axis: Axis) -> str:
    """Whom a value of the axis changes most, against its base."""
    base = _BASES.get(axis.name, axis.values[0])
    before = {(p.facet, p.label): p.value for p in points if p.x == base}
    changes = [
        (p.value / before[p.facet, p.label], p)
        for p in points
        if p.x != base and (p.facet, p.label) in before
    ]
    if not changes:
        return ""
    ratio, most = max(changes, key=lambda change: max(change[0], 1 / change[0]))
    words = ratio_words(RESPONSE, ratio)
    against = axis.value_text(base)
    at = axis.text(most.x)
    return f"Most: {most.facet} of **{most.label}** at {at}: {words} than at {against}."
