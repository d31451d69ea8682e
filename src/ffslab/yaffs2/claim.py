"""What a header and its tags say of an object, and which of them is believed where they differ.

A mount takes type, parent and size from the tags and the rest from the header, so for an image
without fault it does not matter. Where they contradict each other, which the check reports, the
tools keep what a user would miss: name and contents.

- *Type*: the header's if it agrees with the header's own mode (of a hard link: if it has a
  target), or if the tags' is none; else the tags'.
- *Parent*: the tags'; the header's where the tags' leads nowhere or would delete the object.
- *Target* of a hard link: the tags'; the header's where the tags' names nothing that can be one.
- *Size*: the tags', and data up to the larger one of both are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.yaffs2.format import GRAVES, ID_MAX, ObjectType
from ffslab.yaffs2.header import FORMATS, UNSET, ObjectHeader, mode_fits
from ffslab.yaffs2.tags import Tags

_POSSIBLE = range(ObjectType.FILE, ObjectType.SPECIAL + 1)


@dataclass(frozen=True, slots=True)
class Claim:
    """What is believed. `parents` and `targets` are in order of belief, one or two.

    Chunks from byte `limit` on are dead; it is more than `size` only if the size is in doubt.
    """

    object_type: ObjectType
    parents: tuple[int, ...]
    targets: tuple[int, ...]
    size: int
    limit: int
    shrinks: bool


def claim_of(tags: Tags, header: ObjectHeader, max_file_bytes: int) -> Claim | None:
    """None if neither says what the object is."""
    kind = _believed_type(tags, header)
    if kind is None:
        return None
    parents = _distinct(tags.parent_id, header.parent_id) if tags.extended else (header.parent_id,)
    if len(parents) == 2 and parents[0] in GRAVES:
        parents = parents[::-1]
    targets: tuple[int, ...] = ()
    if kind is ObjectType.HARD_LINK:
        of_tags = tags.extended and tags.type_number == kind
        targets = _distinct(tags.bytes_word, header.target_id) if of_tags else (header.target_id,)
    sizes = [0]
    if kind is ObjectType.FILE and parents[0] not in GRAVES:
        sizes = [min(size, max_file_bytes) for size in _sizes(tags, header)]
    shrinks = tags.shrink or (not tags.extended and header.is_shrink == 1)
    return Claim(kind, parents, targets, sizes[0], max(sizes), shrinks or parents[0] in GRAVES)


def _distinct(first: int, second: int) -> tuple[int, ...]:
    return (first,) if first == second else (first, second)


def _believed_type(tags: Tags, header: ObjectHeader) -> ObjectType | None:
    of_header = header.type_number if header.type_number in _POSSIBLE else None
    of_tags = tags.type_number if tags.extended and tags.type_number in _POSSIBLE else None
    if of_header is not None and (of_tags is None or _agrees_with_itself(header)):
        return ObjectType(of_header)
    return None if of_tags is None else ObjectType(of_tags)


def _agrees_with_itself(header: ObjectHeader) -> bool:
    kind = ObjectType(header.type_number)
    if kind is ObjectType.HARD_LINK:
        return 0 < header.target_id <= ID_MAX
    return kind in FORMATS and mode_fits(kind, header.mode)


def _sizes(tags: Tags, header: ObjectHeader) -> list[int]:
    """The size of a file by its tags, if they know it, and by its header, if it is set."""
    sizes = []
    if tags.extended and tags.type_number == ObjectType.FILE:
        if tags.knows_large_sizes and header.size & UNSET == tags.bytes_word:
            return [header.size]
        sizes.append(tags.bytes_word)
    if not (header.size_low == UNSET and header.size_high == UNSET) or not sizes:
        sizes.append(header.size)
    return sizes
