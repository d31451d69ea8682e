"""Codec of the segregated layout: bytes worked by hand from the specification, both ways."""

from __future__ import annotations

import itertools
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from yaffs2_segregated_support import TwoLogs
from yaffs2_support import SMALL, Image

from ffslab.yaffs2.detect import open_image
from ffslab.yaffs2.format import Geometry, Layout, ObjectType
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.segregated.head import (
    Cut,
    HeadFields,
    HeadState,
    attribute_room,
    header_chunks,
    pack_header_page,
    pack_index_page,
    padded_attributes,
    parse_head,
    piece_chunks,
)
from ffslab.yaffs2.segregated.marks import (
    SegregatedTags,
    decoded,
    decoded_entry,
    index_tags,
    layout_of_word,
    partition_layout,
    position_of,
    understood,
)
from ffslab.yaffs2.tags import Tags, TagState, header_tags, unpack

S = 2048
# Sequence 0x9000123: the low 27 bits are 0x1000123, the high 5 are 1, at bit 18: 0x40000.
SEQUENCE = 0x9000123
# A header of file 0x12C in directory 1, of 5 bytes. Bit 23: metadata; bits 28 to 31: a file.
HEADER_TAGS = bytes.fromhex("230100f1 2c018410 01000080 05000000")
# Index page of the same file: piece 3, S bytes.
INDEX_TAGS = bytes.fromhex("230100f1 2c018400 03000040 00080000")
# Its chunk 7, 2048 bytes, in a data block: bit 23 is 0.
DATA_TAGS = bytes.fromhex("230100f1 2c010400 07000000 00080000")
SUMMARY_TAGS = bytes.fromhex("230100f1 10008400 01000000 64000000")


def test_tags_of_a_header() -> None:
    words = header_tags(0, 0x12C, ObjectType.FILE, 1, size_or_target=5).words
    tags = SegregatedTags(SEQUENCE, *words, metadata=True)
    assert tags.pack() == HEADER_TAGS
    found = decoded(unpack(HEADER_TAGS))
    assert found == tags
    assert (found.sequence, found.object_id, found.parent_id) == (SEQUENCE, 0x12C, 1)
    assert found.is_header
    assert found.in_metadata
    assert (found.piece, found.chunk_id, found.type_number) == (None, 0, 1)


def test_tags_of_an_index_page() -> None:
    tags = index_tags(SEQUENCE, 0x12C, 3, S)
    assert tags.pack() == INDEX_TAGS
    found = decoded(unpack(INDEX_TAGS))
    assert found == tags
    assert (found.piece, found.chunk_id, found.object_id, found.byte_count) == (3, 0, 0x12C, S)
    assert not found.is_header


def test_tags_of_data_and_of_a_summary() -> None:
    found = decoded(unpack(DATA_TAGS))
    assert found == SegregatedTags(SEQUENCE, 0x12C, 7, 2048)
    assert (found.chunk_id, found.piece, found.in_metadata) == (7, None, False)
    assert found.pack() == DATA_TAGS
    summary = SegregatedTags(SEQUENCE, 0x10, 1, 100, metadata=True)
    assert summary.pack() == SUMMARY_TAGS
    assert decoded(unpack(SUMMARY_TAGS)) == summary


def test_a_piece_has_28_bits() -> None:
    assert SegregatedTags(SEQUENCE, 0x12C, 0x4FFFFFFF, S, metadata=True).piece == 0x0FFFFFFF
    assert SegregatedTags(SEQUENCE, 0x12C, 0x70000003, S, metadata=True).piece == 3


def test_the_last_sequence_word_with_marks() -> None:
    """0xF7FFFFFF is the last one: behind it are checkpoints, 0xF8000021, and bad blocks."""
    assert decoded(Tags(0xF7FFFFFF, 0x12C, 7, 5)) == SegregatedTags(0x7FFFFFF, 0x12C, 7, 5)
    behind = Tags(0xF8000000, 0x12C, 7, 5)
    assert decoded(behind) == behind


