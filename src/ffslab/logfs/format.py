"""LogFS on flash: numbers, structures and the shape of a file's tree (docs/logfs-format.md).

The facts stand in the document that the kernel module is written from as well; this package
shares no code with the module, so that each can find the other's mistakes.

All integers are big-endian. *bix* is the index of a block in a file, for an indirect block that of
its leftmost block of data; *ofs* is a place on the device in bytes, from the partition's start.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, replace
from enum import IntEnum

BLOCK_BYTES = 4096
POINTERS = 512  # of an indirect block
INDEX_BITS = 9
DIRECT = 16  # pointers in an inode in front of the one to indirect blocks
EMBEDDED = 17
FULL = 1 << 63  # of a pointer: no hole below
U32, U64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF

INO_MASTER = 1  # the inode file
INO_ROOT = 2
INO_SEGMENTS = 3
INO_LAST_RESERVED = 16

SEGMENT_HEADER_BYTES = 24
OBJECT_HEADER_BYTES = 28
INODE_BYTES = 200
INODE_WORDS = 25
DENTRY_BYTES = 266
NAME_BYTES_MAX = 255
SUPERBLOCK_BYTES = 256
ENTRY_HEADER_BYTES = 16
ENTRY_ALIGNMENT = 16
FIRST_ENTRY_AT = 32
ALIAS_BYTES = 32
AREA_BYTES = 10
DYNAMIC_BYTES = 64
ANCHOR_BYTES = 168
ERASE_COUNTS_BYTES = 64
JOURNAL_SEGMENTS_MAX = 16
UNITS = 32  # write units of less than a block that a segment has at least
# Header and the worst tail of a segment: never counted on for data.
SEGMENT_RESERVE = SEGMENT_HEADER_BYTES + BLOCK_BYTES + OBJECT_HEADER_BYTES - 1

MAGIC = 0x7A3A8E5CB9D5BF67
IFILE_LEVELS, IBLOCK_LEVELS, DATA_LEVELS = 3, 4, 1
TOTAL_LEVELS = IFILE_LEVELS + IBLOCK_LEVELS + DATA_LEVELS
IFILE_HEIGHT_MAX = IFILE_LEVELS - 1
GC_LEVEL_INODES = 6
GC_LEVELS = 12
SEGMENT_VALID_RESERVED = U32  # superblock, journal
FLAG_COMPRESS = 0x4
COMPRESS_NONE, COMPRESS_ZLIB = 0, 1
ZLIB_LEVEL = 3

SEGMENT_HEADER = struct.Struct(">IHBBIIQ")
OBJECT_HEADER = struct.Struct(">IHBBQQI")
ENTRY_HEADER = struct.Struct(">IHHHB5x")
SUPERBLOCK = struct.Struct(">24sQI6B6xQII4QQQ16I2Q64x")
DYNAMIC = struct.Struct(">7QI4x")
ANCHOR = struct.Struct(">3QB7x17Q")
ALIAS = struct.Struct(">3QB5xH")
AREA = struct.Struct(">IIBB")
DENTRY = struct.Struct(">QHB255s")
INODE = struct.Struct(">HBxIIIQQQIIQQ17Q")
SEGMENT_ENTRY = struct.Struct(">II")


class SegmentType(IntEnum):
    """What a segment is used for."""

    SUPERBLOCK = 1
    JOURNAL = 2
    OBJECTS = 3


class ObjectType(IntEnum):
    """What an object holds."""

    BLOCK = 4  # data, a symbolic link's target, or an indirect block
    INODE = 5
    DENTRY = 6


class EntryType(IntEnum):
    """Entries of the journal."""

    COMMIT = 2
    DYNAMIC = 3
    ANCHOR = 4
    ERASE_COUNTS = 5
    SPILLOUT = 6
    ALIASES = 13
    AREA = 14


def crc32(data: bytes) -> int:
    """The kernel's CRC-32 as LogFS uses it: seeded with all ones, not inverted at the end."""
    return zlib.crc32(data) ^ U32


@dataclass(frozen=True, slots=True)
class SegmentHeader:
    """The first bytes of a segment; `gec` is the global erase count at the time of writing."""

    kind: int
    level: int
    segno: int
    erase_count: int
    gec: int

    def pack(self) -> bytes:
        body = SEGMENT_HEADER.pack(
            0, 0, self.kind, self.level, self.segno, self.erase_count, self.gec
        )[4:]
        return struct.pack(">I", crc32(body)) + body


