"""Heads: what follows an object header, and what an index page begins with. Reading and writing.

A head is 48 bytes. In a header page it stands at byte 512, with 4 cuts, the extended attributes
and perhaps the entries of the whole index behind it; in an index page at byte 0, with the entries
of one piece. Its CRC-32 covers it to the end of the entries, and says whether the page is whole.

Interpretation: a head of another version has magic and CRC at the same places. It is believed to
be one if its CRC is right; else it counts as damaged.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ffslab.yaffs2.header import HEADER_BYTES

MAGIC = 0x58444E49
VERSION = 1
HEAD_BYTES = 48
CUTS_MAX = 4
FLAG_INDEX, FLAG_TAIL, FLAG_LOST = 1, 2, 4

_HEAD = struct.Struct("<IHHIIIHHQQQ")
_CUT = struct.Struct("<QII")
assert _HEAD.size == HEAD_BYTES
_CRC_AT = 8
_ENTRY_BYTES = 4
ATTRIBUTES_AT = HEADER_BYTES + HEAD_BYTES + CUTS_MAX * _CUT.size


class Cut(NamedTuple):
    """What is older than `position` of chunks above `chunks` is dead."""

    position: int
    chunks: int
    reserved: int = 0


class HeadState(Enum):
    """Whether a head can be used."""

    GOOD = "good"
    MAGIC = "magic"
    CRC = "crc"
    VERSION = "version"


@dataclass(frozen=True, slots=True)
class Head:
    """The fields as they are on flash. Only `state` means something if it is not `GOOD`.

    `cut_fields` are all 4; positions are in pages, sizes and attributes in bytes. `start` is the
    byte of the page at which the head begins.
    """

    state: HeadState
    start: int
    version: int
    flags: int
    piece: int
    entries: int
    cut_count: int
    attribute_bytes: int
    now: int
    horizon: int
    size: int
    cut_fields: tuple[Cut, ...] = ()

    @property
    def good(self) -> bool:
        return self.state is HeadState.GOOD

    @property
    def cuts(self) -> tuple[Cut, ...]:
        return self.cut_fields[: self.cut_count] if self.good else ()

    @property
    def has_index(self) -> bool:
        return self.good and bool(self.flags & FLAG_INDEX)

    @property
    def attributes(self) -> slice:
        """Where the page has the extended attributes."""
        used = self.attribute_bytes if self.good else 0
        return slice(ATTRIBUTES_AT, ATTRIBUTES_AT + used)

    @property
    def used_bytes(self) -> int:
        """Bytes of the page up to the end of the entries."""
        return _entries_at(self.start, self.attribute_bytes) + _ENTRY_BYTES * self.entries

    def entries_of(self, page: bytes) -> tuple[int, ...]:
        """Internal chunk numbers, 0 for holes."""
        at = _entries_at(self.start, self.attribute_bytes)
        return struct.unpack_from(f"<{self.entries}I", page, at)


def piece_chunks(data_bytes: int) -> int:
    """How many chunk ids a piece has, for pages of `data_bytes`: E in the specification."""
    return (data_bytes - HEAD_BYTES) // _ENTRY_BYTES // 16 * 16


def header_chunks(data_bytes: int, attribute_bytes: int) -> int:
    """How many entries fit into a header."""
    return (data_bytes - ATTRIBUTES_AT - attribute_bytes) // _ENTRY_BYTES


def attribute_room(data_bytes: int) -> int:
    """Bytes that the extended attributes of an object may take."""
    return data_bytes - ATTRIBUTES_AT


def padded_attributes(area: bytes) -> bytes:
    """The records, filled with zeros to a multiple of 4 bytes."""
    return area.ljust(-(-len(area) // 4) * 4, b"\0")


def _entries_at(start: int, attribute_bytes: int) -> int:
    return ATTRIBUTES_AT + attribute_bytes if start else HEAD_BYTES


def parse_head(page: bytes, *, in_header: bool) -> Head:
    """The head of a header page or an index page; `page` has S bytes."""
    start = HEADER_BYTES if in_header else 0
    magic, version, flags, crc, piece, entries, cuts, extra, now, horizon, size = _HEAD.unpack_from(
        page, start
    )
    end = _entries_at(start, extra) + _ENTRY_BYTES * entries
    state = HeadState.GOOD
    if magic != MAGIC:
        state = HeadState.MAGIC
    elif end > len(page) or _crc(page[start:end]) != crc:
        state = HeadState.CRC
    elif version != VERSION:
        state = HeadState.VERSION
    cut_fields: tuple[Cut, ...] = ()
    if in_header:
        cut_fields = tuple(
            map(Cut._make, _CUT.iter_unpack(page[start + HEAD_BYTES : ATTRIBUTES_AT]))
        )
    counts = (piece, entries, cuts, extra)
    return Head(state, start, version, flags, *counts, now, horizon, size, cut_fields)


def _crc(covered: bytes) -> int:
    """CRC-32 of all from the head on, with the field for it taken as 0."""
    before, behind = covered[:_CRC_AT], covered[_CRC_AT + 4 :]
    return zlib.crc32(behind, zlib.crc32(bytes(4), zlib.crc32(before)))


@dataclass(frozen=True, slots=True)
class HeadFields:
    """What a head is written from. `size` counts in index pages; a header has its own."""

    now: int
    horizon: int
    flags: int = 0
    piece: int = 0
    size: int = 0
    cuts: Sequence[Cut] = ()
    attributes: bytes = b""
    entries: Sequence[int] = ()


def pack_header_page(header: bytes, fields: HeadFields) -> bytes:
    """The used bytes of a header page; `header` are the 512 bytes of the object header."""
    cuts = b"".join(_CUT.pack(*cut) for cut in fields.cuts)
    rest = cuts.ljust(CUTS_MAX * _CUT.size, b"\0") + fields.attributes
    return header + _pack(fields, rest)


def pack_index_page(fields: HeadFields) -> bytes:
    """The used bytes of an index page."""
    return _pack(fields, b"")


def _pack(fields: HeadFields, between: bytes) -> bytes:
    head = _HEAD.pack(
        MAGIC,
        VERSION,
        fields.flags,
        0,
        fields.piece,
        len(fields.entries),
        len(fields.cuts),
        len(fields.attributes),
        fields.now,
        fields.horizon,
        fields.size,
    )
    packed = head + between + struct.pack(f"<{len(fields.entries)}I", *fields.entries)
    return packed[:_CRC_AT] + struct.pack("<I", _crc(packed)) + packed[_CRC_AT + 4 :]
