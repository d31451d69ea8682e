"""Every rule fires: one mutation of a good image for each, and which problems it gives.

The good images give no problem at all. `LOG` is the log of a small file system with objects of
every type; `CHECKPOINT` is one of mkfs, with a checkpoint.
"""

from __future__ import annotations

import functools
import operator
import struct
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest
from test_yaffs2_segregated_check import SEGREGATED_RULES
from yaffs2_support import (
    DIRECTORY,
    FILE,
    HARD_LINK,
    SMALL,
    SPECIAL,
    SYMLINK,
    Image,
    Log,
)

from ffslab.fsimage.problems import Severity
from ffslab.yaffs2.checkpoint_write import checkpoint_blocks
from ffslab.yaffs2.format import ObjectType
from ffslab.yaffs2.mkfs import MkfsOptions, make_image
from ffslab.yaffs2.problems import RULES
from ffslab.yaffs2.tags import Tags
from ffslab.yaffs2.xattr import pack_xattrs

S = 2048
ROOT_HEADER, DIR, FILE_ID, LINK, SYM, DEVICE, GONE = 1, 300, 257, 258, 259, 260, 261
BLOCKS = 1800  # of the partition with a checkpoint; the file has fewer


def log_image() -> Image:
    """Three blocks: two full ones with summaries, a partial one."""
    log = Log()
    log.header(ROOT_HEADER, DIRECTORY, 0, "")  # 0,0
    log.header(DIR, DIRECTORY, 1, "dir")  # 0,1
    for chunk in range(1, 6):
        log.data(FILE_ID, chunk, b"x" * S)  # 0,2 to 0,6
    attributes = pack_xattrs([(b"user.a", b"1"), (b"user.b", b"22")])
    log.file(FILE_ID, "file", 5 * S, parent=DIR, area=attributes)  # 1,0
    log.header(LINK, HARD_LINK, 1, "link", target_id=FILE_ID)  # 1,1
    log.header(SYM, SYMLINK, 1, "sym", alias=b"dir/file")  # 1,2
    log.header(DEVICE, SPECIAL, DIR, "tty", mode=0o020600, rdev=0x0405)  # 1,3
    log.data(GONE, 1, b"gone")  # 1,4
    log.file(GONE, "gone", 4)  # 1,5
    log.unlinked(GONE)  # 1,6
    log.deleted(GONE)  # 2,0
    log.data(FILE_ID, 6, b"tail")  # 2,1
    log.file(FILE_ID, "file", 5 * S + 4, parent=DIR, area=attributes)  # 2,2
    return log.image()


def tar_of_files() -> bytes:
    """An archive with three files, a directory and a hard link: 3 full blocks and 2 pages."""
    out = BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, size in (("d", -1), ("d/large", 30_000), ("small", 10), ("tail", 10)):
            member = tarfile.TarInfo(name)
            member.mode = 0o755
            if size < 0:
                member.type = tarfile.DIRTYPE
                archive.addfile(member)
            else:
                member.size = size
                archive.addfile(member, BytesIO(bytes(range(256)) * 200))
        link = tarfile.TarInfo("zlink")
        link.type, link.linkname = tarfile.LNKTYPE, "small"
        archive.addfile(link)
    return out.getvalue()


def checkpoint_image(tmp_path: Path) -> Image:
    source = tmp_path / "source.tar"
    source.write_bytes(tar_of_files())
    path = tmp_path / "made"
    size = BLOCKS * SMALL.block_bytes
    make_image(source, path, MkfsOptions(SMALL, checkpoint=True, partition_bytes=size))
    image = Image.load(path)
    image.raw += b"\xff" * (16 * SMALL.raw_block_bytes - len(image.raw))
    return image


def test_good_images_give_no_problems(tmp_path: Path) -> None:
    report = log_image().check(tmp_path)
    assert not report.counts, report.text()
    assert report.checkpoint.state == "none"
    report = checkpoint_image(tmp_path).check(tmp_path)
    assert not report.counts, report.text()
    assert report.checkpoint.state == "valid"