def test_an_entry_of_a_summary_without_its_marks() -> None:
    """As in HEADER_TAGS, bit 23 and the 1 at bit 18; a page that is not used has no marks."""
    block = SegregatedTags(SEQUENCE, 0x10, 1, 100, metadata=True)
    assert decoded_entry((0x1084012C, 0, 5), block) == (0x1000012C, 0, 5)
    assert decoded_entry((0, 7, 5), block) == (0, 7, 5)
    # Those of a data block, whose bit 23 is 0: it is left.
    assert decoded_entry((0x0004012C, 7, 5), block) == (0x0080012C, 7, 5)


@pytest.mark.parametrize("sequence", [0x1000, 0x7FFFFFF, 0x8000000, 0xEFFFFEFF])
@pytest.mark.parametrize("metadata", [True, False])
def test_all_bits_of_a_sequence_number_come_back(sequence: int, metadata: bool) -> None:
    tags = SegregatedTags(sequence, 0x3FFFF, 0x0FFFFFFF, 17, metadata=metadata)
    assert decoded(unpack(tags.pack())) == tags


@pytest.mark.parametrize(
    ("word", "layout"),
    [
        (0x1001, Layout.ORIGINAL),
        (0xEFFFFEFF, Layout.ORIGINAL),
        (0x21, Layout.ORIGINAL),
        (0xF0000000, Layout.SEGREGATED),
        (0xF7FFFFFF, Layout.SEGREGATED),
        (0xF8000021, Layout.SEGREGATED),
        (0xF8000000, None),
        (0xF8000020, None),
        (0xEFFFFF00, None),
        (0xFFFF0000, None),
        (0xFFFFFFFF, None),
        (0xFFF, None),
    ],
)
def test_which_layout_has_a_sequence_word(word: int, layout: Layout | None) -> None:
    assert layout_of_word(word) is layout


def test_each_layout_refuses_the_pages_of_the_other() -> None:
    plain, marked = Tags(0x1001, 300, 1, 5), unpack(DATA_TAGS)
    good = TagState.GOOD
    assert understood(Layout.ORIGINAL, good, plain) == (good, plain)
    assert understood(Layout.ORIGINAL, good, marked)[0] is TagState.FOREIGN
    assert understood(Layout.SEGREGATED, good, plain)[0] is TagState.FOREIGN
    assert understood(Layout.SEGREGATED, good, marked) == (good, decoded(marked))
    # A block that could not be marked bad is one in both.
    bad = Tags(0xFFFF0000, 0, 0, 0)
    for layout in Layout:
        assert understood(layout, good, bad) == (good, bad)


def test_a_position_is_a_clock_of_data_pages() -> None:
    assert position_of(0x1001, 5) == 0x400405
    assert position_of(0x1001, 63) < position_of(0x1002, 0)


@pytest.mark.parametrize(
    ("data_bytes", "of_a_piece", "of_a_header"),
    # (S - 48) / 4 down to a multiple of 16; (S - 624) / 4.
    [(1024, 240, 100), (2048, 496, 356), (2032, 496, 352), (4096, 1008, 868)],
)
def test_how_many_entries_fit(data_bytes: int, of_a_piece: int, of_a_header: int) -> None:
    assert piece_chunks(data_bytes) == of_a_piece
    assert header_chunks(data_bytes, 0) == of_a_header
    assert header_chunks(data_bytes, 8) == of_a_header - 2
    assert attribute_room(data_bytes) == data_bytes - 624
    assert header_chunks(data_bytes, 6) == of_a_header - 2  # 1.5 do not fit


def test_attributes_are_filled_to_words() -> None:
    padded = [len(padded_attributes(b"a" * count)) for count in (0, 1, 4, 5, 7, 8)]
    assert padded == [0, 4, 4, 8, 8, 8]


