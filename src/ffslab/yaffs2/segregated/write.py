"""Writing an image of the segregated layout: two logs in one file, indexes beside the headers.

A block stands in the file where the number of its beginning puts it, so an open metadata block and
an open data block are filled in turn. Every file begins with the cut (now, 0); all its index pages
come before its header, which holds the index itself if it fits. The horizon is always now. The
summary of a metadata block has a part of the ids of those objects that have a page by then.

Interpretations: a piece in which nothing is stored has no index page, an empty file has an empty
index in its header, and what is no file has no cuts.
"""

from __future__ import annotations

from typing import BinaryIO

from ffslab.yaffs2.checkpoint_write import MetadataFields, PieceFields, WrittenObject
from ffslab.yaffs2.format import Geometry, Layout, ObjectType
from ffslab.yaffs2.header import UNSET, HeaderFields, pack_header
from ffslab.yaffs2.segregated.head import (
    FLAG_INDEX,
    Cut,
    HeadFields,
    attribute_room,
    header_chunks,
    pack_header_page,
    pack_index_page,
    padded_attributes,
    piece_chunks,
)
from ffslab.yaffs2.segregated.ids import WrittenIds
from ffslab.yaffs2.segregated.marks import (
    SegregatedTags,
    index_tags,
    position_of,
)
from ffslab.yaffs2.summary import pack_summary
from ffslab.yaffs2.tags import Tags, header_tags
from ffslab.yaffs2.writer import FIRST_SEQUENCE, LogFile, WrittenBlock, raw_page


class SegregatedLog(LogFile):
    """The two logs of an image; `pad` completes their blocks with erased pages.

    A limit of blocks does not stop the writer, as in `LogWriter`.
    """

    def __init__(
        self, file: BinaryIO, geometry: Geometry, *, summaries: bool = True, max_blocks: int = 0
    ) -> None:
        super().__init__(file, geometry, summaries=summaries, max_blocks=max_blocks)
        self.ids = WrittenIds(geometry)
        self._newest = FIRST_SEQUENCE - 1
        self._open: dict[bool, int] = {}  # whether of metadata: index of the block
        self._appended = 0

    @property
    def now(self) -> int:
        """The position that the next data page will have."""
        number = self._open.get(False)
        if number is None:
            return position_of(self._newest + 1, 0)
        block = self.blocks[number]
        return position_of(block.sequence, block.pages)

    def prepare(self, *, metadata: bool) -> None:
        """Begins a block of that kind if none is open: *now* does not change before a write."""
        if metadata not in self._open:
            self._newest += 1
            self._open[metadata] = len(self.blocks)
            self.blocks.append(WrittenBlock(self._newest, is_metadata=metadata))

    def write(self, words: tuple[int, int, int], data: bytes, *, metadata: bool) -> int:
        """Writes a page; its internal chunk number. `words` are as in the original layout."""
        self.prepare(metadata=metadata)
        number = self._open[metadata]
        block = self.blocks[number]
        chunk = (number + 1) * self.geometry.pages_per_block + block.pages
        tags = SegregatedTags(block.sequence, *words, metadata=metadata)
        block.tags.append(tags)
        if metadata:
            self.ids.note(tags)
        self._page(number, tags, data)
        if block.pages == self._usable:
            self._finish(number)
            del self._open[metadata]
        return chunk

    def _finish(self, number: int) -> None:
        block = self.blocks[number]
        if not self._summaries:
            return
        pages = pack_summary(self.geometry, number + 1, block.sequence, block.tags)
        if block.is_metadata:
            last_tags, entries = pages[-1]
            pages[-1] = (last_tags, entries + self.ids.next_part(number + 1, self.now))
        for tags, content in pages:
            marked = SegregatedTags(tags.sequence, *tags.words, metadata=block.is_metadata)
            self._page(number, marked, content)
        block.has_summary = True

    def _page(self, number: int, tags: Tags, data: bytes) -> None:
        block = self.blocks[number]
        if not self._max_blocks or number < self._max_blocks:
            self._file.seek(self._at(number, block.pages))
            self._file.write(raw_page(self.geometry, tags, data))
        block.pages += 1

    def _at(self, number: int, page: int) -> int:
        return number * self.geometry.raw_block_bytes + page * self.geometry.raw_page_bytes

    def pad(self) -> None:
        """Erased pages where no page was written."""
        for number, block in enumerate(self.blocks):
            if block.pages < self.geometry.pages_per_block:
                self._file.seek(self._at(number, block.pages))
                self._file.write(self._blank * (self.geometry.pages_per_block - block.pages))

    def append_block(self, pages: list[tuple[Tags, bytes]]) -> None:
        """A block with these pages, behind the logs (a checkpoint)."""
        self._file.seek(self._at(len(self.blocks) + self._appended, 0))
        super().append_block(pages)
        self._appended += 1


