"""Prepared states of the flash: what they hold, and that it makes no difference who prepared them.

A restored snapshot gives the same bytes as a fresh preparation, alone, under load, traced and not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_support import ffslab, results, run_study
from test_determinism import load_on_every_core

from ffslab.protocol.trace import Operation, read_trace

KIB, MIB = 2**10, 2**20
PARTITION_BYTES = 20 * MIB

STUDY = """
schema = 1
name = "states"
title = "States of the flash"

[base]
board = "omap3530-evm"
partition_bytes = "20 MiB"
options = { compression = "none" }

[base.workload]
kind = "micro"
request_bytes = "16 KiB"
volume_bytes = "3 MiB"

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
state = [
    "free", "saturated", { valid_percent = 40, invalid_percent = 20 }, { rate_percent = 40 }
]
"workload.pattern" = ["random-write", "sequential-read"]
"""
FILES = ("records.jsonl", "console.log", "trace.bin", "flash.img")


@pytest.fixture(scope="module")
def fresh(lab: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: ARG001
    """The study with every state prepared, and kept in `state` beside the run."""
    place = tmp_path_factory.mktemp("states")
    return run(place, "fresh", "--jobs", "2")


def run(place: Path, name: str, *arguments: str) -> Path:
    study = place / "study.toml"
    study.write_text(STUDY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FFSLAB_STATE_CACHE", str(place / "state"))
        return run_study(study, place / name, "--trace", "--keep-flash", "--no-report", *arguments)


def kept(place: Path) -> dict[str, int]:
    return {p.parent.name: p.stat().st_mtime_ns for p in place.glob("state/*/flash.img")}


def assert_same(one: Path, other: Path) -> None:
    assert (one / "results.jsonl").read_bytes() == (other / "results.jsonl").read_bytes()
    for result in results(one):
        for file in FILES:
            first, second = (run / "cases" / result["id"] / file for run in (one, other))
            assert first.stat().st_size > 1000, first
            assert first.read_bytes() == second.read_bytes(), (result["id"], file)


def test_a_restored_state_gives_the_bytes_of_a_fresh_one(fresh: Path) -> None:
    place = fresh.parent.parent
    before = kept(place)
    assert len(before) == 3 * 4 * 2  # file systems, states, with and without a test file
    with load_on_every_core():
        restored = run(place, "restored", "--jobs", "4")
    assert kept(place) == before, "a state was prepared again"
    assert_same(fresh, restored)


def test_a_state_prepared_again_is_the_same(fresh: Path) -> None:
    """Digests are compared when a state is kept: a difference would end the run."""
    place = fresh.parent.parent
    again = run(place, "again", "--jobs", "1", "--fresh-states")
    assert_same(fresh, again)


def test_a_run_without_the_kept_states_is_the_same(fresh: Path) -> None:
    place = fresh.parent.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FFSLAB_STATE_CACHE_GIB", "0")
        bounded = run(_made(place / "other"), "bounded", "--jobs", "2")
    assert not kept(place / "other"), "the limit was not kept"
    assert_same(fresh, bounded)


def _made(place: Path) -> Path:
    place.mkdir()
    return place


def of(run_dir: Path, filesystem: str, state: str, pattern: str) -> Any:
    (found,) = [
        result
        for result in results(run_dir)
        if result["axes"]["filesystem"] == filesystem
        and result["axes"]["state"] == state
        and result["axes"]["workload.pattern"] == pattern
    ]
    return found


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs", "yaffs2"])
def test_states_hold_what_they_say(fresh: Path, filesystem: str) -> None:
    def prepared(state: str, pattern: str = "random-write") -> Any:
        return of(fresh, filesystem, state, pattern)["preparation"]

    free = prepared("free")
    assert free["prepared"]["valid_bytes"] == free["prepared"]["invalid_bytes"] == 0

    saturated = prepared("saturated")
    capacity = saturated["prepared"]["capacity_bytes"]
    assert saturated["prepared"]["invalid_bytes"] == capacity
    assert saturated["prepared"]["invalid_present"] == 1
    assert saturated["reserve_bytes"] == PARTITION_BYTES - capacity
    # UBI keeps a reserve for bad blocks that it sizes by the chip: 40 of these 160 blocks.
    assert 0.5 * PARTITION_BYTES < capacity < PARTITION_BYTES
    (phase,) = saturated["phases"]
    assert phase["flash"]["pages_programmed"] * 2048 >= capacity

    aged = prepared("v40i20")
    available = aged["space"][0]["available_bytes"]
    start = next(s for s in aged["space"] if s["label"] == "prepare:start")["available_bytes"]
    assert available == start
    assert aged["prepared"]["valid_bytes"] == start // 100 * 40
    assert aged["prepared"]["invalid_bytes"] == start // 100 * 20

    filled = prepared("filled40")
    assert filled["prepared"]["valid_bytes"] == PARTITION_BYTES // 100 * 40
    assert filled["prepared"]["invalid_bytes"] == 3 * MIB

    read = prepared("saturated", "sequential-read")
    assert read["prepared"]["file_bytes"] == 3 * MIB
    assert read["prepared"]["invalid_present"] == 0


def between_removal_and_requests(run: Path, result: Any) -> list[Operation]:
    """The flash operations after the phase `invalidate` and before the first request."""
    phases = {phase["phase"]: phase for phase in result["phases"]}
    start, end = phases["invalidate"]["t_end_ns"], phases["measure"]["t_start_ns"]
    trace = read_trace(run / "cases" / result["id"] / "trace.bin")
    return [op for op in trace.operations() if start <= op.t_start_ns < end]


def test_the_requests_come_right_behind_the_removal(fresh: Path) -> None:
    """The agent makes its file and waits for nothing; a collector that wakes up just then may keep
    the processor for a while.
    """
    looked_at = 0
    for result in results(fresh):
        phases = {phase["phase"]: phase for phase in result["phases"]}
        if not phases["invalidate"]["files_deleted"]:
            continue
        gap_ns = phases["measure"]["t_start_ns"] - phases["invalidate"]["t_end_ns"]
        between = between_removal_and_requests(fresh, result)
        others_ns = sum(op.duration_ns for op in between if op.task != "ffsagent")
        assert gap_ns - others_ns < 5_000_000, result["id"]
        looked_at += len(between)
    assert looked_at


def test_a_stated_time_to_settle_passes_before_the_requests(lab: Any, tmp_path: Path) -> None:  # noqa: ARG001
    """A collector may then erase what became invalid: JFFS2's does."""
    text = STUDY.replace('"saturated", ', '{ kind = "saturated", settle_ms = 20000 }, ')
    study = tmp_path / "study.toml"
    study.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FFSLAB_STATE_CACHE", str(tmp_path / "state"))
        run_dir = run_study(
            *(study, tmp_path / "out", "--no-report"),
            *("--case", "jffs2-saturatedsettled20000-randomwrite-s1"),
        )
    (result,) = results(run_dir)
    phases = {phase["phase"]: phase for phase in result["phases"]}
    gap = phases["measure"]["t_start_ns"] - phases["invalidate"]["t_end_ns"]
    assert 20_000_000_000 <= gap < 20_100_000_000
    snapshots = {snapshot["label"]: snapshot["counters"] for snapshot in result["flash"]}
    erased = [snapshots[label]["blocks_erased"] for label in ("invalidate:end", "measure:start")]
    assert erased[1] > erased[0]


