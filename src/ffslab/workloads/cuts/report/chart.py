"""What mounts took, over the operation at which power was cut: strips that share their x axis.

Drawn here, as bars are (`ffslab.report.bars`). Thousands of operations become as many strokes as
there are pixels, each from the lowest to the highest value below it, so that no worst case is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ffslab.report.bars import MUTED, PANEL, Scale, short, text_width, written
from ffslab.report.quantity import grouped
from ffslab.workloads.cuts.report.recovery import Series

_TALL = 58  # of a strip's drawing
_HEAD, _GAP = 18, 12  # of its heading, and below it
_FOOT = 34
_EDGE = 10
_COLUMN = 1.5  # the width of a stroke: cuts in it are drawn as one
_SIZE = 11.5


def strips(
    shown: Sequence[Series], operations: int, colour: str, title: str, identifier: str
) -> str:
    """The chart; `colour` is of the palette, `identifier` unique in the page.

    What is 0 after every cut has a line of text only.
    """
    left = max(text_width(_tick(_top(series))) for series in shown) + 8
    across = Scale(0, max(operations - 1, 1), PANEL - left - _EDGE)
    drawn: list[str] = []
    y = 0.0
    for series in shown:
        drawn += _heading(series, y, across.width)
        y += _HEAD
        if _top(series):
            drawn += _strip(series, across, y, colour)
            y += _TALL + _GAP
    # Behind a strip the gap is room for the axis; behind a line of text there is none to spare.
    end = y - _GAP if _top(shown[-1]) else y
    drawn += _axis(across, end)
    box = f"{short(-left)} 0 {PANEL} {short(end + _FOOT)}"
    words = "; ".join(
        f"{series.name}: {series.text(series.worst[1])} after a cut at operation {series.worst[0]}"
        for series in shown
    )
    return (
        f'<svg viewBox="{box}" style="max-width:{PANEL}px" role="img" '
        f'aria-labelledby="{identifier}-title"><title id="{identifier}-title">'
        f'{escape(f"{title}. Worst: {words}")}</title><g font-size="{_SIZE}">{"".join(drawn)}'
        "</g></svg>"
    )


def _top(series: Series) -> float:
    return max(series.worst[1], series.uncut or 0.0)


def _tick(value: float) -> str:
    return grouped(round(value)) if value >= 10 or value == round(value) else f"{value:.2g}"


def _heading(series: Series, y: float, width: float) -> Iterator[str]:
    at, value = series.worst
    name = f"{series.name} ({series.unit})" if series.unit else series.name
    yield written(0, y + 11, name, "start")
    worst = f"○ {series.text(value)} at {grouped(at)}" if _top(series) else "none"
    yield written(width, y + 11, worst, "end", "" if _top(series) else MUTED)


def _strip(series: Series, across: Scale, y: float, colour: str) -> Iterator[str]:
    top = _top(series)
    up = Scale(0, top, _TALL - 5)  # room for the ring of the worst case

    def at(value: float) -> float:
        return y + _TALL - up.at(value)

    lines = f"M0 {short(at(0))}H{short(across.width)}M0 {short(at(top))}H{short(across.width)}"
    yield f'<path d="{lines}" style="stroke:var(--grid)"/>'
    yield written(-6, at(0) + 4, "0", "end", MUTED)
    yield written(-6, at(top) + 4, _tick(top), "end", MUTED)
    if series.uncut is not None:
        level = f"M0 {short(at(series.uncut))}H{short(across.width)}"
        yield f'<path d="{level}" style="stroke:var(--ink);stroke-dasharray:4 3"/>'
    columns: dict[int, list[float]] = {}
    for operation, value in series.points:
        columns.setdefault(round(across.at(operation) / _COLUMN), []).append(value)
    path = []
    for column, values in columns.items():
        low, high = at(min(values)), at(max(values))
        stroke = f"V{short(high)}" if short(low) != short(high) else "h0"
        path.append(f"M{short(column * _COLUMN)} {short(low)}{stroke}")
    # Few points are larger, to be seen.
    thick = 2 if len(columns) > across.width / 4 else 3.4
    look = f"stroke:var(--{colour});stroke-width:{thick};stroke-linecap:round;fill:none"
    yield f'<path d="{"".join(path)}" style="{look}"/>'
    operation, value = series.worst
    ring = f'cx="{short(across.at(operation))}" cy="{short(at(value))}" r="4.5"'
    yield f'<circle {ring} style="fill:none;stroke:var(--ink);stroke-width:1.4"/>'


def _axis(across: Scale, y: float) -> Iterator[str]:
    for tick in across.ticks():
        if tick == round(tick):
            yield written(across.at(tick), y + 14, grouped(round(tick)), "middle", MUTED)
    yield written(across.width / 2, y + 29, "operation at which power was cut", "middle", MUTED)
