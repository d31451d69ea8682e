"""Curves in panels that share their scales, and how a configuration's curve looks.

A curve is told by colour (the file system, as in every report), by dashes where the colour repeats,
and by the shape of its points. Colours are stand-ins (see `svg`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.report import charts, data, svg
from ffslab.report.axes import Axis, Mean
from ffslab.report.vega import Spec, as_is, field, linear_scale, log_scale, mark

# Shapes of points by what Vega calls them, with a path for a legend's box of 10 × 10.
SHAPES: Mapping[str, str] = {
    "circle": "M8 5a3 3 0 1 1-6 0a3 3 0 1 1 6 0z",
    "square": "M2.2 2.2h5.6v5.6h-5.6z",
    "triangle-up": "M5 1.6l3.6 6.4h-7.2z",
    "diamond": "M5 1l3.4 4l-3.4 4l-3.4-4z",
    "triangle-down": "M5 8.4l3.6-6.4h-7.2z",
    "cross": "M4 1.5h2v2.5h2.5v2h-2.5v2.5h-2v-2.5h-2.5v-2h2.5z",
    "triangle-right": "M8.4 5l-6.4 3.6v-7.2z",
}


_VALUES = ("low", "mean", "high")


@dataclass(frozen=True)
class Style:
    """How a curve looks: a colour of the palette, a dash, a shape of points."""

    label: str
    colour: str
    dash: tuple[int, ...]
    shape: str

    @property
    def strokes(self) -> str:
        return " ".join(str(part) for part in self.dash)

    @property
    def glyph(self) -> str:
        return SHAPES[self.shape]


@dataclass(frozen=True)
class Curve:
    """One line of a panel: `points` are x in the axis's own unit, and the value there."""

    style: Style
    points: tuple[tuple[float, Mean], ...]


@dataclass(frozen=True)
class Pane:
    """One of the small charts that share their scales."""

    heading: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Quantity:
    """What the y axis shows; values are divided by `scale`. `limits`: the ends of a logarithmic
    axis, on which what is beyond them lies.
    """

    title: str
    unit: str
    scale: float = 1.0
    logarithmic: bool = False
    limits: tuple[float, float] | None = None

    @property
    def heading(self) -> str:
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True)
class Figure:
    """A chart with its heading, legend, how to read it, and the settings that it is for."""

    title: str
    meaning: str
    keys: tuple[Style, ...]
    drawing: str
    settings: str = ""


_MOST_BEHIND = 8  # a larger range would hide ratios below 2 again
_RATIO_TICKS = (1, 1.1, 1.2, 1.5, 2, 3, 4, 6, 8)
_GIANT = 8  # times the median: what hides the rest on a linear axis
RATIO_MEANING = (
    "Each value ÷ the smallest of all configurations at the same point: 1 is the fastest. What is "
    f"{_MOST_BEHIND} times as long or longer lies on the upper edge."
)


def ratio_quantity(ratios: Sequence[float]) -> Quantity:
    """An axis for ratios to the fastest, on which those below 2 can be told apart."""
    top = min(max(*ratios, 1.1) * 1.03, _MOST_BEHIND)
    return Quantity("÷ the fastest", "", logarithmic=True, limits=(1, top))


