"""An image for the flash as the one file of a romfs, which a guest finds at a physical address.

A guest of QEMU sees no directory of the host, and a device that the host's disk is behind would
answer when the host does. So the image lies in memory that the kernel leaves alone; the kernel's
phram makes that an MTD device, and romfs a file of it. Format: Documentation/filesystems/romfs.rst
of Linux; numbers are big-endian, everything begins at a multiple of 16 bytes.

    0   "-rom1fs-", size of the whole, checksum of the first 512 bytes, name of the volume
    32  the root directory "."; its first entry is at 64
    64  the file "image"
    96  its contents
"""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

from ffslab.targets.target import IMAGE_NAME

HEAD_BYTES = 96
_ALIGNMENT_BYTES = 16
_SUMMED_BYTES = 512
_MAGIC = b"-rom1fs-"
_ROOT_AT, _FILE_AT = 32, 64
_DIRECTORY, _REGULAR, _EXECUTABLE = 1, 2, 8


def write_romfs(image: Path, target: Path) -> None:
    """Writes `target`, which holds the file `image` as `IMAGE_NAME`.

    OSError if a file or the disk does not allow it.
    """
    size = image.stat().st_size
    whole = -(-(HEAD_BYTES + size) // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES
    root = _entry(".", _DIRECTORY | _EXECUTABLE, _FILE_AT, 0)
    file = _entry(IMAGE_NAME, _REGULAR, 0, size)
    with image.open("rb") as source, target.open("wb") as romfs:
        begin = source.read(_SUMMED_BYTES - HEAD_BYTES)
        unsummed = _volume(whole, 0) + root + file + begin
        romfs.write(_volume(whole, _checksum(unsummed)) + root + file)
        source.seek(0)
        shutil.copyfileobj(source, romfs)
        os.ftruncate(romfs.fileno(), max(whole, romfs.tell()))


def _volume(whole_bytes: int, checksum: int) -> bytes:
    head = _MAGIC + struct.pack(">II", whole_bytes, checksum)
    return (head + b"image").ljust(_ROOT_AT, b"\0")


def _entry(name: str, kind: int, first_at: int, size_bytes: int) -> bytes:
    """A file's header, the last of its directory; `first_at`: where a directory's first one is."""
    text = name.encode()
    padded = text.ljust((len(text) // _ALIGNMENT_BYTES + 1) * _ALIGNMENT_BYTES, b"\0")
    words = (kind, first_at, size_bytes)
    checksum = _checksum(struct.pack(">IIII", *words, 0) + padded)
    return struct.pack(">IIII", *words, checksum) + padded


def _checksum(data: bytes) -> int:
    """What makes the sum of all words 0."""
    padded = data[:_SUMMED_BYTES].ljust(-(-min(len(data), _SUMMED_BYTES) // 4) * 4, b"\0")
    words = struct.unpack(f">{len(padded) // 4}I", padded)
    return int(-sum(words) % 2**32)
