"""What the terminal shows of a run: the headline and the scoreboard of each chapter, and no page.

A large run has more results than there is memory: of each only the head and what people decide by
are kept, and each is read once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ffslab.report.chapters import chapters_of
from ffslab.report.first.board import Board, board_of
from ffslab.report.first.headline import headline
from ffslab.report.first.samples import matter_of
from ffslab.report.first.weigh import weigh
from ffslab.report.load import Opened, Read, as_stated, explained, open_run, plain_run
from ffslab.results.criteria import Criterion
from ffslab.results.missed import Missed
from ffslab.results.result import CaseHead, CaseResult, head_of
from ffslab.results.rundir import RunDirectory
from ffslab.results.shortfall import is_good
from ffslab.workloads.accepted import Accepted, accepted
from ffslab.workloads.figures import criteria_of
from ffslab.workloads.limits import Judge, limits_of
from ffslab.workloads.results import findings_of, kernel_of, known_of, results_of

if TYPE_CHECKING:
    from ffslab.model.known import Known

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
class Brief:
    """A run: all its cases, those chapters that have criteria, what it found wrong, and what was
    known of that beforehand.

    `missed`: what is beyond a limit of the study; `unused` tells the limits of no figure.
    """

    heads: tuple[CaseHead, ...]
    accepted: Accepted
    chapters: tuple[ChapterBrief, ...]
    missed: tuple[Missed, ...] = ()
    unused: tuple[str, ...] = ()
    known: tuple[Known, ...] = ()


def brief_of(directory: RunDirectory) -> Brief:
    """Reads a run. DamagedResultError for what is no result, or lacks what people decide by."""
    run = open_run(directory.path)
    heads: list[CaseHead] = []
    findings: list[tuple[str, Mapping[str, Any]]] = []
    judge = Judge(limits_of(run.manifest))

    def noted() -> Iterator[CaseResult]:
        for result in results_of(directory, run.manifest):
            heads.append(head_of(result))
            findings.extend((result["id"], finding) for finding in findings_of(result).values())
            yield result

    with explained(run):
        rows = map(judge.take, as_stated(noted(), run.manifest))
        read = [Read(head_of(row), criteria_of(row)) for row in rows]
        chapters = tuple(_briefs(run, read))
    failed = [head["id"] for head in heads if not is_good(head)]
    entries = known_of(directory, run.manifest)
    dated = {case for case, _ in findings} if any(entry.until for entry in entries) else ()
    kernels = {case: kernel_of(directory, case) for case in dated}
    told = accepted(findings, failed, entries, kernels)
    missed, unused = tuple(judge.missed), tuple(judge.unused)
    return Brief(tuple(heads), told, chapters, missed, unused, entries)


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
