"""Tags of the segregated layout, and which of the two layouts a partition has.

The words on flash carry marks: the sequence word begins with 0xF0 to 0xF7 and has 27 bits of the
sequence number, the object word has the other 5 and says whether the block is one of metadata.
`SegregatedTags` holds the words without marks, as the original layout has them, so that all that
asks for a sequence number, an object or a chunk works for both.

Interpretation: blocks of a checkpoint count when the layout is told by the greater number of
blocks; with as many of both it is the original one.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, replace

from ffslab.yaffs2.format import CHECKPOINT_FORMS, Layout, sequence_is_valid
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.tags import Tags, TagState

POSITION_PAGES = 1024  # a position is sequence number × this + page
PAGES_MAX = 1023  # of a block

_WORDS = struct.Struct("<4I")
_MARK = 0xF0000000
_MARK_END = 0xF8000000
_LOW_BITS = 27
_LOW_MASK = (1 << _LOW_BITS) - 1
_HIGH_AT, _HIGH_MASK = 18, 0x1F
_METADATA = 1 << 23
_MARKS = _HIGH_MASK << _HIGH_AT | _METADATA
_INDEX = 1 << 30
_LOW_28 = (1 << 28) - 1


@dataclass(frozen=True, slots=True)
class SegregatedTags(Tags):
    """Words without their marks; `metadata` says what kind of block the page is in."""

    metadata: bool = False

    @property
    def is_header(self) -> bool:
        return self.extended

    @property
    def piece(self) -> int | None:
        """The number of the piece in an index page; None of other pages."""
        is_index = not self.extended and self.chunk_word & _INDEX
        return self.chunk_word & _LOW_28 if is_index else None

    @property
    def chunk_id(self) -> int:
        return 0 if self.extended or self.chunk_word & _INDEX else self.chunk_word

    @property
    def stored_words(self) -> tuple[int, int, int]:
        marks = (self.sequence >> _LOW_BITS & _HIGH_MASK) << _HIGH_AT
        marks |= _METADATA if self.metadata else 0
        return self.object_word | marks, self.chunk_word, self.bytes_word

    @property
    def in_metadata(self) -> bool:
        return self.metadata

    @property
    def knows_large_sizes(self) -> bool:
        return True

    def pack(self) -> bytes:
        return _WORDS.pack(_MARK | self.sequence & _LOW_MASK, *self.stored_words)


def index_tags(sequence: int, object_id: int, piece: int, data_bytes: int) -> SegregatedTags:
    """Tags of an index page; `data_bytes` are those of a chunk: S in the specification."""
    return SegregatedTags(sequence, object_id, _INDEX | piece, data_bytes, metadata=True)


def position_of(sequence: int, page: int) -> int:
    """The position of a data page."""
    return sequence * POSITION_PAGES + page


def decoded(tags: Tags) -> Tags:
    """The tags without marks if they have some; others as they are."""
    if not _MARK <= tags.sequence < _MARK_END:
        return tags
    high = tags.object_word >> _HIGH_AT & _HIGH_MASK
    return SegregatedTags(
        tags.sequence & _LOW_MASK | high << _LOW_BITS,
        tags.object_word & ~_MARKS,
        tags.chunk_word,
        tags.bytes_word,
        metadata=bool(tags.object_word & _METADATA),
    )


def decoded_entry(words: tuple[int, int, int], block: SegregatedTags) -> tuple[int, int, int]:
    """An entry of a summary without the marks of `block`; other marks leave bits behind."""
    if not words[0]:
        return words
    marks = replace(block, object_word=0).stored_words[0]
    return words[0] ^ marks, words[1], words[2]


def layout_of_word(sequence_word: int) -> Layout | None:
    """The layout that has this sequence word in its tags; None if neither has."""
    if _MARK <= sequence_word < _MARK_END:
        return Layout.SEGREGATED
    for form in CHECKPOINT_FORMS.values():
        if sequence_word == form.sequence:
            return form.layout
    return Layout.ORIGINAL if sequence_is_valid(sequence_word) else None


def partition_layout(flash: FlashImage) -> Layout:
    """The layout of the greater number of blocks, by the tags of their first pages."""
    votes: Counter[Layout | None] = Counter()
    for block in range(flash.blocks):
        if flash.is_bad(block) or not flash.may_be_programmed(block, 0):
            continue
        state, tags = flash.tags(block, 0)
        if state in (TagState.GOOD, TagState.CORRECTED):
            votes[layout_of_word(tags.sequence)] += 1
    more = votes[Layout.SEGREGATED] > votes[Layout.ORIGINAL]
    return Layout.SEGREGATED if more else Layout.ORIGINAL


def understood(layout: Layout, state: TagState, tags: Tags) -> tuple[TagState, Tags]:
    """Readable tags as the layout has them; `FOREIGN` if they are of the other one."""
    theirs = layout_of_word(tags.sequence)
    if theirs is not None and theirs is not layout:
        return TagState.FOREIGN, tags
    return state, decoded(tags) if layout is Layout.SEGREGATED else tags
