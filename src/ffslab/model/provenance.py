"""Marks on figures that are no longer what a board's file says: what a study sets, what follows.

The source in the catalog is that of the catalog's value. A figure that is set to another one, by an
axis, `--set` or a changed estimate, is marked as set; prices that follow from another clock of the
processor are marked as derived.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ffslab.errors import SpecError
from ffslab.model.specs import CPU_FIGURES, DRIVER_FIGURES, Board, Chip, Provenance

SET_BY_STUDY = "set by the study: in its file or with --set"
CLOCKED = (*CPU_FIGURES, *DRIVER_FIGURES)


def at_clock(
    board: Board, cpu_mhz: int, besides: Collection[str], where: str
) -> tuple[dict[str, int], tuple[Provenance, ...]]:
    """The prices of the board's CPU at another clock, but for those `besides`, which are stated.

    All work of the CPU takes as many cycles as before. That is an estimate: copying, above all,
    may depend on the memory more than on the clock.
    """
    if cpu_mhz == board.cpu_mhz or set(CLOCKED) <= set(besides):
        return {}, ()
    if not board.cpu_mhz or not cpu_mhz:
        unknown = f"board {board.name} does not state its own" if cpu_mhz else "it is 0, not known"
        raise SpecError(
            f"{where}: no prices follow from cpu_mhz = {cpu_mhz}: {unknown}",
            cause="the board's prices are scaled by the ratio of the two clocks",
            remedy=f"state the prices themselves: {', '.join(CLOCKED)}",
        )
    values: dict[str, int] = {}
    entries = []
    for name in (name for name in CLOCKED if name not in besides):
        old = getattr(board, name)
        values[name] = round(old * board.cpu_mhz / cpu_mhz)
        text = f"derived: {old:,} × {board.cpu_mhz} ÷ {cpu_mhz} MHz, from board {board.name}"
        entries.append(Provenance(name, text, True, "derived"))
    return values, tuple(entries)


def with_marks(
    provenance: Iterable[Provenance],
    marks: Iterable[Provenance],
) -> tuple[Provenance, ...]:
    """The provenance with `marks` in place of what it says of their figures."""
    by_figure = {entry.figure: entry for entry in provenance}
    return tuple((by_figure | {entry.figure: entry for entry in marks}).values())


def set_marks(item: Chip | Board, changes: Mapping[str, Any], source: str) -> list[Provenance]:
    """Marks for the figures that `changes` gives another value than `item` has."""
    return [
        Provenance(name, source, True, "set")
        for name, value in changes.items()
        if value != getattr(item, name)
    ]
