"""The file of a board, what a board says of itself, and which partition may be destroyed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ffslab.errors import SpecError, UsageError
from ffslab.loader import load_catalog, parse_toml
from ffslab.model.case import Case
from ffslab.model.specs import LabKernel
from ffslab.model.study import expand, study_from_document
from ffslab.targets.boards.board import LOOK, BoardFacts, board_facts, partition_fault, unlike
from ffslab.targets.boards.guests import not_on_boards
from ffslab.targets.registry import target_kind
from ffslab.targets.ssh.place import SshPlace, read_place
from ffslab.workloads.plans import guest_plans

STUDY = """
schema = 1
name = "boards"
title = "Two file systems"
[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1]
[base.workload]
kind = "ffsmark"
[axes]
filesystem = ["jffs2", "ubifs"]
"""
PLACE = """
schema = 1
name = "desk"
board = "apf27"
host = "192.168.1.20"
architecture = "armv5te"
[partition]
name = "test"
size = "16 MiB"
"""
# As printed by a board with three partitions, of which the first has UBI and the root file system.
PRINTED = """\
=== ffslab boot
3f0c8a52-5dc2-4a0e-9d1e-0c1b7b4c5a11
=== ffslab uname
Linux 6.1.55 #1 PREEMPT Tue Mar 4 10:00:00 UTC 2025 armv5tejl
=== ffslab memory
MemTotal:         126012 kB
=== ffslab mtd
dev:    size   erasesize  name
mtd0: 04000000 00020000 "rootfs"
mtd1: 01000000 00020000 "test"
mtd2: 00100000 00020000 "u-boot env"
=== ffslab geometry
mtd0 nand 0x400 131072 2048 64
mtd1 nand 0x400 131072 2048 64
mtd2 nand 0x0 131072 2048 64
=== ffslab where
mtd0 0 4 /sys/devices/platform/soc/d8000000.nand-controller/mtd/mtd0
mtd1 67108864 4 /sys/devices/platform/soc/d8000000.nand-controller/mtd/mtd1
mtd2 83886080 4 /sys/devices/platform/soc/d8000000.nand-controller/mtd/mtd2
=== ffslab ubi
ubi0 0
=== ffslab mounts
ubi0:rootfs / ubifs rw,relatime 0 0
proc /proc proc rw 0 0
=== ffslab filesystems
nodev\tproc
nodev\tjffs2
nodev\tubifs
\tsquashfs
=== ffslab modules
flashmon
g_ether
=== ffslab command
console=ttymxc0 root=ubi0:rootfs
"""


def case_of(filesystem: str) -> Case:
    catalog = load_catalog()
    found = expand(study_from_document(parse_toml(STUDY, "test"), catalog, "test"), catalog)
    return next(case for case in found if case.filesystem.name == filesystem)


def place(tmp_path: Path, text: str = PLACE, more: str = "") -> SshPlace:
    path = tmp_path / "board.toml"
    path.write_text(text.replace("[partition]", f"{more}\n[partition]"), "utf-8")
    return read_place(path)


def facts(old: str = "", new: str = "") -> BoardFacts:
    assert old in PRINTED
    return board_facts(PRINTED.replace(old, new) if old else PRINTED)


def test_what_a_board_prints_is_understood() -> None:
    found = facts()
    assert found.boot.startswith("3f0c8a52") and "6.1.55" in found.uname
    assert found.memory == "126012 kB"
    test = found.device("test")
    assert test is not None
    assert (test.number, test.size_bytes, test.erase_bytes) == (1, 16 * 2**20, 128 * 2**10)
    assert (test.page_bytes, test.oob_bytes) == (2048, 64)
    assert test.offset_bytes == 64 * 2**20 and test.tells_ecc
    assert found.ubi == {0: 0}
    assert found.mounts[0] == ("ubi0:rootfs", "/")
    assert {"jffs2", "ubifs", "squashfs"} <= found.filesystems
    assert "flashmon" in found.modules
    environment = found.device("u-boot env")
    assert environment is not None and not environment.is_writeable


def test_another_output_is_refused() -> None:
    for text in ("", "Welcome to the board!\n", PRINTED.replace("=== ffslab mtd", "=== mtd")):
        with pytest.raises(ValueError, match="did not do as it was told"):
            board_facts(text)


def test_the_command_prints_every_section_once() -> None:
    assert LOOK.count("=== ffslab ") == PRINTED.count("=== ffslab ")


def test_the_partition_that_is_named_and_free_may_be_destroyed(tmp_path: Path) -> None:
    assert partition_fault(facts(), place(tmp_path, more="ubi = 1")) == ""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"test"', '"data"', "no MTD partition is called 'test'"),
        ('"rootfs"', '"test"', "2 MTD partition is called 'test'"),
        ("mtd1: 01000000", "mtd1: 02000000", "has 32 MiB (33554432 bytes), not 16 MiB"),
        ("mtd1 nand 0x400", "mtd1 nand 0x0", "read-only"),
        ("proc /proc", "/dev/mtdblock1 /data", "mounted on /data"),
        ("proc /proc", "mtd:test /data", "mounted on /data"),
        ("proc /proc", "mtd1 /data", "mounted on /data"),
        ("ubi0 0", "ubi0 0\nubi4 1", "attached to UBI as ubi4"),
        ("ubi0 0", "ubi1 2", "ubi1, which cases would attach, is the board's own"),
    ],
)
def test_another_partition_or_one_in_use_is_not_destroyed(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    assert told in partition_fault(facts(old, new), place(tmp_path, more="ubi = 1"))


def test_ubi_of_the_board_itself_is_not_attached_over(tmp_path: Path) -> None:
    assert "ubi0" in partition_fault(facts(), place(tmp_path))


def fitting(**changes: object) -> Case:
    return replace(case_of("jffs2"), **changes)  # type: ignore[arg-type]


def test_a_case_of_the_same_flash_fits(tmp_path: Path) -> None:
    case = fitting()
    there = place(tmp_path)
    assert case.partition_bytes == there.partition_bytes
    assert unlike(case, facts(), there) == ""
    assert "32 MiB" in unlike(fitting(partition_blocks=256), facts(), there)
    other = replace(case.board, name="mpc8323")
    assert "apf27" in unlike(fitting(board=other), facts(), there)
    chip = replace(case.board.chip, pages_per_block=128)
    bigger = fitting(board=replace(case.board, chip=chip), partition_blocks=64)
    assert "131072" in unlike(bigger, facts(), there)


def test_what_no_board_can_is_told() -> None:
    kind = target_kind("ssh")
    assert not_on_boards(fitting(), kind) == ""
    assert "cpu_scale" in not_on_boards(fitting(cpu_scale=0.5), kind)
    assert "perturbed" in not_on_boards(fitting(perturbation=1), kind)
    # That its processor has unaligned access is no other kernel; period is.
    assert not_on_boards(fitting(kernel=LabKernel().on_board(unaligned=True)), kind) == ""
    period = LabKernel("period").on_board(unaligned=True)
    assert not_on_boards(fitting(kernel=period), kind).endswith("not the lab's period")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"armv5te"', '"armv9"', "armv9"),
        ('architecture = "armv5te"', "", "what the agent is to be built for"),
        ('"16 MiB"', '"16 megs"', "partition.size"),
        ('"desk"', '"desk; reboot"', "name"),
        ('"test"', '"te\'st"', "partition.name"),
        ('host = "192.168.1.20"', 'host = "-oProxyCommand=x"', "host"),
        ("schema = 1", 'schema = 1\nidentiy = "x"', "identiy"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in PLACE
    with pytest.raises(SpecError, match=told):
        place(tmp_path, PLACE.replace(old, new))


def test_no_file_no_board(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no file .*none\.toml"):
        read_place(tmp_path / "none.toml")
    with pytest.raises(UsageError, match="takes no access file"):
        target_kind("uml", tmp_path / "none.toml")


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "ko").mkdir()
    (tmp_path / "ko/flashmon.ko").write_bytes(b"module")
    there = place(tmp_path, more='modules = "ko"\nidentity = "key"')
    assert there.identity == tmp_path / "key"
    assert there.monitor == tmp_path / "ko/flashmon.ko"
    assert place(tmp_path).monitor is None


def plan(tmp_path: Path, filesystem: str, more: str = "") -> str:
    there = place(tmp_path, more=more)
    return guest_plans(case_of(filesystem), target_kind("ssh", there.path).rig)[-1]


def test_plans_name_the_boards_partition_and_mount_elsewhere(tmp_path: Path) -> None:
    ubifs = plan(tmp_path, "ubifs", "ubi = 3")
    assert "erase mtd=test" in ubifs and "mtd=data" not in ubifs
    assert "ubi-attach mtd=test ubi=3" in ubifs
    assert "source=ubi3:data target=/tmp/ffslab/mnt" in ubifs
    assert "insmod" not in ubifs and "vnand" not in ubifs
    assert "source=mtd:test" in plan(tmp_path, "jffs2")


def test_who_counts_depends_on_the_monitor(tmp_path: Path) -> None:
    without = plan(tmp_path, "ubifs")
    assert "monitor" not in without and "snapshot" not in without and "settle " not in without
    assert without.count("/sys/kernel/debug/ubi/ubi0/detailed_erase_block_info") == 2
    (tmp_path / "ko").mkdir()
    (tmp_path / "ko/flashmon.ko").write_bytes(b"module")
    counted = plan(tmp_path, "ubifs", 'modules = "ko"')
    assert "monitor mtd=test\n" in counted and "settle " in counted
    assert "detailed_erase" not in counted and "mtd-statistics" not in counted


def test_without_a_monitor_mtd_is_asked_first_and_last(tmp_path: Path) -> None:
    """Whatever the file system is, with all that the case's guest does in between."""
    lines = plan(tmp_path, "jffs2").splitlines()
    noted = [at for at, line in enumerate(lines) if line.startswith("mtd-statistics mtd=test ")]
    assert len(noted) == 2 and noted[1] == len(lines) - 1
    assert not any("mtd=test" in line for line in lines[: noted[0]])
