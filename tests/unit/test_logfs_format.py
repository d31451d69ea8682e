"""Structures of LogFS byte by byte, as docs/logfs-format.md lists them, and places of names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ffslab.logfs import format as f
from ffslab.logfs.format import (
    Alias,
    Area,
    DynamicSuperblock,
    EntryType,
    Inode,
    ObjectType,
    SegmentHeader,
    SegmentType,
    Superblock,
    crc32,
    encode_device,
    first_bix,
    gc_level,
    pack_entry,
    pack_object,
    parse_dynamic,
    parse_inode,
    parse_object_header,
    parse_segment_header,
    parse_superblock,
    slot_of,
)
from ffslab.logfs.journal import Anchor, parse_anchor, scan_entries
from ffslab.logfs.names import BIX_MAX, name_hash, places
from ffslab.logfs.writer import height_for


def slow_crc(data: bytes) -> int:
    """CRC-32, reflected, bit by bit: seeded with ones, not inverted at the end."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
    return value


def be(size: int, value: int) -> bytes:
    return value.to_bytes(size, "big")


def test_the_crc_is_not_inverted() -> None:
    assert crc32(bytes(4)) == 0xDEBB20E3
    assert crc32(b"LogFS") == slow_crc(b"LogFS")


def test_a_segment_header() -> None:
    body = be(2, 0) + be(1, 3) + be(1, 6) + be(4, 17) + be(4, 5) + be(8, 0x1234)
    raw = be(4, slow_crc(body)) + body
    header = SegmentHeader(SegmentType.OBJECTS, 6, 17, 5, 0x1234)
    assert header.pack() == raw
    assert len(raw) == 24
    assert parse_segment_header(raw) == header
    assert parse_segment_header(raw[:23] + b"\xff") is None


def test_an_object() -> None:
    payload = bytes(range(200))
    body = be(2, 200) + be(1, 5) + be(1, 0) + be(8, 1) + be(8, 17)
    raw = be(4, slow_crc(body)) + body + be(4, slow_crc(payload)) + payload
    assert pack_object(ObjectType.INODE, 1, 17, payload) == raw
    header = parse_object_header(raw[:28])
    assert header is not None
    assert (header.ino, header.bix, header.length, header.total_bytes) == (1, 17, 200, 228)
    assert parse_object_header(raw[:8] + b"\1" + raw[9:28]) is None
    # The header's CRC leaves out that of the payload.
    assert parse_object_header(raw[:24] + bytes(4)) is not None


def test_an_object_is_compressed_only_if_that_is_shorter() -> None:
    short = pack_object(ObjectType.BLOCK, 17, 0, bytes(4096), compress=True)
    assert (len(short) < 100, short[6], short[7]) == (True, 4, 1)
    assert len(pack_object(ObjectType.BLOCK, 17, 0, bytes(4096))) == 28 + 4096
    odd = pack_object(ObjectType.BLOCK, 17, 0, bytes(range(16)), compress=True)
    assert (len(odd), odd[7]) == (28 + 16, 0)


def test_an_inode() -> None:
    inode = Inode(0o100644, 2, 4, 10, 20, 30, 40, 50, 3, 7, 60, 70, tuple(range(100, 117)))
    words = [
        0o100644 << 48 | 2 << 40 | 4,
        *(10 << 32 | 20, 30, 40, 50),
        *(3 << 32 | 7, 60, 70),
        *range(100, 117),
    ]
    raw = b"".join(be(8, word) for word in words)
    assert len(raw) == 200
    assert inode.pack() == raw
    assert parse_inode(raw) == inode


def test_a_superblock() -> None:
    header = SegmentHeader(SegmentType.SUPERBLOCK, 0, 1, 1, 9)
    fields = bytes((3, 4, 1, 17, 12, 11)) + bytes(6)
    fields += be(8, 1 << 23) + be(4, 1 << 17) + be(4, 4) + bytes(32) + bytes(16)
    fields += b"".join(be(4, segno) for segno in (2, 3, 4, 5)) + bytes(48)
    fields += be(8, 1 << 17) + be(8, (1 << 23) - 4096) + bytes(64)
    raw = header.pack() + be(8, 0x7A3A8E5CB9D5BF67) + be(4, slow_crc(fields)) + fields
    places = (1 << 17, (1 << 23) - 4096)
    superblock = Superblock(header, 17, 11, 1 << 23, 4, (2, 3, 4, 5), places, segment_bytes=1 << 17)
    assert len(raw) == 256
    assert superblock.pack() == raw
    parsed = parse_superblock(raw)
    assert parsed is not None
    assert parsed.journal_segnos == (2, 3, 4, 5)
    assert (parsed.segments, parsed.write_unit, parsed.copies) == (64, 4096, superblock.copies)
    for segment_shift, write_shift, unit in ((14, 9, 512), (16, 0, 2048), (14, 11, 2048)):
        small = replace(parsed, segment_shift=segment_shift, write_shift=write_shift)
        assert small.write_unit == unit
    assert parse_superblock(raw[:255] + b"\1") is None
    assert parse_superblock(raw[:24] + bytes(8) + raw[32:]) is None