# --- heads ---

# magic, version 1, flags 1, CRC (left 0), piece 2, 3 entries, no cuts, no attributes, now 0x400405,
# horizon 0x400400, size 5 GiB, entries 0x48, 0, 0x4a.
INDEX_PAGE = bytes.fromhex(
    "494e4458 0100 0100 00000000 02000000 03000000 0000 0000"
    "0504400000000000 0004400000000000 0000004001000000"
    "48000000 00000000 4a000000"
)
# In a header: flags 3, piece 0, 2 entries, 2 cuts, 8 bytes of attributes, size 0; cuts
# (0x400400, 0) and (0x400403, 1), two unused; attributes; entries 0 and 0x48.
HEADER_TAIL = (
    bytes.fromhex(
        "494e4458 0100 0300 00000000 00000000 02000000 0200 0800"
        "0504400000000000 0504400000000000 0000000000000000"
        "0004400000000000 00000000 00000000 0304400000000000 01000000 00000000"
    )
    + bytes(2 * 16)
    + bytes.fromhex("07000000 61003100")
    + bytes.fromhex("00000000 48000000")
)


def crc_by_bits(data: bytes) -> int:
    """CRC-32 as its definition has it: reflected, 0xEDB88320, all ones before and behind."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def with_crc(head: bytes) -> bytes:
    return head[:8] + crc_by_bits(head).to_bytes(4, "little") + head[12:]


def test_an_index_page_by_hand() -> None:
    assert len(INDEX_PAGE) == 60
    fields = HeadFields(0x400405, 0x400400, 1, 2, 5 << 30, entries=[0x48, 0, 0x4A])
    packed = pack_index_page(fields)
    assert packed == with_crc(INDEX_PAGE)
    page = packed.ljust(S, b"\xff")
    head = parse_head(page, in_header=False)
    assert head.good
    assert (head.flags, head.piece, head.entries, head.size) == (1, 2, 3, 5 << 30)
    assert (head.now, head.horizon) == (0x400405, 0x400400)
    assert head.entries_of(page) == (0x48, 0, 0x4A)
    assert (head.used_bytes, head.cuts) == (60, ())


def test_a_header_page_by_hand() -> None:
    header = bytes(range(256)) * 2
    attributes = padded_attributes(bytes.fromhex("07000000 610031"))
    cuts = [Cut(0x400400, 0), Cut(0x400403, 1)]
    fields = HeadFields(0x400405, 0x400405, 3, 0, 0, cuts, attributes, [0, 0x48])
    packed = pack_header_page(header, fields)
    assert packed == header + with_crc(HEADER_TAIL)
    page = packed.ljust(S, b"\xff")
    head = parse_head(page, in_header=True)
    assert head.good
    assert head.cuts == tuple(cuts)
    assert page[head.attributes] == attributes
    assert head.entries_of(page) == (0, 0x48)
    assert head.used_bytes == 512 + 112 + 8 + 8


@pytest.mark.parametrize("bit", range(0, 60 * 8, 7))
def test_no_wrong_bit_is_taken_for_good(bit: int) -> None:
    page = bytearray(with_crc(INDEX_PAGE).ljust(S, b"\xff"))
    page[bit // 8] ^= 1 << bit % 8
    state = parse_head(bytes(page), in_header=False).state
    assert state is (HeadState.MAGIC if bit < 32 else HeadState.CRC)


def test_a_new_version_is_told_from_a_wrong_bit() -> None:
    newer = INDEX_PAGE[:4] + b"\2\0" + INDEX_PAGE[6:]
    page = with_crc(newer).ljust(S, b"\xff")
    assert parse_head(page, in_header=False).state is HeadState.VERSION
    assert parse_head(newer.ljust(S, b"\xff"), in_header=False).state is HeadState.CRC


@pytest.mark.parametrize("count", [1000, 0x7FFFFFFF, 0xFFFFFFFF])
def test_entries_that_do_not_fit_are_damage(count: int) -> None:
    head = INDEX_PAGE[:16] + count.to_bytes(4, "little") + INDEX_PAGE[20:]
    assert parse_head(head.ljust(S, b"\xff"), in_header=False).state is HeadState.CRC


def test_entries_may_end_with_the_page() -> None:
    """48 + 500 × 4 bytes are 2048: there is no piece of so many, but the page is whole."""
    packed = pack_index_page(HeadFields(6, 5, entries=[0] * 500))
    head = parse_head(packed, in_header=False)
    assert (len(packed), head.good, head.flags, head.entries) == (S, True, 0, 500)


def test_a_damaged_head_has_no_attributes() -> None:
    page = bytearray((bytes(512) + with_crc(HEADER_TAIL)).ljust(S, b"\xff"))
    page[512 + 112] ^= 1
    head = parse_head(bytes(page), in_header=True)
    assert head.state is HeadState.CRC
    assert (bytes(page)[head.attributes], head.cuts, head.has_index) == (b"", (), False)


def test_the_crc_is_that_of_zlib() -> None:
    assert crc_by_bits(HEADER_TAIL) == zlib.crc32(HEADER_TAIL)


# --- which layout a partition has ---


def mixed(segregated: int, plain: int) -> Image:
    """So many data blocks of each layout."""
    log = TwoLogs()
    log.skip_data_blocks(segregated + plain)
    image = log.image()
    for block, page in itertools.product(range(plain), range(SMALL.pages_per_block)):
        tags = decoded(image.tags(block, page))
        image.set_page(block, page, Tags(tags.sequence, *tags.words), image.page(block, page))
    return image


@pytest.mark.parametrize(
    ("segregated", "plain", "layout"),
    [
        (3, 0, "segregated"),
        (0, 3, "original"),
        (3, 2, "segregated"),
        (2, 2, "original"),
        (2, 3, "original"),
    ],
)
def test_the_greater_number_of_blocks_says_which_layout_it_is(
    segregated: int, plain: int, layout: str, tmp_path: Path
) -> None:
    path = mixed(segregated, plain).write(tmp_path)
    opened = open_image(path)
    assert opened.layout == layout
    assert partition_layout(opened.flash) == layout


def layout_of(image: Image) -> Layout:
    flash = FlashImage(bytes(image.raw), image.geometry, 0, image.blocks)
    return partition_layout(flash)


@pytest.mark.parametrize(
    "geometry",
    [SMALL, replace(SMALL, inband=True), replace(SMALL, tags_ecc=False)],
    ids=["usual", "inband", "without-ecc"],
)
def test_the_first_page_of_a_block_is_enough(geometry: Geometry) -> None:
    log = TwoLogs(geometry)
    log.data(300, 1, b"x")
    assert layout_of(log.image()) is Layout.SEGREGATED


def test_a_corrected_tag_counts() -> None:
    log = TwoLogs()
    log.chunk(300, 1, "x")
    image = log.image()
    image.flip(0, 0, S + 2, 31)
    assert layout_of(image) is Layout.SEGREGATED


def test_bad_blocks_do_not_count() -> None:
    image = mixed(1, 2)
    assert layout_of(image) is Layout.ORIGINAL
    for block in range(2):
        image.patch(block, 0, S, b"\0")
    assert layout_of(image) is Layout.SEGREGATED


def test_a_damaged_tag_does_not_change_the_layout(tmp_path: Path) -> None:
    log = TwoLogs()
    log.chunk(300, 1, "x")  # begins block 0
    log.file(300, "f", 0, {})
    image = log.image()
    image.flip(0, 0, S + 2, 31, 30)  # two bits of the sequence word: no ECC corrects them
    report = image.check(tmp_path)
    assert report.layout is Layout.SEGREGATED
    assert "/f" in image.tree(tmp_path)
