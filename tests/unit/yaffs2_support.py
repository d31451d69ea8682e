"""YAFFS2 images for tests: logs written operation by operation, and images with damage.

`Log` writes what a running file system would leave, one chunk at a time. `Image` holds any
image's pages and changes single ones, tags with a fresh ECC included.
"""

from __future__ import annotations

import io
import stat
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

from flash_support import lab_flash_file

from ffslab.fsimage.node import Node
from ffslab.yaffs2 import ImageOptions, Report, check_image, read_tree
from ffslab.yaffs2.format import Geometry, ObjectType
from ffslab.yaffs2.header import HeaderFields, pack_header
from ffslab.yaffs2.tags import Tags, header_tags, read_tags
from ffslab.yaffs2.writer import LogWriter, raw_page

SMALL = Geometry(pages_per_block=8)
OPTIONS = ImageOptions(
    page_bytes=2048, oob_bytes=64, pages_per_block=8, oob_offset=2, inband=False, tags_ecc=True
)
_MODES = {
    ObjectType.FILE: stat.S_IFREG | 0o644,
    ObjectType.DIRECTORY: stat.S_IFDIR | 0o755,
    ObjectType.SYMLINK: stat.S_IFLNK | 0o777,
    ObjectType.SPECIAL: stat.S_IFIFO | 0o600,
    ObjectType.HARD_LINK: 0,
}
FILE, DIRECTORY, SYMLINK = ObjectType.FILE, ObjectType.DIRECTORY, ObjectType.SYMLINK
HARD_LINK, SPECIAL = ObjectType.HARD_LINK, ObjectType.SPECIAL


def usual_mode(kind: ObjectType) -> int:
    """The mode of an object of this type."""
    return _MODES[kind]


class Log:
    """A log of chunks in blocks of 8 pages of 2048 + 64 bytes."""

    def __init__(self, geometry: Geometry = SMALL, *, summaries: bool = True) -> None:
        self.geometry = geometry
        self._file = io.BytesIO()
        self.writer = LogWriter(self._file, geometry, summaries=summaries)

    def header(
        self,
        object_id: int,
        kind: ObjectType,
        parent: int,
        name: str,
        *,
        shrink: bool = False,
        shadows: int = 0,
        area: bytes = b"",
        **fields: Any,
    ) -> int:
        header = HeaderFields(
            kind,
            parent,
            name.encode(),
            shrink=shrink,
            shadowed_id=shadows,
            **{"mode": _MODES[kind], **fields},
        )
        value = header.size if kind is FILE else header.target_id
        if kind is FILE and value >= 1 << 31:
            return self.writer.write((object_id, 0, 0), pack_header(header) + area)
        tags = header_tags(
            0,
            object_id,
            kind,
            parent,
            size_or_target=value,
            shrink=shrink,
            shadows=bool(shadows),
        )
        return self.writer.write(tags.words, pack_header(header) + area)

    def file(self, object_id: int, name: str, size: int, parent: int = 1, **more: Any) -> int:
        return self.header(object_id, FILE, parent, name, size=size, **more)

    def data(self, object_id: int, chunk_id: int, content: bytes) -> int:
        padded = content.ljust(self.geometry.data_bytes, b"\0")
        return self.writer.write((object_id, chunk_id, len(content)), padded)

    def deleted(self, object_id: int, kind: ObjectType = FILE) -> int:
        return self.header(object_id, kind, 4, "deleted", shrink=True)

    def unlinked(self, object_id: int, kind: ObjectType = FILE) -> int:
        return self.header(object_id, kind, 3, "unlinked")

    def skip_block(self) -> None:
        """The next chunk goes into a new block: this one is abandoned, as after a mount."""
        self.writer.pad()
        self.writer.blocks[-1].pages = self.geometry.pages_per_block

    def image(self) -> Image:
        contents = self._file.getvalue()
        step = self.geometry.raw_block_bytes
        blank = b"\xff" * (-len(contents) % step)
        return Image(self.geometry, contents + blank)