# --- mutations ---


@dataclass(frozen=True)
class Mutation:
    """A change, the rule that it breaks, and rules that cannot but break with it."""

    rule: str
    change: Callable[[Image], object]
    also: tuple[str, ...] = ()
    name: str = ""

    def __str__(self) -> str:
        return f"{self.rule}-{self.name}" if self.name else self.rule


M = Mutation


def without_summaries(image: Image) -> None:
    """The same log without block summaries, so that a page can change alone."""
    image.erase(0, 7)
    image.erase(1, 7)


def at_header(
    offset: int, value: bytes | int, where: tuple[int, int] = (2, 2)
) -> Callable[[Image], None]:
    """Changes bytes of a header; by default of the newest header of the file."""
    data = struct.pack("<I", value) if isinstance(value, int) else value
    return lambda image: image.patch(*where, offset, data)


def tagged(where: tuple[int, int], **words: int) -> Callable[[Image], None]:
    """Changes tags; the block's summary goes away."""

    def change(image: Image) -> None:
        if where[0] < 2:
            image.erase(where[0], 7)
        image.set_tags(*where, **words)

    return change


def both(*changes: Callable[[Image], object]) -> Callable[[Image], None]:
    def change(image: Image) -> None:
        for one in changes:
            one(image)

    return change


def append(*pages: tuple[Tags, bytes]) -> Callable[[Image], None]:
    """More pages in the partial block, from page 3 on."""

    def change(image: Image) -> None:
        for number, (tags, data) in enumerate(pages):
            image.set_page(2, 3 + number, tags, data)

    return change


def more(write: Callable[[Log], object]) -> Callable[[Image], None]:
    """More chunks in the partial block, from page 3 on, as `write` puts them into a log."""

    def change(image: Image) -> None:
        log = Log()
        write(log)
        extra = log.image()
        sequence = image.tags(2, 0).sequence
        for page in range(log.writer.blocks[0].pages):
            words = extra.tags(0, page).words
            image.set_page(2, 3 + page, Tags(sequence, *words), extra.page(0, page))

    return change


def resequence(block: int, sequence: int) -> Callable[[Image], None]:
    def change(image: Image) -> None:
        for page in range(8):
            if image.tags(block, page).sequence != 0xFFFFFFFF:
                image.set_tags(block, page, sequence=sequence)

    return change


def summary_entry(image: Image) -> None:
    image.word(0, 7, 16 + 12 * 3 + 8, S - 1)
    image.word(0, 7, 12, sum(image.page(0, 7)[16:100]))


