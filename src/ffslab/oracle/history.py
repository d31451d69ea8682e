"""A history: the operations of a workload, in order; its file has one line for each.

Seeds of contents are unique within a history, so that any 512 bytes tell which write of which file
they are from (`ffslab.oracle.contents`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ffslab.oracle.operations import VERBS, FormatError, Operation, parse_operation


@dataclass(frozen=True, slots=True)
class History:
    """Operations; an index is a place, from 0. FormatError if two writes share a seed."""

    operations: tuple[Operation, ...]

    def __post_init__(self) -> None:
        first: dict[int, int] = {}
        for index, operation in enumerate(self.operations):
            if not VERBS[operation.verb].writes:
                continue
            before = first.setdefault(operation.seed, index)
            if before != index:
                raise FormatError(
                    f"operations {before} and {index} write with seed {operation.seed}",
                    cause="their contents could not be told apart",
                    remedy="a seed of its own for each write",
                )

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


def history_of(operations: Iterable[Operation]) -> History:
    """A history of operations that come one by one."""
    return History(tuple(operations))
