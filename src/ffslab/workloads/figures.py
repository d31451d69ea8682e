"""The figures of any result, by the kind of its workload; and all metrics that there are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ffslab.results.criteria import Criterion, deciding
from ffslab.results.result import CaseResult
from ffslab.results.schema import (
    DECISION_METRICS,
    GENERAL,
    MEASURED,
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


def compared_figures(result: CaseResult) -> tuple[tuple[Figure, ...], tuple[Criterion, ...]]:
    """All figures of a result, and the few of them that decide, in their order.

    These are `main`, and so is how much was measured where that is not all.
    """
    chosen = tuple(deciding(criteria_of(result)))
    keys = {criterion.figure.key: criterion.figure for criterion in chosen}
    others = {figure.key: figure for figure in figures_of(result)}
    figures = (
        replace(figure, main=key in keys or (figure.main and figure.metric is MEASURED))
        for key, figure in (keys | others).items()
    )
    return tuple(figures), chosen


def tasks_of(result: CaseResult) -> tuple[TaskWork, ...]:
    """What each task asked of the flash, where the result has tasks."""
    return _metrics_of(result).tasks(result)


def _metrics_of(result: CaseResult) -> MetricsModule:
    return metrics_module(kind_of(result["spec"]))
