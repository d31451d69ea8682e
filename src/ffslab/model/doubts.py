"""What a study probably did not mean: values that it may have, and that no data sheet has. Pure.

A figure of a chip or board more than ten times beyond all of the catalog has another unit, most
likely; the message says which value was meant if a thousand times as much, or as little, is usual.
A size that ends within an erase block is rounded down, and that is said, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ffslab.model.case import Case
from ffslab.model.catalog import Catalog
from ffslab.model.specs import Board, Chip
from ffslab.model.study import Study
from ffslab.model.units import format_size, parse_size

_BEYOND = 10
_UNIT = 1000  # the next unit: µs for ns, ms for µs
_OF_CHIP = ("t_read_ns", "t_prog_ns", "t_erase_ns", "t_prog_byte_ns", "bus_read_ps", "bus_write_ps")
_OF_BOARD = ("ram_bytes", "cpu_mhz")
_PARTITION = "partition_bytes"


def doubts(study: Study, cases: Sequence[Case], catalog: Catalog) -> tuple[str, ...]:
    """A sentence for each; none for a study of usual values."""
    boards = {case.board.name: case.board for case in cases}
    chips = {(case.board.chip.name, case.board.chip): case.board.chip for case in cases}
    told = (
        *(text for chip in chips.values() for text in _of_chip(chip, catalog)),
        *(text for board in boards.values() for text in _of_board(board, catalog)),
        *_rounded(study, cases),
    )
    return tuple(dict.fromkeys(told))


def _of_chip(chip: Chip, catalog: Catalog) -> Iterator[str]:
    alike = [known for known in catalog.chips.values() if known.is_nor == chip.is_nor]
    for name in _OF_CHIP:
        usual = [value for known in alike if (value := getattr(known, name))]
        yield from _beyond(f"chip.{name}", getattr(chip, name), usual, "chip")


def _of_board(board: Board, catalog: Catalog) -> Iterator[str]:
    for name in _OF_BOARD:
        usual = [value for known in catalog.boards.values() if (value := getattr(known, name))]
        yield from _beyond(f"board.{name}", getattr(board, name), usual, "board")


def _beyond(key: str, value: float, usual: Collection[float], noun: str) -> Iterator[str]:
    """Nothing of a value of 0, which says that there is no such thing."""
    if not value or not usual:
        return
    low, high = min(usual), max(usual)
    if low / _BEYOND <= value <= high * _BEYOND:
        return
    meant = next((v for v in (value * _UNIT, value / _UNIT) if low / 2 <= v <= high * 2), None)
    side, end = ("below", low) if value < low else ("above", high)
    hint = f"; {meant:,.0f} may be meant" if meant else ""
    yield (
        f"{key} = {value:,} is more than ten times {side} that of any {noun} of the catalog "
        f"({end:,}){hint}"
    )


def _rounded(study: Study, cases: Iterable[Case]) -> Iterator[str]:
    """Of each stated size that is no whole number of erase blocks, what it comes to."""
    sizes = {size for value in _stated(study) if (size := _bytes(value))}
    blocks = {case.board.chip.block_bytes: case for case in cases}
    for size in sorted(sizes):
        for block_bytes, case in blocks.items():
            whole = size // block_bytes * block_bytes
            if whole != size and any(whole == other.partition_bytes for other in cases):
                yield (
                    f"{_PARTITION} = {size:,} is rounded down to {format_size(whole)}, "
                    f"{whole // block_bytes:,} erase blocks of chip {case.board.chip.name}"
                )


def _stated(study: Study) -> Iterator[Any]:
    """Each value of the partition's size in a study, with what the command line says instead."""
    given: Mapping[str, tuple[Any, ...]] = dict(study.overrides)
    if _PARTITION in given:
        yield from given[_PARTITION]
        return
    yield study.base.get(_PARTITION)
    for axes in (study.axes, *(part.axes for part in study.parts)):
        yield from dict(axes).get(_PARTITION, ())
    for part in study.parts:
        yield part.settings.get(_PARTITION)


def _bytes(value: Any) -> int:
    return 0 if value is None else parse_size(value)
