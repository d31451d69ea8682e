"""capacity in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ffslab.model.units import format_duration_ns
from ffslab.results.result import CaseResult
from ffslab.workloads.capacity.stored import capacity_of

HEADINGS = ("written", "of part.", "again", "mean", "max")
_MIB = 2**20


def cells(result: CaseResult) -> Sequence[str]:
    """What went in, its share of the partition, what went in again, times of a write."""
    capacity = capacity_of(result)
    if capacity is None:
        return ("",) * len(HEADINGS)
    again, latency = capacity["again_bytes"], capacity["latency"]
    return (
        _mib(capacity["written_bytes"]),
        f"{100 * capacity['partition_share']:.1f} %",
        "" if again is None else _mib(again),
        format_duration_ns(round(latency["mean_ns"])) if latency else "",
        format_duration_ns(latency["max_ns"]) if latency else "",
    )


def print_case(console: Console, result: CaseResult) -> None:
    """What was promised, what came back, and the longest writes with their causes."""
    capacity = capacity_of(result)
    if capacity is None:
        return
    console.print(
        f"{_mib(capacity['written_bytes'])} written of {_mib(capacity['promised_bytes'])} promised",
        markup=False,
    )
    for key, words in (
        ("deleted", "at once"),
        ("synced", "after a sync"),
        ("settled", "when quiet"),
    ):
        value = capacity[f"{key}_bytes"]  # type: ignore[literal-required]
        if value is not None:
            console.print(f"  back {words}: {_mib(value)}", markup=False)
    for peak in capacity["peaks"]:
        at = f"{_mib(peak['offset'])}: {format_duration_ns(peak['latency_ns'])}, {peak['cause']}"
        console.print(f"  write at {at}", markup=False)
        for task in peak["tasks"]:
            console.print(
                f"    {task['name']}: {task['pages_read']:,} pages read, "
                f"{task['pages_programmed']:,} programmed, {task['blocks_erased']:,} blocks erased",
                markup=False,
            )


def shows_phases(_result: CaseResult) -> bool:
    """What was read and written in each phase is in no other table."""
    return True


def _mib(value: int) -> str:
    return f"{value / _MIB:.1f} MiB"
