"""The requests of a case in order, thinned to what a chart can show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ffslab.report import svg
from ffslab.report.vega import PLAIN_NUMBER, Spec, field, linear_scale, log_scale, log_ticks, mark
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.micro.requests import read_requests, thinned

MOST_DOTS = 500
_WIDTH, _HEIGHT = 290, 150


@dataclass(frozen=True)
class Course:
    """A case's first stream: how many requests, (number, latency in ns) of some of them, and the
    requests in or after which blocks were erased.
    """

    count: int
    dots: tuple[tuple[int, int], ...]
    erases: tuple[int, ...]


def course_of(folder: Path, case_id: str) -> Course | None:
    """A case's requests for drawing; None when it has none.

    Raises DamagedResultError when its records are no longer there, or cannot be read.
    """
    series = read_requests(RunDirectory(folder).case_dir(case_id))
    if not series or not series[0].latency_ns:
        return None
    first = series[0]
    rows = (*first.during, *first.after)
    erased = sorted({row.request for row in rows if row.blocks_erased})
    dots = tuple(thinned(first.latency_ns, MOST_DOTS))
    return Course(len(first.latency_ns), dots, tuple(erased))


def draw(
    course: Course, ends_ns: tuple[int, int], paint: str, startup: int, title: str, identifier: str
) -> str:
    """Response times in order, from and to `ends_ns` in all such charts; ticks below them are
    erases, a dashed line ends the start-up.
    """
    low, high = (max(end, 1) / 1e6 for end in ends_ns)
    dots = [{"n": number, "t": max(latency, 1) / 1e6} for number, latency in course.dots]
    step = max(course.count // (MOST_DOTS // 2), 1)
    bins = dict.fromkeys(number // step * step for number in course.erases)
    x = field(
        "n:Q",
        title="request",
        scale=linear_scale(0, course.count),
        axis={"tickCount": 4, "labelExpr": PLAIN_NUMBER},
    )
    scale = log_scale(low / 1.6, high * 1.2)
    y_axis = {"values": log_ticks(low, high), "labelExpr": PLAIN_NUMBER}
    y = field("t:Q", title="response (ms)", scale=scale, axis=y_axis)
    tip = [field("n:Q", title="request"), field("t:Q", title="ms")]
    bottom = {"value": _HEIGHT}
    layers: list[Spec] = [
        mark("circle", {"x": x, "y": y, "tooltip": tip}, "dots", size=7, opacity=0.8, fill=paint),
        mark("tick", {"x": x, "y": bottom}, "erases", orient="vertical", size=8, **_INK),
        mark("rule", {"x": x}, "startup", strokeDash=[4, 3], **_INK),
    ]
    datasets: dict[str, list[dict[str, float]]] = {
        "dots": dots,
        "erases": [{"n": number} for number in bins],
        "startup": [{"n": startup}] if startup else [],
    }
    chart: Spec = {"layer": layers, "width": _WIDTH, "height": _HEIGHT}
    return svg.draw(chart, title, identifier, datasets)


_INK = {"color": svg.PAINT["ink"]}
