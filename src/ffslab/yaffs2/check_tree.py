"""Checks of the tree: parents, names, hard links, and which data belong to a file.

Interpretations: data that are newer than their file's newest header may go beyond its size,
because a header is written at close; with a valid checkpoint they may not, but the check of the
checkpoint finds that. A middle chunk may hold fewer than S bytes (a hole followed it); what is
behind its byte count reads as zero here, so bytes there that are not zero are worth a warning:
a reader that takes the whole page sees other contents.
"""

from __future__ import annotations

from collections import defaultdict

from ffslab.fsimage.node import text
from ffslab.yaffs2.format import (
    GRAVES,
    ID_DELETED,
    ID_LOST_FOUND,
    ID_ROOT,
    ID_UNLINKED,
    TYPE_NAMES,
    ObjectType,
)
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.mount import FoundObject, Mounted
from ffslab.yaffs2.problems import Problems, Where
from ffslab.yaffs2.tree import PATH_BYTES_MAX, Fate, Tree


def check_tree(flash: FlashImage, mounted: Mounted, tree: Tree, problems: Problems) -> None:
    """Every object by itself, then names and links."""
    for object_id, obj in sorted(mounted.objects.items()):
        _check_object(tree, obj, problems)
        if obj.object_type is ObjectType.FILE and obj.parent_id != ID_DELETED:
            _check_data(flash, tree, obj, problems)
        if obj.object_type is ObjectType.HARD_LINK:
            _check_link(tree, obj, problems)
        if object_id in (ID_ROOT, ID_LOST_FOUND):
            _check_root(obj, problems)
    _check_names(tree, problems)
    for object_id in tree.rooted():
        if tree.path_bytes(object_id).startswith(b"#"):
            message = f"the path has more than {PATH_BYTES_MAX} bytes"
            problems.add("path-long", message, _where(tree, tree.objects[object_id]))


def _where(tree: Tree, obj: FoundObject) -> Where:
    block, page = obj.header_at or (None, None)
    rooted = tree.fates[obj.object_id] is Fate.ROOTED
    path = tree.path(obj.object_id) if rooted else None
    return Where(block, page, obj.object_id, path)


def _check_object(tree: Tree, obj: FoundObject, problems: Problems) -> None:
    if obj.fake:
        return
    where = _where(tree, obj)
    if obj.header is None and not obj.shadowed:
        message = f"has {len(obj.chunks)} data chunks and no header"
        problems.add("object-no-header", message, where)
        return
    if obj.data_before_type:
        message = f"has data newer than its header, which says {TYPE_NAMES[obj.object_type]}"
        problems.add("object-type-change", message, where)
    if obj.shadowed:
        problems.add("object-shadowed", "is deleted by a mount", where)
    elif obj.parent_id == ID_UNLINKED:
        problems.add("object-unlinked", "is deleted by a mount", where)
    _check_fate(tree, obj, problems, where)


def _check_fate(tree: Tree, obj: FoundObject, problems: Problems, where: Where) -> None:
    fate = tree.fates[obj.object_id]
    name = text(tree.name(obj.object_id))
    if fate is Fate.DELETED and obj.parent_id not in GRAVES:
        message = f"{name} is in directory {obj.parent_id}, which was deleted"
        problems.add("object-in-deleted", message, where)
    elif fate is Fate.CYCLE:
        message = f"{name} is in directory {obj.parent_id}, which is below itself"
        problems.add("object-cycle", message, where)
    elif fate is Fate.ORPHAN:
        parent = tree.objects.get(obj.parent_id)
        if parent is not None and parent.object_type is not ObjectType.DIRECTORY:
            message = f"{name} is in object {obj.parent_id}, a {TYPE_NAMES[parent.object_type]}"
            problems.add("object-parent-type", message, where)
        else:
            message = f"{name} is in directory {obj.parent_id}, which does not reach the root"
            problems.add("object-orphan", message, where)


def _check_root(obj: FoundObject, problems: Problems) -> None:
    parents = (0, ID_ROOT) if obj.object_id == ID_ROOT else (ID_ROOT,)
    if obj.object_type is not ObjectType.DIRECTORY or obj.parent_id not in parents:
        kind = TYPE_NAMES[obj.object_type]
        where = Where(object_id=obj.object_id)
        problems.add("root-type", f"is a {kind} in {obj.parent_id}", where)


def _check_data(flash: FlashImage, tree: Tree, obj: FoundObject, problems: Problems) -> None:
    """Sizes and places of the chunks that a mount takes for the file's."""
    data_bytes = flash.geometry.data_bytes
    if obj.header and obj.scanned_size > obj.header_size:
        message = f"has {obj.scanned_size} bytes of data, {obj.header_size} in its header"
        problems.add("data-unflushed", message, _where(tree, obj))
    for chunk_id, chunk in obj.chunks.items():
        start = (chunk_id - 1) * data_bytes
        end = start + chunk.byte_count
        if end > obj.size and not (obj.has_tail and start < obj.size):
            message = f"chunk {chunk_id} ends at byte {end}, the file at {obj.size}"
            where = _where(tree, obj)._replace(block=chunk.block, page=chunk.page)
            problems.add("data-behind-end", message, where)
        seen = min(data_bytes, obj.size - start)
        if chunk.byte_count < seen:
            rest = flash.data(chunk.block, chunk.page)[chunk.byte_count : seen]
            if rest.strip(b"\0"):
                message = f"chunk {chunk_id} has more bytes than its count, {chunk.byte_count}"
                where = _where(tree, obj)._replace(block=chunk.block, page=chunk.page)
                problems.add("data-after-count", message, where)


def _check_link(tree: Tree, obj: FoundObject, problems: Problems) -> None:
    if tree.fates[obj.object_id] is not Fate.ROOTED:
        return
    target = tree.objects.get(obj.target_id)
    where = _where(tree, obj)
    if target is None or tree.fates[obj.target_id] is Fate.DELETED:
        message = f"the link's target, object {obj.target_id}, does not exist"
        problems.add("link-target-missing", message, where)
    elif target.object_type in (ObjectType.DIRECTORY, ObjectType.HARD_LINK):
        message = f"the link's target is a {TYPE_NAMES[target.object_type]}"
        problems.add("link-target-type", message, where)


def _check_names(tree: Tree, problems: Problems) -> None:
    for parent in tree.children:
        by_name: dict[bytes, list[int]] = defaultdict(list)
        for member in tree.children[parent]:
            if member not in tree.strays:
                by_name[tree.name(member)].append(member)
        for members in by_name.values():
            for member in members[1:]:
                _report_twin(tree, members[0], member, problems)


def _report_twin(tree: Tree, first: int, second: int, problems: Problems) -> None:
    twin, other = tree.objects[first], tree.objects[second]
    where = _where(tree, other)
    if first in _target(other) or second in _target(twin):
        problems.add("name-link-interrupted", f"object {first} has the name as well", where)
    else:
        problems.add("name-duplicate", f"object {first} has the name as well", where)


def _target(obj: FoundObject) -> tuple[int, ...]:
    return (obj.target_id,) if obj.object_type is ObjectType.HARD_LINK else ()
