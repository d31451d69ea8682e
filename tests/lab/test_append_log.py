"""The step append-log on the file systems of the lab: what its syncs cost, and that it repeats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_support import Boot, boot, cases

from ffslab.kernel.lab_build import LabBuild
from ffslab.targets.target import RECORDS_NAME
from ffslab.targets.virtual_flash import plan_text

STUDY = """
schema = 1
name = "append-log"
title = "Guests for a log"

[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1]

[base.workload]
number = 100

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
"""
CASES = cases(STUDY)
LINES = 300


def run(lab: LabBuild, directory: Path, name: str, keys: str) -> Boot:
    """The case's plan, with a log in the place of its workload."""
    lines = plan_text(CASES[name]).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("ffsmark "))
    lines[at] = f"append-log dir=/mnt lines={LINES} line_bytes=100 verify=1 {keys}"
    return boot(lab, directory, CASES[name], "\n".join(lines) + "\n")


def phase(guest: Boot, name: str) -> Any:
    (found,) = [r for r in guest.of_type("phase") if r["phase"] == name]
    assert found["workload"] == "append-log" and found["status"] == "ok"
    return found


def programmed(guest: Boot, name: str) -> int:
    found = phase(guest, name)
    return int(found["flash_end"]["chip_programs"] - found["flash_start"]["chip_programs"])


@pytest.mark.parametrize("name", CASES)
def test_a_synced_line_costs_a_page_and_an_unsynced_one_does_not(
    lab: LabBuild, tmp_path: Path, name: str
) -> None:
    synced = run(lab, tmp_path / "synced", name, "fsync_every=1 interval_us=1000")
    unsynced = run(lab, tmp_path / "unsynced", name, "fsync_every=0 interval_us=1000")
    assert programmed(synced, "append") >= LINES
    # 300 lines of 100 bytes are 15 pages.
    assert 15 <= programmed(unsynced, "append") + programmed(unsynced, "flush") < LINES / 2
    for guest in (synced, unsynced):
        assert phase(guest, "verify")["bytes_read"] == LINES * 100
        tasks = {r["phase"]: r["tasks"] for r in guest.of_type("tasks")}
        assert list(tasks) == ["append", "flush", "verify"]
        (log,) = guest.of_type("append-log")
        assert log["lines_done"] == LINES and not log["stopped"]
    # What is read back comes from the flash, but for ten pages in a cache of YAFFS2's own.
    read = phase(synced, "verify")
    assert read["flash_end"]["pages_read"] - read["flash_start"]["pages_read"] >= 5
    took = phase(synced, "append")
    assert took["t_end_ns"] - took["t_start_ns"] > LINES * 1_000_000


@pytest.mark.parametrize("name", CASES)
def test_two_runs_are_equal(lab: LabBuild, tmp_path: Path, name: str) -> None:
    keys = "fsync_every=4 sync=fdatasync rotate_bytes=5000 keep=2"
    guests = [run(lab, tmp_path / part, name, keys) for part in ("one", "two")]
    one, two = ((guest.directory / RECORDS_NAME).read_bytes() for guest in guests)
    assert one == two
    assert guests[0].flash.read_bytes() == guests[1].flash.read_bytes()
    assert guests[0].of_type("append-log")[0]["rotations"] == 5
