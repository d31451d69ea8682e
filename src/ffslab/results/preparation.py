"""What became of the guest that prepared a case's state of the flash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ffslab.results.outcome import Outcome
from ffslab.results.records import RecordStream


@dataclass(frozen=True, slots=True)
class Preparation:
    """`key` names the state (`ffslab.target.states`); the outcome is judged as a case's."""

    key: str
    outcome: Outcome
    stream: RecordStream
    image: Mapping[str, Any] | None = None  # facts of the image that it wrote to the flash
