"""Horizontal bars as inline SVG: rows with a name on the left and a value at the end of each.

Drawn here rather than by Vega, as the maps of wear are: a report has dozens of them, Vega takes a
twentieth of a second for each, and a bar chart is a table whose rows have lengths. What has two
axes is Vega's. The width of a text is estimated for a wide font, so that in any reader's font
nothing overlaps or leaves the drawing. Colours are the page's variables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape

from ffslab.report.charts import cut_at
from ffslab.report.curves import Quantity, log_ticks
from ffslab.report.data import BETWEEN

PANEL = 450  # the width of a drawing that has one beside it
_THICK, _GAP = 13, 8  # of a bar, and between the rows
_HEAD = 22  # the height of a group's name
_TEXT = 11.5
_BESIDE = 6  # between a bar and what stands beside it
_LEAST = 160  # of the bars' width, whatever the names need
_FOOT, _HEADING_AT = 40, 32  # the height below the rows, and where the axis's heading is in it
_EDGE = 12  # on the right, for half of a number below the axis
_TICK = 100  # about so many pixels from one number of the axis to the next


@dataclass(frozen=True)
class Piece:
    """A part of a bar: its length, a colour of the palette, and how strong that is."""

    value: float
    colour: str
    strength: float = 1.0


@dataclass(frozen=True)
class Bar:
    """One bar: whose, which of several (its run), of what, and the text at its end. `low` and
    `high` are the range over seeds, equal where there is none, `points` the value of each seed
    where these are shown instead. `notch`: a length to mark in it. `group`: below whose name.
    """

    label: str
    run: str
    pieces: tuple[Piece, ...]
    text: str
    low: float = 0.0
    high: float = 0.0
    notch: float = 0.0
    points: tuple[float, ...] = ()
    group: str = ""

    @property
    def end(self) -> float:
        return max(self.length, self.high, *self.points)

    @property
    def length(self) -> float:
        return sum(max(piece.value, 0) for piece in self.pieces)

    @property
    def name(self) -> str:
        whose = BETWEEN.join(part for part in (self.group, self.label) if part)
        return f"{whose}, {self.run}" if self.run else whose


@dataclass(frozen=True)
class Scale:
    """Where values from `low` to `high` are on an axis `width` pixels long."""

    low: float
    high: float
    width: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        if self.logarithmic:
            return self.width * math.log(value / self.low) / math.log(self.high / self.low)
        return self.width * (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Round values about a hundred pixels from each other."""
        if self.logarithmic and self.high >= 10 * self.low:
            return log_ticks(self.low, self.high)
        wanted = (self.high - self.low) / max(self.width / _TICK, 2)
        exponent = math.floor(math.log10(wanted))
        steps = [float(f"{digit}e{exponent}") for digit in (1, 2, 5, 10)]
        step = min(steps, key=lambda size: abs(math.log(size / wanted)))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [float(f"{number * step:.10g}") for number in range(first, last + 1)]


@dataclass(frozen=True)
class Rows:
    """The rows of a chart by group and label, each with `lines` bars: where they are, with `names`
    pixels for what stands before them and `width` for the bars.
    """

    rows: tuple[tuple[str, str], ...]
    lines: int
    names: float
    width: float

    @classmethod
    def of(cls, rows: Sequence[tuple[str, str]], lines: int, whole: float) -> Rows:
        """The names take what they need of the whole width, but leave the bars some."""
        wanted = max((text_width(label) for _, label in rows), default=0) + _BESIDE
        names = min(wanted, whole - _LEAST - _EDGE)
        return cls(tuple(rows), lines, names, whole - names - _EDGE)

    @property
    def step(self) -> int:
        return self.lines * _THICK + _GAP

    @cached_property
    def groups(self) -> dict[str, list[tuple[str, str]]]:
        """The rows of each group, in which they stand below each other."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for row in self.rows:
            groups.setdefault(row[0], []).append(row)
        return groups

    def blocks(self) -> Iterator[tuple[str, float, float]]:
        """Each group with the upper and the lower edge of its rows."""
        top = 0
        for group, rows in self.groups.items():
            top += _HEAD * bool(group)
            yield group, top, top + len(rows) * self.step
            top += len(rows) * self.step

    @cached_property
    def _edges(self) -> dict[str, float]:
        """Where each group's rows begin."""
        return {group: edge for group, edge, _ in self.blocks()}

    @property
    def height(self) -> float:
        return max((end for _, _, end in self.blocks()), default=0)

    def top(self, row: tuple[str, str], line: int = 0) -> float:
        """The upper edge of a bar."""
        number = self.groups[row[0]].index(row)
        return self._edges[row[0]] + number * self.step + _GAP / 2 + line * _THICK