def parse_segment_header(raw: bytes) -> SegmentHeader | None:
    """None if the CRC is wrong."""
    crc, _, kind, level, segno, erase_count, gec = SEGMENT_HEADER.unpack(raw)
    if crc != crc32(raw[4:SEGMENT_HEADER_BYTES]):
        return None
    return SegmentHeader(kind, level, segno, erase_count, gec)


@dataclass(frozen=True, slots=True)
class ObjectHeader:
    """What stands in front of an object's payload. `length` is that of the stored payload."""

    length: int
    kind: int
    compression: int
    ino: int
    bix: int
    data_crc: int

    def pack(self) -> bytes:
        raw = OBJECT_HEADER.pack(
            0, self.length, self.kind, self.compression, self.ino, self.bix, self.data_crc
        )
        return struct.pack(">I", crc32(raw[4:24])) + raw[4:]

    @property
    def total_bytes(self) -> int:
        return OBJECT_HEADER_BYTES + self.length


def parse_object_header(raw: bytes) -> ObjectHeader | None:
    """None if the CRC is wrong."""
    crc, length, kind, compression, ino, bix, data_crc = OBJECT_HEADER.unpack(raw)
    if crc != crc32(raw[4:24]):
        return None
    return ObjectHeader(length, kind, compression, ino, bix, data_crc)


def pack_object(
    kind: ObjectType, ino: int, bix: int, payload: bytes, *, compress: bool = False
) -> bytes:
    """A whole object: header and payload, compressed if that makes it smaller."""
    stored, method = _stored(payload, compress=compress)
    header = ObjectHeader(len(stored), kind, method, ino, bix, crc32(stored))
    return header.pack() + stored


def _stored(payload: bytes, *, compress: bool) -> tuple[bytes, int]:
    """What is stored of it, and how: compressed only if that makes it smaller."""
    shorter = zlib.compress(payload, ZLIB_LEVEL) if compress else payload
    if len(shorter) < len(payload):
        return shorter, COMPRESS_ZLIB
    return payload, COMPRESS_NONE


@dataclass(frozen=True, slots=True)
class Inode:
    """An inode; times in nanoseconds since 1970. `data` are the 17 embedded words."""

    mode: int
    height: int = 0
    flags: int = 0
    uid: int = 0
    gid: int = 0
    ctime: int = 0
    mtime: int = 0
    atime: int = 0
    nlink: int = 1
    generation: int = 0
    used_bytes: int = 0
    size: int = 0
    data: tuple[int, ...] = (0,) * EMBEDDED

    def pack(self) -> bytes:
        return INODE.pack(
            self.mode,
            self.height,
            self.flags,
            *(self.uid, self.gid),
            *(self.ctime, self.mtime, self.atime),
            *(self.nlink, self.generation),
            *(self.used_bytes, self.size),
            *self.data,
        )


def parse_inode(raw: bytes) -> Inode:
    """The inode of 200 bytes."""
    values = INODE.unpack(raw)
    return replace(Inode(*values[:12]), data=tuple(values[12:]))


