"""What is drawn against what: a run's cases as sections of samples.

Each part of a study is a section, a study without parts is one. In a section one numeric axis is
drawn against, that with most values; others, rare, give a section for each of their values. A
sample is one step of one case, split into flash and processor; values at a point are means over
seeds with their range. What a figure cannot have is kept as notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ffslab.compare.standing import Extent, extent_of_change
from ffslab.report.axes import Axis, Mean, varying_numbers
from ffslab.report.quantity import capitalized, grouped
from ffslab.workloads.tree.report.data import Image, Memory, Step, TreeCase, TreeRun
from ffslab.workloads.tree.report.words import Role, list_names

ALONE = 0.0  # the point of a section without an axis
LEAST = 1.0  # what a value of 0 counts as in a ratio: a nanosecond, a byte
_MOST_NOTES = 12

Line = Mapping[float, Mean]
Lines = Mapping[tuple[str, str], Line]  # (place, configuration)
# Each seed by itself, so that what is compared is compared at the same seeds.
Spot = tuple[float, str]  # point of the axis, seed
Spots = Mapping[Spot, float]


@dataclass(frozen=True)
class Split:
    """A duration's two sides: how long the chip was busy, and the rest, which is mostly CPU."""

    flash_ns: float
    cpu_ns: float


@dataclass(frozen=True)
class Sample:
    """One step of one case; `place` is its role, with the name of its step list if there are
    several.
    """

    case: TreeCase
    label: str
    place: str
    role: Role
    x: float
    step: Step
    duration_ns: float
    split: Split | None

    @property
    def history(self) -> tuple[str, ...]:
        """The steps before it: what it was done to."""
        return self.case.words[: self.step.index]


@dataclass(frozen=True)
class MemorySample:
    """The memory of one case after one step."""

    case: TreeCase
    label: str
    place: str
    x: float
    memory: Memory
    step: Step

    @property
    def history(self) -> tuple[str, ...]:
        """The steps before that after which it was taken."""
        return self.case.words[: self.step.index]


Either = TypeVar("Either", Sample, MemorySample)


@dataclass(frozen=True)
class Section:
    """Cases that belong into the same figures. `names` are those of their step lists, where a
    configuration has several.
    """

    key: str
    title: str
    meaning: str
    axis: Axis | None
    cases: tuple[TreeCase, ...]
    samples: tuple[Sample, ...]
    memory: tuple[MemorySample, ...]
    labels: tuple[str, ...]
    names: Mapping[tuple[str, ...], str]
    settings: str
    notes: tuple[str, ...]

    @property
    def roles(self) -> dict[str, Role]:
        """The places with their roles, in the order of the steps: where lists differ, by the later
        of their places; each scenario by itself.
        """
        by_name = {sample.place: sample.role for sample in self.samples}
        last: dict[str, int] = {}
        for sample in self.samples:
            last[sample.place] = max(last.get(sample.place, 0), sample.step.index)
        order = sorted(
            by_name, key=lambda role_name: (by_name[role_name].scenario, last[role_name])
        )
        return {role_name: by_name[role_name] for role_name in order}

    @property
    def topic(self) -> str:
        """What the section is about, in front of a sentence."""
        word = self.title.removeprefix("Against the ")
        return capitalized(word)

    @property
    def results(self) -> dict[str, Role]:
        """The places that are results by themselves."""
        return {role_name: role for role_name, role in self.roles.items() if role.is_result}


def means(
    samples: Iterable[Either], value_of: Callable[[Either], float | None]
) -> dict[tuple[str, str], dict[float, Mean]]:
    """The mean over seeds of a value by (place, configuration) and point; without what has none."""
    values: dict[tuple[str, str], dict[float, list[float]]] = {}
    for sample in samples:
        value = value_of(sample)
        if value is not None:
            points = values.setdefault((sample.place, sample.label), {})
            points.setdefault(sample.x, []).append(value)
    return {
        key: {x: Mean.of(values) for x, values in sorted(points.items())}
        for key, points in values.items()
    }


def extent_of(before: Spots, after: Spots) -> Extent | None:
    """after ÷ before at the points and seeds that both have; None without one."""
    return extent_of_change(
        ((spot[0], before[spot], after[spot]) for spot in before if spot in after), LEAST
    )


def spots(
    samples: Iterable[Either], value_of: Callable[[Either], float | None]
) -> dict[tuple[str, str], dict[Spot, float]]:
    """A value of every case by (place, configuration), point and seed; without what has none."""
    lines: dict[tuple[str, str], dict[Spot, float]] = {}
    for sample in sorted(samples, key=lambda sample: sample.x):
        value = value_of(sample)
        if value is not None:
            line = lines.setdefault((sample.place, sample.label), {})
            line[sample.x, sample.case.seed] = value
    return lines


