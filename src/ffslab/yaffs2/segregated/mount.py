"""The mount scan of the segregated layout: headers and index pages first, then newer data.

Every page's tags are known here, so more is found than a mount looks for: what an index should
have and has not, and what pages really are that an entry names. Such things are `flaws`; the
files are those that a mount finds. Interpretations where the specification leaves room:

- What is void (`voids.py`) is passed over as dead pages are. A void object is not shadowed either.
- The horizon is that of the newest headers of files and index pages, which a mount reads.
- A page that two entries name belongs to the one that the page's tags agree with, else to that
  of the lower object id and chunk id.
- An entry that names a page which its tags contradict is believed, as a mount does not look.
- A header whose head cannot be read has no cuts, and piece 0 is sought by tags unless an index
  page of it is newer. Its object header and its tags are believed; the size is that of the header.
- Pages below the horizon in the horizon's own block are looked at, as a mount reads whole blocks.
- A page behind which nothing was written in its block may have been torn: that no index has it,
  or has an older page of its chunk, is no flaw.
- An entry that names a page which is not written, or a block summary, is none either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ffslab.yaffs2.format import CHUNK_ID_MAX, GRAVES, ID_MAX, ID_SUMMARY, ID_UNLINKED, ObjectType
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.mount import (
    Chunk,
    FoundObject,
    Mounted,
    MountScan,
    Place,
    mount_tags,
    newest_first,
)
from ffslab.yaffs2.problems import Where
from ffslab.yaffs2.scan import BlockKind, BlockRecord, FlashScan
from ffslab.yaffs2.segregated.head import (
    FLAG_LOST,
    FLAG_TAIL,
    Cut,
    Head,
    HeadState,
    parse_head,
    piece_chunks,
)
from ffslab.yaffs2.segregated.marks import POSITION_PAGES, position_of
from ffslab.yaffs2.segregated.voids import ObjectIds, read_ids
from ffslab.yaffs2.tags import Tags


class Flaw(NamedTuple):
    """A rule that the index does not keep, and where."""

    rule: str
    message: str
    where: Where


@dataclass(frozen=True, slots=True)
class Piece:
    """The newest version of a piece of an index, in an index page or in the header itself."""

    number: int
    place: Place
    head: Head
    in_header: bool = False

    @property
    def position(self) -> int:
        """Q of the specification: what is not older may be newer than the entries."""
        return self.head.now if self.head.good else 0

    def entry_holds(self, chunk_id: int, cuts: tuple[Cut, ...]) -> bool:
        """Whether an entry of this piece survives the cuts of the file."""
        if self.in_header:
            return True
        return not any(self.position <= cut.position and chunk_id > cut.chunks for cut in cuts)


@dataclass(frozen=True, slots=True)
class DataPage:
    """The newest page of a chunk by its tags."""

    place: Place
    position: int
    byte_count: int
    maybe_torn: bool  # nothing was written behind it in its block


@dataclass(slots=True)
class FileIndex:
    """What is known of one file: its pieces by number, pages by chunk id."""

    obj: FoundObject
    head: Head
    pieces: dict[int, Piece] = field(default_factory=dict)
    newest: dict[int, DataPage] = field(default_factory=dict)  # that no cut has killed
    newer: dict[int, DataPage] = field(default_factory=dict)  # than the entry: rule 2
    named: dict[int, tuple[int, Piece]] = field(default_factory=dict)  # entries in force

    def cuts_off(self, position: int, chunk_id: int) -> bool:
        """Whether a page is dead because the file was shortened later."""
        return any(position < cut.position and chunk_id > cut.chunks for cut in self.head.cuts)


@dataclass(frozen=True, slots=True)
class SegregatedMounted(Mounted):
    """Adds all heads by place, the files' indexes, the horizon (a position) and the flaws.

    `ids` are the parts that say which objects there are, `void_pages` those headers and index
    pages that are void by them.
    `spare_pages` are newest index pages of which no entry holds any more. `unlinked` are the data
    pages of unlinked files by object id: no mount keeps them. `refused` says why the partition
    must not be read; then there are no objects.
    """

    heads: dict[Place, Head]
    files: dict[int, FileIndex]
    spare_pages: frozenset[Place]
    unlinked: dict[int, frozenset[Place]]
    horizon: int
    ids: ObjectIds
    void_pages: frozenset[Place]
    flaws: tuple[Flaw, ...]
    refused: str


def mount_segregated(flash: FlashImage, scan: FlashScan) -> SegregatedMounted:
    """The objects that a mount without checkpoint finds."""
    return _SegregatedScan(flash, scan).mount()


class _SegregatedScan(MountScan):
    def __init__(self, flash: FlashImage, scan: FlashScan) -> None:
        super().__init__(flash)
        self._scan = scan
        self._chunks = piece_chunks(flash.geometry.data_bytes)
        self._ids = read_ids(flash, scan)
        self._order = 0  # rises from the newest metadata page to the oldest
        self._header_order: dict[int, int] = {}
        self._index_pages: dict[int, dict[int, tuple[int, Place]]] = defaultdict(dict)
        self._heads: dict[Place, Head] = {}
        self._void: set[Place] = set()
        self._horizon = 0
        self._files: dict[int, FileIndex] = {}
        self._data_tags: dict[Place, Tags] = {}
        self._owners: dict[Place, tuple[int, int]] = {}
        self._spare: set[Place] = set()
        self._unlinked: dict[int, frozenset[Place]] = {}
        self._flaws: list[Flaw] = []

    def mount(self) -> SegregatedMounted:
        for record in newest_first(self._scan, BlockKind.METADATA):
            for page, tags in mount_tags(record):
                self._order += 1
                self._take_metadata(record, page, tags)
            self._take_summary(record)
        refused = self._refusal()
        if refused:
            self._objects.clear()
        self._add_fakes()
        self._settle()
        if not refused:
            self._find_files()
            self._read_data()
            for file in self._files.values():
                self._apply_tags(file)
            self._apply_entries()
            for file in self._files.values():
                self._set_size(file)
        return SegregatedMounted(
            self._objects,
            self._live() | self._live_index_pages(),
            self._summary_pages,
            self._shrink_blocks,
            self._heads,
            self._files,
            frozenset(self._spare),
            self._unlinked,
            self._horizon,
            self._ids,
            frozenset(self._void),
            tuple(self._flaws),
            refused,
        )

    def _add_flaw(self, rule: str, message: str, object_id: int, address: Place) -> None:
        self._flaws.append(Flaw(rule, message, Where(*address, object_id)))

    # --- metadata blocks ---

    def _take_metadata(self, record: BlockRecord, page: int, tags: Tags) -> None:
        block, object_id, piece = record.block, tags.object_id, tags.piece
        if not 0 < object_id <= ID_MAX or object_id == ID_SUMMARY:
            return
        if not tags.is_header and piece is None:
            return
        data = self._flash.data(block, page)
        self._heads[block, page] = parse_head(data, in_header=tags.is_header)
        if self._ids.voids(record, object_id):
            self._void.add((block, page))
            if tags.is_header and tags.parent_id in GRAVES:
                self._shrink_blocks.add(block)
        elif piece is not None:
            if piece not in self._index_pages[object_id]:
                self._index_pages[object_id][piece] = (self._order, (block, page))
                self._count_horizon((block, page))
        else:
            self._take(block, page, tags)
            obj = self._objects.get(object_id)
            if obj is not None and obj.header_at == (block, page):
                self._header_order[object_id] = self._order
                if obj.object_type is ObjectType.FILE:
                    self._count_horizon((block, page))

    def _count_horizon(self, address: Place) -> None:
        """A mount reads this head."""
        if self._heads[address].good:
            self._horizon = max(self._horizon, self._heads[address].horizon)

    def _shrink(self, obj: FoundObject, limit: int) -> None:
        """Cuts say what is dead; headers under 3 and 4 do not."""

    def _shadow(self, block: int, object_id: int) -> None:
        if not self._ids.voids(self._scan.blocks[block], object_id):
            super()._shadow(block, object_id)

    def _refusal(self) -> str:
        versions = {
            head.version for head in self._heads.values() if head.state is HeadState.VERSION
        }
        if not versions:
            return ""
        return f"version {min(versions)}; only version 1 is known"

    def _find_files(self) -> None:
        for object_id, obj in self._objects.items():
            if obj.header_at is None:
                continue
            head = self._heads[obj.header_at]
            obj.attributes = head.attributes
            if obj.object_type is not ObjectType.FILE:
                continue
            if obj.parent_id not in GRAVES:
                self._files[object_id] = self._index_of(obj, obj.header_at, head)
            elif obj.parent_id == ID_UNLINKED:
                file = self._index_of(obj, obj.header_at, head)
                self._unlinked[object_id] = frozenset(
                    self._place(entry)
                    for piece in file.pieces.values()
                    for _, entry in self._entries(file, piece)
                )

    def _index_of(self, obj: FoundObject, header_at: Place, head: Head) -> FileIndex:
        """The newest version of each piece."""
        file = FileIndex(obj, head)
        pages = self._index_pages.get(obj.object_id, {})
        for number, (_, address) in pages.items():
            file.pieces[number] = Piece(number, address, self._heads[address])
        newer_page = 0 in pages and pages[0][0] < self._header_order[obj.object_id]
        if (head.has_index or not head.good) and not newer_page:
            file.pieces[0] = Piece(0, header_at, head, in_header=True)
        return file

    # --- data blocks ---

    def _read_data(self) -> None:
        for record in newest_first(self._scan, BlockKind.DATA):
            for page, tags in mount_tags(record):
                self._data_tags[record.block, page] = tags
                if tags.chunk_id and tags.byte_count <= self._data_bytes:
                    self._read_page(record, page, tags)
            self._take_summary(record)

    def _read_page(self, record: BlockRecord, page: int, tags: Tags) -> None:
        position = position_of(record.sequence, page)
        file = self._files.get(tags.object_id)
        if file is None:
            self._note_stranger(tags, position)
            return
        if tags.chunk_id in file.newest or file.cuts_off(position, tags.chunk_id):
            return
        if not file.head.good and (tags.chunk_id - 1) * self._data_bytes >= file.obj.limit:
            return
        maybe_torn = page == record.last_page
        data_page = DataPage((record.block, page), position, tags.byte_count, maybe_torn)
        file.newest[tags.chunk_id] = data_page

    def _note_stranger(self, tags: Tags, position: int) -> None:
        """Data of what is no file are those of an earlier life of the id, if they are older."""
        obj = self._objects.get(tags.object_id)
        if obj is None or obj.header_at is None or obj.parent_id in GRAVES:
            return
        head = self._heads[obj.header_at]
        if head.good and position >= head.now:
            obj.data_before_type = True

    # --- which page is which chunk ---

    def _apply_tags(self, file: FileIndex) -> None:
        """Rule 2: pages that are newer than the entry."""
        object_id = file.obj.object_id
        for chunk_id, page in file.newest.items():
            piece = file.pieces.get(chunk_id // self._chunks)
            broken = piece is not None and not piece.head.good
            if page.position < (piece.position if piece else 0):
                continue
            sought = broken or not file.head.good
            if page.position < self._horizon and not sought and not page.maybe_torn:
                message = f"is chunk {chunk_id}, is older than the horizon, and no index has it"
                self._add_flaw("index-missing", message, object_id, page.place)
            looked_at = page.position // POSITION_PAGES >= self._horizon // POSITION_PAGES
            if looked_at or broken:
                file.newer[chunk_id] = page
                self._give(file, chunk_id, page.place, page.byte_count)

    def _apply_entries(self) -> None:
        """Rule 1: entries, those first that the tags of their pages agree with."""
        doubted = []
        for object_id, file in sorted(self._files.items()):
            for piece in file.pieces.values():
                for chunk_id, entry in self._entries(file, piece):
                    if chunk_id not in file.newer:
                        file.named[chunk_id] = (entry, piece)
            for chunk_id, (entry, _) in sorted(file.named.items()):
                tags = self._data_tags.get(self._place(entry))
                if tags and (tags.object_id, tags.chunk_id) == (object_id, chunk_id):
                    self._apply_entry(file, chunk_id, entry)
                else:
                    doubted.append((file, chunk_id, entry))
        for file, chunk_id, entry in doubted:
            self._apply_entry(file, chunk_id, entry)

    def _entries(self, file: FileIndex, piece: Piece) -> Iterator[tuple[int, int]]:
        """Chunk ids and entries that hold; a piece without any is spare."""
        if not piece.head.good:
            return
        page = self._flash.data(*piece.place)
        held = False
        for number, entry in enumerate(piece.head.entries_of(page)):
            chunk_id = piece.number * self._chunks + number
            if chunk_id > CHUNK_ID_MAX:
                break  # the tags have no such chunk
            if entry and piece.entry_holds(chunk_id, file.head.cuts):
                held = True
                yield chunk_id, entry
        if not held and not piece.in_header:
            self._spare.add(piece.place)

    def _place(self, chunk: int) -> Place:
        block, page = divmod(chunk, self._flash.geometry.pages_per_block)
        return block - 1, page

    def _apply_entry(self, file: FileIndex, chunk_id: int, entry: int) -> None:
        object_id, address = file.obj.object_id, self._place(entry)
        piece = file.named[chunk_id][1]
        problem = self._entry_problem(chunk_id, address, piece.position)
        if problem:
            message = f"chunk {chunk_id} is at {entry:#x}, which {problem}"
            self._add_flaw("index-entry", message, object_id, piece.place)
            return
        if address in self._owners:
            owner = "chunk {1} of object {0}".format(*self._owners[address])
            self._add_flaw("index-twice", f"is chunk {chunk_id}, and {owner}", object_id, address)
            return
        tags = self._data_tags.get(address)
        byte_count = max(
            0, min(self._data_bytes, file.obj.size - (chunk_id - 1) * self._data_bytes)
        )
        if tags is None:
            message = f"is chunk {chunk_id}, and its tags cannot be read"
            self._add_flaw("index-tags", message, object_id, address)
        elif (tags.object_id, tags.chunk_id) != (object_id, chunk_id):
            message = (
                f"is chunk {chunk_id} by the index, chunk {tags.chunk_id} of object "
                f"{tags.object_id} by its tags"
            )
            self._add_flaw("index-tags", message, object_id, address)
        else:
            byte_count = min(tags.byte_count, self._data_bytes)
            self._check_age(file, chunk_id, address, piece)
        self._give(file, chunk_id, address, byte_count)

    def _entry_problem(self, chunk_id: int, address: Place, piece_position: int) -> str:
        if not chunk_id:
            return "names a page for chunk 0"
        if not 0 <= address[0] < len(self._scan.blocks):
            return "is behind the partition"
        record = self._scan.blocks[address[0]]
        if record.kind is not BlockKind.DATA:
            return f"is in a block without data ({record.kind.value})"
        if position_of(record.sequence, address[1]) >= piece_position:
            return "is not older than the index"
        if not any(scanned.page == address[1] for scanned in record.pages):
            return "is not written"
        if address in self._summary_pages:
            return "is a block summary"
        return ""

    def _check_age(self, file: FileIndex, chunk_id: int, address: Place, piece: Piece) -> None:
        newest = file.newest.get(chunk_id)
        if newest is None or newest.place == address or newest.maybe_torn:
            return
        if newest.position < piece.position:
            message = f"is chunk {chunk_id}, and its index has an older page"
            self._add_flaw("index-stale", message, file.obj.object_id, newest.place)

    def _give(self, file: FileIndex, chunk_id: int, address: Place, byte_count: int) -> None:
        self._owners[address] = (file.obj.object_id, chunk_id)
        position = position_of(self._scan.blocks[address[0]].sequence, address[1])
        unflushed = file.head.good and position >= file.head.now
        file.obj.chunks[chunk_id] = Chunk(*address, byte_count, unflushed)

    def _set_size(self, file: FileIndex) -> None:
        obj, head = file.obj, file.head
        for piece in file.pieces.values():
            if head.good and piece.head.good and piece.head.now > head.now and not piece.in_header:
                obj.size = max(obj.size, min(piece.head.size, self._max))
        for chunk_id, chunk in obj.chunks.items():
            end = (chunk_id - 1) * self._data_bytes + chunk.byte_count
            if chunk.unflushed and chunk_id in file.newer:
                obj.size = max(obj.size, end)
            elif obj.size < obj.limit:  # tags and header have two sizes, so the data tell
                obj.size = max(obj.size, min(end, obj.limit))
        last = file.pieces.get(-(-obj.size // self._data_bytes) // self._chunks)
        flags = head.flags | (last.head.flags if last and last.head.good else 0)
        obj.has_tail = head.good and bool(flags & FLAG_TAIL)

    def _live_index_pages(self) -> set[Place]:
        return {
            piece.place
            for file in self._files.values()
            for piece in file.pieces.values()
            if piece.place not in self._spare
        }


def names_lost_chunk(file: FileIndex, piece: Piece) -> bool:
    """Whether a piece has an entry in force that names a data page of 0 bytes, and says so not."""
    if piece.head.flags & FLAG_LOST:
        return False
    chunks = file.obj.chunks
    return any(
        named is piece and chunk_id in chunks and not chunks[chunk_id].byte_count
        for chunk_id, (_, named) in file.named.items()
    )
