"""Archives from anywhere: what they hold is read as it is, or they are refused as a whole."""

from __future__ import annotations

import gzip
import io
import os
import random
import tarfile
from pathlib import Path

import pytest
from tar_support import (
    BLOCK,
    SPARSE_FORMS,
    file,
    finished,
    header,
    pax,
    sparse,
    sparse_tar,
    with_checksum,
)

from ffslab.errors import FfslabError, UsageError
from ffslab.fsimage import tarsource
from ffslab.images.source import source_sha256, source_tree, tree_root
from ffslab.images.tarball import HashedSink, write_canonical
from ffslab.images.usertree import user_entries
from ffslab.lab.progress import SilentProgress
from ffslab.yaffs2.mkfs import make_image

GIB = 1 << 30
MUTATIONS = 30_000 if os.environ.get("FFSLAB_NIGHTLY", "") not in ("", "0") else 300
# More parts than the tables of old headers have room for: 4, and 21 in each further block.
MANY = [(n * 1024, 512) for n in range(60)]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FFSLAB_SOURCE_TREE_GIB", raising=False)


def contents(path: Path) -> dict[str, bytes]:
    """The files of the canonical archive, as another program reads them."""
    found = {}
    with tarfile.open(source_tree(str(path), SilentProgress()).tar) as tar:
        for one in tar:
            data = tar.extractfile(one) if one.isfile() or one.islnk() else None
            if data is not None:
                found[one.name] = data.read()
    return found


def refused(path: Path, data: bytes) -> str:
    """The message with which the archive is refused, by both who read archives."""
    path.write_bytes(data)
    with pytest.raises(UsageError) as caught:
        source_tree(str(path), SilentProgress())
    with pytest.raises(UsageError):
        make_image(path, path.with_name("made"))
    assert not path.with_name("made").exists()
    assert caught.value.cause
    assert caught.value.remedy
    assert not [entry for entry in tree_root().glob("*") if entry.is_dir()]
    return caught.value.message


# --- sparse files ---


@pytest.mark.parametrize("form", SPARSE_FORMS)
@pytest.mark.parametrize("parts", [[(0, 700)], [(512, 1000), (4096, 1)], MANY, [(0, 0)]])
def test_sparse_files_are_read(tmp_path: Path, form: str, parts: list[tuple[int, int]]) -> None:
    data = random.Random(1).randbytes(sum(length for _, length in parts))
    want, at = bytearray(70_000), 0
    for start, length in parts:
        want[start : start + length] = data[at : at + length]
        at += length
    path = tmp_path / "sparse.tar"
    # A map may end with a part of no bytes.
    for extra in ([], [(70_000, 0)]):
        path.write_bytes(sparse_tar(form, parts + extra, data, 70_000))
        assert contents(path) == {"f": bytes(want)}


@pytest.mark.parametrize("form", SPARSE_FORMS)
@pytest.mark.parametrize(
    ("parts", "stored_bytes", "message"),
    [
        ([(0, 1024), (512, 1024)], 2048, "contradicts itself"),  # overlap
        ([(4096, 512), (0, 512)], 1024, "contradicts itself"),  # descend
        ([(9000, 1024)], 1024, "contradicts itself"),  # beyond the end
        ([(0, -512), (512, 1024)], 512, "contradicts itself"),
        ([(-512, 512), (512, 512)], 1024, "contradicts itself"),
        ([(0, 512)], 1024, "differs from what is stored"),
        ([(0, 2048)], 1024, "differs from what is stored"),
        ([(0, 0)], 512, "differs from what is stored"),
    ],
)
def test_maps_that_contradict_themselves_are_refused(
    tmp_path: Path, form: str, parts: list[tuple[int, int]], stored_bytes: int, message: str
) -> None:
    data = sparse_tar(form, parts, b"x" * stored_bytes, 9216)
    assert message in refused(tmp_path / "bad.tar", data)


def test_a_map_may_not_swallow_a_member(tmp_path: Path) -> None:
    """Its parts are longer than what is stored: they would take the header behind for data."""
    members = sparse("0.1", [(0, 2048)], b"x" * 512, 2048, "f"), file(b"hidden", b"y" * 512)
    assert "differs from what is stored" in refused(tmp_path / "bad.tar", finished(*members))