def listed(section: Section) -> list[Sample]:
    """From a mount to the end of the first `list` after it, as one sample with the place of the
    list. What was done between the two is left out.
    """
    mounts: dict[int, Sample] = {}
    whole_lists = []
    for sample in section.samples:
        key = id(sample.case)
        if sample.role.word == "mount":
            mounts[key] = sample
        elif sample.role.word == "list" and key in mounts:
            whole = sample.duration_ns + mounts.pop(key).duration_ns
            role_name = f"mount to the end of {sample.place}"
            whole_lists.append(replace(sample, place=role_name, duration_ns=whole, split=None))
    return whole_lists


def duration_ns(sample: Sample) -> float:
    return sample.duration_ns


def memory_bytes(sample: MemorySample) -> float:
    return float(sample.memory.total_bytes)


def sections(run: TreeRun) -> tuple[Section, ...]:
    """The sections of a run, in the order of the study."""
    all_sections: list[Section] = []
    for parts in _joined_parts(run):
        cases = [case for case in run.shown if case.part in parts]
        axes = _varying(cases)
        rest = axes[1:]
        for point in dict.fromkeys(_point(case, rest) for case in cases):
            members = [case for case in cases if _point(case, rest) == point]
            extra = ", ".join(a.text(v) for a, v in zip(rest, point, strict=True) if v is not None)
            all_sections.append(_section(parts, extra, axes[0] if axes else None, members, run))
    return tuple(all_sections)


def _joined_parts(run: TreeRun) -> list[tuple[str, ...]]:
    """The study's parts; those together that belong into the same figures.

    These have the same axes and the same settings, and no configuration has the same steps in both:
    read-only file systems, whose steps are fewer, or what follows a crash and a clean unmount.
    """
    joined: list[tuple[str, ...]] = []
    known: list[tuple[object, set[tuple[str, tuple[str, ...]]]]] = []
    for part in dict.fromkeys(case.part for case in run.shown):
        cases = [case for case in run.shown if case.part == part]
        kind = _kind(cases)
        lists = {(run.labels[case.id], case.words) for case in cases}
        for number, (other, theirs) in enumerate(known):
            if other == kind and not theirs & lists:
                joined[number] = (*joined[number], part)
                theirs |= lists
                break
        else:
            joined.append((part,))
            known.append((kind, lists))
    return joined


def _kind(cases: Sequence[TreeCase]) -> object:
    """What parts that are drawn together share: axes, and settings.

    Those of created trees count only where something is drawn against them or the partition: a
    part that creates none has none.
    """
    axes = _varying(cases)
    names = None if axes else ("board", "chip", "partition", "state")
    settings = {
        (name, value)
        for case in cases
        for name, value in case.settings.items()
        if names is None or name in names
    }
    return frozenset(settings), tuple(axis.name for axis in axes)


def _point(case: TreeCase, axes: Sequence[Axis]) -> tuple[float | None, ...]:
    return tuple(case.numbers.get(axis.name) for axis in axes)


def _varying(cases: Sequence[TreeCase]) -> list[Axis]:
    return varying_numbers(case.numbers for case in cases)


def _section(
    parts: tuple[str, ...],
    extra: str,
    axis: Axis | None,
    cases: Sequence[TreeCase],
    run: TreeRun,
) -> Section:
    samples: list[Sample] = []
    memory: list[MemorySample] = []
    splits = _split_places(cases)
    names = _list_names(cases, run)
    placed = [case for case in cases if case.passed and (axis is None or axis.name in case.numbers)]
    for case in placed:
        x = case.numbers[axis.name] if axis else ALONE
        name = names.get(case.words, "")
        label = run.labels[case.id]
        samples += _samples(case, label, x, name, splits)
        memory += _memory_samples(case, label, x, name, splits)
    title = f"Against the {axis.word}" if axis else "The steps"
    is_part = len(parts) == 1 and bool(parts[0])
    title = parts[0].capitalize() if is_part else title
    words = "-".join(word for word in (*parts, extra) if word) or "steps"
    return Section(
        key="s-" + "".join(char if char.isalnum() else "-" for char in words.lower()),
        title=f"{title}, {extra}" if extra else title,
        meaning="; ".join(run.parts[part] for part in parts if run.parts.get(part)),
        axis=axis,
        cases=tuple(cases),
        samples=_once(samples),
        memory=_once(memory),
        labels=tuple(dict.fromkeys(run.labels[case.id] for case in cases)),
        names=names,
        settings=_settings_text(cases, axis),
        notes=_notes(cases, axis, run, names),
    )


def _list_names(cases: Sequence[TreeCase], run: TreeRun) -> dict[tuple[str, ...], str]:
    """Names of the step lists, where a configuration has several."""
    lists: dict[str, list[tuple[str, ...]]] = {}
    for case in cases:
        lists.setdefault(run.labels[case.id], []).append(case.words)
    names: dict[tuple[str, ...], str] = {}
    for word_lists in lists.values():
        names.update({words: name for words, name in list_names(word_lists).items() if name})
    return names


def _split_places(cases: Sequence[TreeCase]) -> Mapping[tuple[str, ...], int]:
    """For each step list where it parts from the others: at its crash or restart, else at the
    first word that is not all lists'.
    """
    lists = list(dict.fromkeys(case.words for case in cases))
    common = 0
    while all(len(words) > common for words in lists) and len({w[common] for w in lists}) == 1:
        common += 1
    return {
        words: next((n for n, word in enumerate(words) if word in ("crash", "restart")), common)
        for words in lists
    }


