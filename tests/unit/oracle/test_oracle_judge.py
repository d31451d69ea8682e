"""The oracle: it never blames a toy that keeps its promise, and allows nothing beyond that."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from oracle_support import Toy, Tree, random_history, render
from oracle_toys import ToyJffs2, ToyUbifs, ToyYaffs2

from ffslab.oracle.history import parse_history
from ffslab.oracle.judge import Judge
from ffslab.oracle.operations import FormatError
from ffslab.oracle.problems import UNKNOWN_NAME
from ffslab.oracle.promises import JFFS2, UBIFS, YAFFS2, Promise, promise_of
from ffslab.oracle.record import parse_record

TOYS = (ToyJffs2, ToyUbifs, ToyYaffs2)


def blamed(
    toy: Toy, seed: int, length: int, promise: Promise, *, descriptors: bool = False
) -> list[str]:
    """The classes of all problems of a toy, at every cut."""
    history = random_history(seed, length, descriptors=descriptors)
    judge = Judge(history, toy.run(history), promise)
    return [
        problem.kind
        for cut in range(toy.pages + 1)
        for problem in judge.judge(cut, toy.observe(cut))
    ]


@pytest.mark.parametrize("kind", TOYS)
@pytest.mark.parametrize("seed", range(10))
def test_what_a_toy_leaves_is_allowed(kind: type[Toy], seed: int) -> None:
    assert not blamed(kind(seed), seed, 50, promise_of(kind.filesystem))


@pytest.mark.parametrize("kind", TOYS)
@pytest.mark.parametrize("seed", range(20))
def test_what_a_toy_leaves_of_open_files_is_allowed(kind: type[Toy], seed: int) -> None:
    promise = promise_of(kind.filesystem)
    assert not blamed(kind(seed), seed, 80, promise, descriptors=True)


@pytest.mark.parametrize("kind", TOYS)
@pytest.mark.parametrize("sync", ["fsync", "fdatasync", "msync", "sync", "opensync", "opendsync"])
def test_a_sync_that_does_nothing_is_found(kind: type[Toy], sync: str) -> None:
    def is_found(seed: int) -> bool:
        toy = kind(seed)
        toy.deaf = sync
        found = blamed(toy, seed, 80, promise_of(kind.filesystem), descriptors=True)
        return bool({"synced-data-lost", "stale-data", "wrong-size"} & set(found))

    # JFFS2 refuses mappings, so nobody can be promised anything of one.
    assert any(map(is_found, range(20))) == (kind.maps or sync != "msync")


@pytest.mark.slow
@pytest.mark.parametrize("kind", TOYS)
def test_what_a_toy_leaves_of_open_files_is_allowed_in_many_histories(kind: type[Toy]) -> None:
    promise = promise_of(kind.filesystem)
    for seed in range(1000, 1050):
        assert not blamed(kind(seed), seed, 100, promise, descriptors=True), seed


@pytest.mark.slow
@pytest.mark.parametrize("kind", TOYS)
def test_what_a_toy_leaves_is_allowed_in_many_histories(kind: type[Toy]) -> None:
    for seed in range(1000, 1150):
        assert not blamed(kind(seed), seed, 60, promise_of(kind.filesystem)), seed


@pytest.mark.parametrize(
    ("kind", "promise"),
    [
        (ToyJffs2, replace(JFFS2, returned_is_durable=True)),
        (ToyJffs2, replace(JFFS2, rename_is_atomic=True)),
        (ToyUbifs, replace(UBIFS, returned_is_durable=True)),
        (ToyUbifs, replace(UBIFS, contents="in-order")),
        (ToyYaffs2, replace(YAFFS2, pieces="prefix")),
        (ToyYaffs2, replace(YAFFS2, root_links=2)),
    ],
)
def test_a_toy_does_not_keep_what_it_does_not_promise(kind: type[Toy], promise: Promise) -> None:
    assert any(blamed(kind(seed), seed, 50, promise) for seed in range(10))


# Everything that could be seen, against what is allowed.

SMALL = """create a
append a 1 11
mkdir d
fsync a
rename a d/b
create a
link a c
append a 1 13
fsync .
unlink c
rename d/b a
"""


def trees(history_text: str, *, split_renames: bool) -> list[list[Tree]]:
    """The trees that each number of calls can leave: the last one is that after all of them.

    Worked out from the lines, one call after the other, with nothing in common with the oracle.
    """
    toy = ToyYaffs2(0)
    found = [[Tree()]]
    for operation in parse_history(history_text).operations:
        between = []
        if operation.verb == "rename" and split_renames:
            both = toy.now.copy()
            inode = both.find(operation.path)
            assert inode is not None
            both.names[both.place(operation.other)] = inode
            between.append(both)
        if toy.is_possible(operation):
            toy.call(operation)
        found.append([*between, toy.now.copy()])
    return found


def every_tree(possible: list[Tree]) -> list[str]:
    """All combinations of what the paths of some trees were: far more than was ever there."""
    paths = sorted({path for tree in possible for path in lines_of(tree)})
    choices = [{lines_of(tree).get(path, "") for tree in possible} for path in paths]
    found = []
    for lines in product(*(sorted(choice) for choice in choices)):
        there = [line for line in lines if line]
        words = [*there, "statfs 1 1 1", f"observed {len(there) + 1}"]
        found.append("".join(f"{line}\n" for line in words))
    return found


def numbered(text: str) -> str:
    """An observation with its inodes numbered in the order of the paths: who shares one is left."""
    inodes: dict[str, int] = {}
    lines = []
    for line in text.splitlines():
        words = line.split(" ")
        at = {"dir": 3, "file": 4}.get(words[0])
        if at:
            words[at] = str(inodes.setdefault(words[at], len(inodes)))
        lines.append(" ".join(words))
    return "\n".join(lines)


def lines_of(tree: Tree) -> dict[str, str]:
    return {line.split(" ")[1]: line for line in render(tree, 3).splitlines()[:-2]}


@pytest.mark.parametrize("promise", [JFFS2, replace(JFFS2, rename_is_atomic=True)])
def test_exactly_what_is_promised_is_allowed(promise: Promise) -> None:
    """A cut while call n runs, each call one operation of the chip."""
    split = not promise.rename_is_atomic
    history = parse_history(SMALL)
    count = len(history.operations)
    text = "".join(f"op {n} 0 {n} {n + 1}\n" for n in range(count)) + f"end {count} 0 {count}\n"
    judge = Judge(history, parse_record(text), promise)
    reached = trees(SMALL, split_renames=split)
    everything = every_tree([tree for some in reached for tree in some])
    # What survives of the first n calls: fsync of `a` (3) all up to its contents (call 1); fsync of
    # the root (8) all up to the last name in it: `c` of call 6.
    durable = [0] * 4 + [2] * 5 + [7] * (count - 8)
    allowed_before = 0
    for cut in range(count + 1):
        begun = min(cut + 1, count)
        allowed = {render(tree, 3) for tree in reached[durable[cut]][-1:]}
        for some in reached[durable[cut] + 1 : begun + 1]:
            allowed |= {render(tree, 3) for tree in some}
        wanted = {numbered(text) for text in allowed}
        for text in everything:
            assert (numbered(text) in wanted) == (not judge.judge(cut, text)), (cut, text)
        assert allowed <= set(everything)
        allowed_before += len(allowed)
    assert allowed_before > 30 and len(everything) > 150


def test_a_record_of_another_run_is_refused() -> None:
    history = parse_history("create a\nunlink a\nunlink a\n")
    record = parse_record("op 0 0 0 1\nop 1 0 1 2\nop 2 0 2 3\nend 3 0 3\n")
    with pytest.raises(
        FormatError, match=r"operation 2 .unlink a. did not fail, but there is no a"
    ):
        Judge(history, record, JFFS2)
    with pytest.raises(FormatError, match="3 calls, the history 1"):
        Judge(parse_history("create a\n"), record, JFFS2)


def test_equal_judgements_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    toy = ToyJffs2(3)
    history = random_history(3, 50)
    judge = Judge(history, toy.run(history), JFFS2)
    texts = [toy.observe(cut) for cut in range(toy.pages + 1)]
    first = [judge.judge(cut, text) for cut, text in enumerate(texts)]
    monkeypatch.setattr(judge, "_judge", None)
    assert [judge.judge(cut, text) for cut, text in enumerate(texts)] == first


def test_a_name_may_be_there_once() -> None:
    history = parse_history("create a\nsync\n")
    judge = Judge(history, parse_record("op 0 0 0 1\nop 1 0 1 1\nend 2 0 1\n"), YAFFS2)
    once = "dir . 3 1 0\nfile a 0 1 257 0 -\n"
    assert judge.judge(1, once) == ()
    (problem,) = judge.judge(1, once + "file a 0 1 258 0 -\n")
    assert (problem.kind, problem.path) == (UNKNOWN_NAME, "a (once more)")
