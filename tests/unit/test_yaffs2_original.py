"""Images that the original YAFFS2 wrote: no error, the tree that it showed, and our own bytes.

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

from ffslab.fsimage.node import Node
from ffslab.yaffs2 import check_image, read_tree
from ffslab.yaffs2.detect import open_image
from ffslab.yaffs2.format import Geometry, ObjectType
from ffslab.yaffs2.header import (
    HEADER_BYTES,
    HeaderFields,
    ObjectHeader,
    pack_header,
    parse_header,
)
from ffslab.yaffs2.scan import BlockKind, scan_flash
from ffslab.yaffs2.summary import pack_summary
from ffslab.yaffs2.tags import header_tags

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


def test_padding_of_the_tags_ecc_may_be_anything(tmp_path: Path) -> None:
    """The original leaves there what was in memory: neither read nor judged."""
    image = original("dir256-clean")
    paddings = set()
    for block in range(image.blocks):
        for page in range(image.geometry.pages_per_block):
            at = image.at(block, page) + 2048 + 2 + 17
            if image.tags(block, page).sequence != 0xFFFFFFFF:
                paddings.add(bytes(image.raw[at : at + 3]))
                image.raw[at : at + 3] = b"\xa5\x5a\x00"
    assert len(paddings) > 5
    path = image.write(tmp_path)
    assert not check_image(path).counts
    assert_listed(read_tree(path), listing_of("dir256-clean"))


@pytest.mark.parametrize("offset", [0, 4])
def test_object_256_keeps_its_name_and_files_if_its_header_is_contradicted(
    offset: int, tmp_path: Path
) -> None:
    """The header says another type, or another parent, than the tags and the summary."""
    image = original("dir256-clean")
    image.word(*image.find(256), offset, 2)
    path = image.write(tmp_path)
    assert {problem.rule for problem in check_image(path).errors} >= {
        {0: "header-tags-type", 4: "header-tags-parent"}[offset]
    }
    assert_listed(read_tree(path), listing_of("dir256-clean"))


@pytest.mark.parametrize("name", NAMES)
def test_what_we_would_write_is_what_the_original_wrote(name: str, tmp_path: Path) -> None:
    """Every header, its tags, and every block summary, written again from what was read."""
    flash = open_image(original(name).write(tmp_path)).flash
    written = {"headers": 0, "summaries": 0}
    for record in scan_flash(flash).of_kind(BlockKind.DATA):
        for found in record.pages:
            if found.tags.is_header:
                chunk = flash.data(record.block, found.page)
                fields = fields_of(parse_header(chunk))
                assert pack_header(fields) == chunk[:HEADER_BYTES], (record.block, found.page)
                assert found.tags.words == words_of(found.tags.object_id, fields)
                written["headers"] += 1
        if record.summary is not None:
            first = flash.geometry.pages_per_block - flash.geometry.summary_pages
            tags = [found.tags for found in record.pages[:first]]
            pages = pack_summary(flash.geometry, record.block + 1, record.sequence, tags)
            for (summary_tags, content), found in zip(pages, record.pages[first:], strict=True):
                assert summary_tags == found.tags
                there = flash.data(record.block, found.page)
                assert content.ljust(len(there), b"\xff") == there
            written["summaries"] += 1
    assert written["headers"] > 250
    assert written["summaries"] >= 4


def fields_of(header: ObjectHeader) -> HeaderFields:
    kind = ObjectType(header.type_number)
    return HeaderFields(
        kind,
        header.parent_id,
        header.name,
        mode=header.mode,
        uid=header.uid,
        gid=header.gid,
        atime=header.atime,
        mtime=header.mtime,
        ctime=header.ctime,
        size=header.size if kind is ObjectType.FILE else 0,
        target_id=header.target_id if kind is ObjectType.HARD_LINK else 0,
        alias=header.alias,
        rdev=header.rdev,
        shrink=header.is_shrink == 1,
        shadowed_id=header.shadowed,
    )


def words_of(object_id: int, fields: HeaderFields) -> tuple[int, int, int]:
    if fields.size >= 1 << 31:
        return object_id, 0, 0
    return header_tags(
        0,
        object_id,
        fields.object_type,
        fields.parent_id,
        size_or_target=fields.size or fields.target_id,
        shrink=fields.shrink,
        shadows=bool(fields.shadowed_id),
    ).words
