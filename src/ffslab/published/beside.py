"""What a publication comes to: each statement with its figures, its mark and its causes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any

from ffslab.published.errors import Errors, errors_of
from ffslab.published.formula import Formulas, NotMeasuredError, Reader
from ffslab.published.judge import (
    MEASURED,
    Judged,
    Mark,
    judged_figure,
    judged_order,
    not_measured,
    number_text,
    with_unit,
    worst,
)
from ffslab.published.load import (
    Publication,
    StatedCause,
    StatedChange,
    StatedFigure,
    StatedMap,
    StatedOrder,
    Statement,
)


@dataclass(frozen=True, slots=True)
class Change:
    """A figure as it is, and with one thing changed; None is not measured."""

    title: str
    published: float | None
    ours: float | None
    changed: float | None
    unit: str
    why: str = ""

    @property
    def text(self) -> str:
        """In a sentence's part: "4.1 instead of 2.9, published 5"."""
        if self.ours is None or self.changed is None:
            return f"not measured ({self.why})"
        shown = with_unit(number_text(self.changed), self.unit)
        told = f"{shown} instead of {with_unit(number_text(self.ours), self.unit)}"
        if self.published is None:
            return told
        return f"{told}; published {with_unit(number_text(self.published), self.unit)}"


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a map; None is not measured."""

    column: str
    row: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Map:
    """A figure over two settings, row by row."""

    title: str
    unit: str
    across: str
    down: str
    cells: tuple[Cell, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """Row by row: "64 KiB: 1.01 at 50 %, 1.2 at 75 %"."""
        told: dict[str, list[str]] = {}
        for cell in self.cells:
            value = "–" if cell.value is None else number_text(cell.value)
            told.setdefault(cell.row, []).append(f"{value} at {cell.column}")
        return tuple(f"{row}: {', '.join(values)}" for row, values in told.items())


@dataclass(frozen=True, slots=True)
class Cause:
    """Why ours is another figure, and what shows it."""

    text: str
    changes: tuple[Change, ...]
    maps: tuple[Map, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedStatement:
    """A statement with all that was found for it."""

    statement: Statement
    checks: tuple[Judged, ...]
    causes: tuple[Cause, ...]

    @property
    def mark(self) -> Mark:
        return worst(check.mark for check in self.checks)

    @property
    def deciding(self) -> Judged:
        """The figure or order that the mark is from: of several the one that is furthest off."""
        own = [check for check in self.checks if check.mark is self.mark]
        return max(own, key=_distance)

    @property
    def figures(self) -> tuple[Judged, ...]:
        return tuple(check for check in self.checks if not check.is_order)

    @property
    def orders(self) -> tuple[Judged, ...]:
        return tuple(check for check in self.checks if check.is_order)


def _distance(check: Judged) -> float:
    ratio = check.ratio
    if ratio is None:
        return 0.0
    if check.is_order:  # the nearer to its reverse
        return 1 / ratio if ratio else inf
    return max(ratio, 1 / ratio) if ratio else inf


@dataclass(frozen=True, slots=True)
class JudgedPublication:
    """A publication, or some of its statements, beside ours."""

    publication: Publication
    statements: tuple[JudgedStatement, ...]

    @property
    def score(self) -> Mapping[Mark, int]:
        """How many statements have each mark; no mark is missing."""
        counts = Counter(statement.mark for statement in self.statements)
        return {mark: counts[mark] for mark in Mark}

    @property
    def states(self) -> bool:
        """Whether its statements are those of a publication, and not figures of many boards."""
        return not self.publication.measurements

    @property
    def errors(self) -> tuple[Errors, ...]:
        """Of each kind of figure, and of all; nothing if no figure has a kind."""
        kinds: dict[str, list[tuple[float, str]]] = {}
        for statement in self.statements:
            for check in statement.figures:
                if check.of and check.ratio is not None:
                    row = (abs(check.ratio - 1), f"{statement.statement.id}, {check.title}")
                    kinds.setdefault(check.of, []).append(row)
        every = [row for rows in kinds.values() for row in rows]
        return errors_of({**kinds, "all": every})


def judged(publication: Publication, reader: Reader) -> JudgedPublication:
    """All statements, each with what the reader knows."""
    formulas = Formulas(reader, publication.values, publication.where)
    return JudgedPublication(
        publication,
        tuple(_statement(statement, formulas) for statement in publication.statements),
    )


def _statement(statement: Statement, formulas: Formulas) -> JudgedStatement:
    figures = (_figure(stated, formulas) for stated in statement.figures)
    orders = (_order(stated, formulas) for stated in statement.orders)
    causes = tuple(_cause(cause, formulas) for cause in statement.causes)
    return JudgedStatement(statement, (*figures, *orders), causes)


def _figure(stated: StatedFigure, formulas: Formulas) -> Judged:
    try:
        ours = formulas.number(stated.ours)
        spent = formulas.spent(stated.ours) if stated.of else ""
    except NotMeasuredError as error:
        return not_measured(stated.title, error, stated.published, stated.unit)
    judged_one = judged_figure(stated.title, stated.published, ours, stated.unit)
    return replace(judged_one, of=stated.of, spent=spent)


def _order(stated: StatedOrder, formulas: Formulas) -> Judged:
    try:
        return judged_order(stated.title, formulas.compared(stated.holds), stated.unit)
    except NotMeasuredError as error:
        return not_measured(stated.title, error, None)


def _cause(cause: StatedCause, formulas: Formulas) -> Cause:
    changes = tuple(_change(changed, formulas) for changed in cause.changes)
    return Cause(cause.text, changes, tuple(_map(stated, formulas) for stated in cause.maps))


def _map(stated: StatedMap, formulas: Formulas) -> Map:
    cells: list[Cell] = []
    for column, row, formula in stated.cells:
        value: float | None = None
        with suppress(NotMeasuredError):
            value = formulas.number(formula) if formula else None
        cells.append(Cell(column, row, value))
    return Map(stated.title, stated.unit, stated.across, stated.down, tuple(cells))


def _change(stated: StatedChange, formulas: Formulas) -> Change:
    try:
        ours, changed = formulas.number(stated.ours), formulas.number(stated.changed)
    except NotMeasuredError as error:
        return Change(stated.title, stated.published, None, None, stated.unit, str(error))
    return Change(stated.title, stated.published, ours, changed, stated.unit)


def score_text(score: Mapping[Mark, int]) -> str:
    """ "4 ✔ 2 ≈ 0 ✘ of 6", and how many are not measured, if any."""
    measured = " ".join(f"{score[mark]} {mark}" for mark in MEASURED)
    missing = score[Mark.NOT_MEASURED]
    told = f", {missing} not measured" if missing else ""
    return f"{measured} of {sum(score.values())}{told}"


def total(scores: Iterable[Mapping[Mark, int]]) -> dict[Mark, int]:
    """The score of several publications."""
    counts: Counter[Mark] = Counter()
    for score in scores:
        counts.update(score)
    return {mark: counts[mark] for mark in Mark}


def document(judged_publication: JudgedPublication) -> dict[str, Any]:
    """The same for JSON, with exact numbers."""
    publication = judged_publication.publication
    return {
        "name": publication.name,
        "title": publication.title,
        "source": publication.source.model_dump(),
        "board": publication.board,
        "chip": publication.chip,
        "score": {mark.value: count for mark, count in judged_publication.score.items()},
        "errors": [asdict(errors) for errors in judged_publication.errors],
        "statements": [_plain_statement(statement) for statement in judged_publication.statements],
    }


def _plain_statement(judged_statement: JudgedStatement) -> dict[str, Any]:
    statement = judged_statement.statement
    return {
        "id": statement.id,
        "mark": judged_statement.mark.value,
        "place": statement.place,
        "says": statement.says,
        "figures": [_plain_check(check) for check in judged_statement.figures],
        "orders": [_plain_check(check) for check in judged_statement.orders],
        "causes": [
            {
                "text": cause.text,
                "figures": [_plain_change(change) for change in cause.changes],
                "maps": [asdict(drawn) for drawn in cause.maps],
            }
            for cause in judged_statement.causes
        ],
    }


def _plain_check(check: Judged) -> dict[str, Any]:
    plain: dict[str, Any] = {"title": check.title, "mark": check.mark.value}
    if check.published is not None:
        plain |= {"at_least": check.published.low, "at_most": _finite(check.published.high)}
        plain |= {"unit": check.unit, "ours": _finite(check.ours)}
    else:
        plain |= {"sides": list(check.sides), "sign": check.sign}
    if check.of:
        plain |= {"of": check.of, "spent": check.spent}
    return plain | {"ratio": _finite(check.ratio), "why": check.why}


def _plain_change(change: Change) -> dict[str, Any]:
    return {
        "title": change.title,
        "unit": change.unit,
        "published": change.published,
        "ours": change.ours,
        "changed": change.changed,
        "why": change.why,
    }


def _finite(number: float | None) -> float | None:
    """A number as JSON has it: without infinity."""
    return None if number is None or number == inf else number
