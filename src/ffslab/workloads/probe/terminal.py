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
    found = probe_of(result)
    times = {one["phase"]: operation_ns(one) for one in found["phases"]} if found else {}
    return tuple(
        format_duration_ns(round(times[name])) if name in times else "" for name in HEADINGS
    )


def print_case(console: Console, result: CaseResult) -> None:
    """A line for each phase."""
    found = probe_of(result)
    for one in found["phases"] if found else ():
        each = format_duration_ns(round(operation_ns(one)))
        words = f"{one['phase']}: {each}"
        if one["count"] > 1:
            words += f" each of {one['count']:,}"
            words += f", {one['bytes']:,} B" if one["bytes"] else ""
        if one["cpu_ns"] is not None and one["duration_ns"]:
            words += f", CPU {one['cpu_ns'] / one['duration_ns']:.0%}"
        console.print(words, markup=False)


def shows_phases(_result: CaseResult) -> bool:
    """What was read and written in each phase is in no other table."""
    return True
