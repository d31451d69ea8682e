"""The figures of any result, by the kind of its workload; and all metrics that there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ffslab.results.schema import GENERAL, Figure, Metric, Result, TaskWork
from ffslab.workloads.ffsmark import metrics as ffsmark
from ffslab.workloads.micro import metrics as micro
from ffslab.workloads.tree import metrics as tree

_FIGURES: Mapping[str, Callable[[Result], tuple[Figure, ...]]] = {
    ffsmark.KIND: ffsmark.figures,
    micro.KIND: micro.figures,
    tree.KIND: tree.figures,
}
_TASKS: Mapping[str, Callable[[Result], tuple[TaskWork, ...]]] = {
    ffsmark.KIND: ffsmark.tasks,
    micro.KIND: micro.tasks,
    tree.KIND: tree.tasks,
}
ALL_METRICS: tuple[Metric, ...] = (*GENERAL, *ffsmark.METRICS, *micro.METRICS, *tree.METRICS)


def kind_of(result: Result) -> str:
    """The kind of a result's workload; results of the first versions do not name it."""
    return str(result["spec"]["workload"].get("kind", ffsmark.KIND))


def figures_of(result: Result) -> tuple[Figure, ...]:
    """All figures of a result; KeyError for a kind of workload that there is not."""
    return _FIGURES[kind_of(result)](result)


def tasks_of(result: Result) -> tuple[TaskWork, ...]:
    """What each task asked of the flash, where the result has tasks."""
    return _TASKS[kind_of(result)](result)
