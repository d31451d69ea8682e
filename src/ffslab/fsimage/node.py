"""One name of the tree that an image holds, whatever the format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ffslab.fsimage.entry import Pieces

_CONTENT_LIMIT = 1 << 30


def text(raw: bytes) -> str:
    """Bytes of a name as text that can be turned back."""
    return raw.decode("utf-8", "surrogateescape")


def nothing() -> Iterator[tuple[int, bytes]]:
    """The pieces of what holds no bytes."""
    return iter(())


def by_path(nodes: Iterable[Node]) -> dict[str, Node]:
    """Nodes by their paths; of two with the same one the first."""
    first: dict[str, Node] = {}
    for node in nodes:
        first.setdefault(node.path, node)
    return first


@dataclass(frozen=True, slots=True)
class Node:
    """One name of the tree. A hard link has everything of its target, and `link_of`.

    `path` begins with "/" and is bytes turned into text with `surrogateescape`. `object_id` is
    the format's number of the object. `type` is file, directory, symlink or special (also of a
    hard link: that of its target). Times are seconds since 1970. `target` is a symbolic link's,
    `rdev` a device's number as the kernel encodes it (`device` decodes it). `content` reads a
    file's bytes; it raises ValueError for more than 1 GiB.
    """

    path: str
    object_id: int
    type: str
    mode: int
    uid: int
    gid: int
    size: int
    atime: int
    mtime: int
    ctime: int
    rdev: int = 0
    target: str = ""
    link_of: str | None = None
    links: int = 1
    xattrs: dict[str, bytes] = field(default_factory=dict)
    _pieces: Pieces = field(default=nothing, repr=False, compare=False)

    @property
    def device(self) -> tuple[int, int]:
        """Major and minor number; those of up to 255 are `major << 8 | minor`."""
        return self.rdev >> 8 & 0xFFF, self.rdev & 0xFF | self.rdev >> 12 & 0xFFF00

    @property
    def content(self) -> bytes:
        if self.size > _CONTENT_LIMIT:
            raise ValueError(f"{self.path} has {self.size} bytes; use pieces()")
        content = bytearray(self.size)
        for offset, piece in self.pieces():
            content[offset : offset + len(piece)] = piece
        return bytes(content)

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """Offset and bytes of everything that is stored; the rest of the file is zeros."""
        return self._pieces()
