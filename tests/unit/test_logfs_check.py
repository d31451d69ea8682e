"""Each rule of LogFS, broken by an image with that one damage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from logfs_support import (
    HEADER,
    PARTITION,
    SEGMENT,
    SEGMENTS,
    UNIT,
    Image,
    lab_file,
    make,
    mode_bits,
    usual_tree,
)

from ffslab.fsimage.problems import Severity
from ffslab.logfs import check_image
from ffslab.logfs.format import (
    DENTRY,
    FULL,
    Alias,
    Area,
    EntryType,
    ObjectType,
    pack_object,
)
from ffslab.logfs.image import PageGeometry
from ffslab.logfs.problems import RULES


@dataclass(frozen=True)
class Damage:
    """What breaks a rule; `also` are rules that cannot be kept then."""

    rule: str
    change: Callable[[Image], object]
    also: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.rule


def raw(image: Image, ofs: int, byte: int = 0) -> None:
    """Turns all bits of a byte, without a new CRC."""
    image.raw[ofs + byte] ^= 0xFF


# What follows when an object is not there: its bytes are missing in every sum.
SUMS = ("inode-used", "segment-valid", "used-bytes")

SUPERBLOCKS = [
    Damage("superblock-copy", lambda i: raw(i, 0, 40)),
    Damage("superblock-copy", lambda i: raw(i, PARTITION - 4096, 30)),
    Damage("superblock-differ", lambda i: i.superblock(1, bad_reserve=9)),
    Damage("superblock-none", lambda i: (raw(i, 0, 40), raw(i, PARTITION - 4096, 40))),
    Damage("superblock-fields", lambda i: i.superblock(block_shift=11)),
    Damage("superblock-fields", lambda i: i.superblock(segment_bytes=SEGMENT // 2)),
    Damage("superblock-fields", lambda i: i.superblock(write_shift=17)),
    Damage("superblock-fields", lambda i: i.superblock(journal=(1, 2, 3, 1))),
    Damage("superblock-fields", lambda i: i.superblock(journal=(1, 2, 3, SEGMENTS))),
    Damage("superblock-fields", lambda i: i.superblock(ifile_levels=0)),
    Damage("superblock-features", lambda i: i.superblock(features=(1, 0, 0, 0))),
    Damage(
        "image-truncated",
        lambda i: i.superblock(fs_bytes=PARTITION + SEGMENT),
        ("superblock-fields",),
    ),
]

JOURNAL = [
    Damage("journal-none", lambda i: i.patch(SEGMENT, bytes(UNIT))),
    Damage("journal-commit", lambda i: i.patch(SEGMENT + 32, b"\xff" * UNIT)),
    Damage("journal-header", lambda i: i.patch(SEGMENT, bytes(24))),
    Damage(
        "journal-begun",
        lambda i: i.patch(i.commit() * SEGMENT + 32, b"\xff" * (UNIT - 32)),
    ),
    Damage("journal-entry", lambda i: i.commit(listed=[SEGMENT + 48])),
    Damage("journal-entry", lambda i: i.commit(listed=[2 * SEGMENT + 48])),
    Damage(
        "journal-missing",
        lambda i: i.commit(entries=[(EntryType.ANCHOR, i.mounted.anchor.pack())]),
    ),
    Damage(
        "journal-missing",
        lambda i: i.commit(entries=[(EntryType.DYNAMIC, i.mounted.dynamic.pack())]),
    ),
    Damage(
        "journal-entry",
        lambda i: i.commit(
            entries=[
                (EntryType.ANCHOR, i.mounted.anchor.pack()),
                *((EntryType.DYNAMIC, i.mounted.dynamic.pack()),) * 2,
            ]
        ),
    ),
    Damage("journal-tail", lambda i: i.commit(tail=[(EntryType.ALIASES, b"")])),
    Damage("journal-erase-count", lambda i: i.commit(erase_counts=[1, 7, *[0] * 14])),
    Damage("journal-segno", lambda i: i.segment_header(1, segno=9)),
    Damage("anchor-fields", lambda i: i.commit(anchor={"size": 4096 * 25 + 1})),
    Damage("anchor-fields", lambda i: i.commit(anchor={"size": 4096 * (512 * 512 + 1)})),
    Damage("anchor-fields", lambda i: i.commit(anchor={"height": 3})),
    Damage("inode-last", lambda i: i.commit(anchor={"last_ino": 3})),
    Damage("inode-used", lambda i: i.commit(anchor={"used_bytes": 1})),
    Damage("used-bytes", lambda i: i.commit(dynamic={"used_bytes": 1})),
    Damage("alias-fields", lambda i: i.commit(aliases=[Alias(20, 0, 0, 0, 0)]), ("alias-target",)),
    Damage("alias-fields", lambda i: i.commit(aliases=[Alias(1, 2, 0, 0, 25)])),
    Damage("alias-target", lambda i: i.commit(aliases=[Alias(99, 512, 0, 1, 0)])),
    Damage("area-fields", lambda i: i.commit(areas=[Area(SEGMENTS, UNIT, 0)])),
    Damage("area-fields", lambda i: i.commit(areas=[Area(5, 23, 0)])),
    Damage("area-fields", lambda i: i.commit(areas=[Area(5, UNIT, 12)])),
    Damage("area-fields", lambda i: i.commit(areas=[Area(5, UNIT + 16, 0, 0, b"x")])),
    Damage("area-fields", lambda i: i.commit(areas=[Area(30, UNIT, 0)]), ("segment-header",)),
    Damage(
        "area-twice",
        lambda i: i.commit(areas=[Area(5, SEGMENT, 0), Area(5, SEGMENT, 0)]),
    ),
    Damage(
        "area-buffer",
        lambda i: i.commit(areas=[Area(5, UNIT + 16, 0, 0, open_unit(i, b"\0"))]),
    ),
    Damage(
        "area-torn",
        lambda i: (
            i.patch(5 * SEGMENT + SEGMENT - UNIT, b"x"),
            i.commit(areas=[Area(5, SEGMENT - UNIT + 1, 0, 0, b"y".ljust(UNIT, b"\xff"))]),
        ),
    ),
    Damage("area-tail", lambda i: add_tail(i)),
    Damage("victim-missing", lambda i: i.commit(dynamic={"victim": 99})),
    Damage(
        "victim-pending",
        lambda i: (
            i.inode(i.ino("pipe"), nlink=2),
            i.commit(dynamic={"victim": i.ino("pipe")}),
        ),
    ),
    Damage(
        "rename-missing",
        lambda i: i.commit(dynamic={"rename_directory": 2, "rename_position": 4096 * 999}),
    ),
    Damage("rename-pending", lambda i: pending_rename(i)),
]


def open_unit(image: Image, behind: bytes) -> bytes:
    """The first 16 bytes of the second write unit of segment 5, and something behind them."""
    start = 5 * SEGMENT + UNIT
    return bytes(image.raw[start : start + 16]).ljust(UNIT, behind)


def add_tail(image: Image) -> None:
    """An area of level 0 in a segment of its own, with an object behind what is committed."""
    segno = 20
    image.segment_header_at(segno, level=0)
    image.patch(segno * SEGMENT + UNIT, pack_object(ObjectType.BLOCK, 17, 0, bytes(4096)))
    image.segment_entry(segno, 1 << 4, 0)
    image.commit(areas=[Area(segno, UNIT, 0)])


def pending_rename(image: Image) -> None:
    """The second name of a hard link is the old name of a rename."""
    directory, dentry = image.dentry("link")
    image.inode(dentry.ino, nlink=1)
    position = dentry.bix * 4096
    image.commit(dynamic={"rename_directory": directory, "rename_position": position})


def level_1(image: Image, name: str) -> int:
    """The indirect block of a file's blocks from 512 on."""
    root = image.payload(image.root_ofs(image.ino(name)))
    return int.from_bytes(root[8:16], "big") & ~FULL


