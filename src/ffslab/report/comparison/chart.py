"""The chart of a comparison: a dot for each figure that moved, new ÷ base on a logarithmic axis.

Rows go from what became worst to what became best; a bar behind a dot is its band of builds. A
hollow dot is not worse or better: within its band or threshold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.compare.engine import CaseRow, Comparison, FigureRow
from ffslab.compare.ratios import factor
from ffslab.compare.verdicts import CHANGES, Verdict
from ffslab.compare.words import band_words, change_words, values_text
from ffslab.report import data, plots, svg
from ffslab.report.comparison.headline import axes_of, case_words, plain_title
from ffslab.report.vega import PLAIN_NUMBER, Spec, field, log_scale, log_ticks, mark

MOST_ROWS = 24
_WIDTH, _STEP, _LABEL = 480, 18, 420
_MOST_TICKS = 6
_MOVED = frozenset({*CHANGES, Verdict.BAND, Verdict.THRESHOLD})
_SIGNS = {Verdict.WORSE: ("✗ ", "bad"), Verdict.BETTER: ("✓ ", "good")}


@dataclass(frozen=True)
class Drawn:
    """The chart, and how many figures moved of which it shows some."""

    drawing: str
    shown: int
    moved: int
    has_band: bool


def chart_of(comparison: Comparison, identifier: str) -> Drawn:
    """The chart of the figures that decide; of others where none of these moved."""
    moved = [(case, row) for case in comparison.cases for row in case.rows if _has_place(row)]
    moved = [entry for entry in moved if entry[1].decides] or moved
    furthest = sorted(moved, key=lambda entry: (_rank(entry[1]), -entry[1].distance))[:MOST_ROWS]
    if not furthest:
        return Drawn("", 0, 0, False)
    furthest.sort(key=lambda entry: -worsening(entry[1]))
    rows = _rows(comparison, furthest)
    title = f"{comparison.new.name} ÷ {comparison.base.name}"
    drawing = svg.draw(_spec(rows), title, identifier, {"rows": rows})
    return Drawn(drawing, len(rows), len(moved), any(row["low"] is not None for row in rows))


def worsening(row: FigureRow) -> float:
    """How many times worse a figure became, below 1 where it is better; 0 without a ratio.

    Of what is neither better nor worse it is the ratio.
    """
    ratio = row.ratio or 0.0
    return 1 / ratio if ratio and row.figure.better == "higher" else ratio


def _has_place(row: FigureRow) -> bool:
    return row.verdict in _MOVED and row.ratio is not None and row.ratio > 0


def _rank(row: FigureRow) -> bool:
    return row.verdict not in CHANGES


def _rows(
    comparison: Comparison, moved: Sequence[tuple[CaseRow, FigureRow]]
) -> list[dict[str, Any]]:
    axes = axes_of(comparison)
    systems = [axes.get(case.label, {}).get(data.FILESYSTEM, "") for case, _ in moved]
    paint = plots.paints(systems)
    several = len(comparison.cases) > 1
    rows = []
    for (case, row), system in zip(moved, systems, strict=True):
        words = case_words(comparison, case)
        title = plain_title(row)
        sign, tone = _SIGNS.get(row.verdict, ("", "muted"))
        low, high = _band(row)
        base, new = values_text(row.figure.metric, row.base, row.new)
        rows.append(
            {
                "row": f"{words}{data.BETWEEN}{title}" if several else title,
                "case": words,
                "figure": title,
                "values": f"{base} → {new}",
                "change": f"{sign}{change_words(row)}",
                "verdict": str(row.verdict),
                "band": band_words(row),
                "value": row.ratio,
                "low": low,
                "high": high,
                "tone": svg.PAINT[tone],
                "paint": paint[system],
                "fill": paint[system] if row.verdict in _SIGNS else svg.PAINT["paper"],
            }
        )
    return rows


def _band(row: FigureRow) -> tuple[float | None, float | None]:
    """The band as ratios; none where it is no measure on a logarithmic axis."""
    if row.band is None or row.band.relative is None or row.band.relative[0] <= -1:
        return None, None
    return 1 + row.band.relative[0], 1 + row.band.relative[1]


def _spec(rows: Sequence[dict[str, Any]]) -> Spec:
    ends = [row[name] for row in rows for name in ("value", "low", "high") if row[name] is not None]
    margin = max(factor(max(ends)), factor(min(ends))) ** 0.06
    low, high = min([*ends, 1.0]) / margin, max([*ends, 1.0]) * margin
    ticks = {"values": _ticks(low, high), "labelExpr": PLAIN_NUMBER, "labelFlush": False}
    x = field("value:Q", title="new ÷ base", scale=log_scale(low, high), axis=ticks)
    names = {"labelLimit": _LABEL, "grid": True}
    y = field("row:N", sort=[row["row"] for row in rows], title=None, axis=names)
    stroke = field("paint:N", scale=None, legend=None)
    fill = field("fill:N", scale=None, legend=None)
    told = ("case", "figure", "values", "change", "verdict", "band")
    tooltip = [field(f"{name}:N") for name in told]
    band = {"x": {**x, "field": "low"}, "x2": field("high"), "y": y, "tooltip": tooltip}
    change = {"y": y, "x": {"value": _WIDTH + 8}, "text": field("change:N")}
    tone = field("tone:N", scale=None, legend=None)
    layers = [
        mark("bar", band, where="datum.low !== null", size=_STEP - 6, fill=svg.PAINT["muted"],
             opacity=0.35),
        mark("rule", {"x": {"datum": 1}}, stroke=svg.PAINT["muted"]),
        mark("point", {"x": x, "y": y, "stroke": stroke, "fill": fill, "tooltip": tooltip},
             size=70, opacity=1, strokeWidth=2),
        mark("text", {**change, "fill": tone}, align="left", clip=False),
    ]  # fmt: skip
    return {"data": {"name": "rows"}, "width": _WIDTH, "height": {"step": _STEP}, "layer": layers}


def _ticks(low: float, high: float) -> list[float]:
    """The ticks of a logarithmic axis; of a narrow one they are equally far apart."""
    if high > 2 * low:
        return log_ticks(low, high)
    power = 10.0 ** math.floor(math.log10((high - low) / 2))
    step = next(power * n for n in (1, 2, 5, 10) if (high - low) / (power * n) <= _MOST_TICKS)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]
