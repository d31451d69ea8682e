"""The tables of a run of workload `tree`, as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ffslab.report import data
from ffslab.report.elements import Table, by_filesystem
from ffslab.report.quantity import duration, duration_range, grouped, significant
from ffslab.workloads.tree.report.criteria import Rated
from ffslab.workloads.tree.report.data import MEMORY_PARTS, Image, Step, Task, TreeCase, TreeRun
from ffslab.workloads.tree.report.figures import size_text
from ffslab.workloads.tree.report.sentences import background_percent
from ffslab.workloads.tree.report.series import MemorySample, Sample, Section
from ffslab.workloads.tree.report.words import UNMOUNT

_NONE = "–"


def image_tables(images: Mapping[str, Sequence[Image]]) -> tuple[Table, ...]:
    """Each configuration's image, and how it was made."""
    rows = [
        (
            label,
            image.tree,
            grouped(image.image_bytes),
            grouped(image.flash_bytes),
            significant(image.ratio),
            _duration(image.write_ns),
        )
        for label, of_label in images.items()
        for image in of_label
    ]
    if not rows:
        return ()
    head = ("configuration", "tree", "image", "programmed", "ratio", "written in")
    units = ("", "", "bytes", "bytes", ": 1", "")
    made = tuple(
        (label, image.tool, image.command)
        for label, of_label in images.items()
        for image in of_label
    )
    return (
        by_filesystem(Table("", head, units, tuple(rows), 2)),
        by_filesystem(
            Table("", ("configuration", "tool", "command"), (), made, 3, wrapped=(0, 1, 2))
        ),
    )


def unmount_table(section: Section) -> Table | None:
    """What unmounting costs, and which task did what on the flash; at the axis's last value."""
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in section.samples:
        at_end = section.axis is None or sample.x == section.axis.values[-1]
        if sample.role.word == UNMOUNT and at_end:
            groups.setdefault((sample.label, sample.place), []).append(sample)
    order = section.labels
    rows = []
    places = list(section.roles)
    for label, role_name in sorted(
        groups, key=lambda key: (order.index(key[0]), places.index(key[1]))
    ):
        samples = groups[label, role_name]
        steps = [sample.step for sample in samples]
        background = background_percent(steps)
        rows.append(
            (
                label,
                role_name,
                _work_text([step.tasks for step in steps]),
                _range([sample.duration_ns for sample in samples]),
                _flash_share(samples),
                _NONE if background is None else significant(background, 2),
            )
        )
    if not rows:
        return None
    where = f", {section.axis.text(section.axis.values[-1])}" if section.axis else ""
    head = ("configuration", "unmount", "work on the flash by task", "time", "flash", "background")
    units = ("", "", "", "", "% of the time", "% of the flash")
    title = f"{section.title}{where}"
    return by_filesystem(Table(title, head, units, tuple(rows), 3, wrapped=(0, 1, 2)))


def _flash_share(samples: Sequence[Sample]) -> str:
    known = [sample for sample in samples if sample.split and sample.duration_ns]
    if not known:
        return _NONE
    shares = [100 * s.split.flash_ns / s.duration_ns for s in known if s.split]
    return significant(sum(shares) / len(shares), 2)


def _work_text(tasks: Sequence[Sequence[Task]]) -> str:
    """Mean work per case of each task, the busiest first."""
    sums: dict[str, list[Task]] = {}
    for step_tasks in tasks:
        for task in step_tasks:
            sums.setdefault(task.name, []).append(task)
    busiest = sorted(sums, key=lambda name: -sum(task.busy_ns for task in sums[name]))
    parts = []
    for name in busiest:
        counts = (
            (sum(task.pages_read for task in sums[name]), "read"),
            (sum(task.pages_programmed for task in sums[name]), "programmed"),
            (sum(task.blocks_erased for task in sums[name]), "erased"),
            (sum(task.oob_pages for task in sums[name]), "OOB areas"),
        )
        words = [f"{_mean_count(n / len(tasks))} {word}" for n, word in counts if n]
        if words:
            parts.append(f"{name}: {', '.join(words)}")
    return "; ".join(parts) or "none"


