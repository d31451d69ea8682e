"""What is wrong with the contents of a file that no version in the window explains.

Every write has contents of its own, so a sector tells where it is from: another file, an older
version of its own, or nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ffslab.oracle.contents import UNREADABLE as UNREADABLE_SECTOR
from ffslab.oracle.contents import parse_sums, sector_sum
from ffslab.oracle.files import FileLog, Version
from ffslab.oracle.history import History
from ffslab.oracle.observation import Entry
from ffslab.oracle.pieces import is_left, is_mixed
from ffslab.oracle.problems import (
    CLASSES,
    CORRUPT_CONTENTS,
    FOREIGN_BYTES,
    STALE_DATA,
    SYNCED_DATA_LOST,
    UNREADABLE,
    WRONG_ORDER,
    WRONG_SIZE,
    Problem,
)
from ffslab.oracle.window import Window
from ffslab.oracle.world import Node


@dataclass(frozen=True, slots=True)
class _Sector:
    """A sector that is wrong: its class, and what it is."""

    kind: str
    number: int
    sentence: str


def blame_contents(
    window: Window, history: History, path: str, entry: Entry, nodes: list[Node]
) -> Problem:
    """The gravest thing that is wrong with a file. `nodes`: what the path may be."""
    blame = _Blame(window, history, path, entry, nodes[-1].object)
    return blame.problem()


class _Blame:
    def __init__(
        self, window: Window, history: History, path: str, entry: Entry, number: int
    ) -> None:
        self._window = window
        self._history = history
        self._path = path
        self._entry = entry
        self._number = number
        self._log: FileLog = window.timeline.logs[number]
        versions = window.versions(number)
        durable = window.floor(number).number
        self._older, self._recent = versions[:durable], versions[durable:]

    def problem(self) -> Problem:
        entry = self._entry
        if entry.errno and UNREADABLE_SECTOR not in entry.sums:
            return self._says(UNREADABLE, f"cannot be read: error {entry.errno}")
        for version in self._older:
            if (version.size_bytes, version.text) == (entry.size_bytes, entry.sums):
                return self._says(
                    STALE_DATA, f"is as {self._call(version)} left it; what came after was durable"
                )
        wrong = sorted(self._wrong_sectors(), key=lambda sector: CLASSES.index(sector.kind))
        grave = [sector for sector in wrong if sector.kind in (FOREIGN_BYTES, CORRUPT_CONTENTS)]
        size = None if grave else self._size()
        if size is not None:
            return size
        if not wrong:
            return self._says(WRONG_ORDER, "has parts of several times that were never together")
        worst = wrong[0]
        more = sum(sector.kind == worst.kind for sector in wrong) - 1
        others = f", and {more} more such sectors" if more else ""
        return self._says(worst.kind, f"sector {worst.number} {worst.sentence}{others}")

    def _size(self) -> Problem | None:
        size_bytes = self._entry.size_bytes
        sizes = [version.size_bytes for version in self._recent]
        if self._number in self._window.timeline.written_back:
            is_good = self._window.is_size(self._number, size_bytes)
        else:
            is_good = min(sizes) <= size_bytes <= max(sizes)
        if is_good:
            return None
        durable = self._recent[0].size_bytes
        if size_bytes < min(sizes):
            return self._says(
                SYNCED_DATA_LOST, f"has {size_bytes} bytes, and {durable} were durable"
            )
        allowed = " or ".join(str(size) for size in dict.fromkeys(sizes[:4]))
        return self._says(WRONG_SIZE, f"has {size_bytes} bytes, not {allowed}")

    def _wrong_sectors(self) -> Iterator[_Sector]:
        size = self._entry.size_bytes
        for at, checksum in enumerate(parse_sums(self._entry.sums, size)):
            if checksum == UNREADABLE_SECTOR:
                if not self._window.may_be_unreadable(self._number, [at]):
                    yield _Sector(UNREADABLE, at, "cannot be read")
            elif not self._is_recent(at, checksum):
                yield self._wrong_sector(at, checksum)

    def _is_recent(self, at: int, checksum: str) -> bool:
        size = self._entry.size_bytes
        return any(checksum == self._log.sum(version, at, size) for version in self._recent) or any(
            is_mixed(self._log, version, other, at, size, checksum)
            for version, other in pairwise(self._recent)
        )

    def _wrong_sector(self, at: int, checksum: str) -> _Sector:
        size = self._entry.size_bytes
        zeros = sector_sum(bytes(len(self._log.sector(self._recent[0], at, size))))
        if checksum == zeros:
            return _Sector(SYNCED_DATA_LOST, at, "has zeros where data were durable")
        for version in reversed(self._older):
            if checksum == self._log.sum(version, at, size):
                return _Sector(
                    STALE_DATA,
                    at,
                    f"is as {self._call(version)} left it; what came after was durable",
                )
        owner = self._window.timeline.owners.get(checksum)
        if owner is not None and owner[0] != self._number:
            call = self._line(owner[1])
            return _Sector(FOREIGN_BYTES, at, f"has what {call} wrote to another file")
        recent = self._recent
        if self._window.excuse.reordered and is_left(
            self._log, recent, at, size, checksum, holes=False
        ):
            return _Sector(WRONG_ORDER, at, "has a later write, and not one before it")
        if self._window.excuse.lost:
            versions = (*self._older, *recent)
            if is_left(self._log, versions, at, size, checksum, holes=True):
                return _Sector(SYNCED_DATA_LOST, at, "lacks some of the writes that made it")
        return _Sector(CORRUPT_CONTENTS, at, "has bytes that nobody wrote there")

    def _says(self, kind: str, sentence: str) -> Problem:
        operation = self._recent[0].operation
        return Problem(kind, self._path, f"{self._path} {sentence}", operation)

    def _call(self, version: Version) -> str:
        return self._line(version.operation)

    def _line(self, operation: int) -> str:
        return self._history.told(operation)
