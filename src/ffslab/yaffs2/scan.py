"""Reading all tags of a partition: what each page and block holds, before any interpretation.

Only pages that are not blank are kept. A page is blank if all its bytes, OOB included, are 0xFF;
up to 8 bits that are 0 in an otherwise erased page count as disturbed cells, not as contents.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from ffslab.yaffs2.format import (
    CHECKPOINT_FORMS,
    ID_SUMMARY,
    SEQUENCE_BAD_BLOCK,
    SUMMARY_HEADER_BYTES,
    Geometry,
    Layout,
    sequence_is_valid,
)
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.segregated.marks import SegregatedTags, decoded_entry, understood
from ffslab.yaffs2.summary import Summary, parse_summary, piece_sizes
from ffslab.yaffs2.tags import Tags, TagState

_DISTURBED_BITS = 8


class BlockKind(Enum):
    """What a mount makes of a block after its first page.

    Headers are in `DATA` too, but for the segregated layout: it has `METADATA` for them.
    """

    BAD = "bad"
    ERASED = "erased"
    DATA = "data"
    CHECKPOINT = "checkpoint"
    IGNORED = "ignored"
    METADATA = "metadata"


LOG_KINDS = (BlockKind.DATA, BlockKind.METADATA)  # blocks with a sequence number


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page that is not blank. `tags` are as corrected; meaningless if uncorrectable."""

    page: int
    state: TagState
    tags: Tags

    @property
    def readable(self) -> bool:
        return self.state in (TagState.GOOD, TagState.CORRECTED)

    @property
    def is_foreign(self) -> bool:
        """Whether the tags are of the layout that the partition does not have."""
        return self.state is TagState.FOREIGN


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """A block with its pages that are not blank, ascending."""

    block: int
    kind: BlockKind
    sequence: int
    pages: tuple[PageRecord, ...] = ()
    disturbed: tuple[int, ...] = ()
    summary: Summary | None = None

    @property
    def last_page(self) -> int:
        """The highest page that is not blank; -1 in an erased block."""
        return self.pages[-1].page if self.pages else -1

    @property
    def passes_for_empty(self) -> bool:
        """A mount asks the tags of the first page: half an erase may have left others."""
        if self.kind is BlockKind.IGNORED:
            return self.pages[0].page != 0 or self.pages[0].state is TagState.UNUSED
        return self.kind is BlockKind.ERASED

    @property
    def is_foreign(self) -> bool:
        """Whether the block is one of the other layout."""
        return bool(self.pages) and self.pages[0].page == 0 and self.pages[0].is_foreign

    def tags_with(self, words: tuple[int, int, int]) -> Tags:
        """Tags of a page of this block from an entry of its summary."""
        first = self.pages[0].tags
        if isinstance(first, SegregatedTags):
            return SegregatedTags(self.sequence, *words, first.metadata)
        return Tags(self.sequence, *words)

    @property
    def summary_valid(self) -> bool:
        return self.summary is not None and not self.summary.problem


@dataclass(frozen=True, slots=True)
class FlashScan:
    """All blocks of a partition, in order of their numbers."""

    geometry: Geometry
    blocks: tuple[BlockRecord, ...]
    first_block: int = 0
    layout: Layout = Layout.ORIGINAL

    def of_kind(self, *kinds: BlockKind) -> list[BlockRecord]:
        return [record for record in self.blocks if record.kind in kinds]

    @property
    def newest_sequence(self) -> int:
        """The highest sequence number of a block of the log; 0 without any."""
        return max((record.sequence for record in self.of_kind(*LOG_KINDS)), default=0)


def scan_flash(flash: FlashImage, layout: Layout = Layout.ORIGINAL) -> FlashScan:
    """Reads the tags of every page."""
    return FlashScan(
        flash.geometry,
        tuple(_scan_block(flash, block, layout) for block in range(flash.blocks)),
        flash.first_block,
        layout,
    )


def _scan_block(flash: FlashImage, block: int, layout: Layout) -> BlockRecord:
    if flash.is_bad(block):
        return BlockRecord(block, BlockKind.BAD, 0)
    pages: list[PageRecord] = []
    disturbed: list[int] = []
    for page in flash.programmed_pages(block):
        state, tags = flash.tags(block, page)
        if state is not TagState.GOOD and _is_disturbed(flash.raw_page(block, page)):
            disturbed.append(page)
            continue
        if state in (TagState.GOOD, TagState.CORRECTED):
            state, tags = understood(layout, state, tags)
        pages.append(PageRecord(page, state, tags))
    kind, sequence = _kind(pages, layout)
    record = BlockRecord(block, kind, sequence, tuple(pages), tuple(disturbed))
    if kind in LOG_KINDS:
        return replace(record, summary=_summary(flash, record))
    return record


def _is_disturbed(raw: bytes) -> bool:
    zeros = len(raw) * 8 - int.from_bytes(raw, "little").bit_count()
    return zeros <= _DISTURBED_BITS


def _kind(pages: list[PageRecord], layout: Layout) -> tuple[BlockKind, int]:
    """What page 0 makes of the block: a blank one makes it erased if nothing else is there."""
    if not pages:
        return BlockKind.ERASED, 0
    first = pages[0]
    if first.page != 0 or not first.readable:
        return BlockKind.IGNORED, 0
    sequence = first.tags.sequence
    if sequence == CHECKPOINT_FORMS[layout].sequence:
        return BlockKind.CHECKPOINT, sequence
    if not sequence_is_valid(sequence):
        return BlockKind.IGNORED, sequence
    if first.tags.in_metadata:
        return BlockKind.METADATA, sequence
    return BlockKind.DATA, sequence


def _summary(flash: FlashImage, record: BlockRecord) -> Summary | None:
    """The summary in the last pages, if all of them have its tags."""
    geometry = flash.geometry
    count = geometry.summary_pages
    tail = record.pages[-count:]
    if len(tail) < count or tail[0].page != geometry.pages_per_block - count:
        return None
    for number, (scanned, size) in enumerate(
        zip(tail, piece_sizes(geometry), strict=True), start=1
    ):
        words = (ID_SUMMARY, number, SUMMARY_HEADER_BYTES + size)
        if not scanned.readable or scanned.tags.sequence != record.sequence:
            return None
        if scanned.tags.words != words:
            return None
    pages = [flash.data(record.block, scanned.page) for scanned in tail]
    summary = parse_summary(geometry, record.sequence, pages)
    first = record.pages[0].tags
    if isinstance(first, SegregatedTags):
        entries = tuple(decoded_entry(entry, first) for entry in summary.entries)
        return replace(summary, entries=entries)
    return summary


def is_retired(record: BlockRecord) -> bool:
    """Whether the block says by its sequence number that it is bad."""
    return record.kind is BlockKind.IGNORED and record.sequence == SEQUENCE_BAD_BLOCK
