"""Bars of a run of workload `tree`: what a configuration's time or memory is made of.

Bars lie, one below the other, so that names are read as text; a value stands at the end of each.
Colours are stand-ins (see `svg`). Every function returns inline SVG.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.report import charts, svg
from ffslab.report.curves import PLAIN_NUMBER, Quantity

_BAR, _GAP = 12, 8


@dataclass(frozen=True)
class Piece:
    """A part of a bar: its length, a colour of the palette, and how strong that is."""

    value: float
    colour: str
    strength: float = 1.0


@dataclass(frozen=True)
class Bar:
    """One bar: whose, which of several (its run), of what, and the text at its end. `low` and
    `high` are the range over seeds, equal where there is none.
    """

    label: str
    run: str
    pieces: tuple[Piece, ...]
    text: str
    low: float = 0.0
    high: float = 0.0

    @property
    def length(self) -> float:
        return sum(max(piece.value, 0) for piece in self.pieces)


def bars(
    drawn: Sequence[Bar],
    shown: Quantity,
    words: tuple[str, str],
    width: int = 330,
    mark: float | None = None,
) -> str:
    """Horizontal bars; several of one label are below each other in the order of their runs.

    `words`: the text alternative's beginning, and the identifier. `mark`: a value with a line.
    """
    alt = charts.altair_module()
    labels = list(dict.fromkeys(bar.label for bar in drawn))
    runs = sorted({bar.run for bar in drawn})
    top = max((max(bar.length, bar.high) for bar in drawn), default=0.0) / shown.scale or 1.0
    if mark is not None:
        top = max(top, mark / shown.scale)
    y = alt.Y("label:N", title=None, sort=labels, axis=alt.Axis(labelLimit=240), scale=_PADDED)
    offset = alt.YOffset("run:N", sort=runs, scale=alt.Scale(paddingInner=0.12, paddingOuter=0))
    x_axis = alt.Axis(tickCount=4, labelExpr=PLAIN_NUMBER)
    domain = alt.Scale(domain=[0, top * 1.3], nice=False)
    x = alt.X("start:Q", title=shown.heading, scale=domain, axis=x_axis)
    layers = [*_layers(alt, x, y, offset, any(bar.high > bar.low for bar in drawn))]
    datasets: dict[str, list[dict[str, Any]]] = {
        "pieces": [row for bar in drawn for row in _pieces(bar, shown)],
        "ends": [_end(bar, shown) for bar in drawn],
    }
    if mark is not None:
        datasets["mark"] = [{"at": mark / shown.scale}]
        rule = alt.Chart(alt.NamedData("mark")).mark_rule(
            stroke=svg.PAINT["ink"], strokeDash=[4, 3], strokeWidth=1
        )
        layers.append(rule.encode(x=alt.X("at:Q")))
    height = len(labels) * (_BAR * len(runs) + _GAP)
    chart = charts.themed(alt.layer(*layers).properties(width=width, height=height))
    told = "; ".join(f"{bar.label}{f', {bar.run}' if bar.run else ''}: {bar.text}" for bar in drawn)
    return svg.draw(chart, f"{words[0]}: {told}", words[1], datasets)


_PADDED: Any = {"paddingInner": 0.3, "paddingOuter": 0.15}


def _layers(alt: Any, x: Any, y: Any, offset: Any, any_range: bool) -> list[Any]:
    pieces = (
        alt.Chart(alt.NamedData("pieces"))
        .mark_bar()
        .encode(
            x=x,
            x2="end:Q",
            y=y,
            yOffset=offset,
            fill=alt.Fill("paint:N", scale=None, legend=None),
            fillOpacity=alt.FillOpacity("strength:Q", scale=None, legend=None),
            stroke=alt.Stroke("paint:N", scale=None, legend=None),
            strokeWidth=alt.value(0.8),
        )
    )
    ends = alt.Chart(alt.NamedData("ends"))
    text = ends.mark_text(align="left", dx=5, fontSize=10).encode(
        x=alt.X("high:Q"),
        y=y,
        yOffset=offset,
        text="text:N",
        color=alt.value(svg.PAINT["ink"]),
    )
    if not any_range:
        return [pieces, text]
    ranges = (
        ends.mark_rule(stroke=svg.PAINT["ink"], strokeWidth=1.2)
        .transform_filter("datum.high > datum.low")
        .encode(x=alt.X("low:Q"), x2="high:Q", y=y, yOffset=offset)
    )
    return [pieces, ranges, text]


def _pieces(bar: Bar, shown: Quantity) -> list[dict[str, Any]]:
    """Rows of a bar's parts, one after the other; what is not above 0 has no length."""
    rows = []
    start = 0.0
    for piece in bar.pieces:
        end = start + max(piece.value, 0) / shown.scale
        rows.append(
            {
                "label": bar.label,
                "run": bar.run,
                "start": start,
                "end": end,
                "paint": svg.PAINT[piece.colour],
                "strength": piece.strength,
            }
        )
        start = end
    return rows


def _end(bar: Bar, shown: Quantity) -> dict[str, Any]:
    high = max(bar.length, bar.high) / shown.scale
    low = bar.low / shown.scale if bar.high > bar.low else high
    return {"label": bar.label, "run": bar.run, "low": low, "high": high, "text": bar.text}
