"""What a run of workload `tree` shows, in sentences computed from its data.

Every sentence is a template; which one is used, and of whom it speaks, depends on the numbers.
Ratios relate values at the same point and seed; of several their range is given with where its ends
are. Nothing here knows a result beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ffslab.compare.ratios import distance, log_mean, ratio_from
from ffslab.compare.standing import Extent, Standing, standing
from ffslab.report.axes import Axis
from ffslab.report.quantity import duration, sentence, significant
from ffslab.report.standings import (
    ALIKE,
    behind_text,
    change_text,
    crossing_text,
    lacking_text,
    who_is_first,
)
from ffslab.report.topics import Finding, Topic
from ffslab.workloads.tree.report import options
from ffslab.workloads.tree.report.data import AGENT, Step, TreeRun
from ffslab.workloads.tree.report.figures import cpu_percent, size_text
from ffslab.workloads.tree.report.rating import PAGE_BYTES, Criterion, criteria, lines_of
from ffslab.workloads.tree.report.series import (
    ALONE,
    LEAST,
    Sample,
    Section,
    Spots,
    duration_ns,
    extent_of,
    images,
    memory_bytes,
    spots,
)
from ffslab.workloads.tree.report.words import MOUNT, SPLITS, SYNC, UNMOUNT

RULE = (
    "The report compares configurations at each point of the axis, at the seeds that all have "
    "there, with the smallest value. For several points it gives the range and where its ends "
    "are, not a mean, because another one may be fastest further along an axis. "
    f"{sentence(ALIKE)} counts as "
    "alike. Lines cross between two neighbouring points at which one is faster here and the other "
    "there. Growth: the exponent e of value ∝ (axis)^e from the first to the last point; 1 is in "
    "proportion, 0 not at all. Of changes the largest and the smallest are named. Background: "
    "tasks other than the agent, which does the steps."
)
_ALIKE = 0.02  # exponents, and shares of 1, that differ by less are called alike
_FEW_CROSSINGS = 4  # more are not told in a sentence


Lined = Mapping[tuple[str, str], Spots]


@dataclass(frozen=True)
class Said:
    """A sentence, and the word of the step that it is about."""

    word: str
    finding: Finding


def section_findings(run: TreeRun, section: Section) -> tuple[tuple[str, tuple[Said, ...]], ...]:
    """A section's sentences with what they are about, the main questions first."""
    first = "Which is fastest where, and which lines cross" if section.axis else "Which is fastest"
    groups: tuple[tuple[str, Iterable[Said]], ...] = (
        (first, _firsts(run, section)),
        ("A second run on the same flash", _second_runs(section)),
        ("After a crash", _scenarios(section)),
        ("Mounting on UBI", _attaches(section)),
        ("Growth along the axis", _growths(section)),
        ("Unmounting, memory, processor", _unmounts(section)),
        ("Unmounting, memory, processor", _memory(section)),
        ("Unmounting, memory, processor", _shares(section)),
    )
    return tuple((title, tuple(group)) for title, group in groups)


def topics(run: TreeRun, found: Sequence[Section]) -> tuple[Topic, ...]:
    """What stands at the head of the page, the main questions first: what options change, where
    file systems have several; which is first where; what comes of a second run or a crash; and what
    explains it. Of several sections the strongest sentence of each kind, and those about mounting.
    """
    told: dict[str, list[Finding]] = {}
    changes = [
        finding
        for section in found
        for finding in options.sentences(options.options_of(run, section))
    ]
    if changes:
        told["What the options change"] = changes
    first = [*image_findings(run)]
    for section in found:
        lead = f"{section.topic} – " if len(found) > 1 else ""
        for number, (title, group) in enumerate(section_findings(run, section)):
            every = number == 0 and len(found) == 1
            chosen = _strongest(group, {said.word for said in group} if every else {MOUNT})
            if number == 0:
                chosen = [said for said in group if said in chosen or said.word == MOUNT]
            kept = told.setdefault(title, first if number == 0 else [])
            kept += [Finding(lead + said.finding.text, said.finding.weight) for said in chosen]
    return tuple(Topic(title, tuple(group)) for title, group in told.items() if group)


