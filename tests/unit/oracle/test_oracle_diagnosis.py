"""Of several things that may be wrong the oracle names the right one, and the right call."""

from __future__ import annotations

import random

import pytest
from judge_support import file, judge_of, judged, problems, tree
from oracle_support import random_history
from oracle_toys import ToyJffs2, ToyUbifs, ToyYaffs2

from ffslab.oracle.contents import pattern
from ffslab.oracle.faults import KINDS, Excuse
from ffslab.oracle.history import parse_history
from ffslab.oracle.judge import Judge
from ffslab.oracle.promises import PROMISES, promise_of
from ffslab.oracle.record import parse_record

COUNTING = ("jffs2", "ubifs", "yaffs2")  # whose directories have a link for each one below


# Names.


@pytest.mark.parametrize("filesystem", COUNTING)
def test_a_directory_that_should_not_be_there_or_is_missing_is_told_once(filesystem: str) -> None:
    """The root's links are wrong with it, which says nothing more."""
    made = "mkdir d\nsync\ncreate b\n"
    assert problems(filesystem, made) == [("name-lost", "d")]
    assert problems(filesystem, made, "file d 0 1 9 0 -") == [("wrong-kind", "d")]
    gone = "mkdir d\nsync\nrmdir d\nsync\ncreate b\n"
    directory = "dir d 2 9 0"
    assert problems(filesystem, gone, directory, directories=1) == [("name-kept", "d")]
    nobody = "create a\nsync\ncreate b\n"
    entries = (file(b""), directory)
    assert problems(filesystem, nobody, *entries, directories=1) == [("unknown-name", "d")]
    # Where it is the only thing that is wrong it is told.
    assert problems(filesystem, nobody, file(b""), directories=1) == [("bad-links", ".")]


def test_a_name_that_was_a_file_and_is_a_directory_is_judged_as_what_it_is() -> None:
    """JFFS2, nothing synced since: both may be there, each as it was."""
    history = "write a 0 600 1\nsync\nunlink a\nmkdir a\ncreate b\n"
    good = pattern(1, 0, 600)
    assert problems("jffs2", history, file(good)) == []
    assert problems("jffs2", history, "dir a 2 9 0", directories=1) == []
    assert problems("jffs2", history, "dir a 5 9 0", directories=1) == [("bad-links", "a")]
    assert problems("jffs2", history, file(good[:599] + b"?")) == [("corrupt-contents", "a")]


def test_a_directory_or_link_with_an_error_is_unreadable_if_nothing_excuses_it() -> None:
    history = "mkdir d\nsymlink x s\ncreate e\nsync\ncreate b\n"
    broken = ("dir d 2 9 5", "symlink s 1 8 5 x")
    wanted = [("unreadable", "d"), ("unreadable", "s"), ("name-lost", "e")]
    for filesystem in COUNTING:
        found = problems(filesystem, history, *broken, directories=1)
        assert sorted(found) == sorted(wanted)
        excuse = Excuse(unreadable_synced=True)
        found = problems(filesystem, history, *broken, excuse=excuse, directories=1)
        assert found == [("name-lost", "e")]


def test_a_link_that_was_replaced_is_compared_with_the_newer_one() -> None:
    history = "symlink x s\nsymlink z n\nsync\nrename n s\n"
    (problem,) = judged("ubifs", history, "symlink s 1 9 0 y")
    assert (problem.kind, problem.path) == ("corrupt-contents", "s")
    assert problem.sentence == "s points to 'y', not to 'z'"


@pytest.mark.parametrize("filesystem", ["jffs2", "yaffs2"])
def test_only_what_was_there_is_the_file_that_was_taken_away(filesystem: str) -> None:
    history = "write a 0 900 1\nwrite b 0 900 3\nrename b a\nsync\ncreate c\n"
    taken = judged(filesystem, history, file(pattern(1, 0, 900)))
    assert [problem.kind for problem in taken] == ["stale-data"]
    assert "operation 2 (rename b a) took away" in taken[0].sentence
    garbage = judged(filesystem, history, file(b"?" * 900))
    assert [problem.kind for problem in garbage] == ["corrupt-contents"]


