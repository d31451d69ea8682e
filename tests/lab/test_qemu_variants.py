"""Kernels of options and the period kernel on target qemu: each does there what it does in the lab.

    FFSLAB_NIGHTLY=1 ./ffslab test tests/lab/test_qemu_variants.py

Up to seven kernels are compiled, unless the cache has them: a quarter of an hour each on two cores.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from guest_programs import NIGHTLY
from lab_support import results, run_study

pytestmark = pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 builds the kernels")

# An attach with and without a fastmap, and a mount of JFFS2 with and without its summaries.
MOUNTS = """
schema = 1
name = "variants"
title = "What variants of the kernel change, seen from the flash"

[base]
board = "apf27"
options = { compression = "none" }

[base.workload]
kind = "tree"
files = 20
directories = 2
depth = 2
size = "64 KiB"
steps = "mount settle create unmount restart mount list unmount"

[[part]]
name = "fastmap"
title = "fastmap"
set = { filesystem = "ubifs", partition_bytes = "64 MiB" }
[part.axes]
"options.fastmap" = ["off", "on"]

[[part]]
name = "period"
title = "The period kernel"
set = { filesystem = "jffs2", partition_bytes = "16 MiB" }
[part.axes]
kernel = ["period:none", "period:jffs2_no_summary"]
"""
# Blocks of 32 KiB, so that few bytes are many erases.
WEAR = {
    "part": '"rewrite"',
    "filesystem": '"ubifs"',
    "chip.pages_per_block": "16",
    "partition_bytes": '"2 MiB"',
    "board.wait": '"interrupt"',
    "workload.static_bytes": '"500 kB"',
    "workload.file_bytes": '"100 kB"',
    "workload.volumes": '"5 MB, 100 MB"',
    "workload.to_death": "false",
}
BLOCKS = 64 * 1024 // 128
STATIC_PAGES = 1000


@pytest.fixture(scope="module", params=["qemu", "uml"])
def mounts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What was read to attach and mount, by case."""
    place = tmp_path_factory.mktemp(request.param)
    study = place / "study.toml"
    study.write_text(MOUNTS)
    found = results(run_study(study, place / "run", "--target", request.param))
    assert {result["outcome"] for result in found} == {"pass"}
    return {
        result["id"]: sum(
            phase["pages_read"]
            for phase in result["phases"]
            if phase["phase"] in ("attach-2", "mount-2")
        )
        for result in found
    }


def test_an_attach_with_fastmap_reads_few_blocks(mounts: dict[str, int]) -> None:
    """Without, two pages of each of 512 blocks. With, at most two of each of the first 64, a block
    of 64 pages, and the headers of the pools' blocks: 5 % of all and half as many.
    """
    saved = mounts["fastmap-fastmapoff-s1"] - mounts["fastmap-fastmapon-s1"]
    pools = 2 * (BLOCKS // 20 + BLOCKS // 40)
    assert 2 * BLOCKS - (2 * 64 + 64 + pools) - 20 <= saved < 2 * BLOCKS


def test_a_mount_without_summaries_reads_what_was_written(mounts: dict[str, int]) -> None:
    """20 files in each of 7 directories, 64 KiB each, are 4,480 pages, each scanned; summaries are
    a few of each block's 64.
    """
    assert mounts["period-period.none-s1"] < STATIC_PAGES
    assert mounts["period-period.jffs2nosummary-s1"] > 4 * STATIC_PAGES


@pytest.mark.parametrize("target", ["qemu", "uml"])
def test_static_blocks_move_at_a_threshold_of_80(tmp_path: Path, target: str) -> None:
    """A hundred megabytes are 75 erases of each block on average, and 140 of those that take part
    if the static ones do not.
    """
    given = [word for key, value in WEAR.items() for word in ("--set", f"{key}={value}")]
    (result,) = results(run_study("lifetime", tmp_path, *given, "--target", target))
    assert result["outcome"] == "pass", result["reason"]
    assert result["spec"]["kernel"]["variant"] == "ubi-wear"
    first, last = result["wear"]["volumes"]
    static = result["wear"]["static_blocks"]
    print(target, max(last["erases"]), [last["erases"][block] for block in static])
    assert not any(first["erases"][block] for block in static)
    assert sum(last["erases"][block] > 0 for block in static) >= len(static) // 2
    assert max(last["erases"]) < 130
