"""What short sequences are made of: acts, one row each, and the flash that they begin on.

The idea is that of CrashMonkey's ACE (Mohan et al., OSDI 2018): mistakes of crash consistency
mostly need few operations on few, related names. A sequence begins with a file `a` that has synced
contents and an empty directory `e`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ffslab.oracle.generators.pen import Pen, contents_seed
from ffslab.oracle.history import History
from ffslab.oracle.operations import VERBS, Operation, parse_operation

START = frozenset({"a", "e"})
_A_BYTES = 3000
_SEED = "#"  # in the calls of an act: a new one


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that can be done.

    `calls` are lines of a history, with `#` for the seed of contents. `sync`: the calls that may
    follow to make it durable; "": none. `needs`, `lacks`: what must, or must not, be there: names,
    descriptors, and facts such as `a=b`, one file with both names; `makes`, `takes`: what is there
    and what is not afterwards.
    """

    name: str
    calls: str
    sync: str
    needs: str = ""
    lacks: str = ""
    makes: str = ""
    takes: str = ""

    def follows(self, there: frozenset[str]) -> frozenset[str] | None:
        """What is there after it; None if a call would fail or do nothing."""
        if not there.issuperset(self.needs.split()) or there & set(self.lacks.split()):
            return None
        return there.difference(self.takes.split()).union(self.makes.split())

    def lines(self, is_synced: bool) -> tuple[str, ...]:
        """Its calls, with those that sync it or without."""
        return tuple(f"{self.calls};{self.sync}".split(";") if is_synced else self.calls.split(";"))


# `e/a` is a name in the directory `e`, which can go only when it is empty.
PLAIN = (
    Act("append a", "append a 700 #", "fsync a", makes="a"),
    Act("append b", "append b 700 #", "fsync b", makes="b"),
    Act("write a", "write a 1000 1500 #", "fsync a", needs="a"),
    Act("truncate a", "truncate a 1300", "fsync a", needs="a"),
    Act("create b", "create b", "fsync b", lacks="b", makes="b"),
    Act("symlink c", "symlink a c", "fsync .", lacks="c", makes="c"),
    Act("link a b", "link a b", "fsync b", needs="a", lacks="b", makes="b a=b"),
    Act("rename a b", "rename a b", "fsync b", needs="a", lacks="a=b", makes="b", takes="a"),
    Act("rename b a", "rename b a", "fsync a", needs="b", lacks="a=b", makes="a", takes="b"),
    Act("rename a e/a", "rename a e/a", "fsync e", needs="a e", makes="e/a", takes="a a=b"),
    Act("unlink a", "unlink a", "fsync .", needs="a", takes="a a=b"),
    Act("unlink b", "unlink b", "fsync .", needs="b", takes="b a=b"),
    Act("rmdir e", "rmdir e", "fsync .", needs="e", lacks="e/a", takes="e"),
)
SETS: Mapping[str, tuple[Act, ...]] = {"plain": PLAIN}


def beginning(seed: int) -> History:
    """What is done before all sequences, on a new file system."""
    pen = Pen(seed)
    pen.write("a", 0, _A_BYTES)
    pen.call("mkdir", "e")
    pen.call("sync")
    return pen.history()


def operations_of(lines: tuple[str, ...], seed: int, writes: int) -> tuple[Operation, ...]:
    """The calls of an act behind so many writes of a history."""
    operations = []
    for line in lines:
        text = line.replace(_SEED, str(contents_seed(seed, writes)))
        operations.append(parse_operation(text, f"act {line!r}"))
        writes += VERBS[operations[-1].verb].writes
    return tuple(operations)


def writes_in(operations: Iterable[Operation]) -> int:
    """How many of the calls write contents, each with a seed of its own."""
    return sum(VERBS[operation.verb].writes for operation in operations)
