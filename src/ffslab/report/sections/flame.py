"""Where virtual time went by function: a flame graph and a table of each case that was profiled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.protocol.profile import WindowProfile, read_profile
from ffslab.report import svg
from ffslab.report.data import Run
from ffslab.report.elements import Table
from ffslab.report.quantity import difference, duration
from ffslab.report.sections.section import Chart, Section
from ffslab.report.vega import as_is, field, linear_scale, mark
from ffslab.results.profiles import (
    IDLE,
    FunctionTime,
    busy_ns,
    chosen,
    functions_of,
    profiles_at,
    stacks_of,
)

_WIDTH, _ROW = 900, 17  # pixels of the graph, and of a call's height
_LETTER = 6.3  # and of a letter's width
_LEAST = 0.002  # of all time: what is shorter is not drawn
_MOST_CASES = 8
_MOST_FUNCTIONS = 25
_PAINTS = {"[driver]": "t8", "[chip]": "t1"}
_TASK, _CODE = "t6", "t5"


Windows = Sequence[WindowProfile]


@dataclass(frozen=True, slots=True)
class Frame:
    """A box of the graph: a call, from `begin_ns` to `end_ns` of all time that is drawn; `own_ns`
    is what it took itself, `more_ns` what of that another profile had less.
    """

    name: str
    depth: int
    begin_ns: int
    end_ns: int
    own_ns: int
    more_ns: int


def frames_of(windows: Windows, base: Windows | None = None) -> tuple[Frame, ...]:
    """The calls as boxes, callers below; what a function calls stands in the order of names."""
    own = stacks_of(windows)
    before = own if base is None else stacks_of(base)
    tree: dict[str, Any] = {}
    for stack in own:
        if stack[0] == IDLE:
            continue
        level = tree
        for name in stack:
            level = level.setdefault(name, {})
    return tuple(_frames(tree, (), 0, own, before))


_Times = Mapping[tuple[str, ...], int]


def _frames(
    tree: Mapping[str, Any], above: tuple[str, ...], begin_ns: int, own: _Times, before: _Times
) -> Iterator[Frame]:
    for name in sorted(tree):
        stack = (*above, name)
        own_ns = own.get(stack, 0)
        called = tuple(_frames(tree[name], stack, begin_ns, own, before))
        end_ns = own_ns + max((frame.end_ns for frame in called), default=begin_ns)
        more_ns = own_ns - before.get(stack, 0)
        yield Frame(name, len(above), begin_ns, end_ns, own_ns, more_ns)
        yield from called
        begin_ns = end_ns


def flame(windows: Windows, title: str, identifier: str, base: Windows | None = None) -> str:
    """The flame graph: a box's width is its share of the time; the task stands at the bottom.

    With `base`, another profile, its colour says what the call takes more or less than there.
    """
    frames = frames_of(windows, base)
    total_ns = sum(frame.end_ns - frame.begin_ns for frame in frames if not frame.depth)
    most_ns = max((abs(frame.more_ns) for frame in frames), default=0)
    rows = [
        _row(frame, total_ns) | (_change(frame, most_ns) if base is not None else {})
        for frame in frames
        if frame.end_ns - frame.begin_ns >= _LEAST * total_ns
    ]
    if not rows:
        return ""
    x = field("begin:Q", scale=linear_scale(0, 100), title="% of the time", axis={"grid": False})
    y = field("depth:O", sort="descending", axis=None)
    tooltip = [
        *(field("name:N", title="function"), field("time:N", title="with calls")),
        field("share:N", title="share"),
        *([field("change:N", title="its own time")] if base is not None else []),
    ]
    box = {"x": x, "x2": field("end"), "y": y, "fill": as_is("paint:N"), "tooltip": tooltip}
    if base is not None:
        box["fillOpacity"] = as_is("strength:Q")
    label = {"x": x, "y": y, "text": field("label:N"), "tooltip": tooltip}
    letters = svg.PAINT["paper" if base is None else "ink"]
    layers = [
        mark("rect", box, stroke=svg.PAINT["paper"], strokeWidth=0.7),
        mark("text", label, align="left", dx=3, fontSize=10.5, fill=letters),
    ]
    spec = {"width": _WIDTH, "height": {"step": _ROW}, "layer": layers}
    return svg.draw(spec, title, identifier, {"rows": rows})


def _row(frame: Frame, total_ns: int) -> dict[str, Any]:
    share = (frame.end_ns - frame.begin_ns) / total_ns
    letters = int(share * _WIDTH / _LETTER) - 1
    name = frame.name
    short = name if len(name) <= letters else f"{name[: letters - 1]}…" if letters > 3 else ""
    paint = _PAINTS.get(name, _CODE if frame.depth else _TASK)
    return {
        "begin": round(100 * frame.begin_ns / total_ns, 4),
        "end": round(100 * frame.end_ns / total_ns, 4),
        "depth": frame.depth,
        "name": name,
        "label": short,
        "time": duration(frame.end_ns - frame.begin_ns),
        "share": f"{100 * share:.2g} %",
        "paint": svg.PAINT[paint],
    }


def _change(frame: Frame, most_ns: int) -> dict[str, Any]:
    """The colour and the words of what a call takes more; `most_ns` is the largest difference."""
    share = abs(frame.more_ns) / most_ns if most_ns else 0.0
    if share < _LEAST:
        return {"paint": svg.PAINT["grid"], "strength": 1.0, "change": "the same"}
    return {
        "paint": svg.PAINT["bad" if frame.more_ns > 0 else "good"],
        "strength": round(0.25 + 0.75 * share, 3),
        "change": f"{duration(frame.own_ns)}, {difference(frame.more_ns)}",
    }


def flame_section(run: Run, key: str = "") -> Section:
    """The graphs of the cases that have a profile; empty where none has."""
    paths = profiles_at(run.path, [case.id for case in run.cases])
    shown = [*paths.items()][:_MOST_CASES]
    cases = {case_id: chosen(read_profile(path), None) for case_id, path in shown}
    if not cases:
        return Section(f"{key}functions", "Which functions take the time?")
    rows = {case_id: functions_of(windows) for case_id, windows in cases.items()}
    charts, tables = [], []
    for number, (case_id, windows) in enumerate(cases.items()):
        drawing = flame(windows, case_id, f"{key}flame-{number}")
        charts.append(Chart(case_id, drawing, "Each box is a call, above its caller."))
        tables.append(_table(case_id, rows[case_id], busy_ns(windows)))
    return Section(
        key=f"{key}functions",
        title="Which functions take the time?",
        sentence=_sentence(rows, {case_id: busy_ns(own) for case_id, own in cases.items()}),
        charts=tuple(charts),
        tables=tuple(tables),
        note="Of all phases and steps, without the time in which all tasks wait. What UML's own "
        "code and emulated hardware take is their caller's; code beside a busy chip is the chip's.",
    )


def _sentence(rows: Mapping[str, Sequence[FunctionTime]], busy: Mapping[str, int]) -> str:
    told = []
    for case_id, (first, *_) in rows.items():
        share = first.own_ns / busy[case_id]
        told.append(f"{first.name.partition(' ')[0]} {100 * share:.0f} % of **{case_id}**")
    return f"Most own time: {', '.join(told[:3])}."


def _table(case_id: str, functions: Sequence[FunctionTime], total_ns: int) -> Table:
    rows = tuple(
        (
            *(row.name, duration(row.own_ns), f"{100 * row.own_ns / total_ns:.1f} %"),
            *(duration(ns) for ns in (row.code_ns, row.driver_ns, row.chip_ns)),
            f"{100 * row.total_ns / total_ns:.1f} %",
        )
        for row in functions[:_MOST_FUNCTIONS]
    )
    head = ("function", "own time", "share", "code", "driver", "chip", "with calls")
    return Table(case_id, head, (), rows)
