"""The segregated layout: what the mount scan says of a partition beside the tree that it gives.

Positions are told from `TwoLogs.now`, that of the data page which is written next.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from yaffs2_segregated_support import FIRST, HEAD_AT, PIECE, S, TwoLogs, full, patch_head
from yaffs2_support import DIRECTORY, OPTIONS, Image

from ffslab.yaffs2.detect import open_image
from ffslab.yaffs2.format import CHUNK_ID_MAX, ID_MAX
from ffslab.yaffs2.scan import scan_flash
from ffslab.yaffs2.segregated.mount import (
    FileIndex,
    SegregatedMounted,
    mount_segregated,
    names_lost_chunk,
)

FILE_ID = 300
TAIL, LOST = 2, 4
TORN = (40, 41)  # two bits of a page's tags, of which their ECC corrects one


def mounted(source: TwoLogs | Image, tmp_path: Path) -> SegregatedMounted:
    image = source.image() if isinstance(source, TwoLogs) else source
    opened = open_image(image.write(tmp_path), OPTIONS)
    return mount_segregated(opened.flash, scan_flash(opened.flash, opened.layout))


def only_file(source: TwoLogs | Image, tmp_path: Path) -> FileIndex:
    return mounted(source, tmp_path).files[FILE_ID]


def flaws(source: TwoLogs | Image, tmp_path: Path) -> list[tuple[str, str]]:
    return [(flaw.rule, flaw.message) for flaw in mounted(source, tmp_path).flaws]


def test_of_no_metadata_nothing_is_known(tmp_path: Path) -> None:
    log = TwoLogs()
    log.chunk(FILE_ID, 1, "x")
    found = mounted(log, tmp_path)
    assert (found.horizon, found.refused, found.flaws) == (0, "", ())
    assert (found.heads, found.files, found.unlinked) == ({}, {}, {})
    assert (found.spare_pages, found.void_pages) == (set(), set())


# --- which pages of metadata count ---


def test_which_ids_a_header_can_have(tmp_path: Path) -> None:
    log = TwoLogs(summaries=False)
    places = {
        number: log.place(log.header(number, DIRECTORY, 1, f"d{number}"))
        for number in (0, 1, 2, 15, 16, 17, 300, ID_MAX)
    }
    found = mounted(log, tmp_path)
    assert set(found.heads) == {places[number] for number in places if number not in (0, 16)}
    assert {17, 300, ID_MAX} <= set(found.objects)
    assert not {0, 16} & set(found.objects)


def test_a_data_page_among_the_metadata_has_no_head(tmp_path: Path) -> None:
    log = TwoLogs(summaries=False)
    header = log.file(FILE_ID, "a", 0, {})
    log.log.write((FILE_ID, 1, S), full("x"), metadata=True)
    found = mounted(log, tmp_path)
    assert set(found.heads) == {log.place(header)}
    assert not found.files[FILE_ID].newest


def test_the_horizon_is_that_of_the_newest_heads(tmp_path: Path) -> None:
    log = TwoLogs()
    log.chunk(FILE_ID, 1, "x")
    here = log.now
    log.file(FILE_ID, "old", 0, {}, horizon=here + 50)  # a newer header replaces it
    log.file(FILE_ID, "a", 0, {}, horizon=here + 3)
    log.index(FILE_ID, 1, 0, {}, horizon=here + 60)
    log.index(FILE_ID, 1, 0, {}, horizon=here + 7)
    log.index(FILE_ID, 2, 0, {}, horizon=here + 5)
    log.header(301, DIRECTORY, 1, "d", horizon=here + 70)
    damaged = log.index(FILE_ID, 3, 0, {}, horizon=here + 80)
    image = log.image()
    image.flip(*log.place(damaged), 30, 1)
    assert mounted(image, tmp_path).horizon == here + 7


def test_the_lowest_of_unknown_versions_is_named(tmp_path: Path) -> None:
    log = TwoLogs()
    places = [log.place(log.file(300 + n, f"f{n}", 0, {})) for n in range(3)]
    log.chunk(300, 1, "x")
    image = log.image()
    patch_head(image, places[0], 4, b"\3\0")
    patch_head(image, places[2], 4, b"\2\0")
    found = mounted(image, tmp_path)
    assert found.refused == "version 2; only version 1 is known"
    assert set(found.objects) == {1, 2, 3, 4}
    assert not found.files


def test_the_summaries_of_both_kinds_of_blocks_are_known(tmp_path: Path) -> None:
    log = TwoLogs()
    headers = [log.header(300 + n, DIRECTORY, 1, f"d{n}") for n in range(8)]
    pages = [log.chunk(999, 1, "-") for _ in range(8)]
    found = mounted(log, tmp_path)
    assert found.summary_pages == {log.place(headers[6] + 1), log.place(pages[6] + 1)}


def test_of_two_parents_the_one_that_is_there_counts(tmp_path: Path) -> None:
    log = TwoLogs(summaries=False)
    place = log.place(log.header(301, DIRECTORY, 1, "d"))
    image = log.image()
    image.set_tags(*place, chunk_word=image.tags(*place).chunk_word - 1 + 777)
    assert mounted(image, tmp_path).objects[301].parent_id == 1


def test_the_header_of_a_deletion_marks_its_block_though_it_is_void(tmp_path: Path) -> None:
    """The ids in a later block's summary do not have 300: both its headers are void."""
    log = TwoLogs()
    gone = log.file(300, "gone", 0, {})
    for number in range(7):
        log.header(301 + number, DIRECTORY, 1, f"a{number}")
    deleted = log.deleted(300)
    for number in range(16):
        log.header(310 + number, DIRECTORY, 1, f"b{number}")
    found = mounted(log, tmp_path)
    assert found.void_pages == {log.place(gone), log.place(deleted)}
    assert found.shrink_blocks == {log.place(deleted)[0]}


