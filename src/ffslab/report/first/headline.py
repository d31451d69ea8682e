"""A run in one line of at most 25 words, computed from what was compared: pure.

It says who is fastest at how many of the contests, who failed, who wears the flash least and needs
least RAM where these are asked, and what changes a time most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ffslab.compare.ratios import SAME
from ffslab.compare.words import value_text
from ffslab.report import data
from ffslab.report.configurations import MOST_NUMBERS, are_numbers, axis_words, setting_words
from ffslab.report.first.claims import Claim, have_room, joined, within
from ffslab.report.first.contests import Contest, Score, names_of, score
from ffslab.report.first.samples import Matter, Place, Row
from ffslab.report.first.weigh import Weighed
from ffslab.report.quantity import listed, significant
from ffslab.results.criteria import Aspect, added

_NOTABLE = 1.5  # times: what an axis changes less is not in a headline
_MOST_FAILING = 2  # of more the headline has their number only
_PART = "part"  # of a study: no setting, though several may differ between two parts
_BEST = ("is best", "are best")
_WINS: Mapping[Aspect, tuple[str, str]] = {
    "time": ("is fastest", "are fastest"),
    "life": ("lasts longest", "last longest"),
}
_FAILS = {
    "crash": "crashes",
    "stuck": "gets stuck",
    "corrupt": "damages data",
    "timeout": "runs out of time",
    "short": "runs out of space",
}
_COSTS = {data.STATE: "ageing costs"}
Names = Mapping[str, str]
_WORN, _MOST_WORN = ("pages_programmed", "pages_per_line", "blocks_erased"), "erases_max"


def headline(matter: Matter, weighed: Sequence[Weighed]) -> str:
    """The headline of a run or chapter; without anything to decide by it is empty."""
    if not weighed:
        return ""
    counted = [each.row for each in weighed if each.row.headline and each.row.tallies]
    if counted:
        return _of_tallies(matter, counted)
    if len(matter.configurations) == 1:
        return _alone(matter, weighed)
    # Which options win is told if there is room for it.
    whole = _parts(matter, weighed, options=True)
    return within(whole if have_room(whole) else _parts(matter, weighed, options=False))


def _parts(matter: Matter, weighed: Sequence[Weighed], *, options: bool) -> list[str]:
    """What the headline says, the most important first."""
    rows = [each for each in weighed if each.row.aspect == "time" and each.row.headline]
    rows = rows or [each for each in weighed if each.row.headline] or [weighed[0]]
    others = [each for each in weighed if each not in rows and not each.row.incidental]
    names = names_of(matter)
    claims = [
        _most_often(score(rows, names, may_lose=True), rows[0].row.aspect, options=options),
        *_wears_least(others, names, options=options),
        *_needs_least_ram(others, names, options=options),
    ]
    first, *rest = (claim.text for claim in joined(claims))
    change = _largest_change(rows, names)
    return [first, *_failures(matter), *rest, *([change] if change else [])]


def _of_tallies(matter: Matter, rows: Sequence[Row]) -> str:
    """How many of the first row are right, and who does what is wrong in any, the most first."""
    whole = added(list(rows[0].tallies.values()))
    names = names_of(matter)
    wrong: dict[str, Counter[str]] = {}
    for label, tally in (item for row in rows for item in row.tallies.items()):
        if tally.count:
            wrong.setdefault(names[label], Counter()).update(dict(tally.wrong))
    right = f"All {whole.whole:,} {whole.noun} are correct"
    failures = tuple(_failures(matter))
    if not wrong:
        return within([right, *failures])
    if whole.count:
        right = f"{whole.whole - whole.count:,} of {whole.whole:,} {whole.noun} are correct"
    order = sorted(wrong, key=lambda name: -wrong[name].total())
    for most in (2, 1):
        deeds = [_deeds(name, wrong[name], most) for name in order]
        text = within([right, *deeds, *failures], told_apart=True)
        if deeds[-1] in text:
            break
    return text


def _deeds(name: str, wrong: Counter[str], most: int) -> str:
    deeds = [f"{does} in {count:,}" for does, count in wrong.most_common(most)]
    return f"{name} {listed(deeds)}"


def _failures(matter: Matter) -> Iterator[str]:
    """Who has cases without figures, in how many, and how they end."""
    names = names_of(matter)
    tried: Counter[str] = Counter()
    for label, count in matter.tried.items():
        tried[names.get(label, label)] += count
    ends: dict[str, list[str]] = {}
    for (label, _), cases in matter.failed.items():
        ends.setdefault(names.get(label, label), []).extend(case.outcome for case in cases)
    if len(ends) > _MOST_FAILING:
        yield f"{sum(map(len, ends.values()))} of {tried.total()} cases fail"
        return
    for name, outcomes in ends.items():
        kind, *others = dict.fromkeys(outcomes)
        verb = "fails" if others else _FAILS.get(kind, "fails")
        count, of = len(outcomes), tried[name]
        if of == 1:
            yield f"{name} {verb}"
        else:
            yield f"{name} {verb} in {'all' if count == of else f'{count} of'} {of} cases"


def _most_often(result: Score, aspect: Aspect, *, options: bool) -> Claim:
    """Who is best at most contests, at how many; of one contest with the figures."""
    contests, count = len(result.contests), result.count
    if not contests:
        return Claim((), ("nothing can be compared like with like",))
    if not count:
        return Claim((), (f"all are within {100 * SAME:.0f} % of each other",))
    names = _told(result, options=options)
    alone, several = _WINS.get(aspect, _BEST)
    if contests == 1:
        return Claim(names, (several,)) if len(names) > 1 else _only_one(result, names, alone)
    deed = several.replace("are", "are each") if len(names) > 1 else alone
    return Claim(names, (f"{deed} at {'all' if count == contests else f'{count} of'} {contests}",))


def _told(result: Score, *, options: bool) -> tuple[str, ...]:
    leaders = result.leaders
    return tuple(map(result.with_options, leaders)) if options else leaders


def _only_one(result: Score, told: tuple[str, ...], does: str) -> Claim:
    """The one contest, with the figures of the first and the next."""
    (contest,) = result.contests
    (name,) = result.leaders
    row = contest.weighed.row
    ranked = contest.weighed.ranked(contest.number)
    others = [label for label in ranked if result.names[label] != name]
    first = next(label for label in ranked if result.names[label] == name)
    behind = f"{result.names[others[0]]} with {_value(contest, others[0])}" if others else ""
    topic = "" if row.aspect in _WINS else row.title
    return Claim(told, (f"{does} with {_value(contest, first)}",), behind, topic)


def _value(contest: Contest, label: str) -> str:
    row = contest.weighed.row
    return value_text(row.metric, row.cells[label][contest.number].mean)


def _wears_least(others: Sequence[Weighed], names: Names, *, options: bool) -> Iterator[Claim]:
    """Who does least to the flash, unless another spares the block that is erased most."""
    own = [each for each in others if each.row.aspect == "wear"]
    worn = {each.row.metric.name: each for each in reversed(own)}  # the first of each metric
    least = score([worn[name] for name in _WORN if name in worn][:1], names)
    spared = [worn[_MOST_WORN]] if _MOST_WORN in worn else []
    spares = score(spared, names).leaders or least.leaders
    if set(least.leaders) <= set(spares):
        yield from _leads(least, "wears least", options=options)


def _needs_least_ram(others: Sequence[Weighed], names: Names, *, options: bool) -> Iterator[Claim]:
    asked = [each for each in others if each.row.aspect == "memory" and each.row.headline]
    yield from _leads(score(asked, names), "needs least RAM", options=options)


def _leads(result: Score, does: str, *, options: bool) -> Iterator[Claim]:
    """What the one leader does, if there is one, and at how many contests if not at all."""
    if len(result.leaders) == 1:
        count, contests = result.count, len(result.contests)
        where = "" if count == contests else f" at {count} of {contests}"
        yield Claim(_told(result, options=options), (f"{does}{where}",))


@dataclass(frozen=True)
class _Change:
    """What one value of an axis costs a configuration against another value of it."""

    factor: float
    label: str
    axis: str
    before: str
    after: str

    @property
    def words(self) -> str:
        cost = _COSTS.get(self.axis)
        if cost is None:
            cost = f"{axis_words(self.axis)} {self.after} against {self.before} costs"
        return f"{cost} {self.label} {significant(self.factor, 2)}×"


def _largest_change(rows: Sequence[Weighed], names: Names) -> str:
    """What one axis of words changes most, of all figures that the verdict hangs on."""
    changes = [change for each in rows for change in _changes(each.row, names)]
    largest = max(changes, key=lambda change: change.factor, default=None)
    return largest.words if largest is not None and largest.factor >= _NOTABLE else ""


def _changes(row: Row, names: Names) -> list[_Change]:
    """A configuration's largest ratios between places that differ in one axis only, of times that
    end when the data are where they belong.
    """
    if row.metric.better == "higher":
        return []
    settings = _settings(row)
    changes = []
    for label, cells in row.cells.items():
        alike: dict[tuple[str, Place], list[tuple[float, str]]] = {}
        for number, cell in cells.items():
            for axis, value in row.places[number] if not cell.in_memory else ():
                if value in settings.get(axis, {}):
                    rest = tuple(pair for pair in row.places[number] if pair[0] != axis)
                    alike.setdefault((axis, rest), []).append((cell.mean, value))
        for (axis, _), values in alike.items():
            (low, before), (high, after) = min(values), max(values)
            if 0 < low < high:
                texts = settings[axis]
                change = _Change(high / low, names[label], axis, texts[before], texts[after])
                changes.append(change)
    return changes


def _settings(row: Row) -> dict[str, dict[str, str]]:
    """The axes that are settings to choose among, with their values in words: neither parts of a
    study nor numbers that a curve is drawn against.
    """
    settings: dict[str, dict[str, str]] = {}
    for axis in dict.fromkeys(name for scenario in row.places for name, _ in scenario):
        values = {value: None for scenario in row.places if (value := dict(scenario).get(axis))}
        few = len(values) <= MOST_NUMBERS or not are_numbers(axis, values)
        if axis != _PART and few:
            settings[axis] = setting_words(axis, tuple(values))[1]
    return settings


def _alone(matter: Matter, weighed: Sequence[Weighed]) -> str:
    """One configuration: its first figures, as a range where it has several places."""
    told = []
    for each in [each for each in weighed if each.row.headline][:2] or list(weighed[:1]):
        means = [cell.mean for cell in each.row.cells[matter.labels[0]].values()]
        ends = dict.fromkeys(value_text(each.row.metric, end) for end in (min(means), max(means)))
        told.append(f"{each.row.title} {' to '.join(ends)}")
    return within([f"{matter.labels[0]} alone: {told[0]}", *told[1:], *_failures(matter)])
