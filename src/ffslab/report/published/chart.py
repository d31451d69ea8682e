"""Charts of published figures and ours: a publication's as ratios, a statement's as bars.

Limits: a figure that is 0 has no place on a logarithmic axis, so the ratios leave it out; bars that
differ by more than a factor of 30 have one, and 0 is shown as no bar with its number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf, log
from typing import Any

from ffslab.published.beside import JudgedPublication, JudgedStatement, Map
from ffslab.published.judge import FACTOR, Judged, Mark, number_text
from ffslab.report import svg
from ffslab.report.vega import PLAIN_NUMBER, Spec, field, log_scale, log_ticks, mark

_WIDTH, _BAR, _STEP, _LABEL = 330, 15, 22, 330
_SPAN = 30  # from here on an axis is logarithmic
_MARGIN = 1.15
_TONES = {Mark.AGREES: "good", Mark.DIRECTION: "muted", Mark.REVERSED: "bad"}
_PUBLISHED, _OURS = "published", "ours"


def overview(publication: JudgedPublication, identifier: str) -> str:
    """A dot for each figure, ours ÷ published, in a row for each statement; empty without one."""
    rows = list(_ratio_rows(publication))
    if not rows:
        return ""
    ratios = [row["ratio"] for row in rows]
    low, high = min(*ratios, 0.5) / _MARGIN, max(*ratios, 2.0) * _MARGIN
    ticks = {"values": log_ticks(low, high), "labelExpr": PLAIN_NUMBER, "labelFlush": False}
    x = field("ratio:Q", title="ours ÷ published", scale=log_scale(low, high), axis=ticks)
    order = list(dict.fromkeys(row["id"] for row in rows))
    y = field("id:N", sort=order, title=None, axis={"grid": True})
    tone = field("tone:N", scale=None, legend=None)
    told = [field(f"{name}:N") for name in ("id", "figure", "published", "ours", "times")]
    band = {"x": {"datum": 1 / FACTOR, "type": "quantitative"}, "x2": {"datum": FACTOR}}
    layers = [
        mark("rect", band, "band", fill=svg.PAINT["good"], opacity=0.12),
        mark("rule", {"x": {"datum": 1}}, "band", stroke=svg.PAINT["muted"]),
        mark("point", {"x": x, "y": y, "stroke": tone, "fill": tone, "tooltip": told},
             size=70, opacity=0.85),
    ]  # fmt: skip
    spec = {"width": _WIDTH + 120, "height": {"step": _STEP}, "layer": layers}
    spec["data"] = {"name": "rows"}
    title = f"{publication.publication.name}: ours ÷ published"
    return svg.draw(spec, title, identifier, {"rows": rows, "band": [{"here": 1}]})


def _ratio_rows(publication: JudgedPublication) -> Iterator[dict[str, Any]]:
    for statement in publication.statements:
        for check in statement.figures:
            if check.ratio is None or not 0 < check.ratio < inf:
                continue
            yield {
                "id": statement.statement.id,
                "figure": check.title,
                "published": check.published_text,
                "ours": check.ours_text,
                "times": check.ratio_text,
                "ratio": check.ratio,
                "tone": svg.PAINT[_TONES[check.mark]],
            }


def bars(statement: JudgedStatement, identifier: str) -> list[str]:
    """The figures of a statement as bars, published beside ours: a chart for each unit."""
    units: dict[str, list[Judged]] = {}
    for check in statement.figures:
        if check.ours is not None:
            units.setdefault(check.unit, []).append(check)
    return [
        _bars(
            statement.statement.id,
            unit,
            checks,
            f"{identifier}-{number}" if number else identifier,
        )
        for number, (unit, checks) in enumerate(units.items())
    ]


def _bars(name: str, unit: str, checks: Sequence[Judged], identifier: str) -> str:
    rows = [row for check in checks for row in _bar_rows(check)]
    values = [row["value"] for row in rows if row["value"] > 0]
    is_log = bool(values) and max(values) > _SPAN * min(values)
    low = min(values, default=1.0) / 2
    x = field("value:Q", title=unit or "ratio", axis={"tickCount": 5, "labelFlush": False})
    start: Spec = {"datum": 0}
    if is_log:
        high = max(values) * _MARGIN
        x |= {"scale": log_scale(low, high), "axis": {**x["axis"], "labelExpr": PLAIN_NUMBER}}
        x["axis"]["values"] = log_ticks(low, high)
        start = {"datum": low}
    titles = list(dict.fromkeys(row["title"] for row in rows))
    y = field("title:N", sort=titles, title=None, axis={"labelLimit": _LABEL, "grid": False})
    offset = field("who:N", sort=[_PUBLISHED, _OURS])
    colours = {"domain": [_PUBLISHED, _OURS], "range": [svg.PAINT["muted"], svg.PAINT["c0"]]}
    fill = field("who:N", scale=colours, legend={"orient": "top", "title": None})
    told = [field(f"{column}:N") for column in ("title", "who", "text")]
    bar = {"x": x, "x2": start, "y": y, "yOffset": offset, "fill": fill, "tooltip": told}
    # A value of 0 has its number at the beginning of the axis.
    at = {**x, "field": "at"}
    number = {"x": at, "y": y, "yOffset": offset, "text": field("text:N")}
    for row in rows:
        row["at"] = max(row["value"], low) if is_log else row["value"]
    layers = [
        mark("bar", bar, where="datum.value > 0", size=_BAR - 3),
        mark("text", number, align="left", dx=4, fontSize=11, clip=False),
    ]
    spec = {
        "data": {"name": "rows"},
        "width": _WIDTH,
        "height": {"step": _BAR, "for": "offset"},
        "layer": layers,
    }
    return svg.draw(spec, f"{name}: published and ours", identifier, {"rows": rows})


def maps(statement: JudgedStatement, identifier: str) -> list[str]:
    """The maps of a statement's causes: a figure over two settings, darker where it is larger."""
    drawn = (each for cause in statement.causes for each in cause.maps)
    return [_map(each, f"{identifier}-map{number or ''}") for number, each in enumerate(drawn)]


