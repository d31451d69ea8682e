"""The chip's contents and faults: what survives a guest, what a file system survives."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_support import Boot, boot, cases, edited

from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.protocol.plan import encode
from ffslab.targets.virtual_flash import plan_text

NAMES = ("jffs2-aged-s1", "ubifs-aged-s1")


def second_boot_plan(case: Case) -> str:
    """The case's plan on a chip that holds a file system: no erase, no volume, no workload."""
    kept = ("ffsplan", "insmod", "monitor", "trace", "ubi-attach", "mount", "umount", "snapshot")
    lines = [line for line in plan_text(case).splitlines() if line.split()[0] in kept]
    at = next(i for i, line in enumerate(lines) if line.startswith("mount")) + 1
    return "\n".join([*lines[:at], "exec path=/init args=--version", *lines[at:]]) + "\n"


@pytest.mark.parametrize("name", NAMES)
def test_contents_survive_the_guest(lab: LabBuild, tmp_path: Path, name: str) -> None:
    case = cases()[name]
    first = boot(lab, tmp_path / "first", case)
    second = boot(lab, tmp_path / "second", case, second_boot_plan(case), flash=first.flash)
    before = [r for r in first.of_type("space") if r["label"].startswith("deletion")][-1]
    after = second.of_type("space")[0]
    assert after["label"] == "mount" and after["total_bytes"] == before["total_bytes"]
    # The file of valid data, half of the space, is still there.
    used = after["total_bytes"] - after["free_bytes"]
    assert used > 0.35 * after["total_bytes"]


def test_wear_survives_the_guest(lab: LabBuild, tmp_path: Path) -> None:
    case = cases()["jffs2-aged-s1"]
    blocks = "capture path=/proc/vnand/flash0/blocks\n"
    first = boot(lab, tmp_path / "first", case, plan_text(case) + blocks)
    insmod = next(line for line in plan_text(case).splitlines() if "vnand.ko" in line)
    second = boot(
        lab, tmp_path / "second", case, f"ffsplan 1\n{insmod}\n{blocks}", flash=first.flash
    )
    (worn,) = [r["text"] for r in first.of_type("file") if r["path"].endswith("blocks")]
    (kept,) = [r["text"] for r in second.of_type("file")]
    assert kept == worn and sum(int(line.split()[0]) for line in kept.splitlines()) > 200


@pytest.mark.parametrize(
    ("position", "data", "complaint"),
    [
        (0, b"NOTNAND!", "the header of the image in 'flash0' is damaged"),
        (12, b"\xff\xff", "the header of the image in 'flash0' is damaged"),
    ],
)
def test_damaged_flash_file(
    lab: LabBuild, tmp_path: Path, position: int, data: bytes, complaint: str
) -> None:
    case = cases()["jffs2-free-s1"]
    first = boot(lab, tmp_path / "first", case)
    with first.flash.open("r+b") as file:
        file.seek(position)
        file.write(data)
    second = boot(lab, tmp_path / "second", case, flash=first.flash, clean=False)
    step = second.failed_step()
    assert step["verb"] == "insmod" and step["errno_name"] == "EBADMSG"
    assert complaint in second.console
    assert second.of_type("end")[0]["status"] == "error" and second.status == 0


def test_flash_file_of_another_geometry(lab: LabBuild, tmp_path: Path) -> None:
    first = boot(lab, tmp_path / "first", cases()["jffs2-free-s1"])
    other = cases(oob_bytes=128)["jffs2-free-s1"]
    second = boot(lab, tmp_path / "second", other, flash=first.flash, clean=False)
    assert second.failed_step()["errno_name"] in ("EINVAL", "ENOSPC")
    assert "of another chip geometry" in second.console or "the chip needs" in second.console


def survives(guest: Boot) -> dict[str, int]:
    assert guest.of_type("end")[0]["status"] == "ok", guest.of_type("end")
    verify = [r for r in guest.of_type("phase") if r["phase"] == "verify"]
    assert verify[0]["status"] == "ok" and verify[0]["files_read"] > 100
    return guest.captured("flash0/counters")


