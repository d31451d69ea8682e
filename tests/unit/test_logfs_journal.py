"""What a mount makes of commits: the newest counts; aliases over the tree, buffers over flash."""

from __future__ import annotations

from pathlib import Path

from logfs_support import SEGMENT, UNIT, Image, make, usual_tree

from ffslab.logfs.format import (
    FULL,
    Alias,
    Area,
    EntryType,
    ObjectType,
    pack_object,
)


def usual(tmp_path: Path) -> Image:
    return Image(make(tmp_path, usual_tree))


def new_block(image: Image, ino: int, bix: int, content: bytes, segno: int = 20) -> int:
    """A block of data in a segment that was free; where it is."""
    image.segment_header_at(segno, 0)
    ofs = segno * SEGMENT + 24
    payload = content.ljust(4096, b"\0")
    image.patch(ofs, pack_object(ObjectType.BLOCK, ino, bix, payload))
    return ofs


def moved(image: Image, segno: int, object_bytes: int = 4124) -> list[Alias]:
    """Aliases of the segment file: an object of segment 5 has moved to `segno`."""
    entries = image.mounted.entries
    freed = entries[5][0] << 32 | entries[5][1] - object_bytes
    return [Alias(3, 0, freed, 0, 5), Alias(3, 0, 1 << 36 | object_bytes, 0, segno)]


def test_an_alias_changes_a_pointer_in_an_inode(tmp_path: Path) -> None:
    image = usual(tmp_path)
    ino = image.ino("leaf")
    ofs = new_block(image, ino, 0, b"LEAF")
    # Word 8 is the first pointer.
    image.commit(aliases=[Alias(1, ino, ofs | FULL, 0, 8), *moved(image, 20)])
    report = image.check()
    assert not report.problems, report.text()
    assert report.statistics["aliases"] == 3
    assert image.tree()["/dir/sub/leaf"].content == b"LEAF"


def test_an_alias_changes_an_indirect_block(tmp_path: Path) -> None:
    image = usual(tmp_path)
    ino = image.ino("deep")
    ofs = new_block(image, ino, 17, b"new")
    image.commit(aliases=[Alias(ino, 0, ofs | FULL, 1, 17), *moved(image, 20)])
    report = image.check()
    assert not report.problems, report.text()
    content = image.tree()["/dir/deep"].content
    assert content[17 * 4096 : 17 * 4096 + 4] == b"new\0"
    assert content[18 * 4096 : 19 * 4096] == bytes(range(256)) * 16


def test_an_alias_of_a_hole_changes_the_state_of_the_block(tmp_path: Path) -> None:
    """A slot that becomes a hole: the pointer to the block must not say "full" any more."""
    image = usual(tmp_path)
    ino = image.ino("holes")
    root = image.root_ofs(ino)
    image.commit(aliases=[Alias(ino, 0, 0, 2, 1)])
    report = image.check()
    assert set(report.counts) == {"inode-used", "segment-valid", "used-bytes"}, report.text()
    assert image.tree()["/holes"].content == bytes(4096 * 520 + 3)
    assert image.payload(root)[8:16] != bytes(8)


def test_the_later_alias_counts(tmp_path: Path) -> None:
    image = usual(tmp_path)
    ino = image.ino("leaf")
    # Word 0 is mode, height and flags.
    words = [0o100600 << 48, 0o100640 << 48]
    image.commit(aliases=[Alias(1, ino, word, 0, 0) for word in words])
    report = image.check()
    assert not report.problems, report.text()
    assert image.tree()["/dir/sub/leaf"].mode == 0o100640


def test_the_newest_segment_of_the_journal_counts(tmp_path: Path) -> None:
    """Segment numbers say nothing: the highest global erase count does."""
    image = usual(tmp_path)
    ino = image.ino("leaf")
    for slot, mode in ((3, 0o100601), (1, 0o100602), (2, 0o100603)):
        image.commit(slot=slot, aliases=[Alias(1, ino, mode << 48, 0, 0)])
    assert image.tree()["/dir/sub/leaf"].mode == 0o100603
    # Of one with a damaged header its last commit says how old it is.
    start = image.mounted.superblock.journal_segnos[2] * SEGMENT
    image.raw[start + 20] ^= 1
    assert image.tree()["/dir/sub/leaf"].mode == 0o100603
    assert list(image.check().counts) == ["journal-header"]
    # Without a header and a commit it counts as none, so the one before is taken.
    image.patch(start, b"\xff" * UNIT)
    assert image.tree()["/dir/sub/leaf"].mode == 0o100602
    assert not image.check().problems


def test_the_last_valid_commit_of_a_segment_counts(tmp_path: Path) -> None:
    image = usual(tmp_path)
    ino = image.ino("leaf")
    segno = image.commit(aliases=[Alias(1, ino, 0o100601 << 48, 0, 0)])
    image.commit(aliases=[Alias(1, ino, 0o100602 << 48, 0, 0)], behind=UNIT)
    report = image.check()
    assert not report.problems, report.text()
    assert report.statistics["commits"] == 2
    assert image.tree()["/dir/sub/leaf"].mode == 0o100602
    # The second without its commit entry, the last of its bytes that are not padding.
    end = segno * SEGMENT + 2 * UNIT
    last = len(bytes(image.raw[:end]).rstrip(b"\0"))
    image.raw[last - 1] ^= 1
    assert image.tree()["/dir/sub/leaf"].mode == 0o100601
    assert list(image.check().counts) == ["journal-tail"]


