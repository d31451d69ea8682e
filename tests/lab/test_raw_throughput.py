"""The raw throughput that CELF 2009 measured on its board comes out of the virtual chip.

Programs of others do it through the MTD character device: mtd-utils' flash_erase, and dd with an
erase block at a time. What they take to start is in the times, some thousandths of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from fio_support import exec_step
from lab_support import boot, cases

from ffslab.lab.lab_build import LabBuild
from ffslab.protocol.plan import plan_of
from ffslab.targets.virtual_flash import RIG

MIB = 2**20
BLOCK = 128 * 1024
PARTITION = 32 * MIB
# As published, taken as MiB/s by the chip's file.
PUBLISHED = {"erase": 10.61, "write": 2.00, "read": 2.50}
WITHIN = 0.03
STUDY = """
schema = 1
name = "raw"
title = "Raw throughput"

[base]
board = "celf-mips"
filesystem = "jffs2"
partition_bytes = "32 MiB"

[base.workload]
kind = "ffsmark"
"""


def test_the_published_raw_throughput(lab: LabBuild, tmp_path: Path) -> None:
    (case,) = cases(STUDY).values()
    blocks = f"count={PARTITION // BLOCK}"
    programs = {
        "erase": ("flash_erase", "-q", "/dev/mtd0", "0", "0"),
        "write": ("dd", "if=/dev/zero", "of=/dev/mtd0", f"bs={BLOCK}", blocks),
        "read": ("dd", "if=/dev/mtd0", "of=/dev/null", f"bs={BLOCK}", blocks),
    }
    steps = [f"{exec_step(*words)} label={label}" for label, words in programs.items()]
    plan = plan_of([*RIG.begin(case, trace=False), *RIG.host_programs(), *steps])
    guest = boot(lab, tmp_path / "guest", case, plan)
    taken = {
        record["label"]: record["t_end_ns"] - record["t_start_ns"]
        for record in guest.of_type("step")
        if record["label"] in PUBLISHED
    }
    for label, published in PUBLISHED.items():
        measured = PARTITION / MIB / (taken[label] / 1e9)
        print(f"{label}: {measured:.3f} MiB/s, published {published:.2f}")
        assert measured == pytest.approx(published, rel=WITHIN), label
