"""The rows of a result that phases and latencies give: whose they are, and their figures.

Pure. The figures are those of `ffslab.results.metrics`; the phase `workload` adds up the phases
that a workload names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import cast

from ffslab.protocol.record_values import TASK_TIMES
from ffslab.protocol.records import (
    OK,
    Latency,
    Phase,
    PhaseCounts,
    Snapshot,
    TaskTime,
    phase_counts,
)
from ffslab.results.metrics import counter_difference, latency_metrics, phase_metrics
from ffslab.results.result import LatencyResult, PhaseResult, SlowestResult, TaskTimes


def latency_result(latency: Latency) -> LatencyResult:
    """The figures of one kind of operation in a phase; buckets are kept."""
    return {
        "phase": latency.phase,
        "op": latency.op,
        **latency_metrics(latency),
        "buckets": [list(bucket) for bucket in latency.buckets],
        **_slowest(latency),
    }


def _slowest(latency: Latency) -> SlowestResult:
    return {"slowest": [list(pair) for pair in latency.slowest]} if latency.slowest else {}


def phase_result(
    phase: Phase,
    snapshots: Mapping[str, Snapshot],
    page_bytes: int,
) -> PhaseResult:
    """One phase's figures from its record and the flash snapshots around it."""
    counters = counter_difference(phase.flash_start, phase.flash_end)
    start, end = snapshots.get(f"{phase.name}:start"), snapshots.get(f"{phase.name}:end")
    erases = (start["erases"], end["erases"]) if start and end else None
    duration_ns = phase.t_end_ns - phase.t_start_ns
    return {
        "phase": phase.name,
        "status": phase.status,
        "errno_name": phase.errno_name,
        "t_start_ns": phase.t_start_ns,
        "t_end_ns": phase.t_end_ns,
        "duration_ns": duration_ns,
        **phase.counts,
        "flash": counters,
        **phase_metrics(duration_ns, phase.counts, counters, page_bytes, erases),
        **_whose_time(phase),
    }


def _whose_time(phase: Phase) -> TaskTimes:
    return {"task_times": list(phase.task_times)} if phase.task_times else {}


def workload_result(
    phases: Sequence[PhaseResult],
    snapshots: Mapping[str, Snapshot],
    page_bytes: int,
    names: Sequence[str],
) -> PhaseResult | None:
    """The sum over the phases `names`, called phase `workload`; None unless all are there.

    Wear is from the start of the first to the end of the last, so that it is the wear that FFSMark
    reports for a run.
    """
    by_name = {phase["phase"]: phase for phase in phases}
    if not names or not set(names) <= set(by_name):
        return None
    chosen = [by_name[name] for name in names]
    bad = next((phase for phase in chosen if phase["status"] != OK), chosen[-1])
    start, end = snapshots.get(f"{names[0]}:start"), snapshots.get(f"{names[-1]}:end")
    counters = counter_difference(start["counters"], end["counters"]) if start and end else {}
    erases = (start["erases"], end["erases"]) if start and end else None
    duration_ns = sum(phase["duration_ns"] for phase in chosen)
    counts = _summed(chosen)
    return {
        "phase": "workload",
        "status": bad["status"],
        "errno_name": bad["errno_name"],
        "t_start_ns": chosen[0]["t_start_ns"],
        "t_end_ns": chosen[-1]["t_end_ns"],
        "duration_ns": duration_ns,
        **counts,
        "flash": counters,
        **phase_metrics(duration_ns, counts, counters, page_bytes, erases),
        **_times_summed(chosen),
    }


def _times_summed(phases: Sequence[PhaseResult]) -> TaskTimes:
    """Whose the time of all phases was; nothing unless each of them says it."""
    if not all("task_times" in phase for phase in phases):
        return {}
    tasks: dict[str, Counter[str]] = {}
    for task in (task for phase in phases for task in phase["task_times"]):
        tasks.setdefault(task["name"], Counter()).update({key: task[key] for key in TASK_TIMES})  # type: ignore[literal-required]
    return {
        "task_times": [
            TaskTime(
                name=name, code_ns=ns["code_ns"], driver_ns=ns["driver_ns"], chip_ns=ns["chip_ns"]
            )
            for name, ns in tasks.items()
        ]
    }


def _summed(phases: Sequence[PhaseResult]) -> PhaseCounts:
    counts: Counter[str] = Counter()
    for phase in phases:
        counts.update(phase_counts(cast(Mapping[str, int], phase)))
    return phase_counts(counts)
