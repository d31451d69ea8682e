"""What is drawn against what: a run's cases as sections of curves over their numeric axes.

Each part of a study is a section, a study without parts is one. In a section up to two numeric
axes vary: the request size if it does, and another. Further ones, rare, give a section for each of
their values. A curve belongs to a configuration (file system, options and whatever else is no
number) and to a panel (the pattern); its points are means over seeds with the range of the seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ffslab.report import data
from ffslab.report.axes import Axis, Mean, varying_numbers
from ffslab.workloads.micro.report.data import (
    PATTERNS,
    REQUEST,
    MicroCase,
    MicroRun,
    Response,
    merged,
)

Point = tuple[float, ...]


@dataclass(frozen=True)
class Sample:
    """One case's requests of one pattern, at a point of the section's axes."""

    case: MicroCase
    label: str
    panel: str
    point: Point
    all: Response
    startup: Response | None
    running: Response | None
    startup_count: int


@dataclass(frozen=True)
class Section:
    """Cases that belong into the same figures. `axes` has none, one or two numeric axes."""

    key: str
    title: str
    meaning: str
    axes: tuple[Axis, ...]
    samples: tuple[Sample, ...]
    is_part: bool

    @property
    def panels(self) -> tuple[str, ...]:
        present = dict.fromkeys(sample.panel for sample in self.samples)
        known = [pattern for pattern in PATTERNS if pattern in present]
        return (*known, *(panel for panel in present if panel not in PATTERNS))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(sample.label for sample in self.samples))

    @property
    def in_memory(self) -> frozenset[tuple[str, str]]:
        """Panels and configurations whose requests are writes that end in memory."""
        return frozenset(
            (sample.panel, sample.label)
            for sample in self.samples
            if sample.case.line.get(data.WRITING) == data.WRITE_BACK
            and sample.panel.partition(" ")[0].endswith("write")
        )


def response_ns(sample: Sample) -> float:
    """The mean response time of all requests.

    Not of the running phase: of two cases that hardly differ one may have a start-up just told
    from it and the other just not, and their difference would be that.
    """
    return sample.all.mean_ns


Curves = Mapping[tuple[str, str], Mapping[Point, Mean]]


def curves(samples: Iterable[Sample], value_of: Callable[[Sample], float | None]) -> Curves:
    """The mean over seeds of a value by (panel, configuration) and point; without what has none."""
    values: dict[tuple[str, str], dict[Point, list[float]]] = {}
    cut: set[tuple[str, str, Point]] = set()
    for sample in samples:
        value = value_of(sample)
        if value is not None:
            points = values.setdefault((sample.panel, sample.label), {})
            points.setdefault(sample.point, []).append(value)
            if sample.case.stopped:
                cut.add((sample.panel, sample.label, sample.point))
    return {
        key: {
            point: Mean.of(values, cut=(*key, point) in cut)
            for point, values in sorted(points.items())
        }
        for key, points in values.items()
    }


def label_of(run: MicroRun, case: MicroCase) -> str:
    """What a case's curves are called; its way of writing only where its file system has two."""
    axes = {axis: value for axis, value in case.line.items() if axis in run.line_axes}
    alike = {
        other.line.get(data.WRITING, "")
        for other in run.cases
        if other.line.get(data.FILESYSTEM) == case.line.get(data.FILESYSTEM)
    }
    if len(alike) < 2:
        axes.pop(data.WRITING, None)
    return data.group_label(axes, run.line_axes) or data.filesystem_name(
        case.line.get(data.FILESYSTEM, "")
    )


def sections(run: MicroRun) -> tuple[Section, ...]:
    """The sections of a run, in the order of the study."""
    labels = labels_of(run)
    all_sections: list[Section] = []
    for part in dict.fromkeys(case.part for case in run.passed):
        cases = [case for case in run.passed if case.part == part]
        axes = varying_numbers((case.numbers for case in cases), REQUEST)
        chosen, rest = axes[:2], axes[2:]
        for numbers in dict.fromkeys(tuple(case.numbers[a.name] for a in rest) for case in cases):
            members = [c for c in cases if tuple(c.numbers[a.name] for a in rest) == numbers]
            extra = ", ".join(a.text(v) for a, v in zip(rest, numbers, strict=True))
            all_sections.append(_section(part, extra, chosen, members, labels, run))
    return tuple(all_sections)


def _section(
    part: str,
    extra: str,
    axes: Sequence[Axis],
    cases: Sequence[MicroCase],
    labels: Mapping[str, str],
    run: MicroRun,
) -> Section:
    samples = tuple(
        sample
        for case in cases
        for sample in _samples(case, labels[case.id], tuple(case.numbers[a.name] for a in axes))
    )
    against = " and ".join(axis.word for axis in axes)
    title = part.capitalize() if part else f"Response time against {against}"
    if not part and not axes:
        title = "Response time"
    words = "-".join(word for word in (part or "response", extra) if word)
    return Section(
        key="s-" + "".join(char if char.isalnum() else "-" for char in words.lower()),
        title=f"{title}, {extra}" if extra else title,
        meaning=run.parts.get(part, ""),
        axes=tuple(axes),
        samples=samples,
        is_part=bool(part),
    )


def labels_of(run: MicroRun) -> dict[str, str]:
    """What the curves of each case are called, by its id."""
    known: dict[tuple[tuple[str, str], ...], str] = {}
    labels = {}
    for case in run.cases:
        key = tuple(sorted(case.line.items()))
        if key not in known:
            known[key] = label_of(run, case)
        labels[case.id] = known[key]
    return labels


def _samples(case: MicroCase, label: str, point: Point) -> list[Sample]:
    """A case's requests: of one pattern all streams together, of a mix each by itself."""
    if not case.mix_pattern:
        return _sample(case, label, case.pattern, point, range(len(case.streams)))
    first = f"{case.pattern} beside {case.mix_pattern}"
    second = f"{case.mix_pattern} beside {case.pattern}"
    return [
        *_sample(case, label, first, point, [0]),
        *_sample(case, label, second, point, [1]),
    ]


def _sample(
    case: MicroCase, label: str, panel: str, point: Point, numbers: Iterable[int]
) -> list[Sample]:
    wanted = set(numbers)
    streams = [stream for stream in case.streams if stream.stream in wanted]
    whole = merged(stream.all for stream in streams)
    if whole is None:
        return []
    return [
        Sample(
            case=case,
            label=label,
            panel=panel,
            point=point,
            all=whole,
            startup=merged(stream.startup for stream in streams if stream.startup),
            running=merged(stream.running for stream in streams if stream.running),
            startup_count=sum(stream.startup_count for stream in streams),
        )
    ]
