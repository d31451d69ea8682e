"""Block summaries: the tags of a block's data pages, repeated in its last pages.

The entries (object, chunk and byte-count word of each page, 12 bytes) form one byte string that
is cut into pieces of S − 16 bytes, one for each summary page, behind a header of 16 bytes that is
the same in all of them: version, internal block number, sequence number, sum of all entries'
bytes modulo 2^32. Interpretation: an entry may be cut by a page's end.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ffslab.yaffs2.format import (
    ID_SUMMARY,
    SUMMARY_ENTRY_BYTES,
    SUMMARY_HEADER_BYTES,
    SUMMARY_VERSION,
    Geometry,
)
from ffslab.yaffs2.tags import Tags

_HEADER = struct.Struct("<4I")
_ENTRY = struct.Struct("<3I")

Entry = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Summary:
    """What the summary pages of one block say, and why readers would refuse it (`problem`)."""

    internal_block: int
    sequence: int
    entries: tuple[Entry, ...]
    problem: str


def piece_sizes(geometry: Geometry) -> tuple[int, ...]:
    """Bytes of entries in each summary page."""
    left = (geometry.pages_per_block - geometry.summary_pages) * SUMMARY_ENTRY_BYTES
    room = geometry.data_bytes - SUMMARY_HEADER_BYTES
    sizes = []
    for _ in range(geometry.summary_pages):
        sizes.append(min(left, room))
        left -= sizes[-1]
    return tuple(sizes)


def parse_summary(geometry: Geometry, sequence: int, pages: Sequence[bytes]) -> Summary:
    """The summary in these pages (`summary_pages` of them) of a block with that sequence."""
    problem = ""
    entries = bytearray()
    first = _HEADER.unpack_from(pages[0])
    for size, page in zip(piece_sizes(geometry), pages, strict=True):
        if _HEADER.unpack_from(page) != first:
            problem = "its pages have different headers"
        entries += page[SUMMARY_HEADER_BYTES : SUMMARY_HEADER_BYTES + size]
    version, internal_block, stored_sequence, stored_sum = first
    if version != SUMMARY_VERSION:
        problem = f"its version is {version}, not {SUMMARY_VERSION}"
    elif stored_sequence != sequence:
        problem = f"it is for sequence {stored_sequence:#x}, the block has {sequence:#x}"
    elif stored_sum != sum(entries) & 0xFFFFFFFF:
        problem = f"its sum is {stored_sum}, the entries give {sum(entries)}"
    return Summary(internal_block, stored_sequence, tuple(_ENTRY.iter_unpack(entries)), problem)


def pack_summary(
    geometry: Geometry, internal_block: int, sequence: int, tags: Sequence[Tags]
) -> list[tuple[Tags, bytes]]:
    """Tags and contents (not padded) of a block's summary pages."""
    entries = b"".join(_ENTRY.pack(*page.stored_words) for page in tags)
    header = _HEADER.pack(SUMMARY_VERSION, internal_block, sequence, sum(entries) & 0xFFFFFFFF)
    pages = []
    position = 0
    for number, size in enumerate(piece_sizes(geometry), start=1):
        content = header + entries[position : position + size]
        position += size
        pages.append((Tags(sequence, ID_SUMMARY, number, len(content)), content))
    return pages
