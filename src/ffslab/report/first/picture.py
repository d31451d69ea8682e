"""The picture on the first screen: the figure of the verdict in which configurations differ most.

Against an axis of four numbers or more it is a curve for each configuration, at the one place
where they differ most, else dots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ffslab.report import plots
from ffslab.report.axes import Axis, axis_of
from ffslab.report.configurations import MOST_NUMBERS, are_numbers, is_number, place_text
from ffslab.report.first.board import short_names
from ffslab.report.first.samples import Cell, Matter, Place, Row
from ffslab.report.first.weigh import Weighed, weigh
from ffslab.report.quantity import capitalized

_MOST_PANELS = 4
_MOST_DOTS = 12  # places of a configuration; more are told by a few of them
_QUANTILES = 8


def picture(matter: Matter, weighed: Sequence[Weighed], identifier: str) -> str:
    """The chart as a part of the page; empty where there is nothing to compare."""
    chosen = [each for each in weighed if each.row.headline] or list(weighed)
    rows = [weigh(row) for each in chosen if not each.row.tallies for row in families(each.row)]
    if not rows or len(matter.configurations) * max(len(each.row.places) for each in rows) < 2:
        return ""
    with_axis = [each for each in rows if numbers_of(each.row)]
    if not with_axis:
        return chart_of(matter, max((each.row for each in rows), key=_spread), identifier)
    alike = [each for each in with_axis if not any(each.aside.values())] or with_axis
    most = max(alike, key=lambda each: _apart(each.rivals, range(len(each.row.places))))
    axis = numbers_of(most.row)
    panels = _panels(most.row, axis)
    widest = max(panels, key=lambda name: _apart(most.rivals, panels[name]))
    return chart_of(matter, _at(most.row, panels[widest]), identifier)


def chart_of(matter: Matter, row: Row, identifier: str) -> str:
    """A row of what people decide by, as curves against an axis of numbers or as dots; of many
    places those where configurations differ most.
    """
    axis = numbers_of(row)
    panels = _panels(row, axis)
    title = capitalized(row.column or row.title)
    chosen = sorted(panels, key=lambda name: -_apart(row.cells, panels[name]))[:_MOST_PANELS]
    facets = {number: name for name in chosen for number in panels[name]}
    names = short_names(matter.labels)
    systems = {c.label: c.filesystem for c in matter.configurations}
    points = [
        plots.Point(
            label=names[label],
            filesystem=systems[label],
            value=cell.mean,
            place=_short(row.places[number]) if axis is None else "",
            x=float(dict(row.places[number])[axis.name]) if axis else 0.0,
            hollow=cell.in_memory or cell.cut,
            facet=facets.get(number, ""),
        )
        for label in matter.labels
        for number, cell in _told(row.cells.get(label, {}), everything=axis is not None)
        if axis is None or number in facets
    ]
    points.sort(key=lambda point: list(panels).index(point.facet) if axis else 0)
    if axis is not None:
        return plots.curves(points, row.metric, axis, title, identifier)
    return plots.dots(points, row.metric, title, identifier)


def _short(scenario: Place) -> str:
    """A place by its values, with the names of those that are numbers."""
    return ", ".join(place_text([pair]) if is_number(*pair) else pair[1] for pair in scenario)


def numbers_of(row: Row) -> Axis | None:
    """The axis of four numbers or more along which a row was measured, the longest first."""
    best: Axis | None = None
    for name in dict.fromkeys(name for scenario in row.places for name, _ in scenario):
        texts = {dict(scenario).get(name, "") for scenario in row.places}
        if len(texts) <= MOST_NUMBERS or not are_numbers(name, texts):
            continue
        axis = axis_of(name, sorted(map(float, texts)))
        if best is None or len(axis.values) > len(best.values):
            best = axis
    return best


def families(row: Row) -> tuple[Row, ...]:
    """The row in parts, each with the places that are along the same axis of many numbers: where a
    study varies one in some of its cases and another in others.
    """
    numbers: dict[str, set[str]] = {}
    for name, text in (pair for scenario in row.places for pair in scenario if is_number(*pair)):
        numbers.setdefault(name, set()).add(text)
    names = sorted(numbers, key=lambda name: -len(numbers[name]))
    axes = [name for name in names if len(numbers[name]) > MOST_NUMBERS]
    parts: dict[str, list[int]] = {}
    for number, scenario in enumerate(row.places):
        along = next((name for name in axes if is_number(name, dict(scenario).get(name, ""))), "")
        parts.setdefault(along, []).append(number)
    return tuple(_only(row, own) for own in parts.values()) if len(parts) > 1 else (row,)


def _only(row: Row, numbers: Sequence[int]) -> Row:
    """The row as if it had no other places."""
    at = {number: new for new, number in enumerate(numbers)}
    cells = {
        label: {at[number]: cell for number, cell in own.items() if number in at}
        for label, own in row.cells.items()
    }
    return replace(
        row,
        places=tuple(row.places[number] for number in numbers),
        scenarios=tuple(row.scenarios[number] for number in numbers),
        cells={label: own for label, own in cells.items() if own},
    )


def settled(row: Row) -> Row:
    """The row at one place, if its values are the same at all: the space on an empty partition."""
    first = {label: next(iter(cells.values())) for label, cells in row.cells.items()}
    if any(
        cell.mean != first[label].mean for label, own in row.cells.items() for cell in own.values()
    ):
        return row
    cells = {label: {0: cell} for label, cell in first.items()}
    return replace(row, places=((),), scenarios=((),), cells=cells)


def _panels(row: Row, axis: Axis | None) -> dict[str, list[int]]:
    """The places of a row by all but the axis; together where there is none."""
    panels: dict[str, list[int]] = {}
    for number, scenario in enumerate(row.places):
        rest: Place = tuple(pair for pair in scenario if axis is not None and pair[0] != axis.name)
        panels.setdefault(place_text(rest), []).append(number)
    return panels


def _at(row: Row, numbers: Sequence[int]) -> Row:
    """The row at some of its places."""
    chosen = set(numbers)
    cells = {
        label: {number: cell for number, cell in own.items() if number in chosen}
        for label, own in row.cells.items()
    }
    return replace(row, cells=cells)


def _told(cells: Mapping[int, Cell], *, everything: bool) -> list[tuple[int, Cell]]:
    """The places of a configuration to draw: of many its quantiles, the ends among them."""
    if everything or len(cells) <= _MOST_DOTS:
        return sorted(cells.items())
    ranked = sorted(cells.items(), key=lambda entry: entry[1].mean)
    last = len(ranked) - 1
    return [ranked[number * last // _QUANTILES] for number in range(_QUANTILES + 1)]


def _apart(cells: Mapping[str, Mapping[int, Cell]], numbers: Sequence[int]) -> float:
    """How far configurations are apart at most at one of the places, as a ratio."""
    widest = 0.0
    for number in numbers:
        means = [own[number].mean for own in cells.values() if number in own]
        means = [mean for mean in means if mean > 0]
        widest = max(widest, max(means) / min(means) if len(means) > 1 else 0.0)
    return widest


def _spread(row: Row) -> tuple[bool, float]:
    """How far a configuration's values are apart at most, as a ratio; after whether all of them are
    alike in where they end.
    """
    cells = [cell for own in row.cells.values() for cell in own.values()]
    ends = [[cell.mean for cell in own.values() if cell.mean > 0] for own in row.cells.values()]
    apart = max((max(means) / min(means) for means in ends if means), default=0)
    return len({cell.in_memory for cell in cells}) == 1, apart
