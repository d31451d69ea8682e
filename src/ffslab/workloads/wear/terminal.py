"""wear in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ffslab.model.units import format_duration_ns
from ffslab.results.result import CaseResult
from ffslab.workloads.wear.stored import Volume, wear_of

HEADINGS = ("mean", "std", "max", "WA", "static", "global")


def cells(result: CaseResult) -> Sequence[str]:
    """The erases per block at the last volume, write amplification, the verdicts."""
    found = wear_of(result)
    if not found or not found["volumes"]:
        return ("",) * len(HEADINGS)
    one = found["volumes"][-1]
    return (
        f"{one['inside']['mean']:.1f}",
        f"{one['inside']['std']:.1f}",
        f"{one['inside']['max']}",
        _amplification(one),
        one["static_leveling"] or "",
        one["global_leveling"] or "",
    )


def print_case(console: Console, result: CaseResult) -> None:
    """A line for each volume."""
    found = wear_of(result)
    if not found:
        return
    short = f", stopped by {found['stopped']}" if found["stopped"] else ""
    console.print(
        f"{found['written']:,} of {found['asked']:,} bytes, {found['files']:,} files{short}; "
        f"{len(found['static_blocks']):,} static blocks",
        markup=False,
    )
    for one in found["volumes"]:
        inside, moved = one["inside"], one["static_moved"]
        share = "" if moved is None else f", {moved:.0%} of static blocks moved"
        console.print(
            f"  {one['written_bytes'] / 1e9:.2f} GB in {format_duration_ns(one['time_ns'])}: "
            f"mean {inside['mean']:.2f}, std {inside['std']:.2f}, "
            f"{inside['min']}–{inside['max']} erases",
            markup=False,
        )
        console.print(
            f"    write amplification {_amplification(one)}{share}; static "
            f"{one['static_leveling'] or '–'}, global {one['global_leveling'] or '–'}",
            markup=False,
        )


def shows_phases(_result: CaseResult) -> bool:
    """What was read and written in each phase is in no other table."""
    return True


def _amplification(one: Volume) -> str:
    value = one["write_amplification"]
    return "" if value is None else f"{value:.2f}"
