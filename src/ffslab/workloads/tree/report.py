"""What a report says of directory trees only: what time and RAM are made of, which task works while
unmounting, the image.

A bar is a configuration at its worst place: that with the largest whole. Cases with a free
processor have none, unless there are no others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ffslab.compare.words import value_text
from ffslab.protocol.records import TaskTime
from ffslab.report import data, plots, spent
from ffslab.report.configurations import CPU_SCALE, chosen_among, place_of, place_text
from ffslab.report.data import Run
from ffslab.report.elements import Table, by_filesystem
from ffslab.report.first.board import short_names
from ffslab.report.quantity import capitalized, duration, grouped, significant, unbroken
from ffslab.report.sections.section import Chart, Section
from ffslab.results.result import CaseResult
from ffslab.results.schema import Metric
from ffslab.workloads.tree.metrics import IMAGE_METRICS, role_of
from ffslab.workloads.tree.result import NOT_TIMED, OK
from ffslab.workloads.tree.stored import ImageResult, MemoryResult, TreeStep, image_of, tree_of

TITLE = "Directory trees"
METHOD = (
    "A case is a list of steps, each timed by itself. A monitor between the file system and the "
    "chip counts the flash operations of each step and of each task that asks for them, at no "
    "virtual time. With UBI, mounting is attaching, making the volume on an erased flash, and "
    "mounting; unmounting is unmounting and detaching. A crash ends the guest without unmounting, "
    "a restart after it; the next guest gets the flash as it is. RAM is from the kernel’s own "
    "accounting, against before the file system was attached: pages of its caches of objects, "
    "vmalloc and memory per CPU, without page cache and stacks. Steps after one that did not end "
    "well are in no figure."
)
_MOUNT, _ATTACH, _VOLUME = "mount", "attaching UBI", "making the volume"
_UNMOUNT = "unmount"
_RAM_AFTER = (_MOUNT, "list")
_MOUNTING = {_ATTACH: "t0", _VOLUME: "t2", _MOUNT: "t3"}
_PIECES = {"attach": _ATTACH, "volume": _VOLUME, "lower-volume": _VOLUME}
_GROUPS = {
    "the file system’s caches": "t2",
    "kmalloc": "t1",
    "inodes": "t0",
    "vmalloc": "t3",
    "other, per CPU": "t4",
}
_AGENT = "the step itself"
_TASK_PAINTS = ("t0", "t1", "t2", "t3", "t4", "c7")
_KIB, _MS, _S = ("KiB", 1024.0), ("ms", 1e6), ("s", 1e9)

Unit = tuple[str, float]  # what an axis is in, and what a value is divided by for it
Tasked = tuple[int, ...]  # ns in the driver, pages read, pages programmed, blocks erased


@dataclass(frozen=True, slots=True)
class Step:
    """A step: its time in ns by parts of the flash, and by pieces of a mount; its tasks."""

    title: str
    word: str
    parts: Mapping[str, float]
    pieces: Mapping[str, float]
    tasks: Mapping[str, Tasked]


@dataclass(frozen=True, slots=True)
class Own:
    """What the sections need of a case: its own guest's steps, RAM in bytes by groups after each,
    the size of its tree (directories, files, bytes), its image.
    """

    steps: tuple[Step, ...] = ()
    memory: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    tree: tuple[int, int, int] | None = None
    image: ImageResult | None = None


def figures_of(row: CaseResult) -> Own:
    """What the sections need of a result."""
    tree, image = tree_of(row), image_of(row)
    if tree is None:
        return Own(image=image)
    good = [step for step in tree["steps"] if step["status"] == OK]
    own = {step["phase"]: step for step in good if not step["prepared"]}
    made = next((step for step in good if step["step"] == "create" and step["files"]), None)
    return Own(
        steps=tuple(_step(row, step) for step in own.values()),
        memory={
            role_of(row, own[memory["label"]]).place: _groups(memory)
            for memory in tree["memory"]
            if memory["label"] in own and not memory["prepared"]
        },
        tree=made and (made["directories"] or 0, made["files"] or 0, made["bytes"] or 0),
        image=image,
    )


def _step(row: CaseResult, step: TreeStep) -> Step:
    duration_ns, flash_ns = step["duration_ns"] or 0, step.get("flash_ns")
    counted = cast(Mapping[str, int], step)
    pieces: Counter[str] = Counter()
    for part in step["parts"]:
        word = part["phase"].rstrip("-0123456789")
        pieces[_PIECES.get(word, _MOUNT)] += part["duration_ns"]
    tasks: dict[str, Tasked] = {}
    for task in step["tasks"]:
        # kworker/u2:1: any of the kernel's workers
        name = spent.task_name(task["name"], _AGENT)
        operations = (task["pages_read"], task["pages_programmed"], task["blocks_erased"])
        work = (task["busy_ns"], *operations)
        tasks[name] = tuple(map(sum, zip(work, tasks.get(name, (0,) * len(work)), strict=True)))
    role = role_of(row, step)
    whose = _times_of(row, {part["phase"] for part in step["parts"]})
    return Step(
        title=role.place,
        word=role.word,
        parts={} if flash_ns is None else spent.parts_of(counted, duration_ns, whose),
        pieces=dict(pieces),
        tasks=tasks,
    )


def _times_of(row: CaseResult, phases: Collection[str]) -> list[TaskTime]:
    """Whose the time of all these phases was; empty unless each of them says it."""
    own = [phase.get("task_times") for phase in row["phases"] if phase["phase"] in phases]
    return [task for tasks in own for task in tasks or ()] if all(own) else []


def _groups(memory: MemoryResult) -> dict[str, float]:
    """RAM by what it is made of, in the order of _GROUPS."""
    slabs = memory["slab_bytes"]
    told = (slabs["filesystem"], slabs["kmalloc"], slabs["inodes"], memory["vmalloc_bytes"])
    rest = memory["total_bytes"] - sum(told)
    return dict(zip(_GROUPS, map(float, (*told, rest)), strict=True))


def sections(run: Run, prefix: str) -> Iterator[Section]:
    """Those that these cases have something for."""
    for section in (_times, _tasks, _memory, _images):
        made = section(run, prefix)
        if not made.is_empty:
            yield made


@dataclass(frozen=True)
class Worst:
    """A configuration at the place where a sum of parts is largest; means over seeds."""

    label: str
    place: str
    parts: Mapping[str, float]

    @property
    def whole(self) -> float:
        return sum(self.parts.values())


Titled = Callable[[Own], Mapping[str, Mapping[str, float]]]


def _worst(run: Run, titled: Titled) -> dict[str, list[Worst]]:
    """By title (a step, say) every configuration at its worst place."""
    worst_of: dict[str, dict[str, Worst]] = {}
    names = _names(run)
    charged = [case for case in run.passed if case.axes.get(CPU_SCALE) != "0"]
    for group in data.group_by_seed(charged or run.passed):
        label = names[group.first.id]
        scenario = place_text(place_of(group.axes, run.varying))
        every = [titled(case.own) for case in group.cases]
        for title in dict.fromkeys(title for sums in every for title in sums):
            parts: Counter[str] = Counter()
            own = [sums[title] for sums in every if title in sums]
            for sums in own:
                parts.update({name: value / len(own) for name, value in sums.items()})
            worst = Worst(label, scenario, parts)
            known = worst_of.setdefault(title, {}).setdefault(label, worst)
            if worst.whole > known.whole:
                worst_of[title][label] = worst
    return {title: list(bars.values()) for title, bars in worst_of.items()}


def _names(run: Run) -> dict[str, str]:
    """What the configuration of each case is called, by its id."""
    chosen = (data.FILESYSTEM, *chosen_among(run.cases))
    labels = {case.id: data.group_label(case.axes, chosen) or "all cases" for case in run.cases}
    short = short_names(tuple(dict.fromkeys(labels.values())))
    return {case_id: short[label] for case_id, label in labels.items()}


def _chart(
    title: str, worst: Sequence[Worst], paint: Mapping[str, str], key: str, unit: Unit | None = None
) -> Chart:
    """A stacked bar of each configuration; times unless `unit` says otherwise."""
    bars = [plots.Bar(bar.label, bar.parts, place=bar.place) for bar in worst]
    unit = unit or (_MS if max(bar.whole for bar in worst) < _S[1] else _S)
    places = {bar.place for bar in worst}
    meaning = f"{capitalized(*places)}." if len(places) == 1 and any(places) else ""
    shown = capitalized(title)
    return Chart(shown, plots.stack(bars, paint, shown, key, unit), meaning)


def _table(
    title: str, worst_of: Mapping[str, Sequence[Worst]], text: Callable[[float], str]
) -> Table:
    """A row for each configuration, a column for each title."""
    labels = dict.fromkeys(bar.label for worst in worst_of.values() for bar in worst)
    cells = {(name, bar.label): text(bar.whole) for name, w in worst_of.items() for bar in w}
    rows = tuple((label, *(cells.get((name, label), "–") for name in worst_of)) for label in labels)
    return by_filesystem(Table(title, ("configuration", *worst_of), (), rows))


def _times(run: Run, prefix: str) -> Section:
    """Each step by what the flash and the rest of the board take of it; a mount by its pieces."""
    worst_of = _worst(run, _timed)
    mounts = _worst(run, _mounts)
    key = f"{prefix}steps"
    parts, paint = spent.folded(bar.parts for bar in _all(worst_of))
    told = iter(parts)
    charts = [
        _chart(name, [replace(bar, parts=next(told)) for bar in worst], paint, f"{key}-{number}")
        for number, (name, worst) in enumerate(worst_of.items())
    ]
    charts += [
        _chart(f"{name} with UBI", worst, _MOUNTING, f"{key}-ubi-{number}")
        for number, (name, worst) in enumerate(mounts.items())
    ]
    whole = (_table("Time of each step", worst_of, duration),) if worst_of else ()
    return Section(
        key="steps",
        title="Where does the time of each step go?",
        sentence=_outside_sentence(worst_of),
        charts=tuple(charts),
        tables=(*whole, *_trees(run)),
        note=f"{spent.NOTE} A bar is a configuration at its slowest place.",
    )


def _timed(own: Own) -> dict[str, Mapping[str, float]]:
    return {s.title: s.parts for s in own.steps if s.word not in NOT_TIMED and s.parts}


def _mounts(own: Own) -> dict[str, Mapping[str, float]]:
    return {s.title: s.pieces for s in own.steps if s.word == _MOUNT and _ATTACH in s.pieces}


def _outside_sentence(worst_of: Mapping[str, Sequence[Worst]]) -> str:
    """How much of all these times is not the flash's, at most and at least."""
    times: dict[str, Counter[str]] = {}
    for bar in _all(worst_of):
        times.setdefault(bar.label, Counter()).update(bar.parts)
    shares = {
        label: 100 * spent.outside_of(parts) / parts.total()
        for label, parts in times.items()
        if parts.total()
    }
    if not shares:
        return ""
    low, *_, high = sorted([*shares, *shares], key=lambda label: shares[label])
    least = f"; {low}: {shares[low]:.0f} %" if low != high else ""
    return f"Outside the flash goes up to {shares[high]:.0f} % of the time: **{high}**{least}."


