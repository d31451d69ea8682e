"""Which figures a section has: response time and wear against its axes, and work in the sleeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ffslab.compare.ratios import all_alike
from ffslab.report.axes import Axis, Mean
from ffslab.report.curves import (
    RATIO_MEANING,
    Curve,
    Figure,
    Pane,
    Quantity,
    Style,
    linear_quantity,
    ramp_styles,
    ratio_quantity,
)
from ffslab.report.curves import curves as drawn
from ffslab.report.quantity import capitalized, significant
from ffslab.report.standings import CUT, listed
from ffslab.workloads.micro.report.charts import response_quantity
from ffslab.workloads.micro.report.data import PAUSE
from ffslab.workloads.micro.report.sentences import relative_curves
from ffslab.workloads.micro.report.series import Curves, Sample, Section, curves, response_ns
from ffslab.workloads.micro.report.tables import moved_bytes, wear_curves

_FEW = 4  # so many curves can be followed even where they meet
_CHOSEN = 4  # values of one axis for which the other one is drawn


@dataclass(frozen=True)
class Shown:
    """Curves to draw with the words for them."""

    title: str
    key: str
    curves: Curves
    quantity: Quantity
    meaning: str = ""


def figures(section: Section, styles: Mapping[str, Style]) -> tuple[Figure, ...]:
    """Every figure of a section; none without an axis."""
    if not section.axes:
        return ()
    lines = curves(section.samples, response_ns)
    response = Shown("Mean response time", "time", lines, response_quantity(_values(lines)))
    behind = _behind(section)
    wear = _wear(section)
    if len(section.axes) == 1:
        return tuple(_by_panel(section, shown, styles) for shown in (response, *behind, *wear))
    return (
        *_per_configuration(section, response),
        _against_second(section, response, styles),
        *(_per_second(section, shown, styles) for shown in (*behind, *wear)),
    )


def _behind(section: Section) -> list[Shown]:
    """How far each configuration is behind the fastest: what a logarithmic axis over several
    decades does not show.
    """
    lines = relative_curves(section)
    values = _values(lines)
    if not values:
        return []
    out = dict.fromkeys(label for _, label in section.in_memory)
    meaning = RATIO_MEANING
    if out:
        meaning += f" Writes of {listed(list(out))} end in memory and are left out."
    quantity = ratio_quantity(values)
    return [Shown("Mean response time ÷ that of the fastest", "behind", lines, quantity, meaning)]


def _wear(section: Section) -> list[Shown]:
    means, stds = wear_curves(section)
    volumes = _volumes(section)
    titles = ("Mean erases per block", "Standard deviation of erases per block")
    return [
        Shown(title, key, lines, linear_quantity(title[0].lower() + title[1:], values), volumes)
        for title, key, lines in zip(titles, ("erases", "spread"), (means, stds), strict=True)
        if any(values := _values(lines))
    ]


def _volumes(section: Section) -> str:
    """How much was written, where that differs by configuration: what the erases are for."""
    written: dict[str, list[int]] = {}
    for (panel, label, _), volumes in moved_bytes(section).items():
        if panel.partition(" ")[0].endswith("write"):
            written.setdefault(label, []).extend(moved for moved, _ in volumes)
    order = sorted(written, key=lambda label: max(written[label]))
    if not order or all_alike([max(moved) for moved in written.values()]):
        return ""
    low, high = (significant(max(written[label]) / 1e6) for label in (order[0], order[-1]))
    return (
        f"They are of unequal volumes, from {low} MB ({order[0]}) to {high} MB ({order[-1]}): the "
        "table has each."
    )


def idle_figures(sections: Sequence[Section], styles: Mapping[str, Style]) -> tuple[Figure, ...]:
    """The share of the flash's work that was done between requests, against the sleep."""
    drawn = []
    for section in sections:
        places = [n for n, axis in enumerate(section.axes) if axis.name == PAUSE]
        lines = curves(section.samples, _idle_share)
        if not places or not any(_values(lines)):
            continue
        quantity = Quantity("done between requests", "%")
        title = "Share of the flash’s busy time between requests"
        title += f", {section.title}" if section.is_part else ""
        shown = Shown(title, "idle", lines, quantity)
        draw = _by_panel if len(section.axes) == 1 else _against_second
        drawn.append(draw(section, shown, styles))
    return tuple(drawn)


def _idle_share(sample: Sample) -> float | None:
    """In percent; None when no work was recorded, as in all but the first of a mix's panels."""
    if not sample.panel.startswith(sample.case.pattern):
        return None
    work = [task for stream in sample.case.streams for task in stream.tasks]
    total = sum(task.busy_ns for task in work)
    after = sum(task.busy_ns for task in work if task.when == "after")
    return 100 * after / total if total else None


def _values(lines: Curves) -> list[float]:
    return [mean.mean for line in lines.values() for mean in line.values()]


def _by_panel(section: Section, shown: Shown, styles: Mapping[str, Style]) -> Figure:
    """One axis: a pane per pattern, a curve per configuration."""
    panes = []
    for panel in section.panels:
        lines = [
            _curve(styles[label], shown.curves[panel, label], lambda point: point[0])
            for label in section.labels
            if (panel, label) in shown.curves
        ]
        if lines:
            panes.append(Pane(panel, tuple(lines)))
    return _figure(section, shown, panes, section.axes[0], "", section.labels, styles)