def test_a_commit_without_its_end_is_none(tmp_path: Path) -> None:
    image = usual(tmp_path)
    before = image.tree()
    segno = image.commit(aliases=[Alias(1, image.ino("leaf"), 0o100603 << 48, 0, 0)])
    assert image.tree() != before
    good = bytes(image.raw)
    start = segno * SEGMENT
    commit = max(
        at for at in range(32, UNIT, 16) if image.raw[start + at + 8 : start + at + 10] == b"\0\2"
    )
    image.raw[start + commit + 16] ^= 1
    assert image.tree() == before
    assert list(image.check().counts) == ["journal-begun"]
    image.raw[:] = good
    image.patch(start + UNIT, bytes(UNIT))
    assert not image.check().problems


def test_a_write_buffer_is_over_the_flash(tmp_path: Path) -> None:
    """An object in two write units: the second is in the journal only."""
    image = usual(tmp_path)
    ino = image.ino("leaf")
    segno = 20
    ofs = new_block(image, ino, 0, b"buff", segno)
    start = segno * SEGMENT + UNIT
    used = 24 + 4124
    unit = bytes(image.raw[start : start + used - UNIT]).ljust(UNIT, b"\xff")
    image.patch(start, b"\xff" * UNIT)
    aliases = [Alias(1, ino, ofs | FULL, 0, 8), *moved(image, segno)]
    image.commit(aliases=aliases, areas=[Area(segno, used, 0, 0, unit)])
    report = image.check()
    assert not report.problems, report.text()
    assert report.statistics["areas"] == 1
    assert image.tree()["/dir/sub/leaf"].content == b"buff"
    # Without the buffer the end of the object is missing.
    image.commit(aliases=aliases, areas=[])
    assert "object-data" in image.check().counts


def test_a_unit_that_was_programmed_after_the_commit_is_no_damage(tmp_path: Path) -> None:
    """Behind `used` the flash counts: there is an object of which the commit knows nothing."""
    image = usual(tmp_path)
    segno = 20
    image.segment_header_at(segno, 0)
    begin = bytes(image.raw[segno * SEGMENT : segno * SEGMENT + 24])
    image.patch(segno * SEGMENT + 24, pack_object(ObjectType.BLOCK, 17, 0, bytes(4096)))
    image.commit(
        aliases=[Alias(3, 0, 1 << 36, 0, segno)],
        areas=[Area(segno, 24, 0, 0, begin.ljust(UNIT, b"\xff"))],
    )
    report = image.check()
    assert list(report.counts) == ["area-tail"], report.text()
    assert report.statistics["objects_uncommitted"] == 1


def test_an_interrupted_create_is_undone(tmp_path: Path) -> None:
    """The inode is there and the victim; its name is not yet."""
    image = usual(tmp_path)
    ino = 30
    root = image.root_ofs_of_inode_file()
    image.word(root, ino, image.spare_inode(ino))
    entry = (1 << 4 | 6) << 32 | 228
    image.commit(
        anchor={
            "size": 31 * 4096,
            "last_ino": ino,
            "used_bytes": image.mounted.anchor.used_bytes + 228,
        },
        dynamic={"victim": ino, "used_bytes": image.mounted.dynamic.used_bytes + 228},
        aliases=[Alias(3, 0, entry, 0, 25)],
    )
    report = image.check()
    assert list(report.counts) == ["victim-pending"], report.text()
    assert "deletes it" in report.notes[0].message


def test_an_interrupted_rename_shows_the_new_name(tmp_path: Path) -> None:
    image = usual(tmp_path)
    directory, old = image.dentry("link")
    image.inode(old.ino, nlink=1)
    place = {"rename_directory": directory, "rename_position": old.bix * 4096}
    image.commit(dynamic=place)
    report = image.check()
    assert list(report.counts) == ["rename-pending"], report.text()
    tree = image.tree()
    assert "/dir/link" not in tree
    assert (tree["/file"].links, tree["/file"].link_of) == (1, None)


def test_compressed_entries_are_read(tmp_path: Path) -> None:
    """Many equal aliases: the entry is a fraction of its 32 bytes each."""
    image = usual(tmp_path)
    ino = image.ino("leaf")
    segno = image.commit(aliases=[Alias(1, ino, 0o100640 << 48, 0, 0)] * 128)
    raw = bytes(image.raw[segno * SEGMENT : segno * SEGMENT + 4096])
    at = next(at for at in range(32, 4096, 16) if raw[at + 8 : at + 10] == b"\0\x0d")
    assert int.from_bytes(raw[at + 4 : at + 6], "big") < 200
    assert int.from_bytes(raw[at + 6 : at + 8], "big") == 128 * 32
    assert EntryType.ALIASES == 13
    assert not image.check().problems
    assert image.tree()["/dir/sub/leaf"].mode == 0o100640
