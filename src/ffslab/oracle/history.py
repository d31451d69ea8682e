"""A history: the operations of a workload, in order; its file has one line for each.

Seeds of contents are unique within a history, so that any 512 bytes tell which write of which file
they are from (`ffslab.oracle.contents`).

A history may begin with a tree that is there before it, on a read-only file system below an
overlay. Operations make that too, the *lower* ones, so that its contents have seeds as well. They
have the numbers −n … −1, in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ffslab.oracle.operations import VERBS, FormatError, Operation, parse_operation

_OF_LOWER = ("mkdir", "create", "write", "symlink", "link")


@dataclass(frozen=True, slots=True)
class History:
    """Operations; an index is a place, from 0. FormatError if two writes share a seed, or a lower
    operation is none that makes a tree: a directory, a symbolic link, a link to a file, a file that
    is written once.
    """

    operations: tuple[Operation, ...]
    lower: tuple[Operation, ...] = ()

    def __post_init__(self) -> None:
        first: dict[int, int] = {}
        for operation in self.lower:
            if operation.verb not in _OF_LOWER or operation.offset_bytes:
                raise FormatError(
                    f"{operation.line!r} does not make a part of a lower tree",
                    remedy=f"verbs: {', '.join(_OF_LOWER)}; a write is of a new file, from 0",
                )
        for index, operation in enumerate((*self.lower, *self.operations), -len(self.lower)):
            if not VERBS[operation.verb].has_seed:
                continue
            before = first.setdefault(operation.seed, index)
            if before != index:
                raise FormatError(
                    f"operations {before} and {index} write with seed {operation.seed}",
                    cause="their contents could not be told apart",
                    remedy="a seed of its own for each write",
                )

    def told(self, index: int) -> str:
        """An operation in words, by its number."""
        if index < 0:
            return f"the lower file system ({self.lower[index].line})"
        return f"operation {index} ({self.operations[index].line})"

    @property
    def text(self) -> str:
        """The history file."""
        return "".join(f"{operation.line}\n" for operation in self.operations)


def parse_history(text: str) -> History:
    """The history of a file; FormatError with the line's number for what is none."""
    return History(
        tuple(
            parse_operation(line, f"history, line {number}")
            for number, line in enumerate(text.splitlines(), 1)
        )
    )


def history_of(operations: Iterable[Operation], lower: tuple[Operation, ...] = ()) -> History:
    """A history of operations that come one by one."""
    return History(tuple(operations), lower)
