"""Checks of the segment file: what it says of each segment against what was found there."""

from __future__ import annotations

from ffslab.logfs.format import SEGMENT_VALID_RESERVED, U32, SegmentType
from ffslab.logfs.image import Device
from ffslab.logfs.mount import Mounted
from ffslab.logfs.problems import Problems, Where


def reserved_segments(mounted: Mounted) -> set[int]:
    """Those of superblocks and journal, and one that mkfs may have reserved for nothing."""
    superblock = mounted.superblock
    copies = (ofs >> superblock.segment_shift for ofs in superblock.copies)
    return {*copies, *superblock.journal_segnos, *_misplaced(mounted).values()}


def _misplaced(mounted: Mounted) -> dict[int, int]:
    """The segment of the second superblock, with the one that is reserved in its place.

    The original's mkfs reserves the last segment, and puts the superblock into the one before.
    """
    superblock, entries = mounted.superblock, mounted.entries
    good = [segno for segno, entry in enumerate(entries) if not is_bad(entry)]
    second = superblock.copies[1] >> superblock.segment_shift
    if good[-2:-1] == [second] and is_reserved(entries[good[-1]]):
        return {second: good[-1]}
    return {}


def is_bad(entry: tuple[int, int]) -> bool:
    """Whether the segment file calls a segment bad."""
    return entry == (U32, U32)


def is_reserved(entry: tuple[int, int]) -> bool:
    """Whether the segment file says that a segment is no place for objects."""
    return entry[1] == SEGMENT_VALID_RESERVED and not is_bad(entry)


def check_segments(device: Device, mounted: Mounted, problems: Problems) -> None:
    """Every segment, then their sum."""
    reserved = reserved_segments(mounted)
    for second in _misplaced(mounted):
        if not is_reserved(mounted.entries[second]):
            reserved.remove(second)
    bad_blocks = bad_segments(device, mounted)
    for segno, entry in enumerate(mounted.entries):
        if segno in bad_blocks and not is_bad(entry):
            message = "a bad block, which the segment file does not know"
            problems.add("segment-marked", message, Where(segno))
        _check_entry(mounted, segno, entry, segno in reserved, problems)
    _check_headers(mounted, problems)
    live = sum(mounted.store.valid_bytes.values())
    if mounted.dynamic.used_bytes != live:
        message = f"the journal says {mounted.dynamic.used_bytes} bytes, live objects have {live}"
        problems.add("used-bytes", message)


def bad_segments(device: Device, mounted: Mounted) -> set[int]:
    """Segments with an erase block that carries the mark of a bad one."""
    size = mounted.segment_bytes
    block_bytes = device.geometry.block_bytes
    blocks = (block for block in range(device.pages.blocks) if device.pages.is_bad(block))
    starts = [block * block_bytes for block in blocks]
    return {
        segno
        for start in starts
        for segno in range(start // size, (start + block_bytes - 1) // size + 1)
    }


def _check_entry(
    mounted: Mounted,
    segno: int,
    entry: tuple[int, int],
    must_be_reserved: bool,
    problems: Problems,
) -> None:
    live = mounted.store.valid_bytes.get(segno, 0)
    valid = entry[1]
    where = Where(segno)
    if is_bad(entry):
        if live or must_be_reserved:
            problems.add("segment-bad", "it is called bad, and it is used", where)
    elif must_be_reserved or is_reserved(entry):
        if not must_be_reserved:
            problems.add("segment-reserved", "it holds neither superblock nor journal", where)
        elif not is_reserved(entry):
            problems.add("segment-reserved", f"it is not reserved: {valid} valid bytes", where)
    elif valid != live:
        message = f"the segment file says {valid} valid bytes, live objects have {live}"
        problems.add("segment-valid", message, where)


def _check_headers(mounted: Mounted, problems: Problems) -> None:
    """Headers of segments that are in use against the segment file."""
    open_segments = {area.segno for area in mounted.store.areas}
    for segno in sorted({*mounted.store.valid_bytes, *open_segments}):
        where = Where(segno)
        header = mounted.store.segment_header(segno)
        if header is None or header.segno != segno:
            problems.add("segment-header", "it has no valid header", where)
            continue
        if header.kind == SegmentType.OBJECTS and header.gec > mounted.dynamic.gec:
            message = f"its count is {header.gec}, the global one {mounted.dynamic.gec}"
            problems.add("segment-gec", message, where)
        if segno >= len(mounted.entries) or is_bad(mounted.entries[segno]):
            continue
        count, level = mounted.entries[segno][0] >> 4, mounted.entries[segno][0] & 0xF
        if level != header.level:
            message = f"the segment file says level {level}, the header {header.level}"
            problems.add("segment-level", message, where)
        if count != header.erase_count:
            message = f"the segment file says {count} erases, the header {header.erase_count}"
            problems.add("segment-erase-count", message, where)