@dataclass(frozen=True)
class Frame:
    """Rows with a scale: what draws in them."""

    rows: Rows
    scale: Scale

    def bar(self, top: float, low: float, high: float, colour: str, strength: float = 1.0) -> str:
        start, length = self.scale.at(low), self.scale.at(high) - self.scale.at(low)
        path = f"M{short(start)} {short(top + 0.5)}h{short(length)}v{_THICK - 1}h{short(-length)}z"
        weak = "" if strength == 1 else f";fill-opacity:{strength:.2g}"
        look = f"fill:var(--{colour});stroke:var(--{colour});stroke-width:.8{weak}"
        return f'<path d="{path}" style="{look}"/>'

    def text(self, top: float, value: float, text: str, *, before: bool = False) -> str:
        """A text beside what ends at a value: behind it, or before it."""
        x = self.scale.at(value) + (-_BESIDE if before else _BESIDE)
        return written(x, top + _THICK / 2 + 4, text, "end" if before else "start")

    def line(self, value: float, dash: str = "") -> str:
        """A line through all rows."""
        dashed = f";stroke-dasharray:{dash}" if dash else ""
        path = f"M{short(self.scale.at(value))} 0V{short(self.rows.height)}"
        return f'<path d="{path}" style="stroke:var(--ink){dashed}"/>'

    def drawing(
        self, marks: Iterable[str], heading: str, title: str, identifier: str, sign: str = ""
    ) -> str:
        """The whole drawing; `sign` stands before the numbers of the axis."""
        width = self.rows.names + self.rows.width + _EDGE
        box = f"{short(-self.rows.names)} 0 {short(width)} {short(self.rows.height + _FOOT)}"
        drawn = "".join((*self._axis(heading, sign), *self._names(), *marks))
        return (
            f'<svg viewBox="{box}" style="max-width:{width:.0f}px" role="img" '
            f'aria-labelledby="{identifier}-title"><title id="{identifier}-title">{escape(title)}'
            f'</title><g font-size="{_TEXT}">{drawn}</g></svg>'
        )

    def _axis(self, heading: str, sign: str) -> Iterator[str]:
        """The grid, which is not behind the names of groups, with its numbers."""
        ticks = {tick: self.scale.at(tick) for tick in self.scale.ticks()}
        grid = "".join(
            f"M{short(x)} {short(top)}V{short(end)}"
            for _, top, end in self.rows.blocks()
            for x in ticks.values()
        )
        yield f'<path d="{grid}" style="stroke:var(--grid)"/>'
        below = self.rows.height
        for tick, x in ticks.items():
            number = f"{tick:,.6f}".rstrip("0").rstrip(".")
            yield written(x, below + 15, f"{sign}{number}", "middle", MUTED)
        yield written(self.rows.width / 2, below + _HEADING_AT, heading, "middle", MUTED)

    def _names(self) -> Iterator[str]:
        for group, top, _ in self.rows.blocks():
            if group:
                yield written(0, top - 4, group, "start", f'font-weight="bold" {INK}')
        for row in self.rows.rows:
            middle = self.rows.top(row) + (self.rows.step - _GAP) / 2
            label = shortened(row[1], self.rows.names - _BESIDE)
            whole = row[1] if label != row[1] else ""
            yield written(-_BESIDE, middle + 4, label, "end", whole=whole)


def bars(
    drawn: Sequence[Bar],
    shown: Quantity,
    words: tuple[str, str],
    width: int = PANEL,
    mark_at: float | None = None,
) -> str:
    """A chart of bars; several of one label are below each other in the order of their runs.

    Giants are cut (see `are_cut`); a cut bar keeps the proportions of its parts.
    `words`: the text alternative's beginning, and the identifier. `mark_at`: a value with a line.
    """
    limit = cut_at([bar.end for bar in drawn])
    lengths = [min(bar.end, limit or bar.end) / shown.scale for bar in drawn]
    mark = None if mark_at is None else mark_at / shown.scale
    runs = sorted({bar.run for bar in drawn})
    names = list(dict.fromkeys((bar.group, bar.label) for bar in drawn))
    rows = Rows.of(names, len(runs), width)
    needed = [
        length * rows.width / max(rows.width - text_width(bar.text) - _BESIDE, _LEAST / 4)
        for bar, length in zip(drawn, lengths, strict=True)
    ]
    frame = Frame(rows, Scale(0, max(*needed, mark or 0.0, 0.0) or 1.0, rows.width))
    marks = []
    for bar, length in zip(drawn, lengths, strict=True):
        top = rows.top((bar.group, bar.label), runs.index(bar.run))
        marks += [*_bar(frame, top, bar, shown.scale, length)]
    if mark is not None:
        marks.append(frame.line(mark, "4 3"))
    title = f"{words[0]}: " + "; ".join(f"{bar.name}: {bar.text}" for bar in drawn)
    return frame.drawing(marks, shown.heading, title, words[1])


