"""Image files: raw dumps and the lab's flash files, opened for reading.

*Raw*: pages in order, each followed by its OOB (none with `oob_bytes` 0). A block is bad if the
first OOB byte of its first page is not 0xFF. *Lab*: the file that vnand keeps a chip in
(`kmod/vnand/image_format.h`); a page that was not programmed since the last erase reads as 0xFF,
whatever the file holds there.

A file is mapped, never read as a whole; sizes in a damaged header are checked against the file.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, Self

from ffslab.errors import InfrastructureError, UsageError
from ffslab.program import program

_LAB_MAGIC = b"VNANDIMG"
_LAB_HEADER = struct.Struct("<8s6I4QII")
_LAB_BLOCK_BYTES = {1: 24, 2: 28}  # by version
_LAB_BLOCK_FLAGS = 20
_LAB_BLOCK_BAD = 1
_LAB_PAGE_STATE_BYTES = 4


class Contents(Protocol):
    """The bytes of an image file."""

    def __getitem__(self, key: slice, /) -> bytes: ...

    def __len__(self) -> int: ...


class PageSizes(Protocol):
    """What of a geometry says where pages lie in a file."""

    @property
    def page_bytes(self) -> int: ...

    @property
    def oob_bytes(self) -> int: ...

    @property
    def pages_per_block(self) -> int: ...

    @property
    def raw_page_bytes(self) -> int: ...

    @property
    def raw_block_bytes(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageOptions:
    """What the user knows about where an image lies in its file; None is deduced."""

    page_bytes: int | None = None
    oob_bytes: int | None = None
    pages_per_block: int | None = None
    first_block: int | None = None
    blocks: int | None = None

    def of_lab(self, lab: LabHeader) -> Self:
        """With the geometry that the header of a lab flash file states."""
        return replace(
            self,
            page_bytes=lab.page_bytes,
            oob_bytes=lab.oob_bytes,
            pages_per_block=lab.pages_per_block,
        )


@dataclass(frozen=True, slots=True)
class LabHeader:
    """What the header of a lab flash file says."""

    page_bytes: int
    oob_bytes: int
    pages_per_block: int
    blocks: int
    blocks_offset: int
    pages_offset: int
    data_offset: int
    block_state_bytes: int
    problem: str


def map_file(path: Path) -> Contents:
    """The file's contents; UsageError or InfrastructureError if it cannot be read."""
    try:
        with path.open("rb") as file:
            if not path.stat().st_size:
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise UsageError(
            f"{path} is not an image file: {error.strerror}", remedy=f"{program()} fsck --help"
        ) from error
    except (OSError, ValueError) as error:
        raise InfrastructureError(
            f"cannot read {path}: {error}", cause="no right to read it, or a failing disk"
        ) from error


def parse_lab_header(contents: Contents) -> LabHeader | None:
    """The header of a lab flash file; None if it is none. `problem` says what is wrong."""
    if contents[:8] != _LAB_MAGIC or len(contents) < _LAB_HEADER.size:
        return None
    raw = bytes(contents[: _LAB_HEADER.size])
    _, version, page, oob, _, pages, blocks, blocks_at, pages_at, data_at, _, crc, _ = (
        _LAB_HEADER.unpack(raw)
    )
    problem = ""
    if version not in _LAB_BLOCK_BYTES:
        known = " or ".join(map(str, _LAB_BLOCK_BYTES))
        problem = f"its version is {version}, not {known}"
    elif zlib.crc32(raw[:64]) ^ 0xFFFFFFFF != crc:
        problem = "its checksum is wrong"
    elif data_at + blocks * pages * (page + oob) > len(contents):
        problem = f"it announces {blocks} blocks, which do not fit into the file"
    state_bytes = _LAB_BLOCK_BYTES.get(version, 0)
    return LabHeader(page, oob, pages, blocks, blocks_at, pages_at, data_at, state_bytes, problem)


class FlashPages:
    """A partition inside an image file, by block and page."""

    def __init__(
        self,
        contents: Contents,
        sizes: PageSizes,
        first_block: int,
        blocks: int,
        lab: LabHeader | None = None,
    ) -> None:
        self.first_block = first_block
        self.blocks = blocks
        self.is_lab = lab is not None
        self._contents = contents
        self._lab = lab
        self._sizes = sizes
        data_at = lab.data_offset if lab else 0
        self._start = data_at + first_block * sizes.raw_block_bytes
        self._blank_page = b"\xff" * sizes.raw_page_bytes
        self._blank_block = b"\xff" * sizes.raw_block_bytes

    def programmed_pages(self, block: int) -> list[int]:
        """Numbers of the block's pages that are not all 0xFF, ascending."""
        sizes = self._sizes
        if self._lab:
            candidates = self._lab_programmed(block)
        else:
            start = self._start + block * sizes.raw_block_bytes
            raw = self._contents[start : start + sizes.raw_block_bytes]
            if raw == self._blank_block[: len(raw)]:
                return []
            candidates = list(range(sizes.pages_per_block))
        return [page for page in candidates if not self._is_blank(block, page)]

    def _lab_programmed(self, block: int) -> list[int]:
        assert self._lab
        pages = self._sizes.pages_per_block
        first = (self.first_block + block) * pages
        at = self._lab.pages_offset + first * _LAB_PAGE_STATE_BYTES
        states = self._contents[at : at + pages * _LAB_PAGE_STATE_BYTES]
        if not any(states):
            return []
        return [page for page in range(pages) if states[page * _LAB_PAGE_STATE_BYTES]]

    def may_be_programmed(self, block: int, page: int) -> bool:
        """False if a page was not programmed since the last erase, as far as the file knows."""
        if not self._lab:
            return True
        number = (self.first_block + block) * self._sizes.pages_per_block + page
        at = self._lab.pages_offset + number * _LAB_PAGE_STATE_BYTES
        return self._contents[at : at + 1] not in (b"\0", b"")

    def _is_blank(self, block: int, page: int) -> bool:
        raw = self.raw_page(block, page)
        return raw == self._blank_page[: len(raw)]

    def page_at(self, block: int, page: int) -> int:
        """Where the page begins in the file."""
        sizes = self._sizes
        return self._start + block * sizes.raw_block_bytes + page * sizes.raw_page_bytes

    def raw_page(self, block: int, page: int) -> bytes:
        """Data and OOB as they are in the file; shorter where the file ends."""
        start = self.page_at(block, page)
        return self._contents[start : start + self._sizes.raw_page_bytes]

    def bytes_at(self, block: int, page: int, offset: int, length: int) -> bytes:
        """A part of a page and its OOB; 0xFF where a truncated file ends."""
        start = self.page_at(block, page) + offset
        return self._contents[start : start + length].ljust(length, b"\xff")

    def is_bad(self, block: int) -> bool:
        """Whether the block carries the mark of a bad block."""
        sizes = self._sizes
        if self._lab:
            at = self._lab.blocks_offset + (self.first_block + block) * self._lab.block_state_bytes
            flags = self._contents[at + _LAB_BLOCK_FLAGS : at + _LAB_BLOCK_FLAGS + 1] or b"\0"
            return bool(flags[0] & _LAB_BLOCK_BAD)
        if not sizes.oob_bytes:
            return False
        return self.bytes_at(block, 0, sizes.page_bytes, 1) != b"\xff"