def test_half_a_write_that_was_cut_is_no_problem_beside_another_one() -> None:
    """The name lost is told, and nothing of the contents, under both names of the file."""
    history = "write a 0 1024 1\nlink a l\ncreate n\nsync\nwrite a 0 1024 3\n"
    half = pattern(3, 0, 700) + pattern(1, 700, 324)
    entries = [file(half, path=path, links=2) for path in ("a", "l")]
    for filesystem in ("jffs2", "yaffs2"):
        assert problems(filesystem, history, *entries, file(b"", path="n", inode=11)) == []
        assert problems(filesystem, history, *entries) == [("name-lost", "n")]
        # Another file cannot have what was written to this one.
        other = file(half, path="n", inode=11)
        assert problems(filesystem, history, *entries, other) == [("foreign-bytes", "n")]


def test_a_write_to_the_new_name_leaves_the_old_name_as_it_was() -> None:
    history = "write a 0 1024 1\nsync\nrename a b\nwrite b 0 1024 3\ncreate c\n"
    half = pattern(3, 0, 700) + pattern(1, 700, 324)
    assert problems("jffs2", history, file(half, path="b")) == []
    (problem,) = judged("jffs2", history, file(half))
    assert problem.sentence == "a has parts of several times that were never together"
    assert problem.kind == "wrong-order"


# All together.


def test_names_of_one_inode_are_one_file_and_of_two_inodes_two() -> None:
    two = "create a\ncreate b\nsync\ncreate c\n"
    (problem,) = judged("jffs2", two, file(b""), file(b"", path="b"))
    assert (problem.kind, problem.operation) == ("bad-links", 1)
    assert problem.sentence == "b and a are one inode, 10, and two files"
    one = "create a\nlink a b\nsync\ncreate c\n"
    first, second = file(b"", links=2), file(b"", path="b", links=2, inode=11)
    (problem,) = judged("jffs2", one, first, second)
    assert (problem.kind, problem.operation) == ("bad-links", 1)
    assert problem.sentence == "b and a are links to one file, and two inodes"
    # The write is seen through one of the names only.
    written = "create a\nlink a b\nsync\nwrite a 0 512 1\ncreate c\n"
    new = file(pattern(1, 0, 512), path="b", links=2)
    (problem,) = judged("jffs2", written, first, new)
    assert (problem.kind, problem.operation) == ("bad-links", 1)
    assert problem.sentence == "b and a are one inode, 10, and differ"


def test_a_name_that_was_two_files_shares_the_inode_of_neither() -> None:
    """b was a link to a, is deleted, and is a new file, of one link as a is now."""
    history = "create a\nlink a b\nsync\nunlink b\ncreate b\ncreate c\n"
    assert problems("jffs2", history, file(b""), file(b"", path="b", inode=11)) == []
    (problem,) = judged("jffs2", history, file(b""), file(b"", path="b"))
    assert (problem.kind, problem.path) == ("wrong-order", ".")
    assert "operation 4 (create b), but . is not" in problem.sentence


def test_of_a_rename_both_names_may_be_gone_only_by_a_later_call() -> None:
    # Later calls are of other names: the rename left neither.
    history = "create a\nsync\nrename a b\ncreate c\ncreate d\n"
    for entries in ((), (file(b"", path="c", inode=11),)):
        (problem,) = judged("ubifs", history, *entries)
        assert (problem.kind, problem.path, problem.operation) == ("not-atomic", "b", 2)
        assert "neither name is there" in problem.sentence
    # b was deleted later. What is wrong is that x is there, which was deleted before b was.
    history = "create a\ncreate x\nsync\nrename a b\nunlink x\nunlink b\ncreate c\n"
    (problem,) = judged("ubifs", history, file(b"", path="x"))
    assert (problem.kind, problem.path) == ("wrong-order", "x")
    # A write to b does not take its name away.
    history = "create a\nsync\nrename a b\nwrite b 0 512 1\ncreate d\n"
    assert problems("yaffs2", history, cut=2) == [("not-atomic", "b")]
    (problem,) = judged("jffs2", history)
    assert (problem.kind, problem.operation) == ("not-atomic", 2)


