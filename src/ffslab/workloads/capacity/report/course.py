"""The writes of a case until its partition was full: how long each took, and what was left."""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.report import svg
from ffslab.report.curves import PLAIN_NUMBER, Style, log_ticks
from ffslab.report.vega import Spec, field, linear_scale, log_scale, mark
from ffslab.workloads.micro.report.requests import thin
from ffslab.workloads.micro.requests import RequestSeries

_MIB, _MS, _S = 2**20, 1e6, 1e9
_WIDTH, _HEIGHT, _LOWER = 620, 170, 70
MOST_PEAKS = 3  # that are marked with their causes


@dataclass(frozen=True)
class Dot:
    """A write: when it began, how long it took, and what had been promised and was not written."""

    s: float
    ms: float
    left_mib: float


@dataclass(frozen=True)
class Course:
    """What is drawn of a case; `peaks` are of the longest writes: dot and cause."""

    dots: tuple[Dot, ...]
    peaks: tuple[tuple[Dot, str], ...]
    count: int

    @property
    def thinned(self) -> bool:
        return len(self.dots) < self.count


def course_of(
    series: RequestSeries, promised_bytes: int, request_bytes: int, causes: dict[int, str]
) -> Course | None:
    """What is drawn of the requests; None without any. `causes`: of the longest, by number."""
    if not series.latency_ns:
        return None
    first = series.t_start_ns[0]

    def dot(number: int) -> Dot:
        written = series.offset[number] + request_bytes
        return Dot(
            (series.t_start_ns[number] - first) / _S,
            series.latency_ns[number] / _MS,
            (promised_bytes - written) / _MIB,
        )

    shown = tuple(dot(number) for number, _ in thin(series.latency_ns))
    peaks = tuple((dot(number), cause) for number, cause in list(causes.items())[:MOST_PEAKS])
    return Course(shown, peaks, len(series.latency_ns))


def draw(course: Course, style: Style, title: str, identifier: str) -> str:
    """Latency over time with the peaks' causes, and below it the space that is left."""
    low = max(min(dot.ms for dot in course.dots), 1e-3) * 0.85
    top = max(dot.ms for dot in course.dots) * 1.6  # room for words
    end = max(dot.s for dot in course.dots) * 1.02 or 1
    x = field("s:Q", scale=linear_scale(0, end), axis={"tickCount": 6, "labelExpr": PLAIN_NUMBER})
    above = {**x, "title": None, "axis": {"labels": False, "tickCount": 6}}
    below = {**x, "title": "virtual time (s)"}
    marks = {"values": log_ticks(low, top), "labelExpr": PLAIN_NUMBER}
    y = field("ms:Q", title="a write (ms)", scale=log_scale(low, top), axis=marks)
    colour = svg.PAINT[style.colour]
    ink = svg.PAINT["ink"]
    at_end = f"datum.s > {end * 0.7}"
    upper: list[Spec] = [
        mark("circle", {"x": above, "y": y}, "dots", size=5, opacity=1, fill=colour),
        mark("point", {"x": above, "y": y}, "peaks", size=40, stroke=ink, strokeWidth=1),
    ]
    for where, align, dx in ((at_end, "right", -8), (f"!({at_end})", "left", 8)):
        words = {"x": above, "y": y, "text": field("cause")}
        upper.append(mark("text", words, "peaks", where, align=align, dx=dx, baseline="bottom"))
    lowest = min(dot.left_mib for dot in course.dots)
    highest = max(dot.left_mib for dot in course.dots)
    scale = linear_scale(min(lowest, 0), highest)
    left = field("left:Q", title=["left (MiB)"], scale=scale, axis={"tickCount": 3})
    lower = mark("line", {"x": below, "y": left}, "dots", stroke=colour, strokeWidth=1.5)
    panes = [
        {"layer": upper, "width": _WIDTH, "height": _HEIGHT},
        {"layer": [lower], "width": _WIDTH, "height": _LOWER},
    ]
    rows = [{"s": dot.s, "ms": dot.ms, "left": dot.left_mib} for dot in course.dots]
    named = [
        {"s": dot.s, "ms": dot.ms, "left": dot.left_mib, "cause": cause}
        for dot, cause in course.peaks
    ]
    chart = {"vconcat": panes, "spacing": 8}
    return svg.merge_dots(svg.draw(chart, title, identifier, {"dots": rows, "peaks": named}))
