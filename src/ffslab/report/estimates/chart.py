"""How far the changes of estimates move each ratio: a row for each, from the least to the most that
it becomes, with the ratio as stated.

The axis is logarithmic, so that a factor has one length wherever it is; the line is 1, where the
order turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ffslab.report import plots, svg
from ffslab.report.estimates.robustness import Ratio
from ffslab.report.quantity import times
from ffslab.report.vega import PLAIN_NUMBER, as_is, field, log_scale, log_ticks, mark

_TURNS, _HOLDS = svg.PAINT["c1"], svg.PAINT["c0"]


def ranges(ratios: Sequence[Ratio], identifier: str) -> str:
    """The chart of these ratios, in their order; empty without any."""
    rows = [_row(ratio) for ratio in ratios]
    if not rows:
        return ""
    low = min(0.95, *(row["least"] for row in rows)) / 1.03
    high = max(1.05, *(row["most"] for row in rows)) * 1.03
    ticks = {"values": log_ticks(low, high), "labelExpr": PLAIN_NUMBER, "labelOverlap": True}
    title = "longer time ÷ shorter time"
    x = field("least:Q", title=title, scale=log_scale(low, high), axis=ticks)
    y = field("row:N", sort=None, title=None, axis={"labelLimit": 330, "grid": False})
    tip = [field(f"{name}:N") for name in ("row", "verdict", "range")]
    stated = {"x": {**x, "field": "stated"}, "y": y, "fill": as_is("paint:N"), "tooltip": tip}
    reach = {"x": x, "x2": field("most"), "y": y, "stroke": as_is("paint:N"), "tooltip": tip}
    layers = [
        mark("rule", {"x": {"datum": 1}}, stroke=svg.PAINT["muted"], strokeDash=[3, 3]),
        mark("rule", reach, strokeWidth=6, opacity=0.45),
        mark("point", stated, size=60, opacity=1, strokeWidth=0),
    ]
    spec = {"width": plots.WIDE - 200, "height": {"step": plots.ROW}, "layer": layers}
    return svg.draw(spec, "Ratios under all changes", identifier, {"rows": rows})


def _row(ratio: Ratio) -> dict[str, Any]:
    values = [value for change in ratio.values if (value := ratio.mean(change)) is not None]
    turns = bool(ratio.turned_by)
    least, most = min(values), max(values)
    return {
        "row": ", ".join(part for part in (ratio.metric, ratio.where, ratio.name) if part),
        "least": least,
        "most": most,
        "stated": ratio.mean() or 1.0,
        "paint": _TURNS if turns else _HOLDS,
        "verdict": "turns" if turns else "holds",
        "range": f"{times(least)} to {times(most)}",
    }