# --- unlinked and deleted files ---


def test_the_pages_of_an_unlinked_file_are_those_of_its_entries(tmp_path: Path) -> None:
    log = TwoLogs()
    index = {number: log.chunk(FILE_ID, number, "x") for number in (1, 2)}
    far = log.chunk(FILE_ID, PIECE, "x")
    log.chunk(FILE_ID, 3, "-")  # no index has it
    log.index(FILE_ID, 1, PIECE * S, {PIECE: far})
    log.file(FILE_ID, "unlinked", PIECE * S, index, parent=3)
    log.file(301, "deleted", S, {1: log.chunk(301, 1, "x")}, parent=4)
    log.header(302, DIRECTORY, 3, "unlinked")
    found = mounted(log, tmp_path)
    assert found.unlinked == {FILE_ID: {log.place(chunk) for chunk in (*index.values(), far)}}
    assert not found.files


# --- data that are newer than an index ---


def test_which_pages_a_cut_kills(tmp_path: Path) -> None:
    """What is older than the cut and behind its chunks."""
    log = TwoLogs()
    for number in (1, 2, 3):
        log.chunk(FILE_ID, number, "o")
    cut = log.now
    after = log.chunk(FILE_ID, 4, "n")
    log.file(FILE_ID, "a", 4 * S, None, cuts=[(FIRST, 0), (cut, 2)])
    newest = only_file(log, tmp_path).newest
    assert sorted(newest) == [1, 2, 4]
    assert newest[4].place == log.place(after)
    assert newest[4].position == cut


def test_what_fits_no_page_is_no_data(tmp_path: Path) -> None:
    log = TwoLogs(summaries=False)
    log.file(FILE_ID, "a", 0, {})
    places = [log.place(log.chunk(FILE_ID, number, "x")) for number in (1, 2, 3)]
    image = log.image()
    image.set_tags(*places[0], bytes_word=S + 1)
    image.set_tags(*places[2], chunk_word=0)
    newest = only_file(image, tmp_path).newest
    assert list(newest) == [2]
    assert newest[2].byte_count == S


