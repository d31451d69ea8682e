"""Lines over an amount, such as bytes written: one for each configuration, named at its end.

A panel for each facet; both axes are linear from 0. Further layers may be drawn `over` the lines.
Their rows have a `kind` of their own, since Vega-Lite splits only one table among panels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.report import data, plots, svg
from ffslab.report.configurations import place_of, place_text
from ffslab.report.first.board import short_names
from ffslab.report.sections.general import labels_of
from ffslab.report.vega import PLAIN_NUMBER, Spec, field, linear_scale, mark

_ROOM = 1.22  # on the right, for names
_APART = 0.09  # of the height, from one name to the next
STROKE = field("paint:N", scale=None, legend=None)


@dataclass(frozen=True)
class Line:
    """A line: its configuration, points (x, y), and the panel that it is in."""

    label: str
    filesystem: str
    points: Sequence[tuple[float, float]]
    facet: str = ""


@dataclass(frozen=True)
class Axes:
    """What the axes show, with units; `least` is how far up the vertical one reaches anyway."""

    x: str
    y: str
    least: float = 0.0


def names_of(run: data.Run) -> dict[str, tuple[str, str]]:
    """Of each case what it is called in a chart: its configuration, and its place in words."""
    places = {case.id: place_of(case.axes, run.varying) for case in run.cases}
    aside = {name for pairs in places.values() for name, _ in pairs}
    show = [axis for axis in labels_of(run) if axis not in aside]
    whole = {case.id: data.group_label(case.axes, show) or "all cases" for case in run.cases}
    short = short_names(list(dict.fromkeys(whole.values())))
    return {name: (short[label], place_text(places[name])) for name, label in whole.items()}


def lines(
    drawn: Sequence[Line],
    axes: Axes,
    title: str,
    identifier: str,
    over: Sequence[Spec] = (),
    rows: Sequence[Mapping[str, Any]] = (),
    *,
    steps: bool = False,
) -> str:
    """The chart; empty without a point. `steps`: a value stays until the next."""
    if not any(line.points for line in drawn):
        return ""
    paint = plots.paints(line.filesystem for line in drawn)
    right = max(x for line in drawn for x, _ in line.points) * _ROOM
    top = max(axes.least, max(y for line in drawn for _, y in line.points) * 1.05) or 1.0

    def row(kind: str, line: Line, x: float, y: float) -> dict[str, Any]:
        told = {"label": line.label, "facet": line.facet, "paint": paint[line.filesystem]}
        return {"kind": kind, "x": x, "y": y, **told}

    told = [row("line", line, x, y) for line in drawn for x, y in line.points]
    told += [row("name", line, line.points[-1][0], y) for line, y in _named(drawn, top)]
    x = field("x:Q", title=axes.x, scale=linear_scale(0, right), axis=_ticks(5))
    y = field("y:Q", title=axes.y, scale=linear_scale(0, top), axis=_ticks(5))
    tips = [field("label:N"), field("x:Q", title=axes.x), field("y:Q", title=axes.y)]
    across = {"x": x, "y": y, "stroke": STROKE, "detail": field("label:N"), "tooltip": tips}
    look = {"interpolate": "step-after"} if steps else {"point": {"size": 22, "filled": False}}
    name = {"x": x, "y": y, "text": field("label:N"), "fill": STROKE}
    layers = [
        mark("line", across, where="datum.kind === 'line'", strokeWidth=1.8, **look),
        mark("text", name, where="datum.kind === 'name'", align="left", dx=7, fontSize=11),
        *(_with(layer, {"x": x, "y": y}) for layer in over),
    ]
    inner = {"width": plots.WIDE - 200, "height": 210, "layer": layers}
    spec = plots.faceted(inner, [line.facet for line in drawn])
    return svg.draw(spec, title, identifier, {"rows": [*told, *rows]})


def _with(layer: Spec, places: Spec) -> Spec:
    """The layer on both axes, but for one that it has as None."""
    encoding = {**places, **layer["encoding"]}
    return {**layer, "encoding": {k: v for k, v in encoding.items() if v is not None}}


def _ticks(count: int) -> Spec:
    return {"tickCount": count, "labelExpr": PLAIN_NUMBER}


def _named(drawn: Sequence[Line], top: float) -> list[tuple[Line, float]]:
    """Each line with the height of its name: those of a panel are kept apart."""
    named = []
    for panel in dict.fromkeys(line.facet for line in drawn):
        own = sorted(
            (line for line in drawn if line.points and line.facet == panel),
            key=lambda line: line.points[-1][1],
        )
        heights: list[float] = []
        for line in own:
            lowest = heights[-1] + _APART * top if heights else 0.0
            heights.append(max(line.points[-1][1], lowest))
        beyond = max(heights[-1] - top, 0.0) if heights else 0.0
        named += [(line, height - beyond) for line, height in zip(own, heights, strict=True)]
    return named
