"""`ffslab calibrate` in the lab: a board whose figures are odd is found by its times alone.

The guests that are measured have figures that no catalog has; the fit begins with the board of the
catalog, and is told only what the documents say it is: the bus and the commands of the chip.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lab_support import ffslab

from ffslab.loader import load_catalog
from ffslab.model.specs import Board

CHIP_WITHIN, CPU_WITHIN = 0.03, 0.10  # the goals
ODD = {
    "chip.t_read_ns": 41_700,
    "chip.t_prog_ns": 373_000,
    "chip.t_erase_ns": 1_710_000,
    "board.driver_read_ns": 97_000,
    "board.driver_program_ns": 131_000,
    "board.driver_erase_ns": 33_000,
    "board.cpu_instruction_ps": 5_900,
    "board.cpu_byte_ps": 4_300,
    "board.cpu_set_byte_ps": 2_900,
    "board.cpu_syscall_ns": 2_700,
}

# SPI-NOR, whose bus has a clock; its driver sleeps, so that array and driver come apart.
ODD_NOR = {
    "chip.t_erase_ns": 211_000_000,
    "chip.t_prog_ns": 431_000,
    "chip.t_prog_byte_ns": 17_000,
    "board.spi_clock_hz": 61_000_000,
    "board.driver_read_ns": 21_000,
    "board.driver_program_ns": 33_000,
    "board.driver_erase_ns": 190_000,
    "board.cpu_instruction_ps": 2_900,
    "board.cpu_byte_ps": 3_100,
    "board.cpu_set_byte_ps": 1_700,
    "board.cpu_syscall_ns": 230,
}


def figure(board: Board, setting: str) -> float:
    where, _, name = setting.partition(".")
    value: float = getattr(board.chip if where == "chip" else board, name)
    return value


def settings(figures: dict[str, int]) -> list[str]:
    return [word for name, value in figures.items() for word in ("--set", f"{name}={value}")]


def calibrated(directory: Path, *words: str, board: str = "apf27") -> Board:
    """The board that comes of it, as every command finds it."""
    there = ("--to", str(directory / "mine"), "--output", str(directory / "runs"))
    done = ffslab("calibrate", "--board", board, "--name", "found", *there, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    return load_catalog([directory / "mine"]).board("found")


def test_odd_figures_are_found(tmp_path: Path) -> None:
    found = calibrated(tmp_path, *settings(ODD))
    assert found.calibrated and found.wait == "interrupt"
    for name, value in ODD.items():
        within = CHIP_WITHIN if name.startswith("chip.") else CPU_WITHIN
        assert figure(found, name) == pytest.approx(value, rel=within), name
    check_runs(tmp_path)
    again = ffslab(
        *("calibrate", "--board", "apf27-2012", "--to", str(tmp_path / "other")),
        *("--run", str(next((tmp_path / "runs").glob("*-probe"))), "-o", str(tmp_path)),
    )
    assert again.returncode == 2 and "is of board apf27, not apf27-2012" in again.stderr


def test_odd_figures_of_nor_are_found(tmp_path: Path) -> None:
    """The clock is the chip's bus, so it has to be as near as the chip."""
    words = settings(ODD_NOR)
    found = calibrated(tmp_path, *words, "--set", "board.wait=interrupt", board="imx6ull-evk")
    assert found.calibrated and found.wait == "interrupt" and found.chip.is_nor
    for name, value in ODD_NOR.items():
        of_chip = name.startswith("chip.") or name == "board.spi_clock_hz"
        within = CHIP_WITHIN if of_chip else CPU_WITHIN
        assert figure(found, name) == pytest.approx(value, rel=within), name
    assert found.spi_rx_bits == load_catalog().board("imx6ull-evk").spi_rx_bits


def check_runs(directory: Path) -> None:
    """`ffslab run` takes the board, with its figures."""
    study = directory / "one.toml"
    study.write_text(
        'schema = 1\nname = "one"\ntitle = "One"\n[base]\nboard = "found"\n'
        'filesystem = "mtd"\npartition_bytes = "4 MiB"\n[base.workload]\nkind = "raw"\n'
    )
    words = ("--catalog", str(directory / "mine"), "-o", str(directory / "run"))
    done = ffslab("run", str(study), *words)
    assert done.returncode == 0, done.stdout + done.stderr
    (results,) = (directory / "run").glob("*/results.jsonl")
    board = json.loads(results.read_text())["spec"]["board"]
    assert board["chip"]["t_erase_ns"] == pytest.approx(ODD["chip.t_erase_ns"], rel=CHIP_WITHIN)


def test_the_bus_is_found_where_the_driver_is_known(tmp_path: Path) -> None:
    """A driver that polls: its work is not told from the array's time, but the bus is its own."""
    odd = {"chip.bus_read_ps": 27_300, "chip.bus_write_ps": 38_100, "chip.t_prog_ns": 311_000}
    found = calibrated(
        *(tmp_path, "--fit", "bus"),
        *settings({**odd, "board.cpu_instruction_ps": 1_870}),
        board="celf-mips",
    )
    assert found.wait == "polled"
    for name, value in odd.items():
        assert figure(found, name) == pytest.approx(value, rel=CHIP_WITHIN), name
    assert found.cpu_instruction_ps == pytest.approx(1_870, rel=CPU_WITHIN)
    known = load_catalog().board("celf-mips")
    assert (found.cpu_copy_ns, found.cpu_set_ns) == (known.cpu_copy_ns, known.cpu_set_ns)


def test_the_chip_is_found_on_another_processor(tmp_path: Path) -> None:
    """QEMU's instructions are priced by nobody here, and yet the chip, which is known, comes out.

    The driver's figures are no less than the chip's module is given: there its code takes time too.
    """
    known = load_catalog().board("apf27")
    words = ("--target", "qemu", "--set", "part=device", "--set", "chip.t_prog_ns=311000")
    found = calibrated(tmp_path, *words)
    assert found.chip.t_prog_ns == pytest.approx(311_000, rel=CHIP_WITHIN)
    for name in ("chip.t_read_ns", "chip.t_erase_ns"):
        assert figure(found, name) == pytest.approx(figure(known, name), rel=CHIP_WITHIN), name
    for name in ("driver_read_ns", "driver_program_ns", "driver_erase_ns"):
        assert getattr(known, name) <= getattr(found, name) < getattr(known, name) + 20_000, name
