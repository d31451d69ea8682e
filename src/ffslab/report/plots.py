"""The charts that sections are made of, each from plain values: dots, curves, ratios, stacks.

Colour says the file system, always the same one; names stand beside the marks, and each mark has a
tooltip. A hollow mark ends in memory or was cut short. Values are in the units of their metric.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ffslab.compare.words import value_text
from ffslab.report import charts, data, svg
from ffslab.report.axes import Axis
from ffslab.report.quantity import duration
from ffslab.report.vega import PLAIN_NUMBER, Spec, field, log_scale, log_ticks, mark
from ffslab.results.schema import Metric

ROW, WIDTH, HEIGHT = 24, 230, 300  # of a row of dots; of a small chart
_PANEL = 200  # the height of one of several panels
_NAME = 12  # how far apart names stand, in pixels
_LANE = 8  # the height of a file system's dots in a row of ratios
_MARGIN = 1.25  # times: what an axis has beyond its values
WIDE = 560  # a chart that has the page's width
_LABEL, _LONG, _WIDER = 225, 24, 40  # pixels of a name, letters of a long one, what it takes
_MOST_NAMED = 3  # places that are named beside dots
_UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
_TIME_LABEL = (
    "datum.value < 1e3 ? format(datum.value, '~g') + ' ns' : datum.value < 1e6 ? "
    "format(datum.value / 1e3, '~g') + ' µs' : datum.value < 1e9 ? "
    "format(datum.value / 1e6, '~g') + ' ms' : format(datum.value / 1e9, '~g') + ' s'"
)


@dataclass(frozen=True)
class Point:
    """A configuration's value at a place; `x` is its number on the axis of a curve, `facet` the
    panel of it.
    """

    label: str
    filesystem: str
    value: float
    place: str = ""
    x: float = 0.0
    hollow: bool = False
    facet: str = ""


@dataclass(frozen=True)
class Bar:
    """A stacked bar: its name, and how large its parts are, by their names; where that is."""

    label: str
    parts: Mapping[str, float]
    facet: str = ""
    place: str = ""


@dataclass(frozen=True)
class Ratio:
    """A figure's ratio between two settings, for one configuration at one place."""

    row: str
    label: str
    filesystem: str
    value: float
    place: str
    text: str
    facet: str = ""


@dataclass(frozen=True)
class Tail:
    """A line of a latency chart: the share of operations at least as slow as a time, in ns."""

    label: str
    filesystem: str
    steps: Sequence[tuple[float, float]]
    dash: Sequence[int] = (1, 0)
    facet: str = ""


def paints(filesystems: Iterable[str]) -> dict[str, str]:
    """The stand-in colour of each file system (`svg.PAINT`)."""
    names = tuple(dict.fromkeys(filesystems))
    return {name: svg.PAINT[colour] for name, colour in charts.colours_of(names).items()}


