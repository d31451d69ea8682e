"""The store of prepared states: what it keeps, checks, bounds, and whom it lets in."""

from __future__ import annotations

import errno
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from host_support import cases_of

from ffslab.campaign.chain import chain_of
from ffslab.campaign.state_store import (
    LIMIT_VARIABLE,
    StateStore,
    limit_bytes,
    state_root,
)
from ffslab.errors import InfrastructureError, UsageError
from ffslab.model.case import Case
from ffslab.protocol.chip_file import copy_flash_file, create_flash_file, flash_digest
from ffslab.targets.uml.guests import KIND

STUDY = """
schema = 1
name = "small"
title = "A small study"

[base]
board = "omap3530-evm"
filesystem = "jffs2"
partition_bytes = "20 MiB"
state = "saturated"
workload = { kind = "micro" }

[axes]
seed = [1, 2]
"workload.request_bytes" = ["2 KiB", "4 KiB"]
"""
MIB = 2**20


def kept(store: StateStore, key: str, contents: bytes, use: int) -> Path:
    """An entry whose chip begins with `contents`, last used at second `use`."""
    with store.new_entry() as directory:
        flash = directory / "flash.img"
        create_flash_file(flash, 4 * MIB)
        with flash.open("r+b") as file:
            file.write(contents)
        entry = store.keep(directory, key, flash_digest(flash))
    os.utime(entry / "complete.json", (use, use))
    return entry


