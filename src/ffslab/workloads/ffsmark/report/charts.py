"""FFSMark's charts: bars of a question, and what time went to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ffslab.report import data, svg
from ffslab.report.charts import Look, cut_at, cut_marks, words
from ffslab.report.data import Group
from ffslab.report.vega import Spec, as_is, field, linear_scale, mark
from ffslab.workloads.ffsmark.report.catalogue import METRICS
from ffslab.workloads.ffsmark.report.questions import Question

_BAR_STEP = 21


def bars(question: Question, metric: str, look: Look, identifier: str) -> str:
    """Horizontal bars of one metric: a block per major value, a bar per minor value, a point per
    seed.
    """
    shown = METRICS[metric]
    rows, points = _bar_rows(question, metric, look)
    limit = cut_at([float(row["end"]) for row in rows])
    if limit is not None:
        _cut(rows, limit)
        points = [point for point in points if float(point["value"]) <= limit]
    order = list(dict.fromkeys(str(row["major"]) for row in rows))
    minors = list(dict.fromkeys(str(row["minor"]) for row in rows))
    top = max((float(row["end"]) for row in rows), default=0.0) or 1.0
    x = field(
        "value:Q",
        title=shown.axis,
        scale=linear_scale(0, top * 1.25),
        axis={"tickCount": 4, "labelExpr": _NUMBER_LABEL},
    )
    y = field("minor:N", title=None, sort=minors, axis={"labelLimit": 170})
    bar, dots, text = _bar_layers(x, y)
    layers = [bar, dots, text] if points else [bar, text]
    if limit is not None:
        layers.append(cut_marks(y, limit))
    header = {"labelAngle": 0, "labelAnchor": "start", "labelOrient": "top", "labelPadding": 1}
    chart = {
        "data": {"name": "rows"},
        "facet": {"row": field("major:N", sort=order, title=None, header=header)},
        "spec": {"layer": layers, "width": 315, "height": {"step": _BAR_STEP}},
        "spacing": 12,
        "resolve": {"scale": {"y": "independent"}},
    }
    caption = f"{shown.title}: " + "; ".join(
        f"{r['major']}, {r['minor']}: {r['label']}" for r in rows if "label" in r
    )
    return svg.draw(chart, caption, identifier, {"rows": rows + points})


def _bar_layers(x: Spec, y: Spec) -> tuple[Spec, Spec, Spec]:
    """Bars, points of the seeds, and the values beside them."""
    paint = {"fill": as_is("paint:N"), "fillOpacity": as_is("tint:Q"), "stroke": as_is("paint:N")}
    bar = mark("bar", {"x": x, "y": y, **paint}, where="isValid(datum.tint)", height=13)
    text = mark(
        "text",
        {"x": field("end:Q"), "y": y, **words("label:N")},
        where="isValid(datum.tint)",
        align="left",
        dx=7,
    )
    dots = mark(
        "circle",
        {"x": field("value:Q"), "y": y},
        where="isValid(datum.seed)",
        size=20,
        opacity=1,
        fill=svg.PAINT["point"],
        stroke=svg.PAINT["paper"],
        strokeWidth=1,
    )
    return bar, dots, text


def _cut(rows: Sequence[dict[str, Any]], limit: float) -> None:
    """Shorten bars to the limit, and mark them."""
    for row in rows:
        if float(row["end"]) > limit:
            row.update(value=min(float(row["value"]), limit), end=limit, cut=True)


def bars_are_cut(question: Question, metric: str) -> bool:
    """Whether the chart of a metric has bars that are longer than drawn."""
    ends = [max(values) for group in question.groups if (values := group.values(metric))]
    return cut_at(ends) is not None


def _bar_rows(
    question: Question, metric: str, look: Look
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows for bars (mean) and for points (each seed, when there is more than one)."""
    shown = METRICS[metric]
    minors: dict[str, list[str]] = {}
    for group in question.groups:
        minors.setdefault(data.group_label(group.axes, question.major), []).append(
            data.group_label(group.axes, question.minor)
        )
    rows: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    for group in question.groups:
        mean = group.mean(metric)
        if mean is None:
            continue
        values = [value / shown.scale for value in group.values(metric)]
        place = {
            "major": data.group_label(group.axes, question.major),
            "minor": data.group_label(group.axes, question.minor) or "all",
        }
        siblings = minors[data.group_label(group.axes, question.major)]
        rank = siblings.index(data.group_label(group.axes, question.minor))
        tint = 0.4 + 0.6 * rank / max(len(siblings) - 1, 1)
        # Where the bars are file systems, their colours tell them apart.
        tinted = len(siblings) > 1 and data.FILESYSTEM not in question.minor
        rows.append(
            {
                **place,
                "value": mean / shown.scale,
                "end": max(values),
                "label": shown.number(mean),
                "paint": svg.PAINT[look.colour(group.axes.get(data.FILESYSTEM, ""))],
                "tint": tint if tinted else 1.0,
            }
        )
        if len(values) > 1:
            points.extend(
                {**place, "value": v, "seed": c.seed}
                for v, c in zip(values, group.cases, strict=False)
            )
    return rows, points


