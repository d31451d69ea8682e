"""sample-files in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ffslab.model.units import format_duration_ns
from ffslab.results.result import CaseResult
from ffslab.workloads.sample_files.stored import stored_of

HEADINGS = ("files", "mean")


def cells(result: CaseResult) -> Sequence[str]:
    """A case's cells below HEADINGS in the table of a run."""
    found = stored_of(result)
    if found is None:
        return ("", "")
    mean = found["sample_files_mean_ns"]
    return (f"{found['files_done']:,}", "" if mean is None else format_duration_ns(round(mean)))


def print_case(console: Console, result: CaseResult) -> None:
    """What there is to say of one case before its phases and latencies."""
    found = stored_of(result)
    if found is None:
        return
    short = f", stopped by {found['stopped']}" if found["stopped"] else ""
    console.print(f"{found['files_done']:,} of {found['files']:,} files{short}", markup=False)


def shows_phases(_result: CaseResult) -> bool:
    """Whether the table of phases says more than `print_case` has."""
    return True
