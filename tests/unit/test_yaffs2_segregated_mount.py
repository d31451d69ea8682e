"""The segregated layout: which page is which chunk, in states that a running system leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from yaffs2_segregated_support import FIRST, PIECE, S, TwoLogs, check, full, patch_head
from yaffs2_support import DIRECTORY, HARD_LINK, SYMLINK

FILE_ID = 300


def test_a_file_whose_index_is_in_its_header(tmp_path: Path) -> None:
    log = TwoLogs()
    index = {1: log.chunk(FILE_ID, 1, "x"), 2: log.data(FILE_ID, 2, b"rest")}
    log.file(FILE_ID, "a", S + 4, index)
    tree = check(log, tmp_path)
    assert sorted(tree) == ["/", "/a", "/lost+found"]
    assert tree["/a"].content == full("x") + b"rest"


def test_objects_of_all_types(tmp_path: Path) -> None:
    log = TwoLogs()
    log.header(301, DIRECTORY, 1, "d")
    log.file(FILE_ID, "f", 2, {1: log.data(FILE_ID, 1, b"hi")}, parent=301)
    log.header(302, SYMLINK, 301, "s", alias=b"f")
    log.header(303, HARD_LINK, 1, "h", target_id=FILE_ID)
    tree = check(log, tmp_path)
    assert sorted(tree) == ["/", "/d", "/d/f", "/d/s", "/h", "/lost+found"]
    assert tree["/d/s"].target == "f"
    assert tree["/h"].link_of == "/d/f"


# --- rule 2: data that are newer than the index ---


def test_data_behind_the_index_are_found_by_their_tags(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(FILE_ID, "a", S, {1: log.chunk(FILE_ID, 1, "o")})
    log.chunk(FILE_ID, 1, "n")
    log.data(FILE_ID, 2, b"end")
    tree = check(log, tmp_path, "data-unflushed")
    assert tree["/a"].content == full("n") + b"end"


def test_of_several_newer_pages_the_newest_counts(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(FILE_ID, "a", S, {1: log.chunk(FILE_ID, 1, "o")})
    for letter in "bcdefghijklmn":
        log.chunk(FILE_ID, 1, letter)
    assert check(log, tmp_path)["/a"].content == full("n")


def test_the_newest_is_told_by_sequence_not_by_place(tmp_path: Path) -> None:
    log = TwoLogs(summaries=False)
    log.file(FILE_ID, "a", S, {})
    for letter in "bcdefghijk":
        log.chunk(FILE_ID, 1, letter)
    image = log.image()
    image.swap_blocks(1, 2)
    assert image.tree(tmp_path)["/a"].content == full("k")


def test_pages_older_than_the_index_are_superseded(tmp_path: Path) -> None:
    log = TwoLogs()
    log.chunk(FILE_ID, 1, "a")
    index = {1: log.chunk(FILE_ID, 1, "b"), 3: log.chunk(FILE_ID, 3, "c")}
    log.file(FILE_ID, "a", 3 * S, index)
    assert check(log, tmp_path)["/a"].content == full("b") + bytes(S) + full("c")


def test_a_page_that_the_collector_moved_is_newer(tmp_path: Path) -> None:
    """The entry names a place that was erased and written with another file's data since."""
    log = TwoLogs(summaries=False)
    first = log.chunk(FILE_ID, 1, "x")
    log.chunk(999, 1, "-")
    log.mount()
    log.file(FILE_ID, "a", S, {1: first})
    log.chunk(FILE_ID, 1, "x")
    image = log.image()
    # Block 0 was erased and is the newest data block now: that of another file.
    tags = image.tags(2, 0)
    image.erase(0)
    other = log.geometry.pages_per_block
    for page in range(3):
        image.set_page(0, page, tags, full("y"))
        image.set_tags(0, page, sequence=tags.sequence + 1, object_word=999, chunk_word=page + 1)
    assert first == other
    report = image.check(tmp_path)
    assert not report.counts, report.text()
    assert image.tree(tmp_path)["/a"].content == full("x")


# --- cuts ---


