"""The figures of `capacity`: what fits, what comes back, how long a write takes."""

from __future__ import annotations

from collections.abc import Iterator

from ffslab.results.criteria import Criterion, wear
from ffslab.results.result import CaseResult
from ffslab.results.schema import (
    BY_NAME,
    LATENCY_METRICS,
    Figure,
    Metric,
    TaskWork,
    case_figures,
    figures_at,
    phase_figures,
    task_work,
)
from ffslab.workloads.capacity.stored import capacity_of

KIND = "capacity"
OF = "the workload capacity"
NOTE = """The key `capacity` of a result has the metrics below; `request_bytes`; `latency` of all writes that ended;
`peaks`, the ten longest writes with causes as in `micro` ([result-format.md](result-format.md)); and `tasks`: what each
task asked of the flash in the phases `measure` and `flush`. The phase `workload` sums these two. Further phases are
`delete`, `delete-sync`, `delete-settle` and `again`. The workload ends when the partition is full; that is no failure.
The key is null if the records contradict each other or the case did not get so far.

"""  # noqa: E501  (columns of the document)
FILE, RETURNED = "file", "returned"


def _mib(name: str, title: str, meaning: str) -> Metric:
    return Metric(
        name=name,
        title=title,
        unit="MiB",
        scale=2.0**20,
        meaning=meaning,
        better="higher",
        words=("more", "less"),
        kinds=(KIND,),
    )


PROMISED = _mib("promised_bytes", "Promised", "available before, by statfs(2)")
WRITTEN = _mib("written_bytes", "Written", "bytes in one file until ENOSPC")
SHARE = Metric(
    name="partition_share",
    title="Share of the partition",
    unit="%",
    scale=0.01,
    meaning="bytes in one file ÷ bytes of the partition",
    better="higher",
    exact=False,
    kinds=(KIND,),
)
RETURNS = (
    _mib("deleted_bytes", "Back at once", "available by statfs(2) when the file was removed"),
    _mib("synced_bytes", "Back after a sync", "available by statfs(2) after that"),
    _mib("settled_bytes", "Back when quiet", "available by statfs(2) when the flash was quiet"),
    _mib("again_bytes", "Written again", "bytes in another file until ENOSPC"),
)
METRICS = (PROMISED, WRITTEN, SHARE, *RETURNS)
_WORKLOAD = ("pages_programmed", "blocks_erased", "write_amplification")
_MAIN = ("mean_ns", "p99_ns", "max_ns")


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    capacity = capacity_of(result)
    latency = capacity["latency"] if capacity else None
    return (
        *case_figures(result),
        *(
            figures_at(capacity, FILE, (PROMISED, WRITTEN, SHARE), ("written_bytes",))
            if capacity
            else ()
        ),
        *(figures_at(capacity, RETURNED, RETURNS) if capacity else ()),
        *(figures_at(latency, "measure/writes", LATENCY_METRICS, _MAIN) if latency else ()),
        *phase_figures(
            result["phases"], {"measure": ("write_bytes_per_s",), "workload": _WORKLOAD}
        ),
    )


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """What people decide by: what fits, the longest write, throughput, wear."""
    capacity = capacity_of(result)
    if capacity is None or capacity["latency"] is None:
        return
    share = Figure(SHARE, FILE, capacity["partition_share"])
    yield Criterion(share, "share of the partition in one file", "space", True)
    written = Figure(WRITTEN, FILE, capacity["written_bytes"])
    yield Criterion(written, "bytes in one file", "space", short="one file")
    if capacity["again_bytes"] is not None:
        again = Figure(RETURNS[-1], RETURNED, capacity["again_bytes"])
        yield Criterion(again, "bytes in the next file", "space", short="next file")
    for name, words in (("mean_ns", "a write, mean"), ("max_ns", "a write, longest time")):
        value = capacity["latency"]["mean_ns" if name == "mean_ns" else "max_ns"]
        figure = Figure(BY_NAME[name], "measure/writes", value)
        yield Criterion(figure, words, "time" if name == "mean_ns" else "wait")
    yield from wear(result)


def tasks(result: CaseResult) -> tuple[TaskWork, ...]:
    """What each task asked of the flash, in the phases measure and flush."""
    capacity = capacity_of(result)
    return tuple(
        work
        for task in (capacity["tasks"] if capacity else ())
        for work in task_work(task["phase"], (task,))
    )