def unit_of(metric: Metric, values: Sequence[float]) -> tuple[str, float]:
    """The unit of an axis, and what a stored value is divided by: that of the middle value."""
    if not metric.is_time:
        return metric.unit, metric.scale
    middle = sorted(values)[len(values) // 2]
    return next((unit for unit in _UNITS if middle >= unit[1]), _UNITS[-1])


def dots(points: Sequence[Point], metric: Metric, title: str, identifier: str) -> str:
    """A row for each configuration, a dot for each place on a common logarithmic axis, and a line
    from one to the other; empty without a value above 0.
    """
    shown = [point for point in points if point.value > 0]
    if not shown:
        return ""
    unit, scale = unit_of(metric, [point.value for point in shown])
    rows = _rows(shown, metric, scale)
    order = _worst_last(shown, higher_is_better=metric.better == "higher")
    x = field("value:Q", title=_heading(title, unit), **_log_axis([row["value"] for row in rows]))
    y = field("label:N", sort=order, title=None, axis={"labelLimit": _LABEL, "grid": False})
    line = {"x": x, "y": y, "detail": field("label:N"), "stroke": _STROKE}
    layers = [
        mark("line", line, strokeWidth=2.5, opacity=0.45),
        mark("point", {"x": x, "y": y, **_PAINTED}, size=85, opacity=1, strokeWidth=2),
    ]
    places = {point.place for point in shown}
    if 1 < len(places) <= _MOST_NAMED:
        named = {"x": x, "y": y, "text": field("place:N")}
        # The ends of a row are named above it, what is between them below.
        for dy, own in zip((-11, 14), _named_dots(shown, order), strict=True):
            where = " || ".join(
                f"datum.label === {json.dumps(p.label)} && datum.place === {json.dumps(p.place)}"
                for p in own
            )
            if own:
                layers.append(mark("text", named, where=where, dy=dy, fontSize=11, fill=_MUTED))
    is_long = max(len(point.label) for point in shown) > _LONG
    width = WIDTH - _WIDER if is_long else WIDTH
    spec = {"width": width, "height": {"step": ROW}, "layer": layers}
    return svg.draw(spec, title, identifier, {"rows": rows})


def curves(points: Sequence[Point], metric: Metric, axis: Axis, title: str, identifier: str) -> str:
    """A curve for each configuration against an axis of numbers, named at its end; `place` tells
    several curves of one configuration apart. A panel for each facet. Empty without a value above
    0.
    """
    shown = [point for point in points if point.value > 0]
    if not shown:
        return ""
    facets = [point.facet for point in shown]
    height = _PANEL if len(set(facets)) > 1 else HEIGHT
    unit, scale = unit_of(metric, [point.value for point in shown])
    rows = _rows(shown, metric, scale)
    named = _named(shown, height, axis.order)
    for row, point in zip(rows, shown, strict=True):
        row |= {"x": point.x / axis.scale if axis.logarithmic else axis.number(point.x)}
        row |= {"line": f"{point.label} {point.place}".strip(), "facet": point.facet}
        row |= {"end": end / scale if (end := named.get(id(point))) else None}
    title_y, values = _heading(title, unit), _log_axis([row["value"] for row in rows])
    x, y = _across(axis), field("value:Q", title=title_y, **values)
    across = {"x": x, "y": y, "detail": field("line:N"), "stroke": _STROKE}
    ends = {"x": x, "y": {**y, "field": "end"}, "text": field("label:N"), "fill": _STROKE}
    tip = [*_TOOLTIP, field("x:N", title=axis.heading)]
    name = mark("text", ends, where="datum.end !== null", align="left", dx=7, fontSize=11)
    layers = [
        mark("line", across, strokeWidth=1.8, opacity=0.8),
        mark("point", {"x": x, "y": y, **_PAINTED, "tooltip": tip}, size=40, opacity=1),
        name,
    ]
    spec = faceted({"width": WIDTH + 60, "height": height, "layer": layers}, facets)
    return svg.draw(spec, title, identifier, {"rows": rows})


def _across(axis: Axis) -> Spec:
    """An axis of numbers: logarithmic where they span enough, else as far apart as each other."""
    if not axis.logarithmic:
        order = [axis.number(value) for value in axis.order]
        return field("x:O", title=axis.heading, sort=order, scale={"type": "point"}, axis=_UPRIGHT)
    steps = [value / axis.scale for value in axis.values]
    return field(
        "x:Q",
        title=axis.heading,
        scale=log_scale(steps[0] / 1.1, steps[-1] * 1.1),
        axis={**_UPRIGHT, "values": steps, "labelExpr": PLAIN_NUMBER, "labelFlush": False},
    )


def _named(points: Sequence[Point], height: int, order: Sequence[float]) -> dict[int, float]:
    """Where the names of curves stand, by the identity of their last points: at their ends, but
    clear of each other. Of several curves with a label the highest end is named.
    """
    low, high = min(p.value for p in points), max(p.value for p in points)
    pixel = math.log(high / low * _MARGIN**2) / height
    ends: dict[tuple[str, str], Point] = {}

    def end_of(point: Point) -> tuple[int, float]:
        return order.index(point.x), point.value

    for point in points:
        key = point.facet, point.label
        known = ends.get(key)
        if known is None or end_of(point) > end_of(known):
            ends[key] = point
    places = {}
    for facet in dict.fromkeys(point.facet for point in points):
        own = sorted((p for p in ends.values() if p.facet == facet), key=lambda point: -point.value)
        at = math.inf
        room = math.log(low) + _NAME * pixel * (len(own) - 1)
        for point in own:
            at = min(max(math.log(point.value), room), at)
            places[id(point)] = math.exp(at)
            at, room = at - _NAME * pixel, room - _NAME * pixel
    return places


def ratios(values: Sequence[Ratio], title: str, identifier: str) -> str:
    """Rows of ratios on a logarithmic axis with a line at 1, a dot for each configuration and
    place; a panel for each facet.
    """
    shown = [ratio for ratio in values if ratio.value > 0]
    if not shown:
        return ""
    paint = paints(ratio.filesystem for ratio in shown)
    rows = [
        {
            "row": ratio.row,
            "label": ratio.label,
            "place": ratio.place,
            "value": ratio.value,
            "text": ratio.text,
            "facet": ratio.facet,
            "system": data.filesystem_name(ratio.filesystem),
            "paint": paint[ratio.filesystem],
        }
        for ratio in shown
    ]
    low, high = min(r.value for r in shown), max(r.value for r in shown)
    low, high = min(low / 1.1, 0.9), max(high * 1.1, 1.1)
    ticks = {"values": log_ticks(low, high), "labelExpr": PLAIN_NUMBER, "labelFlush": False}
    x = field("value:Q", title=title, scale=log_scale(low, high), axis=ticks)
    order = list(dict.fromkeys(ratio.row for ratio in shown))
    y = field("row:N", sort=order, title=None, axis={"labelLimit": 190, "grid": False})
    point = {"x": x, "y": y, "yOffset": field("system:N"), "tooltip": _TOOLTIP}
    layers = [
        mark("rule", {"x": {"datum": 1}}, stroke=_MUTED, strokeDash=[3, 3]),
        mark("point", {**point, "stroke": _STROKE, "fill": _STROKE}, size=50, opacity=0.75),
    ]
    step = {"step": max(30, _LANE * len(paint)), "for": "position"}
    inner = {"width": WIDE - 160, "height": step, "layer": layers}
    spec = faceted(inner, [ratio.facet for ratio in shown])
    panels: dict[str, set[str]] = {}
    for ratio in shown:
        panels.setdefault(ratio.facet, set()).add(ratio.row)
    if any(own != set(order) for own in panels.values()):
        spec["resolve"] = {"scale": dict.fromkeys(("y", "yOffset"), "independent")}
    return svg.draw(spec, title, identifier, {"rows": rows})


def stack(
    bars: Sequence[Bar],
    paint: Mapping[str, str],
    title: str,
    identifier: str,
    unit: tuple[str, float] = ("s", 1e9),
) -> str:
    """A bar for each configuration of parts in the order of `paint`, which has their colours by
    name (those of `svg.PAINT`); `unit` is what they are drawn in, and what they are divided by. A
    panel for each facet.
    """
    rows = [
        {
            "label": bar.label,
            "facet": bar.facet,
            "place": bar.place,
            "part": part,
            "value": bar.parts.get(part, 0) / unit[1],
            "order": number,
            "paint": svg.PAINT[colour],
        }
        for bar in bars
        for number, (part, colour) in enumerate(paint.items())
    ]
    if not any(row["value"] for row in rows):
        return ""
    order = list(dict.fromkeys(bar.label for bar in bars))
    colours = {"domain": list(paint), "range": [svg.PAINT[colour] for colour in paint.values()]}
    encoding = {
        "x": field("value:Q", title=_heading(title, unit[0]), stack="zero"),
        "y": field("label:N", sort=order, title=None, axis={"labelLimit": 150, "grid": False}),
        "fill": field("part:N", scale=colours, title=None, legend={"orient": "top", "columns": 3}),
        "order": field("order:Q"),
        "tooltip": [
            *(field("label:N", title="configuration"), field("place:N", title="at")),
            *(field("part:N"), field("value:Q", title=unit[0] or "count")),
        ],
    }
    inner = {**mark("bar", encoding), "width": WIDTH, "height": {"step": 22}}
    spec = faceted(inner, [bar.facet for bar in bars])
    return svg.draw(spec, title, identifier, {"rows": rows})


def tails(lines: Sequence[Tail], title: str, identifier: str) -> str:
    """Latency by percentile to the maximum, both axes logarithmic; a panel for each facet."""
    paint = paints(line.filesystem for line in lines)
    rows = [
        {
            "label": line.label,
            "facet": line.facet,
            "share": max(share, 1e-9),
            "t": t_ns,
            "paint": paint[line.filesystem],
            "dash": list(line.dash),
        }
        for line in lines
        for t_ns, share in line.steps
    ]
    if not rows:
        return ""
    least = max(min(share for line in lines for _, share in line.steps), 1e-9)
    shares = {
        "values": [0.5, *(float(f"1e-{n}") for n in range(1, math.ceil(-math.log10(least)) + 1))],
        "labelExpr": "format(100 - datum.value * 100, '~r') + ' %'",
        "labelOverlap": "greedy",
    }
    times = [t_ns for line in lines for t_ns, _ in line.steps]
    encoding = {
        "x": field(
            "share:Q",
            title="of the operations are faster",
            scale={"type": "log", "domain": [1, least / 1.3], "nice": False},
            axis=shares,
        ),
        "y": field(
            "t:Q",
            title=None,
            scale=log_scale(max(min(times), 1) / 1.2, max(times) * 1.2),
            axis={"labelExpr": _TIME_LABEL, "values": log_ticks(max(min(times), 1), max(times))},
        ),
        "detail": field("label:N"),
        "stroke": _STROKE,
        "strokeDash": field("dash:N", scale=None, legend=None),
        "tooltip": [field("label:N", title="configuration"), field("t:Q", title="ns")],
    }
    inner = {**mark("line", encoding, interpolate="step-before", strokeWidth=1.8)}
    inner |= {"width": WIDE - 240, "height": 230}
    spec = faceted(inner, [line.facet for line in lines])
    return svg.draw(spec, title, identifier, {"rows": rows})


@dataclass(frozen=True)
class Moment:
    """An operation of a configuration: when in its phase it began, how long it took; `facet` says
    where.
    """

    label: str
    filesystem: str
    t_ns: float
    latency_ns: float
    facet: str = ""
    phase: str = ""


def moments(all_of: Sequence[Moment], title: str, identifier: str) -> str:
    """A dot for each operation, its latency on a logarithmic axis against when it began."""
    if not all_of:
        return ""
    paint = paints(moment.filesystem for moment in all_of)
    rows = [
        {
            "label": moment.label,
            "facet": moment.facet,
            "began": moment.t_ns / 1e9,
            "t": max(moment.latency_ns, 1),
            "text": duration(moment.latency_ns),
            "phase": moment.phase,
            "paint": paint[moment.filesystem],
        }
        for moment in all_of
    ]
    times = [max(moment.latency_ns, 1) for moment in all_of]
    encoding = {
        "x": field("began:Q", title="after the beginning of the phase (s)"),
        "y": field(
            "t:Q",
            title=None,
            scale=log_scale(min(times) / 1.2, max(times) * 1.2),
            axis={"labelExpr": _TIME_LABEL, "values": log_ticks(min(times), max(times))},
        ),
        "fill": field("paint:N", scale=None, legend=None),
        "tooltip": [
            *(field("label:N", title="configuration"), field("text:N", title="latency")),
            *(field("began:Q", title="began after (s)", format=".3~f"), field("phase:N")),
        ],
    }
    inner = {**mark("point", encoding, size=30, opacity=0.8, strokeWidth=0)}
    inner |= {"width": WIDE - 240, "height": 200}
    spec = faceted(inner, [moment.facet for moment in all_of])
    return svg.draw(spec, title, identifier, {"rows": rows})


_MUTED = svg.PAINT["muted"]
_STROKE = field("paint:N", scale=None, legend=None)
_TOOLTIP = [
    field("label:N", title="configuration"),
    field("place:N", title="at"),
    field("text:N", title="value"),
]
_PAINTED: Spec = {
    "stroke": _STROKE,
    "fill": field("fill:N", scale=None, legend=None),
    "tooltip": _TOOLTIP,
}
_UPRIGHT: Spec = {"labelAngle": 0, "labelOverlap": "greedy"}


def _rows(points: Sequence[Point], metric: Metric, scale: float) -> list[dict[str, Any]]:
    paint = paints(point.filesystem for point in points)
    return [
        {
            "label": point.label,
            "place": point.place,
            "value": point.value / scale,
            "text": value_text(metric, point.value),
            "paint": paint[point.filesystem],
            "fill": svg.PAINT["paper"] if point.hollow else paint[point.filesystem],
        }
        for point in points
    ]


def _worst_last(points: Sequence[Point], *, higher_is_better: bool) -> list[str]:
    worst: dict[str, float] = {}
    for point in points:
        known = worst.get(point.label, point.value)
        worst[point.label] = (min if higher_is_better else max)(known, point.value)
    return sorted(worst, key=lambda label: worst[label], reverse=higher_is_better)


def _named_dots(points: Sequence[Point], order: Sequence[str]) -> tuple[list[Point], list[Point]]:
    """The ends of the row whose dots leave most room for names, and the dots between them; the
    last row has none below it.
    """
    rows = {label: sorted((p for p in points if p.label == label), key=lambda p: p.value)
            for label in order}  # fmt: skip
    most = max(map(len, rows.values()))
    full = [label for label in order if len(rows[label]) == most]
    fit = full[:-1] if most > 2 and full[-1] == order[-1] and len(full) > 1 else full
    row = max(
        (rows[label] for label in fit),
        key=lambda own: min((b.value / a.value for a, b in pairwise(own)), default=1),
    )
    return [row[0], row[-1]], row[1:-1]


def _heading(title: str, unit: str) -> str:
    return f"{title} ({unit})" if unit else title


def _log_axis(values: Sequence[float]) -> Spec:
    low, high = min(values) / _MARGIN, max(values) * _MARGIN
    ticks = {"values": log_ticks(low, high), "labelExpr": PLAIN_NUMBER, "labelFlush": False}
    return {"scale": log_scale(low, high), "axis": ticks}


def faceted(inner: Spec, facets: Sequence[str], column: str = "facet") -> Spec:
    """The chart alone, below the name of its facet, or as a panel for each, beside each other;
    `column` has them.
    """
    names = list(dict.fromkeys(facets))
    if len(names) < 2:
        title = {"title": {"text": names[0], "anchor": "start"}} if any(names) else {}
        return {"data": {"name": "rows"}, **inner, **title}
    header = {"labelAnchor": "start", "labelPadding": 4}
    facet = field(f"{column}:N", sort=names, title=None, header=header)
    half = {**inner, "width": min(inner["width"], 260)}
    return {"data": {"name": "rows"}, "facet": facet, "spec": half, "columns": 2}
