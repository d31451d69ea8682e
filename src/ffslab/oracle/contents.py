"""What a write leaves in a file, byte by byte, and the sums of its sectors.

The byte at file position p of a write with seed S is a function of p and S alone: of the 8-byte
word number w = p / 8 (S odd), or w = p / 64 (S even: each word repeats 8 times, so that a file
system can compress it), byte p mod 8 of splitmix64(S + 0x9E3779B97F4A7C15 * (1 + w)), the low byte
first. `ffscrash` writes the same.

A sector is 512 bytes; its sum is CRC-32 (IEEE) in 8 hex digits. The sums of a file as text: joined
by commas, equal neighbours as `SUM*N`, `!` for a sector that cannot be read, `-` for an empty file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from itertools import groupby
from zlib import crc32

from ffslab.oracle.operations import FormatError, number

SECTOR_BYTES = 512
UNREADABLE = "!"
EMPTY = "-"
_WORD_BYTES = 8
_REPEATS = 8
_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB


def pattern(seed: int, offset_bytes: int, size_bytes: int) -> bytes:
    """What a write with this seed leaves at [offset_bytes, offset_bytes + size_bytes)."""
    if size_bytes <= 0:
        return b""
    unit = _WORD_BYTES if seed % 2 else _WORD_BYTES * _REPEATS
    first, last = offset_bytes // unit, (offset_bytes + size_bytes - 1) // unit
    words = _words(seed, first, last + 1)
    made = struct.pack(f"<{len(words)}Q", *words)
    if unit != _WORD_BYTES:
        made = b"".join(
            made[at : at + _WORD_BYTES] * _REPEATS for at in range(0, len(made), _WORD_BYTES)
        )
    skipped = offset_bytes - first * unit
    return made[skipped : skipped + size_bytes]


def _words(seed: int, first: int, end: int) -> list[int]:
    words = []
    state = (seed + _STEP * (1 + first)) & _MASK
    for _ in range(first, end):
        word = ((state ^ (state >> 30)) * _FIRST) & _MASK
        word = ((word ^ (word >> 27)) * _SECOND) & _MASK
        words.append(word ^ (word >> 31))
        state = (state + _STEP) & _MASK
    return words


def sector_sum(data: bytes | bytearray | memoryview) -> str:
    """The sum of a sector, or of a shorter one at the end of a file."""
    return f"{crc32(data):08x}"


def sums_of(data: bytes | bytearray | memoryview) -> list[str]:
    """The sums of all sectors of some contents."""
    view = memoryview(data)
    return [sector_sum(view[at : at + SECTOR_BYTES]) for at in range(0, len(view), SECTOR_BYTES)]


def sums_text(sums: Iterable[str]) -> str:
    """Sums as an observation has them."""
    words = []
    for checksum, run in groupby(sums):
        count = sum(1 for _ in run)
        words.append(checksum if count == 1 else f"{checksum}*{count}")
    return ",".join(words) or EMPTY


def parse_sums(text: str, size_bytes: int, where: str = "sums") -> Sequence[str]:
    """One sum per sector; FormatError if they are not as many as the size has sectors."""
    sums: list[str] = []
    sectors = sector_count(size_bytes)
    for word in text.split(",") if text != EMPTY else ():
        checksum, star, count = word.partition("*")
        if not _is_sum(checksum):
            raise FormatError(f"{where}: no sum of a sector: {word!r}")
        times = number(count, where, "a count of sums") if star else 1
        sums.extend([checksum] * min(times, sectors + 1))
        if len(sums) > sectors:
            break
    if len(sums) != sectors:
        raise FormatError(f"{where}: {size_bytes} bytes have {sectors} sectors, not these sums")
    return sums


def sector_count(size_bytes: int) -> int:
    """How many sectors a file of so many bytes has, the last one possibly shorter."""
    return -(-size_bytes // SECTOR_BYTES)


def _is_sum(word: str) -> bool:
    return word == UNREADABLE or (
        len(word) == 8 and all(letter in "0123456789abcdef" for letter in word)
    )
