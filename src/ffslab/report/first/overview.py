"""The one first screen of a run of several chapters, or of one that its study rates: pure.

With a rating its words are the scoreboard. Without one the rows are file systems (configurations,
where all chapters have the same) and the columns the first figures that each chapter's verdict
hangs on, the worst of all that a row stands for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ffslab.report import data
from ffslab.report.data import Case
from ffslab.report.first.board import Board, Column, Value, columns_of, merged
from ffslab.report.first.claims import MOST_WORDS
from ffslab.report.first.headline import headline
from ffslab.report.first.page import First
from ffslab.report.first.picture import picture
from ffslab.report.first.samples import Matter, Place
from ffslab.report.first.weigh import Weighed
from ffslab.report.quantity import listed
from ffslab.report.rating import RatingView
from ffslab.results.criteria import MOST_DECIDING

_MOST_OF_A_CHAPTER = 3
_KEY = "overview"


@dataclass(frozen=True)
class Part:
    """A chapter: what its cases have to decide by."""

    title: str
    matter: Matter
    weighed: Sequence[Weighed]


def overview_of(parts: Sequence[Part], grades: RatingView | None) -> First | None:
    """What stands above the chapters; None where one chapter without a rating is all."""
    if grades is None and len(parts) < 2:
        return None
    told = grades_headline(grades) if grades is not None else ""
    drawings = (picture(part.matter, part.weighed, f"{_KEY}-picture") for part in _contested(parts))
    return First(
        title="",
        key=_KEY,
        headline=told or _headline(parts),
        board=Board((), (), (), ()) if grades is not None else chapters_board(parts),
        picture=next((drawing for drawing in drawings if drawing), ""),
        notes=(),
        grades=grades,
    )


def grades_headline(grades: RatingView) -> str:
    """Who gets the best grade in how many criteria; empty without two that have one."""
    columns = list(zip(*(words for _, words in grades.rows), strict=True))
    rated = [words for words in columns if sum(word.grade is not None for word in words) > 1]
    if not rated:
        return ""
    wins = {
        name: sum(words[number].best for words in rated)
        for number, (name, _) in enumerate(grades.rows)
    }
    if len(set(wins.values())) == 1:
        each = next(iter(wins.values()))
        return f"Each file system gets the best grade in {each} of {len(rated)}."
    (first, count), *others = sorted(wins.items(), key=lambda item: -item[1])
    parts = [f"{first} gets the best grade in {count} of {len(rated)}"]
    parts += [f"{name} in {number or 'none'}" for name, number in others]
    while len(" ".join(parts).split()) + 1 > MOST_WORDS:
        parts.pop()
    return f"{listed(parts)}."


def chapters_board(parts: Sequence[Part]) -> Board:
    """A column or a few of each chapter, all on the same rows."""
    parts = _contested(parts)
    share = max(1, min(_MOST_OF_A_CHAPTER, MOST_DECIDING // len(parts)))
    name_of = _names(parts)
    places: dict[Place, int] = {}
    columns = tuple(
        _on_rows(column, name_of, part.title)
        for part in parts
        for column in columns_of(_first_figures(part)[:share], places)
    )[:MOST_DECIDING]
    rows = dict.fromkeys(name for column in columns for name in column.values)
    return Board(columns, merged(tuple(rows), columns), (), tuple(places))


def _headline(parts: Sequence[Part]) -> str:
    """That of all chapters together."""
    matters = [part.matter for part in parts]
    every = {c.label: c for matter in matters for c in matter.configurations}
    failed: dict[tuple[str, Place], tuple[Case, ...]] = {}
    for key, cases in (pair for matter in matters for pair in matter.failed.items()):
        failed[key] = (*failed.get(key, ()), *cases)
    together = replace(
        matters[0],
        configurations=tuple(every.values()),
        failed=failed,
        tried=sum((Counter(matter.tried) for matter in matters), Counter()),
    )
    return headline(together, [each for part in _contested(parts) for each in part.weighed])


def _contested(parts: Sequence[Part]) -> Sequence[Part]:
    """The chapters that compare something, if there is one."""
    return [part for part in parts if len(part.matter.configurations) > 1] or parts


def _first_figures(part: Part) -> list[Weighed]:
    return [each for each in part.weighed if each.row.headline] or list(part.weighed[:1])


def _names(parts: Sequence[Part]) -> Callable[[str], str]:
    """What the row of a configuration is called."""
    first, *others = [set(part.matter.labels) for part in parts]
    if all(labels == first for labels in others):
        return str
    systems = {
        c.label: data.filesystem_name(c.filesystem)
        for part in parts
        for c in part.matter.configurations
    }
    return systems.__getitem__


def _on_rows(column: Column, name_of: Callable[[str], str], over: str) -> Column:
    """The column with the worst value at each place of all that a row stands for."""
    rows: dict[str, dict[int, Value]] = {}
    for label, values in column.values.items():
        own = rows.setdefault(name_of(label), {})
        for value in values:
            known = own.get(value.place)
            if known is None or (value.value < known.value) == column.higher_is_better:
                own[value.place] = value
    worst: Mapping[str, tuple[Value, ...]] = {n: tuple(own.values()) for n, own in rows.items()}
    return replace(column, over=over, values=worst)
