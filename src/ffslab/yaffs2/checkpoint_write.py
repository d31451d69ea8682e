"""Writing the checkpoint of a fresh image: mkfs's, where every written page is in use.

Interpretations, as in `check_checkpoint.py`: counts and states are those before the checkpoint
takes its own blocks, which count as erased; there is no allocation block, and the last, partial
block counts as full, as after a scan. Objects 1 to 4 are listed, marked as fake.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ffslab.yaffs2.checkpoint_read import entry_widths, xor_bytes
from ffslab.yaffs2.format import (
    CHECKPOINT_FORMS,
    CHECKPOINT_HEADER_BYTES,
    CHECKPOINT_MAGIC,
    LEAF_ENTRIES,
    BlockState,
    CheckpointForm,
    Geometry,
    Layout,
    ObjectType,
)
from ffslab.yaffs2.tags import Tags
from ffslab.yaffs2.writer import WrittenBlock

_FAKE = 1 << 6
_RENAME_ALLOWED = 1 << 7
_UNLINK_ALLOWED = 1 << 8
_POINTERS_BYTES = 64
_ALL_ONES = b"\xff\xff\xff\xff"


_ORIGINAL = CHECKPOINT_FORMS[Layout.ORIGINAL]


class PieceFields(NamedTuple):
    """An index page: number of the piece, internal chunk number, flags."""

    piece: int
    chunk: int
    flags: int


class MetadataFields(NamedTuple):
    """What the segregated layout adds to the device; no metadata block is open.

    `horizon` is a position, `id_limit` the highest id + 1; `part_blocks` are 32 internal block
    numbers, 0 for a part of the ids that was not written.
    """

    horizon: int
    id_limit: int
    part_blocks: tuple[int, ...]


@dataclass(slots=True)
class WrittenObject:
    """An object of the image; chunks are internal chunk numbers, by chunk id. Only the segregated
    layout has pieces.
    """

    object_id: int
    object_type: ObjectType
    parent_id: int
    header_chunk: int = 0
    size_or_target: int = 0
    fake: bool = False
    chunks: dict[int, int] = field(default_factory=dict)
    pieces: list[PieceFields] = field(default_factory=list)


def checkpoint_stream(
    geometry: Geometry,
    total_blocks: int,
    blocks: Sequence[WrittenBlock],
    objects: Sequence[WrittenObject],
    form: CheckpointForm = _ORIGINAL,
    metadata: MetadataFields | None = None,
) -> bytes:
    """The seven parts of the stream; `metadata` is needed for the segregated layout."""
    segregated = form.layout is Layout.SEGREGATED
    stream = bytearray(_validity(form, 1))
    stream += _device(geometry, total_blocks, blocks)
    if metadata is not None:
        blocks_of_parts = struct.pack(f"<{len(metadata.part_blocks)}I", *metadata.part_blocks)
        size = 24 + len(blocks_of_parts)
        stream += struct.pack("<IiIIQ", size, -1, 0, metadata.id_limit, metadata.horizon)
        stream += blocks_of_parts
    empty = total_blocks - len(blocks)
    for block in blocks:
        word = block.pages << 10 | BlockState.FULL << 20 | block.has_summary << 30
        word |= block.is_metadata
        stream += struct.pack("<2I", word, block.sequence)
    stream += struct.pack("<2I", BlockState.EMPTY << 20, 0) * empty
    size = -(-geometry.pages_per_block // 8)
    for block in blocks:
        stream += ((1 << block.pages) - 1).to_bytes(size, "little")
    stream += bytes(size * empty)
    width = entry_widths(total_blocks, geometry.pages_per_block)[0]
    for written in sorted(objects, key=lambda obj: (obj.object_id & 0xFF, obj.object_id)):
        stream += _object(written)
        if written.object_type is ObjectType.FILE:
            stream += _pieces(written) if segregated else _leaves(written, width)
    stream += struct.pack("<I", 32) + b"\xff" * 28
    stream += _validity(form, 0)
    checksum = (sum(stream) << 8 | xor_bytes(stream)) & 0xFFFFFFFF
    return bytes(stream) + struct.pack("<I", checksum)


def _validity(form: CheckpointForm, word: int) -> bytes:
    return struct.pack("<4I", 16, CHECKPOINT_MAGIC, form.version, word)


def _device(geometry: Geometry, total_blocks: int, blocks: Sequence[WrittenBlock]) -> bytes:
    erased = total_blocks - len(blocks)
    used = sum(block.pages for block in blocks)
    free = total_blocks * geometry.pages_per_block - used
    sequence = blocks[-1].sequence if blocks else 0x1000
    return struct.pack("<9i", 36, erased, -1, 0, free, 0, 0, 0, sequence)


def _object(written: WrittenObject) -> bytes:
    bits = int(written.object_type)
    bits |= _FAKE if written.fake else _RENAME_ALLOWED | _UNLINK_ALLOWED
    return struct.pack(
        "<6IQ",
        32,
        written.object_id,
        written.parent_id,
        written.header_chunk,
        bits,
        len(written.chunks),
        written.size_or_target,
    )


def _pieces(written: WrittenObject) -> bytes:
    return b"".join(struct.pack("<3I", *piece) for piece in written.pieces) + _ALL_ONES


def _leaves(written: WrittenObject, width: int) -> bytes:
    leaves: dict[int, int] = {}
    for chunk_id, chunk in written.chunks.items():
        first = chunk_id - chunk_id % LEAF_ENTRIES
        leaves[first] = leaves.get(first, 0) | chunk << width * (chunk_id - first)
    size = max(2 * width, _POINTERS_BYTES)
    packed_leaves = bytearray()
    for first, packed in sorted(leaves.items()):
        packed_leaves += struct.pack("<I", first) + packed.to_bytes(size, "little")
    return bytes(packed_leaves) + _ALL_ONES


def checkpoint_blocks(
    geometry: Geometry, stream: bytes, first_block: int, form: CheckpointForm = _ORIGINAL
) -> Iterator[list[tuple[Tags, bytes]]]:
    """The pages of each checkpoint block, the first of which is `first_block`."""
    room = geometry.data_bytes - CHECKPOINT_HEADER_BYTES
    pages: list[tuple[Tags, bytes]] = []
    total = xor = 0
    block = first_block
    for number, position in enumerate(range(0, len(stream), room)):
        piece = stream[position : position + room].ljust(room, b"\xff")
        header = struct.pack("<4I", form.version, number, total & 0xFFFFFFFF, xor)
        # Internal number of the next block: block + 1 is this one.
        words = (block + 2, number + 1, geometry.data_bytes)
        pages.append((Tags(form.sequence, *words), header + piece))
        total += sum(piece)
        xor ^= xor_bytes(piece)
        if len(pages) == geometry.pages_per_block:
            yield pages
            pages = []
            block += 1
    if pages:
        yield pages
