"""From objects to a tree: who is reachable, under which path, with which contents.

An object without a path to the root that was not deleted itself is in lost+found, where a mount
puts it. Of directories that are below each other, that one is put there whose parent was passed
already on the way up from the lowest id.

Paths are bytes turned into text with `surrogateescape`, below "/". A path of more than 4096 bytes
is not built: it begins with `#ID` of the directory where it was cut, so that a damaged image
cannot make paths of unlimited length.
"""

from __future__ import annotations

import stat
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

from ffslab.fsimage.node import Node, text
from ffslab.yaffs2.format import (
    GRAVES,
    ID_LOST_FOUND,
    ID_ROOT,
    TYPE_NAMES,
    ObjectType,
)
from ffslab.yaffs2.header import DEVICES, FORMATS, mode_fits
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.mount import FoundObject, Mounted
from ffslab.yaffs2.xattr import parse_xattrs

PATH_BYTES_MAX = 4096
LOST_FOUND_NAME = b"lost+found"


class Fate(Enum):
    """Where following the parents of an object ends."""

    ROOTED = "rooted"
    DELETED = "deleted"
    ORPHAN = "orphan"
    CYCLE = "cycle"


@dataclass(frozen=True, slots=True)
class Tree:
    """Objects arranged. `children` are ids by parent id, sorted by name; `strays` are adopted
    by lost+found, `fates` say what would be of them without it.
    """

    objects: dict[int, FoundObject]
    children: dict[int, tuple[int, ...]]
    fates: dict[int, Fate]
    strays: frozenset[int]
    links: dict[int, tuple[int, ...]]
    _paths: dict[int, bytes] = field(default_factory=dict)

    def name(self, object_id: int) -> bytes:
        """The object's name; `objN` if it has none, as a mount names it in lost+found."""
        obj = self.objects[object_id]
        if object_id == ID_LOST_FOUND and not (obj.header and obj.header.name):
            return LOST_FOUND_NAME
        name = obj.header.name if obj.header else b""
        return name or b"obj%d" % object_id

    def parent_id(self, object_id: int) -> int:
        """The directory that shows the object."""
        if object_id == ID_LOST_FOUND:
            return ID_ROOT
        return ID_LOST_FOUND if object_id in self.strays else self.objects[object_id].parent_id

    def path_bytes(self, object_id: int) -> bytes:
        """Path from the root; of objects without one, a path that begins with `#ID`."""
        chain: list[int] = []
        here = object_id
        seen: set[int] = set()
        while here not in self._paths and here != ID_ROOT:
            if here not in self.objects or here in seen or here in GRAVES:
                break
            seen.add(here)
            chain.append(here)
            here = self.parent_id(here)
        base = b"" if here == ID_ROOT else self._paths.get(here, b"#%d" % here)
        for member in reversed(chain):
            if len(base) + 256 > PATH_BYTES_MAX:
                base = b"#%d" % self.parent_id(member)
            base = base + b"/" + self.name(member)
            if self.objects[member].object_type is ObjectType.DIRECTORY:
                self._paths[member] = base
        return base or b"/"

    def path(self, object_id: int) -> str:
        return text(self.path_bytes(object_id))

    def rooted(self) -> Iterator[int]:
        """Ids reachable from the root, parents first, names in order."""
        stack = [ID_ROOT]
        while stack:
            here = stack.pop()
            yield here
            stack.extend(reversed(self.children.get(here, ())))


def build_tree(mounted: Mounted) -> Tree:
    """Arranges the objects of a mount scan."""
    objects = mounted.objects
    members: dict[int, list[int]] = defaultdict(list)
    links: dict[int, list[int]] = defaultdict(list)
    for object_id, obj in objects.items():
        if obj.object_type is ObjectType.HARD_LINK and obj.parent_id not in GRAVES:
            links[obj.target_id].append(object_id)
    by_target = {key: tuple(ids) for key, ids in links.items()}
    tree = Tree(objects, {}, _fates(objects), _strays(objects), by_target)
    for object_id in objects:
        parent = tree.parent_id(object_id)
        if object_id not in (ID_ROOT, *GRAVES) and parent not in GRAVES:
            members[parent].append(object_id)
    for parent, ids in members.items():
        tree.children[parent] = tuple(sorted(ids, key=lambda member: (tree.name(member), member)))
    return tree


def _strays(objects: dict[int, FoundObject]) -> frozenset[int]:
    """Objects at which the way to the root breaks: they have no directory, or pass one twice."""
    strays = set()
    settled = {ID_ROOT, ID_LOST_FOUND, *GRAVES}
    for start in sorted(objects):
        passed: set[int] = set()
        here = start
        while here not in settled:
            settled.add(here)
            passed.add(here)
            parent = objects[here].parent_id
            if parent in passed or not _is_kept_directory(objects.get(parent)):
                strays.add(here)
                break
            here = parent
    return frozenset(strays)