def _mean_count(value: float) -> str:
    return grouped(round(value)) if value >= 10 else significant(value, 2)


def memory_table(section: Section) -> Table | None:
    """What the memory after each step that has a record is made of, means over seeds."""
    groups: dict[tuple[str, float, str], list[MemorySample]] = {}
    for sample in section.memory:
        groups.setdefault((sample.label, sample.x, sample.place), []).append(sample)
    order = section.labels
    rows = []
    for label, x, role_name in sorted(groups, key=lambda key: (order.index(key[0]), key[1])):
        memories = [sample.memory for sample in groups[label, x, role_name]]
        parts = [
            size_text(sum(m.parts.get(key, 0) for m in memories) / len(memories))
            for key, _, _ in MEMORY_PARTS
        ]
        largest = ", ".join(f"{name} {size_text(size)}" for name, size in memories[0].largest)
        rows.append(
            (
                label,
                *((section.axis.text(x),) if section.axis else ()),
                role_name,
                largest or _NONE,
                size_text(sum(m.total_bytes for m in memories) / len(memories)),
                *parts,
                size_text(sum(m.unexplained_bytes for m in memories) / len(memories)),
            )
        )
    if not rows:
        return None
    words = ("configuration", *((section.axis.title,) if section.axis else ()), "after")
    names = ("total", "own caches", "kmalloc", "inodes", "vmalloc", "rest", "unexplained")
    head = (*words, "the largest", *names)
    wrapped = (0, len(words))
    table = Table(section.title, head, (), tuple(rows), len(words) + 1, wrapped=wrapped)
    return by_filesystem(table)


def step_table(run: TreeRun, section: Section) -> Table | None:
    """All steps of a section's cases, those with a free processor too: mean and range of seeds.

    Steps of one place that ended alike are a row; those of cases that did not pass are kept apart.
    """
    members = {case.twin for case in section.cases}
    scales = len({case.cpu_scale for case in run.cases}) > 1
    groups: dict[tuple[str, ...], list[Step]] = {}
    order: dict[tuple[str, ...], tuple[int, float, float, int]] = {}
    for case in run.cases:
        if case.twin not in members:
            continue
        label = run.labels[case.id]
        for step in case.steps:
            point, x = _point_text(case, section)
            key = (
                label,
                *((point,) if section.axis else ()),
                *((f"{case.cpu_scale:g}",) if scales else ()),
                _step_name(section, case, step),
                _ending(case, step),
            )
            groups.setdefault(key, []).append(step)
            rank = section.labels.index(label) if label in section.labels else 0
            order.setdefault(key, (rank, x, -case.cpu_scale, step.index))
    rows = [(*key, *_step_cells(groups[key])) for key in sorted(groups, key=lambda key: order[key])]
    if not rows:
        return None
    words = ("configuration", *((section.axis.title,) if section.axis else ()))
    words = (*words, *(("CPU scale",) if scales else ()), "step", "ended")
    head = ("cases", "time", "chip busy", "pages read", "pages programmed", "blocks erased")
    head = (*words, *head, "files", "found")
    wrapped = (0, len(words) - 2, len(words) - 1)
    return by_filesystem(Table(section.title, head, (), tuple(rows), len(words), wrapped=wrapped))


def _point_text(case: TreeCase, section: Section) -> tuple[str, float]:
    if section.axis is None:
        return "", 0.0
    x = case.numbers.get(section.axis.name)
    return (case.shape or _NONE, float("inf")) if x is None else (section.axis.text(x), x)


def _step_name(section: Section, case: TreeCase, step: Step) -> str:
    name = section.names.get(case.words, "")
    role_name = step.role.place
    return f"{role_name}, {name}" if name and name != step.role.scenario else role_name


def _ending(case: TreeCase, step: Step) -> str:
    """How a step ended; what came after one that failed is marked."""
    text = step.status if step.ok else f"{step.status} {step.errno_name}".strip()
    broken = case.broken
    if broken is not None and step.index > broken.index:
        text += f", after {broken.status} of {broken.role.place}"
    return text if case.passed else f"{text}; case: {case.outcome}"


