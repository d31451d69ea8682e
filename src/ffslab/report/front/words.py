"""The front in sentences, each computed from a weighed row: who is best, by how much, where."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ffslab.compare.ratios import RatioSummary, alike, factor, ratio_from, ratio_of
from ffslab.compare.words import (
    percent_text,
    ratio_span,
    ratio_words,
    span_words,
    value_text,
    values_text,
)
from ffslab.report.front.samples import Cell, Row, where
from ffslab.report.front.weigh import Weighed
from ffslab.report.quantity import capitalized
from ffslab.report.standings import CUT, listed
from ffslab.results.schema import Metric

FEW_PLACES = 3  # up to so many places are told one by one
_SEVERAL = 2
_MOST_NAMES = 3
_DIFFERENCES = ("space", "memory")
_LEAST = 1e-9  # what a figure of 0 counts as, so that a ratio exists
_FACTOR_MAX = 1e9  # a ratio above it is one of those, and no factor is told


def best_sentence(weighed: Weighed, synced: Mapping[str, str] = MappingProxyType({})) -> str:
    """Who is best in a row, next to whom, with the figures; empty where nothing can be compared.

    A first that writes back has its synchronous figures beside it.
    """
    if weighed.standing is None:
        return ""
    told = _one_by_one(weighed) if len(weighed.contested) <= FEW_PLACES else _in_short(weighed)
    leaders = dict.fromkeys(label for first in weighed.best.values() for label in first)
    beside = "".join(_synced_text(weighed, label, synced) for label in leaders if label in synced)
    return f"{told}{beside}."


def aside_sentence(weighed: Weighed, synced: Mapping[str, str]) -> str:
    """What ended in memory, named with its figures beside those that it is not compared with; and
    how the same file system stands when it writes synchronously (`synced`).
    """
    parts = []
    for label, cells in weighed.aside.items():
        waiting = {number: cell for number, cell in cells.items() if cell.in_memory}
        if not waiting:
            continue
        extent = _extent(weighed.row.metric, [cell.mean for cell in waiting.values()])
        text = f"**{label}** returns after {extent}{_share_text(waiting.values())}"
        parts.append(text + _synced_text(weighed, label, synced))
    if not parts:
        return ""
    return f"Not compared with these, since it ends in memory: {'; '.join(parts)}."


def unlike_sentence(weighed: Weighed) -> str:
    """Both figures, and that they are no comparison, where one ends in memory and the other on the
    flash, and no second one of either kind can be compared; else empty.
    """
    cells = [cell for own in weighed.row.cells.values() for cell in own.values()]
    if weighed.standing is not None or len({cell.in_memory for cell in cells}) < _SEVERAL:
        return ""
    told = []
    for label, own in weighed.row.cells.items():
        late = [cell for cell in own.values() if cell.in_memory]
        extent = _extent(weighed.row.metric, [cell.mean for cell in own.values()])
        ends = f"ends in memory{_share_text(late)}" if late else "ends on the flash"
        told.append(f"{label} {extent}, which {ends}")
    return f"{capitalized(weighed.row.title)}: **not like with like**: {'; '.join(told)}."


def _synced_text(weighed: Weighed, label: str, synced: Mapping[str, str]) -> str:
    beside = synced.get(label)
    if beside is None or beside not in weighed.row.cells:
        return ""
    values = [cell.mean for cell in weighed.row.cells[beside].values()]
    return f" ({beside}: {_extent(weighed.row.metric, values)})"


def _one_by_one(weighed: Weighed) -> str:
    """Each place; in one sentence where the same are first and next at all of them."""
    duels = [_duel(weighed, number) for number in weighed.contested]
    title = capitalized(weighed.row.title)
    if len({(duel.first, duel.second) for duel in duels}) == 1:
        return f"{title}: {_alike_everywhere(weighed, duels)}"
    places = [where(weighed.row, duel.number) for duel in duels]
    told = [
        f"{scenario}: {_one_duel(weighed, duel)}" if scenario else _one_duel(weighed, duel)
        for duel, scenario in zip(duels, places, strict=True)
    ]
    change = len({duel.first for duel in duels if duel.first}) > 1
    if change:
        return f"{title}: **which is first depends on where.** {capitalized('; '.join(told))}"
    return f"{title}: {'; '.join(told)}"


@dataclass(frozen=True)
class _Duel:
    """Which is first at a place and who is next; none is first where all are alike."""

    number: int
    first: tuple[str, ...]
    second: str
    values: tuple[str, str]
    gap: RatioSummary | None
    words: str


def _duel(weighed: Weighed, number: int) -> _Duel:
    row, ranked = weighed.row, weighed.ranked(number)
    near = tuple(label for label in ranked if label in weighed.best[number])
    second = next((label for label in ranked if label not in near), ranked[-1])
    cells = [row.cells[label][number] for label in (ranked[0], second)]
    first_text, second_text = (value_text(row.metric, cell.mean) for cell in cells)
    if first_text == second_text:
        first_text, second_text = values_text(row.metric, *(cell.mean for cell in cells))
    gap = weighed.ratios(number, ranked[0], second)
    words = _gap_words(row, *cells)
    return _Duel(number, tuple(sorted(near)), second, (first_text, second_text), gap, words)


def _one_duel(weighed: Weighed, duel: _Duel) -> str:
    if not duel.first:
        return f"no difference ({duel.values[0]})"
    names = _names(weighed, duel.first, [duel.number])
    return (
        f"{names} {_verb(duel.words, len(duel.first))}{duel.words} than "
        f"{_marked(weighed, duel.second, [duel.number])} "
        f"({' against '.join(duel.values)}{_seed_text(weighed.row, duel.gap)})"
    )


def _alike_everywhere(weighed: Weighed, duels: Sequence[_Duel]) -> str:
    """The same first and next at all places: how far apart as a range, then the figures."""
    shared, numbers = duels[0], [duel.number for duel in duels]
    if len({duel.values for duel in duels}) == 1 or len(duels) == 1:
        return _one_duel(weighed, shared) + _last_text(weighed, duels)
    if not shared.first:
        values = (f"{where(weighed.row, duel.number)} {duel.values[0]}" for duel in duels)
        return f"no difference ({', '.join(values)})"
    ends = sorted(duels, key=lambda duel: _apart(weighed, duel))
    words = span_words(ends[0].words, ends[-1].words)
    figures = (
        f"{where(weighed.row, duel.number)}: {' against '.join(duel.values)}"
        f"{_seed_text(weighed.row, duel.gap)}"
        for duel in duels
    )
    return (
        f"{_names(weighed, shared.first, numbers)} {_verb(words, len(shared.first))}{words} than "
        f"{_marked(weighed, shared.second, numbers)} ({'; '.join(figures)})"
        f"{_last_text(weighed, duels)}"
    )


def _apart(weighed: Weighed, duel: _Duel) -> float:
    """What orders two gaps: the difference or the ratio, as they are told."""
    first = weighed.ranked(duel.number)[0]
    best_mean, other = (
        weighed.row.cells[label][duel.number].mean for label in (first, duel.second)
    )
    if weighed.row.aspect in _DIFFERENCES:
        return abs(best_mean - other)
    return factor(ratio_from(other, best_mean, _LEAST)) if best_mean else math.inf


def _verb(words: str, subjects: int) -> str:
    many = subjects > 1
    if words.endswith(("faster", "slower", "higher", "lower")):
        return "are " if many else "is "
    return "have " if many else "has "


def _names(weighed: Weighed, labels: Sequence[str], numbers: Sequence[int]) -> str:
    if len(labels) > _MOST_NAMES:
        return f"**{len(labels)} of {len(weighed.ranked(numbers[0]))} configurations**"
    return listed([f"**{_marked(weighed, label, numbers)}**" for label in labels])


def _marked(weighed: Weighed, label: str, numbers: Sequence[int]) -> str:
    return label + CUT * any(weighed.row.cells[label][number].cut for number in numbers)


def _last_text(weighed: Weighed, duels: Sequence[_Duel]) -> str:
    """Who is last with its figures, where that is the same one everywhere and none of the two."""
    lasts = {weighed.ranked(duel.number)[-1] for duel in duels}
    (last, *others) = lasts
    if others or not duels[0].first or last == duels[0].second or last in duels[0].first:
        return ""
    cells = [weighed.row.cells[last][duel.number] for duel in duels]
    values = dict.fromkeys(value_text(weighed.row.metric, cell.mean) for cell in cells)
    return f"; last is {last} with {' and '.join(values)}"


def _in_short(weighed: Weighed) -> str:
    """Of many places: at how many who is first, and how far the others are behind, as a range."""
    row, whole = weighed.row, weighed.standing
    assert whole is not None
    count = len(weighed.contested)
    wins = {
        label: sum(label in weighed.best[number] for number in weighed.contested)
        for label in whole.order
    }
    first = [label for label in whole.order if wins[label]]
    if not first:
        return f"{capitalized(row.title)}: no difference at any of {count} points"
    runs = {
        label: sum(number in weighed.rivals[label] for number in weighed.contested)
        for label in whole.order
    }
    if wins[first[0]] == count:
        lead = f"**{first[0]}** is first at all {count} points"
    else:
        # Who was not run at all points may be first wherever it was.
        own = {label: f" of its {runs[label]}" * (runs[label] < count) for label in first}
        names = [f"**{label}** at {wins[label]}{own[label]}" for label in first[:_MOST_NAMES]]
        places = listed(names)
        places += f" and {len(first) - _MOST_NAMES} more" if len(first) > _MOST_NAMES else ""
        changes = any(wins[label] < runs[label] for label in first)
        where_from = "which is first depends on where: " if changes else "first "
        lead = f"{where_from}of {count} points {places}"
    others = [label for label in whole.order if wins[label] < runs[label]]
    if len(others) > _MOST_NAMES:
        others = [others[0], others[-1]]
    behind = ", ".join(
        f"{label} {_behind_text(row.metric, whole.behind[label].low, whole.behind[label].high)}"
        for label in others
    )
    return f"{capitalized(row.title)}: {lead}" + (f"; behind the first: {behind}" if behind else "")


def _behind_text(metric: Metric, low: float, high: float) -> str:
    """A range of ratios to the first, each at least 1: `up to 3.4 times slower`."""
    if high > _FACTOR_MAX:
        nothing = "where the first has 0, no factor tells"
        if low > _FACTOR_MAX or alike(low):
            return f"({nothing})"
        return f"at least {_behind_text(metric, low, low)} ({nothing})"
    most = ratio_words(metric, 1 / high if metric.better == "higher" else high)
    if alike(low):
        return f"up to {most}" if not alike(high) else "alike"
    least = ratio_words(metric, 1 / low if metric.better == "higher" else low)
    return span_words(least, most)


def _gap_words(row: Row, first: Cell, second: Cell) -> str:
    """What the first is against another. Of room it is a difference: who needs 10 MiB asks for
    that, and what else is in memory says nothing about a file system.
    """
    metric = row.metric
    if row.aspect in _DIFFERENCES:
        word = "more" if first.mean > second.mean else "less"
        return f"{value_text(metric, abs(first.mean - second.mean))} {word}"
    ratio = ratio_of(second.mean, first.mean)
    if not ratio:
        noun = metric.unit if metric.exact and not metric.is_time else ""
        return f"no {noun}, less" if noun else "less"
    return ratio_words(metric, ratio)


def _seed_text(row: Row, gap: RatioSummary | None) -> str:
    """Over how many seeds a gap is, and its range where they differ; never a significance."""
    if gap is None or gap.exact:
        return ""
    seeds = f"; {len(gap.pairs)} seeds"
    if not gap.one_sided:
        return f"{seeds} do not agree which is first"
    if row.aspect in _DIFFERENCES or gap.undefined or gap.minimum <= 0:
        return ""
    if ratio_words(row.metric, gap.minimum) == ratio_words(row.metric, gap.maximum):
        return f"{seeds} alike"
    return f"{seeds}: {ratio_span(row.metric, gap.minimum, gap.maximum)}"


def _share_text(cells: Iterable[Cell]) -> str:
    """How much of what was written had been programmed, of times that end in memory."""
    shares = [cell.share for cell in cells if cell.share is not None and cell.share < 1]
    if not shares:
        return ""  # more was programmed than written: what is left cannot be told from that
    ends = list(dict.fromkeys(percent_text(100 * end) for end in (min(shares), max(shares))))
    return f", when {' to '.join(ends)} of the bytes written had been programmed"


def _extent(metric: Metric, values: Sequence[float]) -> str:
    ends = dict.fromkeys(value_text(metric, end) for end in (min(values), max(values)))
    return " to ".join(ends)
