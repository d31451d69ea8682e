"""Image files: raw dumps and the lab's flash files, opened for reading.

*Raw*: pages in order, each followed by its OOB (none with `oob_bytes` 0). A block is bad if the
first OOB byte of its first page is not 0xFF. *Lab*: the file that vnand keeps a chip in
(`ffslab.protocol.chip_layout`).

A file is mapped, never read as a whole; sizes in a damaged header are checked against the file.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from ffslab.errors import InfrastructureError, UsageError
from ffslab.program import program
from ffslab.protocol.chip_layout import Contents, LabHeader


@dataclass(frozen=True, slots=True)
class PageSizes:
    """What of a geometry says where pages lie in a file."""

    page_bytes: int = 2048
    oob_bytes: int = 64
    pages_per_block: int = 64

    @property
    def raw_page_bytes(self) -> int:
        """Bytes of a page in an image file: data and OOB."""
        return self.page_bytes + self.oob_bytes

    @property
    def raw_block_bytes(self) -> int:
        return self.raw_page_bytes * self.pages_per_block

    @property
    def block_bytes(self) -> int:
        return self.page_bytes * self.pages_per_block

    def whole_blocks(self, partition_bytes: int) -> int:
        """How many blocks a partition has; UsageError if it is not made of whole ones."""
        blocks, rest = divmod(partition_bytes, self.block_bytes)
        if rest or not blocks:
            raise UsageError(
                f"--partition-bytes {partition_bytes} is not a multiple of the block size, "
                f"{self.block_bytes} bytes"
            )
        return blocks


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
            f"cannot read {path}: {error}", cause="no permission to read it, or a failing disk"
        ) from error


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
            pages = sizes.pages_per_block
            first = (self.first_block + block) * pages
            programs = self._lab.programs(self._contents, first, pages)
            candidates = [page for page, count in enumerate(programs) if count]
        else:
            start = self._start + block * sizes.raw_block_bytes
            raw = self._contents[start : start + sizes.raw_block_bytes]
            if raw == self._blank_block[: len(raw)]:
                return []
            candidates = list(range(sizes.pages_per_block))
        return [page for page in candidates if not self._is_blank(block, page)]

    def may_be_programmed(self, block: int, page: int) -> bool:
        """False if a page was not programmed since the last erase, as far as the file knows."""
        if not self._lab:
            return True
        number = (self.first_block + block) * self._sizes.pages_per_block + page
        return any(self._lab.programs(self._contents, number, 1))

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
            return self._lab.is_bad(self._contents, self.first_block + block)
        if not sizes.oob_bytes:
            return False
        return self.bytes_at(block, 0, sizes.page_bytes, 1) != b"\xff"
