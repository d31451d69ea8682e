"""The host file that holds a chip's contents: its size, its digest, damage.

The file is sparse: most of a chip is never written in a case. Its digest must
not depend on where the host's file system puts holes, so it is taken over the
pages that are not all zero, with their positions.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.model.specs import Chip
from ffslab.protocol.chip_layout import room_bytes

CHUNK_BYTES = 64 * 1024
# Digests that begin otherwise were made in another way, so they tell nothing of each other.
DIGEST_FORM = "pages:"
_PAGE_BYTES = 4096
_ZERO_PAGE = bytes(_PAGE_BYTES)


def flash_file_bytes(chip: Chip) -> int:
    """Size of the file for `chip`: data, OOB, and vnand's state of pages and blocks."""
    size = room_bytes(chip.page_bytes + chip.oob_bytes, chip.pages_per_block, chip.blocks)
    return -(-size // CHUNK_BYTES) * CHUNK_BYTES


def create_flash_file(path: Path, size_bytes: int) -> None:
    """A new sparse file; InfrastructureError if the disk refuses."""
    try:
        with path.open("xb") as file:
            file.truncate(size_bytes)
    except OSError as error:
        raise InfrastructureError(
            f"cannot create the flash file {path}: {error.strerror}",
            cause="no space, or no permission to write there",
            remedy="name another place with --scratch DIR",
        ) from error


def copy_flash_file(source: Path, target: Path) -> None:
    """A copy of `source` with its holes; OSError with the file's name if the disk refuses."""
    try:
        with source.open("rb") as read, target.open("xb") as write:
            size = os.fstat(read.fileno()).st_size
            write.truncate(size)
            position, extents = 0, _Extents(read.fileno(), size)
            while (position := extents.data_at(position)) < size:
                end = extents.hole_behind(position)
                os.lseek(write.fileno(), position, os.SEEK_SET)
                while position < end:
                    sent = os.sendfile(write.fileno(), read.fileno(), position, end - position)
                    if not sent:
                        raise OSError(errno.EIO, "the file became shorter", str(source))
                    position += sent
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(error.filename or target)) from error


def flash_digest(path: Path) -> str:
    """`DIGEST_FORM` and the SHA-256 of the size, and of every chunk that is not all zero.

    Of a chunk it takes the position (8 bytes, little endian), the bits of those pages that are not
    all zero (2 bytes; the lowest is of the first page), and the contents of these. So a chunk with
    a few bytes costs a page, and how much belongs to which position is never in doubt.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        digest.update(size.to_bytes(8, "little"))
        position, extents = 0, _Extents(file.fileno(), size)
        while (position := extents.data_at(position)) < size:
            start = position - position % CHUNK_BYTES
            end = min(start + CHUNK_BYTES, size)
            bits, contents = _chunk(extents, position, end)
            if bits:
                digest.update(start.to_bytes(8, "little"))
                digest.update(bits.to_bytes(2, "little"))
                digest.update(contents)
            position = end
    return DIGEST_FORM + digest.hexdigest()


def _chunk(extents: _Extents, position: int, end: int) -> tuple[int, bytes]:
    """The used pages of the chunk that ends at `end`: their bits, and what they hold.

    Data begin at `position`. Only what is no hole is read: most chunks have data in one page.
    """
    start = (end - 1) - (end - 1) % CHUNK_BYTES
    bits, contents = 0, []
    while position < end:
        first = position - position % _PAGE_BYTES
        behind = -(-min(extents.hole_behind(position), end) // _PAGE_BYTES) * _PAGE_BYTES
        data = os.pread(extents.descriptor, min(behind, end) - first, first)
        used = _used_pages(data)
        bits |= sum(1 << page for page in used) << (first - start) // _PAGE_BYTES
        contents.append(_contents(data, used))
        position = min(extents.data_at(behind), end)
    return bits, b"".join(contents)


def _used_pages(data: bytes) -> list[int]:
    """The numbers of those pages that are not all zero; the last page may be shorter."""
    starts = range(0, len(data), _PAGE_BYTES)
    if all(data[::_PAGE_BYTES]):  # of a full chip almost always, so that it costs no more
        return list(range(len(starts)))
    # Unlike a slice this copies nothing, and it ends at the first byte that differs.
    used = [n for n, start in enumerate(starts) if not data.startswith(_ZERO_PAGE, start)]
    if used and len(data) % _PAGE_BYTES and not any(data[starts[-1] :]):
        used.remove(len(starts) - 1)
    return used


def _contents(data: bytes, pages: Sequence[int]) -> bytes:
    """What these of the pages hold, one after the other."""
    if len(pages) == -(-len(data) // _PAGE_BYTES):
        return data
    return b"".join(data[page * _PAGE_BYTES : (page + 1) * _PAGE_BYTES] for page in pages)


class _Extents:
    """Where an open file has data, and where holes, asked from its begin to its end.

    Each extent is looked for once: a file in memory (tmpfs) is looked at page by page up to the
    answer, so that asking again in each piece of a large extent would take quadratic time.
    """

    def __init__(self, descriptor: int, size: int) -> None:
        self.descriptor = descriptor
        self._size = size
        self._data = self._hole = 0

    def data_at(self, position: int) -> int:
        """The next position with data at or after `position`; the file's size if none is there."""
        if not self._data <= position < self._hole:
            self._data = self._hole = _next_data(self.descriptor, position, self._size)
        return max(position, self._data)

    def hole_behind(self, position: int) -> int:
        """Where the data at `position`, which `data_at` gave, end."""
        if position >= self._hole:
            self._hole = _next_hole(self.descriptor, position, self._size)
        return self._hole


def _next_hole(descriptor: int, position: int, size: int) -> int:
    """Where the data at `position` end."""
    try:
        return min(os.lseek(descriptor, position, os.SEEK_HOLE), size)
    except OSError as error:
        if error.errno == errno.EINVAL:  # a file system without SEEK_HOLE
            return size
        raise


def _next_data(descriptor: int, position: int, size: int) -> int:
    """The next position with data at or after `position`; `size` if there is none."""
    if position >= size:
        return size
    try:
        data_start = os.lseek(descriptor, position, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return size
        if error.errno == errno.EINVAL:  # a file system without SEEK_DATA
            return position
        raise
    return max(data_start, position)
