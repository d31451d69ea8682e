"""What a report says of Probe only: nothing beside what it says of every workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ffslab.report.data import Run
    from ffslab.report.sections.section import Section
    from ffslab.results.result import CaseResult

TITLE = "Probe"
METHOD = (
    "A case times single operations of the flash, of the kernel and of the CPU, which "
    "calibration compares with a board."
)


def figures_of(_row: CaseResult) -> None:
    """Nothing of its own."""


def sections(_run: Run, _prefix: str) -> tuple[Section, ...]:
    """None of its own."""
    return ()
