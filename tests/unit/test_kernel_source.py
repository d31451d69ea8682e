"""Where the kernel source comes from; the network is replaced by files."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path

import pytest

from ffslab.errors import InfrastructureError
from ffslab.kernel import source
from ffslab.kernel.progress import SilentProgress


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


def make_tarball(path: Path, tree: Path, sha256: str = "") -> source.Tarball:
    with tarfile.open(path, "w:xz") as archive:
        archive.add(tree, path.name.removesuffix(".tar.xz"))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return source.Tarball("6.1.0", path.as_uri(), sha256 or digest)


def without_debian(monkeypatch: pytest.MonkeyPatch, tarball: source.Tarball) -> None:
    monkeypatch.setattr(source, "is_debian", lambda: False)
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
    missing = source.Tarball("6.1.0", (tmp_path / "linux-6.1.0.tar.xz").as_uri(), "0" * 64)
    without_debian(monkeypatch, missing)
    with pytest.raises(InfrastructureError) as caught:
        source.ensure_source(SilentProgress())
    assert "Debian" in caught.value.message
    assert missing.url in caught.value.message
    assert "--kernel-source" in caught.value.remedy


def test_a_damaged_archive_is_an_error_and_leaves_no_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "linux-6.1.0.tar.xz"
    make_tarball(path, make_tree(tmp_path / "linux"))
    path.write_bytes(path.read_bytes()[:-100])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    without_debian(monkeypatch, source.Tarball("6.1.0", path.as_uri(), digest))
    with pytest.raises(InfrastructureError, match="unpacking failed"):
        source.ensure_source(SilentProgress())
    assert source.default_source() is None
