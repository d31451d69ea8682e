"""The shape of a tree, and the digest that says whether two trees are the same.

The agent computes the same digest in the guest (step `tree-digest`). It does not depend on the
order of the names, and not on times, which a file system may change while a tree is copied.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ffslab.fsimage.entry import Entry, ObjectType
from ffslab.fsimage.source import read_source
from ffslab.images.tarball import file_bytes

_FNV_OFFSET = 0xCBF29CE484222325
_FNV_PRIME = 0x100000001B3
_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class TreeShape:
    """What a tree is made of.

    `directories` counts the top too; `files` are regular files, `links` symbolic links, `others`
    devices and pipes. Every name of a file counts, with its bytes. `depth` is the deepest level
    of a directory, the top being level 0. `largest_directory` is a number of names.
    """

    directories: int
    files: int
    links: int
    others: int
    bytes: int
    largest_file_bytes: int
    depth: int
    largest_directory: int


class ShapeMeter:
    """Measures the shape of entries that pass through."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(ObjectType, 0)
        self._bytes = 0
        self._largest_bytes = 0
        self._depth = 0
        self._names: dict[bytes, int] = {}

    def watch(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yields `entries` unchanged."""
        for entry in entries:
            self._add(entry)
            yield entry

    def _add(self, entry: Entry) -> None:
        self._counts[entry.object_type] += 1
        self._bytes += entry.size
        self._largest_bytes = max(self._largest_bytes, entry.size)
        if entry.path:
            self._names[entry.parent] = self._names.get(entry.parent, 0) + 1
            if entry.object_type is ObjectType.DIRECTORY:
                self._depth = max(self._depth, entry.path.count(b"/") + 1)

    def shape(self) -> TreeShape:
        """The shape of what has passed."""
        return TreeShape(
            directories=self._counts[ObjectType.DIRECTORY],
            files=self._counts[ObjectType.FILE],
            links=self._counts[ObjectType.SYMLINK],
            others=self._counts[ObjectType.SPECIAL],
            bytes=self._bytes,
            largest_file_bytes=self._largest_bytes,
            depth=self._depth,
            largest_directory=max(self._names.values(), default=0),
        )


def tree_digest(tar: Path) -> str:
    """The digest of the tree in a tar archive, 16 hexadecimal digits.

    For each entry below the top, 64-bit FNV-1a over path, NUL, permission bits in decimal (0 for
    a symbolic link), blank, type letter, blank, owner, blank, group, NUL, and then the contents,
    the link's target or a device's "major:minor"; the digest is the sum modulo 2^64.

    FNV takes byte after byte: about 0.1 s per megabyte. Raises UsageError for no tar archive.
    """
    total = sum(_entry_hash(entry) for entry in read_source(tar) if entry.path)
    return f"{total & _MASK:016x}"


def _entry_hash(entry: Entry) -> int:
    letter = _type_letter(entry)
    permissions = 0 if letter == "l" else stat.S_IMODE(entry.mode)
    facts = f"\0{permissions} {letter} {entry.uid} {entry.gid}\0".encode()
    value = fnv1a(entry.path + facts)
    if letter == "f":
        for piece in file_bytes(entry):
            value = fnv1a(piece, value)
    elif letter == "l":
        value = fnv1a(entry.target, value)
    elif letter in "cb":
        value = fnv1a(b"%d:%d" % entry.device, value)
    return value


def _type_letter(entry: Entry) -> str:
    if entry.object_type is ObjectType.SPECIAL:
        return {stat.S_IFCHR: "c", stat.S_IFBLK: "b", stat.S_IFIFO: "p"}[stat.S_IFMT(entry.mode)]
    return {ObjectType.DIRECTORY: "d", ObjectType.FILE: "f", ObjectType.SYMLINK: "l"}[
        entry.object_type
    ]


def fnv1a(data: bytes, value: int = _FNV_OFFSET) -> int:
    """64-bit FNV-1a over `data`, going on from `value`."""
    prime, mask = _FNV_PRIME, _MASK
    for byte in data:
        value = ((value ^ byte) * prime) & mask
    return value
