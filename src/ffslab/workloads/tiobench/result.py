"""What the records of tiobench mean: throughput and latency of each phase, and what was slowest.

Pure functions from records to the key `tiobench` of a result (docs/result-format.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ffslab.errors import DamagedResultError
from ffslab.model.case import Case
from ffslab.protocol.records import Latency, Phase, Record, RecordStream
from ffslab.results.metrics import (
    amplification,
    counter_difference,
    flash_times,
    quantile_ns,
    rate_per_s,
)
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult, PhaseTask
from ffslab.results.shortfall import FULL, Shortfall
from ffslab.workloads.tiobench.keys import Tiobench
from ffslab.workloads.tiobench.stored import SlowestRequest, TioKeys, TioPhase

# Together they are the phase `workload` of a result; there is a flush behind those that write.
PHASES = ("write", "write-flush", "random-write", "random-write-flush", "read", "random-read")
OPS: Mapping[str, str] = {
    "write": "write",
    "random-write": "write",
    "read": "read",
    "random-read": "read",
}
KEYS = TioKeys
ELSEWHERE: Mapping[str, object] = {}
_NUMBERS = (
    *("threads", "block_bytes", "file_bytes", "requests", "requests_done"),
    *("above_2s", "above_10s"),
)
_SLOWEST = ("thread", "request", "offset", "t_start_ns", "latency_ns")


def check_records(stream: RecordStream) -> None:
    """DamagedResultError if the records of the phases contradict themselves or each other."""
    names = [record.get("phase") for record in stream.of_type("tiobench")]
    if names != [name for name in OPS if name in names]:
        raise _damaged(f"it has records tiobench of the phases {names}")
    for record in stream.of_type("tiobench"):
        _check_record(record)
        latency = _latency(stream, record["phase"])
        if (latency.count if latency else 0) != record["requests_done"]:
            raise _damaged(f"phase {record['phase']} has not as many latencies as requests")


def _check_record(record: Record) -> None:
    name, slowest = record["phase"], record.get("slowest")
    if not isinstance(slowest, dict) or not isinstance(slowest.get("tasks"), list):
        raise _damaged(f"the slowest request of phase {name} is missing")
    values = [record.get(key) for key in _NUMBERS] + [slowest.get(key) for key in _SLOWEST]
    if not all(type(value) is int and value >= 0 for value in values):
        raise _damaged(f"the record tiobench of phase {name} lacks a number")
    done = record["requests_done"]
    if not record["above_10s"] <= record["above_2s"] <= done <= record["requests"]:
        raise _damaged(f"phase {name} has more requests of one kind than there are")
    if record.get("stopped") not in ("", FULL):
        raise _damaged(f"phase {name} was stopped by {record.get('stopped')!r}")


def shortfall(
    _workload: Tiobench, stream: RecordStream, full_phase: Phase | None
) -> Shortfall | None:
    """How many requests of the phase that filled the partition were made."""
    if full_phase is None:
        return None
    name = full_phase.name
    records = [record for record in stream.of_type("tiobench") if record["phase"] == name]
    if not records:
        return None
    done, asked = int(records[0]["requests_done"]), int(records[0]["requests"])
    told = (
        f"phase {name}: no space left on the partition ({FULL}) after {done:,} of {asked:,} "
        "requests"
    )
    return Shortfall("requests", done, asked, FULL, accepted=False, told=told)


def compared_times_ns(result: CaseResult) -> dict[str, float]:
    """The mean of each phase's requests."""
    return {
        f"mean of a {latency['op']}, phase {latency['phase']}": latency["mean_ns"]
        for latency in result["latencies"]
        if latency["count"] and OPS.get(latency["phase"]) == latency["op"]
    }


def result_keys(_case: Case, stream: RecordStream, _prepared: Sequence[Preparation]) -> TioKeys:
    """The key `tiobench`; of contradictory records, and without any, it is None."""
    records = stream.of_type("tiobench")
    try:
        check_records(stream)
    except DamagedResultError:
        records = ()
    if not records:
        return {"tiobench": None}
    phases = {phase.name: phase for phase in stream.phases if phase.workload == "tiobench"}
    tasks: list[PhaseTask] = [
        {"phase": total.phase, **task}
        for total in stream.task_totals
        if total.phase in PHASES
        for task in total.tasks
    ]
    page_bytes = stream.mtd["page_bytes"] if stream.mtd else 0
    return {
        "tiobench": {
            "phases": [
                _phase(record, phases, _latency(stream, record["phase"]), page_bytes)
                for record in records
                if record["phase"] in phases
            ],
            "tasks": tasks,
        }
    }


def _latency(stream: RecordStream, name: str) -> Latency | None:
    wanted = (name, OPS[name])
    return next(
        (latency for latency in stream.latencies if (latency.phase, latency.op) == wanted), None
    )


def _phase(
    record: Record, phases: Mapping[str, Phase], latency: Latency | None, page_bytes: int
) -> TioPhase:
    name, done = record["phase"], record["requests_done"]
    phase, flush = phases[name], phases.get(f"{name}-flush")
    volume, duration_ns = done * record["block_bytes"], phase.t_end_ns - phase.t_start_ns
    whole_ns = flush.t_end_ns - phase.t_start_ns if flush else None
    pages = _programmed(phase, flush) if flush else None
    return {
        "phase": name,
        "op": OPS[name],
        "threads": record["threads"],
        "block_bytes": record["block_bytes"],
        "file_bytes": record["file_bytes"],
        "requests": record["requests"],
        "requests_done": done,
        "above_2s": record["above_2s"],
        "above_10s": record["above_10s"],
        "stopped": record["stopped"],
        "throughput_bytes_per_s": rate_per_s(volume, duration_ns),
        "on_flash_bytes_per_s": rate_per_s(volume, whole_ns) if whole_ns else None,
        "off_chip_share": _off_chip(phase),
        "p95_ns": _p95(latency) if latency else None,
        "above_2s_share": record["above_2s"] / done if done else None,
        "above_10s_share": record["above_10s"] / done if done else None,
        "on_flash_pages": pages,
        "on_flash_amplification": (
            amplification(pages, page_bytes, volume) if pages is not None else None
        ),
        "slowest": _slowest(record) if done else None,
    }


def _programmed(phase: Phase, flush: Phase) -> int | None:
    """Pages programmed from the first request to the end of the flush behind the last."""
    return counter_difference(phase.flash_start, flush.flash_end).get("pages_programmed")


def _off_chip(phase: Phase) -> float | None:
    """The share of the phase's time in which the chip was not busy: kernel code and driver."""
    busy = flash_times(counter_difference(phase.flash_start, phase.flash_end)).get("flash_ns")
    duration_ns = phase.t_end_ns - phase.t_start_ns
    return max(0.0, 1 - busy / duration_ns) if busy is not None and duration_ns else None


def _p95(latency: Latency) -> int:
    return quantile_ns(latency.buckets, latency.count, 0.95, latency.min_ns, latency.max_ns)


def _slowest(record: Record) -> SlowestRequest:
    slowest = record["slowest"]
    return {
        "thread": slowest["thread"],
        "request": slowest["request"],
        "offset": slowest["offset"],
        "t_start_ns": slowest["t_start_ns"],
        "latency_ns": slowest["latency_ns"],
        "tasks": list(slowest["tasks"]),
    }


def _damaged(what: str) -> DamagedResultError:
    return DamagedResultError(
        what,
        cause="the agent has another version, or its records were changed",
        remedy="run the case again",
    )