def _place(role: Role, index: int, name: str, split: int) -> str:
    """A role's place; steps before two lists part are the same in both."""
    role_name = role.place
    return (
        f"{role_name}, {name}" if name and index >= split and name != role.scenario else role_name
    )


def _samples(
    case: TreeCase,
    label: str,
    x: float,
    name: str,
    splits: Mapping[tuple[str, ...], int],
) -> list[Sample]:
    return [
        Sample(
            case=case,
            label=label,
            place=_place(step.role, step.index, name, splits[case.words]),
            role=step.role,
            x=x,
            step=step,
            duration_ns=step.duration_ns,
            split=split_of(step),
        )
        for step in case.whole_steps
        if step.duration_ns is not None
    ]


def split_of(step: Step) -> Split | None:
    """A step's time on the flash and the rest of it; None where the chip does not count."""
    if step.duration_ns is None or step.flash_ns is None:
        return None
    flash_ns = min(step.flash_ns, step.duration_ns)
    return Split(flash_ns, step.duration_ns - flash_ns)


def _memory_samples(
    case: TreeCase, label: str, x: float, name: str, splits: Mapping[tuple[str, ...], int]
) -> list[MemorySample]:
    steps = {step.phase: step for step in case.whole_steps}
    samples = []
    for memory in case.memory:
        step = steps.get(memory.label)
        if step is not None:
            role_name = _place(step.role, step.index, name, splits[case.words])
            samples.append(MemorySample(case, label, role_name, x, memory, step))
    return samples


def _once(samples: Sequence[Either]) -> tuple[Either, ...]:
    """Steps before two step lists part are in the cases of both: only those of the first list
    count, or a seed would count twice.
    """
    lists: dict[tuple[str, str, float, str], tuple[str, ...]] = {}
    kept = []
    for sample in samples:
        key = (sample.place, sample.label, sample.x, sample.case.seed)
        if lists.setdefault(key, sample.case.words) == sample.case.words:
            kept.append(sample)
    return tuple(kept)


def _settings_text(cases: Sequence[TreeCase], axis: Axis | None) -> str:
    """What was the same in all cases, and what was not; not the axis, which the figure shows."""
    values: dict[str, dict[str, None]] = {}
    for case in cases:
        for name, value in case.settings.items():
            values.setdefault(name, {})[value] = None
    own = {"partition_bytes": "partition", "cpu_scale": "CPU scale"}.get(axis.name) if axis else ""
    parts = []
    for name, distinct in values.items():
        if name == own:
            continue
        if len(distinct) == 1:
            parts.append(f"{name} {next(iter(distinct))}")
        else:
            parts.append(f"{name} {', '.join(list(distinct)[:-1])} or {list(distinct)[-1]}")
    seeds = len({case.seed for case in cases})
    parts.append("one seed" if seeds == 1 else f"{seeds} seeds")
    return "; ".join(parts)


def _notes(
    cases: Sequence[TreeCase],
    axis: Axis | None,
    run: TreeRun,
    names: Mapping[tuple[str, ...], str],
) -> tuple[str, ...]:
    """What is not in the figures, and why: alike cases (seeds) together."""
    by_note: dict[str, list[str]] = {}
    for case in cases:
        why = _why_not(case)
        if not why:
            continue
        where = run.labels[case.id]
        if axis:
            value = case.numbers.get(axis.name)
            where += f", {case.shape if value is None else axis.text(value)}"
        name = names.get(case.words, "")
        where += f", {name}" if name else ""
        by_note.setdefault(f"{where}: {why}", []).append(case.seed)
    notes = [
        f"{text} (seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)})"
        for text, seeds in by_note.items()
    ]
    if len(notes) > _MOST_NOTES:
        more = len(notes) - _MOST_NOTES
        notes = [*notes[:_MOST_NOTES], f"and {grouped(more)} more, see the table of all cases"]
    return tuple(notes)


def _why_not(case: TreeCase) -> str:
    """Why a case is not, or not wholly, in the figures; empty when it is."""
    if not case.passed:
        return f"{case.outcome}, {case.reason}" if case.reason else case.outcome
    if not case.steps:
        return "no steps recorded"
    step = case.broken
    if step is None:
        return ""
    name = f" ({step.errno_name})" if step.errno_name else ""
    return f"only the steps before {step.role.place}, which ended with {step.status}{name}"


def images(run: TreeRun) -> dict[str, tuple[Image, ...]]:
    """The different images of each configuration, whatever came of their cases."""
    by_label: dict[str, dict[tuple[str, int, int], Image]] = {}
    for case in run.cases:
        if case.image is not None:
            image = case.image
            key = (image.tree, image.image_bytes, image.flash_bytes)
            by_label.setdefault(run.labels[case.id], {}).setdefault(key, image)
    return {label: tuple(kept.values()) for label, kept in by_label.items()}
