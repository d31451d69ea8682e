"""What each axis of a study changes: ratios between its values, all else the same.

An axis of two to six values is compared with its first one, or the first that a file system has;
more than three numbers are the curves of other sections. Versions of Linux have curves here, too.
Values are means over seeds; only cases that differ in nothing else are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ffslab.compare.ratios import all_alike, mean
from ffslab.compare.words import ratio_words, values_text
from ffslab.report import data, plots
from ffslab.report.axes import versions_axis
from ffslab.report.configurations import (
    MOST_NUMBERS,
    are_numbers,
    are_versions,
    place_text,
    setting_words,
)
from ffslab.report.data import Case, Run
from ffslab.report.elements import Table
from ffslab.report.quantity import capitalized, listed
from ffslab.report.sections.section import Chart, Section
from ffslab.results.criteria import Criterion
from ffslab.results.schema import Metric

MOST_VALUES = 6
_MOST_DOTS = 5  # of a figure of a file system with its options; of more places the quantiles
_MOST_FIGURES = 10
_FEWEST_VERSIONS = 3  # of which a curve says more than a ratio
_ASIDE = (data.FILESYSTEM, data.SEED, "part")

Criteria = Mapping[str, Sequence[Criterion]]


@dataclass(frozen=True)
class _Change:
    """A figure at two values of an axis, `base` and `value`; `settings` are all else.

    `in_memory`: a time that ends there, of a configuration that writes back.
    """

    title: str
    head: str
    metric: Metric
    filesystem: str
    settings: tuple[tuple[str, str], ...]
    base: str
    value: str
    before: float
    after: float
    in_memory: bool = False

    @property
    def ratio(self) -> float:
        return self.after / self.before


def change_sections(run: Run, criteria: Criteria, key: str) -> Iterator[Section]:
    """A section for each axis with few values, in the order of the study."""
    for axis in run.varying:
        values = data.values_of(run.passed, axis)
        most = MOST_NUMBERS if are_numbers(axis, values) else MOST_VALUES
        if axis in _ASIDE or not 1 < len(values) <= most:
            continue
        changes = _notable(_changes(run.passed, criteria, axis, values))
        if changes:
            told = {value for change in changes for value in (change.base, change.value)}
            own = [value for value in values if value in told]
            yield _section(axis, own, changes, f"{key}change-{axis.replace('.', '-')}")


def _notable(changes: Sequence[_Change]) -> list[_Change]:
    """Those of the figures that the axis changes at all."""
    ratios: dict[str, list[float]] = {}
    for change in changes:
        ratios.setdefault(change.title, [1.0]).append(change.ratio)
    return [change for change in changes if not all_alike(ratios[change.title])]


def _changes(
    cases: Sequence[Case], criteria: Criteria, axis: str, values: Sequence[str]
) -> list[_Change]:
    known: dict[tuple[str, tuple[tuple[str, str], ...]], dict[str, list[float]]] = {}
    ways: dict[str, Criterion] = {}
    late: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
    for case in cases:
        settings = case.scenario((axis, data.SEED))
        for criterion in criteria.get(case.id, ()):
            if criterion.tally is not None:
                continue
            ways.setdefault(criterion.title, criterion)
            at = known.setdefault((criterion.title, settings), {})
            late |= {(criterion.title, settings)} if criterion.in_memory else set()
            at.setdefault(case.axes.get(axis, ""), []).append(criterion.figure.value)
    heads = list(dict.fromkeys(title for title, _ in known))[:_MOST_FIGURES]
    # A file system that has some of the values, or was measured with some, has its own first one.
    present: dict[tuple[str, str], set[str]] = {}
    for (title, settings), at in known.items():
        present.setdefault((title, dict(settings).get(data.FILESYSTEM, "")), set()).update(at)
    firsts = {key: next((v for v in values if v in own), "") for key, own in present.items()}
    return [
        _Change(
            title=title,
            head=ways[title].column,
            metric=ways[title].figure.metric,
            filesystem=dict(settings).get(data.FILESYSTEM, ""),
            settings=settings,
            base=first,
            value=value,
            before=mean(at[first]),
            after=mean(at[value]),
            in_memory=(title, settings) in late,
        )
        for title in heads
        for (named, settings), at in known.items()
        if named == title
        for first in (firsts[title, dict(settings).get(data.FILESYSTEM, "")],)
        if first and first in at and mean(at[first]) > 0
        for value in values
        if value != first and value in at and mean(at[value]) > 0
    ]


def _section(axis: str, values: Sequence[str], changes: Sequence[_Change], key: str) -> Section:
    varying = _varying(changes)
    name, texts = setting_words(axis, values)
    several = len({change.base for change in changes}) > 1
    shown = [
        plots.Ratio(
            row=change.head,
            label=data.filesystem_name(change.filesystem),
            filesystem=change.filesystem,
            value=change.ratio,
            place=place_text(pair for pair in change.settings if pair[0] in varying),
            text=" → ".join(values_text(change.metric, change.before, change.after)),
            facet=_facet(name, texts, change, several=several) if len(values) > 2 else "",
        )
        for change in _drawn(changes)
    ]
    first = texts[values[0]]
    title = f"÷ the same at the other {name}" if several else f"÷ {name} {first}"
    against = f"{name} {', '.join(texts[value] for value in values[1:])} against {first}"
    if several:
        against = f"{name}, each against the first of its kind"
    legend = ", ".join(dict.fromkeys(ratio.label for ratio in shown))
    return Section(
        key=key,
        title=f"What does {name} change?",
        sentence=_sentence(name, texts, changes),
        charts=(
            *_curves(axis, values, changes, key),
            Chart(
                capitalized(against),
                plots.ratios(shown, title, f"{key}-ratios"),
                f"A dot is a configuration: {legend}. The line is no change.",
            ),
        ),
        tables=(_table(name, texts, changes),),
    )


def _varying(changes: Sequence[_Change]) -> set[str]:
    """The settings beside the file system that the changes differ in."""
    settings = [dict(change.settings) for change in changes]
    names = {name for own in settings for name in own} - {data.FILESYSTEM}
    return {name for name in names if len({own.get(name) for own in settings}) > 1}


def _curves(
    axis: str, values: Sequence[str], changes: Sequence[_Change], key: str
) -> Iterator[Chart]:
    """Of an axis of versions a chart of each figure over them, a line for each file system at each
    place.
    """
    if len(values) < _FEWEST_VERSIONS or not are_versions(axis, values):
        return
    across, varying = versions_axis(axis, values), _varying(changes)
    apart = listed(sorted(map(data.axis_name, varying)))
    meaning = f"Lines of one file system differ in {apart}." if apart else ""
    figures: dict[str, list[_Change]] = {}
    for change in changes:
        figures.setdefault(change.title, []).append(change)
    for number, (title, members) in enumerate(figures.items()):
        ends = {
            (change.settings, version): (change, figure)
            for change in members
            for version, figure in ((change.base, change.before), (change.value, change.after))
        }
        points = [
            plots.Point(
                label=data.filesystem_name(change.filesystem),
                filesystem=change.filesystem,
                value=figure,
                place=place_text(pair for pair in change.settings if pair[0] in varying),
                x=across.position(version),
                hollow=change.in_memory,
            )
            for (_, version), (change, figure) in ends.items()
        ]
        metric = members[0].metric
        drawn = plots.curves(points, metric, across, members[0].head, f"{key}-over-{number}")
        yield Chart(capitalized(title), drawn, "" if number else meaning)


def _drawn(changes: Sequence[_Change]) -> list[_Change]:
    """The changes, of many places only the quantiles, the ends among them."""
    groups: dict[tuple[str, ...], list[_Change]] = {}
    for change in changes:
        own = dict(change.settings)
        options = (own.get(name, "") for name in (data.WRITING, data.COMPRESSION))
        key = (change.title, change.filesystem, change.value, *options)
        groups.setdefault(key, []).append(change)
    drawn: list[_Change] = []
    for members in groups.values():
        members.sort(key=lambda change: change.ratio)
        last, most = len(members) - 1, min(len(members), _MOST_DOTS)
        drawn += [members[number * last // max(most - 1, 1)] for number in range(most)]
    return drawn


def _facet(name: str, texts: Mapping[str, str], change: _Change, *, several: bool) -> str:
    against = f" against {texts[change.base]}" if several else ""
    return f"{name} {texts[change.value]}{against}"


def _sentence(name: str, texts: Mapping[str, str], changes: Sequence[_Change]) -> str:
    """The largest change, of what does not end in memory if there is such."""
    judged = [change for change in changes if change.metric.better != "neither"]
    judged = [change for change in judged if not change.in_memory] or judged
    if not judged:
        return ""
    largest = max(judged, key=lambda change: max(change.ratio, 1 / change.ratio))
    words = ratio_words(largest.metric, largest.ratio)
    system = data.filesystem_name(largest.filesystem)
    setting, first = f"{name} {texts[largest.value]}", texts[largest.base]
    return f"Most: {largest.title} of **{system}** with {setting}: {words} than with {first}."


def _table(name: str, texts: Mapping[str, str], changes: Sequence[_Change]) -> Table:
    """The range of each figure's ratios in words, by file system."""
    systems = list(dict.fromkeys(change.filesystem for change in changes))
    groups: dict[tuple[str, str, str], list[_Change]] = {}
    for change in changes:
        groups.setdefault((change.title, change.value, change.base), []).append(change)
    rows = []
    for (title, value, base), members in groups.items():
        cells = []
        for system in systems:
            own = [change for change in members if change.filesystem == system]
            ends = sorted(own, key=lambda change: change.ratio)
            words = (
                dict.fromkeys(ratio_words(end.metric, end.ratio) for end in (ends[0], ends[-1]))
                if ends
                else {"–": None}
            )
            cells.append(" to ".join(words))
        rows.append((capitalized(title), texts[value], texts[base], *cells))
    head = ("figure", name, "against", *map(data.filesystem_name, systems))
    return Table(f"What {name} changes", head, (), tuple(rows), text_columns=3, told=True)
