"""What an overlay owes after a cut: the tree below it, each change whole, and nothing besides.

A tree that is below from the beginning is like one that was made and synced before, which the toy
file systems know how to make. What overlayfs does otherwise (hard links, counts of links) and
planted mistakes have trees that are written down here.
"""

from __future__ import annotations

import pytest
from judge_support import file, judged
from oracle_support import Toy
from oracle_toys import ToyJffs2, ToyUbifs

from ffslab.oracle.contents import pattern
from ffslab.oracle.faults import KINDS, NO_EXCUSE, Excuse
from ffslab.oracle.generators.registry import history_of_kind
from ffslab.oracle.history import History, parse_history
from ffslab.oracle.judge import Judge
from ffslab.oracle.operations import FormatError, Operation
from ffslab.oracle.problems import Problem
from ffslab.oracle.promises import promise_of
from ffslab.oracle.record import Record, parse_record

STACKS = ("overlay-jffs2", "overlay-ubifs")
LOWER = "mkdir d\nwrite d/a 0 6000 1\nwrite still 0 600 3\nwrite x 0 700 5\nlink x y\n"
UNSTABLE = KINDS["unstable"].second


def history(text: str, lower: str = LOWER) -> History:
    return History(parse_history(text).operations, parse_history(lower).operations)


def judge_of(stack: str, text: str, failed: dict[int, int]) -> Judge:
    made = history(text)
    count = len(made.operations)
    record = "".join(f"op {n} {failed.get(n, 0)} {n} {n + 1}\n" for n in range(count))
    return Judge(made, parse_record(f"{record}end {count} 0 {count}\n"), promise_of(stack))


def entries(**changed: str | None) -> dict[str, str]:
    """The lines of the lower tree, as nobody changed it, but for some; None: it is not there.

    Inodes 7 and 8 are those of the directories; x and y are one file.
    """
    made: dict[str, str | None] = {
        ".": "dir . 1 7 0",
        "d": "dir d 2 8 0",
        "d/a": file(pattern(1, 0, 6000), path="d/a", inode=20),
        "still": file(pattern(3, 0, 600), path="still", inode=21),
        "x": file(pattern(5, 0, 700), path="x", inode=22, links=2),
        "y": file(pattern(5, 0, 700), path="y", inode=22, links=2),
    }
    made |= {path.replace("__", "/"): line for path, line in changed.items()}
    return {path: line for path, line in made.items() if line is not None}


def problems(
    stack: str,
    text: str,
    tree: dict[str, str],
    *,
    excuse: Excuse = NO_EXCUSE,
    failed: dict[int, int] | None = None,
    cut: int | None = None,
) -> tuple[Problem, ...]:
    """After a cut behind the last call, or at another operation."""
    judge = judge_of(stack, text, failed or {})
    at = len(judge.history.operations) if cut is None else cut
    return judge.judge(at, "".join(f"{line}\n" for line in tree.values()), excuse)


def kinds(stack: str, text: str, tree: dict[str, str], **how: object) -> list[tuple[str, str]]:
    found = problems(stack, text, tree, **how)  # type: ignore[arg-type]
    return [(one.kind, one.path) for one in found]


@pytest.mark.parametrize("toy", [ToyJffs2, ToyUbifs])
def test_a_tree_below_is_like_one_that_was_synced_before(toy: type[Toy]) -> None:
    whole = history_of_kind("overlay", 1, {"rounds": 1, "big_bytes": 20000})
    # A toy keeps two names one file, which overlayfs does not.
    lower = tuple(one for one in whole.lower if one.verb != "link")
    made = toy(1)
    record = made.run(History((*lower, Operation("sync"), *whole.operations)))
    calls = record.calls[len(lower) + 1 :]
    stack = promise_of(f"overlay-{toy.filesystem}")
    judge = Judge(History(whole.operations, lower), Record(calls, is_complete=True), stack)
    planted = 0
    for cut in range(calls[0].first, made.pages + 1):
        root, *lines, _, _ = made.observe(cut).splitlines()
        kind, path, _links, *rest = root.split(" ")
        lines.insert(0, " ".join((kind, path, "1", *rest)))
        assert judge.judge(cut, "".join(f"{line}\n" for line in lines)) == ()
        (found,) = [line for line in lines if " r0/still " in line]
        lines.remove(found)
        (problem,) = judge.judge(cut, "".join(f"{line}\n" for line in lines))
        planted += (problem.kind, problem.path) == ("name-lost", "r0/still")
    assert planted == made.pages + 1 - calls[0].first > 30


