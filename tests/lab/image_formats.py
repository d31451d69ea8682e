"""What the tests of images read: UBI images and JFFS2 nodes, after the kernel's headers.

drivers/mtd/ubi/ubi-media.h (big-endian) and include/uapi/linux/jffs2.h (little-endian). Whatever is
not as the kernel wants it fails an assertion.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LAYOUT_VOLUME = 0x7FFFEFFF
_RECORD = struct.Struct(">IIIBBH128sB23sI")


def _crc(data: bytes) -> int:
    """The kernel's crc32() that begins with all bits set and inverts nothing at the end."""
    return zlib.crc32(data) ^ 0xFFFFFFFF


@dataclass(frozen=True)
class UbiVolume:
    """A UBI image with one volume. `data` are its logical erase blocks, one after the other."""

    vid_hdr_offset: int
    data_offset: int
    image_seq: int
    name: str
    static: bool
    autoresize: bool
    reserved_pebs: int
    blocks: int
    data: bytes


def read_ubi(image: Path, block_bytes: int) -> UbiVolume:
    """The only volume of a UBI image; every header and every sum of it is checked."""
    content = image.read_bytes()
    assert len(content) % block_bytes == 0
    blocks = [content[at : at + block_bytes] for at in range(0, len(content), block_bytes)]
    headers = {_erase_header(block) for block in blocks}
    ((vid_hdr_offset, data_offset, image_seq),) = headers
    tables = []
    pieces: list[bytes] = []
    static = False
    for block in blocks:
        kind, volume, number, data_bytes, used, data_crc = _volume_header(block, vid_hdr_offset)
        data = block[data_offset:]
        if volume == _LAYOUT_VOLUME:
            tables.append(data)
            continue
        assert (volume, number) == (0, len(pieces))
        if kind == 2:
            static = True
            assert used == len(blocks) - 2
            assert data_crc == _crc(data[:data_bytes])
            data = data[:data_bytes]
        pieces.append(data)
    assert len(tables) == 2
    assert tables[0] == tables[1]
    reserved, _, _, table_kind, _, length, name, flags, _, crc = _RECORD.unpack_from(tables[0])
    assert crc == _crc(tables[0][: _RECORD.size - 4])
    assert (table_kind == 2) == static
    return UbiVolume(
        vid_hdr_offset=vid_hdr_offset,
        data_offset=data_offset,
        image_seq=image_seq,
        name=name[:length].decode(),
        static=static,
        autoresize=bool(flags & 1),
        reserved_pebs=reserved,
        blocks=len(blocks),
        data=b"".join(pieces),
    )


def _erase_header(block: bytes) -> tuple[int, int, int]:
    magic, version, counter, vid_hdr_offset, data_offset, image_seq = struct.unpack_from(
        ">4sB3xQIII", block
    )
    assert (magic, version, counter) == (b"UBI#", 1, 0)
    assert struct.unpack_from(">I", block, 60)[0] == _crc(block[:60])
    return vid_hdr_offset, data_offset, image_seq


def _volume_header(block: bytes, offset: int) -> tuple[int, int, int, int, int, int]:
    magic, version, kind, _, _, volume, number, data_bytes, used, pad, data_crc = (
        struct.unpack_from(">4sBBBBII4xIIII", block, offset)
    )
    assert (magic, version, pad) == (b"UBI!", 1, 0)
    assert struct.unpack_from(">I", block, offset + 60)[0] == _crc(block[offset : offset + 60])
    return kind, volume, number, data_bytes, used, data_crc


@dataclass(frozen=True)
class Jffs2Inode:
    """A node with a piece of a file: its attributes, where the piece is, how it is compressed."""

    number: int
    mode: int
    uid: int
    gid: int
    mtime: int
    offset: int
    data_bytes: int
    compressor: str


JFFS2_COMPRESSORS = {0: "none", 1: "zero", 2: "rtime", 6: "zlib", 7: "lzo"}
_JFFS2_INODE = struct.Struct("<IIIHHIIIIIIIBBHII")
_CLEAN_MARKER, _PADDING, _SUMMARY, _DIRENT, _INODE = 0x2003, 0x2004, 0x2006, 0xE001, 0xE002
_SUMMARY_MAGIC = 0x02851885


