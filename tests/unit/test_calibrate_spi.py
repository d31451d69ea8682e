"""calibrate for chips on SPI: the clock of the bus is found by its period, and NOR's program times.

The lab is a formula of what docs/architecture.md says of NOR flash and of its driver.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from ffslab.calibrate.board_file import catalog_files
from ffslab.calibrate.figures import Preferred, Values, time_figures
from ffslab.calibrate.fitting import Calibration, calibrate
from ffslab.calibrate.readings import Key, Readings
from ffslab.loader import load_catalog
from ffslab.model.specs import Board

EVK = load_catalog().board("imx6ull-evk")
BLOCKS, PAGES, PAGE_BYTES, BLOCK_BYTES = 16, 4096, 256, 65_536
LINES = 4
TRUTH: Values = {
    "chip.t_erase_ns": 211_000_000,
    "chip.t_prog_ns": 431_000,
    "chip.t_prog_byte_ns": 17_000,
    "board.spi_clock_hz": 61_000_000,
    "board.driver_read_ns": 21_000,
    "board.driver_program_ns": 33_000,
    "board.driver_erase_ns": 19_000,
}


def stated(board: Board = EVK) -> dict[str, int]:
    return {one.setting: one.stated for one in time_figures(board, Preferred.driver)}


def times_at(values: Values, *, polled: bool = False) -> dict[Key, float]:
    """(requests, bytes of each, time of the array, driver) of each operation."""

    def of(name: str) -> float:
        return float(values[name])

    clock_ns = 1e9 / of("board.spi_clock_hz")
    byte_ns, command_ns = 8 * clock_ns / LINES, 48 * clock_ns
    page, byte = of("chip.t_prog_ns"), of("chip.t_prog_byte_ns")
    read, program = of("board.driver_read_ns"), of("board.driver_program_ns")
    found: dict[Key, float] = {}
    for phase, (count, size, array, driver) in {
        "read": (PAGES, PAGE_BYTES, 0.0, read),
        "read-part": (PAGES, 16, 0.0, read),
        "read-block": (BLOCKS, BLOCK_BYTES, 0.0, read),
        "program": (PAGES, PAGE_BYTES, page, program),
        "program-part": (PAGES, 1, byte, program),
        "erase": (BLOCKS, 0, of("chip.t_erase_ns"), of("board.driver_erase_ns")),
    }.items():
        working = command_ns + size * byte_ns + driver
        found[Key("mtd", phase)] = count * (working + array)
        found[Key("mtd", phase, busy=True)] = count * (working + (array if polled else 0))
    return found


def found_by(measured: Readings, board: Board = EVK, *, polled: bool = False) -> Calibration:
    def lab(points: Mapping[str, Values]) -> Mapping[str, Readings]:
        at = stated(board)
        return {name: times_at({**at, **one}, polled=polled) for name, one in points.items()}

    return calibrate(measured, time_figures(board, Preferred.driver), lab)


def test_a_chip_on_spi_has_a_clock_in_the_place_of_bus_times() -> None:
    for name, array in (
        ("imx6ull-evk", ["chip.t_erase_ns", "chip.t_prog_ns", "chip.t_prog_byte_ns"]),
        ("openwrt-one", ["chip.t_erase_ns", "chip.t_prog_ns", "chip.t_read_ns"]),
    ):
        board = load_catalog().board(name)
        for preferred in Preferred:
            names = [one.setting for one in time_figures(board, preferred)]
            assert names[:3] == array and "board.spi_clock_hz" in names
            assert not {"chip.bus_read_ps", "chip.bus_write_ps", "chip.t_command_ns"} & set(names)
            driver_first = names.index("board.driver_read_ns") < names.index("board.spi_clock_hz")
            assert driver_first is (preferred is Preferred.driver)


def test_all_figures_of_nor_come_out() -> None:
    calibration = found_by(times_at({**stated(), **TRUTH}))
    for name, value in TRUTH.items():
        assert calibration.value(name) == pytest.approx(value, rel=0.001), name
    assert not calibration.limited and calibration.median_difference < 0.001


def test_of_a_driver_that_polls_the_sum_comes_out() -> None:
    """Array and driver of a program are one time then, and so they are of an erase."""
    truth = {**stated(), **TRUTH}
    calibration = found_by(times_at(truth, polled=True), polled=True)
    assert calibration.found["board.driver_program_ns"].held
    more = truth["board.driver_program_ns"] - EVK.driver_program_ns
    for name in ("chip.t_prog_ns", "chip.t_prog_byte_ns"):
        assert calibration.value(name) == pytest.approx(truth[name] + more, rel=0.001), name
    assert calibration.value("board.spi_clock_hz") == pytest.approx(61_000_000, rel=0.001)
    assert calibration.value("board.driver_read_ns") == pytest.approx(21_000, rel=0.001)


def test_the_period_of_a_clock_is_what_is_doubled() -> None:
    (clock,) = (one for one in time_figures(EVK, Preferred.driver) if one.setting.endswith("_hz"))
    assert (clock.stated, clock.changed) == (29_000_000, 14_500_000)
    assert clock.time_of(50_000_000) == 20_000 and clock.value_of(20_000) == 50_000_000
    assert clock.value_of(0.0) == 133_000_000 and clock.exceeds(0.0)
    assert clock.value_of(1e12) == 100_000  # the slowest that a board may have


def test_a_clock_above_the_chip_s_is_told(tmp_path: Path) -> None:
    """Twice the data lines that the description has look like a clock of 160 MHz."""
    calibration = found_by(times_at({**stated(), "board.spi_clock_hz": 160_000_000}))
    assert [one.setting for one in calibration.limited] == ["board.spi_clock_hz"]
    assert calibration.value("board.spi_clock_hz") == 133_000_000
    assert abs(calibration.worst.difference) > 0.1
    board = written(calibration, tmp_path)
    assert "the most that the chip takes" in board.derivation


def written(calibration: Calibration, directory: Path) -> Board:
    for name, text in catalog_files("mine", EVK, calibration, "polled", "calibrate").items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load_catalog([directory]).board("mine")


def test_the_files_are_a_board_with_its_clock(tmp_path: Path) -> None:
    board = written(found_by(times_at({**stated(), **TRUTH})), tmp_path)
    assert board.spi_clock_hz == pytest.approx(61_000_000, rel=0.001)
    assert board.chip.is_nor and board.chip.t_prog_byte_ns == pytest.approx(17_000, rel=0.001)
    told = {one.figure: one for one in board.provenance}
    assert told["spi_clock_hz"].source.startswith("calibrate; residual ±")
    assert not told["spi_clock_hz"].estimate
    assert board.spi_rx_bits == LINES  # as described
    assert replace(board, name=EVK.name, chip=EVK.chip) != EVK