class Image:
    """A raw image that can be changed."""

    def __init__(self, geometry: Geometry, contents: bytes) -> None:
        self.geometry = geometry
        self.raw = bytearray(contents)

    @classmethod
    def load(cls, path: Path, geometry: Geometry = SMALL) -> Image:
        return cls(geometry, path.read_bytes())

    @property
    def blocks(self) -> int:
        return len(self.raw) // self.geometry.raw_block_bytes

    def at(self, block: int, page: int = 0) -> int:
        geometry = self.geometry
        return block * geometry.raw_block_bytes + page * geometry.raw_page_bytes

    def tags(self, block: int, page: int) -> Tags:
        start = self.at(block, page) + self.geometry.page_bytes + self.geometry.oob_offset
        return read_tags(bytes(self.raw[start : start + 28]), ecc=True)[1]

    def page(self, block: int, page: int) -> bytes:
        start = self.at(block, page)
        return bytes(self.raw[start : start + self.geometry.page_bytes])

    def set_page(self, block: int, page: int, tags: Tags, data: bytes) -> None:
        start = self.at(block, page)
        raw = raw_page(self.geometry, tags, data)
        self.raw[start : start + len(raw)] = raw

    def set_tags(self, block: int, page: int, **words: int) -> None:
        """Changes words of the tags; the ECC is right again."""
        tags = replace(self.tags(block, page), **words)
        self.set_page(block, page, tags, self.page(block, page))

    def patch(self, block: int, page: int, offset: int, data: bytes) -> None:
        start = self.at(block, page) + offset
        self.raw[start : start + len(data)] = data

    def word(self, block: int, page: int, offset: int, value: int) -> None:
        self.patch(block, page, offset, struct.pack("<I", value))

    def flip(self, block: int, page: int, offset: int, *bits: int) -> None:
        start = self.at(block, page) + offset
        for bit in bits:
            self.raw[start + bit // 8] ^= 1 << bit % 8

    def erase(self, block: int, *pages: int) -> None:
        for page in pages or range(self.geometry.pages_per_block):
            self.patch(block, page, 0, b"\xff" * self.geometry.raw_page_bytes)

    def resequence(self, sequence: int) -> None:
        """Gives all blocks this number; for logs without summaries."""
        for block in range(self.blocks):
            for page in range(self.geometry.pages_per_block):
                if self.tags(block, page).sequence != 0xFFFFFFFF:
                    self.set_tags(block, page, sequence=sequence)

    def swap_blocks(self, one: int, other: int) -> None:
        size = self.geometry.raw_block_bytes
        a, b = self.at(one), self.at(other)
        first, second = bytes(self.raw[a : a + size]), bytes(self.raw[b : b + size])
        self.raw[a : a + size], self.raw[b : b + size] = second, first

    def find(self, object_id: int, chunk_id: int = 0) -> tuple[int, int]:
        """The newest page with such a chunk."""
        best: tuple[int, int, int] | None = None
        for block in range(self.blocks):
            for page in range(self.geometry.pages_per_block):
                tags = self.tags(block, page)
                if tags.sequence == 0xFFFFFFFF:
                    continue
                if tags.object_id == object_id and tags.chunk_id == chunk_id:
                    best = max(best or (0, 0, 0), (tags.sequence, block, page))
        assert best is not None
        return best[1], best[2]

    def write(self, directory: Path) -> Path:
        path = directory / "image"
        path.write_bytes(self.raw)
        return path

    def check(self, directory: Path, options: ImageOptions = OPTIONS) -> Report:
        return check_image(self.write(directory), options)

    def tree(self, directory: Path, options: ImageOptions = OPTIONS) -> dict[str, Node]:
        return read_tree(self.write(directory), options)


def lab_file(
    path: Path, image: Image, *, blocks: int = 0, first: int = 0, subpages: int = 1
) -> Path:
    """A lab flash file with `image` from block `first` on."""
    raw = bytes(image.raw)
    return lab_flash_file(path, raw, image.geometry, blocks=blocks, first=first, subpages=subpages)


def mark_bad(path: Path, block: int) -> None:
    """Marks a block of a lab flash file as bad."""
    contents = bytearray(path.read_bytes())
    contents[4096 + 24 * block + 20] |= 1
    path.write_bytes(contents)