# --- sizes ---


@pytest.mark.parametrize("form", SPARSE_FORMS)
def test_a_small_archive_that_claims_much_is_refused(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "claim.tar"
    path.write_bytes(sparse_tar(form, [(0, 512)], b"x" * 512, 3 * GIB))
    with pytest.raises(UsageError, match=r"larger than 2 GiB: '/f' of 3 GiB comes") as caught:
        source_tree(str(path), SilentProgress())
    assert "FFSLAB_SOURCE_TREE_GIB" in caught.value.remedy
    assert "holes" in caught.value.cause
    path.write_bytes(sparse_tar(form, [(0, 512)], b"x" * 512, 3 << 20))
    monkeypatch.setenv("FFSLAB_SOURCE_TREE_GIB", "0.0029")
    with pytest.raises(UsageError, match=r"larger than 3\.0 MiB"):
        source_tree(str(path), SilentProgress())
    monkeypatch.setenv("FFSLAB_SOURCE_TREE_GIB", "0.004")
    assert len(contents(path)["f"]) == 3 << 20
    monkeypatch.setenv("FFSLAB_SOURCE_TREE_GIB", "much")
    with pytest.raises(UsageError, match="is not a size"):
        source_tree(str(path), SilentProgress())


def test_the_limit_is_for_directories_too(tmp_path: Path) -> None:
    top = tmp_path / "tree"
    top.mkdir()
    with (top / "large").open("wb") as large:
        large.truncate(3 * GIB)
    with pytest.raises(UsageError, match="'/large' of 3 GiB"):
        source_sha256(str(top))


def test_a_packed_archive_of_zeros_fills_no_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FFSLAB_SOURCE_TREE_GIB", "0.01")
    path = tmp_path / "zeros.tar.gz"
    path.write_bytes(gzip.compress(finished(file(b"f", bytes(20 << 20)))))
    with pytest.raises(UsageError, match=r"larger than .* unpacked"):
        source_tree(str(path), SilentProgress())
    assert not list(tree_root().iterdir())


def test_what_is_refused_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit may fall between the two times that an archive is read."""
    path = tmp_path / "a.tar"
    hole = sparse("gnu", [(0, 512)], b"y" * 512, 5000, "b")
    path.write_bytes(finished(file(b"a", b"x" * 5000), hole))
    sha256 = source_sha256(str(path))
    monkeypatch.setenv("FFSLAB_SOURCE_TREE_GIB", str(8000 / GIB))
    monkeypatch.setattr("ffslab.images.source.source_sha256", lambda _: sha256)
    with pytest.raises(UsageError, match=r"larger than .*'/b'"):
        source_tree(str(path), SilentProgress())
    assert not [entry for entry in tree_root().iterdir() if entry.is_dir()]


@pytest.mark.parametrize("size", [-1, -512, -(2**62), 1 << 20, 2**70])
def test_a_size_that_cannot_be(tmp_path: Path, size: int) -> None:
    members = header(b"before"), header(b"f", size) + bytes(BLOCK)
    refused(tmp_path / "bad.tar", finished(*members))
    members = header(b"before"), pax(("size", str(size))) + file(b"f", b"x")
    refused(tmp_path / "bad.tar", finished(*members))


# --- headers and names ---


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ((file(b"../x", b""),), "leads out of the archive"),
        ((file(b"a/../../x", b""),), "leads out of the archive"),
        ((header(b"l", kind=b"1", target=b"nothing"),), "a hard link to a name"),
        ((header(b"l", kind=b"1", target=b"f"), file(b"f", b"")), "a hard link to a name"),
        ((header(b"l", kind=b"1", target=b"l"),), "a hard link to a name"),
        ((header(b"d", kind=b"5"), header(b"l", kind=b"1", target=b"d")), "a hard link to a name"),
        ((header(b"l", kind=b"1", target=b"../../f"),), "leads out of the archive"),
        ((header(b"s", kind=b"2"),), "a symbolic link without a possible target"),
        ((header(b"label", kind=b"V"),), "has the type 'V'"),
        ((header(b"f", uid=-5),), "an impossible owner"),
        ((pax(("mtime", "nan")), file(b"f", b"")), "an impossible time"),
        ((pax(("mtime", "1e300")), file(b"f", b"")), "an impossible time"),
        ((pax(("path", "a\0b")), file(b"f", b"")), "no file can have the name"),
        ((pax(("path", "n" * 256)), file(b"f", b"")), "no file can have the name"),
        ((pax(("path", "n/" * 2048 + "f")), file(b"f", b"")), "no file can have the name"),
        ((file(b"f", b""), file(b"f/g", b"")), "not a directory"),
        ((header(b"l", kind=b"2", target=b"d"), file(b"l/g", b"")), "not a directory"),
        ((file(b"f", b"1"), b"x" * BLOCK, file(b"g", b"2")), "no header at byte 1,024"),
        ((file(b"f", b"1"), header(b"g")[:-9]), "no header at byte 1,024"),
    ],
)
def test_members_that_cannot_be(tmp_path: Path, members: tuple[bytes, ...], message: str) -> None:
    end = b"" if len(members[-1]) % BLOCK else bytes(2 * BLOCK)
    assert message in refused(tmp_path / "bad.tar", b"".join(members) + end)


def test_headers_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tarsource, "_HEADERS_BYTES_MAX", 1 << 20)
    path = tmp_path / "bad.tar"
    for endless in (
        header(b"x", 2 << 20, b"x") + b"8 a=bcd\n" * (2 << 17),
        header(b"long", 2 << 20, b"L") + b"n" * (2 << 20),
        sparse("1.0", [(n, 0) for n in range(180_000)], b"", 9, "f"),
        sparse("gnu", [(n + 1, 1) for n in range(50_000)], b"", 9, "f"),
        header(b"x", -1024, b"x"),
    ):
        assert "headers of more than 1 MiB" in refused(path, finished(endless))
    refused(path, finished(pax(("comment", "again")) * 2000 + file(b"f", b"")))


def test_names_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tarsource, "NAMES_MAX", 30)
    path = tmp_path / "many.tar"
    deep = pax(("path", "/".join("d" * 29))) + file(b"f", b"")
    path.write_bytes(finished(deep))
    assert len(contents(path)) == 1
    for members in (
        [file(b"%d" % n, b"") for n in range(31)],
        [file(b"same", b"")] * 31,
        [pax(("path", "/".join("d" * 31))) + file(b"f", b"")],
    ):
        path.write_bytes(finished(*members))
        with pytest.raises(UsageError, match="more than 30 names"):
            source_tree(str(path), SilentProgress())


def test_of_equal_names_the_last_counts_and_links_are_to_what_was(tmp_path: Path) -> None:
    path = tmp_path / "twice.tar"
    link = header(b"b", kind=b"1", target=b"a")
    path.write_bytes(finished(file(b"/a", b"one"), link, file(b"./a", b"two")))
    assert contents(path) == {"a": b"two", "b": b"one"}


# --- anything ---

_WEIRD = (0, 1, 511, 512, 513, 1 << 20, 1 << 40, -1, -512, 2**62)
_FIELDS = ((0, 100), (100, 8), (108, 8), (116, 8), (124, 12), (136, 12), (156, 1), (157, 100))
_FIELDS += ((257, 8), (329, 8), (337, 8), (345, 155), (386, 12), (398, 12), (482, 1), (483, 12))


def bases() -> list[bytes]:
    """Archives of every kind that is read."""
    large = [sparse(f, MANY, b"z" * 512 * 60, 90_000, f"s{f}") for f in SPARSE_FORMS]
    small = [sparse(f, [(0, 512), (2048, 9)], b"y" * 521, 3000, f"t{f}") for f in SPARSE_FORMS]
    plain = (
        header(b"d/", kind=b"5"),
        file(b"d/f", b"contents"),
        header(b"d/link", kind=b"1", target=b"d/f"),
        header(b"sym", kind=b"2", target=b"d"),
        header(b"tty", kind=b"3"),
        pax(("path", "p" * 200), ("SCHILY.xattr.user.x", "1")) + file(b"p", b"q" * 600),
        header(b"././@LongLink", 130, b"L") + (b"l" * 130).ljust(BLOCK, b"\0") + file(b"l", b"m"),
    )
    return [finished(*plain), finished(*large), finished(*small), finished(*plain, *small)]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Some changes: of a header's field with its sum made right, of text, of order and length."""
    blocks = [data[at : at + BLOCK] for at in range(0, len(data), BLOCK)]
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(blocks))
        change = rng.choice(("field", "field", "text", "swap", "swap", "insert", "delete"))
        if change == "field":
            blocks[at] = _field(blocks[at], rng)
        elif change == "text":
            blocks[at] = _text(blocks[at], rng)
        elif change == "swap":
            blocks[at] = _swap(blocks[at], rng)
        elif change == "insert":
            blocks.insert(at, rng.choice(blocks))
        else:
            del blocks[at]
    whole = b"".join(blocks)
    return whole[: rng.randrange(len(whole))] if rng.random() < 0.1 else whole


