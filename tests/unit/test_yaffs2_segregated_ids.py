"""Parts of the bitmap of object ids: bytes by hand, what they void, rules that they can break.

Parts of these geometries: 1948 bytes are left behind 7 entries in a page of 2048 bytes, which is
481 words of bits behind the 24 bytes, so 15392 ids.
"""

from __future__ import annotations

import struct
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from test_yaffs2_segregated_check import with_stream
from yaffs2_segregated_support import S, TwoLogs, check
from yaffs2_support import DIRECTORY, OPTIONS, SMALL, Image

from ffslab.yaffs2 import ImageOptions
from ffslab.yaffs2.format import Geometry, Layout
from ffslab.yaffs2.mkfs import MkfsOptions, make_image
from ffslab.yaffs2.scan import BlockKind, BlockRecord
from ffslab.yaffs2.segregated.ids import (
    PartState,
    WrittenIds,
    pack_part,
    parse_part,
    part_ids,
    part_number,
    part_offset,
)
from ffslab.yaffs2.segregated.voids import ObjectIds, PartVersion
from ffslab.yaffs2.tags import header_tags

N = 15392
BITS_AT = 24  # in a part
PART_AT = 16 + 7 * 12  # in the last page of a block of 8
PAGES = 7  # of a block, without its summary
NOW = 0x80001234 * 1024 + 5
# CRC left 0; first id 15392, as many ids; NOW; ids 15392, 15394 and 15401: bits 0, 2 and 9.
PART = bytes.fromhex("49494453 00000000 203c0000 203c0000 05d04800 00020000 0502") + bytes(
    N // 8 - 2
)


def sealed(part: bytes) -> bytes:
    return part[:4] + struct.pack("<I", zlib.crc32(part[8:])) + part[8:]


def page_with(part: bytes) -> bytes:
    return (bytes(PART_AT) + part).ljust(S, b"\xff")


# --- the codec ---


@pytest.mark.parametrize(
    ("geometry", "offset", "ids"),
    [
        (Geometry(), 16 + 63 * 12, 10016),
        (SMALL, PART_AT, N),
        (Geometry(inband=True), 16 + 63 * 12, 9888),
        (Geometry(page_bytes=1024, oob_bytes=32, pages_per_block=82), 16 + 81 * 12, 96),
        # Two pages of summary: the second has the entries behind the 84 that fit into the first.
        (Geometry(page_bytes=1024, oob_bytes=32, pages_per_block=100), 16 + 14 * 12, 6528),
    ],
    ids=str,
)
def test_how_many_ids_a_part_has(geometry: Geometry, offset: int, ids: int) -> None:
    assert part_offset(geometry) == offset
    assert part_ids(geometry) == ids


def test_a_part_by_hand() -> None:
    packed = pack_part(SMALL, 1, NOW, [1, N - 1, N, N + 2, N + 9, 2 * N])
    assert packed == sealed(PART)
    part = parse_part(SMALL, page_with(packed))
    assert (part.state, part.first, part.count, part.number) == (PartState.GOOD, N, N, 1)
    assert part.now == NOW
    assert [i for i in range(N, N + 20) if part.has(i)] == [N, N + 2, N + 9]


@pytest.mark.parametrize(
    ("part", "state"),
    [
        (b"X" + sealed(PART)[1:], PartState.MAGIC),
        (PART, PartState.CRC),
        (sealed(PART[:8] + struct.pack("<I", N - 32) + PART[12:]), PartState.FIELDS),
        (sealed(PART[:12] + struct.pack("<I", N - 32) + PART[16:]), PartState.FIELDS),
        (sealed(PART[:12] + bytes(4) + PART[16:]), PartState.FIELDS),
        (sealed(PART[:8] + struct.pack("<I", 32 * N) + PART[12:]), PartState.FIELDS),
        (sealed(PART[:8] + struct.pack("<I", 31 * N) + PART[12:]), PartState.GOOD),
    ],
)
def test_what_is_no_part(part: bytes, state: PartState) -> None:
    assert parse_part(SMALL, page_with(part)).state is state


def test_a_part_of_no_ids_has_no_number() -> None:
    part = parse_part(SMALL, page_with(sealed(PART[:12] + bytes(4) + PART[16:])))
    assert (part.count, part.number) == (0, 0)


def test_which_part_has_an_id() -> None:
    found = [part_number(i, 160) for i in (255, 256, 319, 320, 32 * 160 - 1, 32 * 160)]
    assert found == [None, 1, 1, 2, 31, None]
    assert part_number(300, 0) is None


