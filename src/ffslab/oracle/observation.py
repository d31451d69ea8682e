"""A tree as `ffscrash observe` found it: one line for each entry, sorted by the bytes of the path.

    dir PATH LINKS INODE ERRNO
    file PATH SIZE LINKS INODE ERRNO SUMS
    symlink PATH LINKS INODE ERRNO TARGET
    other PATH LINKS INODE ERRNO
    lost PATH ERRNO                 readdir gave a name that lstat refuses
    attributes PATH MODE MTIME XATTRS   of the entry before it, if they are not the usual ones
    statfs BLOCKS FREE FREE_INODES
    observed LINES                  the last line

The root is `.`. A path that is there twice is a fault of the file system, not of the text. A text
that ends before `observed` is an error here: who may see such a text asks `is_whole` first. ERRNO
is the first error of opening, listing or reading; a file that cannot be read has the sums `-`.
Bytes of names that are not printing ASCII are `%xx`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ffslab.oracle.contents import EMPTY, parse_sums
from ffslab.oracle.operations import FormatError, number

# Behind the path of an entry that a directory has once more: a name that nobody made.
TWICE = " (once more)"
DIRECTORY, FILE, SYMLINK, OTHER, LOST = "dir", "file", "symlink", "other", "lost"
ATTRIBUTES = "attributes"


@dataclass(frozen=True, slots=True)
class Entry:
    """What is found under a path. `sums` as text (`ffslab.oracle.contents`); `target` of a link.

    `attributes`: mode, mtime and extended attributes as text (`ffslab.oracle.attributes`).
    """

    kind: str
    links: int = 0
    inode: int = 0
    errno: int = 0
    size_bytes: int = 0
    sums: str = EMPTY
    target: str = ""
    attributes: str = ""


@dataclass(frozen=True, slots=True)
class Space:
    """What statfs said: blocks, free ones, free inodes."""

    blocks: int
    free: int
    free_inodes: int


@dataclass(frozen=True, slots=True)
class Observation:
    """Entries by path, in the order found."""

    entries: Mapping[str, Entry]
    space: Space | None


_Words = list[str]


def _numbers(words: _Words, names: str, where: str) -> list[int]:
    return [number(word, where, name) for word, name in zip(words, names.split(), strict=True)]


def _plain(kind: str) -> Callable[[_Words, str], Entry]:
    def entry(words: _Words, where: str) -> Entry:
        links, inode, errno = _numbers(words, "LINKS INODE ERRNO", where)
        return Entry(kind, links, inode, errno)

    return entry


def _file(words: _Words, where: str) -> Entry:
    size, links, inode, errno = _numbers(words[:4], "SIZE LINKS INODE ERRNO", where)
    if not (errno and words[4] == EMPTY):
        parse_sums(words[4], size, where)
    return Entry(FILE, links, inode, errno, size, words[4])


def _symlink(words: _Words, where: str) -> Entry:
    links, inode, errno = _numbers(words[:3], "LINKS INODE ERRNO", where)
    return Entry(SYMLINK, links, inode, errno, target=words[3])


def _lost(words: _Words, where: str) -> Entry:
    return Entry(LOST, errno=number(words[0], where, "ERRNO"))


# By the first word: how many words follow the path, and what they mean.
_ENTRIES: Mapping[str, tuple[int, Callable[[_Words, str], Entry]]] = {
    DIRECTORY: (3, _plain(DIRECTORY)),
    FILE: (5, _file),
    SYMLINK: (4, _symlink),
    OTHER: (3, _plain(OTHER)),
    LOST: (1, _lost),
}


def is_whole(text: str) -> bool:
    """Whether a text has its last line."""
    last = text.rstrip("\n").rpartition("\n")[2]
    return text.endswith("\n") and last.startswith("observed ")


def parse_entries(text: str) -> dict[str, Entry]:
    """The entries of a text without its two last lines, as a walk has it; FormatError if none.

    Who reads such a text knows from elsewhere that it is whole.
    """
    entries: dict[str, Entry] = {}
    for at, line in enumerate(text.splitlines(), 1):
        _add(entries, line, f"observation, line {at}")
    return entries


def parse_observation(text: str) -> Observation:
    """The observation of a text; FormatError with the line's number if it is none."""
    entries: dict[str, Entry] = {}
    space: Space | None = None
    lines = text.splitlines()
    for at, line in enumerate(lines, 1):
        where = f"observation, line {at}"
        kind, *rest = line.split(" ")
        if kind == "observed" and len(rest) == 1:
            if number(rest[0], where, "LINES") != at - 1 or at != len(lines):
                raise FormatError(f"{where}: {line!r} as line {at} of {len(lines)}")
            return Observation(entries, space)
        if kind == "statfs":
            space = parse_space(rest, where)
        else:
            _add(entries, line, where)
    raise FormatError(
        f"observation: no 'observed' behind line {len(lines)}", cause="the text was cut off"
    )


def parse_space(words: list[str], where: str) -> Space:
    """What follows `statfs`, or a digest in a walk."""
    if len(words) != 3:
        raise FormatError(f"{where}: no statfs: {' '.join(words)!r}")
    return Space(*_numbers(words, "BLOCKS FREE FREE_INODES", where))


def _path_of(entries: dict[str, Entry]) -> str:
    """The path of the last entry, which may be there several times."""
    last = next(reversed(entries), "")
    while last.endswith(TWICE):
        last = last.removesuffix(TWICE)
    return last


def _add(entries: dict[str, Entry], line: str, where: str) -> None:
    kind, *rest = line.split(" ")
    if kind == ATTRIBUTES and len(rest) == 4 and rest[0] == _path_of(entries):
        last = next(reversed(entries))
        entries[last] = replace(entries[last], attributes=" ".join(rest[1:]))
        return
    if kind not in _ENTRIES or len(rest) != 1 + _ENTRIES[kind][0]:
        raise FormatError(
            f"{where}: no entry: {line!r}",
            cause="the guest died while it observed, or this is another file",
        )
    path = rest[0]
    while path in entries:
        path += TWICE
    entries[path] = _ENTRIES[kind][1](rest[1:], where)
