"""A run in one line of at most 25 words, computed from what was compared: pure.

It says who is fastest at how many of the contests, who wears the flash least, and what changes a
time most. A contest is a figure that the verdict hangs on at one place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ffslab.compare.ratios import SAME
from ffslab.compare.words import value_text
from ffslab.report import data
from ffslab.report.configurations import MOST_NUMBERS, are_numbers, axis_words, setting_words
from ffslab.report.first.samples import Matter, Place, Row
from ffslab.report.first.weigh import Weighed
from ffslab.report.quantity import capitalized, significant
from ffslab.results.criteria import Aspect, added

MOST_WORDS = 25
_NOTABLE = 1.5  # times: what an axis changes less is not in a headline
_MOST_LEADERS = 2
_AND = " and "
_PART = "part"  # of a study: no setting, though several may differ between two parts
_THEN = ", then "
_BEST = ("is best", "are best")
_WINS: Mapping[Aspect, tuple[str, str]] = {
    "time": ("is fastest", "are fastest"),
    "life": ("lasts longest", "last longest"),
}
_COSTS = {data.STATE: "ageing costs"}
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
    rows = [each for each in weighed if each.row.aspect == "time" and each.row.headline]
    rows = rows or [each for each in weighed if each.row.headline] or [weighed[0]]
    names = _names(matter)
    wins = _WINS.get(rows[0].row.aspect, _BEST)
    parts = [_most_often(rows, names, wins)]
    parts += [_wears_least(weighed, rows, names), _largest_change(rows, names)]
    subject, _, best = parts[0].partition(f" {wins[0]} ")
    if parts[1].startswith(f"{subject} wears "):
        # Of two configurations with their figures the sentence would end with the other one.
        parts[:2] = (
            [f"{parts[1]} and {wins[0]} {best}"]
            if _THEN in best
            else [f"{parts[0]} and {parts[1].removeprefix(f'{subject} ')}"]
        )
    return within([part for part in parts if part])


def _of_tallies(matter: Matter, rows: Sequence[Row]) -> str:
    """How many of the first row are right, and who does what is wrong in any, the most first."""
    whole = added(list(rows[0].tallies.values()))
    names = _names(matter)
    wrong: dict[str, Counter[str]] = {}
    for label, tally in (item for row in rows for item in row.tallies.items()):
        if tally.count:
            wrong.setdefault(names[label], Counter()).update(dict(tally.wrong))
    right = f"All {whole.whole:,} {whole.noun} are correct"
    if not wrong:
        return f"{right}."
    if whole.count:
        right = f"{whole.whole - whole.count:,} of {whole.whole:,} {whole.noun} are correct"
    order = sorted(wrong, key=lambda name: -wrong[name].total())
    for most in (2, 1):
        deeds = [_deeds(name, wrong[name], most) for name in order]
        text = within([right, *deeds], told_apart=True)
        if deeds[-1] in text:
            break
    return text


def _deeds(name: str, wrong: Counter[str], most: int) -> str:
    return f"{name} {_AND.join(f'{does} in {count:,}' for does, count in wrong.most_common(most))}"


def within(parts: Sequence[str], *, told_apart: bool = False) -> str:
    """As many of the parts as there is room for; the first is `told_apart`, else the last is."""
    text = ""
    apart = 1 if told_apart else len(parts) - 1
    for number, part in enumerate(parts):
        longer = f"{text}{';' if number == apart else ','} {part}" if text else part
        if len(longer.split()) <= MOST_WORDS:
            text = longer
    return f"{capitalized(text)}." if text else ""


def _names(matter: Matter) -> Mapping[str, str]:
    """What each configuration counts for: its file system, if there are two or more."""
    systems = {c.label: data.filesystem_name(c.filesystem) for c in matter.configurations}
    return systems if len(set(systems.values())) > 1 else {label: label for label in systems}


def _leaders(rows: Sequence[Weighed], names: Mapping[str, str]) -> tuple[Sequence[str], int, int]:
    """Who is best at most contests, at how many, and how many there are."""
    wins: Counter[str] = Counter()
    contests = 0
    for each in rows:
        for number in each.contested:
            ranked = each.ranked(number)
            if len({names[label] for label in ranked}) > 1 and any(
                each.row.cells[label][number].mean for label in ranked
            ):
                contests += 1
                wins.update({names[label] for label in each.best[number]})
    count = max(wins.values(), default=0)
    leaders = sorted(label for label in wins if wins[label] == count)
    return leaders[:_MOST_LEADERS], count, contests


def _most_often(rows: Sequence[Weighed], names: Mapping[str, str], wins: tuple[str, str]) -> str:
    """`wins`: what the winner does, and what several winners do."""
    leaders, count, contests = _leaders(rows, names)
    label, several = _AND.join(leaders), len(leaders) > 1
    if not contests:
        return "nothing can be compared like with like"
    if not count:
        return f"all are within {100 * SAME:.0f} % of each other"
    if contests == 1:
        return f"{label} {wins[1]}" if several else _only_one(rows, label, names, wins[0])
    verb = wins[1].replace("are", "are each") if several else wins[0]
    return f"{label} {verb} at {'all' if count == contests else f'{count} of'} {contests}"


def _only_one(rows: Sequence[Weighed], name: str, names: Mapping[str, str], wins: str) -> str:
    """The one contest, with the figures of the first and the next."""
    each = next(each for each in rows if each.contested)
    number = each.contested[0]
    ranked = each.ranked(number)
    others = [label for label in ranked if names[label] != name]
    first = next(label for label in ranked if names[label] == name)
    texts = [
        value_text(each.row.metric, each.row.cells[who][number].mean) for who in (first, others[0])
    ]
    told = f"{name} {wins} with {texts[0]}{_THEN}{names[others[0]]} with {texts[1]}"
    return told if each.row.aspect in _WINS else f"{each.row.title}: {told}"


def _wears_least(
    weighed: Sequence[Weighed], told: Sequence[Weighed], names: Mapping[str, str]
) -> str:
    """Who does least to the flash, unless that is what was `told`, or another spares the block that
    is erased most.
    """
    own = [each for each in weighed if each.row.aspect == "wear" and each not in told]
    worn = {each.row.metric.name: each for each in reversed(own)}  # the first of each metric
    row = next((worn[name] for name in _WORN if name in worn), None)
    leaders, count, contests = _leaders([row], names) if row else ((), 0, 0)
    spares = _leaders([worn[_MOST_WORN]], names)[0] if _MOST_WORN in worn else ()
    if len(leaders) != 1 or (spares and leaders[0] not in spares):
        return ""
    return f"{leaders[0]} wears least{'' if count == contests else f' at {count} of {contests}'}"


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


def _largest_change(rows: Sequence[Weighed], names: Mapping[str, str]) -> str:
    """What one axis of words changes most, of all figures that the verdict hangs on."""
    changes = [change for each in rows for change in _changes(each.row, names)]
    largest = max(changes, key=lambda change: change.factor, default=None)
    return largest.words if largest is not None and largest.factor >= _NOTABLE else ""


def _changes(row: Row, names: Mapping[str, str]) -> list[_Change]:
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
        few = len(values) <= MOST_NUMBERS or not are_numbers(values)
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
    return within([f"{matter.labels[0]} alone: {told[0]}", *told[1:]])
