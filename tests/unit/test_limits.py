"""What a guest would refuse is refused when the study is read, with the limit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from ffslab.errors import SpecError
from ffslab.loader import find_study, load_catalog
from ffslab.model import limits
from ffslab.model.study import expand, study_from_document, with_overrides
from ffslab.paths import data_dir

VNAND = data_dir("kmod") / "vnand"
VNOR = data_dir("kmod") / "vnor"
CONSTANTS = {"SECOND_NS": "1000000000", "VNAND_MAX_SUBPAGES": "8", "~0": "-1"}
# What the lab sets itself: neither a catalog nor a study states it.
OWN = {"subpage_read", "ordered", "seed"}


def numbers_of_the_module(file: Path) -> Mapping[str, tuple[int, int]]:
    """The rows NUMBER(name, least, most) of the file."""
    text = file.read_text()
    found = {}
    for name, least, most in re.findall(r"NUMBER\((\w+), ([^,]+), ([^)]+)\)", text):
        if name != "member":
            found[name] = (value_of(least), value_of(most))
    return found


def value_of(words: str) -> int:
    for name, number in CONSTANTS.items():
        words = words.replace(name, number)
    left, _, shift = words.replace("ULL", "").partition("<<")
    return int(left) << int(shift or 0)


def constant(name: str) -> int:
    text = (VNAND / "params.h").read_text()
    match = re.search(rf"#define {name}\s+(\d+)", text)
    assert match is not None
    return int(match[1])


def test_the_numbers_are_those_of_the_module() -> None:
    numbers = numbers_of_the_module(VNAND / "params.c")
    stated = {key: both for key, both in numbers.items() if key not in OWN}
    assert len(stated) > 20
    assert dict(limits.CHIP_NUMBERS) == stated
    assert constant("VNAND_MAX_BAD") == limits.BAD_BLOCKS_MAX
    assert constant("VNAND_MAX_PARTS") == limits.PARTITIONS_MAX
    assert constant("VNAND_NAME_LEN") == limits.NAME_LETTERS_MAX + 1
    assert constant("VNAND_MAX_SUBPAGES") == int(CONSTANTS["VNAND_MAX_SUBPAGES"])
    assert "bytes > 1ULL << 40" in (VNAND / "params.c").read_text()
    assert limits.CHIP_BYTES_MAX == 1 << 40


def test_the_numbers_of_nor_are_those_of_its_module() -> None:
    numbers = numbers_of_the_module(VNOR / "keys.h")
    assert dict(limits.NOR_NUMBERS) == {k: both for k, both in numbers.items() if k != "seed"}


NOR: list[tuple[str, object]] = [("board", "imx6ull-evk"), ("partition_bytes", "16 MiB")]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("chip.page_bytes", 1024, "from 64 to 512, not 1024"),
        ("chip.page_bytes", 96, "a power of two from 64 to 512, not 96"),
        ("chip.oob_bytes", 64, "oob_bytes is not a figure of NOR flash"),
        ("chip.subpages", 2, "subpages is not a figure of NOR flash"),
        ("chip.t_read_ns", 25_000, "t_read_ns is not a figure of NOR flash"),
        ("chip.ecc_strength_bits", 1, "ecc_strength_bits is not a figure of NOR flash"),
        ("chip.factory_bad", 1, "factory_bad is not a figure of NOR flash"),
        ("chip.rber_e12", 1, "rber_e12 is not a figure of NOR flash"),
        ("chip.t_prog_byte_ns", 700_001, "t_prog_byte_ns 700001 is above t_prog_ns 700000"),
    ],
)
def test_what_nor_flash_has_not_is_refused(key: str, value: object, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        expand_quick(*NOR, (key, value))


def test_nor_flash_takes_the_faults_that_it_has() -> None:
    given = [("chip.endurance_cycles", 10), ("chip.worn_cycles", 5), ("chip.erase_fail_ppm", 1)]
    assert expand_quick(*NOR, *given)
    with pytest.raises(SpecError, match="t_prog_byte_ns is a figure of NOR flash"):
        expand_quick(("chip.t_prog_byte_ns", 1))


def expand_quick(*overrides: tuple[str, object]) -> int:
    catalog = load_catalog()
    source = find_study("quick")
    study = study_from_document(source.document, catalog, "quick")
    given = [(key, (value,)) for key, value in overrides]
    return len(expand(with_overrides(study, given, catalog), catalog))


@pytest.mark.parametrize(
    ("key", "value", "limit"),
    [
        ("chip.factory_bad", 257, "from 0 to 256, not 257"),
        ("chip.t_prog_ns", 10**9 + 1, "from 0 to 1000000000, not 1000000001"),
        ("chip.blocks", 2**20 + 1, "from 1 to 1048576, not 1048577"),
        ("chip.bus_read_ps", 5 * 10**9, "from 0 to 1000000000"),
        ("chip.ecc_strength_bits", 129, "from 0 to 128"),
        ("chip.program_fail_ppm", 10**6 + 1, "from 0 to 1000000"),
        ("chip.rber_e12", 2 * 10**12, "from 0 to 1000000000000"),
        ("chip.endurance_cycles", 2**31, "from 0 to 1073741824"),
        ("chip.page_bytes", 3000, "a power of two from 512 to 16384, not 3000"),
        ("board.driver_read_ns", 2 * 10**9, "from 0 to 1,000,000,000"),
        ("board.cpu_instruction_ps", 10**21, "from 0 to 1,000,000,000"),
        ("board.cpu_syscall_ns", 10**9 + 1, "from 0 to 1,000,000,000"),
        ("board.ram_bytes", "4 MiB", "at least 16777216 (16 MiB), not 4194304 (4 MiB)"),
        ("board.ram_bytes", 20_000_000, "whole MiB"),
        ("seed", 2**63, f"from 0 to {2**63 - 1}"),
    ],
)
def test_a_value_beyond_a_limit_is_refused_with_the_limit(
    key: str, value: object, limit: str
) -> None:
    with pytest.raises(SpecError) as caught:
        expand_quick((key, value))
    assert limit in caught.value.message
    assert key.rpartition(".")[2] in caught.value.message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("chip.factory_bad", 256),
        ("chip.t_prog_ns", 10**9),
        ("chip.ecc_strength_bits", 128),
        ("board.ram_bytes", "16 MiB"),
        ("seed", 2**63 - 1),
    ],
)
def test_the_limit_itself_is_possible(key: str, value: object) -> None:
    assert expand_quick((key, value)) > 0


def test_what_a_scale_or_an_estimate_makes_of_a_value_counts() -> None:
    with pytest.raises(SpecError, match=r"scaled by cpu_scale: board\.driver_read_ns must be"):
        expand_quick(("board.driver_read_ns", 10**9), ("cpu_scale", 2))
    with pytest.raises(SpecError, match="bus_read_ps must be from 0 to 1000000000, not 1800000000"):
        expand_quick(("chip.bus_read_ps", 9 * 10**8), ("estimate", "double-bus"))


def test_a_board_with_too_little_ram_is_refused_when_the_catalog_is_read(tmp_path: Path) -> None:
    text = (data_dir("catalog") / "boards" / "apf27.toml").read_text()
    (tmp_path / "boards").mkdir()
    board = text.replace('name = "apf27"', 'name = "small"').replace("134_217_728", "8_388_608")
    (tmp_path / "boards" / "small.toml").write_text(board)
    with pytest.raises(SpecError, match=r"small\.toml: board small: ram_bytes must be at least"):
        load_catalog([tmp_path])
