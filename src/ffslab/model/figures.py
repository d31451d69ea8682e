"""The figures of chips and boards: name, unit, range and meaning of each, in one place.

What the catalog's files may say, what is missing in one, what `ffslab schema chip` lists and what
`ffslab new` writes into a skeleton all come from these rows. Ranges of a chip are those of the
virtual chip itself (kmod/vnand/params.c).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ffslab.documents import document
from ffslab.errors import SpecError

_LONGEST = 10**9  # nanoseconds or picoseconds of one operation


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure. Integers have a range; `words` are the values of one that is no number.

    `is_looked_for`: whether `ffslab calibrate` can tell it from others by what a probe measures.
    """

    name: str
    unit: str
    meaning: str
    least: int = 0
    most: int = _LONGEST
    power_of_two: bool = False
    words: tuple[Any, ...] = ()
    is_looked_for: bool = True

    @property
    def title(self) -> str:
        """Its meaning without what a value of it means."""
        return self.meaning.partition(";")[0]

    @property
    def range(self) -> str:
        """What it may be: "a power of two from 512 to 16384", "true or false"."""
        if self.words:
            return " or ".join(toml_value(word) for word in self.words)
        power = "a power of two " if self.power_of_two else ""
        return f"{power}from {self.least} to {_grouped(self.most)}"

    @property
    def described(self) -> str:
        """Unit, range and meaning in one line."""
        return f"{self.unit}{', ' * bool(self.unit)}{self.range}: {self.meaning}"

    def accepts(self, value: Any) -> bool:
        """Whether a file may give this value."""
        if self.words:
            return any(value == word and type(value) is type(word) for word in self.words)
        if isinstance(value, bool) or not isinstance(value, int):
            return False
        fits = self.least <= value <= self.most
        return fits and not (self.power_of_two and value & (value - 1))


def _grouped(number: int) -> str:
    return f"{number:,}" if number >= 100_000 else str(number)


