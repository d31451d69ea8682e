"""Gives the UBIFS in a UBI image a fixed UUID.

mkfs.ubifs draws the UUID at random and has no option for it. In a guest the draw is reproducible,
but it depends on all that the kernel did before; so it is replaced, with the check sum of the node
that has it. Nothing else in an image of mkfs.ubifs is random.

The superblock is the first node of logical erase block 0 (fs/ubifs/ubifs-media.h). ubinize puts
that into the third physical block, behind the two of the volume table.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from ffslab.errors import InfrastructureError

UUID = bytes.fromhex("ff51ab00000040008000000000000000")
_MAGIC = 0x06101831
_SUPERBLOCK_TYPE = 6
_NODE_BYTES = 4096  # struct ubifs_sb_node
_CHECKED_FROM = 8  # the check sum covers what follows it
_UUID_OFFSET = 108
_VOLUME_BLOCK = 2


def fix_uuid(image: Path, block_bytes: int, data_offset: int) -> None:
    """Rewrites the superblock of the UBI image; InfrastructureError if it is not there."""
    with image.open("r+b") as file:
        position = _VOLUME_BLOCK * block_bytes + data_offset
        file.seek(position)
        node = bytearray(file.read(_NODE_BYTES))
        if not _is_superblock(node):
            raise InfrastructureError(
                f"no UBIFS superblock at byte {position} of the image that ubinize wrote",
                cause="mkfs.ubifs or ubinize of this version order things differently",
                remedy="report it, with the versions of both",
            )
        node[_UUID_OFFSET : _UUID_OFFSET + len(UUID)] = UUID
        struct.pack_into("<I", node, 4, _check_sum(node))
        file.seek(position)
        file.write(node)


def _is_superblock(node: bytearray) -> bool:
    if len(node) < _NODE_BYTES:
        return False
    magic, check_sum, _, length, kind = struct.unpack_from("<IIQIB", node)
    known = (magic, length, kind) == (_MAGIC, _NODE_BYTES, _SUPERBLOCK_TYPE)
    return known and bool(check_sum == _check_sum(node))


def _check_sum(node: bytearray) -> int:
    """The kernel's crc32() with all bits set at the beginning, and no inversion at the end."""
    return zlib.crc32(node[_CHECKED_FROM:]) ^ 0xFFFFFFFF
