"""What a report says of FFSMark only: nothing beside what it says of every workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ffslab.report.data import Run
    from ffslab.report.sections.section import Section
    from ffslab.results.result import CaseResult

TITLE = "FFSMark"
METHOD = (
    "A case brings the partition into its initial state and runs FFSMark: it creates a pool "
    "of files, does transactions (read a whole file or append to one, create a file or delete "
    "one), and deletes what is left. Pages, erases and wear are counted from the start of "
    "creation to the end of deletion, so they include what the file system writes between the "
    "phases; its time is in no phase."
)


def figures_of(_row: CaseResult) -> None:
    """Nothing of its own."""


def sections(_run: Run, _prefix: str) -> tuple[Section, ...]:
    """None of its own."""
    return ()
