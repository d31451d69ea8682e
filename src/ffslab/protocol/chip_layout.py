"""What is where in the file that vnand keeps a chip in (`kmod/vnand/image_format.h`).

A page that was not programmed since the last erase reads as 0xFF, whatever the file holds there.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Protocol

_MAGIC = b"VNANDIMG"
_HEADER = struct.Struct("<8s6I4QII")
_SUMMED_BYTES = 64
_BLOCK_STATE_BYTES = {1: 24, 2: 28}  # by version
_BLOCK_FLAGS_AT = 20
_BLOCK_IS_BAD = 1
_PAGE_STATE_BYTES = 4
# What a new file has for header, a block's state and a page's: more than it takes does no harm.
_HEADER_ROOM_BYTES = 64 * 1024
_BLOCK_ROOM_BYTES = 64
_PAGE_ROOM_BYTES = 8


class Contents(Protocol):
    """The bytes of a file."""

    def __getitem__(self, key: slice, /) -> bytes: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class LabHeader:
    """What the header of a chip's file says; `problem`: what is wrong with it, or empty."""

    page_bytes: int
    oob_bytes: int
    pages_per_block: int
    blocks: int
    blocks_offset: int
    pages_offset: int
    data_offset: int
    block_state_bytes: int
    problem: str

    def programs(self, contents: Contents, first_page: int, pages: int) -> bytes:
        """A byte for each of these pages, 0 if it was not programmed since the last erase.

        Shorter where the file ends.
        """
        at = self.pages_offset + first_page * _PAGE_STATE_BYTES
        return contents[at : at + pages * _PAGE_STATE_BYTES][::_PAGE_STATE_BYTES]

    def is_bad(self, contents: Contents, block: int) -> bool:
        """Whether a block carries the mark of a bad block."""
        at = self.blocks_offset + block * self.block_state_bytes + _BLOCK_FLAGS_AT
        return bool((contents[at : at + 1] or b"\0")[0] & _BLOCK_IS_BAD)


def room_bytes(raw_page_bytes: int, pages_per_block: int, blocks: int) -> int:
    """Room for a chip of these sizes, whose pages have so many bytes with their OOB."""
    block_bytes = pages_per_block * (raw_page_bytes + _PAGE_ROOM_BYTES) + _BLOCK_ROOM_BYTES
    return _HEADER_ROOM_BYTES + blocks * block_bytes


def parse_lab_header(contents: Contents) -> LabHeader | None:
    """The header of a chip's file; None if the file is another."""
    if contents[: len(_MAGIC)] != _MAGIC or len(contents) < _HEADER.size:
        return None
    raw = bytes(contents[: _HEADER.size])
    _, version, page, oob, _, pages, blocks, blocks_at, pages_at, data_at, _, crc, _ = (
        _HEADER.unpack(raw)
    )
    problem = ""
    if version not in _BLOCK_STATE_BYTES:
        known = " or ".join(map(str, _BLOCK_STATE_BYTES))
        problem = f"its version is {version}, not {known}"
    elif zlib.crc32(raw[:_SUMMED_BYTES]) ^ 0xFFFFFFFF != crc:
        problem = "its checksum is wrong"
    elif data_at + blocks * pages * (page + oob) > len(contents):
        problem = f"it announces {blocks} blocks, which do not fit into the file"
    state_bytes = _BLOCK_STATE_BYTES.get(version, 0)
    return LabHeader(page, oob, pages, blocks, blocks_at, pages_at, data_at, state_bytes, problem)
