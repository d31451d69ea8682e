"""What a history leaves: calls that failed, several names, directories that move, links."""

from __future__ import annotations

import pytest
from judge_support import ROOT_LINKS, file, judge_of, judged, problems, tree

from ffslab.oracle.contents import parse_sums, pattern, sector_sum
from ffslab.oracle.files import Change, FileLog
from ffslab.oracle.history import History, history_of, parse_history
from ffslab.oracle.judge import Judge
from ffslab.oracle.observation import Entry, parse_entries, parse_observation
from ffslab.oracle.operations import FormatError, Operation
from ffslab.oracle.problems import Problem
from ffslab.oracle.promises import promise_of
from ffslab.oracle.record import parse_record

FILESYSTEMS = list(ROOT_LINKS)
COUNTING = ("jffs2", "ubifs", "yaffs2")  # whose directories have a link for each one below
# errno(3): what refuses a call before it begins, by its name or the state of the tree.
REFUSALS = {
    "EPERM": 1,
    "ENOENT": 2,
    "EBADF": 9,
    "EBUSY": 16,
    "EEXIST": 17,
    "EXDEV": 18,
    "ENOTDIR": 20,
    "EISDIR": 21,
    "EINVAL": 22,
    "EROFS": 30,
    "EMLINK": 31,
    "ENAMETOOLONG": 36,
    "ENOTEMPTY": 39,
    "ELOOP": 40,
}
# EIO, ENOMEM, EFBIG, ENOSPC, EDOM, ENOSYS, EILSEQ and some of their neighbours.
HALF_WAY = (3, 4, 5, 12, 19, 23, 27, 28, 29, 32, 35, 37, 38, 41, 84, 117)


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_a_refused_call_did_nothing_and_another_may_have(filesystem: str) -> None:
    def lost(errno: int) -> list[tuple[str, str]]:
        return problems(filesystem, "create a\nsync\nunlink a\ncreate b\n", failed={2: errno})

    for name, errno in REFUSALS.items():
        assert lost(errno) == [("name-lost", "a")], name
    for errno in HALF_WAY:
        assert lost(errno) == [], errno


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
@pytest.mark.parametrize("call", ["mkdir n", "create n", "symlink x n", "mkfifo n", "link a n"])
def test_no_space_for_a_name_leaves_none(filesystem: str, call: str) -> None:
    """Any other error in the middle leaves doubts about the new name."""
    entries = {
        "mkdir n": "dir n 2 20 0",
        "symlink x n": "symlink n 1 20 0 x",
        "mkfifo n": "other n 1 20 0",
    }
    new = entries.get(call, "file n 0 1 20 0 -")
    history = f"create a\nsync\n{call}\nsync\ncreate b\n"
    old = file(b"")
    for errno, is_doubtful in ((28, False), (5, True), (27, True), (29, True)):
        for others in ((old, new), (old,)):
            found = problems(filesystem, history, *others, failed={2: errno})
            names = [problem for problem in found if problem[1] == "n"]
            wanted = [] if is_doubtful or len(others) == 1 else [("unknown-name", "n")]
            assert names == wanted, (errno, others)


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_a_write_that_failed_may_have_made_its_file(filesystem: str) -> None:
    history = "create a\nsync\nwrite n 0 600 1\nsync\ncreate b\n"
    other = file(b"??", path="n", inode=20)
    for errno in (28, 5):
        assert problems(filesystem, history, file(b""), failed={2: errno}) == []
        assert problems(filesystem, history, file(b""), other, failed={2: errno}) == []
        # Once it was written to, it is there.
        again = "create a\nsync\nwrite n 0 600 1\nwrite n 0 600 3\nsync\ncreate b\n"
        assert problems(filesystem, again, file(b""), failed={2: errno}) == [("name-lost", "n")]
    refused = problems(filesystem, history, file(b""), other, failed={2: 30})
    assert refused == [("unknown-name", "n")]
    # A truncation of what is not there makes nothing.
    cut = "create a\nsync\ntruncate n 600\nsync\ncreate b\n"
    assert problems(filesystem, cut, file(b""), failed={2: 5}) == []
    assert problems(filesystem, cut, file(b""), other, failed={2: 5}) == [("unknown-name", "n")]
    # One of what is there leaves any contents.
    cut = "write a 0 600 1\nsync\ntruncate a 300\nsync\ncreate b\n"
    assert problems(filesystem, cut, file(b"???"), failed={2: 5}) == []
    assert problems(filesystem, cut, file(b"???")) != []
    assert problems(filesystem, cut, failed={2: 5}) == [("name-lost", "a")]


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_a_sync_that_failed_changes_nothing_and_proves_nothing(filesystem: str) -> None:
    history = "write a 0 600 1\nsync\nwrite a 0 600 3\nfsync a\ncreate b\n"
    for data in (pattern(1, 0, 600), pattern(3, 0, 600)):
        is_owed = filesystem == "yaffs2" and data == pattern(1, 0, 600)
        found = problems(filesystem, history, file(data), failed={3: 5})
        assert (found != []) == is_owed
        assert problems(filesystem, history, file(b"?" * 600), failed={3: 5}) != []
    assert problems(filesystem, history, file(pattern(1, 0, 600))) != []


