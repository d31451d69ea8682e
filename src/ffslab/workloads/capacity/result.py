"""What the records of `capacity` mean: what fitted, what had been promised, what came back.

Pure functions from records to the key `capacity` of a result (docs/result-format.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ffslab.errors import DamagedResultError
from ffslab.model.case import Case
from ffslab.protocol.records import OK, Phase, RecordStream
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult
from ffslab.results.shortfall import FULL, Shortfall
from ffslab.workloads.capacity.keys import Capacity
from ffslab.workloads.capacity.plan import AGAIN, DELETED, SETTLED, SYNCED
from ffslab.workloads.capacity.stored import CapacityKeys, CapacityResult, capacity_of
from ffslab.workloads.micro.requests import load_requests
from ffslab.workloads.micro.result import RequestShape, request_results

# Together they are the phase `workload` of a result.
PHASES = ("measure", "flush")
KEYS = CapacityKeys
ELSEWHERE: Mapping[str, object] = {}
_BEFORE = "measure:start"


def check_records(stream: RecordStream) -> None:
    """DamagedResultError if the records of requests contradict each other, or the file ended
    without the partition being full.
    """
    load_requests(stream)
    record = stream.first("micro")
    if record is not None and record["stopped"] not in ("", FULL):
        raise _damaged(f"its record micro was stopped by {record['stopped']!r}")


def shortfall(
    _workload: Capacity, stream: RecordStream, full_phase: Phase | None
) -> Shortfall | None:
    """A full partition is what is measured. It is too little only if the flush found no room for
    what write() had taken.
    """
    if full_phase is None or stream.first("micro") is None:
        return None
    told = f"phase {full_phase.name}: no space left for what was written ({FULL})"
    return Shortfall("bytes", 0, None, FULL, accepted=False, told=told)


def compared_times_ns(result: CaseResult) -> dict[str, float]:
    """The mean and the longest write."""
    capacity = capacity_of(result)
    if capacity is None or capacity["latency"] is None:
        return {}
    latency = capacity["latency"]
    return {"mean write": latency["mean_ns"], "longest write": float(latency["max_ns"])}


def result_keys(case: Case, stream: RecordStream, _prepared: Sequence[Preparation]) -> CapacityKeys:
    """The key `capacity`; of contradictory records, and without any, it is None."""
    workload = case.workload
    assert isinstance(workload, Capacity)
    try:
        check_records(stream)
        return {"capacity": _capacity(case, workload, stream)}
    except DamagedResultError:
        return {"capacity": None}


def _capacity(case: Case, workload: Capacity, stream: RecordStream) -> CapacityResult | None:
    series = load_requests(stream)
    available = {space["label"]: space["available_bytes"] for space in stream.spaces}
    filled = next((phase for phase in stream.phases if phase.name == PHASES[0]), None)
    if not series or filled is None or _BEFORE not in available:
        return None
    shape = RequestShape(workload.request_bytes, case.board.chip.page_bytes)
    requests = request_results(series[0], shape)
    written = filled.counts["bytes_written"]
    again = next((phase for phase in stream.phases if phase.name == AGAIN), None)
    return {
        "request_bytes": workload.request_bytes,
        "promised_bytes": available[_BEFORE],
        "written_bytes": written,
        "partition_share": written / case.partition_bytes,
        "deleted_bytes": available.get(DELETED),
        "synced_bytes": available.get(SYNCED),
        "settled_bytes": available.get(SETTLED),
        "again_bytes": again.counts["bytes_written"] if again and again.status == OK else None,
        "latency": requests["all"],
        "peaks": requests["slowest"],
        "tasks": [
            {"phase": total.phase, **task}
            for total in stream.task_totals
            if total.phase in PHASES
            for task in total.tasks
        ],
    }


def _damaged(what: str) -> DamagedResultError:
    return DamagedResultError(
        what,
        cause="the agent has another version, or its records were changed",
        remedy="run the case again",
    )
