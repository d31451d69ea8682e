"""The workload random in guests: the same bytes twice, each file system by its history, and a
mistake that is planted, found and made small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from cut_guests import run_of
from planted_faults import Fault
from test_planted_faults import changed_module

from ffslab.campaign.again import opened_again
from ffslab.cli.crash import find_finding
from ffslab.lab.lab_build import LabBuild
from ffslab.results.rundir import RESULTS, RunDirectory
from ffslab.targets.several import Found
from ffslab.targets.target import SiteOptions
from ffslab.workloads.random.explore.again import minimized, replayed
from ffslab.workloads.random.result import findings
from ffslab.workloads.random.stored import stored_of
from ffslab.workloads.results import results_of
from findings import finding

STUDY = """
schema = 1
name = "kept"
title = "Does it keep what it was told?"

[base]
board = "apf27"
partition_bytes = "8 MiB"
seeds = [1]

[base.workload]
kind = "random"
rounds = 8
operations = 60
{left_out}
{workload}

[axes]
filesystem = [{filesystems}]
"""
ALL = '"jffs2", "ubifs", "yaffs2", "logfs"'
LEFT_OUT = (
    *finding("F-UBIFS-09", ('xattrs = "files"',)),
    *finding("F-JFFS2-08", ("over_emptied = false",)),
)
# Modes, owners and times that chmod(), chown() and utimensat() set stay in memory.
FORGETFUL = Fault(
    *("yaffs2-attributes", "what sets attributes does not write them", "", (), frozenset()),
    changes=(
        (
            "vfs/inode.c",
            "setattr_copy(COMPAT_IDMAP inode, attr);\n\tyaffs_inode_push(inode);\n\terr =",
            "setattr_copy(COMPAT_IDMAP inode, attr);\n\terr =",
        ),
    ),
)


def study(filesystems: str, workload: str = "", left_out: Sequence[str] = ()) -> str:
    lines = "\n".join(left_out)
    return STUDY.format(filesystems=filesystems, workload=workload, left_out=lines)


def test_equal_seeds_are_equal_bytes(lab: LabBuild, tmp_path: Path) -> None:
    del lab
    text = study(ALL, left_out=LEFT_OUT)
    runs = [run_of(text, tmp_path / f"out-{jobs}", jobs) for jobs in (1, 2)]
    one, two = ((run.path / RESULTS).read_bytes() for run in runs)
    assert one == two
    found = {result["id"].split("-")[0]: result for result in results_of(runs[0])}
    assert len(found) == 4
    for name, result in found.items():
        assert result["outcome"] == "pass", (name, result["reason"])
        stored = stored_of(result)
        assert stored is not None and stored["rounds_done"] == 8
        assert stored["operations_done"] == 480 and not stored["difference"]


@pytest.mark.parametrize(
    "workload",
    [
        'shape = "names"',
        'shape = "small-files"\nfull_percent = 40\nfills = 60',
        'shape = "large-files"\nfull_percent = 50\nafter = "remount"',
        'shape = "holes"\nafter = "drop"\ntimes = true',
        'shape = "data"\nafter = "nothing"',
    ],
)
def test_shapes_on_ours(lab: LabBuild, tmp_path: Path, workload: str) -> None:
    del lab
    run = run_of(study('"yaffs2", "logfs"', workload), tmp_path)
    for result in results_of(run):
        assert result["outcome"] == "pass", (result["id"], result["reason"])


def test_a_planted_mistake_is_found_and_made_small(lab: LabBuild, tmp_path: Path) -> None:
    del lab
    catalog = changed_module(FORGETFUL, tmp_path)
    run = run_of(study('"yaffs2-planted"', left_out=LEFT_OUT), tmp_path / "out", 1, (catalog,))
    (result,) = results_of(run)
    assert result["outcome"] == "corrupt", result["reason"]
    (finding,) = findings(result).values()
    assert finding["outcome"] == "attribute"
    smaller, is_there = made_small(run, finding["id"])
    calls = smaller.splitlines()
    # A file or a directory, what sets an attribute, and a mount.
    assert len(calls) <= 4 and is_there
    words = {line.split()[1] for line in calls}
    assert words & {"chmod", "chown"} and words & {"remount", "drop-caches"}


def made_small(run: RunDirectory, finding_id: str) -> tuple[str, bool]:
    """The shortest list of calls, and whether it ends like the finding."""
    case_id, _ = find_finding(run, finding_id)
    with opened_again(run, case_id, SiteOptions(), 60) as again:
        (finding,) = findings(again.result).values()
        room = (again.directory, again.guests, again.room)
        found = Found(again.case, again.result, finding, *room)
        smaller = minimized(found, lambda _: None)
        return smaller, replayed(replace(found, calls=smaller)).is_there
