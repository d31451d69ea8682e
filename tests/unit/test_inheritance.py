"""Chips and boards that extend others: figures, their sources, clocks, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from host_support import STUDY, cases_of

from ffslab.campaign.manifest import _all_provenance
from ffslab.errors import SpecError, UsageError
from ffslab.loader import find_study, load_catalog, study_names
from ffslab.model.catalog import Catalog
from ffslab.model.figures import (
    ALL_CHIP_ROWS,
    BOARD_ROWS,
    BOARD_SPI_ROWS,
    CHIP_ROWS,
    CPU_PRICES,
    ROWS_OF_KIND,
)
from ffslab.model.specs import Board, Chip, Provenance
from ffslab.paths import user_catalog
from ffslab.report.facts import time_model

BASE = "micron-256m-apf27"
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a file of the user's own catalog: kind, name, then lines."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def one(kind: str, name: str, *lines: str) -> Path:
        path = user_catalog() / kind / f"{name}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(["schema = 1", f'name = "{name}"', *lines, ""]))
        return path

    return one


def chip_of(catalog: Catalog, name: str, figure: str) -> tuple[Any, Provenance]:
    chip = catalog.chip(name)
    (entry,) = (entry for entry in chip.provenance if entry.figure == figure)
    return getattr(chip, figure), entry


def test_a_stated_figure_never_has_the_source_of_the_base(write: Write) -> None:
    write(
        "chips", "mine", f'extends = "{BASE}"', "[figures]", "t_prog_ns = 600_000",
        't_erase_ns = { value = 3_000_000, source = "its data sheet", estimate = false }',
    )  # fmt: skip
    catalog = load_catalog()
    assert chip_of(catalog, "mine", "t_prog_ns") == (
        600_000,
        Provenance("t_prog_ns", "estimate by the user", True, "user"),
    )
    assert chip_of(catalog, "mine", "t_erase_ns") == (
        3_000_000,
        Provenance("t_erase_ns", "its data sheet", False),
    )
    base = {entry.figure: entry for entry in catalog.chip(BASE).provenance}
    own = {entry.figure: entry for entry in catalog.chip("mine").provenance}
    assert {name for name in base if base[name] != own[name]} == {"t_prog_ns", "t_erase_ns"}
    assert list(own) == [row.name for row in CHIP_ROWS]


def test_a_chain_of_chips_and_a_board_of_several_catalogs(write: Write, tmp_path: Path) -> None:
    write("chips", "b", 'extends = "c"', "[figures]", "t_read_ns = 30_000")
    write("chips", "c", f'extends = "{BASE}"', "[figures]", "t_read_ns = 1", "blocks = 1024")
    write("boards", "mine", 'extends = "apf27"', 'chip = "b"')
    more = tmp_path / "more"
    (more / "chips").mkdir(parents=True)
    (more / "chips" / "d.toml").write_text('schema = 1\nname = "d"\nextends = "b"\n')
    catalog = load_catalog([more])
    for name in ("b", "d"):
        chip = catalog.chip(name)
        assert (chip.t_read_ns, chip.blocks, chip.t_prog_ns) == (30_000, 1024, 220_000)
    board = catalog.board("mine")
    assert board.chip == catalog.chip("b")
    assert board.cpu_instruction_ps == 3750
    assert board.derivation.startswith("As board apf27, but for the chip. Of apf27: No board was")
    assert "d" not in load_catalog().chips


def test_a_calibration_is_not_inherited(write: Write) -> None:
    measured = ('extends = "apf27"', "calibrated = true", 'derivation = "measured on it"')
    write("boards", "a", *measured)
    write("boards", "b", 'extends = "a"', "[figures]", "ram_bytes = 67_108_864")
    catalog = load_catalog()
    assert (catalog.board("a").calibrated, catalog.board("b").calibrated) == (True, False)
    assert catalog.board("a").derivation == "measured on it"


def test_another_clock_scales_what_the_file_does_not_state(write: Write) -> None:
    """At half the clock everything takes twice as long."""
    write("boards", "slow", 'extends = "apf27"', "[figures]", "cpu_mhz = 200", "cpu_byte_ps = 9")
    board = load_catalog().board("slow")
    assert (board.cpu_mhz, board.cpu_instruction_ps, board.cpu_byte_ps) == (200, 7500, 9)
    assert (board.cpu_set_byte_ps, board.driver_read_ns) == (7000, 330_000)
    assert (board.cpu_copy_ns, board.cpu_set_ns, board.cpu_syscall_ns) == (300, 750, 562)
    assert (board.driver_program_ns, board.driver_erase_ns) == (330_000, 40_000)
    origins = {entry.figure: entry.origin for entry in board.provenance}
    assert origins["cpu_instruction_ps"] == origins["driver_erase_ns"] == "derived"
    assert (origins["cpu_byte_ps"], origins["cpu_mhz"]) == ("user", "user")
    assert (origins["ram_bytes"], origins["wait"]) == ("catalog", "catalog")
    (instruction,) = (entry for entry in board.provenance if entry.figure == "cpu_instruction_ps")
    assert instruction.source == "derived: 3,750 × 400 ÷ 200 MHz, from board apf27"


def test_a_study_sets_the_clock_and_prices_follow() -> None:
    text = STUDY.replace("seeds = [1, 2]", "")
    slow, fast = cases_of(
        text.replace('["jffs2", "ubifs"]', '["ubifs"]').replace('["free", "aged"]', '["free"]')
        + '"board.cpu_mhz" = [200, 800]\n"board.cpu_byte_ps" = [7000]\n'
    )
    assert [case.id for case in (slow, fast)] == ["ubifs-cpumhz200-s1", "ubifs-cpumhz800-s1"]
    assert [case.board.cpu_instruction_ps for case in (slow, fast)] == [7500, 1875]
    assert [case.board.cpu_byte_ps for case in (slow, fast)] == [7000, 7000]
    assert slow.driver_ns["driver_read_ns"] == 330_000
    entries = {(e["figure"], e["value"]): e for e in _all_provenance([slow, fast])}
    assert entries["board.cpu_instruction_ps", 7500]["origin"] == "derived"
    assert entries["board.cpu_mhz", 800]["origin"] == "set"
    # It is set to what the board says anyway.
    assert entries["board.cpu_byte_ps", 7000]["origin"] == "catalog"
    assert ("board.cpu_instruction_ps", 3750) not in entries


def test_the_report_names_the_source_of_each_value() -> None:
    of = {"board": "b", "figure": "board.cpu_instruction_ps"}
    provenance = [
        {**of, "value": 1, "source": "stated", "estimate": False},
        {**of, "value": 2, "source": "derived: it", "estimate": True},
    ]
    name = CPU_PRICES[0].title

    def basis(value: int) -> tuple[str, bool]:
        spec = {"board": {"name": "b", "cpu_instruction_ps": value}, "cpu_instruction_ps": 7}
        facts = {fact.name: fact for fact in time_model([spec], {"provenance": provenance})}
        return facts[name].basis, facts[name].estimate

    assert basis(1) == ("stated", False)
    assert basis(2) == ("derived: it", True)


@pytest.mark.parametrize("setting", ["board.cpu_mhz = [0]", "board.cpu_mhz = [200_000]"])
def test_a_clock_without_meaning_is_refused(setting: str) -> None:
    key, _, value = setting.partition(" = ")
    with pytest.raises(SpecError, match="cpu_mhz"):
        cases_of(STUDY + f'"{key}" = {value}\n')


def test_a_figure_of_the_past_says_what_became_of_it(write: Write) -> None:
    """In a board's file and as a setting: what, why, and what to state instead."""
    write("boards", "mine", 'extends = "apf27"', "[figures]", "cpu_block_ps = 20_000")
    with pytest.raises(SpecError, match=r"mine\.toml: figures\.cpu_block_ps is no") as of_file:
        load_catalog().board("mine")
    with pytest.raises(SpecError, match=r"board\.cpu_block_ps is no longer a figure") as of_setting:
        cases_of(STUDY + '"board.cpu_block_ps" = [20_000]\n')
    for caught in (of_file, of_setting):
        assert "counts instructions" in caught.value.cause
        assert "cpu_instruction_ps, about 0.19 of it" in caught.value.remedy
        assert "docs/price-of-code.md" in caught.value.remedy


