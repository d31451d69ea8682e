"""Writing the tree of an image into a directory of the host.

An image is not trusted: a name with `/` or NUL, `.` and `..` are refused, nothing is written
through a symbolic link (every name is created new, below a directory descriptor), and the
directory must not exist before. A directory is entered once, whatever leads to it. Of two objects
with one name the second gets its number behind it.
Files are sparse where nothing is stored. Owners, devices and
attributes are set as far as the user's rights go; what could not be done is reported.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ffslab.errors import InfrastructureError, UsageError
from ffslab.fsimage.node import Node, text

_PROBLEMS_KEPT = 50
_DEPTH_MAX = 200  # each takes a descriptor and some frames of the stack


class NamedTree(Protocol):
    """The tree of an image, name by name. Numbers are the format's, of objects or inodes."""

    @property
    def root_number(self) -> int: ...

    def below(self, number: int) -> Iterable[tuple[bytes, int]]:
        """Names in a directory as they are on flash, in order, with their objects' numbers."""

    def node(self, number: int, path: str) -> Node | None:
        """What a number leads to; None if to nothing. `path` is one of its names."""


@dataclass(slots=True)
class ExtractResult:
    """How many names were written, and messages about what was not done."""

    written: int = 0
    problems: list[str] = field(default_factory=list)
    refused: int = 0


def extract_tree(tree: NamedTree, directory: Path) -> ExtractResult:
    """Writes everything below the root. UsageError if the directory exists."""
    try:
        directory.mkdir()
    except FileExistsError as error:
        raise UsageError(
            f"{directory} exists already", remedy="name a directory that does not exist"
        ) from error
    except OSError as error:
        raise InfrastructureError(f"cannot create {directory}: {error.strerror}") from error
    extraction = _Extraction(tree)
    extraction.run(directory)
    result = extraction.result
    if result.refused > _PROBLEMS_KEPT:
        result.problems.append(f"and {result.refused - _PROBLEMS_KEPT} more")
    return result


class _Extraction:
    def __init__(self, tree: NamedTree) -> None:
        self.result = ExtractResult()
        self._tree = tree
        self._made: dict[int, tuple[str, ...]] = {}
        self._links: list[tuple[int, tuple[str, ...]]] = []
        self._directories: list[tuple[Node, tuple[str, ...]]] = []
        self._top = -1

    def run(self, directory: Path) -> None:
        flags = os.O_RDONLY | os.O_DIRECTORY
        self._top = os.open(directory, flags)
        try:
            root = self._tree.root_number
            self._made[root] = ()
            self._directory(root, self._top, ())
            for number, names in self._links:
                self._hard_link(number, names)
            # Last, and from below: what is made in a directory changes its time.
            for node, names in reversed(self._directories):
                self._attributes(node, self._top, "/".join(names))
            top = self._tree.node(root, "/")
            if top is not None:
                self._attributes(top, self._top, ".")
        finally:
            os.close(self._top)

    def _refuse(self, path: str, reason: str) -> None:
        self.result.refused += 1
        if self.result.refused <= _PROBLEMS_KEPT:
            self.result.problems.append(f"{path!r} is not extracted: {reason}")

    def _directory(self, number: int, descriptor: int, names: tuple[str, ...]) -> None:
        """Everything in one directory, then the directories in it."""
        used: set[bytes] = set()
        for name, child in self._tree.below(number):
            shown = "/" + "/".join((*names, text(name)))
            if b"/" in name or b"\0" in name or name in (b"", b".", b".."):
                self._refuse(shown, "the name is a path")
                continue
            if len(names) >= _DEPTH_MAX:
                self._refuse(shown, f"more than {_DEPTH_MAX} directories deep")
                continue
            new = b"%s~obj%d" % (name, child) if name in used else name
            used.add(new)
            try:
                self._child(child, shown, descriptor, (*names, text(new)))
            except (OSError, OverflowError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else str(error)
                self._refuse(shown, reason or str(error))

    def _child(self, number: int, path: str, descriptor: int, names: tuple[str, ...]) -> None:
        node = self._tree.node(number, path)
        if node is None:
            raise ValueError("its target does not exist")
        if node.type == "directory":
            self._make_directory(number, node, descriptor, names)
            return
        if node.link_of is not None or number in self._made:
            self._links.append((node.object_id, names))
            return
        name = names[-1]
        if node.type == "file":
            self._file(node, descriptor, name)
        elif node.type == "symlink":
            os.symlink(node.target, name, dir_fd=descriptor)
        else:
            device = os.makedev(*node.device)
            os.mknod(name, stat.S_IFMT(node.mode) | 0o600, device, dir_fd=descriptor)
        self._made[number] = names
        self.result.written += 1
        self._attributes(node, descriptor, name)

    def _make_directory(
        self, number: int, node: Node, descriptor: int, names: tuple[str, ...]
    ) -> None:
        if number in self._made:
            raise ValueError("the directory has another name")
        name = names[-1]
        os.mkdir(name, 0o700, dir_fd=descriptor)
        self._made[number] = names
        self.result.written += 1
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        inside = os.open(name, flags, dir_fd=descriptor)
        try:
            self._directory(number, inside, names)
        finally:
            os.close(inside)
        self._directories.append((node, names))

    def _file(self, node: Node, descriptor: int, name: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        file = os.open(name, flags, 0o600, dir_fd=descriptor)
        try:
            os.ftruncate(file, node.size)
            for offset, piece in node.pieces():
                while piece:
                    done = os.pwrite(file, piece, offset)
                    offset, piece = offset + done, piece[done:]
        finally:
            os.close(file)

    def _hard_link(self, number: int, names: tuple[str, ...]) -> None:
        target = self._made.get(number)
        shown = "/" + "/".join(names)
        if target is None:
            self._refuse(shown, "its target was not extracted")
            return
        try:
            # Both paths consist of directories made here; no link is among them.
            os.link(
                "/".join(target),
                "/".join(names),
                src_dir_fd=self._top,
                dst_dir_fd=self._top,
                follow_symlinks=False,
            )
            self.result.written += 1
        except OSError as error:
            self._refuse(shown, error.strerror or str(error))

    def _attributes(self, node: Node, descriptor: int, name: str) -> None:
        """Owner, mode, attributes, times; in this order, as a chown clears set-user-id."""
        is_link = node.type == "symlink"
        opened_path = f"/proc/self/fd/{descriptor}/{name}"
        try:
            if os.geteuid() == 0:
                os.chown(name, node.uid, node.gid, dir_fd=descriptor, follow_symlinks=False)
            if not is_link:
                os.chmod(name, stat.S_IMODE(node.mode), dir_fd=descriptor)
            for attribute, value in node.xattrs.items():
                os.setxattr(opened_path, attribute, value, follow_symlinks=False)
            times = (node.atime, node.mtime)
            os.utime(name, times, dir_fd=descriptor, follow_symlinks=False)
        except (OSError, OverflowError, ValueError) as error:
            self.result.refused += 1
            if self.result.refused <= _PROBLEMS_KEPT:
                self.result.problems.append(f"{node.path!r}: not all attributes are set: {error}")
