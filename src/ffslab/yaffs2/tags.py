"""Tags: the 16 bytes beside (or in) each page that say what the page holds, and their ECC.

Words 0 to 3: sequence number of the block, object id, chunk id, byte count. In the tags of an
object header the last three are *extended*: bit 31 of the chunk word is set, and type, parent,
marks and size are packed into them, so that a scan need not read the header.

The ECC (12 bytes: column parity, 3 bytes of padding, line parity, complemented line parity)
corrects one wrong bit of the 16 bytes. Interpretations: the padding is not looked at. Bits 6 and
7 of the column byte belong to no parity; one of them flipped alone is an error of the ECC itself,
together with any other difference it is uncorrectable. An unused page is known by its sequence
number as it was read: the ECC is not consulted, even if the other bytes are not 0xFF.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import Enum

from ffslab.yaffs2.format import SEQUENCE_UNUSED, TAGS_BYTES, ObjectType

_WORDS = struct.Struct("<4I")
_ECC = struct.Struct("<B3xII")
_LOW_28 = (1 << 28) - 1
_EXTENDED = 1 << 31
_SHRINK = 1 << 30
_SHADOWS = 1 << 29
_SPARE = 1 << 28
_ALL = 0xFFFFFFFF

_COLUMN_MASKS = (0x55, 0xAA, 0x33, 0xCC, 0x0F, 0xF0)


def _column(byte: int) -> int:
    return sum(((byte & mask).bit_count() & 1) << bit for bit, mask in enumerate(_COLUMN_MASKS))


_COLUMN = tuple(_column(byte) for byte in range(256))
_ODD = tuple(byte.bit_count() & 1 for byte in range(256))


@dataclass(frozen=True, slots=True)
class Tags:
    """The four words as they are on flash; the properties decode them."""

    sequence: int
    object_word: int
    chunk_word: int
    bytes_word: int

    @property
    def extended(self) -> bool:
        return bool(self.chunk_word & _EXTENDED)

    @property
    def is_header(self) -> bool:
        return self.extended or self.chunk_word == 0

    @property
    def object_id(self) -> int:
        return self.object_word & _LOW_28 if self.extended else self.object_word

    @property
    def chunk_id(self) -> int:
        return 0 if self.extended else self.chunk_word

    @property
    def byte_count(self) -> int:
        return 0 if self.extended else self.bytes_word

    @property
    def type_number(self) -> int:
        """Bits of the object's type; 0 without extended tags."""
        return self.object_word >> 28 if self.extended else 0

    @property
    def parent_id(self) -> int:
        return self.chunk_word & _LOW_28 if self.extended else 0

    @property
    def shrink(self) -> bool:
        return self.extended and bool(self.chunk_word & _SHRINK)

    @property
    def shadows(self) -> bool:
        return self.extended and bool(self.chunk_word & _SHADOWS)

    @property
    def spare_bit(self) -> bool:
        return self.extended and bool(self.chunk_word & _SPARE)

    @property
    def words(self) -> tuple[int, int, int]:
        """Object, chunk and byte-count word: what a summary entry repeats."""
        return self.object_word, self.chunk_word, self.bytes_word

    @property
    def stored_words(self) -> tuple[int, int, int]:
        """The same three as they are on flash."""
        return self.words

    @property
    def piece(self) -> int | None:
        """The number of the piece in an index page, which only the segregated layout has."""
        return None

    @property
    def in_metadata(self) -> bool:
        """Whether the page is in a block that has no data, as the segregated layout has them."""
        return False

    @property
    def knows_large_sizes(self) -> bool:
        """Whether extended tags of a file of any size have its low 32 bits."""
        return False

    def pack(self) -> bytes:
        return _WORDS.pack(self.sequence, self.object_word, self.chunk_word, self.bytes_word)


def header_tags(
    sequence: int,
    object_id: int,
    object_type: ObjectType,
    parent_id: int,
    *,
    size_or_target: int = 0,
    shrink: bool = False,
    shadows: bool = False,
) -> Tags:
    """Extended tags of an object header; `size_or_target` for files and hard links."""
    chunk = _EXTENDED | parent_id
    chunk |= (_SHRINK if shrink else 0) | (_SHADOWS if shadows else 0)
    return Tags(sequence, object_id | (object_type << 28), chunk, size_or_target)


class TagState(Enum):
    """What reading a page's tags gave."""

    UNUSED = "unused"
    GOOD = "good"
    CORRECTED = "corrected"
    UNCORRECTABLE = "uncorrectable"
    FOREIGN = "foreign"  # readable, and of another layout than the partition


def unpack(data: bytes) -> Tags:
    """Tags from 16 bytes."""
    return Tags(*_WORDS.unpack(data))


def ecc_parities(data: bytes) -> tuple[int, int, int]:
    """Column parity, line parity and complemented line parity of the tag bytes."""
    folded = line = odd = 0
    for index, byte in enumerate(data):
        folded ^= byte
        if _ODD[byte]:
            line ^= index
            odd ^= 1
    return _COLUMN[folded], line, line ^ _ALL if odd else line


def pack_with_ecc(tags: Tags) -> bytes:
    """28 bytes for the OOB; the padding is 0."""
    data = tags.pack()
    return data + _ECC.pack(*ecc_parities(data))


def correct(data: bytes, ecc: bytes) -> tuple[TagState, bytes]:
    """The 16 tag bytes put right by the 12 bytes of their ECC, as far as possible."""
    column, line, complement = ecc_parities(data)
    read_column, read_line, read_complement = _ECC.unpack(ecc)
    column ^= read_column
    line ^= read_line
    complement ^= read_complement
    if not (column or line or complement):
        return TagState.GOOD, data
    pairs_differ = column < 64 and (column ^ column >> 1) & 0b010101 == 0b010101
    if line ^ complement == _ALL and pairs_differ and line < TAGS_BYTES:
        bit = (column >> 5 & 1) << 2 | (column >> 3 & 1) << 1 | column >> 1 & 1
        repaired = bytearray(data)
        repaired[line] ^= 1 << bit
        return TagState.CORRECTED, bytes(repaired)
    if column.bit_count() + line.bit_count() + complement.bit_count() == 1:
        return TagState.CORRECTED, data
    return TagState.UNCORRECTABLE, data


def read_tags(stored: bytes, *, ecc: bool) -> tuple[TagState, Tags]:
    """Tags as stored: 16 bytes, with `ecc` 28."""
    tags = Tags(*_WORDS.unpack_from(stored))
    if tags.sequence == SEQUENCE_UNUSED:
        return TagState.UNUSED, tags
    if not ecc:
        return TagState.GOOD, tags
    data = stored[:TAGS_BYTES]
    state, repaired = correct(data, stored[TAGS_BYTES:])
    return state, tags if repaired is data else unpack(repaired)
