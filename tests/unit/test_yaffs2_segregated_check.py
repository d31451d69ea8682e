"""Every rule of the segregated layout fires: one change of a good image for each.

`good_log` has pages of every kind; the good image gives no problem. Rules that both layouts have
are in `test_yaffs2_check.py`; some of them are broken here once more, where marks are in the way.
"""

from __future__ import annotations

import functools
import struct
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import pytest
from yaffs2_segregated_support import HEAD_AT, PIECE, S, TwoLogs, full, patch_head
from yaffs2_support import DIRECTORY, HARD_LINK, OPTIONS, SMALL, Image, lab_file, mark_bad

from ffslab.yaffs2 import ImageOptions, check_image, read_tree
from ffslab.yaffs2.checkpoint_write import checkpoint_blocks
from ffslab.yaffs2.format import CHECKPOINT_FORMS, CHECKPOINT_HEADER_BYTES, Layout
from ffslab.yaffs2.mkfs import MkfsOptions, make_image
from ffslab.yaffs2.segregated.marks import SegregatedTags, decoded
from ffslab.yaffs2.tags import Tags
from ffslab.yaffs2.xattr import pack_xattrs

Place = tuple[int, int]
DIR, SMALL_FILE, LARGE_FILE, LINK, GONE = 300, 301, 302, 303, 304
SIZE = PIECE * S + 10


class Good(NamedTuple):
    """A good image and where things are in it."""

    image: Image
    directory: Place
    small: Place  # header with the index of two chunks and attributes
    small_data: tuple[int, int]  # chunk numbers
    large: Place  # header without index
    pieces: tuple[Place, Place]
    large_data: tuple[int, int]  # chunk numbers of chunks 1 and PIECE + 1
    data: Place  # a data page that is no longer used
    stranger: Place  # a data page of an object that does not exist, the first of its block
    gone: Place  # header of a deleted file


def good_log(*, summaries: bool = True) -> Good:
    log = TwoLogs(summaries=summaries)
    directory = log.header(DIR, DIRECTORY, 1, "dir")
    stranger = log.chunk(999, 1, "-")
    first = log.now
    unused = log.chunk(SMALL_FILE, 1, "o")
    small_data = (log.chunk(SMALL_FILE, 1, "x"), log.data(SMALL_FILE, 2, b"rest"))
    attributes = pack_xattrs([(b"user.a", b"12345")])
    index = dict(enumerate(small_data, 1))
    cuts = [(first, 0), (log.now, 2)]
    small = log.file(SMALL_FILE, "small", S + 4, index, parent=DIR, cuts=cuts, area=attributes)
    born = log.now
    large_data = (log.chunk(LARGE_FILE, 1, "l"), log.data(LARGE_FILE, PIECE + 1, b"0123456789"))
    pieces = (
        log.index(LARGE_FILE, 0, SIZE, {1: large_data[0]}),
        log.index(LARGE_FILE, 1, SIZE, {PIECE + 1: large_data[1]}),
    )
    large = log.file(LARGE_FILE, "large", SIZE, None, cuts=[(born, 0)])
    log.header(LINK, HARD_LINK, 1, "link", target_id=SMALL_FILE)
    log.file(GONE, "gone", 4, {1: log.data(GONE, 1, b"gone")}, cuts=[(born, 0)])
    gone = log.deleted(GONE)
    log.skip_data_blocks(1)
    return Good(
        log.image(),
        log.place(directory),
        log.place(small),
        small_data,
        log.place(large),
        (log.place(pieces[0]), log.place(pieces[1])),
        large_data,
        log.place(unused),
        log.place(stranger),
        log.place(gone),
    )


