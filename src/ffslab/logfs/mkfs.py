"""Making an image of a tree; that of an empty directory is an empty file system.

The data of files go to flash in the order of the names; then directories, inodes and the segment
file; then one commit and both superblocks. All areas are closed, so the journal has neither areas
nor aliases: the segment file, whose place is reserved before its contents are known, holds the
values itself. Inode numbers are given out from 17 in the order of the names. Access and change
time are the modification time: a copy of the tree gives the same image.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ffslab.errors import UsageError
from ffslab.fsimage.entry import Entry
from ffslab.fsimage.output import new_image
from ffslab.fsimage.source import read_source
from ffslab.logfs.format import (
    BLOCK_BYTES,
    DENTRY,
    FIRST_ENTRY_AT,
    FLAG_COMPRESS,
    IFILE_HEIGHT_MAX,
    INO_LAST_RESERVED,
    INO_MASTER,
    INO_ROOT,
    INO_SEGMENTS,
    NAME_BYTES_MAX,
    POINTERS,
    SEGMENT_ENTRY,
    SEGMENT_RESERVE,
    SEGMENT_VALID_RESERVED,
    TOTAL_LEVELS,
    U32,
    U64,
    DynamicSuperblock,
    EntryType,
    Inode,
    ObjectType,
    SegmentHeader,
    SegmentType,
    Superblock,
    encode_device,
    pack_entry,
)
from ffslab.logfs.image import PageGeometry
from ffslab.logfs.journal import Anchor
from ffslab.logfs.names import places
from ffslab.logfs.writer import (
    FIRST_ERASE_COUNT,
    FileTree,
    FlashFile,
    PartitionTooSmallError,
    Placed,
    Segments,
    Store,
    data_object_bytes,
    write_tree,
)
from ffslab.model.units import format_size

SEGMENT_BYTES_MIN = 128 << 10
SEGMENT_BYTES_MAX = 64 << 20
JOURNAL_SEGMENTS = 4
BAD_RESERVE = 4
FIRST_GEC = 0x1000
_FILE_BLOCKS_MAX = POINTERS**3
_TARGET_MAX = 4095
_NS = 1_000_000_000
_SECONDS_MAX = U64 // _NS


@dataclass(frozen=True, slots=True)
class MkfsOptions:
    """How the image is made. `partition_bytes` are data bytes, without OOB."""

    partition_bytes: int
    geometry: PageGeometry = field(default_factory=PageGeometry)
    compress: bool = False
    squash_owners: bool = False
    fixed_time: int | None = None
    bad_blocks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MkfsResult:
    """What was written; `warnings` are sentences for the user."""

    image_bytes: int
    segments: int
    segment_bytes: int
    segments_used: int
    objects: int
    inodes: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which segments are for what. A segment with a bad block is bad."""

    segment_bytes: int
    segments: int
    bad: frozenset[int]
    journal: tuple[int, ...]
    copies: tuple[int, int]
    objects: tuple[int, ...]


def make_image(source: Path, image: Path, options: MkfsOptions) -> MkfsResult:
    """Writes `image`, which appears when it is complete.

    Raises UsageError for what LogFS cannot store or does not fit, and InfrastructureError if the
    source cannot be read or the image not be written.
    """
    geometry = options.geometry
    layout = _plan(options)
    blocks = options.partition_bytes // geometry.block_bytes
    with new_image(image, source) as file:
        flash = FlashFile(file, geometry, blocks)
        for block in options.bad_blocks:
            flash.mark_bad(block)
        segments = Segments(layout.segment_bytes, list(layout.objects))
        builder = _Builder(Store(flash, segments), options, layout)
        builder.add_all(read_source(source))
        builder.finish()
    return MkfsResult(
        image_bytes=blocks * geometry.raw_block_bytes,
        segments=layout.segments,
        segment_bytes=layout.segment_bytes,
        segments_used=len(segments.valid),
        objects=builder.store.objects,
        inodes=len(builder.inodes),
        warnings=tuple(builder.warnings),
    )


# --- segments ---


def segment_bytes_for(geometry: PageGeometry) -> int:
    """The erase block, or as many of them as give 128 KiB."""
    return max(geometry.block_bytes, SEGMENT_BYTES_MIN)


