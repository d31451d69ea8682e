"""What short sequences are made of: acts, one row each, and the flash that they begin on.

The idea is that of CrashMonkey's ACE (Mohan et al., OSDI 2018): mistakes of crash consistency
mostly need few operations on few, related names. A sequence begins with a file `a` that has synced
contents and an empty directory `e`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ffslab.oracle.generators.pen import Pen, contents_seed
from ffslab.oracle.history import History
from ffslab.oracle.operations import VERBS, Operation, parse_operation

START = frozenset({"a", "e"})
_A_BYTES = 3000
_SEED = "#"  # in the calls of an act: a new one
TURN_OVER = "turn over"  # leaves no good block where one page in twenty fails


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that can be done.

    `calls` are lines of a history, with `#` for the seed of contents. `sync`: the calls that may
    follow to make it durable; "": none. `needs`, `lacks`: what must, or must not, be there: names,
    descriptors, and facts such as `a=b`, one file with both names; `makes`, `takes`: what is there
    and what is not afterwards. `is_long`: it writes all of the flash; power is cut behind it only.
    `feature`: what not each file system has (`Promise.refuses`).
    """

    name: str
    calls: str
    sync: str
    needs: str = ""
    lacks: str = ""
    makes: str = ""
    takes: str = ""
    is_long: bool = False
    feature: str = ""

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
    Act("rename a b", "rename a b", "fsync b", needs="a", lacks="a=b", makes="b", takes="a a.x"),
    Act("rename b a", "rename b a", "fsync a", needs="b", lacks="a=b", makes="a", takes="b a.x"),
    Act("rename a e/a", "rename a e/a", "fsync e", needs="a e", makes="e/a", takes="a a=b a.x"),
    Act("unlink a", "unlink a", "fsync .", needs="a", takes="a a=b a.x"),
    Act("unlink b", "unlink b", "fsync .", needs="b", takes="b a=b"),
    Act("rmdir e", "rmdir e", "fsync .", needs="e", lacks="e/a", takes="e"),
)
_IN_E = "e/a e/b e/w"
FURTHER = (
    # Where in a file, and how much.
    Act("write a across pages", "write a 4090 12 #", "fsync a", needs="a"),
    Act("write a by O_SYNC", "writesync a 2000 300 #", "", needs="a"),
    Act("truncate a up", "truncate a 9000", "fsync a", needs="a"),
    Act("truncate a to nothing", "truncate a 0", "fdatasync a", needs="a"),
    # Through descriptors that stay open, whatever becomes of the name.
    Act("open a", "open @0 a", "", needs="a", lacks="@0", makes="@0"),
    Act("write @0", "write @0 200 600 #", "fsync @0", needs="@0"),
    Act("append @0", "append @0 500 #", "fdatasync @0", needs="@0"),
    Act("truncate @0", "truncate @0 100", "fsync @0", needs="@0"),
    Act("store @0", "mapwrite @0 0 90 #", "msync @0", "@0", "@0=new", feature="mapping"),
    Act(
        "store @0 and fsync", "mapwrite @0 600 90 #;fsync @0", "", "@0", "@0=new", feature="mapping"
    ),
    Act("sync a range of @0", "write @0 900 80 #;syncrange @0 0 4096", "", needs="@0"),
    Act("dup @0", "dup @0 @1;close @0", "", needs="@0", lacks="@1", makes="@1", takes="@0 @0=new"),
    Act("write @1", "write @1 50 60 #", "fsync @1", needs="@1"),
    Act("close @0", "close @0", "", needs="@0", takes="@0 @0=new"),
    Act(
        *("open @0 without a name", "tmpfile @0 .", ""),
        lacks="@0",
        makes="@0 @0=new",
        feature="tmpfile",
    ),
    Act(
        *("link @0 b", "linkfd @0 b", "fsync b"),
        needs="@0 @0=new",
        lacks="b",
        makes="b",
        takes="@0=new",
    ),
    Act("open b by O_DSYNC", "opendsync @2 b", "", needs="b", lacks="@2", makes="@2"),
    Act("write @2", "write @2 0 700 #", "", needs="@2"),
    # Names of other kinds, and in the directory.
    Act("mkfifo p", "mkfifo p", "fsync .", lacks="p", makes="p"),
    Act("unlink p", "unlink p", "fsync .", needs="p", takes="p"),
    Act("unlink c", "unlink c", "fsync .", needs="c", takes="c"),
    Act("create e/b", "create e/b", "fsync e", needs="e", lacks="e/b", makes="e/b"),
    Act("unlink e/a", "unlink e/a", "fsync e", needs="e/a", takes="e/a"),
    Act("unlink e/b", "unlink e/b", "fsync e", needs="e/b", takes="e/b"),
    Act("rename b e/b", "rename b e/b", "fsync e", needs="b e", makes="e/b", takes="b a=b"),
    # Renamed with a flag.
    Act("exchange a b", "exchange a b", "fsync .", "a b", "a=b", takes="a.x", feature="exchange"),
    Act(
        *("rename a b if b is free", "renamenew a b", "fsync b"),
        needs="a",
        lacks="b",
        makes="b",
        takes="a a=b a.x",
    ),
    Act(
        *("rename e/b e/w with a whiteout", "whiteout e/b e/w", "fsync e"),
        needs="e e/b",
        lacks="e/w",
        makes="e/w",
        feature="whiteout",
    ),
    Act("unlink e/w", "unlink e/w", "fsync e", needs="e/w", takes="e/w"),
    # Attributes.
    Act("chmod a", "chmod a 600", "fsync a", needs="a"),
    Act("chmod e", "chmod e 700", "fsync e", needs="e"),
    Act("utimes a", "setmtime a 1000000000", "fsync a", needs="a"),
    Act(
        *("set an xattr of a", "setxattr a user.x 40 #", "fsync a"),
        needs="a",
        makes="a.x",
        feature="xattr",
    ),
    Act(
        *("remove an xattr of a", "removexattr a user.x", "fsync a"),
        needs="a a.x",
        takes="a.x",
        feature="xattr",
    ),
    # Directories: renamed, with something in them, onto an empty one, into another, out again.
    Act("mkdir d", "mkdir d", "fsync .", lacks="d", makes="d"),
    Act("rmdir d", "rmdir d", "fsync .", needs="d", lacks="d/b d/e", takes="d"),
    Act("rename e d", "rename e d", "fsync .", needs="e", lacks=f"d {_IN_E}", makes="d", takes="e"),
    Act(
        "rename e with b d",
        *("rename e d", "fsync ."),
        needs="e e/b",
        lacks="d e/a e/w",
        makes="d d/b",
        takes="e e/b",
    ),
    Act(
        "rename d onto e",
        *("rename d e", "fsync ."),
        needs="d e",
        lacks=f"{_IN_E} d/b d/e",
        takes="d",
    ),
    Act(
        "rename d with b onto e",
        *("rename d e", "fsync ."),
        needs="d d/b e",
        lacks=f"{_IN_E} d/e",
        makes="e/b",
        takes="d d/b",
    ),
    Act(
        "rename e d/e",
        *("rename e d/e", "fsync d"),
        needs="d e",
        lacks=f"{_IN_E} d/e",
        makes="d/e",
        takes="e",
    ),
    Act("rename d/e e", "rename d/e e", "fsync .", needs="d/e", lacks="e", makes="e", takes="d/e"),
    Act("fsync e", "fsync e", "", needs="e"),
    # All of it.
    Act("sync", "sync", ""),
    Act("remount", "remount", "", takes="@0 @0=new @1 @2"),
    Act(TURN_OVER, "turnover t", "", is_long=True),
)


