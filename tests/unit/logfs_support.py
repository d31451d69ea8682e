"""LogFS images for tests: made by mkfs, then changed object by object and commit by commit.

`Image` writes what a running file system would leave: new objects, a second commit with aliases
and open areas. All CRCs are right unless a test wants them wrong.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from flash_support import lab_flash_file

from ffslab.fsimage.extract import extract_tree
from ffslab.fsimage.show import listing_lines, problem_lines
from ffslab.logfs import ImageOptions, Report, check_image, read_tree
from ffslab.logfs.check import examine
from ffslab.logfs.format import (
    DENTRY,
    FULL,
    OBJECT_HEADER,
    Alias,
    Area,
    EntryType,
    Inode,
    ObjectHeader,
    ObjectType,
    SegmentHeader,
    SegmentType,
    crc32,
    pack_entry,
    pack_object,
    parse_inode,
    parse_object_header,
)
from ffslab.logfs.image import PageGeometry
from ffslab.logfs.mkfs import MkfsOptions, make_image
from ffslab.logfs.mount import Dentry, Mounted
from ffslab.logfs.show import report_document, summary_lines

SEGMENT = 128 << 10
SEGMENTS = 40
PARTITION = SEGMENTS * SEGMENT
UNIT = 4096
HEADER = OBJECT_HEADER.size


def make(
    directory: Path,
    fill: Callable[[Path], object] | None = None,
    name: str = "image",
    **options: Any,
) -> Path:
    """An image of the tree that `fill` makes in an empty directory."""
    tree = directory / f"{name}.tree"
    tree.mkdir()
    if fill:
        fill(tree)
    known: dict[str, Any] = {"partition_bytes": PARTITION, "squash_owners": True, **options}
    make_image(tree, directory / name, MkfsOptions(**known))
    return directory / name


def usual_tree(top: Path) -> None:
    """Files with and without holes, a directory in a directory, both kinds of link, a pipe."""
    (top / "dir" / "sub").mkdir(parents=True)
    (top / "file").write_bytes(b"first\n" * 1000)
    (top / "dir" / "deep").write_bytes(bytes(range(256)) * 16 * 20)
    (top / "dir" / "sub" / "leaf").write_bytes(b"leaf")
    (top / "sym").symlink_to("dir/deep")
    os.link(top / "file", top / "dir" / "link")
    os.mkfifo(top / "pipe")
    with (top / "holes").open("wb") as file:
        file.seek(4096 * 520)
        file.write(b"end")


def use_image(path: Path, options: ImageOptions | None = None) -> Report:
    """Everything that the command line does with an image."""
    checked = examine(path, options)
    report_document(checked.report)
    list(summary_lines(checked.report))
    list(problem_lines(checked.report, 5))
    nodes = checked.nodes()
    list(listing_lines(nodes))
    for node in nodes:
        for _, piece in node.pieces():
            assert len(piece) <= 4096
    if checked.tree is not None:
        with TemporaryDirectory(dir=path.parent) as directory:
            extract_tree(checked.tree, Path(directory) / "out")
    return checked.report


class Image:
    """An image without OOB whose bytes can be changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.raw = bytearray(path.read_bytes())
        self.mounted = self._mount()
        self.gec = self.mounted.dynamic.gec

    def _mount(self) -> Mounted:
        tree = examine(self.path).tree
        assert tree is not None
        return tree.mounted

    def reload(self) -> None:
        """Sees what was written."""
        self.path.write_bytes(self.raw)
        self.mounted = self._mount()

    def check(self) -> Report:
        self.path.write_bytes(self.raw)
        return check_image(self.path)

    def tree(self, options: ImageOptions | None = None) -> Mapping[str, Any]:
        self.path.write_bytes(self.raw)
        return read_tree(self.path, options)

    def patch(self, ofs: int, data: bytes) -> None:
        self.raw[ofs : ofs + len(data)] = data

    # --- where things are ---

    def ino(self, name: str) -> int:
        """The inode of the first name like that."""
        return self.dentry(name)[1].ino

    def dentry(self, name: str) -> tuple[int, Dentry]:
        """The directory and the entry of the first name like that."""
        for directory, found in self.mounted.inodes.items():
            for dentry in found.dentries:
                if dentry.name == name.encode():
                    return directory, dentry
        raise KeyError(name)

    def inode_ofs(self, ino: int) -> int:
        return self.mounted.inode_file.blocks[ino]

    def block_ofs(self, ino: int, bix: int) -> int:
        return self.mounted.inodes[ino].walked.blocks[bix]

    def root_ofs(self, ino: int) -> int:
        """The topmost indirect block of a file."""
        return self.mounted.inodes[ino].inode.data[16] & ~(1 << 63)

    def root_ofs_of_inode_file(self) -> int:
        return self.mounted.anchor.data[16] & ~FULL

    # --- objects ---

    def header(self, ofs: int) -> ObjectHeader:
        header = parse_object_header(bytes(self.raw[ofs : ofs + HEADER]))
        assert header is not None
        return header

    def payload(self, ofs: int) -> bytes:
        return bytes(self.raw[ofs + HEADER : ofs + self.header(ofs).total_bytes])

    def rewrite(self, ofs: int, payload: bytes | None = None, **fields: Any) -> None:
        """Writes an object again in its place, with the right CRCs."""
        stored = self.payload(ofs) if payload is None else payload
        known = {"length": len(stored), "data_crc": crc32(stored), **fields}
        self.patch(ofs, replace(self.header(ofs), **known).pack() + stored)

    def word(self, ofs: int, slot: int, value: int) -> None:
        """Changes one of the 64-bit words of an object."""
        payload = bytearray(self.payload(ofs))
        payload[8 * slot : 8 * slot + 8] = value.to_bytes(8, "big")
        self.rewrite(ofs, bytes(payload))

    def inode(self, ino: int, **fields: Any) -> None:
        ofs = self.inode_ofs(ino)
        self.rewrite(ofs, replace(parse_inode(self.payload(ofs)), **fields).pack())

    def inode_of(self, ino: int) -> Inode:
        return self.mounted.inodes[ino].inode

    def change_dentry(self, which: str, **fields: Any) -> None:
        _, dentry = self.dentry(which)
        known = {
            "ino": dentry.ino,
            "length": len(dentry.name),
            "kind": dentry.kind,
            "name": dentry.name,
            **fields,
        }
        self.rewrite(dentry.ofs, DENTRY.pack(*known.values()))

    def segment_entry(self, segno: int, first: int | None = None, valid: int | None = None) -> None:
        """Changes a segment's entry: (erase count << 4 | level), valid bytes."""
        known = self.mounted.entries[segno]
        entry = (known[0] if first is None else first, known[1] if valid is None else valid)
        ofs = self.block_ofs(3, segno // 512)
        self.word(ofs, segno % 512, entry[0] << 32 | entry[1])

    def superblock(self, copy: int | None = None, **fields: Any) -> None:
        """Changes one copy of the superblock, or both."""
        superblock = self.mounted.superblock
        offsets = superblock.copies if copy is None else superblock.copies[copy : copy + 1]
        for ofs in offsets:
            self.patch(ofs, replace(superblock, **fields).pack())

    def segment_header(self, segment: int, **fields: Any) -> None:
        header = self.mounted.store.segment_header(segment)
        assert header is not None
        self.patch(segment * SEGMENT, replace(header, **fields).pack())

    def segment_header_at(self, segno: int, level: int) -> None:
        """A fresh segment of objects."""
        header = SegmentHeader(SegmentType.OBJECTS, level, segno, 1, self.gec)
        self.patch(segno * SEGMENT, header.pack())

    def spare_inode(self, ino: int) -> int:
        """An inode without a name in a segment that was free; a pointer to it."""
        segno = 25
        self.segment_header_at(segno, 6)
        ofs = segno * SEGMENT + 24
        self.patch(ofs, pack_object(ObjectType.INODE, 1, ino, Inode(0o100600).pack()))
        return ofs | FULL

    # --- commits ---

    def commit(
        self,
        *,
        slot: int = 1,
        anchor: Mapping[str, Any] | None = None,
        dynamic: Mapping[str, Any] | None = None,
        aliases: Sequence[Alias] = (),
        areas: Sequence[Area] = (),
        erase_counts: Sequence[int] = (),
        entries: Sequence[tuple[int, bytes]] | None = None,
        listed: Sequence[int] = (),
        tail: Sequence[tuple[int, bytes]] = (),
        behind: int = 0,
    ) -> int:
        """A commit alone in another journal segment, which becomes the newest; its number.

        With `behind` it is behind so many bytes of the segment, which stay.

        `entries` replaces all that a commit has, `listed` are further offsets that it lists,
        `tail` are entries behind it.
        """
        segno = self.mounted.superblock.journal_segnos[slot]
        self.gec += 1
        usual = [
            *((EntryType.AREA, area.pack()) for area in areas),
            (EntryType.ALIASES, b"".join(alias.pack() for alias in aliases)),
            (EntryType.ANCHOR, replace(self.mounted.anchor, **(anchor or {})).pack()),
            (
                EntryType.DYNAMIC,
                replace(self.mounted.dynamic, gec=self.gec, **(dynamic or {})).pack(),
            ),
        ]
        if erase_counts:
            usual.append((EntryType.ERASE_COUNTS, struct.pack(">16I", *erase_counts)))
        start = segno * SEGMENT
        raw = bytearray(self.raw[start : start + behind])
        if not behind:
            raw += SegmentHeader(SegmentType.JOURNAL, 0, segno, 1, self.gec).pack() + bytes(8)
        offsets = []
        for kind, payload in usual if entries is None else entries:
            offsets.append(start + len(raw))
            raw += pack_entry(kind, payload, compress=kind != EntryType.ANCHOR)
        offsets.extend(listed)
        raw += pack_entry(EntryType.COMMIT, b"".join(ofs.to_bytes(8, "big") for ofs in offsets))
        raw += bytes(-len(raw) % UNIT)
        for kind, payload in tail:
            raw += pack_entry(kind, payload)
        self.patch(start, bytes(raw).ljust(SEGMENT, b"\xff"))
        return segno


def lab_file(image: Path, path: Path, *, first_block: int = 0) -> Path:
    """The same as a chip's file, the partition from a block on."""
    return lab_flash_file(path, image.read_bytes(), PageGeometry(), first=first_block)


def mode_bits(mode: int) -> int:
    """The type of a dentry: bits 12 to 15 of a mode."""
    return stat.S_IFMT(mode) >> 12
