"""append-log in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from ffslab.model.units import format_duration_ns
from ffslab.workloads.append_log.result import line_latency

_TIMES = ("p50_ns", "p99_ns", "max_ns")
HEADINGS = ("p50", "p99", "max", "pages/line", "erases/1k")


def cells(result: Mapping[str, Any]) -> Sequence[str]:
    """What the daemon waits for; pages for a line, and erases for a thousand."""
    log, line = result.get("append_log") or {}, line_latency(result["latencies"])
    times = [format_duration_ns(line[name]) if line else "" for name in _TIMES]
    pages, erases = log.get("pages_per_line"), log.get("erases_per_1000_lines")
    return (
        *times,
        "" if pages is None else f"{pages:.2f}",
        "" if erases is None else f"{erases:.1f}",
    )


def print_case(console: Console, result: Mapping[str, Any]) -> None:
    """How many lines there are, how many of them were synced, and whose the pages are."""
    log = result.get("append_log")
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


def shows_phases(_result: Mapping[str, Any]) -> bool:
    """What was read and written in each phase is in no other table."""
    return True
