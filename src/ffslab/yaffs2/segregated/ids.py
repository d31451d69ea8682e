"""Parts of the bitmap of object ids, in the summaries of metadata blocks: reading and writing.

A part stands in the last page of a summary, right behind the entries: 24 bytes, then a bit for
each of its n ids. n follows from the room that is left there, so it is the same in all blocks.

Interpretations: n on flash must be that which the geometry gives. Ids from 32 × n on are in no
part. Bits of ids below 256 void nothing, whatever they are. The position in a part is for the
clock of writers only: a part counts, whatever it is.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from ffslab.yaffs2.format import (
    ID_DELETED,
    ID_FIRST_ORDINARY,
    SUMMARY_HEADER_BYTES,
    Geometry,
)
from ffslab.yaffs2.summary import piece_sizes
from ffslab.yaffs2.tags import Tags

PARTS_MAX = 32

_MAGIC = 0x53444949
_HEAD = struct.Struct("<4IQ")
_COVERED = struct.Struct("<2IQ")
_CRC_END = 8  # the CRC covers what follows it


class PartState(Enum):
    """Whether a part can be used."""

    GOOD = "good"
    MAGIC = "magic"
    CRC = "crc"
    FIELDS = "fields"


@dataclass(frozen=True, slots=True)
class IdPart:
    """A part as it is on flash: bit i of `bits` is of the id `first` + i.

    `now` is the position that the next data page had when the part was written.
    """

    state: PartState
    first: int
    count: int
    now: int
    bits: int

    @property
    def good(self) -> bool:
        return self.state is PartState.GOOD

    @property
    def number(self) -> int:
        return self.first // self.count if self.count else 0

    def has(self, object_id: int) -> bool:
        """Whether there was such an object when the part was written."""
        return bool(self.bits >> (object_id - self.first) & 1)


def part_ids(geometry: Geometry) -> int:
    """How many ids a part has: n in the specification; 0 if there is no room for parts."""
    left = geometry.data_bytes - part_offset(geometry)
    return max(0, left - _HEAD.size) // 4 * 32


def part_offset(geometry: Geometry) -> int:
    """The byte of a summary's last page at which the part begins."""
    return SUMMARY_HEADER_BYTES + piece_sizes(geometry)[-1]


def part_number(object_id: int, count: int) -> int | None:
    """Which part of `count` ids says whether there is an object; None if none does."""
    if object_id < ID_FIRST_ORDINARY or not count or object_id // count >= PARTS_MAX:
        return None
    return object_id // count


def parse_part(geometry: Geometry, page: bytes) -> IdPart:
    """The part in the last page of a summary; the geometry must have room for parts."""
    at, expected = part_offset(geometry), part_ids(geometry)
    magic, crc, first, count, now = _HEAD.unpack_from(page, at)
    end = at + _HEAD.size + expected // 8
    state = PartState.GOOD
    if magic != _MAGIC:
        state = PartState.MAGIC
    elif count == expected and zlib.crc32(page[at + _CRC_END : end]) != crc:
        state = PartState.CRC
    elif count != expected or first % count or first // count >= PARTS_MAX:
        state = PartState.FIELDS
    bits = int.from_bytes(page[at + _HEAD.size : end], "little")
    return IdPart(state, first, count, now, bits)


def pack_part(geometry: Geometry, number: int, now: int, ids: Iterable[int]) -> bytes:
    """The part with that number, written at the position `now`.

    `ids` are all that exist, those of other parts too.
    """
    count = part_ids(geometry)
    first = number * count
    bits = bytearray(count // 8)
    for object_id in ids:
        if first <= object_id < first + count:
            byte, bit = divmod(object_id - first, 8)
            bits[byte] |= 1 << bit
    covered = _COVERED.pack(first, count, now) + bits
    return struct.pack("<2I", _MAGIC, zlib.crc32(covered)) + covered


class WrittenIds:
    """What a writer keeps in mind: which objects there are, and where the parts are.

    An object exists from its first metadata page to the header that says it is deleted. `limit`
    is the highest id in any metadata page + 1; `blocks` are the internal numbers of the blocks
    with the newest versions of the parts, 0 for none.
    """

    def __init__(self, geometry: Geometry) -> None:
        self.limit = 0
        self.blocks = [0] * PARTS_MAX
        self._geometry = geometry
        self._count = part_ids(geometry)
        self._ids: set[int] = set()
        self._written: dict[int, int] = {}  # part: when, in parts
        self._clock = 0

    def note(self, tags: Tags) -> None:
        """A metadata page with these tags is written."""
        object_id = tags.object_id
        self.limit = max(self.limit, object_id + 1)
        if tags.is_header and tags.parent_id == ID_DELETED:
            self._ids.discard(object_id)
        else:
            self._ids.add(object_id)

    @property
    def parts(self) -> range:
        """Numbers of the parts that have ids up to the highest one."""
        if not self._count:
            return range(0)
        return range(min(PARTS_MAX, max(0, self.limit - 1) // self._count + 1))

    def next_part(self, internal_block: int, now: int) -> bytes:
        """The part that was not written for the longest time, for the summary of that block.

        `now` is the position that the next data page will have.
        """
        if not self.parts:
            return b""
        number = min(self.parts, key=lambda part: self._written.get(part, -1))
        self._written[number] = self._clock
        self._clock += 1
        self.blocks[number] = internal_block
        return pack_part(self._geometry, number, now, self._ids)
