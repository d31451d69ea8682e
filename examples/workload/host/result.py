"""What the records of sample-files mean: pure functions from them to its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ffslab.errors import DamagedResultError
from ffslab.model.case import Case
from ffslab.protocol.records import OK, Phase, RecordStream
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult
from ffslab.results.shortfall import FULL, Shortfall
from ffslab.workloads.sample_files.keys import SampleFiles
from ffslab.workloads.sample_files.stored import Keys, stored_of

# Together they are the phase `workload` of a result.
PHASES = ("write", "sync")
KEYS = Keys
ELSEWHERE: Mapping[str, object] = {}
RECORD = "sample-files"
_NUMBERS = ("files", "files_done", "bytes")


def check_records(stream: RecordStream) -> None:
    """DamagedResultError if the record contradicts itself: the case is then a crash."""
    record = stream.first(RECORD)
    if record is None:
        return
    values = [record.get(name) for name in _NUMBERS]
    if not all(type(value) is int and value >= 0 for value in values):
        raise _damaged(f"its record {RECORD} lacks a number")
    if record["files_done"] > record["files"] or record.get("stopped") not in ("", FULL):
        raise _damaged(f"its record {RECORD} contradicts itself")


def shortfall(
    _workload: SampleFiles,
    stream: RecordStream,
    full_phase: Phase | None,
) -> Shortfall | None:
    """How many files the partition took, if it filled up."""
    record = stream.first(RECORD)
    if full_phase is None or record is None:
        return None
    done, asked = int(record["files_done"]), int(record["files"])
    told = (
        f"phase {full_phase.name}: no space left on the partition ({FULL}) after {done:,} of "
        f"{asked:,} files"
    )
    return Shortfall("files", done, asked, FULL, accepted=False, told=told)


def compared_times_ns(result: CaseResult) -> dict[str, float]:
    """The times that verdicts on configurations are about."""
    found = stored_of(result)
    mean = found["sample_files_mean_ns"] if found else None
    return {} if mean is None else {"mean time of a file": mean}


def result_keys(_case: Case, stream: RecordStream, _prepared: Sequence[Preparation]) -> Keys:
    """The key `sample_files`; of contradictory records, and without any, it is None."""
    record = stream.first(RECORD)
    try:
        check_records(stream)
    except DamagedResultError:
        record = None
    if record is None:
        return {"sample_files": None}
    return {
        "sample_files": {
            "files": record["files"],
            "files_done": record["files_done"],
            "bytes": record["bytes"],
            "stopped": record["stopped"],
            "sample_files_mean_ns": _mean_ns(stream, record["files_done"]),
        }
    }


def _mean_ns(stream: RecordStream, files: int) -> float | None:
    """What a file took with its part of the sync; None if a phase did not come to its end."""
    ended = [phase for phase in stream.phases if phase.name in PHASES and phase.status == OK]
    if len(ended) != len(PHASES) or not files:
        return None
    return sum(phase.t_end_ns - phase.t_start_ns for phase in ended) / files


def _damaged(what: str) -> DamagedResultError:
    return DamagedResultError(
        what,
        cause="the agent is not of this version, or its records were changed",
        remedy="run the case again",
    )