@pytest.mark.parametrize("summaries", [True, False])
def test_the_good_image_gives_no_problems(summaries: bool, tmp_path: Path) -> None:
    good = good_log(summaries=summaries)
    report = good.image.check(tmp_path)
    assert not report.counts, report.text()
    assert report.layout is Layout.SEGREGATED
    assert report.statistics["index_pages"] == 2
    tree = good.image.tree(tmp_path)
    assert sorted(tree) == ["/", "/dir", "/dir/small", "/large", "/link", "/lost+found"]
    assert tree["/dir/small"].content == full("x") + b"rest"
    assert tree["/dir/small"].xattrs == {"user.a": b"12345"}
    assert [offset for offset, _ in tree["/large"].pieces()] == [0, PIECE * S]
    assert tree["/link"].link_of == "/dir/small"


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change, the rule that it breaks, and rules that cannot but break with it."""

    rule: str
    change: Callable[[Good], object]
    also: tuple[str, ...] = ()
    name: str = ""

    def __str__(self) -> str:
        return f"{self.rule}-{self.name}" if self.name else self.rule


M = Mutation


def word(offset: int, value: int, where: str = "small") -> Callable[[Good], None]:
    """A 32-bit word of a header's head, or of the first index page; the CRC is right again."""

    def change(good: Good) -> None:
        place, start = (getattr(good, where), HEAD_AT) if where != "piece" else (good.pieces[0], 0)
        patch_head(good.image, place, offset, struct.pack("<I", value), start)

    return change


def half(offset: int, value: int, where: str = "small") -> Callable[[Good], None]:
    def change(good: Good) -> None:
        place, start = (getattr(good, where), HEAD_AT) if where != "piece" else (good.pieces[0], 0)
        patch_head(good.image, place, offset, struct.pack("<H", value), start)

    return change


def long(offset: int, value: int) -> Callable[[Good], None]:
    return lambda good: patch_head(good.image, good.small, offset, struct.pack("<Q", value))


def entry(number: int, value: Callable[[Good], int]) -> Callable[[Good], None]:
    """Entry of the small file's index: behind 112 bytes and 16 of attributes."""

    def change(good: Good) -> None:
        at = 112 + 16 + 4 * number
        patch_head(good.image, good.small, at, struct.pack("<I", value(good)))

    return change


def tags_of(place: Callable[[Good], Place], **words: int) -> Callable[[Good], None]:
    """Changes words of a page's tags without their marks."""

    def change(good: Good) -> None:
        block, page = place(good)
        tags = decoded(good.image.tags(block, page))
        good.image.set_page(block, page, replace(tags, **words), good.image.page(block, page))

    return change


def plain(place: Callable[[Good], Place]) -> Callable[[Good], None]:
    """Gives a page the tags that the original layout would."""

    def change(good: Good) -> None:
        block, page = place(good)
        tags = decoded(good.image.tags(block, page))
        tags = Tags(tags.sequence, *tags.words)
        good.image.set_page(block, page, tags, good.image.page(block, page))

    return change


def plain_block(good: Good) -> None:
    """A block of the original layout behind the others."""
    image = good.image
    block = image.blocks
    image.raw += b"\xff" * SMALL.raw_block_bytes
    for page in range(3):
        image.set_page(block, page, Tags(0x1001, 300, page + 1, S), full("p"))


def newer_version(good: Good) -> None:
    half(4, 2)(good)


def unsealed(good: Good) -> None:
    good.image.flip(*good.small, HEAD_AT + 24, 0)


def moved_into(good: Good, target: Place, source: Place) -> None:
    """Copies a page with its tags, but for the sequence number."""
    tags = decoded(good.image.tags(*source))
    sequence = decoded(good.image.tags(*target)).sequence
    good.image.set_page(*target, replace(tags, sequence=sequence), good.image.page(*source))


def stale_entry(good: Good) -> None:
    entry(1, lambda found: chunk_of(found.data))(good)


def chunk_of(place: Place) -> int:
    return (place[0] + 1) * SMALL.pages_per_block + place[1]


def twice_named(good: Good) -> None:
    """The large file's index names a page of the small file, which is older."""
    patch_head(good.image, good.pieces[0], 48 + 4, struct.pack("<I", good.small_data[0]), 0)


def unindexed(good: Good) -> None:
    """The index page of piece 1 names nothing, and is older than the data."""
    page = good.pieces[1]
    patch_head(good.image, page, 24, struct.pack("<QQ", 0x1001 * 1024, 0x1001 * 1024), 0)
    patch_head(good.image, page, 48 + 4, struct.pack("<I", 0), 0)


def lost_chunk(good: Good) -> None:
    block, page = divmod(good.large_data[0], SMALL.pages_per_block)
    tags_of(lambda _: (block - 1, page), bytes_word=0)(good)


