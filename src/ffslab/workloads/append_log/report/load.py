"""A run of append-log as frozen values: where the format of its results is known.

A case has a place: its configuration (`label`: file system, options and what else is no number),
its pane (state and further numbers) and its point on the numeric axis, if one varies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ffslab.report import data
from ffslab.report.axes import Axis, axis_of
from ffslab.report.data import Case, Latency, Run
from ffslab.report.distribution import Distribution, merge
from ffslab.report.load import (
    Document,
    Read,
    axis_values,
    explained,
    histogram,
    is_number,
    open_run,
    plain_outline,
    setting,
)
from ffslab.results.result import CaseHead, CaseResult, PhaseResult, PhaseTask
from ffslab.workloads.append_log.result import LINE_OPS
from ffslab.workloads.append_log.stored import LogResult, log_of

FSYNC = "workload.fsync_every"
NEVER = math.inf  # its place on the axis of fsync_every: behind all that sync
# In this order: what is drawn against, where several numbers vary.
_TITLES: Mapping[str, str] = {
    FSYNC: "sync interval (lines)",
    "workload.interval_us": "sleep between lines",
    "workload.line_bytes": "size of a line",
    "workload.rotate_bytes": "size of a file",
    "workload.keep": "old files kept",
    "workload.lines": "lines",
}
DAEMON = ("init", "ffsagent")  # what the agent is called, in the guest and as a program
_OF_LOG = (
    *("pages_per_line", "pages_read_per_line", "erases_per_1000_lines", "line_mean_ns"),
    "slow_share",
)
_OF_WEAR = ("erases_mean", "erases_std", "erases_spread", "write_amplification")
_S_PER_YEAR = 365.25 * 86_400


@dataclass(frozen=True)
class LogCase:
    """One case at its place. `tasks`: pages programmed by each task."""

    case: Case
    label: str
    pane: str
    point: float
    tasks: tuple[tuple[str, int], ...] = ()

    @property
    def line(self) -> Latency | None:
        """What the daemon waited for: a line with its sync; without any, the line."""
        by_op = {latency.op: latency for latency in self.case.latencies}
        return next((by_op[op] for op in LINE_OPS if op in by_op), None)


@dataclass(frozen=True)
class LogRun:
    """A run: `run` has what every report shows; `axis` is what all is drawn against, if anything
    varies in numbers. `line_axes` tell configurations apart.
    """

    run: Run
    cases: tuple[LogCase, ...]
    axis: Axis | None
    line_axes: tuple[str, ...]

    @property
    def measured(self) -> tuple[LogCase, ...]:
        """The cases that passed; one that ran out of space is among the failures."""
        return tuple(
            log_case
            for log_case in self.cases
            if log_case.case.passed and log_case.line is not None
        )

    @property
    def panes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(log_case.pane for log_case in self.measured))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(log_case.label for log_case in self.measured))

    @property
    def points(self) -> tuple[float, ...]:
        return self.axis.values if self.axis else (0.0,)

    def at(self, label: str, pane: str, point: float) -> tuple[LogCase, ...]:
        """The cases of a place, which differ in the seed."""
        return tuple(
            log_case
            for log_case in self.measured
            if (log_case.label, log_case.pane, log_case.point) == (label, pane, point)
        )

    def identity(self, log_case: LogCase) -> dict[str, str]:
        """What tells a case's configuration from others: its colour and dash in every chart."""
        return {name: log_case.case.axes.get(name, "") for name in self.line_axes}

    def place(self, pane: str, point: float) -> str:
        """A place in words: `used, sync interval 10`; empty if there is only one."""
        parts = (pane, self.axis.text(point) if self.axis else "")
        return ", ".join(part for part in parts if part)


def operations(cases: Sequence[LogCase], op: str) -> Distribution | None:
    """The operations of one kind of several cases together; `line`: what the daemon waited for."""
    if op == "line":
        return merge(line for log_case in cases if (line := log_case.line) is not None)
    return merge(
        latency for log_case in cases for latency in log_case.case.latencies if latency.op == op
    )


@dataclass(frozen=True, slots=True)
class Figures:
    """What a result of a log says beside what every result does."""

    metrics: dict[str, float]
    latencies: tuple[Latency, ...]
    tasks: tuple[tuple[str, int], ...]