def _per_configuration(section: Section, shown: Shown) -> tuple[Figure, ...]:
    """Two axes: the first across, a curve per value of the second; a pane per configuration, a
    figure per pattern.
    """
    first, second = section.axes[:2]
    names = [second.text(value) for value in second.values]
    ramp = dict(zip(names, ramp_styles(names), strict=True))
    drawn = []
    for panel in section.panels:
        panes = [
            Pane(
                label,
                tuple(
                    _curve(ramp[second.text(value)], line, lambda p: p[0], _at(1, value))
                    for value in second.values
                ),
            )
            for label in section.labels
            if (line := shown.curves.get((panel, label)))
        ]
        part = Shown(
            f"{shown.title} against {first.title}, for each {second.title}",
            f"{shown.key}-each",
            shown.curves,
            shown.quantity,
        )
        panel_name = panel if len(section.panels) > 1 else ""
        drawn.append(_figure(section, part, panes, first, panel_name, names, ramp))
    return tuple(drawn)


def _against_second(section: Section, shown: Shown, styles: Mapping[str, Style]) -> Figure:
    """Two axes: the second across, a pane for some values of the first."""
    first, second = section.axes[:2]
    panes = _slices(section, shown, styles, 0, chosen(first.values), lambda point: point[1])
    part = replace(shown, title=f"{shown.title} against {second.title}")
    return _figure(section, part, panes, second, "across", section.labels, styles)


def _per_second(section: Section, shown: Shown, styles: Mapping[str, Style]) -> Figure:
    """Two axes: the first across, a pane for each value of the second."""
    first, second = section.axes[:2]
    panes = _slices(section, shown, styles, 1, second.values, lambda point: point[0])
    part = replace(shown, title=f"{shown.title} against {first.title}")
    return _figure(section, part, panes, first, "each", section.labels, styles)


def _slices(
    section: Section,
    shown: Shown,
    styles: Mapping[str, Style],
    fixed: int,
    values: Sequence[float],
    x_of: Callable[[tuple[float, ...]], float],
) -> list[Pane]:
    """A pane for each pattern and each of these values of the axis that is held."""
    axis = section.axes[fixed]
    panes = []
    for panel in section.panels:
        for value in values:
            lines = [
                _curve(styles[label], shown.curves[panel, label], x_of, _at(fixed, value))
                for label in section.labels
                if (panel, label) in shown.curves
            ]
            lines = [line for line in lines if line.points]
            prefix = f"{panel}, " if len(section.panels) > 1 else ""
            if lines:
                panes.append(
                    Pane(
                        f"{prefix}{axis.title} {axis.number(value)} {axis.unit}",
                        tuple(lines),
                    )
                )
    return panes


def chosen(values: Sequence[float]) -> tuple[float, ...]:
    """A few values spread over all of them, the first and the last among them."""
    if len(values) <= _CHOSEN:
        return tuple(values)
    last = len(values) - 1
    return tuple(values[round(n * last / (_CHOSEN - 1))] for n in range(_CHOSEN))


def _at(index: int, value: float) -> Callable[[tuple[float, ...]], bool]:
    return lambda point: point[index] == value


def _curve(
    style: Style,
    line: Mapping[tuple[float, ...], Mean],
    x_of: Callable[[tuple[float, ...]], float],
    belongs: Callable[[tuple[float, ...]], bool] = lambda _: True,
) -> Curve:
    return Curve(
        style, tuple((x_of(point), mean) for point, mean in line.items() if belongs(point))
    )


def _figure(
    section: Section,
    shown: Shown,
    panes: Sequence[Pane],
    axis: Axis,
    panel_name: str,
    labels: Sequence[str],
    styles: Mapping[str, Style],
) -> Figure:
    used = {curve.style.label for pane in panes for curve in pane.curves if curve.points}
    title = f"{shown.title}, {panel_name}" if panel_name in section.panels else shown.title
    words = "-".join(word for word in (section.key, shown.key, panel_name) if word)
    identifier = words.replace(" ", "-")
    meaning = _caption(shown, axis, any_alike=len(used) > _FEW)
    drawing = drawn(panes, axis, shown.quantity, f"{title}: {meaning}", identifier)
    keys = tuple(styles[label] for label in labels if label in used)
    return Figure(title, capitalized(meaning), keys, drawing)


def _caption(shown: Shown, axis: Axis, *, any_alike: bool) -> str:
    """What the axes are, and how points and curves are to be read."""
    meaning = f"{shown.quantity.heading} against {axis.heading}"
    if shown.quantity.logarithmic:
        both = axis.logarithmic
        meaning += ", both axes logarithmic" if both else f", {shown.quantity.title} logarithmic"
    meaning += f". {shown.meaning}".rstrip()
    meaning = meaning if meaning.endswith(".") else f"{meaning}."
    means = [mean for line in shown.curves.values() for mean in line.values()]
    if any(mean.seeds > 1 for mean in means):
        meaning += " Points: means over seeds; bars: smallest to largest seed."
    if any(mean.cut for mean in means):
        meaning += f" Hollow points ({CUT}): full (ENOSPC) before all was written."
    if shown.quantity.logarithmic and any(mean.mean <= 0 for mean in means):
        meaning += " 0 is drawn on the lower edge."
    if any_alike:
        meaning += " Curves that coincide hide each other; the tables have their values."
    return meaning
