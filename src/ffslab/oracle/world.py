"""The tree while a history is carried out in memory: objects, their names, their contents.

An object is a file, a directory, a symbolic link or something else; a name is an entry of a
directory. What one can see of an object under a path is a `Node`; two nodes are equal if an
observation could not tell them apart.

A descriptor holds an object, which may have no name any more.

Below an overlay there may be a tree from the beginning. What is there of it is *lower* until the
first change copies it up. A directory that is in both file systems counts one link; of a file with
several names each keeps its count, and the one that is copied up becomes a file of its own.

A call that failed half way leaves a *doubtful* node: whatever is found there is right. That is so
until a later call under the same path succeeds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ffslab.oracle.attributes import UNKNOWN, USUAL, AttributeLog, Attributes
from ffslab.oracle.files import FileLog, Version
from ffslab.oracle.observation import DIRECTORY, FILE, OTHER, SYMLINK
from ffslab.oracle.operations import DESCRIPTORS, ROOT, Operation

ROOT_OBJECT = 0
ANY_LINKS = -1


class ContradictionError(Exception):
    """A record says that a call succeeded that cannot have."""


@dataclass(frozen=True, slots=True)
class Node:
    """An object as seen under one path. `version` of a file, `target` of a symbolic link.

    `attributes`: as text, without parts that come to flash in their own time.
    """

    object: int
    kind: str
    links: int
    version: Version | None = None
    target: str = ""
    attributes: str = ""
    is_doubtful: bool = False


DOUBTFUL = Node(-1, OTHER, ANY_LINKS, is_doubtful=True)


@dataclass(slots=True)
class Object:
    """`names`: (directory, name) of each of its entries; `children` of a directory by name.

    `links`: as many, whatever names there are; None: as many as there are.
    """

    kind: str
    target: str = ""
    names: list[tuple[int, str]] = field(default_factory=list)
    children: dict[str, int] = field(default_factory=dict)
    log: FileLog | None = None
    links: int | None = None
    attributes: Attributes = UNKNOWN
    attribute_logs: dict[str, AttributeLog] = field(default_factory=dict)

    @property
    def is_divided_by_a_copy(self) -> bool:
        """Whether it is a lower file with other names, which the one that is copied up leaves."""
        return self.kind == FILE and self.links is not None and self.links > 1


@dataclass(frozen=True, slots=True)
class Opened:
    """What a descriptor is open of; `sync`: how each write through it syncs."""

    object: int
    sync: str


class World:
    """The tree, from an empty file system on. `root_links`: of the root then; `loose`: parts
    of attributes that come to flash in their own time.

    Directories count those below them, but for a file system whose empty root has one link.
    `touched`: of what is in the tree the first call that copied it up, or took a name of it away.
    """

    def __init__(self, root_links: int, loose: Collection[str] = ()) -> None:
        self.objects = [Object(DIRECTORY)]
        self.opened: dict[str, Opened] = {}
        self.doubtful: set[str] = set()
        self.touched: dict[int, int] = {}
        self._root_links = root_links
        self._loose = loose

    def put_below(self, lower: Sequence[Operation]) -> None:
        """Makes the tree of an overlay that nothing has been written to."""
        for index, operation in enumerate(lower, -len(lower)):
            if operation.verb == "link":
                self.add_name(self.must_find(operation.path), operation.other)
                continue
            kind = KIND_MADE_BY.get(operation.verb, FILE)
            number = self.make(kind, operation.path, index, operation.other)
            if operation.size_bytes:
                log = FileLog(index, operation.size_bytes, operation.seed)
                self.objects[number].log = log
        for tree_object in self.objects:
            tree_object.attributes, tree_object.attribute_logs = UNKNOWN, {}
            if tree_object.kind == DIRECTORY:
                tree_object.links = ANY_LINKS
            elif len(tree_object.names) > 1:
                tree_object.links = len(tree_object.names)
        self.objects[ROOT_OBJECT].links = 1  # fs/overlayfs/inode.c, ovl_getattr(): it is in both

    def touch(self, path: str, operation: int) -> None:
        """What is under a path, and the directories above it, are not only below any more."""
        while path and path not in DESCRIPTORS:
            number = self.find(path)
            if number is not None:
                self.touched.setdefault(number, operation)
            path = path.rpartition("/")[0]

    # Looking.

    def find(self, path: str) -> int | None:
        """The object under a path, or that a descriptor is open of."""
        if path in DESCRIPTORS:
            opened = self.opened.get(path)
            return opened.object if opened else None
        number = ROOT_OBJECT
        for name in path.split("/") if path != ROOT else ():
            child = self.objects[number].children.get(name)
            if child is None:
                return None
            number = child
        return number

    def must_find(self, path: str) -> int:
        number = self.find(path)
        if number is None:
            is_path = path not in DESCRIPTORS
            raise ContradictionError(f"there is no {path}" if is_path else f"{path} is not open")
        return number

    def place(self, path: str) -> tuple[int, str]:
        """The directory and the name of a path."""
        parent, slash, name = path.rpartition("/")
        number = self.must_find(parent) if slash else ROOT_OBJECT
        if self.objects[number].kind != DIRECTORY:
            raise ContradictionError(f"{parent} is no directory")
        return number, name

    def file(self, path: str) -> tuple[int, FileLog]:
        """The file under a path and its contents."""
        number = self.must_find(path)
        log = self.objects[number].log
        if log is None:
            raise ContradictionError(f"{path} is no file")
        return number, log

    def paths(self, number: int) -> Iterator[str]:
        """All paths of an object."""
        if number == ROOT_OBJECT:
            yield ROOT
        for directory, name in self.objects[number].names:
            for parent in self.paths(directory):
                yield name if parent == ROOT else f"{parent}/{name}"

    def below(self, number: int) -> Iterator[int]:
        """The object and all that is below it."""
        yield number
        for child in self.objects[number].children.values():
            yield from self.below(child)

    def nodes(self, numbers: Iterable[int]) -> dict[str, Node]:
        """What is to be seen of these objects, under all their paths."""
        nodes = {}
        for number in numbers:
            node = self.node(number)
            for path in self.paths(number):
                nodes[path] = DOUBTFUL if path in self.doubtful else node
        return nodes

    def node(self, number: int) -> Node:
        obj = self.objects[number]
        if obj.links is not None:
            links = obj.links
        elif obj.kind == DIRECTORY:
            links = self._directory_links(number, obj)
        else:
            links = len(obj.names)
        version = obj.log.last if obj.log else None
        attributes = obj.attributes.text(self._loose)
        return Node(number, obj.kind, links, version, obj.target, attributes)

    # Changing.

    def _directory_links(self, number: int, obj: Object) -> int:
        if self._root_links == 1:
            return 1
        links = self._root_links if number == ROOT_OBJECT else 2
        return links + sum(self.objects[child].kind == DIRECTORY for child in obj.children.values())

    def make(self, kind: str, path: str, operation: int, target: str = "") -> int:
        """A new object under a new name."""
        number = self.make_unnamed(kind, operation, target)
        self.add_name(number, path)
        return number

    def make_unnamed(self, kind: str, operation: int, target: str = "", mode: str = "") -> int:
        """A new object without a name, with the usual mode or this one."""
        attributes = USUAL.get(kind, UNKNOWN)
        if mode:
            attributes = Attributes(mode)
        log = FileLog(operation) if kind == FILE else None
        logs = {name: AttributeLog([(operation, attributes.part(name))]) for name in self._loose}
        self.objects.append(
            Object(kind, target, log=log, attributes=attributes, attribute_logs=logs)
        )
        return len(self.objects) - 1

    def set_attributes(self, number: int, attributes: Attributes, operation: int) -> None:
        """The object has these from this call on."""
        changed = self.objects[number]
        for name, log in changed.attribute_logs.items():
            if changed.attributes.part(name) != attributes.part(name):
                log.versions.append((operation, attributes.part(name)))
        changed.attributes = attributes

    def divide(self, path: str) -> int:
        """One name of a file of several becomes that of a new file with the same contents."""
        number = self.drop_name(path)
        file = self.objects[number]
        self.objects.append(
            Object(file.kind, file.target, log=file.log.copy() if file.log else None)
        )
        self.add_name(len(self.objects) - 1, path)
        return len(self.objects) - 1

    def open(self, descriptor: str, opened: Opened) -> None:
        if descriptor in self.opened:
            raise ContradictionError(f"{descriptor} is open already")
        self.opened[descriptor] = opened

    def close(self, descriptor: str) -> int:
        """The object that this descriptor was open of."""
        number = self.must_find(descriptor)
        del self.opened[descriptor]
        return number

    def add_name(self, number: int, path: str) -> None:
        directory, name = self.place(path)
        if name in self.objects[directory].children:
            raise ContradictionError(f"{path} is there already")
        self.objects[directory].children[name] = number
        self.objects[number].names.append((directory, name))

    def drop_name(self, path: str) -> int:
        """The object that had this name."""
        directory, name = self.place(path)
        number = self.objects[directory].children.pop(name, None)
        if number is None:
            raise ContradictionError(f"there is no {path}")
        self.objects[number].names.remove((directory, name))
        return number


KIND_MADE_BY = {"mkdir": DIRECTORY, "create": FILE, "symlink": SYMLINK, "mkfifo": OTHER}