TIME_PARTS = (
    ("flash_read_ns", "read", "t0"),
    ("flash_program_ns", "program", "t1"),
    ("flash_erase_ns", "erase", "t2"),
    ("flash_transfer_ns", "transfer", "t4"),
    ("rest_ns", "outside the flash", "t3"),
)


def time_split(groups: Sequence[Group], show: Sequence[str], identifier: str) -> str:
    """Stacked bars: where the time of the phases went; a bar that is cut keeps its proportions. The
    legend is the page's (see `TIME_PARTS`).
    """
    shown = _split_groups(groups, show)
    limit = cut_at([sum(parts) for parts in shown.values()])
    rows: list[dict[str, Any]] = []
    ends: dict[str, float] = {}
    for label, parts in shown.items():
        whole = sum(parts)
        is_cut = limit is not None and whole > limit
        shrink = limit / whole if is_cut and limit is not None else 1.0
        start = 0.0
        for value, (_, _, paint) in zip(parts, TIME_PARTS, strict=True):
            end = start + value * shrink
            rows.append({"label": label, "start": start, "end": end, "paint": svg.PAINT[paint]})
            start = end
        rows[-1]["cut"] = is_cut
        ends[label] = start
    texts = [
        {"label": label, "end": end, "text": METRICS["rest_ns"].number(sum(shown[label]) * 1e9)}
        for label, end in ends.items()
    ]
    chart = _split_chart(list(shown), max(ends.values(), default=1.0), limit)
    title = "Time of the phases split into flash reads, programs, erases, transfers and the rest"
    return svg.draw(chart, title, identifier, {"rows": rows, "texts": texts})


def _split_chart(order: Sequence[str], top: float, limit: float | None) -> Spec:
    y = field("label:N", sort=order, title=None, axis={"labelLimit": 320})
    x = field(
        "start:Q",
        title="virtual time of the workload's phases (s)",
        scale={"domain": [0, top * 1.1]},
    )
    paint = {"fill": as_is("paint:N"), "stroke": {"value": svg.PAINT["paper"]}}
    at_end = {"y": y, "x": field("end:Q"), **words("text:N")}
    layers = [
        mark("bar", {"y": y, "x": x, "x2": field("end"), **paint}, "rows", height=14),
        mark("text", at_end, "texts", align="left", dx=5),
    ]
    if limit is not None:
        layers.append(cut_marks(y, limit, "rows"))
    return {"layer": layers, "width": 560, "height": {"step": 22}}


def _split_groups(groups: Sequence[Group], show: Sequence[str]) -> dict[str, list[float]]:
    """The parts of each configuration's time in seconds, where all are known."""
    found = {}
    for group in groups:
        parts = [group.mean(key) for key, _, _ in TIME_PARTS]
        known = [part / 1e9 for part in parts if part is not None]
        if len(known) == len(parts):
            found[data.group_label(group.axes, show) or "all"] = known
    return found


def split_is_cut(groups: Sequence[Group], show: Sequence[str]) -> bool:
    """Whether the chart of the time's parts has bars that are shorter than their time."""
    return cut_at([sum(parts) for parts in _split_groups(groups, show).values()]) is not None


_NUMBER_LABEL = "format(datum.value, ',.6~r')"
