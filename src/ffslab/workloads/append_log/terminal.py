"""append-log in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ffslab.model.units import format_duration_ns
from ffslab.results.result import CaseResult
from ffslab.workloads.append_log.result import line_latency
from ffslab.workloads.append_log.stored import log_of

HEADINGS = ("p50", "p99", "max", "pages/line", "erases/1k")


def cells(result: CaseResult) -> Sequence[str]:
    """What the daemon waits for; pages for a line, and erases for a thousand."""
    log, line = log_of(result), line_latency(result["latencies"])
    times = (line["p50_ns"], line["p99_ns"], line["max_ns"]) if line else ()
    pages = log["pages_per_line"] if log else None
    erases = log["erases_per_1000_lines"] if log else None
    return (
        *(map(format_duration_ns, times) if times else ("", "", "")),
        "" if pages is None else f"{pages:.2f}",
        "" if erases is None else f"{erases:.1f}",
    )


def print_case(console: Console, result: CaseResult) -> None:
    """How many lines there are, how many of them were synced, and whose the pages are."""
    log = log_of(result)
    if not log:
        return
    short = f", stopped by {log['stopped']}" if log["stopped"] else ""
    rotated = f", {log['rotations']:,} rotations" if log["rotations"] else ""
    done = f"{log['lines_done']:,} of {log['lines']:,} lines, {log['synced']:,} synced"
    console.print(f"{done}{rotated}{short}", markup=False)
    for task in log["tasks"]:
        console.print(
            f"  {task['phase']}, {task['name']}: {task['pages_read']:,} pages read, "
            f"{task['pages_programmed']:,} programmed, {task['blocks_erased']:,} blocks erased",
            markup=False,
        )


def shows_phases(_result: CaseResult) -> bool:
    """What was read and written in each phase is in no other table."""
    return True