def _all(worst_of: Mapping[str, Sequence[Worst]]) -> list[Worst]:
    return [bar for worst in worst_of.values() for bar in worst]


def _largest(worst_of: Mapping[str, Sequence[Worst]], but: str = "") -> tuple[float, str, str]:
    """The largest part of all: how large, its name, and whose; without the part called `but`."""
    parts = [(size, name, bar.label) for bar in _all(worst_of) for name, size in bar.parts.items()]
    return max((part for part in parts if part[1] != but), default=(0.0, "", ""))


def _trees(run: Run) -> tuple[Table, ...]:
    """How large the trees are, where that varies."""
    sizes: dict[str, tuple[int, int, int]] = {}
    for case in run.passed:
        if case.own.tree:
            sizes.setdefault(place_text(place_of(case.axes, run.varying)), case.own.tree)
    if len(set(sizes.values())) < 2:
        return ()
    rows = tuple((scenario, *map(grouped, size)) for scenario, size in sizes.items())
    head = ("at", "directories", "files", "bytes")
    return (Table("The trees, of the lowest seed", head, (), rows),)


def _tasks(run: Run, prefix: str) -> Section:
    """Which task works on the flash during each unmount."""
    worst_of = _worst(run, _unmounts)
    totals: Counter[str] = Counter()
    for bar in _all(worst_of):
        totals.update(bar.parts)
    behind = [name for name, _ in totals.most_common() if name != _AGENT]
    paint = dict(zip((_AGENT, *behind), _TASK_PAINTS, strict=False))
    busy_ns, task, label = _largest(worst_of, but=_AGENT)
    key = f"{prefix}tasks"
    return Section(
        key="tasks",
        title="Which task works on the flash while unmounting?",
        sentence=f"Of background work, {task} does most, {duration(busy_ns)}: **{label}**."
        if busy_ns
        else "",
        charts=tuple(
            _chart(name, worst, paint, f"{key}-{number}")
            for number, (name, worst) in enumerate(worst_of.items())
        ),
        tables=_task_tables(run),
        note="Time in the flash driver, counted for each task; tasks wait for each other there.",
    )


