"""Guests of one case that are decided on as it goes: what one of them found says which come next.

Most cases are chains of guests that are known before the first begins. A workload that is none asks
for its guests one after the other, or several at once; each waits for a worker of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ffslab.model.case import Case
from ffslab.protocol.records import RecordStream
from ffslab.results.outcome import Outcome
from ffslab.targets.target import GuestJob, GuestRun
from ffslab.workloads.rig import Rig

Tell = Callable[[int, int], None]  # how much of a case is done, of how much


class StoppedError(Exception):
    """ffslab is to stop; the case is left unfinished."""


@dataclass(frozen=True, slots=True)
class Guests:
    """Runs the guests of a case, `jobs` of them at once.

    `limit_s`: wall time of each. `keep`: what each of them wrote is kept.
    """

    rig: Rig
    run: Callable[[GuestJob], GuestRun]
    jobs: int
    limit_s: float
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Explored:
    """What a case has come to: its outcome, the records of its first guest, its workload's keys."""

    outcome: Outcome
    stream: RecordStream
    keys: Mapping[str, object]


class ExplorePart(Protocol):
    """The module `explore.case` of a workload that decides on its guests as it goes."""

    def run_case(self, case: Case, guests: Guests, directory: Path, tell: Tell) -> Explored:
        """Runs all guests of a case, whose files go to `directory`; StoppedError."""
        ...
