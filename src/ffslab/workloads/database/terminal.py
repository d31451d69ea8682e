"""database in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ffslab.model.units import format_duration_ns
from ffslab.results.result import CaseResult
from ffslab.workloads.database.result import transaction_latency
from ffslab.workloads.database.stored import stored_of

HEADINGS = ("per s", "p50", "p99", "max", "pages", "erases/1k")


def cells(result: CaseResult) -> Sequence[str]:
    """A case's cells below HEADINGS: the last two are pages and erases for a transaction."""
    stored, latency = stored_of(result), transaction_latency(result)
    rate = stored["transactions_per_s"] if stored else None
    times = (latency["p50_ns"], latency["p99_ns"], latency["max_ns"]) if latency else ()
    pages = stored["programs_per_transaction"] if stored else None
    erases = stored["erases_per_1000_transactions"] if stored else None
    return (
        "" if rate is None else f"{rate:.1f}",
        *(map(format_duration_ns, times) if times else ("", "", "")),
        "" if pages is None else f"{pages:.1f}",
        "" if erases is None else f"{erases:.1f}",
    )


def print_case(console: Console, result: CaseResult) -> None:
    """What there is to say of one case before its phases and latencies."""
    stored = stored_of(result)
    if stored is None:
        return
    short = f", stopped by {stored['stopped']}" if stored["stopped"] else ""
    done = f"{stored['transactions_done']:,} of {stored['transactions']:,} transactions"
    times = stored["journal_amplification"]
    wrote = "" if times is None else f", {times:.2f} bytes written per byte changed"
    number = stored["checkpoints"]
    checkpoints = f", {number:,} checkpoint{'s' if number > 1 else ''}" if number else ""
    console.print(f"{done}{checkpoints}{wrote}{short}", markup=False)
    for task in stored["tasks"]:
        console.print(
            f"  {task['phase']}, {task['name']}: {task['pages_read']:,} pages read, "
            f"{task['pages_programmed']:,} programmed, {task['blocks_erased']:,} blocks erased",
            markup=False,
        )


def shows_phases(_result: CaseResult) -> bool:
    """What was read and written in each phase is in no other table."""
    return True
