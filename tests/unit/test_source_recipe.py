"""Recipes of source trees: packages that the test makes, and every way to be wrong. No network."""

from __future__ import annotations

import hashlib
import io
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from ffslab.errors import InfrastructureError, SpecError
from ffslab.images import debs, source
from ffslab.images.recipe import load_recipe, pattern_regex, recipe_paths
from ffslab.images.shape import TreeShape
from ffslab.images.source import SourceTree, source_sha256, source_tree, tree_root
from ffslab.lab.progress import SilentProgress

ELF = b"\x7fELF" + bytes(range(200)) * 7
TIME_S = 1_600_000_000


def make_deb(path: Path, compression: str = "xz") -> Path:
    """A package: an ar archive of the format's version, control data and what it installs."""
    data = io.BytesIO()
    mode = f"w:{compression}"
    with tarfile.open(fileobj=data, mode=mode) as tar:  # type: ignore[call-overload]
        for name, kind, bits, contents, target in (
            ("./", tarfile.DIRTYPE, 0o755, b"", ""),
            ("./bin/", tarfile.DIRTYPE, 0o755, b"", ""),
            ("./bin/tool", tarfile.REGTYPE, 0o4755, ELF, ""),
            ("./bin/twin", tarfile.LNKTYPE, 0o4755, b"", "./bin/tool"),
            ("./lib/", tarfile.DIRTYPE, 0o755, b"", ""),
            ("./lib/cpu/", tarfile.DIRTYPE, 0o711, b"", ""),
            ("./lib/cpu/lib.so.1", tarfile.SYMTYPE, 0o777, b"", "lib.so.1.0"),
            ("./lib/cpu/lib.so.1.0", tarfile.REGTYPE, 0o644, ELF, ""),
            ("./usr/share/doc/tool/copyright", tarfile.REGTYPE, 0o644, b"all of it\n", ""),
            ("./usr/share/tool/a.conf", tarfile.REGTYPE, 0o644, b"a\n", ""),
            ("./usr/share/tool/b.conf", tarfile.REGTYPE, 0o644, b"bb\n", ""),
            ("./var/spool/", tarfile.DIRTYPE, 0o1777, b"", ""),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.mode, info.linkname = kind, bits, target
            info.size, info.mtime = len(contents), TIME_S
            tar.addfile(info, io.BytesIO(contents))
    path.parent.mkdir(parents=True, exist_ok=True)
    suffix = {"": "", "xz": ".xz", "gz": ".gz"}[compression]
    parts = (("debian-binary", b"2.0\n"), ("control.tar", b"odd"), (f"data.tar{suffix}",))
    blob = b"!<arch>\n"
    for name_, contents_ in (*parts[:2], (parts[2][0], data.getvalue())):
        header = f"{name_:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(contents_):<10}`\n"
        blob += header.encode() + contents_ + b"\n" * (len(contents_) % 2)
    path.write_bytes(blob)
    return path


RECIPE = """
schema = 1
name = "small"
title = "a small tree"
description = "For tests of recipes."
mirrors = ["{mirror}/absent", "{mirror}"]
time_s = 1_650_000_000

[[packages]]
name = "tool"
version = "1:2.0-1"
file = "pool/main/t/tool/tool_2.0-1_amd64.deb"
sha256 = "{deb_sha256}"
take = ["bin/*", "lib/**", "usr/share/**", "var/spool"]
drop = ["usr/share/doc/**"]

[[rename]]
prefix = "lib/cpu/"
to = "lib/"

[[directories]]
mode = "1777"
paths = ["tmp"]

[[texts]]
path = "etc/hostname"
text = "board\\n"

[links]
"bin/sh" = "tool"

[expected]
sha256 = "{sha256}"
digest = "{digest}"
"""
SHAPE = TreeShape(
    directories=10,
    files=6,
    links=2,
    others=0,
    bytes=3 * len(ELF) + len(b"board\na\nbb\n"),
    largest_file_bytes=len(ELF),
    depth=3,
    largest_directory=6,
)
Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def no_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(debs, "is_debian", lambda: False)


@pytest.fixture
def deb(tmp_path: Path) -> Path:
    return make_deb(tmp_path / "mirror/pool/main/t/tool/tool_2.0-1_amd64.deb")


@pytest.fixture
def write(tmp_path: Path, deb: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes the catalog's recipe `small`, some of its text replaced."""
    path = tmp_path / "trees" / "small.toml"
    path.parent.mkdir()
    monkeypatch.setattr(source, "recipe_paths", lambda: {"small": path})

    def written(old: str = "", new: str = "", shape: TreeShape = SHAPE, **texts: str) -> Path:
        values = {
            "mirror": (tmp_path / "mirror").as_uri(),
            "deb_sha256": hashlib.sha256(deb.read_bytes()).hexdigest(),
            "sha256": "0" * 64,
            "digest": "0" * 16,
        } | texts
        text = RECIPE.format(**values)
        text += "".join(f"{key} = {value}\n" for key, value in asdict(shape).items())
        assert old in text
        path.write_text(text.replace(old, new) if old else text)
        return path

    return written


def make() -> SourceTree:
    return source_tree("small", SilentProgress())


def sums_in(error: SpecError) -> dict[str, str]:
    """What an error says the tree's digest and SHA-256 are."""
    lines = [line.strip().partition(": ") for line in error.message.splitlines()]
    return {key: rest.split(",")[0] for key, _, rest in lines if rest}


def make_right(write: Write) -> SourceTree:
    """Makes the recipe with the sums that a first attempt is told."""
    write()
    with pytest.raises(SpecError) as caught:
        make()
    told = sums_in(caught.value)
    assert set(told) == {"digest", "SHA-256 of the archive"}
    write(digest=told["digest"], sha256=told["SHA-256 of the archive"])
    return make()


def test_a_recipe_becomes_a_tree(write: Write) -> None:
    tree = make_right(write)
    assert tree.shape == SHAPE
    assert hashlib.sha256(tree.tar.read_bytes()).hexdigest() == tree.sha256
    assert source_sha256("small") == tree.sha256
    with tarfile.open(tree.tar) as tar:
        found = {one.name: one for one in tar}
    assert sorted(found) == [
        ".",
        *("bin", "bin/sh", "bin/tool", "bin/twin", "etc", "etc/hostname"),
        *("lib", "lib/lib.so.1", "lib/lib.so.1.0", "tmp"),
        *("usr", "usr/share", "usr/share/tool", "usr/share/tool/a.conf", "usr/share/tool/b.conf"),
        *("var", "var/spool"),
    ]
    assert found["bin/tool"].mode == 0o4755
    assert found["bin/twin"].isreg()
    assert found["bin/twin"].size == len(ELF)
    assert found["bin/sh"].linkname == "tool"
    assert found["lib/lib.so.1"].linkname == "lib.so.1.0"
    assert found["var/spool"].mode == 0o1777
    assert found["tmp"].mode == 0o1777
    assert found["usr/share"].mode == 0o755
    assert found["bin/tool"].mtime == TIME_S
    assert found["tmp"].mtime == found["usr/share"].mtime == found["bin/sh"].mtime == 1_650_000_000


def test_another_machine_makes_the_same(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make_right(write).tar.read_bytes()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert make().tar.read_bytes() == first


@pytest.mark.parametrize("compression", ["", "gz"])
def test_how_a_package_is_compressed_does_not_matter(
    write: Write, deb: Path, compression: str
) -> None:
    first = make_right(write)
    shutil.rmtree(tree_root())
    make_deb(deb, compression)
    write(digest=first.digest, sha256=first.sha256)
    assert make() == first


def test_what_is_made_needs_no_packages_any_more(write: Write, deb: Path) -> None:
    tree = make_right(write)
    deb.unlink()
    shutil.rmtree(tree_root() / "packages")
    assert make() == tree


# --- packages ---


def test_a_package_put_there_by_hand(write: Write, deb: Path) -> None:
    tree = make_right(write)
    packages = tree_root() / "packages"
    shutil.rmtree(tree_root())
    packages.mkdir(parents=True)
    deb.rename(packages / "of any name.deb")
    assert make() == tree


def test_without_a_package_the_error_says_what_to_copy_where(write: Write, deb: Path) -> None:
    sha256 = hashlib.sha256(deb.read_bytes()).hexdigest()
    write()
    deb.unlink()
    with pytest.raises(InfrastructureError, match=r"tool 1:2\.0-1 cannot be obtained") as caught:
        make()
    assert "mirror/absent/pool/main/t/tool" in caught.value.message
    for word in ("tool_2.0-1_amd64.deb", sha256, str(tree_root() / "packages")):
        assert word in caught.value.remedy
    assert [path.name for path in (tree_root() / "packages").iterdir()] == []


def test_a_wrong_package_is_never_used(write: Write, deb: Path) -> None:
    write()
    deb.write_bytes(deb.read_bytes() + b"!")
    with pytest.raises(InfrastructureError, match=r"its SHA-256 is \w+, not \w+"):
        make()
    assert not list((tree_root() / "packages").iterdir())


@pytest.mark.parametrize("contents", [b"", b"!<arch>\n", b"<html>sign in</html>"])
def test_a_file_that_is_no_package(write: Write, deb: Path, contents: bytes) -> None:
    deb.write_bytes(contents)
    write()
    with pytest.raises(InfrastructureError, match="cannot be read as a Debian package"):
        make()


# --- damaged recipes ---


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("take =", "takes =", "packages.0.take"),
        ('version = "1:2.0-1"', "version = 2", "packages.0.version"),
        ('name = "small"', 'name = "other"', "the file is called 'small'"),
        ("schema = 1", "schema = 2", "schema"),
        ("[links]", "[links", "links"),
        ('"bin/*"', '"bin/*", "sbin/*"', "package tool: nothing matches 'sbin/*'"),
        ("usr/share/doc/**", "usr/share/man/**", "nothing matches 'usr/share/man/**'"),
        ('prefix = "lib/cpu/"', 'prefix = "lib/none/"', "rename 'lib/none/' matches nothing"),
        ('"bin/sh" =', '"bin/tool" =', "the link bin/tool would replace"),
        ('path = "etc/hostname"', 'path = "bin/tool/x"', "bin/tool is not a directory"),
    ],
)
def test_a_damaged_recipe(write: Write, old: str, new: str, message: str) -> None:
    path = write(old, new)
    with pytest.raises(SpecError) as caught:
        make()
    assert message in str(caught.value)
    assert "small" in str(caught.value)
    assert path.is_file()


@pytest.mark.parametrize(
    ("old", "new", "differences"),
    [
        ("doc/**", 'doc/**", "usr/share/tool/b*', "files: 5, not 6"),
        ('paths = ["tmp"]', 'paths = ["tmp", "run"]', "directories: 11, not 10"),
        ('text = "board', 'text = "a board', "bytes: 4225, not 4223"),
    ],
)
def test_a_difference_in_shape_is_named(write: Write, old: str, new: str, differences: str) -> None:
    write(old, new)
    with pytest.raises(SpecError) as caught:
        make()
    assert differences in caught.value.message
    assert "SHA-256 of the archive" in caught.value.message
    assert not [path for path in tree_root().iterdir() if len(path.name) == 64]


def test_a_difference_in_times_is_named(write: Write) -> None:
    tree = make_right(write)
    shutil.rmtree(tree_root())
    write("time_s = 1_650_000_000", "time_s = 1_650_000_001", SHAPE, digest=tree.digest)
    with pytest.raises(SpecError, match="times are not"):
        make()


def test_patterns() -> None:
    def matches(pattern: str, path: str) -> bool:
        return pattern_regex(pattern).fullmatch(path) is not None

    assert matches("bin/*", "bin/tool")
    assert not matches("bin/*", "bin/deep/tool")
    assert matches("usr/**", "usr/a/b/c")
    assert not matches("usr/**", "usr")
    assert matches("lib?.so", "lib1.so")
    assert not matches("lib?.so", "lib/.so")
    assert not matches("lib.so", "libxso")
    assert matches("[a-c]x", "bx")
    assert matches("g++", "g++")


# --- the recipes shipped ---


@pytest.mark.parametrize("path", recipe_paths().values(), ids=lambda path: path.stem)
def test_shipped_recipes_are_in_order(path: Path) -> None:
    recipe = load_recipe(path)
    assert all(mirror.startswith("https://") for mirror in recipe.mirrors)
    for package in recipe.packages:
        # The pool's file names leave the epoch of a version out.
        version = package.version.rpartition(":")[2]
        assert f"/{package.name}_{version}_" in package.file


def test_embedded_rootfs_has_the_published_shape() -> None:
    """213 directories, 1,122 files, 4.95 files per directory, files of 13 KB."""
    shape = load_recipe(recipe_paths()["embedded-rootfs"]).expected.shape()
    assert (shape.directories, shape.files + shape.links + shape.others) == (213, 1122)
    assert round(shape.files / shape.directories, 2) == 4.95
    assert 12.7 <= shape.bytes / shape.files / 1024 <= 13.3
