"""What LogFS is to cost: mounts on the board of CELF 2009, and memory for blocks and aliases.

Flash operations per byte, and what a large directory costs, are in test_flash_goals.py.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from fstree import Script
from lab_support import results, run_study
from logfs_guest import CHIP_COUNTERS, STATE, UMOUNT, Chip, load, mount, no_violations, run, start

from ffslab.lab.lab_build import LabBuild

# --- mounts ---

GOAL_NS = 60_000_000


def mounts_ns(directory: Path, part: str, axis: str, values: str) -> list[int]:
    """Virtual time of the second mount of each case of a part of the study."""
    sets = [f"part={part}", f"{axis}={values}"]
    words = [word for text in sets for word in ("--set", text)]
    run_directory = run_study("logfs-mount", directory, *words)
    return [
        phase["duration_ns"]
        for result in results(run_directory)
        for phase in result["phases"]
        if phase["phase"] == "mount-2"
    ]


@pytest.mark.parametrize("end", ["clean", "crash"])
def test_a_mount_is_quick_and_no_slower_when_the_partition_is_fuller(
    lab: LabBuild,  # noqa: ARG001
    tmp_path: Path,
    end: str,
) -> None:
    sizes = '[0, "64 MiB", "128 MiB", "192 MiB", "230 MiB"]'
    empty, *filled = mounts_ns(tmp_path, f"fill-256-{end}", "workload.size", sizes)
    assert max(filled) <= GOAL_NS
    # The last commit of an empty file system has no data in its open segments.
    assert empty <= min(filled)
    assert max(filled) <= 1.1 * min(filled)


@pytest.mark.parametrize("end", ["clean", "crash"])
def test_a_mount_takes_the_same_time_on_any_size(
    lab: LabBuild,  # noqa: ARG001
    tmp_path: Path,
    end: str,
) -> None:
    sizes = '["16 MiB", "64 MiB", "1 GiB"]'
    taken = mounts_ns(tmp_path, f"size-{end}", "partition_bytes", sizes)
    assert len(taken) == 3
    assert max(taken) <= GOAL_NS
    assert max(taken) <= 1.05 * min(taken)


# --- memory ---

# kmod/logfs/README.md. An operation may load some more blocks before it gives the oldest up.
MOST_ALIASES = 2600
CACHED_BLOCKS = 64 + 8
BLOCK_BYTES = 4096
# A block of one alias: 80 bytes, and room for four of 16. With more aliases there is room for at
# most twice as many.
ALIAS_BYTES = 144
BOUND_BYTES = MOST_ALIASES * ALIAS_BYTES + CACHED_BLOCKS * (BLOCK_BYTES + 80)
PARTITION_BYTES = 128 << 20
# Indices so far apart that each has a block of pointers of its own.
APART_BYTES = 512 * 4096


def scattered_writes(blocks: int) -> Script:
    """Writes a block below each of so many blocks of pointers, and then each again."""
    script = Script()
    order = random.Random(1)
    for seed in (1, 2):
        places = [number * APART_BYTES for number in range(1, blocks + 1)]
        order.shuffle(places)
        for place in places:
            script.write("/scattered", place, BLOCK_BYTES, seed)
        # The kernel writes back what has been dirty for 30 s; nothing is synced.
        script.line("sleep", 40_000)
    return script


def many_entries(directories: int, files: int) -> Script:
    """So many directories with so many files of a block each."""
    script = Script()
    for directory in range(directories):
        script.mkdir(f"/{directory}")
        for file in range(files):
            script.write(f"/{directory}/{file}", 0, BLOCK_BYTES, file)
    script.line("sleep", 40_000)
    return script


@pytest.mark.parametrize(
    "script",
    [scattered_writes(2500), many_entries(50, 60)],
    ids=["scattered-writes", "many-entries"],
)
def test_memory_for_blocks_and_aliases_is_bounded(
    lab: LabBuild, tmp_path: Path, fstree: Path, script: Script
) -> None:
    chip = Chip(blocks=PARTITION_BYTES // (64 * 2048))
    steps = [*load(chip), mount(), run(0), STATE, "sync", UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip, scripts=[script])
    (state,) = guest.states
    assert state["commits"] == 1  # that of the format
    # It is the worst case: more aliases were asked for than there may be.
    assert state["forced_blocks"] > 0
    assert MOST_ALIASES / 2 < state["aliases_most"] <= MOST_ALIASES
    assert state["cached_blocks_most"] <= CACHED_BLOCKS
    assert state["tree_bytes_most"] <= BOUND_BYTES
    assert no_violations(guest.counters)
    guest.assert_sound()


# --- names ---


def test_listing_reads_no_page_again_for_each_name(
    lab: LabBuild,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    """Inodes and dentries lie several in a page. It was three pages for each of 1,024 files."""
    sets = ("part=ram-files", "filesystem=logfs", "workload.files=1024")
    words = [word for text in sets for word in ("--set", text)]
    (result,) = results(run_study("celf", tmp_path, *words))
    (listed,) = [phase for phase in result["phases"] if phase["phase"] == "list"]
    assert 0 < listed["pages_read"] < 1024
