"""Images that the original YAFFS2 wrote: no error, and the tree that it showed.

`tests/golden/yaffs2-images/README.md` says what is in them and what not to compare.
"""

from __future__ import annotations

import functools
import json
import lzma
import stat
import zlib
from pathlib import Path
from typing import Any

import pytest
from yaffs2_support import Image

from ffslab.yaffs2 import check_image, read_tree
from ffslab.yaffs2.format import Geometry
from ffslab.yaffs2.tree import Node

IMAGES = Path(__file__).resolve().parent.parent / "golden" / "yaffs2-images"
NAMES = ("dir256-clean", "rich-clean", "rich-inband")
# Grown by truncate: the size after a scan. The checkpoint alone has the size of the listing.
GROWN = {"/holes/only": 0, "/holes/regrown": 2058, "/holes/4g": 0}


@functools.cache
def contents_of(name: str) -> bytes:
    return lzma.decompress((IMAGES / f"{name}.raw.xz").read_bytes())


def geometry_of(name: str) -> Geometry:
    return Geometry(inband=True, oob_offset=0) if name.endswith("inband") else Geometry()


def original(name: str) -> Image:
    """The image, to be changed."""
    return Image(geometry_of(name), contents_of(name))


def listing_of(name: str) -> dict[str, dict[str, Any]]:
    listing: dict[str, dict[str, Any]] = json.loads((IMAGES / f"{name}.json").read_text())
    return listing


def window_of(node: Node, start: int, size: int) -> bytes:
    """Bytes of a file that may have 5 GiB, nearly all of them in holes."""
    window = bytearray(size)
    for offset, piece in node.pieces():
        first, last = max(offset, start), min(offset + len(piece), start + size)
        if first < last:
            window[first - start : last - start] = piece[first - offset : last - offset]
    return bytes(window)


def crc_of(node: Node) -> int:
    """The sum in the listing."""
    if node.size <= 64 << 20:
        return zlib.crc32(window_of(node, 0, node.size))
    head, tail = window_of(node, 0, 1 << 20), window_of(node, node.size - (1 << 20), 1 << 20)
    return zlib.crc32(tail, zlib.crc32(head))


def shown(node: Node) -> dict[str, Any]:
    """A node as the listing has it."""
    entry: dict[str, Any] = {
        "ino": node.object_id,
        "mode": node.mode,
        "nlink": node.links,
        "uid": node.uid,
        "gid": node.gid,
        "size": node.size,
        "atime": node.atime,
        "mtime": node.mtime,
        "ctime": node.ctime,
        "device": [node.rdev >> 8, node.rdev & 0xFF],
        "xattrs": {name: str(value) for name, value in node.xattrs.items()},
    }
    if node.type == "file":
        entry |= {"crc": crc_of(node), "unreadable": []}
    if node.type == "symlink":
        entry["target"] = node.target
    return entry


def on_flash(path: str, entry: dict[str, Any]) -> dict[str, Any]:
    """What of a listed entry the original stored: the README of the images has the reasons."""
    kind = stat.S_IFMT(entry["mode"])
    unlisted: set[str] = set()
    if kind == stat.S_IFDIR:
        unlisted = {"nlink", "size"}
    elif kind not in (stat.S_IFREG, stat.S_IFLNK):
        unlisted = {"size", "atime", "mtime", "ctime", "xattrs"}
    elif path.startswith(("/busy", "/d/f")):
        unlisted = {"mtime", "ctime"}
    return {key: value for key, value in entry.items() if key not in unlisted}


def assert_listed(tree: dict[str, Node], listing: dict[str, dict[str, Any]]) -> None:
    assert set(tree) == set(listing)
    differences = []
    for path, entry in listing.items():
        mine = shown(tree[path])
        for key, value in on_flash(path, entry).items():
            if key != "xattr_error" and mine.get(key) != value:
                differences.append(f"{path}: {key} is {mine.get(key)!r}, not {value!r}")
    assert not differences, "\n".join(differences[:20])


@pytest.mark.parametrize("name", NAMES)
def test_an_image_of_the_original_is_sound_and_has_its_tree(name: str, tmp_path: Path) -> None:
    path = original(name).write(tmp_path)
    report = check_image(path)
    assert report.geometry == geometry_of(name)
    assert not report.errors, report.text()
    assert not report.warnings, report.text()
    # What is worth knowing: sizes that only the checkpoint has.
    assert set(report.counts) <= {"checkpoint-size"}, report.text()
    assert report.checkpoint.state == "valid"
    listing = listing_of(name)
    assert len(listing) > 100
    assert_listed(read_tree(path), listing)


@pytest.mark.parametrize("name", NAMES)
def test_without_its_checkpoint_a_scan_finds_the_same_but_what_grew(
    name: str, tmp_path: Path
) -> None:
    image = original(name)
    for block in range(image.blocks):
        at = image.at(block) + (image.geometry.data_bytes if image.geometry.inband else 2050)
        if image.raw[at : at + 4] == b"\x21\0\0\0":
            image.erase(block)
    path = image.write(tmp_path)
    report = check_image(path)
    assert not report.counts, report.text()
    assert report.checkpoint.state == "none"
    listing, tree = listing_of(name), read_tree(path)
    grown = GROWN.keys() & listing.keys()
    for path_of_file in grown:
        assert tree[path_of_file].size == GROWN[path_of_file] < listing[path_of_file]["size"]
    assert_listed(
        {path: node for path, node in tree.items() if path not in grown},
        {path: entry for path, entry in listing.items() if path not in grown},
    )
