"""Headers, attributes, summaries, checkpoints: bytes laid out by hand against the parsers."""

from __future__ import annotations

import functools
import operator
import random
import struct

import pytest

from ffslab.yaffs2.checkpoint_read import (
    CheckpointError,
    entry_widths,
    parse_stream,
    unpack_leaf,
    xor_bytes,
)
from ffslab.yaffs2.format import Geometry, ObjectType, geometry_problem
from ffslab.yaffs2.header import HeaderFields, pack_header, parse_header
from ffslab.yaffs2.summary import pack_summary, parse_summary, piece_sizes
from ffslab.yaffs2.tags import Tags
from ffslab.yaffs2.xattr import pack_xattrs, parse_xattrs


@pytest.mark.parametrize(
    ("geometry", "data_bytes", "summary_pages"),
    [
        (Geometry(), 2048, 1),  # (768 + 2047) / 2032
        (Geometry(inband=True), 2032, 1),  # (768 + 2031) / 2016
        (Geometry(pages_per_block=256), 2048, 2),  # (3072 + 2047) / 2032
        (Geometry(1024, 32, 128), 1024, 2),  # (1536 + 1023) / 1008
        (Geometry(4096, 128, 64), 4096, 1),
    ],
)
def test_sizes_that_follow_from_the_chip(
    geometry: Geometry, data_bytes: int, summary_pages: int
) -> None:
    assert geometry.data_bytes == data_bytes
    assert geometry.summary_pages == summary_pages
    assert geometry.max_file_bytes == 268435455 * data_bytes
    assert not geometry_problem(geometry)


@pytest.mark.parametrize(
    "geometry",
    [
        Geometry(oob_bytes=16),
        Geometry(oob_offset=40),
        Geometry(page_bytes=512),
        Geometry(pages_per_block=1),
        Geometry(oob_bytes=-1),
        Geometry(page_bytes=1 << 30),
    ],
)
def test_impossible_geometries_have_a_reason(geometry: Geometry) -> None:
    assert geometry_problem(geometry)


def header_by_hand() -> bytes:
    raw = bytearray(b"\xff" * 512)
    raw[0:8] = struct.pack("<II", 1, 257)
    raw[10:266] = b"name".ljust(256, b"\0")
    raw[268:292] = struct.pack("<6I", 0o100644, 1000, 100, 11, 22, 33)
    raw[292:296] = struct.pack("<I", 7)
    raw[460:464] = struct.pack("<I", 0)
    # Change, access, modification; the last one is not set and has its 32-bit field only.
    raw[464:472] = struct.pack("<II", 33, 0)
    raw[472:480] = struct.pack("<II", 11, 1)
    raw[496:500] = struct.pack("<I", 2)
    raw[504:512] = struct.pack("<II", 300, 1)
    return bytes(raw)


def test_a_header_laid_out_by_hand() -> None:
    header = parse_header(header_by_hand())
    assert (header.type_number, header.parent_id, header.name) == (1, 257, b"name")
    assert (header.mode, header.uid, header.gid) == (0o100644, 1000, 100)
    assert header.ctime == 33
    assert header.atime == 11 + (1 << 32)
    assert header.mtime == 22
    assert header.size == 7 + (2 << 32)
    assert header.shadowed == 300
    assert header.is_shrink == 1
    assert header.target_id == 0xFFFFFFFF
    assert header.alias == b""


def test_a_written_header_has_its_fields_at_their_places() -> None:
    fields = HeaderFields(
        ObjectType.FILE,
        1,
        b"f",
        mode=0o100600,
        uid=5,
        gid=6,
        atime=1,
        mtime=2,
        ctime=3 + (1 << 32),
        size=9,
    )
    raw = pack_header(fields)
    assert len(raw) == 512

    def word(offset: int) -> int:
        return int.from_bytes(raw[offset : offset + 4], "little")

    assert raw[8:10] == b"\xff\xff"
    assert raw[10:266] == b"f" + bytes(255)
    expected = {0: 1, 4: 1, 268: 0o100600, 272: 5, 276: 6, 280: 1, 284: 2, 288: 3, 292: 9}
    expected |= {296: 0xFFFFFFFF, 464: 3, 468: 1, 472: 1, 476: 0, 480: 2, 484: 0}
    # No device number, nothing shadowed (twice), not shrinking.
    expected |= {460: 0, 488: 0, 492: 0xFFFFFFFF, 496: 0, 500: 0xFFFFFFFF, 504: 0, 508: 0}
    assert {offset: word(offset) for offset in expected} == expected
    assert raw[300:460] == b"\xff" * 160


