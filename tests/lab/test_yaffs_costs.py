"""What mounts and unmounts of YAFFS2 cost the flash, where the format asks for little."""

from __future__ import annotations

from pathlib import Path

import pytest
from fstree import Script
from yaffs_guest import CHIP_COUNTERS, LIST, MONITOR, UMOUNT, Chip, load, mount, run, start

from ffslab.lab.lab_build import LabBuild

CHIP = Chip(2048, 64, 16, 256)
# Blocks of an erased partition that a mount asks for the other tag mode, at most.
SAMPLES = 20


@pytest.mark.parametrize("options", ["", "inband-tags"])
def test_the_mount_of_an_erased_partition(
    lab: LabBuild, tmp_path: Path, fstree: Path, options: str
) -> None:
    """Tags of the first page of each block, at most twice, and a page of some blocks.

    Tags in the page cost the page; tags in the OOB do not.
    """
    steps = [*load(CHIP), mount(options), CHIP_COUNTERS, UMOUNT]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=CHIP)
    counters = guest.numbers("/proc/vnand/flash0/counters")[0]
    assert counters["array_reads"] <= 2 * CHIP.blocks + SAMPLES
    tags, page = 28, CHIP.page_bytes + CHIP.oob_bytes
    asked = CHIP.blocks * page if options else 2 * CHIP.blocks * tags
    assert counters["bytes_from_chip"] <= asked + SAMPLES * page
    assert counters["programs"] == counters["erases"] == 0


def test_the_unmount_after_a_crash_erases_nothing_that_is_erased(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    """The checkpoint goes to blocks that no mount has seen written."""
    script = Script()
    script.write("/file", 0, 300_000, 1)
    script.line("sync")
    options = "no-checkpoint-write"
    steps = [*load(CHIP), mount(options), run(0)]
    first = start(lab, tmp_path / "first", fstree, steps, chip=CHIP, scripts=[script])
    steps = [*load(CHIP), *MONITOR, mount(), *LIST, UMOUNT]
    second = start(lab, tmp_path / "second", fstree, steps, chip=CHIP, flash=first.flash)
    kinds = [kind for kind, _, _ in second.operations]
    assert kinds.count("program") > 0, "a checkpoint"
    assert kinds.count("erase") == 0
    second.assert_sound()
