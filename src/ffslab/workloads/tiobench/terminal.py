"""tiobench in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ffslab.model.units import format_duration_ns
from ffslab.results.result import CaseResult
from ffslab.workloads.tiobench.metrics import ACTS
from ffslab.workloads.tiobench.stored import SlowestRequest, TioPhase, tio_of

HEADINGS = ("MB/s w", "rnd w", "MB/s r", "rnd r", "max")


def cells(result: CaseResult) -> Sequence[str]:
    """MB/s of the four phases, and the longest of all their requests."""
    tio = tio_of(result)
    phases = {phase["phase"]: phase for phase in tio["phases"]} if tio else {}
    slowest = [phase["slowest"]["latency_ns"] for phase in phases.values() if phase["slowest"]]
    return (
        *(_rate(phases[name]) if name in phases else "" for name in ACTS),
        format_duration_ns(max(slowest)) if slowest else "",
    )


def _rate(phase: TioPhase) -> str:
    return f"{phase['throughput_bytes_per_s'] / 1e6:.2f}"


def print_case(console: Console, result: CaseResult) -> None:
    """Of each phase its throughput, and what happened during its slowest request."""
    tio = tio_of(result)
    for phase in tio["phases"] if tio else ():
        short = f", stopped by {phase['stopped']}" if phase["stopped"] else ""
        flushed = phase["on_flash_bytes_per_s"]
        until = f", {flushed / 1e6:.2f} until on flash" if flushed is not None else ""
        console.print(
            f"{ACTS[phase['phase']]}: {phase['requests_done']:,} of {phase['requests']:,} "
            f"requests{short}, {_rate(phase)} MB/s{until}",
            markup=False,
        )
        late = f"{phase['above_2s']:,} above 2 s, {phase['above_10s']:,} above 10 s"
        console.print(f"  {late}", markup=False)
        if phase["slowest"]:
            _print_slowest(console, phase["slowest"])


def _print_slowest(console: Console, slowest: SlowestRequest) -> None:
    console.print(
        f"  slowest: request {slowest['request']:,} of thread {slowest['thread']}, "
        f"{format_duration_ns(slowest['latency_ns'])}",
        markup=False,
    )
    for task in slowest["tasks"]:
        console.print(
            f"    {task['name']}: {task['pages_read']:,} pages read, "
            f"{task['pages_programmed']:,} programmed, {task['blocks_erased']:,} blocks erased",
            markup=False,
        )


def shows_phases(_result: CaseResult) -> bool:
    """What was read and written in each phase is in no other table."""
    return True
