"""Lab flash files for tests: what vnand keeps a chip in."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from ffslab.fsimage.flashfile import PageSizes


def lab_flash_file(
    path: Path,
    raw: bytes,
    geometry: PageSizes,
    *,
    blocks: int = 0,
    first: int = 0,
    subpages: int = 1,
) -> Path:
    """A lab flash file with the pages and OOBs `raw` from block `first` on, as
    kmod/vnand/image_format.h says.
    """
    used = len(raw) // geometry.raw_block_bytes
    blocks = blocks or first + used
    pages = blocks * geometry.pages_per_block

    def aligned(offset: int) -> int:
        return -(-offset // 4096) * 4096

    blocks_at = 4096
    pages_at = aligned(blocks_at + 24 * blocks)
    data_at = aligned(pages_at + 4 * pages)
    end = aligned(data_at + pages * geometry.raw_page_bytes)
    head = struct.pack(
        "<8s6I4Q",
        b"VNANDIMG",
        1,
        geometry.page_bytes,
        geometry.oob_bytes,
        subpages,
        geometry.pages_per_block,
        blocks,
        blocks_at,
        pages_at,
        data_at,
        end,
    )
    contents = bytearray(end)
    contents[: len(head)] = head
    contents[64:68] = struct.pack("<I", zlib.crc32(head) ^ 0xFFFFFFFF)
    blank = b"\xff" * geometry.raw_page_bytes
    for block in range(used):
        for page in range(geometry.pages_per_block):
            start = block * geometry.raw_block_bytes + page * geometry.raw_page_bytes
            found = raw[start : start + geometry.raw_page_bytes]
            if found == blank:
                continue  # stays zero: a page that was not programmed
            number = (first + block) * geometry.pages_per_block + page
            contents[pages_at + 4 * number] = 1
            at = data_at + number * geometry.raw_page_bytes
            contents[at : at + len(found)] = found
    path.write_bytes(contents)
    return path
