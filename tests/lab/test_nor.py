"""NOR flash in the lab: what it counts and takes, and the file systems that run on it.

Times are worked out for imx6ull-evk with a free CPU: SPI at 29 MHz, four lines, so a command of 48
clocks takes 1655 ns and 256 bytes 512 clocks, which the chip counts as 256 × 68,966 ps = 17,655 ns.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from lab_support import STUDY, Boot, boot, cases, results, run_study

from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.targets.virtual_flash import plan_text

COMMAND_NS, PAGE_BUS_NS = 1655, 17_655
PROGRAM_NS, ERASE_NS = 700_000, 150_000_000
PAGES, SECTORS = 4 * 256, 4
ON_NOR = STUDY.replace('"apf27"', '"imx6ull-evk"')
ALL = cases(ON_NOR)
RAW = """
schema = 1
name = "raw"
title = "The bare device"
[base]
board = "imx6ull-evk"
filesystem = "mtd"
partition_bytes = "256 KiB"
cpu_scale = 0
seeds = [1]
[base.workload]
kind = "raw"
"""


@pytest.fixture(scope="module")
def boots(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Boot]:
    """Every case of JFFS2 and UBIFS booted once."""
    directory = tmp_path_factory.mktemp("nor")
    return {name: boot(lab, directory / name, case) for name, case in ALL.items()}


def raw_case() -> Case:
    (case,) = cases(RAW).values()
    return case


def only(plan: str, *verbs: str) -> list[str]:
    return [line for line in plan.splitlines() if line.split()[0] in verbs]


def test_the_character_device_counts_and_takes_what_the_data_sheet_says(
    lab: LabBuild, tmp_path: Path
) -> None:
    """Each of 4 sectors of 64 KiB written in 256 pages and read with one command.

    It is erased before, once to begin with and once to be measured.
    """
    guest = boot(lab, tmp_path / "guest", raw_case())
    chip = guest.captured("flash0/counters")
    assert (chip["erases"], chip["programs"], chip["array_reads"]) == (2 * SECTORS, PAGES, PAGES)
    assert chip["bytes_to_chip"] == chip["bytes_from_chip"] == 256 * 1024
    assert chip["erase_ns"] == 2 * SECTORS * (COMMAND_NS + ERASE_NS)
    assert chip["program_ns"] == PAGES * (COMMAND_NS + PROGRAM_NS)
    assert chip["read_ns"] == SECTORS * COMMAND_NS
    assert chip["transfer_ns"] == 2 * PAGES * PAGE_BUS_NS
    assert chip["violation_bit_set_without_erase"] == chip["cached_reads"] == 0
    (device,) = guest.of_type("mtd")
    assert (device["page_bytes"], device["oob_bytes"], device["bad_blocks"]) == (1, 0, 0)


def test_a_phase_lasts_as_long_as_the_chip_is_busy(tmp_path: Path) -> None:
    """With a free CPU, but for the 10 µs that even that takes for a million blocks."""
    study = tmp_path / "raw.toml"
    study.write_text(RAW)
    (result,) = results(run_study(study, tmp_path / "out"))
    took_ns = {phase["phase"]: phase["duration_ns"] for phase in result["phases"]}
    del took_ns["workload"]  # their sum
    expected_ns = {
        "erase": SECTORS * (COMMAND_NS + ERASE_NS),
        "write": PAGES * (COMMAND_NS + PROGRAM_NS + PAGE_BUS_NS),
        "read": SECTORS * COMMAND_NS + PAGES * PAGE_BUS_NS,
    }
    assert list(took_ns) == list(expected_ns)
    for phase, ns in expected_ns.items():
        assert ns <= took_ns[phase] <= ns + 20_000


@pytest.mark.parametrize("name", ALL)
def test_file_systems_keep_their_data_and_no_bit_is_set(boots: dict[str, Boot], name: str) -> None:
    guest = boots[name]
    assert guest.of_type("end")[0]["status"] == "ok"
    (verify,) = [r for r in guest.of_type("phase") if r["phase"] == "verify"]
    assert verify["status"] == "ok" and verify["files_read"] > 100
    chip = guest.captured("flash0/counters")
    violations = {key: n for key, n in chip.items() if key.startswith("violation_")}
    assert violations == {"violation_bit_set_without_erase": 0}
    # JFFS2 writes headers and data apart, UBI headers of 64 bytes: not all are whole pages.
    assert 256 * chip["programs"] > chip["bytes_to_chip"] > 10**6


@pytest.mark.parametrize("name", ALL)
def test_the_monitor_counts_the_chips_pages(boots: dict[str, Boot], name: str) -> None:
    """A page is what one command programs; MTD's own unit is a byte here."""
    record = boots[name].flash_record("unmounted")
    monitor, chip = record["counters"], boots[name].captured("flash0/counters")
    assert monitor["pages_programmed"] == chip["programs"] > 1000
    assert monitor["pages_read"] == chip["array_reads"] > 1000
    assert monitor["blocks_erased"] == chip["erases"] > 5
    assert monitor["bytes_programmed"] == chip["bytes_to_chip"]
    assert monitor["oob_programs"] == monitor["oob_reads"] == 0
    assert sum(record["programs"]) == chip["programs"]


