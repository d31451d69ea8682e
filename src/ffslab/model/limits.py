"""What the virtual chip and the lab's kernel take: limits that are checked before a guest starts.

They are those of the guest's side, stated here once for Python: of the numbers and lists of
kmod/vnand/params.c and kmod/vnor/keys.h (a test holds them against each other), of the CPU model's
prices on the kernel's command line, and of the RAM without which the kernel does not begin. A value
beyond them would be refused, or passed over, in every guest of a study.
"""

from __future__ import annotations

from collections.abc import Mapping

from ffslab.errors import SpecError
from ffslab.model.case import Case
from ffslab.model.figures import BUS_FIGURES, CHIP_ROWS, DRIVER_PRICES, NOR_ROWS
from ffslab.model.specs import CHIP_FAULT_RATES, CHIP_FIGURES, DRIVER_FIGURES, Board, Chip
from ffslab.model.units import format_size

# Least and most of each number of kmod/vnand/params.c that a catalog or a study states.
CHIP_NUMBERS: Mapping[str, tuple[int, int]] = {
    **{row.name: (row.least, row.most) for row in (*CHIP_ROWS, *DRIVER_PRICES) if not row.words},
    "program_fail_ppm": (0, 10**6),
    "erase_fail_ppm": (0, 10**6),
    "rber_e12": (0, 10**12),
    "rber_wear_e12": (0, 10**12),
    "rber_disturb_e12": (0, 10**12),
    "rber_retention_e12": (0, 10**12),
    "worn_cycles": (0, 2**30),
    "shelf_hours": (0, 10**7),
}
# The same of kmod/vnor/keys.h. What is not there is fixed, or means nothing on NOR.
NOR_NUMBERS: Mapping[str, tuple[int, int]] = {
    **{row.name: (row.least, row.most) for row in NOR_ROWS if row.name != "spi_clock_max_hz"},
    **{key: CHIP_NUMBERS[key] for key in (*BUS_FIGURES, *DRIVER_FIGURES)},
    **{key: CHIP_NUMBERS[key] for key in ("program_fail_ppm", "erase_fail_ppm", "worn_cycles")},
}
BAD_BLOCKS_MAX = 256  # VNAND_MAX_BAD: what the chip keeps a list of
PARTITIONS_MAX = 8  # VNAND_MAX_PARTS, those under test and behind it included
NAME_LETTERS_MAX = 31  # VNAND_NAME_LEN without the zero, of a partition
CHIP_BYTES_MAX = 2**40  # with the OOB
_POWERS_OF_TWO = tuple(row.name for row in CHIP_ROWS if row.power_of_two)
_SEED_MAX = 2**63 - 1  # the agent's; the chip takes more
# A second for an instruction or a call, in each unit; more would overflow the guest's clock.
_CPU_PRICE_MAX = {"ps": 10**12, "ns": 10**9}
# User-Mode Linux does not begin with less than 12 MiB, and of that nothing is left for a mount.
RAM_BYTES_MIN = 16 * 2**20
_OF_CHIP = (*CHIP_FIGURES, *CHIP_FAULT_RATES)


def check_chip(chip: Chip, where: str) -> None:
    """SpecError for a chip that its module refuses (params.c), or that would be misused."""
    if chip.is_nor:
        _check_nor(chip, where)
        return
    for key in _OF_CHIP:
        _check_number(key, getattr(chip, key), where)
    if chip.t_prog_byte_ns:
        raise SpecError(
            f"{where}: t_prog_byte_ns is a figure of NOR flash, and {chip.name} is NAND",
            remedy="leave it out; t_prog_ns is the program of a page or a part of it",
        )
    if chip.page_bytes % chip.ecc_step_bytes:
        raise SpecError(
            f"{where}: page_bytes {chip.page_bytes} is not a multiple of "
            f"ecc_step_bytes {chip.ecc_step_bytes}"
        )
    if chip.blocks % chip.planes:
        raise SpecError(f"{where}: planes {chip.planes} does not divide the {chip.blocks} blocks")
    if chip.subpages > chip.nop:
        raise SpecError(
            f"{where}: subpages {chip.subpages} is above nop {chip.nop}",
            cause="a page may be programmed nop times between erases, so sub-pages above cannot be",
            remedy=f"at most subpages = {chip.nop}",
        )
    _check_size(chip, where)
    most_bad = min(BAD_BLOCKS_MAX, chip.blocks - 1)
    if not 0 <= chip.factory_bad <= most_bad:
        raise SpecError(
            f"{where}: factory_bad must be from 0 to {most_bad}, not {chip.factory_bad}",
            cause=f"the virtual chip has a list of {BAD_BLOCKS_MAX} bad blocks, and needs a good "
            "one",
            remedy=f"at most factory_bad = {most_bad}",
        )


