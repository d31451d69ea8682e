"""The first screen as its template shows it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from ffslab.program import program
from ffslab.report import data
from ffslab.report.data import Run
from ffslab.report.first.board import Board, board_of
from ffslab.report.first.headline import headline
from ffslab.report.first.picture import picture
from ffslab.report.first.samples import Matter
from ffslab.report.first.weigh import Weighed
from ffslab.report.quantity import listed
from ffslab.report.rating import RatingView


@dataclass(frozen=True)
class First:
    """The first screen of a run, or a chapter's own: `title` where there are several. `grades`: its
    scoreboard is a rating. `more`: sentences of sections, with the anchors of these.
    """

    title: str
    key: str
    headline: str
    board: Board
    picture: str
    notes: tuple[str, ...]
    grades: RatingView | None = None
    more: tuple[tuple[str, str], ...] = ()


def first_of(
    run: Run, matter: Matter, weighed: Sequence[Weighed], title: str = "", key: str = "first"
) -> First:
    """The first screen of a report on one workload."""
    return First(
        title=title,
        key=key,
        headline=headline(matter, weighed),
        board=board_of(matter, weighed),
        picture=picture(matter, weighed, f"{key}-picture"),
        notes=tuple(_notes(run, matter)),
    )


def headline_of(firsts: Sequence[First]) -> str:
    """What is said in a line of all chapters together."""
    return next((first.headline for first in firsts if first.headline), "")


def _notes(run: Run, matter: Matter) -> list[str]:
    """What a reader must know of the figures, a line each."""
    notes = []
    if not run.passed and not matter.rows:
        notes.append("No case passed; the failures say why.")
    elif not matter.rows:
        notes.append("No case measured what people decide by.")
    if matter.failed:
        names = sorted({label for label, _ in matter.failed})
        count = sum(map(len, matter.failed.values()))
        told = f"{count} cases of {listed(names)} did not pass and have"
        if count == 1:
            told = f"1 case of {listed(names)} did not pass and has"
        notes.append(f"{told} no figures here.")
    if any(
        cell.in_memory
        for row in matter.rows
        if row.headline
        for c in row.cells.values()
        for cell in c.values()
    ):
        notes.append(_sync_advice(run, matter))
    if len(matter.seeds) > 1:
        notes.append(f"Figures are means over {len(matter.seeds)} seeds.")
    return [note for note in notes if note]


def _sync_advice(run: Run, matter: Matter) -> str:
    """How to get figures that can be compared, of what was not run synchronously."""
    alone = [
        configuration.filesystem
        for configuration in matter.configurations
        if configuration.writing == data.WRITE_BACK and configuration.label not in matter.synced
    ]
    if not alone:
        return ""
    names = listed([data.filesystem_name(name) for name in dict.fromkeys(alone)])
    setting = shlex.quote('options.write_mode=["default", "sync"]')
    return f"With {names} writing synchronously: {program()} run {run.study} --set {setting}"