@pytest.mark.parametrize("filesystem", COUNTING)
def test_a_rename_that_failed_leaves_all_below_in_doubt(filesystem: str) -> None:
    """d may be e now, with what is in it; until d is made anew."""
    history = "mkdir d\ncreate d/a\ncreate x\nsync\nrename d e\ncreate b\n"
    x = file(b"", path="x", inode=30)
    for name in ("d", "e"):
        entries = (f"dir {name} 2 9 0", file(b"", path=f"{name}/a"), x)
        assert problems(filesystem, history, *entries, directories=1, failed={4: 5}) == []
        other = (f"dir {name} 2 9 0", file(b"", path=f"{name}/c"), x)
        found = problems(filesystem, history, *other, directories=1, failed={4: 5})
        assert [problem for problem in found if "/c" in problem[1]] != []
    assert problems(filesystem, history, failed={4: 5}) == [("name-lost", "x")]
    # The directory that failed to move was deleted: it had moved, or was there.
    removed = history.replace("create b\n", "rmdir d\nsync\ncreate b\n")
    assert problems(filesystem, removed, x, failed={4: 5}) == []
    found = problems(filesystem, removed, x, "dir d 2 9 0", directories=1, failed={4: 5})
    assert ("name-kept", "d") in found


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_a_name_in_doubt_is_sure_after_a_call_that_needs_it_or_its_absence(filesystem: str) -> None:
    # The unlink failed half way. A link of this name succeeded: a was gone, and is l's file now.
    history = "create a\ncreate l\nsync\nunlink a\nlink l a\nsync\ncreate b\n"
    entries = [file(b"", path=path, links=2, inode=20) for path in ("a", "l")]
    assert problems(filesystem, history, *entries, failed={3: 5}) == []
    assert problems(filesystem, history, entries[1], failed={3: 5}) != []
    # A file was made there, or another one moved there.
    made = "create a\nsync\nunlink a\ncreate a\nsync\ncreate b\n"
    assert problems(filesystem, made, failed={2: 5}) == [("name-lost", "a")]
    moved = "create a\nwrite m 0 600 1\nsync\nunlink a\nrename m a\nsync\ncreate b\n"
    assert problems(filesystem, moved, failed={3: 5}) == [("name-lost", "a")]
    assert problems(filesystem, moved, file(pattern(1, 0, 600)), failed={3: 5}) == []


