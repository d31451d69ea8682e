"""Which figures of a board are found, and in which order they are preferred. Pure.

Every figure that is a time is looked for: those of the chip, the prices of the processor, and the
driver's. Prices of a call of memcpy() and memset() are not: what a probe measures does not tell
them from instructions (`FigureRow.is_looked_for`), and they stay as stated.

Where only a sum is measured, the one that stands first is found and the other is held: the array's
times before all, since nothing else takes their place; of what keeps the processor busy for each
byte either the driver's figures or the bus. The bus of a chip on SPI is the clock that the board
gives it: a rate, of which the solver takes the period, since times are linear in that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ffslab.calibrate.solve import Unknown
from ffslab.model.figures import (
    BOARD_SPI_ROWS,
    CPU_PRICES,
    DRIVER_PRICES,
    ROWS_OF_KIND,
    FigureRow,
)
from ffslab.model.specs import Board

Values = Mapping[str, int]  # figures by the names of their settings: board.cpu_byte_ps
WAIT = "board.wait"
_BOARD, _CHIP = "board.", "chip."
_ARRAY = ("t_erase_ns", "t_prog_ns", "t_prog_byte_ns", "t_read_ns")
_BUS = ("bus_read_ps", "bus_write_ps")
_LEAST_STEP = 2000
_PS_OF_HZ = 10**12


class Preferred(StrEnum):
    """Which of two is found, where the processor is busy with bytes that cross the bus."""

    driver = "driver"
    bus = "bus"


@dataclass(frozen=True, slots=True)
class TimeFigure:
    """A figure: the name of its setting, the row that describes it, and what the board states.

    Its *time* is what the solver takes: the figure itself, or the period of a rate in ps.
    `most`: the fastest that a rate may be, in its own unit.
    """

    setting: str
    row: FigureRow
    stated: int
    most: int | None = None

    @property
    def stated_time(self) -> float:
        """The time of what the board states."""
        return self.time_of(self.stated)

    @property
    def changed(self) -> int:
        """Another value, of double the time, so that it is seen above what moves by itself."""
        return self.value_of(self.stated_time + max(self.stated_time, self._least_step))

    def time_of(self, value: int) -> float:
        """The time of a value of the figure."""
        return value if self.most is None else _PS_OF_HZ / value

    def value_of(self, time: float) -> int:
        """The nearest value that the figure may have with this time."""
        if self.most is None:
            return round(time)
        return self.most if self.exceeds(time) else max(round(_PS_OF_HZ / time), self.row.least)

    def exceeds(self, time: float) -> bool:
        """Whether the time is that of a rate above the fastest."""
        return self.most is not None and time * self.most < _PS_OF_HZ

    def unknown(self, around: float) -> Unknown:
        """As the solver takes it, at some time."""
        return Unknown(self.setting, around, self.stated_time or self._least_step)

    @property
    def _least_step(self) -> int:
        return _LEAST_STEP if self.most is None else 0


def time_figures(board: Board, preferred: Preferred) -> tuple[TimeFigure, ...]:
    """The figures of a board that are times, the preferred first."""
    rows = ROWS_OF_KIND[board.chip.kind]
    chip = {row.name: row for row in rows if row.unit.split(" ")[0] in ("ns", "ps")}
    rest = [name for name in chip if name not in (*_ARRAY, *_BUS)]
    bus = _clock(board) if board.chip.is_on_spi else _of_chip(board, chip, _BUS)
    driver = _of_board(board, DRIVER_PRICES)
    return (
        *_of_chip(board, chip, [name for name in _ARRAY if name in chip]),
        *_of_board(board, CPU_PRICES),
        *((*bus, *driver) if preferred is Preferred.bus else (*driver, *bus)),
        *_of_chip(board, chip, rest),
    )


def _of_chip(board: Board, rows: Mapping[str, FigureRow], names: Sequence[str]) -> list[TimeFigure]:
    return [TimeFigure(_CHIP + name, rows[name], getattr(board.chip, name)) for name in names]


def _of_board(board: Board, rows: Sequence[FigureRow]) -> list[TimeFigure]:
    looked_for = [row for row in rows if row.is_looked_for]
    return [TimeFigure(_BOARD + row.name, row, getattr(board, row.name)) for row in looked_for]


def _clock(board: Board) -> list[TimeFigure]:
    (row,) = (row for row in BOARD_SPI_ROWS if row.unit == "Hz")
    most = board.chip.spi_clock_max_hz
    return [TimeFigure(_BOARD + row.name, row, getattr(board, row.name), most)]


def is_of_chip(setting: str) -> bool:
    """Whether the figure stands in the chip's file, not the board's."""
    return setting.startswith(_CHIP)


def is_price_of_code(setting: str) -> bool:
    """Whether it is a price of the processor's model, which not every target goes by."""
    return setting in {_BOARD + row.name for row in CPU_PRICES}