NO_SUMMARY = ("summary-missing",)
PAGES = [
    M("tags-uncorrectable", lambda i: i.flip(0, 3, S + 2, 40, 41)),
    M("tags-missing", lambda i: i.patch(0, 3, S + 2, b"\xff" * 28)),
    M("tags-corrected", lambda i: i.flip(0, 3, S + 2, 77)),
    M("tags-corrected", lambda i: i.flip(0, 3, S + 2, 128 + 2), name="of-the-ecc"),
    M("tags-object-id", tagged((2, 1), object_word=0x40000)),
    M("tags-object-id", tagged((2, 1), object_word=0), name="zero"),
    M("tags-chunk-id", tagged((2, 1), chunk_word=1 << 28)),
    M("tags-byte-count", tagged((2, 1), bytes_word=S + 1)),
    M("tags-type", tagged((2, 0), object_word=GONE | 6 << 28), ("header-tags-type",)),
    M("tags-spare-bit", lambda i: i.set_tags(2, 2, chunk_word=i.tags(2, 2).chunk_word | 1 << 28)),
    M("sequence-range", resequence(2, 0x20), ("image-no-tags",)),
    M("sequence-range", resequence(2, 0xEFFFFF00), name="above"),
    M("sequence-mixed", tagged((2, 1), sequence=0x1009)),
    M("sequence-duplicate", resequence(2, 0x1002)),
    M("page-order", lambda i: i.erase(2, 1)),
    M("page-order", lambda i: i.erase(2, 0), name="first-page"),
    M("reserved-object", tagged((2, 1), object_word=5)),
    M("reserved-object", tagged((2, 1), object_word=1), name="root"),
    M("data-empty", tagged((2, 1), bytes_word=0)),
    M("reserved-id", more(lambda log: log.file(200, "low", 0))),
    M("page-torn", lambda i: i.patch(2, 3, 0, b"torn" * 100)),
    M("page-torn", lambda i: i.flip(2, 2, S + 2, 3, 4), name="tags"),
    M("erased-bitflips", lambda i: i.flip(2, 5, 100, 1, 7)),
    M("block-retired", lambda i: i.set_page(2, 0, Tags(0xFFFF0000, 0, 0, 0), b"")),
    M("summary-place", more(lambda log: log.data(0x10, 1, b"x"))),
    M("summary-tags", lambda i: i.set_tags(0, 7, bytes_word=771)),
    M("summary-tags", lambda i: i.set_tags(0, 7, chunk_word=2), name="chunk"),
    M("summary-header", lambda i: i.word(0, 7, 0, 2), name="version"),
    M("summary-header", lambda i: i.word(0, 7, 8, 0x1002), name="sequence"),
    M("summary-header", lambda i: i.word(0, 7, 12, 1), name="sum"),
    M("summary-block", lambda i: i.word(0, 7, 4, 3)),
    M("summary-entry", summary_entry),
    M("summary-missing", lambda i: i.erase(0, 7)),
]

F = (2, 2)  # the newest header of the file
HEADERS = [
    M("header-type", at_header(0, 0)),
    M("header-type", at_header(0, 6), name="above"),
    M("header-tags-type", at_header(0, 2)),
    M("header-tags-parent", at_header(4, 1)),
    M("header-tags-size", at_header(292, 5 * S + 3)),
    M("header-tags-size", at_header(296, 300, (1, 1)), name="link"),
    M("header-tags-size", tagged((1, 2), bytes_word=1), NO_SUMMARY, name="symlink"),
    M("header-tags-plain", lambda i: i.set_tags(*F, object_word=FILE_ID, chunk_word=0)),
    M("header-shrink", at_header(508, 1)),
    M("header-shrink", at_header(508, 7), name="value"),
    M("header-shadow", at_header(504, 290)),
    M("header-shadow", at_header(488, 290), name="copy"),
    M(
        "header-shadow",
        both(at_header(504, FILE_ID), lambda i: i.set_tags(*F, chunk_word=DIR | 5 << 29)),
        name="itself",
    ),
    M(
        "header-parent",
        both(at_header(4, FILE_ID), tagged(F, chunk_word=FILE_ID | 1 << 31)),
        ("object-cycle",),
    ),
    M(
        "header-parent",
        both(at_header(4, 0), tagged(F, chunk_word=1 << 31)),
        ("object-orphan",),
        name="zero",
    ),
    M("header-checksum", at_header(8, b"\0\0")),
    M("header-name", at_header(10, b"n" * 255 + b"\0")),
    M("header-name", at_header(10, b"n" * 256), name="no-end"),
    M("header-name", at_header(10, b"../x\0"), name="path"),
    M("header-name", at_header(10, b"..\0\0"), name="dots"),
    M("header-name", at_header(16, b"junk"), name="padding"),
    M("header-mode", at_header(268, 0o040644)),
    M("header-mode", at_header(268, 0o100644 | 1 << 16), name="high-bits"),
    M("header-times", at_header(284, 99)),
    M("header-size", at_header(292, 4, (1, 6)), ("header-tags-size",), name="unlinked"),
    M("header-size", both(at_header(496, 0x80), tagged(F, object_word=FILE_ID, chunk_word=0))),
    M("header-target", at_header(296, 258)),
    M(
        "header-target",
        both(at_header(296, LINK, (1, 1)), tagged((1, 1), bytes_word=LINK)),
        (*NO_SUMMARY, "link-target-type"),
        name="itself",
    ),
    M("header-alias", at_header(300, b"\0", (1, 2))),
    M("header-alias", at_header(300, b"t" * 160, (1, 2)), name="no-end"),
    M("header-rdev", at_header(460, 0x10405, (1, 3))),
    M("header-unset", at_header(460, 1)),
    M("header-rdev-unset", at_header(460, 0xFFFFFFFF)),
    M("header-rdev-unset", at_header(460, 0xFFFFFFFF, (1, 1)), name="link"),
    M("header-unset", at_header(500, 0), name="reserved"),
    M("header-unset", at_header(292, 0, (1, 2)), name="size"),
    M("header-unset", at_header(300, b"\0", F), name="alias"),
    M("header-reserved-id", more(lambda log: log.header(4, DIRECTORY, 1, "x"))),
    M("header-reserved-id", more(lambda log: log.header(0x20, FILE, 1, "x")), name="checkpoint"),
    M("header-deleted", at_header(10, b"not \0", (1, 6)), ("header-name",)),
    M("header-deleted", lambda i: i.set_tags(2, 0, chunk_word=4 | 1 << 31), ("header-shrink",)),
    M(
        "header-shrink-type",
        both(at_header(508, 1, (1, 2)), tagged((1, 2), chunk_word=1 | 3 << 30)),
        NO_SUMMARY,
    ),
    M("xattr", at_header(512, 1000000)),
    M("xattr", at_header(516, b"\0"), name="no-name"),
    M("xattr-prefix", at_header(516, b"abcd")),
]