def test_only_the_last_page_of_a_block_may_be_torn(tmp_path: Path) -> None:
    log = TwoLogs(summaries=False)
    log.file(FILE_ID, "a", 0, {})
    for number in (1, 2, 3):
        log.chunk(FILE_ID, number, "x")
    newest = only_file(log, tmp_path).newest
    assert [newest[number].maybe_torn for number in (1, 2, 3)] == [False, False, True]


@pytest.mark.parametrize("damaged", [False, True])
def test_data_behind_a_damaged_header_end_with_its_size(damaged: bool, tmp_path: Path) -> None:
    """Nothing says what was cut off: chunk 3 begins where a file of two chunks ends."""
    log = TwoLogs()
    page = log.file(FILE_ID, "a", 2 * S, None)
    for number in (1, 2, 3):
        log.chunk(FILE_ID, number, "x")
    image = log.image()
    if damaged:
        image.flip(*log.place(page), HEAD_AT + 24, 0)
    assert sorted(only_file(image, tmp_path).newest) == ([1, 2] if damaged else [1, 2, 3])


@pytest.mark.parametrize("order", ["before", "after", "after-damaged", "after-deleted"])
def test_data_of_what_is_no_file(order: str, tmp_path: Path) -> None:
    """Older ones are of an earlier life of the id; the head's position says what is older."""
    log = TwoLogs()
    if order == "before":
        log.chunk(FILE_ID, 1, "x")
    parent = 4 if order == "after-deleted" else 1
    page = log.header(FILE_ID, DIRECTORY, parent, "d")
    if order != "before":
        log.chunk(FILE_ID, 1, "x")  # at the very position that the header has
    log.chunk(2, 1, "-")  # lost+found, which has no header
    image = log.image()
    if order == "after-damaged":
        image.flip(*log.place(page), HEAD_AT + 24, 0)
    objects = mounted(image, tmp_path).objects
    assert objects[FILE_ID].data_before_type is (order == "after")
    assert not objects[2].data_before_type


@pytest.mark.parametrize(("later", "missing"), [(0, False), (1, True)])
def test_from_the_horizon_on_no_index_need_have_a_page(
    later: int, missing: bool, tmp_path: Path
) -> None:
    log = TwoLogs()
    log.file(FILE_ID, "a", 0, {})
    here = log.now
    chunk = log.chunk(FILE_ID, 1, "x")
    log.chunk(999, 1, "-")
    log.file(301, "b", 0, {}, horizon=here + later)
    found = mounted(log, tmp_path)
    message = "is chunk 1, is older than the horizon, and no index has it"
    expected = [("index-missing", message, (*log.place(chunk), FILE_ID))]
    told = [
        (flaw.rule, flaw.message, (flaw.where.block, flaw.where.page, flaw.where.object_id))
        for flaw in found.flaws
    ]
    assert told == (expected if missing else [])
    # The horizon's block is looked at from its first page on.
    assert sorted(found.files[FILE_ID].newer) == [1]


def test_data_are_unflushed_from_the_position_of_the_header_on(tmp_path: Path) -> None:
    log = TwoLogs()
    old = log.chunk(FILE_ID, 1, "o")
    log.file(FILE_ID, "a", S, {1: old})
    log.chunk(FILE_ID, 2, "n")
    chunks = only_file(log, tmp_path).obj.chunks
    assert [chunks[number].unflushed for number in (1, 2)] == [False, True]


# --- entries ---


def entry_flaws(entry: int, log: TwoLogs, tmp_path: Path, chunk_id: int = 1) -> list[str]:
    """What is said of an entry of a file, whose chunk is not there then."""
    header = log.file(FILE_ID, "a", 2 * S, {chunk_id: entry})
    found = mounted(log, tmp_path)
    assert all(flaw.rule == "index-entry" for flaw in found.flaws)
    places = {(flaw.where.block, flaw.where.page, flaw.where.object_id) for flaw in found.flaws}
    assert places <= {(*log.place(header), FILE_ID)}
    assert (chunk_id in found.files[FILE_ID].obj.chunks) is not bool(found.flaws)
    return [flaw.message for flaw in found.flaws]


