"""probe in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ffslab.model.units import format_duration_ns
from ffslab.results.result import CaseResult
from ffslab.workloads.probe.metrics import operation_ns
from ffslab.workloads.probe.stored import probe_of

HEADINGS = ("read", "program", "erase", "sync", "mount")


def cells(result: CaseResult) -> Sequence[str]:
    """What an operation of the flash takes, a sync of all files, and a mount."""
    probe = probe_of(result)
    times = {phase["phase"]: operation_ns(phase) for phase in probe["phases"]} if probe else {}
    return tuple(
        format_duration_ns(round(times[name])) if name in times else "" for name in HEADINGS
    )


def print_case(console: Console, result: CaseResult) -> None:
    """A line for each phase."""
    probe = probe_of(result)
    for phase in probe["phases"] if probe else ():
        each = format_duration_ns(round(operation_ns(phase)))
        words = f"{phase['phase']}: {each}"
        if phase["count"] > 1:
            words += f" each of {phase['count']:,}"
            words += f", {phase['bytes']:,} B" if phase["bytes"] else ""
        if phase["cpu_ns"] is not None and phase["duration_ns"]:
            words += f", CPU {phase['cpu_ns'] / phase['duration_ns']:.0%}"
        console.print(words, markup=False)


def shows_phases(_result: CaseResult) -> bool:
    """What was read and written in each phase is in no other table."""
    return True