def _field(block: bytes, rng: random.Random) -> bytes:
    start, length = rng.choice(_FIELDS)
    value = rng.choice(_WEIRD)
    new = rng.choice(
        (
            (b"%0*o\0" % (length - 1, abs(value)))[-length:],
            ((value | 1 << 8 * length) % (1 << 8 * length)).to_bytes(length, "big"),
            rng.randbytes(length),
            bytes(length),
            rng.choice((b"0", b"1", b"2", b"5", b"S", b"x", b"g", b"L", b"K", b"7")).ljust(length),
        )
    )
    changed = block[:start] + new.ljust(length, b"\0")[:length] + block[start + length :]
    return with_checksum(changed.ljust(BLOCK, b"\0")[:BLOCK])


def _swap(block: bytes, rng: random.Random) -> bytes:
    """Two numbers exchanged: in a map this leaves their sum, and how many there are."""
    in_header = block[257:262] == b"ustar"
    if in_header or not block[:1].isdigit():
        first = 386 if in_header else 0
        one, other = (first + 12 * rng.randrange(8) for _ in range(2))
        slots = list(block)
        slots[one : one + 12], slots[other : other + 12] = (
            slots[other : other + 12],
            slots[one : one + 12],
        )
        return with_checksum(bytes(slots)) if in_header else bytes(slots)
    places = [at for at, byte in enumerate(block) if byte in b"0123456789"]
    one, other = rng.choices(places, k=2)
    changed = bytearray(block)
    changed[one], changed[other] = changed[other], changed[one]
    return bytes(changed)


