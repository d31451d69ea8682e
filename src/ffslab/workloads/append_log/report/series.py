"""A run's figures at their places: curves against the numeric axis, means over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ffslab.report.axes import Mean
from ffslab.workloads.append_log.report.load import LogCase, LogRun, operations
from ffslab.workloads.append_log.result import LINE_OPS

Value = Callable[[LogCase], float | None]


def of_metric(name: str) -> Value:
    """A figure of the case."""
    return lambda log_case: log_case.case.metrics.get(name)


def of_line(percent: float) -> Value:
    """A percentile of what the daemon waited for."""

    def value(log_case: LogCase) -> float | None:
        distribution = operations([log_case], "line")
        return distribution.percentile_ns(percent) if distribution is not None else None

    return value


def slowest(log_case: LogCase) -> float | None:
    """The longest that any line took, synced or not."""
    return max((float(e.max_ns) for e in log_case.case.latencies if e.op in LINE_OPS), default=None)


def mean_of(cases: Sequence[LogCase], value: Value) -> Mean | None:
    """The mean over the seeds of a place, with its range."""
    known = [figure for log_case in cases if (figure := value(log_case)) is not None]
    return Mean.of(known) if known else None


def lines_of(run: LogRun, pane: str, value: Value) -> dict[str, dict[float, Mean]]:
    """Each configuration's values by the points of the axis, in one pane."""
    by_label = {
        label: {
            point: mean
            for point in run.points
            if (mean := mean_of(run.at(label, pane, point), value)) is not None
        }
        for label in run.labels
    }
    return {label: line for label, line in by_label.items() if line}


def plain(lines: Mapping[str, Mapping[float, Mean]]) -> dict[str, dict[float, float]]:
    """The means alone."""
    return {
        label: {point: mean.mean for point, mean in line.items()} for label, line in lines.items()
    }
