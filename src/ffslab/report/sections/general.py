"""The sections that every workload has: what people decide by, what its axes change, latency, wear,
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import nlargest
from operator import itemgetter

from ffslab.report import data, plots, spent, wear
from ffslab.report.configurations import place_of, place_text
from ffslab.report.data import Case, Group, Run
from ffslab.report.distribution import distribution_of, spread_cells, spread_head
from ffslab.report.elements import Table, by_filesystem
from ffslab.report.first.samples import Matter
from ffslab.report.first.weigh import Weighed
from ffslab.report.quantity import duration, grouped
from ffslab.report.sections.change import Criteria, change_sections
from ffslab.report.sections.decide import decide_sections
from ffslab.report.sections.flame import flame_section
from ffslab.report.sections.section import Chart, Section

_MOST_FACETS = 4  # panels of one chart; of more places one is shown alone
_MOST_MAPS = 24
_MOST_OPS = 3  # whose slowest operations are drawn
_MOST_DOTS = 48  # of one configuration at one place
_DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3))


def general_sections(
    run: Run, criteria: Criteria, matter: Matter, weighed: Sequence[Weighed], key: str = ""
) -> Iterator[Section]:
    """The sections of a workload's cases, those that have something to say."""
    yield from decide_sections(matter, weighed, key)
    yield from change_sections(run, criteria, key)
    latency, slow = latency_section(run, key), slowest_section(run, key)
    times = (time_section(run, key), flame_section(run, key))
    for section in (latency, slow, *times, wear_section(run, key)):
        if not section.is_empty:
            yield section


def labels_of(run: Run, without: Sequence[str] = ()) -> tuple[str, ...]:
    """The axes that name a group of cases: all that vary but the seed and those `without`."""
    return tuple(axis for axis in run.varying if axis not in (data.SEED, *without))


@dataclass(frozen=True)
class _Placed:
    """Cases to show, the place of each in words, and the axes that name their configurations.

    `alone`: the one place, where a chart has no room for all.
    """

    cases: tuple[Case, ...]
    places: Mapping[str, str]
    show: tuple[str, ...]
    alone: str = ""


def _placed(run: Run, weight: Callable[[Case], float]) -> _Placed:
    """The cases of all places if these are few, else of the one with the largest `weight`."""
    own = {case.id: place_of(case.axes, run.varying) for case in run.passed}
    texts = {place: place_text(place) for place in set(own.values())}
    places = {case_id: texts[place] for case_id, place in own.items()}
    axes = labels_of(run, tuple({name for place in texts for name, _ in place}))
    if len(texts) < 2:
        return _Placed(run.passed, dict.fromkeys(places, ""), labels_of(run))
    if len(texts) <= _MOST_FACETS:
        return _Placed(run.passed, places, axes)
    chosen = places[max(run.passed, key=weight).id]
    cases = tuple(case for case in run.passed if places[case.id] == chosen)
    return _Placed(cases, dict.fromkeys(places, ""), axes, chosen)


def latency_section(run: Run, key: str = "") -> Section:
    """A chart for each operation: latency by percentile, of every configuration."""
    ops = dict.fromkeys(lat.op for case in run.passed for lat in case.latencies if lat.count)
    charts, tables = [], []
    for op in ops:
        placed = _placed(run, partial(_reach, op))
        lines, rows = _tails(placed, op)
        drawing = plots.tails(lines, f"{op}: latency by percentile", f"{key}latency-{op}")
        where = f"At {placed.alone}, where the longest is furthest from the mean."
        charts.append(Chart(f"{op}", drawing, where if placed.alone else ""))
        head = ("configuration", "count", *spread_head())
        tables.append(by_filesystem(Table(f"{op}", head, (), tuple(rows))))
    return Section(
        key=f"{key}latency",
        title="Latency",
        sentence=_slowest(run),
        charts=tuple(charts),
        tables=tuple(tables),
        note="Histograms are exact within 0.4 %; seeds are together." if charts else "",
    )


def _reach(op: str, case: Case) -> float:
    """How far a case's longest operation is from the mean, as a ratio."""
    own = (lat for lat in case.latencies if lat.op == op and lat.sum_ns)
    return max((lat.max_ns * lat.count / lat.sum_ns for lat in own), default=0.0)


