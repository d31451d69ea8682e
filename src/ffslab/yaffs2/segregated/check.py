"""Checks of what only the segregated layout has: kinds of blocks, heads, indexes, the horizon.

Every head in a metadata block is checked, also those that newer ones have replaced; of indexes
only what is in force. What the mount scan noticed (`mount.py`, flaws) is reported here.

Interpretations: a header under 4 may have flags. The bound of the horizon counts data blocks from
the horizon's on, and is a warning: nothing is lost by it.
"""

from __future__ import annotations

from itertools import pairwise

from ffslab.yaffs2.check_headers import PageCheck
from ffslab.yaffs2.format import (
    CHUNK_ID_MAX,
    ID_DELETED,
    ID_FIRST_ORDINARY,
    ID_MAX,
    ID_SUMMARY,
    ObjectType,
)
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.mount import mount_tags
from ffslab.yaffs2.problems import Problems, Where
from ffslab.yaffs2.scan import LOG_KINDS, BlockKind, BlockRecord, FlashScan
from ffslab.yaffs2.segregated.check_ids import check_ids
from ffslab.yaffs2.segregated.head import (
    CUTS_MAX,
    FLAG_INDEX,
    FLAG_LOST,
    FLAG_TAIL,
    Head,
    HeadState,
    piece_chunks,
)
from ffslab.yaffs2.segregated.marks import PAGES_MAX, POSITION_PAGES
from ffslab.yaffs2.segregated.mount import SegregatedMounted, names_lost_chunk
from ffslab.yaffs2.tags import Tags

_PIECE_SPARE = 3 << 28
_LOOKED_AT_LEAST = 8


def check_refusal(scan: FlashScan, mounted: SegregatedMounted, problems: Problems) -> bool:
    """Whether the partition must not be read; says why."""
    if scan.geometry.pages_per_block > PAGES_MAX:
        message = f"{scan.geometry.pages_per_block} pages; {PAGES_MAX} are possible"
        problems.add("layout-pages", message)
    if not mounted.refused:
        return False
    for address, head in mounted.heads.items():
        if head.state is HeadState.VERSION:
            message = f"has version {head.version}; the partition is not read"
            problems.add("layout-version", message, Where(*address))
    return True


def check_segregated(
    flash: FlashImage, scan: FlashScan, mounted: SegregatedMounted, problems: Problems
) -> None:
    """All rules that the original layout does not have."""
    for record in scan.of_kind(*LOG_KINDS):
        _check_kinds(scan, record, problems)
    for record in scan.of_kind(BlockKind.METADATA):
        for page, tags in mount_tags(record):
            head = mounted.heads.get((record.block, page))
            if head is not None:
                where = Where(record.block, page, tags.object_id)
                _HeadCheck(flash, tags, head, problems, where).run()
    for flaw in mounted.flaws:
        problems.add(flaw.rule, flaw.message, flaw.where)
    for object_id, file in sorted(mounted.files.items()):
        for piece in file.pieces.values():
            if piece.head.good and names_lost_chunk(file, piece):
                where = Where(*piece.place, object_id)
                problems.add("index-lost", f"piece {piece.number} has a chunk of 0 bytes", where)
    _check_horizon(scan, mounted, problems)
    check_ids(flash, scan, mounted.ids, problems)


def _check_kinds(scan: FlashScan, record: BlockRecord, problems: Problems) -> None:
    """Which pages are in which kind of block, and what their tags say of the kind."""
    in_metadata = record.kind is BlockKind.METADATA
    largest_piece = CHUNK_ID_MAX // piece_chunks(scan.geometry.data_bytes)
    for scanned in record.pages:
        tags = scanned.tags
        if not scanned.readable or tags.sequence != record.sequence or not _is_object(tags):
            continue
        where = Where(record.block, scanned.page, tags.object_id)
        if tags.in_metadata != in_metadata:
            said = _kind_name(metadata=tags.in_metadata)
            problems.add("block-kind", f"says that it is in a {said} block", where)
        if tags.object_id == ID_SUMMARY:
            continue
        if not (tags.is_header or tags.chunk_id or tags.piece is not None):
            problems.add("tags-chunk-id", "has chunk id 0, and is no header", where)
        elif bool(tags.chunk_id) is in_metadata:
            content = "a data chunk" if tags.chunk_id else "a header or index page"
            message = f"is {content} in a {_kind_name(metadata=in_metadata)} block"
            problems.add("block-kind", message, where)
        if tags.piece is not None:
            if tags.piece > largest_piece or tags.chunk_word & _PIECE_SPARE:
                problems.add("tags-piece", f"has chunk word {tags.chunk_word:#x}", where)
            if tags.object_id < ID_FIRST_ORDINARY:
                message = f"is an index page of object {tags.object_id}"
                problems.add("reserved-object", message, where)


