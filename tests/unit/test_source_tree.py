"""Source trees: the canonical archive, the digest, the user's trees, the cache."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import random
import socket
import stat
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow
import pytest

from ffslab.errors import InfrastructureError, UsageError
from ffslab.fsimage.entry import Entry
from ffslab.fsimage.source import read_source
from ffslab.images import source, usertree
from ffslab.images.shape import fnv1a
from ffslab.images.source import (
    SourceTree,
    source_sha256,
    source_tree,
    tree_digest,
    tree_root,
)
from ffslab.lab.progress import SilentProgress

TIME_S = 1_700_000_000


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def member(
    name: str, kind: bytes = tarfile.REGTYPE, *, mode: int = 0o644, target: str = "", uid: int = 0
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.mtime, info.linkname, info.uid = kind, mode, TIME_S, target, uid
    return info


def archive(path: Path, members: list[tuple[tarfile.TarInfo, bytes]], format_: int) -> Path:
    with tarfile.open(path, "w", format=format_) as tar:
        for info, data in members:
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def some_members() -> list[tuple[tarfile.TarInfo, bytes]]:
    long = "n" * 120
    return [
        (member(".", tarfile.DIRTYPE, mode=0o755), b""),
        (member("a", tarfile.DIRTYPE, mode=0o750), b""),
        (member("a-b", mode=0o4755), b"setuid\n"),
        (member("a/b", uid=5_000_000), b"x" * 513),
        (member(f"a/{long}"), b""),
        (member("a/link", tarfile.SYMTYPE, mode=0o600, target="../" + long), b""),
        (member("tty", tarfile.CHRTYPE, mode=0o600), b""),
    ]


def tree_of(path: Path | str) -> tuple[list[tarfile.TarInfo], bytes]:
    """The canonical archive of a tree as another program reads it, and its bytes."""
    tree = source_tree(str(path), SilentProgress())
    with tarfile.open(tree.tar) as tar:
        return tar.getmembers(), tree.tar.read_bytes()


# --- the canonical form ---


@pytest.mark.parametrize("format_", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_order_and_format_of_an_archive_do_not_matter(tmp_path: Path, format_: int) -> None:
    ordered = archive(tmp_path / "ordered.tar", some_members(), tarfile.PAX_FORMAT)
    mixed = some_members()
    random.Random(1).shuffle(mixed)
    other = archive(tmp_path / "other.tar", mixed, format_)
    packed = tmp_path / "packed.tar.gz"
    packed.write_bytes(gzip.compress(other.read_bytes()))
    assert ordered.read_bytes() != other.read_bytes()
    want = tree_of(ordered)[1]
    assert tree_of(other)[1] == want
    assert tree_of(packed)[1] == want
    packed = tmp_path / "packed.tar.xz"
    packed.write_bytes(lzma.compress(other.read_bytes()))
    assert tree_of(packed)[1] == want
    packed = tmp_path / "packed.tar.zst"
    packed.write_bytes(pyarrow.compress(other.read_bytes(), "zstd", asbytes=True))
    assert tree_of(packed)[1] == want


def test_members_are_sorted_by_component_and_complete(tmp_path: Path) -> None:
    members, data = tree_of(archive(tmp_path / "a.tar", some_members(), tarfile.GNU_FORMAT))
    long = "n" * 120
    names = [".", "a", "a/b", "a/link", f"a/{long}", "a-b", "tty"]
    assert [one.name for one in members] == names
    by_name = {one.name: one for one in members}
    assert by_name["a/b"].uid == 5_000_000
    assert by_name["a/b"].size == 513
    assert by_name["a-b"].mode == 0o4755
    assert by_name["a/link"].mode == 0o777
    assert by_name["a/link"].linkname == "../" + long
    assert by_name["tty"].ischr()
    assert {one.mtime for one in members} == {TIME_S}
    assert {one.uname + one.gname for one in members} == {""}
    assert len(data) % 512 == 0
    assert data.endswith(bytes(1024))


def test_header_of_one_file_byte_for_byte(tmp_path: Path) -> None:
    members = [(member(".", tarfile.DIRTYPE, mode=0o755), b""), (member("f", mode=0o640), b"hi")]
    _, data = tree_of(archive(tmp_path / "f.tar", members, tarfile.GNU_FORMAT))
    fields = (
        b"f".ljust(100, b"\0") + b"0000640\0" + b"0000000\0" * 2 + b"00000000002\0",
        b"%011o\0" % TIME_S + b" " * 8 + b"0" + bytes(100) + b"ustar\x0000" + bytes(64),
        b"0000000\0" * 2 + bytes(167),
    )
    header = b"".join(fields)
    header = header[:148] + b"%06o\0 " % sum(header) + header[156:]
    assert data[512:1536] == header + b"hi".ljust(512, b"\0")


@pytest.mark.parametrize("time_s", [-1, 0, 2**33 - 1, 2**33, 2**40])
def test_times_that_fit_no_header(tmp_path: Path, time_s: int) -> None:
    info = member("f")
    info.mtime = time_s
    members, _ = tree_of(archive(tmp_path / "f.tar", [(info, b"")], tarfile.PAX_FORMAT))
    assert [one.mtime for one in members if one.name == "f"] == [time_s]


def test_names_that_are_no_text(tmp_path: Path) -> None:
    top = tmp_path / "tree"
    top.mkdir()
    name = b"\xff" * 150
    (top / os.fsdecode(name)).write_bytes(b"1")
    members, _ = tree_of(top)
    assert [os.fsencode(one.name) for one in members[1:]] == [name]


def test_second_names_are_hard_links(tmp_path: Path) -> None:
    top = tmp_path / "tree"
    top.mkdir()
    (top / "b").write_bytes(b"12345")
    (top / "a").hardlink_to(top / "b")
    tree = source_tree(str(top), SilentProgress())
    with tarfile.open(tree.tar) as tar:
        assert [(one.name, one.linkname) for one in tar if one.name != "."] == [
            ("a", ""),
            ("b", "a"),
        ]
    assert (tree.shape.files, tree.shape.bytes) == (2, 10)
    # The digest takes each name for a file of its own.
    (top / "a").unlink()
    (top / "a").write_bytes(b"12345")
    assert source_tree(str(top), SilentProgress()).digest == tree.digest


def test_holes_are_filled(tmp_path: Path) -> None:
    top = tmp_path / "tree"
    top.mkdir()
    with (top / "f").open("wb") as file:
        file.truncate(3 << 20)
        file.seek(2 << 20)
        file.write(b"end")
    want = bytes(2 << 20) + b"end" + bytes((1 << 20) - 3)
    with tarfile.open(source_tree(str(top), SilentProgress()).tar) as tar:
        file_ = tar.extractfile("f")
        assert file_ is not None
        assert file_.read() == want


# --- the digest ---


def test_fnv_against_published_values() -> None:
    assert fnv1a(b"") == 0xCBF29CE484222325
    assert fnv1a(b"a") == 0xAF63DC4C8601EC8C
    assert fnv1a(b"foobar") == 0x85944171F73967E8
    assert fnv1a(b"bar", fnv1a(b"foo")) == fnv1a(b"foobar")


def test_digest_is_the_sum_over_the_entries_below_the_top(tmp_path: Path) -> None:
    members = [
        (member(".", tarfile.DIRTYPE, mode=0o700), b""),
        (member("d", tarfile.DIRTYPE, mode=0o755), b""),
        (member("d/f", mode=0o4750, uid=7), b"contents"),
        (member("l", tarfile.SYMTYPE, mode=0o777, target="d/f"), b""),
        (member("n", tarfile.CHRTYPE, mode=0o620), b""),
        (member("p", tarfile.FIFOTYPE, mode=0o600), b""),
    ]
    members[2][0].gid = 8
    members[4][0].devmajor, members[4][0].devminor = 4, 65
    path = archive(tmp_path / "t.tar", members, tarfile.GNU_FORMAT)
    spelled = (
        b"d\x00493 d 0 0\x00",
        b"d/f\x002536 f 7 8\x00contents",
        b"l\x000 l 0 0\x00d/f",
        b"n\x00400 c 0 0\x004:65",
        b"p\x00384 p 0 0\x00",
    )
    want = f"{sum(fnv1a(text) for text in spelled) % 2**64:016x}"
    assert tree_digest(path) == want
    assert source_tree(str(path), SilentProgress()).digest == want


def test_digest_of_an_empty_tree_is_zero(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    assert source_tree(str(tmp_path / "tree"), SilentProgress()).digest == "0" * 16


# --- directories ---


def make_directory(top: Path, names: list[str]) -> Path:
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(name)
    for path in (*top.rglob("*"), top):
        os.utime(path, (TIME_S, TIME_S))
    return top


def test_a_directory_gives_the_same_archive_whoever_made_it(tmp_path: Path) -> None:
    names = ["etc/passwd", "etc/group", "bin/sh", "readme"]
    first = make_directory(tmp_path / "first", names)
    second = make_directory(tmp_path / "second", names[::-1])
    if os.geteuid() == 0:
        os.chown(second / "bin/sh", 1000, 1000)
    trees = [source_tree(str(path), SilentProgress()) for path in (first, second)]
    assert trees[0].sha256 == trees[1].sha256
    assert trees[0].name == "first"
    with tarfile.open(trees[1].tar) as tar:
        assert {(one.uid, one.gid) for one in tar} == {(0, 0)}


def test_what_was_changed_is_another_tree(tmp_path: Path) -> None:
    top = make_directory(tmp_path / "tree", ["a", "b/c"])
    seen = {source_sha256(str(top))}
    (top / "a").chmod(0o755)
    seen.add(source_sha256(str(top)))
    os.utime(top / "a", (1, 1))
    seen.add(source_sha256(str(top)))
    (top / "b/d").symlink_to("c")
    seen.add(source_sha256(str(top)))
    assert len(seen) == 4


def test_shape(tmp_path: Path) -> None:
    top = make_directory(tmp_path / "tree", ["a", "b/c/d", "b/c/e"])
    (top / "b/link").symlink_to("nowhere")
    os.mkfifo(top / "pipe")
    shape = source_tree(str(top), SilentProgress()).shape
    assert (shape.directories, shape.files, shape.links, shape.others) == (3, 3, 1, 1)
    assert (shape.bytes, shape.largest_file_bytes) == (11, 5)
    assert (shape.depth, shape.largest_directory) == (2, 3)


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = make_directory(tmp_path / "tree", ["a"])
    # A socket's whole path must be short.
    monkeypatch.chdir(top)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        with pytest.raises(UsageError, match="/s is a socket"):
            source_tree(str(top), SilentProgress())


def test_a_directory_that_changes_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = make_directory(tmp_path / "tree", ["a", "b"])

    def while_somebody_writes(path: Path) -> Iterator[Entry]:
        yield from read_source(path)
        (path / "b").write_text("other")

    monkeypatch.setattr(usertree, "read_source", while_somebody_writes)
    with pytest.raises(UsageError, match=r"changed while it was read.*b"):
        source_tree(str(top), SilentProgress())


def test_what_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = make_directory(tmp_path / "tree", ["a", "secret/b"])
    scan = os.scandir

    def refuse(path: bytes | str) -> object:
        if os.fsencode(path).endswith(b"secret"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InfrastructureError, match="secret: Permission denied") as caught:
        source_tree(str(top), SilentProgress())
    assert "tar archive" in caught.value.remedy


def test_the_cache_in_the_tree_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cache"):
        source_tree(str(tmp_path), SilentProgress())


def test_what_is_no_tree(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist") as caught:
        source_tree(str(tmp_path / "nothing"), SilentProgress())
    assert "list trees" in caught.value.remedy
    for name, why in (
        ("", "does not exist"),
        ("n" * 5000, "File name too long"),
        ("~nobody-of-that-name/tree", "home directory"),
    ):
        with pytest.raises(UsageError, match=why) as caught:
            source_tree(name, SilentProgress())
        assert len(caught.value.message) < 500
    text = tmp_path / "text"
    text.write_text("no archive\n" * 1000)
    with pytest.raises(UsageError, match="text cannot be read") as caught:
        source_tree(str(text), SilentProgress())
    assert "\n" not in caught.value.message
    empty = archive(tmp_path / "empty.tar", [], tarfile.PAX_FORMAT)
    with pytest.raises(UsageError, match="no entries"):
        source_tree(str(empty), SilentProgress())
    half = tmp_path / "half.tar.gz"
    whole = gzip.compress(random.Random(1).randbytes(100_000))
    half.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UsageError, match=r"half\.tar\.gz cannot be unpacked"):
        source_tree(str(half), SilentProgress())
    crooked = [(member("f"), b"1"), (member("f/g"), b"2")]
    with pytest.raises(UsageError, match="not a directory"):
        source_sha256(str(archive(tmp_path / "crooked.tar", crooked, tarfile.GNU_FORMAT)))


# --- the cache ---


def test_a_damaged_entry_is_made_again(tmp_path: Path) -> None:
    top = make_directory(tmp_path / "tree", ["a"])
    tree = source_tree(str(top), SilentProgress())
    whole = tree.tar.read_bytes()
    for damage in (whole[:-512], b"", whole[:700] + b"!" + whole[701:]):
        tree.tar.write_bytes(damage)
        assert source_tree(str(top), SilentProgress()) == tree
        assert tree.tar.read_bytes() == whole
    (tree.tar.parent / "complete.json").write_text("{}")
    assert source_tree(str(top), SilentProgress()) == tree


def test_several_at_once_get_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Path] = []
    write = source._write

    def counting(entries: Iterator[Entry], scratch: Path, name: str) -> SourceTree:
        written.append(scratch)
        return write(entries, scratch, name)

    monkeypatch.setattr(source, "_write", counting)
    top = make_directory(tmp_path / "tree", [f"d{n % 7}/f{n}" for n in range(50)])
    with ThreadPoolExecutor(6) as pool:
        trees = list(pool.map(lambda _: source_tree(str(top), SilentProgress()), range(12)))
    assert len(set(trees)) == 1
    assert len(written) == 1  # who waited uses it, and does not put another in its place
    assert [path.name for path in tree_root().iterdir() if path.is_dir()] == [trees[0].sha256]
    assert stat.S_ISREG(trees[0].tar.stat().st_mode)
