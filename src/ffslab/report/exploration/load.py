"""An exploration's directory, as its page reads it: units with their cases, what was under way.

Units that have not been explored yet are left out; the page says so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.exploration.run import Directory, UnitSpec, units_of
from ffslab.exploration.stored import StoredUnit
from ffslab.exploration.study import Exploration
from ffslab.model.specs import Board
from ffslab.report import data

UNMOUNTING = "unmount"


@dataclass(frozen=True)
class Operations:
    """The operations of a unit's log, and which call of its history each belongs to.

    `ends`: where the log stood when each call returned; `calls` are their lines.
    """

    lines: tuple[str, ...]
    ends: tuple[int, ...]
    calls: tuple[str, ...]

    def call(self, operation: int) -> str:
        """The call that returned first after it; what the background did counts with it."""
        number = bisect_right(self.ends, operation)
        return self.calls[number] if number < len(self.calls) else UNMOUNTING

    def flash(self, operation: int) -> str:
        """What the chip was to do: "program of block 10, page 2"."""
        words = self.lines[operation].split(" ") if operation < len(self.lines) else []
        if len(words) < 3:
            return ""
        page = f", page {words[3]}" if words[1] == "program" and len(words) > 3 else ""
        return f"{words[1]} of block {words[2]}{page}"


@dataclass(frozen=True)
class Part:
    """A unit that has been explored. `label`: its file system, with what else tells it apart."""

    stored: StoredUnit
    spec: UnitSpec
    board: Board
    label: str
    operations: Operations

    @property
    def workload(self) -> str:
        return self.spec.choice.name


@dataclass(frozen=True)
class Loaded:
    """All that a page is made of. `missing` are the units that have not been explored."""

    path: Path
    about: Mapping[str, Any]
    exploration: Exploration
    parts: tuple[Part, ...]
    missing: tuple[str, ...]

    @property
    def states(self) -> int:
        return sum(part.stored["states"] for part in self.parts)


def load(directory: Directory) -> Loaded:
    """What is in a directory; DamagedResultError, SpecError or UsageError for what is wrong."""
    about, exploration = directory.about(), directory.exploration()
    stored = {unit["id"]: unit for unit in directory.units()}
    boards = dict(zip((case.id for case in exploration.cases), exploration.boards, strict=True))
    labels = _labels(exploration)
    parts = tuple(
        Part(
            stored[spec.id],
            spec,
            boards[spec.case.id],
            labels[spec.case.id],
            _operations(directory.unit_dir(spec.id)),
        )
        for spec in units_of(exploration)
        if spec.id in stored
    )
    missing = tuple(unit for unit in about["units"] if unit not in stored)
    return Loaded(directory.path, about, exploration, parts, missing)


def _labels(exploration: Exploration) -> dict[str, str]:
    """Each case's file system, and of the other axes what is not the same in all cases."""
    settings = {
        case.id: {name: str(value) for name, value in case.axes} for case in exploration.cases
    }
    values: dict[str, set[str]] = {}
    for axes in settings.values():
        for name, value in axes.items():
            values.setdefault(name, set()).add(value)
    varying = [name for name, found in values.items() if len(found) > 1]
    show = [name for name in varying if name != data.FILESYSTEM]
    return {
        case.id: data.group_label(
            {**settings[case.id], data.FILESYSTEM: case.filesystem.name}, (data.FILESYSTEM, *show)
        )
        for case in exploration.cases
    }


def _operations(place: Path) -> Operations:
    ends = [
        int(words[4])
        for words in (line.split(" ") for line in _lines(place / "record"))
        if words[0] == "op" and len(words) >= 5
    ]
    return Operations(tuple(_lines(place / "log")), tuple(ends), tuple(_lines(place / "history")))


def _lines(path: Path) -> Sequence[str]:
    """None if it is not there: the page says less then."""
    if not path.is_file():
        return ()
    return path.read_text(encoding="utf-8", errors="replace").splitlines()
