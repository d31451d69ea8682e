"""What mkfs writes objects into, and that of the original layout.

`Store` is what mkfs needs of either layout; `segregated/write.py` has the other one.
"""

from __future__ import annotations

from typing import Protocol

from ffslab.yaffs2.checkpoint_write import MetadataFields, WrittenObject
from ffslab.yaffs2.format import EXTENDED_FILE_LIMIT, Geometry, Layout, ObjectType
from ffslab.yaffs2.header import HEADER_BYTES, HeaderFields, pack_header
from ffslab.yaffs2.tags import Tags, header_tags
from ffslab.yaffs2.writer import LogWriter, WrittenBlock


class Log(Protocol):
    """The blocks of an image, however many logs they are."""

    geometry: Geometry
    blocks: list[WrittenBlock]

    def pad(self) -> None: ...

    def append_block(self, pages: list[tuple[Tags, bytes]]) -> None: ...


class Store(Protocol):
    """Turns objects into pages; chunks and header are noted in the object."""

    @property
    def layout(self) -> Layout: ...

    @property
    def log(self) -> Log: ...

    @property
    def attribute_room(self) -> int: ...

    @property
    def metadata(self) -> MetadataFields | None: ...

    def begin_file(self) -> None: ...

    def write_data(
        self, written: WrittenObject, chunk_id: int, byte_count: int, data: bytes
    ) -> None: ...

    def write_header(self, fields: HeaderFields, written: WrittenObject, area: bytes) -> None: ...


class OriginalStore:
    """The original layout: one log, headers behind the data."""

    layout = Layout.ORIGINAL
    metadata = None  # there are no metadata blocks

    def __init__(self, log: LogWriter) -> None:
        self.log = log

    @property
    def attribute_room(self) -> int:
        """Bytes that the extended attributes of an object may take."""
        return self.log.geometry.data_bytes - HEADER_BYTES

    def begin_file(self) -> None:
        """Nothing says that a file begins."""

    def write_data(
        self, written: WrittenObject, chunk_id: int, byte_count: int, data: bytes
    ) -> None:
        words = (written.object_id, chunk_id, byte_count)
        written.chunks[chunk_id] = self.log.write(words, data)

    def write_header(self, fields: HeaderFields, written: WrittenObject, area: bytes) -> None:
        plain = fields.object_type is ObjectType.FILE and fields.size >= EXTENDED_FILE_LIMIT
        if plain:
            words = (written.object_id, 0, 0)
        else:
            value = written.size_or_target
            words = header_tags(
                0, written.object_id, fields.object_type, fields.parent_id, size_or_target=value
            ).words
        written.header_chunk = self.log.write(words, pack_header(fields) + area)
