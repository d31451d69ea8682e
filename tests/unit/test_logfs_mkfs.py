"""Images that mkfs makes: what fsck finds in them is what went in, and no problems."""

from __future__ import annotations

import os
import random
import stat
import tarfile
from pathlib import Path

import pytest
from logfs_support import PARTITION, SEGMENT, SEGMENTS, UNIT, Image, make, usual_tree

from ffslab.errors import UsageError
from ffslab.logfs import ImageOptions, check_image, read_tree
from ffslab.logfs.format import FLAG_COMPRESS
from ffslab.logfs.image import PageGeometry
from ffslab.logfs.mkfs import MkfsOptions, make_image


def assert_same(image: Path, top: Path, options: ImageOptions | None = None) -> None:
    """The image is free of problems and holds the tree."""
    report = check_image(image, options)
    assert not report.problems, report.text()
    tree = read_tree(image, options)
    paths = {"/": top, **{f"/{path.relative_to(top)}": path for path in top.rglob("*")}}
    assert set(tree) == set(paths)
    for name, path in paths.items():
        node, found = tree[name], path.lstat()
        assert node.mode == found.st_mode, name
        assert node.mtime == int(found.st_mtime), name
        if stat.S_ISREG(found.st_mode):
            assert (node.size, node.links) == (found.st_size, found.st_nlink), name
            if found.st_size < 1 << 24:
                assert node.content == path.read_bytes(), name
        if stat.S_ISLNK(found.st_mode):
            assert node.target == os.readlink(path), name  # noqa: PTH115


def test_an_empty_file_system(tmp_path: Path) -> None:
    image = Image(make(tmp_path))
    assert_same(image.path, tmp_path / "image.tree")
    assert len(image.raw) == PARTITION
    mounted = image.mounted
    assert sorted(mounted.inodes) == [2, 3]
    assert (mounted.anchor.size, mounted.anchor.last_ino) == (16 * 4096, 16)
    assert mounted.dynamic.gec == 0x1000
    assert mounted.inodes[2].inode.nlink == 1
    superblock = mounted.superblock
    assert superblock.copies == (0, PARTITION - 4096)
    assert superblock.journal_segnos == (1, 2, 3, 4)
    # Inode 2, inode 3 (200 + 28 each) and one block of the segment file.
    assert mounted.dynamic.used_bytes == 2 * 228 + 4124
    # Levels 0 and 6 have a segment each: 5 and 6. All have been erased once.
    reserved = {0, 1, 2, 3, 4, SEGMENTS - 1}
    for segno, entry in enumerate(mounted.entries):
        if segno in reserved:
            assert entry == (1 << 4, 0xFFFFFFFF)
        else:
            assert entry == {5: (1 << 4, 4124), 6: (1 << 4 | 6, 456)}.get(segno, (1 << 4, 0))
    assert bytes(image.raw[SEGMENT + UNIT : 5 * SEGMENT]).strip(b"\xff") == b""


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize(
    "geometry",
    [
        PageGeometry(),
        PageGeometry(2048, 64, 64),
        PageGeometry(512, 16, 32),
        PageGeometry(4096, 128, 64),
        PageGeometry(8192, 0, 32),
    ],
    ids=PageGeometry.describe,
)
def test_a_tree_comes_back(geometry: PageGeometry, compress: bool, tmp_path: Path) -> None:
    size = 16 << 20
    image = make(tmp_path, usual_tree, geometry=geometry, compress=compress, partition_bytes=size)
    assert image.stat().st_size == size // geometry.page_bytes * geometry.raw_page_bytes
    assert_same(image, tmp_path / "image.tree")


def test_compression_is_in_objects_and_flags(tmp_path: Path) -> None:
    plain = Image(make(tmp_path, usual_tree, "plain"))
    small = Image(make(tmp_path, usual_tree, "small", compress=True))
    file = small.ino("file")
    assert all(
        found.inode.flags == (0 if ino == 3 else FLAG_COMPRESS)
        for ino, found in small.mounted.inodes.items()
    )
    assert small.header(small.block_ofs(file, 0)).compression == 1
    assert small.inode_of(file).used_bytes < plain.inode_of(file).used_bytes // 10
    assert not any(found.inode.flags for found in plain.mounted.inodes.values())