@pytest.mark.parametrize("stack", STACKS)
def test_what_nobody_changed_is_there_whatever_is_lost(stack: str) -> None:
    text = "append d/a 100 7\n"
    for excuse in (NO_EXCUSE, UNSTABLE):
        assert kinds(stack, text, entries(), excuse=excuse) == []
        assert kinds(stack, text, entries(still=None), excuse=excuse) == [("name-lost", "still")]
        half = file(pattern(3, 0, 512), path="still", inode=21)
        assert kinds(stack, text, entries(still=half), excuse=excuse) != []
    (problem,) = problems(stack, text, entries(still=None))
    assert "a file that the lower file system put there" in problem.sentence
    (problem,) = problems(stack, text, entries(still=file(pattern(1, 0, 600), path="still")))
    assert problem.kind == "foreign-bytes"
    assert "the lower file system (write d/a 0 6000 1)" in problem.sentence
    # What was copied up, or is below a directory that was, may be lost with its page.
    gone = entries(d=None, d__a=None)
    assert kinds(stack, text, gone, excuse=UNSTABLE) == []
    assert kinds(stack, text, gone) == [("name-lost", "d"), ("name-lost", "d/a")]
    # Before that call it was only below, and no page of the flash has it.
    assert kinds(stack, text, gone, excuse=UNSTABLE, cut=0) == []
    assert kinds(stack, f"sync\n{text}", gone, excuse=UNSTABLE, cut=0) != []
    twice = text + "append d/a 100 9\n"
    assert kinds(stack, twice, gone, excuse=UNSTABLE, cut=0) == []
    # The root is in both file systems, so it may have lost something.
    assert kinds(stack, text, entries() | {".": "dir . 3 7 0"}, excuse=UNSTABLE) == []
    # A directory above all that cannot be read hides it.
    hidden = {".": "dir . 1 7 5"}
    assert kinds(stack, text, hidden, excuse=UNSTABLE) == []


@pytest.mark.parametrize("stack", STACKS)
def test_a_file_is_copied_up_as_a_whole(stack: str) -> None:
    text = "append d/a 100 7\nfsync d/a\n"
    data = pattern(1, 0, 6000)
    appended = data + pattern(7, 6000, 100)
    for cut, allowed in ((0, (data, appended)), (2, (appended,))):
        for there in (data, appended):
            line = file(there, path="d/a", inode=30)
            is_right = kinds(stack, text, entries(d__a=line), cut=cut) == []
            assert is_right == (there in allowed)
    for half in (data[:4096], b"", data[:4096] + bytes(1904), bytes(6000)):
        line = file(half, path="d/a", inode=30)
        (found,) = kinds(stack, text, entries(d__a=line), cut=0)
        assert found == ("synced-data-lost", "d/a")
    closed = "file d/a 6000 1 30 13 -"
    assert kinds(stack, text, entries(d__a=closed), cut=0) == [("unreadable", "d/a")]


@pytest.mark.parametrize("stack", STACKS)
def test_what_was_deleted_does_not_come_back(stack: str) -> None:
    text = "unlink still\nfsync .\ncreate n\n"
    new = "file n 0 1 31 0 -"
    assert kinds(stack, text, entries(), cut=0) == []
    assert kinds(stack, text, entries(still=None), cut=0) == []
    assert kinds(stack, text, entries(still=None, n=new), cut=2) == []
    assert kinds(stack, text, entries(n=new), cut=2) == [("name-kept", "still")]
    # What is made in its place has nothing of it.
    again = "unlink still\nwrite still 0 600 9\nfsync still\nfsync .\n"
    assert kinds(stack, again, entries()) == [("stale-data", "still")]
    other = file(pattern(9, 0, 600), path="still", inode=33)
    assert kinds(stack, again, entries(still=other)) == []


@pytest.mark.parametrize("stack", STACKS)
def test_a_directory_in_the_place_of_a_lower_one_is_empty(stack: str) -> None:
    text = "unlink d/a\nrmdir d\nmkdir d\nsync\n"
    assert kinds(stack, text, entries(d__a=None)) == []
    assert kinds(stack, text, entries()) == [("name-kept", "d/a")]
    # It is a directory of the upper file system alone, whose links are counted.
    assert kinds(stack, text, entries(d="dir d 1 8 0", d__a=None)) == [("bad-links", "d")]
    # One that is in both has one link, or as many as below.
    for links in (1, 2, 9):
        assert kinds(stack, "append d/a 100 7\n", entries(d=f"dir d {links} 8 0"), cut=0) == []
    root = {**entries(), ".": "dir . 3 7 0"}
    assert kinds(stack, "sync\n", root) == [("bad-links", ".")]


