"""An empty SquashFS image: what is below an overlay if the case begins without an image.

All of it is below: a superblock, the inode of the root directory, an empty directory table and one
owner (0), nothing compressed. So a case of any workload finds an empty file system, and what it
costs to have another one below it is all that is added. The format: fs/squashfs/squashfs_fs.h of
Linux.
"""

from __future__ import annotations

import hashlib
import struct

EMPTY_BYTES = 4096  # block devices are read in such pieces
_MAGIC = 0x73717368
_TIME_S = 1_000_000_000
_NONE = 2**64 - 1
_UNCOMPRESSED = 0x8000  # of a metadata block, in its length
_UNCOMPRESSED_ALL = 0x1 | 0x2 | 0x8 | 0x10  # inodes, data, fragments; no fragments
_ZLIB = 1
_DIRECTORY = 1


def empty_squashfs() -> bytes:
    """The image, EMPTY_BYTES long."""
    root = struct.pack(
        "<HHHHIIIIHHI",
        *(_DIRECTORY, 0o755, 0, 0, _TIME_S, 1),
        *(0, 2, 3, 0, 2),  # the start of no entry, links, the size of an empty one, parent
    )
    inodes_at = 96
    directories_at = inodes_at + 2 + len(root)
    owner = _metadata(struct.pack("<I", 0))
    owners_at = directories_at + len(owner)
    superblock = struct.pack(
        "<IIIIIHHHHHHQQQQQQQQ",
        *(_MAGIC, 1, _TIME_S, 131072, 0),
        *(_ZLIB, 17, _UNCOMPRESSED_ALL, 1, 4, 0),
        *(0, owners_at + 8, owners_at, _NONE),
        *(inodes_at, directories_at, _NONE, _NONE),
    )
    image = superblock + _metadata(root) + owner + struct.pack("<Q", directories_at)
    return image.ljust(EMPTY_BYTES, b"\0")


def _metadata(data: bytes) -> bytes:
    return struct.pack("<H", _UNCOMPRESSED | len(data)) + data


# Its place in a guest has its digest: a plan, by which flashes are kept, names what it writes.
EMPTY_LOWER = f"/lab/empty-{hashlib.sha256(empty_squashfs()).hexdigest()[:12]}.squashfs"
