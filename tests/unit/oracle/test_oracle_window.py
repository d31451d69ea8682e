"""What a cut leaves open of a file: sizes, pages, unreadable sectors, what a sync fixed."""

from __future__ import annotations

import pytest
from judge_support import ROOT_LINKS, TORN, file, judge_of, problems, tree, unreadable
from oracle_support import sums

from ffslab.oracle.contents import pattern
from ffslab.oracle.faults import Excuse

PAGE = 4096
B = "file b 0 1 20 0 -"  # what `create b` makes


def test_a_failed_write_leaves_anything_until_contents_are_known_again() -> None:
    """In order the next call that succeeds proves nothing of contents; a sync neither."""
    odd = file(b"?" * 700)
    for filesystem in ROOT_LINKS:
        history = "write a 0 600 1\nsync\nwrite a 0 900 3\ncreate b\nsync\n"
        assert problems(filesystem, history, odd, B, failed={2: 28}) == [], filesystem
        sure = "write a 0 600 1\nsync\ncreate b\nsync\n"
        assert problems(filesystem, sure, odd, B) != [], filesystem
    # Written back, what is known of a later version is no more than its size, if none was synced.
    history = "write a 0 600 1\nwrite a 0 900 3\ntruncate a 500\ncreate b\n"
    assert problems("ubifs", history, odd, failed={1: 28}) == []
    assert problems("ubifs", history, odd) != []


F = pattern(1, 0, 2048)
G = pattern(3, 512, 1024)


def test_a_sector_may_be_torn_of_a_write_that_other_calls_followed() -> None:
    """The write to sectors 1 and 2 is not synced, and a later step is there: it was not cut."""
    history = "write a 0 2048 1\nsync\nwrite a 512 1024 3\ncreate b\ncreate c\n"
    for filesystem in ("jffs2", "ubifs"):
        written = F[:512] + G + F[1536:]
        for sector, is_excused in enumerate((False, True, True, False)):
            found = problems(filesystem, history, file(written, sector), B, excuse=TORN)
            assert found == ([] if is_excused else [("unreadable", "a")]), (filesystem, sector)
        assert problems(filesystem, history, file(written), B, excuse=TORN) == []
        assert problems(filesystem, history, file(written, 1), B) == [("unreadable", "a")]
    # In order, b is made after that write: older contents of its other sector cannot be there.
    older = F[:1024] + G[512:] + F[1536:]
    assert problems("jffs2", history, file(older, 2), B, excuse=TORN) != []
    assert problems("ubifs", history, file(older, 2), B, excuse=TORN) == []


def test_of_a_torn_sector_in_a_write_that_was_cut_nothing_is_asked() -> None:
    """JFFS2 has a beginning of a write; sectors 0, 1 and 2 are written, and 1 cannot be read."""
    history = "write a 0 1536 1\nsync\nwrite a 0 1536 3\n"
    old, new = pattern(1, 0, 1536), pattern(3, 0, 1536)

    def found(data: bytes) -> list[tuple[str, str]]:
        return problems("jffs2", history, file(data, 1), excuse=TORN)

    assert found(old) == found(new) == []
    # New, torn, and new up to byte 100 of sector 2: as if the torn one were new.
    assert found(new[:1124] + old[1124:]) == []
    # New up to byte 100 of sector 0, torn, old: as if it were old.
    assert found(new[:100] + old[100:]) == []
    # Old, and new behind it: no beginning.
    assert found(old[:1024] + new[1024:]) != []


def test_a_truncation_that_is_cut_has_any_size_between_or_neither() -> None:
    """YAFFS2 may have any part of it; in JFFS2 another size is one node."""
    history = "write a 0 2048 1\nsync\ntruncate a 700\n"
    for filesystem, between in (("yaffs2", True), ("jffs2", False)):
        for size in (699, 700, 1024, 2047, 2048, 2049):
            entry = file(F[:size].ljust(size, b"\0"))
            is_allowed = size in (700, 2048) or (between and 700 < size < 2048)
            assert (problems(filesystem, history, entry) == []) == is_allowed, (filesystem, size)


