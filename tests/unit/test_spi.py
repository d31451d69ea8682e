"""Bus times of chips on SPI follow from the clock and the data lines of the board."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from typer.testing import CliRunner

from ffslab.cli.app import build_app
from ffslab.errors import SpecError
from ffslab.loader import find_study, load_catalog
from ffslab.model.case import Case, case_spec
from ffslab.model.catalog import Catalog
from ffslab.model.study import expand, study_from_document, with_overrides
from ffslab.model.units import parse_size


@cache
def catalog() -> Catalog:
    return load_catalog()


def case_on(board: str, **settings: Any) -> Case:
    study = study_from_document(find_study("quick").document, catalog(), "quick")
    stated = {"board": board, "filesystem": "ubifs", "state": "free", "partition_bytes": "28 MiB"}
    given = [(key, (value,)) for key, value in (stated | settings).items()]
    return expand(with_overrides(study, given, catalog()), catalog())[0]


def bus(case: Case) -> tuple[int, int, int]:
    chip = case.board.chip
    return chip.t_command_ns, chip.bus_read_ps, chip.bus_write_ps


def test_bus_times_of_spi_nand_are_those_of_the_boards_clock() -> None:
    """11 bytes of command are 88 clocks; of a byte 8 bits over 1, 2 or 4 lines."""
    # At 52 MHz a clock is 19.2308 ns: 88 are 1692.3 ns, 8 are 153.846 ns, 2 are 38.462 ns.
    assert bus(case_on("openwrt-one")) == (1692, 153_846, 153_846)
    assert bus(case_on("mt7981-router")) == (1692, 38_462, 38_462)
    lines = {"board.spi_rx_bits": 2, "board.spi_tx_bits": 1}
    assert bus(case_on("mt7981-router", **lines)) == (1692, 76_923, 153_846)
    # At 100 MHz it is 10 ns.
    assert bus(case_on("mt7981-router", **{"board.spi_clock_hz": 100_000_000})) == (
        880,
        20_000,
        20_000,
    )


def test_bus_times_of_spi_nor_are_those_of_the_boards_clock() -> None:
    """6 bytes of command are 48 clocks: 1655.17 ns at 29 MHz; 8 bits over four lines 68.9655."""
    assert bus(case_on("imx6ull-evk")) == (1655, 68_966, 68_966)
    # At 108 MHz 444.4 ns; 8 bits over four lines 18.5185 ns, over one 74.0741.
    assert bus(case_on("stm32mp157-dhcom")) == (444, 18_519, 74_074)


def test_another_chip_of_the_kind_takes_the_boards_clock() -> None:
    other = case_on("openwrt-one", **{"board.chip": "gigadevice-gd5f1gq5u"})
    assert other.board.chip.t_erase_ns == 3_000_000
    assert bus(other) == (1692, 153_846, 153_846)
    lines = {"board.chip": "winbond-w25n01gv", "board.spi_rx_bits": 8, "chip.t_read_ns": 1}
    changed = case_on("openwrt-one", **lines).board.chip
    assert (changed.bus_read_ps, changed.t_read_ns) == (19_231, 1)
    assert case_on("apf27", **{"board.chip": "micron-mt29f2g08abaea"}).board.chip.planes == 2
    with pytest.raises(SpecError, match=r"kind spi-nor, and that of board openwrt-one of kind"):
        case_on("openwrt-one", **{"board.chip": "winbond-w25q256jv"})


def test_the_fastest_clock_of_the_chip_is_allowed() -> None:
    """88 clocks at 104 MHz are 846.15 ns, 8 are 76.923."""
    assert bus(case_on("openwrt-one", **{"board.spi_clock_hz": 104_000_000})) == (
        846,
        76_923,
        76_923,
    )


def test_what_a_page_takes() -> None:
    """tR 60 µs, 11 bytes of command over one line and 2112 bytes over four at 52 MHz."""
    chip = case_on("mt7981-router").board.chip
    assert chip.page_read_ns() == 1692 + 60_000 + 2112 * 38.462
    assert chip.page_program_ns() == 1692 + 250_000 + 2112 * 38.462


def test_a_bus_figure_that_a_study_sets_replaces_the_derived_one() -> None:
    case = case_on("openwrt-one", **{"chip.bus_read_ps": 1, "board.spi_clock_hz": 26_000_000})
    assert bus(case) == (3385, 1, 307_692)
    origins = {entry.figure: entry.origin for entry in case.board.chip.provenance}
    assert (origins["bus_read_ps"], origins["bus_write_ps"]) == ("set", "derived")


def test_sources_say_what_is_derived_and_whether_it_rests_on_an_estimate() -> None:
    entries = {entry.figure: entry for entry in catalog().board("openwrt-one").chip.provenance}
    assert entries["bus_read_ps"].source == (
        "derived: 8 bits over 1 data lines at 52 MHz of board openwrt-one"
    )
    assert not entries["bus_read_ps"].estimate  # the device tree states clock and lines
    entries = {entry.figure: entry for entry in catalog().board("mt7981-router").chip.provenance}
    assert entries["bus_read_ps"].estimate
    wider = case_on("openwrt-one", **{"board.spi_rx_bits": 4}).board.chip  # as nobody stated
    assert {entry.figure: entry for entry in wider.provenance}["bus_read_ps"].estimate


@pytest.mark.parametrize(
    ("board", "setting", "value", "message"),
    [
        (
            "openwrt-one",
            "board.spi_clock_hz",
            105_000_000,
            "above what chip winbond-w25n02kv takes",
        ),
        ("openwrt-one", "board.spi_rx_bits", 3, "a power of two from 1 to 8, not 3"),
        ("openwrt-one", "board.spi_rx_bits", 16, "a power of two from 1 to 8, not 16"),
        ("openwrt-one", "board.spi_clock_hz", 0, "from 100000"),
        ("apf27", "board.spi_rx_bits", 4, "chip micron-256m-apf27 .* is not on an SPI bus"),
    ],
)
def test_wrong_settings_of_the_bus_are_refused(
    board: str, setting: str, value: int, message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        case_on(board, **{setting: value})


def test_specs_of_raw_nand_are_what_they_were() -> None:
    """Figures that came later are in the specs of chips that have them, and in no other."""
    raw = case_spec(case_on("apf27"))["board"]
    assert not [
        key for key in (*raw, *raw["chip"]) if "spi" in key or key in ("kind", "t_prog_byte_ns")
    ]
    on_spi = case_spec(case_on("openwrt-one"))["board"]
    assert (on_spi["chip"]["kind"], on_spi["spi_rx_bits"]) == ("spi-nand", 1)


def test_the_list_of_boards_tells_the_bus() -> None:
    shown = CliRunner().invoke(build_app(), ["list", "boards"])
    listed = {line.split()[0]: line for line in shown.output.splitlines()}
    assert listed["openwrt-one"].endswith("SPI at 52 MHz, 1/1 data lines")
    assert listed["stm32mp157-dhcom"].endswith("SPI at 108 MHz, 4/1 data lines")
    assert "SPI" not in listed["apf27"]


def test_every_shipped_board_expands() -> None:
    """Limits of its module, RAM and partitions are those that a case is checked for."""
    for name in catalog().boards:
        size_bytes = min(parse_size("28 MiB"), catalog().board(name).chip.size_bytes)
        assert case_on(name, partition_bytes=size_bytes).board.name == name
