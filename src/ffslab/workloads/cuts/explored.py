"""What the states of a history have come to, before it is made a result."""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.workloads.cuts.outcomes import Judgement
from ffslab.workloads.cuts.walk import Cut, State, StateName


@dataclass(frozen=True, slots=True)
class Judged:
    """A state and its judgement; `confirmed`: alone in a guest it was the same.

    `is_filled`: it was to be filled until it is full.
    """

    name: StateName
    judgement: Judgement
    state: State | None
    confirmed: bool = False
    is_filled: bool = False
    console: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explored:
    """All of a history. `record` and `log` are the texts that the judgements rest on.

    `random` are the cuts of the experiment that cuts at random.
    """

    record: str
    log: str
    judged: tuple[Judged, ...]
    guests: int
    states_possible: int
    random: frozenset[Cut] = frozenset()

    @property
    def operations(self) -> int:
        return len(self.log.splitlines())
