"""Target ssh with a board in QEMU: plans run there, what goes wrong there, and the lab beside it.

The board is reached over ssh on the loopback address, as one on a desk is (board_support.py). It is
one for all tests of this file, which leave it switched on and its partition unused.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from board_support import OVERLAPS, Board, make_board
from lab_support import ROOT, cases

from ffslab.loader import load_catalog
from ffslab.protocol.chip_file import flash_digest
from ffslab.targets.target import FLASH_NAME

STUDY = """
schema = 1
name = "onboard"
title = "Small workloads, on a board too"

[base]
board = "qemu-virt"
partition_bytes = "16 MiB"
seeds = [1]

[base.workload]
kind = "ffsmark"
number = 60
subdirectories = 5
transactions = 150
verify = true

[axes]
"board.wait" = ["polled"]
filesystem = ["jffs2", "ubifs", "yaffs2"]
"""
PHASES = ("creation", "transactions", "deletion")
REPEATS = "How far do repeats spread?"  # a section of the report
UBIFS = ("--case", "ubifs-s1", "--repeats", "1")
A_MINUTE_S = 60


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    """A board that is switched on."""
    case = cases()["ubifs-free-s1"]
    # A task that sleeps is woken when the host gets round to it; a busy one only counts.
    case = replace(case, board=replace(load_catalog().board("qemu-virt"), wait="polled"))
    made = make_board(tmp_path_factory.mktemp("board") / "board", case)
    made.switch_on()
    yield made
    made.cut_power()


@pytest.fixture(autouse=True)
def usable(board: Board) -> None:
    """Each test finds the board on."""
    board.make_usable()


@pytest.fixture
def place(board: Board, tmp_path: Path) -> Path:
    return board.place(tmp_path / "board.toml")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "onboard.toml"
    path.write_text(STUDY, "utf-8")
    return path


def ffslab(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ffslab", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "120"},
    )


def run_there(
    study: Path, place: Path, output: Path, *words: str
) -> subprocess.CompletedProcess[str]:
    there = ("--target", "ssh", "--access", place, "--yes", "--no-report", "-o", output)
    return ffslab("run", study, *there, *words)


def rows(output: Path) -> dict[str, Any]:
    """The results of the last run in a directory."""
    run = sorted(output.glob("*/manifest.json"))[-1].parent
    lines = (run / "results.jsonl").read_text("utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def phases(row: dict[str, Any]) -> dict[str, Any]:
    return {phase["phase"]: phase for phase in row["phases"]}


@pytest.fixture(scope="module")
def there(board: Board, study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a run on the board is: three file systems, each case twice."""
    output = tmp_path_factory.mktemp("there")
    place = board.place(output / "board.toml")
    done = run_there(study, place, output, "--repeats", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    return output


@pytest.fixture(scope="module")
def here(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a run of the same in the lab is."""
    output = tmp_path_factory.mktemp("here")
    done = ffslab("run", study, "--no-report", "-o", output)
    assert done.returncode == 0, done.stdout + done.stderr
    return output


def test_a_study_passes_there_and_each_case_is_repeated(there: Path) -> None:
    found = rows(there)
    assert {row["outcome"] for row in found.values()} == {"pass"}
    plain = {"jffs2-s1", "ubifs-s1", "yaffs2-s1"}
    assert set(found) == plain | {name.replace("-s1", "-repeat2-s1") for name in plain}


def test_times_are_of_a_real_clock_and_flash_is_counted(there: Path) -> None:
    found = rows(there)
    one, again = (phases(found[name]) for name in ("ubifs-s1", "ubifs-repeat2-s1"))
    assert all(one[name]["duration_ns"] > 0 for name in PHASES)
    assert any(one[name]["duration_ns"] != again[name]["duration_ns"] for name in PHASES)
    assert one["transactions"]["pages_programmed"] > 0
    assert "flash_ns" not in one["transactions"]  # only the virtual chip knows
    manifest = json.loads(next(there.glob("*/manifest.json")).read_text())
    assert manifest["real_clock"] and manifest["target"] == "ssh"
    for row in found.values():
        # From the first step to the agent's end, not since the board was switched on.
        first, last = row["steps"][0], row["steps"][-1]
        span = last["t_start_ns"] + last["duration_ns"] - first["t_start_ns"]
        assert span <= row["virtual_ns"] <= span + 10**9


def test_the_flash_is_asked_for_what_the_lab_asks(there: Path, here: Path) -> None:
    """Threads of the file systems work by the clock: a few pages more or fewer."""
    board, lab = rows(there), rows(here)
    for name, row in lab.items():
        for phase, found in phases(row).items():
            if phase in PHASES:
                pages = phases(board[name])[phase]["pages_programmed"]
                expected = found["pages_programmed"]
                assert abs(pages - expected) <= max(4, 0.05 * expected), (name, phase)


def test_lab_and_board_are_compared(there: Path, here: Path) -> None:
    runs = [next(one.glob("*/manifest.json")).parent for one in (here, there)]
    done = ffslab("compare", *runs)
    assert done.returncode == 4, done.stderr  # not comparable: the errors of a model
    assert "model error: the lab against the median of the board's repeats" in done.stdout
    print(done.stdout[done.stdout.index("model error") :])
    for metric, most in (("Pages programmed", 1), ("Time", 10)):
        summary = next(line for line in done.stdout.splitlines() if f"{metric}:" in line)
        assert float(summary.partition("median error ")[2].partition(" %")[0]) <= most
    assert "NOT DETERMINISTIC" not in done.stdout


def test_a_report_has_the_case_in_the_middle_and_the_range(there: Path) -> None:
    run = next(there.glob("*/manifest.json")).parent
    done = ffslab("report", run)
    assert done.returncode == 0, done.stderr
    page = (run / "report.html").read_text("utf-8")
    assert "repeat2" not in page.partition(REPEATS)[0]
    assert REPEATS in page


VAGUE = {
    "chips": 'extends = "{chip}"\n[figures]\n'
    + "".join(
        f'{name} = {{ value = {value}, source = "a guess", estimate = true }}\n'
        for name, value in (
            ("t_read_ns", 61_000),
            ("t_prog_ns", 400_000),
            ("t_erase_ns", 2 * 10**6),
        )
    ),
    "boards": 'extends = "apf27"\nchip = "vague"\n',
}


def test_its_chip_is_calibrated_there(board: Board, tmp_path: Path) -> None:
    """From figures that are wrong by far; a driver that polls is not told from the array."""
    mine, chip = tmp_path / "mine", board.case.board.chip
    for kind, text in VAGUE.items():
        (mine / kind).mkdir(parents=True)
        head = 'schema = 1\nname = "vague"\ntitle = "Vague"\n'
        (mine / kind / "vague.toml").write_text(head + text.replace("{chip}", chip.name))
    place = board.place(tmp_path / "board.toml", board="vague")
    done = ffslab(
        *("calibrate", "--board", "vague", "--target", "ssh", "--access", place, "--yes"),
        *("--set", "part=device", "--catalog", mine, "--to", mine, "--output", tmp_path / "runs"),
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    known, found = board.case.board, load_catalog([mine]).board("vague-calibrated")
    assert found.calibrated and found.wait == "polled"
    for part, driver, within in (
        ("t_erase_ns", "driver_erase_ns", 0.03),
        ("t_prog_ns", "driver_program_ns", 0.06),
        ("t_read_ns", "driver_read_ns", 0.06),
    ):
        # Some 10 us more: the code of MTD and vnand takes time there, too.
        whole, given = (getattr(one.chip, part) + getattr(one, driver) for one in (found, known))
        assert given <= whole <= given * (1 + within), part


def refused(board: Board, study: Path, place: Path, tmp_path: Path) -> str:
    """What is said of a board that must not be written; its flash stays what it is."""
    board.shell("sync")
    before = flash_digest(board.directory / FLASH_NAME)
    done = run_there(study, place, tmp_path / "results", *UBIFS)
    assert done.returncode == 3, done.stdout + done.stderr
    assert flash_digest(board.directory / FLASH_NAME) == before
    assert not (tmp_path / "results").exists()
    return " ".join(done.stderr.split())


def test_another_size_is_another_partition(board: Board, study: Path, tmp_path: Path) -> None:
    place = board.place(tmp_path / "b.toml", partition={"name": "data", "size": "8 MiB"})
    assert "partition data has 16 MiB" in refused(board, study, place, tmp_path)


def test_a_partition_that_is_not_there(board: Board, study: Path, tmp_path: Path) -> None:
    place = board.place(tmp_path / "b.toml", partition={"name": "root", "size": "16 MiB"})
    assert "no MTD partition is called 'root'" in refused(board, study, place, tmp_path)


def test_a_mounted_partition_is_not_touched(
    board: Board, study: Path, place: Path, tmp_path: Path
) -> None:
    left = run_there(study, place, tmp_path / "jffs2", "--case", "jffs2-s1", "--repeats", "1")
    assert left.returncode == 0, left.stdout + left.stderr
    board.shell("mkdir -p /mnt && mount -t jffs2 -o ro mtd:data /mnt")
    try:
        assert "partition data is mounted on /mnt" in refused(board, study, place, tmp_path)
    finally:
        board.shell("umount /mnt")


def test_what_overlaps_the_partition_and_is_in_use_is_not_touched(
    board: Board, study: Path, place: Path, tmp_path: Path
) -> None:
    """First mounted, then attached to UBI; both by the agent that is there after a run began."""
    elsewhere = board.place(tmp_path / "none.toml", partition={"name": "none", "size": "16 MiB"})
    refused(board, study, elsewhere, tmp_path)

    def do(*steps: str) -> None:
        plan = "".join(f"{one}\\n" for one in ("ffsplan 1", *steps))
        board.shell(f"cd /tmp && printf '{plan}' >own && ffslab/ffsagent run -o /dev/null own")

    told = f"partition data overlaps '{OVERLAPS}' (mtd1, 2 MiB), which is"
    mount = f"mount type=jffs2 source=mtd:{OVERLAPS} target=/mnt flags=ro"  # it formats nothing
    do(f"erase mtd={OVERLAPS}", mount)
    try:
        assert f"{told} mounted on /mnt" in refused(board, study, place, tmp_path)
    finally:
        board.shell("umount /mnt")
    do(f"ubi-attach mtd={OVERLAPS} ubi=5", "sleep ms=2000")
    try:
        assert f"{told} attached to UBI as ubi5" in refused(board, study, place, tmp_path)
    finally:
        do("ubi-detach ubi=5")


def test_without_yes_and_a_terminal_nothing_is_destroyed(
    board: Board, study: Path, place: Path, tmp_path: Path
) -> None:
    before = flash_digest(board.directory / FLASH_NAME)
    done = ffslab("run", study, "--target", "ssh", "--access", place, "-o", tmp_path / "r")
    assert done.returncode == 2
    told = " ".join(done.stderr.split())
    assert "MTD partition 'data' (16 MiB) of test-board" in told and "--yes" in told
    assert flash_digest(board.directory / FLASH_NAME) == before


def test_a_case_of_another_flash_is_skipped_with_the_reason(
    study: Path, place: Path, tmp_path: Path
) -> None:
    words = (*UBIFS, "--set", "partition_bytes=8 MiB")
    done = run_there(study, place, tmp_path, *words)
    assert done.returncode == 0, done.stderr
    (row,) = rows(tmp_path).values()
    assert row["outcome"] == "skip"
    assert "the board's partition has 16 MiB" in row["reason"]


def test_without_flashmon_ubi_says_what_was_erased(
    board: Board, study: Path, tmp_path: Path
) -> None:
    place = board.place(tmp_path / "b.toml", modules=None)
    done = run_there(study, place, tmp_path, *UBIFS)
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = rows(tmp_path).values()
    assert row["outcome"] == "pass"
    assert phases(row)["transactions"]["duration_ns"] > 0
    assert not row["flash"] and not phases(row)["transactions"]["flash"]
    assert row["erase_counters"]["blocks"] == 128
    told = board.shell("cd /sys/class/mtd/mtd0 && cat name bad_blocks bbt_blocks ecc_strength")
    name, bad, table, strength = told.split()
    assert name == "data"
    assert row["mtd_statistics"] == {
        "corrected_bits": 0,
        "ecc_failures": 0,
        "grown_bad_blocks": 0,
        "bad_blocks": int(bad),
        "bbt_blocks": int(table),
        "ecc_strength_bits": int(strength),
        "bitflip_threshold_bits": row["mtd_statistics"]["bitflip_threshold_bits"],
    }
    assert int(strength) == board.case.board.chip.ecc_strength_bits


RAW = STUDY.partition("[base.workload]")[0] + 'filesystem = "mtd"\n[base.workload]\nkind = "raw"\n'


def test_bits_that_the_ecc_corrects_are_the_cases_own(board: Board, tmp_path: Path) -> None:
    """A board with a worse chip: what two cases made it correct is what its kernel has counted.

    61 bits of a million are wrong, 0.25 of the 4,096 of a step; 8 are corrected.
    """
    study = tmp_path / "raw.toml"
    study.write_text(RAW, "utf-8")
    faults = {"rber_e12": 61_000_000, "ecc_strength_bits": 8}
    good = board.case
    worse = replace(good, board=replace(good.board, chip=replace(good.board.chip, **faults)))
    bad = make_board(tmp_path / "worse", worse)
    bad.switch_on()
    try:
        place = bad.place(tmp_path / "b.toml", modules=None)
        done = run_there(study, place, tmp_path, "--repeats", "2")
        assert done.returncode == 0, done.stdout + done.stderr
        corrected = int(bad.shell("cat /sys/class/mtd/mtd0/corrected_bits"))
    finally:
        bad.cut_power()
    counted = [row["mtd_statistics"]["corrected_bits"] for row in rows(tmp_path).values()]
    print(f"bits corrected: {counted}, in all {corrected}")
    assert len(counted) == 2 and min(counted) > 0
    assert sum(counted) == corrected
    run = next(tmp_path.glob("*/manifest.json")).parent
    assert ffslab("report", run).returncode == 0
    assert "Bits corrected, as MTD counted" in (run / "report.html").read_text("utf-8")


def while_it_runs(board: Board, what: Callable[[], None]) -> threading.Thread:
    """Does something to the board once a case's workload is running there."""

    def act() -> None:
        ends_s = time.monotonic() + A_MINUTE_S
        while time.monotonic() < ends_s:
            if "ubi0:data" in board.shell("cat /proc/mounts"):
                what()
                return
            time.sleep(0.2)

    thread = threading.Thread(target=act)
    thread.start()
    return thread


def long_one(tmp_path: Path) -> Path:
    """A study whose case takes so long that something can happen to it."""
    path = tmp_path / "long.toml"
    path.write_text(STUDY.replace("transactions = 150", "transactions = 3000"), "utf-8")
    return path


def test_a_power_cut_fails_the_case_and_the_run_goes_on_afterwards(
    board: Board, place: Path, tmp_path: Path
) -> None:
    """The board comes back by itself; the case has failed, and the next one finds it ready."""

    def cut() -> None:
        board.cut_power()
        board.switch_on()

    thread = while_it_runs(board, cut)
    words = ("--case", "ubifs-s1", "--case", "yaffs2-s1", "--repeats", "1")
    done = run_there(long_one(tmp_path), place, tmp_path, *words)
    thread.join()
    assert done.returncode == 1, done.stdout + done.stderr
    found = rows(tmp_path)
    assert found["ubifs-s1"]["outcome"] == "fail"
    assert "started anew" in found["ubifs-s1"]["reason"]
    assert found["yaffs2-s1"]["outcome"] == "pass"


def test_a_board_that_hangs_is_a_failure_and_the_run_can_be_resumed(
    board: Board, tmp_path: Path
) -> None:
    place = board.place(tmp_path / "b.toml", restart_s=5)
    thread = while_it_runs(board, board.hang)
    words = ("--case", "ubifs-s1", "--case", "yaffs2-s1", "--repeats", "1")
    done = run_there(long_one(tmp_path), place, tmp_path, *words)
    thread.join()
    assert done.returncode == 3, done.stdout + done.stderr
    assert "does not answer" in done.stderr and "--resume" in done.stderr
    (row,) = rows(tmp_path).values()
    assert row["outcome"] == "fail" and "has not come back" in row["reason"]
    board.go_on()
    run = next(tmp_path.glob("*/manifest.json")).parent
    again = ffslab("run", run, "--resume", "--yes", "--no-report", "-o", tmp_path)
    assert again.returncode == 1, again.stdout + again.stderr
    found = rows(tmp_path)
    assert found["ubifs-s1"] == row
    assert found["yaffs2-s1"]["outcome"] == "pass"


def test_a_full_disk_there_fails_the_case(board: Board, place: Path, tmp_path: Path) -> None:
    def fill() -> None:
        board.shell("dd if=/dev/zero of=/tmp/full bs=4096 2>/dev/null; true")

    thread = while_it_runs(board, fill)
    done = run_there(long_one(tmp_path), place, tmp_path, *UBIFS)
    thread.join()
    board.shell("rm -f /tmp/full")
    assert done.returncode == 1, done.stdout + done.stderr
    (row,) = rows(tmp_path).values()
    assert row["outcome"] == "fail"
    assert "No space left on device" in row["reason"]


def test_no_more_is_brought_back_than_a_case_may_record(
    study: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FFSLAB_RECORDS_MIB", "0.001")
    done = run_there(study, place, tmp_path, *UBIFS)
    assert done.returncode == 1, done.stdout + done.stderr
    (row,) = rows(tmp_path).values()
    assert row["outcome"] == "fail"
    assert "its records have more than 1.0 KiB (FFSLAB_RECORDS_MIB" in row["reason"]
    (records,) = tmp_path.glob("*/cases/*/records.jsonl")
    assert records.stat().st_size == 1048


def test_a_case_that_takes_too_long_is_ended_there(
    board: Board, place: Path, tmp_path: Path
) -> None:
    path = tmp_path / "endless.toml"
    longer = STUDY.replace("number = 60", "number = 1000")
    path.write_text(longer.replace("transactions = 150", "transactions = 50000"), "utf-8")
    done = run_there(path, place, tmp_path, *UBIFS, "--timeout", "15")
    assert done.returncode == 1, done.stdout + done.stderr
    (row,) = rows(tmp_path).values()
    assert row["outcome"] == "timeout", row["reason"]
    assert "ffsagent" not in board.shell("ps")


def test_states_are_prepared_on_the_flash_that_is_there(place: Path, tmp_path: Path) -> None:
    """No flash is kept: the guest that prepares it runs right before the case's own."""
    path = tmp_path / "requests.toml"
    requests = STUDY.partition("[base.workload]")[0] + (
        'filesystem = "jffs2"\nstate = "saturated"\n'
        '[base.workload]\nkind = "micro"\nvolume_bytes = "256 KiB"\n'
    )
    path.write_text(requests, "utf-8")
    done = run_there(path, place, tmp_path, "--repeats", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = rows(tmp_path).values()
    assert row["outcome"] == "pass"
    assert row["preparation"]["outcome"] == "pass"
    assert row["preparation"]["prepared"]["invalid_bytes"] > 8 * 2**20
    (stream,) = row["requests"]
    assert (stream["count"], stream["bytes"]) == (64, 256 * 1024)


TREES = STUDY.partition("[base.workload]")[0] + (
    'filesystem = "ubifs"\n[base.workload]\nkind = "tree"\n'
    'steps = "mount settle create sync crash mount list unmount"\n'
    'files = "constant(4)"\ndirectories = "constant(2)"\ndepth = "constant(2)"\n'
)
# In the place of labgrid's client, which needs a coordinator and something to switch: it says what
# it was asked for, and waits until that was done.
CLIENT = """#!/bin/sh
echo "$@" >{directory}/asked.part && mv {directory}/asked.part {directory}/asked
while [ ! -e {directory}/done ]; do sleep 0.2; done
"""


def test_a_case_that_cuts_the_power_needs_somebody_who_does(place: Path, tmp_path: Path) -> None:
    path = tmp_path / "trees.toml"
    path.write_text(TREES, "utf-8")
    done = run_there(path, place, tmp_path, "--repeats", "1")
    (row,) = rows(tmp_path).values()
    assert (done.returncode, row["outcome"]) == (0, "skip")
    assert "which nothing here can switch" in row["reason"]


def test_power_is_cut_by_labgrid_and_the_case_goes_on(
    board: Board, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was synced before the cut is there after it: 4 files in each of 1 + 2 + 4 directories.

    The cut comes while the file system is mounted, so that the next mount recovers.
    """
    path = tmp_path / "trees.toml"
    path.write_text(TREES, "utf-8")
    client = tmp_path / "labgrid-client"
    client.write_text(CLIENT.format(directory=tmp_path), "utf-8")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    mounted = []

    def switch() -> None:
        ends_s = time.monotonic() + 2 * A_MINUTE_S
        while not (tmp_path / "asked").exists():
            if time.monotonic() > ends_s:
                return
            time.sleep(0.2)
        mounted.append("ubi0:data" in board.shell("cat /proc/mounts"))
        board.cut_power()
        board.switch_on()
        (tmp_path / "done").touch()

    thread = threading.Thread(target=switch)
    thread.start()
    done = run_there(path, place, tmp_path, "--repeats", "1", "--labgrid", "desk")
    thread.join()
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "asked").read_text() == "-p desk power cycle\n"
    assert mounted == [True]
    (row,) = rows(tmp_path).values()
    assert row["outcome"] == "pass"
    listed = next(one for one in row["tree"]["steps"] if one["step"] == "list")
    assert listed["files"] == 28