def _strongest(group: Sequence[Said], words: set[str]) -> list[Said]:
    """The strongest of all and of each of the words, in their order; of sync, which is there to
    have something to find after a crash, only where there is nothing else.
    """
    group = [said for said in group if said.word != SYNC] or list(group)
    if not group:
        return []
    kept = [max(group, key=lambda said: said.finding.weight)]
    for word in words:
        members = [said for said in group if said.word == word]
        kept += [max(members, key=lambda said: said.finding.weight)] if members else []
    return [said for said in group if said in kept]


def image_findings(run: TreeRun) -> Iterable[Finding]:
    """The smallest and the largest image, and what compression saves in each file system."""
    known = {label: kept[0] for label, kept in images(run).items() if len(kept) == 1}
    if len(known) < 2:
        return
    order = sorted(known, key=lambda label: known[label].image_bytes)
    small, large = order[0], order[-1]
    ratio = known[large].image_bytes / max(known[small].image_bytes, 1)
    yield Finding(
        f"The smallest image is that of **{small}**: {_megabytes(known[small].image_bytes)}, "
        f"{significant(known[small].ratio)} : 1; the largest, of {large}, is "
        f"**{significant(ratio)} times** as large ({_megabytes(known[large].image_bytes)}).",
        distance(ratio) if ratio else 0.0,
    )


def _megabytes(size: float) -> str:
    return f"{significant(size / 1e6)} MB"


def _firsts(run: TreeRun, section: Section) -> Iterable[Said]:
    """Which is first where in each step, how far the others are behind, and where lines cross."""
    for criterion in criteria(run, [section]):
        if not criterion.is_size and (found := standing(lines_of(criterion))):
            furthest = max(behind.distance for behind in found.behind.values())
            yield Said(criterion.word, Finding(first_text(criterion, found), furthest))


def first_text(criterion: Criterion, found: Standing) -> str:
    """A criterion in a sentence."""
    axis = criterion.axis
    text = f"{sentence(criterion.title)}: {who_is_first(found, axis, {})}"
    if len(found.points) == 1:
        best = min(line[found.points[0]] for line in lines_of(criterion).values() if line)
        text += f", {criterion.text(best)}"
    followers = found.followers
    text += behind_text(found, axis, {}, 1, followers[-1] if followers else "")
    if axis and 0 < len(found.crossings) <= _FEW_CROSSINGS:
        crossed = "; ".join(crossing_text(crossing, axis) for crossing in found.crossings)
        text += f". Lines cross: {crossed}"
    return f"{text}{lacking_text(found, axis)}."


def _second_runs(section: Section) -> Iterable[Said]:
    """For each step: whom the second run changes most against the first."""
    lines = spots(section.samples, duration_ns)
    titles: dict[str, dict[int, str]] = {}
    for place, role in section.results.items():
        if role.run:
            titles.setdefault(place.replace(f", run {role.run}", ""), {})[role.run] = place
    for title, places in titles.items():
        if 1 in places and 2 in places:
            opening = f"{sentence(title)}, run 2 against run 1"
            word = section.results[places[1]].word
            yield from _extremes(section, word, opening, _changes(lines, places[1], places[2]))


def _scenarios(section: Section) -> Iterable[Said]:
    """For each step that follows a crash in some cases and a clean unmount in others."""
    lines = spots(section.samples, duration_ns)
    crash, clean = (f" {scenario}" for scenario in SPLITS.values())
    for place in section.results:
        other = place.replace(crash, clean)
        if place.endswith(crash) and other in section.results:
            title = place.removesuffix(crash)
            opening = f"{sentence(title)}{crash} against{clean}"
            word = section.results[place].word
            yield from _extremes(section, word, opening, _changes(lines, other, place))


def _changes(lines: Lined, before: str, after: str) -> dict[str, Extent]:
    found = {}
    for (place, label), line in lines.items():
        if place == before and (after, label) in lines:
            factor = extent_of(line, lines[after, label])
            if factor:
                found[label] = factor
    return found