# Entry 1 is chunk 1, entry 2 chunk 2. The small file's header is page 1 of block 0.
HEADS = [
    M("layout-mixed", plain_block, name="block"),
    M("layout-mixed", plain(lambda good: good.data), name="page"),
    M("head-magic", lambda good: good.image.patch(*good.small, HEAD_AT, b"X"), ()),
    M("head-magic", lambda good: good.image.patch(*good.pieces[0], 0, b"X"), name="index"),
    M("head-crc", unsealed),
    M("head-crc", lambda good: good.image.flip(*good.pieces[1], 30, 2), name="index"),
    M("head-fields", half(6, 9), name="flags"),
    M("head-fields", half(6, 8, "directory"), name="flags-of-a-directory"),
    M("head-fields", half(6, 0), name="no-flag", also=("index-missing",)),
    M("head-fields", word(12, 1), name="piece-in-a-header"),
    M("head-fields", word(12, 1, "piece"), name="piece"),
    M("head-fields", half(6, 0, "piece"), name="index-flag"),
    M("head-fields", half(20, 1, "piece"), name="cuts-in-an-index"),
    M("head-fields", long(40, 7), name="size-in-a-header"),
    M("head-fields", long(32, 1 << 40), name="horizon"),
    M("head-cuts", half(20, 0), name="none"),
    M("head-cuts", half(20, 5), name="five"),
    M("head-cuts", half(20, 1, "directory"), name="directory"),
    M("head-cuts", half(20, 1, "gone"), name="deleted"),
    M("head-cuts", long(48 + 16, 0x1002 * 1024 + 1), name="same-position"),
    M("head-fields", word(16, 1, "gone"), name="deleted"),
    M("head-fields", tags_of(lambda good: good.pieces[0], bytes_word=60), name="index-bytes"),
    M("head-cuts", half(20, 1), name="rest"),
    M("head-cuts", word(48 + 12, 1), name="reserved"),
    M("head-cuts", long(48 + 16, 0x1001 * 1024), name="order"),
    M("head-cuts", word(48 + 16 + 8, 0), name="chunks"),
    M("head-cuts", long(48 + 16, 1 << 40), name="future"),
    M("head-padding", lambda good: good.image.patch(*good.small, S - 1, b"\0"), name="behind"),
    M("head-padding", entry(2, lambda _: 0), name="hole"),
]

INDEXES = [
    M("index-entry", entry(1, lambda _: 1 << 20), name="behind"),
    M("index-entry", entry(1, lambda _: 1), name="block-0"),
    M("index-entry", entry(1, lambda good: chunk_of(good.directory)), name="metadata"),
    M("index-entry", entry(0, lambda good: good.small_data[0]), name="chunk-0"),
    M("index-entry", entry(1, lambda good: good.large_data[0]), name="newer-than-the-index"),
    M("index-twice", twice_named),
    M("index-twice", entry(2, lambda good: good.small_data[0]), name="file"),
    M("index-tags", entry(2, lambda good: chunk_of(good.data)), name="chunk"),
    M("index-tags", entry(1, lambda good: chunk_of(good.stranger)), name="object"),
    M("index-stale", stale_entry),
    M("index-missing", unindexed, ("head-padding",)),
    M("index-lost", lost_chunk, ("data-empty", "data-after-count")),
]

TAGS = [
    M("block-kind", tags_of(lambda good: good.data, metadata=True), name="mark"),
    M("block-kind", lambda good: moved_into(good, good.data, good.directory), name="header"),
    M("block-kind", lambda good: moved_into(good, good.data, good.pieces[0]), name="index"),
    M("block-kind", lambda good: moved_into(good, good.directory, good.data), name="data"),
    M(
        "tags-piece",
        tags_of(lambda good: good.pieces[1], chunk_word=1 << 30 | 1 << 27),
        ("head-fields", "index-missing"),
    ),
    M("tags-piece", tags_of(lambda good: good.pieces[1], chunk_word=3 << 29 | 1), name="spare"),
    M("tags-chunk-id", tags_of(lambda good: good.data, chunk_word=0), name="zero"),
    M("tags-chunk-id", tags_of(lambda good: good.data, chunk_word=1 << 28 | 1), name="spare"),
    M("tags-object-id", tags_of(lambda good: good.data, object_word=301 | 1 << 24)),
    M("tags-object-id", tags_of(lambda good: good.data, object_word=301 | 1 << 28), name="type"),
    M("header-shrink", tags_of(lambda good: good.small, chunk_word=3 << 30 | DIR)),
    M("sequence-mixed", tags_of(lambda good: good.data, sequence=0x8001001)),
    M("reserved-object", tags_of(lambda good: good.pieces[1], object_word=2), ("index-missing",)),
    M("header-tags-size", tags_of(lambda good: good.small, bytes_word=S), ("data-unflushed",)),
]

