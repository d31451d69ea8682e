"""What all generators write with: operations one after the other, each write with its own seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from ffslab.oracle.history import History
from ffslab.oracle.operations import Operation

_SEED_BITS = 32
Thing = TypeVar("Thing")


@dataclass
class Pen:
    """A history that grows. `draw`: the numbers of its seed. `lower`: what was before `begin`."""

    seed: int
    draw: Random = field(init=False)
    operations: list[Operation] = field(default_factory=list)
    lower: tuple[Operation, ...] = ()
    _writes: int = 0

    def __post_init__(self) -> None:
        self.draw = Random(self.seed)

    def history(self) -> History:
        return History(tuple(self.operations), self.lower)

    def begin(self) -> None:
        """What was written up to now is the tree below an overlay."""
        self.lower = tuple(self.operations)
        self.operations = []

    def call(self, verb: str, path: str = "", other: str = "") -> None:
        """An operation without contents."""
        self.operations.append(Operation(verb, path, other))

    def write(self, path: str, offset_bytes: int, size_bytes: int, *, sync: bool = False) -> None:
        """A write; through O_SYNC if it is to be synced."""
        verb = "writesync" if sync else "write"
        self._add(Operation(verb, path, "", offset_bytes, size_bytes, self._new_seed()))

    def append(self, path: str, size_bytes: int) -> None:
        self._add(Operation("append", path, "", 0, size_bytes, self._new_seed()))

    def open(self, descriptor: str, path: str, verb: str = "open") -> None:
        self._add(Operation(verb, path, filled=descriptor))

    def dup(self, descriptor: str, other: str) -> None:
        """`other` is to be open of the same file."""
        self._add(Operation("dup", descriptor, filled=other))

    def store(self, descriptor: str, offset_bytes: int, size_bytes: int) -> None:
        """A write through a shared mapping."""
        self._add(Operation("mapwrite", descriptor, "", offset_bytes, size_bytes, self._new_seed()))

    def sync_range(self, descriptor: str, offset_bytes: int, size_bytes: int) -> None:
        self._add(Operation("syncrange", descriptor, "", offset_bytes, size_bytes))

    def truncate(self, path: str, size_bytes: int) -> None:
        self._add(Operation("truncate", path, size_bytes=size_bytes))

    def between(self, least: int, most: int) -> int:
        """A number from least to most, both included."""
        return self.draw.randrange(least, most + 1)

    def shuffled(self, things: Sequence[Thing]) -> list[Thing]:
        """The same in another order."""
        return self.draw.sample(things, len(things))

    def _add(self, operation: Operation) -> None:
        self.operations.append(operation)

    def _new_seed(self) -> int:
        number = self._writes
        self._writes += 1
        return contents_seed(self.seed, number)


def contents_seed(seed: int, number: int) -> int:
    """Of the contents of a history's write with this number: unique, and even, which means
    compressible, for every third.
    """
    base = (seed << _SEED_BITS) + 2 * number
    return (base + (0 if number % 3 == 2 else 1)) % 2**64
