"""What a report says of random only: what each history came to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ffslab.report.data import Run
    from ffslab.report.sections.section import Section
    from ffslab.results.result import CaseResult

TITLE = "Random operations"
METHOD = "x"


def figures_of(_row: CaseResult) -> None:
    """Nothing of its own."""


def sections(_run: Run, _prefix: str) -> tuple[Section, ...]:
    """None of its own."""
    return ()
