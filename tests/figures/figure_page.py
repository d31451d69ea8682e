"""A document's numbers, each bound to a quantity or stated with a reason; compared and refreshed.

A *text* is a piece of the document with a `{}` for each number that a run gives, and `{*}` for
words that it gives. A *table* is found by its head and has a quantity for each number of its cells.
White space is as the document breaks its lines. Every number of the document is in one of them, or
in a piece that is `stated`: a setting, a figure of a data sheet, how long the command takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from textwrap import shorten

from figure_numbers import NUMBER, agrees, in_unit, numbers, unit_behind, written
from figure_runs import ROOT, Command, Quantity, Runs

_TOLD = 160  # letters of what a figure is made of
_HOLE = re.compile(r"\{(\*?)\}")


class PageError(ValueError):
    """A binding that does not fit its document, or a number that has none."""


@dataclass(frozen=True)
class Stated:
    """A cell whose numbers no run gives, and why."""

    why: str


Cell = Quantity | Sequence[Quantity] | Stated


@dataclass(frozen=True)
class Text:
    """A piece of the document; `within`: by how large a share its numbers may be off."""

    text: str
    quantities: tuple[Quantity, ...]
    within: float = 0.0


def text(piece: str, *quantities: Quantity, within: float = 0.0) -> Text:
    """A piece with a quantity for each of its holes."""
    return Text(piece, quantities, within)


@dataclass(frozen=True)
class Table:
    """The table below `head`: by the first cells of each row what the further cells state.

    `unit`: that of all its cells, if it stands in the head.
    """

    head: str
    rows: Mapping[str | tuple[str, ...], Sequence[Cell]]
    unit: str = ""


@dataclass(frozen=True)
class Page:
    """A document. `commands` give its figures; `elsewhere`: others that it names, and what for."""

    document: str
    commands: tuple[Command, ...]
    bindings: tuple[Text | Table, ...]
    stated: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return ROOT / self.document


@dataclass(frozen=True)
class Hole:
    """A place of the document with what should stand there."""

    start: int
    stated: str
    unit: str
    quantity: Quantity
    within: float = 0.0

    @property
    def end(self) -> int:
        return self.start + len(self.stated)

    def now(self, runs: Runs) -> str:
        """What the runs give: the same text if that is within its precision."""
        value = self.quantity.of(runs)
        if isinstance(value, str):
            return value
        here = in_unit(value, self.unit) if self.unit else value
        return self.stated if agrees(self.stated, here, self.within) else written(here, self.stated)


@dataclass(frozen=True)
class Difference:
    """A figure that is no longer as stated."""

    document: str
    line: int
    hole: Hole
    now: str

    def __str__(self) -> str:
        unit = f" {self.hole.unit}" if self.hole.unit else ""
        return (
            f"{self.document}:{self.line}: stated {self.hole.stated}{unit}, now {self.now}{unit} "
            f"({shorten(self.hole.quantity.told, _TOLD)})"
        )


def holes(page: Page, content: str) -> list[Hole]:
    """Every hole of the document in its order; PageError where a binding does not fit."""
    several = [
        hole
        for binding in page.bindings
        for hole in (
            _text_holes(binding, content)
            if isinstance(binding, Text)
            else _table_holes(binding, content)
        )
    ]
    several.sort(key=lambda hole: hole.start)
    for hole, following in pairwise(several):
        if following.start < hole.end:
            raise PageError(f"{page.document}: {following.stated} has two bindings")
    return several


def loose_numbers(page: Page, content: str) -> list[str]:
    """The numbers that are neither bound nor stated, and what is stated of no number."""
    bound = {at for hole in holes(page, content) for at in range(hole.start, hole.end)}
    bound |= {at for spans in _label_spans(page, content) for at in range(*spans)}
    places = {match.start(): match[0] for match in numbers(content)}
    problems, stated = [], set()
    for piece in page.stated:
        spans = [match.span() for match in _pattern(piece).finditer(content)]
        inside = {at for at in places for begin, end in spans if begin <= at < end} - bound
        if not inside - stated:
            problems.append(f"{page.document}: stated, but no number of its own: {piece}")
        stated |= inside
    problems += [
        f"{page.document}:{line_of(content, at)}: {number} is neither bound nor stated"
        for at, number in places.items()
        if at not in bound and at not in stated
    ]
    return problems


def differences(page: Page, content: str, runs: Runs) -> list[Difference]:
    """The figures that are not as stated."""
    return [
        Difference(page.document, line_of(content, hole.start), hole, now)
        for hole in holes(page, content)
        if (now := hole.now(runs)) != hole.stated
    ]


def refreshed(content: str, changes: Sequence[Difference]) -> str:
    """The document with the figures of now."""
    for change in sorted(changes, key=lambda change: -change.hole.start):
        content = content[: change.hole.start] + change.now + content[change.hole.end :]
    return content


def line_of(content: str, at: int) -> int:
    return content.count("\n", 0, at) + 1


def _pattern(piece: str) -> re.Pattern[str]:
    """A piece of a document as a pattern with a group for each hole."""
    parts, at = [], 0
    for hole in _HOLE.finditer(piece):
        parts += [_spaced(piece[at : hole.start()]), "(.+?)" if hole[1] else f"({NUMBER})"]
        at = hole.end()
    return re.compile("".join([*parts, _spaced(piece[at:])]), re.DOTALL)


def _spaced(literal: str) -> str:
    return re.sub(r"(?:\\?\s)+", r"\\s+", re.escape(literal))


def _text_holes(binding: Text, content: str) -> Iterator[Hole]:
    matches = list(_pattern(binding.text).finditer(content))
    if len(matches) != 1:
        raise PageError(f"{len(matches)} times in the document: {binding.text}")
    groups = len(matches[0].groups())
    if groups != len(binding.quantities):
        raise PageError(f"{groups} holes, {len(binding.quantities)} quantities: {binding.text}")
    for number, quantity in enumerate(binding.quantities, 1):
        start, end = matches[0].span(number)
        unit = "" if quantity.is_text else unit_behind(content, end)
        yield Hole(start, content[start:end], unit, quantity, binding.within)


def _rows(binding: Table, content: str) -> Iterator[list[tuple[int, str]]]:
    """The cells of each row with where they begin, the head first."""
    head = re.search(rf"^{re.escape(binding.head)}$", content, re.MULTILINE)
    if head is None:
        raise PageError(f"no such table: {binding.head}")
    lines = re.match(r"(?:\|.*\n)+", content[head.start() :])
    assert lines is not None
    start = head.start()
    for number, line in enumerate(lines[0].splitlines(keepends=True)):
        cells, at = [], start + 1
        for cell in line.strip().strip("|").split("|"):
            cells.append((at + len(cell) - len(cell.lstrip()), cell.strip()))
            at += len(cell) + 1
        start += len(line)
        if number != 1:  # the line below the head
            yield cells


def _labels(binding: Table, cells: Sequence[tuple[int, str]]) -> tuple[str, ...] | None:
    """The first cells of a row, if the binding has such a row."""
    known = [label if isinstance(label, tuple) else (label,) for label in binding.rows]
    texts = [cell for _, cell in cells]
    return next((label for label in known if tuple(texts[: len(label)]) == label), None)


def _table_holes(binding: Table, content: str) -> Iterator[Hole]:
    _, *rows = _rows(binding, content)
    if len(rows) != len(binding.rows):
        raise PageError(f"{len(rows)} rows, {len(binding.rows)} of the binding: {binding.head}")
    for row in rows:
        labels = _labels(binding, row)
        if labels is None:
            raise PageError(f"no binding for the row {row[0][1]}: {binding.head}")
        cells = binding.rows[labels if labels in binding.rows else labels[0]]
        figures = row[len(labels) :]
        if len(figures) != len(cells):
            raise PageError(f"{len(figures)} cells, {len(cells)} of the binding: {labels}")
        for (start, cell), bound in zip(figures, cells, strict=True):
            yield from _cell_holes(binding, start, cell, bound)


def _cell_holes(binding: Table, start: int, cell: str, bound: Cell) -> Iterator[Hole]:
    if isinstance(bound, Stated):
        return
    if isinstance(bound, Quantity) and bound.is_text:
        yield Hole(start, cell, "", bound)
        return
    quantities = [bound] if isinstance(bound, Quantity) else list(bound)
    places = list(re.finditer(NUMBER, cell))
    if len(places) < len(quantities):
        raise PageError(f"{len(quantities)} quantities for the cell {cell}: {binding.head}")
    for place, quantity in zip(places, quantities, strict=False):
        unit = binding.unit or unit_behind(cell, place.end())
        yield Hole(start + place.start(), place[0], unit, quantity)


def _label_spans(page: Page, content: str) -> Iterator[tuple[int, int]]:
    """Heads and labels of tables, which choose what is bound, and cells that are stated."""
    for binding in page.bindings:
        if not isinstance(binding, Table):
            continue
        head, *rows = _rows(binding, content)
        yield from ((start, start + len(cell)) for start, cell in head)
        for row in rows:
            labels = _labels(binding, row) or ()
            cells = binding.rows[labels if labels in binding.rows else labels[0]]
            chosen = [*row[: len(labels)]]
            chosen += [
                place
                for place, bound in zip(row[len(labels) :], cells, strict=True)
                if isinstance(bound, Stated)
            ]
            yield from ((start, start + len(cell)) for start, cell in chosen)
