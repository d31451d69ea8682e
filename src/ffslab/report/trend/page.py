"""The HTML page of a trend: one offline file in the look of the report.

First what it comes to and which run to look at, then a chart for each deciding figure, a line for
each case as a ratio to its first run, then all values, the runs, and what is not judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.compare.trend import Series, Trend
from ffslab.compare.words import signed_percent, values_text
from ffslab.report import plots, svg
from ffslab.report.data import filesystem_name
from ffslab.report.elements import Table, environment
from ffslab.report.quantity import unbroken
from ffslab.report.vega import Spec, field, mark

MOST_LINES = 12  # of a chart: those that left their band, and others as there is room for
_WIDTH, _HEIGHT = 560, 220
_SIGNS = {"worse": "✗", "better": "✓"}


@dataclass(frozen=True)
class Panel:
    """A figure's chart; `shown` lines of `lines`."""

    title: str
    drawing: str
    shown: int
    lines: int


def render_trend(trend: Trend) -> str:
    """The page; MissingExtraError without the packages that a report needs."""
    template = environment().get_template("trend.html.j2")
    studies = dict.fromkeys(run.study for run in trend.runs)
    return str(
        template.render(
            title=f"{', '.join(studies)} over {len(trend.runs)} runs",
            sign="✗" if trend.is_worse else "✓",
            headline=headline(trend),
            panels=panels(trend),
            charted=len({series.deciding.title for series in trend.series}),
            figures=_figures(trend),
            runs=_runs(trend),
            unjudged=_unjudged(trend),
            band=f"{100 * trend.threshold:g} %",
        )
    )


def headline(trend: Trend) -> str:
    """What became worst, and in which run it left its band."""
    if trend.failing:
        one = trend.failing[0]
        return f"{one.case} fails in {trend.runs[one.run].called}: {one.why}."
    if not trend.series:
        return "No figure is in two of these runs."
    worst = trend.ranked[0]
    count = trend.counts.get("worse", 0)
    if worst.left is None or not count:
        return f"None of {len(trend.series):,} figures is worse than in the first run."
    others = f" {count:,} figures are worse in all." if count > 1 else ""
    run = trend.runs[worst.left.run].called
    return f"{worst.case}, {worst.deciding.head}: {_change(worst)} since {run}.{others}"


def panels(trend: Trend) -> list[Panel]:
    """A chart for each figure that left its band in some case, in the order of the scoreboard; for
    each figure where none did.
    """
    groups: dict[str, list[Series]] = {}
    for series in trend.series:
        groups.setdefault(series.deciding.title, []).append(series)
    moved = {title: group for title, group in groups.items() if any(s.departures for s in group)}
    return [
        _panel(trend, title, group, f"trend-{number}")
        for number, (title, group) in enumerate((moved or groups).items(), start=1)
    ]


def _panel(trend: Trend, title: str, group: Sequence[Series], identifier: str) -> Panel:
    shown = sorted(group, key=lambda series: series.rank)[:MOST_LINES]
    # There is no ratio to nothing: what is 0 in a first run is shown as it is, without a band.
    is_ratio = all(series.base for series in shown)
    systems = [_filesystem(trend, series) for series in shown]
    paint = plots.paints(systems)
    rows: list[Mapping[str, Any]] = []
    for number, (series, system) in enumerate(zip(shown, systems, strict=True)):
        *others, last = _rows(trend, series, paint[system], is_ratio=is_ratio)
        # The line of each file system that is furthest from its first run has its name.
        is_named = system not in systems[:number]
        rows += [*others, {**last, "name": filesystem_name(system) if is_named else ""}]
    band = [{"low": 1 / (1 + trend.threshold), "high": 1 + trend.threshold}] if is_ratio else []
    y_title = "÷ the first run" if is_ratio else shown[0].deciding.metric.title
    drawing = svg.draw(_spec(trend, y_title), title, identifier, {"rows": rows, "band": band})
    return Panel(title, drawing, len(shown), len(group))


def _filesystem(trend: Trend, series: Series) -> str:
    spec = next(run.cases[series.case].spec for run in trend.runs if series.case in run.cases)
    return str((spec.get("filesystem") or {}).get("name", ""))