TREE = [
    M("object-no-header", more(lambda log: log.data(400, 1, b"x")), ("object-orphan",)),
    M("object-type-change", both(
        more(lambda log: (log.header(400, DIRECTORY, 1, "d"), log.data(400, 1, b"x"))))),
    M("object-orphan", more(lambda log: log.file(400, "o", 0, parent=399))),
    M("object-cycle", more(lambda log: (log.header(400, DIRECTORY, 401, "a"),
                                        log.header(401, DIRECTORY, 400, "b")))),
    M("object-parent-type", more(lambda log: log.file(400, "o", 0, parent=FILE_ID))),
    M("object-in-deleted", more(lambda log: (log.header(400, DIRECTORY, 3, "unlinked"),
                                             log.file(401, "o", 0, parent=400))),
      ("object-unlinked",)),
    M("name-duplicate", more(lambda log: log.file(400, "file", 0, parent=DIR))),
    M("name-link-interrupted", more(lambda log: log.header(400, HARD_LINK, DIR, "file",
                                                           target_id=FILE_ID))),
    M("name-missing", at_header(10, b"\0\0\0\0")),
    M("link-target-missing", more(lambda log: log.header(400, HARD_LINK, 1, "l", target_id=399))),
    M("link-target-missing", more(lambda log: log.header(400, HARD_LINK, 1, "l", target_id=GONE)),
      name="deleted"),
    M("link-target-type", more(lambda log: log.header(400, HARD_LINK, 1, "l", target_id=DIR))),
    M("data-behind-end", more(lambda log: log.file(FILE_ID, "file", 5 * S + 1, parent=DIR))),
    M("data-after-count", both(
        lambda i: i.patch(2, 1, 4, b"more"),
        more(lambda log: log.file(FILE_ID, "file", 5 * S + 10, parent=DIR)))),
    M("root-type", more(lambda log: log.header(1, DIRECTORY, DIR, "")),
      ("header-parent",)),
    M("data-unflushed", more(lambda log: log.data(FILE_ID, 7, b"x"))),
    M("object-unlinked", more(lambda log: log.unlinked(FILE_ID)), ("link-target-missing",)),
    M("object-shadowed", more(lambda log: log.file(400, "new", 0, shadows=401))),
]  # fmt: skip


