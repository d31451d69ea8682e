"""A mount: superblock, journal, areas, then every inode with its blocks and names.

`Mounted` holds what was found; what is wrong goes into the problems on the way. Directories are
shown as they are after the mount's recovery: without the old name of an interrupted rename.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from ffslab.logfs.format import (
    BLOCK_BYTES,
    DENTRY,
    FULL,
    GC_LEVELS,
    INO_MASTER,
    INO_SEGMENTS,
    INODE_WORDS,
    OBJECT_HEADER_BYTES,
    POINTERS,
    SEGMENT_ENTRY,
    SEGMENT_HEADER_BYTES,
    SUPERBLOCK_BYTES,
    Area,
    DynamicSuperblock,
    Inode,
    ObjectType,
    Superblock,
    parse_inode,
    parse_object_header,
    parse_superblock,
)
from ffslab.logfs.image import Device
from ffslab.logfs.journal import Anchor, Journal, read_journal
from ffslab.logfs.objects import ObjectStore, Walked
from ffslab.logfs.problems import Problems, Where

WALKED_TYPES = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
FILE_TYPES = (*WALKED_TYPES, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK)


@dataclass(frozen=True, slots=True)
class Dentry:
    """A name in a directory. `kind` are bits 12 to 15 of the mode."""

    bix: int
    ofs: int
    ino: int
    name: bytes
    kind: int
    padded: bool


@dataclass(slots=True)
class FoundInode:
    """An inode with the pointers to its blocks, and its names if it is a directory."""

    ino: int
    inode: Inode
    walked: Walked
    dentries: list[Dentry] = field(default_factory=list)

    @property
    def format(self) -> int:
        """The type of file, as in a mode."""
        return stat.S_IFMT(self.inode.mode)


@dataclass(slots=True)
class Mounted:
    """What a mount finds. `entries` are those of the segment file: erase count and level, valid."""

    superblock: Superblock
    journal: Journal
    store: ObjectStore
    anchor: Anchor
    dynamic: DynamicSuperblock
    inode_file: Walked
    inodes: dict[int, FoundInode] = field(default_factory=dict)
    entries: list[tuple[int, int]] = field(default_factory=list)
    tail_objects: int = 0

    @property
    def segment_bytes(self) -> int:
        return 1 << self.superblock.segment_shift

    def is_recovered(self, directory: int, dentry: Dentry) -> bool:
        """Whether a mount removes this name: the old one of an interrupted rename."""
        dynamic = self.dynamic
        renamed = (dynamic.rename_directory, dynamic.rename_position // BLOCK_BYTES)
        return bool(directory) and renamed == (directory, dentry.bix)


def read_superblock(
    device: Device, superblock: Superblock | None, problems: Problems
) -> Superblock | None:
    """The copy that a mount takes; None if it refuses to mount."""
    if superblock is None:
        problems.add("superblock-none", "no copy of the superblock is valid")
        return None
    copies = [parse_superblock(device.read(ofs, SUPERBLOCK_BYTES)) for ofs in superblock.copies]
    for ofs, copy in zip(superblock.copies, copies, strict=True):
        if copy is None:
            problems.add("superblock-copy", "this copy is not valid", Where(offset=ofs))
    valid = [copy for copy in copies if copy is not None]
    if not valid:
        problems.add("superblock-none", "no copy of the superblock is valid")
        return None
    first = valid[0]
    # The headers in front may differ: each copy may have its own segment's number.
    if any(copy.pack()[32:] != first.pack()[32:] for copy in valid):
        problems.add("superblock-differ", "the copies differ; a mount takes the first")
    return first if _is_possible(first, device, problems) else None


def _is_possible(superblock: Superblock, device: Device, problems: Problems) -> bool:
    shift = superblock.segment_shift
    segments = superblock.segments
    impossible = []
    if superblock.block_shift != 12:
        impossible.append(f"blocks of 2^{superblock.block_shift} bytes")
    if superblock.segment_bytes not in (0, 1 << shift):
        impossible.append(f"segments of {superblock.segment_bytes} bytes and of 2^{shift}")
    if superblock.write_shift > 16 or superblock.write_unit > 1 << shift:
        impossible.append(f"pages of 2^{superblock.write_shift} bytes")
    if superblock.fs_bytes % (1 << shift) or not segments or segments > 1 << 32:
        impossible.append(f"{superblock.fs_bytes} bytes")
    journal = superblock.journal_segnos
    if not journal or len(set(journal)) < len(journal) or max(journal) >= segments:
        impossible.append(f"journal segments {journal}")
    levels = (superblock.ifile_levels, superblock.iblock_levels, superblock.data_levels)
    if not (1 <= levels[0] <= 6 and 1 <= levels[1] <= 5 and levels[2] == 1):
        impossible.append(f"levels {levels}")
    if any(ofs + SUPERBLOCK_BYTES > superblock.fs_bytes for ofs in superblock.copies):
        impossible.append(f"copies at {superblock.copies}")
    for problem in impossible:
        problems.add("superblock-fields", f"impossible: {problem}")
    if any(superblock.features):
        message = "features {:#x}, {:#x}, {:#x}, {:#x}".format(*superblock.features)
        problems.add("superblock-features", message)
    # The last copy of the features is of flags, the last but one of compatible ones.
    refused = any(superblock.features[:2])
    fits = superblock.fs_bytes <= device.size_bytes
    if not fits:
        message = f"the file system has {superblock.fs_bytes} bytes, the file {device.size_bytes}"
        problems.add("superblock-fields", message)
    return not impossible and not refused and fits


def mount(device: Device, superblock: Superblock, problems: Problems) -> Mounted | None:
    """Reads everything; None if a mount would fail before it has a tree."""
    journal = read_journal(device, superblock, problems)
    if journal.anchor is None or journal.dynamic is None:
        return None
    store = ObjectStore(device, superblock, journal, problems)
    _check_aliases(journal, superblock, problems)
    tail = _take_areas(store, journal, problems)
    anchor = journal.anchor
    if not _anchor_is_possible(anchor, superblock, problems):
        return None
    inode_file = store.walk(INO_MASTER, anchor.height, anchor.data)
    mounted = Mounted(
        superblock, journal, store, anchor, journal.dynamic, inode_file, tail_objects=tail
    )
    _read_inodes(mounted, problems)
    for file in mounted.inodes.values():
        _read_file(mounted, file, problems)
    mounted.entries = _read_segment_file(mounted, problems)
    store.check_aliases()
    return mounted


def _anchor_is_possible(anchor: Anchor, superblock: Superblock, problems: Problems) -> bool:
    if anchor.height >= superblock.ifile_levels:
        problems.add("anchor-fields", f"the inode file has height {anchor.height}")
        return False
    # As of any file the size is not that of the tree: what is behind it are holes.
    limit = POINTERS ** (superblock.ifile_levels - 1)
    if anchor.size % BLOCK_BYTES or anchor.size > limit * BLOCK_BYTES:
        problems.add("anchor-fields", f"the inode file has size {anchor.size}")
    return True


# --- what the journal has of open segments ---


def _check_aliases(journal: Journal, superblock: Superblock, problems: Problems) -> None:
    for alias in journal.aliases:
        where = Where(ino=alias.ino, level=alias.level, bix=alias.bix)
        words = INODE_WORDS if alias.ino == INO_MASTER and alias.level == 0 else POINTERS
        is_pointers = 1 <= alias.level <= superblock.iblock_levels
        if not (is_pointers or alias.ino in (INO_MASTER, INO_SEGMENTS)):
            problems.add("alias-fields", f"level {alias.level} has no aliases", where)
        elif alias.child >= words:
            problems.add("alias-fields", f"a block has no word {alias.child}", where)


def _take_areas(store: ObjectStore, journal: Journal, problems: Problems) -> int:
    """Open segments with their write buffers; the number of objects behind what was committed."""
    tail = 0
    levels: set[int] = set()
    segments: set[int] = set()
    for area in journal.areas:
        where = Where(area.segno)
        problem = _area_problem(area, store.superblock)
        if problem:
            problems.add("area-fields", problem, where)
            continue
        if area.level in levels or area.segno in segments:
            problems.add("area-twice", f"another area of level {area.level}", where)
            continue
        levels.add(area.level)
        segments.add(area.segno)
        store.areas.append(area)
        _take_buffer(store, area, problems)
        header = store.segment_header(area.segno)
        if header is None or (header.segno, header.level) != (area.segno, area.level):
            problems.add("area-fields", "its segment has no header of its level", where)
        tail += _count_tail(store, area, problems)
    return tail


def _area_problem(area: Area, superblock: Superblock) -> str:
    size, unit = 1 << superblock.segment_shift, superblock.write_unit
    if area.segno >= superblock.segments:
        return "there is no such segment"
    if area.level >= GC_LEVELS or area.data_class:
        return f"level {area.level}, data class {area.data_class}"
    if not SEGMENT_HEADER_BYTES <= area.used <= size:
        return f"{area.used} bytes are used"
    if len(area.buffer) != (unit if area.used % unit else 0):
        return f"a write buffer of {len(area.buffer)} bytes, {area.used} used"
    return ""


def _take_buffer(store: ObjectStore, area: Area, problems: Problems) -> None:
    """The buffer is over the flash up to `used`; behind it counts what was programmed later."""
    length = area.used % store.superblock.write_unit
    if not length:
        return
    start = (area.segno << store.superblock.segment_shift) + area.used - length
    programmed = store.programmed(start, length)
    if programmed not in (b"\xff" * length, area.buffer[:length]):
        problems.add("area-torn", "flash and journal differ", Where(area.segno, start))
    if area.buffer[length:].strip(b"\xff"):
        problems.add("area-buffer", "the buffer is not 0xFF behind its end", Where(area.segno))
    store.add_buffer(start, area.buffer[:length])


def _count_tail(store: ObjectStore, area: Area, problems: Problems) -> int:
    size = 1 << store.superblock.segment_shift
    base, at, count = area.segno << store.superblock.segment_shift, area.used, 0
    while at + OBJECT_HEADER_BYTES <= size:
        header = parse_object_header(store.read(base + at, OBJECT_HEADER_BYTES))
        if header is None or at + header.total_bytes > size:
            break
        count += 1
        at += header.total_bytes
    if count:
        message = f"{count} objects behind byte {area.used}: a mount leaves them unused"
        problems.add("area-tail", message, Where(area.segno))
    return count


# --- inodes and files ---


def _read_inodes(mounted: Mounted, problems: Problems) -> None:
    inode_file = mounted.inode_file
    for ino, ofs in inode_file.blocks.items():
        if ino * BLOCK_BYTES >= mounted.anchor.size:
            where = Where(None, ofs, INO_MASTER, 0, ino)
            problems.add("data-behind-end", "the inode file ends before it", where)
        payload = mounted.store.follow(ofs | FULL, inode_file, 0, ino, ObjectType.INODE)
        if payload is not None:
            mounted.inodes[ino] = FoundInode(ino, parse_inode(payload), Walked(ino))


def _read_file(mounted: Mounted, file: FoundInode, problems: Problems) -> None:
    """Walks a file; its blocks are read, for their CRC and what follows from them."""
    inode = file.inode
    if file.format not in FILE_TYPES:
        problems.add("inode-mode", f"mode {inode.mode:#o}", Where(ino=file.ino))
    if file.format not in WALKED_TYPES:
        return
    if inode.height > mounted.superblock.iblock_levels:
        problems.add("inode-height", f"its height is {inode.height}", Where(ino=file.ino))
        return
    file.walked = mounted.store.walk(file.ino, inode.height, inode.data)
    is_directory = file.format == stat.S_IFDIR
    kind = ObjectType.DENTRY if is_directory else ObjectType.BLOCK
    lost = []
    for bix, ofs in file.walked.blocks.items():
        where = Where(None, ofs, file.ino, 0, bix)
        payload = mounted.store.follow(ofs | FULL, file.walked, 0, bix, kind)
        behind = bix * BLOCK_BYTES >= inode.size
        if behind:
            problems.add("data-behind-end", f"its file has {inode.size} bytes", where)
        if payload is None:
            lost.append(bix)
        elif is_directory:
            file.dentries.append(_parse_dentry(payload, bix, ofs))
        elif not behind and payload[inode.size - bix * BLOCK_BYTES :].strip(b"\0"):
            problems.add("data-after-end", "bytes behind the end of the file", where)
    for bix in lost:
        del file.walked.blocks[bix]


def _parse_dentry(payload: bytes, bix: int, ofs: int) -> Dentry:
    ino, length, kind, name = DENTRY.unpack(payload)
    return Dentry(bix, ofs, ino, name[:length], kind, _is_padded(name, length))


def _is_padded(name: bytes, length: int) -> bool:
    return 1 <= length <= len(name) and not name[length:].strip(b"\0")


def _read_segment_file(mounted: Mounted, problems: Problems) -> list[tuple[int, int]]:
    """An entry for each segment; (0, 0) where the file has none."""
    segments = mounted.superblock.segments
    segment_file = mounted.inodes.get(INO_SEGMENTS)
    if segment_file is None or segment_file.format != stat.S_IFREG:
        return []
    if segment_file.inode.size != SEGMENT_ENTRY.size * segments:
        message = f"it has {segment_file.inode.size} bytes for {segments} segments"
        problems.add("segment-file", message, Where(ino=INO_SEGMENTS))
    entries: list[tuple[int, int]] = []
    for bix in range(-(-segments // POINTERS)):
        entries.extend(_segment_entries(mounted, segment_file, bix, problems))
    return entries[:segments]


def _segment_entries(
    mounted: Mounted, segment_file: FoundInode, bix: int, problems: Problems
) -> Iterator[tuple[int, int]]:
    ofs = segment_file.walked.blocks.get(bix)
    payload = mounted.store.load_block(INO_SEGMENTS, bix, ofs) if ofs else None
    if payload is None or len(payload) != BLOCK_BYTES:
        where = Where(ino=INO_SEGMENTS, level=0, bix=bix)
        problems.add("segment-file", "it has no entries in this block", where)
        payload = bytes(BLOCK_BYTES)
    for fields in SEGMENT_ENTRY.iter_unpack(payload):
        yield fields[0], fields[1]
