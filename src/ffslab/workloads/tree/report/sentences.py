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
from ffslab.report.quantity import capitalized, duration, significant
from ffslab.report.standings import (
    ALIKE,
    behind_text,
    change_text,
    crossing_text,
    lacking_text,
    who_is_first,
)
from ffslab.report.topics import Sentence, Topic
from ffslab.workloads.tree.report import options
from ffslab.workloads.tree.report.criteria import PAGE_BYTES, Criterion, criteria, lines_of
from ffslab.workloads.tree.report.data import AGENT, Step, TreeRun
from ffslab.workloads.tree.report.figures import cpu_percent, size_text
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
    "Configurations are compared at each point of the axis, at the seeds that all have there, with "
    "the smallest value; of several points the range is given with where its ends are, not a mean, "
    f"because who is fastest may change along an axis. {capitalized(ALIKE)} counts as "
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
    sentence: Sentence


def section_sentences(run: TreeRun, section: Section) -> tuple[tuple[str, tuple[Said, ...]], ...]:
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


def topics(run: TreeRun, all_sections: Sequence[Section]) -> tuple[Topic, ...]:
    """What stands at the head of the page, the main questions first: what options change, where
    file systems have several; which is first where; what comes of a second run or a crash; and what
    explains it. Of several sections the strongest sentence of each kind, and those about mounting.
    """
    told: dict[str, list[Sentence]] = {}
    changes = [
        sentence
        for section in all_sections
        for sentence in options.sentences(options.options_of(run, section))
    ]
    if changes:
        told["What the options change"] = changes
    first = [*image_sentences(run)]
    for section in all_sections:
        lead = f"{section.topic} – " if len(all_sections) > 1 else ""
        for number, (title, group) in enumerate(section_sentences(run, section)):
            every = number == 0 and len(all_sections) == 1
            chosen = _strongest(group, {said.word for said in group} if every else {MOUNT})
            if number == 0:
                chosen = [said for said in group if said in chosen or said.word == MOUNT]
            kept = told.setdefault(title, first if number == 0 else [])
            kept += [Sentence(lead + said.sentence.text, said.sentence.weight) for said in chosen]
    return tuple(Topic(title, tuple(group)) for title, group in told.items() if group)


def _strongest(group: Sequence[Said], words: set[str]) -> list[Said]:
    """The strongest of all and of each of the words, in their order; of sync, which is there to
    have something to find after a crash, only where there is nothing else.
    """
    group = [said for said in group if said.word != SYNC] or list(group)
    if not group:
        return []
    kept = [max(group, key=lambda said: said.sentence.weight)]
    for word in words:
        members = [said for said in group if said.word == word]
        kept += [max(members, key=lambda said: said.sentence.weight)] if members else []
    return [said for said in group if said in kept]


