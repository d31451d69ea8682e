"""raw in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ffslab.results.result import CaseResult
from ffslab.workloads.raw.result import MB, PHASES
from ffslab.workloads.raw.stored import RawPhase, raw_of

HEADINGS = ("erase", "write", "read", "MB/s")


def cells(result: CaseResult) -> Sequence[str]:
    """MB/s of each phase, of 2^20 bytes, and whether they are as published."""
    found = raw_of(result)
    if not found:
        return ("",) * len(HEADINGS)
    speeds = {one["phase"]: f"{one['raw_bytes_per_s'] / MB:.2f}" for one in found["phases"]}
    told = [one["agrees"] for one in found["phases"] if one["agrees"] is not None]
    word = "" if not told else "as published" if all(told) else "differs"
    return (*(speeds.get(name, "") for name in PHASES), word)


def print_case(console: Console, result: CaseResult) -> None:
    """A line for each phase."""
    found = raw_of(result)
    for one in found["phases"] if found else ():
        console.print(_line(one), markup=False)


def _line(one: RawPhase) -> str:
    line = f"{one['phase']}: {one['raw_bytes_per_s'] / MB:.3f} MB/s"
    published, difference = one["published_bytes_per_s"], one["difference"]
    if published is None or difference is None:
        return line
    word = "" if one["agrees"] else ", outside of what was asked for"
    return f"{line}, published {published / MB:.2f}, {difference:+.1%}{word}"


def shows_phases(_result: CaseResult) -> bool:
    """What was read and written in each phase is in no other table."""
    return True