@pytest.mark.parametrize("filesystem", COUNTING)
def test_links_of_directories_are_counted_as_they_move(filesystem: str) -> None:
    history = "mkdir d\nmkdir e\nmkdir d/s\nsync\nrename d/s e/s\nsync\ncreate b\n"
    before = ("dir d 3 2 0", "dir d/s 2 4 0", "dir e 2 3 0")
    after = ("dir d 2 2 0", "dir e 3 3 0", "dir e/s 2 4 0")
    assert problems(filesystem, history, *after, directories=2) == []
    assert problems(filesystem, history, *before, directories=2, cut=3) == []
    wrong = ("dir d 3 2 0", "dir e 3 3 0", "dir e/s 2 4 0")
    assert problems(filesystem, history, *wrong, directories=2) == [("bad-links", "d")]
    wrong = ("dir d 2 2 0", "dir e 2 3 0", "dir e/s 2 4 0")
    assert problems(filesystem, history, *wrong, directories=2) == [("bad-links", "e")]
    # What is below moves with it.
    history = "mkdir d\nmkdir d/s\nwrite d/s/a 0 600 1\nsync\nrename d e\nsync\ncreate b\n"
    inside = file(pattern(1, 0, 600), path="e/s/a")
    after = ("dir e 3 2 0", "dir e/s 2 4 0", inside)
    assert problems(filesystem, history, *after, directories=1) == []
    assert problems(filesystem, history, *after[:2], directories=1) == [("name-lost", "e/s/a")]


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_a_rename_to_another_link_of_the_file_does_nothing(filesystem: str) -> None:
    history = "create a\nlink a b\nsync\nrename a b\nsync\ncreate c\n"
    both = [file(b"", path=path, links=2) for path in ("a", "b")]
    assert problems(filesystem, history, *both) == []
    assert problems(filesystem, history, file(b"", path="b")) != []


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_a_file_that_is_replaced_keeps_its_other_names(filesystem: str) -> None:
    history = "write a 0 600 1\nlink a k\nwrite n 0 600 3\nsync\nrename n a\nsync\ncreate c\n"
    old, new = pattern(1, 0, 600), pattern(3, 0, 600)
    good = (file(new, inode=20), file(old, path="k"))
    assert problems(filesystem, history, *good) == []
    wrong = (good[0], file(old, path="k", links=2))
    assert problems(filesystem, history, *wrong) == [("bad-links", "k")]
    assert problems(filesystem, history, good[0]) == [("name-lost", "k")]
    assert problems(filesystem, history, *good, file(new, path="n", inode=20))[0][1] == "n"


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_appends_go_behind_the_end_and_nothing_writes_nothing(filesystem: str) -> None:
    history = "write a 100 200 1\nappend a 50 3\nappend a 0 5\nwrite a 900 0 7\nsync\ncreate b\n"
    data = bytes(100) + pattern(1, 100, 200) + pattern(3, 300, 50)
    assert problems(filesystem, history, file(data)) == []
    assert problems(filesystem, history, file(data[:300])) != []
    assert problems(filesystem, history, file(data.ljust(900, b"\0"))) != []


def test_which_syncs_make_a_name_durable_in_order() -> None:
    """JFFS2 has all that came before the last step which is noted for what is synced."""
    made = "create a\ncreate b\n"
    for sync, lost in (
        ("fsync .", ["a", "b"]),
        ("sync", ["a", "b"]),
        # The inode of b is written before its name, which is the directory's: a is before both.
        ("fsync b", ["a"]),
        ("fdatasync b", ["a"]),
        ("fsync a", []),
    ):
        found = problems("jffs2", f"{made}{sync}\ncreate c\n")
        assert found == [("name-lost", name) for name in lost], sync
    # A rename is two steps: the new name of one directory, the old one of the other.
    moved = "mkdir d\nmkdir e\ncreate d/a\nsync\nrename d/a e/a\n"
    directories = ("dir d 2 2 0", "dir e 2 3 0")
    both = [file(b"", path=path, links=2) for path in ("d/a", "e/a")]
    old, new = file(b"", path="d/a"), file(b"", path="e/a")
    for sync, allowed in (
        ("fsync d", ([new],)),
        ("fsync e", (both, [new])),
        ("fsync .", ([old], both, [new])),
    ):
        for entries in ([old], both, [new]):
            tree_of = (directories[0], *entries[:1], directories[1], *entries[1:])
            found = problems("jffs2", f"{moved}{sync}\ncreate c\n", *tree_of, directories=2)
            assert (found == []) == (entries in allowed), (sync, entries)