def test_an_entry_can_name_pages_of_data_blocks_only(tmp_path: Path) -> None:
    log = TwoLogs()
    data = log.chunk(FILE_ID, 1, "x")
    log.chunk(999, 1, "-")
    assert entry_flaws(data, log, tmp_path) == []

    log = TwoLogs()
    metadata = log.header(301, DIRECTORY, 1, "d")
    assert entry_flaws(metadata, log, tmp_path) == [
        f"chunk 1 is at {metadata:#x}, which is in a block without data (metadata)"
    ]

    log = TwoLogs()
    assert entry_flaws(7, log, tmp_path) == ["chunk 1 is at 0x7, which is behind the partition"]


def test_the_first_block_behind_the_partition(tmp_path: Path) -> None:
    for blocks, message in ((2, "is behind the partition"), (1, "is in a block without data")):
        log = TwoLogs()
        log.chunk(999, 1, "-")
        entry = 8 * (blocks + 1)  # one block of data, one of metadata; blocks count from 1
        (told,) = entry_flaws(entry, log, tmp_path)
        assert told.startswith(f"chunk 1 is at {entry:#x}, which {message}")


def test_an_entry_for_chunk_0(tmp_path: Path) -> None:
    log = TwoLogs()
    data = log.chunk(FILE_ID, 1, "x")
    log.chunk(FILE_ID, 1, "x")
    told = entry_flaws(data, log, tmp_path, chunk_id=0)
    assert told == [f"chunk 0 is at {data:#x}, which names a page for chunk 0"]


def test_an_entry_is_older_than_its_index(tmp_path: Path) -> None:
    log = TwoLogs()
    log.chunk(999, 1, "-")
    here = log.now
    data = log.chunk(999, 1, "-")
    log.file(FILE_ID, "a", S, {1: data}, now=here)
    told = flaws(log, tmp_path)
    assert told == [("index-entry", f"chunk 1 is at {data:#x}, which is not older than the index")]
    log = TwoLogs()
    data = log.chunk(FILE_ID, 1, "x")
    log.file(FILE_ID, "a", S, {1: data}, now=log.now)
    assert flaws(log, tmp_path) == []


def test_an_entry_for_what_is_not_written_or_a_summary(tmp_path: Path) -> None:
    log = TwoLogs()
    data = [log.chunk(FILE_ID, 1, "x") for _ in range(3)]
    log.mount()
    log.chunk(999, 1, "-")
    # Pages 3 to 7 of the block were never written.
    told = entry_flaws(data[-1] + 1, log, tmp_path)
    assert told == [f"chunk 1 is at {data[-1] + 1:#x}, which is not written"]
    log = TwoLogs()
    data = [log.chunk(FILE_ID, 1, "x") for _ in range(7)]
    log.chunk(999, 1, "-")
    told = entry_flaws(data[-1] + 1, log, tmp_path)
    assert told == [f"chunk 1 is at {data[-1] + 1:#x}, which is a block summary"]


def test_two_entries_for_a_page(tmp_path: Path) -> None:
    """Its tags say whose it is, else the lower object id, then the lower chunk id."""
    log = TwoLogs()
    page, other = log.chunk(301, 2, "x"), log.chunk(999, 1, "-")
    log.chunk(999, 1, "-")
    log.file(FILE_ID, "a", 2 * S, {1: page, 2: other})
    log.file(301, "b", 4 * S, {2: page, 3: other, 4: other})
    found = mounted(log, tmp_path)
    twice = [flaw for flaw in found.flaws if flaw.rule == "index-twice"]
    assert [flaw.message for flaw in twice] == [
        "is chunk 1, and chunk 2 of object 301",
        "is chunk 3, and chunk 2 of object 300",
        "is chunk 4, and chunk 2 of object 300",
    ]
    assert [flaw.where.object_id for flaw in twice] == [300, 301, 301]
    assert [(flaw.where.block, flaw.where.page) for flaw in twice] == [
        log.place(page),
        log.place(other),
        log.place(other),
    ]
    assert list(found.files[301].obj.chunks) == [2]
    assert list(found.files[FILE_ID].obj.chunks) == [2]


