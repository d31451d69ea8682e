"""Operations of a history: one line of text each, carried out in the guest by `ffscrash history`.

An operation opens and closes what it needs. A path is relative to the root of the file system and
has no spaces; the root itself is `.`. `write`, `writesync` (through a file opened with O_SYNC) and
`append` make the file if it is missing, and are one write(2). A verb's row below says which fields
its line has and what is to be known of it elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.errors import UsageError

ROOT = "."
_MOST_DIGITS = 20  # of 2^64 - 1
PATH, OTHER, OFFSET, SIZE, SEED = "path", "other", "offset_bytes", "size_bytes", "seed"


class FormatError(UsageError):
    """A text of the crash tools is not of its form."""


@dataclass(frozen=True, slots=True)
class Verb:
    """What a verb's line has after it, in order; whether it writes contents, or syncs."""

    name: str
    fields: tuple[str, ...]
    writes: bool = False
    syncs: bool = False


VERBS = {
    verb.name: verb
    for verb in (
        Verb("mkdir", (PATH,)),
        Verb("create", (PATH,)),
        Verb("write", (PATH, OFFSET, SIZE, SEED), writes=True),
        Verb("writesync", (PATH, OFFSET, SIZE, SEED), writes=True, syncs=True),
        Verb("append", (PATH, SIZE, SEED), writes=True),
        Verb("truncate", (PATH, SIZE)),
        Verb("fsync", (PATH,), syncs=True),
        Verb("fdatasync", (PATH,), syncs=True),
        Verb("sync", (), syncs=True),
        Verb("rename", (PATH, OTHER)),
        Verb("link", (PATH, OTHER)),
        Verb("symlink", (OTHER, PATH)),
        Verb("unlink", (PATH,)),
        Verb("rmdir", (PATH,)),
        Verb("mkfifo", (PATH,)),
    )
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One system call with what it needs. `other`: a new name, or what a symbolic link says.

    `size_bytes`: how much is written, or the new size of `truncate`. `seed`: of the contents.
    """

    verb: str
    path: str = ""
    other: str = ""
    offset_bytes: int = 0
    size_bytes: int = 0
    seed: int = 0

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
        if field in (PATH, OTHER):
            values[field] = _path(word, where, is_target=name == "symlink" and field == OTHER)
        else:
            values[field] = number(word, where, field)
    return Operation(verb=name, **values)  # type: ignore[arg-type]


def number(word: str, where: str, what: str) -> int:
    """A number ≥ 0 in decimal digits; FormatError for anything else."""
    if not (word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS):
        raise FormatError(f"{where}: {what} is no number: {word!r}")
    return int(word)


def _path(word: str, where: str, *, is_target: bool) -> str:
    parts = word.split("/")
    if word == ROOT or (is_target and word):
        return word
    if not word or any(part in ("", ".", "..") for part in parts):
        raise FormatError(
            f"{where}: no path: {word!r}",
            cause="a path is relative to the root, without empty parts, '.' and '..'",
        )
    return word
