"""SquashFS images made in memory: a reader that follows the format finds the tree again.

That Linux reads them too is seen in the lab (tests/lab/test_overlay_cuts.py).
"""

from __future__ import annotations

import hashlib
import random
import struct
from dataclasses import dataclass

from ffslab.fsimage.squashfs import DIRECTORY, FILE, SYMLINK, Inode, squashfs
from ffslab.oracle.contents import pattern
from ffslab.oracle.generators.registry import history_of_kind
from ffslab.oracle.history import history_of as history
from ffslab.oracle.history import parse_history
from ffslab.targets.empty_squashfs import EMPTY_BYTES, empty_squashfs
from ffslab.workloads.cuts.lower import lower_image

_NONE = 2**64 - 1


@dataclass
class Reader:
    """Of images in which nothing is compressed."""

    image: bytes

    def __post_init__(self) -> None:
        head = struct.unpack_from("<IIIIIHHHHHHQQQQQQQQ", self.image)
        assert head[0] == 0x73717368 and head[9:11] == (4, 0)
        self.count, self.root, self.used = head[1], head[11], head[12]
        self.owners, self.inodes, self.directories = head[13], head[15], head[16]
        self.exported = head[18]

    def metadata(self, at: int, size: int, start: int) -> bytes:
        """`at`: a place within blocks of metadata from `start` on, as in a reference."""
        made, block, offset = b"", start + (at >> 16), at & 0xFFFF
        while len(made) < size:
            (length,) = struct.unpack_from("<H", self.image, block)
            assert length & 0x8000
            data = self.image[block + 2 : block + 2 + (length & 0x7FFF)]
            made += data[offset:]
            block, offset = block + 2 + len(data), 0
            if len(data) < 8192:
                break
        return made[:size]

    def inode(self, reference: int) -> bytes:
        return self.metadata(reference, 4096, self.inodes)

    def tree(self, reference: int, path: str = "") -> dict[str, tuple[object, ...]]:
        data = self.inode(reference)
        kind, mode, owner, group, _, number = struct.unpack_from("<HHHHII", data)
        assert (owner, group) == (0, 0) and 0 < number <= self.count
        if kind == 3:
            links, size = struct.unpack_from("<II", data, 16)
            return {path: (SYMLINK, links, number, data[24 : 24 + size].decode())}
        if kind != 1:
            return {path: (FILE, *self.contents(kind, data, number))}
        assert mode == 0o755
        start, links, size, offset, _ = struct.unpack_from("<IIHHI", data, 16)
        found: dict[str, tuple[object, ...]] = {path: (DIRECTORY, links, number)}
        listing = self.metadata(start << 16 | offset, size - 3, self.directories)
        at, names = 0, []
        while at < len(listing):
            last, block, base = struct.unpack_from("<III", listing, at)
            at += 12
            for _ in range(last + 1):
                offset, difference, child, length = struct.unpack_from("<HhHH", listing, at)
                name = listing[at + 8 : at + 9 + length].decode()
                at += 9 + length
                names.append(name)
                there = self.tree(block << 16 | offset, f"{path}/{name}")
                assert there[f"{path}/{name}"][0] == ("", DIRECTORY, FILE, SYMLINK)[child]
                assert there[f"{path}/{name}"][2] == base + difference
                found |= there
        assert names == sorted(names)
        return found

    def contents(self, kind: int, data: bytes, number: int) -> tuple[object, ...]:
        if kind == 2:
            start, fragment, _, size = struct.unpack_from("<IIII", data, 16)
            links, at = 1, 32
        else:
            assert kind == 9
            start, size, _, links, fragment, _, xattr = struct.unpack_from("<QQQIIII", data, 16)
            assert xattr == 2**32 - 1
            at = 56
        assert fragment == 2**32 - 1
        lengths = struct.unpack_from(f"<{-(-size // 131072)}I", data, at)
        assert sum(one & ~(1 << 24) for one in lengths) == size
        assert all(one & 1 << 24 for one in lengths)
        return links, number, self.image[start : start + size]

    def by_number(self, number: int) -> int:
        """The reference of an inode, as NFS and overlayfs find it."""
        (block,) = struct.unpack_from("<Q", self.image, self.exported + (number - 1) // 1024 * 8)
        at = (number - 1) % 1024 * 8
        (found,) = struct.unpack("<Q", self.metadata(at, 8, block))
        return int(found)


def test_a_tree_is_found_again() -> None:
    draw = random.Random(1)
    big, small = draw.randbytes(300_000), [draw.randbytes(number) for number in range(1200)]
    names = {f"n{number:04}": number + 5 for number in range(1200)}
    image = squashfs(
        [
            Inode(DIRECTORY, children={"b": 1, "a": 1, "d": 2, "s": 4}),
            Inode(FILE, big),
            Inode(DIRECTORY, children={"e": 3, **names}),
            Inode(FILE),
            Inode(SYMLINK, target="d/e"),
            *(Inode(FILE, data) for data in small),
        ]
    )
    reader = Reader(image)
    assert reader.count == 1205 and reader.used <= len(image) < reader.used + 4096
    assert len(image) % 4096 == 0 and reader.used == reader.owners + 8
    found = reader.tree(reader.root)
    assert found == {
        "": (DIRECTORY, 3, 1),
        "/a": (FILE, 2, 2, big),
        "/b": (FILE, 2, 2, big),
        "/d": (DIRECTORY, 2, 3),
        "/d/e": (FILE, 1, 4, b""),
        "/s": (SYMLINK, 1, 5, "d/e"),
        **{f"/d/{name}": (FILE, 1, at + 1, small[at - 5]) for name, at in names.items()},
    }
    for number in (1, 2, 1024, 1025, 1205):
        data = reader.inode(reader.by_number(number))
        assert struct.unpack_from("<I", data, 12) == (number,)


def test_the_empty_one_is_the_one_that_flashes_were_kept_with() -> None:
    reader = Reader(empty_squashfs())
    assert reader.tree(reader.root) == {"": (DIRECTORY, 2, 1)}
    assert reader.exported == _NONE and EMPTY_BYTES == 4096
    # Plans name it by this, and flashes are kept by plans.
    assert hashlib.sha256(empty_squashfs()).hexdigest().startswith("83da70c8ee99")


def test_the_lower_tree_of_a_history_is_on_the_image() -> None:
    made = history(
        parse_history("sync\n").operations,
        parse_history(
            "mkdir d\nwrite d/a 0 6000 1\nwrite x 0 700 4\nlink x d/y\ncreate e\nsymlink e s\n"
        ).operations,
    )
    reader = Reader(lower_image(made))
    assert reader.tree(reader.root) == {
        "": (DIRECTORY, 3, 1),
        "/d": (DIRECTORY, 2, 2),
        "/d/a": (FILE, 1, 3, pattern(1, 0, 6000)),
        "/d/y": (FILE, 2, 4, pattern(4, 0, 700)),
        "/x": (FILE, 2, 4, pattern(4, 0, 700)),
        "/e": (FILE, 1, 5, b""),
        "/s": (SYMLINK, 1, 6, "e"),
    }
    assert lower_image(history_of_kind("overwrite", 1)) == b""
