"""The mount scan: from tags to objects, newest block to oldest, last page to first.

Follows section 12 of the format document. Interpretations where it leaves room:

- Blocks with equal sequence numbers: the higher block number counts as newer.
- The shadow mark is honoured in every header, not only in the newest one of its object.
- An older header with the shrink mark or under 3 or 4 lowers the limit of its object whatever
  type it has itself: the object may be a file whose id belonged to a directory before.
- Data chunks of an object whose newest header says that it is no file are dead.
- With a valid summary its entries are taken instead of the pages' tags, so a page whose own tags
  cannot be read is found; an entry with object 0 falls back to them.
- A chunk whose header cannot be of any object (id 0 or above the limit, type 0 or above 5) is
  ignored, as uncorrectable tags are.
- Where a header and its tags contradict each other, `claim.py` says what is believed.
- A header defines its object also if its id is 3 or 4 (nobody writes those): it is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ffslab.yaffs2.checkpoint_read import Checkpoint
from ffslab.yaffs2.claim import Claim, claim_of
from ffslab.yaffs2.format import (
    CHUNK_ID_MAX,
    GRAVES,
    ID_CHECKPOINT,
    ID_DELETED,
    ID_LOST_FOUND,
    ID_MAX,
    ID_ROOT,
    ID_SUMMARY,
    ID_UNLINKED,
    Geometry,
    ObjectType,
)
from ffslab.yaffs2.header import HEADER_BYTES, ObjectHeader, parse_header
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.scan import BlockKind, BlockRecord, FlashScan
from ffslab.yaffs2.tags import Tags

Place = tuple[int, int]  # block, page
_FAKE_IDS = (ID_ROOT, ID_LOST_FOUND, *GRAVES)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Where a data chunk is, how many bytes count, whether it is newer than the header."""

    block: int
    page: int
    byte_count: int
    unflushed: bool


@dataclass(slots=True)
class FoundObject:
    """An object as the scan leaves it; changed only while scanning."""

    object_id: int
    object_type: ObjectType
    parent_id: int = 0
    target_id: int = 0
    size: int = 0
    limit: int = 0
    header_at: Place | None = None
    header: ObjectHeader | None = None
    header_size: int = 0
    chunks: dict[int, Chunk] = field(default_factory=dict)
    defined: bool = False
    shadowed: bool = False
    data_before_type: bool = False
    grown_from: int | None = None
    attributes: slice = field(default_factory=lambda: slice(HEADER_BYTES, None))  # in the page
    has_tail: bool = False  # bytes behind the end, in the last chunk, are still to be cut off

    @property
    def fake(self) -> bool:
        """One of 1 to 4, which exist without a header."""
        return self.object_id in _FAKE_IDS

    @property
    def scanned_size(self) -> int:
        """The size without what only a checkpoint knows."""
        return self.size if self.grown_from is None else self.grown_from


@dataclass(frozen=True, slots=True)
class Mounted:
    """All objects by id, the pages in use, and the blocks with shrinking headers.

    `live` are the newest headers and the data of files; a deleted object's header is not.
    """

    objects: dict[int, FoundObject]
    live: set[Place]
    summary_pages: set[Place]
    shrink_blocks: set[int]


def mount_scan(flash: FlashImage, scan: FlashScan) -> Mounted:
    """The objects that a mount without checkpoint finds."""
    return MountScan(flash).run(scan)


