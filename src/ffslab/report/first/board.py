"""The scoreboard: a row for each configuration, a column for each figure that people decide by.

A cell has the worst of a configuration's values over all places; the page's switches choose places,
with the values that stand in the board for each of them. Its shade is the ratio to the best of the
column. Like is compared with like (`weigh`): what ends in memory, or was cut short, is no best.

A column of tallies has the sum over all places instead; only what never went wrong is best.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.compare.ratios import alike
from ffslab.compare.words import value_text
from ffslab.report import data
from ffslab.report.configurations import place_text, setting_words
from ffslab.report.first.samples import Cell, Matter, Place, Row
from ffslab.report.first.weigh import Weighed
from ffslab.report.quantity import capitalized, unbroken
from ffslab.results.criteria import Aspect, Tally, added, deciding
from ffslab.results.schema import Metric

_DARKEST = 100  # this ratio to the best, and every larger one
_LIGHTEST = 0.3  # of what is wrong at all
_DECADES = 4  # of the shares of what is wrong, from there to the darkest


@dataclass(frozen=True)
class Value:
    """A configuration's mean over seeds at one place; `rival`: it is compared there."""

    place: int
    value: float
    text: str
    in_memory: bool
    cut: bool
    rival: bool
    tally: Tally | None = None


@dataclass(frozen=True)
class Shown:
    """A cell at some places: the worst value, where that is, how far it is from the best.

    `heat` is from 0 for the best to 1. `partial`: most others have values at other places. `note`
    says in words what is wrong.
    """

    text: str
    place: str = ""
    value: float | None = None
    heat: float | None = None
    best: bool = False
    in_memory: bool = False
    cut: bool = False
    partial: bool = False
    note: str = ""


@dataclass(frozen=True)
class Column:
    """A figure: its head and its title; `values` by configuration. `over`: its chapter."""

    head: str
    title: str
    metric: Metric
    aspect: Aspect
    values: Mapping[str, tuple[Value, ...]]
    over: str = ""

    @property
    def higher_is_better(self) -> bool:
        return self.metric.better == "higher"

    @property
    def is_tally(self) -> bool:
        return any(value.tally for values in self.values.values() for value in values)

    def shown(self, places: Sequence[str], chosen: frozenset[int]) -> dict[str, Shown]:
        """The cells of the column over the `chosen` places."""
        if self.is_tally:
            return self._added(chosen)
        own = {
            label: [value for value in values if value.place in chosen]
            for label, values in self.values.items()
        }
        worst = {
            label: (min if self.higher_is_better else max)(values, key=lambda value: value.value)
            for label, values in own.items()
            if values
        }
        at = {label: frozenset(value.place for value in values) for label, values in own.items()}
        counts = Counter(numbers for numbers in at.values() if numbers)
        usual = max(
            counts, key=lambda numbers: (counts[numbers], len(numbers)), default=frozenset()
        )
        rivals = {
            label
            for label in worst
            if at[label] == usual and all(value.rival for value in own[label])
        }
        fit = [worst[label].value for label in rivals]
        best = (max if self.higher_is_better else min)(fit) if len(fit) > 1 else None
        if self.higher_is_better and best == 0:  # none has any
            best = None
        cells = {}
        for label, value in worst.items():
            heat = None if best is None else heat_of(value.value, best, self.higher_is_better)
            cells[label] = Shown(
                text=value.text,
                place=places[value.place] if len(counts) > 1 or len(usual) > 1 else "",
                value=value.value,
                heat=heat,
                best=label in rivals and best is not None and is_best(value.value, best),
                in_memory=value.in_memory,
                cut=value.cut,
                partial=at[label] != usual,
            )
        return cells

    def _added(self, chosen: frozenset[int]) -> dict[str, Shown]:
        own = {
            label: [value.tally for value in values if value.place in chosen and value.tally]
            for label, values in self.values.items()
        }
        return {label: _of_tally(added(tallies)) for label, tallies in own.items() if tallies}


def _of_tally(tally: Tally) -> Shown:
    return Shown(
        text=tally.text,
        value=tally.count,
        heat=share_heat(tally.count, tally.whole),
        best=not tally.count,
        note=_words(tally),
    )


def _words(tally: Tally) -> str:
    several = len(tally.wrong) > 1
    return ", ".join(f"{does} ({n:,})" if several else does for does, n in tally.wrong)


@dataclass(frozen=True)
class Axis:
    """What a switch chooses along: its values are those of the places."""

    name: str
    values: tuple[str, ...]

    @property
    def words(self) -> tuple[str, dict[str, str]]:
        """What it is called, and what each of its values is."""
        return setting_words(self.name, [value for value in self.values if value])