def expect(report_counts: dict[str, int], mutation: Mutation, text: str) -> None:
    assert mutation.rule in report_counts, text
    extra = set(report_counts) - {mutation.rule, *mutation.also}
    if RULES[mutation.rule].severity is not Severity.ERROR:
        errors = {rule for rule in extra if RULES[rule].severity is Severity.ERROR}
        assert not errors, text


@pytest.mark.parametrize("mutation", [*PAGES, *HEADERS, *TREE], ids=str)
def test_a_mutation_breaks_its_rule(mutation: Mutation, tmp_path: Path) -> None:
    image = log_image()
    mutation.change(image)
    report = image.check(tmp_path)
    expect(report.counts, mutation, report.text())


# --- checkpoints ---

DEVICE_AT, INFOS_AT = 16, 52
BITMAPS_AT = INFOS_AT + 8 * BLOCKS
OBJECTS_AT = BITMAPS_AT + BLOCKS


def checkpoint_pages(image: Image) -> list[tuple[int, int]]:
    places = [(block, page) for block in range(image.blocks) for page in range(8)]
    found = [place for place in places if image.tags(*place).sequence == 0x21]
    return sorted(found, key=lambda place: image.tags(*place).chunk_word)


def stream_of(image: Image) -> bytearray:
    return bytearray(b"".join(image.page(*place)[16:] for place in checkpoint_pages(image)))


def end_of(stream: bytearray) -> int:
    return stream.rindex(struct.pack("<4I", 16, 0x5941FF53, 8, 0)) + 16


def in_stream(
    change: Callable[[bytearray], object], *, seal: bool = True
) -> Callable[[Image], None]:
    """Changes the stream; sums, XORs and the checksum are right again."""

    def apply(image: Image) -> None:
        stream = stream_of(image)
        change(stream)
        end = end_of(stream)
        if seal:
            xor = functools.reduce(operator.xor, stream[:end])
            checksum = (sum(stream[:end]) << 8 | xor) & 0xFFFFFFFF
            stream[end : end + 4] = struct.pack("<I", checksum)
        places = checkpoint_pages(image)
        first = places[0][0]
        pages = [page for block in checkpoint_blocks(SMALL, bytes(stream[: end + 4]), first)
                 for page in block]  # fmt: skip
        for place, (tags, data) in zip(places, pages, strict=True):
            image.set_page(*place, tags, data)

    return apply


def put(offset: int, value: int) -> Callable[[bytearray], None]:
    def change(stream: bytearray) -> None:
        stream[offset : offset + 4] = struct.pack("<I", value & 0xFFFFFFFF)

    return change


def add(offset: int, value: int) -> Callable[[bytearray], None]:
    def change(stream: bytearray) -> None:
        (old,) = struct.unpack_from("<I", stream, offset)
        stream[offset : offset + 4] = struct.pack("<I", (old + value) & 0xFFFFFFFF)

    return change


def record_at(stream: bytearray, object_id: int) -> int:
    return stream.index(struct.pack("<II", 32, object_id), OBJECTS_AT)


def in_record(object_id: int, offset: int, value: int) -> Callable[[Image], None]:
    return in_stream(lambda stream: add(record_at(stream, object_id) + offset, value)(stream))


def drop_record(stream: bytearray) -> None:
    start = record_at(stream, 259)  # "small": a record, one leaf, the end of leaves
    del stream[start : start + 32 + 4 + 64 + 4]


def swap_records(stream: bytearray) -> None:
    """Objects 1 and 2, directories both, change places."""
    one, two = record_at(stream, 1), record_at(stream, 2)
    a, b = stream[one : one + 32], stream[two : two + 32]
    stream[one : one + 32], stream[two : two + 32] = b, a