def _plan(options: MkfsOptions) -> _Layout:
    geometry = options.geometry
    _check_geometry(geometry)
    size = segment_bytes_for(geometry)
    blocks = geometry.whole_blocks(options.partition_bytes)
    segments = options.partition_bytes // size
    for block in options.bad_blocks:
        if not 0 <= block < blocks:
            raise UsageError(f"--bad-block {block}: the partition has {blocks} blocks")
    segnos = {block * geometry.block_bytes // size for block in options.bad_blocks}
    bad = frozenset(segno for segno in segnos if segno < segments)
    good = [segno for segno in range(segments) if segno not in bad]
    least = 2 + JOURNAL_SEGMENTS + 2 * TOTAL_LEVELS + BAD_RESERVE + 1
    if len(good) < least:
        raise PartitionTooSmallError(
            f"the partition has {len(good)} good segments of {format_size(size)}; LogFS needs "
            f"{least}",
            remedy=f"--partition-bytes {(least + segments - len(good)) * size}",
        )
    first, last = good[0], good[-1]
    return _Layout(
        segment_bytes=size,
        segments=segments,
        bad=bad,
        journal=tuple(good[1 : 1 + JOURNAL_SEGMENTS]),
        copies=(first * size, (last + 1) * size - BLOCK_BYTES),
        objects=tuple(good[1 + JOURNAL_SEGMENTS : -1]),
    )


def _check_geometry(geometry: PageGeometry) -> None:
    for name, value, least, most in (
        ("--page-bytes", geometry.page_bytes, 512, 1 << 16),
        ("--pages-per-block", geometry.pages_per_block, 1, 1 << 12),
    ):
        if value & value - 1 or not least <= value <= most:
            raise UsageError(f"{name} {value} is not a power of two from {least} to {most}")
    if not 0 <= geometry.oob_bytes <= 8192:
        raise UsageError(f"--oob-bytes {geometry.oob_bytes} is not from 0 to 8192")
    if geometry.block_bytes > SEGMENT_BYTES_MAX:
        raise UsageError(f"erase blocks of {format_size(geometry.block_bytes)} are too large")


# --- files ---


@dataclass(slots=True)
class _Made:
    """An inode that will be written when its links are known."""

    inode: Inode
    tree: FileTree


class _Builder:
    """Turns entries into objects in the store."""

    def __init__(self, store: Store, options: MkfsOptions, layout: _Layout) -> None:
        self.store = store
        self.inodes: dict[int, _Made] = {}
        self.warnings: list[str] = []
        self._options = options
        self._layout = layout
        self._next_ino = INO_LAST_RESERVED + 1
        self._directories: dict[bytes, int] = {b"": INO_ROOT}
        self._names: dict[int, list[tuple[bytes, int, int]]] = {INO_ROOT: []}
        self._inos: dict[object, int] = {}

    def add_all(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self._check(entry)
            ino = self._inos.get(entry.key) if entry.path else None
            if ino is None:
                ino = self._add(entry)
            else:
                made = self.inodes[ino]
                made.inode = replace(made.inode, nlink=made.inode.nlink + 1)
            if entry.path:
                parent = self._directories[entry.parent]
                kind = stat.S_IFMT(entry.mode) >> 12
                self._names[parent].append((entry.name, ino, kind))

    def _check(self, entry: Entry) -> None:
        """UsageError for what the format has no room for."""
        shown = entry.shown_shortened()
        if len(entry.name) > NAME_BYTES_MAX:
            raise UsageError(
                f"{shown}: the name has {len(entry.name)} bytes; LogFS stores {NAME_BYTES_MAX}"
            )
        if len(entry.target) > _TARGET_MAX:
            raise UsageError(f"{shown}: the link's target has {len(entry.target)} bytes")
        if entry.size > _FILE_BLOCKS_MAX * BLOCK_BYTES:
            raise UsageError(
                f"{shown}: {entry.size} bytes; files have at most {_FILE_BLOCKS_MAX * BLOCK_BYTES}"
            )
        for name, _ in entry.xattrs:
            self.warnings.append(
                f"{entry.shown()}: the attribute {os.fsdecode(name)} is left out: LogFS has none"
            )

    def _add(self, entry: Entry) -> int:
        is_directory = stat.S_ISDIR(entry.mode)
        ino = INO_ROOT
        if entry.path:
            ino = self._next_ino
            self._next_ino += 1
        if ino >= POINTERS**IFILE_HEIGHT_MAX:
            raise UsageError(f"more than {POINTERS**IFILE_HEIGHT_MAX - INO_LAST_RESERVED} inodes")
        if is_directory:
            self._directories[entry.path] = ino
            self._names[ino] = []
        else:
            self._inos[entry.key] = ino
        compress = self._options.compress
        blocks = {
            bix: self.store.append(ino, 0, bix, data, compress=compress)
            for bix, data in _blocks(entry)
        }
        tree = write_tree(self.store, ino, blocks)
        self.inodes[ino] = _Made(self._inode(entry, tree), tree)
        return ino

    def _inode(self, entry: Entry, tree: FileTree) -> Inode:
        seconds = entry.mtime if self._options.fixed_time is None else self._options.fixed_time
        if not 0 <= seconds <= _SECONDS_MAX:
            self.warnings.append(f"{entry.shown()}: its time is not from 1970 to 2554")
            seconds = min(max(seconds, 0), _SECONDS_MAX)
        squash = self._options.squash_owners
        data = tree.data
        if stat.S_IFMT(entry.mode) in (stat.S_IFCHR, stat.S_IFBLK):
            data = (encode_device(*entry.device), *data[1:])
        return Inode(
            mode=entry.mode,
            height=tree.height,
            flags=FLAG_COMPRESS if self._options.compress else 0,
            uid=0 if squash else entry.uid,
            gid=0 if squash else entry.gid,
            ctime=seconds * _NS,
            mtime=seconds * _NS,
            atime=seconds * _NS,
            used_bytes=tree.used_bytes,
            size=len(entry.target) or entry.size,
            data=data,
        )

    # --- what is written when all entries are known ---

    def finish(self) -> None:
        """Directories, inodes, segment file, journal, superblocks."""
        for ino, names in self._names.items():
            self._write_directory(ino, names)
        reserved = self._reserve_segment_file()
        inode_blocks = {
            ino: self.store.append(INO_MASTER, 0, ino, made.inode.pack(), ObjectType.INODE)
            for ino, made in sorted(self.inodes.items())
        }
        inode_file = write_tree(self.store, INO_MASTER, inode_blocks)
        self._fill_segment_file(reserved)
        last = max(INO_LAST_RESERVED, self._next_ino - 1)
        anchor = Anchor(
            max(INO_LAST_RESERVED, max(self.inodes) + 1) * BLOCK_BYTES,
            last,
            inode_file.used_bytes,
            inode_file.height,
            inode_file.data,
        )
        self._write_journal(anchor)
        self._write_superblocks()
        self._warn_of_space()

    def _write_directory(self, ino: int, names: Iterable[tuple[bytes, int, int]]) -> None:
        """A name takes the first of its places that is free; names come in order."""
        blocks: dict[int, Placed] = {}
        for name, target, kind in names:
            bix = next((slot for slot in places(name) if slot not in blocks), None)
            if bix is None:
                raise UsageError(f"too many names like {os.fsdecode(name)!r} in one directory")
            payload = DENTRY.pack(target, len(name), kind, name)
            blocks[bix] = self.store.append(ino, 0, bix, payload, ObjectType.DENTRY)
        tree = write_tree(self.store, ino, blocks)
        made = self.inodes[ino]
        made.inode = replace(
            made.inode,
            height=tree.height,
            data=tree.data,
            used_bytes=tree.used_bytes,
            size=(max(blocks, default=-1) + 1) * BLOCK_BYTES,
        )

    def _reserve_segment_file(self) -> dict[int, Placed]:
        count = -(-self._layout.segments // POINTERS)
        blocks = {bix: self.store.reserve(0, data_object_bytes()) for bix in range(count)}
        tree = write_tree(self.store, INO_SEGMENTS, blocks)
        inode = Inode(
            stat.S_IFREG | 0o600,
            height=tree.height,
            used_bytes=tree.used_bytes,
            size=SEGMENT_ENTRY.size * self._layout.segments,
            data=tree.data,
        )
        self.inodes[INO_SEGMENTS] = _Made(inode, tree)
        return blocks

    def _fill_segment_file(self, blocks: dict[int, Placed]) -> None:
        content = b"".join(
            SEGMENT_ENTRY.pack(*self._entry(s)) for s in range(self._layout.segments)
        )
        for bix, placed in blocks.items():
            part = content[bix * BLOCK_BYTES : (bix + 1) * BLOCK_BYTES]
            self.store.fill(placed, INO_SEGMENTS, bix, part.ljust(BLOCK_BYTES, b"\0"))

    def _entry(self, segno: int) -> tuple[int, int]:
        """Erase count and level of a segment, and its valid bytes."""
        layout, segments = self._layout, self.store.segments
        if segno in layout.bad:
            return U32, U32
        copies = {ofs // layout.segment_bytes for ofs in layout.copies}
        if segno in copies or segno in layout.journal:
            return FIRST_ERASE_COUNT << 4, SEGMENT_VALID_RESERVED
        level = segments.level.get(segno, 0)
        return FIRST_ERASE_COUNT << 4 | level, segments.valid.get(segno, 0)

    def _write_journal(self, anchor: Anchor) -> None:
        """One commit in the first segment; what is behind it stays erased."""
        layout = self._layout
        gec = max(FIRST_GEC, self.store.segments.gec + 1)
        live = sum(self.store.segments.valid.values())
        start = layout.journal[0] * layout.segment_bytes
        header = SegmentHeader(SegmentType.JOURNAL, 0, layout.journal[0], FIRST_ERASE_COUNT, gec)
        raw = bytearray(header.pack().ljust(FIRST_ENTRY_AT, b"\0"))
        offsets = []
        for kind, payload in (
            (EntryType.ANCHOR, anchor.pack()),
            (EntryType.DYNAMIC, DynamicSuperblock(gec, live).pack()),
        ):
            offsets.append(start + len(raw))
            raw += pack_entry(kind, payload)
        raw += pack_entry(EntryType.COMMIT, b"".join(ofs.to_bytes(8, "big") for ofs in offsets))
        raw += bytes(-len(raw) % self._superblock().write_unit)
        self.store.flash.write(start, bytes(raw))

    def _superblock(self) -> Superblock:
        layout, gec = self._layout, max(FIRST_GEC, self.store.segments.gec + 1)
        first = layout.copies[0] // layout.segment_bytes
        return Superblock(
            header=SegmentHeader(SegmentType.SUPERBLOCK, 0, first, FIRST_ERASE_COUNT, gec),
            segment_shift=layout.segment_bytes.bit_length() - 1,
            write_shift=self._options.geometry.page_bytes.bit_length() - 1,
            fs_bytes=layout.segments * layout.segment_bytes,
            bad_reserve=BAD_RESERVE,
            journal=layout.journal,
            copies=layout.copies,
        )

    def _write_superblocks(self) -> None:
        raw = self._superblock().pack().ljust(BLOCK_BYTES, b"\0")
        for ofs in self._layout.copies:
            self.store.flash.write(ofs, raw)

    def _warn_of_space(self) -> None:
        if free_bytes(self._layout, sum(self.store.segments.valid.values())) <= 0:
            self.warnings.append(
                "LogFS keeps the rest of this partition in reserve, so nothing can be written to "
                "this file system"
            )


def free_bytes(layout: _Layout, used_bytes: int) -> int:
    """What a mount lets be written, by the formula of the format's description."""
    usable = layout.segments - 2 - len(layout.journal) - 2 * TOTAL_LEVELS
    reserved = (len(layout.bad) + BAD_RESERVE) * layout.segment_bytes
    room = usable * (layout.segment_bytes - SEGMENT_RESERVE)
    return room - used_bytes - BLOCK_BYTES * TOTAL_LEVELS - reserved


def _blocks(entry: Entry) -> Iterator[tuple[int, bytes]]:
    """Blocks of a file or link."""
    if entry.target:
        yield 0, entry.target.ljust(BLOCK_BYTES, b"\0")
    yield from entry.blocks(BLOCK_BYTES)