def _all() -> Iterator[Act]:
    for act in (*PLAIN, *FURTHER):
        # What the plain ones do not make may be in the directory, or in the way.
        lacks = f"{act.lacks} {_IN_E}" if act.name == "rmdir e" else act.lacks
        yield replace(act, lacks=lacks)


# What happens to a file beside those who have it open. With the acts on descriptors it is a set so
# small that all sequences of three take seconds.
_BESIDE_OPEN = (
    "append b",
    "truncate a",
    "link a b",
    "rename a b",
    "rename b a",
    "unlink a",
    "sync",
)
# What becomes of files without a name, and of their attributes: four acts lead there.
_ORPHANS = (
    "open a",
    "write @0",
    "open @0 without a name",
    "link @0 b",
    "unlink a",
    "unlink b",
    "set an xattr of a",
    "sync",
    "remount",
)
# A rename that leaves a whiteout, in a directory with other changes, and beside files that grow.
_WHITEOUTS = (
    "append a",
    "append b",
    "create e/b",
    "unlink e/w",
    "rename e/b e/w with a whiteout",
    "chmod e",
    "sync",
)


def _named(*names: str) -> tuple[Act, ...]:
    return tuple(act for act in _all() if act.name in names)


SETS: Mapping[str, tuple[Act, ...]] = {
    "plain": PLAIN,
    "open": tuple(act for act in _all() if "@" in act.calls or act.name in _BESIDE_OPEN),
    "orphans": _named(*_ORPHANS),
    "whiteouts": _named(*_WHITEOUTS),
    "all": tuple(_all()),
}