def test_large_sizes_use_the_high_word() -> None:
    header = parse_header(pack_header(HeaderFields(ObjectType.FILE, 1, b"f", size=5 << 32 | 1)))
    assert header.size == 5 << 32 | 1
    assert header.size_high == 5


def test_names_and_targets_that_are_too_long_are_refused() -> None:
    with pytest.raises(ValueError):
        pack_header(HeaderFields(ObjectType.FILE, 1, b"n" * 255))
    with pytest.raises(ValueError):
        pack_header(HeaderFields(ObjectType.SYMLINK, 1, b"n", alias=b"t" * 160))
    longest = HeaderFields(ObjectType.SYMLINK, 1, b"n" * 254, alias=b"t" * 159)
    header = parse_header(pack_header(longest))
    assert (len(header.name), len(header.alias)) == (254, 159)


def test_attributes_laid_out_by_hand() -> None:
    area = b"\x0d\0\0\0user.a\0" + b"12" + b"\x0c\0\0\0user.b\0" + b"" + b"\xff" * 40
    # The first record: 4 + 7 + 2 bytes; the second one has 4 + 7 and says 12.
    assert parse_xattrs(area)[0] == {b"user.a": b"12", b"user.b": b"\xff"}
    assert pack_xattrs([(b"user.a", b"12")]) == b"\x0d\0\0\0user.a\0" + b"12"
    assert parse_xattrs(b"\xff" * 1536) == ({}, "")
    assert parse_xattrs(b"") == ({}, "")


@pytest.mark.parametrize(
    "area",
    [
        b"\x05\0\0\0a\0\0\0",  # too short for a name
        b"\xff\0\0\0user.a\0",  # behind the end
        b"\x08\0\0\0abcd" + b"\xff" * 8,  # the name has no end
        b"\x08\0\0\0\0abc" + b"\xff" * 8,  # an empty name
        b"\xff\xff\xff\xffjunk",
        b"\x06\0\0\0a\0" * 2 + b"\xff" * 8,  # twice
    ],
)
def test_damaged_attributes_have_a_problem(area: bytes) -> None:
    assert parse_xattrs(area)[1]


def test_removed_attributes_leave_zeros() -> None:
    assert parse_xattrs(b"\x06\0\0\0a\0" + bytes(20) + b"\xff" * 9) == ({b"a": b""}, "")


def test_a_summary_by_hand() -> None:
    geometry = Geometry()
    tags = [Tags(0x1003, 0x10000101, 0x80000001, 0), Tags(0x1003, 257, 1, 2)]
    tags += [Tags(0x1003, 0, 0, 0)] * 61
    ((summary_tags, content),) = pack_summary(geometry, 9, 0x1003, tags)
    assert summary_tags == Tags(0x1003, 0x10, 1, 772)
    # Bytes 01 01 00 10, 01 00 00 80; 01 01 00 00, 01, 02.
    total = 0x01 + 0x01 + 0x10 + 0x01 + 0x80 + 0x01 + 0x01 + 0x01 + 0x02
    assert content[:16] == struct.pack("<4I", 1, 9, 0x1003, total)
    assert content[16:28] == struct.pack("<3I", 0x10000101, 0x80000001, 0)
    assert len(content) == 772
    summary = parse_summary(geometry, 0x1003, [content.ljust(2048, b"\xff")])
    assert summary.problem == ""
    assert summary.internal_block == 9
    assert summary.entries[1] == (257, 1, 2)


def test_entries_go_on_in_the_next_summary_page() -> None:
    geometry = Geometry(pages_per_block=256)
    assert piece_sizes(geometry) == (2032, 254 * 12 - 2032)
    tags = [Tags(0x1001, 257, number + 1, 2048) for number in range(254)]
    pages = pack_summary(geometry, 1, 0x1001, tags)
    assert [found.words for found, _ in pages] == [(0x10, 1, 2048), (0x10, 2, 16 + 1016)]
    content = [data.ljust(2048, b"\xff") for _, data in pages]
    assert parse_summary(geometry, 0x1001, content).entries[253] == (257, 254, 2048)


def test_xor_of_bytes() -> None:
    for size in (0, 1, 2, 7, 100, 2032):
        data = random.Random(size).randbytes(size)
        assert xor_bytes(data) == functools.reduce(operator.xor, data, 0)


