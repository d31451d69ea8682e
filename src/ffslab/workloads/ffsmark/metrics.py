"""The figures of a case of FFSMark: its phases, its latencies, and what is derived from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from ffslab.protocol.records import OK
from ffslab.results.result import CaseResult, PhaseResult
from ffslab.results.schema import (
    DURATION,
    Figure,
    Metric,
    Place,
    TaskWork,
    case_figures,
    latency_figures,
    phase_figures,
)

KIND = "ffsmark"
OF = "FFSMark"
NOTE = ""  # docs/result-format.md has its keys of a result
PLACES = (
    Place("creation", "Creation phase", "time to create the pool of files"),
    Place("transactions", "Transactions phase", "time of all transactions"),
    Place("deletion", "Deletion phase", "time to delete what is left"),
)
FILES_PER_S = Metric(
    name="files_per_s",
    title="Files per second",
    unit="1/s",
    meaning="files created or deleted ÷ time of the phase",
    better="higher",
    exact=False,
    kinds=(KIND,),
)
METRICS = (FILES_PER_S,)
_RATED: Mapping[str, Literal["files_created", "files_deleted"]] = {
    "creation": "files_created",
    "deletion": "files_deleted",
}
_MAIN: Mapping[str, tuple[str, ...]] = {
    **{place.name: (DURATION.name,) for place in PLACES},
    "workload": ("pages_read", "pages_programmed", "blocks_erased", "erases_spread"),
}


def files_per_s(phase: PhaseResult) -> float | None:
    """The rate of creation or deletion; None for other phases, and for one without time."""
    key = _RATED.get(phase["phase"])
    files = phase.get(key) if key else None
    if files is None or not phase["duration_ns"]:
        return None
    return files / (phase["duration_ns"] / 1e9)


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    return (
        *case_figures(result),
        *phase_figures(result["phases"], _MAIN),
        *_rates(result),
        *latency_figures(result),
    )


def tasks(_: CaseResult) -> tuple[TaskWork, ...]:
    """No task by task: only a trace of such a case tells them apart."""
    return ()


def _rates(result: CaseResult) -> Iterator[Figure]:
    for phase in result["phases"]:
        rate = files_per_s(phase)
        if rate is not None and phase["status"] == OK:
            yield Figure(FILES_PER_S, phase["phase"], rate)