class MountScan:
    """Takes pages, newest first. The segregated layout's scan has the same rules for headers."""

    def __init__(self, flash: FlashImage) -> None:
        self._flash = flash
        self._data_bytes = flash.geometry.data_bytes
        self._max = flash.geometry.max_file_bytes
        self._objects: dict[int, FoundObject] = {}
        self._summary_pages: set[Place] = set()
        self._shrink_blocks: set[int] = set()
        self._disputed: list[tuple[FoundObject, Claim]] = []

    def run(self, scan: FlashScan) -> Mounted:
        for record in newest_first(scan, BlockKind.DATA):
            for page, tags in mount_tags(record):
                self._take(record.block, page, tags)
            self._take_summary(record)
        self._add_fakes()
        self._settle()
        return Mounted(
            self._objects,
            self._live(),
            self._summary_pages,
            self._shrink_blocks,
        )

    def _take_summary(self, record: BlockRecord) -> None:
        if record.summary_valid:
            count = self._flash.geometry.summary_pages
            pages = [scanned.page for scanned in record.pages[-count:]]
            self._summary_pages.update((record.block, page) for page in pages)

    def _take(self, block: int, page: int, tags: Tags) -> None:
        object_id = tags.object_id
        if not 0 < object_id <= ID_MAX or object_id in (ID_SUMMARY, ID_CHECKPOINT):
            return
        if tags.is_header:
            self._take_header(block, page, tags)
        elif tags.chunk_id <= CHUNK_ID_MAX and tags.byte_count <= self._data_bytes:
            self._take_data(block, page, tags)

    def _take_data(self, block: int, page: int, tags: Tags) -> None:
        obj = self._objects.get(tags.object_id)
        if obj is None:
            obj = FoundObject(tags.object_id, ObjectType.FILE, limit=self._max)
            self._objects[tags.object_id] = obj
        if obj.object_type is not ObjectType.FILE:
            return
        start = (tags.chunk_id - 1) * self._data_bytes
        if start >= obj.limit or tags.chunk_id in obj.chunks:
            return
        chunk = Chunk(block, page, tags.byte_count, not obj.defined)
        obj.chunks[tags.chunk_id] = chunk
        if not obj.defined:
            obj.size = max(obj.size, start + tags.byte_count)
        elif obj.size < obj.limit:  # tags and header have two sizes, so the data tell
            obj.size = max(obj.size, min(start + tags.byte_count, obj.limit))

    def _take_header(self, block: int, page: int, tags: Tags) -> None:
        header = parse_header(self._flash.data(block, page))
        claim = claim_of(tags, header, self._max)
        if claim is None or tags.object_id in GRAVES:
            return
        obj = self._objects.get(tags.object_id)
        if obj is None:
            obj = FoundObject(tags.object_id, claim.object_type, limit=self._max)
            self._objects[tags.object_id] = obj
        if not obj.defined:
            self._define(obj, claim)
            obj.header_at, obj.header = (block, page), header
        if claim.shrinks:
            self._shrink_blocks.add(block)
            self._shrink(obj, claim.limit)
        if tags.shadows or (not tags.extended and header.shadowed):
            self._shadow(block, header.shadowed)

    def _shrink(self, obj: FoundObject, limit: int) -> None:
        """What is older of the object, from byte `limit` on, is dead."""
        obj.limit = min(obj.limit, limit)

    def _define(self, obj: FoundObject, claim: Claim) -> None:
        obj.defined = True
        obj.parent_id = claim.parents[0]
        if claim.object_type is not ObjectType.FILE:
            obj.data_before_type = bool(obj.chunks)
            obj.chunks.clear()
            obj.size = 0
        else:
            obj.header_size = claim.size
            obj.size = max(obj.size, claim.size)
            obj.limit = min(obj.limit, claim.limit)
        obj.object_type = claim.object_type
        obj.target_id = claim.targets[0] if claim.targets else 0
        if len(claim.parents) > 1 or len(claim.targets) > 1:
            self._disputed.append((obj, claim))

    def _settle(self) -> None:
        """Where tags and header name two parents or targets: the second, if the first is none."""
        for obj, claim in self._disputed:
            parents = [parent for parent in claim.parents if self._leads_to_root(parent, obj)]
            if parents:
                obj.parent_id = parents[0]
            targets = [target for target in claim.targets if self._may_be_target(target)]
            if targets:
                obj.target_id = targets[0]

    def _leads_to_root(self, parent: int, child: FoundObject) -> bool:
        seen = {child.object_id}
        while parent not in seen and parent not in _FAKE_IDS:
            seen.add(parent)
            directory = self._objects.get(parent)
            if directory is None or directory.object_type is not ObjectType.DIRECTORY:
                return False
            parent = directory.parent_id
        return parent in (ID_ROOT, ID_LOST_FOUND)

    def _may_be_target(self, object_id: int) -> bool:
        target = self._objects.get(object_id)
        return target is not None and target.object_type not in (
            ObjectType.DIRECTORY,
            ObjectType.HARD_LINK,
        )

    def _shadow(self, block: int, object_id: int) -> None:
        """The object was replaced by a rename, says that block; what is older of it is dead."""
        del block
        if object_id in self._objects or not 0 < object_id <= ID_MAX:
            return
        self._objects[object_id] = FoundObject(
            object_id, ObjectType.FILE, ID_UNLINKED, defined=True, shadowed=True
        )

    def _add_fakes(self) -> None:
        for object_id in _FAKE_IDS:
            if object_id not in self._objects:
                parent = ID_ROOT if object_id == ID_LOST_FOUND else 0
                self._objects[object_id] = FoundObject(
                    object_id, ObjectType.DIRECTORY, parent, defined=True
                )

    def _live(self) -> set[Place]:
        live = set()
        for obj in self._objects.values():
            if obj.header_at and obj.parent_id != ID_DELETED:
                live.add(obj.header_at)
            live.update((chunk.block, chunk.page) for chunk in obj.chunks.values())
        return live


def grow_files(mounted: Mounted, checkpoint: Checkpoint, geometry: Geometry) -> None:
    """Gives files the sizes that only the checkpoint knows.

    A file that was made longer by truncate, without data, need not have a new header. So the
    larger size counts if the checkpoint speaks of the same header and as many chunks.
    """
    for record in checkpoint.objects:
        obj = mounted.objects.get(record.object_id)
        if obj is None or obj.object_type is not ObjectType.FILE or obj.header_at is None:
            continue
        chunk = (obj.header_at[0] + 1) * geometry.pages_per_block + obj.header_at[1]
        same = (record.object_type, record.header_chunk, record.data_chunks) == (
            ObjectType.FILE,
            chunk,
            len(obj.chunks),
        )
        if same and obj.size < record.size_or_target <= geometry.max_file_bytes:
            obj.grown_from, obj.size = obj.size, record.size_or_target


def newest_first(scan: FlashScan, kind: BlockKind) -> list[BlockRecord]:
    """The blocks of one kind, the newest first."""
    return sorted(
        scan.of_kind(kind), key=lambda record: (record.sequence, record.block), reverse=True
    )


def mount_tags(record: BlockRecord) -> Iterator[tuple[int, Tags]]:
    """Pages and tags of a block, last page first, as a mount reads them."""
    readable = {
        scanned.page: scanned.tags
        for scanned in record.pages
        if scanned.readable and scanned.tags.sequence == record.sequence
    }
    if not record.summary_valid or record.summary is None:
        yield from sorted(readable.items(), reverse=True)
        return
    entries = record.summary.entries
    for page in range(len(entries) - 1, -1, -1):
        if entries[page][0]:
            yield page, record.tags_with(entries[page])
        elif page in readable:
            yield page, readable[page]
