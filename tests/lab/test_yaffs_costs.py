"""What mounts and unmounts of YAFFS2 cost the flash, where the format asks for little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fstree import Script
from lab_support import results, run_study
from planted_module import Change, catalog_of_changed
from yaffs_guest import CHIP_COUNTERS, LIST, MONITOR, UMOUNT, Chip, load, mount, run, start

from ffslab.lab.lab_build import LabBuild

CHIP = Chip(2048, 64, 16, 256)
# Blocks of an erased partition that a mount asks for the other tag mode, at most.
SAMPLES = 20
READS = """
schema = 1
name = "reads"
title = "A file is read"

[base]
board = "apf27"
partition_bytes = "32 MiB"
filesystem = "yaffs2-planted"
seeds = [1]

[base.workload]
kind = "micro"
pattern = "sequential-read"
request_bytes = "32 KiB"
volume_bytes = "8 MiB"
"""
UNCHECKED = (
    "core/nand.c",
    "		err = read_raw(dev, chunk, data, &m, bytes);\n",
    "		return read_raw(dev, chunk, data, NULL, 0);\n",
)


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


def reading(directory: Path, *changes: Change) -> dict[str, Any]:
    """The phase in which a module with these changes reads the file."""
    directory.mkdir()
    (directory / "reads.toml").write_text(READS)
    catalog = catalog_of_changed("yaffs2", changes, directory)
    run = run_study(directory / "reads.toml", directory / "out", "--catalog", str(catalog))
    (result,) = results(run)
    phase: dict[str, Any] = next(one for one in result["phases"] if one["phase"] == "workload")
    return phase


def test_the_check_of_tags_costs_half_a_percent_of_a_read(lab: LabBuild, tmp_path: Path) -> None:
    """Against a module that reads pages without their tags; `pytest -s` prints it."""
    del lab
    checked, plain = reading(tmp_path / "checked"), reading(tmp_path / "plain", UNCHECKED)
    assert checked["pages_read"] == plain["pages_read"] >= 4096
    price = checked["duration_ns"] / plain["duration_ns"] - 1
    each_us = (checked["duration_ns"] - plain["duration_ns"]) / checked["pages_read"] / 1000
    print(f"\nthe check of tags: {price:.2%} of a read, {each_us:.1f} us a page")
    assert 0 < price <= 0.005