def test_every_request_is_recorded_and_accounts_for_the_flash(fresh: Path) -> None:
    """Requests' operations, and those between them, add up to the phase's counters; these are read
    in the moment before, so work of others in that moment may be in them, too.
    """
    for result in results(fresh):
        moment = [op for op in between_removal_and_requests(fresh, result) if op.task != "ffsagent"]
        kinds = (
            ("pages_read", "read"),
            ("pages_programmed", "program"),
            ("blocks_erased", "erase"),
        )
        (measure,) = [phase for phase in result["phases"] if phase["phase"] == "measure"]
        (series,) = result["requests"]
        assert series["count"] == 3 * MIB // (16 * KIB)
        assert series["all"]["count"] == series["count"]
        for counter, kind in kinds:
            total = sum(series["flash"][when][counter] for when in ("request", "after"))
            more = sum(op.pages for op in moment if op.op == kind)
            assert total <= measure[counter] <= total + more, (result["id"], counter)


def test_a_rate_that_cannot_be_reached_is_a_clear_error(lab: Any, tmp_path: Path) -> None:  # noqa: ARG001
    text = STUDY.replace("rate_percent = 40", "rate_percent = 99")
    study = tmp_path / "study.toml"
    study.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FFSLAB_STATE_CACHE", str(tmp_path / "state"))
        done = ffslab(
            *("run", str(study), "--output", str(tmp_path / "out"), "--no-report"),
            *("--case", "jffs2-filled99-randomwrite-s1", "--case", "jffs2-free-randomwrite-s1"),
        )
    assert done.returncode == 1, done.stdout + done.stderr
    (run_dir,) = (tmp_path / "out").glob("*/")
    failed = of(run_dir, "jffs2", "filled99", "random-write")
    assert failed["outcome"] == "fail"
    assert failed["reason"].startswith("preparation:")
    assert "rate_percent" in failed["reason"]
    assert of(run_dir, "jffs2", "free", "random-write")["outcome"] == "pass"


def test_the_mount_of_a_snapshot_changes_little(lab: Any, tmp_path: Path) -> None:  # noqa: ARG001
    """Against one guest that prepares and goes on. JFFS2 would read all of the valid data's nodes
    in the middle of the requests, if the agent had not looked at the file before."""
    text = STUDY.split("[axes]", maxsplit=1)[0] + (
        "[axes]\n"
        'filesystem = ["jffs2", "yaffs2"]\n'
        '"state.rate_percent" = [60]\n'
        '"state.remount" = [true, false]\n'
    )
    (tmp_path / "study.toml").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FFSLAB_STATE_CACHE", str(tmp_path / "state"))
        run_dir = run_study(tmp_path / "study.toml", tmp_path / "out", "--no-report")
    means: dict[str, dict[bool, float]] = {}
    for result in results(run_dir):
        (series,) = result["requests"]
        axes = result["axes"]
        means.setdefault(axes["filesystem"], {})[axes["state.remount"]] = series["all"]["mean_ns"]
    assert set(means) == {"jffs2", "yaffs2"}
    for filesystem, mean in means.items():
        assert mean[True] == pytest.approx(mean[False], rel=0.05), filesystem