def test_the_key_is_of_all_that_the_preparing_guest_depends_on() -> None:
    cases = cases_of(STUDY)
    first, other_seed, other_size = (cases[i] for i in (0, 1, 2))

    def key(case: Case, build: str = "build", more: str = "") -> str:
        (job,) = chain_of(case, KIND, build).preparing
        return replace(job, plan=job.plan + more).key

    keys = [key(case) for case in cases]
    assert first.workload != other_size.workload
    assert keys[0] == keys[2]
    assert other_seed.seed != first.seed
    assert keys[1] != keys[0]
    board = replace(first.board, ram_bytes=first.board.ram_bytes // 2)
    changed = {
        key(first, "another build"),
        key(first, more="sync\n"),
        key(replace(first, board=board)),
        key(replace(first, cpu_scale=2.0)),
    }
    assert len(changed | {keys[0]}) == 5
    # What a case is called, and whether it is traced, is not in it.
    assert key(replace(first, id="x", trace=True)) == keys[0]


def test_what_was_kept_is_found_and_what_is_damaged_is_not(tmp_path: Path) -> None:
    store = StateStore(tmp_path / "state")
    assert store.find("a") is None
    entry = kept(store, "a", b"contents", 1)
    assert store.find("a") == entry
    with (entry / "flash.img").open("r+b") as flash:
        flash.seek(3 * MIB)
        flash.write(b"damage")
    assert store.find("a") is None
    assert not entry.exists()

    entry = kept(store, "a", b"contents", 1)
    (entry / "complete.json").write_text("{")
    assert store.find("a") is None


def test_an_entry_of_another_digest_is_left_to_its_version_and_to_the_bound(tmp_path: Path) -> None:
    store = StateStore(tmp_path)
    old = kept(store, "a", b"contents", 1).rename(tmp_path / "a")
    (old / "complete.json").write_text('{"flash_sha256": "of another form"}')
    assert store.find("a") is None
    assert old.exists()
    new = kept(store, "a", b"contents", time.time_ns() // 10**9)
    assert store.find("a") == new
    assert old.exists()
    assert store.prune(0) == ["a", "a.pages"]


def test_the_second_preparation_of_a_state_must_be_the_same(tmp_path: Path) -> None:
    store = StateStore(tmp_path)
    assert kept(store, "a", b"contents", 1) == kept(store, "a", b"contents", 2)
    with pytest.raises(InfrastructureError, match="differ"):
        kept(store, "a", b"other", 3)


def test_two_processes_may_prepare_one_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other's entry appears between the look and the rename."""
    store = StateStore(tmp_path)
    entry = kept(store, "a", b"contents", 1)
    find = StateStore.find
    answers: list[Path | None] = [None]

    def late(self: StateStore, key: str) -> Path | None:
        return answers.pop() if answers else find(self, key)

    monkeypatch.setattr(StateStore, "find", late)
    assert kept(store, "a", b"contents", 2) == entry
    assert not answers


def test_nothing_is_left_of_an_entry_that_was_not_kept(tmp_path: Path) -> None:
    store = StateStore(tmp_path)
    with store.new_entry() as directory:
        (directory / "flash.img").write_bytes(b"half")
    assert not list(tmp_path.iterdir())


def test_the_store_is_bounded_by_what_was_used_longest_ago(tmp_path: Path) -> None:
    store = StateStore(tmp_path)
    for number, key in enumerate("abc"):
        kept(store, key, os.urandom(MIB), 100 + number)
    store.find("a")  # used just now
    (tmp_path / "tmp-left").mkdir()
    assert store.prune(3 * MIB + MIB // 2) == []
    assert not (tmp_path / "tmp-left").exists()
    assert store.prune(2 * MIB + MIB // 2) == ["b.pages"]
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"a.pages", "c.pages"}
    assert store.prune(0) == ["c.pages", "a.pages"]


def test_nothing_is_removed_while_a_run_uses_the_store(tmp_path: Path) -> None:
    store = StateStore(tmp_path)
    kept(store, "a", b"contents", 1)
    with store.in_use():
        assert store.prune(0) == []
    assert store.prune(0) == ["a.pages"]
    assert StateStore(tmp_path / "never made").prune(0) == []


def test_the_limit_is_a_number_of_gib() -> None:
    assert limit_bytes({}) == 4 * 2**30
    assert limit_bytes({"FFSLAB_STATE_CACHE_GIB": "0.5"}) == 2**29
    for bad in ("much", "-1", "nan"):
        with pytest.raises(UsageError, match="is not a size"):
            limit_bytes({"FFSLAB_STATE_CACHE_GIB": bad})


def test_the_place_can_be_chosen(tmp_path: Path) -> None:
    assert state_root({"FFSLAB_STATE_CACHE": str(tmp_path)}) == tmp_path
    assert state_root({}).parts[-2:] == ("ffslab", "state")


def test_a_store_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = StateStore(tmp_path / "file")
    with pytest.raises(InfrastructureError, match="cannot keep a prepared state"):
        store.in_use().__enter__()


def test_a_copy_has_the_contents_and_the_holes(tmp_path: Path) -> None:
    source = tmp_path / "source"
    create_flash_file(source, 64 * MIB)
    with source.open("r+b") as file:
        for position in (0, 5 * MIB + 123, 63 * MIB):
            file.seek(position)
            file.write(os.urandom(200_000))
    copy_flash_file(source, tmp_path / "copy")
    assert flash_digest(source) == flash_digest(tmp_path / "copy")
    assert source.read_bytes() == (tmp_path / "copy").read_bytes()
    assert (tmp_path / "copy").stat().st_blocks * 512 < 2 * MIB
    with pytest.raises(FileNotFoundError, match="absent"):
        copy_flash_file(tmp_path / "absent", tmp_path / "other")


def test_a_full_disk_is_told_with_what_would_free_it(tmp_path: Path) -> None:
    store = StateStore(tmp_path / "state")
    disk_full = OSError(errno.ENOSPC, "No space left on device", "flash.img")
    with pytest.raises(InfrastructureError) as caught, store.errors_explained():
        raise disk_full
    assert "flash.img: No space left" in caught.value.message
    assert "kept states take 0 B" in caught.value.cause
    assert "FFSLAB_STATE_CACHE=DIRECTORY on another disk" in caught.value.remedy
    # Nothing is kept, so a lower limit would free nothing.
    assert LIMIT_VARIABLE not in caught.value.remedy
    kept(store, "one", b"x" * 4 * MIB, 1)
    with pytest.raises(InfrastructureError) as caught, store.errors_explained():
        raise disk_full
    assert "kept states take 4" in caught.value.cause
    assert caught.value.remedy.startswith(f"export {LIMIT_VARIABLE}=0, ")
    with pytest.raises(InfrastructureError) as caught, store.errors_explained():
        raise PermissionError(errno.EACCES, "Permission denied", "flash.img")
    assert "free" not in caught.value.remedy and "no permission" in caught.value.cause