def test_two_pieces_for_a_page_that_is_of_neither(tmp_path: Path) -> None:
    """The lower chunk has it, whichever piece was written first."""
    for pieces in ((0, 1), (1, 0)):
        log = TwoLogs()
        page = log.chunk(999, 1, "-")
        log.chunk(999, 1, "-")
        for piece in pieces:
            log.index(FILE_ID, piece, PIECE * S, {(1, PIECE)[piece]: page})
        log.file(FILE_ID, "a", PIECE * S, None)
        assert list(only_file(log, tmp_path).obj.chunks) == [1]


def test_an_entry_that_tags_contradict_is_believed(tmp_path: Path) -> None:
    """The bytes of such a page are those up to the end of the file, not those in its tags."""
    log = TwoLogs()
    pages = [log.data(999, 9, b"-" * 10) for _ in range(3)]
    log.chunk(999, 1, "-")
    index = {1: pages[0], 2: pages[1], 3: pages[2]}
    log.file(FILE_ID, "a", S + 100, index)
    found = mounted(log, tmp_path)
    assert [(flaw.rule, flaw.message) for flaw in found.flaws] == [
        ("index-tags", f"is chunk {n} by the index, chunk 9 of object 999 by its tags")
        for n in (1, 2, 3)
    ]
    assert [(flaw.where.block, flaw.where.page) for flaw in found.flaws] == [
        log.place(page) for page in pages
    ]
    chunks = found.files[FILE_ID].obj.chunks
    assert [chunks[number].byte_count for number in (1, 2, 3)] == [S, 100, 0]
    assert found.files[FILE_ID].obj.size == S + 100


def test_an_entry_for_the_right_chunk_of_another_file(tmp_path: Path) -> None:
    log = TwoLogs()
    other, wrong = log.chunk(999, 1, "-"), log.chunk(FILE_ID, 7, "-")
    log.chunk(999, 2, "-")
    log.file(FILE_ID, "a", 2 * S, {1: other, 2: wrong})
    assert [flaw for flaw in flaws(log, tmp_path) if flaw[0] == "index-tags"] == [
        ("index-tags", "is chunk 1 by the index, chunk 1 of object 999 by its tags"),
        ("index-tags", f"is chunk 2 by the index, chunk 7 of object {FILE_ID} by its tags"),
    ]


def test_an_entry_for_a_page_whose_tags_cannot_be_read(tmp_path: Path) -> None:
    log = TwoLogs(summaries=False)
    log.chunk(999, 1, "-")
    page = log.chunk(FILE_ID, 1, "x")
    log.chunk(999, 1, "-")
    log.file(FILE_ID, "a", 50, {1: page})
    image = log.image()
    image.flip(*log.place(page), S + 2, *TORN)
    found = mounted(image, tmp_path)
    (flaw,) = found.flaws
    assert (flaw.rule, flaw.message) == ("index-tags", "is chunk 1, and its tags cannot be read")
    assert (flaw.where.block, flaw.where.page, flaw.where.object_id) == (*log.place(page), FILE_ID)
    assert found.files[FILE_ID].obj.chunks[1].byte_count == 50


def test_bytes_of_a_page_that_its_tags_agree_with_are_those_in_them(tmp_path: Path) -> None:
    log = TwoLogs(summaries=False)
    pages = [log.data(FILE_ID, 1, b"x" * 70), log.chunk(FILE_ID, 2, "y")]
    log.chunk(999, 1, "-")
    log.file(FILE_ID, "a", 2 * S, dict(enumerate(pages, 1)))
    image = log.image()
    image.set_tags(*log.place(pages[1]), bytes_word=S + 5)
    chunks = only_file(image, tmp_path).obj.chunks
    assert [chunks[number].byte_count for number in (1, 2)] == [70, S]


