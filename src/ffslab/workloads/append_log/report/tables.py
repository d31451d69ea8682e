"""Tables and charts of a run of append-log."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ffslab.report import charts, data, tails
from ffslab.report.curves import Curve, Figure, Pane, Quantity, Style, curves, linear_quantity
from ffslab.report.distribution import spread_cells, spread_head
from ffslab.report.elements import Table, by_filesystem
from ffslab.report.quantity import capitalized, duration, grouped, significant
from ffslab.workloads.append_log.report.load import LogCase, LogRun, operations
from ffslab.workloads.append_log.report.sentences import background_share
from ffslab.workloads.append_log.report.series import (
    Value,
    lines_of,
    mean_of,
    of_line,
    of_metric,
    slowest,
)

_OPERATIONS: Mapping[str, str] = {
    "line": "what the daemon waits for",
    "append": "write() of a line",
    "sync": "a sync",
    "rotate": "a rotation",
}
_NONE = "–"
_MS = 1e6


def figures(run: LogRun, styles: Mapping[str, Style]) -> tuple[Figure, ...]:
    """What is drawn against the axis; nothing without one."""
    shown = (
        (
            "p99 of a line",
            "p99",
            of_line(99),
            "What the daemon waits for in 99 of 100 cases: its write() and the sync behind it; "
            "without syncs the write() alone.",
        ),
        ("The slowest line", "slowest", slowest, "The longest that a line took, synced or not."),
        (
            "Pages per line",
            "pages",
            of_metric("pages_per_line"),
            "Pages programmed from the first line to the end of the flush ÷ lines.",
        ),
    )
    return tuple(figure for entry in shown if (figure := _figure(run, styles, *entry)) is not None)


def _figure(
    run: LogRun, styles: Mapping[str, Style], title: str, key: str, value: Value, meaning: str
) -> Figure | None:
    axis, is_time = run.axis, key != "pages"
    if axis is None:
        return None
    by_pane = {pane: lines_of(run, pane, value) for pane in run.panes}
    panes = [
        Pane(pane, tuple(Curve(styles[name], tuple(line.items())) for name, line in lines.items()))
        for pane, lines in by_pane.items()
    ]
    keys = tuple(styles[label] for label in run.labels)
    means = [
        mean for lines in by_pane.values() for line in lines.values() for mean in line.values()
    ]
    quantity = linear_quantity(title, [mean.mean for mean in means])
    if is_time:
        quantity = Quantity(title, "ms", _MS, quantity.logarithmic)
    drawing = curves(panes, axis, quantity, f"{title} against {axis.word}", f"log-{key}")
    return Figure(title, meaning, keys, drawing)


def tail_charts(run: LogRun) -> list[tuple[str, str, str]]:
    """Per point of the axis: heading, meaning and drawing of how the latencies are spread."""
    look = charts.look_for([data.Group(run.identity(log_case), ()) for log_case in run.measured])
    drawn = []
    for number, point in enumerate(run.points):
        lines = [
            tails.Line(
                pane or "all",
                cases[0].case.filesystem,
                charts.options_key(run.identity(cases[0])),
                distribution.tail(),
            )
            for pane in run.panes
            for label in run.labels
            if (cases := run.at(label, pane, point))
            and (distribution := operations(cases, "line")) is not None
        ]
        if lines:
            heading = run.axis.text(point) if run.axis else "All lines"
            title = f"{heading}: share of lines slower than t"
            drawing = tails.tails(lines, title, look, f"log-tail-{number}")
            drawn.append((capitalized(heading), _waits(run, point), drawing))
    return drawn


def _waits(run: LogRun, point: float) -> str:
    ops = {
        log_case.line.op for log_case in run.measured if log_case.point == point and log_case.line
    }
    return "a line with its sync" if "append-sync" in ops else "the write() of a line"


def latency_table(run: LogRun) -> Table:
    """All kinds of operations of every place, over the seeds."""
    rows = []
    for label, scenario, cases in _places(run):
        synced = operations(cases, "sync") is not None
        for op, words in _OPERATIONS.items():
            distribution = operations(cases, op)
            # Without a sync the daemon waits for the write() alone.
            if distribution is not None and (synced or op != "append"):
                count = grouped(distribution.count)
                rows.append((label, scenario, words, count, *spread_cells(distribution)))
    head = ("configuration", "setting", "operation", "count", *spread_head())
    return by_filesystem(Table("Latencies", head, (), tuple(rows), text_columns=3))


_COLUMNS: tuple[tuple[str, str, Value, Callable[[float], str]], ...] = (
    ("pages per line", "", of_metric("pages_per_line"), significant),
    ("read per line", "pages", of_metric("pages_read_per_line"), significant),
    ("programmed ÷ written", "", of_metric("write_amplification"), significant),
    ("by other tasks", "%", background_share, lambda share: significant(100 * share, 2)),
    ("erases per 1,000 lines", "", of_metric("erases_per_1000_lines"), significant),
    ("erases per block", "", of_metric("erases_mean"), significant),
    ("wear spread", "erases", of_metric("erases_spread"), significant),
    ("lasts", "million lines", of_metric("life_lines"), lambda lines: significant(lines / 1e6)),
    ("lasts", "years", of_metric("life_years"), significant),
)


def flash_table(run: LogRun) -> Table:
    """What the flash did for the lines of every place, means over the seeds."""
    rows = []
    for label, scenario, cases in _places(run):
        means = [mean_of(cases, value) for _, _, value, _ in _COLUMNS]
        cells = (
            form(mean.mean) if mean else _NONE
            for mean, (_, _, _, form) in zip(means, _COLUMNS, strict=True)
        )
        rows.append((label, scenario, *cells))
    head = ("configuration", "setting", *(title for title, _, _, _ in _COLUMNS))
    units = ("", "", *(unit for _, unit, _, _ in _COLUMNS))
    note = (
        "Lasts: until the chip’s rated erases are used up, if all blocks wear alike and each "
        "is erased only when all its pages are programmed. A real file system reaches it sooner. "
        "Years: at the pace of the case."
    )
    return by_filesystem(Table("Flash", head, units, tuple(rows), text_columns=2, note=note))


def case_table(run: LogRun) -> Table:
    """Every case by itself."""
    rows = []
    for log_case in run.cases:
        values = (of_line(50)(log_case), of_line(99)(log_case), slowest(log_case))
        times = (duration(value) if value is not None else _NONE for value in values)
        mean = log_case.case.metrics.get("line_mean_ns")
        pages = log_case.case.metrics.get("pages_per_line")
        rows.append(
            (
                log_case.case.id,
                log_case.case.outcome,
                duration(mean) if mean is not None else _NONE,
                *times,
                significant(pages) if pages is not None else _NONE,
            )
        )
    head = ("case", "outcome", "mean of all lines", "p50", "p99", "slowest", "pages per line")
    return Table("All cases", head, (), tuple(rows), text_columns=2, outcomes=True)


def _places(run: LogRun) -> list[tuple[str, str, tuple[LogCase, ...]]]:
    """Every place that was measured: configuration, the rest in words, and its cases."""
    return [
        (label, run.place(pane, point) or "all", cases)
        for label in run.labels
        for pane in run.panes
        for point in run.points
        if (cases := run.at(label, pane, point))
    ]
