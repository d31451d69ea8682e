"""What the terminal shows of a whole run: at most 24 lines of 80 columns, unless all is asked for.

First what did not pass, then the headline and the scoreboard, then the outcome. Each case has a
line where they are few, or where there is nothing to decide by, as of power cuts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from ffslab.cli.board import Grid, board_grid, plain, rating_grid
from ffslab.cli.tables import (
    FEW_CASES,
    CaseTable,
    case_tables,
    failure_lines,
    kernel_lines,
    missed_lines,
    print_cases,
    short_lines,
)
from ffslab.errors import SpecError
from ffslab.program import command
from ffslab.report.first.brief import Brief, ChapterBrief
from ffslab.report.load import open_run
from ffslab.report.rating import rating_view
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.results import results_of

LINES, COLUMNS = 24, 80
_FAILURES = 10  # lines of what did not pass
_LEAST = 7  # lines of a scoreboard, or of cases without one
_BOARDS = 2  # of more chapters there are the headlines only, and of two where they get no more


def print_brief(
    console: Console,
    run: RunDirectory,
    brief: Brief,
    ends: tuple[Sequence[str], Sequence[str]],
    *,
    every: bool,
    taken: int = 0,
) -> None:
    """Prints a run between the lines of `ends`, in what `taken` lines leave; or with `every` all
    that there is of it.
    """
    page = _Page(console, command("show", run.path, "--all"), every)
    few = len(brief.heads) < FEW_CASES
    opening, closing = ends
    known = brief.accepted.cases
    failed = failure_lines(brief.heads, each=every, known=known)
    wrong = failed + missed_lines(brief.missed, brief.unused)
    above = [*map(Text, opening), *page.failures(wrong)]
    below = [Text(line, "yellow") for line in short_lines(brief.heads, examples=every)]
    below += map(Text, (*kernel_lines(brief.heads), *closing))
    room = LINES - taken - page.height([*above, *below])
    boards = page.boards(brief.chapters, _rating_of(run), room, few=few)
    cases: list[Text] = []
    if every or few or not boards:
        tables = case_tables(results_of(run), run.walls(), known, brief.missed)
        cases = page.cases(tables, room - page.height(boards), whole=bool(boards))
    for line in (*above, *boards, *cases, *below):
        console.print(line, soft_wrap=True)


class _Pair(NamedTuple):
    """Headlines, and the table below them."""

    told: list[Text]
    grid: Grid | None


@dataclass(frozen=True)
class _Page:
    """Lays out blocks of lines, with an empty line behind each; `more` is the command that shows
    all, `every` if it was given.
    """

    console: Console
    more: str
    every: bool

    @property
    def width(self) -> int:
        """Columns of a line: those of the terminal, or what most have."""
        return self.console.width if self.console.is_terminal else COLUMNS

    def height(self, lines: Iterable[Text]) -> int:
        """How many lines of a terminal they are."""
        return sum(len(line.wrap(self.console, self.width)) for line in lines)

    def failures(self, lines: Sequence[str]) -> list[Text]:
        """What did not pass, the first of it."""
        most, shown = 0, list[Text]()
        for line in lines:
            told = self._paragraph(Text(line))
            if shown and not self.every and self.height([*shown, *told]) > _FAILURES:
                break
            most, shown = most + 1, [*shown, *told]
        return _block([*shown, *self._left(len(lines) - most)])

    def boards(
        self, chapters: Sequence[ChapterBrief], rating: Grid | None, room: int, *, few: bool
    ) -> list[Text]:
        """The headlines with their scoreboards; the rating instead, if there is one. Where cases
        are `few` they say more than a scoreboard of one configuration.
        """
        pairs = []
        for chapter in chapters:
            is_told = few and sum(len(labels) for _, labels in chapter.board.rows) == 1
            grid = None if is_told else board_grid(chapter.board, chapter.seeds)
            pairs.append(_Pair(self._paragraph(_headline(chapter)), grid))
        most = self._most(pairs, room)
        is_tight = len(chapters) > 1 and most is not None and most < _LEAST
        if self.every:
            pairs = [*([_Pair([], rating)] if rating else []), *pairs]
        elif rating or len(chapters) > _BOARDS or is_tight:
            pairs = [self._headlines(chapters, rating, room)]
            most = self._most(pairs, room)
        lines = []
        for told, grid in pairs:
            lines += _block(told)
            if grid is not None:
                size = None if most is None else max(most, _LEAST)
                lines += _block(grid.lines(self.width, size, self.more))
        return lines

    def _most(self, pairs: Sequence[_Pair], room: int) -> int | None:
        """How many lines each grid may have; None: as many as it has."""
        grids = [grid for _, grid in pairs if grid is not None]
        left = room - sum(self.height(_block(told)) for told, _ in pairs) - len(grids)
        high = sum(len(grid.lines(self.width)) for grid in grids)
        return None if self.every or not grids or high <= left else left // len(grids)

    def _headlines(self, chapters: Sequence[ChapterBrief], rating: Grid | None, room: int) -> _Pair:
        """All headlines above the rating; cut to a line each where there is no room for more."""
        told = [line for chapter in chapters for line in self._paragraph(_headline(chapter))]
        below = rating.lines(self.width) if rating else [Text(f"scoreboards: {self.more}")]
        if self.height([*_block(told), *_block(below)]) > room:
            told = [_headline(chapter) for chapter in chapters]
            for line in told:
                line.truncate(self.width, overflow="ellipsis")
        return _Pair(told if rating else [*told, *below], rating)

    def cases(self, tables: Sequence[CaseTable], room: int, *, whole: bool) -> list[Text]:
        """A line for each case, or for as many as there is room for; `whole`: all or none."""
        rows = max((len(cells) for _, cells in tables), default=0)
        least = rows if rows < FEW_CASES else _LEAST
        start = rows if self.every or whole else min(rows, max(room, least))
        for most in range(start, 0, -1):
            with self.console.capture() as captured:
                print_cases(self.console, tables, most)
            lines = [Text.from_ansi(line) for line in captured.get().splitlines()]
            left = sum(max(len(cells) - most, 0) for _, cells in tables)
            block = _block([*lines, *self._left(left)])
            if self.every or self.height(block) <= room or (most <= least and not whole):
                return block
            if whole:
                break
        return []

    def _left(self, count: int) -> list[Text]:
        return [Text(f"… and {count} more: {self.more}")] if count > 0 else []

    def _paragraph(self, text: Text) -> list[Text]:
        """The text on lines of the terminal; in a file or a pipe no line is broken."""
        return list(text.wrap(self.console, self.width)) if self.console.is_terminal else [text]


def _headline(chapter: ChapterBrief) -> Text:
    """With the chapter's title, if it has one."""
    if not chapter.title:
        return Text(plain(chapter.headline), "bold")
    return Text.assemble((f"{chapter.title}: ", "bold"), plain(chapter.headline))


def _block(lines: list[Text]) -> list[Text]:
    return [*lines, Text()] if lines else []


def _rating_of(run: RunDirectory) -> Grid | None:
    """The rating that the study asks for, by rules that this version of ffslab understands."""
    try:
        view = rating_view(open_run(run.path))
    except SpecError:
        return None
    where = f"Values and rules: {command('rating', run.path)}"
    return rating_grid(view, where) if view is not None else None
