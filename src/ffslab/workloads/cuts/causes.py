"""Faults of many sequences, put together by what they have in common: causes, not rows.

A fault belongs to the shortest sequence with the same outcome after the same kind of cut whose acts
are among its own, in their order. What was synced between them makes no other cause. What is wrong
without a cut, or when an operation is just lost, is so where that operation is torn as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ffslab.oracle.sequences import Node
from ffslab.workloads.cuts.outcomes import OUTCOMES, Judgement
from ffslab.workloads.cuts.walk import StateName

WITHOUT_CUT = "none"  # in place of a kind
_PLAIN = (WITHOUT_CUT, "lost")


@dataclass(frozen=True, slots=True)
class Fault:
    """A state of a sequence that is not correct; without a name: the sequence, without any cut."""

    node: Node
    name: StateName | None
    judgement: Judgement
    console: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of cut."""
        return self.name.cut.kind if self.name else WITHOUT_CUT

    @property
    def acts(self) -> tuple[str, ...]:
        """What was done, whether synced or not."""
        return tuple(act.name for act, _ in self.node.steps)

    @property
    def state(self) -> str:
        """Its name."""
        return str(self.name) if self.name else f"0 {WITHOUT_CUT} 0"


@dataclass(slots=True)
class Tally:
    """What the states of some sequences came to.

    `pairs`: by the last act and the one before it ("" for none), states by outcome.
    """

    nodes: int = 0
    unreached: int = 0
    operations: int = 0
    same: int = 0
    untouched: int = 0
    guests: int = 0
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    pairs: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    failed: Counter[tuple[str, int]] = field(default_factory=Counter)

    def take(self, node: Node, kind: str, outcome: str) -> None:
        self.counts.setdefault(kind, Counter())[outcome] += 1
        names = [act.name for act, _ in node.steps]
        before = names[-2] if len(names) > 1 else ""
        self.pairs.setdefault((names[-1], before), Counter())[outcome] += 1

    def add(self, other: Tally) -> None:
        for name in ("nodes", "unreached", "operations", "same", "untouched", "guests"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for kind, counts in other.counts.items():
            self.counts.setdefault(kind, Counter()).update(counts)
        for pair, counts in other.pairs.items():
            self.pairs.setdefault(pair, Counter()).update(counts)
        self.faults += other.faults
        self.failed += other.failed


@dataclass(slots=True)
class Cause:
    """Faults that come from the same acts; `first` has the shortest sequence.

    `confirmed`: alone in a guest it was the same; then the chip said `log`.
    """

    first: Fault
    states: int = 0
    nodes: set[int] = field(default_factory=set)
    confirmed: bool = False
    log: tuple[str, ...] = ()

    def take(self, fault: Fault) -> None:
        self.states += 1
        self.nodes.add(fault.node.number)


def causes_of(faults: Iterable[Fault]) -> list[Cause]:
    """The shortest first, then the gravest, then as they come."""
    order = list(OUTCOMES)
    causes: list[Cause] = []
    for fault in sorted(
        faults,
        key=lambda fault: (
            fault.node.depth,
            fault.kind not in _PLAIN,
            order.index(fault.judgement.outcome),
            fault.node.number,
            fault.state,
        ),
    ):
        cause = next((cause for cause in causes if _is_of(fault, cause.first)), None)
        if cause is None:
            cause = Cause(fault)
            causes.append(cause)
        cause.take(fault)
    return causes


def _is_of(fault: Fault, first: Fault) -> bool:
    if fault.judgement.outcome != first.judgement.outcome:
        return False
    if first.kind not in (fault.kind, *_PLAIN):
        return False
    acts = iter(fault.acts)
    return all(act in acts for act in first.acts)
