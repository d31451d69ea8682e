"""What the records of append-log mean: what a line costs, and who programmed its pages.

Pure functions from records to the key `append_log` of a result (docs/result-format.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ffslab.errors import DamagedResultError
from ffslab.model.case import Case
from ffslab.protocol.records import Phase, Record, RecordStream
from ffslab.results.metrics import bucket_bounds, counter_difference
from ffslab.results.phases import latency_result
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult, LatencyResult, PhaseTask
from ffslab.results.shortfall import FULL, Shortfall
from ffslab.workloads.append_log.keys import AppendLog
from ffslab.workloads.append_log.stored import LogFlash, LogKeys, LogResult, LogTimes

# Together they are the phase `workload` of a result.
PHASES = ("append", "flush")
# What a daemon waits for: a line with its sync; where no line is synced, the line.
LINE_OPS = ("append-sync", "append")
SLOW_TIMES = 10  # a line is slow from so many times the median on
KEYS = LogKeys
ELSEWHERE: Mapping[str, object] = {}
_NUMBERS = ("lines", "lines_done", "synced", "rotations", "bytes")


def check_records(stream: RecordStream) -> None:
    """DamagedResultError if the record of the log contradicts itself or its phase."""
    record = stream.first("append-log")
    if record is None:
        return
    values = [record.get(name) for name in _NUMBERS]
    if not all(type(value) is int and value >= 0 for value in values):
        raise _damaged("its record append-log lacks a number")
    if record["lines_done"] > record["lines"] or record["synced"] > record["lines_done"]:
        raise _damaged("more lines were written or synced than there are")
    if record.get("stopped") not in ("", FULL):
        raise _damaged(f"its record append-log was stopped by {record.get('stopped')!r}")


def shortfall(
    _workload: AppendLog, stream: RecordStream, full_phase: Phase | None
) -> Shortfall | None:
    """How many lines the partition took."""
    record = stream.first("append-log")
    if full_phase is None or record is None:
        return None
    done, asked = int(record["lines_done"]), int(record["lines"])
    name = full_phase.name
    told = (
        f"phase {name}: no space left on the partition ({FULL}) after {done:,} of {asked:,} lines"
    )
    return Shortfall("lines", done, asked, FULL, accepted=False, told=told)


def compared_times_ns(result: CaseResult) -> dict[str, float]:
    """The mean and the 99th percentile of what the daemon waits for."""
    line = line_latency(result["latencies"])
    if line is None:
        return {}
    return {"mean time of a line": line["mean_ns"], "p99 of a line": float(line["p99_ns"])}


def line_latency(latencies: Sequence[LatencyResult]) -> LatencyResult | None:
    """What the daemon waits for, among the latencies of a result; None if no line was written."""
    by_op = {entry["op"]: entry for entry in latencies if entry["count"]}
    return next((by_op[op] for op in LINE_OPS if op in by_op), None)


def result_keys(_case: Case, stream: RecordStream, _prepared: Sequence[Preparation]) -> LogKeys:
    """The key `append_log`; of contradictory records, and without any, it is None."""
    record = stream.first("append-log")
    try:
        check_records(stream)
    except DamagedResultError:
        record = None
    return {"append_log": None if record is None else _log_result(record, stream)}


def _log_result(record: Record, stream: RecordStream) -> LogResult:
    tasks: list[PhaseTask] = [
        {"phase": total.phase, **task}
        for total in stream.task_totals
        if total.phase in PHASES
        for task in total.tasks
    ]
    return {
        "lines": record["lines"],
        "lines_done": record["lines_done"],
        "synced": record["synced"],
        "rotations": record["rotations"],
        "bytes": record["bytes"],
        "stopped": record["stopped"],
        **_flash(stream, record["lines_done"]),
        **_times(stream, record["lines_done"]),
        "tasks": tasks,
    }


def slow_share(latency: LatencyResult) -> float | None:
    """The share of operations that took more than SLOW_TIMES the median; None for none.

    Of a histogram: a bucket counts if all of it is above.
    """
    count = latency["count"]
    if not count:
        return None
    limit = SLOW_TIMES * latency["p50_ns"]
    slow = sum(members for index, members in latency["buckets"] if bucket_bounds(index)[0] > limit)
    return slow / count


def _flash(stream: RecordStream, lines: int) -> LogFlash:
    """What the flash did for the lines, from the first to the end of the flush.

    By the snapshots that the phase `workload` is of; of a log that ran out of space by those of its
    only phase.
    """
    by_label = {snapshot["label"]: snapshot["counters"] for snapshot in stream.snapshots}
    ends = [by_label[f"{name}:end"] for name in PHASES if f"{name}:end" in by_label]
    start = by_label.get(f"{PHASES[0]}:start")
    counts = counter_difference(start, ends[-1]) if start and ends else {}

    def per(name: str, of: int) -> float | None:
        return counts[name] * of / lines if name in counts and lines else None

    return {
        "pages_per_line": per("pages_programmed", 1),
        "pages_read_per_line": per("pages_read", 1),
        "erases_per_1000_lines": per("blocks_erased", 1000),
    }


def _times(stream: RecordStream, lines: int) -> LogTimes:
    """What a line took: the mean over all lines, syncs included, and the share of slow ones."""
    latencies = [latency_result(latency) for latency in stream.latencies]
    spent = sum(entry["sum_ns"] for entry in latencies if entry["op"] in ("append", "sync"))
    line = line_latency(latencies)
    return {
        "line_mean_ns": spent / lines if lines else None,
        "slow_share": slow_share(line) if line is not None else None,
    }


def _damaged(what: str) -> DamagedResultError:
    return DamagedResultError(
        what,
        cause="the agent has another version, or its records were changed",
        remedy="run the case again",
    )
