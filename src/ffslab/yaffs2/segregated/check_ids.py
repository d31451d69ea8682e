"""Checks of the parts of the bitmap of object ids against the headers on flash.

What a part voids is ignored, and need not agree with it: headers of deleted objects may be erased
before older ones. Where they cannot have been, because no sequence number is missing from the
object's last header up to the part, the deletion must be there.

Interpretations: a deletion that cannot be read, and an object that was replaced by a rename, are
no proof. That an object is in a part though it was deleted before is a warning: it may come back
when the header that says so is erased, unless it gets another one. The position in a part may be
above those of all blocks, since the newest may have been erased.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ffslab.yaffs2.format import GRAVES, ID_DELETED, ID_MAX, SEQUENCE_LIMIT
from ffslab.yaffs2.header import parse_header
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.mount import mount_tags, newest_first
from ffslab.yaffs2.problems import Problems, Where
from ffslab.yaffs2.scan import LOG_KINDS, BlockKind, BlockRecord, FlashScan
from ffslab.yaffs2.segregated.ids import PARTS_MAX, PartState
from ffslab.yaffs2.segregated.marks import position_of
from ffslab.yaffs2.segregated.voids import ObjectIds, PartVersion, age
from ffslab.yaffs2.tags import Tags

_POSITION_LAST = position_of(SEQUENCE_LIMIT, 0)  # *now* behind the last block that can be


@dataclass(slots=True)
class _LastHeader:
    """The newest header of an object that is not newer than its part."""

    version: PartVersion
    record: BlockRecord
    page: int
    tags: Tags


@dataclass(slots=True)
class _Headers:
    """What the headers say of the objects: last ones by id, ids with newer ones, shadowed ids."""

    last: dict[int, _LastHeader] = field(default_factory=dict)
    newer: set[int] = field(default_factory=set)
    shadowed: set[int] = field(default_factory=set)


def highest_id(scan: FlashScan) -> int:
    """The highest id in any metadata page; -1 without one."""
    return max(
        (
            tags.object_id
            for record in scan.of_kind(BlockKind.METADATA)
            for _, tags in mount_tags(record)
            if tags.object_id <= ID_MAX
        ),
        default=-1,
    )


def check_ids(flash: FlashImage, scan: FlashScan, ids: ObjectIds, problems: Problems) -> None:
    """Every part by itself, then the newest ones against the headers."""
    for record, part in ids.versions:
        where = Where(record.block, record.last_page)
        if part.state is PartState.MAGIC:
            problems.add("ids-part", "has no part of the object ids behind its entries", where)
        elif part.state is PartState.CRC:
            problems.add("ids-part", "its part of the object ids has another CRC", where)
        elif part.state is PartState.FIELDS:
            message = f"its part has {part.count} ids from {part.first} on; parts have {ids.count}"
            problems.add("ids-fields", f"{message}, and there are {PARTS_MAX}", where)
        elif part.now > _POSITION_LAST:
            message = f"its part has the position {part.now:#x}, which no data page can have"
            problems.add("ids-fields", message, where)
    headers = _read_headers(flash, scan, ids)
    sequences = {record.sequence for record in scan.of_kind(*LOG_KINDS)}
    for object_id, last in sorted(headers.last.items()):
        where = Where(last.record.block, last.page, object_id)
        last_part = f"the part in block {last.version.record.block}"
        if not last.version.part.has(object_id):
            if object_id not in headers.shadowed and _is_alive(last, sequences):
                problems.add("ids-missing", f"is missing in {last_part}", where)
        elif object_id not in headers.newer and _is_deleted_before(last):
            problems.add(
                "ids-deleted", f"says that the object is deleted; {last_part} has it", where
            )


def _read_headers(flash: FlashImage, scan: FlashScan, ids: ObjectIds) -> _Headers:
    headers = _Headers()
    for record in newest_first(scan, BlockKind.METADATA):
        for page, tags in mount_tags(record):
            object_id = tags.object_id
            version = ids.version_for(object_id)
            if not tags.is_header or version is None:
                continue
            if tags.shadows:
                headers.shadowed.add(parse_header(flash.data(record.block, page)).shadowed)
            if age(record) > age(version.record):
                headers.newer.add(object_id)
            elif object_id not in headers.last:
                headers.last[object_id] = _LastHeader(version, record, page, tags)
    return headers


def _is_alive(last: _LastHeader, sequences: set[int]) -> bool:
    """Whether the object was not deleted from its last header up to the part, for certain."""
    if last.tags.parent_id in GRAVES:
        return False
    between = range(last.record.sequence, last.version.record.sequence)
    return all(sequence in sequences for sequence in between)


def _is_deleted_before(last: _LastHeader) -> bool:
    return last.tags.parent_id == ID_DELETED and age(last.record) < age(last.version.record)