def test_entries_of_the_journal() -> None:
    dynamic = DynamicSuperblock(1, 7, 2, 3, 4, 5, 6, 8)
    raw = b"".join(be(8, word) for word in (1, 2, 3, 4, 5, 6, 7)) + be(4, 8) + bytes(4)
    assert dynamic.pack() == raw
    assert parse_dynamic(raw) == dynamic
    anchor = Anchor(65536, 16, 9, 1, tuple(range(17)))
    raw = be(8, 65536) + be(8, 16) + be(8, 9) + b"\1" + bytes(7)
    raw += b"".join(be(8, word) for word in range(17))
    assert (anchor.pack(), len(raw)) == (raw, 168)
    assert parse_anchor(raw) == anchor
    alias = be(8, 17) + be(8, 512) + be(8, 99) + b"\1" + bytes(5) + be(2, 511)
    assert Alias(17, 512, 99, 1, 511).pack() == alias
    area = be(4, 5) + be(4, 100) + bytes((6, 0)) + b"unit"
    assert Area(5, 100, 6, 0, b"unit").pack() == area


def test_a_journal_entry_and_the_search_for_entries() -> None:
    body = be(2, 5) + be(2, 5) + be(2, 4) + bytes((0,)) + bytes(5)
    raw = be(4, slow_crc(body + b"abcde")) + body + b"abcde" + bytes(11)
    assert pack_entry(EntryType.ANCHOR, b"abcde") == raw
    segment = bytes(32) + bytes(16) + raw + pack_entry(EntryType.DYNAMIC, bytes(64), compress=True)
    found = list(scan_entries(segment, 1 << 20))
    assert [(entry.ofs - (1 << 20), entry.kind, entry.payload) for entry in found] == [
        (48, 4, b"abcde"),
        (80, 3, bytes(64)),
    ]
    damaged = segment[:66] + b"!" + segment[67:]
    assert [entry.ofs - (1 << 20) for entry in scan_entries(damaged, 1 << 20)] == [80]


def test_levels_and_indices() -> None:
    assert (gc_level(17, 0), gc_level(17, 3), gc_level(1, 0), gc_level(1, 2)) == (0, 3, 6, 8)
    assert first_bix(1000, 1) == 512
    assert first_bix(300_000, 2) == 262_144
    assert (slot_of(1000, 1), slot_of(1000, 2), slot_of(300_000, 2)) == (488, 1, 73)
    heights = [height_for(bix) for bix in (0, 15, 16, 511, 512, 512**2 - 1, 512**2, 512**3)]
    assert heights == [0, 0, 1, 1, 2, 2, 3, 4]


def test_the_hash_of_a_name() -> None:
    assert name_hash(b"") == 0
    assert name_hash(b"a") == 97
    assert name_hash(b"ab") == 97 * 293 + 98
    # 255 unsigned: the signed -1 of the original would give another place.
    assert name_hash(b"\xff") == 255
    assert name_hash(b"abcdefgh") < 1 << 32


@pytest.mark.parametrize("name", [b"ab", b"a longer name", b"\xe4\xf6\xfc", b"zz" * 127])
def test_the_places_of_a_name(name: bytes) -> None:
    found = list(places(name))
    last = len(name) - 1
    value = sum(byte * 293 ** (last - at) for at, byte in enumerate(name)) % 2**32
    # 512 - 16, 512^2 - 512, 512^3 - 512^2
    assert found[:3] == [value % 16, 16 + value % 496, 512 + value % 261_632]
    assert found[3] == 262_144 + value % 133_955_584
    # (2^31 - 512^3) / 16
    bucket = 134_217_728 + 16 * (value % 125_829_120)
    assert found[4:] == [bucket + slot for slot in range(16)]
    assert len(found) == 20
    assert BIX_MAX == 2**31 - 1


def test_the_sizes_and_numbers_of_the_document() -> None:
    """What a structure's own layout does not say."""
    sizes = (f.SEGMENT_HEADER, f.OBJECT_HEADER, f.ENTRY_HEADER, f.SUPERBLOCK, f.INODE, f.DENTRY)
    assert [one.size for one in sizes] == [24, 28, 16, 256, 200, 266]
    entries = (f.DYNAMIC, f.ANCHOR, f.ALIAS, f.AREA, f.SEGMENT_ENTRY)
    assert [one.size for one in entries] == [64, 168, 32, 10, 8]
    assert [int(kind) for kind in SegmentType] == [1, 2, 3]
    assert [int(kind) for kind in ObjectType] == [4, 5, 6]
    assert [int(kind) for kind in EntryType] == [2, 3, 4, 5, 6, 13, 14]
    assert (f.TOTAL_LEVELS, f.SEGMENT_RESERVE, f.FULL) == (8, 4147, 0x8000000000000000)


@pytest.mark.parametrize(
    ("device", "encoded"), [((4, 5), 0x405), ((8, 256), 0x100800), ((259, 0x12345), 0x12310345)]
)
def test_device_numbers(device: tuple[int, int], encoded: int) -> None:
    from ffslab.fsimage.node import Node

    assert encode_device(*device) == encoded
    node = Node("/d", 17, "special", 0o020600, 0, 0, 0, 0, 0, 0, rdev=encoded)
    assert node.device == device