def bit(block: int, mask: int) -> Callable[[Image], None]:
    """Changes bits of a block's bitmap, and its count of pages in use with them."""

    def change(stream: bytearray) -> None:
        before = stream[BITMAPS_AT + block]
        stream[BITMAPS_AT + block] = before ^ mask
        difference = (before ^ mask).bit_count() - before.bit_count()
        add(INFOS_AT + 8 * block, difference << 10)(stream)

    return in_stream(change)


def first_hint(image: Image) -> None:
    place = checkpoint_pages(image)[0]
    image.set_tags(*place, object_word=1)


def stray_block(image: Image) -> None:
    block = checkpoint_pages(image)[-1][0] + 3
    image.set_page(block, 0, Tags(0x21, block + 2, 99, S), b"")


def written_after(image: Image) -> None:
    """Data behind a checkpoint that was not invalidated: the last data block goes on."""
    block = max(b for b in range(image.blocks) if 0x1000 <= image.tags(b, 0).sequence < 0xE0000000)
    page = next(p for p in range(8) if image.tags(block, p).sequence == 0xFFFFFFFF)
    image.set_page(block, page, Tags(image.tags(block, 0).sequence, 258, 1, S), b"n" * S)


CHECKPOINTS = [
    M("checkpoint-device", in_stream(add(DEVICE_AT + 4, 5)), name="erased"),
    M("checkpoint-device", in_stream(put(DEVICE_AT + 32, 0x1001)), name="sequence"),
    M("checkpoint-device", in_stream(put(DEVICE_AT + 8, 900)), name="alloc"),
    M("checkpoint-device", in_stream(put(DEVICE_AT + 8, 1)), name="alloc-page"),
    M("checkpoint-block", in_stream(add(INFOS_AT, 1 << 20)), name="state"),
    M("checkpoint-block", in_stream(add(INFOS_AT + 8 * 50, 2 << 20)), name="erased"),
    M("checkpoint-block", in_stream(add(INFOS_AT + 4, 1)), name="sequence"),
    M("checkpoint-counts", in_stream(add(INFOS_AT, -(1 << 10)))),
    M("checkpoint-counts", in_stream(add(INFOS_AT, 9)), name="soft-deleted"),
    M("checkpoint-bitmap", bit(0, 1), name="not-used"),
    M("checkpoint-bitmap", bit(3, 0x10), name="used"),
    M("checkpoint-object", in_record(258, 8, 1), name="parent"),
    M("checkpoint-object", in_record(258, 12, 1), name="header"),
    M("checkpoint-object", in_record(257, 16, -1), name="type"),
    M("checkpoint-object", in_record(258, 20, 1), name="count"),
    M("checkpoint-object", in_record(258, 24, -1), name="size"),
    M("checkpoint-size", in_record(258, 24, 1)),
    M("checkpoint-object", in_stream(drop_record), name="missing"),
    M("checkpoint-object", in_stream(lambda s: add(record_at(s, 259) + 4, 256)(s)), name="unknown"),
    M("checkpoint-leaf", in_stream(lambda s: add(record_at(s, 258) + 36, 1 << 16)(s))),
    M("checkpoint-leaf", written_after, name="written-after"),
    M("checkpoint-hint", first_hint),
    M("checkpoint-hint", stray_block, name="stray"),
    M("checkpoint-invalid", in_stream(put(0, 17))),
    M("checkpoint-invalid", in_stream(add(DEVICE_AT + 12, 1), seal=False), name="checksum"),
    M("checkpoint-invalid", lambda i: i.word(*checkpoint_pages(i)[0], 8, 1), name="page-sum"),
    M("checkpoint-invalid", lambda i: i.word(*checkpoint_pages(i)[0], 0, 7), name="version"),
    M(
        "checkpoint-invalid",
        lambda i: i.set_tags(*checkpoint_pages(i)[0], bytes_word=9),
        name="tags",
    ),
    M("checkpoint-free", in_stream(add(DEVICE_AT + 16, 1000))),
    M("checkpoint-flags", in_stream(lambda s: add(INFOS_AT, -(1 << 30))(s)), name="summary"),
    M("checkpoint-flags", in_stream(lambda s: add(INFOS_AT, 1 << 31)(s)), name="shrink"),
    M("checkpoint-order", in_stream(swap_records)),
    M("checkpoint-incomplete", lambda i: i.erase(*checkpoint_pages(i)[-1])),
    M("checkpoint-incomplete", lambda i: i.erase(checkpoint_pages(i)[0][0]), name="first-block"),
]


