"""The monitor's counts against other counters of the same operations.

flashmon sits above the driver, vnand counts in the chip, UBI keeps an erase
counter in every block, and nandsim is another chip altogether, below the
kernel's raw NAND layer: all must agree.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab_support import Boot, boot, cases, edited

from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.protocol.plan import encode
from ffslab.targets.virtual_flash import plan_text

ALL = cases()
# 256 MiB, 2 KiB pages, 64 of them in a block: what the id bytes mean to the kernel.
NANDSIM = "first_id_byte=0x20 second_id_byte=0xaa third_id_byte=0x00 fourth_id_byte=0x15"


@pytest.fixture(scope="module")
def boots(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Boot]:
    """Every case booted once."""
    directory = tmp_path_factory.mktemp("counts")
    return {name: boot(lab, directory / name, case) for name, case in ALL.items()}


@pytest.mark.parametrize("name", ALL)
def test_monitor_agrees_with_the_chip(boots: dict[str, Boot], name: str) -> None:
    monitor = boots[name].flash_record("unmounted")["counters"]
    chip = boots[name].captured("flash0/counters")
    assert monitor["pages_programmed"] + monitor["oob_programs"] == chip["programs"] > 1000
    assert monitor["oob_programs"] == chip["oob_programs"]
    assert monitor["blocks_erased"] == chip["erases"] > 100
    # A page that the driver still holds is read again without an array read.
    reads = chip["array_reads"] + chip["cached_reads"]
    assert monitor["pages_read"] + monitor["oob_reads"] == reads > 1000


@pytest.mark.parametrize("name", ALL)
def test_no_rule_is_broken(boots: dict[str, Boot], name: str) -> None:
    chip = boots[name].captured("flash0/counters")
    violations = {key: n for key, n in chip.items() if key.startswith("violation_")}
    assert len(violations) == 4 and not any(violations.values()), violations


@pytest.mark.parametrize("name", ALL)
def test_counters_are_the_sums_over_the_blocks(boots: dict[str, Boot], name: str) -> None:
    record = boots[name].flash_record("unmounted")
    counters = record["counters"]
    assert sum(record["erases"]) == counters["blocks_erased"]
    programs = counters["pages_programmed"] + counters["oob_programs"]
    assert sum(record["programs"]) == programs
    assert sum(record["reads"]) == counters["pages_read"] + counters["oob_reads"]


@pytest.mark.parametrize("name", ALL)
def test_every_change_of_the_flash_is_numbered(boots: dict[str, Boot], name: str) -> None:
    chip = boots[name].captured("flash0/counters")
    assert chip["changes"] == chip["programs"] + chip["erases"] > 1000


@pytest.mark.parametrize("name", ALL)
def test_chip_time_is_the_sum_of_its_operations(boots: dict[str, Boot], name: str) -> None:
    chip, board = boots[name].captured("flash0/counters"), ALL[name].board.chip
    assert not board.ecc_read_ns and not board.ecc_write_ns  # else they belong below
    operations = chip["array_reads"] + chip["programs"] + chip["erases"]
    expected = (
        operations * board.t_command_ns
        + chip["array_reads"] * board.t_read_ns
        + chip["programs"] * board.t_prog_ns
        + chip["erases"] * board.t_erase_ns
        + chip["bytes_from_chip"] * board.bus_read_ps // 1000
        + chip["bytes_to_chip"] * board.bus_write_ps // 1000
    )
    assert abs(chip["busy_ns"] - expected) <= operations  # each is rounded to a ns


def ubi_erase_counters(boot_: Boot, blocks: int) -> list[int]:
    """The `ec` of every erase counter header in the chip's image."""
    image = boot_.flash.read_bytes()
    # image_format.h: data_offset; a UBI header is big-endian: magic, version, 3 bytes, ec.
    (data,) = struct.unpack_from("<Q", image, 48)
    block_bytes = 64 * (2048 + 64)
    counters = []
    for block in range(blocks):
        magic, ec = struct.unpack_from(">4s4xQ", image, data + block * block_bytes)
        assert magic == b"UBI#", (block, magic)
        counters.append(ec)
    return counters


@pytest.mark.parametrize("name", [name for name in ALL if name.startswith("ubifs")])
def test_erases_agree_with_ubi(boots: dict[str, Boot], name: str) -> None:
    monitor = boots[name].flash_record("unmounted")["erases"]
    # One erase of each block was the agent's, before UBI saw it.
    counters = ubi_erase_counters(boots[name], ALL[name].partition_blocks)
    assert counters == [erases - 1 for erases in monitor]
    assert max(counters) > 1


QUICK_CHIP = dict.fromkeys(
    ("t_command_ns", "t_read_ns", "t_prog_ns", "t_erase_ns", "bus_read_ps", "bus_write_ps"), 0
)
NANDSIM_PARTITION = "NAND simulator partition 0"
COUNTED = (
    "pages_read", "pages_programmed", "blocks_erased", "oob_reads", "oob_programs",
    "subpage_programs", "bytes_read", "bytes_programmed",
)  # fmt: skip


def counted(boot_: Boot) -> dict[str, Any]:
    counters = boot_.flash_record("unmounted")["counters"]
    return {key: counters[key] for key in COUNTED}


@pytest.mark.parametrize("name", ALL)
def test_nandsim_sees_the_same_operations(tmp_path: Path, name: str) -> None:
    """The same workload on vnand and on nandsim, both without latencies and a free CPU.

    Always in the default kernel: in the debug kernel nandsim executes so much code that even a
    free CPU takes some time (SPIN_NS in cpu_model.c), and background work shifts.
    """
    lab = ensure_lab()
    case = replace(cases(**QUICK_CHIP)[name], cpu_scale=0.0)
    own = boot(lab, tmp_path / "vnand", case)
    vnand_line = next(line for line in plan_text(case).splitlines() if "vnand.ko" in line)
    arguments = f"{NANDSIM} parts={case.partition_blocks}"
    plan = edited(
        plan_text(case),
        [
            (vnand_line, f"insmod path=/lab/nandsim.ko args={encode(arguments)}"),
            ("capture path=/proc/vnand/flash0/counters\n", ""),
            (" chip=/proc/vnand/flash0/counters", ""),
            ("mtd=data", f"mtd={encode(NANDSIM_PARTITION)}"),
        ],
    ).replace("source=mtd:data", f"source=mtd:{encode(NANDSIM_PARTITION)}")
    other = boot(lab, tmp_path / "nandsim", case, plan)
    assert counted(own) == counted(other)
    assert counted(own)["blocks_erased"] > case.partition_blocks