def test_an_fdatasync_of_the_first_file_makes_no_name_durable_in_jffs2() -> None:
    for sync in ("fsync", "fdatasync"):
        assert problems("jffs2", f"create a\n{sync} a\ncreate b\n") == []


def test_a_record_is_of_its_history() -> None:
    for history, words in (
        ("mkdir d\ncreate d/a\ntruncate d 5\n", "d is no file"),
        ("create a\ncreate a/b\n", "a is no directory"),
        ("create a\nlink a a\n", "a is there already"),
        ("create a\nunlink b\n", "there is no b"),
        ("create a\nfsync b\n", "there is no b"),
        ("create b/a\n", "there is no b"),
    ):
        with pytest.raises(FormatError, match=words):
            judge_of("jffs2", history)
    with pytest.raises(FormatError, match=r"operation 1 .truncate b 5. did not fail"):
        judge_of("jffs2", "create a\ntruncate b 5\n")
    # What was not recorded any more counts as good, and had not begun.
    short = parse_record("op 0 0 0 1\n")
    assert not short.is_complete


def test_a_history_without_all_its_records_goes_on() -> None:
    """The guest died in the second call, which may have been carried out."""
    history = parse_history("create a\ncreate b\ncreate c\n")
    judge = Judge(history, parse_record("op 0 0 0 1\n"), promise_of("yaffs2"))
    a, b, c = (file(b"", path=name, inode=at) for at, name in enumerate("abc", 10))
    assert judge.judge(1, tree("yaffs2", a)) == judge.judge(1, tree("yaffs2", a, b)) == ()
    assert judge.judge(1, tree("yaffs2", a, b, c)) != ()
    assert judge.judge(1, tree("yaffs2")) != ()
    # It is not known to have failed, so that nothing else can be there.
    assert judge.judge(1, tree("yaffs2", a, "dir b 2 11 0", directories=1)) != ()


def test_before_the_first_call_began_there_is_nothing() -> None:
    """The chip had made five operations by then: those of the mount."""
    history, record = parse_history("create a\n"), parse_record("op 0 0 5 6\nend 1 0 6\n")
    judge = Judge(history, record, promise_of("jffs2"))
    for cut, is_begun in ((0, False), (4, False), (5, True)):
        assert judge.judge(cut, tree("jffs2")) == ()
        assert (judge.judge(cut, tree("jffs2", file(b""))) == ()) == is_begun


def test_what_had_not_begun_is_told_as_that() -> None:
    """Both calls come after the mount; a file of the first one is there before it."""
    history = parse_history("create a\ncreate b\n")
    record = parse_record("op 0 0 5 6\nop 1 0 6 7\nend 2 0 7\n")
    for filesystem in FILESYSTEMS:
        judge = Judge(history, record, promise_of(filesystem))
        (found,) = judge.judge(0, tree(filesystem, file(b"")))
        assert (found.kind, found.operation) == ("unknown-name", 0)
        assert found.sentence == "a is there, and operation 0 (create a) had not begun"


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_a_name_in_doubt_that_was_renamed_was_there_and_is_gone(filesystem: str) -> None:
    history = "write m 0 600 1\nsync\nunlink m\nrename m n\nsync\ncreate b\n"
    data = pattern(1, 0, 600)
    new = file(data, path="n")
    assert problems(filesystem, history, new, failed={2: 5}) == []
    assert problems(filesystem, history, failed={2: 5}) == [("name-lost", "n")]
    old = file(data, path="m", inode=20)
    assert problems(filesystem, history, old, new, failed={2: 5}) != []


def test_a_synchronous_write_of_a_part_makes_its_whole_page_durable() -> None:
    history = "write a 0 8192 1\nfsync a\nwritesync a 100 50 3\ncreate b\n"
    old = pattern(1, 0, 8192)
    new = old[:100] + pattern(3, 100, 50) + old[150:]
    for filesystem in ("ubifs", "logfs"):
        assert problems(filesystem, history, file(new)) == []
        assert problems(filesystem, history, file(old)) != []


