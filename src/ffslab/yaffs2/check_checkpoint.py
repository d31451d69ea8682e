"""Checks of a checkpoint against what a scan of the flash finds.

A checkpoint that a mount accepts is trusted: it must describe the flash. One that is not complete
(a live system, a power cut while it was written or erased) is a note. One that is complete and
not readable is a warning: a mount discards it and scans.

Interpretations. The device record is written before the checkpoint's own blocks are taken, so the
number of erased blocks may count them or not; their state may be empty or checkpoint. A block that
half an erase left without its first page is empty to a mount, and counted so, until it is erased
once more before it is written. Free chunks are those not in use, soft-deleted ones included, in
blocks that hold or can hold data. Objects with a deleted, soft-deleted or unlinked mark are not
compared with the scan, which deletes them; pages that are in use and belong to no object are those
of soft-deleted files, as many as the block's count says. A summary page may have been discarded.
Objects 1 to 4 may be listed or not. A file that grew without data (truncate) may have its size in
the checkpoint only: a mount by scan finds the old one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ffslab.yaffs2.checkpoint_read import (
    Checkpoint,
    CheckpointPage,
    FoundCheckpoint,
    ObjectRecord,
    entry_widths,
    unpack_leaf,
)
from ffslab.yaffs2.format import GRAVES, BlockState, Geometry, ObjectType
from ffslab.yaffs2.mount import FoundObject, Mounted, Place
from ffslab.yaffs2.problems import Problems, Where
from ffslab.yaffs2.scan import LOG_KINDS, BlockKind, BlockRecord, FlashScan, is_retired
from ffslab.yaffs2.tree import Fate, Tree

_STATES = {
    BlockKind.ERASED: (BlockState.EMPTY,),
    BlockKind.BAD: (BlockState.DEAD,),
    BlockKind.CHECKPOINT: (BlockState.CHECKPOINT, BlockState.EMPTY),
    BlockKind.DATA: (BlockState.FULL, BlockState.COLLECTING, BlockState.ALLOCATING),
    BlockKind.METADATA: (BlockState.FULL, BlockState.COLLECTING, BlockState.ALLOCATING),
}


def _states(record: BlockRecord) -> tuple[BlockState, ...]:
    """What its state may be; none: any."""
    if is_retired(record):
        return (BlockState.DEAD,)
    kind = BlockKind.ERASED if record.passes_for_empty else record.kind
    return _STATES.get(kind, ())


@dataclass(frozen=True, slots=True)
class CheckpointState:
    """What is there: "none", "incomplete", "invalid" or "valid"; blocks and pages it takes."""

    state: str
    blocks: int = 0
    pages: int = 0


def check_checkpoint(
    scan: FlashScan,
    stored: FoundCheckpoint,
    mounted: Mounted,
    tree: Tree,
    problems: Problems,
    checker: type[CheckpointCheck] | None = None,
) -> CheckpointState:
    """Compares the checkpoint with scan and mount; `checker` knows the layout."""
    there = scan.of_kind(BlockKind.CHECKPOINT)
    if not there:
        return CheckpointState("none")
    pages, error = stored.pages, stored.error
    if stored.parsed is None or error is not None:
        assert error is not None
        block = error.block if error.block >= 0 else there[0].block
        rule = "checkpoint-incomplete" if error.incomplete else "checkpoint-invalid"
        problems.add(rule, str(error), Where(block))
        state = "incomplete" if error.incomplete else "invalid"
        return CheckpointState(state, len(there), len(pages))
    used = sorted({page.block for page in pages})
    _check_place(scan, pages, problems)
    checker = checker or CheckpointCheck
    checker(scan, mounted, tree, stored.parsed, used, problems).run()
    return CheckpointState("valid", len(used), len(pages))


def _check_place(scan: FlashScan, pages: Sequence[CheckpointPage], problems: Problems) -> None:
    """The hints of all pages, blocks that no hint leads to, empty blocks in front."""
    used = {written.block for written in pages}
    for written in pages:
        hint = written.tags.object_word
        if not written.block + 1 < hint <= len(scan.blocks) + 1:
            message = f"says that the next one is at or behind internal block {hint}"
            problems.add("checkpoint-hint", message, Where(written.block, written.page))
    for record in scan.of_kind(BlockKind.CHECKPOINT):
        if record.block not in used:
            message = "is a checkpoint block that no hint leads to"
            problems.add("checkpoint-hint", message, Where(record.block))
    for record in scan.of_kind(BlockKind.ERASED):
        if record.block < max(used):
            message = f"is empty; the checkpoint reaches block {max(used)}"
            problems.add("checkpoint-place", message, Where(record.block))
            return


class CheckpointCheck:
    """A checkpoint of the original layout; that of the other one checks what differs."""

    def __init__(
        self,
        scan: FlashScan,
        mounted: Mounted,
        tree: Tree,
        checkpoint: Checkpoint,
        used: list[int],
        problems: Problems,
    ) -> None:
        self._scan = scan
        self._geometry: Geometry = scan.geometry
        self._mounted = mounted
        self._tree = tree
        self._checkpoint = checkpoint
        self._used = used
        self._problems = problems
        self._records = {record.object_id: record for record in checkpoint.objects}
        self._width = self._choose_width()

    def run(self) -> None:
        self._check_device()
        for record in self._scan.blocks:
            self._check_block(record)
        self._check_bitmaps()
        self._check_objects()

    # --- part 2 ---

    def _check_device(self) -> None:
        device = self._checkpoint.device
        erased = sum(record.passes_for_empty for record in self._scan.blocks)
        if not erased <= device.erased_blocks <= erased + len(self._used):
            message = f"counts {device.erased_blocks} erased blocks; there are {erased}"
            self._problems.add("checkpoint-device", message)
        if device.sequence < self._scan.newest_sequence:
            message = (
                f"the sequence is {device.sequence:#x}, {self._scan.newest_sequence:#x} is used"
            )
            self._problems.add("checkpoint-device", message)
        for internal, page in self._allocations():
            if internal != -1:
                self._check_allocation(internal - 1, page)
        self._check_free(device.free_chunks)

    def _allocations(self) -> list[tuple[int, int]]:
        """Internal number and next page of the blocks that are being written; -1 for none."""
        device = self._checkpoint.device
        return [(device.alloc_block, device.alloc_page)]

    def _check_allocation(self, block: int, page: int) -> None:
        if not 0 <= block < len(self._scan.blocks):
            message = f"the allocation block is internal block {block + 1}"
            self._problems.add("checkpoint-device", message)
            return
        last = self._scan.blocks[block].last_page
        if page != last + 1:
            message = f"page {page} is written next; the last one written is {last}"
            self._problems.add("checkpoint-device", message, Where(block))
        if self._checkpoint.infos[block].state != BlockState.ALLOCATING:
            self._problems.add("checkpoint-device", "is not in state allocating", Where(block))

    def _check_free(self, counted: int) -> None:
        pages = self._geometry.pages_per_block
        free = 0
        for record, info in zip(self._scan.blocks, self._checkpoint.infos, strict=True):
            if record.passes_for_empty or record.kind in LOG_KINDS:
                free += pages - info.in_use + info.soft_deleted
        most = free + len(self._used) * pages
        if not free <= counted <= most:
            message = f"counts {counted} free chunks; there are {free}"
            self._problems.add("checkpoint-free", message)

    # --- parts 3 and 4 ---

    def _check_block(self, record: BlockRecord) -> None:
        info = self._checkpoint.infos[record.block]
        bits = self._checkpoint.bitmaps[record.block]
        where = Where(record.block)
        add = self._problems.add
        allowed = _states(record)
        opened = record.block + 1 in (internal for internal, _ in self._allocations())
        if (
            allowed
            and info.state not in allowed
            and not (opened and info.state == BlockState.ALLOCATING)
        ):
            message = f"has state {info.state}, and the flash says: {record.kind.value}"
            add("checkpoint-block", message, where)
        if info.state == BlockState.ALLOCATING and not opened:
            add("checkpoint-block", "is allocating, but not the allocation block", where)
        if info.in_use != bits.bit_count() or info.soft_deleted > info.in_use:
            message = (
                f"counts {info.in_use} pages in use, {info.soft_deleted} soft-deleted; "
                f"its bitmap has {bits.bit_count()}"
            )
            add("checkpoint-counts", message, where)
        if record.kind not in LOG_KINDS:
            return
        if info.sequence != record.sequence:
            message = f"has sequence {info.sequence:#x}, on flash {record.sequence:#x}"
            add("checkpoint-block", message, where)
        if info.has_summary != record.summary_valid and not self._is_believed_full(record):
            said = "has" if info.has_summary else "has no"
            add("checkpoint-flags", f"{said} summary, says the checkpoint", where)
        self._check_shrink(record, info.has_shrink)

    def _check_shrink(self, record: BlockRecord, marked: bool) -> None:
        shrinks = any(scanned.readable and scanned.tags.shrink for scanned in record.pages)
        if shrinks and not marked:
            message = "has a header with the shrink mark, and is not marked so"
            self._problems.add("checkpoint-flags", message, Where(record.block))
        elif marked and record.block not in self._mounted.shrink_blocks and not shrinks:
            message = "is marked as having a shrink header, and has none"
            self._problems.add("checkpoint-flags", message, Where(record.block))

    def _check_bitmaps(self) -> None:
        pages = self._geometry.pages_per_block
        owners: dict[int, dict[int, int]] = {}
        for record in self._checkpoint.objects:
            for address in self._used_places(record):
                owners.setdefault(address[0], {})[address[1]] = record.object_id
        for block in self._scan.blocks:
            bits = self._checkpoint.bitmaps[block.block]
            owned = owners.get(block.block, {})
            summary = range(pages - self._geometry.summary_pages, pages)
            spare = self._checkpoint.infos[block.block].soft_deleted
            for page in range(pages):
                used = bool(bits >> page & 1)
                if page in owned and not used:
                    where = Where(block.block, page, owned[page])
                    self._problems.add("checkpoint-bitmap", "is not in use", where)
                elif used and page not in owned:
                    has_summary = block.summary_valid or self._is_believed_full(block)
                    if has_summary and page in summary:
                        continue
                    if self._may_be_used((block.block, page)):
                        continue
                    spare -= 1
                    if spare < 0:
                        where = Where(block.block, page)
                        self._problems.add("checkpoint-bitmap", "is in use by no object", where)

    def _is_believed_full(self, record: BlockRecord) -> bool:
        """Whether the checkpoint may give a block a summary that it does not have."""
        del record
        return False

    def _may_be_used(self, address: Place) -> bool:
        """Whether a page that no object refers to may be in use all the same."""
        del address
        return False

    def _used_places(self, record: ObjectRecord) -> list[Place]:
        """Header and data of an object in the checkpoint."""
        chunks = list(self._entries(record, self._width).values())
        if record.header_chunk:
            chunks.append(record.header_chunk)
        return [self._place(chunk) for chunk in chunks]

    def _place(self, chunk: int) -> Place:
        block, page = divmod(chunk, self._geometry.pages_per_block)
        return block - 1, page

    # --- part 5 ---

    def _choose_width(self) -> int:
        """The entry width under which more files have the chunks that the scan found."""
        widths = entry_widths(len(self._scan.blocks), self._geometry.pages_per_block)
        if len(widths) == 1:
            return widths[0]
        files = [record for record in self._checkpoint.objects if record.leaves][:64]
        return max(widths, key=lambda width: sum(self._agrees(file, width) for file in files))

    def _agrees(self, record: ObjectRecord, width: int) -> bool:
        obj = self._mounted.objects.get(record.object_id)
        return obj is not None and self._scanned(obj) == self._entries(record, width)

    def _entries(self, record: ObjectRecord, width: int) -> dict[int, int]:
        """Internal chunk numbers by chunk id."""
        return {
            first + number: entry
            for first, packed in record.leaves
            for number, entry in enumerate(unpack_leaf(packed, width))
            if entry
        }

    def _scanned(self, obj: FoundObject) -> dict[int, int]:
        pages = self._geometry.pages_per_block
        return {
            chunk_id: (chunk.block + 1) * pages + chunk.page
            for chunk_id, chunk in obj.chunks.items()
        }

    def _check_objects(self) -> None:
        objects = self._checkpoint.objects
        buckets = [record.object_id & 0xFF for record in objects]
        if buckets != sorted(buckets):
            self._problems.add("checkpoint-order", "objects are not sorted by their bucket")
        if len(self._records) != len(objects):
            self._problems.add("checkpoint-object", "an object is listed twice")
        for object_id, obj in self._mounted.objects.items():
            if object_id in self._records or obj.fake:
                continue
            if self._tree.fates[object_id] is not Fate.DELETED:
                where = Where(object_id=object_id)
                self._problems.add("checkpoint-object", "is missing in the checkpoint", where)
        for record in objects:
            if not (record.deleted or record.soft_deleted or record.unlinked or record.fake):
                self._check_object(record)

    def _check_object(self, record: ObjectRecord) -> None:
        obj = self._mounted.objects.get(record.object_id)
        where = Where(object_id=record.object_id)
        if obj is None or obj.parent_id in GRAVES:
            self._problems.add("checkpoint-object", "is in the checkpoint only", where)
            return
        where = where._replace(path=self._tree.path(record.object_id))
        if obj.fake and not record.header_chunk and obj.header_at is None:
            return
        header = (0, 0)
        if obj.header_at:
            header = (obj.header_at[0] + 1, obj.header_at[1])
        chunk = header[0] * self._geometry.pages_per_block + header[1]
        for name, ours, theirs in (
            ("type", int(obj.object_type), record.object_type),
            ("parent", self._parent(obj, record), record.parent_id),
            ("header", chunk, record.header_chunk),
            ("data chunk count", len(obj.chunks), record.data_chunks),
        ):
            if ours != theirs:
                message = f"{name} {theirs} in the checkpoint, {ours} on flash"
                self._problems.add("checkpoint-object", message, where)
        value = {ObjectType.FILE: obj.size, ObjectType.HARD_LINK: obj.target_id}
        expected = value.get(obj.object_type)
        if expected is not None and expected != record.size_or_target:
            message = f"size or target {record.size_or_target}, {expected} on flash"
            self._problems.add("checkpoint-object", message, where)
        elif obj.grown_from is not None:
            message = f"has {obj.size} bytes; a scan finds {obj.grown_from}"
            self._problems.add("checkpoint-size", message, where)
        self._check_leaves(record, obj, where)

    def _parent(self, obj: FoundObject, record: ObjectRecord) -> int:
        """The parent that it should have; a mount may have put a stray into lost+found."""
        adopted = self._tree.parent_id(obj.object_id)
        return adopted if record.parent_id == adopted else obj.parent_id

    def _check_leaves(self, record: ObjectRecord, obj: FoundObject, where: Where) -> None:
        stored, scanned = self._entries(record, self._width), self._scanned(obj)
        for chunk_id in sorted(stored.keys() | scanned.keys()):
            ours, theirs = scanned.get(chunk_id, 0), stored.get(chunk_id, 0)
            if ours != theirs:
                message = f"chunk {chunk_id} is at {theirs} in the checkpoint, at {ours} on flash"
                self._problems.add("checkpoint-leaf", message, where)