def _is_kept_directory(obj: FoundObject | None) -> bool:
    return (
        obj is not None and obj.object_type is ObjectType.DIRECTORY and obj.parent_id not in GRAVES
    )


def _fates(objects: dict[int, FoundObject]) -> dict[int, Fate]:
    """Follows every object's parents once."""
    fates = {ID_ROOT: Fate.ROOTED, **dict.fromkeys(GRAVES, Fate.DELETED)}
    for start in objects:
        chain: list[int] = []
        on_chain: set[int] = set()
        here = start
        while here not in fates and here not in on_chain:
            chain.append(here)
            on_chain.add(here)
            here = objects[here].parent_id
            parent = objects.get(here)
            if parent is None or parent.object_type is not ObjectType.DIRECTORY:
                here = 0
                break
        fate = Fate.CYCLE if here in on_chain else fates.get(here, Fate.ORPHAN)
        fates.update(dict.fromkeys(chain, fate))
    return fates


def nodes(tree: Tree, flash: FlashImage) -> Iterator[Node]:
    """The nodes reachable from the root, which comes first; links to nothing are left out."""
    for object_id in tree.rooted():
        node = node_of(tree, flash, object_id)
        if node is not None:
            yield node


def node_of(tree: Tree, flash: FlashImage, object_id: int) -> Node | None:
    """The node of one object; None for a hard link whose target is none."""
    obj = tree.objects[object_id]
    if obj.object_type is not ObjectType.HARD_LINK:
        return _node(tree, flash, obj, tree.path(object_id), None)
    target = tree.objects.get(obj.target_id)
    if target is None or target.object_type in (ObjectType.HARD_LINK, ObjectType.DIRECTORY):
        return None
    return _node(tree, flash, target, tree.path(object_id), tree.path(target.object_id))


class NamedNodes:
    """The tree as it is extracted, without a lost+found that is neither on flash nor in use."""

    root_number = ID_ROOT

    def __init__(self, tree: Tree, flash: FlashImage) -> None:
        self._tree = tree
        self._flash = flash

    def below(self, number: int) -> Iterator[tuple[bytes, int]]:
        """Names in a directory, with the ids of their objects."""
        for child in self._tree.children.get(number, ()):
            if child != ID_LOST_FOUND or not self._is_implied(child):
                yield self._tree.name(child), child

    def node(self, number: int, path: str) -> Node | None:
        """The node of an object, which has one path."""
        del path
        return node_of(self._tree, self._flash, number)

    def _is_implied(self, object_id: int) -> bool:
        header = self._tree.objects[object_id].header
        return header is None and not self._tree.children.get(object_id)


def _pieces(flash: FlashImage, obj: FoundObject) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of an object's chunks, up to its size."""
    data_bytes = flash.geometry.data_bytes
    for chunk_id, chunk in sorted(obj.chunks.items()):
        start = (chunk_id - 1) * data_bytes
        count = min(chunk.byte_count, obj.size - start)
        if count > 0:
            yield start, flash.data(chunk.block, chunk.page)[:count]


def _mode_without_header(obj: FoundObject) -> int:
    """What a mount shows: private, but for the root; the format says nothing."""
    if obj.object_type is not ObjectType.DIRECTORY:
        return stat.S_IFREG | 0o600
    return stat.S_IFDIR | (0o755 if obj.object_id == ID_ROOT else 0o700)


def _mode(kind: ObjectType, mode: int) -> int:
    """The mode, with the object's file type if it says another one."""
    return mode if mode_fits(kind, mode) else stat.S_IMODE(mode) | FORMATS[kind][0]


def _node(tree: Tree, flash: FlashImage, obj: FoundObject, path: str, link_of: str | None) -> Node:
    header = obj.header
    if header is None or obj.header_at is None:
        return Node(
            path=path,
            object_id=obj.object_id,
            type=TYPE_NAMES[obj.object_type],
            mode=_mode_without_header(obj),
            uid=0,
            gid=0,
            size=obj.size,
            atime=0,
            mtime=0,
            ctime=0,
            link_of=link_of,
            _pieces=partial(_pieces, flash, obj),
        )
    area = flash.data(*obj.header_at)[obj.attributes]
    is_device = obj.object_type is ObjectType.SPECIAL and stat.S_IFMT(header.mode) in DEVICES
    return Node(
        path=path,
        object_id=obj.object_id,
        type=TYPE_NAMES[obj.object_type],
        mode=_mode(obj.object_type, header.mode),
        uid=header.uid,
        gid=header.gid,
        size=len(header.alias) if obj.object_type is ObjectType.SYMLINK else obj.size,
        atime=header.atime,
        mtime=header.mtime,
        ctime=header.ctime,
        rdev=header.rdev if is_device else 0,
        target=text(header.alias) if obj.object_type is ObjectType.SYMLINK else "",
        link_of=link_of,
        links=1 + len(tree.links.get(obj.object_id, ())),
        xattrs={text(name): value for name, value in parse_xattrs(area)[0].items()},
        _pieces=partial(_pieces, flash, obj),
    )
