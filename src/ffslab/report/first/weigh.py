"""Who is best in a row, and by how much: pure.

Like is compared with like. At a place where some times end when the data are on the flash and
others while they are in memory, only the former are compared; the latter are *aside*. So is what
was cut short, where a total of less work would look better. What is alike, and how far a ratio is
from 1, `ffslab.compare` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ffslab.compare.ratios import Pair, RatioSummary, alike, summarise
from ffslab.compare.standing import Line, Standing, ratios_to_first, standing
from ffslab.report.first.samples import Cell, Row
from ffslab.results.criteria import Aspect
from ffslab.results.schema import Metric

_LEAST = 1e-9  # of a value that is 0 and should be large
_LARGE = 1e18  # ÷ a large value is what is compared, which must not count as 0 (`compare.standing`)


@dataclass(frozen=True)
class Weighed:
    """A row with what is compared in it: `rivals` by configuration and place."""

    row: Row
    rivals: Mapping[str, Mapping[int, Cell]]

    @property
    def aspect(self) -> Aspect:
        return self.row.aspect

    @property
    def headline(self) -> bool:
        return self.row.headline

    @property
    def metric(self) -> Metric:
        return self.row.metric

    @property
    def is_tally(self) -> bool:
        return bool(self.row.tallies)

    @property
    def largest(self) -> float:
        return max(cell.mean for cells in self.row.cells.values() for cell in cells.values())

    @cached_property
    def standing(self) -> Standing | None:
        """Which is first at which places; None unless two configurations share one."""
        return standing(self._lines)

    @cached_property
    def best(self) -> Mapping[int, tuple[str, ...]]:
        """Who is best at each place: several where they are alike; none where all are."""
        ratios = ratios_to_first(self._lines)
        leaders = {}
        for number in range(len(self.row.places)):
            here = {label: line[number] for label, line in ratios.items() if number in line}
            first = tuple(label for label, ratio in here.items() if alike(ratio))
            leaders[number] = first if len(first) < len(here) else ()
        return leaders

    @cached_property
    def contested(self) -> tuple[int, ...]:
        """The places where two configurations or more can be compared."""
        return tuple(
            number
            for number in range(len(self.row.places))
            if sum(number in cells for cells in self.rivals.values()) > 1
        )

    @cached_property
    def aside(self) -> Mapping[str, Mapping[int, Cell]]:
        """What has a value and is not compared."""
        return {
            label: rest
            for label, cells in self.row.cells.items()
            if (rest := {n: cell for n, cell in cells.items() if n not in self.rivals[label]})
        }

    def ranked(self, number: int) -> tuple[str, ...]:
        """Those compared at a place, the best first."""
        labels = [label for label, cells in self.rivals.items() if number in cells]
        high = self.row.metric.better == "higher"
        return tuple(sorted(labels, key=lambda label: self._mean(label, number), reverse=high))

    def ratios(self, number: int, label: str, other: str) -> RatioSummary | None:
        """A configuration ÷ another at a place, by seed; None without a seed that both have."""
        after, before = self.row.cells[label][number], self.row.cells[other][number]
        return summarise(
            Pair(seed, before.values[seed], value)
            for seed, value in after.values.items()
            if seed in before.values
        )

    def _mean(self, label: str, number: int) -> float:
        return self.row.cells[label][number].mean

    @cached_property
    def _lines(self) -> dict[str, Line]:
        """For the engine smaller is better, and a place is a point of an axis."""
        high = self.row.metric.better == "higher"

        def worth(cell: Cell) -> float:
            return _LARGE / max(cell.mean, _LEAST) if high else cell.mean

        return {
            label: {float(number): worth(cell) for number, cell in cells.items()}
            for label, cells in self.rivals.items()
        }


def weigh(row: Row) -> Weighed:
    """The row with its rivals at each place."""
    rivals: dict[str, dict[int, Cell]] = {label: {} for label in row.cells}
    for number in range(len(row.places)):
        here = {label: cells[number] for label, cells in row.cells.items() if number in cells}
        whole = {label: cell for label, cell in here.items() if not _is_less_work(row, cell)}
        on_flash = {label: cell for label, cell in whole.items() if not cell.in_memory}
        for label, cell in (on_flash or whole).items():
            rivals[label][number] = cell
    return Weighed(row, rivals)


def _is_less_work(row: Row, cell: Cell) -> bool:
    """Whether it is a total of less than was asked for; a time of one operation is none."""
    return cell.cut and row.metric.name.startswith(_TOTALS)


_TOTALS = ("duration", "on_flash_ns", "pages_programmed", "blocks_erased", "erases")