@dataclass(frozen=True)
class Board:
    """The whole scoreboard; `merged` has the rows: labels whose values are all equal are one."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    axes: tuple[Axis, ...]
    places: tuple[Place, ...]

    @property
    def tally(self) -> Tally | None:
        """One of its tallies, if it has any."""
        return next(
            (v.tally for c in self.columns for vs in c.values.values() for v in vs if v.tally), None
        )

    @property
    def caption(self) -> str:
        """How to read it."""
        if self.tally is not None:
            return f"How many {self.tally.noun} are wrong of how many; ✓ none is, – there are none"
        worst = "The worst of each configuration" if self.axes else "Each configuration"
        return f"{worst}; ✓ is the best, darker is further from it"

    @property
    def cells(self) -> list[dict[str, Shown]]:
        """The cells of each column by configuration, the worst over all places."""
        names = [place_text(scenario) for scenario in self.places]
        every = frozenset(range(len(self.places)))
        return [column.shown(names, every) for column in self.columns]

    @property
    def for_page(self) -> dict[str, Any]:
        """What the page's switches need: numbers of places, values as they are shown."""
        return {
            "axes": [axis.name for axis in self.axes],
            "places": [
                [dict(scenario).get(axis.name, "") for axis in self.axes]
                for scenario in self.places
            ],
            "names": [place_text(scenario) for scenario in self.places],
            "columns": [
                {
                    "higher": column.higher_is_better,
                    "tally": column.is_tally,
                    "cells": [
                        [_for_page(value) for value in column.values.get(labels[0], ())]
                        for _, labels in self.rows
                    ],
                }
                for column in self.columns
            ],
        }


def _for_page(value: Value) -> list[Any]:
    if value.tally is not None:
        return [value.place, value.tally.whole, value.tally.wrong]
    flags = (value.in_memory, value.cut, value.rival)
    return [value.place, value.value, value.text, *map(int, flags)]


def share_heat(count: int, whole: int) -> float:
    """How dark so many wrong ones of a whole are."""
    return max(_LIGHTEST, 1 + math.log10(count / whole) / _DECADES) if count else 0.0


def heat_of(value: float, best: float, higher: bool) -> float:
    """How far a value is from the best: 0 is as good, 1 a hundred times worse or more."""
    if value == best:
        return 0.0
    if value <= 0 or best <= 0:
        return 1.0
    ratio = best / value if higher else value / best
    return min(max(math.log(ratio) / math.log(_DARKEST), 0.0), 1.0)


def is_best(value: float, best: float) -> bool:
    """Whether a value is the best, or alike."""
    return value == best or (best > 0 and alike(value / best))


def board_of(matter: Matter, weighed: Sequence[Weighed]) -> Board:
    """The scoreboard of what a run has to decide by."""
    places: dict[Place, int] = {}
    tried = [each for each in weighed if not _is_untried(each.row)]
    columns = columns_of(deciding(tried), places)
    known: dict[str, dict[str, None]] = {}
    for name, text in (pair for scenario in places for pair in scenario if pair[1]):
        known.setdefault(name, {}).setdefault(text)
    axes = tuple(Axis(name, tuple(values)) for name, values in known.items() if len(values) > 1)
    labels = [label for label in matter.labels if any(label in c.values for c in columns)]
    return Board(columns, merged(labels, columns), axes, tuple(places))


def columns_of(weighed: Sequence[Weighed], places: dict[Place, int]) -> tuple[Column, ...]:
    """A column for each row; `places` gets the number of each place that is new."""
    return tuple(_column(each, places) for each in weighed)


def _is_untried(row: Row) -> bool:
    """Whether nothing was tried of what it counts."""
    return bool(row.tallies) and not any(tally.whole for tally in row.tallies.values())


def _column(weighed: Weighed, places: dict[Place, int]) -> Column:
    row = weighed.row
    numbers = [places.setdefault(scenario, len(places)) for scenario in row.scenarios]
    values = {
        label: tuple(
            _value(row, cell, numbers[number], number in weighed.rivals.get(label, {}))
            for number, cell in cells.items()
            if cell.tally is None or cell.tally.whole
        )
        for label, cells in row.cells.items()
    }
    return Column(row.column or row.title, capitalized(row.title), row.metric, row.aspect, values)


def _value(row: Row, cell: Cell, number: int, rival: bool) -> Value:
    text = unbroken(value_text(row.metric, cell.mean))
    in_memory = cell.in_memory and not rival
    return Value(number, cell.mean, text, in_memory, cell.cut, rival, cell.tally)


def merged(
    labels: Sequence[str], columns: Sequence[Column]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Labels of which every value is the same, as one row with all their names."""
    names = short_names(labels)
    equal: dict[tuple[tuple[Value, ...], ...], list[str]] = {}
    for label in labels:
        equal.setdefault(tuple(c.values.get(label, ()) for c in columns), []).append(label)
    return tuple(
        (" = ".join(names[label] for label in same), tuple(same)) for same in equal.values()
    )


def short_names(labels: Sequence[str]) -> dict[str, str]:
    """Each configuration without the options that all of its file system have alike."""
    parts = {label: label.split(data.BETWEEN) for label in labels}
    groups: dict[str, list[list[str]]] = {}
    for words in parts.values():
        groups.setdefault(words[0], []).append(words)
    names = {}
    for label, (name, *options) in parts.items():
        alike = set.intersection(*map(set, groups[name]))
        told = [option for option in options if option not in alike]
        names[label] = data.BETWEEN.join([name, *told])
    return names