def linear_quantity(title: str, values: Sequence[float], unit: str = "") -> Quantity:
    """An axis from 0; logarithmic where one giant would hide all others on it."""
    positive = sorted(value for value in values if value > 0)
    giant = bool(positive) and positive[-1] > _GIANT * positive[len(positive) // 2]
    return Quantity(title, unit, logarithmic=giant)


def styles_for(lines: Mapping[str, Mapping[str, str]]) -> dict[str, Style]:
    """A style by label; `lines` has the axes that tell each label's configuration from others."""
    groups = {label: data.Group(axes, ()) for label, axes in lines.items()}
    look = charts.look_for(tuple(groups.values()))
    shapes = tuple(SHAPES)
    return {
        label: Style(
            label,
            look.colour(group.axes[data.FILESYSTEM]),
            look.dash(charts.options_key(group.axes)),
            shapes[number % len(shapes)],
        )
        for number, (label, group) in enumerate(groups.items())
    }


def ramp_styles(labels: Sequence[str]) -> list[Style]:
    """Styles for values of an axis rather than for file systems."""
    colours = ("c0", "c1", "c2", "c3", "c4", "c6", "c7", "c5")
    shapes = tuple(SHAPES)
    return [
        Style(label, colours[n % len(colours)], (1, 0), shapes[n % len(shapes)])
        for n, label in enumerate(labels)
    ]


def curves(panes: Sequence[Pane], axis: Axis, shown: Quantity, title: str, identifier: str) -> str:
    """Curves against an axis, a panel for each pane, all on the same scales."""
    rows = [row for pane in panes for row in _rows(pane, axis, shown)]
    if shown.logarithmic:
        _lift(rows)
    width, height, columns = _size(len(panes))
    headings = [pane.heading for pane in panes]
    header = {"labelAnchor": "start", "labelPadding": 4, "labelLimit": width + 60}
    layers = _layers(_x(axis), _y(rows, shown))
    chart = {
        "data": {"name": "rows"},
        "facet": field("pane:N", sort=headings, title=None, header=header),
        "spec": {"layer": layers, "width": width, "height": height},
        "columns": columns,
        "spacing": {"row": 22, "column": 26},
    }
    return svg.draw(chart, title, identifier, {"rows": rows})


def _layers(x: Spec, y: Spec) -> list[Spec]:
    """Lines, the ranges over seeds, and points."""
    across = {"x": x, "detail": field("line:N"), "stroke": as_is("paint:N")}
    ends = {"y": field("low:Q"), "y2": field("high")}
    shape = {"y": field("mean:Q"), "fill": as_is("fill:N"), "shape": as_is("shape:N")}
    return [
        mark("line", {**across, "y": y, "strokeDash": as_is("dash:N")}, strokeWidth=1.7),
        mark(
            "rule",
            {**across, **ends},
            where="datum.high > datum.low",
            strokeWidth=1.2,
            opacity=0.75,
        ),
        mark("point", {**across, **shape}, size=34, filled=True, opacity=1, strokeWidth=1.3),
    ]


def _rows(pane: Pane, axis: Axis, shown: Quantity) -> list[dict[str, Any]]:
    return [
        {
            "pane": pane.heading,
            "line": curve.style.label,
            "x": x / axis.scale if axis.logarithmic else axis.number(x),
            "mean": value.mean / shown.scale,
            "low": value.low / shown.scale,
            "high": value.high / shown.scale,
            "paint": svg.PAINT[curve.style.colour],
            "fill": svg.PAINT["paper" if value.cut else curve.style.colour],
            "dash": list(curve.style.dash),
            "shape": curve.style.shape,
        }
        for curve in pane.curves
        for x, value in curve.points
    ]


def _lift(rows: Sequence[dict[str, Any]]) -> None:
    """Draw what is not above 0, which a logarithmic axis lacks, at the least value that is."""
    least = min((row[key] for row in rows for key in _VALUES if row[key] > 0), default=1.0)
    for row in rows:
        row.update({key: max(row[key], least) for key in _VALUES})


def _size(panes: int) -> tuple[int, int, int]:
    """Width and height of a panel, and panels in a row."""
    if panes == 1:
        return 640, 290, 1
    return (410, 230, 2) if panes in (2, 4) else (262, 180, 3)


def _x(axis: Axis) -> Spec:
    if axis.decades:
        low, high = axis.values[0] / 1.15, axis.values[-1] * 1.15
        ticks = {"values": log_ticks(low, high), "labelExpr": PLAIN_NUMBER, "labelFlush": False}
        return field("x:Q", title=axis.heading, scale=log_scale(low, high), axis=ticks)
    if axis.logarithmic:
        values = [value / axis.scale for value in axis.values]
        scale = log_scale(values[0] / 1.12, values[-1] * 1.12, base=2)
        ticks = {"values": values, "labelExpr": PLAIN_NUMBER, "labelOverlap": "greedy"}
        return field("x:Q", title=axis.heading, scale=scale, axis={**ticks, "labelFlush": False})
    return field(
        "x:O",
        title=axis.heading,
        sort=[axis.number(value) for value in axis.values],
        scale={"type": "point", "padding": 0.4},
        axis={"labelAngle": 0, "grid": True, "labelOverlap": "greedy"},
    )


def _y(rows: Sequence[Mapping[str, Any]], shown: Quantity) -> Spec:
    top = max((row["high"] for row in rows), default=1.0) or 1.0
    if not shown.logarithmic:
        axis: Spec = {"tickCount": 5, "labelColor": svg.PAINT["muted"]}
        return field("mean:Q", title=shown.heading, scale=linear_scale(0, top * 1.06), axis=axis)
    low = min((row["low"] for row in rows if row["low"] > 0), default=top) * 0.85
    low, top = shown.limits or (low, top * 1.18)
    ticks = [t for t in _RATIO_TICKS if t <= top] if shown.limits else log_ticks(low, top)
    axis = {"values": ticks, "labelExpr": PLAIN_NUMBER, "labelColor": svg.PAINT["muted"]}
    return field("mean:Q", title=shown.heading, scale=log_scale(low, top, clamp=True), axis=axis)


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two values; with steps between them where there are fewer than 3."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks: list[float] = []
    for steps in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)):
        every = [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]
        ticks = [tick for tick in every if low <= tick <= high]
        if len(ticks) >= 3:
            break
    return ticks


PLAIN_NUMBER = "format(datum.value, ',.6~r')"