def _unmounts(own: Own) -> dict[str, Mapping[str, float]]:
    return {
        step.title: {name: float(work[0]) for name, work in step.tasks.items()}
        for step in own.steps
        if step.word == _UNMOUNT and step.tasks
    }


def _task_tables(run: Run) -> tuple[Table, ...]:
    """What each task did in each unmount, of the lowest seed at the last place."""
    names = _names(run)
    rows = {
        (names[group.first.id], step.title, task): (duration(work[0]), *map(grouped, work[1:]))
        for group in data.group_by_seed(run.passed)
        for step in group.first.own.steps
        if step.word == _UNMOUNT
        for task, work in step.tasks.items()
    }
    head = ("configuration", "step", "task", "in the driver", "pages read", "programmed", "erases")
    shown = tuple((*where, *cells) for where, cells in rows.items())
    return (Table("Unmounting by task", head, (), shown, text_columns=3),) if shown else ()


def _memory(run: Run, prefix: str) -> Section:
    """RAM by groups, after mounts and after the first walk."""
    every = _worst(run, lambda own: own.memory)
    worst_of = {name: w for name, w in every.items() if name.startswith(_RAM_AFTER)}
    size, group, label = _largest(worst_of)
    key = f"{prefix}ram"
    return Section(
        key="ram",
        title="What is the RAM made of?",
        sentence=f"The largest part is {_kib(size)} of {group}: **{label}**." if size else "",
        charts=tuple(
            _chart(f"after {name}", worst, _GROUPS, f"{key}-{number}", _KIB)
            for number, (name, worst) in enumerate(worst_of.items())
        ),
        tables=(_table("RAM after each step", every, _kib),) if every else (),
        note="The kernel gives inodes and directory entries back when it needs memory.",
    )


