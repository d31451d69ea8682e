"""mkfs of the segregated layout: clean, with the same files as the original one, byte by byte."""

from __future__ import annotations

import struct
import tarfile
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from tar_support import sparse_tar
from test_yaffs2_mkfs import GEOMETRIES, Archive, make, source_tree

from ffslab.errors import UsageError
from ffslab.fsimage.extract import extract_tree
from ffslab.yaffs2 import Report, read_tree
from ffslab.yaffs2.check import examine
from ffslab.yaffs2.format import Geometry, Layout
from ffslab.yaffs2.mkfs import MkfsOptions, make_image

S = 2048
SEGREGATED = MkfsOptions(layout=Layout.SEGREGATED)


def make_both(source: Path, tmp_path: Path, options: MkfsOptions) -> Report:
    """Images of both layouts, without problems and with the same tree; the segregated report."""
    make_image(source, tmp_path / "plain", options)
    _, report = make(source, tmp_path, replace(options, layout=Layout.SEGREGATED))
    assert report.layout is Layout.SEGREGATED
    plain, ours = read_tree(tmp_path / "plain"), read_tree(tmp_path / "made")
    assert ours == plain
    for path, node in plain.items():
        assert list(ours[path].pieces()) == list(node.pieces())
    return report


@pytest.mark.parametrize("summaries", [True, False])
@pytest.mark.parametrize("name", GEOMETRIES)
def test_a_tree_is_that_of_the_original_layout(name: str, summaries: bool, tmp_path: Path) -> None:
    options = MkfsOptions(GEOMETRIES[name], summaries=summaries)
    report = make_both(source_tree(tmp_path), tmp_path, options)
    assert report.statistics["blocks_metadata"] >= 1
    assert report.statistics["pages_by_tags"] == 0


@pytest.mark.parametrize("name", GEOMETRIES)
def test_a_checkpoint_fits_what_a_scan_finds(name: str, tmp_path: Path) -> None:
    geometry = GEOMETRIES[name]
    options = MkfsOptions(geometry, checkpoint=True, partition_bytes=100 * geometry.block_bytes)
    report = make_both(source_tree(tmp_path), tmp_path, options)
    assert report.checkpoint.state == "valid"
    assert report.blocks == 100


