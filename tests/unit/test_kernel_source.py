"""Where the kernel source comes from; the network is replaced by files."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest

from ffslab.errors import InfrastructureError
from ffslab.lab import archives, source
from ffslab.lab.progress import SilentProgress


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def make_tree(directory: Path) -> Path:
    names = [
        "Kbuild",
        "arch/um/Kconfig",
        "arch/arm/Kconfig",
        "arch/arm/kernel/head.S",
        "drivers/gpu/drm/drm.c",
        "drivers/gpu/drm/Kconfig",
        "drivers/mtd/mtdcore.c",
        "fs/jffs2/gc.c",
        "fs/jffs2/gc.o",
        ".git/HEAD",
        "include/config/auto.conf",
        ".config",
    ]
    for name in names:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(name)
    return directory


def make_tarball(path: Path, tree: Path, sha256: str = "") -> archives.Archive:
    with tarfile.open(path, "w:xz") as archive:
        archive.add(tree, path.name.removesuffix(".tar.xz"))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return archives.Archive("6.1.0", (path.as_uri(),), sha256 or digest)


def without_debian(monkeypatch: pytest.MonkeyPatch, tarball: archives.Archive) -> None:
    gone = archives.Archive("6.1.9-1", ("file:///nonexistent/linux.deb",), "0" * 64)
    monkeypatch.setattr(archives, "is_debian", lambda: False)
    monkeypatch.setattr(archives, "DEBIAN", gone)
    monkeypatch.setattr(source, "KERNEL_ORG", tarball)


def files(tree: Path) -> set[str]:
    return {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}


def test_a_named_tree_is_copied_without_history_and_build_results(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "linux")
    before = files(tree)
    had = source.ensure_source(SilentProgress(), tree)
    assert files(tree) == before
    assert before - files(had.tree) == {
        ".git/HEAD",
        "include/config/auto.conf",
        ".config",
        "fs/jffs2/gc.o",
    }


def test_a_change_in_a_named_tree_is_another_source(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "linux")
    first = source.ensure_source(SilentProgress(), tree)
    assert source.ensure_source(SilentProgress(), tree) == first
    (tree / "fs/jffs2/gc.c").write_text("changed by the user")
    second = source.ensure_source(SilentProgress(), tree)
    assert second.id != first.id
    assert (second.tree / "fs/jffs2/gc.c").read_text() == "changed by the user"


def test_a_tarball_is_checked_and_unpacked_without_what_uml_cannot_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tarball = make_tarball(tmp_path / "linux-6.1.0.tar.xz", make_tree(tmp_path / "linux"))
    without_debian(monkeypatch, tarball)
    had = source.ensure_source(SilentProgress())
    assert had.id == "kernel.org-6.1.0"
    unpacked = files(had.tree)
    assert {"drivers/gpu/drm/Kconfig", "arch/arm/Kconfig", "drivers/mtd/mtdcore.c"} <= unpacked
    assert not {"drivers/gpu/drm/drm.c", "arch/arm/kernel/head.S"} & unpacked


def test_the_first_source_stays_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tarball = make_tarball(tmp_path / "linux-6.1.0.tar.xz", make_tree(tmp_path / "linux"))
    without_debian(monkeypatch, tarball)
    assert source.default_source() is None
    had = source.ensure_source(SilentProgress())
    (tmp_path / "linux-6.1.0.tar.xz").unlink()
    assert source.ensure_source(SilentProgress()) == had == source.default_source()


def test_a_tarball_with_another_sum_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    tree = make_tree(tmp_path / "linux")
    without_debian(monkeypatch, make_tarball(tmp_path / "linux-6.1.0.tar.xz", tree, "0" * 64))
    with pytest.raises(InfrastructureError, match="SHA-256"):
        source.ensure_source(SilentProgress())
    assert not list(cache.rglob("*.tar.xz"))
    assert source.default_source() is None


def test_without_any_source_the_error_names_both_and_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = archives.Archive("6.1.0", ((tmp_path / "none.tar.xz").as_uri(),), "0" * 64)
    without_debian(monkeypatch, missing)
    with pytest.raises(InfrastructureError) as caught:
        source.ensure_source(SilentProgress())
    assert "Debian" in caught.value.message
    assert missing.urls[0] in caught.value.message
    assert "--kernel-source" in caught.value.remedy


def test_a_damaged_archive_is_an_error_and_leaves_no_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "linux-6.1.0.tar.xz"
    make_tarball(path, make_tree(tmp_path / "linux"))
    path.write_bytes(path.read_bytes()[:-100])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    without_debian(monkeypatch, archives.Archive("6.1.0", (path.as_uri(),), digest))
    with pytest.raises(InfrastructureError, match="unpacking failed"):
        source.ensure_source(SilentProgress())
    assert source.default_source() is None


def make_package(
    path: Path,
    tree: Path,
    *,
    odd: bool = False,
    name: str = "linux-source-6.1",
    packed: Literal["xz", "gz"] = "xz",
) -> Path:
    """A Debian package by its format: an ar archive of a version, a control and a data archive,
    which is `packed` so.
    """
    inner = path.with_name(f"{name}.tar.xz")
    with tarfile.open(inner, "w:xz") as archive:
        archive.add(tree, name)
    data = path.with_name(f"data.tar.{packed}")
    with tarfile.open(data, f"w:{packed}") as archive:
        archive.add(inner, f"./usr/src/{name}.tar.xz")
    contents = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd" if odd else b"even"}
    contents[data.name] = data.read_bytes()
    with path.open("wb") as file:
        file.write(b"!<arch>\n")
        for name, content in contents.items():
            header = f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n"
            file.write(header.encode() + content + b"\n" * (len(content) % 2))
    return path


@pytest.mark.parametrize("odd", [False, True])
def test_without_apt_the_exact_package_comes_from_an_address_and_needs_no_dpkg(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: bool
) -> None:
    tree = make_tree(tmp_path / "linux")
    package = make_package(tmp_path / "linux-source-6.1_6.1.9-1_all.deb", tree, odd=odd)
    urls = ("file:///nonexistent/linux.deb", package.as_uri())
    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    monkeypatch.setattr(archives, "is_debian", lambda: False)
    monkeypatch.setattr(archives, "DEBIAN", archives.Archive("6.1.9-1", urls, digest))
    # The name of the file is that of the first address, which decides the version, too.
    monkeypatch.setattr(archives.Archive, "name", package.name)
    had = source.ensure_source(SilentProgress())
    assert had.id == "debian-6.1.9-1"
    assert "fs/jffs2/gc.c" in files(had.tree)
    assert not list((tmp_path / "cache").rglob("*.deb"))


def apt_with(monkeypatch: pytest.MonkeyPatch, package: Path) -> None:
    """An apt that has one version of the package, in the place of the program."""

    def download(arguments: Sequence[str | Path], *, cwd: Path, **_: object) -> None:
        if arguments[-1] != "linux-source-6.1":
            raise InfrastructureError("no such version")
        shutil.copy(package, cwd)

    monkeypatch.setattr(archives, "is_debian", lambda: True)
    monkeypatch.setattr(archives, "have_package_lists", lambda: True)
    monkeypatch.setattr(archives, "run_logged", download)


def test_another_version_of_apt_is_taken_last_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = make_tree(tmp_path / "linux")
    package = make_package(tmp_path / "linux-source-6.1_6.1.8-1_all.deb", tree, odd=False)
    tarball = make_tarball(tmp_path / "linux-6.1.0.tar.xz", tree)
    without_debian(monkeypatch, tarball)
    apt_with(monkeypatch, package)
    notes: list[str] = []
    monkeypatch.setattr(SilentProgress, "note", lambda _, text: notes.append(text))
    assert source.ensure_source(SilentProgress()).id == "debian-6.1.8-1"
    assert len(notes) == 1
    assert "6.1.8-1, not 6.1.9-1" in notes[0]


def test_what_is_no_package_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "linux-source-6.1_6.1.8-1_all.deb"
    package.write_bytes(b"<html>sign in first</html>")
    without_debian(monkeypatch, make_tarball(tmp_path / "linux-6.1.0.tar.xz", package))
    apt_with(monkeypatch, package)
    with pytest.raises(InfrastructureError, match="not a Debian package"):
        archives.extract_commands(package, "./x")
