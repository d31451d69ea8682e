"""Which figures a run of workload `tree` has: images, steps, what a whole run takes, memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ffslab.compare.standing import ratios_to_first
from ffslab.report.axes import Mean
from ffslab.report.bars import Bar, Piece, are_cut, bars, below_names
from ffslab.report.charts import CUT_MEANING
from ffslab.report.curves import (
    RATIO_MEANING,
    Curve,
    Figure,
    Pane,
    Quantity,
    Style,
    curves,
    ratio_quantity,
)
from ffslab.report.elements import Key, Panel
from ffslab.report.quantity import capitalized, duration, significant
from ffslab.workloads.tree.report.data import MEMORY_PARTS, Image
from ffslab.workloads.tree.report.series import (
    Lines,
    MemorySample,
    Sample,
    Section,
    duration_ns,
    listed,
    means,
    memory_bytes,
)
from ffslab.workloads.tree.report.words import KINDS, MOUNT, UNMOUNT, kind_of

_LIGHT = 0.35  # how strong the processor's part of a bar is
_WIDE = 800  # the width of bars that have no others beside them
_GROUPS = {
    "mounting": ("Mounting", (MOUNT,)),
    "unmounting": ("Unmounting", (UNMOUNT,)),
    "work": (
        "Work on the tree",
        ("create", "copy", "list", "find", "read", "delete", "check", "sync"),
    ),
}
_KIND_COLOURS = ("t2", "t0", "t3", "t1")
KIND_KEYS = tuple(Key(kind, colour) for kind, colour in zip(KINDS, _KIND_COLOURS, strict=True))
MEMORY_KEYS = tuple(Key(name, colour) for _, name, colour in MEMORY_PARTS)


@dataclass(frozen=True)
class Panels:
    """Small charts that belong together, what their bars mean, the settings they are for."""

    title: str
    meaning: str
    panels: tuple[Panel, ...]
    keys: tuple[Key, ...] = ()
    settings: str = ""


def time_quantity(values: Sequence[float], title: str = "time") -> Quantity:
    """Durations in s, ms or µs, by the longest; logarithmic."""
    top = max(values, default=0)
    for limit, unit in ((1e9, "s"), (1e6, "ms")):
        if top >= limit:
            return Quantity(title, unit, limit, logarithmic=True)
    return Quantity(title, "µs", 1e3, logarithmic=True)


def size_quantity(values: Sequence[float], title: str) -> Quantity:
    """Sizes in MiB or KiB, by the largest; logarithmic where all are above 0."""
    big = max(values, default=0) >= 2**20
    logarithmic = bool(values) and min(values) > 0
    return Quantity(title, "MiB" if big else "KiB", 2**20 if big else 2**10, logarithmic)


def size_text(value: float) -> str:
    """Bytes in MiB or KiB; of memory, which may have become less."""
    unit, size = ("MiB", 2**20) if abs(value) >= 2**20 else ("KiB", 2**10)
    return f"{significant(value / size)} {unit}"


def image_figure(
    images: Mapping[str, Sequence[Image]], styles: Mapping[str, Style]
) -> Panels | None:
    """Sizes of the images with their ratios: a bar each, and what the flash has beside it."""
    drawn = []
    trees = {image.tree for of_label in images.values() for image in of_label}
    sizes = {image.tree_bytes for of_label in images.values() for image in of_label}
    for label, of_label in images.items():
        for number, image in enumerate(of_label, 1):
            name = image.tree if len(trees) > 1 else str(number) if len(of_label) > 1 else ""
            beside = max(image.flash_bytes - image.image_bytes, 0)
            colour = styles[label].colour
            pieces = (Piece(image.image_bytes, colour), Piece(beside, colour, _LIGHT))
            text = f"{significant(image.image_bytes / 1e6)} MB, {significant(image.ratio)} : 1"
            drawn.append(Bar(label, name, pieces, text))
    if not drawn:
        return None
    mark = float(next(iter(sizes))) if len(sizes) == 1 else None
    meaning = (
        "Solid: the image without what the flash needs around it; light: what the flasher programs "
        "more (UBI’s headers, filling of blocks). Less than the image is programmed where it has "
        "pages that a flasher leaves out, all 0xFF. The ratio is bytes of the tree’s files : bytes "
        "of the image."
    )
    if mark is not None:
        meaning += f" Dashed line: the tree’s files, {significant(mark / 1e6)} MB."
    meaning += f" Tree: {', '.join(sorted(trees))}.{_cut_meaning([drawn])}"
    words = ("Image sizes", "images")
    drawing = bars(below_names(drawn), Quantity("size", "MB", 1e6), words, _WIDE, mark)
    return Panels("Image sizes", meaning, (Panel("", "", drawing),))


def step_panels(section: Section, styles: Mapping[str, Style]) -> Panels | None:
    """A section without an axis: a panel per step, a bar per configuration and run."""
    titles: dict[str, list[str]] = {}
    for role_name, role in section.results.items():
        name = role_name.replace(f", run {role.run}", "")
        titles.setdefault(name, []).append(role_name)
    panels = []
    every: list[list[Bar]] = []
    for number, (title, places) in enumerate(titles.items()):
        drawn = [
            bar
            for label in section.labels
            for role_name in places
            for bar in _step_bars(section, role_name, label, styles[label])
        ]
        if drawn:
            longest = [max(bar.length, bar.high) for bar in drawn]
            quantity = time_quantity(longest)
            words = (f"Time of {title}", f"{section.key}-step-{number}")
            panels.append(Panel(title, "", bars(below_names(drawn), quantity, words)))
            every.append(drawn)
    if not panels:
        return None
    meaning = f"{split_meaning(section, in_bars=True)}{_runs_meaning(section)}"
    meaning += f"{range_meaning(section)}{_notch_meaning(every)}{_cut_meaning(every)}"
    return Panels("Time of each step", meaning, tuple(panels), settings=settings_sentence(section))


def _cut_meaning(drawn: Sequence[Sequence[Bar]]) -> str:
    """That bars are cut, with a blank before it; empty if none is."""
    return f" {CUT_MEANING}" if any(are_cut(panel) for panel in drawn) else ""


def _notch_meaning(drawn: Sequence[Sequence[Bar]]) -> str:
    if not any(bar.notch for panel in drawn for bar in panel):
        return ""
    return " A line across the bar of a mount: how much of it is attaching UBI, from the left."


def _step_bars(section: Section, role_name: str, label: str, style: Style) -> list[Bar]:
    samples = [s for s in section.samples if s.place == role_name and s.label == label]
    if not samples:
        return []
    mean = Mean.of([sample.duration_ns for sample in samples])
    role = section.roles[role_name]
    run = f"run {role.run}" if role.run else ""
    pieces = tuple(
        Piece(value, style.colour, strength)
        for value, strength in _split_values(samples, mean.mean)
    )
    attach = [s.step.attach_ns for s in samples if s.step.attach_ns is not None]
    notch = sum(attach) / len(attach) if attach else 0.0
    text = duration(round(mean.mean))
    return [Bar(label, run, pieces, text, mean.low, mean.high, notch)]


def _split_values(samples: Sequence[Sample], whole: float) -> list[tuple[float, float]]:
    """Lengths with strengths: flash and processor, or all in one where that is not known."""
    splits = [sample.split for sample in samples if sample.split is not None]
    if len(splits) < len(samples):
        return [(whole, 1.0)]
    flash = sum(split.flash_ns for split in splits) / len(splits)
    return [(flash, 1.0), (whole - flash, _LIGHT)]


def split_meaning(section: Section, *, in_bars: bool) -> str:
    """How time was split into flash and processor."""
    splits = [sample.split for sample in section.samples if sample.split is not None]
    if not splits:
        return "How much of the time the flash takes is not known."
    if in_bars:
        return "Solid: how long the chip was busy; light: the rest, mostly the processor’s."
    return "The flash’s part is how long the chip was busy; the rest is mostly the processor’s."


def _runs_meaning(section: Section) -> str:
    most = max((role.run for role in section.roles.values()), default=0)
    if most < 2:
        return ""
    more = ", and so on" if most > 2 else ""
    return f" Of each configuration the upper bar is run 1, the one below it run 2{more}."


def range_meaning(section: Section) -> str:
    """What points and bars are, with a blank before it; empty for one seed."""
    seeds = len({case.seed for case in section.cases})
    if seeds < 2:
        return ""
    return " Means over seeds; a thin line reaches from the smallest to the largest seed."


def settings_sentence(section: Section) -> str:
    return f"For: {section.settings}."


def total_panels(section: Section) -> Panels | None:
    """A section without an axis: what the time to the end of the last unmount is made of."""
    drawn = []
    for label in section.labels:
        samples = [sample for sample in section.samples if sample.label == label]
        for run in sorted({sample.role.run for sample in samples}):
            bar = _total_bar(label, run, [s for s in samples if s.role.run == run])
            if bar:
                drawn.append(bar)
    if not drawn:
        return None
    quantity = time_quantity([bar.length for bar in drawn], "time to the end of unmount")
    words = ("Time to the end of unmount", f"{section.key}-total")
    drawing = bars(below_names(drawn), quantity, words, _WIDE)
    meaning = (
        "From the first mount to the end of the unmount, by kinds of steps; at the bar’s end the "
        f"whole and the share of unmounting.{_runs_meaning(section)}{_cut_meaning([drawn])}"
    )
    panel = Panel("", "", drawing)
    settings = settings_sentence(section)
    return Panels("Time to the end of unmount", meaning, (panel,), KIND_KEYS, settings)


def _total_bar(label: str, run: int, samples: Sequence[Sample]) -> Bar | None:
    """None unless every case has an unmount as its last step there."""
    cases: dict[str, list[Sample]] = {}
    for sample in samples:
        cases.setdefault(sample.case.id, []).append(sample)
    whole = [
        of_case
        for of_case in cases.values()
        if max(of_case, key=lambda s: s.step.index).role.word == UNMOUNT
    ]
    if not whole:
        return None
    sums = {
        kind: sum(
            s.duration_ns for of_case in whole for s in of_case if kind_of(s.role.word) == kind
        )
        / len(whole)
        for kind in KINDS
    }
    total = sum(sums.values())
    share = f", unmount {significant(100 * sums[UNMOUNT] / total, 2)} %" if total else ""
    pieces = tuple(
        Piece(value, colour) for value, colour in zip(sums.values(), _KIND_COLOURS, strict=True)
    )
    name = f"run {run}" if run else ""
    return Bar(label, name, pieces, f"{duration(round(total))}{share}")


def curve_figures(section: Section, styles: Mapping[str, Style]) -> tuple[Figure, ...]:
    """A section with an axis: times by kinds of steps, each with how far behind the fastest they
    are, and the processor's share of them.
    """
    if section.axis is None:
        return ()
    times = means(section.samples, duration_ns)
    behind = _relative(section)
    drawn = []
    for key, (title, words) in _GROUPS.items():
        places = [role_name for role_name, role in section.results.items() if role.word in words]
        shown = time_quantity(_means_at(times, places))
        lines, looks = (
            _with_attach(section, times, styles) if key == "mounting" else (times, styles)
        )
        drawn.append(_figure(section, (title, key), lines, places, shown, looks))
        if ratios := _means_at(behind, places):
            name = (f"{title}, ÷ the fastest", f"{key}-behind")
            drawn.append(_figure(section, name, behind, places, ratio_quantity(ratios), styles))
        if key == "mounting":
            drawn.append(_listed_figure(section, styles))
    shares = means(section.samples, cpu_percent)
    share = Quantity("processor’s share of the time", "%")
    words_of = ("The processor’s share", "cpu")
    drawn.append(_figure(section, words_of, shares, list(section.results), share, styles))
    return tuple(figure for figure in drawn if figure is not None)


def _listed_figure(section: Section, styles: Mapping[str, Style]) -> Figure | None:
    """How long until a file system has been mounted and seen through."""
    times = means(listed(section), duration_ns)
    places = list(dict.fromkeys(role_name for role_name, _ in times))
    shown = time_quantity(_means_at(times, places))
    return _figure(section, ("From mount to the end of ls", "listed"), times, places, shown, styles)


def _means_at(lines: Lines, places: Sequence[str]) -> list[float]:
    return [
        mean.mean
        for (role_name, _), line in lines.items()
        if role_name in places
        for mean in line.values()
    ]


def _relative(section: Section) -> Lines:
    """Each time ÷ the smallest at the same point, after the same steps."""
    groups: dict[tuple[str, tuple[str, ...]], list[Sample]] = {}
    for sample in section.samples:
        groups.setdefault((sample.place, sample.history), []).append(sample)
    relative: dict[tuple[str, str], dict[float, Mean]] = {}
    for (role_name, _), samples in groups.items():
        lines = means(samples, duration_ns)
        values = {
            label: {x: mean.mean for x, mean in line.items()} for (_, label), line in lines.items()
        }
        for label, ratios in ratios_to_first(values).items():
            line = {x: Mean(ratio, ratio, ratio, 1) for x, ratio in ratios.items()}
            if line:
                relative.setdefault((role_name, label), {}).update(line)
    return relative


def _with_attach(
    section: Section, times: Lines, styles: Mapping[str, Style]
) -> tuple[Lines, Mapping[str, Style]]:
    """Times of mounting, and beside each that contains attaching UBI how long that took of it."""
    attached = means(section.samples, lambda sample: sample.step.attach_ns)
    lines, looks = dict(times), dict(styles)
    for (role_name, label), line in attached.items():
        name = f"{label}: attaching UBI alone"
        lines[role_name, name] = line
        looks[name] = replace(styles[label], label=name, dash=(2, 3))
    return lines, looks


def cpu_percent(sample: Sample) -> float | None:
    """The processor's share of a step's time."""
    if sample.split is None or not sample.duration_ns:
        return None
    return 100 * sample.split.cpu_ns / sample.duration_ns


def _figure(
    section: Section,
    words: tuple[str, str],
    lines: Lines,
    places: Sequence[str],
    shown: Quantity,
    styles: Mapping[str, Style],
) -> Figure | None:
    """A pane per place, a curve per configuration; `words`: title and the end of an identifier."""
    axis = section.axis
    panes = []
    used: dict[str, None] = {}
    for role_name in places:
        drawn = [
            Curve(style, tuple(lines[role_name, label].items()))
            for label, style in styles.items()
            if lines.get((role_name, label))
        ]
        used.update({curve.style.label: None for curve in drawn})
        if drawn:
            panes.append(Pane(role_name, tuple(drawn)))
    if not panes or axis is None:
        return None
    both = "both axes logarithmic" if axis.logarithmic else f"{shown.title} logarithmic"
    scales = f", {both}" if shown.logarithmic else ""
    basis = f" {split_meaning(section, in_bars=False)}" if shown.unit == "%" else ""
    basis = f" {RATIO_MEANING}" if shown.limits else f"{basis}{range_meaning(section)}"
    meaning = f"{shown.heading} against {axis.heading}{scales}; all panels share their scales."
    meaning = f"{capitalized(meaning)}{basis}"
    identifier = f"{section.key}-{words[1]}"
    drawing = curves(panes, axis, shown, f"{words[0]}: {meaning}", identifier)
    keys = tuple(style for label, style in styles.items() if label in used)
    return Figure(words[0], meaning, keys, drawing, settings_sentence(section))


def memory_figures(section: Section, styles: Mapping[str, Style]) -> tuple[Figure, ...]:
    """A section with an axis: memory after each mount against it."""
    samples = [sample for sample in section.memory if _after_mount(sample)]
    lines = means(samples, memory_bytes)
    values = [mean.low for line in lines.values() for mean in line.values()]
    places = list(dict.fromkeys(sample.place for sample in samples))
    if section.axis is None or not values:
        return ()
    highs = [mean.mean for line in lines.values() for mean in line.values()]
    shown = size_quantity([min(values), *highs], "memory")
    figure = _figure(section, ("Memory after mounting", "memory"), lines, places, shown, styles)
    return (figure,) if figure else ()


def memory_panels(section: Section) -> Panels | None:
    """A section without an axis: what the memory after each mount is made of."""
    if section.axis is not None:
        return None
    samples = [sample for sample in section.memory if _after_mount(sample)]
    panels = []
    every: list[list[Bar]] = []
    for number, role_name in enumerate(dict.fromkeys(sample.place for sample in samples)):
        drawn = []
        for label in section.labels:
            group = [s for s in samples if s.place == role_name and s.label == label]
            if group:
                drawn.append(_memory_bar(label, group))
        quantity = size_quantity([bar.length for bar in drawn], "memory")
        words = (f"Memory after {role_name}", f"{section.key}-memory-{number}")
        panels.append(Panel(role_name, "", bars(below_names(drawn), quantity, words)))
        every.append(drawn)
    if not panels:
        return None
    meaning = (
        "Growth of the kernel’s memory since before the file system was there."
        f"{range_meaning(section)}{_cut_meaning(every)}"
    )
    settings = settings_sentence(section)
    return Panels("Memory after mounting", meaning, tuple(panels), MEMORY_KEYS, settings)


def _memory_bar(label: str, group: Sequence[MemorySample]) -> Bar:
    total: Mean = Mean.of([float(sample.memory.total_bytes) for sample in group])
    pieces = tuple(
        Piece(sum(s.memory.parts.get(key, 0) for s in group) / len(group), colour)
        for key, _, colour in MEMORY_PARTS
    )
    return Bar(label, "", pieces, size_text(total.mean), total.low, total.high)


def _after_mount(sample: MemorySample) -> bool:
    role = sample.memory.role
    return role is not None and role.word == MOUNT
