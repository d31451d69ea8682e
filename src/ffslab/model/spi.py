"""The bus times of a chip on SPI, from the clock and the data lines that a board gives it.

The same chip runs at another clock on another board, so its file says how fast it may be clocked
and the board's how fast it is. What a command sends is Linux' way of using such chips
(include/linux/mtd/spinand.h, drivers/mtd/spi-nor): opcode, address and dummy bytes always go over
one line, 8 clocks for each byte, and the data over `spi_rx_bits` or `spi_tx_bits` lines.

SPI-NAND: a page read is PAGE READ (4 bytes), a look at the status (3) and READ FROM CACHE (4), a
program WRITE ENABLE (1), PROGRAM LOAD (3), PROGRAM EXECUTE (4) and the status (3): 11 bytes each.
SPI-NOR: a read is the opcode, a 4-byte address and 8 dummy clocks, 6 bytes.

Limits: an erase, and a program of SPI-NOR, send 3 bytes less or 2 more than stated here, which is
below a thousandth of their time. The status is asked for once, as if the driver knew when the chip
is ready. Gaps between transfers are the controller's, and part of the board's driver times. Chip
select, double data rate and commands over several lines (1-4-4, 4-4-4) are left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ffslab.errors import SpecError
from ffslab.model.figures import BUS_FIGURES
from ffslab.model.provenance import with_marks
from ffslab.model.specs import SPI_FIGURES, Board, Provenance

COMMAND_BYTES = {"spi-nand": 11, "spi-nor": 6}
_CLOCKS_A_BYTE = 8


def with_bus(board: Board) -> Board:
    """The board with its chip at the board's clock; the same board if the chip is not on SPI.

    SpecError for a clock that the chip does not take.
    """
    chip = board.chip
    if not chip.is_on_spi:
        return board
    clock_hz = board.spi_clock_hz
    if clock_hz > chip.spi_clock_max_hz:
        raise SpecError(
            f"board {board.name}: spi_clock_hz {clock_hz:,} is above what chip {chip.name} takes",
            cause=f"its data sheet allows {chip.spi_clock_max_hz:,} Hz",
            remedy=f"at most spi_clock_hz = {chip.spi_clock_max_hz}",
        )
    clocks = COMMAND_BYTES[chip.kind] * _CLOCKS_A_BYTE
    values: dict[str, Any] = {
        "t_command_ns": round(clocks * 10**9 / clock_hz),
        "bus_read_ps": round(_CLOCKS_A_BYTE * 10**12 / (clock_hz * board.spi_rx_bits)),
        "bus_write_ps": round(_CLOCKS_A_BYTE * 10**12 / (clock_hz * board.spi_tx_bits)),
    }
    at = f"at {clock_hz / 10**6:g} MHz of board {board.name}"
    estimate = any(entry.estimate for entry in board.provenance if entry.figure in SPI_FIGURES)
    texts = (
        f"derived: {clocks} clocks of command, address, dummy and status {at}",
        f"derived: 8 bits over {board.spi_rx_bits} data lines {at}",
        f"derived: 8 bits over {board.spi_tx_bits} data lines {at}",
    )
    marks = [
        Provenance(name, text, estimate, "derived")
        for name, text in zip(BUS_FIGURES, texts, strict=True)
    ]
    clocked = replace(chip, **values, provenance=with_marks(chip.provenance, marks))
    return replace(board, chip=clocked)
