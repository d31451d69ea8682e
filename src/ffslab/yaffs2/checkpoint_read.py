"""Reading a checkpoint: its pages in their order, the stream in them, the stream's seven parts.

Pages are found as a mount finds them: the lowest block whose first page has sequence 0x21, its
pages in order; then, from the block on that the tags name (object id: an internal block number),
the next block with that sequence. Interpretations:

- "Give up after blocks/16 + 2" bounds the number of checkpoint blocks.
- The stream in a page has S − 16 bytes; what follows the end of the stream in the last page is
  not looked at. Pages behind it are.
- The final checksum covers everything before it, the second validity record included.
- Entries of leaves have as many bits as the largest internal chunk number needs, rounded up to
  even, at least 16. Where (N + 1) × pages per block is a power of two, a writer may have taken
  the bits of that number itself, two more: `entry_widths` gives both.
- In the segregated layout bit 0 of a block's first word says that it is a metadata block; bits 1
  to 9 count as soft-deleted pages, which the check of a segregated checkpoint forbids.
- Leaves are stored with 64 bytes, or with 32 by a machine with 32-bit pointers (then 2w if that
  is more): whichever makes the stream readable.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ffslab.yaffs2.format import (
    CHECKPOINT_FORMS,
    CHECKPOINT_HEADER_BYTES,
    CHECKPOINT_MAGIC,
    LEAF_ENTRIES,
    CheckpointForm,
    Layout,
    ObjectType,
)
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.segregated.ids import PARTS_MAX
from ffslab.yaffs2.tags import Tags, TagState

_PAGE_HEADER = struct.Struct("<4I")
_VALIDITY = struct.Struct("<4I")
_DEVICE = struct.Struct("<9i")
_METADATA = struct.Struct(f"<IiIIQ{PARTS_MAX}I")
_BLOCK = struct.Struct("<2I")
_PIECE = struct.Struct("<2I")
_OBJECT = struct.Struct("<6IQ")
_WORD = struct.Struct("<I")
_END_OF_LEAVES = 0xFFFFFFFF
_END_OF_OBJECTS = _WORD.pack(_OBJECT.size) + b"\xff" * (_OBJECT.size - 4)
_TRIES = 8
_ORIGINAL = CHECKPOINT_FORMS[Layout.ORIGINAL]


class CheckpointError(Exception):
    """Why a checkpoint cannot be used. `incomplete`: parts of it are not there."""

    def __init__(self, message: str, *, incomplete: bool = False, block: int = -1) -> None:
        super().__init__(message)
        self.incomplete = incomplete
        self.block = block


@dataclass(frozen=True, slots=True)
class CheckpointPage:
    """A page of the checkpoint with its tags."""

    block: int
    page: int
    tags: Tags


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """Part 2 of the stream; block numbers are internal."""

    erased_blocks: int
    alloc_block: int
    alloc_page: int
    free_chunks: int
    deleted_files: int
    unlinked_files: int
    background_deletions: int
    sequence: int
    metadata: MetadataRecord | None = None


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """What the segregated layout adds to part 2.

    `id_limit` is the highest id in any metadata page + 1, the horizon a position; `part_blocks`
    are the internal numbers of the blocks with the newest parts of the ids, 0 for none.
    """

    alloc_block: int
    alloc_page: int
    id_limit: int
    horizon: int
    part_blocks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BlockInfo:
    """Part 3, one block."""

    soft_deleted: int
    in_use: int
    state: int
    has_summary: bool
    has_shrink: bool
    sequence: int
    is_metadata: bool = False


@dataclass(frozen=True, slots=True)
class PieceRecord:
    """An index page of a file: number of the piece, internal chunk number, flags."""

    piece: int
    chunk: int
    flags: int


@dataclass(frozen=True, slots=True)
class ObjectRecord:
    """Part 5, one object. `leaves` are (first chunk id, packed entries); the segregated layout
    has `pieces` in their place.
    """

    object_id: int
    parent_id: int
    header_chunk: int
    object_type: int
    deleted: bool
    soft_deleted: bool
    unlinked: bool
    fake: bool
    data_chunks: int
    size_or_target: int
    leaves: tuple[tuple[int, bytes], ...] = ()
    pieces: tuple[PieceRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint that a mount would accept."""

    device: DeviceRecord
    infos: tuple[BlockInfo, ...]
    bitmaps: tuple[int, ...]
    objects: tuple[ObjectRecord, ...]
    stream_bytes: int


@dataclass(frozen=True, slots=True)
class FoundCheckpoint:
    """The pages that are there, and what they say or why that cannot be used."""

    pages: tuple[CheckpointPage, ...]
    parsed: Checkpoint | None
    error: CheckpointError | None


