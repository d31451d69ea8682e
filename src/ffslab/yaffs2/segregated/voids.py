"""Which metadata pages are void: those older than a part of the ids that lacks their object.

The newest version of a part counts that is good; its block is a version of it from the last page
of the block on, so the block's own pages are older. Interpretations: a part is read if the tags
of its page are those of the summary's last page, whether or not the summary itself is good. Of
blocks with one sequence number that with the higher block number is newer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ffslab.yaffs2.format import ID_SUMMARY
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.mount import newest_first
from ffslab.yaffs2.scan import BlockKind, BlockRecord, FlashScan
from ffslab.yaffs2.segregated.ids import IdPart, parse_part, part_ids, part_number


class PartVersion(NamedTuple):
    """A part and the block that has it."""

    record: BlockRecord
    part: IdPart


@dataclass(frozen=True, slots=True)
class ObjectIds:
    """All parts on flash, the newest first, and the newest good version of each by number.

    `count` is the number of ids of a part, 0 if there are no parts in this geometry.
    """

    count: int = 0
    versions: tuple[PartVersion, ...] = ()
    newest: dict[int, PartVersion] = field(default_factory=dict)

    def version_for(self, object_id: int) -> PartVersion | None:
        """The newest part that says whether there is such an object."""
        number = part_number(object_id, self.count)
        return None if number is None else self.newest.get(number)

    def voids(self, record: BlockRecord, object_id: int) -> bool:
        """Whether what the block says of that object is void."""
        version = self.version_for(object_id)
        if version is None or age(record) > age(version.record):
            return False
        return not version.part.has(object_id)


def age(record: BlockRecord) -> tuple[int, int]:
    """Of two blocks the newer has the higher one."""
    return record.sequence, record.block


def read_ids(flash: FlashImage, scan: FlashScan) -> ObjectIds:
    """The parts of all metadata blocks."""
    count = part_ids(scan.geometry)
    if not count:
        return ObjectIds()
    versions: list[PartVersion] = []
    newest: dict[int, PartVersion] = {}
    for record in newest_first(scan, BlockKind.METADATA):
        if not _has_last_summary_page(scan, record):
            continue
        page = flash.data(record.block, record.last_page)
        version = PartVersion(record, parse_part(scan.geometry, page))
        versions.append(version)
        if version.part.good:
            newest.setdefault(version.part.number, version)
    return ObjectIds(count, tuple(versions), newest)


def _has_last_summary_page(scan: FlashScan, record: BlockRecord) -> bool:
    geometry = scan.geometry
    last = record.pages[-1]
    if last.page != geometry.pages_per_block - 1 or not last.readable:
        return False
    tags = last.tags
    expected = (record.sequence, ID_SUMMARY, geometry.summary_pages)
    return (tags.sequence, tags.object_id, tags.chunk_id) == expected
