"""Scripts in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ffslab.model.units import format_duration_ns
from ffslab.results.result import CaseResult
from ffslab.workloads.script.stored import below_of, script_of

HEADINGS = ("script", "flush", "pages", "erases", "status")


def cells(result: CaseResult) -> Sequence[str]:
    """How long it took, what the flash did for it, how it ended."""
    phases = {phase["phase"]: phase for phase in result["phases"]}
    times = [phases[name]["duration_ns"] if name in phases else None for name in HEADINGS[:2]]
    whole = phases.get("workload")
    names = ("pages_programmed", "blocks_erased")
    counts = [whole.get(name) if whole is not None else None for name in names]
    script = script_of(result)
    return (
        *("" if time is None else format_duration_ns(time) for time in times),
        *("" if count is None else f"{count:,}" for count in counts),
        str(script["exit_status"]) if script else "",
    )


def print_case(console: Console, result: CaseResult) -> None:
    """How the script ended."""
    script = script_of(result)
    if script:
        console.print(f"exit status of the script: {script['exit_status']}", markup=False)
    below = below_of(script)
    if below:
        console.print(f"below the mounted file system: {below}", markup=False)


def shows_phases(_result: CaseResult) -> bool:
    """The table of phases is all there is."""
    return True
