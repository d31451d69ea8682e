"""Tables of micro-benchmarks for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ffslab.model.units import format_duration_ns, format_size
from ffslab.workloads.micro.result import mean_response_ns

HEADINGS = ("mean", "max", "erases/block")
_PARTS = (("startup", "start-up"), ("running", "running"), ("all", "all"))
_COUNTS = (
    ("pages_read", "r"),
    ("pages_programmed", "w"),
    ("blocks_erased", "e"),
    ("oob_pages", "o"),
)


def cells(result: Mapping[str, Any]) -> Sequence[str]:
    """Response times, and wear from the first request to the end of the flush."""
    phases: dict[str, Mapping[str, Any]] = {phase["phase"]: phase for phase in result["phases"]}
    return (*response(result), erases(phases.get("workload", {})))


def print_case(console: Console, result: Mapping[str, Any]) -> None:
    """How its flash was prepared, and its requests."""
    print_preparation(console, result)
    print_requests(console, result)


def shows_phases(_result: Mapping[str, Any]) -> bool:
    """What was read and written in the measured phase is in no other table."""
    return True


def response(result: Mapping[str, Any]) -> tuple[str, str]:
    """Mean and longest response time of a case, for its line in the table of a run."""
    mean = mean_response_ns(result)
    if mean is None:
        return "", ""
    longest = max(stream["all"]["max_ns"] for stream in result["requests"] if stream["all"])
    return format_duration_ns(mean), format_duration_ns(longest)


def erases(phase: Mapping[str, Any]) -> str:
    """Erases per block: mean ± standard deviation."""
    if "erases_mean" not in phase:
        return ""
    return f"{phase['erases_mean']:.2f} ± {phase['erases_std']:.2f}"


def print_preparation(console: Console, result: Mapping[str, Any]) -> None:
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


def print_requests(console: Console, result: Mapping[str, Any]) -> None:
    """Response times, who did what on the flash, and the slowest requests."""
    micro = result.get("micro")
    if micro:
        short = f", stopped by {micro['stopped']}" if micro["stopped"] else ""
        console.print(
            f"{micro['requests_done']:,} of {micro['requests']:,} requests{short}", markup=False
        )
    streams = result.get("requests", [])
    for title, table in (
        ("Response time", _latencies(streams)),
        ("Flash operations by task", _tasks(streams)),
        ("Slowest requests", _slowest(streams)),
    ):
        if table.row_count:
            console.print(f"\n{title}")
            console.print(table)


def _latencies(streams: Sequence[Mapping[str, Any]]) -> Table:
    table = _table(("stream", "part"), ("requests", "mean", "p50", "p99", "max"))
    for stream in streams:
        for key, name in _PARTS:
            summary = stream[key]
            # Without a start-up all requests are the running phase.
            if summary is None or (key == "running" and not stream["startup_count"]):
                continue
            times = (summary[n] for n in ("mean_ns", "p50_ns", "p99_ns", "max_ns"))
            cells = [f"{summary['count']:,}", *(format_duration_ns(time) for time in times)]
            table.add_row(f"{stream['stream']} {stream['op']}", name, *cells)
    return table


def _tasks(streams: Sequence[Mapping[str, Any]]) -> Table:
    headings = ("pages r", "pages w", "erased", "OOB", "time")
    table = _table(("stream", "task", "when"), headings)
    when = {"request": "in requests", "after": "between"}
    for stream in streams:
        for task in stream["tasks"]:
            counts = (f"{task[name]:,}" for name, _ in _COUNTS)
            table.add_row(
                f"{stream['stream']} {stream['op']}",
                escape(task["name"]),
                when.get(task["when"], task["when"]),
                *counts,
                format_duration_ns(task["busy_ns"]),
            )
    return table


def _slowest(streams: Sequence[Mapping[str, Any]]) -> Table:
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
                escape(request["cause"]),
                escape(", ".join(_operations(request["tasks"]))),
            )
    return table


def _operations(tasks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """For example "jffs2_gcd_mtd0 64r 1e"."""
    for task in tasks:
        counts = [f"{task[name]}{letter}" for name, letter in _COUNTS if task[name]]
        yield " ".join([task["name"], *counts])


def _table(left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in left:
        table.add_column(heading, no_wrap=True)
    for heading in right:
        table.add_column(heading, justify="right", no_wrap=True)
    return table
