"""The figures of a chip's or board's file: those that it states, and those that it inherits.

A file with `extends` has every figure of its base but those that it states. One that it inherits
keeps the base's source, one that it states never does: it has its own source, or is called an
estimate by the user. A board with another clock than its base has the base's prices of the CPU,
scaled and marked as derived, but for those that it states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ffslab.errors import SpecError
from ffslab.model.figures import FigureRow, refuse_former, toml_value
from ffslab.model.files import Figure
from ffslab.model.names import suggestion
from ffslab.model.provenance import at_clock
from ffslab.model.specs import Board, Chip, Provenance
from ffslab.model.where import line_of
from ffslab.program import program

USERS_ESTIMATE = "estimate by the user"

Figures = tuple[dict[str, Any], tuple[Provenance, ...]]


def figures_of(
    stated: Mapping[str, Figure],
    rows: Sequence[FigureRow],
    base: Chip | Board | None,
    where: str,
    kind: str,
) -> Figures:
    """All figures of a file and where each is from.

    SpecError for an unknown key, for values out of range, and for all that neither the file nor
    its base has: every one of them in one message, with its unit.
    """
    names = [row.name for row in rows]
    refuse_former(stated, where, "figures.")
    for name in stated:
        if name not in names:
            raise SpecError(
                f"{where}: {line_of(where, ('figures', name))}unknown key 'figures.{name}'"
                f"{suggestion(name, names)}",
                cause="a misspelt key; the unit is its last word",
                remedy=f"{program()} schema {kind}",
            )
    _refuse_values(stated, rows, where, kind)
    # A base of another kind does not have all: its 0 is no clock of a bus.
    of_base = [row.name for row in rows if base and row.accepts(getattr(base, row.name))]
    values = {name: getattr(base, name) for name in of_base}
    sources = {} if base is None else {entry.figure: entry for entry in base.provenance}
    if isinstance(base, Board) and "cpu_mhz" in stated:
        derived, entries = at_clock(base, int(stated["cpu_mhz"].value), stated, where)
        values |= derived
        sources |= {entry.figure: entry for entry in entries}
    values |= {name: figure.value for name, figure in stated.items()}
    sources |= {name: _provenance(name, figure) for name, figure in stated.items()}
    _refuse_missing([row for row in rows if row.name not in values], where, kind)
    return values, tuple(sources[name] for name in names if name in sources)


def _provenance(name: str, figure: Figure) -> Provenance:
    if figure.source is None:
        return Provenance(name, USERS_ESTIMATE, True, "user")
    return Provenance(name, figure.source, bool(figure.estimate))


def _refuse_values(
    stated: Mapping[str, Figure], rows: Sequence[FigureRow], where: str, kind: str
) -> None:
    wrong = [
        f"figures.{row.name} must be {row.range}, not {toml_value(stated[row.name].value)}"
        for row in rows
        if row.name in stated and not row.accepts(stated[row.name].value)
    ]
    if wrong:
        raise SpecError(
            f"{where}: {'; '.join(wrong)}",
            cause="a figure in another unit, or of another kind",
            remedy=f"{program()} schema {kind}",
        )


def _refuse_missing(rows: Sequence[FigureRow], where: str, kind: str) -> None:
    if not rows:
        return
    width = max(len(row.name) for row in rows)
    listed = "".join(f"\n    {row.name:{width}}  {row.described}" for row in rows)
    count = "1 figure is" if len(rows) == 1 else f"{len(rows)} figures are"
    raise SpecError(
        f"{where}: {count} missing in [figures]:{listed}",
        cause=f"a {kind} that extends no other has to state all of them",
        remedy=f'state them, or name a {kind} that has them: extends = "NAME"',
    )