def _tails(placed: _Placed, op: str) -> tuple[list[plots.Tail], list[tuple[str, ...]]]:
    """A line and a row for each configuration at each place."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in placed.cases:
        label = data.group_label(case.axes, placed.show) or "all cases"
        groups.setdefault((label, placed.places[case.id]), []).append(case)
    lines, rows, dashes = [], [], dict[str, int]()
    for (label, place), cases in groups.items():
        merged = distribution_of(cases, op)
        if merged is None:
            continue
        filesystem = cases[0].filesystem
        dash = _DASHES[dashes.setdefault(label, _of_system(dashes, label)) % len(_DASHES)]
        lines.append(plots.Tail(label, filesystem, merged.tail(60), dash, place))
        rows.append(
            (
                f"{label}{data.BETWEEN}{place}" if place else label,
                grouped(merged.count),
                *spread_cells(merged),
            )
        )
    return lines, rows


def _of_system(dashes: Mapping[str, int], label: str) -> int:
    """How many configurations of the same file system have a dash already."""
    name = label.partition(data.BETWEEN)[0]
    return sum(other.partition(data.BETWEEN)[0] == name for other in dashes)


def _slowest(run: Run) -> str:
    """The longest operation of the run, and of whom."""
    worst = max(
        ((lat.max_ns, lat.op, case) for case in run.passed for lat in case.latencies if lat.count),
        key=lambda entry: entry[0],
        default=None,
    )
    if worst is None:
        return ""
    slowest_ns, op, case = worst
    name = data.group_label(case.axes, labels_of(run)) or "the case"
    return f"The longest operation, {op}, takes {duration(slowest_ns)}: **{name}**."


def slowest_section(run: Run, key: str = "") -> Section:
    """When the slowest operations began, of those kinds that have the longest."""
    longest: dict[str, int] = {}
    for latency in (latency for case in run.passed for latency in case.latencies):
        if latency.slowest:
            longest[latency.op] = max(longest.get(latency.op, 0), latency.max_ns)
    ops = sorted(longest, key=lambda op: -longest[op])[:_MOST_OPS]
    return Section(
        key=f"{key}when",
        title="When are the slowest operations?",
        sentence=_when_slowest(run, ops[0]) if ops else "",
        charts=tuple(_slowest_of(run, op, f"{key}when-{n}") for n, op in enumerate(ops)),
        note="At most 16 of each kind and case, by when they began in their phase. Of all others "
        "the histogram knows how long they took, and not when."
        if ops
        else "",
    )


def _slowest_of(run: Run, op: str, identifier: str) -> Chart:
    placed = _placed(run, partial(_longest, op))
    groups: dict[tuple[str, str], list[tuple[int, int, str, Case]]] = {}
    for case in placed.cases:
        label = data.group_label(case.axes, placed.show) or "all cases"
        groups.setdefault((label, placed.places[case.id]), []).extend(
            (took_ns, began_ns, latency.phase, case)
            for latency in case.latencies
            if latency.op == op
            for began_ns, took_ns in latency.slowest
        )
    # Of many seeds not all are drawn.
    drawn = [
        plots.Moment(label, case.filesystem, began_ns, took_ns, place, phase)
        for (label, place), own in groups.items()
        for took_ns, began_ns, phase, case in nlargest(_MOST_DOTS, own, key=itemgetter(0))
    ]
    where = f"At {placed.alone}, where the longest is." if placed.alone else ""
    return Chart(op, plots.moments(drawn, f"{op}: the slowest", identifier), where)


def _longest(op: str, case: Case) -> float:
    return max((latency.max_ns for latency in case.latencies if latency.op == op), default=0)


def _when_slowest(run: Run, op: str) -> str:
    took_ns, began_ns, case = max(
        (
            (took_ns, began_ns, case)
            for case in run.passed
            for latency in case.latencies
            if latency.op == op
            for began_ns, took_ns in latency.slowest
        ),
        key=lambda entry: entry[0],
    )
    name = data.group_label(case.axes, labels_of(run)) or "the case"
    return (
        f"The slowest {op}, {duration(took_ns)}, begins {duration(began_ns)} into its phase: "
        f"**{name}**."
    )


def time_section(run: Run, key: str = "") -> Section:
    """Time of the work by what it is made of."""
    if not any(case.parts for case in run.passed):
        return Section(f"{key}parts", "Where does the time go?")
    placed = _placed(run, lambda case: sum(case.parts.values()))
    bars = []
    for group in data.group_by_seed([case for case in placed.cases if case.parts]):
        means: dict[str, float] = {}
        for part, ns in (item for case in group.cases for item in case.parts.items()):
            means[part] = means.get(part, 0.0) + ns / len(group.cases)
        label = data.group_label(group.axes, placed.show) or "all cases"
        bars.append(plots.Bar(label, means, placed.places[group.cases[0].id]))
    parts, paint = spent.folded(bar.parts for bar in bars)
    bars = [replace(bar, parts=own) for bar, own in zip(bars, parts, strict=True)]
    shown, besides = bars, ""
    if any(bar.parts.get(spent.WAITING, 0) > sum(bar.parts.values()) / 2 for bar in bars):
        shown, besides = [_without_waiting(bar) for bar in bars], " but waiting"
    most = max(shown, key=lambda bar: _share_outside(bar.parts))
    share = _share_outside(most.parts)
    where = f", {most.facet}" if most.facet else ""
    painted = {part: paint[part] for part in paint if not besides or part != spent.WAITING}
    drawing = plots.stack(shown, painted, "time", f"{key}parts-stack")
    meaning = f"At {placed.alone}, which takes longest." if placed.alone else ""
    meaning += " Without waiting, which the table has." if besides else ""
    return Section(
        key=f"{key}parts",
        title="Where does the time go?",
        sentence=f"Up to {100 * share:.0f} % of all time{besides} is outside the flash: "
        f"**{most.label}**{where}.",
        charts=(Chart("Time of the work", drawing, meaning.strip()),),
        tables=(by_filesystem(_parts_table(bars, tuple(paint))),),
        note=spent.NOTE,
    )


def _without_waiting(bar: plots.Bar) -> plots.Bar:
    return replace(bar, parts={part: n for part, n in bar.parts.items() if part != spent.WAITING})


def _share_outside(parts: Mapping[str, float]) -> float:
    return spent.outside_of(parts) / (sum(parts.values()) or 1)


def _parts_table(bars: Sequence[plots.Bar], parts: Sequence[str]) -> Table:
    rows = tuple(
        (
            f"{bar.label}{data.BETWEEN}{bar.facet}" if bar.facet else bar.label,
            *(duration(bar.parts.get(part, 0)) for part in parts),
            duration(sum(bar.parts.values())),
        )
        for bar in bars
    )
    return Table("Time by what it is made of", ("configuration", *parts, "together"), (), rows)


def wear_section(run: Run, key: str = "") -> Section:
    """The erases of each block, a map for each configuration, all on one scale."""
    from markupsafe import Markup, escape

    groups = _most_worn(run)
    if not groups:
        return Section(f"{key}blocks", "Where is the wear?")
    scale = wear.common_scale([group.first.erases for group in groups])
    figures = Markup("")
    show = labels_of(run)
    worst = max(groups, key=lambda group: max(group.first.erases))
    for number, group in enumerate(groups):
        label = data.group_label(group.axes, show) or "all cases"
        summary = wear.Wear(group.first.erases)
        told = (
            f"min {summary.low} · mean {summary.mean:.2f} · max {summary.high} · std "
            f"{summary.deviation:.2f}"
        )
        drawing = wear.draw(group.first.erases, scale, f"{label}: {told}", f"{key}blocks-{number}")
        figures += Markup("<figure><figcaption><b>{}</b></figcaption>{}").format(
            label, Markup(drawing)
        ) + Markup('<p class="numbers">{}</p></figure>').format(told)
    keys = Markup("").join(
        Markup('<li><i class="swatch" style="background:var(--w{})"></i>{}</li>').format(
            scale.paint(shade), label
        )
        for shade, label in enumerate(scale.labels())
    )
    return Section(
        key=f"{key}blocks",
        title="Where is the wear?",
        sentence=f"The most erased block has {max(worst.first.erases)} erases: "
        f"**{data.group_label(worst.axes, show) or 'all cases'}**.",
        markup=Markup('<ul class="keys">{}</ul><div class="maps">{}</div>').format(keys, figures),
        note="A cell is an erase block, in order from the top left; its shade is how often it was "
        f"erased during the work. The lowest seed of {escape(len(groups))} configurations; of many "
        "each where a block was erased most.",
    )


def _most_worn(run: Run) -> list[Group]:
    """All cases if they are few, else of each configuration those where a block was erased most."""
    groups = data.group_by_seed([case for case in run.passed if case.erases])
    if len(groups) <= _MOST_MAPS:
        return list(groups)
    places = {name for case in run.passed for name, _ in place_of(case.axes, run.varying)}
    worst: dict[str, Group] = {}
    for group in groups:
        label = data.group_label(group.axes, labels_of(run, tuple(places)))
        known = worst.get(label)
        if known is None or max(known.first.erases) < max(group.first.erases):
            worst[label] = group
    return list(worst.values())[:_MOST_MAPS]
