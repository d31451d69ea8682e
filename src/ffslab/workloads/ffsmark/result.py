"""What the records of FFSMark mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typing_extensions import TypedDict

from ffslab.model.case import Case
from ffslab.protocol.records import Phase, RecordStream
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult
from ffslab.results.shortfall import FULL, Shortfall
from ffslab.workloads.ffsmark.keys import Ffsmark

# Together they are the phase `workload` of a result.
PHASES = ("creation", "transactions", "deletion")
_COMPARED_PHASES = ("creation", "transactions")
ELSEWHERE: Mapping[str, object] = {}


class FfsmarkKeys(TypedDict):
    """It has no keys of its own."""


KEYS = FfsmarkKeys


def compared_times_ns(result: CaseResult) -> dict[str, float]:
    """The phases of which the publication speaks, those that the case came to."""
    by_phase = {phase["phase"]: float(phase["duration_ns"]) for phase in result["phases"]}
    return {name: by_phase[name] for name in _COMPARED_PHASES if name in by_phase}


def check_records(_stream: RecordStream) -> None:
    """It has no records of its own."""


def result_keys(
    _case: Case, _stream: RecordStream, _prepared: Sequence[Preparation]
) -> FfsmarkKeys:
    """Its figures are those of its phases."""
    return {}


def shortfall(
    workload: Ffsmark, stream: RecordStream, full_phase: Phase | None
) -> Shortfall | None:
    """How far the phase came that filled the partition."""
    if full_phase is None or full_phase.name not in PHASES:
        return None
    name, counts = full_phase.name, full_phase.counts
    what, measured, asked = "files created", counts["files_created"], workload.number
    if name == "transactions":
        # One half of a transaction reads or appends, the other creates or deletes.
        first = counts["files_read"] + counts["files_appended"]
        second = counts["files_created"] + counts["files_deleted"]
        what, measured, asked = "transactions", max(first, second), workload.transactions
    elif name == "deletion":
        before = [phase.counts for phase in stream.phases if phase.name in PHASES[:2]]
        left = sum(phase["files_created"] - phase["files_deleted"] for phase in before)
        what, measured, asked = "files deleted", counts["files_deleted"], left
    told = f"phase {name}: no space left on the partition ({FULL})"
    told = f"{told} after {measured:,} of {asked:,} {what}"
    return Shortfall(what, measured, asked, FULL, accepted=False, told=told)