def acts_for(
    name: str, begins: str, refuses: Collection[str]
) -> tuple[tuple[Act, ...], tuple[str, ...]]:
    """Those of a set that can be done, and the names of those that the file system refuses."""
    acts = [act for act in SETS[name] if act.name not in BEGINNINGS[begins].without]
    own = tuple(act for act in acts if act.feature not in refuses)
    return own, tuple(act.name for act in acts if act.feature in refuses)


@dataclass(frozen=True, slots=True)
class Beginning:
    """The flash that sequences begin on: what is `there`, and the `calls` behind the usual ones.

    `cut`: calls behind these in the midst of which power was cut, once, and the file system mounted
    again. `chip`: keys of a chip that is not as good as the board's. `without`: acts that make no
    sense there.
    """

    name: str
    there: frozenset[str]
    calls: str = ""
    cut: str = ""
    chip: Mapping[str, int] = field(default_factory=dict)
    without: frozenset[str] = frozenset()


_KEPT_BYTES = 8 * 1024  # what `full` leaves: one act has room, the next one has not
BEGINNINGS: Mapping[str, Beginning] = {
    each.name: each
    for each in (
        Beginning("new", START),
        # Each act finds blocks that are to be collected, between others that are not.
        Beginning("aged", START, f"fill k {256 * 1024};turnover t;unlink k;sync"),
        Beginning("full", START, f"fill f {_KEPT_BYTES};sync"),
        Beginning("names", START | {"d", "e/b"}, "mkdir d;append e/b 700 #;sync"),
        # No act touches `k`, of which nobody knows how much is there.
        Beginning("recovered", START, "create k;sync", cut=f"write k 0 {256 * 1024} #"),
        # One page in twenty fails to be programmed, and its block from then on. Which ones goes by
        # the seed: sequences write the same pages, so a seed is a chip with its n-th program bad.
        Beginning(
            "bad-blocks", START, chip={"program_fail_ppm": 50_000}, without=frozenset({TURN_OVER})
        ),
    )
}


def beginning(name: str, seed: int) -> History:
    """What is done before all sequences, on a new file system."""
    pen = Pen(seed)
    pen.write("a", 0, _A_BYTES)
    pen.call("mkdir", "e")
    pen.call("sync")
    usual = pen.history().operations
    return History((*usual, *_operations(BEGINNINGS[name].calls, seed, 1)))


def interrupted(name: str, seed: int) -> tuple[Operation, ...]:
    """The calls in which power was cut before all sequences: they failed half way."""
    writes = writes_in(beginning(name, seed).operations)
    return _operations(BEGINNINGS[name].cut, seed, writes)


def _operations(calls: str, seed: int, writes: int) -> tuple[Operation, ...]:
    return operations_of(tuple(calls.split(";")) if calls else (), seed, writes)


def operations_of(lines: tuple[str, ...], seed: int, writes: int) -> tuple[Operation, ...]:
    """The calls of an act behind so many writes of a history."""
    operations = []
    for line in lines:
        text = line.replace(_SEED, str(contents_seed(seed, writes)))
        operations.append(parse_operation(text, f"act {line!r}"))
        writes += VERBS[operations[-1].verb].has_seed
    return tuple(operations)


def writes_in(operations: Iterable[Operation]) -> int:
    """How many of the calls write contents, each with a seed of its own."""
    return sum(VERBS[operation.verb].has_seed for operation in operations)
