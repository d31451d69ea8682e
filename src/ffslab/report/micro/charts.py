"""How the curves of a run of workload `micro` look, and the chart of one case's requests in order.

Colours are stand-ins (see `svg`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ffslab.report import charts, data, svg
from ffslab.report.curves import PLAIN_NUMBER, Quantity, Style, log_ticks
from ffslab.report.curves import styles_for as styles_of
from ffslab.report.micro.data import MicroRun
from ffslab.report.micro.requests import Course
from ffslab.report.quantity import grouped


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
    alt = charts.altair_module()
    shown = response_quantity([latency for _, latency in drawn.dots], "response time")
    dots = [{"n": n, "t": max(latency, 1) / shown.scale} for n, latency in drawn.dots]
    x = alt.X(
        "n:Q",
        title="request number",
        scale=alt.Scale(domain=[0, drawn.count], nice=False),
        axis=alt.Axis(tickCount=5, labelExpr=PLAIN_NUMBER),
    )
    border = alt.Chart(alt.NamedData("border")).mark_rule(
        stroke=svg.PAINT["ink"], strokeWidth=1, strokeDash=[4, 3]
    )
    above = x.copy()
    if drawn.erases:
        above.title, above.axis = None, alt.Axis(labels=False, tickCount=5)
    upper = alt.layer(_course_dots(alt, dots, shown, style, above), border.encode(x=above))
    panes = [upper.properties(width=400, height=150)]
    if drawn.erases:
        lower = alt.layer(_course_erases(alt, drawn, x), border.encode(x=x))
        panes.append(lower.properties(width=400, height=44))
    datasets: dict[str, list[dict[str, float]]] = {
        "dots": dots,
        "border": [{"n": drawn.startup_count}] if drawn.startup_count else [],
        "erases": [{"n": n, "e": erases} for n, erases in drawn.erases],
    }
    chart = charts.themed(alt.vconcat(*panes, spacing=8))
    return svg.merge_dots(svg.draw(chart, title, identifier, datasets))


def _course_dots(
    alt: Any, dots: Sequence[Mapping[str, float]], shown: Quantity, style: Style, x: Any
) -> Any:
    low = min(dot["t"] for dot in dots) * 0.85
    top = max(dot["t"] for dot in dots) * 1.18
    ticks = alt.Axis(
        values=log_ticks(low, top), labelExpr=PLAIN_NUMBER, labelColor=svg.PAINT["muted"]
    )
    scale = alt.Scale(type="log", domain=[low, top], nice=False)
    return (
        alt.Chart(alt.NamedData("dots"))
        .mark_circle(size=5, opacity=1, fill=svg.PAINT[style.colour])
        .encode(x=x, y=alt.Y("t:Q", title=shown.heading, scale=scale, axis=ticks))
    )


def _course_erases(alt: Any, drawn: Course, x: Any) -> Any:
    most = max(erases for _, erases in drawn.erases)
    per = f"{grouped(drawn.bin)} requests" if drawn.bin > 1 else "request"
    y = alt.Y(
        "e:Q",
        title=["erases per", per],
        scale=alt.Scale(domain=[0, most], nice=False),
        axis=alt.Axis(values=[0, most], format="d", labelColor=svg.PAINT["muted"]),
    )
    return (
        alt.Chart(alt.NamedData("erases"))
        .mark_rule(stroke=svg.PAINT["t1"], strokeWidth=1.2)
        .encode(x=x, y=y, y2=alt.datum(0))
    )
