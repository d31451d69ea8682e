"""Profiles of real guests: nothing else changes, all time is told, and a planted loss is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_support import ffslab, run_study
from planted_module import catalog_of_changed

from ffslab.lab.lab_build import LabBuild
from ffslab.protocol.profile import PROFILE_NAME, Profile, read_profile
from ffslab.protocol.records import read_records
from ffslab.results.profiles import chosen, stacks_of, tasks_of
from ffslab.targets.target import RECORDS_NAME

STUDY = """
schema = 1
name = "profiled"
title = "A few files, by function"

[base]
board = "apf27"
partition_bytes = "16 MiB"

[base.workload]
number = 60
subdirectories = 3
transactions = 60

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2", "logfs"]
"""
# What each writes its data through.
WRITES = {
    "jffs2": "jffs2_write_dnode",
    "ubifs": "ubifs_wbuf_write_nolock",
    "yaffs2": " yaffs",
    "logfs": " logfs",
}


@pytest.fixture(scope="module")
def run(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose guests had the same records under the profiler: ffslab compares them itself."""
    del lab
    root = tmp_path_factory.mktemp("profiled")
    study = root / "profiled.toml"
    study.write_text(STUDY)
    return run_study(study, root / "results", "--profile")


def case_of(run: Path, filesystem: str) -> tuple[Profile, Path]:
    (directory,) = run.glob(f"cases/{filesystem}-*")
    return read_profile(directory / PROFILE_NAME), directory


@pytest.mark.parametrize("filesystem", WRITES)
def test_all_time_of_a_phase_is_told_as_the_kernel_tells_it(run: Path, filesystem: str) -> None:
    """By task and kind the functions have together what /dev/vtime says, but for what is charged
    between the last block and the program's look at it, a microsecond or two.
    """
    profile, directory = case_of(run, filesystem)
    assert profile.lost_ns == 0
    phases = {
        f"{phase.workload}/{phase.name}": phase
        for phase in read_records(directory / RECORDS_NAME).phases
    }
    windows = {window.name: window for window in profile.windows}
    assert {"ffsmark/creation", "ffsmark/transactions"} <= set(phases) & set(windows)
    for name, phase in phases.items():
        if name not in windows:
            assert phase.t_start_ns == phase.t_end_ns
            continue
        window = windows[name]
        assert window.total_ns == phase.t_end_ns - phase.t_start_ns
        told = {task["name"]: task for task in phase.task_times}
        for task, ns in tasks_of([window]):
            parts = told[task]
            whole = parts["code_ns"] + parts["driver_ns"] + parts["chip_ns"]
            assert ns == pytest.approx(whole, abs=5000), (name, task)


@pytest.mark.parametrize("filesystem", WRITES)
def test_functions_stand_below_their_callers(run: Path, filesystem: str) -> None:
    profile, _ = case_of(run, filesystem)
    windows = chosen(profile, "ffsmark/creation")
    stacks = stacks_of(windows)
    assert any(WRITES[filesystem] in "".join(stack) for stack in stacks)
    for stack in stacks:
        if "[chip]" in stack or "[driver]" in stack:
            assert stack[-1] in ("[chip]", "[driver]"), "a chip calls nobody"
    # A system call begins at its entry, and a thread at kthread().
    own = [stack for stack in stacks if stack[0] == "init" and len(stack) > 1]
    entered = sum(stacks[s] for s in own if s[1].startswith(("sys_", "ksys_", "do_sys", "__")))
    assert entered > 0.9 * sum(stacks[stack] for stack in own)


LOADS = "\tint err = yaffs_object_load(obj);\n\n\t/* A damaged object can still be deleted"
DELAY = (
    ("core/header_io.c", '#include "alloc.h"\n', '#include <linux/delay.h>\n#include "alloc.h"\n'),
    ("core/header_io.c", LOADS, LOADS.replace("(obj);\n", "(obj);\n\n\tudelay(150);\n", 1)),
)


def test_a_planted_loss_is_named(tmp_path: Path) -> None:
    """YAFFS2 with a delay in one of its functions: `compare` names the function and its time."""
    runs = []
    for name, planted in (("base", ()), ("slower", DELAY)):
        directory = tmp_path / name
        directory.mkdir()
        catalog = catalog_of_changed("yaffs2", planted, directory)
        study = directory / "profiled.toml"
        own = STUDY.replace('["jffs2", "ubifs", "yaffs2", "logfs"]', '["yaffs2-planted"]')
        study.write_text(own)
        words = ("--profile", "--catalog", str(catalog))
        runs.append(str(run_study(study, directory / "results", *words)))
    done = ffslab("compare", *runs, "--profile")
    assert done.returncode == 1, done.stdout + done.stderr
    text = " ".join(done.stdout.split())
    assert "by function: yaffs_header_write yaffs +" in text, done.stdout
    first = next(line for line in done.stdout.splitlines() if line.startswith("yaffs_header_write"))
    assert first == next(
        line for line in done.stdout.splitlines() if line.startswith(("yaffs_", "mtd_", "__"))
    )
