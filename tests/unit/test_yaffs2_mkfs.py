"""mkfs: trees and archives become images, which the check accepts and which read back equal."""

from __future__ import annotations

import io
import os
import stat
import tarfile
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from tar_support import sparse_tar

from ffslab.errors import InfrastructureError, UsageError
from ffslab.fsimage.source import read_source
from ffslab.yaffs2 import ImageOptions, Report, check_image, read_tree
from ffslab.yaffs2.format import Geometry
from ffslab.yaffs2.mkfs import MkfsOptions, MkfsResult, make_image

GEOMETRIES = {
    "usual": Geometry(),
    "without-ecc": Geometry(tags_ecc=False),
    "inband": Geometry(oob_offset=0, inband=True),
    "inband-no-oob": Geometry(oob_bytes=0, oob_offset=0, inband=True),
    "small": Geometry(1024, 32, 32),
    "large": Geometry(4096, 224, 128, 30),
    "two-summary-pages": Geometry(2048, 64, 256),
}


class Archive:
    """A tar archive, member by member: owners, devices and attributes need no rights."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._members: list[tuple[tarfile.TarInfo, bytes | None]] = []

    def add(self, name: str, content: bytes | None = None, **fields: Any) -> Archive:
        member = tarfile.TarInfo(name)
        member.mtime = 1_700_000_000
        member.mode = 0o640
        for field, value in fields.items():
            setattr(member, field, value)
        if content is not None:
            member.size = len(content)
        self._members.append((member, content))
        return self

    def done(self, compression: str = "") -> Path:
        with tarfile.open(self.path, f"w:{compression}") as archive:  # type: ignore[call-overload]
            for member, content in self._members:
                archive.addfile(member, None if content is None else io.BytesIO(content))
        return self.path


def make(
    source: Path, tmp_path: Path, options: MkfsOptions | None = None
) -> tuple[MkfsResult, Report]:
    """Makes an image that must be without problems, also if nothing is told about it."""
    path = tmp_path / "made"
    result = make_image(source, path, options)
    report = check_image(path)
    assert not report.counts, report.text()
    if options is not None:
        assert report.geometry == options.geometry
    assert path.stat().st_size == result.image_bytes
    return result, report


def source_tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "dir" / "inner").mkdir(parents=True)
    (root / "empty").write_bytes(b"")
    (root / "one").write_bytes(b"1")
    (root / "dir" / "page").write_bytes(b"p" * 2048)
    (root / "dir" / "inner" / "odd").write_bytes(os.urandom(70_001))
    (root / "dir" / "inner" / "large").write_bytes(bytes(range(256)) * 3000)
    (root / "sym").symlink_to("dir/inner/odd")
    (root / "zz-link").hardlink_to(root / "dir" / "page")
    os.mkfifo(root / "fifo", 0o600)
    (root / "dir" / "page").chmod(0o604)
    os.utime(root / "one", (5, 1_234_567_890))
    return root


@pytest.mark.parametrize("name", GEOMETRIES)
@pytest.mark.parametrize("summaries", [True, False])
def test_a_tree_reads_back(name: str, summaries: bool, tmp_path: Path) -> None:
    root = source_tree(tmp_path)
    make(root, tmp_path, MkfsOptions(GEOMETRIES[name], summaries=summaries))
    tree = read_tree(tmp_path / "made")
    expected = {"/", "/lost+found"} | {
        "/" + str(path.relative_to(root)) for path in root.rglob("*")
    }
    assert set(tree) == expected
    for path in root.rglob("*"):
        node, there = tree["/" + str(path.relative_to(root))], path.lstat()
        assert node.mode == there.st_mode
        assert (node.uid, node.gid) == (there.st_uid, there.st_gid)
        assert node.mtime == int(there.st_mtime)
        if stat.S_ISREG(there.st_mode):
            assert node.content == path.read_bytes()
            assert node.links == there.st_nlink
    assert tree["/sym"].target == "dir/inner/odd"
    assert tree["/zz-link"].link_of == "/dir/page"
    assert tree["/one"].mtime == tree["/one"].ctime == tree["/one"].atime == 1_234_567_890
    assert tree["/"].mode == root.stat().st_mode


@pytest.mark.parametrize("name", GEOMETRIES)
def test_a_checkpoint_fits_what_a_scan_finds(name: str, tmp_path: Path) -> None:
    geometry = GEOMETRIES[name]
    options = MkfsOptions(geometry, checkpoint=True, partition_bytes=100 * geometry.block_bytes)
    result, report = make(source_tree(tmp_path), tmp_path, options)
    assert report.checkpoint.state == "valid"
    assert report.blocks == 100
    assert result.checkpoint_blocks >= 1


@pytest.mark.parametrize("blocks", [1022, 1023, 1024, 2047, 4096])
def test_entries_of_leaves_at_powers_of_two(blocks: int, tmp_path: Path) -> None:
    options = MkfsOptions(checkpoint=True, partition_bytes=blocks * 64 * 2048)
    _, report = make(source_tree(tmp_path), tmp_path, options)
    assert (report.checkpoint.state, report.blocks) == ("valid", blocks)


def test_the_same_tree_gives_the_same_bytes(tmp_path: Path) -> None:
    root = source_tree(tmp_path)
    make_image(root, tmp_path / "one")
    for path in root.rglob("*"):
        if not path.is_symlink():
            os.utime(path, (99, path.stat().st_mtime))  # another access and change time
    make_image(root, tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_ids_are_given_out_from_256(tmp_path: Path) -> None:
    """A directory is the first object here; one with files in it, which must stay there."""
    archive = Archive(tmp_path / "a.tar").add("d", type=tarfile.DIRTYPE)
    for number in range(300):
        archive.add(f"d/{number:03}", b"%d" % number)
    make(archive.done(), tmp_path)
    tree = read_tree(tmp_path / "made")
    assert tree["/d"].object_id == 256
    assert [tree[f"/d/{number:03}"].object_id for number in range(300)] == [*range(257, 557)]


def test_owners_and_times_can_be_fixed(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.tar").add("f", b"x", uid=1000, gid=100, mtime=77).done()
    make(archive, tmp_path, MkfsOptions(squash_owners=True, fixed_time=1_000_000_000))
    node = read_tree(tmp_path / "made")["/f"]
    assert (node.uid, node.gid) == (0, 0)
    assert (node.atime, node.mtime, node.ctime) == (1_000_000_000,) * 3


def test_an_archive_of_zstd_gives_the_image_of_the_archive_in_it(tmp_path: Path) -> None:
    plain = Archive(tmp_path / "a.tar").add("d/f", b"content" * 999, mtime=5).done()
    packed = tmp_path / "a.tar.zst"
    with pyarrow.CompressedOutputStream(str(packed), "zstd") as file:
        file.write(plain.read_bytes())
    for archive, image in ((plain, "plain"), (packed, "packed")):
        make_image(archive, tmp_path / image, MkfsOptions())
    assert (tmp_path / "packed").read_bytes() == (tmp_path / "plain").read_bytes()
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(UsageError, match="Truncated compressed stream"):
        make_image(packed, tmp_path / "cut", MkfsOptions())
    assert not (tmp_path / "cut").exists()


@pytest.mark.parametrize("compression", ["", "gz", "xz"])
def test_archives(compression: str, tmp_path: Path) -> None:
    archive = Archive(tmp_path / "source.tar")
    archive.add("./", type=tarfile.DIRTYPE, mode=0o711, uid=3, gid=4)
    archive.add("./etc/tty", type=tarfile.CHRTYPE, devmajor=4, devminor=65, uid=5)
    archive.add("etc/disk", type=tarfile.BLKTYPE, devmajor=8, devminor=1)
    archive.add("etc/pipe", type=tarfile.FIFOTYPE)
    archive.add("b", b"text", uid=70_000, gid=80_000, mode=0o4755)
    archive.add("a", type=tarfile.LNKTYPE, linkname="./b")
    archive.add("z", type=tarfile.SYMTYPE, linkname="../nowhere", mode=0o777)
    archive.add(
        "x",
        b"y",
        pax_headers={"SCHILY.xattr.user.note": "hello", "SCHILY.xattr.security.x": "\udcff1"},
    )
    make(archive.done(compression), tmp_path)
    tree = read_tree(tmp_path / "made")
    assert (tree["/"].mode, tree["/"].uid, tree["/"].gid) == (0o040711, 3, 4)
    assert tree["/etc"].mode == 0o040755
    assert (tree["/etc/tty"].mode, tree["/etc/tty"].rdev) == (0o020640, 4 << 8 | 65)
    assert (tree["/etc/disk"].mode, tree["/etc/disk"].rdev) == (0o060640, 8 << 8 | 1)
    assert tree["/etc/pipe"].mode == 0o010640
    assert (tree["/b"].uid, tree["/b"].gid, tree["/b"].mode) == (70_000, 80_000, 0o104755)
    # The name that comes first is the object, the other one the link.
    assert (tree["/a"].link_of, tree["/b"].link_of) == (None, "/a")
    assert tree["/a"].content == tree["/b"].content == b"text"
    assert tree["/z"].target == "../nowhere"
    assert tree["/x"].xattrs == {"user.note": b"hello", "security.x": b"\xff1"}


def test_a_later_member_replaces_an_earlier_one(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.tar").add("f", b"old").add("f", b"newer").done()
    make(archive, tmp_path)
    assert read_tree(tmp_path / "made")["/f"].content == b"newer"


def test_holes_are_kept(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    with (root / "sparse").open("wb") as file:
        file.write(b"begin")
        file.seek(10_000_000)
        file.write(b"middle")
        file.truncate(50_000_000)
    with (root / "hole").open("wb") as file:
        file.truncate(1 << 33)
    result, report = make(root, tmp_path)
    assert result.image_bytes < 1_000_000
    tree = read_tree(tmp_path / "made")
    assert tree["/sparse"].content == (root / "sparse").read_bytes()
    assert tree["/hole"].size == 1 << 33
    assert list(tree["/hole"].pieces()) == []
    assert report.statistics["file_bytes"] == 50_000_000 + (1 << 33)


def test_holes_of_sparse_members_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "sparse.tar"
    path.write_bytes(sparse_tar("1.0", [(400_000_000, 3)], b"end", 400_000_003))
    result, _ = make(path, tmp_path)
    assert result.blocks == 1
    pieces = [list(entry.pieces()) for entry in read_source(path) if entry.path]
    assert pieces == [[(400_000_000, b"end")]]


def test_attributes_of_a_tree(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "f").write_bytes(b"x")
    try:
        os.setxattr(root / "f", "user.note", b"\0value\xff")
    except OSError:
        pytest.fail("the tests' directory has no extended attributes; use another --basetemp")
    make(root, tmp_path)
    assert read_tree(tmp_path / "made")["/f"].xattrs == {"user.note": b"\0value\xff"}


def test_attributes_of_other_name_spaces_are_left_out(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.tar")
    archive.add("f", b"x", pax_headers={"SCHILY.xattr.system.posix_acl_access": "acl"})
    result, _ = make(archive.done(), tmp_path)
    assert any("system.posix_acl_access" in warning for warning in result.warnings)


def test_names_of_any_bytes(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    names = [b"latin-\xe9", b"new\nline", "ünïcode".encode(), b"n" * 254]
    for name in names:
        (root / os.fsdecode(name)).write_bytes(name)
    make(root, tmp_path)
    tree = read_tree(tmp_path / "made")
    for name in names:
        assert tree["/" + os.fsdecode(name)].content == name


def test_lost_and_found_of_the_source(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.tar")
    archive.add("lost+found", type=tarfile.DIRTYPE, mode=0o700)
    archive.add("lost+found/piece", b"x")
    archive.add("dir/lost+found/piece", b"x")
    result, _ = make(archive.done(), tmp_path)
    tree = read_tree(tmp_path / "made")
    assert (tree["/lost+found"].object_id, tree["/lost+found"].mode) == (2, 0o040700)
    assert "/lost+found/piece" not in tree
    assert "/dir/lost+found/piece" in tree
    assert len(result.warnings) == 1


@pytest.mark.parametrize(
    ("member", "words"),
    [
        ({"name": "n" * 255, "content": b""}, "254"),
        ({"name": "s", "type": tarfile.SYMTYPE, "linkname": "t" * 160}, "159"),
        ({"name": "d", "type": tarfile.CHRTYPE, "devmajor": 256, "devminor": 0}, "256:0"),
        ({"name": "d", "type": tarfile.BLKTYPE, "devmajor": 8, "devminor": 300}, "8:300"),
        ({"name": "x", "content": b"", "pax_headers": {"SCHILY.xattr.user.a": "v" * 1600}}, "1536"),
        ({"name": "l", "type": tarfile.LNKTYPE, "linkname": "missing"}, "link to a name"),
        ({"name": "../f", "content": b""}, "out of the archive"),
    ],
)
def test_what_cannot_be_stored_is_an_error(
    member: dict[str, Any], words: str, tmp_path: Path
) -> None:
    archive = Archive(tmp_path / "a.tar").add(**member).done()
    with pytest.raises(UsageError, match=words):
        make_image(archive, tmp_path / "made")
    assert not (tmp_path / "made").exists()
    assert not list(tmp_path.glob("*.part"))


def test_longest_name_target_and_device_are_stored(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.tar")
    archive.add("s", type=tarfile.SYMTYPE, linkname="t" * 159)
    archive.add("n" * 254, b"x")
    archive.add("d", type=tarfile.CHRTYPE, devmajor=255, devminor=255)
    make(archive.done(), tmp_path)
    tree = read_tree(tmp_path / "made")
    assert tree["/s"].target == "t" * 159
    assert tree["/d"].rdev == 0xFFFF


def test_a_partition_that_is_too_small_is_named_with_its_need(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.tar").add("f", bytes(5 * 131072)).done()
    with pytest.raises(UsageError) as caught:
        make_image(archive, tmp_path / "made", MkfsOptions(partition_bytes=3 * 131072))
    # 320 data pages and 2 headers in blocks of 63: 6 blocks.
    assert "needs 6 blocks" in str(caught.value)
    assert "partition has 3" in str(caught.value)
    assert str(12 * 131072) in str(caught.value)
    result = make_image(archive, tmp_path / "made", MkfsOptions(partition_bytes=6 * 131072))
    assert any("stay free" in warning for warning in result.warnings)
    result = make_image(archive, tmp_path / "made", MkfsOptions(partition_bytes=12 * 131072))
    assert not result.warnings


@pytest.mark.parametrize(
    "options",
    [
        MkfsOptions(checkpoint=True),
        MkfsOptions(checkpoint=True, partition_bytes=59 * 131072),
        MkfsOptions(partition_bytes=131073),
        MkfsOptions(partition_bytes=0),
        MkfsOptions(Geometry(oob_bytes=16)),
        MkfsOptions(Geometry(page_bytes=512)),
    ],
)
def test_impossible_options_are_usage_errors(options: MkfsOptions, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    with pytest.raises(UsageError):
        make_image(tmp_path / "tree", tmp_path / "made", options)


def test_sources_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        make_image(tmp_path / "missing", tmp_path / "made")
    (tmp_path / "text").write_text("no archive")
    with pytest.raises(UsageError):
        make_image(tmp_path / "text", tmp_path / "made")
    (tmp_path / "tree").mkdir()
    with pytest.raises(UsageError, match="part of"):
        make_image(tmp_path / "tree", tmp_path / "tree" / "made")
    with pytest.raises(InfrastructureError):
        make_image(tmp_path / "tree", tmp_path / "nowhere" / "made")
    (tmp_path / "made").mkdir()
    with pytest.raises(UsageError, match="not an ordinary file"):
        make_image(tmp_path / "tree", tmp_path / "made")


def test_a_truncated_archive_is_an_error(tmp_path: Path) -> None:
    path = Archive(tmp_path / "a.tar").add("f", bytes(100_000)).add("g", bytes(9)).done()
    path.write_bytes(path.read_bytes()[:50_000])
    with pytest.raises(UsageError):
        make_image(path, tmp_path / "made")


def test_entries_come_sorted_and_parents_first(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    for name in ("b/x", "b.c/y", "a", "b-/z"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    expected = [b"", b"a", b"b", b"b/x", b"b-", b"b-/z", b"b.c", b"b.c/y"]
    assert [entry.path for entry in read_source(root)] == expected
    archive = Archive(tmp_path / "a.tar")
    for name in ("b.c/y", "b/x", "a", "b-/z"):
        archive.add(name, b"")
    assert [entry.path for entry in read_source(archive.done())] == expected


def test_pages_and_oob_of_a_raw_image(tmp_path: Path) -> None:
    """What a flasher takes: tags at OOB byte 2, 0xFF elsewhere, the NAND's ECC bytes included."""
    archive = Archive(tmp_path / "a.tar").add("f", b"text").done()
    make(archive, tmp_path)
    raw = (tmp_path / "made").read_bytes()
    assert len(raw) == 64 * 2112
    # Page 0: the root's header; page 1: the data; page 2: the file's header.
    data, oob = raw[2112 : 2112 + 2048], raw[2112 + 2048 : 2 * 2112]
    assert data == b"text" + bytes(2044)
    assert oob[:2] == b"\xff\xff"
    assert oob[2:18] == bytes.fromhex("01100000 00010000 01000000 04000000")
    assert oob[19:22] == bytes(3)  # padding of the ECC
    assert oob[30:] == b"\xff" * 34
    header = raw[2 * 2112 : 3 * 2112]
    assert header[2048 + 2 : 2048 + 18] == bytes.fromhex("01100000 00010010 01000080 04000000")
    assert header[512:2048] == b"\xff" * 1536
    assert raw[3 * 2112 :] == b"\xff" * 61 * 2112


def test_options_of_the_reader_can_be_given_too(tmp_path: Path) -> None:
    make(source_tree(tmp_path), tmp_path)
    options = ImageOptions(page_bytes=2048, oob_bytes=64, pages_per_block=64, blocks=2000)
    report = check_image(tmp_path / "made", options)
    assert not report.counts, report.text()
    assert report.statistics["blocks_erased"] > 1900