def _map(drawn: Map, identifier: str) -> str:
    values = [cell.value for cell in drawn.cells if cell.value]
    low, high = min(values, default=1.0), max(values, default=1.0)
    span = log(high / low) or 1.0
    cells = [
        {
            "column": cell.column,
            "row": cell.row,
            "text": "–" if cell.value is None else number_text(cell.value),
            "shade": 0.08 + 0.6 * log(cell.value / low) / span if cell.value else 0.0,
        }
        for cell in drawn.cells
    ]
    columns, rows = (
        list(dict.fromkeys(cell[side] for cell in cells)) for side in ("column", "row")
    )
    x = field("column:N", sort=columns, title=drawn.across, axis={"labelAngle": 0})
    y = field("row:N", sort=rows, title=drawn.down)
    shade = field("shade:Q", scale=None, legend=None)
    layers = [
        mark("rect", {"x": x, "y": y, "opacity": shade}, fill=svg.PAINT["c0"]),
        mark("text", {"x": x, "y": y, "text": field("text:N")}, fontSize=12),
    ]
    spec: Spec = {"width": {"step": 70}, "height": {"step": 30}, "layer": layers}
    spec["data"] = {"name": "rows"}
    title = f"{drawn.title}, {drawn.unit}" if drawn.unit else drawn.title
    return svg.draw(spec, title, identifier, {"rows": cells})


def _bar_rows(check: Judged) -> Iterator[dict[str, Any]]:
    assert check.published is not None and check.ours is not None
    shown: Mapping[str, tuple[float, str]] = {
        _PUBLISHED: (check.published.shown, check.published.text),
        _OURS: (check.ours, number_text(check.ours)),
    }
    for who, (value, text) in shown.items():
        finite = value if value < inf else 0.0
        yield {"title": check.title, "who": who, "value": finite, "text": text}