@pytest.mark.parametrize("name", NAMES)
def test_factory_bad_blocks(lab: LabBuild, tmp_path: Path, name: str) -> None:
    # Of 2048 blocks 200 are bad, so some of the partition's 128 are.
    guest = boot(lab, tmp_path / "guest", cases(factory_bad=200)[name])
    chip = survives(guest)
    assert guest.of_type("mtd")[0]["bad_blocks"] > 5
    assert chip["violation_bad_block_used"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_correctable_bit_errors(lab: LabBuild, tmp_path: Path, name: str) -> None:
    # 4 bits are corrected per 512 bytes; 3 errors in a million bits make 0.012 on average.
    case = cases(rber_e12=3_000_000, ecc_strength_bits=4)[name]
    chip = survives(boot(lab, tmp_path / "guest", case))
    assert chip["bitflips_corrected"] > 20 and chip["steps_uncorrectable"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_uncorrectable_bit_errors_are_reported(lab: LabBuild, tmp_path: Path, name: str) -> None:
    case = cases(rber_e12=100_000_000, ecc_strength_bits=1)[name]
    guest = boot(lab, tmp_path / "guest", case, clean=False)
    assert guest.status == 0  # the guest does not crash
    chip = guest.captured("flash0/counters") if guest.of_type("file") else None
    assert chip is None or chip["steps_uncorrectable"] > 0
    assert guest.of_type("end")[0]["status"] == "error"


def test_ubi_retires_blocks_that_fail(lab: LabBuild, tmp_path: Path) -> None:
    case = cases(program_fail_ppm=300, erase_fail_ppm=300)["ubifs-aged-s1"]
    counters = "capture path=/proc/vnand/flash0/counters"
    both = f"capture path=/proc/vnand/flash0/blocks\n{counters}"
    plan = edited(plan_text(case), [(counters, both)])
    guest = boot(lab, tmp_path / "guest", case, plan, clean=False)
    chip = survives(guest)
    assert chip["program_failures"] + chip["erase_failures"] > 0
    assert "mark PEB" in guest.console or "marked as bad" in guest.console
    # A bad-block mark changes the flash as a program does, and is none of them.
    (text,) = [r["text"] for r in guest.of_type("file") if r["path"].endswith("/blocks")]
    marked = sum(int(line.split()[3]) & 1 for line in text.splitlines())
    assert not case.board.chip.factory_bad and marked > 0
    assert chip["changes"] == chip["programs"] + chip["erases"] + marked


def test_a_rule_violation_is_logged_with_its_caller(lab: LabBuild, tmp_path: Path) -> None:
    """UBI on a chip that allows one program of a page breaks the rule: it writes two headers."""
    case = cases(nop=1)["ubifs-free-s1"]
    guest = boot(lab, tmp_path / "guest", case, clean=False)
    assert guest.captured("flash0/counters")["violation_page_programmed_too_often"] > 30
    assert guest.console.count("vnand: rule violation: page_programmed_too_often") == 16
    assert "ubi_io_write" in guest.console
    fatal = edited(plan_text(case), [("rules%3Dcount", "rules%3Dfatal")])
    guest = boot(lab, tmp_path / "fatal", case, fatal, clean=False)
    assert "Kernel panic - not syncing: vnand: rule violation" in guest.console


def test_several_chips_and_partitions(lab: LabBuild, tmp_path: Path) -> None:
    """Two chips of different geometry, one in a host file and one in memory, each monitored."""
    case = cases()["jffs2-free-s1"]
    insmod = next(line for line in plan_text(case).splitlines() if "vnand.ko" in line)
    second = "name=small;page_bytes=512;oob_bytes=16;subpages=1;pages_per_block=32;blocks=64"
    second += ";store=ram;parts=front@0+16/back@16+48"
    lines = ["ffsplan 1", f"{insmod},{encode(second)}", "insmod path=/lab/flashmon.ko"]
    for name in ("data", "back", "front"):
        lines += [f"monitor mtd={name}", f"erase mtd={name}", f"snapshot label={name}"]
    lines += ["monitor mtd=back", "snapshot label=back-after", "capture path=/proc/mtd"]
    lines += [f"mount type=jffs2 source=mtd:{name} target=/{name}" for name in ("data", "back")]
    guest = boot(lab, tmp_path / "guest", case, "\n".join(lines) + "\n")
    mtds = {record["name"]: record for record in guest.of_type("mtd")}
    assert (mtds["back"]["blocks"], mtds["back"]["page_bytes"]) == (48, 512)
    assert mtds["front"]["erase_block_bytes"] == 32 * 512
    erased = {n: guest.flash_record(n)["counters"]["blocks_erased"] for n in ("data", "back")}
    assert erased == {"data": case.partition_blocks, "back": 48}
    # Erasing one partition is not counted in another of the same chip.
    assert guest.flash_record("back-after")["counters"]["blocks_erased"] == 48
    assert guest.flash_record("front")["erases"] == [1] * 16
    (table,) = [r["text"] for r in guest.of_type("file")]
    assert [n for n in ("data", "rest", "front", "back") if f'"{n}"' in table] == [
        "data", "rest", "front", "back",
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_modules_can_be_unloaded_and_loaded_again(lab: LabBuild, tmp_path: Path, name: str) -> None:
    case = cases()[name]
    plan = plan_text(case) + "rmmod name=flashmon\nrmmod name=vnand\n"
    again = [line for line in plan_text(case).splitlines() if line.startswith("insmod")]
    guest = boot(lab, tmp_path / "guest", case, "\n".join([plan.rstrip(), *again, ""]))
    assert guest.of_type("end")[0]["status"] == "ok"


def test_a_monitored_chip_is_in_use(lab: LabBuild, tmp_path: Path) -> None:
    case = cases()["jffs2-free-s1"]
    plan = plan_text(case) + "rmmod name=vnand\n"
    step = boot(lab, tmp_path / "guest", case, plan).failed_step()
    assert step["verb"] == "rmmod" and "in use" in step["message"]
