"""Objects and trees of blocks: what pointers lead to, with everything that must hold on the way.

A pointer is followed only to an object that names the same inode and index, and to each object
once: so damage cannot lead round in circles. Levels descend by one with each step.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ffslab.logfs.format import (
    BLOCK_BYTES,
    COMPRESS_NONE,
    COMPRESS_ZLIB,
    DENTRY_BYTES,
    DIRECT,
    FULL,
    INDEX_BITS,
    INODE_BYTES,
    OBJECT_HEADER_BYTES,
    POINTERS,
    SEGMENT_HEADER_BYTES,
    Area,
    ObjectHeader,
    ObjectType,
    SegmentHeader,
    SegmentType,
    Superblock,
    crc32,
    gc_level,
    parse_object_header,
    parse_segment_header,
)
from ffslab.logfs.image import Device
from ffslab.logfs.journal import Journal, inflate
from ffslab.logfs.problems import Problems, Where

_SLOTS = struct.Struct(f">{POINTERS}Q")
_LENGTHS = {ObjectType.INODE: INODE_BYTES, ObjectType.DENTRY: DENTRY_BYTES}


@dataclass(slots=True)
class Walked:
    """What a walk through one file found: pointers to its blocks of level 0, bytes of objects."""

    ino: int
    blocks: dict[int, int] = field(default_factory=dict)
    used_bytes: int = 0


class ObjectStore:
    """Objects of a device after a mount: with the write buffers and aliases of the journal."""

    def __init__(
        self, device: Device, superblock: Superblock, journal: Journal, problems: Problems
    ) -> None:
        self.superblock = superblock
        self.problems = problems
        self.areas: list[Area] = []
        self.valid_bytes: defaultdict[int, int] = defaultdict(int)
        self.levels: defaultdict[int, set[int]] = defaultdict(set)
        self._device = device
        self._buffers: dict[int, bytes] = {}
        self._headers: dict[int, SegmentHeader | None] = {}
        self._owners: dict[int, tuple[int, int, int]] = {}
        self._aliases: defaultdict[tuple[int, int, int], dict[int, int]] = defaultdict(dict)
        for alias in journal.aliases:
            self._aliases[alias.ino, alias.level, alias.bix][alias.child] = alias.value
        self._unused_aliases = set(self._aliases)

    @property
    def objects(self) -> int:
        """How many objects pointers have led to."""
        return len(self._owners)

    # --- bytes ---

    def add_buffer(self, ofs: int, data: bytes) -> None:
        """What a write buffer has of the device from `ofs` on: the open unit up to `used`."""
        self._buffers[ofs] = data

    def read(self, ofs: int, length: int) -> bytes:
        """Bytes of the device, those of open write buffers over them."""
        contents = self._device.read(ofs, length)
        for start, data in self._buffers.items():
            first, last = max(start, ofs), min(start + len(data), ofs + length)
            if first < last:
                contents = (
                    contents[: first - ofs]
                    + data[first - start : last - start]
                    + (contents[last - ofs :])
                )
        return contents

    def programmed(self, ofs: int, length: int) -> bytes:
        """Bytes of the device without write buffers."""
        return self._device.read(ofs, length)

    def segment_header(self, segno: int) -> SegmentHeader | None:
        if segno not in self._headers:
            raw = self.read(segno << self.superblock.segment_shift, SEGMENT_HEADER_BYTES)
            self._headers[segno] = parse_segment_header(raw)
        return self._headers[segno]

    # --- objects ---

    def load(self, ofs: int) -> bytes | None:
        """The payload of an object that was found good before."""
        header = parse_object_header(self.read(ofs, OBJECT_HEADER_BYTES))
        if header is None:
            return None
        stored = self.read(ofs + OBJECT_HEADER_BYTES, header.length)
        if header.compression == COMPRESS_ZLIB:
            return inflate(stored, BLOCK_BYTES)
        return stored

    def load_block(self, ino: int, bix: int, ofs: int) -> bytes | None:
        """The same for a block of level 0, with its aliases."""
        payload = self.load(ofs)
        return None if payload is None else self._with_aliases(payload, ino, 0, bix)

    def follow(
        self, pointer: int, walked: Walked, level: int, bix: int, kind: ObjectType
    ) -> bytes | None:
        """The payload of the object that a pointer leads to, with its aliases; None if it is none.

        The object counts as used if its header is right, also if its payload is not.
        """
        ofs, ino = pointer & ~FULL, walked.ino
        where = Where(None, ofs, ino, level, bix)
        header = self._header_at(ofs, where)
        if header is None:
            return None
        if ofs in self._owners:
            other = "inode {} level {} block {}".format(*self._owners[ofs])
            self.problems.add("object-shared", f"{other} leads here too", where)
            return None
        self._owners[ofs] = (ino, level, bix)
        segno = ofs >> self.superblock.segment_shift
        walked.used_bytes += header.total_bytes
        self.valid_bytes[segno] += header.total_bytes
        self._check_level(segno, gc_level(ino, level), where)
        payload = self._payload(ofs, header, kind, where)
        return None if payload is None else self._with_aliases(payload, ino, level, bix)

    def _header_at(self, ofs: int, where: Where) -> ObjectHeader | None:
        """The header, if it is that of the object that the pointer means."""
        add = self.problems.add
        size = 1 << self.superblock.segment_shift
        inside = ofs & size - 1
        if ofs >= self.superblock.segments * size or not (
            SEGMENT_HEADER_BYTES <= inside <= size - OBJECT_HEADER_BYTES
        ):
            add("object-place", "no object can be there", where)
            return None
        header = parse_object_header(self.read(ofs, OBJECT_HEADER_BYTES))
        if header is None:
            add("object-header", "the CRC of the object's header is wrong", where)
            return None
        if (header.ino, header.bix) != (where.ino, where.bix):
            message = f"the object there is block {header.bix} of inode {header.ino}"
            add("object-identity", message, where)
            return None
        if inside + header.total_bytes > size or header.length > BLOCK_BYTES:
            add("object-length", f"its {header.length} bytes do not fit", where)
            return None
        return header

    def _check_level(self, segno: int, level: int, where: Where) -> None:
        header = self.segment_header(segno)
        self.levels[segno].add(level)
        if header is None or header.kind != SegmentType.OBJECTS:
            self.problems.add("object-place", f"segment {segno} holds no objects", where)
        elif header.level != level:
            message = f"segment {segno} is of level {header.level}, the object of {level}"
            self.problems.add("object-level", message, where)

    def _payload(
        self, ofs: int, header: ObjectHeader, kind: ObjectType, where: Where
    ) -> bytes | None:
        """The payload, uncompressed; problems say what is wrong with it."""
        add = self.problems.add
        stored = self.read(ofs + OBJECT_HEADER_BYTES, header.length)
        good = crc32(stored) == header.data_crc
        if not good:
            add("object-data", "the CRC of the object's payload is wrong", where)
        if header.kind != kind:
            add("object-type", f"its type is {header.kind}, not {kind}", where)
            return None
        length = _LENGTHS.get(kind, BLOCK_BYTES)
        may_compress = where.level == 0 and kind == ObjectType.BLOCK
        if header.compression != COMPRESS_NONE:
            if header.compression != COMPRESS_ZLIB or not may_compress:
                add("object-compression", f"its compression is {header.compression}", where)
                return None
            inflated = inflate(stored, length)
            if inflated is None and good:
                add("object-compression", "it does not give a block", where)
            return inflated if good else None
        if header.length != length:
            add("object-length", f"it has {header.length} bytes, not {length}", where)
            return None
        return stored if good else None

    def _with_aliases(self, payload: bytes, ino: int, level: int, bix: int) -> bytes:
        aliases = self._aliases.get((ino, level, bix))
        if not aliases:
            return payload
        self._unused_aliases.discard((ino, level, bix))
        words = bytearray(payload)
        for child, value in aliases.items():
            if 8 * child + 8 <= len(words):
                words[8 * child : 8 * child + 8] = value.to_bytes(8, "big")
        return bytes(words)

    def check_aliases(self) -> None:
        """After all files were walked: aliases of blocks that no walk has met."""
        for ino, level, bix in sorted(self._unused_aliases):
            where = Where(ino=ino, level=level, bix=bix)
            self.problems.add("alias-target", "there is no such block", where)

    # --- trees ---

    def walk(self, ino: int, height: int, data: Sequence[int]) -> Walked:
        """All objects of a file by its 17 embedded words."""
        walked = Walked(ino)
        for bix in range(DIRECT):
            self._leaf(walked, data[bix], bix)
        if height and data[DIRECT]:
            self._indirect(walked, data[DIRECT], height, 0)
        elif data[DIRECT]:
            message = "a pointer to indirect blocks in an inode of height 0"
            self.problems.add("inode-height", message, Where(ino=ino))
        return walked

    def _leaf(self, walked: Walked, pointer: int, bix: int) -> bool:
        """Notes a block of level 0; whether it is no hole. Who made it may have left bit 63 out."""
        if pointer:
            walked.blocks[bix] = pointer & ~FULL
        return bool(pointer)

    def _indirect(self, walked: Walked, pointer: int, level: int, bix: int) -> bool:
        """Descends below an indirect block; whether there is no hole below.

        A block without holes whose pointers lack bit 63 is as good as one with holes.
        """
        claimed = bool(pointer & FULL)
        payload = self.follow(pointer, walked, level, bix, ObjectType.BLOCK)
        if payload is None:
            return claimed
        full, is_marked = True, True
        for slot, child in enumerate(_SLOTS.unpack(payload)):
            below = bix + (slot << INDEX_BITS * (level - 1))
            if level == 1 and below < DIRECT:
                if child:
                    where = Where(ino=walked.ino, level=1, bix=bix)
                    self.problems.add("pointer-full", f"slot {slot} must be 0", where)
            elif not child:
                full = False
            elif level == 1:
                self._leaf(walked, child, below)
            else:
                full &= self._indirect(walked, child, level - 1, below)
            is_marked &= bool(child & FULL) or (level == 1 and below < DIRECT)
        if claimed != full and (claimed or is_marked):
            message = f"its pointer says {_holes(claimed)}, and there are {_holes(full)}"
            where = Where(None, pointer & ~FULL, walked.ino, level, bix)
            self.problems.add("pointer-full", message, where)
        return full


def _holes(full: bool) -> str:
    return "no holes" if full else "holes"
