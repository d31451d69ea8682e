"""The table to decide by: rows are what people decide by, columns the configurations.

Few places are told apart: beside each other if there is room, else a group of rows for each. Of
many places a cell has the range over all of them. With many configurations rows and columns change
places. One configuration alone has its places as columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ffslab.compare.words import value_text
from ffslab.report.configurations import place_text
from ffslab.report.front.samples import Matter, Place, Row
from ffslab.report.front.weigh import Weighed
from ffslab.report.front.words import FEW_PLACES
from ffslab.report.quantity import capitalized, unbroken
from ffslab.report.standings import CUT

MOST_COLUMNS = 7
MOST_ROWS = 40
MEMORY = "◦"
CORNER = "what people decide by"


@dataclass(frozen=True)
class Shown:
    """A cell: its text, its marks, whether it is the best; `order` is what it is sorted by."""

    text: str
    best: bool = False
    mark: str = ""
    order: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Line:
    """A row with its name; `small` stands below it."""

    title: str
    cells: tuple[Shown, ...]
    small: str = ""


@dataclass(frozen=True)
class Block:
    """Rows below a heading, empty where there is one block only."""

    heading: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Decisions:
    """The table. `spans`: headings over so many columns each; `columns`: name and what stands small
    below it.
    """

    corner: str
    spans: tuple[tuple[str, int], ...]
    columns: tuple[tuple[str, str], ...]
    blocks: tuple[Block, ...]
    marks: tuple[str, ...]

    @property
    def is_long(self) -> bool:
        return sum(len(block.lines) for block in self.blocks) > MOST_ROWS


def decisions(matter: Matter, weighed: Sequence[Weighed]) -> tuple[Decisions, ...]:
    """The table of all rows; several where configurations are rows and there is much to decide
    by.
    """
    heads = tuple(
        (configuration.label, configuration.fixed) for configuration in matter.configurations
    )
    names = _place_names(weighed)
    spans: tuple[tuple[str, int], ...] = ()
    if len(names) > 1 and len(names) * len(heads) <= MOST_COLUMNS:
        spans = tuple((capitalized(name), len(heads)) for name in names)
        blocks: tuple[Block, ...] = (_beside_each_other(matter, weighed, names),)
        if len(heads) == 1:
            heads, spans = tuple((capitalized(name), "") for name in names), ()
        else:
            heads = heads * len(names)
    else:
        blocks = _below_each_other(matter, weighed)
    if len(heads) <= MOST_COLUMNS:
        return (_table(CORNER, spans, heads, blocks),)
    turned, titles = _turned(blocks, heads)
    return tuple(
        _table("configuration", (), titles[first:last], _columns(turned, first, last))
        for first in range(0, len(titles), MOST_COLUMNS)
        if (last := first + MOST_COLUMNS)
    )


def _table(
    corner: str,
    spans: tuple[tuple[str, int], ...],
    heads: tuple[tuple[str, str], ...],
    blocks: tuple[Block, ...],
) -> Decisions:
    marks = "".join(cell.mark for b in blocks for line in b.lines for cell in line.cells)
    return Decisions(corner, spans, heads, blocks, tuple(m for m in (MEMORY, CUT) if m in marks))


def _columns(blocks: Sequence[Block], first: int, last: int) -> tuple[Block, ...]:
    """Some columns of a table."""
    return tuple(
        Block(
            block.heading,
            tuple(Line(line.title, line.cells[first:last], line.small) for line in block.lines),
        )
        for block in blocks
    )


def _place_names(weighed: Sequence[Weighed]) -> tuple[str, ...]:
    """The places that rows tell apart, by their names; none if rows have different ones."""
    all_names = {
        tuple(place_text(scenario) for scenario in weighed_row.row.places)
        for weighed_row in weighed
    }
    longest = max(all_names, key=len)
    several = {names for names in all_names if len(names) > 1}
    return longest if len(several) == 1 and all(len(n) == len(longest) for n in all_names) else ()


def _beside_each_other(matter: Matter, weighed: Sequence[Weighed], names: Sequence[str]) -> Block:
    """All configurations at the first place, then at the next."""
    lines = tuple(
        Line(
            capitalized(weighed_row.row.title),
            tuple(
                _shown(weighed_row, label, [number])
                for number in range(len(names))
                for label in matter.labels
            ),
        )
        for weighed_row in weighed
    )
    return Block("", lines)


def _below_each_other(matter: Matter, weighed: Sequence[Weighed]) -> tuple[Block, ...]:
    return tuple(
        Block(
            capitalized(name) if name else "",
            tuple(_line(*member, matter.labels) for member in members),
        )
        for name, members in _grouped(weighed).items()
    )


def _grouped(weighed: Sequence[Weighed]) -> Mapping[str, list[tuple[Weighed, list[int]]]]:
    """Rows by place: a group for each of few, one group for all of many."""
    few = max(len(weighed_row.row.places) for weighed_row in weighed) <= FEW_PLACES
    groups: dict[str, list[tuple[Weighed, list[int]]]] = {}
    for weighed_row in weighed:
        numbers = list(range(len(weighed_row.row.places)))
        for chosen in [[number] for number in numbers] if few else [numbers]:
            scenario: Place = weighed_row.row.places[chosen[0]] if few else ()
            groups.setdefault(place_text(scenario), []).append((weighed_row, chosen))
    return groups


def _line(weighed_row: Weighed, numbers: Sequence[int], labels: Sequence[str]) -> Line:
    small = f"{len(numbers)} points" if len(numbers) > 1 else ""
    cells = tuple(_shown(weighed_row, label, numbers) for label in labels)
    return Line(capitalized(weighed_row.row.title), cells, small)


def _shown(weighed_row: Weighed, label: str, numbers: Sequence[int]) -> Shown:
    own = weighed_row.row.cells.get(label, {})
    cells = [own[number] for number in numbers if number in own]
    if not cells:
        return Shown("–")
    wins = sum(label in weighed_row.best[number] for number in numbers)
    rivals = weighed_row.rivals.get(label, {})
    contested = sum(number in weighed_row.contested and number in rivals for number in numbers)
    mark = MEMORY if any(cell.in_memory for cell in cells) and _differs(weighed_row.row) else ""
    mark += CUT if any(cell.cut for cell in cells) else ""
    means = [cell.mean for cell in cells]
    return Shown(
        text=_extent(weighed_row.row, means),
        best=0 < wins == contested,
        mark=mark,
        order=min(means),
        note=f"best at {wins} of {contested}" if contested > 1 and wins > 0 else "",
    )


def _differs(row: Row) -> bool:
    """Whether some times of a row end in memory and others do not."""
    return len({cell.in_memory for cells in row.cells.values() for cell in cells.values()}) > 1


def _extent(row: Row, means: Sequence[float]) -> str:
    ends = [unbroken(value_text(row.metric, end)) for end in (min(means), max(means))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} – {ends[1]}"


def _turned(
    blocks: Sequence[Block], heads: Sequence[tuple[str, str]]
) -> tuple[tuple[Block, ...], tuple[tuple[str, str], ...]]:
    """Configurations as rows: more of them fit below each other than beside each other."""
    titles = tuple(dict.fromkeys((line.title, line.small) for b in blocks for line in b.lines))
    turned = []
    for block in blocks:
        by_title = {(line.title, line.small): line for line in block.lines}
        lines = []
        for number, (label, small) in enumerate(heads):
            cells = (by_title[t].cells[number] if t in by_title else Shown("–") for t in titles)
            lines.append(Line(label, tuple(cells), small))
        turned.append(Block(block.heading, tuple(lines)))
    return tuple(turned), titles
