"""The figures of any result, by the kind of its workload; and all metrics that there are."""

from __future__ import annotations

from collections.abc import Iterable

from ffslab.results.criteria import Criterion
from ffslab.results.result import CaseResult
from ffslab.results.schema import (
    DECISION_METRICS,
    GENERAL,
    MTD_METRICS,
    Figure,
    Metric,
    TaskWork,
    figures_at,
)
from ffslab.workloads.modules import MetricsModule, metrics_module
from ffslab.workloads.registry import kind_of, workloads


def all_metrics() -> tuple[Metric, ...]:
    """Every metric: the general ones, and those of each workload."""
    return metrics_of(workloads())


def metrics_of(kinds: Iterable[str]) -> tuple[Metric, ...]:
    """The metrics that results of these workloads may have."""
    own = (metric for kind in dict.fromkeys(kinds) for metric in metrics_module(kind).METRICS)
    return (*GENERAL, *DECISION_METRICS, *own)


def figures_of(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result; KeyError for a kind of workload that there is not."""
    return _metrics_of(result).figures(result)


def criteria_of(result: CaseResult) -> tuple[Criterion, ...]:
    """The figures of a result that people decide by, as its workload says; and what MTD counted,
    where a board has nobody else who counts.
    """
    counted = figures_at(result.get("mtd_statistics", {}), "", MTD_METRICS)
    return (
        *_metrics_of(result).criteria(result),
        *(Criterion(figure, figure.metric.title, "wear") for figure in counted),
    )


def tasks_of(result: CaseResult) -> tuple[TaskWork, ...]:
    """What each task asked of the flash, where the result has tasks."""
    return _metrics_of(result).tasks(result)


def _metrics_of(result: CaseResult) -> MetricsModule:
    return metrics_module(kind_of(result["spec"]))
