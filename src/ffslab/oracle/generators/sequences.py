"""Short systematic sequences: all ways to do a few things to a few names, with or without fsync.

The idea is that of CrashMonkey's ACE (Mohan et al., OSDI 2018): mistakes of crash consistency
mostly need few operations on few, related names. Here each sequence has a directory of its own
that holds a file `a` with synced contents and a directory `e`; a sequence is one to `length` acts,
each followed by an fsync of what it was about or by nothing. Sequences in which a call must fail,
such as deleting what is not there, or does nothing, are left out. They are in lexicographic order
and have numbers, so that a slice of them is a history: as many as fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ffslab.oracle.generators.pen import Pen
from ffslab.oracle.history import History

_A_BYTES = 3000


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that can be done. `verb`, then the names; `about`: what an fsync after it is of.

    `needs`, `lacks`: names that must, or must not, be there; `makes`, `takes`: those after it.
    """

    verb: str
    path: str
    other: str = ""
    about: str = ""
    needs: str = ""
    lacks: str = ""
    makes: str = ""
    takes: str = ""

    def follows(self, there: frozenset[str]) -> frozenset[str] | None:
        """The names after it; None if it would fail."""
        if not there.issuperset(self.needs.split()) or there & set(self.lacks.split()):
            return None
        return there.difference(self.takes.split()).union(self.makes.split())


# `e/a` is a name in the directory `e`, which can go only when it is empty; `a=b`: one file has both
# names, and rename(2) does nothing.
ACTS = (
    Act("append", "a", about="a", makes="a"),
    Act("append", "b", about="b", makes="b"),
    Act("write", "a", about="a", needs="a"),
    Act("truncate", "a", about="a", needs="a"),
    Act("create", "b", about="b", lacks="b", makes="b"),
    Act("symlink", "c", other="a", about=".", lacks="c", makes="c"),
    Act("link", "a", other="b", about="b", needs="a", lacks="b", makes="b a=b"),
    Act("rename", "a", other="b", about="b", needs="a", lacks="a=b", makes="b", takes="a"),
    Act("rename", "b", other="a", about="a", needs="b", lacks="a=b", makes="a", takes="b"),
    Act("rename", "a", other="e/a", about="e", needs="a e", makes="e/a", takes="a a=b"),
    Act("unlink", "a", about=".", needs="a", takes="a a=b"),
    Act("unlink", "b", about=".", needs="b", takes="b a=b"),
    Act("rmdir", "e", about=".", needs="e", lacks="e/a", takes="e"),
)
_START = frozenset({"a", "e"})
Sequence = tuple[tuple[Act, bool], ...]


def sequences(length: int) -> Iterator[Sequence]:
    """All sequences of 1 to `length` acts, the short ones first; True: an fsync follows."""
    for exactly in range(1, length + 1):
        yield from _extended((), _START, exactly)


def _extended(done: Sequence, there: frozenset[str], left: int) -> Iterator[Sequence]:
    if not left:
        yield done
        return
    for act in ACTS:
        after = act.follows(there)
        if after is None:
            continue
        for synced in (False, True):
            yield from _extended((*done, (act, synced)), after, left - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequences:
    """The sequences `first` … `first + count` − 1, each in its directory, one after the other."""

    length: int = 2
    first: int = 0
    count: int = 100

    def history(self, seed: int) -> History:
        pen = Pen(seed)
        chosen = list(islice(sequences(self.length), self.first, self.first + self.count))
        names = [f"s{number}" for number in range(self.first, self.first + len(chosen))]
        for name in names:
            pen.call("mkdir", name)
            pen.write(f"{name}/a", 0, _A_BYTES)
            pen.call("mkdir", f"{name}/e")
        pen.call("sync")
        for name, sequence in zip(names, chosen, strict=True):
            for act, synced in sequence:
                _do(pen, name, act)
                if synced:
                    pen.call("fsync", name if act.about == "." else f"{name}/{act.about}")
        return pen.history()


def _do(pen: Pen, name: str, act: Act) -> None:
    path = f"{name}/{act.path}"
    if act.verb == "append":
        pen.append(path, 700)
    elif act.verb == "write":
        pen.write(path, 1000, 1500)
    elif act.verb == "truncate":
        pen.truncate(path, 1300)
    elif act.verb == "symlink":
        pen.call("symlink", path, act.other)
    else:
        pen.call(act.verb, path, f"{name}/{act.other}" if act.other else "")
