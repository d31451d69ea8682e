"""All short sequences of acts, as a tree: a node is an act behind those above it.

Each act is followed by what syncs it, or by nothing. Sequences in which a call would fail or do
nothing are left out. Nodes come depth first, in the order of the acts, and have numbers; so a slice
of them is a part of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ffslab.oracle.acts import BEGINNINGS, Act, beginning, interrupted, operations_of, writes_in
from ffslab.oracle.history import History
from ffslab.oracle.operations import Operation

Step = tuple[Act, bool]  # with what syncs it


@dataclass(frozen=True)
class Node:
    """The last step of a sequence. `calls` are its own, of that last step."""

    number: int
    steps: tuple[Step, ...]
    calls: tuple[Operation, ...]
    above: Node | None

    @property
    def depth(self) -> int:
        return len(self.steps)

    @property
    def words(self) -> str:
        """The sequence for people: `append b; rename a b, synced`."""
        return "; ".join(step_words(step) for step in self.steps)

    @cached_property
    def path(self) -> tuple[Node, ...]:
        """The nodes above it, and it, from the first on."""
        return (*(self.above.path if self.above else ()), self)

    @property
    def line(self) -> str:
        """Its calls as `ffscrash tree` wants them."""
        return ";".join(call.line for call in self.calls)


def step_words(step: Step) -> str:
    act, is_synced = step
    return f"{act.name}, synced" if is_synced else act.name


@dataclass(frozen=True)
class Tree:
    """All sequences of 1 to `length` of the acts, behind a beginning by its name."""

    acts: Sequence[Act]
    length: int
    seed: int
    begins: str = "new"

    @cached_property
    def start(self) -> History:
        """What was done before all of them, with what a cut has left half done."""
        return History((*beginning(self.begins, self.seed).operations, *self.interrupted))

    @cached_property
    def interrupted(self) -> tuple[Operation, ...]:
        """The calls in which power was cut once."""
        return interrupted(self.begins, self.seed)

    def nodes(self) -> Iterator[Node]:
        """All of them, depth first."""
        numbers = iter(range(2**62))
        yield from self._below(None, BEGINNINGS[self.begins].there, numbers)

    def count(self) -> int:
        """How many there are."""
        return self._count(BEGINNINGS[self.begins].there, self.length, {})

    def _count(
        self, there: frozenset[str], left: int, known: dict[tuple[frozenset[str], int], int]
    ) -> int:
        if not left:
            return 0
        counted = known.get((there, left))
        if counted is None:
            counted = 0
            for act in self.acts:
                after = act.follows(there)
                if after is not None:
                    ways = 2 if act.sync else 1
                    counted += ways * (1 + self._count(after, left - 1, known))
            known[there, left] = counted
        return counted

    def _below(
        self, above: Node | None, there: frozenset[str], numbers: Iterator[int]
    ) -> Iterator[Node]:
        steps = above.steps if above else ()
        writes = writes_in(self.operations(above))
        for act in self.acts:
            after = act.follows(there)
            if after is None:
                continue
            for is_synced in (False, True) if act.sync else (False,):
                calls = operations_of(act.lines(is_synced), self.seed, writes)
                node = Node(next(numbers), (*steps, (act, is_synced)), calls, above)
                yield node
                if node.depth < self.length:
                    yield from self._below(node, after, numbers)

    def operations(self, node: Node | None) -> tuple[Operation, ...]:
        """All calls up to those of a node, those of the beginning first."""
        own = (call for each in (node.path if node else ()) for call in each.calls)
        return (*self.start.operations, *own)
