"""What became of a guest that prepared a case's flash, and what it achieved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.protocol.records import RecordStream
from ffslab.results.outcome import Outcome
from ffslab.results.result import PhaseResult, PreparationResult


@dataclass(frozen=True, slots=True)
class Preparation:
    """`key` names the state (`ffslab.campaign.state_store`); the outcome is judged as a case's."""

    key: str
    outcome: Outcome
    stream: RecordStream
    image: Mapping[str, Any] | None = None  # facts of the image that it wrote to the flash


def preparation_results(
    preparation: Preparation, partition_bytes: int, phases: Sequence[PhaseResult]
) -> PreparationResult:
    """The key `preparation` of a result; `phases` are the figures of its phases."""
    outcome, stream = preparation.outcome, preparation.stream
    end = stream.end
    return {
        "key": preparation.key,
        "outcome": outcome.kind,
        "reason": outcome.reason,
        "excerpt": list(outcome.excerpt),
        "virtual_ns": end.t_ns if end else None,
        "phases": list(phases),
        "prepared": stream.prepared,
        "space": list(stream.spaces),
        "reserve_bytes": _reserve_bytes(stream, partition_bytes),
    }


def own_preparation_results(stream: RecordStream, partition_bytes: int) -> PreparationResult | None:
    """The same of a case that prepared its state in its own guest; None if none did.

    It has no key, and its phase is among the case's own.
    """
    if stream.prepared is None:
        return None
    step = next((step for step in stream.steps if step.verb == "prepare"), None)
    return {
        "key": None,
        "outcome": "fail" if step is not None and step.failed else "pass",
        "reason": "" if step is None else step.message,
        "excerpt": [],
        "virtual_ns": step.t_end_ns if step else None,
        "phases": [],
        "prepared": stream.prepared,
        "space": list(stream.spaces),
        "reserve_bytes": _reserve_bytes(stream, partition_bytes),
    }


def _reserve_bytes(stream: RecordStream, partition_bytes: int) -> int | None:
    """What the file system keeps for itself.

    Of a saturated state that is what no file could get; else what statfs does not count, on
    the file system just mounted.
    """
    prepared, spaces = stream.prepared, stream.spaces
    if prepared is not None and prepared["state"] == "saturated":
        return partition_bytes - prepared["capacity_bytes"]
    return partition_bytes - spaces[0]["total_bytes"] if spaces else None
