"""From inodes to names: the tree that a mount shows.

A directory is entered once; of further names it stays a name without contents. Paths of more than
4096 bytes are not built, so that damage cannot make paths of unlimited length.
"""

from __future__ import annotations

import stat
from collections import defaultdict
from collections.abc import Iterator
from functools import partial

from ffslab.fsimage.node import Node, nothing, text
from ffslab.logfs.format import BLOCK_BYTES, INO_ROOT
from ffslab.logfs.mount import Dentry, FoundInode, Mounted
from ffslab.logfs.objects import ObjectStore

PATH_BYTES_MAX = 4096
_TARGET_MAX = 4095
_NS = 1_000_000_000
TYPE_NAMES = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink"}


class Tree:
    """The names of a mounted file system. `names` are (directory, dentry) by inode."""

    root_number = INO_ROOT

    def __init__(self, mounted: Mounted) -> None:
        self.mounted = mounted
        self.names: defaultdict[int, list[tuple[int, Dentry]]] = defaultdict(list)
        for ino, file in mounted.inodes.items():
            for dentry in file.dentries:
                if not mounted.is_recovered(ino, dentry):
                    self.names[dentry.ino].append((ino, dentry))
        self.reached: set[int] = set()
        self._nodes = list(self._walk())

    def nodes(self) -> list[Node]:
        """Everything below the root, which comes first; names to nothing are left out."""
        return self._nodes

    def links(self, file: FoundInode) -> int:
        """Links after a mount, which drops one of the victim."""
        return file.inode.nlink - (file.ino == self.mounted.dynamic.victim)

    def _walk(self) -> Iterator[Node]:
        first: dict[int, str] = {}
        stack: list[tuple[int, bytes]] = [(INO_ROOT, b"/")]
        while stack:
            ino, path = stack.pop()
            shown = text(path)
            again = first.get(ino)
            node = self.node(ino, shown, again)
            if node is None:
                continue
            yield node
            if again is not None:
                continue
            first[ino] = shown
            if node.type == "directory":
                self.reached.add(ino)
            prefix = b"" if path == b"/" else path
            for name, below in reversed([*self.below(ino)]):
                whole = prefix + b"/" + name
                if len(whole) <= PATH_BYTES_MAX:
                    stack.append((below, whole))

    def below(self, number: int) -> Iterator[tuple[bytes, int]]:
        """Names in a directory, sorted, with their inodes' numbers; some may lead to nothing."""
        directory = self.mounted.inodes.get(number)
        if directory is None or directory.format != stat.S_IFDIR:
            return
        for dentry in sorted(directory.dentries, key=lambda dentry: (dentry.name, dentry.bix)):
            if not self.mounted.is_recovered(number, dentry):
                yield dentry.name, dentry.ino

    def node(self, number: int, path: str, link_of: str | None = None) -> Node | None:
        """The node of an inode under one of its names; None if there is no such inode."""
        file = self.mounted.inodes.get(number)
        if file is None:
            return None
        inode, store = file.inode, self.mounted.store
        target = b""
        if file.format == stat.S_IFLNK:
            block = file.walked.blocks.get(0)
            target = ((store.load(block) if block else None) or b"")[: min(inode.size, _TARGET_MAX)]
        is_device = file.format in (stat.S_IFCHR, stat.S_IFBLK)
        is_file = file.format == stat.S_IFREG
        return Node(
            path=path,
            object_id=file.ino,
            type=TYPE_NAMES.get(file.format, "special"),
            mode=inode.mode,
            uid=inode.uid,
            gid=inode.gid,
            size=inode.size,
            atime=inode.atime // _NS,
            mtime=inode.mtime // _NS,
            ctime=inode.ctime // _NS,
            rdev=inode.data[0] & 0xFFFFFFFF if is_device else 0,
            target=text(target),
            link_of=link_of,
            links=self.links(file),
            _pieces=partial(_pieces, store, file) if is_file else nothing,
        )


def _pieces(store: ObjectStore, file: FoundInode) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of a file's blocks, up to its size."""
    for bix, ofs in sorted(file.walked.blocks.items()):
        count = min(BLOCK_BYTES, file.inode.size - bix * BLOCK_BYTES)
        payload = store.load(ofs) if count > 0 else None
        if payload is not None:
            yield bix * BLOCK_BYTES, payload[:count]
