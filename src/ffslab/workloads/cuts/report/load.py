"""An exploration's directory, as its page reads it: units with their cases, what was under way.

Units that have not been explored yet are left out; the page says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.errors import DamagedResultError
from ffslab.model.specs import Board
from ffslab.oracle.faults import PROGRAM
from ffslab.oracle.operations import FormatError
from ffslab.oracle.record import Record, parse_record
from ffslab.program import command
from ffslab.report import data
from ffslab.workloads.cuts.explore.case import Directory, UnitSpec, units_of
from ffslab.workloads.cuts.kind import Exploration
from ffslab.workloads.cuts.states import Logged, parse_log
from ffslab.workloads.cuts.stored import StoredUnit

UNMOUNTING = "unmount"


@dataclass(frozen=True)
class Operations:
    """The operations of a unit's log, and which call of its history each belongs to.

    `calls` are the lines of the history. What its files do not say, if one is not there, is empty.
    """

    logged: tuple[Logged, ...]
    record: Record
    calls: tuple[str, ...]

    def call(self, operation: int) -> str:
        """The call that returned first after it; what the background did counts with it."""
        if not self.calls or not self.record.is_complete:
            return ""
        number = self.record.finished(operation)
        return self.calls[number] if number < len(self.calls) else UNMOUNTING

    def flash(self, operation: int) -> str:
        """What the chip was to do: "program of block 10, page 2"."""
        if operation >= len(self.logged):
            return ""
        one = self.logged[operation]
        page = f", page {one.page}" if one.verb == PROGRAM else ""
        return f"{one.verb} of block {one.block}{page}"


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
            _operations(directory, stored[spec.id]),
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


def _operations(directory: Directory, unit: StoredUnit) -> Operations:
    """The texts of a unit; DamagedResultError if they are not those of its exploration."""
    place = directory.unit_dir(unit["id"])
    try:
        log, record = parse_log(_text(place / "log")), parse_record(_text(place / "record"))
        calls = tuple(_text(place / "history").splitlines())
        if log and len(log) != unit["operations"]:
            raise FormatError(f"a log of {len(log)} operations, of {unit['operations']}")
        if record.calls and not record.is_complete:
            raise FormatError("the record has no end")
        if record.calls and calls and len(record.calls) != len(calls):
            raise FormatError(f"a history of {len(calls)} calls, a record of {len(record.calls)}")
    except (DamagedResultError, FormatError) as error:
        raise DamagedResultError(
            f"{place}: {error.message}",
            cause="a file there was edited or cut after ffslab wrote it",
            remedy=f"rm -r {place}, then: {command('crash', 'run', '--resume', directory.path)}",
        ) from error
    return Operations(log, record, calls)


def _text(path: Path) -> str:
    """Empty if it is not there: the page says less then."""
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