def _kib(size: float) -> str:
    return unbroken(f"{significant(size / _KIB[1])} KiB")


def _images(run: Run, prefix: str) -> Section:
    """The images that cases begin with, without what the size's own section shows."""
    names = _names(run)
    first = {names[case.id]: case for case in run.passed if case.own.image is not None}
    images: dict[str, Mapping[str, Any]] = {label: c.own.image for label, c in first.items()}
    smallest = min(images, key=lambda label: images[label]["image_bytes"], default="")
    charts = []
    for metric in (metric for metric in IMAGE_METRICS if metric.name in ("ratio", "write_ns")):
        points = [
            plots.Point(label, first[label].filesystem, image[metric.name])
            for label, image in images.items()
            if image[metric.name]
        ]
        drawing = plots.dots(points, metric, metric.title, f"{prefix}images-{metric.name}")
        charts.append(Chart(metric.title, drawing))
    return Section(
        key="images",
        title="What is in the image?",
        sentence=f"The smallest image has {_kib(images[smallest]['image_bytes'])} for "
        f"{_kib(images[smallest]['tree_bytes'])} of files: **{smallest}**."
        if images
        else "",
        charts=tuple(charts) if images else (),
        tables=_image_tables(images) if images else (),
    )


def _image_tables(images: Mapping[str, Mapping[str, Any]]) -> tuple[Table, ...]:
    sizes = tuple(
        (label, *(_figure(metric, image[metric.name]) for metric in IMAGE_METRICS))
        for label, image in images.items()
    )
    made = tuple((label, image["tree"], image["command"]) for label, image in images.items())
    return (
        by_filesystem(
            Table("Sizes", ("configuration", *(m.title for m in IMAGE_METRICS)), (), sizes)
        ),
        Table(
            "How they were made",
            ("configuration", "tree", "command"),
            (),
            made,
            text_columns=3,
            wrapped=(2,),
        ),
    )


def _figure(metric: Metric, value: float | None) -> str:
    return "–" if value is None else unbroken(value_text(metric, value))