SEGREGATED_RULES = {
    *{mutation.rule for mutation in (*HEADS, *INDEXES)},
    *("layout-version", "layout-pages", "block-kind", "tags-piece"),
    *("ids-part", "ids-fields", "ids-missing", "ids-deleted"),
    *("horizon-far", "checkpoint-piece", "checkpoint-ids"),
}


@pytest.mark.parametrize("mutation", [*HEADS, *INDEXES, *TAGS], ids=str)
def test_a_change_breaks_its_rule(mutation: Mutation, tmp_path: Path) -> None:
    good = good_log(summaries=False)
    mutation.change(good)
    report = good.image.check(tmp_path)
    assert set(report.counts) == {mutation.rule, *mutation.also}, report.text()


def test_an_entry_that_names_a_block_summary(tmp_path: Path) -> None:
    good = good_log()
    entry(1, lambda found: chunk_of((found.stranger[0], SMALL.pages_per_block - 1)))(good)
    assert set(good.image.check(tmp_path).counts) == {"index-entry"}


def test_a_summary_repeats_the_marks(tmp_path: Path) -> None:
    """Marks of another kind of block in one entry of a metadata block's summary."""
    log = TwoLogs()
    for number in range(7):
        log.header(300 + number, DIRECTORY, 1, f"d{number}")
    image = log.image()
    image.patch(0, 7, 16 + 12 * 3 + 2, b"\x00")  # bit 23 of the object word
    total = sum(image.page(0, 7)[16 : 16 + 84])
    image.word(0, 7, 12, total)
    assert set(image.check(tmp_path).counts) == {"summary-entry"}
    assert "/d3" not in image.tree(tmp_path)


def test_a_version_that_is_not_known_is_refused(tmp_path: Path) -> None:
    good = good_log()
    newer_version(good)
    report = good.image.check(tmp_path)
    assert set(report.counts) == {"layout-version"}
    assert "version 2" in report.text()
    assert sorted(good.image.tree(tmp_path)) == ["/", "/lost+found"]


def test_the_other_layout_is_refused(tmp_path: Path) -> None:
    """Plain blocks are more: nothing of the segregated ones is shown, and the reverse."""
    good = good_log()
    blocks = good.image.blocks
    for _ in range(blocks - 1):
        plain_block(good)
    report = good.image.check(tmp_path)
    assert report.counts["layout-mixed"] == blocks - 1
    assert "/dir/small" in good.image.tree(tmp_path)
    plain_block(good)
    plain_block(good)
    report = good.image.check(tmp_path)
    assert report.layout is Layout.ORIGINAL
    assert report.counts["layout-mixed"] == blocks
    assert "/dir" not in good.image.tree(tmp_path)


def test_blocks_of_1024_pages(tmp_path: Path) -> None:
    log = TwoLogs(replace(SMALL, pages_per_block=1024), summaries=False)
    log.header(300, DIRECTORY, 1, "d")
    report = log.image().check(tmp_path, replace(OPTIONS, pages_per_block=1024))
    assert set(report.counts) == {"layout-pages"}


