"""How far figures are off, by kind: the median and the largest error. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from textwrap import shorten

from ffslab.published.judge import percent

HEAD = ("of", "figures", "median error", "largest", "where")
_TITLE = 64  # letters of a figure's title in a table


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of one kind of figure, as shares: 0.1 is 10 %; `worst_title` has the largest."""

    of: str
    count: int
    median: float
    worst: float
    worst_title: str

    @property
    def text(self) -> str:
        """A line of the terminal."""
        return (
            f"{self.of}: {self.count} figures, median error {percent(self.median)}, "
            f"largest {percent(self.worst)} ({self.worst_title})"
        )

    @property
    def cells(self) -> tuple[str, ...]:
        """A row of a table below HEAD."""
        errors = percent(self.median), percent(self.worst)
        return (self.of, str(self.count), *errors, short_title(self.worst_title))


def errors_of(kinds: Mapping[str, Sequence[tuple[float, str]]]) -> tuple[Errors, ...]:
    """Of each kind that has figures, each an error and a title."""
    return tuple(
        Errors(of, len(rows), median(error for error, _ in rows), *max(rows))
        for of, rows in kinds.items()
        if rows
    )


def short_title(title: str) -> str:
    """A figure's title as a table has it."""
    return shorten(title, _TITLE, placeholder=" …")
