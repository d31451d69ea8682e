"""Images built by the real tools in a guest: the same bytes every time, and what is in them.

Whether the kernel mounts them is tested where they are written to a flash.
"""

from __future__ import annotations

import hashlib
import io
import os
import random
import shutil
import stat
import struct
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from image_formats import read_jffs2, read_ubi

from ffslab.errors import InfrastructureError, SpecError
from ffslab.images.build import BuiltImage, ImageSpec, build_image
from ffslab.images.catalogue import NamedImage, all_images
from ffslab.images.pages import programmed_pages
from ffslab.images.source import SourceTree, source_tree
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.progress import SilentProgress
from ffslab.loader import load_catalog

BOARD = "apf27-2012"
MTIME_S = 1_234_567_890
QUIET = SilentProgress()


def catalog_images() -> list[NamedImage]:
    catalog = load_catalog()
    return list(all_images(catalog, catalog.board(BOARD), "32 MiB"))


def spec_of(tool: str, *options: str, **changes: int | str) -> ImageSpec:
    """An image for a chip with pages of 2 KiB and no sub-pages, on 32 MiB."""
    spec = ImageSpec(
        tool=tool,
        options=options,
        page_bytes=2048,
        oob_bytes=64,
        subpages=1,
        pages_per_block=64,
        partition_blocks=256,
    )
    return replace(spec, **changes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory, lab: LabBuild) -> Iterator[Path]:
    """A cache that is empty in the beginning, for trees and images; the lab is built before."""
    del lab
    place = tmp_path_factory.mktemp("images")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        yield place


# --- trees ---


