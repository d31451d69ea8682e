"""How the curves of a run of workload `micro` look, and the chart of one case's requests in order.

Colours are stand-ins (see `svg`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ffslab.report import data, svg
from ffslab.report.curves import PLAIN_NUMBER, Quantity, Style, log_ticks
from ffslab.report.curves import styles_for as styles_of
from ffslab.report.quantity import grouped
from ffslab.report.vega import Spec, field, linear_scale, log_scale, mark
from ffslab.workloads.micro.report.data import MicroRun
from ffslab.workloads.micro.report.requests import Course


def response_quantity(values: Sequence[float], title: str = "mean response time") -> Quantity:
    """Response times in ms, or in µs where none reaches 1 ms; logarithmic."""
    small = max(values, default=0) < 1e6
    return Quantity(title, "µs" if small else "ms", 1e3 if small else 1e6, logarithmic=True)


def styles_for(run: MicroRun, labels: Mapping[str, str]) -> dict[str, Style]:
    """A style by label; `labels` has that of each case by id."""
    lines: dict[str, dict[str, str]] = {}
    for case in run.cases:
        axes = {name: case.line.get(name, "") for name in (data.FILESYSTEM, *run.line_axes)}
        lines.setdefault(labels[case.id], axes)
    return styles_of(lines)


def course(drawn: Course, style: Style, title: str, identifier: str) -> str:
    """Response time of each request in order, and under it the erases if there are any, with the
    end of the start-up phase marked.
    """
    shown = response_quantity([latency for _, latency in drawn.dots], "response time")
    dots = [{"n": n, "t": max(latency, 1) / shown.scale} for n, latency in drawn.dots]
    x = field(
        "n:Q",
        title="request number",
        scale=linear_scale(0, drawn.count),
        axis={"tickCount": 5, "labelExpr": PLAIN_NUMBER},
    )
    above = {**x, "title": None, "axis": {"labels": False, "tickCount": 5}} if drawn.erases else x
    upper = [_course_dots(dots, shown, style, above), _border(above)]
    panes: list[Spec] = [{"layer": upper, "width": 400, "height": 150}]
    if drawn.erases:
        lower = [_course_erases(drawn, x), _border(x)]
        panes.append({"layer": lower, "width": 400, "height": 44})
    datasets: dict[str, list[dict[str, float]]] = {
        "dots": dots,
        "border": [{"n": drawn.startup_count}] if drawn.startup_count else [],
        "erases": [{"n": n, "e": erases} for n, erases in drawn.erases],
    }
    chart = {"vconcat": panes, "spacing": 8}
    return svg.merge_dots(svg.draw(chart, title, identifier, datasets))


def _border(x: Spec) -> Spec:
    look: Spec = {"stroke": svg.PAINT["ink"], "strokeWidth": 1, "strokeDash": [4, 3]}
    return mark("rule", {"x": x}, "border", **look)


def _course_dots(
    dots: Sequence[Mapping[str, float]], shown: Quantity, style: Style, x: Spec
) -> Spec:
    low = min(dot["t"] for dot in dots) * 0.85
    top = max(dot["t"] for dot in dots) * 1.18
    axis = {
        "values": log_ticks(low, top),
        "labelExpr": PLAIN_NUMBER,
        "labelColor": svg.PAINT["muted"],
    }
    y = field("t:Q", title=shown.heading, scale=log_scale(low, top), axis=axis)
    return mark("circle", {"x": x, "y": y}, "dots", size=5, opacity=1, fill=svg.PAINT[style.colour])


def _course_erases(drawn: Course, x: Spec) -> Spec:
    most = max(erases for _, erases in drawn.erases)
    per = f"{grouped(drawn.bin)} requests" if drawn.bin > 1 else "request"
    axis = {"values": [0, most], "format": "d", "labelColor": svg.PAINT["muted"]}
    y = field("e:Q", title=["erases per", per], scale=linear_scale(0, most), axis=axis)
    encoding = {"x": x, "y": y, "y2": {"datum": 0}}
    return mark("rule", encoding, "erases", stroke=svg.PAINT["t1"], strokeWidth=1.2)
