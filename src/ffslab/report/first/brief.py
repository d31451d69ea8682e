"""What the terminal shows of a run: the headline and the scoreboard of each chapter, and no page.

A large run has more results than there is memory: of each only the head and what people decide by
are kept, and each is read once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ffslab.report.chapters import chapters_of
from ffslab.report.first.board import Board, board_of
from ffslab.report.first.headline import headline
from ffslab.report.first.samples import matter_of
from ffslab.report.first.weigh import weigh
from ffslab.report.load import Opened, Read, explained, open_run, plain_run
from ffslab.results.criteria import Criterion
from ffslab.results.result import head_of
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.ended import Ended, RunJudge
from ffslab.workloads.figures import criteria_of

_Read = Read[tuple[Criterion, ...]]


@dataclass(frozen=True)
class ChapterBrief:
    """A chapter; `title` where there are several, `cases` are ids. Without criteria it has neither
    headline nor columns.
    """

    title: str
    headline: str
    board: Board
    seeds: int
    cases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Brief(Ended):
    """How a run ended, and those of its chapters that have criteria."""

    chapters: tuple[ChapterBrief, ...] = ()


def brief_of(directory: RunDirectory) -> Brief:
    """Reads a run. DamagedResultError for what is no result, or lacks what people decide by."""
    run = open_run(directory.path)
    judge = RunJudge(directory, run.manifest)
    with explained(run):
        read = [Read(head_of(row), criteria_of(row)) for row in judge.stated()]
        chapters = tuple(_briefs(run, read))
    ended = judge.ended
    return Brief(ended.heads, ended.accepted, ended.missed, ended.unused, ended.known, chapters)


def _briefs(
    run: Opened,
    read: Sequence[Read[tuple[Criterion, ...]]],
) -> Iterator[ChapterBrief]:
    criteria = {case.head["id"]: case.figures for case in read}
    chapters = chapters_of(run.manifest, read)
    for chapter in chapters:
        matter = matter_of(plain_run(run, chapter.cases), criteria)
        weighed = [weigh(row) for row in matter.rows]
        board = board_of(matter, weighed)
        if board.columns:
            title = chapter.title if len(chapters) > 1 else ""
            told, ids = headline(matter, weighed), tuple(read.head["id"] for read in chapter.cases)
            yield ChapterBrief(title, told, board, len(matter.seeds), ids)