def checkpoint_pages(flash: FlashImage, form: CheckpointForm = _ORIGINAL) -> list[CheckpointPage]:
    """The checkpoint's pages in order, as far as they go on without a gap."""
    pages: list[CheckpointPage] = []
    search = 0
    for _ in range(flash.blocks // 16 + 2):
        block = _next_block(flash, form, search)
        if block is None:
            break
        before = len(pages)
        pages.extend(_pages_of_block(flash, form, block, before))
        if len(pages) == before:
            break
        hint = pages[-1].tags.object_word - 1
        full = len(pages) - before == flash.geometry.pages_per_block
        if not full or not block < hint < flash.blocks:
            break
        search = hint
    return pages


def _next_block(flash: FlashImage, form: CheckpointForm, start: int) -> int | None:
    for block in range(start, flash.blocks):
        if not flash.is_bad(block) and _is_checkpoint(form, _tags(flash, block, 0)):
            return block
    return None


def _tags(flash: FlashImage, block: int, page: int) -> Tags | None:
    state, tags = flash.tags(block, page)
    return tags if state in (TagState.GOOD, TagState.CORRECTED) else None


def _is_checkpoint(form: CheckpointForm, tags: Tags | None) -> bool:
    return tags is not None and tags.sequence == form.sequence


def _pages_of_block(
    flash: FlashImage, form: CheckpointForm, block: int, before: int
) -> Iterator[CheckpointPage]:
    programmed = set(flash.programmed_pages(block))
    for page in range(flash.geometry.pages_per_block):
        tags = _tags(flash, block, page) if page in programmed else None
        if tags is None or not _is_checkpoint(form, tags) or tags.chunk_word != before + page + 1:
            return
        yield CheckpointPage(block, page, tags)


def read_checkpoint(flash: FlashImage, layout: Layout = Layout.ORIGINAL) -> FoundCheckpoint:
    """The checkpoint as far as it is there, parsed if a mount would accept it."""
    form = CHECKPOINT_FORMS[layout]
    pages = tuple(checkpoint_pages(flash, form))
    try:
        stream = _stream(flash, form, pages)
        parsed = parse_stream(stream, flash.blocks, flash.geometry.pages_per_block, form)
    except CheckpointError as error:
        return FoundCheckpoint(pages, None, error)
    return FoundCheckpoint(pages, parsed, None)


def _stream(flash: FlashImage, form: CheckpointForm, pages: Sequence[CheckpointPage]) -> bytes:
    stream = bytearray()
    total = xor = 0
    size = flash.geometry.data_bytes
    for number, written in enumerate(pages):
        data = flash.data(written.block, written.page)
        header = _PAGE_HEADER.unpack_from(data)
        if written.tags.bytes_word != size:
            message = f"page {number} says {written.tags.bytes_word} bytes, not {size}"
            raise CheckpointError(message, block=written.block)
        if header != (form.version, number, total & 0xFFFFFFFF, xor):
            message = f"page {number} has version, number, sum, XOR {header}"
            raise CheckpointError(message, block=written.block)
        piece = data[CHECKPOINT_HEADER_BYTES:]
        stream += piece
        total += sum(piece)
        xor ^= xor_bytes(piece)
    return bytes(stream)


def xor_bytes(data: bytes | bytearray) -> int:
    """All bytes XORed: an integer folded in halves."""
    width = 1 << max(0, len(data) - 1).bit_length()
    value = int.from_bytes(data, "little")
    while width > 1:
        width //= 2
        value = value >> 8 * width ^ value & (1 << 8 * width) - 1
    return value


def parse_stream(
    stream: bytes, blocks: int, pages_per_block: int, form: CheckpointForm = _ORIGINAL
) -> Checkpoint:
    """The seven parts. CheckpointError says which is not as it must be."""
    errors = []
    for pointers in (8, 4):
        leaf_bytes = max(2 * entry_widths(blocks, pages_per_block)[0], 8 * pointers)
        try:
            return _Parser(stream, blocks, pages_per_block, leaf_bytes, form).parse()
        except CheckpointError as error:
            errors.append(error)
    raise errors[0]


def entry_widths(blocks: int, pages_per_block: int) -> tuple[int, ...]:
    """Bits of an entry in a leaf: the usual reading first, then another if there is one."""
    numbers = (blocks + 1) * pages_per_block
    widths = []
    for bits in ((numbers - 1).bit_length(), numbers.bit_length()):
        width = max(16, bits + bits % 2)
        if width not in widths:
            widths.append(width)
    return tuple(widths)


def unpack_leaf(packed: bytes, width: int) -> tuple[int, ...]:
    """The 16 entries."""
    value = int.from_bytes(packed, "little")
    mask = (1 << width) - 1
    return tuple(value >> width * number & mask for number in range(LEAF_ENTRIES))


class _Parser:
    """Walks through the stream."""

    def __init__(
        self,
        stream: bytes,
        blocks: int,
        pages_per_block: int,
        leaf_bytes: int,
        form: CheckpointForm,
    ) -> None:
        self._stream = stream
        self._form = form
        self._segregated = form.layout is Layout.SEGREGATED
        self._blocks = blocks
        self._pages = pages_per_block
        self._leaf_bytes = leaf_bytes
        self._at = 0

    def parse(self) -> Checkpoint:
        self._validity(1, "first")
        device = self._device()
        infos = tuple(self._info() for _ in range(self._blocks))
        size = -(-self._pages // 8)
        bitmaps = tuple(int.from_bytes(self._take(size), "little") for _ in range(self._blocks))
        objects = tuple(self._objects())
        self._validity(0, "last")
        self._checksum()
        return Checkpoint(device, infos, bitmaps, objects, self._at)

    def _take(self, size: int) -> bytes:
        piece = self._stream[self._at : self._at + size]
        if len(piece) < size:
            raise CheckpointError(f"it ends after {len(self._stream)} bytes", incomplete=True)
        self._at += size
        return piece

    def _validity(self, word: int, which: str) -> None:
        expected = (_VALIDITY.size, CHECKPOINT_MAGIC, self._form.version, word)
        if _VALIDITY.unpack(self._take(_VALIDITY.size)) != expected:
            raise CheckpointError(f"the {which} validity record is wrong")

    def _device(self) -> DeviceRecord:
        size, *values = _DEVICE.unpack(self._take(_DEVICE.size))
        if size != _DEVICE.size:
            raise CheckpointError(f"the device record has size {size}, not {_DEVICE.size}")
        device = DeviceRecord(*values)
        return replace(device, metadata=self._metadata()) if self._segregated else device

    def _metadata(self) -> MetadataRecord:
        size, block, page, limit, horizon, *parts = _METADATA.unpack(self._take(_METADATA.size))
        if size != _METADATA.size:
            raise CheckpointError(f"the metadata record has size {size}, not {_METADATA.size}")
        return MetadataRecord(block, page, limit, horizon, tuple(parts))

    def _info(self) -> BlockInfo:
        word, sequence = _BLOCK.unpack(self._take(_BLOCK.size))
        return BlockInfo(
            soft_deleted=word >> 1 & 0x1FF if self._segregated else word & 0x3FF,
            in_use=word >> 10 & 0x3FF,
            state=word >> 20 & 0xF,
            has_summary=bool(word >> 30 & 1),
            has_shrink=bool(word >> 31),
            sequence=sequence,
            is_metadata=self._segregated and bool(word & 1),
        )

    def _objects(self) -> Iterator[ObjectRecord]:
        while True:
            raw = self._take(_OBJECT.size)
            if raw == _END_OF_OBJECTS:
                return
            size, object_id, parent, header, bits, chunks, value = _OBJECT.unpack(raw)
            if size != _OBJECT.size:
                raise CheckpointError(f"an object record has size {size}, not {_OBJECT.size}")
            is_file = bits & 7 == ObjectType.FILE
            yield ObjectRecord(
                object_id=object_id,
                parent_id=parent,
                header_chunk=header,
                object_type=bits & 7,
                deleted=bool(bits >> 3 & 1),
                soft_deleted=bool(bits >> 4 & 1),
                unlinked=bool(bits >> 5 & 1),
                fake=bool(bits >> 6 & 1),
                data_chunks=chunks,
                size_or_target=value,
                leaves=tuple(self._leaves()) if is_file and not self._segregated else (),
                pieces=tuple(self._pieces()) if is_file and self._segregated else (),
            )

    def _leaves(self) -> Iterator[tuple[int, bytes]]:
        while True:
            (first,) = _WORD.unpack(self._take(_WORD.size))
            if first == _END_OF_LEAVES:
                return
            if first % LEAF_ENTRIES:
                raise CheckpointError(f"a leaf begins at chunk {first}, not a multiple of 16")
            yield first, self._take(self._leaf_bytes)

    def _pieces(self) -> Iterator[PieceRecord]:
        while True:
            (piece,) = _WORD.unpack(self._take(_WORD.size))
            if piece == _END_OF_LEAVES:
                return
            yield PieceRecord(piece, *_PIECE.unpack(self._take(_PIECE.size)))

    def _checksum(self) -> None:
        covered = self._stream[: self._at]
        expected = (sum(covered) << 8 | xor_bytes(covered)) & 0xFFFFFFFF
        (stored,) = _WORD.unpack(self._take(_WORD.size))
        if stored != expected:
            raise CheckpointError(f"the checksum is {stored:#x}, the stream gives {expected:#x}")


def deduce_blocks(flash: FlashImage, layout: Layout = Layout.ORIGINAL) -> int | None:
    """The number of blocks under which the checkpoint can be read; None without one.

    Of a checkpoint whose end is missing, the number under which all that is there can be read.
    """
    form = CHECKPOINT_FORMS[layout]
    pages = checkpoint_pages(flash, form)
    try:
        stream = _stream(flash, form, pages)
    except CheckpointError:
        return None
    per_block = _BLOCK.size + -(-flash.geometry.pages_per_block // 8)
    readable = None
    tried = 0
    for blocks in range(1, len(stream) // per_block):
        at = _VALIDITY.size + _DEVICE.size + blocks * per_block
        at += _METADATA.size if layout is Layout.SEGREGATED else 0
        if stream[at : at + 4] != _END_OF_OBJECTS[:4] or tried == _TRIES:
            continue
        tried += 1
        try:
            parse_stream(stream, blocks, flash.geometry.pages_per_block, form)
        except CheckpointError as error:
            if error.incomplete and readable is None:
                readable = blocks
        else:
            return blocks
    return readable
