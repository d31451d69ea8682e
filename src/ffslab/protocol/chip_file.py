"""The host file that holds a chip's contents: its size, its digest, damage.

The file is sparse: most of a chip is never written in a case. Its digest must
not depend on where the host's file system puts holes, so it is taken over the
chunks that are not all zero, each with its position.
"""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.model.specs import Chip

CHUNK_BYTES = 64 * 1024
# At least what kmod/vnand/image_format.h takes; a file that is larger does no harm.
_HEADER_BYTES = 64 * 1024
_BLOCK_STATE_BYTES = 64
_PAGE_STATE_BYTES = 8


def flash_file_bytes(chip: Chip) -> int:
    """Size of the file for `chip`: data, OOB, and vnand's state of pages and blocks."""
    pages = chip.blocks * chip.pages_per_block
    size = (
        _HEADER_BYTES
        + pages * (chip.page_bytes + chip.oob_bytes + _PAGE_STATE_BYTES)
        + chip.blocks * _BLOCK_STATE_BYTES
    )
    return -(-size // CHUNK_BYTES) * CHUNK_BYTES


def create_flash_file(path: Path, size_bytes: int) -> None:
    """A new sparse file; InfrastructureError if the disk refuses."""
    try:
        with path.open("xb") as file:
            file.truncate(size_bytes)
    except OSError as error:
        raise InfrastructureError(
            f"cannot create the flash file {path}: {error.strerror}",
            cause="no space, or no right to write there",
            remedy="name another place with --scratch DIR",
        ) from error


def copy_flash_file(source: Path, target: Path) -> None:
    """A copy of `source` with its holes; OSError with the file's name if the disk refuses."""
    try:
        with source.open("rb") as read, target.open("xb") as write:
            size = os.fstat(read.fileno()).st_size
            write.truncate(size)
            position = 0
            while (position := _next_data(read.fileno(), position, size)) < size:
                end = _next_hole(read.fileno(), position, size)
                os.lseek(write.fileno(), position, os.SEEK_SET)
                while position < end:
                    sent = os.sendfile(write.fileno(), read.fileno(), position, end - position)
                    if not sent:
                        raise OSError(errno.EIO, "the file became shorter", str(source))
                    position += sent
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(error.filename or target)) from error


def flash_digest(path: Path) -> str:
    """SHA-256 over (position, contents) of every 64 KiB chunk that is not all zero."""
    digest = hashlib.sha256()
    zeros = bytes(CHUNK_BYTES)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        digest.update(size.to_bytes(8, "little"))
        position = 0
        while (position := _next_data(file.fileno(), position, size)) < size:
            position -= position % CHUNK_BYTES
            chunk = os.pread(file.fileno(), CHUNK_BYTES, position)
            if chunk != zeros[: len(chunk)]:
                digest.update(position.to_bytes(8, "little"))
                digest.update(chunk)
            position += CHUNK_BYTES
    return digest.hexdigest()


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
        found = os.lseek(descriptor, position, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return size
        if error.errno == errno.EINVAL:  # a file system without SEEK_DATA
            return position
        raise
    return max(found, position)
