"""Writing a device: segments are taken in order, objects appended to the area of their GC level.

`Store` knows nothing of files; `write_tree` makes the indirect blocks of one. Everything is
written to its final place at once, but for blocks that were reserved with `reserve`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from ffslab.errors import UsageError
from ffslab.logfs.format import (
    BLOCK_BYTES,
    DIRECT,
    EMBEDDED,
    FULL,
    OBJECT_HEADER_BYTES,
    POINTERS,
    SEGMENT_HEADER_BYTES,
    ObjectType,
    SegmentHeader,
    SegmentType,
    first_bix,
    gc_level,
    pack_object,
    slot_of,
)
from ffslab.logfs.image import PageGeometry

FIRST_ERASE_COUNT = 1


class PartitionTooSmallError(UsageError):
    """The tree does not fit, or nothing would."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where an object is, and how many bytes it has with its header."""

    ofs: int
    total_bytes: int


@dataclass(slots=True)
class FileTree:
    """What an inode says of its blocks: height, embedded words, bytes of all objects."""

    height: int = 0
    data: tuple[int, ...] = (0,) * EMBEDDED
    used_bytes: int = 0


@dataclass(slots=True)
class _Area:
    segno: int
    used: int = SEGMENT_HEADER_BYTES


@dataclass(slots=True)
class Segments:
    """The segments of a device, and what the segment file is to say of them.

    `free` are those that objects may take, in order. `valid` counts the bytes of live objects.
    """

    segment_bytes: int
    free: list[int]
    valid: dict[int, int] = field(default_factory=dict)
    level: dict[int, int] = field(default_factory=dict)
    gec: int = 0

    def take(self, level: int) -> int:
        """The next free segment; UsageError if there is none."""
        if not self.free:
            raise PartitionTooSmallError(
                "the tree does not fit into the partition",
                remedy="a larger --partition-bytes, --compress, or a smaller tree",
            )
        segno = self.free.pop(0)
        self.gec += 1
        self.valid[segno] = 0
        self.level[segno] = level
        return segno


class FlashFile:
    """An image file by offsets of the device, with OOB of 0xFF behind each page."""

    def __init__(self, file: BinaryIO, geometry: PageGeometry, blocks: int) -> None:
        self._file = file
        self._geometry = geometry
        erased = b"\xff" * geometry.raw_block_bytes
        for _ in range(blocks):
            file.write(erased)

    def write(self, ofs: int, data: bytes) -> None:
        geometry = self._geometry
        if not geometry.oob_bytes:
            self._file.seek(ofs)
            self._file.write(data)
            return
        at = 0
        while at < len(data):
            page, offset = divmod(ofs + at, geometry.page_bytes)
            part = data[at : at + geometry.page_bytes - offset]
            self._file.seek(page * geometry.raw_page_bytes + offset)
            self._file.write(part)
            at += len(part)

    def mark_bad(self, block: int) -> None:
        """Sets the mark of a bad block, the first OOB byte, if there is OOB."""
        if self._geometry.oob_bytes:
            self._file.seek(block * self._geometry.raw_block_bytes + self._geometry.page_bytes)
            self._file.write(b"\0")


class Store:
    """The log of objects."""

    def __init__(self, flash: FlashFile, segments: Segments) -> None:
        self.flash = flash
        self.segments = segments
        self.objects = 0
        self._areas: dict[int, _Area] = {}

    def append(
        self,
        ino: int,
        level: int,
        bix: int,
        payload: bytes,
        kind: ObjectType = ObjectType.BLOCK,
        *,
        compress: bool = False,
    ) -> Placed:
        """Writes the object of a block into the area of its level."""
        raw = pack_object(kind, ino, bix, payload, compress=compress)
        placed = self.reserve(gc_level(ino, level), len(raw))
        self.flash.write(placed.ofs, raw)
        return placed

    def reserve(self, level: int, total_bytes: int) -> Placed:
        """A place for an object that is written later with `fill`."""
        segments = self.segments
        area = self._areas.get(level)
        if area is None or area.used + total_bytes > segments.segment_bytes:
            area = self._open(level)
        placed = Placed(area.segno * segments.segment_bytes + area.used, total_bytes)
        area.used += total_bytes
        segments.valid[area.segno] += total_bytes
        self.objects += 1
        return placed

    def fill(self, placed: Placed, ino: int, bix: int, payload: bytes) -> None:
        """Writes a block of data into its reserved place."""
        self.flash.write(placed.ofs, pack_object(ObjectType.BLOCK, ino, bix, payload))

    def _open(self, level: int) -> _Area:
        segno = self.segments.take(level)
        header = SegmentHeader(
            SegmentType.OBJECTS, level, segno, FIRST_ERASE_COUNT, self.segments.gec
        )
        self.flash.write(segno * self.segments.segment_bytes, header.pack())
        self._areas[level] = _Area(segno)
        return self._areas[level]


def height_for(last_bix: int) -> int:
    """How many levels of indirect blocks a file needs whose last block is that."""
    height = 0
    while last_bix >= (POINTERS**height if height else DIRECT):
        height += 1
    return height


def write_tree(store: Store, ino: int, blocks: Mapping[int, Placed]) -> FileTree:
    """Writes the indirect blocks above the blocks of a file, from the lowest level up."""
    used = sum(placed.total_bytes for placed in blocks.values())
    height = height_for(max(blocks, default=0))
    words = [0] * EMBEDDED
    pointers: dict[int, int] = {}
    for bix, placed in sorted(blocks.items()):
        if bix < DIRECT:
            words[bix] = placed.ofs | FULL
        else:
            pointers[bix] = placed.ofs | FULL
    for level in range(1, height + 1):
        pointers, added = _write_level(store, ino, level, pointers)
        used += added
    words[DIRECT] = pointers.get(0, 0)
    return FileTree(height, tuple(words), used)


def _write_level(
    store: Store, ino: int, level: int, below: Mapping[int, int]
) -> tuple[dict[int, int], int]:
    """Pointers to the indirect blocks of a level, by bix, and the bytes that they take."""
    slots_of: dict[int, list[int]] = {}
    for bix, pointer in below.items():
        slots = slots_of.setdefault(first_bix(bix, level), [0] * POINTERS)
        slots[slot_of(bix, level)] = pointer
    pointers: dict[int, int] = {}
    used = 0
    for bix, slots in sorted(slots_of.items()):
        payload = b"".join(slot.to_bytes(8, "big") for slot in slots)
        placed = store.append(ino, level, bix, payload)
        used += placed.total_bytes
        # The leftmost slots stand for blocks that the inode points to: they are no holes.
        unused = DIRECT if level == 1 and not bix else 0
        is_full = all(slot & FULL for slot in slots[unused:])
        pointers[bix] = placed.ofs | (FULL if is_full else 0)
    return pointers, used


def data_object_bytes() -> int:
    """What a block of data takes that is not compressed."""
    return OBJECT_HEADER_BYTES + BLOCK_BYTES