def test_who_first_had_the_bytes_of_a_sector_is_blamed() -> None:
    """The same sum may be in several versions; its writer is the first that had it."""
    history = "write b 0 512 3\nwrite b 512 512 5\nwrite a 0 512 7\nsync\ncreate c\n"
    b = file(pattern(3, 0, 512) + pattern(5, 512, 512), path="b", inode=20)
    (found,) = judged("jffs2", history, file(pattern(3, 0, 512)), b)
    assert isinstance(found, Problem) and found.kind == "foreign-bytes"
    assert "operation 0 (write b 0 512 3)" in found.sentence


# Contents of files.


def test_bytes_of_a_version_are_those_of_the_last_change_before_it() -> None:
    log = FileLog(0)
    log.write(1, 10, 100, 1)
    log.write(2, 50, 20, 3)
    log.truncate(3, 60)
    log.truncate(4, 90)
    forgotten = log.forget(5)
    first, second, cut, grown, unknown = log.versions[1:]
    one, two = bytes(10) + pattern(1, 10, 100), pattern(3, 50, 20)
    data = [one, one[:50] + two + one[70:], one[:50] + two[:10], one[:50] + two[:10] + bytes(30)]
    for version, wanted in zip((first, second, cut, grown), data, strict=True):
        assert version.size_bytes == len(wanted)
        assert log.bytes_of(version, 0, len(wanted)) == wanted
        assert log.bytes_of(version, 5, 55) == wanted[5:55]
        assert log.bytes_of(version, 40, 200) == wanted[40:].ljust(160, b"\0")
        assert log.bytes_of(version, 7, 7) == b""
    assert (unknown.size_bytes, unknown.is_known, unknown.text) == (90, False, grown.text)
    assert [version.operation for version in log.versions] == [0, 1, 2, 3, 4, 5]
    assert [version.number for version in log.versions] == [0, 1, 2, 3, 4, 5]
    assert log.last is forgotten is unknown
    again = log.write(6, 0, 90, 5)
    assert log.bytes_of(again, 0, 100) == pattern(5, 0, 90) + bytes(10)
    assert log.bytes_of(grown, 0, 90) == data[3]
    changes = [Change(0, 0, None), Change(10, 110, 1), Change(50, 70, 3), Change(60, 60, None)]
    changes += [Change(90, 90, None), Change(90, 90, None), Change(0, 90, 5)]
    assert [log.change(version) for version in log.versions] == changes


