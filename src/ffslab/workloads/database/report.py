"""What a report says of database only: nothing beside what it says of every workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ffslab.report.data import Run
    from ffslab.report.sections.section import Section
    from ffslab.results.result import CaseResult

TITLE = "Database"
METHOD = (
    "A case does to files what SQLite does in transactions: it reads and changes pages, with "
    "a rollback journal or a write-ahead log, and syncs as SQLite does."
)


def figures_of(_row: CaseResult) -> None:
    """Nothing of its own."""


def sections(_run: Run, _prefix: str) -> tuple[Section, ...]:
    """None of its own."""
    return ()
