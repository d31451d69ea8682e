"""Toy file systems, to know what a cut may leave without asking the oracle.

A toy carries out a history, counts the pages that it programs, and can tell the tree that the first
K pages make. It shares nothing with the oracle but the contents of writes. The toys themselves are
in oracle_toys.py.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from zlib import crc32

from ffslab.oracle.history import History, parse_history
from ffslab.oracle.operations import Operation
from ffslab.oracle.record import Record, parse_record

ROOT = 1
PAGE = 4096
OPENING = ("open", "opensync", "opendsync")


@dataclass
class Tree:
    """Inodes: (kind, contents or target); names: (directory, name) to inode. The root is 1."""

    inodes: dict[int, tuple[str, bytes]] = field(default_factory=lambda: {ROOT: ("dir", b"")})
    names: dict[tuple[int, str], int] = field(default_factory=dict)

    def copy(self) -> Tree:
        return Tree(dict(self.inodes), dict(self.names))

    def find(self, path: str) -> int | None:
        found: int | None = ROOT
        for name in path.split("/") if path != "." else ():
            found = self.names.get((found or 0, name))
        return found

    def place(self, path: str) -> tuple[int, str]:
        parent, _, name = path.rpartition("/")
        found = self.find(parent or ".")
        assert found is not None
        return found, name


def sums(data: bytes) -> str:
    words: list[list[object]] = []
    for at in range(0, len(data), 512):
        one = f"{crc32(data[at : at + 512]):08x}"
        if words and words[-1][0] == one:
            words[-1][1] = int(str(words[-1][1])) + 1
        else:
            words.append([one, 1])
    return ",".join(f"{one}*{count}" if count != 1 else f"{one}" for one, count in words) or "-"


def render(tree: Tree, root_links: int, own: tuple[str, ...] = ()) -> str:
    """The observation of a tree."""
    lines: dict[str, str] = {}

    def walk(inode: int, path: str) -> None:
        kind, data = tree.inodes[inode]
        children = [
            (name, child) for (parent, name), child in tree.names.items() if parent == inode
        ]
        links = sum(child == inode for child in tree.names.values())
        if kind == "dir":
            links = root_links if inode == ROOT else 2
            links += sum(tree.inodes[child][0] == "dir" for _, child in children)
            lines[path] = f"dir {path} {links} {inode} 0"
        elif kind == "file":
            lines[path] = f"file {path} {len(data)} {links} {inode} 0 {sums(data)}"
        elif kind == "symlink":
            lines[path] = f"symlink {path} {links} {inode} 0 {data.decode()}"
        else:
            lines[path] = f"other {path} {links} {inode} 0"
        for name, child in children:
            walk(child, name if path == "." else f"{path}/{name}")

    walk(ROOT, ".")
    for name in own:
        lines[name] = f"dir {name} 2 9999 0"
    found = [lines[path] for path in sorted(lines)]
    return "".join(f"{line}\n" for line in [*found, "statfs 1 1 1", f"observed {len(found) + 1}"])


def overlay(data: bytes, offset: int, new: bytes) -> bytes:
    if not new:
        return data
    data = data.ljust(offset + len(new), b"\0")
    return data[:offset] + new + data[offset + len(new) :]


def resize(data: bytes, size: int) -> bytes:
    return data[:size].ljust(size, b"\0")


class Toy:
    """What all toys share: the tree in memory, the count of pages, the record."""

    filesystem = ""
    root_links = 2
    own: tuple[str, ...] = ()
    maps = True  # files can be written to through mappings

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = Tree()
        self.pages = 0
        self.next_inode = ROOT + 1
        self.opened: dict[str, tuple[int, str]] = {}  # the inode, and the verb that opened it
        self.deaf = ""  # the kind of sync of an open file that does nothing

    def run(self, history: History) -> Record:
        """Carries a history out."""
        lines = []
        for index, operation in enumerate(history.operations):
            first = self.pages
            error = 0 if self.is_possible(operation) else 2
            if operation.verb in ("mapwrite", "msync") and not self.maps:
                error = 22
            if not error:
                self.carry_out(operation)
            lines.append(f"op {index} {error} {first} {self.pages}")
            self.rest()
        lines.append(f"end {len(lines)} 0 {self.pages}")
        return parse_record("\n".join(lines) + "\n")

    def find(self, path: str) -> int | None:
        """The inode of a path or a descriptor."""
        if path.startswith("@"):
            return self.opened[path][0] if path in self.opened else None
        return self.now.find(path)

    def carry_out(self, operation: Operation) -> None:
        inode = self.find(operation.path) if operation.path else None
        if operation.verb in OPENING:
            assert inode is not None
            self.opened[operation.filled] = (inode, operation.verb)
        elif operation.verb == "dup":
            self.opened[operation.filled] = self.opened[operation.path]
        elif operation.verb == "close":
            self.closed(self.opened.pop(operation.path)[0])
        elif operation.verb != self.deaf:
            self.call(operation)

    def closed(self, inode: int) -> None:
        """One of its descriptors was closed."""

    def sync_of(self, operation: Operation) -> str:
        """How a write syncs: the verb that opened its descriptor, "open" for not at all."""
        if operation.verb in ("writesync", "mapwrite"):
            return "opensync" if operation.verb == "writesync" else "open"
        opened = self.opened[operation.path][1] if operation.path in self.opened else "open"
        return "open" if opened == self.deaf else opened

    def is_possible(self, operation: Operation) -> bool:
        if operation.filled in self.opened:
            return False
        if operation.path.startswith("@"):
            return operation.path in self.opened and self._is_possible_of_open(operation)
        return self._is_possible_of_path(operation)

    def _is_possible_of_open(self, operation: Operation) -> bool:
        kind, data = self.now.inodes[self.opened[operation.path][0]]
        end = operation.offset_bytes + operation.size_bytes
        if operation.verb in ("write", "append", "truncate"):
            return kind == "file"
        if operation.verb == "mapwrite":
            return kind == "file" and end <= len(data)
        return operation.verb != "msync" or (kind == "file" and bool(data))

    def _is_possible_of_path(self, operation: Operation) -> bool:
        tree, path, other = self.now, operation.path, operation.other
        there = bool(path) and tree.find(path) is not None
        parent = tree.find(path.rpartition("/")[0] or ".")
        if parent is None or tree.inodes[parent][0] != "dir":
            return False
        kind = tree.inodes[tree.find(path) or ROOT][0] if there else ""
        is_empty = not any(parent == tree.find(path) for parent, _ in tree.names)
        if operation.verb in ("write", "writesync", "append"):
            return not there or kind == "file"
        if operation.verb in OPENING:
            return kind in ("file", "dir")
        if operation.verb in ("truncate", "link"):
            return kind == "file" and (not other or self._is_free(other))
        if operation.verb in ("mkdir", "create", "symlink", "mkfifo"):
            return not there
        if operation.verb == "unlink":
            return there and kind != "dir"
        if operation.verb == "rmdir":
            return kind == "dir" and is_empty and path != "."
        if operation.verb == "rename":
            return there and self._may_move(path, other)
        return there or not path

    def _is_free(self, path: str) -> bool:
        parent = self.now.find(path.rpartition("/")[0] or ".")
        return (
            parent is not None
            and self.now.inodes[parent][0] == "dir"
            and self.now.find(path) is None
        )

    def _may_move(self, old: str, new: str) -> bool:
        tree = self.now
        parent = tree.find(new.rpartition("/")[0] or ".")
        if parent is None or tree.inodes[parent][0] != "dir" or f"{new}/".startswith(f"{old}/"):
            return False
        victim = tree.find(new)
        if victim is None:
            return True
        kinds = tree.inodes[tree.find(old) or ROOT][0], tree.inodes[victim][0]
        return kinds in (("file", "file"),) and victim != tree.find(old)

    def rest(self) -> None:
        """Between two calls: what goes on in the background."""

    def call(self, operation: Operation) -> None:
        raise NotImplementedError

    def after(self, pages: int) -> Tree:
        """The tree that the first pages make."""
        raise NotImplementedError

    def observe(self, pages: int) -> str:
        return render(self.after(pages), self.root_links, self.own)

    def new_inode(self) -> int:
        self.next_inode += 1
        return self.next_inode


def random_history(
    seed: int, length: int, *, most_bytes: int = 9000, descriptors: bool = False
) -> History:
    """Calls of all kinds on few names, so that they meet; half of them on `descriptors`."""
    draw = random.Random(seed)
    names = ["a", "b", "c", "d/a", "d/b", "e/a", "d", "e", "d/f"]
    lines = ["mkdir d", "mkdir e"]
    if descriptors:
        lines += ["write a 0 9000 4", "write d/a 0 6000 7", "open @0 a", "opensync @1 d/a"]
        lines += ["opendsync @15 d/a"]
    while len(lines) < length:
        path, other = draw.choice(names), draw.choice(names)
        seed_of_write = 2 * len(lines) + draw.randrange(2)
        size = draw.choice((1, 100, 512, 4096, draw.randrange(1, most_bytes)))
        offset = draw.choice((0, 0, 512, 4096, draw.randrange(most_bytes)))
        if descriptors and draw.random() < 0.5:
            lines.append(_of_descriptor(draw, path, offset, size, seed_of_write))
            continue
        lines.append(
            draw.choice(
                [f"write {path} {offset} {size} {seed_of_write}"] * 4
                + [f"append {path} {size} {seed_of_write}"] * 3
                + [f"writesync {path} {offset} {size} {seed_of_write}"] * 2
                + [f"truncate {path} {offset}"] * 2
                + [f"create {path}", f"mkdir {path}", f"symlink {other} {path}", f"mkfifo {path}"]
                + [f"fsync {path}"] * 3
                + [f"fdatasync {path}"] * 2
                + [f"rename {path} {other}"] * 4
                + [f"link {path} {other}"] * 2
                + [f"unlink {path}", f"unlink {path}", f"rmdir {path}"]
                + ["sync", "fsync ."]
            )
        )
    return parse_history("".join(f"{line}\n" for line in lines))


def _of_descriptor(draw: random.Random, path: str, offset: int, size: int, seed: int) -> str:
    one, other = draw.choice(("@0", "@1", "@15")), draw.choice(("@0", "@1", "@15"))
    return draw.choice(
        [f"{verb} {one} {path}" for verb in OPENING] * 3
        + [f"write {one} {offset} {size} {seed}"] * 4
        + [f"append {one} {size} {seed}"] * 3
        + [f"mapwrite {one} {offset} {size} {seed}"] * 6
        + [f"truncate {one} {offset}"]
        + [f"fsync {one}", f"fdatasync {one}", f"msync {one}", "sync"] * 2
        + [f"syncrange {one} {offset} {size}", f"dup {one} {other}"]
        + [f"close {one}"]
    )