def _check_size(chip: Chip, where: str) -> None:
    size_bytes = chip.blocks * chip.pages_per_block * (chip.page_bytes + chip.oob_bytes)
    if size_bytes > CHIP_BYTES_MAX:
        raise SpecError(
            f"{where}: the chip has {format_size(size_bytes)} with its OOB; it may have at most "
            f"{format_size(CHIP_BYTES_MAX)}"
        )


def _check_nor(chip: Chip, where: str) -> None:
    for key, (least, most) in NOR_NUMBERS.items():
        if key in DRIVER_FIGURES:
            continue
        value = getattr(chip, key)
        _check_power(key, value, least, most, where)
        _check_range(key, value, least, most, where)
    for key in (*_OF_CHIP, "factory_bad"):
        # What a file of NOR does not state is as the kind has it: 1 sub-page, 1 plane, else 0.
        fixed = int(key in ("subpages", "planes", "ecc_step_bytes"))
        if key not in NOR_NUMBERS and getattr(chip, key) != fixed:
            raise SpecError(
                f"{where}: {key} is not a figure of NOR flash",
                cause="it has no pages with an OOB area, no ECC, and no bad blocks",
                remedy="leave it out, or take a chip of another kind",
            )
    if chip.t_prog_byte_ns > chip.t_prog_ns:
        raise SpecError(
            f"{where}: t_prog_byte_ns {chip.t_prog_byte_ns} is above t_prog_ns {chip.t_prog_ns}",
            cause="a byte takes no longer than the page that has it",
        )
    _check_size(chip, where)


def check_board(board: Board, where: str) -> None:
    """SpecError for a board whose RAM or partitions a guest cannot have."""
    _check_ram(board, where)
    if board.ram_bytes % 2**20:
        raise SpecError(
            f"{where}: board {board.name}: ram_bytes must be whole MiB, not {board.ram_bytes}",
            cause="the lab's kernel takes its RAM in MiB",
            remedy=f"ram_bytes = {board.ram_bytes // 2**20 * 2**20}",
        )
    in_front = PARTITIONS_MAX - 2  # beside the one under test, and the rest of the chip
    if len(board.partitions) > in_front:
        raise SpecError(
            f"{where}: board {board.name} has {len(board.partitions)} partitions in front of the "
            f"one under test; at most {in_front}"
        )
    for partition in board.partitions:
        if len(partition.name) > NAME_LETTERS_MAX:
            raise SpecError(
                f"{where}: board {board.name}: the name of partition {partition.name} has "
                f"{len(partition.name)} letters; at most {NAME_LETTERS_MAX}"
            )


def _check_ram(board: Board, where: str) -> None:
    if board.ram_bytes < RAM_BYTES_MIN:
        raise SpecError(
            f"{where}: board {board.name}: ram_bytes must be at least {RAM_BYTES_MIN} "
            f"({format_size(RAM_BYTES_MIN)}), not {board.ram_bytes} "
            f"({format_size(board.ram_bytes)})",
            cause="the lab's kernel does not begin with less, whatever the board's own kernel did",
            remedy=f'board.ram_bytes = "{format_size(RAM_BYTES_MIN)}" or more',
        )


def check_case(case: Case) -> None:
    """SpecError for a case that its guests would refuse, after scaling and changed estimates."""
    where = f"case {case.id}"
    check_chip(case.board.chip, f"{where}: chip {case.board.chip.name}")
    _check_ram(case.board, where)
    scaled = f"{where}: scaled by cpu_scale" if case.cpu_scale != 1 else where
    for key, value in case.driver_ns.items():
        _check_number(f"board.{key}", value, scaled)
    for key, value in case.cpu_prices.items():
        _check_range(f"board.{key}", value, 0, _CPU_PRICE_MAX[key.rpartition("_")[2]], scaled)
    _check_range("seed", case.seed, 0, _SEED_MAX, where)


def _check_number(key: str, value: int, where: str) -> None:
    least, most = CHIP_NUMBERS[key.rpartition(".")[2]]
    power = _check_power(key, value, least, most, where)
    _check_range(key, value, least, most, where, power)


def _check_power(key: str, value: int, least: int, most: int, where: str) -> str:
    """What to say of a figure that has to be a power of two; SpecError if it is none."""
    power = "a power of two " if key in _POWERS_OF_TWO else ""
    if power and value & (value - 1):
        raise SpecError(f"{where}: {key} must be {power}from {least} to {most}, not {value}")
    return power


def _check_range(key: str, value: int, least: int, most: int, where: str, kind: str = "") -> None:
    if not least <= value <= most:
        raise SpecError(
            f"{where}: {key} must be {kind}from {least} to {most}, not {value}",
            cause="the virtual chip and the lab's kernel take no other value",
            remedy=f"a value from {least} to {most}",
        )