@pytest.mark.parametrize("seed", range(4))
def test_sums_are_those_of_the_bytes(seed: int) -> None:
    """All versions of many changes, also of parts of sectors and of holes."""
    import random

    from ffslab.oracle.contents import sums_of, sums_text

    draw, log, data = random.Random(seed), FileLog(0), b""
    for operation in range(1, 25):
        at, size = draw.choice((0, 511, 512, 513, 1500, draw.randrange(4000))), 0
        if draw.random() < 0.7:
            size = draw.choice((1, 511, 512, 513, draw.randrange(1, 3000)))
            new = pattern(operation, at, size)
            data = data.ljust(at, b"\0")[:at] + new + data[at + size :]
            version = log.write(operation, at, size, operation)
        else:
            data = data[:at].ljust(at, b"\0")
            version = log.truncate(operation, at)
        assert list(version.sums) == sums_of(data)
        assert version.text == sums_text(sums_of(data))
        assert log.bytes_of(version, 0, len(data)) == data
        for sector in range(-(-len(data) // 512)):
            part = data[512 * sector : 512 * sector + 512]
            assert log.sector(version, sector, len(data)) == part
            assert log.sum(version, sector, len(data)) == version.sums[sector]
            # As a longer file would have it, and a shorter one.
            longer, shorter = len(data) + 700, len(data) - 100
            found = log.sector(version, sector, longer)
            assert found == part.ljust(min(512, longer - 512 * sector), b"\0")
            assert [log.sum(version, sector, longer)] == sums_of(found)
            if shorter > 512 * sector:
                found = log.sector(version, sector, shorter)
                assert found == data[:shorter][512 * sector : 512 * sector + 512]
                assert [log.sum(version, sector, shorter)] == sums_of(found)


# Texts.


def test_a_history_of_operations_is_that_of_its_text() -> None:
    operations = [Operation("create", "a"), Operation("append", "a", size_bytes=5, seed=7)]
    history = history_of(iter(operations))
    assert history == History(tuple(operations))
    assert history.text == "create a\nappend a 5 7\n" and parse_history(history.text) == history


def test_entries_are_what_their_lines_say() -> None:
    text = "dir . 3 1 0\nfile a 0 2 6 5 -\nsymlink s 1 9 5 x/y\nother p 1 8 5\nlost l 5\n"
    assert parse_entries(text) == {
        ".": Entry("dir", links=3, inode=1),
        "a": Entry("file", links=2, inode=6, errno=5, sums="-"),
        "s": Entry("symlink", links=1, inode=9, errno=5, target="x/y"),
        "p": Entry("other", links=1, inode=8, errno=5),
        "l": Entry("lost", errno=5),
    }
    for line in ("dir d 2 5", "file a 0 1 6 0", "symlink s 1 9 0", "lost l", "file a 5 1 6 0 -"):
        with pytest.raises(FormatError, match="observation, line 2"):
            parse_entries(f"dir . 3 1 0\n{line}\n")


def test_sums_are_as_many_as_the_size_has_sectors() -> None:
    zeros = sector_sum(bytes(512))
    assert parse_sums(f"{zeros}*2,{zeros}", 1536) == [zeros] * 3
    for text in (f"{zeros},{zeros}", f"{zeros}*2", f"{zeros},!", f"{zeros},{zeros}*0"):
        with pytest.raises(FormatError):
            parse_sums(text, 512 if "*0" not in text else 1024)
    for word in ("0000000~", "000000000", "!!"):
        with pytest.raises(FormatError, match=r"^sums: no sum of a sector"):
            parse_sums(word, 512)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("op x 0 1 2", "INDEX is no number"),
        ("op 1 x 1 2", "ERRNO is no number"),
        ("op 1 0 x 2", "FIRST is no number"),
        ("op 1 0 1 x", "LAST is no number"),
        ("end x 0 1", "COUNT is no number"),
        ("op 2 0 1 2", "operation 2 where 1 is due"),
        ("op 1 0 0 2", "the log goes backwards: 1, 0, 2"),
        ("end 2 0 1", "2 operations, and 1 lines"),
        ("end 1 0", "neither an operation nor the end"),
    ],
)
def test_a_line_of_a_record_that_is_wrong_is_named(line: str, words: str) -> None:
    with pytest.raises(FormatError, match=f"^record, line 2: {words}"):
        parse_record(f"op 0 0 0 1\n{line}\n")


def test_the_log_of_a_record_never_goes_backwards() -> None:
    with pytest.raises(FormatError, match="line 3: the log goes backwards: 5, 3, 6"):
        parse_record("op 0 0 0 1\nop 1 0 1 5\nop 2 0 3 6\n")


def test_a_line_of_a_history_that_is_wrong_is_refused() -> None:
    largest = parse_history("append a 5 18446744073709551615\n").operations[0]
    assert largest.seed == 2**64 - 1
    assert (largest.offset_bytes, parse_history("sync\n").operations[0]) == (0, Operation("sync"))
    assert Operation("create", "a") == Operation("create", "a", "", 0, 0, 0)
    for line in (
        "append a 5 118446744073709551615",
        "symlink x ../s",
        "rename a ../b",
        "create ./a",
        "create a/./b",
    ):
        with pytest.raises(FormatError, match=r"^history, line 1"):
            parse_history(f"{line}\n")
    with pytest.raises(FormatError) as refused:
        parse_history("chown a\n")
    assert str(refused.value.remedy).startswith("verbs: append, chmod, close, create, dup")
    for mode in ("9", "64", "06400", "888"):
        with pytest.raises(FormatError, match="no mode"):
            parse_history(f"chmod a {mode}\n")