# --- what is written ---


def written(*ids: int) -> WrittenIds:
    found = WrittenIds(SMALL)
    for object_id in ids:
        found.note(header_tags(0, object_id, DIRECTORY, 1))
    return found


def test_there_are_parts_up_to_the_highest_id() -> None:
    """Part 0 has the ids up to 15391."""
    assert (written().limit, written().parts) == (0, range(1))
    assert (written(300, 257).limit, written(300).parts) == (301, range(1))
    assert written(N - 1).parts == range(1)
    assert written(N).parts == range(2)
    assert written(32 * N).parts == range(32)


def parts_of(image: Image, *blocks: int) -> list[int]:
    return [parse_part(image.geometry, image.page(block, 7)).number for block in blocks]


def test_the_part_that_was_not_written_longest_is_next(tmp_path: Path) -> None:
    log = TwoLogs()
    for number in range(PAGES):
        log.header(300 + number, DIRECTORY, 1, f"a{number}")
    for number in range(5 * PAGES):
        log.header(2 * N + number, DIRECTORY, 1, f"b{number}")
    image = log.image()
    assert parts_of(image, *range(6)) == [0, 1, 2, 0, 1, 2]
    part = parse_part(SMALL, image.page(5, 7))
    assert [i for i in range(2 * N, 3 * N) if part.has(i)] == list(range(2 * N, 2 * N + 35))
    assert len(check(log, tmp_path)) == 6 * PAGES + 2


def test_a_part_has_the_position_of_the_next_data_page() -> None:
    """The data block is the first, 0x1001; the metadata block the second, full after 3 data."""
    log = TwoLogs()
    for number in range(3):
        log.data(300, 1 + number, b"x")
    for number in range(PAGES):
        log.header(300 + number, DIRECTORY, 1, f"a{number}")
    assert parse_part(SMALL, log.image().page(1, 7)).now == 0x1001 * 1024 + 3


def image_of_many_files(tmp_path: Path) -> Image:
    """200 empty files; the checkpoint is the last block."""
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        for number in range(200):
            archive.addfile(tarfile.TarInfo(f"f{number:03}"), BytesIO())
    made = tmp_path / "made"
    options = MkfsOptions(checkpoint=True, partition_bytes=100 * 64 * S, layout=Layout.SEGREGATED)
    make_image(path, made, options)
    return Image.load(made, Geometry())


def test_mkfs_writes_the_ids_into_full_blocks(tmp_path: Path) -> None:
    """63 headers are in the first block: the root's and those of 256 to 317."""
    image = image_of_many_files(tmp_path)
    count = part_ids(Geometry())
    for block, ids in ((0, [1, *range(256, 318)]), (2, [1, *range(256, 444)])):
        stored = image.page(block, 63)[16 + 63 * 12 :]
        now = (0x1002 + block) * 1024  # there are no data, so that of the next block
        assert stored.startswith(pack_part(Geometry(), 0, now, ids))
        assert parse_part(Geometry(), image.page(block, 63)).count == count
    report = image.check(tmp_path, ImageOptions())
    assert not report.counts, report.text()
    assert report.checkpoint.state == "valid"
    # Behind the page's header, validity and device: highest id + 1, horizon, blocks of the parts.
    checkpoint = image.page(image.blocks - 1, 0)
    assert struct.unpack_from("<IiI", checkpoint, 16 + 16 + 36) == (152, -1, 0)
    assert struct.unpack_from("<I", checkpoint, 16 + 52 + 12) == (456,)
    assert struct.unpack_from("<32I", checkpoint, 16 + 52 + 24) == (3, *[0] * 31)


# --- what is void ---


def with_a_deleted_file() -> TwoLogs:
    """File 300 is in block 0, its deletion in block 1, and the newest ids are in block 2."""
    log = TwoLogs()
    log.file(300, "gone", 0, {})
    for number in range(PAGES - 1):
        log.header(301 + number, DIRECTORY, 1, f"a{number}")
    log.deleted(300)
    for number in range(2 * PAGES):
        log.header(310 + number, DIRECTORY, 1, f"b{number}")
    return log


def test_a_deleted_object_stays_away_without_its_last_header(tmp_path: Path) -> None:
    image = with_a_deleted_file().image()
    image.erase(1)
    report = image.check(tmp_path)
    assert not report.counts, report.text()
    assert report.statistics["pages_void"] == 1
    assert "/gone" not in image.tree(tmp_path)


