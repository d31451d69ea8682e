"""The figures of sample-files, and those among them that people decide by."""

from __future__ import annotations

from collections.abc import Iterator

from ffslab.results.criteria import Criterion, rooms, wear
from ffslab.results.result import CaseResult
from ffslab.results.schema import (
    ON_FLASH_MEAN,
    Figure,
    Metric,
    TaskWork,
    case_figures,
    figures_at,
    latency_figures,
    phase_figures,
)
from ffslab.workloads.sample_files.stored import stored_of

KIND = "sample-files"
OF = "sample-files"
# What docs/metrics.md says of the workload's key of a result.
NOTE = """The key `sample_files` of a result: the agent's record
`sample-files` and the metric below. The phases `write` and `sync` are summed
as `workload`. Of a case that is `short`, `what` is `files`. Null if the
records contradict each other or the case did not get so far.

"""
PLACE = "workload/file"  # below the phase whose flash operations explain it

# A name is one for all workloads, with the unit last.
MEAN = Metric(
    name="sample_files_mean_ns",
    title="Mean time of a file",
    unit="ms",
    scale=1e6,
    meaning="time of writing and of the sync at the end ÷ files",
    exact=False,
    kinds=(KIND,),
)
METRICS = (MEAN,)
_WORKLOAD = ("pages_programmed", "blocks_erased", "write_amplification")


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload; `main` ones are asked for first."""
    found = stored_of(result)
    return (
        *case_figures(result),
        *(figures_at(found, PLACE, METRICS, (MEAN.name,)) if found else ()),
        *phase_figures(result["phases"], {"workload": _WORKLOAD}),
        *latency_figures(result, {"file": ("p50_ns", "p99_ns", "max_ns")}),
    )


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """What people decide by, in the order of the rows of the report's table."""
    found = stored_of(result)
    mean = found["sample_files_mean_ns"] if found else None
    if mean is None:
        return
    figure = Figure(ON_FLASH_MEAN, PLACE, mean)
    title = "a file, with its part of the sync"
    yield Criterion(figure, title, "time", headline=True, short="a file")
    yield from wear(result)
    yield from rooms(result, "sync:end", "after the last file")


def tasks(_result: CaseResult) -> tuple[TaskWork, ...]:
    """What each task asked of the flash: not known here; append_log shows how it is."""
    return ()
