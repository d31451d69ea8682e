"""Logs of the segregated layout for tests, written page by page as a running system would.

`TwoLogs` keeps nothing in mind but where the next pages go: what an index names, which cuts a
file has and where the horizon is, each test says. Chunks are internal chunk numbers.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from yaffs2_support import FILE, SMALL, Image, usual_mode

from ffslab.fsimage.node import Node
from ffslab.yaffs2.format import Geometry, ObjectType
from ffslab.yaffs2.header import HeaderFields, pack_header
from ffslab.yaffs2.segregated.head import (
    Cut,
    HeadFields,
    pack_header_page,
    pack_index_page,
    piece_chunks,
)
from ffslab.yaffs2.segregated.marks import index_tags
from ffslab.yaffs2.segregated.write import SegregatedLog
from ffslab.yaffs2.tags import header_tags

S = 2048
PIECE = 496  # chunk ids of a piece, of pages of 2048 bytes: (2048 - 48) / 4 down to 16s
HEAD_AT = 512
FIRST = 0x1001 * 1024  # the position of the first page that can be written
Cuts = Sequence[tuple[int, int]]


class MountedLog(SegregatedLog):
    """A log that is mounted again and again, which mkfs does not do."""

    @property
    def open_blocks(self) -> tuple[int, ...]:
        """Numbers of the blocks that are being written, counted from 0."""
        return tuple(self._open.values())

    def abandon(self, newest: int | None = None) -> None:
        """No open block is written any more, as after a mount.

        `newest` is the sequence number behind which a mount goes on; None: the last one given.
        """
        self._open.clear()
        self._newest = self._newest if newest is None else newest


class TwoLogs:
    """A log of metadata and one of data, in blocks of 8 pages of 2048 + 64 bytes."""

    def __init__(self, geometry: Geometry = SMALL, *, summaries: bool = True) -> None:
        self.geometry = geometry
        self._file = io.BytesIO()
        self.log = MountedLog(self._file, geometry, summaries=summaries)

    @property
    def now(self) -> int:
        return self.log.now

    def header(
        self,
        object_id: int,
        kind: ObjectType,
        parent: int,
        name: str,
        *,
        index: Mapping[int, int] | None = None,
        cuts: Cuts = (),
        horizon: int | None = None,
        now: int | None = None,
        flags: int = 0,
        area: bytes = b"",
        shadows: int = 0,
        **fields: Any,
    ) -> int:
        """A header; `index` are chunks by chunk id, None: it has none (and no flag for it)."""
        mode = {"mode": usual_mode(kind)}
        header = HeaderFields(
            kind, parent, name.encode(), shadowed_id=shadows, **{**mode, **fields}
        )
        self.log.prepare(metadata=True)
        here = self.now if now is None else now
        head = HeadFields(
            here,
            here if horizon is None else horizon,
            flags | (0 if index is None else 1),
            cuts=[Cut(*cut) for cut in cuts],
            attributes=area,
            entries=entries(index or {}),
        )
        value = header.size if kind is FILE else header.target_id
        tags = header_tags(
            0,
            object_id,
            kind,
            parent,
            size_or_target=value & 0xFFFFFFFF,
            shadows=bool(shadows),
        )
        return self.log.write(
            tags.words, pack_header_page(pack_header(header), head), metadata=True
        )

    def file(
        self,
        object_id: int,
        name: str,
        size: int,
        index: Mapping[int, int] | None,
        *,
        parent: int = 1,
        cuts: Cuts = ((FIRST, 0),),
        **more: Any,
    ) -> int:
        return self.header(object_id, FILE, parent, name, size=size, index=index, cuts=cuts, **more)

    def index(
        self,
        object_id: int,
        piece: int,
        size: int,
        chunks: Mapping[int, int],
        *,
        now: int | None = None,
        horizon: int | None = None,
        flags: int = 1,
    ) -> int:
        """An index page; `chunks` are by chunk id."""
        self.log.prepare(metadata=True)
        here = self.now if now is None else now
        first = piece * piece_chunks(self.geometry.data_bytes)
        shifted = {chunk_id - first: chunk for chunk_id, chunk in chunks.items()}
        fields = HeadFields(
            here,
            here if horizon is None else horizon,
            flags,
            piece,
            size,
            entries=entries(shifted),
        )
        page = pack_index_page(fields)
        words = index_tags(0, object_id, piece, self.geometry.data_bytes).words
        return self.log.write(words, page, metadata=True)

    def data(self, object_id: int, chunk_id: int, content: bytes) -> int:
        padded = content.ljust(self.geometry.data_bytes, b"\0")
        return self.log.write((object_id, chunk_id, len(content)), padded, metadata=False)

    def chunk(self, object_id: int, chunk_id: int, letter: str) -> int:
        """A full data page of one letter."""
        return self.data(object_id, chunk_id, full(letter))

    def deleted(self, object_id: int, kind: ObjectType = FILE, horizon: int | None = None) -> int:
        return self.header(object_id, kind, 4, "deleted", horizon=horizon)

    def unlinked(self, object_id: int, cuts: Cuts = ((FIRST, 0),)) -> int:
        """A file that is still open."""
        return self.header(object_id, FILE, 3, "unlinked", cuts=cuts)

    def mount(self, newest: int | None = None) -> None:
        """The blocks that were open are not written any more; `newest` as in the log."""
        self.log.abandon(newest)

    def skip_data_blocks(self, count: int) -> None:
        """Data of an object that does not exist, so many blocks of them."""
        usable = self.geometry.pages_per_block - self.geometry.summary_pages
        for _ in range(count * usable):
            self.data(999, 1, b"nobody's")

    def image(self) -> Image:
        self.log.pad()
        return Image(self.geometry, self._file.getvalue())

    def place(self, chunk: int) -> tuple[int, int]:
        """Block and page of an internal chunk number."""
        block, page = divmod(chunk, self.geometry.pages_per_block)
        return block - 1, page


def full(letter: str) -> bytes:
    return letter.encode() * S


def entries(chunks: Mapping[int, int]) -> list[int]:
    return [chunks.get(number, 0) for number in range(max(chunks, default=-1) + 1)]


def seal(image: Image, place: tuple[int, int], start: int = HEAD_AT) -> None:
    """Computes the CRC of a head anew."""
    page = image.page(*place)
    count, _, extra = struct.unpack_from("<IHH", page, start + 16)
    end = start + (112 + extra if start else 48) + 4 * count
    covered = page[start : start + 8] + bytes(4) + page[start + 12 : end]
    image.word(*place, start + 8, zlib.crc32(covered))


def patch_head(
    image: Image, place: tuple[int, int], offset: int, data: bytes, start: int = HEAD_AT
) -> None:
    """Changes bytes behind the beginning of a head; the CRC is right again."""
    image.patch(*place, start + offset, data)
    seal(image, place, start)


def check(log: TwoLogs, tmp_path: Path, *rules: str) -> dict[str, Node]:
    """The tree of a log that gives problems of exactly these rules."""
    image = log.image()
    report = image.check(tmp_path)
    assert set(report.counts) == set(rules), report.text()
    return image.tree(tmp_path)