def _is_object(tags: Tags) -> bool:
    return 0 < tags.object_id <= ID_MAX


def _kind_name(*, metadata: bool) -> str:
    return "metadata" if metadata else "data"


def _check_horizon(scan: FlashScan, mounted: SegregatedMounted, problems: Problems) -> None:
    first = mounted.horizon // POSITION_PAGES
    looked_at = sum(record.sequence >= first for record in scan.of_kind(BlockKind.DATA))
    most = max(_LOOKED_AT_LEAST, len(scan.blocks) // 2) + 2
    if looked_at > most:
        message = f"a mount looks at the data pages of {looked_at} blocks; {most} are allowed"
        problems.add("horizon-far", message)


class _HeadCheck(PageCheck):
    """One head against the rules."""

    def __init__(
        self, flash: FlashImage, tags: Tags, head: Head, problems: Problems, where: Where
    ) -> None:
        super().__init__(flash, tags, problems, where)
        self._head = head

    def run(self) -> None:
        head = self._head
        if head.state is HeadState.MAGIC:
            self._add("head-magic", f"has no magic number at byte {head.start}")
            return
        if head.state is HeadState.CRC:
            self._add("head-crc", f"its bytes from {head.start} on have another CRC")
            return
        if head.flags & ~(FLAG_INDEX | FLAG_TAIL | FLAG_LOST):
            self._add("head-fields", f"has flags {head.flags:#x}")
        if head.horizon > head.now:
            self._add("head-fields", f"its horizon, {head.horizon:#x}, is behind {head.now:#x}")
        if self._tags.is_header:
            self._check_header()
        else:
            self._check_index()
        self._check_padding()

    def _check_header(self) -> None:
        head, tags = self._head, self._tags
        is_file = tags.type_number == ObjectType.FILE
        for name, value in (("piece", head.piece), ("size", head.size)):
            if value:
                self._add("head-fields", f"has {name} {value} in a header")
        if head.attribute_bytes % 4:
            self._add("head-fields", f"has {head.attribute_bytes} bytes of attributes")
        if head.entries and not head.has_index:
            self._add("head-fields", f"has {head.entries} entries and no flag for them")
        if not is_file and (head.entries or head.flags):
            self._add("head-fields", "has an index, and is not of a file")
        elif tags.parent_id == ID_DELETED and head.entries:
            self._add("head-fields", f"has {head.entries} entries, and is deleted")
        if head.cut_count > CUTS_MAX:
            self._add("head-cuts", f"has {head.cut_count} cuts")
            return
        is_deleted = tags.parent_id == ID_DELETED
        if is_file and not is_deleted and not head.cut_count:
            self._add("head-cuts", "is of a file, and has no cut")
        elif head.cut_count and (is_deleted or not is_file):
            kind = "of a deleted object" if is_deleted else "not of a file"
            self._add("head-cuts", f"is {kind}, and has cuts")
        if any(map(any, head.cut_fields[head.cut_count :])):
            self._add("head-cuts", "has bytes in cuts that are not used")
        self._check_cuts()

    def _check_cuts(self) -> None:
        cuts = self._head.cuts
        for cut in cuts:
            if cut.reserved or cut.chunks > CHUNK_ID_MAX:
                self._add("head-cuts", f"a cut has {cut.chunks} chunks and {cut.reserved:#x}")
            if cut.position > self._head.now:
                message = f"a cut at {cut.position:#x} is behind now, {self._head.now:#x}"
                self._add("head-cuts", message)
        for earlier, other in pairwise(cuts):
            if other.position <= earlier.position or other.chunks <= earlier.chunks:
                message = f"{other.chunks} at {other.position:#x} follows {earlier.chunks} at "
                self._add("head-cuts", message + f"{earlier.position:#x}")

    def _check_index(self) -> None:
        head, tags = self._head, self._tags
        if head.piece != tags.piece:
            self._add("head-fields", f"is piece {head.piece}; its tags say {tags.piece}")
        if not head.has_index:
            self._add("head-fields", f"is an index page with flags {head.flags:#x}")
        if head.cut_count or head.attribute_bytes:
            self._add("head-fields", "is an index page with cuts or attributes")
        if head.entries > piece_chunks(self._flash.geometry.data_bytes):
            self._add("head-fields", f"has {head.entries} entries")
        size = self._flash.geometry.data_bytes
        if tags.bytes_word != size:
            self._add("head-fields", f"its tags say {tags.bytes_word} bytes, not {size}")

    def _check_padding(self) -> None:
        head = self._head
        page = self._flash.data(self._where.block or 0, self._where.page or 0)
        if head.entries and not head.entries_of(page)[-1]:
            self._add("head-padding", f"the last of its {head.entries} entries is a hole")
        if page[head.used_bytes :].strip(b"\xff"):
            self._add("head-padding", f"there are bytes behind byte {head.used_bytes}")