def test_what_is_older_is_told_by_sequence_not_by_place(tmp_path: Path) -> None:
    image = with_a_deleted_file().image()
    image.erase(1)
    image.swap_blocks(0, 2)
    assert "/gone" not in image.tree(tmp_path)


def test_of_one_sequence_number_the_higher_block_is_newer() -> None:
    records = [
        BlockRecord(block, BlockKind.METADATA, sequence)
        for sequence, block in ((0x1001, 9), (0x1002, 3), (0x1002, 4))
    ]
    part = parse_part(SMALL, page_with(pack_part(SMALL, 0, NOW, [300])))
    ids = ObjectIds(N, (), {0: PartVersion(records[1], part)})
    assert [ids.voids(record, 301) for record in records] == [True, True, False]
    assert [ids.voids(record, 300) for record in records] == [False] * 3


def test_a_part_stands_in_the_last_page_alone(tmp_path: Path) -> None:
    """In another page of a newer block it would void what this one has."""
    log = seven_directories()
    log.header(310, DIRECTORY, 1, "e")
    image = log.image()
    tags = replace(image.tags(0, 7), sequence=image.tags(1, 0).sequence)
    image.set_page(1, 1, tags, image.page(0, 7))
    assert "/e" in image.tree(tmp_path)


def test_an_older_part_and_the_deletion_say_the_same(tmp_path: Path) -> None:
    log = with_a_deleted_file()
    assert "/gone" not in check(log, tmp_path)
    assert log.image().check(tmp_path).statistics["pages_void"] == 2


def test_of_a_part_that_is_damaged_the_version_before_it_counts(tmp_path: Path) -> None:
    """Block 0 says that there is object 300, and no other block says anything else."""
    image = with_a_deleted_file().image()
    image.erase(1)
    image.flip(2, 7, PART_AT + BITS_AT + 4, 0)
    assert image.check(tmp_path).counts == {"ids-part": 1}
    assert "/gone" in image.tree(tmp_path)


def test_what_is_newer_than_the_part_counts(tmp_path: Path) -> None:
    log = with_a_deleted_file()
    log.file(300, "new", 4, {1: log.data(300, 1, b"text")}, cuts=[(log.now, 0)])
    image = log.image()
    image.erase(1)
    report = image.check(tmp_path)
    assert not report.counts, report.text()
    tree = image.tree(tmp_path)
    assert "/gone" not in tree
    assert "/new" in tree


def test_an_index_page_of_a_void_object_is_no_piece_of_the_next_one(tmp_path: Path) -> None:
    log = TwoLogs()
    log.index(300, 0, S, {1: log.chunk(300, 1, "o")})
    log.file(300, "old", S, None)
    log.deleted(300)
    for number in range(PAGES - 3):
        log.header(301 + number, DIRECTORY, 1, f"a{number}")
    log.file(300, "new", S, None, cuts=[(log.now, 0)])
    assert check(log, tmp_path)["/new"].content == bytes(S)
    statistics = log.image().check(tmp_path).statistics
    assert (statistics["pages_void"], statistics["index_pages"]) == (3, 0)


