"""The recipe embedded-rootfs, made from Debian's packages: twice, counted by other means."""

from __future__ import annotations

import hashlib
import posixpath
import shutil
import tarfile
from pathlib import Path

import pytest

from ffslab.images.source import SourceTree, source_sha256, source_tree, tree_digest, tree_root
from ffslab.lab.progress import SilentProgress

NAME = "embedded-rootfs"


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> tuple[SourceTree, SourceTree]:
    """Made in two caches; the second has the first one's packages, not its archive."""
    made = []
    with pytest.MonkeyPatch.context() as patch:
        # Packages that were downloaded before are not asked for again.
        packages = tree_root() / "packages"
        for place in ("first", "second"):
            patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp(place)))
            if packages.is_dir():
                shutil.copytree(packages, tree_root() / "packages")
            made.append(source_tree(NAME, SilentProgress()))
            packages = tree_root() / "packages"
    return made[0], made[1]


def test_twice_the_same_bytes(trees: tuple[SourceTree, SourceTree]) -> None:
    first, second = (tree.tar.read_bytes() for tree in trees)
    assert trees[0].tar != trees[1].tar
    assert first == second
    assert hashlib.sha256(first).hexdigest() == source_sha256(NAME)


def test_the_published_shape(trees: tuple[SourceTree, SourceTree]) -> None:
    with tarfile.open(trees[0].tar) as tar:
        members = tar.getmembers()
    directories = [one for one in members if one.isdir()]
    files = [one for one in members if one.isreg()]
    assert len(directories) == 213
    assert len(members) - len(directories) == 1122
    assert round(len(files) / len(directories), 2) == 4.95
    assert 12.7 <= sum(one.size for one in files) / len(files) / 1024 <= 13.3
    # A few large libraries and many small files.
    sizes = sorted(one.size for one in files)
    assert sizes[len(sizes) // 2] < 4096
    assert sum(sizes[-10:]) > sum(sizes) / 2
    assert tree_digest(trees[0].tar) == trees[0].digest


def test_it_is_a_root_file_system(trees: tuple[SourceTree, SourceTree]) -> None:
    with tarfile.open(trees[0].tar) as tar:
        members = {one.name: one for one in tar}
        for name in ("bin/busybox", "lib/libc.so.6", "lib/ld-linux-x86-64.so.2"):
            file = tar.extractfile(name)
            assert file is not None
            assert file.read(4) == b"\x7fELF"
    for name in ("dev", "etc", "home", "proc", "root", "sbin", "sys", "tmp", "usr", "var"):
        assert members[name].isdir(), name
    for one in members.values():
        if one.issym() and not one.linkname.startswith("/proc/"):
            target = posixpath.normpath(
                one.linkname
                if one.linkname.startswith("/")
                else posixpath.join(posixpath.dirname(one.name), one.linkname)
            )
            assert target.lstrip("/") in members, f"{one.name} leads nowhere"
    assert {one.uid for one in members.values()} == {0}


def test_it_compresses_as_such_systems_do(
    trees: tuple[SourceTree, SourceTree], tmp_path: Path
) -> None:
    """Programs and text shrink to between a third and a half with zlib."""
    packed = tmp_path / "tree.tar.gz"
    with tarfile.open(trees[0].tar) as tar, tarfile.open(packed, "w:gz") as gz:
        for one in tar:
            gz.addfile(one, tar.extractfile(one) if one.isreg() else None)
    assert 0.3 < packed.stat().st_size / trees[0].shape.bytes < 0.5