def _extremes(
    section: Section, word: str, opening: str, changes: Mapping[str, Extent]
) -> Iterable[Said]:
    """The largest and the smallest change; nothing when all are the same."""
    order = sorted(changes, key=lambda label: -changes[label].distance)
    if not order or changes[order[0]].is_alike:
        return
    most, least = order[0], order[-1]
    text = f"{opening}: **{most}** {change_text(changes[most], section.axis)}"
    if len(order) > 1:
        text += f"; least {least} {change_text(changes[least], section.axis)}"
    yield Said(word, Finding(f"{text}.", changes[most].distance))


def _attaches(section: Section) -> Iterable[Said]:
    """What of a mount is attaching UBI, where it is most and where least."""
    shares: dict[tuple[str, str], list[Sample]] = {}
    for sample in section.samples:
        if sample.step.attach_ns is not None and sample.duration_ns:
            shares.setdefault((sample.place, sample.label), []).append(sample)
    for place in dict.fromkeys(place for place, _ in shares):
        percents = {
            label: [100 * (s.step.attach_ns or 0) / s.duration_ns for s in found]
            for (where, label), found in shares.items()
            if where == place
        }
        order = sorted(percents, key=lambda label: -max(percents[label]))
        most, least = order[0], order[-1]
        text = f"Attaching UBI takes {_percents(percents[most])} of {place} of **{most}**"
        if _percents(percents[least]) != _percents(percents[most]):
            text += f", and {_percents(percents[least])} of that of {least}"
        yield Said(MOUNT, Finding(f"{text}.", max(percents[most]) / 100))


def _percents(values: Sequence[float]) -> str:
    low, high = significant(min(values)), significant(max(values))
    return f"{low} %" if low == high else f"{low} to {high} %"


@dataclass(frozen=True)
class Growth:
    """How a line grows from its first to its last point."""

    exponent: float
    factor: float
    first: float
    last: float


def growth_of(line: Spots, least: float = LEAST) -> Growth | None:
    """None without two points above 0 on the axis that share a seed."""
    points = sorted({x for x, _ in line if x > 0})
    if len(points) < 2:
        return None
    first, last = points[0], points[-1]
    seeds = [seed for x, seed in line if x == first and (last, seed) in line]
    if not seeds:
        return None
    mean = log_mean([ratio_from(line[first, seed], line[last, seed], least) for seed in seeds])
    # The exponent is the slope between two points on logarithmic axes: no ratio of two sides.
    return Growth(mean / math.log(last / first), math.exp(mean), first, last)


def _growths(section: Section) -> Iterable[Said]:
    """For each step: who grows most and least along the axis."""
    axis = section.axis
    if axis is None:
        return
    lines = spots(section.samples, duration_ns)
    for place, role in section.results.items():
        for finding in _growth_sentence(f"time of {place}", axis, _at(lines, place)):
            yield Said(role.word, finding)


def _growth_sentence(
    what: str, axis: Axis, lines: Mapping[str, Spots], least: float = LEAST
) -> Iterable[Finding]:
    grown = {label: g for label, line in lines.items() if (g := growth_of(line, least))}
    if not grown:
        return
    order = sorted(grown, key=lambda label: -grown[label].exponent)
    most, last = order[0], order[-1]
    opening = f"{sentence(what)} against the {axis.word}"
    if len(order) > 1 and grown[most].exponent - grown[last].exponent < _ALIKE:
        text = f"{opening}: **all** grow alike, {_growth(grown[most], axis)}"
    else:
        text = f"{opening}: **{most}** grows most, {_growth(grown[most], axis)}"
        if len(order) > 1:
            text += f"; least {last}, {_growth(grown[last], axis)}"
    yield Finding(f"{text}.", distance(max(grown[most].factor, 1e-9)))


def _growth(grown: Growth, axis: Axis) -> str:
    return (
        f"**{significant(grown.factor)} times as much** from {axis.number(grown.first)} to "
        f"{axis.value_text(grown.last)} (exponent {round(grown.exponent, 2) + 0.0:.2f})"
    )


def _at(lines: Lined, place: str) -> dict[str, Spots]:
    return {label: line for (where, label), line in lines.items() if where == place}