def _rows(trend: Trend, series: Series, paint: str, *, is_ratio: bool) -> list[Mapping[str, Any]]:
    left = {one.run for one in series.departures}
    rows: list[Mapping[str, Any]] = []
    for number, (run, value) in enumerate(zip(trend.runs, series.values, strict=True), start=1):
        if value is None:
            continue
        first, own = values_text(series.deciding.metric, series.base, value)
        is_left = number - 1 in left
        rows.append(
            {
                "number": number,
                "run": run.called,
                "case": series.case,
                "value": own,
                "first": first,
                "ratio": value / (series.base if is_ratio else series.deciding.metric.scale),
                "paint": paint,
                "ring": svg.PAINT["bad"] if is_left else paint,
                "size": 110 if is_left else 30,
                "name": "",
            }
        )
    return rows


def _spec(trend: Trend, y_title: str) -> Spec:
    """Lines over the runs, the band behind them; a large red ring where a line left its band."""
    count = len(trend.runs)
    names = {number: run.called for number, run in enumerate(trend.runs, start=1)}
    label = " : ".join(f"datum.value == {n} ? {_quoted(name)}" for n, name in names.items())
    step = max(count // 12, 1)
    axis = {
        "values": list(range(1, count + 1, step)),
        "labelExpr": f"{label} : ''",
        "labelAngle": -30,
        "labelLimit": 120,
        "grid": False,
    }
    scale = {"domain": [0.8, count + 0.2], "nice": False}
    x = field("number:Q", title=None, axis=axis, scale=scale)
    y = field("ratio:Q", title=y_title, scale={"zero": False})
    stroke = field("paint:N", scale=None, legend=None)
    told = [field(f"{name}:N") for name in ("case", "run", "value", "first")]
    band = {"y": {**y, "field": "low"}, "y2": field("high")}
    name = {"x": x, "y": y, "text": field("name:N"), "fill": stroke}
    line = {"x": x, "y": y, "stroke": stroke, "detail": field("case:N")}
    point = {
        "x": x,
        "y": y,
        "stroke": field("ring:N", scale=None, legend=None),
        "fill": stroke,
        "size": field("size:Q", scale=None, legend=None),
        "tooltip": told,
    }
    layers = [
        mark("rect", band, "band", fill=svg.PAINT["muted"], opacity=0.15),
        mark("line", line, strokeWidth=1.5),
        mark("point", point, opacity=1, strokeWidth=2),
        mark("text", name, where="datum.name", align="left", dx=10, clip=False),
    ]
    return {"data": {"name": "rows"}, "width": _WIDTH, "height": _HEIGHT, "layer": layers}


def _quoted(text: str) -> str:
    """As an expression of Vega has it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _figures(trend: Trend) -> Table:
    rows = tuple(_row(trend, series) for series in trend.ranked)
    head = ("case", "figure", "", "first", "newest", "change", "left its band in", "back in")
    return Table("", head, (), rows, text_columns=3, told=True)


def _row(trend: Trend, series: Series) -> tuple[str, ...]:
    last = series.departures[-1] if series.departures else None
    first, newest = values_text(series.deciding.metric, series.base, series.last)
    sign = _SIGNS.get(series.verdict, "")
    return (
        series.case,
        series.deciding.title,
        f"{sign} {series.verdict}".strip(),
        unbroken(first),
        unbroken(newest),
        _change(series),
        trend.runs[last.run].called if last else "–",
        trend.runs[last.back].called if last and last.back is not None else "–",
    )


def _change(series: Series) -> str:
    if series.ratio is None:
        return "from 0"
    return unbroken(signed_percent(100 * (series.ratio - 1)))


def _runs(trend: Trend) -> Table:
    rows = tuple(
        (str(number), run.name, run.label or "–", run.started, run.build[:12], f"{len(run.cases)}")
        for number, run in enumerate(trend.runs, start=1)
    )
    head = ("", "run", "label", "started", "build", "cases")
    return Table("", head, (), rows, text_columns=5)


def _unjudged(trend: Trend) -> Table:
    rows = tuple((one.case, trend.runs[one.run].called, one.why) for one in trend.unjudged)
    return Table("", ("case", "run", "why"), (), rows, text_columns=3, wrapped=(2,))
