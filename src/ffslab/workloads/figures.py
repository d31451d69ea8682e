"""The figures of any result, by the kind of its workload; and all metrics that there are."""

from __future__ import annotations

from ffslab.results.criteria import Criterion
from ffslab.results.result import CaseResult
from ffslab.results.schema import DECISION_METRICS, GENERAL, Figure, Metric, TaskWork
from ffslab.workloads.parts import MetricsPart, metrics_part
from ffslab.workloads.registry import kind_of, workloads


def all_metrics() -> tuple[Metric, ...]:
    """Every metric: the general ones, and those of each workload."""
    return (
        *GENERAL,
        *DECISION_METRICS,
        *(metric for kind in workloads() for metric in metrics_part(kind).METRICS),
    )


def figures_of(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result; KeyError for a kind of workload that there is not."""
    return _part(result).figures(result)


def criteria_of(result: CaseResult) -> tuple[Criterion, ...]:
    """The figures of a result that people decide by, as its workload says."""
    return tuple(_part(result).criteria(result))


def tasks_of(result: CaseResult) -> tuple[TaskWork, ...]:
    """What each task asked of the flash, where the result has tasks."""
    return _part(result).tasks(result)


def _part(result: CaseResult) -> MetricsPart:
    return metrics_part(kind_of(result["spec"]))