def test_a_file_that_is_shortened_has_no_zeros_before_its_new_size() -> None:
    """At its old size, or between, all of it is there: kmod/yaffs/core/data.c."""
    history = "write a 0 2048 1\nsync\ntruncate a 700\n"
    for size in (1024, 1536, 2048):
        entry = file(F[:700].ljust(size, b"\0"))
        assert problems("yaffs2", history, entry) == [("wrong-order", "a")]


def test_a_file_that_cannot_be_read_at_all_is_excused_if_all_of_it_was_open() -> None:
    half = "write a 0 512 1\nfsync a\nwrite a 512 512 3\n"
    whole = "create a\nsync\nwrite a 0 1024 1\n"
    for filesystem in ("jffs2", "ubifs"):
        assert problems(filesystem, whole, unreadable(1024), excuse=TORN) == []
        assert problems(filesystem, whole, unreadable(1024)) == [("unreadable", "a")]
        # Sector 0 was synced, sector 1 is open; and the reverse.
        assert problems(filesystem, half, unreadable(1024), excuse=TORN) != []
        other = "write a 0 1024 1\nfsync a\nwrite a 0 512 3\n"
        assert problems(filesystem, other, unreadable(1024), excuse=TORN) != []
        # An empty one has no sector of its own: what counts is whether its first one was open.
        emptied = "create a\nsync\nwrite a 0 {} 1\ntruncate a 0\ncreate b\n"
        for size in (100, 1024):
            assert problems(filesystem, emptied.format(size), unreadable(0), excuse=TORN) == []
        kept = "write a 0 512 1\nsync\ntruncate a 0\nsync\nwrite a 512 512 3\ntruncate a 0\n"
        assert problems(filesystem, kept, unreadable(0), excuse=TORN) == []
        synced = "create a\nsync\ncreate b\n"
        assert problems(filesystem, synced, unreadable(0), excuse=TORN) == [("unreadable", "a")]


def test_an_error_is_excused_for_the_size_that_the_file_may_have() -> None:
    """Both trees are judged by one window: the first answer is not the second one's."""
    judge = judge_of("ubifs", "create a\nsync\nwrite a 0 1024 1\n")
    assert judge.judge(2, tree("ubifs", unreadable(1024)), TORN) == ()
    assert judge.judge(2, tree("ubifs", unreadable(900)), TORN) != ()


def test_what_excuses_synced_data_excuses_any_sector() -> None:
    excuse = Excuse(unreadable_synced=True)
    history = "write a 0 2048 1\nsync\ncreate b\n"
    for filesystem in ("jffs2", "ubifs"):
        for entry in (file(F, 0), file(F, 0, 1, 2, 3), unreadable(2048)):
            assert problems(filesystem, history, entry, excuse=excuse) == []
            assert problems(filesystem, history, entry, excuse=TORN) == [("unreadable", "a")]
        other = file(F[:512] + b"?" * 512 + F[1024:], 0)
        assert problems(filesystem, history, other, excuse=excuse) == [("corrupt-contents", "a")]