def image_sentences(run: TreeRun) -> Iterable[Sentence]:
    """The smallest and the largest image, and what compression saves in each file system."""
    known = {label: kept[0] for label, kept in images(run).items() if len(kept) == 1}
    if len(known) < 2:
        return
    order = sorted(known, key=lambda label: known[label].image_bytes)
    small, large = order[0], order[-1]
    ratio = known[large].image_bytes / max(known[small].image_bytes, 1)
    yield Sentence(
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
        if not criterion.is_size and (order := standing(lines_of(criterion))):
            furthest = max(behind.distance for behind in order.behind.values())
            yield Said(criterion.word, Sentence(first_text(criterion, order), furthest))


def first_text(criterion: Criterion, order: Standing) -> str:
    """A criterion in a sentence."""
    axis = criterion.axis
    text = f"{capitalized(criterion.title)}: {who_is_first(order, axis, {})}"
    if len(order.points) == 1:
        best = min(line[order.points[0]] for line in lines_of(criterion).values() if line)
        text += f", {criterion.text(best)}"
    followers = order.followers
    text += behind_text(order, axis, {}, 1, followers[-1] if followers else "")
    if axis and 0 < len(order.crossings) <= _FEW_CROSSINGS:
        crossed = "; ".join(crossing_text(crossing, axis) for crossing in order.crossings)
        text += f". Lines cross: {crossed}"
    return f"{text}{lacking_text(order, axis)}."


def _second_runs(section: Section) -> Iterable[Said]:
    """For each step: whom the second run changes most against the first."""
    lines = spots(section.samples, duration_ns)
    titles: dict[str, dict[int, str]] = {}
    for role_name, role in section.results.items():
        if role.run:
            titles.setdefault(role_name.replace(f", run {role.run}", ""), {})[role.run] = role_name
    for title, places in titles.items():
        if 1 in places and 2 in places:
            opening = f"{capitalized(title)}, run 2 against run 1"
            word = section.results[places[1]].word
            yield from _extremes(section, word, opening, _changes(lines, places[1], places[2]))


def _scenarios(section: Section) -> Iterable[Said]:
    """For each step that follows a crash in some cases and a clean unmount in others."""
    lines = spots(section.samples, duration_ns)
    crash, clean = (f" {scenario}" for scenario in SPLITS.values())
    for role_name in section.results:
        other = role_name.replace(crash, clean)
        if role_name.endswith(crash) and other in section.results:
            title = role_name.removesuffix(crash)
            opening = f"{capitalized(title)}{crash} against{clean}"
            word = section.results[role_name].word
            yield from _extremes(section, word, opening, _changes(lines, other, role_name))


def _changes(lines: Lined, before: str, after: str) -> dict[str, Extent]:
    factors = {}
    for (role_name, label), line in lines.items():
        if role_name == before and (after, label) in lines:
            factor = extent_of(line, lines[after, label])
            if factor:
                factors[label] = factor
    return factors


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
    yield Said(word, Sentence(f"{text}.", changes[most].distance))


def _attaches(section: Section) -> Iterable[Said]:
    """What of a mount is attaching UBI, where it is most and where least."""
    shares: dict[tuple[str, str], list[Sample]] = {}
    for sample in section.samples:
        if sample.step.attach_ns is not None and sample.duration_ns:
            shares.setdefault((sample.place, sample.label), []).append(sample)
    for role_name in dict.fromkeys(role_name for role_name, _ in shares):
        percents = {
            label: [100 * (s.step.attach_ns or 0) / s.duration_ns for s in samples]
            for (where, label), samples in shares.items()
            if where == role_name
        }
        order = sorted(percents, key=lambda label: -max(percents[label]))
        most, least = order[0], order[-1]
        text = f"Attaching UBI takes {_percents(percents[most])} of {role_name} of **{most}**"
        if _percents(percents[least]) != _percents(percents[most]):
            text += f", and {_percents(percents[least])} of that of {least}"
        yield Said(MOUNT, Sentence(f"{text}.", max(percents[most]) / 100))


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
    for role_name, role in section.results.items():
        for sentence in _growth_sentence(f"time of {role_name}", axis, _at(lines, role_name)):
            yield Said(role.word, sentence)


def _growth_sentence(
    what: str, axis: Axis, lines: Mapping[str, Spots], least: float = LEAST
) -> Iterable[Sentence]:
    grown = {label: g for label, line in lines.items() if (g := growth_of(line, least))}
    if not grown:
        return
    order = sorted(grown, key=lambda label: -grown[label].exponent)
    most, last = order[0], order[-1]
    opening = f"{capitalized(what)} against the {axis.word}"
    if len(order) > 1 and grown[most].exponent - grown[last].exponent < _ALIKE:
        text = f"{opening}: **all** grow alike, {_growth(grown[most], axis)}"
    else:
        text = f"{opening}: **{most}** grows most, {_growth(grown[most], axis)}"
        if len(order) > 1:
            text += f"; least {last}, {_growth(grown[last], axis)}"
    yield Sentence(f"{text}.", distance(max(grown[most].factor, 1e-9)))


def _growth(grown: Growth, axis: Axis) -> str:
    return (
        f"**{significant(grown.factor)} times as much** from {axis.number(grown.first)} to "
        f"{axis.value_text(grown.last)} (exponent {round(grown.exponent, 2) + 0.0:.2f})"
    )


def _at(lines: Lined, role_name: str) -> dict[str, Spots]:
    return {label: line for (where, label), line in lines.items() if where == role_name}


def _shares(section: Section) -> Iterable[Said]:
    """Which step is most the processor's, and which most the flash's."""
    shares: dict[tuple[str, str], list[float]] = {}
    for sample in section.samples:
        share = cpu_percent(sample) if sample.role.is_result else None
        if share is not None:
            shares.setdefault((sample.place, sample.label), []).append(share)
    if len(shares) < 2:
        return
    mean = {key: sum(values) / len(values) for key, values in shares.items()}
    high, low = max(mean, key=lambda key: mean[key]), min(mean, key=lambda key: mean[key])
    if mean[high] - mean[low] < 100 * _ALIKE:
        text = (
            f"The processor has {significant(mean[high], 2)} % of the time in all steps and "
            "configurations."
        )
        yield Said("", Sentence(text))
        return
    text = (
        f"The processor has most of the time in {high[0]} of **{high[1]}** "
        f"({significant(mean[high], 2)} %), and least in {low[0]} of **{low[1]}** "
        f"({significant(mean[low], 2)} %); over all steps and configurations the median is "
        f"{significant(sorted(mean.values())[len(mean) // 2], 2)} %."
    )
    yield Said("", Sentence(text))


def _unmounts(section: Section) -> Iterable[Said]:
    """Whose unmount takes longest, and how much of its flash work is done in the background."""
    unmounts = [s for s in section.samples if s.role.word == UNMOUNT]
    if section.axis is not None:
        unmounts = [s for s in unmounts if s.x == section.axis.values[-1]]
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in unmounts:
        groups.setdefault((sample.place, sample.label), []).append(sample)
    if len(groups) < 2:
        return
    mean = {key: sum(s.duration_ns for s in g) / len(g) for key, g in groups.items()}
    role_name, label = max(mean, key=lambda key: mean[key])
    samples = groups[role_name, label]
    share = background_percent([sample.step for sample in samples])
    where = f" at {section.axis.text(section.axis.values[-1])}" if section.axis else ""
    longest = duration(round(mean[role_name, label]))
    text = f"The longest unmount{where} is {role_name} of **{label}**: {longest}"
    if share is not None:
        text += f"; {significant(share, 2)} % of its time on the flash is background"
    short = min(mean, key=lambda key: mean[key])
    text += f". The shortest: {short[0]} of {short[1]}, {duration(round(mean[short]))}."
    ratio = ratio_from(mean[short], mean[role_name, label], LEAST)
    yield Said(UNMOUNT, Sentence(text, distance(ratio)))


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
    role_name = last.place
    lines = _at(spots((s for s in after if s.history == last.history), memory_bytes), role_name)
    axis = section.axis
    if axis is not None:
        for sentence in _growth_sentence(f"memory after {role_name}", axis, lines, PAGE_BYTES):
            yield Said("", sentence)
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
        f"Memory after {role_name}{where}: least **{order[0]}**, {size_text(low)}; most "
        f"**{order[-1]}**, {size_text(high)}."
    )
    yield Said("", Sentence(text, distance(ratio_from(low, high, PAGE_BYTES))))


def _mean_at(line: Spots, at: float) -> float | None:
    """The mean over seeds at a point; None without one."""
    values = [value for (x, _), value in line.items() if x == at]
    return sum(values) / len(values) if values else None
