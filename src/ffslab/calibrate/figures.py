"""Which figures of a board are found, and in which order they are preferred. Pure.

Every figure that is a time is looked for: those of the chip, the prices of the processor, and the
driver's. Prices of a call of memcpy() and memset() are not: what a probe measures does not tell
them from instructions (`FigureRow.is_looked_for`), and they stay as stated.

Where only a sum is measured, the one that stands first is found and the other is held: the array's
times before all, since nothing else takes their place; of what keeps the processor busy for each
byte either the driver's figures or the bus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ffslab.calibrate.solve import Unknown
from ffslab.model.figures import CHIP_ROWS, CPU_PRICES, DRIVER_PRICES, FigureRow
from ffslab.model.specs import Board

Values = Mapping[str, int]  # figures by the names of their settings: board.cpu_byte_ps
WAIT = "board.wait"
_BOARD, _CHIP = "board.", "chip."
_ARRAY = ("t_erase_ns", "t_prog_ns", "t_read_ns")
_BUS = ("bus_read_ps", "bus_write_ps")
_LEAST_STEP = 2000


class Preferred(StrEnum):
    """Which of two is found, where the processor is busy with bytes that cross the bus."""

    driver = "driver"
    bus = "bus"


@dataclass(frozen=True, slots=True)
class TimeFigure:
    """A figure: the name of its setting, the row that describes it, and what the board states."""

    setting: str
    row: FigureRow
    stated: int

    @property
    def changed(self) -> int:
        """Another value: the double, so that a time shows it above what moves by itself."""
        return self.stated + max(self.stated, _LEAST_STEP)

    def unknown(self, around: float) -> Unknown:
        """As the solver takes it, at some value."""
        return Unknown(self.setting, around, self.stated or _LEAST_STEP)


def time_figures(board: Board, preferred: Preferred) -> tuple[TimeFigure, ...]:
    """The figures of a board that are times, the preferred first."""
    chip = {row.name: row for row in CHIP_ROWS if row.unit.split(" ")[0] in ("ns", "ps")}
    rest = [name for name in chip if name not in (*_ARRAY, *_BUS)]
    bus, driver = _of_chip(board, chip, _BUS), _of_board(board, DRIVER_PRICES)
    return (
        *_of_chip(board, chip, _ARRAY),
        *_of_board(board, CPU_PRICES),
        *((*bus, *driver) if preferred is Preferred.bus else (*driver, *bus)),
        *_of_chip(board, chip, rest),
    )


def _of_chip(board: Board, rows: Mapping[str, FigureRow], names: Sequence[str]) -> list[TimeFigure]:
    return [TimeFigure(_CHIP + name, rows[name], getattr(board.chip, name)) for name in names]


def _of_board(board: Board, rows: Sequence[FigureRow]) -> list[TimeFigure]:
    looked_for = [row for row in rows if row.is_looked_for]
    return [TimeFigure(_BOARD + row.name, row, getattr(board, row.name)) for row in looked_for]


def is_of_chip(setting: str) -> bool:
    """Whether the figure stands in the chip's file, not the board's."""
    return setting.startswith(_CHIP)


def is_price_of_code(setting: str) -> bool:
    """Whether it is a price of the processor's model, which not every target goes by."""
    return setting in {_BOARD + row.name for row in CPU_PRICES}