class SegregatedStore:
    """Turns objects into pages of the two logs; the counterpart of `OriginalStore`."""

    layout = Layout.SEGREGATED

    def __init__(self, log: SegregatedLog) -> None:
        self.log = log
        self._born = 0
        self._piece_chunks = piece_chunks(log.geometry.data_bytes)

    @property
    def attribute_room(self) -> int:
        """Bytes that the extended attributes of an object may take."""
        return attribute_room(self.log.geometry.data_bytes)

    @property
    def metadata(self) -> MetadataFields:
        """What a checkpoint says beside the device."""
        ids = self.log.ids
        return MetadataFields(self.log.now, ids.limit, tuple(ids.blocks))

    def begin_file(self) -> None:
        """What is older of the file's id is dead."""
        self._born = self.log.now

    def write_data(
        self, written: WrittenObject, chunk_id: int, byte_count: int, data: bytes
    ) -> None:
        words = (written.object_id, chunk_id, byte_count)
        written.chunks[chunk_id] = self.log.write(words, data, metadata=False)

    def write_header(self, fields: HeaderFields, written: WrittenObject, area: bytes) -> None:
        """The header, behind the index pages if the index does not fit into it."""
        attributes = padded_attributes(area)
        flags = 0
        cuts: tuple[Cut, ...] = ()
        entries: list[int] = []
        if fields.object_type is ObjectType.FILE:
            cuts = (Cut(self._born, 0),)
            entries = self._entries(written, 0, max(written.chunks, default=-1) + 1)
            if len(entries) <= header_chunks(self.log.geometry.data_bytes, len(attributes)):
                flags = FLAG_INDEX
            else:
                self._write_index(fields.size, written)
                entries = []
        self.log.prepare(metadata=True)
        now = self.log.now
        head = HeadFields(now, now, flags, cuts=cuts, attributes=attributes, entries=entries)
        words = header_tags(
            0,
            written.object_id,
            fields.object_type,
            fields.parent_id,
            size_or_target=written.size_or_target & UNSET,
        ).words
        page = pack_header_page(pack_header(fields), head)
        written.header_chunk = self.log.write(words, page, metadata=True)

    def _entries(self, written: WrittenObject, first: int, count: int) -> list[int]:
        return [written.chunks.get(chunk_id, 0) for chunk_id in range(first, first + count)]

    def _write_index(self, size: int, written: WrittenObject) -> None:
        lasts: dict[int, int] = {}
        for chunk_id in written.chunks:
            piece, number = divmod(chunk_id, self._piece_chunks)
            lasts[piece] = max(lasts.get(piece, 0), number)
        for piece, last in sorted(lasts.items()):
            entries = self._entries(written, piece * self._piece_chunks, last + 1)
            self.log.prepare(metadata=True)
            now = self.log.now
            page = pack_index_page(HeadFields(now, now, FLAG_INDEX, piece, size, entries=entries))
            data_bytes = self.log.geometry.data_bytes
            words = index_tags(0, written.object_id, piece, data_bytes).words
            chunk = self.log.write(words, page, metadata=True)
            written.pieces.append(PieceFields(piece, chunk, FLAG_INDEX))
