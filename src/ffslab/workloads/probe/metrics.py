"""The figures of `probe`: what one operation of each kind takes."""

from __future__ import annotations

from collections.abc import Iterator

from ffslab.results.criteria import Criterion
from ffslab.results.result import CaseResult
from ffslab.results.schema import (
    Figure,
    Metric,
    TaskWork,
    case_figures,
    figures_at,
    phase_figures,
)
from ffslab.workloads.probe.stored import ProbePhase, probe_of

KIND = "probe"
OF = "the workload probe"
NOTE = """The key `probe` of a result has `phases`, a row for each phase that came to its end: `count` operations of
`bytes` each (1 and 0 if the phase is no single operation), `duration_ns`, and `cpu_ns`, the CPU time of the task that
asked, null where it is not known. The phase `workload` sums them. [calibration.md](calibration.md) describes the
phases. The key is null if no phase came to its end.

"""  # noqa: E501  (columns of the document)
OPERATION = Metric(
    name="operation_ns",
    title="One operation",
    unit="ms",
    scale=1e6,
    meaning="time of the phase ÷ operations in it",
    better="lower",
    exact=False,
    kinds=(KIND,),
)
METRICS = (OPERATION,)


def operation_ns(phase: ProbePhase) -> float:
    """What one operation took."""
    return phase["duration_ns"] / phase["count"]


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    return (
        *case_figures(result),
        *(figure for _, figure in _operations(result)),
        *phase_figures(result["phases"], {}),
    )


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """What people decide by: the time of each operation."""
    for name, figure in _operations(result):
        yield Criterion(figure, name, "time", False)


def _operations(result: CaseResult) -> Iterator[tuple[str, Figure]]:
    probe = probe_of(result)
    for phase in probe["phases"] if probe else ():
        for figure in figures_at({OPERATION.name: operation_ns(phase)}, phase["phase"], METRICS):
            yield phase["phase"], figure


def tasks(_result: CaseResult) -> tuple[TaskWork, ...]:
    """What is measured is the asking task's alone."""
    return ()
