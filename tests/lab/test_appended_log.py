"""The step append-log on the file systems of the lab: what its syncs cost, and that it repeats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_support import Boot, boot, cases, results, run_study

from ffslab.lab.lab_build import LabBuild
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


# The same through `ffslab run`.

SMALL = """
schema = 1
name = "logs"
title = "Small logs"

[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1]

[base.workload]
kind = "append-log"
lines = 300
interval_us = 1000
rotate_bytes = "8 KiB"
keep = 2
verify = true

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
state = ["free", "saturated", "aged", { name = "used", valid_percent = 85 }]
"workload.fsync_every" = [1, 0]
"""
FULL = """
schema = 1
name = "full"
title = "A log that fills the partition"

[base]
board = "apf27"
partition_bytes = "16 MiB"
state = { valid_percent = 90 }

[base.workload]
kind = "append-log"
lines = 500
line_bytes = "64 KiB"
interval_us = 0
fsync_every = 0
verify = true

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
"options.compression" = ["none"]
"""


@pytest.fixture(scope="module")
def runs(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:  # noqa: ARG001
    """Two runs of one study, with states of their own and another number of workers."""
    directory = tmp_path_factory.mktemp("small")
    study = directory / "logs.toml"
    study.write_text(SMALL)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for jobs in ("1", "2"):
            patch.setenv("FFSLAB_STATE_CACHE", str(directory / f"state-{jobs}"))
            found.append(run_study(study, directory / f"out-{jobs}", "--jobs", jobs))
        yield found[0], found[1]


def test_two_runs_have_the_same_results(runs: tuple[Path, Path]) -> None:
    one, two = ((run / "results.jsonl").read_bytes() for run in runs)
    assert one == two


def test_what_a_line_costs_is_what_the_chip_counts(runs: tuple[Path, Path]) -> None:
    found = results(runs[0])
    assert len(found) == 24
    for result in found:
        assert result["outcome"] == "pass", (result["id"], result["reason"])
        log, phases = result["append_log"], {p["phase"]: p for p in result["phases"]}
        chip = phases["workload"]["flash"]
        # JFFS2 marks an erased block in its OOB area alone, which is no page. The chip's counters
        # are read right after the monitor's, on which the figures are: an operation may be between.
        pages = chip["chip_programs"] - chip["oob_programs"]
        assert abs(log["pages_per_line"] * 300 - pages) < 1.5
        assert abs(log["erases_per_1000_lines"] * 0.3 - chip["chip_erases"]) < 1.5
        own = phases["append"]["pages_programmed"] + phases["flush"]["pages_programmed"]
        # A page or two may be programmed between a phase and its snapshot.
        assert 0 <= chip["pages_programmed"] - own <= 2
        assert sum(task["pages_programmed"] for task in log["tasks"]) == own
        # 300 lines of 128 bytes, 64 in a file.
        assert (log["lines_done"], log["rotations"]) == (300, 4)
        synced = result["axes"]["workload.fsync_every"] == 1
        assert log["synced"] == (300 if synced else 0)
        lines = {latency["op"]: latency["count"] for latency in result["latencies"]}
        assert lines["append"] == 300 and lines["rotate"] == 4
        assert (log["pages_per_line"] >= 1) == synced


def test_the_state_is_prepared_before(runs: tuple[Path, Path]) -> None:
    for result in results(runs[0]):
        prepared = result["preparation"]["prepared"]
        state = result["spec"]["state"]["name"]
        assert (prepared["valid_bytes"] > 0) == (state in ("used", "aged"))
        assert (prepared["capacity_bytes"] > 0) == (state == "saturated")
        assert bool(prepared["invalid_present"]) == (state in ("saturated", "aged"))


def test_invalid_data_is_gone_before_the_first_line(runs: tuple[Path, Path]) -> None:
    for result in results(runs[0]):
        phases = {phase["phase"]: phase for phase in result["phases"]}
        invalid = result["spec"]["state"]["name"] in ("saturated", "aged")
        assert ("invalidate" in phases) == invalid
        if invalid:
            assert phases["invalidate"]["files_deleted"] == 1
            free = {space["label"]: space["free_bytes"] for space in result["space"]}
            freed = free["append:start"] - free["invalidate:start"]
            assert freed >= 0.8 * result["preparation"]["prepared"]["invalid_bytes"]


def test_a_full_partition_is_a_short_log(lab: LabBuild, tmp_path: Path) -> None:  # noqa: ARG001
    study = tmp_path / "full.toml"
    study.write_text(FULL)
    found = results(run_study(study, tmp_path / "out", status=1))
    assert len(found) == 3
    for result in found:
        short, log = result["short"], result["append_log"]
        assert result["outcome"] == "short", (result["id"], result["reason"])
        assert (short["what"], short["stopped"], short["asked"]) == ("lines", "ENOSPC", 500)
        assert 0 < short["measured"] == log["lines_done"] < 500
        # What was written is read back.
        phases = {phase["phase"]: phase for phase in result["phases"]}
        assert phases["verify"]["bytes_read"] >= log["bytes"]