def move_checkpoint(image: Image) -> None:
    """One block higher than it has to be."""
    places = checkpoint_pages(image)
    stream = bytes(stream_of(image))[: end_of(stream_of(image)) + 4]
    first = places[0][0]
    for block in {block for block, _ in places}:
        image.erase(block)
    for number, pages in enumerate(checkpoint_blocks(SMALL, stream, first + 1)):
        for page, (tags, data) in enumerate(pages):
            image.set_page(first + 1 + number, page, tags, data)


CHECKPOINTS.append(M("checkpoint-place", move_checkpoint))


@pytest.mark.parametrize("mutation", CHECKPOINTS, ids=str)
def test_a_checkpoint_that_does_not_fit_is_found(mutation: Mutation, tmp_path: Path) -> None:
    image = checkpoint_image(tmp_path)
    mutation.change(image)
    report = image.check(tmp_path)
    expect(report.counts, mutation, report.text())


def half_erase(image: Image, blocks: range, *, page: int) -> None:
    """Leaves a page with some of its bytes and no tags, as half an erase does."""
    for block in blocks:
        image.patch(block, page, 512, b"\x5a" * 512)


@pytest.mark.parametrize("page", [0, 2])
def test_half_erased_blocks_are_empty_to_a_checkpoint(page: int, tmp_path: Path) -> None:
    """A mount takes them for empty, counts them so, and erases them when their turn comes."""
    image = checkpoint_image(tmp_path)
    left = range(image.blocks - 5, image.blocks)
    half_erase(image, left, page=page)
    report = image.check(tmp_path)
    assert not report.errors, report.text()
    assert report.checkpoint.state == "valid"
    # But they are none that hold data.
    in_stream(add(INFOS_AT + 8 * left[0], 2 << 20))(image)
    assert set(image.check(tmp_path).counts) >= {"checkpoint-block"}
    in_stream(add(DEVICE_AT + 4, -6))(image)
    assert "checkpoint-device" in image.check(tmp_path).counts


def test_a_checkpoint_in_several_blocks_is_followed(tmp_path: Path) -> None:
    out = BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for number in range(600):
            archive.addfile(tarfile.TarInfo(f"file-{number}"), BytesIO())
    source = tmp_path / "many.tar"
    source.write_bytes(out.getvalue())
    options = MkfsOptions(SMALL, checkpoint=True, partition_bytes=200 * SMALL.block_bytes)
    result = make_image(source, tmp_path / "made", options)
    assert result.checkpoint_blocks >= 2
    report = Image.load(tmp_path / "made").check(tmp_path)
    assert not report.counts, report.text()
    assert (report.checkpoint.state, report.blocks) == ("valid", 200)


# --- whole images, crashes, coverage ---


def test_random_bytes_have_no_tags(tmp_path: Path) -> None:
    import random

    image = Image(SMALL, random.Random(1).randbytes(4 * SMALL.raw_block_bytes))
    for block in range(4):
        image.patch(block, 0, S, b"\xff")
    report = image.check(tmp_path)
    assert "image-no-tags" in report.counts
    assert report.errors


def test_an_erased_image_is_an_empty_file_system(tmp_path: Path) -> None:
    report = Image(SMALL, b"\xff" * 4 * SMALL.raw_block_bytes).check(tmp_path)
    assert set(report.counts) == {"image-erased"}
    assert not report.errors