@pytest.mark.parametrize("name", ["jffs2-aged-s1", "ubifs-aged-s1"])
def test_a_guest_of_the_same_case_is_the_same(
    lab: LabBuild, boots: dict[str, Boot], tmp_path: Path, name: str
) -> None:
    again = boot(lab, tmp_path / "again", ALL[name])
    assert again.records == boots[name].records
    assert again.flash.read_bytes() == boots[name].flash.read_bytes()


@pytest.mark.parametrize("name", ["jffs2-aged-s1", "ubifs-aged-s1"])
def test_contents_survive_the_guest(
    lab: LabBuild, boots: dict[str, Boot], tmp_path: Path, name: str
) -> None:
    kept = ("ffsplan", "insmod", "monitor", "trace", "ubi-attach", "mount", "umount")
    plan = "\n".join(only(plan_text(ALL[name]), *kept)) + "\n"
    second = boot(lab, tmp_path / "second", ALL[name], plan, flash=boots[name].flash)
    first = [r for r in boots[name].of_type("space") if r["label"].startswith("deletion")][-1]
    after = second.of_type("space")[0]
    assert after["label"] == "mount" and after["total_bytes"] == first["total_bytes"]
    assert after["total_bytes"] - after["free_bytes"] > 0.35 * after["total_bytes"]


def test_jffs2_on_sectors_of_4_kib(lab: LabBuild, tmp_path: Path) -> None:
    sectors = {"pages_per_block": 16, "blocks": 8192, "t_erase_ns": 50_000_000}
    case = cases(ON_NOR, **sectors)["jffs2-aged-s1"]
    guest = boot(lab, tmp_path / "guest", replace(case, partition_blocks=16 * 2**20 // 4096))
    assert guest.of_type("end")[0]["status"] == "ok"
    assert guest.of_type("mtd")[0]["erase_block_bytes"] == 4096


def test_a_program_that_would_set_bits_is_told(lab: LabBuild, tmp_path: Path) -> None:
    case = raw_case()
    lines = only(plan_text(case), "ffsplan", "insmod", "monitor", "erase")
    lines += ["raw-write mtd=data seed=1", "raw-write mtd=data seed=2"]
    lines += only(plan_text(case), "capture")
    guest = boot(lab, tmp_path / "guest", case, "\n".join(lines) + "\n", clean=False)
    # Two pages of random bytes differ in some bit that is 0 and to be 1.
    chip = guest.captured("flash0/counters")
    assert chip["violation_bit_set_without_erase"] == PAGES
    assert guest.console.count("vnor: rule violation: bit_set_without_erase") == 16


def test_a_worn_sector_is_no_longer_erased(lab: LabBuild, tmp_path: Path) -> None:
    (case,) = cases(RAW, endurance_cycles=2).values()
    plan = plan_text(case)
    lines = only(plan, "ffsplan", "insmod", "monitor") + only(plan, "erase") * 3
    guest = boot(lab, tmp_path / "guest", case, "\n".join(lines) + "\n")
    assert guest.failed_step()["errno_name"] == "EIO"
    assert [r["verb"] for r in guest.of_type("step")].count("erase") == 3


def test_what_nor_cannot_is_skipped_with_the_reason(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        ON_NOR.replace('["jffs2", "ubifs"]', '["jffs2", "yaffs2"]')
        .replace('["free", "aged"]', '["free"]')
        .replace("transactions = 1500", "transactions = 50")
    )
    found = {r["axes"]["filesystem"]: r for r in results(run_study(study, tmp_path / "out"))}
    assert found["jffs2"]["outcome"] == "pass"
    assert found["yaffs2"]["outcome"] == "skip"
    assert "NOR flash has none" in found["yaffs2"]["reason"]
