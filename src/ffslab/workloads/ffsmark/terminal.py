"""FFSMark in a terminal of 80 columns: its columns in the table of a run."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ffslab.model.units import format_duration_ns
from ffslab.results.result import CaseResult, PhaseResult

HEADINGS = ("creation", "trans.", "pages", "erased")


def cells(result: CaseResult) -> Sequence[str]:
    """Times of two phases; pages programmed and blocks erased in all three."""
    phases = {phase["phase"]: phase for phase in result["phases"]}
    whole = phases.get("workload")
    return (
        _duration(phases.get("creation")),
        _duration(phases.get("transactions")),
        _count(whole.get("pages_programmed") if whole else None),
        _count(whole.get("blocks_erased") if whole else None),
    )


def print_case(_console: Console, _result: CaseResult) -> None:
    """Its phases and latencies say all."""


def shows_phases(_result: CaseResult) -> bool:
    """They are its figures."""
    return True


def _duration(phase: PhaseResult | None) -> str:
    return format_duration_ns(phase["duration_ns"]) if phase else ""


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