def test_a_truncated_image_is_reported_and_read(tmp_path: Path) -> None:
    image = log_image()
    del image.raw[image.at(2, 1) + 700 :]
    report = image.check(tmp_path)
    assert "image-truncated" in report.counts
    assert image.tree(tmp_path)["/dir/file"].size == 5 * S


def test_a_torn_last_page_is_no_error(tmp_path: Path) -> None:
    """Any part of the page, with or without its tags, at the end of what was written."""
    for cut in (1, 100, S, S + 2, S + 10, S + 29):
        image = log_image()
        start = image.at(2, 2)
        image.raw[start + cut : start + SMALL.raw_page_bytes] = b"\xff" * (
            SMALL.raw_page_bytes - cut
        )
        report = image.check(tmp_path)
        assert not report.errors, (cut, report.text())
        assert report.counts.get("page-torn") or report.counts.get("erased-bitflips")


def test_an_interrupted_erase_is_no_error(tmp_path: Path) -> None:
    """Block 1 holds nothing but replaced pages; half of it is erased already."""
    log = Log()
    log.file(257, "a", 0)
    for chunk in range(1, 7):
        log.data(257, chunk, b"x" * S)
    for chunk in range(1, 8):
        log.data(257, chunk, b"y" * S)
    for chunk in range(1, 8):
        log.data(257, chunk, b"z" * S)
    log.file(257, "a", 7 * S)
    whole = log.image()
    assert not whole.check(tmp_path).counts
    for pages in ((0, 1, 2), (4, 5), (0, 2, 4, 6)):
        image = log.image()
        image.erase(1, *pages)
        report = image.check(tmp_path)
        assert set(report.counts) == {"erase-interrupted"}, report.text()
    # The same in a block with live pages is a violation.
    image = log.image()
    image.erase(2, 3)
    assert "page-order" in image.check(tmp_path).counts


def test_cells_that_an_erase_left_half_way_are_no_error(tmp_path: Path) -> None:
    import random

    log = Log()
    log.file(257, "a", 0)
    for letter in b"xyz":
        for chunk in range(1, 8):
            log.data(257, chunk, bytes([letter]) * S)
    log.file(257, "a", 7 * S)
    image = log.image()
    random_bytes = random.Random(3)
    for page in range(8):
        start = image.at(1, page)
        raw = image.raw[start : start + SMALL.raw_page_bytes]
        erased = (byte | random_bytes.getrandbits(8) | random_bytes.getrandbits(8) for byte in raw)
        image.raw[start : start + SMALL.raw_page_bytes] = bytes(erased)
        image.patch(1, page, S, b"\xff\xff")
    report = image.check(tmp_path)
    assert not report.errors, report.text()


def test_a_block_of_random_bytes_is_an_error(tmp_path: Path) -> None:
    import random

    image = log_image()
    start = image.at(1)
    image.raw[start : start + SMALL.raw_block_bytes] = random.Random(5).randbytes(
        SMALL.raw_block_bytes
    )
    image.patch(1, 0, S, b"\xff")
    assert image.check(tmp_path).errors


def test_every_rule_is_broken_by_a_test() -> None:
    broken = {mutation.rule for mutation in (*PAGES, *HEADERS, *TREE, *CHECKPOINTS)}
    elsewhere = {
        *("image-header", "image-truncated", "image-no-tags", "image-erased"),
        *("image-unpadded", "image-block-size"),
        *("erase-interrupted", "path-long"),
        *SEGREGATED_RULES,
    }
    assert set(RULES) == broken | elsewhere


def test_problems_are_limited_and_counted(tmp_path: Path) -> None:
    log = Log(summaries=False)
    for number in range(1500):
        log.file(300 + number, "same", 0)
    report = log.image().check(tmp_path)
    assert report.counts["name-duplicate"] == 1499
    assert report.count(Severity.ERROR) == 1499
    assert len(report.problems) == 1000


def test_object_types_have_their_numbers() -> None:
    assert [int(kind) for kind in ObjectType] == [0, 1, 2, 3, 4, 5]