FOUR = "create a\ncreate b\ncreate c\ncreate d\n"


@pytest.mark.parametrize(
    ("there", "seen", "missing"),
    [
        # As after d only b is missing; as after a there would be two too many.
        ("acd", "operation 3 (create d)", "b"),
        # As after a there is d too many; as after d two are missing.
        ("ad", "operation 0 (create a)", "d"),
        # One differs from the empty tree, and from that of b: the later one is told.
        ("b", "operation 1 (create b)", "a"),
        ("d", "the empty file system", "d"),
    ],
)
def test_the_order_is_told_by_the_tree_that_is_nearest(there: str, seen: str, missing: str) -> None:
    entries = [file(b"", path=name, inode=at) for at, name in enumerate(there, 10)]
    (problem,) = judged("jffs2", FOUR, *entries)
    assert (problem.kind, problem.path) == ("wrong-order", missing)
    assert problem.sentence.startswith(f"the tree is as after {seen}, but {missing} is not: ")
    assert problem.operation == "abcd".index(missing)


# Contents.

OVER = "write a 0 1536 1\nwrite b 0 1536 3\nwrite a 0 1536 5\nsync\ncreate c\n"
OLD, OTHER, NEW = pattern(1, 0, 1536), pattern(3, 0, 1536), pattern(5, 0, 1536)
SECOND = file(OTHER, path="b", inode=11)


@pytest.mark.parametrize(
    ("data", "kind", "sentence"),
    [
        (
            OLD[:512] + OTHER[512:1024] + NEW[1024:],
            "foreign-bytes",
            "a sector 1 has what operation 1 (write b 0 1536 3) wrote to another file",
        ),
        (
            OLD[:512] + b"?" * 1024,
            "corrupt-contents",
            "a sector 1 has bytes that nobody wrote there, and 1 more such sectors",
        ),
        (
            NEW[:1024] + b"?" * 512,
            "corrupt-contents",
            "a sector 2 has bytes that nobody wrote there",
        ),
        (
            bytes(512) + OLD[512:],
            "synced-data-lost",
            "a sector 0 has zeros where data were durable",
        ),
        # What belongs to another place of the same file is no other file's.
        (
            NEW[512:1024] + NEW[512:],
            "corrupt-contents",
            "a sector 0 has bytes that nobody wrote there",
        ),
        # The size is told unless a sector is worse.
        (bytes(512) + NEW[512:1024], "synced-data-lost", "a has 1024 bytes, and 1536 were durable"),
        (b"?" * 512 + NEW[512:1024], "corrupt-contents", None),
        (OTHER[:512] + NEW[512:1024], "foreign-bytes", None),
    ],
)
@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs", "yaffs2", "logfs"])
def test_the_worst_that_is_wrong_with_a_file_is_told(
    filesystem: str, data: bytes, kind: str, sentence: str | None
) -> None:
    (problem,) = judged(filesystem, OVER, file(data), SECOND)
    assert (problem.kind, problem.path, problem.operation) == (kind, "a", 2)
    assert sentence is None or problem.sentence == sentence


def test_an_older_sector_is_of_the_last_call_that_left_it_so() -> None:
    """Sector 0 is of the first write; the second one left it, and the third one wrote it anew."""
    history = "write a 0 1024 1\nwrite a 512 512 3\nwrite a 0 1024 5\nsync\ncreate c\n"
    data = pattern(1, 0, 512) + pattern(5, 512, 512)
    (problem,) = judged("jffs2", history, file(data))
    assert problem.kind == "stale-data"
    assert "sector 0 is as operation 1 (write a 512 512 3) left it" in problem.sentence


