"""Tables of micro-benchmarks for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from ffslab.model.units import format_duration_ns, format_size
from ffslab.results.result import CaseResult, PhaseResult
from ffslab.workloads.micro.result import mean_response_ns
from ffslab.workloads.micro.stored import (
    FlashCounts,
    RequestTask,
    StreamResult,
    micro_of,
    streams_of,
)

HEADINGS = ("mean", "max", "erases/block")


def cells(result: CaseResult) -> Sequence[str]:
    """Response times, and wear from the first request to the end of the flush."""
    phases = {phase["phase"]: phase for phase in result["phases"]}
    return (*response(result), erases(phases.get("workload")))


def print_case(console: Console, result: CaseResult) -> None:
    """How its flash was prepared, and its requests."""
    print_preparation(console, result)
    print_requests(console, result)


def shows_phases(_result: CaseResult) -> bool:
    """What was read and written in the measured phase is in no other table."""
    return True


def response(result: CaseResult) -> tuple[str, str]:
    """Mean and longest response time of a case, for its line in the table of a run."""
    mean = mean_response_ns(result)
    if mean is None:
        return "", ""
    longest = max(stream["all"]["max_ns"] for stream in streams_of(result) if stream["all"])
    return format_duration_ns(mean), format_duration_ns(longest)


def erases(phase: PhaseResult | None) -> str:
    """Erases per block: mean ± standard deviation; empty without snapshots of the blocks."""
    if phase is None or "erases_mean" not in phase or "erases_std" not in phase:
        return ""
    return f"{phase['erases_mean']:.2f} ± {phase['erases_std']:.2f}"


def print_preparation(console: Console, result: CaseResult) -> None:
    """What the preparation of the flash achieved."""
    preparation = result.get("preparation")
    if not preparation:
        return
    where = "the case's own guest" if preparation["key"] is None else preparation["key"][:12]
    console.print(f"preparation: {preparation['outcome']} ({where})", markup=False)
    if preparation["reason"]:
        console.print(f"  {preparation['reason']}", markup=False)
    prepared = preparation["prepared"]
    if prepared is None:
        return
    parts = [f"valid data {format_size(prepared['valid_bytes'])}"]
    removed = "" if prepared["invalid_present"] or not prepared["invalid_bytes"] else " (removed)"
    parts.append(f"invalid data {format_size(prepared['invalid_bytes'])}{removed}")
    if prepared["file_bytes"]:
        parts.append(f"test file {format_size(prepared['file_bytes'])}")
    if preparation["reserve_bytes"] is not None:
        parts.append(f"reserve {format_size(preparation['reserve_bytes'])}")
    console.print(f"  {prepared['state']}: {', '.join(parts)}", markup=False)


def print_requests(console: Console, result: CaseResult) -> None:
    """Response times, who did what on the flash, and the slowest requests."""
    micro = micro_of(result)
    if micro:
        short = f", stopped by {micro['stopped']}" if micro["stopped"] else ""
        console.print(
            f"{micro['requests_done']:,} of {micro['requests']:,} requests{short}", markup=False
        )
    streams = streams_of(result)
    for title, table in (
        ("Response time", _latencies(streams)),
        ("Flash operations by task", _tasks(streams)),
        ("Slowest requests", _slowest(streams)),
    ):
        if table.row_count:
            console.print(f"\n{title}")
            console.print(table)


def _latencies(streams: Sequence[StreamResult]) -> Table:
    table = _table(("stream", "part"), ("requests", "mean", "p50", "p99", "max"))
    for stream in streams:
        # Without a start-up all requests are the running phase.
        running = stream["running"] if stream["startup_count"] else None
        parts = (("start-up", stream["startup"]), ("running", running), ("all", stream["all"]))
        for name, summary in parts:
            if summary is None:
                continue
            times = (summary["mean_ns"], summary["p50_ns"], summary["p99_ns"], summary["max_ns"])
            cells = [f"{summary['count']:,}", *(format_duration_ns(time) for time in times)]
            table.add_row(f"{stream['stream']} {stream['op']}", name, *cells)
    return table


def _tasks(streams: Sequence[StreamResult]) -> Table:
    headings = ("pages r", "pages w", "erased", "OOB", "time")
    table = _table(("stream", "task", "when"), headings)
    when = {"request": "in requests", "after": "between"}
    for stream in streams:
        for task in stream["tasks"]:
            counts = (f"{count:,}" for count, _ in _counts(task))
            table.add_row(
                f"{stream['stream']} {stream['op']}",
                task["name"],
                when.get(task["when"], task["when"]),
                *counts,
                format_duration_ns(task["busy_ns"]),
            )
    return table


def _slowest(streams: Sequence[StreamResult]) -> Table:
    table = _table(("stream",), ("request", "offset", "time"))
    table.add_column("cause", overflow="fold")
    table.add_column("pages r, w, blocks e, OOB o", overflow="fold")
    for stream in streams:
        for request in stream["slowest"]:
            table.add_row(
                f"{stream['stream']} {stream['op']}",
                f"{request['request']:,}",
                format_size(request["offset"]),
                format_duration_ns(request["latency_ns"]),
                request["cause"],
                ", ".join(_operations(request["tasks"])),
            )
    return table


def _operations(tasks: Sequence[RequestTask]) -> Iterator[str]:
    """For example "jffs2_gcd_mtd0 64r 1e"."""
    for task in tasks:
        counts = [f"{count}{letter}" for count, letter in _counts(task) if count]
        yield " ".join([task["name"], *counts])


def _counts(task: FlashCounts) -> Sequence[tuple[int, str]]:
    """What a task did, and the letter that it is told by."""
    return (
        (task["pages_read"], "r"),
        (task["pages_programmed"], "w"),
        (task["blocks_erased"], "e"),
        (task["oob_pages"], "o"),
    )


def _table(left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in left:
        table.add_column(heading, no_wrap=True)
    for heading in right:
        table.add_column(heading, justify="right", no_wrap=True)
    return table