def test_a_horizon_that_is_far(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(301, "f", 0, {})
    log.skip_data_blocks(10)
    assert not log.image().check(tmp_path).counts
    log.skip_data_blocks(1)
    assert set(log.image().check(tmp_path).counts) == {"horizon-far"}


def test_a_lab_flash_file_and_a_bad_block(tmp_path: Path) -> None:
    image = good_log().image
    path = lab_file(tmp_path / "lab", image, blocks=image.blocks + 6, first=3)
    mark_bad(path, 1)
    report = check_image(path)
    assert not report.counts, report.text()
    assert (report.layout, report.first_block) == (Layout.SEGREGATED, 3)
    assert read_tree(path)["/dir/small"].size == S + 4


# --- power cuts: no error ---


def test_a_torn_page_at_the_end_of_each_log(tmp_path: Path) -> None:
    log = TwoLogs()
    chunk = log.chunk(301, 1, "x")
    log.file(301, "f", S, {1: chunk})
    torn = [log.place(log.chunk(301, 2, "y")), log.place(log.header(302, DIRECTORY, 1, "d"))]
    image = log.image()
    for place in torn:
        image.flip(*place, S + 2, 3, 9)
    report = image.check(tmp_path)
    assert report.counts == {"page-torn": 2}, report.text()


def test_an_interrupted_erase(tmp_path: Path) -> None:
    log = TwoLogs()
    chunk = log.chunk(301, 1, "x")
    for letter in "abcdefghijk":
        chunk = log.chunk(301, 1, letter)
    log.file(301, "f", S, {1: chunk})
    image = log.image()
    image.erase(0, 0, 1, 2)
    report = image.check(tmp_path)
    assert set(report.counts) == {"erase-interrupted"}, report.text()
    assert image.tree(tmp_path)["/f"].content == full("k")


# --- the checkpoint ---

BLOCKS = 1800  # of the partition


def checkpoint_image(tmp_path: Path) -> tuple[Image, int]:
    """An image with a checkpoint, and the block that it begins in."""
    path = tmp_path / "source.tar"
    with tarfile.open(path, "w") as archive:
        for name, size in (("large", 400 * S), ("small", 10)):
            member = tarfile.TarInfo(name)
            member.size = size
            archive.addfile(member, BytesIO(bytes(range(256)) * (size // 256 + 1)))
    made = tmp_path / "made"
    options = MkfsOptions(
        SMALL,
        checkpoint=True,
        partition_bytes=BLOCKS * SMALL.block_bytes,
        layout=Layout.SEGREGATED,
    )
    result = make_image(path, made, options)
    return Image.load(made), result.blocks


def with_stream(image: Image, first: int, change: Callable[[bytearray], None]) -> None:
    """Writes the checkpoint again with another stream, its checksum right."""
    room = S - CHECKPOINT_HEADER_BYTES
    pages = (image.blocks - first) * SMALL.pages_per_block
    places = [divmod(number, SMALL.pages_per_block) for number in range(pages)]
    stream = bytearray()
    for block, page in places:
        tags = image.tags(first + block, page)
        if tags.sequence != 0xFFFFFFFF:
            stream += image.page(first + block, page)[CHECKPOINT_HEADER_BYTES:]
    end = stream.rindex(struct.pack("<4I", 16, 0x5941FF53, 0x108, 0)) + 16
    del stream[end:]
    change(stream)
    xor = functools.reduce(lambda one, other: one ^ other, stream)
    stream += struct.pack("<I", (sum(stream) << 8 | xor) & 0xFFFFFFFF)
    assert len(stream) <= room * pages
    form = CHECKPOINT_FORMS[Layout.SEGREGATED]
    for number, block_pages in enumerate(checkpoint_blocks(SMALL, bytes(stream), first, form)):
        image.erase(first + number)
        for page, (tags, data) in enumerate(block_pages):
            image.set_page(first + number, page, tags, data)


# Where things are in the stream: validity 16, device 36, metadata 152, then 8 bytes a block.
DEVICE_AT, METADATA_AT, BLOCKS_AT = 16, 52, 204
OBJECTS_AT = BLOCKS_AT + BLOCKS * (8 + 1)


def at(offset: int, value: int) -> Callable[[bytearray], None]:
    return lambda stream: struct.pack_into("<I", stream, offset, value)


def flip_kind(stream: bytearray) -> None:
    stream[BLOCKS_AT] ^= 1


def soft_deleted(stream: bytearray) -> None:
    stream[BLOCKS_AT] |= 2


def piece_at(stream: bytearray) -> int:
    """Byte of the large file's piece record: object 256 is the first, behind it 32 bytes."""
    where = stream.index(struct.pack("<2I", 32, 256), OBJECTS_AT)
    return where + 32


def change_piece(offset: int, value: int) -> Callable[[bytearray], None]:
    return lambda stream: struct.pack_into("<I", stream, piece_at(stream) + offset, value)


def drop_piece(stream: bytearray) -> None:
    where = piece_at(stream)
    del stream[where : where + 12]


def test_the_checkpoint_by_hand(tmp_path: Path) -> None:
    image, first = checkpoint_image(tmp_path)
    report = image.check(tmp_path)
    assert not report.counts, report.text()
    assert (report.checkpoint.state, report.blocks) == ("valid", BLOCKS)
    tags = image.tags(first, 0)
    assert (tags.sequence, tags.words) == (0xF8000021, (first + 2, 1, S))
    page = image.page(first, 0)
    assert struct.unpack_from("<4I", page) == (0x108, 0, 0, 0)
    stream = page[16:]
    assert struct.unpack_from("<4I", stream) == (16, 0x5941FF53, 0x108, 1)
    newest = 0x1001 + first - 1
    # Length, no open block, the highest of the root's and two files' ids + 1, horizon, no part.
    assert struct.unpack_from("<IiIIQ32I", stream, METADATA_AT) == (
        *(152, -1, 0, 258),
        report.statistics["horizon"],
        *[0] * 32,
    )
    assert report.statistics["horizon"] // 1024 in (newest, newest + 1)
    # Block 0 has the root's header: full (5), all in use, metadata.
    (word_of_block,) = struct.unpack_from("<I", stream, BLOCKS_AT)
    assert word_of_block & 1
    assert word_of_block >> 20 & 0xF == 5


CHECKPOINTS = [
    M("checkpoint-device", at(METADATA_AT + 4, 2), name="open"),
    M("checkpoint-ids", at(METADATA_AT + 12, 257), name="highest"),
    M("checkpoint-ids", at(METADATA_AT + 12, 1 << 20), name="highest-of-all"),
    M("checkpoint-ids", at(METADATA_AT + 24, 1), name="part"),
    M("checkpoint-ids", at(METADATA_AT + 24 + 4 * 31, 2), name="last-part"),
    M("checkpoint-device", at(METADATA_AT + 16, 5), name="horizon"),
    M("checkpoint-block", flip_kind, name="kind"),
    M("checkpoint-block", soft_deleted, name="soft-deleted"),
    M("checkpoint-piece", change_piece(0, 1), name="number"),
    M("checkpoint-piece", change_piece(4, 8), ("checkpoint-bitmap",), "chunk"),
    M("checkpoint-piece", change_piece(8, 5), name="flags"),
    M("checkpoint-piece", drop_piece, ("checkpoint-bitmap",), "missing"),
    M("checkpoint-invalid", at(METADATA_AT, 20), name="size"),
]


@pytest.mark.parametrize("mutation", CHECKPOINTS, ids=str)
def test_a_checkpoint_that_does_not_fit_the_flash(mutation: Mutation, tmp_path: Path) -> None:
    image, first = checkpoint_image(tmp_path)
    with_stream(image, first, mutation.change)  # type: ignore[arg-type]
    path = image.write(tmp_path)
    report = check_image(path, ImageOptions(pages_per_block=8, blocks=BLOCKS))
    assert set(report.counts) == {mutation.rule, *mutation.also}, report.text()


def test_a_checkpoint_of_the_other_layout_is_none(tmp_path: Path) -> None:
    image, first = checkpoint_image(tmp_path)
    for page in range(SMALL.pages_per_block):
        if image.tags(first, page).sequence == 0xF8000021:
            image.set_tags(first, page, sequence=0x21)
    report = image.check(tmp_path)
    assert report.checkpoint.state == "incomplete"
    assert "layout-mixed" in report.counts


def test_data_newer_than_the_index_have_no_place_behind_a_checkpoint(tmp_path: Path) -> None:
    """Before a checkpoint all pieces are written; a mount that believes it would lose the page."""
    image, first = checkpoint_image(tmp_path)
    block = image.blocks
    image.raw += b"\xff" * SMALL.raw_block_bytes
    sequence = 0x1001 + first + 5
    tags = SegregatedTags(sequence, 256, 1, S)
    image.set_page(block, 0, tags, full("n"))
    report = image.check(tmp_path)
    assert "checkpoint-piece" in report.counts
    assert "checkpoint-block" in report.counts
