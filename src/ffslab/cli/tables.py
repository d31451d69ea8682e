"""Tables of results for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from ffslab.cli.micro_tables import erases, is_micro, response
from ffslab.cli.tree_tables import is_tree, tree_cells
from ffslab.model.units import format_duration_ns

_ORDER = {"crash": 0, "corrupt": 1, "timeout": 2, "fail": 3, "skip": 4, "pass": 5}
_FFSMARK_HEADINGS = ("creation", "trans.", "pages", "erased")
_MICRO_HEADINGS = ("mean", "max", "erases/block")
_TREE_HEADINGS = ("mount", "all steps", "RAM")
_STYLE = {"pass": "green", "skip": "yellow"}


# Into a file or a pipe no line is broken: a path or an id in two pieces cannot be used.
_NO_LIMIT_COLUMNS = 10_000


def terminal() -> Console:
    """Standard output; a line is as long as it is when that is no terminal."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_NO_LIMIT_COLUMNS)


def print_results(
    console: Console, results: Sequence[Mapping[str, Any]], walls: Mapping[str, Mapping[str, Any]]
) -> None:
    """One line per case, failures first and with their reason; a table for each workload."""
    ordered = sorted(results, key=lambda result: _ORDER.get(result["outcome"], 0))
    micro = [result for result in ordered if is_micro(result)]
    tree = [result for result in ordered if is_tree(result)]
    others = [result for result in ordered if not is_micro(result) and not is_tree(result)]
    if others or not ordered:
        console.print(_results_table(_FFSMARK_HEADINGS, _ffsmark_cells, others, walls))
    if micro:
        console.print(_results_table(_MICRO_HEADINGS, _micro_cells, micro, walls))
    if tree:
        console.print(_results_table(_TREE_HEADINGS, tree_cells, tree, walls))
    for result in results:
        if result["outcome"] != "pass":
            console.print(f"{result['id']}: {result['outcome']}: {result['reason']}", markup=False)


def _results_table(
    headings: Sequence[str],
    cells: Callable[[Mapping[str, Any]], Sequence[str]],
    results: Sequence[Mapping[str, Any]],
    walls: Mapping[str, Mapping[str, Any]],
) -> Table:
    table = _table(gap=1)
    table.add_column("case", overflow="fold", min_width=31)
    table.add_column("outcome")
    for heading in (*headings, "wall"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        outcome = result["outcome"]
        wall = walls.get(result["id"], {}).get("wall_ns")
        table.add_row(
            result["id"],
            f"[{_STYLE.get(outcome, 'red')}]{outcome}[/]",
            *cells(result),
            format_duration_ns(wall) if wall is not None else "",
        )
    return table


def _ffsmark_cells(result: Mapping[str, Any]) -> Sequence[str]:
    phases: dict[str, Mapping[str, Any]] = {phase["phase"]: phase for phase in result["phases"]}
    whole = phases.get("workload", {})
    return (
        _duration(phases.get("creation")),
        _duration(phases.get("transactions")),
        _count(whole.get("pages_programmed")),
        _count(whole.get("blocks_erased")),
    )


def _micro_cells(result: Mapping[str, Any]) -> Sequence[str]:
    """Response times, and wear from the first request to the end of the flush."""
    phases: dict[str, Mapping[str, Any]] = {phase["phase"]: phase for phase in result["phases"]}
    whole = phases.get("workload", {})
    return (*response(result), erases(whole))


def print_phases(console: Console, result: Mapping[str, Any]) -> None:
    """The phases of one case."""
    table = _table()
    table.add_column("phase", no_wrap=True)
    for heading in ("time", "MB/s r", "MB/s w", "pages r", "pages w", "erased", "spread", "WA"):
        table.add_column(heading, justify="right", no_wrap=True)
    for phase in result["phases"]:
        amplification = phase.get("write_amplification")
        table.add_row(
            phase["phase"],
            format_duration_ns(phase["duration_ns"]),
            _rate(phase["read_bytes_per_s"]),
            _rate(phase["write_bytes_per_s"]),
            _count(phase.get("pages_read")),
            _count(phase.get("pages_programmed")),
            _count(phase.get("blocks_erased")),
            _count(phase.get("erases_spread")),
            "" if amplification is None else f"{amplification:.2f}",
        )
    console.print(table)


def print_latencies(console: Console, result: Mapping[str, Any]) -> None:
    """The latencies of one case."""
    table = _table()
    table.add_column("phase", no_wrap=True)
    table.add_column("operation", no_wrap=True)
    for heading in ("count", "mean", "p50", "p99", "max"):
        table.add_column(heading, justify="right", no_wrap=True)
    for latency in result["latencies"]:
        if latency["count"]:
            names = ("mean_ns", "p50_ns", "p99_ns", "max_ns")
            table.add_row(
                latency["phase"],
                latency["op"],
                _count(latency["count"]),
                *(format_duration_ns(latency[name]) for name in names),
            )
    console.print(table)


def outcome_counts(results: Sequence[Mapping[str, Any]]) -> str:
    """For example "34 pass, 2 fail"."""
    counts: dict[str, int] = {}
    for result in results:
        counts[result["outcome"]] = counts.get(result["outcome"], 0) + 1
    ordered = sorted(counts, key=lambda outcome: _ORDER.get(outcome, 0), reverse=True)
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in ordered) or "no case"


def _table(gap: int = 2) -> Table:
    """Columns `gap` blanks apart, without lines: 80 columns are few."""
    return Table(box=None, pad_edge=False, padding=(0, gap, 0, 0))


def _duration(phase: Mapping[str, Any] | None) -> str:
    return format_duration_ns(phase["duration_ns"]) if phase else ""


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _rate(bytes_per_s: float) -> str:
    if not bytes_per_s:
        return ""
    mega = bytes_per_s / 1e6
    return f"{mega:.2f}" if mega < 100 else f"{mega:,.0f}"
