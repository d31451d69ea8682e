"""Writing chunks to an image in log order: pages into blocks, tags, block summaries.

The image file is raw: each page, then its OOB, 0xFF where nothing is written (the NAND's own ECC
is the flasher's business). Blocks follow each other from the partition's first one; their
sequence numbers rise by one. A limit of blocks does not stop the writer: it goes on counting, so
that the caller can say how much room is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import BinaryIO

from ffslab.yaffs2.format import Geometry
from ffslab.yaffs2.summary import pack_summary
from ffslab.yaffs2.tags import Tags, pack_with_ecc

FIRST_SEQUENCE = 0x1001


@dataclass(slots=True)
class WrittenBlock:
    """A block of a log: its sequence number and the tags of its pages but the summary's."""

    sequence: int
    pages: int = 0
    has_summary: bool = False
    is_metadata: bool = False
    tags: list[Tags] = field(default_factory=list)


class LogFile:
    """What the logs of both layouts are written with."""

    def __init__(
        self, file: BinaryIO, geometry: Geometry, *, summaries: bool = True, max_blocks: int = 0
    ) -> None:
        self.geometry = geometry
        self.blocks: list[WrittenBlock] = []
        self._file = file
        self._summaries = summaries
        self._max_blocks = max_blocks
        self._usable = geometry.pages_per_block - (geometry.summary_pages if summaries else 0)
        self._blank = b"\xff" * geometry.raw_page_bytes

    def append_block(self, pages: list[tuple[Tags, bytes]]) -> None:
        """A block with these pages, behind what is written (a checkpoint)."""
        for tags, data in pages:
            self._file.write(raw_page(self.geometry, tags, data))
        self._file.write(self._blank * (self.geometry.pages_per_block - len(pages)))


class LogWriter(LogFile):
    """The log of an image. `pad` completes the last block with erased pages."""

    def write(self, words: tuple[int, int, int], data: bytes) -> int:
        """Writes a chunk; its internal chunk number. `words` are object, chunk, byte count."""
        if not self.blocks or self.blocks[-1].pages >= self._usable:
            self.blocks.append(WrittenBlock(FIRST_SEQUENCE + len(self.blocks)))
        block = self.blocks[-1]
        tags = Tags(block.sequence, *words)
        self._page(tags, data)
        block.tags.append(tags)
        chunk = len(self.blocks) * self.geometry.pages_per_block + block.pages
        block.pages += 1
        if self._summaries and block.pages == self._usable:
            self._summary(block)
        return chunk

    def _summary(self, block: WrittenBlock) -> None:
        number = len(self.blocks)
        for tags, content in pack_summary(self.geometry, number, block.sequence, block.tags):
            self._page(tags, content)
            block.pages += 1
        block.has_summary = True

    def _page(self, tags: Tags, data: bytes) -> None:
        if not self._max_blocks or len(self.blocks) <= self._max_blocks:
            self._file.write(raw_page(self.geometry, tags, data))

    def pad(self) -> None:
        """Erased pages up to the end of the block."""
        if self.blocks:
            rest = self.geometry.pages_per_block - self.blocks[-1].pages
            self._file.write(self._blank * rest)


def raw_page(geometry: Geometry, tags: Tags, data: bytes) -> bytes:
    """A page with its OOB; `data` has at most S bytes, what is missing is 0xFF."""
    content = data.ljust(geometry.data_bytes, b"\xff")
    if geometry.inband:
        return (content + tags.pack()).ljust(geometry.raw_page_bytes, b"\xff")
    stored = pack_with_ecc(tags) if geometry.tags_ecc else tags.pack()
    oob = b"\xff" * geometry.oob_offset + stored
    return content + oob.ljust(geometry.oob_bytes, b"\xff")