def random_tree(top: Path, draw: random.Random) -> None:
    """Names of all bytes and lengths; files with holes, of all heights that a test can afford."""
    directories = [top]
    for number in range(60):
        length = draw.choice((1, 2, 8, 200, 251))
        name = bytes(draw.choice(b"abcxyz \xc3\xff\n") for _ in range(length)) + b"%d" % number
        path = draw.choice(directories) / os.fsdecode(name[-255:])
        kind = draw.randrange(6)
        if kind == 0:
            path.mkdir()
            directories.append(path)
        elif kind == 1:
            target = "".join(draw.choice("ab/.") for _ in range(draw.randint(1, 300)))
            os.symlink(target, path)  # noqa: PTH211
        else:
            with path.open("wb") as file:
                for _ in range(draw.randint(0, 5)):
                    file.seek(draw.choice((0, 100, 4096 * 15, 4096 * 16, 4096 * 511, 4096 * 513)))
                    file.write(draw.randbytes(draw.choice((1, 4096, 9000))))


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_come_back(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    image = make(
        tmp_path,
        lambda top: random_tree(top, draw),
        compress=bool(seed % 2),
        partition_bytes=16 << 20,
    )
    assert_same(image, tmp_path / "image.tree")


def test_a_file_reaches_level_3(tmp_path: Path) -> None:
    def fill(top: Path) -> None:
        with (top / "far").open("wb") as file:
            for bix in (0, 15, 16, 511, 512, 512**2 - 1, 512**2, 512**2 + 513):
                file.seek(bix * 4096)
                file.write(b"%d" % bix)

    image = Image(make(tmp_path, fill))
    assert_same(image.path, tmp_path / "image.tree")
    inode = image.inode_of(image.ino("far"))
    assert inode.height == 3
    # 8 blocks; level 1 above 16, 512, 512^2 - 1, 512^2, 512^2 + 513; level 2 twice; level 3.
    assert inode.used_bytes == (8 + 5 + 2 + 1) * 4124
    pieces = dict(image.tree()["/far"].pieces())
    assert pieces[512**2 * 4096].rstrip(b"\0") == b"262144"


def test_a_file_without_holes_is_fully_populated(tmp_path: Path) -> None:
    """513 blocks: level 1 is full, above it the second pointer of 512 is the last."""

    def fill(top: Path) -> None:
        (top / "full").write_bytes(bytes(512 * 4096))
        (top / "more").write_bytes(b"x" * 4096 * 513)

    image = Image(make(tmp_path, fill, partition_bytes=16 << 20))
    full, more = image.inode_of(image.ino("full")), image.inode_of(image.ino("more"))
    assert (full.height, full.data[16] >> 63) == (1, 1)
    assert (more.height, more.data[16] >> 63) == (2, 0)
    assert all(word >> 63 for word in (*full.data[:16], *more.data[:16]))


def test_many_names_in_a_directory(tmp_path: Path) -> None:
    """More than the 512 places of the first two tries and many of the third."""
    archive = tmp_path / "many.tar"
    with tarfile.open(archive, "w") as tar:
        for number in range(10_000):
            info = tarfile.TarInfo(f"d/file{number}")
            info.mtime = 5
            tar.addfile(info)
    image = tmp_path / "image"
    result = make_image(archive, image, MkfsOptions(32 << 20))
    assert result.inodes == 10_003
    report = check_image(image)
    assert not report.problems, report.text()
    tree = read_tree(image)
    assert {f"/d/file{number}" for number in range(10_000)} == set(tree) - {"/", "/d"}


def test_an_archive_with_devices_and_owners(tmp_path: Path) -> None:
    archive = tmp_path / "tree.tar"
    with tarfile.open(archive, "w") as tar:
        info = tarfile.TarInfo("dev")
        info.type, info.devmajor, info.devminor, info.mode = tarfile.CHRTYPE, 259, 0x12345, 0o600
        info.uid, info.gid, info.mtime = 70_000, 5, 1_700_000_000
        tar.addfile(info)
        info = tarfile.TarInfo("old")
        info.mtime = -5
        info.pax_headers = {"SCHILY.xattr.user.a": "1"}
        tar.addfile(info)
    image = tmp_path / "image"
    result = make_image(archive, image, MkfsOptions(PARTITION))
    assert sum("not from 1970" in warning for warning in result.warnings) == 1
    assert sum("user.a is left out" in warning for warning in result.warnings) == 1
    node = read_tree(image)["/dev"]
    assert (node.device, node.uid, node.gid, node.mtime) == (
        *((259, 0x12345), 70_000, 5),
        1_700_000_000,
    )
    assert check_image(image).counts == {}


def test_the_same_tree_gives_the_same_bytes(tmp_path: Path) -> None:
    first = make(tmp_path, usual_tree, "a", fixed_time=5, compress=True)
    second = make(tmp_path, usual_tree, "b", fixed_time=5, compress=True)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("oob", [0, 64])
def test_bad_blocks_are_left_out(oob: int, tmp_path: Path) -> None:
    last = SEGMENTS - 1
    image = make(
        tmp_path,
        usual_tree,
        geometry=PageGeometry(oob_bytes=oob),
        bad_blocks=(0, 2, 6, last),
    )
    assert_same(image, tmp_path / "image.tree")
    report = check_image(image)
    assert report.superblock is not None
    assert report.superblock.copies == (SEGMENT, last * SEGMENT - 4096)
    assert report.superblock.journal_segnos == (1 + 2, 4, 5, 7)
    assert report.statistics["segments_bad"] == 4


def test_a_segment_is_several_small_blocks(tmp_path: Path) -> None:
    """Blocks of 16 KiB: eight make a segment, which one bad block spoils."""
    geometry = PageGeometry(512, 16, 32)
    image = make(tmp_path, usual_tree, geometry=geometry, bad_blocks=(9, 15, 16))
    report = check_image(image, ImageOptions(pages_per_block=32))
    assert not report.problems, report.text()
    assert report.statistics["segments_bad"] == 2
    assert report.superblock is not None
    assert report.superblock.journal_segnos == (3, 4, 5, 6)


def test_what_does_not_fit_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not fit"):
        make(tmp_path, lambda top: (top / "f").write_bytes(os.urandom(6 << 20)), "large")
    assert not (tmp_path / "large").exists()
    with pytest.raises(UsageError, match="LogFS needs 27") as error:
        make(tmp_path, None, "small", partition_bytes=26 * SEGMENT)
    assert error.value.remedy == f"--partition-bytes {27 * SEGMENT}"
    make(tmp_path, None, "least", partition_bytes=27 * SEGMENT)
    with pytest.raises(UsageError, match="multiple of the block size"):
        make(tmp_path, None, "odd", partition_bytes=PARTITION + 1)
    with pytest.raises(UsageError, match="power of two"):
        make(tmp_path, None, "page", geometry=PageGeometry(3000))
    with pytest.raises(UsageError, match="has 40 blocks"):
        make(tmp_path, None, "block", bad_blocks=(40,))


def test_a_nearly_full_partition_is_warned_of(tmp_path: Path) -> None:
    """40 segments: 2 + 4 + 16 are not counted, 4 are the reserve: 14 segments of data are left."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "f").write_bytes(os.urandom(15 * 120_000))
    result = make_image(tree, tmp_path / "image", MkfsOptions(PARTITION))
    assert any("nothing can be written" in warning for warning in result.warnings)
    (tree / "f").write_bytes(os.urandom(10 * 120_000))
    assert not make_image(tree, tmp_path / "image", MkfsOptions(PARTITION)).warnings


def test_a_partition_of_an_odd_number_of_blocks(tmp_path: Path) -> None:
    """Blocks of 128 KiB, and fsck, which does not know that, assumes blocks of 256 KiB."""
    geometry = PageGeometry(4096, 128, 32)
    image = make(tmp_path, usual_tree, geometry=geometry, partition_bytes=41 * SEGMENT)
    assert_same(image, tmp_path / "image.tree")
