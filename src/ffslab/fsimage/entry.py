"""One name of a source tree: what an image, or a canonical archive, is made from."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum


class ObjectType(IntEnum):
    """What an object is. The numbers are those that YAFFS2 stores."""

    UNKNOWN = 0
    FILE = 1
    SYMLINK = 2
    DIRECTORY = 3
    HARD_LINK = 4
    SPECIAL = 5


TYPE_NAMES = {
    ObjectType.UNKNOWN: "unknown",
    ObjectType.FILE: "file",
    ObjectType.SYMLINK: "symlink",
    ObjectType.DIRECTORY: "directory",
    ObjectType.HARD_LINK: "hardlink",
    ObjectType.SPECIAL: "special",
}


TYPES = {
    stat.S_IFREG: ObjectType.FILE,
    stat.S_IFDIR: ObjectType.DIRECTORY,
    stat.S_IFLNK: ObjectType.SYMLINK,
    stat.S_IFCHR: ObjectType.SPECIAL,
    stat.S_IFBLK: ObjectType.SPECIAL,
    stat.S_IFIFO: ObjectType.SPECIAL,
    stat.S_IFSOCK: ObjectType.SPECIAL,
}

_SHOWN_LETTERS = 100  # of a path in a message

Pieces = Callable[[], Iterator[tuple[int, bytes]]]


@dataclass(frozen=True, slots=True)
class Entry:
    """One name. `path` is relative, in bytes; empty for the root directory.

    `key` is the same for all names of one object. `pieces` yields offset and bytes of what a
    file holds, ascending; what lies between is holes. `device` is (major, minor).
    """

    path: bytes
    object_type: ObjectType
    mode: int
    uid: int
    gid: int
    mtime: int
    key: object
    size: int = 0
    target: bytes = b""
    device: tuple[int, int] = (0, 0)
    xattrs: tuple[tuple[bytes, bytes], ...] = ()
    pieces: Pieces = lambda: iter(())

    @property
    def name(self) -> bytes:
        return self.path.rpartition(b"/")[2]

    @property
    def parent(self) -> bytes:
        return self.path.rpartition(b"/")[0]

    def blocks(self, block_bytes: int) -> Iterator[tuple[int, bytes]]:
        """A file's blocks by their number with all their bytes, zeros behind the end; those inside
        of holes are left out.
        """
        current, buffer = -1, bytearray(block_bytes)
        for offset, piece in self.pieces():
            position = 0
            while position < len(piece):
                number, inside = divmod(offset + position, block_bytes)
                if number != current:
                    if current >= 0:
                        yield current, bytes(buffer)
                    current, buffer = number, bytearray(block_bytes)
                part = piece[position : position + block_bytes - inside]
                buffer[inside : inside + len(part)] = part
                position += len(part)
        if current >= 0:
            yield current, bytes(buffer)

    def shown(self) -> str:
        return os.fsdecode(b"/" + self.path)

    def shown_shortened(self) -> str:
        """For messages about what is too long."""
        shown = self.shown()
        return shown if len(shown) <= _SHOWN_LETTERS else f"{shown[:_SHOWN_LETTERS]}…"
