"""Opening an image: where in the file the file system lies, deduced from its superblocks.

A superblock says how large segments are, where its two copies lie and which segments the journal
has. So each occurrence of the magic number, with each size of pages and OOB, gives a place of the
partition; the one under which most copies and journal segments are where they should be is right.
LogFS uses no OOB: in a file without OOB the size of pages matters to nobody.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import UsageError
from ffslab.fsimage.flashfile import FlashPages, ImageOptions, PageSizes, map_file
from ffslab.logfs.format import (
    MAGIC,
    SEGMENT_HEADER_BYTES,
    SUPERBLOCK_BYTES,
    SegmentType,
    Superblock,
    parse_segment_header,
    parse_superblock,
)
from ffslab.protocol.chip_layout import Contents, LabHeader, parse_lab_header

_OOB_SIZES = (0, 16, 32, 64, 128, 218, 224, 232, 256, 448, 512, 640, 744, 1024, 1280)
_PAGE_SIZES = (2048, 512, 1024, 4096, 8192, 16384)
_OCCURRENCES = 32  # of the magic number that are looked at
_PIECE_BYTES = 1 << 20
_SEGMENT_SHIFTS = range(14, 29)


@dataclass(frozen=True, slots=True)
class PageGeometry(PageSizes):
    """How pages lie in the file."""

    oob_bytes: int = 0

    def describe(self) -> str:
        oob = f"+{self.oob_bytes}" if self.oob_bytes else ""
        return f"{self.page_bytes}{oob} bytes × {self.pages_per_block} pages"


class Device:
    """A partition by offsets of its data; what was not programmed reads as 0xFF."""

    def __init__(
        self,
        contents: Contents,
        geometry: PageGeometry,
        first_block: int,
        blocks: int,
        lab: LabHeader | None,
    ) -> None:
        self.geometry = geometry
        self.pages = FlashPages(contents, geometry, first_block, blocks, lab)
        self.size_bytes = blocks * geometry.block_bytes
        self._plain = contents if lab is None and not geometry.oob_bytes else None
        self._start = first_block * geometry.block_bytes

    def read(self, ofs: int, length: int) -> bytes:
        """Always `length` bytes, 0xFF outside of the partition; `ofs` is not negative."""
        inside = max(0, min(length, self.size_bytes - ofs))
        if self._plain is not None:
            start = self._start + ofs
            data = self._plain[start : start + inside]
        else:
            data = b"".join(self._pieces(ofs, inside))
        return data.ljust(length, b"\xff")

    def _pieces(self, ofs: int, length: int) -> Iterator[bytes]:
        while length > 0:
            number, offset = divmod(ofs, self.geometry.page_bytes)
            block, page = divmod(number, self.geometry.pages_per_block)
            part = min(length, self.geometry.page_bytes - offset)
            if self.pages.may_be_programmed(block, page):
                yield self.pages.bytes_at(block, page, offset, part)
            else:
                yield b"\xff" * part
            ofs += part
            length -= part


@dataclass(frozen=True, slots=True)
class OpenedImage:
    """An image with what was deduced. `problems` are (rule, message) about the file itself.

    `superblock` is a copy that led here; None if there is none.
    """

    path: Path
    device: Device
    superblock: Superblock | None
    source: str
    problems: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """A possible place of the partition, and how much speaks for it."""

    geometry: PageGeometry
    first_block: int
    superblock: Superblock
    score: int


def open_image(path: Path, options: ImageOptions | None = None) -> OpenedImage:
    """Opens a raw dump or lab flash file. UsageError: no file, impossible options."""
    options = options or ImageOptions()
    contents = map_file(path)
    lab = parse_lab_header(contents)
    problems: list[tuple[str, str]] = []
    if lab:
        if lab.problem:
            problems.append(("image-header", f"header of the lab flash file: {lab.problem}"))
        if not (0 < lab.page_bytes <= 1 << 16 and 0 < lab.pages_per_block <= 1 << 16):
            raise UsageError(f"{path}: the lab flash file has no possible geometry")
        options = options.of_lab(lab)
    _check_options(options)
    best = _best_place(contents, lab, options)
    geometry = best.geometry if best else _geometry(options, options.page_bytes or 2048, 0)
    start = lab.data_offset if lab else 0
    total = -(-max(0, len(contents) - start) // geometry.raw_block_bytes)
    total = min(total, lab.blocks) if lab else total
    first = options.first_block if options.first_block is not None else 0
    first = best.first_block if best else first
    if first >= max(total, 1):
        raise UsageError(f"{path} has {total} blocks, so there is no block {first}")
    blocks = options.blocks or max(0, total - first)
    if best and options.blocks is None:
        needed = -(-best.superblock.fs_bytes // geometry.block_bytes)
        pages = -(-best.superblock.fs_bytes // geometry.page_bytes)
        end_at = start + first * geometry.raw_block_bytes + pages * geometry.raw_page_bytes
        if end_at > len(contents):
            problems.append(
                (
                    "image-truncated",
                    f"the file has {len(contents)} bytes; the file system ends at {end_at}",
                )
            )
        blocks = min(blocks, needed)
    source = "from the file's header" if lab else "found by the superblocks"
    return OpenedImage(
        path,
        Device(contents, geometry, first, blocks, lab),
        best.superblock if best else None,
        source if best or lab else "no superblock: defaults",
        tuple(problems),
    )


def _check_options(options: ImageOptions) -> None:
    limits = (
        ("--page-bytes", options.page_bytes, 512, 1 << 16),
        ("--oob-bytes", options.oob_bytes, 0, 1 << 13),
        ("--pages-per-block", options.pages_per_block, 1, 1 << 16),
        ("--first-block", options.first_block, 0, 1 << 32),
        ("--blocks", options.blocks, 1, 1 << 32),
    )
    for name, value, least, most in limits:
        if value is not None and not least <= value <= most:
            raise UsageError(f"{name} {value} is not from {least} to {most}")


def _geometry(options: ImageOptions, page_bytes: int, oob_bytes: int) -> PageGeometry:
    return PageGeometry(
        options.page_bytes or page_bytes,
        oob_bytes if options.oob_bytes is None else options.oob_bytes,
        options.pages_per_block or 64,
    )


def _best_place(contents: Contents, lab: LabHeader | None, options: ImageOptions) -> _Place | None:
    """The first place for which everything speaks, else the first for which most does."""
    best: _Place | None = None
    for candidate in _places(contents, lab, options):
        if best is None or candidate.score > best.score:
            best = candidate
        superblock = candidate.superblock
        if candidate.score == len(superblock.copies) + len(superblock.journal_segnos):
            break
    return best


def _places(contents: Contents, lab: LabHeader | None, options: ImageOptions) -> Iterator[_Place]:
    """Every place that an occurrence of the magic number gives, the likeliest first."""
    start = lab.data_offset if lab else 0
    for at in _occurrences(contents, start):
        superblock = parse_superblock(contents[at : at + SUPERBLOCK_BYTES])
        if superblock is None or superblock.segment_shift not in _SEGMENT_SHIFTS:
            continue
        for geometry in _geometries(superblock, options):
            page, rest = divmod(at - start, geometry.raw_page_bytes)
            for copy in superblock.copies:
                first, odd = divmod(page * geometry.page_bytes + rest - copy, geometry.block_bytes)
                if odd or first < 0 or options.first_block not in (None, first):
                    continue
                held = -(-(len(contents) - start) // geometry.raw_block_bytes) - first
                blocks = min(-(-superblock.fs_bytes // geometry.block_bytes), max(0, held))
                device = Device(contents, geometry, first, blocks, lab)
                score = _score(device, superblock)
                if score:
                    yield _Place(geometry, first, superblock, score)


def _occurrences(contents: Contents, start: int) -> Iterator[int]:
    """Where superblocks may begin: places of the magic number, the first of them."""
    magic = struct.pack(">Q", MAGIC)
    count = 0
    for piece_at in range(start, len(contents), _PIECE_BYTES):
        piece = contents[piece_at : piece_at + _PIECE_BYTES + len(magic) - 1]
        at = piece.find(magic)
        while at >= 0 and count < _OCCURRENCES:
            count += 1
            if piece_at + at >= start + SEGMENT_HEADER_BYTES:
                yield piece_at + at - SEGMENT_HEADER_BYTES
            at = piece.find(magic, at + 1)


def _geometries(superblock: Superblock, options: ImageOptions) -> Iterator[PageGeometry]:
    sizes: tuple[int, ...]
    oobs = _OOB_SIZES if options.oob_bytes is None else (options.oob_bytes,)
    stated = 1 << superblock.write_shift
    sizes = (stated, *_PAGE_SIZES) if 512 <= stated <= 1 << 16 else _PAGE_SIZES
    if options.page_bytes is not None:
        sizes = (options.page_bytes,)
    # 2048+64 and 512+16 put segments at the same places: of such a pair the stated size is first.
    for size in sizes:
        for oob in oobs:
            yield _geometry(options, size, oob)


def _score(device: Device, superblock: Superblock) -> int:
    """How many copies and journal segments are where the superblock says."""
    score = 0
    for copy in superblock.copies:
        score += parse_superblock(device.read(copy, SUPERBLOCK_BYTES)) is not None
    for segno in superblock.journal_segnos:
        raw = device.read(segno << superblock.segment_shift, SEGMENT_HEADER_BYTES)
        header = parse_segment_header(raw)
        score += bool(header and header.segno == segno and header.kind == SegmentType.JOURNAL)
    return score
