"""What a page costs: array, bus, ECC and the board's driver, on the raw device.

The values are worked out by hand from the figures of the boards' files and of the publications.
A program in the guest goes through the blocks of the partition; the step's time is what it took.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from guest_programs import SOURCES
from lab_support import STUDY, Boot, boot, cases

from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.model.specs import CPU_FIGURES
from ffslab.protocol.plan import encode
from ffslab.targets.virtual_flash import plan_text

BLOCKS = 64
PAGES = 64 * BLOCKS
OPERATIONS = ("erase", "program", "read", "oob")
MIB = 2**20


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mtdspeed") / "mtdspeed"
    source = SOURCES / "mtdspeed" / "main.c"
    words = ("gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-static")
    subprocess.run([*words, "-o", path, source], check=True)
    return path


def board_case(board: str = "apf27", **changes: object) -> Case:
    text = STUDY.replace('"apf27"', f'"{board}"').replace('"jffs2", "ubifs"', '"jffs2"')
    case = cases(text)["jffs2-free-s1"]
    return replace(case, board=replace(case.board, **changes))


def raw(lab: LabBuild, directory: Path, case: Case, program: Path) -> Boot:
    loading = [line for line in plan_text(case).splitlines() if "vnand.ko" in line]
    runs = [
        f"exec path=/test/mtdspeed args={encode(f'/dev/mtd0 {name} {BLOCKS}')}"
        for name in OPERATIONS
    ]
    end = ["capture path=/proc/vnand/flash0/counters", "capture path=/proc/cpu_model"]
    # The kernel has something left to do when it first idles.
    plan = "\n".join(["ffsplan 1", *loading, "sleep ms=100", *runs, *end]) + "\n"
    guest = boot(lab, directory, case, plan, files={"/test/mtdspeed": program})
    assert guest.of_type("end")[0]["status"] == "ok", guest.records
    return guest


def times_ns(guest: Boot) -> dict[str, float]:
    """Time per erase, page or OOB area."""
    steps = [step for step in guest.of_type("step") if step["verb"] == "exec"]
    counts = {"erase": BLOCKS, "program": PAGES, "read": PAGES, "oob": PAGES}
    return {
        name: (step["t_end_ns"] - step["t_start_ns"]) / counts[name]
        for name, step in zip(OPERATIONS, steps, strict=True)
    }


# 200 ns command; 25, 220 and 500 µs in the array; 2,112 or 64 bytes at 15 ns; 165, 165 and 20 µs
# in the driver, of which an OOB area alone costs 20 µs and 64/2,112 of the other 145.
BY_HAND_NS = {
    "erase": 200 + 500_000 + 20_000,
    "program": 200 + 220_000 + 31_680 + 165_000,
    "read": 200 + 25_000 + 31_680 + 165_000,
    "oob": 200 + 25_000 + 960 + 20_000 + 4_393,
}


@pytest.mark.parametrize("wait", ["polled", "interrupt"])
def test_each_operation_costs_what_the_figures_say(
    lab: LabBuild, tmp_path: Path, program: Path, wait: str
) -> None:
    """With free code and free copying only the chip's and the driver's times are left."""
    prices = dict.fromkeys(CPU_FIGURES, 0)
    guest = raw(lab, tmp_path / "guest", board_case(wait=wait, **prices), program)
    for name, found in times_ns(guest).items():
        assert found == pytest.approx(BY_HAND_NS[name], rel=5e-3), name
    chip = guest.captured("flash0/counters")
    driver = BLOCKS * 20_000 + 2 * PAGES * 165_000 + PAGES * 24_393
    assert chip["driver_ns"] == driver
    assert (
        chip["busy_ns"]
        == sum(
            count * BY_HAND_NS[name]
            for name, count in zip(OPERATIONS, (BLOCKS, PAGES, PAGES, PAGES), strict=True)
        )
        - driver
    )


def test_the_price_of_the_driver_is_cpu_time(lab: LabBuild, tmp_path: Path, program: Path) -> None:
    """Nothing with 0 or a free CPU; twice of it at a scale of 2, and the chip's time as it was."""
    free = dict.fromkeys(("driver_read_ns", "driver_program_ns", "driver_erase_ns"), 0)
    prices = dict.fromkeys(CPU_FIGURES, 0)
    found = {
        name: raw(lab, tmp_path / name, case, program)
        for name, case in (
            ("without", board_case(**free, **prices)),
            ("scale-0", replace(board_case(), cpu_scale=0.0)),
            ("scale-2", replace(board_case(**prices), cpu_scale=2.0)),
        )
    }
    chips = {name: guest.captured("flash0/counters") for name, guest in found.items()}
    assert chips["without"]["driver_ns"] == chips["scale-0"]["driver_ns"] == 0
    assert chips["scale-2"]["driver_ns"] == 2 * (BLOCKS * 20_000 + 2 * PAGES * 165_000) + PAGES * (
        40_000 + 290_000 * 64 // 2112
    )
    assert len({chip["busy_ns"] for chip in chips.values()}) == 1
    read = {name: times_ns(guest)["read"] for name, guest in found.items()}
    assert read["without"] == read["scale-0"] == pytest.approx(56_880, rel=5e-3)
    assert read["scale-2"] == pytest.approx(56_880 + 330_000, rel=2e-3)


def test_the_celf_board_has_the_published_raw_throughput(
    lab: LabBuild, tmp_path: Path, program: Path
) -> None:
    """CELF 2009: erase 10.61, read 2.50, write 2.00 MiB/s, all code charged for."""
    times = times_ns(raw(lab, tmp_path / "guest", board_case("celf-mips"), program))
    assert 128 * 1024 / times["erase"] * 1e9 / MIB == pytest.approx(10.61, rel=0.03)
    assert 2048 / times["read"] * 1e9 / MIB == pytest.approx(2.50, rel=0.03)
    assert 2048 / times["program"] * 1e9 / MIB == pytest.approx(2.00, rel=0.03)