def test_which_sizes_are_told() -> None:
    history = "write a 0 1000 1\nsync\nwrite a 1000 1000 3\n"
    data = bytes(512) + pattern(1, 512, 488) + pattern(3, 1000, 500)
    (found,) = judged("jffs2", history, file(data))
    assert found.sentence == "a sector 0 has zeros where data were durable"
    for filesystem in ("ubifs", "logfs"):
        (found,) = judged(filesystem, history, file(data))
        assert (found.kind, found.sentence) == ("wrong-size", "a has 1500 bytes, not 1000 or 2000")
        assert found.operation == 0
        (found,) = judged(filesystem, history, file(data[:900]))
        assert found.sentence == "a has 900 bytes, and 1000 were durable"
    # Of many sizes the first four.
    history = "write a 0 100 1\nsync\n" + "".join(f"append a 100 {n}\n" for n in (3, 5, 7, 9))
    (found,) = judged("ubifs", history, file(bytes(550)))
    assert found.sentence == "a has 550 bytes, not 100 or 200 or 300 or 400"


def test_a_replaced_file_is_blamed_by_what_the_name_was_last() -> None:
    history = "write a 0 600 1\nwrite b 0 900 3\nsync\nrename b a\n"
    (problem,) = judged("ubifs", history, file(bytes(600)))
    assert problem.sentence == "a has 600 bytes, and 900 were durable"
    assert problem.operation == 1


# What is excused.

LOG = "write a 0 200 1\nsync\nwrite a 200 200 3\nwrite a 400 112 5\n"
ONE, TWO, THREE = pattern(1, 0, 200), pattern(3, 200, 200), pattern(5, 400, 112)
# The last three calls are in one page of the chip.
TORN_PAGE = "op 0 0 0 1\nop 1 0 1 1\nop 2 0 1 1\nop 3 0 1 2\nend 4 0 2\n"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (ONE + bytes(200) + THREE, ""),
        (ONE + TWO + b"?" * 112, "corrupt-contents"),
        # The first write was synced: a hole in its place is no later call without an earlier one.
        (bytes(200) + TWO + THREE, "corrupt-contents"),
    ],
)
def test_torn_bits_excuse_an_order_and_nothing_that_was_synced(data: bytes, kind: str) -> None:
    judge = Judge(parse_history(LOG), parse_record(TORN_PAGE), promise_of("jffs2"))
    text = tree("jffs2", file(data))
    found = judge.judge(1, text, KINDS["torn-bits"].first)
    assert [problem.kind for problem in found] == ([kind] if kind else [])
    (problem,) = judge.judge(1, text, KINDS["torn-prefix"].first)
    assert problem.kind == "corrupt-contents"


def test_a_durable_write_that_is_lost_shows_what_was_there_before_it() -> None:
    """The second write is lost and the third is there: what was durable before is below."""
    history = "write a 0 200 1\nwrite a 100 100 7\nwrite a 200 312 3\nsync\ncreate b\n"
    data = pattern(1, 0, 200) + pattern(3, 200, 312)
    excuse = KINDS["unstable"].second
    assert problems("jffs2", history, file(data), excuse=excuse) == []
    assert problems("jffs2", history, file(data)) == [("corrupt-contents", "a")]


def test_a_made_up_name_may_be_in_a_directory() -> None:
    history = "mkdir d\nwrite d/a 0 600 1\nsync\ncreate b\n"
    excuse = KINDS["unstable"].second
    for name, is_excused in (("d/obj257", True), ("d/other", False)):
        entries = ("dir d 2 9 0", file(pattern(1, 0, 600), path=name))
        found = problems("yaffs2", history, *entries, excuse=excuse, directories=1)
        assert found == ([] if is_excused else [("unknown-name", name)])


