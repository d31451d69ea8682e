"""All short sequences of acts: against all that can be done, carried out by a toy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from oracle_support import ROOT, Toy
from oracle_toys import ToyUbifs, ToyYaffs2

from ffslab.oracle.acts import PLAIN, SETS, Act, beginning, operations_of, writes_in
from ffslab.oracle.contents import parse_sums
from ffslab.oracle.history import History
from ffslab.oracle.judge import Judge
from ffslab.oracle.operations import Operation
from ffslab.oracle.promises import promise_of
from ffslab.oracle.record import Call, Record
from ffslab.oracle.sequences import Tree


class Free(ToyYaffs2):
    """A toy of names alone, which moves directories and mounts anew; `attributes`: who has one."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.attributes: set[int | None] = set()

    def _may_move(self, old: str, new: str) -> bool:
        tree = self.now
        moved, victim = tree.find(old), tree.find(new)
        if victim is None or moved is None or tree.inodes[moved][0] != "dir":
            return super()._may_move(old, new)
        is_empty = not any(parent == victim for parent, _ in tree.names)
        return tree.inodes[victim][0] == "dir" and is_empty

    def is_possible(self, operation: Operation) -> bool:
        find, path, other = self.now.find, operation.path, operation.other
        match operation.verb:
            case "remount" | "turnover":
                return True
            case "renamenew" | "whiteout":
                return find(path) is not None and find(other) is None
            case "exchange":
                return None not in (find(path), find(other))
            case "linkfd":
                return path in self.opened and find(other) is None
            case "removexattr":
                return find(path) in self.attributes
        return super().is_possible(operation)

    def carry_out(self, operation: Operation) -> None:
        path, other = operation.path, operation.other
        match operation.verb:
            case "remount":
                self.opened.clear()
            case "turnover":
                assert self.now.find(path) is None  # it deletes the file again
            case "exchange":
                one, two = (
                    next(k for k in self.now.names if self._is(k, p)) for p in (path, other)
                )
                names = self.now.names
                names[one], names[two] = names[two], names[one]
            case "renamenew" | "whiteout":
                super().carry_out(Operation("rename", path, other))
                if operation.verb == "whiteout":
                    super().carry_out(Operation("mkfifo", path))
            case "tmpfile":
                inode = self.new_inode()
                self.now.inodes[inode] = ("file", b"")
                self.opened[operation.filled] = (inode, "open")
            case "linkfd":
                self.now.names[self.now.place(other)] = self.opened[path][0]
            case "setxattr":
                self.attributes.add(self.now.find(path))
            case "removexattr":
                self.attributes.remove(self.now.find(path))
            case "chmod" | "setmtime":
                assert self.now.find(path) is not None
            case "rename" if self.now.find(other) is not None:
                self.now.names.pop(next(key for key in self.now.names if self._is(key, other)))
                super().carry_out(operation)
            case _:
                super().carry_out(operation)

    def _is(self, key: tuple[int, str], path: str) -> bool:
        directory, _, name = path.rpartition("/")
        return key == (self.now.find(directory or ".") or ROOT, name)


def succeeds(toy: Toy, operations: Sequence[Operation]) -> bool:
    for operation in operations:
        if not toy.is_possible(operation):
            return False
        toy.carry_out(operation)
    return True


def begun() -> Toy:
    toy = Free(0)
    toy.run(beginning("new", 1))
    return toy


def does_something(toy: Toy, act: Act) -> bool:
    """What another act of the set does is not done by a call that only comes to it."""
    verb, _, words = act.calls.partition(" ")
    path = words.split(" ")[0]
    if verb == "write" and not path.startswith("@"):
        return toy.now.find(path) is not None  # else it would only be another way to create
    return True


@pytest.mark.parametrize("length", [1, 2])
def test_plain_ones_are_all_that_can_be_done(length: int) -> None:
    """Against all combinations, carried out: those in which no call fails are the sequences."""
    expected = 0
    for acts in product(PLAIN, repeat=length):
        toy, writes, good = begun(), 1, True
        for act in acts:
            calls = operations_of(act.lines(False), 1, writes)
            good = good and does_something(toy, act) and succeeds(toy, calls)
            writes += writes_in(calls)
        expected += 2**length * good
    tree = Tree(PLAIN, length, 1)
    words = [node.words for node in tree.nodes() if node.depth == length]
    assert len(words) == len(set(words)) == expected > 10


@pytest.mark.parametrize("acts", SETS)
def test_all_calls_of_all_sequences_succeed(acts: str) -> None:
    tree = Tree(SETS[acts], 2, 1)
    for node in tree.nodes():
        toy = begun()
        own = tree.operations(node)[len(tree.start.operations) :]
        assert succeeds(toy, own), node.words


def test_how_many_there_are() -> None:
    assert [Tree(PLAIN, length, 1).count() for length in (1, 2, 3, 4)] == [22, 414, 6934, 112310]
    for acts in SETS.values():
        tree = Tree(acts, 2, 1)
        nodes = list(tree.nodes())
        assert len(nodes) == tree.count()
        assert [node.number for node in nodes] == list(range(len(nodes)))
        assert len({act.name for act in acts}) == len(acts)


def test_a_node_has_the_calls_of_those_above_it() -> None:
    tree = Tree(PLAIN, 3, 7)
    node = next(node for node in tree.nodes() if node.words == "append b; rename b a, synced")
    assert [call.line for call in tree.operations(node)][3:] == [
        f"append b 700 {(7 << 32) + 3}",
        "rename b a",
        "fsync a",
    ]
    assert node.line == "rename b a;fsync a" and node.depth == 2
    assert [each.words for each in node.path] == ["append b", "append b; rename b a, synced"]
    seeds = [call.seed for node in node.path for call in node.calls if call.seed]
    assert len(set(seeds)) == len(seeds)


def test_what_a_remount_promises_is_that_of_a_sync() -> None:
    """All before it is there, and its descriptors are closed."""
    lines = ("append b 700 #", "open @0 b", "write @0 0 50 #", "remount", "open @0 a")
    operations = (*beginning("new", 1).operations, *operations_of(lines, 1, 1))
    history = History(operations)
    calls = tuple(Call(0, number, number + 1) for number in range(len(operations)))
    judge = Judge(history, Record(calls, True), promise_of("ubifs"))
    empty = "dir . 2 1 0\n"
    before, after = len(operations) - 2, len(operations) - 1
    told = {problem.path for problem in judge.judge(after, empty)}
    assert "b" in told and "b" not in {problem.path for problem in judge.judge(before - 1, empty)}


def test_a_part_that_was_synced_says_nothing_of_the_size_behind_it() -> None:
    """LogFS: a write with O_SYNC brings its page; one before it, behind the end, comes later."""
    toy = ToyUbifs(0)
    lines = ("write a 4090 12 #", "writesync a 2000 300 #")
    operations = (*beginning("new", 1).operations, *operations_of(lines, 1, 1))
    record = toy.run(History(operations))
    whole = toy.observe(toy.pages)
    entry = next(line for line in whole.splitlines() if line.startswith("file a 4102"))
    sums = entry.split(" ")[-1]
    found = parse_sums(sums, 4102)
    assert len(found) == 9
    for filesystem, kinds in (("logfs", set()), ("ubifs", {"wrong-size"})):
        judge = Judge(History(operations), record, promise_of(filesystem))
        cut = ",".join(str(each) for each in found[:8])
        text = whole.replace(entry, entry.replace("4102", "4096").replace(sums, cut))
        problems = judge.judge(toy.pages, text.rpartition("statfs")[0] or text)
        assert {problem.kind for problem in problems if problem.path == "a"} == kinds
