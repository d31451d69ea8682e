"""What the records of database mean: pure functions from them to its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ffslab.errors import DamagedResultError
from ffslab.model.case import Case
from ffslab.protocol.records import OK, Phase, RecordStream
from ffslab.results.metrics import counter_difference, rate_per_s
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult, LatencyResult
from ffslab.results.shortfall import FULL, Shortfall
from ffslab.workloads.database.keys import Database
from ffslab.workloads.database.stored import Keys, stored_of

# Together they are the phase `workload` of a result.
PHASES = ("commit", "close")
KEYS = Keys
ELSEWHERE: Mapping[str, object] = {}
RECORD = "database"
OP = "transaction"
_NUMBERS = ("transactions", "transactions_done", "changed_bytes", "written_bytes", "checkpoints")


def check_records(stream: RecordStream) -> None:
    """DamagedResultError if the record contradicts itself: the case is then a crash."""
    record = stream.first(RECORD)
    if record is None:
        return
    values = [record.get(name) for name in _NUMBERS]
    if not all(type(value) is int and value >= 0 for value in values):
        raise _damaged(f"its record {RECORD} lacks a number")
    too_many = record["transactions_done"] > record["transactions"]
    too_few = record["written_bytes"] < record["changed_bytes"]
    if too_many or too_few or record.get("stopped") not in ("", FULL):
        raise _damaged(f"its record {RECORD} contradicts itself")


def shortfall(
    _workload: Database, stream: RecordStream, full_phase: Phase | None
) -> Shortfall | None:
    """How many transactions there were when the partition was full."""
    record = stream.first(RECORD)
    if full_phase is None or record is None:
        return None
    done, asked = int(record["transactions_done"]), int(record["transactions"])
    told = (
        f"phase {full_phase.name}: no space left on the partition ({FULL}) after {done:,} of "
        f"{asked:,} transactions"
    )
    return Shortfall("transactions", done, asked, FULL, accepted=False, told=told)


def transaction_latency(result: CaseResult) -> LatencyResult | None:
    """What the user of the database waits for; None if there was no transaction."""
    return next((entry for entry in result["latencies"] if entry["op"] == OP), None)


def compared_times_ns(result: CaseResult) -> dict[str, float]:
    """The times that verdicts on configurations are about."""
    stored, latency = stored_of(result), transaction_latency(result)
    mean = stored["on_flash_mean_ns"] if stored else None
    times = {} if mean is None else {"mean time of a transaction": mean}
    return times | ({"p99 of a transaction": float(latency["p99_ns"])} if latency else {})


def result_keys(_case: Case, stream: RecordStream, _prepared: Sequence[Preparation]) -> Keys:
    """The key `database`; of contradictory records, and without any, it is None."""
    record = stream.first(RECORD)
    try:
        check_records(stream)
    except DamagedResultError:
        record = None
    if record is None:
        return {"database": None}
    done, changed = record["transactions_done"], record["changed_bytes"]
    ended = {phase.name: phase for phase in stream.phases if phase.status == OK}
    took = [ended[name].t_end_ns - ended[name].t_start_ns for name in PHASES if name in ended]
    is_whole = len(took) == len(PHASES) and done > 0
    counts = _flash_counts(stream) if is_whole else {}

    def each(name: str, transactions: int = 1) -> float | None:
        return counts[name] * transactions / done if name in counts else None

    return {
        "database": {
            "transactions": record["transactions"],
            "transactions_done": done,
            "changed_bytes": changed,
            "written_bytes": record["written_bytes"],
            "checkpoints": record["checkpoints"],
            "stopped": record["stopped"],
            "transactions_per_s": rate_per_s(done, took[0]) if is_whole else None,
            "on_flash_mean_ns": sum(took) / done if is_whole else None,
            "journal_amplification": record["written_bytes"] / changed if changed else None,
            "programs_per_transaction": each("pages_programmed"),
            "reads_per_transaction": each("pages_read"),
            "erases_per_1000_transactions": each("blocks_erased", 1000),
            "tasks": [
                {"phase": total.phase, **task}
                for total in stream.task_totals
                if total.phase in PHASES
                for task in total.tasks
            ],
        }
    }


def _flash_counts(stream: RecordStream) -> dict[str, int]:
    """What the flash did from the first transaction to the end of the close."""
    by_label = {snapshot["label"]: snapshot["counters"] for snapshot in stream.snapshots}
    start, end = by_label.get(f"{PHASES[0]}:start"), by_label.get(f"{PHASES[-1]}:end")
    return counter_difference(start, end) if start and end else {}


def _damaged(what: str) -> DamagedResultError:
    return DamagedResultError(
        what,
        cause="the agent has another version, or its records were changed",
        remedy="run the case again",
    )
