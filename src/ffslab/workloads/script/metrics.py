"""The figures of a script: time and flash until all that it wrote is on the flash."""

from __future__ import annotations

from collections.abc import Iterator

from ffslab.results.criteria import Criterion, rooms, waits, wear
from ffslab.results.result import CaseResult
from ffslab.results.schema import (
    BY_NAME,
    Figure,
    Metric,
    TaskWork,
    case_figures,
    latency_figures,
    phase_figures,
)

KIND = "script"
OF = "script"
NOTE = """The key `script` of a result has `exit_status`, as a shell says it. It is null if the guest did not get to the script's
end. `programmed_below` and `erased_below` are pages and blocks that a program changed by the partition's own device
while a file system had it; they are absent where nobody counts, and the case is `fail` if they are not 0. The phases
are `script` and `flush`; `workload` sums them. `script` is the agent's step `exec`, which includes the start of a
shell; the snapshots around it count its flash operations. What your processes do without the kernel takes no time. A
case is never `short`: a script that ends with a status other than 0 fails.

"""  # noqa: E501  (columns of the document)
METRICS: tuple[Metric, ...] = ()
_MOST_OPS = 2  # of a program's own operations that people decide by
_MAIN = ("p50_ns", "p99_ns", "max_ns")
_PHASES = {
    "workload": ("duration_ns", "pages_programmed", "blocks_erased"),
    "script": ("duration_ns",),
}


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    own = latency_figures(result, {row["op"]: _MAIN for row in result["latencies"][:_MOST_OPS]})
    return (*case_figures(result), *phase_figures(result["phases"], _PHASES), *own)


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """What people decide by: the program's own operations, or else the time until all is on the
    flash; what it wears, space.
    """
    whole = next((phase for phase in result["phases"] if phase["phase"] == "workload"), None)
    if whole is None:
        return
    own = result["latencies"][:_MOST_OPS]
    for latency in own:
        of_op = f"{latency['phase']}/{latency['op']}"
        mean = Figure(BY_NAME["mean_ns"], of_op, latency["mean_ns"])
        yield Criterion(mean, f"{latency['op']}, mean", "time", True, short=latency["op"])
    time = Figure(BY_NAME["duration_ns"], "workload", whole["duration_ns"])
    title = "the script, with its flush at the end"
    yield Criterion(time, title, "time", not own, short="the script")
    for latency in own:
        yield from waits(latency, latency["op"], in_memory=False)
    yield from wear(result)
    yield from rooms(result, "flush:end", "after the script")


def tasks(_result: CaseResult) -> tuple[TaskWork, ...]:
    """Who asked for it is not known: the agent counts tasks in phases of its own only."""
    return ()
