"""Checks of pages and blocks: tags, order of pages, sequence numbers, block summaries.

What a crash leaves is told apart from violations like this:

- A page without readable tags that is the last written one of its block is torn: a program that
  was interrupted. No page is written behind it, as a mount never goes on in a partial block.
- A block that breaks the order of pages, or has unreadable pages, and in which nothing is live
  was being erased: only blocks without live data are erased. If its first page is gone, a mount
  passes over the block; then nothing may be live in it if it were read all the same. Its
  unreadable pages must have mostly 1 bits, since an erase only sets bits: random bytes are no
  interrupted erase.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from ffslab.yaffs2.format import (
    CHECKPOINT_FORMS,
    CHUNK_ID_MAX,
    ID_CHECKPOINT,
    ID_FIRST_ORDINARY,
    ID_LOST_FOUND,
    ID_MAX,
    ID_ROOT,
    ID_SUMMARY,
    SEQUENCE_BAD_BLOCK,
    SEQUENCE_OF_TOOLS,
    SUMMARY_HEADER_BYTES,
    sequence_is_valid,
)
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.mount import Mounted
from ffslab.yaffs2.mounting import mount_flash
from ffslab.yaffs2.problems import Problems, Where
from ffslab.yaffs2.scan import (
    LOG_KINDS,
    BlockKind,
    BlockRecord,
    FlashScan,
    PageRecord,
    is_retired,
)
from ffslab.yaffs2.summary import piece_sizes
from ffslab.yaffs2.tags import TagState

_ERASING_ONES = 0.6  # of the bits of an unreadable page; random bytes have half


def check_pages(flash: FlashImage, scan: FlashScan, mounted: Mounted, problems: Problems) -> None:
    """Every block by itself, then the sequence numbers of all."""
    live_blocks = {block for block, _ in mounted.live} | _would_be_live(flash, scan)
    interrupted = set()
    for record in scan.blocks:
        if record.kind is BlockKind.BAD:
            continue
        for page in record.disturbed:
            problems.add("erased-bitflips", "counts as erased", Where(record.block, page))
        if is_retired(record):
            problems.add("block-retired", "is not used", Where(record.block))
        elif record.is_foreign:
            message = f"is of the other layout; the partition's is {scan.layout}"
            problems.add("layout-mixed", message, Where(record.block))
        elif record.block not in live_blocks and _is_interrupted_erase(flash, record):
            problems.add("erase-interrupted", "nothing in it is in use", Where(record.block))
            interrupted.add(record.block)
        else:
            _check_block(flash, scan, record, problems)
    _check_sequences(scan, interrupted, problems)


def _would_be_live(flash: FlashImage, scan: FlashScan) -> set[int]:
    """Blocks without a readable first page that have live pages if they are read all the same."""
    revived = []
    for record in scan.of_kind(BlockKind.IGNORED):
        numbers = {scanned.tags.sequence for scanned in record.pages if scanned.readable}
        if len(numbers) == 1 and sequence_is_valid(min(numbers)):
            kind = _kind_of(record)
            revived.append(replace(record, kind=kind, sequence=min(numbers)))
    if not revived:
        return set()
    blocks = {record.block: record for record in (*scan.blocks, *revived)}
    mounted = mount_flash(flash, replace(scan, blocks=tuple(blocks.values())))
    live = {block for block, _ in mounted.live}
    return live & {record.block for record in revived}


def _kind_of(record: BlockRecord) -> BlockKind:
    """What a block would be whose first page is gone."""
    readable = [scanned.tags for scanned in record.pages if scanned.readable]
    return BlockKind.METADATA if readable[0].in_metadata else BlockKind.DATA


def _gap(record: BlockRecord) -> int:
    """The first page that is blank below a written one; -1 without such a page."""
    disturbed = set(record.disturbed)
    written = {scanned.page for scanned in record.pages}
    for page in range(record.last_page):
        if page not in written or page in disturbed:
            return page
    return -1


def _is_interrupted_erase(flash: FlashImage, record: BlockRecord) -> bool:
    unreadable = [
        scanned for scanned in record.pages if not (scanned.readable or scanned.is_foreign)
    ]
    if len(record.pages) == 1 and unreadable and record.last_page == 0:
        return False  # a torn first page is the simpler explanation
    if _gap(record) < 0 and not unreadable:
        return False
    for scanned in unreadable:
        raw = flash.raw_page(record.block, scanned.page)
        ones = int.from_bytes(raw, "little").bit_count()
        if ones < _ERASING_ONES * 8 * len(raw):
            return False
    return True


def _check_block(
    flash: FlashImage, scan: FlashScan, record: BlockRecord, problems: Problems
) -> None:
    gap = _gap(record)
    if gap >= 0:
        problems.add(
            "page-order",
            f"is not written, but page {record.last_page} is",
            Where(record.block, gap),
        )
    for scanned in record.pages:
        if scanned.readable:
            _check_tags(flash, scan, record, scanned, problems)
        elif scanned.is_foreign:
            message = f"is of the other layout; the partition's is {scan.layout}"
            problems.add("layout-mixed", message, Where(record.block, scanned.page))
        elif scanned.page == record.last_page:
            problems.add("page-torn", "is not used", Where(record.block, scanned.page))
        elif scanned.state is TagState.UNUSED:
            problems.add(
                "tags-missing",
                "holds bytes, but its tags say that it is unused",
                Where(record.block, scanned.page),
            )
        else:
            problems.add("tags-uncorrectable", "cannot be read", Where(record.block, scanned.page))
    if record.kind in LOG_KINDS:
        _check_summary(scan, record, problems)


def _check_tags(
    flash: FlashImage,
    scan: FlashScan,
    record: BlockRecord,
    scanned: PageRecord,
    problems: Problems,
) -> None:
    tags = scanned.tags
    at = Where(record.block, scanned.page)
    if scanned.state is TagState.CORRECTED:
        problems.add("tags-corrected", "had one wrong bit", at)
    first = record.pages[0]
    expected = first.tags.sequence if first.page == 0 and first.readable else tags.sequence
    if tags.sequence != expected:
        message = f"has sequence {tags.sequence:#x}, page 0 has {expected:#x}"
        problems.add("sequence-mixed", message, at)
    elif not _is_of_log_or_checkpoint(scan, tags.sequence):
        if tags.sequence != SEQUENCE_BAD_BLOCK and scanned is first:
            problems.add("sequence-range", f"has sequence {tags.sequence:#x}", at)
        return
    if record.kind is not BlockKind.CHECKPOINT:
        _check_words(flash, scanned, problems, record.block)


def _is_of_log_or_checkpoint(scan: FlashScan, sequence: int) -> bool:
    return sequence_is_valid(sequence) or sequence == CHECKPOINT_FORMS[scan.layout].sequence


def _check_words(flash: FlashImage, scanned: PageRecord, problems: Problems, block: int) -> None:
    tags = scanned.tags
    object_id = tags.object_id
    at = Where(block, scanned.page)
    if not 0 < object_id <= ID_MAX:
        problems.add("tags-object-id", f"has object id {object_id:#x}", at)
        return
    at = at._replace(object_id=object_id)
    if object_id in (ID_SUMMARY, ID_CHECKPOINT):
        return
    if tags.extended:
        if tags.spare_bit:
            problems.add("tags-spare-bit", "has bit 28 set", at)
        if not 1 <= tags.type_number <= 5:
            problems.add("tags-type", f"has type {tags.type_number}", at)
    elif tags.chunk_id > CHUNK_ID_MAX:
        problems.add("tags-chunk-id", f"has chunk id {tags.chunk_id:#x}", at)
    elif tags.chunk_id and tags.byte_count > flash.geometry.data_bytes:
        message = f"says {tags.byte_count} bytes; a chunk has {flash.geometry.data_bytes}"
        problems.add("tags-byte-count", message, at)
    elif tags.chunk_id and not tags.byte_count:
        problems.add("data-empty", f"chunk {tags.chunk_id} has no bytes", at)
    if object_id < ID_FIRST_ORDINARY and object_id not in (ID_ROOT, ID_LOST_FOUND):
        if tags.chunk_id:
            problems.add("reserved-object", f"is data of object {object_id}", at)
        elif object_id > ID_LOST_FOUND + 2:
            problems.add("reserved-id", f"object id {object_id}", at)
    elif object_id < ID_FIRST_ORDINARY and tags.chunk_id:
        problems.add("reserved-object", f"is data of directory {object_id}", at)


def _check_sequences(scan: FlashScan, interrupted: set[int], problems: Problems) -> None:
    blocks: dict[int, list[int]] = defaultdict(list)
    for record in scan.of_kind(*LOG_KINDS):
        if record.block not in interrupted:
            blocks[record.sequence].append(record.block)
    blocks.pop(SEQUENCE_OF_TOOLS, None)
    for sequence, numbers in blocks.items():
        for block in numbers[1:]:
            message = f"has sequence {sequence:#x}, as block {numbers[0]} has"
            problems.add("sequence-duplicate", message, Where(block))


def _check_summary(scan: FlashScan, record: BlockRecord, problems: Problems) -> None:
    """Where summary pages are, what their tags and header say, what the entries repeat."""
    geometry = scan.geometry
    summary_start = geometry.pages_per_block - geometry.summary_pages
    sizes = piece_sizes(geometry)
    at_place = 0
    for scanned in record.pages:
        tags = scanned.tags
        if not scanned.readable or tags.object_id != ID_SUMMARY:
            continue
        at = Where(record.block, scanned.page, ID_SUMMARY)
        if scanned.page < summary_start or tags.extended:
            problems.add("summary-place", f"summaries begin at page {summary_start}", at)
            continue
        at_place += 1
        number = scanned.page - summary_start
        expected = (number + 1, SUMMARY_HEADER_BYTES + sizes[number])
        if (tags.chunk_id, tags.byte_count) != expected:
            message = (
                f"chunk {tags.chunk_id} of {tags.byte_count} bytes; "
                f"{expected[0]} of {expected[1]} belongs there"
            )
            problems.add("summary-tags", message, at)
    if record.summary is not None:
        _check_summary_contents(scan, record, problems)
    elif at_place < geometry.summary_pages and record.last_page + 1 == summary_start + at_place:
        message = "its data pages are all written, its summary is not"
        problems.add("summary-missing", message, Where(record.block))


def _check_summary_contents(scan: FlashScan, record: BlockRecord, problems: Problems) -> None:
    summary = record.summary
    assert summary is not None
    page = scan.geometry.pages_per_block - scan.geometry.summary_pages
    if summary.problem:
        problems.add("summary-header", summary.problem, Where(record.block, page))
        return
    if summary.internal_block != record.block + 1:
        message = f"is for internal block {summary.internal_block}, not {record.block + 1}"
        problems.add("summary-block", message, Where(record.block, page))
    real = {scanned.page: scanned for scanned in record.pages}
    for number, entry in enumerate(summary.entries):
        scanned = real.get(number)
        if not entry[0]:
            continue
        if scanned is None or (scanned.readable and scanned.tags.words != entry):
            words = " ".join(f"{word:#x}" for word in entry)
            if scanned is None:
                message = f"the summary says {words}, the page is not written"
            else:
                message = f"the summary says {words}, the tags " + " ".join(
                    f"{word:#x}" for word in scanned.tags.words
                )
            problems.add("summary-entry", message, Where(record.block, number))
