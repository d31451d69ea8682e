"""Checks of a checkpoint of the segregated layout against what a scan of the flash finds.

Before it every piece was written, so all live data are named by the index pages and headers that
it lists. Interpretations: an index page without an entry in force may be listed and in use or
not. The shrink mark of a block is that of a metadata block with a header under 3 or 4; such a
block need not be marked. An unlinked file that is open has its pages in use. The highest id may be
that of a page that was erased since.
"""

from __future__ import annotations

from ffslab.yaffs2.check_checkpoint import CheckpointCheck
from ffslab.yaffs2.checkpoint_read import MetadataRecord, ObjectRecord
from ffslab.yaffs2.format import ID_MAX
from ffslab.yaffs2.mount import FoundObject, Place
from ffslab.yaffs2.problems import Where
from ffslab.yaffs2.scan import LOG_KINDS, BlockKind, BlockRecord
from ffslab.yaffs2.segregated.check_ids import highest_id
from ffslab.yaffs2.segregated.head import piece_chunks
from ffslab.yaffs2.segregated.mount import FileIndex, SegregatedMounted


class SegregatedCheckpointCheck(CheckpointCheck):
    """What differs: a second open block, horizon, ids, marks of blocks, index pages."""

    @property
    def _facts(self) -> SegregatedMounted:
        assert isinstance(self._mounted, SegregatedMounted)
        return self._mounted

    def _allocations(self) -> list[tuple[int, int]]:
        metadata = self._checkpoint.device.metadata
        opened = super()._allocations()
        return [*opened, (metadata.alloc_block, metadata.alloc_page)] if metadata else opened

    def _check_device(self) -> None:
        super()._check_device()
        metadata = self._checkpoint.device.metadata
        if metadata is None:
            return
        if metadata.horizon < self._facts.horizon:
            message = f"the horizon is {metadata.horizon:#x}, on flash {self._facts.horizon:#x}"
            self._problems.add("checkpoint-device", message)
        for (internal, _), kind in zip(self._allocations(), LOG_KINDS, strict=True):
            if 0 < internal <= len(self._scan.blocks):
                record = self._scan.blocks[internal - 1]
                if record.kind is not kind and not record.passes_for_empty:
                    message = f"is the open {kind.value} block, on flash {record.kind.value}"
                    self._problems.add("checkpoint-device", message, Where(record.block))
        self._check_ids(metadata)

    def _check_ids(self, metadata: MetadataRecord) -> None:
        """The highest id, and that of each part the block with its newest version is named."""
        highest = highest_id(self._scan)
        if not highest < metadata.id_limit <= ID_MAX + 1:
            message = f"the highest id is {metadata.id_limit - 1}, on flash {highest}"
            self._problems.add("checkpoint-ids", message)
        newest = self._facts.ids.newest
        for number, internal in enumerate(metadata.part_blocks):
            version = newest.get(number)
            expected = version.record.block + 1 if version else 0
            if internal != expected:
                message = f"part {number} of the ids is in internal block {internal}, "
                message += f"on flash in {expected}" if version else "on flash in none"
                self._problems.add("checkpoint-ids", message)

    def _check_block(self, record: BlockRecord) -> None:
        super()._check_block(record)
        marked = self._checkpoint.infos[record.block].is_metadata
        said = BlockKind.METADATA if marked else BlockKind.DATA
        if record.kind in LOG_KINDS and record.kind is not said:
            message = f"is a {said.value} block, on flash {record.kind.value}"
            self._problems.add("checkpoint-block", message, Where(record.block))
        soft_deleted = self._checkpoint.infos[record.block].soft_deleted
        if soft_deleted:
            message = f"bits 1 to 9 of its first word are {soft_deleted:#x}, not 0"
            self._problems.add("checkpoint-block", message, Where(record.block))

    def _check_shrink(self, record: BlockRecord, marked: bool) -> None:
        if marked and record.block not in self._mounted.shrink_blocks:
            message = "is marked as having a header of a deleted object, and has none"
            self._problems.add("checkpoint-flags", message, Where(record.block))

    def _used_places(self, record: ObjectRecord) -> list[Place]:
        places = [self._place(record.header_chunk)] if record.header_chunk else []
        places += [self._place(piece.chunk) for piece in record.pieces]
        file = self._facts.files.get(record.object_id)
        if file is not None:
            places += [(chunk.block, chunk.page) for chunk in file.obj.chunks.values()]
        return [*places, *self._facts.unlinked.get(record.object_id, ())]

    def _is_believed_full(self, record: BlockRecord) -> bool:
        """A mount does not look at data blocks behind the horizon: they may have a summary."""
        return record.kind is BlockKind.DATA and self._checkpoint.infos[record.block].has_summary

    def _may_be_used(self, address: Place) -> bool:
        return address in self._facts.spare_pages

    def _choose_width(self) -> int:
        return 0  # there are no leaves

    def _check_leaves(self, record: ObjectRecord, obj: FoundObject, where: Where) -> None:
        """The index pages, and that they have all data."""
        del obj
        file = self._facts.files.get(record.object_id)
        if file is None:
            return
        listed = {piece.piece: piece for piece in record.pieces}
        if len(listed) != len(record.pieces):
            self._problems.add("checkpoint-piece", "a piece is listed twice", where)
        for number, piece in listed.items():
            scanned = file.pieces.get(number)
            if scanned is None or scanned.in_header:
                message = f"piece {number} is at {piece.chunk}, and no page has it"
                self._problems.add("checkpoint-piece", message, where)
            elif self._place(piece.chunk) != scanned.place:
                message = f"piece {number} is at {piece.chunk}, on flash at block "
                message += f"{scanned.place[0]} page {scanned.place[1]}"
                self._problems.add("checkpoint-piece", message, where)
            elif scanned.head.good and piece.flags != scanned.head.flags:
                message = f"piece {number} has flags {piece.flags}, on flash {scanned.head.flags}"
                self._problems.add("checkpoint-piece", message, where)
        self._check_unlisted(file, set(listed), where)

    def _check_unlisted(self, file: FileIndex, listed: set[int], where: Where) -> None:
        for number, piece in file.pieces.items():
            if number in listed or piece.in_header or piece.place in self._facts.spare_pages:
                continue
            self._problems.add("checkpoint-piece", f"piece {number} is not listed", where)
        unwritten = {chunk_id // piece_chunks(self._geometry.data_bytes) for chunk_id in file.newer}
        for number in sorted(unwritten):
            message = f"piece {number} was not written: data are newer than it"
            self._problems.add("checkpoint-piece", message, where)
