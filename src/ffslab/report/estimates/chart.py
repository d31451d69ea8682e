"""A ratio's tornado: how far each estimate moves it when halved and doubled, the farthest on top.

The axis is logarithmic, so that a factor has one length wherever it is. The solid line is the
ratio as stated; the dashed one is 1, where the order turns.
"""

from __future__ import annotations

from typing import Any

from ffslab.model.estimates import AS_STATED, OTHER_WAIT, TITLES
from ffslab.report import svg
from ffslab.report.charts import words
from ffslab.report.estimates.verdicts import Ratio, estimate_of
from ffslab.report.parts import Key
from ffslab.report.quantity import times
from ffslab.report.vega import as_is, field, log_scale, mark

KEYS = (
    Key("estimate halved", "t0"),
    Key("estimate doubled", "t2"),
    Key("the other wait model", "t1"),
)
_SHOWN = 1.002  # below, there is no bar: nothing would be seen
_NAMED = 1.01  # below, a bar has no number: two of them would be one on the other


def bars_of(ratio: Ratio) -> list[dict[str, Any]]:
    """One bar for each change that moves the ratio, from what is stated to what it becomes."""
    stated = ratio.mean()
    assert stated is not None
    rows: list[dict[str, Any]] = []
    for change in ratio.values:
        value = ratio.mean(change)
        if change == AS_STATED or value is None:
            continue
        rows.append(
            {
                "estimate": TITLES[estimate_of(change)],
                "from": stated,
                "to": value,
                "reach": ratio.reach_of([change]),
                "paint": svg.PAINT[_paint(change)],
                "label": times(value),
                "change": change,
            }
        )
    for row in rows:
        same_side = [
            other["reach"]
            for other in rows
            if other["estimate"] == row["estimate"]
            and (other["to"] >= stated) == (row["to"] >= stated)
        ]
        # Two numbers at one end would be one on the other.
        if row["reach"] < max(_NAMED, *same_side):
            row["label"] = ""
    return rows


def _paint(change: str) -> str:
    if change == OTHER_WAIT:
        return "t1"
    return "t0" if change.startswith("half") else "t2"


def tornado(ratio: Ratio, identifier: str) -> str:
    """The chart of one ratio; empty if no change moves it."""
    rows = [row for row in bars_of(ratio) if row["reach"] >= _SHOWN]
    if not rows:
        return ""
    order = list(
        dict.fromkeys(
            row["estimate"] for row in sorted(rows, key=lambda row: row["reach"], reverse=True)
        )
    )
    ends = [value for row in rows for value in (row["from"], row["to"])]
    room = (max(ends) / min(ends)) ** 0.22
    low, high = min(ends) / room, max(ends) * room
    x = field(
        "from:Q",
        title=ratio.name,
        scale=log_scale(low, high),
        axis={"tickCount": 5, "labelExpr": "'×' + format(datum.value, '.3~g')"},
    )
    y = field("estimate:N", sort=order, title=None, axis={"labelLimit": 200})
    at_end = {"x": field("to:Q"), "y": y, **words("label:N")}
    lines = {"mean": [1, 0]} | ({"one": [4, 3]} if low < 1 < high else {})
    layers = [
        mark(
            "bar",
            {"x": x, "x2": field("to"), "y": y, "fill": as_is("paint:N")},
            "rows",
            height=11,
        ),
        *(
            mark(
                "rule",
                {"x": field("at:Q")},
                name,
                stroke=svg.PAINT["ink"],
                strokeDash=dash,
            )
            for name, dash in lines.items()
        ),
        mark("text", at_end, "rows", "datum.to >= datum.from", align="left", dx=4),
        mark("text", at_end, "rows", "datum.to < datum.from", align="right", dx=-4),
    ]
    caption = f"{ratio.metric}, {ratio.where}: {ratio.name}: " + "; ".join(
        f"{row['change']} {times(row['to'])}" for row in rows
    )
    return svg.draw(
        {"layer": layers, "width": 250, "height": {"step": 18}},
        caption,
        identifier,
        {"rows": rows, "mean": [{"at": ratio.mean()}], "one": [{"at": 1.0}]},
    )
