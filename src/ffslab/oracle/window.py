"""What a cut leaves open: a window of steps, and for each file the contents that it may have.

The tree is as after s steps, `low` ≤ s ≤ `high`; a step that changes contents may itself be cut.
In a file system that writes contents in order, they are part of that. In one that writes them back,
each page of a file is as after any call since the last sync of it, and the size as of any call
since the last sync, or the end of a page between: a page that is on flash makes a file as long.
Where any part is written back by itself, each byte is as some write since then left it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from ffslab.oracle.attributes import is_like, parts, told
from ffslab.oracle.contents import EMPTY, SECTOR_BYTES, UNREADABLE, parse_sums, sector_count
from ffslab.oracle.faults import Excuse
from ffslab.oracle.files import PAGE_BYTES, FileLog, Version
from ffslab.oracle.observation import FILE, SYMLINK, Entry
from ffslab.oracle.pieces import is_left, is_piece
from ffslab.oracle.promises import Promise
from ffslab.oracle.timeline import ContentsChange, Floor, Timeline
from ffslab.oracle.world import ANY_LINKS, Node

_PAGE_SECTORS = PAGE_BYTES // SECTOR_BYTES


@dataclass(frozen=True)
class Window:
    """Steps low … high; `finished`, `begun`: calls; `excuse`: of the fault."""

    timeline: Timeline
    promise: Promise
    low: int
    high: int
    finished: int
    begun: int
    excuse: Excuse
    _written_back: dict[tuple[int, int, str], bool] = field(default_factory=dict)
    _open: dict[int, set[int]] = field(default_factory=dict)

    def is_same(self, node: Node | None, entry: Entry | None) -> bool:
        """Whether an entry can be this node."""
        if node is None:
            return entry is None
        if node.is_doubtful:
            return True
        if entry is None or not self.is_like(node, entry):
            return False
        if node.version is None:
            return True
        if node.object in self.timeline.written_back:
            return self.is_written_back(node.object, entry)
        return self.is_version(node.object, node.version, entry)

    def is_like(self, node: Node, entry: Entry) -> bool:
        """Whether an entry can be this node but for the contents of a file."""
        return (
            entry.kind == node.kind
            and (entry.links == node.links or node.links == ANY_LINKS)
            and (not entry.errno or entry.kind == FILE or self.excuse.unreadable_synced)
            and (entry.kind != SYMLINK or entry.target == node.target or bool(entry.errno))
            and self.has_attributes(node, entry)
        )

    def has_attributes(self, node: Node, entry: Entry) -> bool:
        """Whether mode, mtime and extended attributes of an entry can be this node's."""
        observed = told(entry.kind, entry.attributes)
        loose = self.timeline.attributes.get(node.object, {})
        return is_like(node.attributes, observed) and all(
            log.allows(parts(observed)[name], self.finished, self.begun)
            for name, log in loose.items()
        )

    def attributes_of(self, node: Node) -> str:
        """Those of a node in words, with what the last call has left of loose parts."""
        loose = self.timeline.attributes.get(node.object, {})
        left = {name: log.latest(self.begun) for name, log in loose.items()}
        return " ".join({**parts(node.attributes), **left}.values())

    # Contents that go to flash in order.

    def is_version(self, number: int, version: Version, entry: Entry) -> bool:
        """Whether an entry has these contents, but for sectors that may be unreadable."""
        if not version.is_known:
            return True
        if entry.size_bytes != version.size_bytes:
            return False
        if entry.sums == version.text and not entry.errno:
            return True
        sums = self.sums(number, entry)
        return sums is not None and all(
            observed in (None, wanted) for observed, wanted in zip(sums, version.sums, strict=True)
        )

    def is_divided(self, change: ContentsChange, entry: Entry) -> bool:
        """Whether an entry can have the contents of a change that was cut."""
        sums = self.sums(change.object, entry)
        if sums is None:
            return False
        log = self.timeline.logs[change.object]
        sizes = sorted((change.before.size_bytes, change.after.size_bytes))
        if not sizes[0] <= entry.size_bytes <= sizes[1]:
            return False
        # Of unreadable sectors nothing is asked: all of them may be old, or all of them new.
        return any(
            is_piece(
                log,
                change.before,
                change.after,
                entry.size_bytes,
                [
                    log.sum(version, at, entry.size_bytes) if observed is None else observed
                    for at, observed in enumerate(sums)
                ],
                self.promise.pieces,
            )
            for version in (change.before, change.after)[: 2 if None in sums else 1]
        )

    def sums(self, number: int, entry: Entry) -> list[str | None] | None:
        """The sums of a file's sectors, None for those that may be unreadable.

        None for all if one is unreadable that must not be.
        """
        if entry.errno and entry.sums == EMPTY:
            sectors = range(sector_count(entry.size_bytes))
            is_excused = self.may_be_unreadable(number, sectors or [0])
            return [None] * len(sectors) if is_excused else None
        sums = parse_sums(entry.sums, entry.size_bytes)
        bad = [at for at, checksum in enumerate(sums) if checksum == UNREADABLE]
        if bool(entry.errno) != bool(bad) or not self.may_be_unreadable(number, bad):
            return None
        return [None if checksum == UNREADABLE else checksum for checksum in sums]

    def may_be_unreadable(self, number: int, sectors: Iterable[int]) -> bool:
        """Whether the fault excuses that none of these sectors can be read."""
        if self.excuse.unreadable_synced:
            return True
        if not self.excuse.unreadable_unsynced:
            return not any(True for _ in sectors)
        return self.open_sectors(number).issuperset(sectors)

    def open_sectors(self, number: int) -> set[int]:
        """Sectors that changed, or may have, since they were last made durable."""
        sectors = self._open.get(number)
        if sectors is None:
            log, sectors = self.timeline.logs[number], set()
            for version in self.versions(number)[self.floor(number).number + 1 :]:
                change = log.change(version)
                before = log.versions[version.number - 1].size_bytes
                start = min(change.start_bytes, before)
                end = max(change.end_bytes, before if change.seed is None else 0)
                sectors.update(
                    sector
                    for sector in range(start // SECTOR_BYTES, sector_count(end))
                    if version.number > self._floor(number, sector // _PAGE_SECTORS)
                )
            self._open[number] = sectors
        return sectors

    # Versions.

    def versions(self, number: int) -> list[Version]:
        """All versions that a file had up to the last call that began."""
        versions = self.timeline.logs[number].versions
        return versions[: self._count(versions, self.begun)]

    def floor(self, number: int) -> Version:
        """The version of a file that is durable."""
        if number in self.timeline.written_back:
            return self.timeline.logs[number].versions[self._floor(number, None)]
        versions = self.timeline.logs[number].versions
        if not self.low:
            return versions[0]
        # The version after the durable steps.
        steps = self.timeline.steps
        last = versions[0]
        for version in versions[: self._count(versions, steps[self.low - 1].operation + 1)]:
            last = version
        following = steps[self.low] if self.low < len(steps) else None
        if (
            following
            and following.operation == steps[self.low - 1].operation
            and following.contents
            and following.contents.object == number
        ):
            return following.contents.before
        return last

    @staticmethod
    def _count(versions: list[Version], calls: int) -> int:
        return max(1, bisect_right(versions, calls - 1, key=lambda version: version.operation))

    # Contents that are written back.

    def is_written_back(self, number: int, entry: Entry) -> bool:
        """Whether a file's size and pages are each of a time since they were synced."""
        key = (number, entry.size_bytes, f"{entry.errno} {entry.sums}")
        is_written = self._written_back.get(key)
        if is_written is None:
            is_written = self._written_back[key] = self._is_written_back(number, entry)
        return is_written

    def _is_written_back(self, number: int, entry: Entry) -> bool:
        recent = self.versions(number)[self._floor(number, None) :]
        if not all(version.is_known for version in recent):
            return True
        if not self.is_size(number, entry.size_bytes):
            return False
        sums = self.sums(number, entry)
        return sums is not None and all(
            self.is_page(number, page, entry.size_bytes, sums)
            for page in range(-(-len(sums) // _PAGE_SECTORS))
        )

    def is_size(self, number: int, size_bytes: int) -> bool:
        """Whether a file that is written back may have this size."""
        versions = self.versions(number)
        floors = self._floors(number)
        whole = [f.version for f in floors if f.pages is None or self.promise.range_syncs_size]
        sizes = {version.size_bytes for version in versions[max(whole, default=0) :]}
        if size_bytes < self._synced_bytes(number, versions):
            return False
        return size_bytes in sizes or (
            size_bytes % self.promise.unit_bytes == 0 and min(sizes) < size_bytes < max(sizes)
        )

    def _synced_bytes(self, number: int, versions: list[Version]) -> int:
        """So long a file must be for the writes whose part was synced, unless it was shortened."""
        log = self.timeline.logs[number]
        return max(
            (
                min(
                    log.change(versions[floor.version]).end_bytes,
                    *(version.size_bytes for version in versions[floor.version :]),
                )
                for floor in self._floors(number)
                if floor.pages is not None
            ),
            default=0,
        )

    def is_page(self, number: int, page: int, size_bytes: int, sums: list[str | None]) -> bool:
        """Whether a page is as of one time since it was synced, or each part of it may be."""
        log = self.timeline.logs[number]
        sectors = range(page * _PAGE_SECTORS, min((page + 1) * _PAGE_SECTORS, len(sums)))
        versions = list(self._page_versions(number, page, log))
        if any(
            all(sums[at] in (None, log.sum(version, at, size_bytes)) for at in sectors)
            for version in versions
        ):
            return True
        return self.promise.unit_bytes < PAGE_BYTES and all(
            checksum is None or is_left(log, versions, at, size_bytes, checksum, holes=False)
            for at, checksum in ((at, sums[at]) for at in sectors)
        )

    def _page_versions(self, number: int, page: int, log: FileLog) -> Iterable[Version]:
        """Of the versions since a page was synced, those with another page than the one before."""
        versions = self.versions(number)
        floor = self._floor(number, page)
        yield versions[floor]
        for version in versions[floor + 1 :]:
            change = log.change(version)
            before = versions[version.number - 1].size_bytes
            start = min(change.start_bytes, before)
            end = change.end_bytes if change.seed is not None else max(change.end_bytes, before)
            if start < (page + 1) * PAGE_BYTES and end > page * PAGE_BYTES:
                yield version

    def _floors(self, number: int) -> list[Floor]:
        floors = self.timeline.floors.get(number, ())
        return [floor for floor in floors if floor.finished <= self.finished]

    def _floor(self, number: int, page: int | None) -> int:
        """The number of the version that is durable: of a page, or of all of them."""
        return max(
            (
                floor.version
                for floor in self._floors(number)
                if floor.pages is None
                or (page is not None and floor.pages[0] <= page < floor.pages[1])
            ),
            default=0,
        )