def torn_sectors(filesystem: str, history: str, data: bytes, *others: str) -> list[int]:
    """Which sectors of `a` may be unreadable."""
    return [
        at
        for at in range(-(-len(data) // 512))
        if not problems(filesystem, history, file(data, at), *others, excuse=TORN)
    ]


def test_which_sectors_are_open_since_the_last_sync() -> None:
    a, b, c = pattern(1, 0, 512), pattern(3, 512, 512), pattern(5, 1024, 512)
    wrote_b = f"file b 512 1 20 0 {sums(pattern(7, 0, 512))}"
    for filesystem in ("jffs2", "ubifs"):
        # Nothing was synced: all of it.
        history = "write a 0 512 1\nwrite a 512 512 3\ncreate b\n"
        assert torn_sectors(filesystem, history, a + b) == [0, 1]
        # A write over what was synced opens it again.
        history = "writesync a 0 512 1\nwrite a 0 512 9\ncreate b\n"
        assert torn_sectors(filesystem, history, pattern(9, 0, 512)) == [0]
        # Synced with contents of 600 bytes, then written behind a hole: the hole begins at byte
        # 600, in sector 1, and the write ends in sector 4.
        history = "write a 0 600 1\nsync\nwrite a 2048 512 3\ncreate b\n"
        hole = pattern(1, 0, 600) + bytes(1448) + pattern(3, 2048, 512)
        assert torn_sectors(filesystem, history, hole) == [1, 2, 3, 4]
        # Made shorter, and longer again: from the shorter end to the longer one.
        history = "write a 0 2560 1\nsync\ntruncate a 600\ntruncate a 2048\ncreate b\n"
        cut = pattern(1, 0, 600) + bytes(1448)
        assert torn_sectors(filesystem, history, cut) == [1, 2, 3]
    # In order, what a synchronous write wrote is closed, and with it what came before.
    history = "write a 0 512 1\nwritesync a 512 512 3\nwrite a 1024 512 5\ncreate b\n"
    assert torn_sectors("jffs2", history, a + b + c) == [2]
    # An fsync of b closes, in order, what was written to a before; written back, it does not.
    history = "write a 0 512 1\nwrite b 0 512 7\nfsync b\ncreate c\n"
    assert torn_sectors("jffs2", history, a, wrote_b) == []
    assert torn_sectors("ubifs", history, a, wrote_b) == [0]
    # A write within the file is no step that UBIFS notes, and an fsync of it closes it.
    history = "write a 0 512 1\nsync\nwrite a 0 512 9\nfsync a\ncreate b\n"
    assert torn_sectors("ubifs", history, pattern(9, 0, 512)) == []
    # JFFS2: an fsync of the directory closes the name that a write made, not what it wrote.
    history = "write a 0 512 1\nfsync .\ncreate b\n"
    assert torn_sectors("jffs2", history, a) == [0]
    # And if another file's step comes next, all of this one is closed that was before it.
    history = "writesync a 0 512 1\nwrite c 0 512 7\ncreate b\n"
    assert torn_sectors("jffs2", history, a) == []


def test_a_call_that_had_not_begun_leaves_nothing() -> None:
    """The cut is in the sync; the write is the next call, or the one after that."""
    written = file(pattern(1, 0, 512))
    for filesystem in ROOT_LINKS:
        assert problems(filesystem, "create a\nsync\nwrite a 0 512 1\n", written, cut=1) != []
        assert problems(filesystem, "create a\nsync\nwrite a 0 512 1\n", written, cut=2) == []
        late = "create a\nsync\ncreate b\nwrite a 0 512 1\n"
        for cut, is_allowed in ((1, False), (2, False), (3, True)):
            for other in ((), (B,)):
                found = problems(filesystem, late, written, *other, cut=cut)
                # In order, with returned calls owed or not, b is there when the write is.
                if is_allowed and other:
                    assert found == []
                elif not is_allowed:
                    assert found != []


def test_which_sizes_a_file_that_is_written_back_may_have() -> None:
    """A size that a call made, or the end of a page between two of them."""
    data = pattern(1, 0, 1000) + pattern(3, 1000, 9000)
    history = "write a 0 1000 1\nsync\nwrite a 1000 9000 3\ncreate b\n"
    for filesystem in ("ubifs", "logfs"):
        for size in (0, 512, 1000, 1001, 4096, 5000, 8192, 9999, 10000, 12288):
            found = problems(filesystem, history, file(data[:size].ljust(size, b"\0")))
            assert (found == []) == (size in (1000, 4096, 8192, 10000)), size
        # Of several syncs the last one counts.
        twice = "write a 0 512 1\nfsync a\nwrite a 0 1024 3\nfsync a\ncreate b\n"
        both = pattern(3, 0, 1024)
        assert problems(filesystem, twice, file(both)) == []
        assert problems(filesystem, twice, file(both[:512])) == [("synced-data-lost", "a")]


def test_each_page_that_is_written_back_is_of_a_time_of_its_own() -> None:
    """Two pages, written three times; the third time page 0 alone, synchronously."""
    first, second = pattern(1, 0, 2 * PAGE), pattern(3, 0, 2 * PAGE)
    third = pattern(5, 0, PAGE)
    history = f"write a 0 8192 1\nfsync a\nwrite a 0 8192 3\nwritesync a 0 {PAGE} 5\ncreate b\n"
    other = f"write a 0 8192 1\nfsync a\nwrite a 0 8192 3\nwritesync a {PAGE} {PAGE} 7\ncreate b\n"
    fourth = pattern(7, PAGE, PAGE)
    for filesystem in ("ubifs", "logfs"):
        for page_0 in (first[:PAGE], second[:PAGE], third):
            for page_1 in (first[PAGE:], second[PAGE:], fourth):
                found = problems(filesystem, history, file(page_0 + page_1))
                assert (found == []) == (page_0 == third and page_1 != fourth)
                found = problems(filesystem, other, file(page_0 + page_1))
                assert (found == []) == (page_0 != third and page_1 == fourth)
        # Parts of two times in one page.
        mixed = second[:512] + first[512:PAGE] + first[PAGE:]
        plain = "write a 0 8192 1\nfsync a\nwrite a 0 8192 3\ncreate b\n"
        assert problems(filesystem, plain, file(mixed)) != []


def test_a_page_that_a_truncation_cut_off_comes_back_as_a_hole() -> None:
    history = "write a 0 10000 1\nsync\ntruncate a 1000\ntruncate a 10000\ncreate b\n"
    data = pattern(1, 0, 10000)
    holes = data[:1000] + bytes(9000)
    half = data[:4096] + bytes(4096) + data[8192:]
    for filesystem in ("ubifs", "logfs"):
        for found in (data, holes, half):
            assert problems(filesystem, history, file(found)) == []
        assert problems(filesystem, history, file(bytes(4096) + data[4096:])) != []


@pytest.mark.parametrize("filesystem", ROOT_LINKS)
def test_a_hole_behind_the_end_reads_as_zeros(filesystem: str) -> None:
    history = "write a 0 600 1\nsync\nwrite a 9000 500 3\ncreate b\n"
    data = pattern(1, 0, 600) + bytes(8400) + pattern(3, 9000, 500)
    assert problems(filesystem, history, file(data)) == []
    assert problems(filesystem, history, file(data[:5000] + b"?" + data[5001:])) != []


@pytest.mark.parametrize("filesystem", ["ubifs", "logfs", "yaffs2"])
def test_a_write_that_syncs_its_page_closes_the_sectors_of_that_page(filesystem: str) -> None:
    """Pages 0 and 1 are synced with the file, then written to; only page 1 is synced once more."""
    opened = "write a 0 8192 1\nopen @0 a\nfsync @0\nopendsync @1 a\n"
    written = "write @0 512 1024 3\nwrite @1 4608 512 5\ncreate b\n"
    data = bytearray(pattern(1, 0, 8192))
    data[512:1536], data[4608:5120] = pattern(3, 512, 1024), pattern(5, 4608, 512)
    assert torn_sectors(filesystem, opened + written, bytes(data), B) == [1, 2]
    # What is written there afterwards is open again.
    data[7680:] = pattern(7, 7680, 512)
    again = written.replace("create", "write @0 7680 512 7\ncreate")
    assert torn_sectors(filesystem, opened + again, bytes(data), B) == [1, 2, 15]