def test_an_entry_has_nothing_that_its_line_does_not_say() -> None:
    assert Entry("dir") == Entry("dir", 0, 0, 0, 0, "-", "")
    for line, words in (("lost l x", "ERRNO is no number"), ("observed x", "LINES is no number")):
        with pytest.raises(FormatError, match=f"^observation, line 2: {words}"):
            parse_observation(f"dir . 3 1 0\n{line}\n")


def test_an_fsync_of_either_directory_makes_a_rename_durable_that_is_one_step() -> None:
    moved = "mkdir d\nmkdir e\ncreate d/a\nsync\nrename d/a e/a\nfsync {}\ncreate c\n"
    new = ("dir d 2 2 0", "dir e 2 3 0", file(b"", path="e/a"))
    old = ("dir d 2 2 0", file(b"", path="d/a"), "dir e 2 3 0")
    for directory, is_owed in (("d", True), ("e", True), (".", False)):
        history = moved.format(directory)
        assert problems("ubifs", history, *new, directories=2) == []
        assert (problems("ubifs", history, *old, directories=2) != []) == is_owed, directory


def test_ubifs_notes_a_write_that_makes_a_file_longer_and_no_other() -> None:
    """What was noted comes to flash with all that was before it: the name n."""
    for write, is_owed in (("write a 0 600 3", False), ("append a 5 3", True)):
        history = f"write a 0 600 1\nsync\ncreate n\n{write}\nfsync a\ncreate b\n"
        data = pattern(1, 0, 600) + pattern(3, 600, 5) if is_owed else pattern(3, 0, 600)
        found = problems("ubifs", history, file(data))
        assert found == ([("name-lost", "n")] if is_owed else []), write
    # In JFFS2 both are steps of the log.
    history = "write a 0 600 1\nsync\ncreate n\nwrite a 0 600 3\nfsync a\ncreate b\n"
    assert problems("jffs2", history, file(pattern(3, 0, 600))) == [("name-lost", "n")]


@pytest.mark.parametrize("filesystem", COUNTING)
def test_links_are_in_doubt_with_a_directory_that_may_be_there(filesystem: str) -> None:
    history = "create a\nsync\nmkdir n\nsync\ncreate b\n"
    for directories in (0, 1):
        entries = (file(b""), "dir n 2 20 0")[: 1 + directories]
        found = problems(filesystem, history, *entries, directories=directories, failed={2: 5})
        assert found == []
    # Something was made in it: it was there.
    inside = "create a\nsync\nmkdir n\ncreate n/x\nsync\ncreate b\n"
    entries = (file(b""), "dir n 2 20 0", file(b"", path="n/x", inode=21))
    assert problems(filesystem, inside, *entries, directories=1, failed={2: 5}) == []


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_a_name_in_doubt_that_was_deleted_is_gone(filesystem: str) -> None:
    """The link failed half way and was there after all, since it could be deleted."""
    history = "create a\nsync\nlink a n\nunlink n\nsync\ncreate b\n"
    assert problems(filesystem, history, file(b""), failed={2: 5}) == []
    second = file(b"", path="n", inode=20)
    assert problems(filesystem, history, file(b""), second, failed={2: 5}) != []
    # And a file was renamed to a name in doubt: it is that file.
    moved = "create a\nwrite m 0 600 1\nsync\nlink a n\nrename m n\nsync\ncreate b\n"
    new = file(pattern(1, 0, 600), path="n", inode=20)
    assert problems(filesystem, moved, file(b""), new, failed={3: 5}) == []
    assert problems(filesystem, moved, file(b""), failed={3: 5}) == [("name-lost", "n")]
    other = file(b"?", path="n", inode=20)
    assert problems(filesystem, moved, file(b""), other, failed={3: 5}) != []
    # The old name of a rename that failed, and then succeeded, is gone.
    twice = "write m 0 600 1\nsync\nrename m n\nrename m n\nsync\ncreate b\n"
    assert problems(filesystem, twice, new, failed={2: 5}) == []
    both = [file(pattern(1, 0, 600), path=path, links=2, inode=20) for path in ("m", "n")]
    assert problems(filesystem, twice, *both, failed={2: 5}) != []