def _text(block: bytes, rng: random.Random) -> bytes:
    """Another letter instead of a digit, as of a pax record or a map."""
    places = [at for at, byte in enumerate(block) if byte in b"0123456789"]
    if not places:
        return block
    changed = bytearray(block)
    changed[rng.choice(places)] = rng.choice(b"0123456789-,\n= x")
    return bytes(changed)


@pytest.mark.parametrize("number", range(4))
def test_mutated_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Each is refused with a message, or read as what its canonical archive says again."""
    monkeypatch.setenv("FFSLAB_SOURCE_TREE_GIB", "0.01")
    path, canonical = tmp_path / "mutated.tar", tmp_path / "canonical.tar"
    archives, read = bases(), 0
    for seed in range(number, MUTATIONS, 4):
        rng = random.Random(seed)
        data = mutated(rng.choice(archives), rng)
        path.write_bytes(data)
        whole = io.BytesIO()
        sink = HashedSink(whole)
        try:
            with user_entries(path) as entries:
                write_canonical(entries, sink)
        except FfslabError:
            continue
        finally:
            _image_or_message(path)
        read += 1
        canonical.write_bytes(whole.getvalue())
        assert source_sha256(str(canonical)) == sink.sha256, seed
    # Not all of them may die in the same check.
    assert MUTATIONS / 4 * 0.1 < read < MUTATIONS / 4 * 0.8


def _image_or_message(path: Path) -> None:
    made = path.with_name("made")
    made.unlink(missing_ok=True)
    try:
        make_image(path, made)
    except FfslabError:
        assert not made.exists()