def test_an_index_with_an_older_page(tmp_path: Path) -> None:
    log = TwoLogs()
    old, new = log.chunk(FILE_ID, 1, "o"), log.chunk(FILE_ID, 1, "n")
    log.chunk(999, 1, "-")
    log.file(FILE_ID, "a", S, {1: old})
    (flaw,) = mounted(log, tmp_path).flaws
    message = "is chunk 1, and its index has an older page"
    assert (flaw.rule, flaw.message) == ("index-stale", message)
    assert (flaw.where.block, flaw.where.page, flaw.where.object_id) == (*log.place(new), FILE_ID)


def test_a_page_as_new_as_the_index_is_missed_only(tmp_path: Path) -> None:
    """It is not older than the index, so that the index cannot have it."""
    log = TwoLogs()
    old = log.chunk(FILE_ID, 1, "o")
    here = log.now
    log.chunk(FILE_ID, 1, "n")
    log.chunk(999, 1, "-")
    log.file(FILE_ID, "a", S, {1: old}, now=here)
    log.mount()
    log.chunk(999, 1, "-")
    log.file(301, "later", 0, {})
    assert [rule for rule, _ in flaws(log, tmp_path)] == ["index-missing"]


def test_no_entry_is_behind_the_last_chunk_that_tags_can_name(tmp_path: Path) -> None:
    log = TwoLogs()
    piece = CHUNK_ID_MAX // PIECE
    page, other = log.chunk(FILE_ID, CHUNK_ID_MAX, "x"), log.chunk(999, 1, "-")
    log.chunk(999, 1, "-")
    size = CHUNK_ID_MAX * S
    log.index(FILE_ID, piece, size, {CHUNK_ID_MAX: page, CHUNK_ID_MAX + 1: other})
    log.file(FILE_ID, "a", size, None)
    assert list(only_file(log, tmp_path).named) == [CHUNK_ID_MAX]


# --- index pages in use ---


def test_an_index_page_without_an_entry_that_holds_is_spare(tmp_path: Path) -> None:
    log = TwoLogs()
    near, far = log.chunk(FILE_ID, 1, "x"), log.chunk(FILE_ID, PIECE, "x")
    empty = log.index(FILE_ID, 2, 0, {})
    cut_off = log.index(FILE_ID, 1, PIECE * S, {PIECE: far})
    held = log.index(FILE_ID, 0, S, {1: near})
    log.chunk(999, 1, "-")
    header = log.file(FILE_ID, "a", S, None, cuts=[(FIRST, 0), (log.now, 1)])
    empty_header = log.file(301, "b", 0, {})
    found = mounted(log, tmp_path)
    assert found.spare_pages == {log.place(empty), log.place(cut_off)}
    assert found.live == {log.place(number) for number in (held, header, empty_header, near)}


@pytest.mark.parametrize(("chunks", "holds"), [(0, False), (1, True)])
def test_an_entry_in_the_header_is_behind_all_cuts(
    chunks: int, holds: bool, tmp_path: Path
) -> None:
    """An entry of an index page holds up to the chunks of a cut that is not older than it."""
    log = TwoLogs()
    page = log.chunk(FILE_ID, 1, "x")
    log.index(FILE_ID, 0, S, {1: page})
    log.file(FILE_ID, "a", S, None, cuts=[(FIRST, 0), (log.now, chunks)])
    assert bool(only_file(log, tmp_path).named) is holds
    log = TwoLogs()
    page = log.chunk(FILE_ID, 1, "x")
    log.file(FILE_ID, "a", S, {1: page}, cuts=[(FIRST, 0), (log.now, chunks)])
    assert list(only_file(log, tmp_path).named) == [1]


# --- sizes and tails ---