@pytest.mark.parametrize("name", ["usual", "inband", "small", "large"])
def test_large_and_sparse_files(name: str, tmp_path: Path) -> None:
    """Several index pages, one without a neighbour, and a hole at the end."""
    geometry = GEOMETRIES[name]
    root = tmp_path / "tree"
    root.mkdir()
    (root / "large").write_bytes(bytes(range(251)) * 16_000)
    with (root / "sparse").open("wb") as file:
        for offset in (0, 9_000_000, 90_000_000):
            file.seek(offset)
            file.write(b"here")
        file.truncate(100_000_000)
    report = make_both(root, tmp_path, MkfsOptions(geometry))
    chunks = -(-(251 * 16_000) // geometry.data_bytes) + 1
    of_a_piece = (geometry.data_bytes - 48) // 4 // 16 * 16
    of_sparse = {(at // geometry.data_bytes + 1) // of_a_piece for at in (0, 9_000_000, 90_000_000)}
    assert report.statistics["index_pages"] == -(-chunks // of_a_piece) + len(of_sparse)


def test_a_file_of_more_than_4_gib(tmp_path: Path) -> None:
    archive = tmp_path / "a.tar"
    archive.write_bytes(sparse_tar("1.0", [(5_000_000_000, 10)], b"0123456789", 5_000_000_010))
    make_both(archive, tmp_path, MkfsOptions())
    assert read_tree(tmp_path / "made")["/f"].size == 5_000_000_010


def test_names_links_devices_and_attributes(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.tar")
    archive.add("d", type=tarfile.DIRTYPE, mode=0o755)
    archive.add("d/" + "n" * 254, b"long")
    archive.add("link", type=tarfile.SYMTYPE, linkname="t" * 159)
    archive.add("hard", type=tarfile.LNKTYPE, linkname="d/" + "n" * 254)
    archive.add("tty", type=tarfile.CHRTYPE, devmajor=4, devminor=5)
    attributes = {f"SCHILY.xattr.user.a{number}": "v" * 100 for number in range(5)}
    archive.add("x", b"text", pax_headers=attributes)
    make_both(archive.done(), tmp_path, MkfsOptions())
    assert len(read_tree(tmp_path / "made")["/x"].xattrs) == 5


@pytest.mark.parametrize(("value_bytes", "fits"), [(1413, True), (1414, False)])
def test_attributes_have_the_room_behind_the_cuts(
    value_bytes: int, fits: bool, tmp_path: Path
) -> None:
    """2048 - 624 = 1424 bytes: 4 of length, 7 of name and NUL."""
    attributes = {"SCHILY.xattr.user.a": "v" * value_bytes}
    archive = Archive(tmp_path / "a.tar").add("f", pax_headers=attributes).done()
    if fits:
        make(archive, tmp_path, SEGREGATED)
        assert len(read_tree(tmp_path / "made")["/f"].xattrs["user.a"]) == value_bytes
    else:
        with pytest.raises(UsageError, match="1424 fit"):
            make_image(archive, tmp_path / "made", SEGREGATED)


@pytest.mark.parametrize(("attribute_bytes", "chunks"), [(0, 355), (40, 345)])
def test_when_an_index_is_in_the_header(attribute_bytes: int, chunks: int, tmp_path: Path) -> None:
    """(2048 - 624 - 40) / 4 entries, the first of which is that of chunk 0."""
    for number, pages in ((chunks, 0), (chunks + 1, 1)):
        headers = {"SCHILY.xattr.user.a": "v" * (attribute_bytes - 11)} if attribute_bytes else {}
        archive = Archive(tmp_path / "a.tar").add("f", b"x" * number * S, pax_headers=headers)
        _, report = make(archive.done(), tmp_path, SEGREGATED)
        assert report.statistics["index_pages"] == pages


def test_extraction_is_that_of_the_original_layout(tmp_path: Path) -> None:
    root = source_tree(tmp_path)
    make_image(root, tmp_path / "made", SEGREGATED)
    checked = examine(tmp_path / "made")
    extract_tree(checked.names(), tmp_path / "out")
    for path in root.rglob("*"):
        out = tmp_path / "out" / path.relative_to(root)
        assert out.lstat().st_mode == path.lstat().st_mode
        if path.is_file():
            assert out.read_bytes() == path.read_bytes()


def test_the_same_tree_gives_the_same_bytes(tmp_path: Path) -> None:
    root = source_tree(tmp_path)
    options = replace(SEGREGATED, checkpoint=True, partition_bytes=100 * 64 * 2048)
    make_image(root, tmp_path / "one", options)
    make_image(root, tmp_path / "other", options)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_an_image_that_does_not_fit_says_what_it_needs(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.tar").add("f", bytes(1_000_000)).done()
    options = replace(SEGREGATED, partition_bytes=4 * 64 * 2048)
    with pytest.raises(UsageError, match="the image needs 9 blocks"):
        make_image(archive, tmp_path / "made", options)
    assert not (tmp_path / "made").exists()


def test_blocks_of_1024_pages_are_refused(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.tar").add("f", b"x").done()
    options = replace(SEGREGATED, geometry=Geometry(pages_per_block=1024))
    with pytest.raises(UsageError, match="at most 1023"):
        make_image(archive, tmp_path / "made", options)


def test_pages_by_hand(tmp_path: Path) -> None:
    """Two blocks: that of the headers (sequence 0x1001) and that of the data (0x1002)."""
    archive = Archive(tmp_path / "a.tar").add("f", b"text").done()
    make(archive, tmp_path, SEGREGATED)
    raw = (tmp_path / "made").read_bytes()
    pages = [raw[at : at + 2112] for at in range(0, len(raw), 2112)]
    assert len(pages) == 2 * 64
    root, header, data = pages[0], pages[1], pages[64]
    # Sequence 0x1001 with its mark, object 1 as a directory (3) in a metadata block (bit 23).
    assert root[2050:2066] == bytes.fromhex("011000f0 01008030 00000080 00000000")
    assert data[2050:2066] == bytes.fromhex("021000f0 00010000 01000000 04000000")
    assert data[:2048] == b"text" + bytes(2044)
    assert header[2050:2066] == bytes.fromhex("011000f0 00018010 01000080 04000000")
    # Magic, version 1, the index is here, CRC, piece 0, 2 entries, 1 cut, no attributes;
    # now: sequence 0x1002, page 1; the cut was at its page 0. Chunk 1 is internal page 2 * 64.
    now, cut = 0x1002 * 1024 + 1, 0x1002 * 1024
    head = struct.pack("<IHHIIIHHQQQ", 0x58444E49, 1, 1, 0, 0, 2, 1, 0, now, now, 0)
    head += struct.pack("<QII", cut, 0, 0) + bytes(3 * 16) + struct.pack("<2I", 0, 128)
    head = head[:8] + struct.pack("<I", zlib.crc32(head)) + head[12:]
    assert header[512 : 512 + len(head)] == head
    assert header[512 + len(head) : 2048] == b"\xff" * (2048 - 512 - len(head))
    rest = [*pages[2:64], *pages[65:]]
    assert set(rest) == {b"\xff" * 2112}