BAD = {
    "circle": (('extends = "mine"',), "in a circle: mine → mine"),
    "unknown": (('extends = "micron-256m-apf"',), f"unknown chip.*did you mean '{BASE}'"),
    "no text": (("extends = 3",), "extends: Input should be a valid string"),
    "misspelt": ((f'extends = "{BASE}"', "[figures]", "t_prg_ns = 6"), "did you mean 't_prog_ns'"),
    "fraction": ((f'extends = "{BASE}"', "[figures]", "nop = 2.5"), "whole number.*2.5"),
    "no source": (
        (f'extends = "{BASE}"', "[figures]", "nop = { value = 4, estimate = false }"),
        "needs its source",
    ),
    "no word on the estimate": (
        (f'extends = "{BASE}"', "[figures]", 'nop = { value = 4, source = "data sheet" }'),
        "say whether it is an estimate",
    ),
    "no title": (("[figures]",), "'title' is missing, and it extends nothing"),
    "geometry": ((f'extends = "{BASE}"', "[figures]", "ecc_step_bytes = 768"), "not a multiple of"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_an_error_where_it_is_named_and_nowhere_else(write: Write, name: str) -> None:
    lines, message = BAD[name]
    path = write("chips", "mine", *lines)
    write("chips", "heir", 'extends = "mine"')
    write("boards", "board", 'extends = "apf27"', 'chip = "mine"')
    catalog = load_catalog()
    for named in (lambda: catalog.chip("mine"), lambda: catalog.board("board")):
        with pytest.raises(SpecError, match=message) as caught:
            named()
        assert str(path) in caught.value.message
    with pytest.raises(SpecError, match=message):
        catalog.chip("heir")
    assert catalog.board("apf27").chip.name == BASE


def test_all_that_is_wrong_or_missing_comes_in_one_message(write: Write) -> None:
    write("chips", "mine", 'title = "t"', "[figures]", "t_prog_ns = 6", "nop = 1")
    write("chips", "values", f'extends = "{BASE}"', "[figures]", "page_bytes = 3000", "ordered = 1")
    catalog = load_catalog()
    with pytest.raises(SpecError, match="17 figures are missing") as caught:
        catalog.chip("mine")
    lines = caught.value.message.splitlines()[1:]
    missing = [row for row in CHIP_ROWS if row.name not in ("t_prog_ns", "nop")]
    assert [line.split()[0] for line in lines] == [row.name for row in missing]
    assert any(line.split()[:2] == ["t_erase_ns", "ns,"] for line in lines)
    with pytest.raises(SpecError, match=r"page_bytes must be a power of two.*ordered must be true"):
        catalog.chip("values")


def test_a_file_of_ones_own_does_not_replace_a_shipped_one(write: Write) -> None:
    mine = write("boards", "apf27", 'extends = "omap3530-evm"')
    with pytest.raises(UsageError, match="two files of boards are called apf27") as caught:
        load_catalog()
    assert str(mine) in caught.value.message
    assert "catalog/boards/apf27.toml" in caught.value.message
    mine.unlink()
    study = write("studies", "quick", 'title = "mine"')
    with pytest.raises(UsageError, match="two files of studies are called quick") as caught:
        find_study("quick")
    assert str(study) in caught.value.message


def test_a_study_of_ones_own_is_found_by_its_name(write: Write) -> None:
    path = write("studies", "mine", 'title = "mine"')
    assert study_names()["mine"] == find_study("mine").path == path


def test_relative_configuration_directories_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "config")
    assert user_catalog() == Path.home() / ".config" / "ffslab"


def test_the_tables_have_a_row_for_each_figure_of_chips_and_boards() -> None:
    """Their other fields are no figures, or faults, which the catalog does not state."""
    chip = {"name", "title", "provenance", "factory_bad", "program_fail_ppm", "erase_fail_ppm"}
    chip |= {"rber_e12", "rber_wear_e12", "rber_disturb_e12", "rber_retention_e12"}
    chip |= {"worn_cycles", "shelf_hours"}
    chip |= {"kind"}
    assert {field.name for field in fields(Chip)} - chip == {row.name for row in ALL_CHIP_ROWS}
    of_kinds = {row.name for rows in ROWS_OF_KIND.values() for row in rows}
    assert of_kinds == {row.name for row in ALL_CHIP_ROWS}
    board = {"name", "title", "provenance", "chip", "cpu", "partitions", "calibrated"}
    board |= {"derivation"}
    rows = (*BOARD_ROWS, *BOARD_SPI_ROWS)
    assert {field.name for field in fields(Board)} - board == {row.name for row in rows}


def test_ranges_are_those_of_the_virtual_chip() -> None:
    """kmod/vnand/params.c checks them again."""
    text = (Path(__file__).parents[2] / "kmod" / "vnand" / "params.c").read_text()
    numbers = {"SECOND_NS": 10**9, "VNAND_MAX_SUBPAGES": 8, "1 << 20": 2**20, "1 << 30": 2**30}
    stated = {
        name: (int(least), numbers.get(most) or int(most))
        for name, least, most in re.findall(r"NUMBER\((\w+), (\d+), ([\w ]+(?:<< \d+)?)\)", text)
        if most.isdigit() or most in numbers
    }
    rows = [row for row in (*CHIP_ROWS, *BOARD_ROWS) if not row.words and row.name in stated]
    assert len(rows) == 21
    for row in rows:
        assert (row.least, row.most) == stated[row.name], row.name


def test_no_shipped_figure_is_a_users_estimate() -> None:
    catalog = load_catalog()
    items: list[Chip | Board] = [*catalog.chips.values(), *catalog.boards.values()]
    assert {entry.origin for item in items for entry in item.provenance} == {"catalog"}
    of_boards = [board.chip for board in catalog.boards.values()]
    origins = {entry.origin for chip in of_boards for entry in chip.provenance}
    assert origins == {"catalog", "derived"}  # the latter on an SPI bus
