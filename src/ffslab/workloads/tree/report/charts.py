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
from ffslab.report.vega import Spec, as_is, field, linear_scale, mark

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
    mark_at: float | None = None,
) -> str:
    """Horizontal bars; several of one label are below each other in the order of their runs.

    Where file systems have several configurations each, these stand below its name. Giants are cut
    (see `are_cut`); a cut bar keeps the proportions of its parts.
    `words`: the text alternative's beginning, and the identifier. `mark_at`: a value with a line.
    """
    places = _places(list(dict.fromkeys(bar.label for bar in drawn)))
    runs = sorted({bar.run for bar in drawn})
    limit = charts.cut_at([bar.end for bar in drawn])
    top = (max((bar.end for bar in drawn), default=0.0) if limit is None else limit) or 1.0
    if mark_at is not None:
        top = max(top, mark_at)
    top /= shown.scale
    rows = list(dict.fromkeys(row for bar in drawn for row in places[bar.label]))
    scale = {"domain": rows, **_PADDED}
    place = {
        "y": field("label:N", title=None, sort=rows, axis=_LABELS, scale=scale),
        "yOffset": field("run:N", sort=runs, scale={"paddingInner": 0.12, "paddingOuter": 0}),
    }
    x_axis = {"tickCount": 4, "labelExpr": PLAIN_NUMBER}
    x = field("start:Q", title=shown.heading, scale=linear_scale(0, top * 1.3), axis=x_axis)
    layers = _layers(x, place, any(bar.high > bar.low for bar in drawn))
    datasets: dict[str, list[dict[str, Any]]] = {
        "pieces": [
            row for bar in drawn for row in _pieces(bar, places[bar.label][-1], shown, limit)
        ],
        "ends": [_end(bar, places[bar.label][-1], shown, limit) for bar in drawn],
    }
    if limit is not None:
        layers.append(charts.cut_marks(data="ends", limit=limit / shown.scale, **place))
    if mark_at is not None:
        datasets["mark"] = [{"at": mark_at / shown.scale}]
        look: Spec = {"stroke": svg.PAINT["ink"], "strokeDash": [4, 3], "strokeWidth": 1}
        layers.append(mark("rule", {"x": field("at:Q")}, "mark", **look))
    height = len(rows) * (_BAR * len(runs) + _GAP)
    chart = {"layer": layers, "width": width, "height": height}
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


def _layers(x: Spec, place: Spec, any_range: bool) -> list[Spec]:
    ink = svg.PAINT["ink"]
    paint = {
        "fill": as_is("paint:N"),
        "fillOpacity": as_is("strength:Q"),
        "stroke": as_is("paint:N"),
        "strokeWidth": {"value": 0.8},
    }
    pieces = mark("bar", {"x": x, "x2": field("end"), **place, **paint}, "pieces")
    at_end = {"x": field("high:Q"), **place, **charts.words("text:N")}
    text = mark("text", at_end, "ends", align="left", dx=5, fontSize=11.5)
    at_notch = {"x": field("notch:Q"), **place}
    look = {"thickness": 2, "size": _BAR, "color": ink}
    notches = mark("tick", at_notch, "ends", "datum.notch > 0", **look)
    if not any_range:
        return [pieces, text, notches]
    range_of = {"x": field("low:Q"), "x2": field("high"), **place}
    look = {"stroke": ink, "strokeWidth": 1.2}
    ranges = mark("rule", range_of, "ends", "datum.high > datum.low", **look)
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
