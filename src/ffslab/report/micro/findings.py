"""What a run shows, computed from its data: who is fastest, what fill and idle time change, wear.

Every table follows one rule that is stated with it. Factors relate means over seeds at the same
point of the axes; over several points their geometric mean is given with its range. Nothing here
knows a result beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ffslab.report.axes import Axis, Mean
from ffslab.report.findings import Finding
from ffslab.report.micro.data import PAUSE, RATE, REQUEST
from ffslab.report.micro.series import Curves, Point, Section, curves, response_ns
from ffslab.report.quantity import significant, times

# What an axis's values are compared with, where that is not the smallest.
_BASES: Mapping[str, tuple[float, ...]] = {"workload.increment": (1.0,)}
TO = "\u2060–\u2060"  # a range does not break
_MANY = 4
_SAME = 0.02  # factors within 2 % of 1 are called the same


@dataclass(frozen=True)
class Factors:
    """Ratios at several points: their geometric mean and their range."""

    mean: float
    low: float
    high: float
    points: int

    @property
    def text(self) -> str:
        if times(self.low) == times(self.high):
            return times(self.mean)
        return f"{times(self.mean)} ({significant(self.low)}{TO}{significant(self.high)})"


@dataclass(frozen=True)
class Ranking:
    """The configurations of one panel (and one value of the second axis), the fastest first.

    `place` is that value, `where` the same with the axis's name.
    `factors` relate each configuration's response times to the first one's; `fastest_at` says at
    which points of the first axis each is the fastest.
    """

    panel: str
    place: str
    where: str
    order: tuple[str, ...]
    factors: Mapping[str, Factors]
    fastest_at: tuple[tuple[str, str], ...]
    points: int

    @property
    def distance(self) -> float:
        """How far the second is behind the first."""
        return self.factors[self.order[1]].mean if len(self.order) > 1 else 1.0


def factors(pairs: Sequence[tuple[float, float]]) -> Factors | None:
    """after ÷ before over points; None when no pair has both above 0."""
    ratios = [after / before for before, after in pairs if before > 0 and after > 0]
    if not ratios:
        return None
    mean = math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))
    return Factors(mean, min(ratios), max(ratios), len(ratios))


def response_curves(section: Section) -> Curves:
    return curves(section.samples, response_ns)


def rankings(section: Section, *, on_flash: bool = False) -> tuple[Ranking, ...]:
    """Who is fastest: a ranking per panel, and per value of the second axis if there is one.

    `on_flash`: only of panels in which the writes of some configuration end in memory, without it.
    """
    out = section.in_memory if on_flash else frozenset()
    found = response_curves(section)
    second = section.axes[1] if len(section.axes) > 1 else None
    ranked = []
    for panel in section.panels:
        if on_flash and not any(place == panel for place, _ in out):
            continue
        for value in second.values if second else (None,):
            lines = {
                label: {
                    point: mean
                    for point, mean in found[panel, label].items()
                    if value is None or point[-1] == value
                }
                for label in section.labels
                if (panel, label) in found and (panel, label) not in out
            }
            place = where = ""
            if second and value is not None:
                place = second.text(value)
                where = f"{second.word} {second.value_text(value)}"
            kept = {label: line for label, line in lines.items() if line}
            ranking = _ranking((panel, place, where), kept, section)
            if ranking:
                ranked.append(ranking)
    return tuple(ranked)


def _ranking(
    words: tuple[str, str, str], lines: Mapping[str, Mapping[Point, Mean]], section: Section
) -> Ranking | None:
    """None for fewer than two configurations, or without a point that all have."""
    common = [
        point
        for point in dict.fromkeys(point for line in lines.values() for point in line)
        if all(point in line for line in lines.values())
    ]
    if len(lines) < 2 or not common:
        return None
    scores = {
        label: sum(math.log(max(line[point].mean, 1e-9)) for point in common)
        for label, line in lines.items()
    }
    order = tuple(sorted(lines, key=lambda label: scores[label]))
    first = lines[order[0]]
    related = {
        label: factors([(first[point].mean, lines[label][point].mean) for point in common])
        for label in order
    }
    winners: dict[str, list[Point]] = {}
    for point in common:
        winner = min(order, key=lambda label: lines[label][point].mean)
        winners.setdefault(winner, []).append(point)
    axis = section.axes[0] if section.axes else None
    return Ranking(
        panel=words[0],
        place=words[1],
        where=words[2],
        order=order,
        factors={label: value for label, value in related.items() if value},
        fastest_at=tuple(
            (label, _spans(axis, [point[0] for point in points], [p[0] for p in common]))
            if axis
            else (label, "")
            for label, points in winners.items()
        ),
        points=len(common),
    )


def _spans(axis: Axis, values: Sequence[float], every: Sequence[float]) -> str:
    """Values of an axis as runs of neighbours: `2–8, 64 KiB`."""
    if len(values) == len(every):
        return "everywhere" if len(values) > 1 else f"at {axis.text(values[0])}"
    ordered, wanted, runs = sorted(every), set(values), list[list[float]]()
    for before, value in zip([None, *ordered], ordered, strict=False):
        if value not in wanted:
            continue
        if runs and runs[-1][-1] == before:
            runs[-1].append(value)
        else:
            runs.append([value])
    shown = [
        axis.number(run[0]) if len(run) == 1 else f"{axis.number(run[0])}–{axis.number(run[-1])}"
        for run in runs
    ]
    unit = f" {axis.unit}" if axis.unit else ""
    return f"at {', '.join(shown)}{unit}"


@dataclass(frozen=True)
class Effect:
    """What a value of an axis changes for one configuration in one panel, against a base value."""

    panel: str
    label: str
    factors: tuple[Factors | None, ...]


@dataclass(frozen=True)
class Effects:
    """A table of effects: `values` of the axis against `base`; a factor above 1 means slower."""

    axis: Axis
    base: float
    values: tuple[float, ...]
    rows: tuple[Effect, ...]


def effects(section: Section, axis: Axis, value_of: Curves) -> Effects | None:
    """Every value of an axis against its base (`_BASES`, else the smallest), over all points of
    the other axis that have both.
    """
    base = next((value for value in _BASES.get(axis.name, ()) if value in axis.values), None)
    base = axis.values[0] if base is None else base
    others = tuple(value for value in axis.values if value != base)
    place = section.axes.index(axis)
    rows = []
    for panel in section.panels:
        for label in section.labels:
            line = value_of.get((panel, label), {})
            related = []
            for value in others:
                pairs = [
                    (mean.mean, line[moved].mean)
                    for point, mean in line.items()
                    if point[place] == base
                    and (moved := (*point[:place], value, *point[place + 1 :])) in line
                ]
                related.append(factors(pairs))
            if any(related):
                rows.append(Effect(panel, label, tuple(related)))
    return Effects(axis, base, others, tuple(rows)) if rows and others else None


def sentences(section: Section) -> tuple[Finding, ...]:
    """The section in sentences: who is first, and what its axes but the request size change.

    Of many panels the tables say who is first, and the strongest effects are told.
    """
    first, changed = first_sentences(section), effect_sentences(section)
    if len(section.panels) > _MANY:
        return tuple(sorted(changed, key=lambda finding: -finding.weight)[:_MANY])
    return (*first, *changed)


def first_sentences(section: Section) -> tuple[Finding, ...]:
    """Who is first in each panel, at each value of the second axis."""
    through = {(r.panel, r.place): r for r in rankings(section, on_flash=True)}
    found = []
    for ranking in rankings(section):
        other = through.get((ranking.panel, ranking.place))
        memory = (ranking.panel, ranking.order[0]) in section.in_memory
        found.append(_first_sentence(ranking, other if memory else None))
    return tuple(found)


def effect_sentences(section: Section) -> tuple[Finding, ...]:
    """What the axes change; not the request size, with which every response time grows."""
    lines = response_curves(section)
    found: list[Finding] = []
    for axis in section.axes:
        table = effects(section, axis, lines) if axis.name != REQUEST else None
        found += _effect_sentences(table, section) if table else []
    return tuple(found)


def _first_sentence(ranking: Ranking, on_flash: Ranking | None) -> Finding:
    """`on_flash`: the ranking without those whose writes end in memory, if the first is one."""
    where = ranking.panel.capitalize() + (f", {ranking.where}" if ranking.where else "")
    first = ranking.order[0]
    winners = dict(ranking.fastest_at)
    text = f"{where}: **{first}** has the shortest response times"
    if ranking.points > 1:
        others = [f"{label} {spot}" for label, spot in winners.items() if label != first]
        text += f" ({winners[first]}" if first in winners else " (on the whole"
        text += f"; {'; '.join(others)})" if others else ")"
    text += f"{_followers(ranking)}."
    if on_flash:
        text += f" Of those that wait for the flash: **{on_flash.order[0]}**{_followers(on_flash)}."
    return Finding(text, abs(math.log((on_flash or ranking).distance)))


def _followers(ranking: Ranking) -> str:
    """Who is as fast as the first, and how far the next two are behind."""
    text = ""
    equal = [label for label in ranking.order[1:] if ranking.factors[label].high <= 1 + _SAME]
    behind = [label for label in ranking.order[1:] if label not in equal]
    if equal:
        text += f", with {_listed(equal)} within {100 * _SAME:.0f} % of it"
    if behind:
        then = ", then ".join(f"{label} {ranking.factors[label].text}" for label in behind[:2])
        text += f"; behind {'them' if equal else 'it'} {then}"
    return text


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _effect_sentences(table: Effects, section: Section) -> list[Finding]:
    """Per panel: whom the axis changes most and least, by its last value, or, in a part of a
    study, by the value that changes most.
    """
    found = []
    for panel in section.panels:
        rows = [
            (row.label, *strongest)
            for row in table.rows
            if row.panel == panel and (strongest := _strongest(table, row, section.is_part))
        ]
        if not rows:
            continue
        rows.sort(key=lambda row: abs(math.log(row[2].mean)))
        (least, _, low), (most, value, high) = rows[0], rows[-1]
        opening = f"{table.axis.word} {table.axis.value_text(value)} against {_base(table)}"
        if len(section.panels) > 1:
            opening = f"{panel}, {opening}"
        text = f"{opening[0].upper()}{opening[1:]}: **{most}** {_change(high)}"
        if most != least and not section.is_part:
            text += f"; least {least}, {_change(low)}"
        found.append(Finding(f"{text}.", abs(math.log(high.mean))))
    return found


def _strongest(table: Effects, row: Effect, any_value: bool) -> tuple[float, Factors] | None:
    """The factor of the last value, or that which is furthest from 1."""
    known = [
        (value, factor)
        for value, factor in zip(table.values, row.factors, strict=True)
        if factor is not None
    ]
    if not known or not any_value:
        return known[-1] if known and row.factors[-1] is not None else None
    return max(known, key=lambda entry: abs(math.log(entry[1].mean)))


def _base(table: Effects) -> str:
    if table.axis.name == PAUSE and table.base == 0:
        return "none"
    return table.axis.value_text(table.base)


def _change(factor: Factors) -> str:
    if abs(factor.mean - 1) <= _SAME:
        return f"practically the same, {factor.text}"
    if factor.mean > 1:
        return f"takes **{times(factor.mean)}** as long{_range(factor)}"
    back = Factors(1 / factor.mean, 1 / factor.high, 1 / factor.low, factor.points)
    return f"gets **{times(back.mean)}** faster{_range(back)}"


def _range(factor: Factors) -> str:
    if times(factor.low) == times(factor.high):
        return ""
    return f" ({significant(factor.low)}{TO}{significant(factor.high)})"


def effect_title(table: Effects) -> str:
    """What a table of effects says, by what its axis is."""
    if table.axis.name == RATE:
        return "Sensitivity to the fill rate"
    if table.axis.name == PAUSE:
        return "What idle time changes"
    return f"What the {table.axis.word} changes"