@dataclass(frozen=True)
class Jffs2Image:
    """The nodes of a JFFS2 image: names by inode number, pieces of files, clean markers.

    `blocks` has the nodes of each erase block, as (type, place in the block, length); `summaries`
    has the same by what the summary in the block says of them, None where there is none.
    """

    names: dict[int, list[str]]
    inodes: tuple[Jffs2Inode, ...]
    clean_markers: int
    blocks: tuple[frozenset[tuple[int, int, int]], ...]
    summaries: tuple[frozenset[tuple[int, int, int]] | None, ...]


def read_jffs2(image: Path, block_bytes: int) -> Jffs2Image:
    """All nodes; none crosses the end of an erase block."""
    content = image.read_bytes()
    names: dict[int, list[str]] = {}
    inodes: list[Jffs2Inode] = []
    markers = 0
    count = -(-len(content) // block_bytes)
    blocks: list[set[tuple[int, int, int]]] = [set() for _ in range(count)]
    summaries: list[frozenset[tuple[int, int, int]] | None] = [None] * count
    for place, kind, length in _jffs2_nodes(content):
        block = place // block_bytes
        assert block == (place + length - 1) // block_bytes
        if kind in (_DIRENT, _INODE):
            blocks[block].add((kind, place % block_bytes, length))
        if kind == _SUMMARY:
            assert place + length == (block + 1) * block_bytes
            summaries[block] = _jffs2_summary(content[place : place + length], place % block_bytes)
        elif kind == _DIRENT:
            _, _, _, number, _, size = struct.unpack_from("<IIIIIB", content, place + 8)
            name = content[place + 40 : place + 40 + size].decode()
            names.setdefault(number, []).append(name)
        elif kind == _INODE:
            inodes.append(_jffs2_inode(content, place))
        elif kind == _CLEAN_MARKER:
            markers += 1
    whole = tuple(frozenset(nodes) for nodes in blocks)
    return Jffs2Image(names, tuple(inodes), markers, whole, tuple(summaries))


def _jffs2_nodes(content: bytes) -> Iterator[tuple[int, int, int]]:
    """Place, type and length of each node; between them is nothing but 0xFF or padding."""
    place = 0
    while place + 12 <= len(content):
        magic, kind, length, crc = struct.unpack_from("<HHII", content, place)
        if magic != 0x1985:
            assert content[place : place + 4] in (b"\xff" * 4, b"\0" * 4), hex(place)
            place += 4
            continue
        # For the header's sum the kernel's crc32() begins with zero.
        assert crc == _crc_from_zero(content[place : place + 8])
        yield place, kind, length
        place += length + -length % 4


def _jffs2_summary(node: bytes, place: int) -> frozenset[tuple[int, int, int]]:
    """What a summary says of the nodes of its block, which it is at the end of."""
    count, markers, _, sum_crc, node_crc = struct.unpack_from("<IIIII", node, 12)
    assert markers == 0
    assert node_crc == _crc_from_zero(node[:24])
    assert sum_crc == _crc_from_zero(node[32:])
    assert struct.unpack_from("<II", node, len(node) - 8) == (place, _SUMMARY_MAGIC)
    nodes: set[tuple[int, int, int]] = set()
    at = 32
    for _ in range(count):
        (kind,) = struct.unpack_from("<H", node, at)
        if kind == _INODE:
            _, _, offset, length = struct.unpack_from("<IIII", node, at + 2)
            at += 18
        else:
            assert kind == _DIRENT
            length, offset, _, _, _, name_bytes, _ = struct.unpack_from("<IIIIIBB", node, at + 2)
            at += 24 + name_bytes
        nodes.add((kind, offset, length))
    assert len(nodes) == count
    return frozenset(nodes)


def _jffs2_inode(content: bytes, place: int) -> Jffs2Inode:
    number, _, mode, uid, gid, _, _, mtime, _, offset, _, data_bytes, code, _, _, _, _ = (
        _JFFS2_INODE.unpack_from(content, place + 12)
    )
    return Jffs2Inode(number, mode, uid, gid, mtime, offset, data_bytes, JFFS2_COMPRESSORS[code])


def _crc_from_zero(data: bytes) -> int:
    """crc32(0, data) of the kernel, which neither begins nor ends with an inversion."""
    return zlib.crc32(data, 0xFFFFFFFF) ^ 0xFFFFFFFF