def _shares(section: Section) -> Iterable[Said]:
    """Which step is most the processor's, and which most the flash's."""
    shares: dict[tuple[str, str], list[float]] = {}
    for sample in section.samples:
        share = cpu_percent(sample) if sample.role.is_result else None
        if share is not None:
            shares.setdefault((sample.place, sample.label), []).append(share)
    if len(shares) < 2:
        return
    mean = {key: sum(found) / len(found) for key, found in shares.items()}
    high, low = max(mean, key=lambda key: mean[key]), min(mean, key=lambda key: mean[key])
    if mean[high] - mean[low] < 100 * _ALIKE:
        text = (
            f"The processor has {significant(mean[high], 2)} % of the time in all steps and "
            "configurations."
        )
        yield Said("", Finding(text))
        return
    text = (
        f"The processor has most of the time in {high[0]} of **{high[1]}** "
        f"({significant(mean[high], 2)} %), and least in {low[0]} of **{low[1]}** "
        f"({significant(mean[low], 2)} %); over all steps and configurations the median is "
        f"{significant(sorted(mean.values())[len(mean) // 2], 2)} %."
    )
    yield Said("", Finding(text))


def _unmounts(section: Section) -> Iterable[Said]:
    """Whose unmount takes longest, and how much of its flash work is done in the background."""
    found = [s for s in section.samples if s.role.word == UNMOUNT]
    if section.axis is not None:
        found = [s for s in found if s.x == section.axis.values[-1]]
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in found:
        groups.setdefault((sample.place, sample.label), []).append(sample)
    if len(groups) < 2:
        return
    mean = {key: sum(s.duration_ns for s in g) / len(g) for key, g in groups.items()}
    place, label = max(mean, key=lambda key: mean[key])
    samples = groups[place, label]
    share = background_percent([sample.step for sample in samples])
    where = f" at {section.axis.text(section.axis.values[-1])}" if section.axis else ""
    longest = duration(round(mean[place, label]))
    text = f"The longest unmount{where} is {place} of **{label}**: {longest}"
    if share is not None:
        text += f"; {significant(share, 2)} % of its time on the flash is background"
    short = min(mean, key=lambda key: mean[key])
    text += f". The shortest: {short[0]} of {short[1]}, {duration(round(mean[short]))}."
    ratio = ratio_from(mean[short], mean[place, label], LEAST)
    yield Said(UNMOUNT, Finding(text, distance(ratio)))


def background_percent(steps: Sequence[Step]) -> float | None:
    """The share of tasks other than the agent in the time on the flash; None without any."""
    busy = sum(task.busy_ns for step in steps for task in step.tasks)
    own = sum(task.busy_ns for step in steps for task in step.tasks if task.name == AGENT)
    return 100 * (busy - own) / busy if busy else None


def _memory(section: Section) -> Iterable[Said]:
    """Who takes most and least memory after the last mount, and how it grows."""
    after = [s for s in section.memory if s.memory.role and s.memory.role.word == MOUNT]
    if not after:
        return
    last = max(after, key=lambda sample: len(sample.history))
    place = last.place
    lines = _at(spots((s for s in after if s.history == last.history), memory_bytes), place)
    axis = section.axis
    if axis is not None:
        for finding in _growth_sentence(f"memory after {place}", axis, lines, PAGE_BYTES):
            yield Said("", finding)
    at = axis.values[-1] if axis else ALONE
    values = {
        label: mean for label, line in lines.items() if (mean := _mean_at(line, at)) is not None
    }
    if len(values) < 2:
        return
    order = sorted(values, key=lambda label: values[label])
    where = f" at {axis.text(at)}" if axis else ""
    low, high = values[order[0]], values[order[-1]]
    text = (
        f"Memory after {place}{where}: least **{order[0]}**, {size_text(low)}; most "
        f"**{order[-1]}**, {size_text(high)}."
    )
    yield Said("", Finding(text, distance(ratio_from(low, high, PAGE_BYTES))))


def _mean_at(line: Spots, at: float) -> float | None:
    """The mean over seeds at a point; None without one."""
    found = [value for (x, _), value in line.items() if x == at]
    return sum(found) / len(found) if found else None
