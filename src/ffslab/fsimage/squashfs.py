"""SquashFS images of small trees, made in memory: what is below an overlay.

Nothing is compressed and nothing shares a fragment, so an image is a function of the tree alone,
and of no tool. The format: fs/squashfs/squashfs_fs.h of Linux. An image of anything but an empty
root can be exported, as mksquashfs makes it: overlayfs then finds what a file was copied from.

Limits: one owner (0), no devices, times and modes are fixed; a directory's listing is below 64 KiB.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

DIRECTORY, FILE, SYMLINK = "dir", "file", "symlink"
_TYPES = {DIRECTORY: 1, FILE: 2, SYMLINK: 3}
_LINKED_FILE = 9  # a file that may have several names
_MODES = {DIRECTORY: 0o755, FILE: 0o644, SYMLINK: 0o777}
_MAGIC = 0x73717368
_TIME_S = 1_000_000_000
_NONE, _NONE_32 = 2**64 - 1, 2**32 - 1
_UNCOMPRESSED = 0x8000  # of a metadata block, in its length
_UNCOMPRESSED_DATA = 1 << 24  # of a data block, in its length
_UNCOMPRESSED_ALL = 0x1 | 0x2 | 0x8 | 0x10  # inodes, data, fragments; no fragments
_EXPORTABLE = 0x80
_ZLIB = 1
_BLOCK_BITS = 17
_BLOCK_BYTES = 1 << _BLOCK_BITS
_METADATA_BYTES = 8192
_HEAD_BYTES = 96  # the superblock
_LISTED_AT_ONCE = 256  # names behind one header
_PADDED_BYTES = 4096  # block devices are read in such pieces


@dataclass(frozen=True, slots=True)
class Inode:
    """A thing in the tree. `children` of a directory: by name the places of inodes in a list."""

    kind: str
    data: bytes = b""
    target: str = ""
    children: Mapping[str, int] = field(default_factory=dict)


def squashfs(inodes: Sequence[Inode]) -> bytes:
    """The image of a tree whose root is the first inode; an inode may have several names."""
    return _Writer(inodes).image()


class _Writer:
    def __init__(self, inodes: Sequence[Inode]) -> None:
        self._inodes = inodes
        self._links = [0] * len(inodes)
        self._parents = [len(inodes)] * len(inodes)  # of the root: a number that nothing has
        for number, inode in enumerate(inodes):
            for child in inode.children.values():
                self._links[child] += 1
                self._parents[child] = number
        self._starts, data = [0] * len(inodes), bytearray()
        for number, inode in enumerate(inodes):
            self._starts[number] = _HEAD_BYTES + len(data) if inode.data else 0
            data += inode.data
        self._data = bytes(data)
        # The first pass gives the inodes their sizes, which do not depend on what they refer to.
        self._at = [0] * len(inodes)
        self._listed = [(0, 0)] * len(inodes)
        sizes = [len(self._inode(number)) for number in range(len(inodes))]
        self._at = [sum(sizes[:number]) for number in range(len(inodes))]

    def image(self) -> bytes:
        directories = bytearray()
        for number, inode in enumerate(self._inodes):
            if inode.kind == DIRECTORY:
                listing = self._listing(inode)
                self._listed[number] = (len(directories) if listing else 0, len(listing))
                directories += listing
        inodes = _metadata(b"".join(self._inode(number) for number in range(len(self._inodes))))
        listings = _metadata(bytes(directories))
        inodes_at = _HEAD_BYTES + len(self._data)
        directories_at = inodes_at + len(inodes)
        exported_at = directories_at + len(listings)
        is_exported = len(self._inodes) > 1
        references = (_reference(at) for at in self._at)
        exported, export_index = (
            _table(struct.pack("<Q", reference) for reference in references)
            if is_exported
            else (b"", [])
        )
        index_at = exported_at + len(exported)
        index = b"".join(struct.pack("<Q", exported_at + at) for at in export_index)
        owner_at = index_at + len(index)
        owner = _metadata(struct.pack("<I", 0))
        owners_at = owner_at + len(owner)
        superblock = struct.pack(
            "<IIIIIHHHHHHQQQQQQQQ",
            *(_MAGIC, len(self._inodes), _TIME_S, _BLOCK_BYTES, 0, _ZLIB, _BLOCK_BITS),
            *(_UNCOMPRESSED_ALL | (_EXPORTABLE if is_exported else 0), 1, 4, 0),
            *(_reference(self._at[0]), owners_at + 8, owners_at, _NONE),
            *(inodes_at, directories_at, _NONE, index_at if is_exported else _NONE),
        )
        image = superblock + self._data + inodes + listings + exported + index + owner
        image += struct.pack("<Q", owner_at)
        return image.ljust(-(-len(image) // _PADDED_BYTES) * _PADDED_BYTES, b"\0")

    def _inode(self, number: int) -> bytes:
        inode = self._inodes[number]
        links, size = self._links[number], len(inode.data)
        kind = _LINKED_FILE if inode.kind == FILE and links > 1 else _TYPES[inode.kind]
        head = struct.pack("<HHHHII", kind, _MODES[inode.kind], 0, 0, _TIME_S, number + 1)
        if inode.kind == DIRECTORY:
            below = sum(self._inodes[c].kind == DIRECTORY for c in inode.children.values())
            at, listed = self._listed[number]
            start = _reference(at)
            parent = self._parents[number] + 1
            size_and_place = (listed + 3, start & 0xFFFF)  # an empty one has the size 3
            return head + struct.pack("<IIHHI", start >> 16, 2 + below, *size_and_place, parent)
        if inode.kind == SYMLINK:
            target = inode.target.encode()
            return head + struct.pack("<II", links, len(target)) + target
        if kind == _LINKED_FILE:
            where = (self._starts[number], size, 0, links, _NONE_32, 0, _NONE_32)
            return head + struct.pack("<QQQIIII", *where) + _blocks(size)
        return head + struct.pack("<IIII", self._starts[number], _NONE_32, 0, size) + _blocks(size)

    def _listing(self, directory: Inode) -> bytes:
        """All names in the order of their bytes; a header speaks of one block of inodes."""
        made = b""
        run: list[tuple[str, int]] = []
        for name, child in sorted(directory.children.items()):
            is_of_run = run and self._block(child) == self._block(run[0][1])
            if run and (not is_of_run or len(run) == _LISTED_AT_ONCE):
                made += self._run(run)
                run = []
            run.append((name, child))
        return made + (self._run(run) if run else b"")

    def _block(self, number: int) -> int:
        return _reference(self._at[number]) >> 16

    def _run(self, names: Sequence[tuple[str, int]]) -> bytes:
        first = names[0][1]
        made = struct.pack("<III", len(names) - 1, self._block(first), first + 1)
        for name, child in names:
            kind = _TYPES[self._inodes[child].kind]
            offset = _reference(self._at[child]) & 0xFFFF
            made += struct.pack("<HhHH", offset, child - first, kind, len(name) - 1)
            made += name.encode()
        return made


def _blocks(size_bytes: int) -> bytes:
    """The lengths of a file's blocks on the flash."""
    lengths = (
        min(_BLOCK_BYTES, size_bytes - at) | _UNCOMPRESSED_DATA
        for at in range(0, size_bytes, _BLOCK_BYTES)
    )
    return b"".join(struct.pack("<I", length) for length in lengths)


def _reference(at: int) -> int:
    """Where a byte of metadata is: the place of its block, and in the lower 16 bits its own."""
    return (at // _METADATA_BYTES * (_METADATA_BYTES + 2)) << 16 | at % _METADATA_BYTES


def _metadata(data: bytes) -> bytes:
    """Blocks of metadata, each behind its length."""
    return b"".join(
        struct.pack("<H", _UNCOMPRESSED | len(data[at : at + _METADATA_BYTES]))
        + data[at : at + _METADATA_BYTES]
        for at in range(0, len(data), _METADATA_BYTES)
    )


def _table(entries: Iterable[bytes]) -> tuple[bytes, list[int]]:
    """Entries as metadata, and where each block of them begins."""
    made = _metadata(b"".join(entries))
    return made, list(range(0, len(made), _METADATA_BYTES + 2))
