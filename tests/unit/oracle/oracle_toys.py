"""The toys: how JFFS2, UBIFS and YAFFS2 keep their flash, made small.

Nodes in one buffer of a page (JFFS2), groups and pages in two buffers (UBIFS), a page at a time
(YAFFS2, but for what waits in a cache of files that are open).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from oracle_support import PAGE, Toy, Tree, overlay, resize

from ffslab.oracle.contents import pattern
from ffslab.oracle.operations import Operation

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
    maps = False
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
        inode = self.find(path) if path else None
        match operation.verb:
            case "sync":
                self.flush(None)
            case "fsync" | "fdatasync" | "msync":
                self.flush(inode)
            case "mkdir" | "create" | "symlink" | "mkfifo":
                self.make(operation)
            case "write" | "writesync" | "append" | "mapwrite":
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
                names = ("name", to, new, inode), ("name", parent, name, 0)
                if inode is not None and tree.inodes[inode][0] == "dir":  # unlike JFFS2's
                    self.node(to, ("all", *names))
                    self.noted |= {parent} if to in self.noted else set()
                else:
                    self.node(to, names[0])
                    self.node(parent, names[1])

    def make(self, operation: Operation) -> int:
        kind = {"mkdir": "dir", "symlink": "symlink", "mkfifo": "other"}.get(operation.verb, "file")
        inode = self.new_inode()
        parent, name = self.now.place(operation.path)
        self.node(inode, ("inode", inode, kind, operation.other.encode()))
        self.node(parent, ("name", parent, name, inode))
        return inode

    def write(self, operation: Operation) -> None:
        inode = self.find(operation.path) or self.make(operation)
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
        if self.sync_of(operation) != "open":
            self.flush(inode)


class ToyYaffs2(ToyJffs2):
    """Each node is a page at once; chunks of a write in any order, the new size at the end.

    Of a file that is open chunks wait in a cache, and pages that a mapping changed for that. What
    is on flash or in the cache is `stored`; what a user sees is `now`.
    """

    filesystem = "yaffs2"
    root_links = 3
    own = ("lost+found",)
    maps = True
    chunk = 2032

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.stored: dict[int, bytes] = {}
        self.cached: set[tuple[int, int]] = set()  # inode, chunk
        self.mapped: set[tuple[int, int]] = set()  # inode, page

    def node(self, inode: int, node: Node) -> None:
        assert inode in self.now.inodes or node[0] != "data"
        apply(self.now, node)
        self.program_node(node)

    def program_node(self, node: Node) -> None:
        self.pages += 1
        self.nodes.append((node, self.pages))

    def flush(self, inode: int | None) -> None:
        for one, page in sorted(self.mapped):
            if inode in (None, one):
                self.write_page(one, page)
        self.write_chunks(inode)

    def write_page(self, inode: int, page: int) -> None:
        """A page that a mapping changed, as far as the file reaches."""
        self.mapped.discard((inode, page))
        data = self.now.inodes[inode][1][page * PAGE : (page + 1) * PAGE]
        self.cache(inode, page * PAGE, data)

    def write_chunks(self, inode: int | None) -> None:
        chunks = [one for one in sorted(self.cached) if inode in (None, one[0])]
        self.random.shuffle(chunks)
        for one in chunks:
            self.write_chunk(*one)

    def write_chunk(self, inode: int, chunk: int) -> None:
        self.cached.discard((inode, chunk))
        at = chunk * self.chunk
        data = self.stored[inode][at : at + self.chunk]
        if data:
            self.program_node(("data", inode, at, data))

    def cache(self, inode: int, at: int, data: bytes) -> None:
        if data:
            self.stored[inode] = overlay(self.stored.get(inode, b""), at, data)
            last = (at + len(data) - 1) // self.chunk
            self.cached.update((inode, chunk) for chunk in range(at // self.chunk, last + 1))

    def closed(self, inode: int) -> None:
        self.write_chunks(inode)

    def rest(self) -> None:
        """Sometimes a chunk is pushed out of the cache, or a page is written back."""
        for one in sorted(self.mapped):
            if self.random.random() < 0.1:
                self.write_page(*one)
        for one in sorted(self.cached):
            if self.random.random() < 0.15:
                self.write_chunk(*one)

    def call(self, operation: Operation) -> None:
        inode = self.find(operation.path) if operation.path else None
        if operation.verb == "rename":
            to, new = self.now.place(operation.other)
            parent, name = self.now.place(operation.path)
            self.node(to, ("all", ("name", to, new, inode), ("name", parent, name, 0)))
        elif operation.verb == "mapwrite":
            assert inode is not None
            self.store_mapped(inode, operation)
        elif operation.verb == "truncate":
            assert inode is not None
            size = operation.size_bytes
            self.write_chunks(inode)
            self.mapped = {one for one in self.mapped if one[0] != inode or one[1] * PAGE < size}
            self.stored[inode] = resize(self.stored.get(inode, b""), size)
            super().call(operation)
        elif operation.verb != "syncrange":
            super().call(operation)

    def store_mapped(self, inode: int, operation: Operation) -> None:
        at, end = operation.offset_bytes, operation.offset_bytes + operation.size_bytes
        data = pattern(operation.seed, at, end - at)
        self.now.inodes[inode] = ("file", overlay(self.now.inodes[inode][1], at, data))
        self.mapped.update((inode, page) for page in range(at // PAGE, -(-end // PAGE)))

    def make(self, operation: Operation) -> int:
        kind = {"mkdir": "dir", "symlink": "symlink", "mkfifo": "other"}.get(operation.verb, "file")
        inode = self.new_inode()
        parent, name = self.now.place(operation.path)
        new = ("inode", inode, kind, operation.other.encode())
        self.node(inode, ("all", new, ("name", parent, name, inode)))
        return inode

    def write(self, operation: Operation) -> None:
        inode = self.find(operation.path) or self.make(operation)
        size = len(self.now.inodes[inode][1])
        at = size if operation.verb == "append" else operation.offset_bytes
        end = at + operation.size_bytes
        data = pattern(operation.seed, at, end - at)
        sync = self.sync_of(operation)
        if operation.has_descriptor:
            self.now.inodes[inode] = ("file", overlay(self.now.inodes[inode][1], at, data))
            self.cache(inode, at, data)
        else:
            self.write_at_once(inode, at, data)
            self.write_chunks(inode)
        if sync != "open":
            for one, page in sorted(self.mapped):
                if one == inode and at // PAGE <= page < -(-end // PAGE):
                    self.write_page(one, page)
            self.write_chunks(inode)

    def write_at_once(self, inode: int, at: int, data: bytes) -> None:
        end = at + len(data)
        self.stored[inode] = overlay(self.stored.get(inode, b""), at, data)
        chunks = range(at - at % self.chunk, end, self.chunk)
        bounds = sorted({at, end, *chunks} & set(range(at, end + 1)))
        pieces = list(pairwise(bounds))
        self.random.shuffle(pieces)
        for low, high in pieces:
            self.node(inode, ("data", inode, low, data[low - at : high - at]))


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
        if inode in self.grown and inode in self.now.names.values():
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
        # Of what has no name any more the inode is not written.
        has_name = inode in self.now.names.values()
        if has_name and (inode in self.grown or (inode in self.renamed and not datasync)):
            self.write_inode(inode)
        for head in self.heads:
            self.flush(head, inode)

    def call(self, operation: Operation) -> None:
        tree, path = self.now, operation.path
        inode = self.find(path) if path else None
        match operation.verb:
            case "sync":
                for one in sorted({*self.dirty, *self.grown}):
                    self.sync_file(one, set(self.dirty.get(one, ())), datasync=False)
                for head in self.heads:
                    self.flush(head, None)
            case "fsync" | "fdatasync" | "msync":
                assert inode is not None
                datasync = operation.verb != "fsync"
                self.sync_file(inode, set(self.dirty.get(inode, ())), datasync=datasync)
            case "mkdir" | "create" | "symlink" | "mkfifo":
                self.make(operation)
            case "write" | "writesync" | "append" | "mapwrite":
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
        inode = self.find(operation.path) or self.make(operation)
        data = self.now.inodes[inode][1]
        at = len(data) if operation.verb == "append" else operation.offset_bytes
        end = at + operation.size_bytes
        pages = set(range(at // PAGE, -(-end // PAGE)))
        new = pattern(operation.seed, at, end - at)
        self.now.inodes[inode] = ("file", overlay(data, at, new))
        self.dirty.setdefault(inode, set()).update(pages)
        if end > len(data):
            self.grown.add(inode)
        sync = self.sync_of(operation)
        if sync != "open":
            self.sync_file(inode, pages, datasync=sync == "opendsync")

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
