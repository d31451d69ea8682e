"""The step tiobench on the file systems of the lab: what the flash did for it; fio beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fio_support import MOUNT_POINT, Job, exec_step, fio_results, fio_steps, guest_files
from lab_support import results, run_study
from test_fio import case_of, guest

from ffslab.lab.lab_build import LabBuild

TOLERANCE = 0.02
FILE_BYTES = 4 << 20
COUNTED = ("pages_read", "pages_programmed", "blocks_erased")
STUDY = """
schema = 1
name = "tio"
title = "Small files"

[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1]

[base.workload]
kind = "tiobench"
file_bytes = "2 MiB"
random_bytes = "512 KiB"

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
"workload.threads" = [1, 2]
"workload.block_bytes" = ["128 KiB", "1000 B"]
"""


def test_the_phases_on_every_file_system(lab: LabBuild, tmp_path: Path) -> None:  # noqa: ARG001
    study = tmp_path / "tio.toml"
    study.write_text(STUDY)
    found = results(run_study(study, tmp_path / "out"))
    assert len(found) == 12
    for result in found:
        assert result["outcome"] == "pass", (result["id"], result["reason"])
        flash = {phase["phase"]: phase for phase in result["phases"]}
        for phase in result["tiobench"]["phases"]:
            check_phase(phase, flash)


def check_phase(phase: Any, flash: Any) -> None:
    name, slowest = phase["phase"], phase["slowest"]
    assert phase["requests_done"] == phase["requests"]
    during = {key: sum(task[key] for task in slowest["tasks"]) for key in COUNTED}
    assert all(during[key] <= flash[name][key] for key in COUNTED)
    assert 0 < slowest["latency_ns"] <= flash[name]["duration_ns"]
    if phase["op"] == "write":
        # Nothing shortens random bytes: each of them is programmed.
        assert phase["on_flash_amplification"] >= 1
    elif name == "read":
        # The cache was dropped: 2 MiB are 1,024 pages, but for some in a cache of YAFFS2's own.
        assert flash[name]["pages_read"] >= 1000
    assert flash[name]["flash_ns"] <= flash[name]["duration_ns"]


def tiobench(done: Any, name: str) -> tuple[float, dict[str, int]]:
    """Mean latency of a phase, and flash operations up to the end of its flush."""
    (latency,) = [r for r in done.of_type("latency") if r["phase"] == name]
    counters = {r["label"]: r["counters"] for r in done.of_type("flash")}
    last = f"{name}-flush:end" if name == "write" else f"{name}:end"
    before, after = counters[f"{name}:start"], counters[last]
    return latency["sum_ns"] / latency["count"], {key: after[key] - before[key] for key in COUNTED}


@pytest.mark.parametrize("filesystem", ["jffs2", "yaffs2"])
def test_fio_measures_the_same(lab: LabBuild, tmp_path: Path, filesystem: str) -> None:
    """Writing a file from start to end and reading it, in guests with the same flash."""
    case, block = case_of(filesystem), 128 << 10
    jobs = [
        Job("sequential-write", block, FILE_BYTES, f"{MOUNT_POINT}/fio"),
        Job("sequential-read", block, FILE_BYTES, f"{MOUNT_POINT}/fio"),
    ]
    files = guest_files(tmp_path / "files", jobs)
    made = exec_step("mkdir", f"{MOUNT_POINT}/fio")
    keys = f"file_bytes={FILE_BYTES} random_bytes={block} block_bytes={block}"
    step = f"tiobench dir={MOUNT_POINT}/fio {keys}"
    ours = guest(lab, tmp_path / "tiobench", case, [made, step], files=files)
    theirs = guest(lab, tmp_path / "fio", case, [made, *fio_steps(jobs)], files=files)
    for name, fio in zip(("write", "read"), fio_results(theirs, jobs), strict=True):
        latency_ns, flash = tiobench(ours, name)
        print(f"\n{filesystem} {name}: {latency_ns:.0f} ns, fio {fio.latency_ns:.0f} ns; ")
        print(f"{flash}, fio {fio.flash}")
        assert fio.latency_ns == pytest.approx(latency_ns, rel=TOLERANCE)
        for key in COUNTED:
            # YAFFS2 has 66 reads against 64 in a write, and no erase against one: its background
            # collector is the likely cause, which was not traced.
            wanted = pytest.approx(flash[key], rel=TOLERANCE, abs=2)
            assert fio.flash[key] == wanted, key
