"""What the records of FFSMark mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ffslab.model.case import Case
from ffslab.protocol.records import Record, RecordStream
from ffslab.results.preparation import Preparation
from ffslab.results.shortfall import FULL, Shortfall
from ffslab.workloads.ffsmark.keys import Ffsmark

# Together they are the phase `workload` of a result.
PHASES = ("creation", "transactions", "deletion")
_VERDICT_PHASES = ("creation", "transactions")


def verdict_times_ns(result: Mapping[str, Any]) -> dict[str, float]:
    """The phases of which the publication speaks, those that the case came to."""
    found = {phase["phase"]: float(phase["duration_ns"]) for phase in result["phases"]}
    return {name: found[name] for name in _VERDICT_PHASES if name in found}


def check_records(_stream: RecordStream) -> None:
    """It has no records of its own."""


def result_keys(
    _case: Case, _stream: RecordStream, _prepared: Sequence[Preparation]
) -> dict[str, Any]:
    """Its figures are those of its phases."""
    return {}


def shortfall(
    workload: Ffsmark, stream: RecordStream, full_phase: Record | None
) -> Shortfall | None:
    """How far the phase came that filled the partition."""
    if full_phase is None:
        return None
    phase = full_phase
    name = str(phase["phase"])
    if name not in PHASES:
        return None
    what, measured, asked = "files created", phase["files_created"], workload.number
    if name == "transactions":
        # One half of a transaction reads or appends, the other creates or deletes.
        first = phase["files_read"] + phase["files_appended"]
        second = phase["files_created"] + phase["files_deleted"]
        what, measured, asked = "transactions", max(first, second), workload.transactions
    elif name == "deletion":
        before = [p for p in stream.of_type("phase") if p["phase"] in PHASES[:2]]
        left = sum(p["files_created"] - p["files_deleted"] for p in before)
        what, measured, asked = "files deleted", phase["files_deleted"], left
    told = f"phase {name}: no space left on the partition ({FULL})"
    told = f"{told} after {measured:,} of {asked:,} {what}"
    return Shortfall(what, int(measured), int(asked), FULL, accepted=False, told=told)