def test_what_was_cut_off_stays_off(tmp_path: Path) -> None:
    log = TwoLogs()
    index = {number: log.chunk(FILE_ID, number, "x") for number in range(1, 6)}
    log.file(FILE_ID, "a", 5 * S, index)
    log.file(FILE_ID, "a", S, {1: index[1]}, cuts=[(FIRST, 0), (log.now, 1)])
    assert check(log, tmp_path)["/a"].content == full("x")


def test_data_that_no_index_had_yet_are_cut_off_too(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(FILE_ID, "a", 0, {})
    first = log.now - 7 * 1024  # well before all data
    chunks = {number: log.chunk(FILE_ID, number, "x") for number in range(1, 6)}
    # The header has the cut, but an index from before it: rule 2 must not bring up 2 to 5.
    log.file(FILE_ID, "a", S, {1: chunks[1]}, cuts=[(first, 0), (log.now, 1)])
    assert check(log, tmp_path)["/a"].content == full("x")


def test_truncated_and_grown_again(tmp_path: Path) -> None:
    log = TwoLogs()
    index = {number: log.chunk(FILE_ID, number, "o") for number in range(1, 6)}
    log.file(FILE_ID, "a", 5 * S, index)
    cuts = [(FIRST, 0), (log.now, 1)]
    log.file(FILE_ID, "a", S, {1: index[1]}, cuts=cuts)
    log.chunk(FILE_ID, 4, "n")
    expected = full("o") + bytes(2 * S) + full("n")
    assert check(log, tmp_path, "data-unflushed")["/a"].content == expected


def test_an_old_index_page_is_void_behind_a_cut(tmp_path: Path) -> None:
    """Piece 0 was written before the cut; it is not written again when the file is cut."""
    log = TwoLogs()
    chunks = {number: log.chunk(FILE_ID, number, "o") for number in range(1, 6)}
    log.index(FILE_ID, 0, 5 * S, chunks)
    log.file(FILE_ID, "a", 5 * S, None)
    log.file(FILE_ID, "a", 2 * S, None, cuts=[(FIRST, 0), (log.now, 2)])
    assert check(log, tmp_path)["/a"].content == 2 * full("o")
    log.chunk(FILE_ID, 5, "n")
    tree = check(log, tmp_path, "data-unflushed")
    assert tree["/a"].content == 2 * full("o") + bytes(2 * S) + full("n")


def test_a_piece_written_behind_the_cut_is_whole(tmp_path: Path) -> None:
    log = TwoLogs()
    chunks = {number: log.chunk(FILE_ID, number, "o") for number in range(1, 6)}
    log.index(FILE_ID, 0, 5 * S, chunks)
    cut = log.now
    chunks = {1: chunks[1], 2: log.chunk(FILE_ID, 2, "n"), 5: log.chunk(FILE_ID, 5, "n")}
    log.index(FILE_ID, 0, 5 * S, chunks)
    log.file(FILE_ID, "a", 5 * S, None, cuts=[(FIRST, 0), (cut, 1)])
    assert check(log, tmp_path)["/a"].content == full("o") + full("n") + bytes(2 * S) + full("n")


def test_two_cuts_have_each_their_chunks(tmp_path: Path) -> None:
    """Cut to 1, grown, cut to 3: chunks 2 and 3 count if they are newer than the first cut."""
    log = TwoLogs()
    chunks = {number: log.chunk(FILE_ID, number, "o") for number in range(1, 6)}
    log.index(FILE_ID, 0, 5 * S, chunks)
    first = log.now
    log.chunk(FILE_ID, 3, "m")
    log.chunk(FILE_ID, 4, "m")
    cuts = [(FIRST, 0), (first, 1), (log.now, 3)]
    log.file(FILE_ID, "a", 3 * S, None, cuts=cuts, horizon=FIRST)
    assert check(log, tmp_path)["/a"].content == full("o") + bytes(S) + full("m")


def test_two_cuts_that_became_one(tmp_path: Path) -> None:
    """Cut to 1, grown, cut to 3; then (later, 1) stands for both, and piece 0 is behind it."""
    log = TwoLogs()
    chunks = {number: log.chunk(FILE_ID, number, "o") for number in range(1, 6)}
    log.index(FILE_ID, 0, 5 * S, chunks)
    chunks = {1: chunks[1], 3: log.chunk(FILE_ID, 3, "m")}
    log.chunk(FILE_ID, 4, "m")
    later = log.now
    log.chunk(999, 1, "-")
    log.index(FILE_ID, 0, 3 * S, chunks)
    log.file(FILE_ID, "a", 3 * S, None, cuts=[(later, 1)])
    assert check(log, tmp_path)["/a"].content == full("o") + bytes(S) + full("m")


# --- pieces ---


def test_pieces_of_a_sparse_file(tmp_path: Path) -> None:
    log = TwoLogs()
    far = 3 * PIECE + 7
    low, high = {1: log.chunk(FILE_ID, 1, "a")}, {far: log.data(FILE_ID, far, b"end")}
    size = (far - 1) * S + 3
    log.index(FILE_ID, 0, size, low)
    log.index(FILE_ID, 3, size, high)
    log.file(FILE_ID, "a", size, None)
    node = check(log, tmp_path)["/a"]
    assert node.size == size
    assert list(node.pieces()) == [(0, full("a")), (size - 3, b"end")]


def test_of_several_index_pages_of_a_piece_the_newest_counts(tmp_path: Path) -> None:
    log = TwoLogs()
    for letter in "abcdefghijkl":
        chunk = log.chunk(FILE_ID, PIECE, letter)
        log.index(FILE_ID, 1, PIECE * S, {PIECE: chunk})
    log.file(FILE_ID, "a", PIECE * S, None)
    node = check(log, tmp_path)["/a"]
    assert [piece for _, piece in node.pieces()] == [full("l")]


def test_an_index_page_newer_than_the_header_replaces_the_index_there(tmp_path: Path) -> None:
    log = TwoLogs()
    old, new = log.chunk(FILE_ID, 1, "o"), log.chunk(FILE_ID, 1, "n")
    log.file(FILE_ID, "a", S, {1: old}, now=FIRST + 1)
    log.index(FILE_ID, 0, S, {1: new})
    assert check(log, tmp_path)["/a"].content == full("n")


def test_a_header_without_an_index_does_not_replace_a_page(tmp_path: Path) -> None:
    log = TwoLogs()
    log.index(FILE_ID, 0, S, {1: log.chunk(FILE_ID, 1, "x")})
    log.file(FILE_ID, "a", S, None)
    log.file(FILE_ID, "b", S, None)
    assert check(log, tmp_path)["/b"].content == full("x")


def test_a_header_with_an_index_replaces_an_older_page(tmp_path: Path) -> None:
    log = TwoLogs()
    old, new = log.chunk(FILE_ID, 1, "o"), log.chunk(FILE_ID, 1, "n")
    log.index(FILE_ID, 0, S, {1: old}, now=FIRST + 1)
    log.file(FILE_ID, "a", S, {1: new})
    assert check(log, tmp_path)["/a"].content == full("n")


def test_an_index_that_only_an_older_header_has_does_not_count(tmp_path: Path) -> None:
    """A mount reads the newest header only; then a page below the horizon is lost."""
    log = TwoLogs()
    chunk = log.chunk(FILE_ID, 1, "x")
    log.chunk(FILE_ID, 2, "y")
    log.file(FILE_ID, "a", S, {1: chunk})
    log.mount()
    log.file(FILE_ID, "a", S, None)
    log.skip_data_blocks(1)
    log.file(301, "later", 0, {})  # a later horizon
    tree = check(log, tmp_path, "index-missing")
    assert tree["/a"].content == bytes(S)


# --- sizes ---


def test_a_size_of_more_than_4_gib(tmp_path: Path) -> None:
    log = TwoLogs()
    size = (5 << 30) + 3
    last = -(-size // S)
    chunk = log.data(FILE_ID, last, b"x" * (size % S))
    log.index(FILE_ID, last // PIECE, size, {last: chunk})
    log.file(FILE_ID, "a", size, None)
    assert check(log, tmp_path)["/a"].size == size


def test_the_size_in_a_newer_index_page_counts(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(FILE_ID, "a", 0, {})
    log.chunk(999, 1, "-")
    log.index(FILE_ID, 0, 10 * S, {1: log.chunk(FILE_ID, 1, "x")})
    tree = check(log, tmp_path, "data-unflushed")
    assert tree["/a"].size == 10 * S


def test_a_page_in_an_index_newer_than_the_header_does_not_make_the_file_longer(
    tmp_path: Path,
) -> None:
    """The index page says what of the page counts: the rest has still to be cut off."""
    log = TwoLogs()
    log.chunk(999, 1, "-")
    log.file(FILE_ID, "a", 0, {})
    log.index(FILE_ID, 0, 100, {1: log.chunk(FILE_ID, 1, "x")}, flags=3)
    tree = check(log, tmp_path, "data-unflushed")
    assert tree["/a"].content == b"x" * 100


def test_the_size_in_an_index_page_as_old_as_the_header_does_not(tmp_path: Path) -> None:
    log = TwoLogs()
    log.index(FILE_ID, 1, 2 * PIECE * S, {})
    log.file(FILE_ID, "a", S, {})
    assert check(log, tmp_path)["/a"].size == S


def test_a_page_older_than_the_header_does_not_make_the_file_longer(tmp_path: Path) -> None:
    log = TwoLogs()
    chunk = log.chunk(FILE_ID, 1, "x")
    log.file(FILE_ID, "a", 100, {1: chunk})
    assert check(log, tmp_path, "data-behind-end")["/a"].size == 100
    log = TwoLogs()
    log.file(FILE_ID, "a", 100, {1: log.chunk(FILE_ID, 1, "x")}, flags=2)  # still to be cut off
    assert check(log, tmp_path)["/a"].content == b"x" * 100


# --- objects that are gone ---


def test_data_of_a_deleted_file_are_dead(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(FILE_ID, "a", S, {1: log.chunk(FILE_ID, 1, "x")})
    log.deleted(FILE_ID)
    assert sorted(check(log, tmp_path)) == ["/", "/lost+found"]


def test_data_without_any_header_are_those_of_a_deleted_file(tmp_path: Path) -> None:
    log = TwoLogs()
    log.header(301, DIRECTORY, 1, "d")
    log.index(FILE_ID, 0, S, {1: log.chunk(FILE_ID, 1, "x")})
    log.chunk(FILE_ID, 2, "x")
    assert sorted(check(log, tmp_path)) == ["/", "/d", "/lost+found"]


def test_an_unlinked_file_waits_for_the_mount(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(FILE_ID, "a", S, {1: log.chunk(FILE_ID, 1, "x")})
    log.unlinked(FILE_ID)
    assert "/a" not in check(log, tmp_path, "object-unlinked")


def test_an_unlinked_file_keeps_cuts_index_and_size(tmp_path: Path) -> None:
    log = TwoLogs()
    index = {1: log.chunk(FILE_ID, 1, "x")}
    log.file(FILE_ID, "unlinked", S, index, parent=3)
    assert "/a" not in check(log, tmp_path, "object-unlinked")
    log = TwoLogs()
    log.unlinked(FILE_ID, cuts=())
    check(log, tmp_path, "object-unlinked", "head-cuts")


def test_a_rename_over_a_file_hides_it(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(301, "b", 6, {1: log.data(301, 1, b"target")})
    index = {1: log.data(FILE_ID, 1, b"source")}
    log.file(FILE_ID, "a", 6, index)
    log.file(FILE_ID, "b", 6, index, shadows=301)
    assert check(log, tmp_path, "object-shadowed")["/b"].content == b"source"


@pytest.mark.parametrize("gone", [True, False])
def test_an_id_is_used_again(gone: bool, tmp_path: Path) -> None:
    """The first cut kills the data of the earlier life, whether its headers are there or not."""
    log = TwoLogs()
    chunks = {number: log.chunk(FILE_ID, number, "o") for number in (1, 2, 3)}
    log.index(FILE_ID, 1, PIECE * S, {PIECE: log.chunk(FILE_ID, PIECE, "o")})
    if not gone:
        log.file(FILE_ID, "old", 3 * S, chunks)
        log.deleted(FILE_ID)
    born = log.now
    index = {2: log.chunk(FILE_ID, 2, "n")}
    log.file(FILE_ID, "new", 2 * S, index, cuts=[(born, 0)])
    tree = check(log, tmp_path)
    assert tree["/new"].content == bytes(S) + full("n")
    assert "/old" not in tree


def test_an_id_of_a_file_becomes_a_directory(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(FILE_ID, "old", S, {1: log.chunk(FILE_ID, 1, "o")})
    log.deleted(FILE_ID)
    log.header(FILE_ID, DIRECTORY, 1, "d")
    assert check(log, tmp_path)["/d"].type == "directory"


# --- the horizon ---


def below_the_horizon(log: TwoLogs) -> int:
    """A data page that no index has, a block before the horizon; not the last of its block."""
    log.file(FILE_ID, "a", 0, {})
    chunk = log.chunk(FILE_ID, 1, "x")
    log.chunk(999, 1, "-")
    log.mount()
    log.chunk(999, 1, "-")
    log.file(301, "later", 0, {})
    return chunk


def test_a_mount_does_not_look_below_the_horizon(tmp_path: Path) -> None:
    log = TwoLogs()
    below_the_horizon(log)
    assert check(log, tmp_path, "index-missing")["/a"].content == b""


def test_with_an_earlier_horizon_it_does(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(FILE_ID, "a", 0, {})
    log.chunk(FILE_ID, 1, "x")
    here = log.now - 1
    log.chunk(999, 1, "-")
    log.mount()
    log.chunk(999, 1, "-")
    log.file(301, "later", 0, {}, horizon=here)
    assert check(log, tmp_path, "data-unflushed")["/a"].content == full("x")


def test_the_horizon_in_a_header_of_what_is_no_file_does_not_count(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(FILE_ID, "a", 0, {})
    log.chunk(FILE_ID, 1, "x")
    log.chunk(999, 1, "-")
    log.mount()
    log.chunk(999, 1, "-")
    log.header(301, DIRECTORY, 1, "d")
    assert check(log, tmp_path, "data-unflushed")["/a"].content == full("x")


def test_pieces_that_cannot_be_read_are_sought_in_all_data_blocks(tmp_path: Path) -> None:
    log = TwoLogs()
    log.chunk(FILE_ID, 1, "o")
    chunks = {1: log.chunk(FILE_ID, 1, "x"), 2: log.chunk(FILE_ID, 2, "y")}
    page = log.index(FILE_ID, 0, 2 * S, chunks)
    log.file(FILE_ID, "a", 2 * S, None)
    log.skip_data_blocks(2)
    log.file(301, "later", 0, {})
    image = log.image()
    image.flip(*log.place(page), 56, 3)
    report = image.check(tmp_path)
    assert set(report.counts) == {"head-crc"}, report.text()
    assert image.tree(tmp_path)["/a"].content == full("x") + full("y")


def test_a_header_that_cannot_be_read_keeps_name_and_contents(tmp_path: Path) -> None:
    log = TwoLogs()
    chunks = {1: log.chunk(FILE_ID, 1, "x"), 2: log.chunk(FILE_ID, 2, "y")}
    log.chunk(FILE_ID, 3, "z")  # of an earlier life: behind the size
    page = log.file(FILE_ID, "a", 2 * S, chunks)
    log.skip_data_blocks(2)
    log.file(301, "later", 0, {})
    image = log.image()
    image.flip(*log.place(page), 512 + 116, 3)
    report = image.check(tmp_path)
    assert set(report.counts) == {"head-crc"}, report.text()
    assert image.tree(tmp_path)["/a"].content == full("x") + full("y")


def test_a_page_that_may_be_torn_is_not_missed(tmp_path: Path) -> None:
    """A power cut at the last page: a mount found it damaged, and its file was written on."""
    log = TwoLogs()
    old = log.chunk(FILE_ID, 1, "x")
    log.chunk(FILE_ID, 1, "t")
    log.mount()
    log.chunk(FILE_ID, 2, "y")
    last = log.chunk(FILE_ID, 2, "y")
    log.file(FILE_ID, "a", 2 * S, {1: old, 2: last})
    assert check(log, tmp_path)["/a"].content == full("x") + full("y")


def test_a_new_version_is_refused(tmp_path: Path) -> None:
    log = TwoLogs()
    page = log.file(FILE_ID, "a", S, {1: log.chunk(FILE_ID, 1, "x")})
    image = log.image()
    patch_head(image, log.place(page), 4, b"\2\0")
    report = image.check(tmp_path)
    assert set(report.counts) == {"layout-version"}, report.text()
    assert sorted(image.tree(tmp_path)) == ["/", "/lost+found"]
