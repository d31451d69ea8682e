"""The charts: small, alike, with units on every axis and values at the ends of bars.

Colour says the file system, always the same one, and never alone: bars and lines are labelled or
dashed too. Beyond the number of colours, lines of one colour differ in their dashes. Colours are
stand-ins (see `svg`). Every function returns inline SVG.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.report import data, svg
from ffslab.report.catalogue import METRICS
from ffslab.report.data import Group
from ffslab.report.distribution import Tail
from ffslab.report.questions import Question
from ffslab.report.vega import Spec, as_is, field, linear_scale, log_scale, mark

# CSS variable → (light, dark): Okabe and Ito's palette, which colour-blind readers can tell
# apart; the dark values are lighter.
PALETTE: dict[str, tuple[str, str]] = {
    "c0": ("#0b6ab0", "#5aa9e6"),
    "c1": ("#d1590a", "#f0883e"),
    "c2": ("#00906a", "#2fc99d"),
    "c3": ("#b4528f", "#e08cc0"),
    "c4": ("#8a6d00", "#d9b93b"),
    "c5": ("#3d8fb8", "#8fd0f2"),
    "c6": ("#6a51a3", "#b3a0e0"),
    "c7": ("#5b6570", "#a8b0b8"),
    "t0": ("#8fc1b5", "#2f6f66"),
    "t1": ("#2c8577", "#49a798"),
    "t2": ("#0c3f3a", "#a9ded4"),
    "t3": ("#c9ced4", "#4a525b"),
    "t4": ("#c9a24a", "#b8923c"),
}
_SLOTS = {"jffs2": 0, "ubifs": 1, "yaffs2": 2, "logfs": 3, "squashfs": 4, "erofs": 6}
_DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3))
_BAR_STEP = 21


@dataclass(frozen=True)
class Look:
    """Colour slot per file system and dash per set of options, the same in every chart of a
    report.
    """

    slots: Mapping[str, int]
    dashes: Mapping[str, int]

    def colour(self, filesystem: str) -> str:
        return f"c{self.slots.get(filesystem, 0) % svg.SERIES}"

    def dash(self, options: str) -> tuple[int, ...]:
        return _DASHES[self.dashes.get(options, 0) % len(_DASHES)]


def look_for(groups: Sequence[Group]) -> Look:
    """Known file systems keep their colour across reports; others take the next free one."""
    names = list(dict.fromkeys(group.axes.get(data.FILESYSTEM, "") for group in groups))
    slots = {name: _SLOTS[name] for name in names if name in _SLOTS}
    # First the colours that no file system or a rare one has, then those of the others.
    order = (4, 5, 6, 7, 0, 1, 2, 3)
    free = [slot for slot in order if slot not in slots.values()]
    others = [name for name in names if name not in slots]
    slots |= {name: free[number % len(free)] for number, name in enumerate(others)}
    options: dict[str, int] = {}
    per_colour: dict[int, int] = {}
    for group in groups:
        slot = slots[group.axes.get(data.FILESYSTEM, "")]
        key = options_key(group.axes)
        if key not in options:
            options[key] = per_colour.get(slot, 0)
            per_colour[slot] = options[key] + 1
    return Look(slots, options)


def options_key(axes: Mapping[str, str]) -> str:
    """Everything that tells two lines of one file system in one state apart."""
    skipped = (data.STATE, data.SEED)
    return "|".join(f"{k}={v}" for k, v in sorted(axes.items()) if k not in skipped)


_GAP = 3  # times the next smaller bar: what would hide it
CUT_MEANING = "A slanted gap: the bar is longer than drawn, its value stands beside it."
_CUT_PATH = "M-1.1,1L-0.3,1L1.1,-1L0.3,-1Z"


def cut_at(lengths: Sequence[float]) -> float | None:
    """Where bars are cut, so that a few giants do not hide all others; None where there are none.

    Giants are at most a third of the bars, and the smallest of them is several times the next.
    """
    order = sorted((length for length in lengths if length > 0), reverse=True)
    gaps = [
        number
        for number in range(1, len(order) // 3 + 1)
        if order[number - 1] >= _GAP * order[number]
    ]
    return 1.4 * order[gaps[-1]] if gaps else None


def cut_marks(y: Spec, limit: float, data: str = "", **encodings: Spec) -> Spec:
    """The gaps in bars whose rows are `cut`, just before the limit; in the chart's paper colour."""
    encoding = {"x": {"datum": 0.9 * limit}, "y": y, **encodings}
    look = {"size": 190, "filled": True, "opacity": 1, "fill": svg.PAINT["paper"]}
    return mark("point", encoding, data, "datum.cut", shape=_CUT_PATH, **look)


def words(name: str) -> Spec:
    """The channels of a text in the page's ink, which a field of the rows has."""
    return {"text": field(name), "color": {"value": svg.PAINT["ink"]}}


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


@dataclass(frozen=True)
class Line:
    """One line of a latency chart."""

    facet: str
    filesystem: str
    options: str
    tail: Tail


def tails(lines: Sequence[Line], title: str, look: Look, identifier: str) -> str:
    """The share of operations slower than t, both axes logarithmic, one panel per initial state
    on the same scales.
    """
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(lines):
        rows.extend(
            {
                "facet": line.facet,
                "line": number,
                "t": t_ns,
                "share": share,
                "paint": svg.PAINT[look.colour(line.filesystem)],
                "dash": list(look.dash(line.options)),
            }
            for t_ns, share in line.tail
        )
    facets = list(dict.fromkeys(line.facet for line in lines))
    header = {"labelAnchor": "start"}
    chart = {
        "data": {"name": "rows"},
        "facet": {"column": field("facet:N", sort=facets, title=None, header=header)},
        "spec": {
            **mark("line", _tail_encoding(rows), interpolate="step-after", strokeWidth=1.6),
            "width": 370 if len(facets) > 1 else 560,
            "height": 190,
        },
        "spacing": 36,
    }
    return svg.draw(chart, title, identifier, {"rows": rows})


def _tail_encoding(rows: Sequence[Mapping[str, Any]]) -> Spec:
    low = max(min(row["t"] for row in rows), 1) * 0.8
    high = max(row["t"] for row in rows) * 1.1
    floor = min(row["share"] for row in rows) * 0.8
    shares = {
        "values": _decades(floor, 1),
        "labelExpr": "format(datum.value * 100, '~g') + ' %'",
        "labelColor": svg.PAINT["muted"],
    }
    return {
        "x": field(
            "t:Q",
            title="latency",
            scale=log_scale(low, high),
            axis={
                "values": _decades(low, high),
                "labelExpr": _TIME_LABEL,
                "labelFlush": False,
            },
        ),
        "y": field(
            "share:Q",
            title="share of operations slower",
            scale=log_scale(floor, 1),
            axis=shares,
        ),
        "detail": field("line:N"),
        "stroke": as_is("paint:N"),
        "strokeDash": as_is("dash:N"),
    }


_NUMBER_LABEL = "replace(format(datum.value, ',.6~r'), /,/g, '\u202f')"
_TIME_LABEL = (
    "datum.value < 1e3 ? format(datum.value, '~g') + ' ns' : datum.value < 1e6 ? "
    "format(datum.value / 1e3, '~g') + ' µs' : "
    "datum.value < 1e9 ? format(datum.value / 1e6, '~g') + ' ms' : format(datum.value / 1e9, "
    "'~g') + ' s'"
)


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten between low and high."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    return [float(f"1e{exponent}") for exponent in range(first, last + 1)]
