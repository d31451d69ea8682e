"""Toy file systems, to know what a cut may leave without asking the oracle.

Each keeps its flash as the real one does: nodes in one buffer of a page (JFFS2), groups and pages
in two buffers (UBIFS), a page at a time (YAFFS2). A toy carries out a history, counts the pages
that it programs, and can tell the tree that the first K pages make. It shares nothing with the
oracle but the contents of writes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise
from zlib import crc32

from ffslab.crash.contents import pattern
from ffslab.crash.history import History, parse_history
from ffslab.crash.operations import Operation
from ffslab.crash.record import Record, parse_record

ROOT = 1
PAGE = 4096


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

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = Tree()
        self.pages = 0
        self.next_inode = ROOT + 1

    def run(self, history: History) -> Record:
        """Carries a history out."""
        lines = []
        for index, operation in enumerate(history.operations):
            first = self.pages
            error = 0 if self.is_possible(operation) else 2
            if not error:
                self.call(operation)
            lines.append(f"op {index} {error} {first} {self.pages}")
            self.rest()
        lines.append(f"end {len(lines)} 0 {self.pages}")
        return parse_record("\n".join(lines) + "\n")

    def is_possible(self, operation: Operation) -> bool:
        tree, path, other = self.now, operation.path, operation.other
        there = bool(path) and tree.find(path) is not None
        parent = tree.find(path.rpartition("/")[0] or ".")
        if parent is None or tree.inodes[parent][0] != "dir":
            return False
        kind = tree.inodes[tree.find(path) or ROOT][0] if there else ""
        is_empty = not any(parent == tree.find(path) for parent, _ in tree.names)
        if operation.verb in ("write", "writesync", "append"):
            return not there or kind == "file"
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


# A node: what it does to the tree, as (verb, ...).
Node = tuple[object, ...]


def apply(tree: Tree, node: Node) -> None:
    match node:
        case ("inode", int(inode), str(kind), bytes(data)):
            tree.inodes[inode] = (kind, data)
        case ("name", int(parent), str(name), int(inode)):
            tree.names.pop((parent, name), None)
            if inode:
                tree.names[parent, name] = inode
        case ("data", int(inode), int(offset), bytes(data)):
            tree.inodes[inode] = ("file", overlay(tree.inodes[inode][1], offset, data))
        case ("size", int(inode), int(size)):
            tree.inodes[inode] = ("file", resize(tree.inodes[inode][1], size))
        case ("all", *nodes):
            for one in nodes:
                assert isinstance(one, tuple)
                apply(tree, one)


class ToyJffs2(Toy):
    """One stream of nodes of random length, in pages. fsync pads if the inode is in the page."""

    filesystem = "jffs2"
    root_links = 3
    page = 300

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.nodes: list[tuple[Node, int]] = []  # with the pages after which it is there
        self.fill = 0
        self.pending: list[int] = []  # numbers of nodes that end in the open page
        self.noted: set[int] = set()

    def node(self, inode: int, node: Node) -> None:
        apply(self.now, node)
        self.nodes.append((node, 2**60))
        self.fill += self.random.randrange(20, 400)
        while self.fill >= self.page:
            # The pages that became full; this node ends in the last one only if nothing is left.
            self.fill -= self.page
            self.program()
        self.pending.append(len(self.nodes) - 1)
        self.noted.add(inode)
        if not self.fill:
            self.settle()

    def program(self) -> None:
        self.pages += 1
        self.settle()

    def settle(self) -> None:
        for number in self.pending:
            self.nodes[number] = (self.nodes[number][0], self.pages)
        self.pending.clear()
        self.noted.clear()

    def flush(self, inode: int | None) -> None:
        if self.fill and (inode is None or inode in self.noted):
            self.fill = 0
            self.program()

    def after(self, pages: int) -> Tree:
        tree = Tree()
        for node, there in self.nodes:
            if there > pages:
                break
            apply(tree, node)
        return tree

    def call(self, operation: Operation) -> None:
        tree, path = self.now, operation.path
        inode = tree.find(path) if path else None
        match operation.verb:
            case "sync":
                self.flush(None)
            case "fsync" | "fdatasync":
                self.flush(inode)
            case "mkdir" | "create" | "symlink" | "mkfifo":
                self.make(operation)
            case "write" | "writesync" | "append":
                self.write(operation)
            case "truncate":
                assert inode is not None
                self.node(inode, ("size", inode, operation.size_bytes))
            case "link":
                parent, name = tree.place(operation.other)
                self.node(parent, ("name", parent, name, inode))
            case "unlink" | "rmdir":
                parent, name = tree.place(path)
                self.node(parent, ("name", parent, name, 0))
            case "rename":
                to, new = tree.place(operation.other)
                parent, name = tree.place(path)
                self.node(to, ("name", to, new, inode))
                self.node(parent, ("name", parent, name, 0))

    def make(self, operation: Operation) -> int:
        kind = {"mkdir": "dir", "symlink": "symlink", "mkfifo": "other"}.get(operation.verb, "file")
        inode = self.new_inode()
        parent, name = self.now.place(operation.path)
        self.node(inode, ("inode", inode, kind, operation.other.encode()))
        self.node(parent, ("name", parent, name, inode))
        return inode

    def write(self, operation: Operation) -> None:
        inode = self.now.find(operation.path) or self.make(operation)
        size = len(self.now.inodes[inode][1])
        at = size if operation.verb == "append" else operation.offset_bytes
        end = at + operation.size_bytes
        if at > size and end > at:
            self.node(inode, ("size", inode, at))
        while at < end:
            # A node ends with its page, or where its block happens to be full.
            to = min(end, (at // PAGE + 1) * PAGE, at + self.random.choice((40, 700, 9999)))
            data = pattern(operation.seed, at, to - at)
            self.node(inode, ("data", inode, at, data))
            at = to
        if operation.verb == "writesync":
            self.flush(inode)


class ToyYaffs2(ToyJffs2):
    """Each node is a page at once; chunks of a write in any order, the new size at the end."""

    filesystem = "yaffs2"
    root_links = 3
    own = ("lost+found",)

    def node(self, inode: int, node: Node) -> None:
        assert inode in self.now.inodes or node[0] != "data"
        apply(self.now, node)
        self.pages += 1
        self.nodes.append((node, self.pages))

    def flush(self, inode: int | None) -> None:
        pass

    def call(self, operation: Operation) -> None:
        if operation.verb == "rename":
            inode = self.now.find(operation.path)
            to, new = self.now.place(operation.other)
            parent, name = self.now.place(operation.path)
            self.node(to, ("all", ("name", to, new, inode), ("name", parent, name, 0)))
        else:
            super().call(operation)

    def make(self, operation: Operation) -> int:
        kind = {"mkdir": "dir", "symlink": "symlink", "mkfifo": "other"}.get(operation.verb, "file")
        inode = self.new_inode()
        parent, name = self.now.place(operation.path)
        new = ("inode", inode, kind, operation.other.encode())
        self.node(inode, ("all", new, ("name", parent, name, inode)))
        return inode

    def write(self, operation: Operation) -> None:
        inode = self.now.find(operation.path) or self.make(operation)
        size = len(self.now.inodes[inode][1])
        at = size if operation.verb == "append" else operation.offset_bytes
        end = at + operation.size_bytes
        bounds = sorted({at, end, *range(at - at % 2032, end, 2032)} & set(range(at, end + 1)))
        chunks = list(pairwise(bounds))
        self.random.shuffle(chunks)
        for low, high in chunks:
            self.node(inode, ("data", inode, low, pattern(operation.seed, low, high - low)))


class ToyUbifs(Toy):
    """A base head with groups, a data head with pages, both buffered; dirty pages and inodes.

    A node has a number; what survives is applied in the order of numbers. A page on flash makes its
    file as long as it reaches.
    """

    filesystem = "ubifs"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.nodes: list[tuple[Node, int]] = []
        self.heads = [Head(), Head()]
        self.dirty: dict[int, set[int]] = {}  # pages
        self.grown: set[int] = set()  # inodes that are dirty, for fdatasync too
        self.renamed: set[int] = set()  # inodes that are dirty, for fsync only

    def node(self, head: int, inodes: list[int], node: Node) -> None:
        self.nodes.append((node, 2**60))
        one = self.heads[head]
        one.fill += self.random.randrange(30, 500)
        while one.fill >= one.page:
            one.fill -= one.page
            self.program(one)
        one.pending.append(len(self.nodes) - 1)
        one.noted.update(inodes)
        if not one.fill:
            self.settle(one)

    def program(self, head: Head) -> None:
        self.pages += 1
        self.settle(head)

    def settle(self, head: Head) -> None:
        for number in head.pending:
            self.nodes[number] = (self.nodes[number][0], self.pages)
        head.pending.clear()
        head.noted.clear()

    def flush(self, head: Head, inode: int | None) -> None:
        if head.fill and (inode is None or inode in head.noted):
            head.fill = 0
            self.program(head)

    def after(self, pages: int) -> Tree:
        tree = Tree()
        sizes: dict[int, int] = {}
        blocks: dict[tuple[int, int], bytes] = {}
        for node, there in self.nodes:
            if there <= pages:
                self.replay(tree, sizes, blocks, node)
        for inode, (kind, _) in list(tree.inodes.items()):
            if kind == "file":
                data = bytes(sizes[inode])
                for (owner, page), block in blocks.items():
                    if owner == inode:
                        data = overlay(data, page * PAGE, block)
                tree.inodes[inode] = (kind, data)
        return tree

    def replay(
        self,
        tree: Tree,
        sizes: dict[int, int],
        blocks: dict[tuple[int, int], bytes],
        node: Node,
    ) -> None:
        match node:
            case ("page", int(inode), int(page), bytes(data)):
                blocks[inode, page] = data
            case ("isize", int(inode), int(size)):
                sizes[inode] = size
            case ("cut", int(inode), int(size), bytes(last)):
                sizes[inode] = size
                for owner, page in list(blocks):
                    if owner == inode and page * PAGE >= size:
                        del blocks[owner, page]
                if last:
                    blocks[inode, size // PAGE] = last
            case ("all", *nodes):
                for one in nodes:
                    assert isinstance(one, tuple)
                    self.replay(tree, sizes, blocks, one)
            case _:
                apply(tree, node)

    def write_page(self, inode: int, page: int) -> None:
        self.dirty[inode].discard(page)
        data = self.now.inodes[inode][1][page * PAGE : (page + 1) * PAGE]
        if inode in self.grown:
            self.write_inode(inode)
        self.node(1, [inode], ("page", inode, page, data))

    def write_inode(self, inode: int) -> None:
        size = len(self.now.inodes[inode][1])
        self.node(0, [inode], ("isize", inode, size))
        self.grown.discard(inode)
        self.renamed.discard(inode)

    def rest(self) -> None:
        """Sometimes a page is written back, or a buffer is."""
        for inode, pages in self.dirty.items():
            for page in sorted(pages):
                if self.random.random() < 0.15:
                    self.write_page(inode, page)
        for head in self.heads:
            if self.random.random() < 0.1:
                self.flush(head, None)

    def sync_file(self, inode: int, pages: set[int], *, datasync: bool) -> None:
        for page in sorted(pages & self.dirty.get(inode, set())):
            self.write_page(inode, page)
        if inode in self.grown or (inode in self.renamed and not datasync):
            self.write_inode(inode)
        for head in self.heads:
            self.flush(head, inode)

    def call(self, operation: Operation) -> None:
        tree, path = self.now, operation.path
        inode = tree.find(path) if path else None
        match operation.verb:
            case "sync":
                for one in sorted({*self.dirty, *self.grown}):
                    self.sync_file(one, set(self.dirty.get(one, ())), datasync=False)
                for head in self.heads:
                    self.flush(head, None)
            case "fsync" | "fdatasync":
                assert inode is not None
                datasync = operation.verb == "fdatasync"
                self.sync_file(inode, set(self.dirty.get(inode, ())), datasync=datasync)
            case "mkdir" | "create" | "symlink" | "mkfifo":
                self.make(operation)
            case "write" | "writesync" | "append":
                self.write(operation)
            case "truncate":
                assert inode is not None
                self.truncate(inode, operation.size_bytes)
            case "link":
                assert inode is not None
                self.names([inode], ("name", *tree.place(operation.other), inode))
            case "unlink" | "rmdir":
                assert inode is not None
                self.names([inode], ("name", *tree.place(path), 0))
            case "rename":
                assert inode is not None
                victim = tree.find(operation.other)
                new = ("name", *tree.place(operation.other), inode)
                self.names([victim] if victim else [], new, ("name", *tree.place(path), 0))
                self.renamed.add(inode)

    def names(self, inodes: list[int], *nodes: Node) -> None:
        """A group of entries; their directories are noted, and these inodes."""
        directories = [node[1] for node in nodes if node[0] == "name"]
        noted = [*inodes, *(one for one in directories if isinstance(one, int))]
        sizes = [
            ("isize", one, len(self.now.inodes[one][1]))
            for one in inodes
            if self.now.inodes.get(one, ("",))[0] == "file"
        ]
        self.node(0, noted, ("all", *nodes, *sizes))
        for node in nodes:
            apply(self.now, node)
        self.grown.difference_update(inodes)
        self.renamed.difference_update(inodes)

    def make(self, operation: Operation) -> int:
        kind = {"mkdir": "dir", "symlink": "symlink", "mkfifo": "other"}.get(operation.verb, "file")
        inode = self.new_inode()
        self.now.inodes[inode] = (kind, operation.other.encode())
        new = ("inode", inode, kind, operation.other.encode())
        self.names([inode], new, ("name", *self.now.place(operation.path), inode))
        return inode

    def write(self, operation: Operation) -> None:
        inode = self.now.find(operation.path) or self.make(operation)
        data = self.now.inodes[inode][1]
        at = len(data) if operation.verb == "append" else operation.offset_bytes
        end = at + operation.size_bytes
        pages = set(range(at // PAGE, -(-end // PAGE)))
        new = pattern(operation.seed, at, end - at)
        self.now.inodes[inode] = ("file", overlay(data, at, new))
        self.dirty.setdefault(inode, set()).update(pages)
        if end > len(data):
            self.grown.add(inode)
        if operation.verb == "writesync":
            self.sync_file(inode, pages, datasync=False)

    def truncate(self, inode: int, size: int) -> None:
        data = self.now.inodes[inode][1]
        page = size // PAGE
        self.now.inodes[inode] = ("file", resize(data, size))
        if size >= len(data):
            self.grown.add(inode)
            return
        dirty = self.dirty.setdefault(inode, set())
        if size % PAGE and page in dirty:
            self.write_page(inode, page)
        self.dirty[inode] = {one for one in dirty if one * PAGE < size}
        on_flash: Tree = self.after(2**59 + 2**60)
        last = on_flash.inodes[inode][1][page * PAGE : size] if size % PAGE else b""
        self.node(0, [inode], ("cut", inode, size, last))
        self.grown.discard(inode)


@dataclass
class Head:
    page: int = 600
    fill: int = 0
    pending: list[int] = field(default_factory=list)
    noted: set[int] = field(default_factory=set)


def random_history(seed: int, length: int, *, most_bytes: int = 9000) -> History:
    """Calls of all kinds on few names, so that they meet."""
    draw = random.Random(seed)
    names = ["a", "b", "c", "d/a", "d/b", "e/a", "d", "e", "d/f"]
    lines = ["mkdir d", "mkdir e"]
    while len(lines) < length:
        path, other = draw.choice(names), draw.choice(names)
        seed_of_write = 2 * len(lines) + draw.randrange(2)
        size = draw.choice((1, 100, 512, 4096, draw.randrange(1, most_bytes)))
        offset = draw.choice((0, 0, 512, 4096, draw.randrange(most_bytes)))
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
