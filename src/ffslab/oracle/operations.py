"""Operations of a history: one line of text each, carried out in the guest by `ffscrash history`.

An operation on a path opens and closes what it needs. A path is relative to the root of the file
system, has no spaces and does not begin with `@`; the root itself is `.`. `@0` … `@15` are
descriptors that stay open: `open`, `opensync` (O_SYNC), `opendsync` (O_DSYNC) and `dup` fill one,
`close` empties it, and what takes a file takes one in place of a path. `mapwrite` stores through a
shared mapping, `syncrange` is sync_file_range(2), `sync` is syncfs(2), `remount` closes every
descriptor, unmounts and mounts. `fill` writes a file until no more than so many bytes are free;
`turnover` writes one again and again until each erase block was collected, and deletes it.
`write`, `writesync` (through a file opened with O_SYNC) and `append` make the file if it is
missing, and are one write(2). `exchange`, `renamenew` and `whiteout` are renameat2(2) with a flag.
`tmpfile` fills a descriptor with a file without a name (O_TMPFILE) in a directory, and `linkfd`
gives it one. `chmod` takes octal digits, `setmtime` seconds, `setxattr` the attribute's name, its
size and a seed. A verb's row below says which fields its line has and what is to be
known of it elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.errors import UsageError

ROOT = "."
_MOST_DIGITS = 20  # of 2^64 - 1
PATH, OTHER, OFFSET, SIZE, SEED = "path", "other", "offset_bytes", "size_bytes", "seed"
FILLED, ATTRIBUTE, MODE = "filled", "attribute", "mode"
DESCRIPTORS = tuple(f"@{number}" for number in range(16))
FULL, DATA = "full", "data"  # what a sync brings to flash: as fsync(2) does, or as fdatasync(2)


class FormatError(UsageError):
    """A text of the crash tools is not of its form."""


@dataclass(frozen=True, slots=True)
class Verb:
    """What a verb's line has after it, in order; whether it writes contents, and how it syncs.

    `changes`: what is to be seen of the tree. `guesses`: what it writes goes by the free space, so
    nobody knows what a file has then. `syncs_all`: it ends with a sync of all. `takes_path`,
    `takes_descriptor`: what `path` may be. `writes_sync`: how each write syncs through the
    descriptor that it fills.
    """

    name: str
    fields: tuple[str, ...]
    writes: bool = False
    syncs: str = ""
    changes: bool = True
    takes_path: bool = True
    takes_descriptor: bool = False
    writes_sync: str = ""
    guesses: bool = False
    syncs_all: bool = False

    @property
    def has_seed(self) -> bool:
        """Whether what it writes is told by a seed."""
        return SEED in self.fields


def _of_file(name: str, *fields: str, writes: bool = False, syncs: str = "") -> Verb:
    return Verb(name, fields, writes, syncs, changes=not syncs, takes_descriptor=True)


def _opened(name: str, *fields: str, writes: bool = False, syncs: str = "") -> Verb:
    return Verb(name, fields, writes, syncs, writes, takes_path=False, takes_descriptor=True)


VERBS = {
    verb.name: verb
    for verb in (
        Verb("mkdir", (PATH,)),
        Verb("create", (PATH,)),
        _of_file("write", PATH, OFFSET, SIZE, SEED, writes=True),
        Verb("writesync", (PATH, OFFSET, SIZE, SEED), writes=True, syncs=FULL),
        _of_file("append", PATH, SIZE, SEED, writes=True),
        _of_file("truncate", PATH, SIZE),
        _of_file("fsync", PATH, syncs=FULL),
        _of_file("fdatasync", PATH, syncs=DATA),
        _opened("mapwrite", PATH, OFFSET, SIZE, SEED, writes=True),
        _opened("msync", PATH, syncs=DATA),
        _opened("syncrange", PATH, OFFSET, SIZE),
        Verb("sync", (), syncs=FULL, changes=False, syncs_all=True),
        Verb("remount", (), syncs=FULL, changes=False, syncs_all=True),
        Verb("fill", (PATH, SIZE), guesses=True, syncs_all=True),
        Verb("turnover", (PATH,), guesses=True, syncs_all=True),
        Verb("open", (FILLED, PATH), changes=False),
        Verb("opensync", (FILLED, PATH), changes=False, writes_sync=FULL),
        Verb("opendsync", (FILLED, PATH), changes=False, writes_sync=DATA),
        _opened("dup", PATH, FILLED),
        _opened("close", PATH),
        Verb("rename", (PATH, OTHER)),
        Verb("link", (PATH, OTHER)),
        Verb("symlink", (OTHER, PATH)),
        Verb("unlink", (PATH,)),
        Verb("rmdir", (PATH,)),
        Verb("mkfifo", (PATH,)),
        Verb("exchange", (PATH, OTHER)),
        Verb("renamenew", (PATH, OTHER)),
        Verb("whiteout", (PATH, OTHER)),
        Verb("tmpfile", (FILLED, PATH), changes=False),
        Verb("linkfd", (PATH, OTHER), takes_path=False, takes_descriptor=True),
        Verb("chmod", (PATH, MODE)),
        Verb("setmtime", (PATH, SIZE)),
        Verb("setxattr", (PATH, ATTRIBUTE, SIZE, SEED)),
        Verb("removexattr", (PATH, ATTRIBUTE)),
    )
}

OF_ATTRIBUTES = frozenset({"chmod", "setmtime", "setxattr", "removexattr"})
# Attributes are looked at only where one of these is among the calls; a whiteout has mode 0.
SHOWS_ATTRIBUTES = OF_ATTRIBUTES | {"whiteout"}
RENAMES = frozenset({"rename", "renamenew", "whiteout"})


@dataclass(frozen=True, slots=True)
class Operation:
    """One system call with what it needs. `other`: a new name, or what a symbolic link says.

    `path` may be a descriptor; `filled` is one that is to be open then. `size_bytes`: how much is
    written, the new size of `truncate`, or the seconds of `setmtime`. `seed`: of the contents.
    `attribute`: the name of an extended one. `mode`: octal digits.
    """

    verb: str
    path: str = ""
    other: str = ""
    offset_bytes: int = 0
    size_bytes: int = 0
    seed: int = 0
    filled: str = ""
    attribute: str = ""
    mode: str = ""

    @property
    def has_descriptor(self) -> bool:
        """Whether it is about a descriptor, not about a path."""
        return self.path in DESCRIPTORS

    @property
    def line(self) -> str:
        """As it stands in a history file, without the line feed."""
        fields = (str(getattr(self, name)) for name in VERBS[self.verb].fields)
        return " ".join((self.verb, *fields))


def parse_operation(line: str, where: str) -> Operation:
    """The operation of a line; FormatError, which says `where`, for any other line."""
    name, *words = line.split(" ")
    verb = VERBS.get(name)
    if verb is None or len(words) != len(verb.fields):
        known = verb.fields if verb else sorted(VERBS)
        raise FormatError(
            f"{where}: no operation: {line!r}",
            cause=f"{name!r} takes {len(known)} fields" if verb else f"{name!r} is no verb",
            remedy=f"{'fields' if verb else 'verbs'}: {', '.join(known)}",
        )
    values: dict[str, str | int] = {}
    for field, word in zip(verb.fields, words, strict=True):
        if field == FILLED or (field == PATH and not verb.takes_path):
            values[field] = _descriptor(word, where)
        elif field == PATH and verb.takes_descriptor and word in DESCRIPTORS:
            values[field] = word
        elif field == MODE:
            values[field] = _mode(word, where)
        elif field == ATTRIBUTE:
            values[field] = word
        elif field in (PATH, OTHER):
            values[field] = _path(word, where, is_target=name == "symlink" and field == OTHER)
        else:
            values[field] = number(word, where, field)
    return Operation(verb=name, **values)  # type: ignore[arg-type]


def number(word: str, where: str, what: str) -> int:
    """A number ≥ 0 in decimal digits; FormatError for anything else."""
    if not (word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS):
        raise FormatError(f"{where}: {what} is no number: {word!r}")
    return int(word)


def _mode(word: str, where: str) -> str:
    if len(word) in (3, 4) and all(digit in "01234567" for digit in word):
        return word
    raise FormatError(f"{where}: no mode: {word!r}", remedy="three or four octal digits: 640")


def _descriptor(word: str, where: str) -> str:
    if word in DESCRIPTORS:
        return word
    raise FormatError(f"{where}: no descriptor: {word!r}", remedy="descriptors: @0 to @15")


def _path(word: str, where: str, *, is_target: bool) -> str:
    parts = word.split("/")
    if word == ROOT or (is_target and word):
        return word
    if not word or word.startswith("@") or any(part in ("", ".", "..") for part in parts):
        raise FormatError(
            f"{where}: no path: {word!r}",
            cause="a path is relative to the root, without empty parts, '.' and '..', and does not "
            "begin with '@'",
        )
    return word