def stream_by_hand() -> bytes:
    """3 blocks of 64 pages: a file of two chunks in internal block 2, its header behind them."""
    out = struct.pack("<4I", 16, 0x5941FF53, 8, 1)
    out += struct.pack("<9i", 36, 2, 2, 3, 189, 0, 0, 0, 0x1001)
    out += struct.pack("<2I", 3 << 20, 0)
    out += struct.pack("<2I", 3 << 10 | 4 << 20, 0x1001)
    out += struct.pack("<2I", 3 << 20, 0)
    out += bytes(8) + b"\x07" + bytes(7) + bytes(8)
    chunks = [0] * 16
    chunks[1], chunks[2] = 2 * 64, 2 * 64 + 1
    out += struct.pack("<6IQ", 32, 257, 1, 2 * 64 + 2, 1 | 1 << 7 | 1 << 8, 2, 3000)
    leaf = 0
    for number, chunk in enumerate(chunks):
        leaf |= chunk << 16 * number
    out += struct.pack("<I", 0) + leaf.to_bytes(64, "little") + b"\xff" * 4
    out += struct.pack("<I", 32) + b"\xff" * 28
    out += struct.pack("<4I", 16, 0x5941FF53, 8, 0)
    xor = functools.reduce(operator.xor, out)
    return out + struct.pack("<I", (sum(out) << 8 | xor) & 0xFFFFFFFF)


def test_a_checkpoint_stream_laid_out_by_hand() -> None:
    checkpoint = parse_stream(stream_by_hand() + b"\xff" * 99, 3, 64)
    assert checkpoint.device.alloc_block == 2
    assert checkpoint.device.sequence == 0x1001
    assert [info.state for info in checkpoint.infos] == [3, 4, 3]
    assert checkpoint.infos[1].in_use == 3
    assert checkpoint.bitmaps == (0, 7, 0)
    (record,) = checkpoint.objects
    assert (record.object_id, record.parent_id, record.header_chunk) == (257, 1, 130)
    assert (record.data_chunks, record.size_or_target) == (2, 3000)
    ((first, packed),) = record.leaves
    assert first == 0
    assert unpack_leaf(packed, 16)[:3] == (0, 128, 129)


def test_leaves_of_a_machine_with_32_bit_pointers() -> None:
    stream = stream_by_hand()
    leaf = stream.index(struct.pack("<6I", 32, 257, 1, 130, 385, 2)) + 36
    out = stream[: leaf + 32] + stream[leaf + 64 : -4]
    xor = functools.reduce(operator.xor, out)
    out += struct.pack("<I", (sum(out) << 8 | xor) & 0xFFFFFFFF)
    (record,) = parse_stream(out, 3, 64).objects
    assert unpack_leaf(record.leaves[0][1], 16)[:3] == (0, 128, 129)


@pytest.mark.parametrize("position", range(0, len(stream_by_hand()), 3))
def test_any_change_of_a_stream_is_noticed(position: int) -> None:
    stream = bytearray(stream_by_hand())
    stream[position] ^= 0x10
    with pytest.raises(CheckpointError):
        parse_stream(bytes(stream), 3, 64)


def test_a_stream_that_ends_early_is_incomplete() -> None:
    stream = stream_by_hand()
    for size in range(0, len(stream), 5):
        with pytest.raises(CheckpointError) as caught:
            parse_stream(stream[:size], 3, 64)
        assert caught.value.incomplete


@pytest.mark.parametrize(
    ("blocks", "widths"),
    [
        (128, (16,)),  # 129 × 64 = 8256: 14 bits
        (2048, (18,)),  # 2049 × 64 = 131136: 18 bits
        (4096, (20,)),  # 4097 × 64 = 262208: 19 bits, rounded up
        (1023, (16, 18)),  # 1024 × 64 = 2^16: 16 bits for 0..65535, 17 for the number itself
    ],
)
def test_bits_of_a_leafs_entry(blocks: int, widths: tuple[int, ...]) -> None:
    assert entry_widths(blocks, 64) == widths


def test_entries_are_packed_low_bit_first() -> None:
    # 18 bits each: entry 1 begins at bit 18.
    packed = (5 | 0x3FFFF << 18 | 7 << 18 * 15).to_bytes(36, "little")
    entries = unpack_leaf(packed, 18)
    assert (entries[0], entries[1], entries[2], entries[15]) == (5, 0x3FFFF, 0, 7)
