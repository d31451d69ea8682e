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
from ffslab.report.data import BETWEEN

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
    `high` are the range over seeds, equal where there is none. `notch`: a length to mark in it.
    """

    label: str
    run: str
    pieces: tuple[Piece, ...]
    text: str
    low: float = 0.0
    high: float = 0.0
    notch: float = 0.0

    @property
    def end(self) -> float:
        return max(self.length, self.high)

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

    Where file systems have several configurations each, these stand below its name. Giants are cut
    (see `are_cut`); a cut bar keeps the proportions of its parts.
    `words`: the text alternative's beginning, and the identifier. `mark`: a value with a line.
    """
    alt = charts.altair_module()
    places = _places(list(dict.fromkeys(bar.label for bar in drawn)))
    runs = sorted({bar.run for bar in drawn})
    limit = charts.cut_at([bar.end for bar in drawn])
    top = (max((bar.end for bar in drawn), default=0.0) if limit is None else limit) or 1.0
    if mark is not None:
        top = max(top, mark)
    top /= shown.scale
    rows = list(dict.fromkeys(row for bar in drawn for row in places[bar.label]))
    y = alt.Y(
        "label:N", title=None, sort=rows, axis=_LABELS, scale=alt.Scale(domain=rows, **_PADDED)
    )
    offset = alt.YOffset("run:N", sort=runs, scale=alt.Scale(paddingInner=0.12, paddingOuter=0))
    x_axis = alt.Axis(tickCount=4, labelExpr=PLAIN_NUMBER)
    domain = alt.Scale(domain=[0, top * 1.3], nice=False)
    x = alt.X("start:Q", title=shown.heading, scale=domain, axis=x_axis)
    layers = [*_layers(alt, x, y, offset, any(bar.high > bar.low for bar in drawn))]
    datasets: dict[str, list[dict[str, Any]]] = {
        "pieces": [
            row for bar in drawn for row in _pieces(bar, places[bar.label][-1], shown, limit)
        ],
        "ends": [_end(bar, places[bar.label][-1], shown, limit) for bar in drawn],
    }
    if limit is not None:
        marks = charts.cut_marks(alt, y, limit / shown.scale, yOffset=offset)
        layers.append(marks.properties(data=alt.NamedData("ends")))
    if mark is not None:
        datasets["mark"] = [{"at": mark / shown.scale}]
        rule = alt.Chart(alt.NamedData("mark")).mark_rule(
            stroke=svg.PAINT["ink"], strokeDash=[4, 3], strokeWidth=1
        )
        layers.append(rule.encode(x=alt.X("at:Q")))
    height = len(rows) * (_BAR * len(runs) + _GAP)
    chart = charts.themed(alt.layer(*layers).properties(width=width, height=height))
    told = "; ".join(f"{bar.label}{f', {bar.run}' if bar.run else ''}: {bar.text}" for bar in drawn)
    return svg.draw(chart, f"{words[0]}: {told}", words[1], datasets)


_PADDED: Any = {"paddingInner": 0.3, "paddingOuter": 0.15}
_SIGN = "|"  # between a file system and the rest of a label that stands below it
_LABELS: Any = {
    "labelLimit": 240,
    "labelExpr": f"slice(datum.value, indexof(datum.value, '{_SIGN}') + 1)",
    "labelFontWeight": {
        "condition": {"test": f"indexof(datum.value, '{_SIGN}') < 0", "value": "bold"},
        "value": "normal",
    },
}


def _places(labels: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The rows of each label: its own, and before it that of its file system where several of its
    configurations stand below each other.
    """
    members: dict[str, int] = {}
    for label in labels:
        name = label.partition(BETWEEN)[0]
        members[name] = members.get(name, 0) + 1
    places: dict[str, tuple[str, ...]] = {}
    for label in labels:
        name, _, rest = label.partition(BETWEEN)
        several = members[name] > 1 and rest
        places[label] = (name, f"{name}{_SIGN}{rest}") if several else (label,)
    return places


def are_cut(drawn: Sequence[Bar]) -> bool:
    """Whether some bars are longer than drawn."""
    return charts.cut_at([bar.end for bar in drawn]) is not None


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
    notches = (
        ends.mark_tick(thickness=2, size=_BAR, color=svg.PAINT["ink"])
        .transform_filter("datum.notch > 0")
        .encode(x=alt.X("notch:Q"), y=y, yOffset=offset)
    )
    if not any_range:
        return [pieces, text, notches]
    ranges = (
        ends.mark_rule(stroke=svg.PAINT["ink"], strokeWidth=1.2)
        .transform_filter("datum.high > datum.low")
        .encode(x=alt.X("low:Q"), x2="high:Q", y=y, yOffset=offset)
    )
    return [pieces, ranges, text, notches]


def _shrink(bar: Bar, limit: float | None) -> float:
    """What a bar's lengths are multiplied with, so that it ends at the limit."""
    return limit / bar.end if limit is not None and bar.end > limit else 1.0


def _pieces(bar: Bar, place: str, shown: Quantity, limit: float | None) -> list[dict[str, Any]]:
    """Rows of a bar's parts, one after the other; what is not above 0 has no length."""
    rows = []
    start = 0.0
    for piece in bar.pieces:
        end = start + max(piece.value, 0) * _shrink(bar, limit) / shown.scale
        rows.append(
            {
                "label": place,
                "run": bar.run,
                "start": start,
                "end": end,
                "paint": svg.PAINT[piece.colour],
                "strength": piece.strength,
            }
        )
        start = end
    return rows


def _end(bar: Bar, place: str, shown: Quantity, limit: float | None) -> dict[str, Any]:
    shrink = _shrink(bar, limit) / shown.scale
    high = bar.end * shrink
    return {
        "label": place,
        "run": bar.run,
        "low": bar.low * shrink if bar.high > bar.low else high,
        "high": high,
        "text": bar.text,
        "notch": bar.notch * shrink,
        "cut": shrink * shown.scale < 1,
    }