def words(generator: random.Random, size: int) -> bytes:
    """Text that every compressor shortens."""
    vocabulary = [b"flash", b"erase", b"block", b"page", b"wear", b"node", b"mount", b"image"]
    text = b" ".join(generator.choices(vocabulary, k=size // 4))
    return text[:size]


def members(count: int, size: int) -> dict[str, bytes]:
    """Files by path: text, random bytes, and an empty one."""
    generator = random.Random(count)
    files = {
        f"data/dir{index % 7}/file{index:03}": words(generator, generator.randint(1, 2 * size))
        for index in range(count)
    }
    return files | {"data/random": generator.randbytes(3 * size), "data/empty": b""}


def write_tar(path: Path, files: dict[str, bytes], *, backwards: bool = False) -> Path:
    """An archive with owners, modes, links and devices; `backwards` stages it in another order."""
    made: list[tuple[tarfile.TarInfo, bytes]] = []

    def add(name: str, kind: bytes, mode: int, content: bytes = b"", **fields: object) -> None:
        member = tarfile.TarInfo(name)
        member.type, member.mode, member.mtime = kind, mode, MTIME_S
        member.size = len(content)
        for key, value in fields.items():
            setattr(member, key, value)
        made.append((member, content))

    for directory in sorted({str(parent) for name in files for parent in Path(name).parents}):
        add(directory, tarfile.DIRTYPE, 0o755)
    for name, content in files.items():
        add(name, tarfile.REGTYPE, 0o644, content)
    add("su", tarfile.REGTYPE, 0o4755, b"#!/bin/sh\n")
    add("theirs", tarfile.REGTYPE, 0o640, b"secret\n", uid=1000, gid=33)
    add("link", tarfile.SYMTYPE, 0o777, linkname="data/random")
    add("console", tarfile.CHRTYPE, 0o600, devmajor=5, devminor=1)
    add("disk", tarfile.BLKTYPE, 0o660, devmajor=31, devminor=7, gid=6)
    add("pipe", tarfile.FIFOTYPE, 0o644)
    with tarfile.open(path, "w") as archive:
        for member, content in reversed(made) if backwards else made:
            archive.addfile(member, io.BytesIO(content))
    return path


@pytest.fixture(scope="module")
def small(places: Path) -> SourceTree:
    return source_tree(str(write_tar(places / "small.tar", members(20, 1000))), QUIET)


@pytest.fixture(scope="module")
def large(places: Path) -> SourceTree:
    return source_tree(str(write_tar(places / "large.tar", members(300, 12_000))), QUIET)


def forget_images(places: Path) -> None:
    shutil.rmtree(places / "cache/ffslab/image", ignore_errors=True)


def digest(image: BuiltImage) -> str:
    return hashlib.sha256(image.path.read_bytes()).hexdigest()


# --- the same bytes ---


@pytest.mark.parametrize(
    "wanted", catalog_images(), ids=lambda image: f"{image.filesystem}-{image.compression}"
)
def test_a_small_tree_gives_the_same_bytes_again(
    wanted: NamedImage, small: SourceTree, places: Path, lab: LabBuild
) -> None:
    forget_images(places)
    first = build_image(small, wanted.spec, lab, QUIET)
    before = digest(first)
    forget_images(places)
    again = build_image(small, wanted.spec, lab, QUIET)
    assert (again.sha256, digest(again)) == (first.sha256, before)
    assert again == first
    assert first.sha256 == before


@pytest.mark.parametrize(
    "wanted", catalog_images(), ids=lambda image: f"{image.filesystem}-{image.compression}"
)
def test_sizes_are_what_the_compression_lets_expect(
    wanted: NamedImage, large: SourceTree, lab: LabBuild
) -> None:
    image = build_image(large, wanted.spec, lab, QUIET)
    spec, tree_bytes = wanted.spec, large.shape.bytes
    kept = image.path.stat().st_size
    page_bytes = spec.page_bytes + (spec.oob_bytes if image.oob else 0)
    assert 0 < image.flash_bytes <= -(-kept // page_bytes) * spec.page_bytes
    assert image.flash_bytes % spec.page_bytes == 0
    # Superblock, master nodes, log and trees of an empty UBIFS: a dozen blocks.
    fixed_bytes = 14 * spec.block_bytes if spec.tool == "ubifs" else 0
    if wanted.compression == "none":
        # Headers, indexes, whole pages; SquashFS packs small files together.
        assert tree_bytes < image.image_bytes < 1.3 * tree_bytes + fixed_bytes
    else:
        # The text of eight words is worth a few bits a word; 36 kB of the tree are random.
        share = 0.9 if wanted.compression == "rtime" else 0.7
        assert 36_000 < image.image_bytes < share * tree_bytes + fixed_bytes
    assert image.tree is large


def stage(directory: Path, files: dict[str, bytes], *, backwards: bool) -> Path:
    """The files as a directory of the host, made in one order or the other."""
    for name in sorted(files, reverse=backwards):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[name])
    for path in [directory, *directory.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (MTIME_S, MTIME_S))
    return directory


@pytest.mark.parametrize("tool", ["jffs2", "ubifs", "yaffs2", "logfs", "squashfs", "erofs"])
def test_the_order_of_staging_makes_no_difference(
    tool: str, places: Path, tmp_path: Path, lab: LabBuild
) -> None:
    files = members(30, 500)
    digests = set()
    for backwards in (False, True):
        forget_images(places)
        directory = stage(tmp_path / str(backwards) / "tree", files, backwards=backwards)
        tree = source_tree(str(directory), QUIET)
        digests.add(digest(build_image(tree, spec_of(tool), lab, QUIET)))
    assert len(digests) == 1


def test_the_order_of_an_archive_makes_no_difference(
    places: Path, tmp_path: Path, lab: LabBuild
) -> None:
    digests = set()
    for backwards in (False, True):
        forget_images(places)
        tar = write_tar(tmp_path / f"tree{backwards}.tar", members(9, 500), backwards=backwards)
        image = build_image(source_tree(str(tar), QUIET), spec_of("ubifs"), lab, QUIET)
        digests.add(digest(image))
    assert len(digests) == 1


def test_a_damaged_image_is_built_again(small: SourceTree, lab: LabBuild) -> None:
    image = build_image(small, spec_of("jffs2"), lab, QUIET)
    content = image.path.read_bytes()
    image.path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    again = build_image(small, spec_of("jffs2"), lab, QUIET)
    assert again == image
    assert again.path.read_bytes() == content


# --- JFFS2 ---


@pytest.mark.parametrize(
    ("filesystem", "expected"),
    [
        ("none", {"none"}),
        ("rtime", {"none", "rtime"}),
        ("zlib", {"none", "zlib"}),
        ("lzo", {"none", "lzo"}),
    ],
)
def test_jffs2_uses_the_compressor_that_is_asked_for(
    filesystem: str, expected: set[str], large: SourceTree, lab: LabBuild
) -> None:
    (wanted,) = [
        one
        for one in catalog_images()
        if (one.filesystem, one.compression) == ("jffs2", filesystem)
    ]
    image = build_image(large, wanted.spec, lab, QUIET)
    parsed = read_jffs2(image.path, wanted.spec.block_bytes)
    assert {inode.compressor for inode in parsed.inodes} - {"zero"} == expected


def test_jffs2_is_for_nand_and_has_the_attributes(small: SourceTree, lab: LabBuild) -> None:
    spec = spec_of("jffs2")
    image = build_image(small, spec, lab, QUIET)
    parsed = read_jffs2(image.path, spec.block_bytes)
    assert parsed.clean_markers == 0
    assert max(inode.data_bytes for inode in parsed.inodes) <= 4096
    numbers = {name: number for number, names in parsed.names.items() for name in names}
    by_number = {inode.number: inode for inode in parsed.inodes}
    assert {inode.mtime for inode in parsed.inodes if inode.number != 1} == {MTIME_S}
    theirs = by_number[numbers["theirs"]]
    assert (theirs.uid, theirs.gid, stat.S_IMODE(theirs.mode)) == (1000, 33, 0o640)
    assert by_number[numbers["su"]].mode == stat.S_IFREG | 0o4755
    assert stat.S_ISBLK(by_number[numbers["disk"]].mode)
    assert image.image_bytes == image.path.stat().st_size


@pytest.mark.parametrize(("page_bytes", "pages"), [(512, 32), (4096, 64)])
def test_jffs2_follows_the_chip(
    page_bytes: int, pages: int, large: SourceTree, lab: LabBuild
) -> None:
    spec = spec_of(
        "jffs2",
        "-m",
        "none",
        page_bytes=page_bytes,
        pages_per_block=pages,
        partition_blocks=2**25 // page_bytes // pages,
    )
    image = build_image(large, spec, lab, QUIET)
    inodes = read_jffs2(image.path, spec.block_bytes).inodes
    assert len(inodes) > 300
    # The largest node is a page of the kernel's memory, whatever the page of the flash.
    assert max(inode.data_bytes for inode in inodes) == 4096
    assert image.flash_bytes == -(-image.image_bytes // page_bytes) * page_bytes


@pytest.mark.parametrize(("page_bytes", "pages"), [(512, 32), (2048, 64), (4096, 64)])
@pytest.mark.parametrize("compression", ["none", "size"])
def test_each_full_block_of_jffs2_can_have_a_summary_of_its_nodes(
    page_bytes: int, pages: int, compression: str, large: SourceTree, places: Path, lab: LabBuild
) -> None:
    plain, spec = (
        spec_of(
            *("jffs2", "-m", compression),
            page_bytes=page_bytes,
            pages_per_block=pages,
            partition_blocks=2**25 // page_bytes // pages,
            summaries=summaries,
        )
        for summaries in (False, True)
    )
    without, image = (build_image(large, one, lab, QUIET) for one in (plain, spec))
    before, after = (read_jffs2(one.path, spec.block_bytes) for one in (without, image))
    assert not any(before.summaries)
    # The last block is not full; it ends with its last node.
    *full, last = after.summaries
    assert full == list(after.blocks[:-1])
    assert last is None
    assert after.clean_markers == 0
    # The nodes are the same, and only their places are others.
    assert after.names == before.names
    assert after.inodes == before.inodes
    size = image.path.stat().st_size
    # mkfs.jffs2 splits a node to fill a block, sumtool leaves the rest unused: most of a small one.
    share = 1.1 if spec.block_bytes > 2**16 else 1.6
    assert without.image_bytes < image.image_bytes == size < share * without.image_bytes
    assert image.flash_bytes == -(-size // page_bytes) * page_bytes
    assert image.command == f"{without.command.replace('flash.img', 'plain.img')} && " + (
        f"sumtool --input=/out/plain.img --output=/out/flash.img --eraseblock={spec.block_bytes} "
        "--no-cleanmarkers --littleendian"
    )
    assert [name.split()[0] for name in image.tool.split(", ")] == ["mkfs.jffs2", "sumtool"]
    assert "sumtool" not in without.tool
    first = digest(image)
    forget_images(places)
    assert digest(build_image(large, spec, lab, QUIET)) == first


# --- UBI ---


@pytest.mark.parametrize(
    ("subpages", "vid_hdr_offset", "stated", "data_offset"),
    [(1, 0, 2048, 4096), (4, 0, 512, 2048), (4, 2048, 2048, 4096)],
)
def test_ubifs_is_in_a_volume_that_grows(
    subpages: int,
    vid_hdr_offset: int,
    stated: int,
    data_offset: int,
    small: SourceTree,
    lab: LabBuild,
) -> None:
    spec = spec_of("ubifs", "-x", "zlib", subpages=subpages, ubi_vid_hdr_offset=vid_hdr_offset)
    image = build_image(small, spec, lab, QUIET)
    ubi = read_ubi(image.path, spec.block_bytes)
    assert (ubi.vid_hdr_offset, ubi.data_offset) == (stated, data_offset)
    assert (ubi.name, ubi.static, ubi.autoresize, ubi.image_seq) == ("data", False, True, 1)
    assert len(ubi.data) == image.image_bytes
    kind, min_io_bytes, leb_bytes, leb_count, leb_max = (
        ubi.data[20],
        *struct.unpack_from("<IIII", ubi.data, 32),
    )
    assert (kind, min_io_bytes, leb_bytes) == (6, 2048, 64 * 2048 - data_offset)
    assert leb_count == ubi.blocks - 2 == ubi.reserved_pebs
    # The volume gets fewer blocks than the partition has, so it can take all of them.
    assert leb_max == spec.partition_blocks
    assert struct.unpack_from("<H", ubi.data, 84)[0] == 2  # zlib
    assert image.flash_bytes == programmed_pages(image.path, 2048, 64) * 2048
    assert image.flash_bytes < image.path.stat().st_size / 2


SQUASHFS_CODES = {"gzip": 1, "lzo": 3, "xz": 4, "lz4": 5, "zstd": 6}


@pytest.mark.parametrize("compression", SQUASHFS_CODES)
def test_squashfs_is_in_a_volume(compression: str, small: SourceTree, lab: LabBuild) -> None:
    spec = spec_of("squashfs", "-comp", compression)
    image = build_image(small, spec, lab, QUIET)
    ubi = read_ubi(image.path, spec.block_bytes)
    assert ubi.data[:4] == b"hsqs"
    assert struct.unpack_from("<H", ubi.data, 20)[0] == SQUASHFS_CODES[compression]


@pytest.mark.parametrize("tool", ["squashfs", "erofs"])
def test_a_volume_is_dynamic_or_static_and_holds_the_same_image(
    tool: str, large: SourceTree, lab: LabBuild
) -> None:
    dynamic, static = (
        (image := build_image(large, spec, lab, QUIET), read_ubi(image.path, spec.block_bytes))
        for spec in (spec_of(tool), spec_of(tool, volume_type="static"))
    )
    for image, ubi in (dynamic, static):
        assert not ubi.autoresize
        assert ubi.reserved_pebs == ubi.blocks - 2
        assert ubi.reserved_pebs == -(-image.image_bytes // spec_of(tool).leb_bytes)
    assert (dynamic[1].static, static[1].static) == (False, True)
    # UBI knows how long the contents of a static volume are; a dynamic one has whole blocks.
    size = static[0].image_bytes
    assert dynamic[0].image_bytes == size == len(static[1].data) < len(dynamic[1].data)
    assert dynamic[1].data[:size] == static[1].data
    assert set(dynamic[1].data[size:]) == {0xFF}
    assert dynamic[0].flash_bytes == static[0].flash_bytes


def test_squashfs_has_the_attributes(small: SourceTree, tmp_path: Path, lab: LabBuild) -> None:
    spec = spec_of("squashfs")
    volume = tmp_path / "volume"
    image = build_image(small, spec, lab, QUIET)
    volume.write_bytes(read_ubi(image.path, spec.block_bytes).data)
    listed = subprocess.run(
        ["unsquashfs", "-lln", str(volume)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TZ": "UTC"},
    ).stdout
    lines = {
        line.split("squashfs-root/")[1]: line for line in listed.splitlines() if "root/" in line
    }
    assert lines["theirs"].startswith("-rw-r----- 1000/33")
    assert lines["su"].startswith("-rwsr-xr-x 0/0")
    assert lines["console"].split()[:4] == ["crw-------", "0/0", "5,", "1"]
    assert lines["disk"].split()[:4] == ["brw-rw----", "0/6", "31,", "7"]
    assert lines["pipe"].startswith("prw-r--r--")
    assert "link -> data/random" in lines
    assert all("2009-02-13 23:31" in line for line in lines.values())


def test_erofs_is_in_a_volume(small: SourceTree, lab: LabBuild) -> None:
    spec = spec_of("erofs", "-zlz4hc")
    image = build_image(small, spec, lab, QUIET)
    ubi = read_ubi(image.path, spec.block_bytes)
    assert struct.unpack_from("<I", ubi.data, 1024)[0] == 0xE0F5E1E2


# --- bad input ---


@pytest.mark.parametrize(
    ("tool", "options", "said"),
    [
        ("jffs2", ("-x", "bogus"), "Unknown compressor name bogus"),
        ("ubifs", ("-x", "bogus"), "bad compressor name"),
        ("squashfs", ("-comp", "bogus"), "bogus"),
        ("erofs", ("-zbogus",), "bogus"),
        ("jffs2", ("--bogus",), "bogus"),
    ],
)
def test_an_option_that_the_tool_does_not_have(
    tool: str, options: tuple[str, ...], said: str, small: SourceTree, lab: LabBuild
) -> None:
    with pytest.raises(SpecError, match=r"no image of small\.tar: a tool failed") as raised:
        build_image(small, spec_of(tool, *options), lab, QUIET)
    assert said in raised.value.message.split("\n", 1)[1]


@pytest.mark.parametrize(
    ("tool", "blocks"),
    [("jffs2", 20), ("ubifs", 41), ("squashfs", 20), ("yaffs2", 20), ("logfs", 30)],
)
def test_an_image_larger_than_the_partition(
    tool: str, blocks: int, large: SourceTree, lab: LabBuild
) -> None:
    options = {"jffs2": ("-m", "none"), "ubifs": ("-x", "none"), "squashfs": ("-noD", "-noF")}
    spec = spec_of(tool, *options.get(tool, ()), partition_blocks=blocks)
    with pytest.raises(SpecError, match=r"the image of large\.tar is larger than the partition of"):
        build_image(large, spec, lab, QUIET)


def test_a_guest_that_cannot_run_is_no_fault_of_the_image(
    small: SourceTree, tmp_path: Path, lab: LabBuild
) -> None:
    agent = tmp_path / "agent"
    agent.write_text("#!/no/such/interpreter\n")
    with pytest.raises(InfrastructureError, match="the guest that builds an image failed"):
        build_image(small, spec_of("jffs2", "-m", "size"), replace(lab, agent=agent), QUIET)
