"""A ratio's tornado: how far each estimate moves it when halved and doubled, the farthest on top.

The axis is logarithmic, so that a factor has one length wherever it is. The solid line is the
ratio as stated; the dashed one is 1, where the order turns.
"""

from __future__ import annotations

from typing import Any

from ffslab.model.estimates import AS_STATED, OTHER_WAIT, TITLES
from ffslab.report import svg
from ffslab.report.charts import altair_module, themed
from ffslab.report.estimates.verdicts import Ratio, estimate_of
from ffslab.report.parts import Key
from ffslab.report.quantity import times

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
                "reach": max(value / stated, stated / value),
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
    alt = altair_module()
    order = list(
        dict.fromkeys(
            row["estimate"] for row in sorted(rows, key=lambda row: row["reach"], reverse=True)
        )
    )
    ends = [value for row in rows for value in (row["from"], row["to"])]
    low, high = min(ends), max(ends)
    room = (high / low) ** 0.22
    domain = [low / room, high * room]
    x = alt.X(
        "from:Q",
        title=ratio.name,
        scale=alt.Scale(type="log", domain=domain, nice=False),
        axis=alt.Axis(tickCount=5, labelExpr="'×' + format(datum.value, '.3~g')"),
    )
    y = alt.Y("estimate:N", sort=order, title=None, axis=alt.Axis(labelLimit=200))
    base = alt.Chart(alt.Data(values=rows))
    bars = base.mark_bar(height=11).encode(
        x=x, x2="to:Q", y=y, fill=alt.Fill("paint:N", scale=None, legend=None)
    )
    right = base.transform_filter("datum.to >= datum.from").mark_text(align="left", dx=4)
    left = base.transform_filter("datum.to < datum.from").mark_text(align="right", dx=-4)
    ink = alt.value(svg.PAINT["ink"])
    texts = [mark.encode(x=alt.X("to:Q"), y=y, text="label:N", color=ink) for mark in (right, left)]
    lines = [(ratio.mean(), (1, 0))] + ([(1.0, (4, 3))] if domain[0] < 1 < domain[1] else [])
    rules = [
        alt.Chart(alt.Data(values=[{"at": at}]))
        .mark_rule(stroke=svg.PAINT["ink"], strokeDash=list(dash))
        .encode(x=alt.X("at:Q"))
        for at, dash in lines
    ]
    chart = alt.layer(bars, *rules, *texts).properties(width=250, height=alt.Step(18))
    caption = f"{ratio.metric}, {ratio.where}: {ratio.name}: " + "; ".join(
        f"{row['change']} {times(row['to'])}" for row in rows
    )
    return svg.draw(themed(chart), caption, identifier)