@pytest.mark.parametrize("stack", STACKS)
def test_of_a_file_with_two_names_one_is_divided(stack: str) -> None:
    data = pattern(5, 0, 700)
    divided = entries(x=file(data, path="x", inode=40))
    for text, failed in (
        ("open @0 x\nsync\n", {}),
        ("link x n\nsync\n", {1: 0}),
        ("rename x n\nsync\n", {0: 22}),
    ):
        more = {"n": file(data, path="n", inode=40, links=2)} if "link" in text else {}
        tree = dict(divided)
        if more:
            tree = entries(x=file(data, path="x", inode=40, links=2)) | more
        assert kinds(stack, text, tree, failed=failed) == [], text
        assert kinds(stack, text, entries(), cut=0, failed=failed) == []
        assert kinds(stack, text, entries(), failed=failed) != []
    # A rename of what cannot be moved is refused before anything is copied, and so is fsync.
    for text, failed in (("rename d e\nsync\n", {0: 18}), ("fsync x\nsync\n", {})):
        assert kinds(stack, text, entries(), failed=failed) == []
        assert kinds(stack, text, divided, failed=failed) != []
    # A sync of the directory has the new file under its name; one of the file has it if the upper
    # file system notes names for their files.
    is_noted = stack == "overlay-ubifs"
    for sync, is_owed in (("fsync .", True), ("fsync @0", is_noted), ("fdatasync @0", is_noted)):
        text = f"open @0 x\n{sync}\n"
        assert kinds(stack, text, divided) == []
        assert (kinds(stack, text, entries()) != []) == is_owed
    # The other name keeps its contents and its count.
    text = "append x 50 7\nsync\n"
    appended = data + pattern(7, 700, 50)
    one = file(appended, path="x", inode=40)
    assert kinds(stack, text, entries(x=one)) == []
    for wrong in (
        file(appended, path="y", inode=22, links=2),
        file(data, path="y", inode=22),
        file(data, path="y", inode=40, links=2),
    ):
        assert kinds(stack, text, entries(x=one, y=wrong)) != []


@pytest.mark.parametrize("stack", STACKS)
def test_leftovers_are_not_to_be_seen(stack: str) -> None:
    left = {"#1": file(pattern(1, 0, 6000), path="#1", inode=50)}
    found = kinds(stack, "append d/a 100 7\n", entries() | left, cut=0)
    assert found == [("unknown-name", "#1")]


def test_a_lower_tree_is_made_of_files_that_are_written_once() -> None:
    with pytest.raises(FormatError, match="does not make a part of a lower tree"):
        history("sync\n", "create a\nunlink a\n")
    with pytest.raises(FormatError, match="does not make a part of a lower tree"):
        history("sync\n", "write a 5 10 1\n")
    with pytest.raises(FormatError, match="operations -1 and 0 write with seed 1"):
        history("write b 0 10 1\n", "write a 0 10 1\n")
    with pytest.raises(FormatError, match="ubifs has nothing below it"):
        judge_of("ubifs", "sync\n", {})


def test_the_workload_does_to_a_lower_tree_what_overlayfs_treats_apart() -> None:
    made = history_of_kind("overlay", 3, {"rounds": 2})
    below = {one.other or one.path for one in made.lower}
    acts = {one.verb for one in made.operations if below & {one.path, one.other}}
    assert acts >= {"append", "write", "truncate", "rename", "unlink", "rmdir", "mkdir", "open"}
    touched = {path for one in made.operations for path in (one.path, one.other)}
    untouched = {"r0/still", "r0/keep", "r0/keep/p", "r0/keep/deep/q", "r1/still", "r1/alias"}
    assert untouched <= below and not untouched & touched
    # Each round does the same in another order.
    first, second = (
        [one.line.replace(top, "r") for one in made.operations if top in one.line]
        for top in ("r0", "r1")
    )
    assert [line.split(" ")[0] for line in first] != [line.split(" ")[0] for line in second]


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs"])
def test_without_an_overlay_nothing_is_below(filesystem: str) -> None:
    """A loss excuses all, the links of the root among it."""
    text = "mkdir d\nsync\ncreate b\n"
    found = judged(filesystem, text, "dir d 2 9 0", directories=0)
    assert [problem.kind for problem in found] == ["bad-links"]
    assert judged(filesystem, text, "dir d 2 9 0", directories=0, excuse=UNSTABLE) == ()
    assert judged(filesystem, text, excuse=UNSTABLE) == ()
