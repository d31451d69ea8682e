"""The steps that calls make, and what of them survives: what `ffslab.oracle.steps` works out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ffslab.oracle.attributes import AttributeLog
from ffslab.oracle.files import FileLog, Version
from ffslab.oracle.operations import ROOT
from ffslab.oracle.world import Node


@dataclass(frozen=True, slots=True)
class Difference:
    """One path before and after a step; None: nothing there."""

    path: str
    before: Node | None
    after: Node | None

    @property
    def is_of_name(self) -> bool:
        """Whether the path has come, gone, or become that of another object."""
        before = self.before.object if self.before else None
        return before != (self.after.object if self.after else None)


@dataclass(frozen=True, slots=True)
class ContentsChange:
    """A step that changes a file's contents, and so may be cut in the middle."""

    object: int
    before: Version
    after: Version


@dataclass(frozen=True, slots=True)
class Step:
    operation: int
    differences: tuple[Difference, ...]
    contents: ContentsChange | None = None


@dataclass(frozen=True, slots=True)
class Floor:
    """A sync of a file's contents: once so many calls returned, older versions must not be seen.

    With `pages`, of the pages first ≤ page < end only, and of the size.
    """

    finished: int
    version: int
    pages: tuple[int, int] | None = None


@dataclass(frozen=True)
class Timeline:
    """All steps; `made[n]`, `durable[n]`: steps that n calls make, and that survive them for sure.

    `start`: the empty tree, or that of the lower file system. `floors`: by object. `logs`: contents
    by object. `written_back`: files whose contents are no part of the steps. `touched`: the call
    from which on an object of the lower file system may be in the upper one, or gone. `attributes`:
    parts of an object's attributes that are no part of the steps.
    """

    start: dict[str, Node]
    steps: tuple[Step, ...]
    made: tuple[int, ...]
    durable: tuple[int, ...]
    floors: dict[int, tuple[Floor, ...]]
    logs: dict[int, FileLog]
    written_back: frozenset[int]
    touched: Mapping[int, int] = field(default_factory=dict)
    attributes: Mapping[int, Mapping[str, AttributeLog]] = field(default_factory=dict)

    def is_below(self, path: str, calls: int) -> bool:
        """Whether a path, and all above it, is only in the lower file system after these calls.

        The root is in both, or there is no other.
        """
        if path == ROOT:
            return False
        while path:
            node = self.start.get(path)
            if node is None or self.touched.get(node.object, calls) < calls:
                return False
            path = path.rpartition("/")[0]
        return True

    @cached_property
    def owners(self) -> dict[str, tuple[int, int]]:
        """For the sum of a sector, the object and the call that first had it."""
        owners: dict[str, tuple[int, int]] = {}
        for number, log in self.logs.items():
            for version in log.versions:
                for checksum in version.sums:
                    owners.setdefault(checksum, (number, version.operation))
        return owners