def are_cut(drawn: Sequence[Bar]) -> bool:
    """Whether some bars are longer than drawn."""
    return cut_at([bar.end for bar in drawn]) is not None


def below_names(drawn: Sequence[Bar]) -> list[Bar]:
    """The bars below the names of their file systems, if one of these has several."""
    parts = {bar.label: bar.label.partition(BETWEEN) for bar in drawn}
    names = [name for name, _, _ in parts.values()]
    if len(set(names)) == len(names):
        return list(drawn)
    return [replace(bar, group=parts[bar.label][0], label=parts[bar.label][2]) for bar in drawn]


def _bar(frame: Frame, top: float, bar: Bar, unit: float, length: float) -> Iterator[str]:
    """A bar with what is in it and beside it. `length` is that of the whole in the axis's unit,
    which is `unit`; less than the bar's own if it is cut.
    """
    is_cut = bar.end / unit > length
    drawn = max(bar.length, bar.high, length * unit)
    shrink = length / drawn if is_cut else 1 / unit
    start = 0.0
    for piece in bar.pieces:
        end = start + max(piece.value, 0) * shrink
        if end > start:
            yield frame.bar(top, start, end, piece.colour, piece.strength)
        start = end
    middle = short(top + _THICK / 2)
    at = frame.scale.at
    if bar.high > bar.low:
        path = f"M{short(at(bar.low * shrink))} {middle}H{short(at(bar.high * shrink))}"
        yield f'<path d="{path}" style="stroke:var(--ink);stroke-width:1.2"/>'
    if bar.notch > 0:
        path = f"M{short(at(bar.notch * shrink))} {short(top)}v{_THICK}"
        yield f'<path d="{path}" style="stroke:var(--ink);stroke-width:2"/>'
    for point in () if is_cut else bar.points:
        centre = f'cx="{short(at(point * shrink))}" cy="{middle}" r="2.2"'
        yield f'<circle {centre} style="fill:var(--point);stroke:var(--paper)"/>'
    if is_cut:
        x, below = at(0.9 * length), top + _THICK
        gap = f"M{short(x - 8)} {short(below)}h6l10-{_THICK}h-6z"
        yield f'<path d="{gap}" style="fill:var(--paper)"/>'
    yield frame.text(top, length, bar.text)


def text_width(text: str, size: float = _TEXT) -> float:
    """About how many pixels a text takes in a wide font such as DejaVu Sans."""
    return size * sum(_WIDTHS.get(letter, 0.64) for letter in text)


_WIDTHS = {
    **dict.fromkeys("ijl|'.,:;· \u00a0", 0.34),
    **dict.fromkeys("frtI()[]-/", 0.42),
    **dict.fromkeys("mwMW%", 0.98),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ", 0.74),
}


def shortened(text: str, room: float) -> str:
    """The text, or as much of it as there is room for, and an ellipsis."""
    kept = len(text)
    while kept > 1 and text_width(text[:kept] + "…" * (kept < len(text))) > room + 0.5:
        kept -= 1
    return text if kept == len(text) else f"{text[:kept].rstrip()}…"


def written(x: float, y: float, text: str, anchor: str, look: str = "", whole: str = "") -> str:
    """A text in ink, or as `look` says; `whole` is what it is short for."""
    at = f'x="{short(x)}" y="{short(y)}" text-anchor="{anchor}"'
    told = f"<title>{escape(whole)}</title>" if whole else ""
    return f"<text {at} {look or INK}>{told}{escape(text)}</text>"


INK = 'style="fill:var(--ink)"'
MUTED = 'style="fill:var(--muted)"'


def short(number: float) -> str:
    """A coordinate with one decimal, if it has one."""
    text = f"{number:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
