"""What a run shows, computed from its data: which is fastest where, what fill and idle time change.

Every table follows one rule that is stated with it. Ratios relate means over seeds at the same
point of the axes; of several points their range is given with where its ends are, never a mean.
Nothing here knows a result beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ffslab.compare.standing import (
    Extent,
    Standing,
    extent_of_change,
    ratios_to_first,
    standing,
)
from ffslab.report.axes import Axis, Mean
from ffslab.report.quantity import capitalized
from ffslab.report.standings import (
    CUT,
    behind_text,
    change_text,
    who_is_first,
)
from ffslab.report.topics import Sentence, Topic
from ffslab.workloads.micro.report.data import PAUSE, RATE, REQUEST
from ffslab.workloads.micro.report.series import Curves, Point, Section, curves, response_ns

# What an axis's values are compared with, where that is not the smallest.
_BASES: Mapping[str, tuple[float, ...]] = {"workload.increment": (1.0,)}
_MANY = 4
_FOLLOWERS = 2  # so many behind the fastest are named in a sentence


@dataclass(frozen=True)
class Ranking:
    """The configurations of one panel (and one value of the second axis) against each other.

    `place` is that value, `where` the same with the axis's name. `axis` is the first one; `cut` has
    the mark of each configuration that did not get to all it was asked for.
    """

    panel: str
    place: str
    where: str
    axis: Axis | None
    standing: Standing
    cut: Mapping[str, str]

    @property
    def words(self) -> str:
        return ", ".join(word for word in (self.panel, self.place) if word)


def response_curves(section: Section) -> Curves:
    return curves(section.samples, response_ns)


def relative_curves(section: Section) -> Curves:
    """Response times ÷ the smallest at the same point, of configurations that wait for the flash
    (see `Section.in_memory`); only of panels in which there are two of them.
    """
    responses = response_curves(section)
    relative: dict[tuple[str, str], dict[Point, Mean]] = {}
    for panel in section.panels:
        labels = [
            label
            for label in section.labels
            if (panel, label) in responses and (panel, label) not in section.in_memory
        ]
        rest = dict.fromkeys(point[1:] for label in labels for point in responses[panel, label])
        for others in rest:
            lines = {label: _along_first(responses[panel, label], others) for label in labels}
            for label, ratios in ratios_to_first(lines).items():
                for x, ratio in ratios.items():
                    cut = responses[panel, label][x, *others].cut
                    mean = Mean(ratio, ratio, ratio, 1, cut)
                    relative.setdefault((panel, label), {})[x, *others] = mean
    return relative


def _along_first(line: Mapping[Point, Mean], others: Point) -> dict[float, float]:
    """The means along the first axis, at one place of the others."""
    return {point[0]: mean.mean for point, mean in line.items() if point and point[1:] == others}


def rankings(section: Section, *, on_flash: bool = False) -> tuple[Ranking, ...]:
    """Which is fastest where: a ranking per panel, and per value of the second axis, if any.

    `on_flash`: only of panels in which the writes of some configuration end in memory, without it.
    """
    out = section.in_memory if on_flash else frozenset()
    responses = response_curves(section)
    second = section.axes[1] if len(section.axes) > 1 else None
    ranked = []
    for panel in section.panels:
        if on_flash and not any(left_out == panel for left_out, _ in out):
            continue
        for value in second.values if second else (None,):
            lines = {
                label: {
                    point: mean
                    for point, mean in responses[panel, label].items()
                    if value is None or point[-1] == value
                }
                for label in section.labels
                if (panel, label) in responses and (panel, label) not in out
            }
            value_words = where = ""
            if second and value is not None:
                value_words = second.text(value)
                where = f"{second.word} {second.value_text(value)}"
            ranking = _ranking((panel, value_words, where), lines, section)
            if ranking:
                ranked.append(ranking)
    return tuple(ranked)


def flash_rankings(section: Section) -> tuple[Ranking, ...]:
    """All rankings, without the configurations whose writes end in memory where there are such:
    beside these, differences between those that wait for the flash would not show.
    """
    through = {(r.panel, r.place): r for r in rankings(section, on_flash=True)}
    return tuple(through.get((r.panel, r.place), r) for r in rankings(section))


def _ranking(
    words: tuple[str, str, str], lines: Mapping[str, Mapping[Point, Mean]], section: Section
) -> Ranking | None:
    """None for fewer than two configurations, or without a point that two have."""
    order = standing(
        {
            label: {point[0] if point else 0.0: mean.mean for point, mean in line.items()}
            for label, line in lines.items()
        }
    )
    if order is None:
        return None
    cut = {label: CUT for label, line in lines.items() if any(m.cut for m in line.values())}
    axis = section.axes[0] if section.axes else None
    return Ranking(*words, axis=axis, standing=order, cut=cut)


@dataclass(frozen=True)
class Effect:
    """What a value of an axis changes for one configuration in one panel, against a base value:
    ratios over the points of the other axis. `cut`: the mark of each.
    """

    panel: str
    label: str
    factors: tuple[Extent | None, ...]
    cut: tuple[str, ...] = ()


@dataclass(frozen=True)
class Effects:
    """A table of effects: `values` of the axis against `base`; a ratio above 1 means slower.
    `other` is the axis that the ratios' points are on, if there is one.
    """

    axis: Axis
    other: Axis | None
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
    index = section.axes.index(axis)
    rest = [other for other in section.axes if other is not axis]
    rows = []
    for panel in section.panels:
        for label in section.labels:
            line = value_of.get((panel, label), {})
            pairs = [_pairs(line, index, base, value) for value in others]
            related = tuple(
                extent_of_change((at, before.mean, after.mean) for at, before, after in changes)
                for changes in pairs
            )
            cut = tuple(
                CUT if any(before.cut or after.cut for _, before, after in changes) else ""
                for changes in pairs
            )
            if any(related):
                rows.append(Effect(panel, label, related, cut))
    other = rest[0] if rest else None
    return Effects(axis, other, base, others, tuple(rows)) if rows and others else None


def _pairs(
    line: Mapping[Point, Mean], index: int, base: float, value: float
) -> list[tuple[float, Mean, Mean]]:
    """Where on the other axis (0 if there is none), and the means at the base and at the value."""
    pairs = []
    for point, mean in line.items():
        others = (*point[:index], *point[index + 1 :])
        moved = line.get((*point[:index], value, *point[index + 1 :]))
        if point[index] == base and mean.mean > 0 and moved is not None:
            pairs.append((next(iter(others), 0.0), mean, moved))
    return pairs


def topics(section: Section) -> tuple[Topic, ...]:
    """The section in sentences: what its axes but the request size change, where it has such, then
    which is fastest where. Of many panels the tables say that, and the strongest effects are told.
    """
    first, changed = first_sentences(section), effect_sentences(section)
    words = " and the ".join(axis.word for axis in section.axes if axis.name != REQUEST)
    if len(section.panels) > _MANY:
        first = ()
        changed = tuple(sorted(changed, key=lambda sentence: -sentence.weight)[:_MANY])
    told = (Topic(f"What the {words} changes", changed), Topic("Which is fastest where", first))
    return tuple(topic for topic in told if topic.sentences)


def first_sentences(section: Section) -> tuple[Sentence, ...]:
    """Who is first in each panel, at each value of the second axis."""
    through = {(r.panel, r.place): r for r in rankings(section, on_flash=True)}
    sentences = []
    for ranking in rankings(section):
        other = through.get((ranking.panel, ranking.place))
        leaders = ranking.standing.leaders
        memory = any((ranking.panel, label) in section.in_memory for label in leaders)
        sentences.append(_first_sentence(ranking, other if memory else None))
    return tuple(sentences)


def effect_sentences(section: Section) -> tuple[Sentence, ...]:
    """What the axes change; not the request size, with which every response time grows."""
    lines = response_curves(section)
    sentences: list[Sentence] = []
    for axis in section.axes:
        table = effects(section, axis, lines) if axis.name != REQUEST else None
        sentences += _effect_sentences(table, section) if table else []
    return tuple(sentences)


def _first_sentence(ranking: Ranking, on_flash: Ranking | None) -> Sentence:
    """`on_flash`: the ranking without those whose writes end in memory, if the first is one."""
    where = ranking.panel.capitalize() + (f", {ranking.where}" if ranking.where else "")
    text = f"{where}: {_standing_text(ranking)}."
    if on_flash:
        text += f" Of those that wait for the flash: {_standing_text(on_flash)}."
    return Sentence(text, max(e.distance for e in (on_flash or ranking).standing.behind.values()))


def _standing_text(ranking: Ranking) -> str:
    """Which is fastest where, and who comes next."""
    order, axis = ranking.standing, ranking.axis
    text = who_is_first(order, axis, ranking.cut)
    return text + behind_text(order, axis, ranking.cut, _FOLLOWERS)


def _effect_sentences(table: Effects, section: Section) -> list[Sentence]:
    """Per panel: whom the axis changes most and least, by its last value, or, in a part of a
    study, by the value that changes most.
    """
    sentences = []
    for panel in section.panels:
        rows = [
            (row.label, *strongest)
            for row in table.rows
            if row.panel == panel and (strongest := _strongest(table, row, section.is_part))
        ]
        if not rows:
            continue
        rows.sort(key=lambda row: row[2].distance)
        (least, _, low, low_cut), (most, value, high, cut) = rows[0], rows[-1]
        opening = f"{table.axis.word} {table.axis.value_text(value)} against {_base(table)}"
        if len(section.panels) > 1:
            opening = f"{panel}, {opening}"
        text = f"{capitalized(opening)}: **{most}{cut}** {change_text(high, table.other)}"
        if most != least and not section.is_part:
            text += f"; least {least}{low_cut} {change_text(low, table.other)}"
        sentences.append(Sentence(f"{text}.", high.distance))
    return sentences


def _strongest(table: Effects, row: Effect, any_value: bool) -> tuple[float, Extent, str] | None:
    """The ratios of the last value, or those of which one is furthest from 1."""
    known = [
        (value, factor, cut)
        for value, factor, cut in zip(table.values, row.factors, row.cut, strict=True)
        if factor is not None
    ]
    if not known or not any_value:
        return known[-1] if known and row.factors[-1] is not None else None
    return max(known, key=lambda entry: entry[1].distance)


def _base(table: Effects) -> str:
    if table.axis.name == PAUSE and table.base == 0:
        return "none"
    return table.axis.value_text(table.base)


def effect_title(table: Effects) -> str:
    """What a table of effects says, by what its axis is."""
    if table.axis.name == RATE:
        return "Sensitivity to the fill rate"
    if table.axis.name == PAUSE:
        return "What idle time changes"
    return f"What the {table.axis.word} changes"
