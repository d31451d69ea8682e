"""Guests of one case that are decided on as it goes: what one of them found says which come next.

Most cases are chains of guests that are known before the first begins. A workload that is none asks
for its guests one after the other, or several at once; each waits for a worker of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ffslab.model.case import Case
from ffslab.protocol.records import RecordStream
from ffslab.results.outcome import Outcome
from ffslab.results.result import CaseResult
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


@dataclass(frozen=True, slots=True)
class Found:
    """A finding of a case's result: its files are in `directory`, further guests have `room`.

    `calls`: those to be made instead of the case's own, if the user has some.
    """

    case: Case
    result: CaseResult
    finding: Mapping[str, Any]
    directory: Path
    guests: Guests
    room: Path
    calls: str | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """`parts` are titles with lines; `is_there`: it came to the same outcome."""

    is_there: bool
    parts: tuple[tuple[str, tuple[str, ...]], ...]


class AgainPart(Protocol):
    """The module `explore.again` of a workload whose findings can be repeated and made small."""

    def replayed(self, found: Found) -> Replayed:
        """Repeats a finding."""
        ...

    def minimized(self, found: Found, tell: Callable[[str], None]) -> str:
        """The shortest calls found that come to it, as text; UsageError if it is there no more."""
        ...


class ExplorePart(Protocol):
    """The module `explore.case` of a workload that decides on its guests as it goes."""

    def run_case(self, case: Case, guests: Guests, directory: Path, tell: Tell) -> Explored:
        """Runs all guests of a case, whose files go to `directory`; StoppedError."""
        ...
