"""Who is faster, and whether that survives each change of an estimate: pure.

A *ratio* compares two configurations that are neighbours in the order of their times, in one
scenario; or one configuration in two initial states. It is the larger time ÷ the smaller as the
figures are stated, for each seed. Its order *holds* for a change if no seed's ratio falls below 1.

A change that a case does not have (UBI's reserve under JFFS2) leaves it what it was. Where two
times differ by less than 2 %, or seeds disagree, there is no order to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ffslab.compare.ratios import SAME, factor, geometric_mean, mean
from ffslab.model.estimates import AS_STATED, OTHER_WAIT, WAIT, parts_of

Place = tuple[tuple[str, str], ...]
EQUAL = 1 + SAME  # times nearer to each other than this have no order


@dataclass(frozen=True)
class Sample:
    """One case: its times by metric in ns, none if it did not pass."""

    configuration: str
    place: Place  # the axes that are neither configuration, state nor seed
    state: str
    seed: str
    change: str
    times_ns: Mapping[str, float]


@dataclass(frozen=True)
class Ratio:
    """Two times compared: `slower` ÷ `faster`, by change and seed. `where` is the rest's values."""

    metric: str
    where: str
    faster: str
    slower: str
    values: Mapping[str, Mapping[str, float]]
    of_states: bool = False

    @property
    def name(self) -> str:
        return f"{self.slower} ÷ {self.faster}"

    def mean(self, change: str = AS_STATED) -> float | None:
        """The geometric mean over seeds; None where a case did not pass or did not change."""
        ratios = self.values.get(change)
        if not ratios:
            return None
        return geometric_mean(ratios.values())

    @property
    def has_order(self) -> bool:
        """Whether all seeds agree on which of the two is faster, by 2 % at least."""
        return all(value >= EQUAL for value in self.values[AS_STATED].values())

    @property
    def turned_by(self) -> tuple[str, ...]:
        """The changes under which some seed has the other order."""
        return tuple(
            change
            for change, ratios in self.values.items()
            if any(value < 1 for value in ratios.values())
        )

    @property
    def reach(self) -> float:
        """How far the changes move it: the largest factor between it and what is stated."""
        return self.reach_of(self.values)

    def reach_of(self, changes: Iterable[str]) -> float:
        """The same for some of the changes."""
        stated = self.mean()
        moved = (self.mean(change) for change in changes)
        return max((factor(value / stated) for value in moved if value and stated), default=1.0)


@dataclass(frozen=True)
class Effect:
    """What one estimate does to all ratios: the one that it moves most, and how many it turns."""

    estimate: str
    ratios: int
    most: Ratio | None
    reach: float
    turned: int


def ratios_of(samples: Sequence[Sample]) -> tuple[Ratio, ...]:
    """All ratios, of one metric and place after the other; orders before states."""
    ratios: list[Ratio] = []
    for metric in dict.fromkeys(name for sample in samples for name in sample.times_ns):
        for where, state, group in _scenarios(samples):
            ratios += _orders(metric, where, state, group)
        ratios += _states(metric, samples)
    return tuple(ratios)


def effects(ratios: Sequence[Ratio]) -> tuple[Effect, ...]:
    """One line for each estimate that was changed, the one that moves a ratio most first."""
    changes: dict[str, list[str]] = {}
    for change in dict.fromkeys(change for ratio in ratios for change in ratio.values):
        if change != AS_STATED:
            changes.setdefault(estimate_of(change), []).append(change)
    by_estimate = []
    for estimate, own in changes.items():
        touched = [ratio for ratio in ratios if any(change in ratio.values for change in own)]
        reach = {id(ratio): ratio.reach_of(own) for ratio in touched}
        most = max(touched, key=lambda ratio: reach[id(ratio)], default=None)
        turned = sum(ratio.has_order and bool(set(own) & set(ratio.turned_by)) for ratio in touched)
        largest = reach[id(most)] if most else 1.0
        by_estimate.append(Effect(estimate, len(touched), most, largest, turned))
    return tuple(sorted(by_estimate, key=lambda effect: -effect.reach))


def estimate_of(change: str) -> str:
    """The estimate that a change is of."""
    return WAIT if change == OTHER_WAIT else parts_of(change)[1]


def place_text(axis_values: Place) -> str:
    """The values that tell a place from others."""
    return " · ".join(value for _, value in axis_values if value)


def _scenarios(samples: Sequence[Sample]) -> list[tuple[str, str, list[Sample]]]:
    groups: dict[tuple[Place, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.place, sample.state), []).append(sample)
    return [
        (place_text(axis_values), state, group) for (axis_values, state), group in groups.items()
    ]


def _orders(metric: str, where: str, state: str, group: Sequence[Sample]) -> list[Ratio]:
    """The ratios between neighbours in the order of the stated times."""
    times = _times(metric, group, lambda sample: sample.configuration)
    stated = {
        name: mean(by_change[AS_STATED].values())
        for name, by_change in times.items()
        if AS_STATED in by_change
    }
    scenario = " · ".join(text for text in (where, state) if text)
    ranked = sorted(stated, key=lambda name: stated[name])
    ratios = (
        _ratio(metric, scenario, faster, slower, times[faster], times[slower])
        for faster, slower in pairwise(ranked)
    )
    return [ratio for ratio in ratios if ratio is not None]


def _states(metric: str, samples: Sequence[Sample]) -> list[Ratio]:
    """What a state costs each configuration, against the state before it in the study."""
    groups: dict[tuple[Place, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.place, sample.configuration), []).append(sample)
    ratios = []
    for (axis_values, configuration), group in groups.items():
        times = _times(metric, group, lambda sample: sample.state)
        text = " · ".join(text for text in (place_text(axis_values), configuration) if text)
        for first, second in pairwise(name for name in times if AS_STATED in times[name]):
            pair = (first, second)
            if mean(times[second][AS_STATED].values()) < mean(times[first][AS_STATED].values()):
                pair = (second, first)
            ratio = _ratio(metric, text, *pair, times[pair[0]], times[pair[1]], of_states=True)
            ratios += [ratio] if ratio is not None else []
    return ratios


Times = dict[str, dict[str, float]]  # change → seed → ns


def _times(
    metric: str, samples: Sequence[Sample], name_of: Callable[[Sample], str]
) -> dict[str, Times]:
    by_name: dict[str, Times] = {}
    for sample in samples:
        of_change = by_name.setdefault(name_of(sample), {}).setdefault(sample.change, {})
        value = sample.times_ns.get(metric)
        if value:
            of_change[sample.seed] = value
    return {
        name: times
        for name, times in by_name.items()
        if times.get(AS_STATED)  # a case that did not pass has no order
    }


def _ratio(
    metric: str,
    where: str,
    faster: str,
    slower: str,
    low: Times,
    high: Times,
    *,
    of_states: bool = False,
) -> Ratio | None:
    """By change, for the seeds that both have; a side that has no such change stays as stated."""
    values: dict[str, dict[str, float]] = {}
    for change in dict.fromkeys([AS_STATED, *low, *high]):
        below, above = low.get(change, low[AS_STATED]), high.get(change, high[AS_STATED])
        both = {seed: above[seed] / below[seed] for seed in above if seed in below}
        if both:
            values[change] = both
    if AS_STATED not in values:
        return None
    return Ratio(metric, where, faster, slower, values, of_states)
