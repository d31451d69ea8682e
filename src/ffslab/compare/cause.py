"""What a difference in time is made of: the chip's time by operation, the rest, and who asked.

A case's figures have for each phase or step its time, how long the chip was busy with what, and how
many pages and blocks that was; some results also tell what each task asked for. All changes are
means over the seeds of a row.

Limit: time that is not the chip's is one figure. It is mostly CPU; a task that waits for a chip
that works for another is in the chip's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ffslab.compare.cases import ComparedCase
from ffslab.compare.pairs import CasePair
from ffslab.compare.ratios import mean
from ffslab.results.schema import (
    DURATION,
    FLASH_COUNTS,
    FLASH_PARTS,
    FLASH_TIME,
    REST,
    Metric,
)

_MOST_TASKS = 3


@dataclass(frozen=True, slots=True)
class Change:
    """A figure's means on both sides."""

    metric: Metric
    base: float
    new: float

    @property
    def difference(self) -> float:
        return self.new - self.base


@dataclass(frozen=True, slots=True)
class TaskChange:
    """What a task asked for more or less."""

    task: str
    change: Change


@dataclass(frozen=True, slots=True)
class Cause:
    """Of one phase: only what changed. `time` is None where the phase took as long as before.

    `flash` is None where the chip does not count its time; `has_tasks`: results tell them apart.
    """

    phase: str
    time: Change | None
    flash: Change | None
    parts: tuple[Change, ...]
    rest: Change | None
    counts: tuple[Change, ...]
    tasks: tuple[TaskChange, ...]
    has_tasks: bool


def cause_of(phase: str, pairs: Sequence[CasePair]) -> Cause | None:
    """Why a phase's figures differ; None if neither its time nor its flash operations do."""
    flash = _change(FLASH_TIME, phase, pairs)
    time = _changed(_change(DURATION, phase, pairs))
    counts = _all_changed(FLASH_COUNTS, phase, pairs)
    parts = _all_changed(FLASH_PARTS, phase, pairs)
    if time is None and not counts and not parts:
        return None
    has_tasks = all(_has_tasks(case, phase) for pair in pairs for case in (pair.base, pair.new))
    return Cause(
        phase=phase,
        time=time,
        flash=flash,
        parts=parts,
        rest=_changed(_change(REST, phase, pairs)),
        counts=counts,
        tasks=_tasks(phase, pairs) if has_tasks else (),
        has_tasks=has_tasks,
    )


def _all_changed(
    metrics: Iterable[Metric], phase: str, pairs: Sequence[CasePair]
) -> tuple[Change, ...]:
    changes = (_changed(_change(metric, phase, pairs)) for metric in metrics)
    return tuple(change for change in changes if change is not None)


def _changed(change: Change | None) -> Change | None:
    return change if change is not None and change.difference else None


def _change(metric: Metric, phase: str, pairs: Sequence[CasePair]) -> Change | None:
    """The means of a metric of a phase; None if a case does not have it."""
    key = f"{phase}.{metric.name}"
    figures = [(pair.base.figures.get(key), pair.new.figures.get(key)) for pair in pairs]
    values = [(base.value, new.value) for base, new in figures if base and new]
    if not values or len(values) < len(figures):
        return None
    return Change(metric, mean(base for base, _ in values), mean(new for _, new in values))


def _has_tasks(case: ComparedCase, phase: str) -> bool:
    return any(work.place == phase for work in case.tasks)


def _tasks(phase: str, pairs: Sequence[CasePair]) -> tuple[TaskChange, ...]:
    """Who asked for more or less, what changed most first."""
    changes = []
    names = dict.fromkeys(
        work.task
        for pair in pairs
        for case in (pair.base, pair.new)
        for work in case.tasks
        if work.place == phase
    )
    for task in names:
        for metric in FLASH_COUNTS:
            before = [_asked(pair.base, phase, task, metric) for pair in pairs]
            after = [_asked(pair.new, phase, task, metric) for pair in pairs]
            change = Change(metric, mean(before), mean(after))
            if change.difference:
                changes.append(TaskChange(task, change))
    changes.sort(key=lambda task_change: -abs(task_change.change.difference))
    return tuple(changes[:_MOST_TASKS])


def _asked(case: ComparedCase, phase: str, task: str, metric: Metric) -> int:
    return sum(
        work.counts[metric.name] for work in case.tasks if work.place == phase and work.task == task
    )
