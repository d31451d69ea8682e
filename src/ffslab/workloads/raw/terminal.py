"""raw in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ffslab.results.result import CaseResult
from ffslab.workloads.raw.metrics import SPEED, published_text, rate_text
from ffslab.workloads.raw.result import PHASES
from ffslab.workloads.raw.stored import RawPhase, raw_of

HEADINGS = ("erase", "write", "read", "MB/s")


def cells(result: CaseResult) -> Sequence[str]:
    """MB/s of each phase, and whether they are as published."""
    raw = raw_of(result)
    if not raw:
        return ("",) * len(HEADINGS)
    rates = {phase["phase"]: phase["raw_bytes_per_s"] / SPEED.scale for phase in raw["phases"]}
    told = [phase["agrees"] for phase in raw["phases"] if phase["agrees"] is not None]
    word = "" if not told else "as published" if all(told) else "differs"
    return (*(f"{rates[name]:.2f}" if name in rates else "" for name in PHASES), word)


def print_case(console: Console, result: CaseResult) -> None:
    """A line for each phase."""
    raw = raw_of(result)
    for phase in raw["phases"] if raw else ():
        console.print(_line(phase), markup=False)


def _line(phase: RawPhase) -> str:
    line = f"{phase['phase']}: {rate_text(phase['raw_bytes_per_s'])}"
    published, difference = phase["published_bytes_per_s"], phase["difference"]
    if published is None or difference is None:
        return line
    word = "" if phase["agrees"] else ", outside"
    return f"{line}, published {published_text(published)}, {difference:+.1%}{word}"


def shows_phases(_result: CaseResult) -> bool:
    """What was read and written in each phase is in no other table."""
    return True
