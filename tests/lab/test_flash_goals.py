"""The benchmark's part `flash` in a reduced form, and the goals of YAFFS2 and LogFS that it checks.

Reduced are the numbers of overwrites and of directory entries, and there are no other file
systems; chip, partition and the file of 40 MiB are those of the goals. Flash operations are
counted and times are virtual, so the host's speed decides nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench import flash_table as tables
from bench.flash_cost import FlashCosts, WorkloadCost, measure
from bench.flash_plans import Sizes
from bench.guest import Runner

from ffslab.campaign.run import usable_cpus
from ffslab.lab.lab_build import LabBuild

SIZES = Sizes(
    records=(4096, 512),
    overwrites=2000,
    overwrites_again=16_000,
    small_files=200,
    directories=(1250, 10_000),
)
FILE_PAGES = SIZES.file_bytes // 2048


@pytest.fixture(scope="module")
def costs(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> FlashCosts:
    scratch = tmp_path_factory.mktemp("flash")
    runner = Runner(scratch, usable_cpus()[-1])
    filesystems = ("yaffs2", "logfs")
    return measure(lab, runner, scratch, lambda _: None, SIZES, filesystems, ffsmark=False)


def workload(costs: FlashCosts, name: str, filesystem: str = "yaffs2") -> WorkloadCost:
    (found,) = [c for c in costs.workloads if (c.filesystem, c.workload) == (filesystem, name)]
    return found


def test_every_goal_is_met(costs: FlashCosts) -> None:
    checks = tables.checks(costs)
    # Of YAFFS2 two sequential writes, two rows of overwrites, three mounts, five operations on
    # directories; of LogFS sequential writes and directories.
    assert len(checks) == 12 + 7
    assert not [f"{check.name}: {check.value:.4f}, {check}" for check in checks if not check.met]


def test_every_program_is_one_of_the_file_system_s_statistics(costs: FlashCosts) -> None:
    own = [cost for cost in costs.workloads if cost.filesystem == "yaffs2"]
    assert {cost.workload: cost.phase.other_programs for cost in own} == {
        cost.workload: 0 for cost in own
    }


@pytest.mark.parametrize("record", SIZES.records)
def test_a_sequential_write_programs_each_page_once(costs: FlashCosts, record: int) -> None:
    phase = workload(costs, f"sequential-{record}").phase
    assert phase.own["data_writes"] == FILE_PAGES
    # One page of 64 is a block's summary; a header each at creation, at fsync() and of the root.
    assert phase.own["summary_writes"] == FILE_PAGES // 63
    assert phase.own["header_writes"] <= 3
    assert phase.own["gc_copies"] == phase.erased == 0


def test_a_block_found_empty_is_verified_at_its_first_write_only(costs: FlashCosts) -> None:
    phase = workload(costs, "sequential-4096").phase
    blocks_begun = phase.own["sequence"]
    assert blocks_begun == phase.own["summary_writes"] + 1
    # The page is read before the write and after it; nothing else is read at all.
    assert phase.read == phase.own["pages_verified"] == 2 * blocks_begun


def test_the_later_overwrites_make_garbage_that_is_collected(costs: FlashCosts) -> None:
    """Else the goal that they read nothing would not speak of copies."""
    phase = workload(costs, "again").phase
    assert phase.erased > 0
    assert phase.own["gc_copies"] > 0
    assert phase.read == phase.own["gc_copies"] + phase.own["pages_verified"]


def test_a_summary_spares_the_scan_a_read_per_page(costs: FlashCosts) -> None:
    reads = {cost.how: cost.phase.read for cost in costs.mounts if cost.filesystem == "yaffs2"}
    assert reads["scan-bare"] > FILE_PAGES
    assert reads["crash"] <= reads["scan"] < FILE_PAGES / 10
    assert reads["clean"] < reads["scan"]


@pytest.mark.parametrize("record", SIZES.records)
def test_a_sequential_write_of_logfs_is_data_and_few_pointers(
    costs: FlashCosts, record: int
) -> None:
    """Each block is written once, each block of pointers when it is new and when it is full."""
    phase = workload(costs, f"sequential-{record}", "logfs").phase
    blocks = SIZES.file_bytes // 4096
    assert blocks <= phase.own["data_written"] <= blocks + 2
    assert phase.own["indirect_1_written"] <= 2 * -(-blocks // 512)
    assert phase.own["gc_objects"] == 0
    # Whatever else is programmed are headers of segments and what is left over at their ends.
    written = phase.own["object_bytes"] + phase.own["journal_bytes"]
    segments = phase.own["erasures"]
    rest = phase.programmed * 2048 - written
    assert -4 * 4096 <= rest <= segments * (24 + 4124)


def test_operations_of_logfs_on_a_larger_directory_read_little_more(costs: FlashCosts) -> None:
    """From 1,250 to 10,000 entries; a walk over them would read eight times as much."""
    reads = {
        (cost.operation, cost.entries): cost.phase.read / cost.phase.operations
        for cost in costs.directories
        if cost.filesystem == "logfs"
    }
    smallest, largest = SIZES.directories
    # The directory, two entries that are in the way, a pointer, the entry, the inode.
    assert reads["lookup", largest] <= 8
    for operation in ("create", "lookup", "lookup-all", "list", "remove"):
        assert reads[operation, largest] <= reads[operation, smallest] + 3
    assert reads["list", largest] <= 1
