"""A small archive that unpacks to a large one is refused by whatever reads archives."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from cli_support import Command
from tar_support import file, finished, header

from ffslab.errors import UsageError
from ffslab.fsimage.source import read_source
from ffslab.images.source import source_sha256

LIMIT_GIB = 4 / 1024  # 4 MiB
MANY = 4 << 20


@pytest.fixture(autouse=True)
def limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FFSLAB_SOURCE_TREE_GIB", str(LIMIT_GIB))


@pytest.fixture(params=["one", "members", "plain"])
def bomb(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A member of 5 MiB, ten thousand small ones, and the first without compression."""
    data = finished(file(b"zeros", bytes(MANY + (1 << 20))))
    if request.param == "members":
        data = finished(*(file(b"%d" % number, b"x") for number in range(10_000)))
    path = tmp_path / "bomb.tar"
    path.write_bytes(data if request.param == "plain" else gzip.compress(data))
    return path


@pytest.mark.parametrize("words", [(), ("--partition-bytes", "64 MiB")])
@pytest.mark.parametrize("kind", ["yaffs2", "logfs"])
def test_mkfs_refuses_it(
    ffslab_command: Command, bomb: Path, kind: str, words: tuple[str, ...]
) -> None:
    options = words or (("--partition-bytes", "32 MiB") if kind == "logfs" else ())
    result = ffslab_command("mkfs", kind, str(bomb), "x.img", *options)
    assert result.code == 2 and "larger than 4 MiB" in result.error
    assert "FFSLAB_SOURCE_TREE_GIB" in result.error
    assert [path.name for path in Path().iterdir() if "x.img" in path.name] == []


def test_images_refuse_it(bomb: Path) -> None:
    with pytest.raises(UsageError, match="larger than 4 MiB"):
        source_sha256(str(bomb))


def test_an_archive_within_the_bound_is_read(tmp_path: Path) -> None:
    path = tmp_path / "small.tar.gz"
    path.write_bytes(gzip.compress(finished(header(b"d", kind=b"5"), file(b"d/f", b"text"))))
    assert [entry.path for entry in read_source(path)] == [b"", b"d", b"d/f"]
