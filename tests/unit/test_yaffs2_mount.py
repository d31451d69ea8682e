"""The mount scan: what a log means, operation by operation as section 5 of the format has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from yaffs2_support import DIRECTORY, HARD_LINK, OPTIONS, SYMLINK, Image, Log, lab_file, mark_bad

from ffslab.yaffs2 import ImageOptions, check_image, read_tree

S = 2048


def full(letter: str) -> bytes:
    return letter.encode() * S


def only(log: Log, tmp_path: Path, *rules: str) -> Image:
    """The image of a log that gives problems of exactly these rules."""
    image = log.image()
    report = image.check(tmp_path)
    assert set(report.counts) == set(rules), report.text()
    return image


def test_a_file_is_created_and_written(tmp_path: Path) -> None:
    log = Log()
    log.file(257, "a", 0)
    log.data(257, 1, full("x"))
    log.data(257, 2, b"rest")
    log.file(257, "a", S + 4)
    tree = only(log, tmp_path).tree(tmp_path)
    assert sorted(tree) == ["/", "/a", "/lost+found"]
    assert tree["/a"].content == full("x") + b"rest"
    assert tree["/a"].mode == 0o100644


def test_the_newest_chunk_wins(tmp_path: Path) -> None:
    log = Log()
    log.file(257, "a", 0)
    for letter in "abcdefghij":
        log.data(257, 1, full(letter))
    log.file(257, "a", S)
    tree = only(log, tmp_path).tree(tmp_path)
    assert tree["/a"].content == full("j")


def test_blocks_are_taken_by_sequence_not_by_place(tmp_path: Path) -> None:
    log = Log()
    log.file(257, "a", 0)
    for letter in "abcdefghij":
        log.data(257, 1, full(letter))
    log.file(257, "a", S)
    image = log.image()
    image.swap_blocks(0, 1)
    assert image.tree(tmp_path)["/a"].content == full("j")


def test_data_without_a_new_header_are_read(tmp_path: Path) -> None:
    log = Log()
    log.file(257, "a", 0)
    log.data(257, 1, full("x"))
    tree = only(log, tmp_path, "data-unflushed").tree(tmp_path)
    assert tree["/a"].size == S


def test_truncate_drops_older_data_behind_the_size(tmp_path: Path) -> None:
    log = Log()
    for chunk in range(1, 5):
        log.data(257, chunk, full("x"))
    log.file(257, "a", 4 * S)
    log.data(257, 2, b"short")
    log.file(257, "a", S + 5)
    tree = only(log, tmp_path).tree(tmp_path)
    assert tree["/a"].content == full("x") + b"short"


def test_extending_over_a_hole_hides_the_data_before(tmp_path: Path) -> None:
    """Section 5: shrink header with the old size, later chunks, header with the new size."""
    log = Log()
    for chunk in range(1, 6):
        log.data(257, chunk, full("x"))
    log.file(257, "a", 5 * S)
    log.file(257, "a", S)  # truncated
    log.file(257, "a", S, shrink=True)
    log.data(257, 9, full("y"))
    log.file(257, "a", 9 * S)
    tree = only(log, tmp_path).tree(tmp_path)
    assert tree["/a"].content == full("x") + bytes(7 * S) + full("y")


def test_without_the_shrink_header_the_data_come_back(tmp_path: Path) -> None:
    """The reason for the mark: the last header alone says nothing about chunks 2 to 5."""
    log = Log()
    for chunk in range(1, 6):
        log.data(257, chunk, full("x"))
    log.file(257, "a", S)
    log.file(257, "a", 9 * S)
    tree = only(log, tmp_path).tree(tmp_path)
    assert tree["/a"].content == 5 * full("x") + bytes(4 * S)


def test_a_short_chunk_in_the_middle_reads_as_zeros(tmp_path: Path) -> None:
    log = Log()
    log.data(257, 1, b"abc")
    log.file(257, "a", 3, shrink=True)
    log.data(257, 3, b"def")
    log.file(257, "a", 2 * S + 3)
    tree = only(log, tmp_path).tree(tmp_path)
    assert tree["/a"].content == b"abc" + bytes(2 * S - 3) + b"def"


def test_a_deleted_file_stays_deleted(tmp_path: Path) -> None:
    log = Log()
    log.data(257, 1, full("x"))
    log.file(257, "a", S)
    log.unlinked(257)
    log.deleted(257)
    assert sorted(only(log, tmp_path).tree(tmp_path)) == ["/", "/lost+found"]


def test_an_unlinked_file_waits_for_the_mount(tmp_path: Path) -> None:
    log = Log()
    log.data(257, 1, full("x"))
    log.file(257, "a", S)
    log.unlinked(257)
    assert "/a" not in only(log, tmp_path, "object-unlinked").tree(tmp_path)


def test_an_id_is_used_again(tmp_path: Path) -> None:
    log = Log()
    log.data(257, 2, full("o"))
    log.file(257, "old", 2 * S)
    log.unlinked(257)
    log.deleted(257)
    log.file(257, "new", 0)
    log.data(257, 1, b"new")
    log.file(257, "new", 3)
    tree = only(log, tmp_path).tree(tmp_path)
    assert tree["/new"].content == b"new"
    assert "/old" not in tree


def test_an_id_of_a_file_becomes_a_directory(tmp_path: Path) -> None:
    log = Log()
    log.data(257, 1, full("o"))
    log.file(257, "old", S)
    log.deleted(257)
    log.header(257, DIRECTORY, 1, "d")
    log.file(258, "f", 0, parent=257)
    tree = only(log, tmp_path).tree(tmp_path)
    assert tree["/d"].type == "directory"
    assert tree["/d/f"].size == 0


def test_rename_over_a_target(tmp_path: Path) -> None:
    log = Log()
    log.data(257, 1, b"target")
    log.file(257, "b", 6)
    log.data(258, 1, b"source")
    log.file(258, "a", 6)
    log.file(258, "b", 6, shadows=257)
    # Cut here, the shadow mark alone hides the target, whose header is older.
    assert only(log, tmp_path, "object-shadowed").tree(tmp_path)["/b"].content == b"source"
    log.unlinked(257)
    log.deleted(257)
    log.file(258, "b", 6)
    assert only(log, tmp_path).tree(tmp_path)["/b"].content == b"source"


def test_a_hard_link_has_everything_of_its_target(tmp_path: Path) -> None:
    log = Log()
    log.header(300, DIRECTORY, 1, "d")
    log.data(257, 1, b"text")
    log.file(257, "a", 4, uid=7)
    log.header(258, HARD_LINK, 300, "link", target_id=257)
    tree = only(log, tmp_path).tree(tmp_path)
    link = tree["/d/link"]
    assert (link.content, link.uid, link.link_of, link.links) == (b"text", 7, "/a", 2)
    assert tree["/a"].links == 2
    assert tree["/a"].link_of is None


def test_unlinking_a_linked_object_may_be_cut_in_the_middle(tmp_path: Path) -> None:
    """The object takes the link's name before the link is deleted."""
    log = Log()
    log.file(257, "a", 0)
    log.header(258, HARD_LINK, 1, "b", target_id=257)
    log.file(257, "b", 0)
    only(log, tmp_path, "name-link-interrupted")
    log.deleted(258, HARD_LINK)
    assert sorted(only(log, tmp_path).tree(tmp_path)) == ["/", "/b", "/lost+found"]