def run_of(run_dir: Path, read_cases: Sequence[Read[Figures]]) -> LogRun:
    """The run in `run_dir` of what was read of it."""
    manifest = open_run(run_dir).manifest()
    with explained(run_dir, manifest):
        run = plain_outline(run_dir, manifest, read_cases)
        cases = tuple(
            replace(case, metrics=figures.metrics, latencies=figures.latencies)
            for case, figures in zip(run.cases, (read.figures for read in read_cases), strict=True)
        )
        return _placed(replace(run, cases=cases), read_cases)


def figures_of(row: CaseResult) -> Figures:
    """What a case measured; without what it did not get to."""
    log = log_of(row)
    phases = {phase["phase"]: phase for phase in row["phases"]}
    figures: dict[str, float | None] = {}
    if log:
        figures |= {name: dict[str, Any](log)[name] for name in _OF_LOG}
    if "workload" in phases:
        figures |= {name: dict[str, Any](phases["workload"]).get(name) for name in _OF_WEAR}
    if log and "append" in phases:
        figures |= _life(row["spec"], log, phases["append"])
    return Figures(
        metrics={name: float(value) for name, value in figures.items() if value is not None},
        latencies=tuple(histogram(entry) for entry in row["latencies"]),
        tasks=_tasks(log["tasks"] if log else ()),
    )


def _life(spec: Document, log: LogResult, append: PhaseResult) -> dict[str, float]:
    """How many lines wear the partition out, and how long that takes at the pace of the case.

    As if all blocks wore alike, and none was erased before all of its pages were programmed.
    """
    chip, pages = spec["board"]["chip"], log["pages_per_line"]
    if not pages or not chip.get("endurance_cycles") or not log["lines_done"]:
        return {}
    lines = spec["partition_bytes"] / chip["page_bytes"] * chip["endurance_cycles"] / pages
    per_line_s = append["duration_ns"] / 1e9 / log["lines_done"]
    return {"life_lines": lines, "life_years": lines * per_line_s / _S_PER_YEAR}


def _placed(run: Run, read_cases: Sequence[Read[Figures]]) -> LogRun:
    cases = run.cases
    rows = [read_case.head for read_case in read_cases]
    numeric = _numeric_axes(rows)
    axis = _axis(numeric[0], rows) if numeric else None
    aside = {*numeric, data.SEED, data.STATE}
    line_axes = [data.FILESYSTEM]
    line_axes += [name for name in run.varying if name not in aside and _tells(name, cases)]
    pane_axes = [name for name in run.varying if name == data.STATE or name in numeric[1:]]
    placed = []
    for read_case, case in zip(read_cases, cases, strict=True):
        placed.append(
            LogCase(
                case=case,
                label=data.group_label(case.axes, line_axes) or "all cases",
                pane=data.group_label(case.axes, pane_axes),
                point=_point(read_case.head, axis.name) if axis else 0.0,
                tasks=read_case.figures.tasks,
            )
        )
    return LogRun(run, tuple(placed), axis, tuple(line_axes))


def _tells(axis: str, cases: Sequence[Case]) -> bool:
    """Whether two cases of one file system differ in it: what all have alike names none of them."""
    values: dict[str, set[str]] = {}
    for case in cases:
        values.setdefault(case.filesystem, set()).add(case.axes.get(axis, ""))
    return axis != data.FILESYSTEM and any(len(distinct) > 1 for distinct in values.values())


def _numeric_axes(rows: Sequence[CaseHead]) -> tuple[str, ...]:
    """The axes with several values that are numbers everywhere, those of the log first."""
    names = [
        name
        for name, values in axis_values(rows).items()
        if name != data.SEED and all(map(is_number, values)) and len(set(values)) > 1
    ]
    order = {name: rank for rank, name in enumerate(_TITLES)}
    return tuple(sorted(names, key=lambda name: order.get(name, len(order))))


def _axis(name: str, rows: Sequence[CaseHead]) -> Axis:
    points = sorted({_point(row, name) for row in rows})
    names = ((NEVER, "no sync"),) if NEVER in points else ()
    return axis_of(name, points, _TITLES.get(name, ""), names)


def _point(row: CaseHead, name: str) -> float:
    """A case's place on a numeric axis: from its spec, which has every setting."""
    value = setting(row, name)
    return NEVER if name == FSYNC and not value else float(value or 0)


def _tasks(tasks: Sequence[PhaseTask]) -> tuple[tuple[str, int], ...]:
    sums: dict[str, int] = {}
    for task in tasks:
        sums[task["name"]] = sums.get(task["name"], 0) + task["pages_programmed"]
    return tuple(sums.items())
