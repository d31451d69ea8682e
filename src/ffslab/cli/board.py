"""The scoreboard, or the rating, as lines of a terminal.

Columns stand in the order of what people decide by, as many as there is room for. Where there is no
room for all rows, those that are best by the first column are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from textwrap import wrap

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from ffslab.report import data
from ffslab.report.first.board import Board, Column, Shown
from ffslab.report.quantity import SPACE, capitalized
from ffslab.report.rating import RatingView

_BEST, _ASIDE, _HEAD = "bold green", "dim", "bold"
_NAME_WIDTH = 36  # of a configuration; a longer name goes on below
_HEAD_WIDTH = 14  # of each of the two lines of a column's head
_AXIS_WIDTH = 32  # of the values of an axis, if they are listed
_BEST_MARK = "✓"
_MARKS = {_BEST_MARK: "best", "◦": "ends in memory", "†": "cut short", "‡": "at fewer places"}


@dataclass(frozen=True)
class Cell:
    """A figure with its marks; what is right of the figures does not move them."""

    text: str = "–"
    marks: str = ""
    style: str = _ASIDE


@dataclass(frozen=True)
class Row:
    """A configuration; the smallest `rank` is the best by the first column."""

    name: str
    cells: tuple[Cell, ...]
    rank: tuple[bool, float] = (False, 0)


@dataclass(frozen=True)
class Grid:
    """A table of at least one row and one column; `note` says what its figures are, and `after` is
    a line that is never broken.
    """

    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""
    after: str = ""

    def lines(self, width: int, most: int | None = None, more: str = "") -> list[Text]:
        """The table, `width` columns wide and at most `most` lines high. One row is always there;
        `more` says where those are that are not.
        """
        fit = self._fitting(width)
        above = [self._line(text, self._head_cells(row), fit) for row, text in enumerate(_CORNER)]
        above = above if above[0].plain else above[1:]
        below = [
            Text(part, _ASIDE)
            for part in (
                *wrap(self._told(fit), width, break_on_hyphens=False),
                *filter(None, [self.after]),
            )
        ]
        blocks = [self._block(row, fit) for row in self.rows]
        if most is not None and sum(map(len, (above, below, *blocks))) > most:
            last = cell_len(f"… and {len(blocks)} more: {more}")
            room = most - len(above) - len(below) - -(-last // width)
            ordered = sorted(self.rows, key=lambda row: row.rank)
            blocks = [self._block(row, fit) for row in ordered]
            heights = list(accumulate(map(len, blocks)))
            shown = max(sum(height <= room for height in heights), 1)
            if left := len(blocks) - shown:
                blocks[shown:] = [[Text(f"… and {left} more: {more}")]]
        return [*above, *(line for block in blocks for line in block), *below]

    def _block(self, row: Row, fit: Sequence[int]) -> list[Text]:
        """A row: its figures stand beside the first line of its name."""
        first, *rest = _folded(row.name)
        return [self._line(first, row.cells, fit), *map(Text, rest)]

    def _line(self, name: str, cells: Sequence[Cell], fit: Sequence[int]) -> Text:
        line = Text(set_cell_size(name, self._name_width))
        for number in fit:
            size, tail = self._sizes[number]
            cell = cells[number]
            line.append(" " * (1 + size - cell_len(cell.text)))
            line.append(f"{cell.text}{cell.marks}", cell.style)
            line.append(" " * (tail - len(cell.marks)))
        line.rstrip()
        return line

    def _head_cells(self, row: int) -> list[Cell]:
        return [Cell(_two_lines(head)[row], style=_HEAD) for head in self.heads]

    @cached_property
    def _name_width(self) -> int:
        names = [line for row in self.rows for line in _folded(row.name)]
        return max(map(cell_len, (*_CORNER, *names)))

    @cached_property
    def _sizes(self) -> list[tuple[int, int]]:
        """Of each column the width of its texts, and of the marks behind them."""
        sizes = []
        for number, head in enumerate(self.heads):
            cells = [row.cells[number] for row in self.rows]
            texts = (*_two_lines(head), *(cell.text for cell in cells))
            sizes.append((max(map(cell_len, texts)), max(len(cell.marks) for cell in cells)))
        return sizes

    def _fitting(self, width: int) -> list[int]:
        """The columns for which there is room, at least one."""
        room = width - self._name_width
        fit: list[int] = []
        for number, (size, tail) in enumerate(self._sizes):
            if not fit or 1 + size + tail <= room:
                fit.append(number)
                room -= 1 + size + tail
        return fit

    def _told(self, fit: Sequence[int]) -> str:
        """What the figures are, what the marks mean, and which columns are left out."""
        marks = {mark for row in self.rows for number in fit for mark in row.cells[number].marks}
        left = [head for number, head in enumerate(self.heads) if number not in fit]
        told = ", ".join(f"{mark} {words}" for mark, words in _MARKS.items() if mark in marks)
        told = told if marks - {_BEST_MARK} else ""  # it tells itself
        parts = [self.note, told, f"not shown: {', '.join(left)}" if left else ""]
        told = "; ".join(part for part in parts if part)
        return capitalized(told) if told else ""


_CORNER = ("", "configuration")  # the two lines above the names


def board_grid(board: Board, seeds: int) -> Grid:
    """The scoreboard: the worst value of each configuration over all places."""
    cells = board.cells
    rows = [
        Row(
            plain(name),
            tuple(_cell(column.get(labels[0])) for column in cells),
            _rank(board.columns[0], cells[0].get(labels[0])),
        )
        for name, labels in board.rows
    ]
    note = [_worst_of(board), f"means of {seeds} seeds" if seeds > 1 else ""]
    heads = tuple(plain(column.head) for column in board.columns)
    return Grid(heads, tuple(rows), "; ".join(part for part in note if part))


def rating_grid(view: RatingView, after: str) -> Grid:
    """The grades of a rating; the best is marked by its colour."""
    rows = [
        Row(name, tuple(Cell(word.text, "", _STYLES.get(word.grade, "")) for word in words))
        for name, words in view.rows
    ]
    return Grid(view.head, tuple(rows), after=after)


_STYLES = {None: _ASIDE, 0: _BEST}  # of grades


def _cell(shown: Shown | None) -> Cell:
    if shown is None:
        return Cell()
    aside = shown.in_memory or shown.cut or shown.partial
    marks = (
        (_BEST_MARK, shown.best),
        ("◦", shown.in_memory),
        ("†", shown.cut),
        ("‡", shown.partial),
    )
    style = _BEST if shown.best else _ASIDE if aside else ""
    return Cell(plain(shown.text), "".join(mark for mark, is_so in marks if is_so), style)


def _rank(column: Column, shown: Shown | None) -> tuple[bool, float]:
    """What has no value, or one at fewer places than others, comes last."""
    if shown is None or shown.value is None:
        return True, float("inf")
    return shown.partial, -shown.value if column.higher_is_better else shown.value


def _worst_of(board: Board) -> str:
    """Over what the worst is taken; empty where there is one place. Tallies are added up."""
    if board.tally is not None:
        return f"how many {board.tally.noun} are wrong of how many; {_BEST_MARK} none"
    if len(board.places) < 2:
        return ""
    values = ", ".join(board.axes[0].values) if len(board.axes) == 1 else ""
    if values and len(values) <= _AXIS_WIDTH:
        return f"the worst of {data.axis_name(board.axes[0].name)}: {values}"
    return f"the worst of {len(board.places)} places"


def _folded(name: str) -> list[str]:
    return wrap(name, _NAME_WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _two_lines(head: str) -> tuple[str, str]:
    """A head on two lines, the upper one first, which is empty if one is enough."""
    words = head.split()
    splits = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(len(words))]
    upper, lower = min(splits, key=lambda both: max(map(cell_len, both)))
    return _shortened(upper), _shortened(lower)


def _shortened(text: str) -> str:
    return text if cell_len(text) <= _HEAD_WIDTH else f"{text[: _HEAD_WIDTH - 1].rstrip()}…"


def plain(text: str) -> str:
    """A text of the page on a terminal, where no number breaks from its unit."""
    short = text.replace(data.compression_text(data.NO_COMPRESSION), data.NO_COMPRESSION)
    return short.replace(SPACE, " ")