def test_a_void_object_is_not_shadowed(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(300, "b", 0, {})
    log.file(301, "b", 0, {}, shadows=300)
    for number in range(PAGES - 2):
        log.header(302 + number, DIRECTORY, 1, f"a{number}")
    log.deleted(300)
    for number in range(PAGES - 1):
        log.header(310 + number, DIRECTORY, 1, f"b{number}")
    for number in range(PAGES):
        log.header(320 + number, DIRECTORY, 1, f"c{number}")
    image = log.image()
    image.erase(1)
    # The directories of block 1 are gone with it; those of block 2 are not below them.
    report = image.check(tmp_path)
    assert not report.counts, report.text()
    assert "/b" in image.tree(tmp_path)


# --- rules ---


def changed(change: Callable[[bytearray], None], block: int = 0) -> Callable[[Image], None]:
    """Changes the part in a block; its CRC is right again."""

    def apply(image: Image) -> None:
        part = bytearray(image.page(block, 7)[PART_AT : PART_AT + BITS_AT + N // 8])
        change(part)
        image.patch(block, 7, PART_AT, sealed(bytes(part)))

    return apply


def bit(object_id: int, block: int = 0) -> Callable[[Image], None]:
    """Turns the bit of an object round."""

    def change(part: bytearray) -> None:
        part[BITS_AT + object_id // 8] ^= 1 << object_id % 8

    return changed(change, block)


def word(offset: int, value: int) -> Callable[[Image], None]:
    return changed(lambda part: struct.pack_into("<I", part, offset, value))


def position(value: int) -> Callable[[Image], None]:
    return changed(lambda part: struct.pack_into("<Q", part, 16, value))


def seven_directories(first: int = 300) -> TwoLogs:
    log = TwoLogs()
    for number in range(first, first + PAGES):
        log.header(number, DIRECTORY, 1, f"d{number}")
    return log


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("ids-part", lambda image: image.patch(0, 7, PART_AT, b"X")),
        ("ids-part", lambda image: image.patch(0, 7, PART_AT, b"\xff" * 200)),
        ("ids-part", lambda image: image.flip(0, 7, PART_AT + 4, 0)),
        ("ids-part", lambda image: image.flip(0, 7, PART_AT + BITS_AT - 1 + N // 8, 7)),
        ("ids-fields", word(8, 32)),
        ("ids-fields", word(8, 32 * N)),
        ("ids-fields", word(12, N + 32)),
        ("ids-fields", word(12, 0)),
        ("ids-fields", position(0xEFFFFF00 * 1024 + 1)),
        ("ids-missing", bit(303)),
    ],
)
def test_a_change_of_a_part_breaks_its_rule(
    rule: str, change: Callable[[Image], None], tmp_path: Path
) -> None:
    image = seven_directories().image()
    change(image)
    report = image.check(tmp_path)
    assert set(report.counts) == {rule}, report.text()
    assert ("/d303" in image.tree(tmp_path)) == (rule != "ids-missing")


def test_the_blocks_up_to_the_position_of_a_part_may_have_been_erased(tmp_path: Path) -> None:
    image = seven_directories().image()
    position(0xEFFFFF00 * 1024)(image)
    report = image.check(tmp_path)
    assert not report.counts, report.text()


def test_bits_of_reserved_ids_and_of_other_objects_mean_nothing(tmp_path: Path) -> None:
    log = TwoLogs()
    log.header(1, DIRECTORY, 0, "")
    for number in range(300, 306):
        log.header(number, DIRECTORY, 1, f"d{number}")
    image = log.image()
    bit(1)(image)
    bit(2)(image)
    bit(400)(image)
    report = image.check(tmp_path)
    assert not report.counts, report.text()
    assert len(image.tree(tmp_path)) == 8


def test_that_an_object_is_missing_is_seen_blocks_later(tmp_path: Path) -> None:
    """Nothing was erased between its header and the part, so there was no deletion."""
    log = seven_directories()
    log.skip_data_blocks(1)
    for number in range(PAGES):
        log.header(310 + number, DIRECTORY, 1, f"e{number}")
    image = log.image()
    bit(303, block=2)(image)
    assert image.check(tmp_path).counts == {"ids-missing": 1}
    image.erase(1)
    assert not image.check(tmp_path).counts


def test_a_deleted_object_that_a_later_part_still_has(tmp_path: Path) -> None:
    log = seven_directories()
    log.deleted(303, DIRECTORY)
    for number in range(2 * PAGES - 1):
        log.header(310 + number, DIRECTORY, 1, f"e{number}")
    image = log.image()
    bit(303, block=1)(image)
    assert not image.check(tmp_path).counts  # not the newest version
    bit(303, block=2)(image)
    assert image.check(tmp_path).counts == {"ids-deleted": 1}
    assert "/d303" not in image.tree(tmp_path)


@pytest.mark.parametrize("value", [0, 1])
def test_a_checkpoint_names_the_blocks_of_the_parts(value: int, tmp_path: Path) -> None:
    """The newest part 0 is in internal block 3, an older one in 1."""
    image = image_of_many_files(tmp_path)
    first = image.blocks - 1

    def change(stream: bytearray) -> None:
        struct.pack_into("<I", stream, 52 + 24, value)

    with_stream(image, first, change)
    report = image.check(tmp_path, ImageOptions())
    assert set(report.counts) == {"checkpoint-ids"}, report.text()


def test_blocks_without_a_summary_have_no_part(tmp_path: Path) -> None:
    log = TwoLogs(replace(SMALL, pages_per_block=16), summaries=False)
    for number in range(40):
        log.header(300 + number, DIRECTORY, 1, f"d{number}")
    report = log.image().check(tmp_path, replace(OPTIONS, pages_per_block=16))
    assert not report.counts, report.text()