def test_syncs_of_several_files_count_in_the_order_of_the_calls() -> None:
    """Neither makes a step: what is owed between the two is another thing than behind them."""
    judge = judge_of(
        "ubifs",
        "write a 0 512 1\nwrite b 0 512 3\nsync\nwrite a 0 512 5\nwrite b 0 512 7\n"
        "fsync b\nfsync a\n",
    )
    old, new = pattern(1, 0, 512), pattern(5, 0, 512)
    b = file(pattern(7, 0, 512), path="b", inode=11)
    for cut, is_owed in ((6, False), (7, True)):
        assert bool(judge.judge(cut, tree("ubifs", file(old), b))) == is_owed, cut
        assert judge.judge(cut, tree("ubifs", file(new), b)) == ()


def test_a_file_whose_name_may_be_gone_is_not_what_a_rename_replaced() -> None:
    """An fsync of what it replaced has the rename with it, in UBIFS: of a, if n was its name."""
    linked = "write a 0 600 1\nlink a n\nwrite m 0 600 3\nsync\n"
    renamed = "rename m n\nfsync a\ncreate b\n"
    old = [file(pattern(1, 0, 600), path=path, links=2) for path in ("a", "n")]
    m = file(pattern(3, 0, 600), path="m", inode=20)
    before = (old[0], m, old[1])
    assert problems("ubifs", f"{linked}unlink n\n{renamed}", *before, failed={4: 5}) == []
    assert problems("ubifs", f"{linked}{renamed}", *before) != []


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_a_name_in_doubt_that_was_renamed_cannot_be_deleted(filesystem: str) -> None:
    history = "create m\nunlink m\nrename m n\nunlink m\n"
    assert judge_of(filesystem, history, {1: 5, 3: 2}) is not None
    with pytest.raises(FormatError, match="there is no m"):
        judge_of(filesystem, history, {1: 5})


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_of_a_name_in_doubt_the_other_names_of_its_file_are_not(filesystem: str) -> None:
    history = "create a\nlink a k\nsync\nunlink a\nsync\ncreate b\n"
    both = [file(b"", path=path, links=2) for path in ("a", "k")]
    other = file(b"", path="k")
    assert problems(filesystem, history, *both, failed={3: 5}) == []
    assert problems(filesystem, history, other, failed={3: 5}) == []
    assert problems(filesystem, history, both[0], failed={3: 5}) == [("name-lost", "k")]
    # A name that only begins alike is another.
    alike = "create n.\nsync\ncreate n\nsync\ncreate b\n"
    assert problems(filesystem, alike, file(b"", path="n."), failed={2: 5}) == []
    assert problems(filesystem, alike, failed={2: 5}) == [("name-lost", "n.")]


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_a_judge_goes_back_as_well(filesystem: str) -> None:
    """Also over a call that failed half way, and whatever it was asked before."""
    judge = judge_of(filesystem, "create a\nsync\ncreate n\nsync\ncreate b\nsync\n", {2: 5})
    a, b = file(b""), file(b"", path="b", inode=20)
    for cut, entries in ((6, [a, b]), (2, [a]), (6, [a, b]), (0, []), (4, [a])):
        assert judge.judge(cut, tree(filesystem, *entries)) == (), cut
    assert [one.path for one in judge.judge(6, tree(filesystem, a))] == ["b"]


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_a_call_that_changes_nothing_leaves_no_doubt_when_it_fails(filesystem: str) -> None:
    opens = [f"{verb} @1 a" for verb in ("open", "opensync", "opendsync")]
    of_open = ["dup @0 @1", "close @0", "fsync @0", "msync @0", "syncrange @0 0 5"]
    for call in (*opens, *of_open, "sync", "fsync a", "fdatasync a"):
        history = f"create a\nopen @0 a\nsync\n{call}\nsync\ncreate b\n"
        assert problems(filesystem, history, file(b""), failed={3: 5}) == [], call
        assert problems(filesystem, history, failed={3: 5}) == [("name-lost", "a")], call
        wrong = problems(filesystem, history, file(b""), failed={3: 5}, directories=1)
        assert wrong == [("bad-links", ".")] * (filesystem in COUNTING), call
