"""What became of a guest that prepared a case's flash, and what it achieved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.protocol.records import RecordStream, plain
from ffslab.results.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Preparation:
    """`key` names the state (`ffslab.campaign.state_store`); the outcome is judged as a case's."""

    key: str
    outcome: Outcome
    stream: RecordStream
    image: Mapping[str, Any] | None = None  # facts of the image that it wrote to the flash


def preparation_results(
    preparation: Preparation, partition_bytes: int, phases: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
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
        **_achieved(stream, partition_bytes),
    }


def own_preparation_results(stream: RecordStream, partition_bytes: int) -> dict[str, Any] | None:
    """The same of a case that prepared its state in its own guest; None if none did.

    It has no key, and its phase is among the case's own.
    """
    if stream.prepared is None:
        return None
    step = next((one for one in stream.steps if one.verb == "prepare"), None)
    return {
        "key": None,
        "outcome": "fail" if step is not None and step.failed else "pass",
        "reason": "" if step is None else step.message,
        "excerpt": [],
        "virtual_ns": step.t_end_ns if step else None,
        "phases": [],
        **_achieved(stream, partition_bytes),
    }


def _achieved(stream: RecordStream, partition_bytes: int) -> dict[str, Any]:
    """What was prepared; `reserve_bytes` is what the file system keeps for itself.

    Of a saturated state that is what no file could get; else what statfs does not count, on
    the file system just mounted.
    """
    prepared, spaces = stream.prepared, stream.spaces
    reserve = None
    if prepared is not None and prepared.state == "saturated":
        reserve = partition_bytes - prepared.capacity_bytes
    elif spaces:
        reserve = partition_bytes - spaces[0].total_bytes
    return {
        "prepared": plain(prepared) if prepared is not None else None,
        "space": [plain(space) for space in spaces],
        "reserve_bytes": reserve,
    }
