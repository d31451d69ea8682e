"""What a report says of sample-files alone: nothing beside what it says of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ffslab.report.data import Run
    from ffslab.report.sections.section import Section
    from ffslab.results.result import CaseResult

TITLE = "Files written"
METHOD = (
    "A case writes files one after another and syncs once at the end. A file takes its part of "
    "both. Pages, erases and wear are counted from the first file to the end of the sync."
)


def figures_of(_row: CaseResult) -> None:
    """Nothing of its own; what a section needs of a result is given here."""


def sections(_run: Run, _prefix: str) -> tuple[Section, ...]:
    """None of its own; append_log shows how they are made."""
    return ()