def test_directories_renamed_and_moved(tmp_path: Path) -> None:
    log = Log()
    log.header(300, DIRECTORY, 1, "d")
    log.header(301, DIRECTORY, 300, "e")
    log.header(257, SYMLINK, 301, "s", alias=b"../../x")
    log.header(301, DIRECTORY, 1, "f")
    tree = only(log, tmp_path).tree(tmp_path)
    assert sorted(tree) == ["/", "/d", "/f", "/f/s", "/lost+found"]
    assert tree["/f/s"].target == "../../x"


def test_the_summary_stands_in_for_damaged_tags(tmp_path: Path) -> None:
    log = Log()
    log.data(257, 1, b"text")
    log.file(257, "a", 4)
    for chunk in range(1, 6):
        log.data(258, chunk, full("y"))
    log.file(258, "b", 5 * S)
    image = log.image()
    image.flip(0, 1, S + 2, 40, 41)
    report = image.check(tmp_path)
    assert set(report.counts) == {"tags-uncorrectable"}
    assert image.tree(tmp_path)["/a"].content == b"text"


def test_large_files_have_plain_tags(tmp_path: Path) -> None:
    log = Log()
    size = (1 << 31) + 5
    last = size // S + 1
    log.data(257, last, b"12345")
    block, page = divmod(log.file(257, "large", size), 8)
    image = log.image()
    assert image.tags(block - 1, page).words == (257, 0, 0)
    report = image.check(tmp_path)
    assert not report.counts, report.text()
    node = image.tree(tmp_path)["/large"]
    assert node.size == size
    assert list(node.pieces()) == [((last - 1) * S, b"12345")]
    with pytest.raises(ValueError, match="pieces"):
        _ = node.content


def test_a_partition_inside_a_lab_flash_file(tmp_path: Path) -> None:
    log = Log()
    for chunk in range(1, 8):
        log.data(257, chunk, full("x"))
    log.file(257, "a", 7 * S)
    image = log.image()
    path = lab_file(tmp_path / "flash", image, blocks=20, first=5)
    given = check_image(path, ImageOptions(first_block=5, blocks=10))
    assert not given.counts, given.text()
    assert (given.file_format, given.first_block, given.blocks) == ("lab", 5, 10)
    # Without options the summary of the first block says where the partition begins.
    found = check_image(path)
    assert not found.counts, found.text()
    assert (found.first_block, found.blocks) == (5, 15)
    assert read_tree(path)["/a"].content == 7 * full("x")


def test_an_erased_lab_flash_file_is_an_empty_file_system(tmp_path: Path) -> None:
    image = Log().image()
    report = check_image(lab_file(tmp_path / "flash", image, blocks=20))
    assert set(report.counts) == {"image-erased"}
    assert report.statistics["blocks_erased"] == 20


def test_a_bad_block_is_not_read(tmp_path: Path) -> None:
    log = Log()
    for chunk in range(1, 8):
        log.data(257, chunk, full("x"))
    log.file(257, "a", 7 * S)
    path = lab_file(tmp_path / "flash", log.image(), blocks=20)
    mark_bad(path, 0)
    report = check_image(path, ImageOptions(first_block=0))
    assert report.statistics["blocks_bad"] == 1
    image = log.image()
    image.patch(0, 0, S, b"\0")  # the mark in a raw dump: the first byte of the OOB
    report = image.check(tmp_path)
    assert report.statistics["blocks_bad"] == 1
    assert report.statistics["blocks_data"] == 1


def test_options_choose_the_partition_of_a_raw_image(tmp_path: Path) -> None:
    log = Log()
    for chunk in range(1, 8):
        log.data(257, chunk, full("x"))
    log.file(257, "a", 7 * S)
    image = log.image()
    shifted = Image(image.geometry, b"\xff" * image.geometry.raw_block_bytes * 3 + image.raw)
    assert shifted.check(tmp_path).first_block == 3
    report = shifted.check(tmp_path, OPTIONS)
    assert not report.counts, report.text()
