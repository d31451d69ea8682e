"""What a run shows, computed from its data: who is fastest, what fill and idle time change, wear.

Every table follows one rule that is stated with it. Factors relate means over seeds at the same
point of the axes; over several points their geometric mean is given with its range. Nothing here
knows a result beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ffslab.report.findings import Finding
from ffslab.report.micro.data import PAUSE, RATE, REQUEST
from ffslab.report.micro.series import Axis, Curves, Mean, Point, Section, curves
from ffslab.report.quantity import duration, significant, times

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
        return f"{times(self.mean)} ({significant(self.low)}–{significant(self.high)})"


@dataclass(frozen=True)
class Ranking:
    """The configurations of one panel (and one value of the second axis), the fastest first.

    `factors` relate each configuration's response times to the first one's; `fastest_at` says at
    which points of the first axis each is the fastest.
    """

    panel: str
    place: str
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
    return curves(section.samples, section.time_of)


def rankings(section: Section) -> tuple[Ranking, ...]:
    """Who is fastest: a ranking per panel, and per value of the second axis if there is one."""
    found = response_curves(section)
    second = section.axes[1] if len(section.axes) > 1 else None
    ranked = []
    for panel in section.panels:
        for value in second.values if second else (None,):
            lines = {
                label: {
                    point: mean
                    for point, mean in found[panel, label].items()
                    if value is None or point[-1] == value
                }
                for label in section.labels
                if (panel, label) in found
            }
            place = second.text(value) if second and value is not None else ""
            ranking = _ranking(panel, place, {k: v for k, v in lines.items() if v}, section)
            if ranking:
                ranked.append(ranking)
    return tuple(ranked)


def _ranking(
    panel: str, place: str, lines: Mapping[str, Mapping[Point, Mean]], section: Section
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
        panel=panel,
        place=place,
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
    """Every value of an axis against its base (0 if it has it, else the smallest), over all points
    of the other axis that have both.
    """
    base = 0.0 if 0.0 in axis.values else axis.values[0]
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
    """The section in sentences: who is first, and what its other axis or its own axis changes."""
    found = [_first_sentence(ranking) for ranking in rankings(section)]
    lines = response_curves(section)
    for axis in section.axes:
        if axis.name != REQUEST:
            table = effects(section, axis, lines)
            found += _effect_sentences(table, section) if table else []
    return tuple(found)


def _first_sentence(ranking: Ranking) -> Finding:
    where = ranking.panel.capitalize() + (f", {ranking.place}" if ranking.place else "")
    first = ranking.order[0]
    behind = ", then ".join(
        f"{label} {ranking.factors[label].text}" for label in ranking.order[1:3]
    )
    winners = dict(ranking.fastest_at)
    text = f"{where}: **{first}** has the shortest response times"
    if ranking.points > 1:
        others = [f"{label} {spot}" for label, spot in winners.items() if label != first]
        text += f" ({winners[first]}" if first in winners else " (on the whole"
        text += f"; {'; '.join(others)})" if others else ")"
    return Finding(f"{text}; behind it {behind}.", abs(math.log(ranking.distance)))


def _effect_sentences(table: Effects, section: Section) -> list[Finding]:
    """Per panel: whom the axis's last value changes most and least."""
    found = []
    several = len(section.panels) > 1
    for panel in section.panels:
        rows = [
            (row.label, last)
            for row in table.rows
            if row.panel == panel and (last := row.factors[-1]) is not None
        ]
        if not rows:
            continue
        rows.sort(key=lambda row: abs(math.log(row[1].mean)))
        least, most = rows[0], rows[-1]
        place = f"{panel.capitalize()}, {{}}" if several else "{}"
        opening = place.format(f"{table.axis.text(table.values[-1])} against {_base(table)}")
        text = f"{opening[0].upper()}{opening[1:]}: **{most[0]}** {_change(most[1])}"
        if most[0] != least[0]:
            text += f"; least {least[0]}, {_change(least[1])}"
        found.append(Finding(f"{text}.", abs(math.log(most[1].mean))))
    return found


def _base(table: Effects) -> str:
    if table.axis.name == PAUSE and table.base == 0:
        return "no sleep"
    return table.axis.text(table.base)


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
    return f" ({significant(factor.low)}–{significant(factor.high)})"


def effect_title(table: Effects) -> str:
    """What a table of effects says, by what its axis is."""
    if table.axis.name == RATE:
        return "Sensitivity to the fill rate"
    if table.axis.name == PAUSE:
        return "What idle time changes"
    title = table.axis.title.partition(" (")[0]
    return f"What the {title} changes"


def duration_range(means: Sequence[Mean]) -> str:
    """Response times over several points, from the shortest to the longest."""
    values = [mean.mean for mean in means]
    if not values:
        return "–"
    low, high = duration(min(values)), duration(max(values))
    return low if low == high else f"{low} – {high}"
