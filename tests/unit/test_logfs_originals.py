"""Images that the original's mkfs wrote: fsck finds nothing wrong, and what would be wrong.

`tests/golden/logfs-images/README.md` says what is in them.
"""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from logfs_support import SEGMENT, Image, make
from test_yaffs2_cli import Cli, cli

from ffslab.logfs import check_image, read_tree
from ffslab.logfs.format import FLAG_COMPRESS, FULL, Alias

__all__ = ["cli"]  # the fixture

IMAGES = Path(__file__).resolve().parent.parent / "golden" / "logfs-images"
# Segments of each.
NAMES = {
    "s14-w9": 512,
    "s16-w0": 128,
    "s17-w11": 128,
    "s17-w11-c": 128,
    "s18-w12": 256,
    "s19-w12": 256,
}
RESERVED = 0xFFFFFFFF


def original(name: str, directory: Path) -> Path:
    path = directory / f"{name}.img"
    path.write_bytes(lzma.decompress((IMAGES / f"{name}.img.xz").read_bytes()))
    return path


@pytest.mark.parametrize("name", NAMES)
def test_what_the_original_wrote_is_no_error(name: str, tmp_path: Path) -> None:
    path = original(name, tmp_path)
    report = check_image(path)
    assert not report.problems, report.text()
    # Two superblocks, four of the journal, and the last one; objects of levels 0 and 6.
    segments = NAMES[name]
    counts = ("segments", "segments_bad", "segments_reserved", "segments_in_use", "segments_free")
    assert [report.statistics[count] for count in counts] == [segments, 0, 7, 2, segments - 9]
    assert report.statistics["used_bytes"] == 2 * 228 + 4124
    assert report.superblock is not None and report.superblock.segment_bytes == 0
    tree = read_tree(path)
    assert [*tree] == ["/"] and tree["/"].mode == 0o40755
    compress = FLAG_COMPRESS if name.endswith("-c") else 0
    assert Image(path).inode_of(2).flags == compress


def with_entries(image: Image, entries: dict[int, tuple[int, int]]) -> set[str]:
    """What is wrong if the segment file says that of segments, in another commit."""
    known = {alias.child: alias.value for alias in image.mounted.journal.aliases if alias.ino == 3}
    known |= {segno: first << 32 | valid for segno, (first, valid) in entries.items()}
    aliases = [Alias(3, 0, value, 0, child) for child, value in known.items()]
    image.commit(aliases=aliases)
    return {problem.rule for problem in image.check().problems}


@pytest.mark.parametrize(
    ("entries", "rules"),
    [
        ({}, set()),
        ({126: (1 << 4, RESERVED)}, set()),  # as it should have been, the last one too
        ({126: (1 << 4, RESERVED), 127: (0, 0)}, set()),
        ({127: (0, 0)}, {"segment-reserved"}),  # neither is
        ({125: (0, RESERVED)}, {"segment-reserved"}),
        ({126: (0, 100)}, {"segment-valid"}),
        ({1: (0, 0)}, {"segment-reserved"}),
        ({0: (0, 0)}, {"segment-reserved"}),
        ({126: (RESERVED, RESERVED)}, {"segment-bad", "segment-reserved"}),
    ],
)
def test_which_segments_are_reserved(
    entries: dict[int, tuple[int, int]], rules: set[str], tmp_path: Path
) -> None:
    """The last one in place of that of the second superblock, and no other."""
    assert with_entries(Image(original("s17-w11", tmp_path)), entries) == rules


def test_only_the_last_segment_is_reserved_in_place_of_another(tmp_path: Path) -> None:
    """Our images have the superblock there: then the one before holds objects, or is free."""
    image = Image(make(tmp_path))
    image.segment_entry(38, valid=RESERVED)
    assert {problem.rule for problem in image.check().problems} == {"segment-reserved"}


@pytest.mark.parametrize(
    ("is_marked", "is_claimed", "is_good"),
    [(True, True, True), (True, False, False), (False, True, True), (False, False, True)],
)
def test_bit_63_of_pointers_to_data_may_be_left_out(
    is_marked: bool, is_claimed: bool, is_good: bool, tmp_path: Path
) -> None:
    """Then the pointer above says that there is no hole, or what these bits say."""
    image = Image(make(tmp_path, lambda top: (top / "whole").write_bytes(b"x" * 4096 * 600)))
    ino = image.ino("whole")
    root = image.root_ofs(ino)
    below = int.from_bytes(image.payload(root)[:8], "big")
    assert below & FULL
    if not is_marked:
        image.word(below & ~FULL, 100, image.block_ofs(ino, 100))
        image.inode(ino, data=(image.block_ofs(ino, 0), *image.inode_of(ino).data[1:]))
    if not is_claimed:
        image.word(root, 0, below & ~FULL)
    rules = {problem.rule for problem in image.check().problems}
    assert rules == (set() if is_good else {"pointer-full"})


def test_a_hole_below_a_full_pointer_is_one(tmp_path: Path) -> None:
    image = Image(make(tmp_path, lambda top: (top / "whole").write_bytes(b"x" * 4096 * 600)))
    below = int.from_bytes(image.payload(image.root_ofs(image.ino("whole")))[:8], "big") & ~FULL
    image.word(below, 100, 0)
    assert "pointer-full" in {problem.rule for problem in image.check().problems}


def test_mkfs_leaves_the_bytes_of_a_segment_to_the_shift(tmp_path: Path) -> None:
    image = Image(make(tmp_path))
    superblock = image.mounted.superblock
    assert (superblock.segment_bytes, 1 << superblock.segment_shift) == (0, SEGMENT)
    for bytes_of, rules in ((0, set()), (SEGMENT, set()), (1, {"superblock-fields"})):
        image.superblock(segment_bytes=bytes_of)
        assert {problem.rule for problem in image.check().problems} == rules
    image.superblock(0, segment_bytes=SEGMENT)
    image.superblock(1, segment_bytes=0)
    assert {problem.rule for problem in image.check().problems} == {"superblock-differ"}


@pytest.mark.parametrize("name", NAMES)
def test_fsck_of_the_original_s_images_is_good(cli: Cli, name: str, tmp_path: Path) -> None:
    assert cli("fsck", "logfs", str(original(name, tmp_path))) == 0
    assert cli.output.endswith("  result     0 errors, 0 warnings, 0 notes\n")