def _step_cells(steps: Sequence[Step]) -> tuple[str, ...]:
    return (
        grouped(len(steps)),
        _range([step.duration_ns for step in steps if step.duration_ns is not None]),
        _mean_duration(step.flash_ns for step in steps),
        _count(step.pages_read for step in steps),
        _count(step.pages_programmed for step in steps),
        _count(step.blocks_erased for step in steps),
        _count(step.files for step in steps),
        _count(step.found for step in steps),
    )


def _range(values: Sequence[float]) -> str:
    """Mean of durations with its range where seeds differ."""
    if not values:
        return _NONE
    mean = round(sum(values) / len(values))
    return duration_range(mean, round(min(values)), round(max(values)))


def _mean_duration(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return duration(round(sum(known) / len(known))) if known else _NONE


def _duration(value: float | None) -> str:
    return _NONE if value is None else duration(round(value))


def _count(values: Iterable[int | None]) -> str:
    """The mean of counts, whole where it is."""
    known = [value for value in values if value is not None]
    return _mean_count(sum(known) / len(known)) if known else _NONE


@dataclass(frozen=True)
class RatingRow:
    """A criterion with a sign and a text for each file system; `topic` where another begins."""

    topic: str
    criterion: str
    cells: tuple[tuple[str, str], ...]


def rating_rows(
    rated: Sequence[Rated], run: TreeRun
) -> tuple[tuple[str, ...], tuple[RatingRow, ...]]:
    """File systems as head, and a row per criterion."""
    names = tuple(
        dict.fromkeys(data.filesystem_name(axes[data.FILESYSTEM]) for axes in run.lines.values())
    )
    rows: list[RatingRow] = []
    topic = ""
    for entry in rated:
        cells = tuple(
            (mark.sign, mark.text) if (mark := entry.marks.get(name)) else ("", "n/a")
            for name in names
        )
        points = f" ({entry.points}\u00a0points)" if entry.points > 1 else ""
        begins = entry.criterion.topic if entry.criterion.topic != topic else ""
        topic = entry.criterion.topic
        rows.append(RatingRow(begins, f"{entry.criterion.title}{points}", cells))
    return names, tuple(rows)


def configuration_rating(rated: Sequence[Rated]) -> Table | None:
    """The same per configuration: a row each, below each criterion."""
    rows: list[tuple[str, ...]] = []
    headings = {}
    for entry in rated:
        criterion = entry.criterion
        title = f"{criterion.topic}: {criterion.title}" if criterion.topic else criterion.title
        if entry.marks:
            headings[len(rows)] = title
        order = sorted(entry.marks, key=lambda label: entry.marks[label].factors.high)
        rows += [(label, entry.marks[label].sign, entry.marks[label].text) for label in order]
    if not rows:
        return None
    head = ("configuration", "sign", "factor to the best")
    title = "Each configuration by itself, by the same rule, the best first"
    return Table(title, head, (), tuple(rows), 2, headings=headings)


def case_table(run: TreeRun) -> Table:
    """Every case with what became of it."""
    rows = [
        (
            case.id,
            case.outcome,
            _case_remark(case),
            f"{sum(step.ok for step in case.steps)} of {len(case.words)}",
            _duration(sum(known) if (known := _durations(case)) else None),
            _count([sum(step.pages_programmed or 0 for step in case.steps)]),
            _count([sum(step.blocks_erased or 0 for step in case.steps)]),
            size_text(case.image.image_bytes) if case.image else _NONE,
        )
        for case in run.cases
    ]
    sums = ("time of all steps", "pages programmed", "blocks erased")
    head = ("case", "outcome", "remark", "steps that ended well", *sums, "image")
    return Table("", head, (), tuple(rows), 3, outcomes=True, wrapped=(0, 2))


def _durations(case: TreeCase) -> list[float]:
    return [step.duration_ns for step in case.steps if step.duration_ns is not None]


def _case_remark(case: TreeCase) -> str:
    if not case.passed:
        return case.reason or _NONE
    step = case.broken
    if step is None:
        return _NONE
    return f"{step.role.place}: {step.status} {step.errno_name}".strip()
