"""The files of an image, written into a directory: what went in comes out, and nothing else."""

from __future__ import annotations

import io
import os
import stat
import tarfile
from pathlib import Path

import pytest
from logfs_support import PARTITION, Image, make, usual_tree
from test_yaffs2_cli import Cli, cli

from ffslab.fsimage.extract import ExtractResult, extract_tree
from ffslab.logfs.check import examine
from ffslab.logfs.mkfs import MkfsOptions, make_image

__all__ = ["cli"]  # the fixture

IS_ROOT = os.geteuid() == 0


def extracted(image: Path, out: Path) -> ExtractResult:
    tree = examine(image).tree
    assert tree is not None
    return extract_tree(tree, out)


def every_kind(top: Path) -> None:
    """The usual tree with modes and times of its own."""
    usual_tree(top)
    (top / "dir" / "deep").chmod(0o4751)
    (top / "dir" / "sub").chmod(0o2750)
    (top / "empty").mkdir()
    (top / "none").write_bytes(b"")
    (top / "spaces and \N{SNOWMAN}").write_bytes(b"name")
    os.link(top / "sym", top / "empty" / "sym", follow_symlinks=False)
    for number, path in enumerate(sorted(top.rglob("*"), reverse=True)):
        os.utime(path, (1_600_000_000, 1_500_000_000 + number), follow_symlinks=False)


def kinds(top: Path) -> dict[str, tuple[object, ...]]:
    """What the host says of each name: type and mode, time, links, contents."""
    found: dict[str, tuple[object, ...]] = {}
    for path in top.rglob("*"):
        status = path.lstat()
        content: object = None
        if stat.S_ISREG(status.st_mode):
            content = path.read_bytes()
        elif stat.S_ISLNK(status.st_mode):
            content = path.readlink()
        links = 1 if stat.S_ISDIR(status.st_mode) else status.st_nlink
        found[str(path.relative_to(top))] = (
            *(status.st_mode, int(status.st_mtime), links),
            content,
        )
    return found


@pytest.mark.parametrize("compress", [False, True])
def test_what_went_in_comes_out(compress: bool, tmp_path: Path) -> None:
    image = make(tmp_path, every_kind, compress=compress)
    result = extracted(image, tmp_path / "out")
    assert not result.problems
    before, after = kinds(tmp_path / "image.tree"), kinds(tmp_path / "out")
    assert after == before
    assert result.written == len(before) == 13
    first, second = tmp_path / "out" / "file", tmp_path / "out" / "dir" / "link"
    assert first.stat().st_ino == second.stat().st_ino
    # Holes stay holes: 3 bytes are stored of two megabytes.
    assert (tmp_path / "out" / "holes").stat().st_blocks * 512 <= 8192


def test_owners_and_devices(tmp_path: Path) -> None:
    """They need root; without, each is named and the rest is there."""
    archive = tmp_path / "tree.tar"
    with tarfile.open(archive, "w") as tar:
        for name, kind, numbers in (
            ("null", tarfile.CHRTYPE, (1, 3)),
            ("disk", tarfile.BLKTYPE, (259, 300)),
            ("file", tarfile.REGTYPE, (0, 0)),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.mode = kind, 0o640
            member.uid, member.gid = 1000, 100
            member.devmajor, member.devminor = numbers
            tar.addfile(member, io.BytesIO())
    make_image(archive, tmp_path / "image", MkfsOptions(partition_bytes=PARTITION))
    out = tmp_path / "out"
    result = extracted(tmp_path / "image", out)
    assert (out / "file").stat().st_mode == stat.S_IFREG | 0o640
    if result.problems:  # not every root may make devices
        assert {problem.split("'")[1] for problem in result.problems} == {"/null", "/disk"}
        return
    for name, numbers in (("null", (1, 3)), ("disk", (259, 300))):
        status = (out / name).lstat()
        assert (os.major(status.st_rdev), os.minor(status.st_rdev)) == numbers
    assert stat.S_ISBLK((out / "disk").lstat().st_mode)
    assert {(path.lstat().st_uid, path.lstat().st_gid) for path in out.iterdir()} == {(1000, 100)}


# --- what damage could make of it ---


@pytest.fixture
def image(tmp_path: Path) -> Image:
    return Image(make(tmp_path, usual_tree))


def test_no_name_leads_out(image: Image, tmp_path: Path) -> None:
    image.change_dentry("pipe", name=b"..", length=2)
    image.change_dentry("holes", name=b"/tmp")
    image.check()
    result = extracted(image.path, tmp_path / "out")
    assert len(result.problems) == 2
    assert all(problem.endswith("the name is a path") for problem in result.problems)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"dir", "file", "sym"}


def test_a_file_keeps_the_name_that_can_be_used(image: Image, tmp_path: Path) -> None:
    """`dir/link` is met first, and refused; the other name has the contents."""
    image.change_dentry("link", name=b"../x")
    image.check()
    result = extracted(image.path, tmp_path / "out")
    assert result.problems == ["'/dir/../x' is not extracted: the name is a path"]
    assert (tmp_path / "out" / "file").read_bytes() == b"first\n" * 1000
    assert not (tmp_path / "out" / "x").exists()


def test_a_directory_is_entered_once(image: Image, tmp_path: Path) -> None:
    """A second name for it, one inside of itself, and one for the root."""
    image.change_dentry("pipe", ino=image.ino("dir"), kind=4)
    image.change_dentry("leaf", ino=image.ino("dir"), kind=4)
    image.change_dentry("holes", ino=2, kind=4)
    image.check()
    result = extracted(image.path, tmp_path / "out")
    # Names come in order: dir, and in it deep, link and sub, then holes and pipe.
    assert [problem.split("'")[1] for problem in result.problems] == [
        *("/dir/sub/leaf", "/holes", "/pipe"),
    ]
    assert all("the directory has another name" in problem for problem in result.problems)
    assert (tmp_path / "out" / "dir" / "deep").stat().st_size == 256 * 16 * 20


def test_two_equal_names(image: Image, tmp_path: Path) -> None:
    image.change_dentry("sym", name=b"file", length=4)
    image.check()
    extracted(image.path, tmp_path / "out")
    number = image.ino("sym")
    names = {path.name for path in (tmp_path / "out").iterdir() if path.name.startswith("file")}
    assert names == {"file", f"file~obj{number}"}


@pytest.mark.parametrize("size", [1 << 63, (1 << 64) - 1])
def test_a_size_that_no_file_can_have(size: int, image: Image, tmp_path: Path) -> None:
    image.inode(image.ino("leaf"), size=size)
    image.check()
    result = extracted(image.path, tmp_path / "out")
    assert [problem.split("'")[1] for problem in result.problems] == ["/dir/sub/leaf"]
    assert (tmp_path / "out" / "file").exists()


# --- the verb ---


def test_the_verb_extracts(cli: Cli, tmp_path: Path) -> None:
    make(tmp_path, usual_tree)
    assert cli("fsck", "logfs", "image", "--extract", "out") == 0
    assert (tmp_path / "out" / "dir" / "sub" / "leaf").read_bytes() == b"leaf"
    assert "extracted 9 names into out" in cli.error
    assert cli("fsck", "logfs", "image", "--extract", "out") == 2


def test_an_image_without_a_tree_gives_no_files(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(b"text\n" * 1000)
    assert cli("fsck", "logfs", "image", "--extract", "out") == 1
    assert "nothing is extracted" in cli.error
    assert not (tmp_path / "out").exists()