def test_the_size_in_an_index_page_counts_if_it_is_newer(tmp_path: Path) -> None:
    for later, size in ((0, 10), (1, 90)):
        log = TwoLogs()
        log.chunk(999, 1, "-")
        log.file(FILE_ID, "a", 10, {})
        log.index(FILE_ID, 1, 90, {}, now=log.now + later)
        assert only_file(log, tmp_path).obj.size == size


def test_an_index_page_does_not_make_a_file_shorter(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(FILE_ID, "a", 90, {})
    log.index(FILE_ID, 1, 10, {}, now=log.now + 1)
    assert only_file(log, tmp_path).obj.size == 90


def test_data_behind_the_header_make_a_file_longer(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(FILE_ID, "a", 10, {})
    log.data(FILE_ID, 3, b"x" * 5)
    assert only_file(log, tmp_path).obj.size == 2 * S + 5


def test_of_two_sizes_the_data_tell(tmp_path: Path) -> None:
    """That in the tags, and a larger one in the header: what has data between them counts."""
    for chunks, size in ((1, S), (2, 2 * S), (3, 3 * S), (4, 3 * S)):
        log = TwoLogs(summaries=False)
        index = {number: log.chunk(FILE_ID, number, "x") for number in range(1, chunks + 1)}
        log.chunk(999, 1, "-")
        header = log.file(FILE_ID, "a", 3 * S, index)
        image = log.image()
        image.set_tags(*log.place(header), bytes_word=S)
        assert only_file(image, tmp_path).obj.size == size


@pytest.mark.parametrize(("chunks", "in_page"), [(PIECE - 1, 0), (PIECE, 1)])
def test_the_piece_of_the_last_byte_says_whether_there_is_a_tail(
    chunks: int, in_page: int, tmp_path: Path
) -> None:
    """Behind the end, in the last chunk, bytes are still to be cut off."""
    for flagged in (0, 1):
        for size in ((chunks - 1) * S + 1, chunks * S):
            log = TwoLogs()
            page = log.chunk(FILE_ID, chunks, "x")
            for piece in (0, 1):
                index = {chunks: page} if piece == in_page else {}
                log.index(FILE_ID, piece, size, index, flags=1 | (TAIL if flagged == piece else 0))
            log.file(FILE_ID, "a", size, None)
            assert only_file(log, tmp_path).obj.has_tail is (flagged == in_page), (flagged, size)


def test_without_a_piece_there_is_no_tail(tmp_path: Path) -> None:
    log = TwoLogs()
    log.file(FILE_ID, "a", 10, None)
    assert not only_file(log, tmp_path).obj.has_tail


def test_a_header_says_that_there_is_a_tail(tmp_path: Path) -> None:
    for flags in (0, TAIL):
        log = TwoLogs()
        page = log.file(FILE_ID, "a", 10, {1: log.chunk(FILE_ID, 1, "x")}, flags=flags)
        image = log.image()
        assert only_file(image, tmp_path).obj.has_tail is bool(flags)
        image.flip(*log.place(page), HEAD_AT + 24, 0)  # what a damaged head says is not believed
        assert not only_file(image, tmp_path).obj.has_tail


# --- chunks of which only their place is left ---


@pytest.mark.parametrize(("flags", "lost"), [(1, True), (1 | LOST, False)])
def test_a_piece_says_that_it_names_a_page_of_no_bytes(
    flags: int, lost: bool, tmp_path: Path
) -> None:
    log = TwoLogs()
    empty, far = log.data(FILE_ID, 1, b""), log.chunk(FILE_ID, PIECE, "x")
    log.chunk(999, 1, "-")
    size = PIECE * S
    log.index(FILE_ID, 0, size, {1: empty}, flags=flags)
    log.index(FILE_ID, 1, size, {PIECE: far})
    log.file(FILE_ID, "a", size, None)
    file = only_file(log, tmp_path)
    assert names_lost_chunk(file, file.pieces[0]) is lost
    assert not names_lost_chunk(file, file.pieces[1])