def test_the_call_that_is_named_put_that_object_there() -> None:
    """Operation 3 renames b over a: whoever finds no a lacks what that call put there."""
    history = "write a 0 512 1\nwrite b 0 512 3\nsync\nrename b a\nsync\ncreate c\n"
    for filesystem in PROMISES:
        (problem,) = judged(filesystem, history)
        assert (problem.kind, problem.path, problem.operation) == ("name-lost", "a", 3)
        assert "a file that operation 3 (rename b a) put there" in problem.sentence
        (problem,) = judged(filesystem, history, "dir a 2 9 0", directories=1)
        assert (problem.kind, problem.operation) == ("wrong-kind", 3)
    # Of a rename over a link that is cut the path is the one or the other: the later is named.
    over = "symlink t a\nwrite b 0 512 3\nsync\nrename b a\n"
    for filesystem in PROMISES:
        (problem,) = (one for one in judged(filesystem, over) if one.path == "a")
        assert "a file that operation 3 (rename b a) put there" in problem.sentence
        found = judged(filesystem, over, "dir a 2 9 0", directories=1)
        (problem,) = (one for one in found if one.path == "a")
        assert problem.sentence == "a is a dir; operation 3 (rename b a) made a file"
    # What is written to it later puts no other object there.
    (problem,) = judged("ubifs", history.replace("sync\ncreate", "write a 9 9 5\nsync\ncreate"))
    assert (problem.kind, problem.operation) == ("name-lost", 3)


def test_problems_come_in_the_order_of_their_paths() -> None:
    names = [f"n{number}" for number in (7, 3, 9, 1, 8, 2, 6, 4, 0, 5)]
    history = "".join(f"create {name}\n" for name in names) + "sync\ncreate b\n"
    assert problems("ubifs", history) == [("name-lost", name) for name in sorted(names)]


# A judge that has judged before says what a new one says.


def test_what_was_judged_before_changes_no_judgement() -> None:
    def agree(filesystem: str, history_text: str, record: str, *cuts: int, entry: str) -> None:
        history, parsed = parse_history(history_text), parse_record(record)
        text = tree(filesystem, entry) if entry else tree(filesystem)
        used = Judge(history, parsed, promise_of(filesystem))
        found = [bool(used.judge(cut, text)) for cut in cuts]
        new = [
            bool(Judge(history, parsed, promise_of(filesystem)).judge(cut, text)) for cut in cuts
        ]
        assert found == new == [False, True]

    # YAFFS2: before and after a call returned, no other one having begun.
    agree("yaffs2", "create a\ncreate b\n", "op 0 0 0 2\nop 1 0 5 6\nend 2 0 6\n", 1, 3, entry="")
    # UBIFS: before and after an fsync of contents that made no step durable.
    calls = "write a 0 512 1\ncreate b\nsync\nwrite a 0 512 3\nfsync .\nfsync a\nfsync .\n"
    record = "".join(f"op {n} 0 {n} {n + 1}\n" for n in range(7)) + "end 7 0 7\n"
    older = f"{file(pattern(1, 0, 512))}\nfile b 0 1 11 0 -"
    agree("ubifs", calls, record, 5, 6, entry=older)


@pytest.mark.parametrize("kind", [ToyJffs2, ToyUbifs, ToyYaffs2])
def test_cuts_are_judged_in_any_order(
    kind: type[ToyJffs2] | type[ToyUbifs] | type[ToyYaffs2],
) -> None:
    toy = kind(5)
    history = random_history(5, 40)
    record = toy.run(history)
    texts = [toy.observe(cut) for cut in range(toy.pages + 1)]
    pairs = [(cut, text) for cut in range(toy.pages + 1) for text in texts[::4]]
    random.Random(1).shuffle(pairs)
    used = Judge(history, record, promise_of(toy.filesystem))
    for cut, text in pairs[:60]:
        new = Judge(history, record, promise_of(toy.filesystem))
        assert used.judge(cut, text) == new.judge(cut, text)


def test_a_window_says_how_much_may_be_there() -> None:
    """Four calls, the second a sync: two steps are durable, and the third may be there."""
    judge = judge_of("jffs2", "create a\nsync\ncreate b\ncreate c\n")
    window = judge.window(2)
    assert (window.low, window.high, window.finished, window.begun) == (1, 2, 2, 3)
