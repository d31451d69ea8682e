"""A partition of YAFFS2 in an image file: data and tags of its pages."""

from __future__ import annotations

from ffslab.fsimage.flashfile import FlashPages
from ffslab.protocol.chip_layout import Contents, LabHeader
from ffslab.yaffs2.format import Geometry
from ffslab.yaffs2.tags import Tags, TagState, read_tags


class FlashImage(FlashPages):
    """Pages with tags. Tags that start at the first OOB byte leave no mark of a bad block."""

    def __init__(
        self,
        contents: Contents,
        geometry: Geometry,
        first_block: int,
        blocks: int,
        lab: LabHeader | None = None,
    ) -> None:
        super().__init__(contents, geometry, first_block, blocks, lab)
        self.geometry = geometry

    def data(self, block: int, page: int) -> bytes:
        """The S data bytes of a page; 0xFF where a truncated file ends."""
        return self.bytes_at(block, page, 0, self.geometry.data_bytes)

    def stored_tags(self, block: int, page: int) -> bytes:
        """The tag bytes as stored: 28, or 16 without ECC."""
        geometry = self.geometry
        if geometry.inband:
            return self.bytes_at(block, page, geometry.data_bytes, 16)
        start = geometry.page_bytes + geometry.oob_offset
        return self.bytes_at(block, page, start, geometry.stored_tags_bytes)

    def tags(self, block: int, page: int) -> tuple[TagState, Tags]:
        """The tags of a page, and what their ECC says of them."""
        return read_tags(self.stored_tags(block, page), ecc=self.geometry.has_ecc)

    def is_bad(self, block: int) -> bool:
        """Whether the block carries the mark of a bad block."""
        geometry = self.geometry
        if not self.is_lab and not geometry.inband and geometry.oob_offset == 0:
            return False
        return super().is_bad(block)
