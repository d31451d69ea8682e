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
    wear = wear_of(result)
    if not wear or not wear["volumes"]:
        return ("",) * len(HEADINGS)
    volume = wear["volumes"][-1]
    return (
        f"{volume['inside']['mean']:.1f}",
        f"{volume['inside']['std']:.1f}",
        f"{volume['inside']['max']}",
        _amplification(volume),
        volume["static_leveling"] or "",
        volume["global_leveling"] or "",
    )


def print_case(console: Console, result: CaseResult) -> None:
    """A line for each volume."""
    wear = wear_of(result)
    if not wear:
        return
    short = f", stopped by {wear['stopped']}" if wear["stopped"] else ""
    console.print(
        f"{wear['written']:,} of {wear['asked']:,} bytes, {wear['files']:,} files{short}; "
        f"{len(wear['static_blocks']):,} static blocks",
        markup=False,
    )
    for volume in wear["volumes"]:
        inside, moved = volume["inside"], volume["static_moved"]
        share = "" if moved is None else f", {moved:.0%} of static blocks moved"
        console.print(
            f"  {volume['written_bytes'] / 1e9:.2f} GB in {format_duration_ns(volume['time_ns'])}: "
            f"mean {inside['mean']:.2f}, std {inside['std']:.2f}, "
            f"{inside['min']}–{inside['max']} erases",
            markup=False,
        )
        console.print(
            f"    write amplification {_amplification(volume)}{share}; static "
            f"{volume['static_leveling'] or '–'}, global {volume['global_leveling'] or '–'}",
            markup=False,
        )


def shows_phases(_result: CaseResult) -> bool:
    """What was read and written in each phase is in no other table."""
    return True


def _amplification(volume: Volume) -> str:
    value = volume["write_amplification"]
    return "" if value is None else f"{value:.2f}"