@dataclass(frozen=True, slots=True)
class Superblock:
    """What never changes. `write_shift` is the logarithm of the flash's page size, `journal` has
    up to 16 slots.
    """

    header: SegmentHeader
    segment_shift: int
    write_shift: int
    fs_bytes: int
    bad_reserve: int
    journal: tuple[int, ...]
    copies: tuple[int, ...]
    ifile_levels: int = IFILE_LEVELS
    iblock_levels: int = IBLOCK_LEVELS
    data_levels: int = DATA_LEVELS
    block_shift: int = 12
    segment_bytes: int = 0  # or 1 << segment_shift
    features: tuple[int, ...] = (0, 0, 0, 0)
    root_reserve: int = 0
    speed_reserve: int = 0

    @property
    def journal_segnos(self) -> tuple[int, ...]:
        """The segments of the journal; slots with 0 are not used."""
        return tuple(segno for segno in self.journal if segno)

    @property
    def segments(self) -> int:
        return self.fs_bytes >> self.segment_shift

    @property
    def write_unit(self) -> int:
        """What is programmed at once: a page, at least a block, or 1/32 of a small segment."""
        return max(1 << self.write_shift, min(BLOCK_BYTES, (1 << self.segment_shift) // UNITS))

    def pack(self) -> bytes:
        journal = (*self.journal, *(0,) * (JOURNAL_SEGMENTS_MAX - len(self.journal)))
        raw = SUPERBLOCK.pack(
            self.header.pack(),
            MAGIC,
            0,
            *(self.ifile_levels, self.iblock_levels, self.data_levels),
            *(self.segment_shift, self.block_shift, self.write_shift),
            *(self.fs_bytes, self.segment_bytes, self.bad_reserve),
            *self.features,
            *(self.root_reserve, self.speed_reserve),
            *journal,
            *self.copies,
        )
        return raw[:32] + struct.pack(">I", crc32(raw[36:])) + raw[36:]


def parse_superblock(raw: bytes) -> Superblock | None:
    """None without the magic number, or if one of the two CRCs is wrong."""
    if len(raw) < SUPERBLOCK_BYTES or raw[24:32] != struct.pack(">Q", MAGIC):
        return None
    header = parse_segment_header(raw[:SEGMENT_HEADER_BYTES])
    values = SUPERBLOCK.unpack(raw[:SUPERBLOCK_BYTES])
    if header is None or values[2] != crc32(raw[36:SUPERBLOCK_BYTES]):
        return None
    return Superblock(
        header=header,
        ifile_levels=values[3],
        iblock_levels=values[4],
        data_levels=values[5],
        segment_shift=values[6],
        block_shift=values[7],
        write_shift=values[8],
        fs_bytes=values[9],
        segment_bytes=values[10],
        bad_reserve=values[11],
        features=tuple(values[12:16]),
        root_reserve=values[16],
        speed_reserve=values[17],
        journal=tuple(values[18:34]),
        copies=tuple(values[34:36]),
    )


@dataclass(frozen=True, slots=True)
class DynamicSuperblock:
    """The state of the file system as a whole, in every commit."""

    gec: int
    used_bytes: int
    sweeper: int = 0
    rename_directory: int = 0
    rename_position: int = 0
    victim: int = 0
    victim_parent: int = 0
    generation: int = 0

    def pack(self) -> bytes:
        return DYNAMIC.pack(
            *(self.gec, self.sweeper, self.rename_directory, self.rename_position),
            *(self.victim, self.victim_parent, self.used_bytes, self.generation),
        )


def parse_dynamic(raw: bytes) -> DynamicSuperblock:
    gec, sweeper, directory, position, victim, parent, used, generation = DYNAMIC.unpack(raw)
    return DynamicSuperblock(gec, used, sweeper, directory, position, victim, parent, generation)


@dataclass(frozen=True, slots=True)
class Alias:
    """A word of a block (ino, bix, level) that is newer than the block."""

    ino: int
    bix: int
    value: int
    level: int
    child: int

    def pack(self) -> bytes:
        return ALIAS.pack(self.ino, self.bix, self.value, self.level, self.child)


@dataclass(frozen=True, slots=True)
class Area:
    """The open segment of a GC level: bytes used, and the write unit that is not programmed yet."""

    segno: int
    used: int
    level: int
    data_class: int = 0
    buffer: bytes = b""

    def pack(self) -> bytes:
        return AREA.pack(self.segno, self.used, self.level, self.data_class) + self.buffer


def pack_entry(kind: int, payload: bytes, *, compress: bool = False) -> bytes:
    """A journal entry, padded to the alignment of the next one."""
    stored, method = _stored(payload, compress=compress)
    header = ENTRY_HEADER.pack(0, len(stored), len(payload), kind, method)
    whole = struct.pack(">I", crc32(header[4:] + stored)) + header[4:] + stored
    return whole + bytes(-len(whole) % ENTRY_ALIGNMENT)


def gc_level(ino: int, level: int) -> int:
    """The GC level of a block: which segments it may lie in."""
    return level + GC_LEVEL_INODES if ino == INO_MASTER else level


def first_bix(bix: int, level: int) -> int:
    """The bix of the indirect block of that level above data block `bix`."""
    return bix >> INDEX_BITS * level << INDEX_BITS * level


def slot_of(bix: int, level: int) -> int:
    """The slot of `bix` in an indirect block of that level."""
    return bix >> INDEX_BITS * (level - 1) & POINTERS - 1


def encode_device(major: int, minor: int) -> int:
    """A device number as the kernel's new_encode_dev() packs it."""
    return minor & 0xFF | major << 8 | (minor & ~0xFF) << 12