OBJECTS = [
    Damage(
        "object-place",
        lambda i: i.inode(i.ino("leaf"), data=(FULL | PARTITION, *[0] * 16)),
        SUMS,
    ),
    Damage(
        "object-place",
        lambda i: i.inode(i.ino("leaf"), data=(FULL | 8 * SEGMENT + 4, *[0] * 16)),
        SUMS,
    ),
    Damage("object-header", lambda i: raw(i, i.block_ofs(i.ino("leaf"), 0), 5), SUMS),
    Damage("object-identity", lambda i: i.rewrite(i.block_ofs(i.ino("leaf"), 0), bix=7), SUMS),
    Damage("object-type", lambda i: i.rewrite(i.block_ofs(i.ino("leaf"), 0), kind=6)),
    Damage(
        "object-length",
        lambda i: i.patch(
            i.block_ofs(i.ino("leaf"), 0),
            replace(i.header(i.block_ofs(i.ino("leaf"), 0)), length=5000).pack(),
        ),
        SUMS,
    ),
    Damage("object-data", lambda i: raw(i, i.block_ofs(i.ino("leaf"), 0), HEADER)),
    Damage(
        "object-compression",
        lambda i: i.rewrite(i.block_ofs(i.ino("leaf"), 0), compression=1),
    ),
    Damage(
        "object-compression",
        lambda i: i.rewrite(i.block_ofs(i.ino("leaf"), 0), compression=2),
    ),
    Damage(
        "object-compression",
        lambda i: i.rewrite(i.dentry("leaf")[1].ofs, compression=1),
        ("inode-orphan",),
    ),
    Damage(
        "object-shared",
        lambda i: i.word(level_1(i, "holes"), 0, FULL | level_1(i, "holes")),
    ),
    Damage(
        "object-level",
        lambda i: i.segment_header(i.block_ofs(i.ino("leaf"), 0) // SEGMENT, level=3),
        ("segment-level",),
    ),
    Damage(
        "pointer-full",
        lambda i: i.inode(
            i.ino("holes"), data=(*[0] * 16, i.inode_of(i.ino("holes")).data[16] | FULL)
        ),
    ),
    Damage(
        "pointer-full",
        lambda i: i.word(i.root_ofs(i.ino("deep")), 3, FULL | 5 * SEGMENT + 24),
    ),
]

INODES = [
    Damage(
        "inode-missing",
        lambda i: i.rewrite(i.inode_ofs(2), bix=5),
        ("object-identity", "inode-orphan", "dentry-directory", "inode-links", *SUMS),
    ),
    Damage("inode-missing", lambda i: i.inode(3, mode=0o060600), ("segment-file", *SUMS)),
    Damage("inode-mode", lambda i: i.inode(i.ino("pipe"), mode=0o170600), ("dentry-type",)),
    Damage("inode-height", lambda i: i.inode(i.ino("leaf"), height=5), SUMS),
    Damage(
        "inode-height",
        lambda i: i.inode(i.ino("holes"), height=0),
        SUMS,
    ),
    Damage("inode-used", lambda i: i.inode(i.ino("leaf"), used_bytes=1)),
    Damage("inode-size", lambda i: i.inode(i.ino("sym"), size=0), ("data-behind-end",)),
    Damage("inode-size", lambda i: i.inode(i.ino("dir"), size=(1 << 40) + 1)),
    Damage("inode-size", lambda i: i.inode(i.ino("dir"), size=(1 << 43) + 4096)),
    Damage("inode-size", lambda i: i.inode(i.ino("leaf"), size=1 << 63)),
    Damage("inode-links", lambda i: i.inode(i.ino("file"), nlink=3)),
    Damage("inode-links", lambda i: i.inode(2, nlink=2)),
    Damage(
        "inode-orphan",
        lambda i: i.change_dentry("pipe", ino=i.ino("leaf"), kind=8),
        ("inode-links",),
    ),
    Damage(
        "inode-reserved",
        lambda i: i.commit(
            aliases=[],
            anchor={
                "data": (
                    *i.mounted.anchor.data[:4],
                    i.spare_inode(4),
                    *[0] * 11,
                    i.mounted.anchor.data[16],
                )
            },
        ),
        ("inode-orphan", "segment-level", *SUMS),
    ),
    Damage("data-behind-end", lambda i: i.inode(i.ino("deep"), size=4096)),
    Damage("data-behind-end", lambda i: i.commit(anchor={"size": 4096 * 18})),
    Damage("data-after-end", lambda i: i.inode(i.ino("leaf"), size=2)),
]

NAMES = [
    Damage("dentry-name", lambda i: i.change_dentry("pipe", length=0), ("dentry-place",)),
    Damage("dentry-name", lambda i: i.change_dentry("pipe", name=b"pipe\0x")),
    Damage("dentry-name", lambda i: i.change_dentry("pipe", name=b"a/bc")),
    Damage("dentry-name", lambda i: i.change_dentry("pipe", name=b"..", length=2)),
    Damage("dentry-place", lambda i: i.change_dentry("pipe", name=b"pips")),
    Damage(
        "dentry-duplicate",
        lambda i: i.change_dentry("sym", name=b"pipe", length=4),
        ("dentry-place",),
    ),
    Damage("dentry-inode", lambda i: i.change_dentry("pipe", ino=999), ("inode-orphan",)),
    Damage("dentry-type", lambda i: i.change_dentry("pipe", kind=8)),
    Damage(
        "dentry-directory",
        lambda i: i.change_dentry("pipe", ino=i.ino("dir"), kind=4),
        ("inode-orphan",),
    ),
    Damage(
        "dentry-directory",
        lambda i: i.change_dentry("pipe", ino=2, kind=4),
        ("inode-orphan",),
    ),
    Damage("dentry-directory", lambda i: below_itself(i), ("inode-orphan",)),
]


def below_itself(image: Image) -> None:
    """Exchanges the inodes of /dir and /dir/sub/leaf: dir is below sub, which is below dir."""
    top, leaf = image.ino("dir"), image.ino("leaf")
    image.change_dentry("dir", ino=leaf, kind=mode_bits(0o100000))
    image.change_dentry("leaf", ino=top, kind=mode_bits(0o040000))


SEGMENT_FILE = [
    Damage("segment-header", lambda i: i.commit(areas=[Area(30, UNIT, 0)]), ("area-fields",)),
    Damage("segment-file", lambda i: i.inode(3, size=8), ("data-after-end",)),
    Damage(
        "segment-file",
        lambda i: raw(i, i.block_ofs(3, 0), 100),
        (
            "object-data",
            "segment-reserved",
            "segment-valid",
            "segment-level",
            "segment-erase-count",
        ),
    ),
    Damage("segment-valid", lambda i: i.segment_entry(20, valid=1)),
    Damage("segment-level", lambda i: i.segment_entry(5, 1 << 4 | 4)),
    Damage("segment-erase-count", lambda i: i.segment_entry(5, 2 << 4)),
    Damage("segment-reserved", lambda i: i.segment_entry(1, valid=0)),
    Damage("segment-reserved", lambda i: i.segment_entry(20, valid=0xFFFFFFFF)),
    Damage("segment-bad", lambda i: i.segment_entry(5, 0xFFFFFFFF, 0xFFFFFFFF)),
    Damage("segment-gec", lambda i: i.segment_header(5, gec=0x9999)),
]


@pytest.mark.parametrize(
    "damage",
    [*SUPERBLOCKS, *JOURNAL, *OBJECTS, *INODES, *NAMES, *SEGMENT_FILE],
    ids=str,
)
def test_a_damage_breaks_its_rule(damage: Damage, tmp_path: Path) -> None:
    image = Image(make(tmp_path, usual_tree))
    damage.change(image)
    report = image.check()
    assert damage.rule in report.counts, report.text()
    further = set(report.counts) - {damage.rule, *damage.also}
    assert not further, report.text()


def test_the_inode_file_keeps_its_size_when_all_files_are_gone(tmp_path: Path) -> None:
    image = Image(make(tmp_path))
    image.commit(anchor={"size": 4096 * 30})
    assert image.mounted.anchor.height == 0
    assert not image.check().errors


def test_a_file_that_ends_early(tmp_path: Path) -> None:
    image = Image(make(tmp_path, usual_tree))
    del image.raw[-SEGMENT:]
    report = image.check()
    assert {"image-truncated", "superblock-copy"} <= set(report.counts)
    assert report.errors


def test_a_block_that_only_the_chip_calls_bad(tmp_path: Path) -> None:
    geometry = PageGeometry(oob_bytes=64)
    path = make(tmp_path, usual_tree, geometry=geometry)
    content = bytearray(path.read_bytes())
    content[30 * geometry.raw_block_bytes + geometry.page_bytes] = 0
    path.write_bytes(content)
    report = check_image(path)
    assert list(report.counts) == ["segment-marked"], report.text()
    assert report.warnings[0].where.segment == 30


def test_a_lab_file_with_a_wrong_checksum(tmp_path: Path) -> None:
    path = lab_file(make(tmp_path, usual_tree), tmp_path / "lab", first_block=3)
    assert not check_image(path).problems
    assert check_image(path).first_block == 3
    content = bytearray(path.read_bytes())
    content[60] ^= 1
    path.write_bytes(content)
    assert list(check_image(path).counts) == ["image-header"]


def test_every_rule_is_broken_by_a_test() -> None:
    groups = (SUPERBLOCKS, JOURNAL, OBJECTS, INODES, NAMES, SEGMENT_FILE)
    broken = {damage.rule for group in groups for damage in group}
    assert set(RULES) == broken | {"image-header", "segment-marked"}


def test_problems_say_where(tmp_path: Path) -> None:
    image = Image(make(tmp_path, usual_tree))
    image.change_dentry("pipe", kind=8)
    _, dentry = image.dentry("pipe")
    (problem,) = image.check().problems
    assert problem.severity is Severity.ERROR
    where = problem.where
    assert (where.ino, where.bix, where.offset, where.path) == (2, dentry.bix, dentry.ofs, "pipe")
    assert str(where) == f"offset {dentry.ofs:#x} inode 2 block {dentry.bix} pipe"
    assert DENTRY.size == 266