def toml_value(value: Any) -> str:
    """A figure as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else f"{value:_}"


def refuse_former(names: Iterable[str], where: str, prefix: str) -> None:
    """SpecError for a figure that boards have had, and have no more."""
    for name in names:
        if name in _FORMER_FIGURES:
            cause, remedy = _FORMER_FIGURES[name]
            raise SpecError(
                f"{where}: {prefix}{name} is no longer a figure",
                cause=cause,
                remedy=f"{remedy}; see {document('docs/price-of-code.md')}",
            )


CHIP_ROWS = (
    FigureRow("page_bytes", "bytes", "data of a page", 512, 16384, power_of_two=True),
    FigureRow("oob_bytes", "bytes", "spare (OOB) area of a page", 8, 2048),
    FigureRow(
        "subpages",
        "",
        "units of a page that can be programmed separately, at most nop",
        1,
        8,
        power_of_two=True,
    ),
    FigureRow("pages_per_block", "pages", "pages of an erase block", 1, 1024, power_of_two=True),
    FigureRow("blocks", "erase blocks", "erase blocks of the chip", 1, 2**20),
    FigureRow("planes", "", "planes; they change no time here", 1, 16),
    FigureRow("t_command_ns", "ns", "command, address and status of every operation"),
    FigureRow("t_read_ns", "ns", "array read, tR"),
    FigureRow("t_prog_ns", "ns", "page program, tPROG, typical"),
    FigureRow("t_erase_ns", "ns", "block erase, tBERS, typical"),
    FigureRow("bus_read_ps", "ps per byte", "bus, from the chip: the cycle tRC ÷ bytes in a cycle"),
    FigureRow("bus_write_ps", "ps per byte", "bus, to the chip: the cycle tWC ÷ bytes in a cycle"),
    FigureRow("ecc_read_ns", "ns per page", "ECC of a page read; 0: during the transfer"),
    FigureRow("ecc_write_ns", "ns per page", "ECC of a page programmed; 0: during the transfer"),
    FigureRow("ecc_strength_bits", "bits", "bit errors that ECC corrects in a step", 0, 128),
    FigureRow("ecc_step_bytes", "bytes", "data of a step of ECC; divides page_bytes", 128, 16384),
    FigureRow("nop", "programs", "programs of one page between two erases (NOP)", 0, 255),
    FigureRow("ordered", "", "pages of a block must be programmed in order", words=(True, False)),
    FigureRow("endurance_cycles", "erases", "erases that a block endures; 0: no limit", 0, 2**30),
)

# A chip on an SPI bus: how long commands and bytes take there is the board's, which has the clock.
BUS_FIGURES = ("t_command_ns", "bus_read_ps", "bus_write_ps")
_SPI_CLOCK_MAX = FigureRow("spi_clock_max_hz", "Hz", "the fastest clock of the chip", 1, 10**9)
SPI_NAND_ROWS = (*(row for row in CHIP_ROWS if row.name not in BUS_FIGURES), _SPI_CLOCK_MAX)
# SPI-NOR flash: bytes are programmed, there is no OOB area, no ECC, no bad block; a page is the
# buffer that one command programs at most. Ranges are those of kmod/vnor/keys.h.
NOR_ROWS = (
    FigureRow("page_bytes", "bytes", "what a command programs at most", 64, 512, power_of_two=True),
    FigureRow("pages_per_block", "pages", "pages of an erase sector", 1, 1024, power_of_two=True),
    FigureRow("blocks", "erase sectors", "erase sectors of the chip", 1, 2**20),
    FigureRow("t_prog_byte_ns", "ns", "program of one byte, typical; of more in proportion"),
    FigureRow("t_prog_ns", "ns", "program of a whole page, typical"),
    FigureRow("t_erase_ns", "ns", "erase of a sector, typical"),
    FigureRow("endurance_cycles", "erases", "erases that a sector endures; 0: no limit", 0, 2**30),
    _SPI_CLOCK_MAX,
)
ROWS_OF_KIND = {"nand": CHIP_ROWS, "spi-nand": SPI_NAND_ROWS, "spi-nor": NOR_ROWS}
# One row for each figure that a chip of any kind may have; the range of page_bytes is that of all.
ALL_CHIP_ROWS = (
    replace(CHIP_ROWS[0], least=NOR_ROWS[0].least),
    *CHIP_ROWS[1:],
    *(row for row in NOR_ROWS if row.name in ("t_prog_byte_ns", "spi_clock_max_hz")),
)

# What follows the processor's clock: `cpu_scale` multiplies it, another `cpu_mhz` divides it.
CPU_PRICES = (
    FigureRow(
        "cpu_instruction_ps",
        "ps",
        "CPU time per instruction of kernel code, counted as a 32-bit ARM takes it; 0: free",
    ),
    FigureRow("cpu_byte_ps", "ps per byte", "CPU time per byte copied by memory routines; 0: free"),
    FigureRow(
        "cpu_set_byte_ps", "ps per byte", "CPU time per byte set by memory routines; 0: free"
    ),
    FigureRow(
        "cpu_copy_ns",
        "ns",
        "CPU time per call of memcpy() or memmove(), beside its bytes; 0: free",
        is_looked_for=False,
    ),
    FigureRow(
        "cpu_set_ns",
        "ns",
        "CPU time per call of memset(), beside its bytes; 0: free",
        is_looked_for=False,
    ),
    FigureRow(
        "cpu_syscall_ns",
        "ns",
        "CPU time per system call, the way into the kernel and back; 0: free",
    ),
)
# What a board has had, for whoever still states it: why it is gone, and what to state instead.
_FORMER_FIGURES = {
    "cpu_block_ps": (
        "the model of the CPU counts instructions, no longer basic blocks",
        "state cpu_instruction_ps, about 0.19 of it: a basic block is about 5.3 instructions",
    ),
}
DRIVER_PRICES = (
    FigureRow("driver_read_ns", "ns", "the driver's CPU time for a page read with its OOB area"),
    FigureRow("driver_program_ns", "ns", "the same for a page programmed with its OOB area"),
    FigureRow("driver_erase_ns", "ns", "the same for an erase, which moves no data"),
)
BOARD_ROWS = (
    FigureRow("ram_bytes", "bytes", "RAM", 1, 2**40),
    FigureRow("cpu_mhz", "MHz", "the processor's clock; 0: not known", 0, 100_000),
    *CPU_PRICES,
    FigureRow(
        "unaligned",
        "",
        "unaligned access is efficient, as on ARM since version 6: LZO, zlib and comparisons then "
        "go by words",
        words=(True, False),
    ),
    *DRIVER_PRICES,
    FigureRow(
        "wait",
        "",
        "how the driver waits for the chip: busy, or asleep until its interrupt",
        words=("polled", "interrupt"),
    ),
)
# Of a board whose chip is on an SPI bus, and of no other.
BOARD_SPI_ROWS = (
    FigureRow("spi_clock_hz", "Hz", "the clock of the flash's SPI bus", 100_000, 10**9),
    FigureRow("spi_rx_bits", "bits", "data lines of a read: 1, 2, 4 or 8", 1, 8, power_of_two=True),
    FigureRow("spi_tx_bits", "bits", "data lines of a program", 1, 8, power_of_two=True),
)
