"""Contents of a file through a history: a version after each operation that changed them.

A version has the sums of all sectors at once, and bytes on demand: they are a function of the
changes before it, so no version is kept in memory as bytes.

Limit: the last version of each file is in memory as bytes too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ffslab.oracle.contents import (
    SECTOR_BYTES,
    pattern,
    sector_count,
    sector_sum,
    sums_of,
    sums_text,
)

PAGE_BYTES = 4096  # of the page cache: what is written back at once


@dataclass(frozen=True, slots=True)
class Change:
    """What made a version: a write with this seed, or with no seed a new size (end_bytes)."""

    start_bytes: int
    end_bytes: int
    seed: int | None


@dataclass(frozen=True, slots=True)
class Version:
    """Contents after an operation.

    `is_known` False: a call failed half way, and anything may be there, until all of it goes.
    """

    operation: int
    number: int
    size_bytes: int
    sums: Sequence[str]
    text: str
    is_known: bool = True


class FileLog:
    """All versions of one file, from the empty one on, or from contents that one write made."""

    def __init__(self, operation: int, size_bytes: int = 0, seed: int | None = None) -> None:
        self._data = bytearray(b"" if seed is None else pattern(seed, 0, size_bytes))
        sums = sums_of(self._data)
        self.versions = [Version(operation, 0, len(self._data), tuple(sums), sums_text(sums))]
        self._changes: list[Change] = [Change(0, len(self._data), seed)]

    def copy(self) -> FileLog:
        """Another file with the first contents of this one."""
        first = self._changes[0]
        return FileLog(self.versions[0].operation, first.end_bytes, first.seed)

    @property
    def last(self) -> Version:
        return self.versions[-1]

    def write(self, operation: int, offset_bytes: int, size_bytes: int, seed: int) -> Version:
        """The contents after a write of one byte or more."""
        return self._add(operation, Change(offset_bytes, offset_bytes + size_bytes, seed))

    def truncate(self, operation: int, size_bytes: int) -> Version:
        """The contents with another size, longer or shorter."""
        return self._add(operation, Change(size_bytes, size_bytes, None))

    def forget(self, operation: int) -> Version:
        """The contents after a call that failed half way."""
        last = self.last
        self._changes.append(Change(last.size_bytes, last.size_bytes, None))
        unknown = Version(
            operation, last.number + 1, last.size_bytes, last.sums, last.text, is_known=False
        )
        self.versions.append(unknown)
        return unknown

    def change(self, version: Version) -> Change:
        """What made this version of the one before it."""
        return self._changes[version.number]

    def bytes_of(self, version: Version, start_bytes: int, end_bytes: int) -> bytes:
        """These bytes of a version, zeros behind its end."""
        data = bytearray(end_bytes - start_bytes)
        # From the newest change to the oldest: what is still to be found.
        wanted = [(start_bytes, end_bytes)]
        for change in reversed(self._changes[: version.number + 1]):
            if not wanted:
                break
            left = []
            for start, end in wanted:
                low = max(start, change.start_bytes)
                high = end if change.seed is None else min(end, change.end_bytes)
                if low >= high:
                    left.append((start, end))
                    continue
                if change.seed is not None:
                    written = pattern(change.seed, low, high - low)
                    data[low - start_bytes : high - start_bytes] = written
                left += [(a, b) for a, b in ((start, low), (high, end)) if a < b]
            wanted = left
        return bytes(data)

    def sector(self, version: Version, sector: int, size_bytes: int) -> bytes:
        """A sector of a version as a file of this size would have it."""
        start = sector * SECTOR_BYTES
        return self.bytes_of(version, start, min(start + SECTOR_BYTES, size_bytes))

    def sum(self, version: Version, sector: int, size_bytes: int) -> str:
        """The sum of a sector of a version as a file of this size would have it."""
        start = sector * SECTOR_BYTES
        end = min(start + SECTOR_BYTES, size_bytes)
        if end == min(start + SECTOR_BYTES, version.size_bytes):
            return version.sums[sector]
        return sector_sum(self.bytes_of(version, start, end))

    def _add(self, operation: int, change: Change) -> Version:
        """The next version. Sums are made of the sectors that changed, or that became longer."""
        last, data = self.last, self._data
        start, end = change.start_bytes, change.end_bytes
        if change.seed is None:
            first = min(end, len(data))
            del data[end:]
            data.extend(bytes(end - len(data)))
        else:
            first = min(start, len(data)) if end > len(data) else start
            data.extend(bytes(max(0, end - len(data))))
            data[start:end] = pattern(change.seed, start, end - start)
        first //= SECTOR_BYTES
        sums = list(last.sums[: sector_count(len(data))])
        changed = memoryview(data)[first * SECTOR_BYTES : sector_count(end) * SECTOR_BYTES]
        sums[first : sector_count(end)] = sums_of(changed)
        changed.release()
        self._changes.append(change)
        is_known = last.is_known or not data
        version = Version(
            operation, last.number + 1, len(data), tuple(sums), sums_text(sums), is_known
        )
        self.versions.append(version)
        return version
