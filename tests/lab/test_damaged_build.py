"""A build or a state that was damaged in the cache gives no figure: it is found, named, made again.

The cache of these tests consists of links to the entries of the tests' own, but for the one that
is damaged, which is a copy. What makes an entry again follows no link.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from lab_support import ffslab, results, run_study

from ffslab.lab.cache import cache_root
from ffslab.lab.lab_build import LabBuild

CASE = ("--case", "ubifs-free-s1", "--no-report")


def flipped(path: Path) -> None:
    """The flip that once gave 564 ms instead of 420, and exit code 0."""
    data = bytearray(path.read_bytes())
    data[10717] ^= 1 << 4
    path.write_bytes(data)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def linked_cache(copied: Path, place: Path) -> Path:
    """A cache of links with a copy of the entry `copied`, whose place it returns."""
    own = cache_root()
    for kind in own.iterdir():
        there = place / "ffslab" / kind.name
        if kind.name not in ("kernel", "module", "agent", "cutter"):
            there.parent.mkdir(parents=True, exist_ok=True)
            there.symlink_to(kind)
            continue
        there.mkdir(parents=True)
        for entry in kind.iterdir():
            if entry == copied:
                shutil.copytree(entry, there / entry.name, symlinks=True)
            else:
                (there / entry.name).symlink_to(entry)
    return place / "ffslab" / copied.relative_to(own)


@pytest.mark.parametrize(
    ("name", "harm"), [("vnand", flipped), ("agent", emptied)], ids=["vnand.ko", "agent"]
)
def test_what_was_damaged_is_made_again_and_the_figures_are_right(
    lab: LabBuild,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    harm: Callable[[Path], None],
) -> None:
    right = results(run_study("quick", tmp_path / "right", *CASE))
    file = lab.agent if name == "agent" else lab.modules[name]
    entry = linked_cache(file.parent, tmp_path / "cache")
    harm(entry / file.name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    looked = ffslab("doctor")
    assert f"{entry}: " in looked.stdout and "damaged" in looked.stdout

    assert results(run_study("quick", tmp_path / "after", *CASE)) == right
    (aside,) = entry.parent.glob(f"{entry.name}.damaged-*")
    assert (aside / file.name).read_bytes() != (entry / file.name).read_bytes()
    assert (entry / file.name).read_bytes() == file.read_bytes()


MICRO = """
schema = 1
name = "kept"
title = "A kept state"
[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1]
state = { rate_percent = 40 }
[base.workload]
kind = "micro"
request_bytes = "16 KiB"
volume_bytes = "1 MiB"
[axes]
filesystem = ["jffs2"]
"""


@pytest.mark.parametrize("name", ["records.jsonl", "console.log", "flash.img"])
def test_a_kept_state_with_an_empty_file_is_made_again(
    lab: LabBuild,  # noqa: ARG001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    """Empty records once booked a crash to the file system, again and again."""
    monkeypatch.setenv("FFSLAB_STATE_CACHE", str(tmp_path / "state"))
    (tmp_path / "kept.toml").write_text(MICRO)
    right = results(run_study(tmp_path / "kept.toml", tmp_path / "right", "--no-report"))
    assert [result["outcome"] for result in right] == ["pass"]
    (stamp,) = (tmp_path / "state").glob("*/complete.json")
    whole = (stamp.parent / name).read_bytes()
    emptied(stamp.parent / name)

    after = run_study(tmp_path / "kept.toml", tmp_path / "after", "--no-report")
    assert results(after) == right
    assert (stamp.parent / name).read_bytes() == whole
    (aside,) = (tmp_path / "state").glob("*.damaged-*")
    assert not (aside / name).stat().st_size
