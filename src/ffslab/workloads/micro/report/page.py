"""What a report says of micro-benchmarks only: their requests in order, why some are slow, what is
erased when, and what happens between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ffslab.errors import DamagedResultError
from ffslab.report import data, plots
from ffslab.report.axes import axis_of
from ffslab.report.configurations import chosen_among, place_of, place_text
from ffslab.report.data import Case, Run
from ffslab.report.elements import Table
from ffslab.report.first.board import short_names
from ffslab.report.first.samples import Place
from ffslab.report.quantity import duration, grouped, significant
from ffslab.report.sections.section import Chart, Section
from ffslab.results.schema import Metric
from ffslab.workloads.micro.report import requests
from ffslab.workloads.micro.report.figures import PHASES, figures_of
from ffslab.workloads.micro.report.parts import part_sections
from ffslab.workloads.micro.report.requests import Course

__all__ = ("METHOD", "TITLE", "figures_of", "sections")
TITLE = "Micro-benchmarks"
METHOD = (
    "A case sends requests of one size in one pattern to one file, by read() and write() of the "
    "file system itself; the response time is the virtual time of that one call. Sequential "
    "patterns go through the file from its beginning; random ones visit each place once, or draw "
    "places with replacement, as the study says. Data that are read are compared with what was "
    "written, outside the measured time. Erases count from the first request to the end of the "
    "flush behind the last (syncfs), by all tasks; bringing about the initial state is not "
    "measured. Requests of the start-up phase are the first ones, as long as they are served "
    "differently from the rest."
)
_PAUSE = "workload.pause_us"
_SHARE = Metric(
    name="between_percent",
    title="Flash work between requests",
    unit="%",
    meaning="share of the time that tasks are in the flash driver",
    exact=False,
)
_MOST_SLOW = 3  # of a configuration and a cause
_NOTABLE = 10  # percent
_ERASED = {"removal": "t2", "requests": "t1", "flush": "t3"}


def sections(run: Run, prefix: str) -> tuple[Section, ...]:
    """The sections of micro-benchmarks that have something to say."""
    run = replace(run, cases=tuple(case for case in run.passed if case.own.streams))
    if not run.cases:
        return ()
    names = _names(run)
    busiest = _busiest(run, names)
    made = (
        *part_sections(run, names, prefix),
        _course_section(run, busiest, names, f"{prefix}requests"),
        _removal_section(run, busiest, names, f"{prefix}removal"),
        _cause_section(run, names, f"{prefix}causes"),
        _between_section(run, names, f"{prefix}between"),
    )
    return tuple(
        replace(section, key=section.key.removeprefix(prefix))
        for section in made
        if not section.is_empty
    )


def _names(run: Run) -> dict[str, str]:
    """The configuration of each case in short, by its id."""
    show = (data.FILESYSTEM, *chosen_among(run.cases))
    labels = {case.id: data.group_label(case.axes, show) for case in run.cases}
    short = short_names(tuple(dict.fromkeys(labels.values())))
    return {case_id: short[label] for case_id, label in labels.items()}


def _busiest(run: Run, names: Mapping[str, str]) -> tuple[Case, ...]:
    """A case of each configuration, all at one place: the one that most of them share, with most
    requests of one stream, random writes rather than others.
    """
    places: dict[Place, dict[str, Case]] = {}
    for case in run.cases:
        if len(case.own.streams) == 1 and not case.own.mix_pattern:
            at = places.setdefault(place_of(case.axes, run.varying), {})
            at.setdefault(names[case.id], case)

    def rank(cases: Mapping[str, Case]) -> tuple[int, bool, int, bool]:
        first = next(iter(cases.values())).own
        is_random = first.pattern.startswith("random")
        return len(cases), first.writes, first.requests, is_random

    return tuple(max(places.values(), key=rank, default={}).values())


def _where(run: Run, case: Case) -> str:
    return place_text(place_of(case.axes, run.varying))


def _course_section(
    run: Run, cases: tuple[Case, ...], names: Mapping[str, str], key: str
) -> Section:
    """Each request in order, and where blocks are erased."""
    courses: dict[str, Course] = {}
    lost = ""
    for case in cases:
        try:
            course = requests.course_of(run.path, case.id)
        except DamagedResultError as error:
            lost = f"Not all could be drawn: {error.message.replace(f'{run.path}/', '')}."
            continue
        if course:
            courses[case.id] = course
    drawn = [case for case in cases if case.id in courses]
    times = [latency for course in courses.values() for _, latency in course.dots]
    paint = plots.paints(case.filesystem for case in drawn)
    charts = tuple(
        Chart(
            names[case.id],
            requests.draw(
                courses[case.id],
                (min(times), max(times)),
                paint[case.filesystem],
                case.own.streams[0].startup_count,
                f"{names[case.id]}: response time of each request",
                f"{key}-{number}",
            ),
        )
        for number, case in enumerate(drawn)
    )
    where = _where(run, cases[0]) if cases else ""
    return Section(
        key=key,
        title="Where does garbage collection begin?",
        sentence=_first_erase(drawn, courses, names),
        charts=charts,
        tables=(_startup_table(cases, names, where),) if cases else (),
        note=f"Requests in order{f' at {where}' if where else ''}: of many the slowest and the "
        "fastest of each short run. Ticks: a block was erased during a request or behind it. "
        f"Dashed: the start-up ends. {lost}",
    )


def _first_erase(cases: list[Case], courses: Mapping[str, Course], names: Mapping[str, str]) -> str:
    """Who erases first, and who last or never."""
    first = {names[c.id]: courses[c.id].erases[0] for c in cases if courses[c.id].erases}
    if not first:
        return "No request erased a block." if cases else ""
    early, late = min(first, key=lambda name: first[name]), max(first, key=lambda name: first[name])
    told = f"**{early}** erases first, at request {grouped(first[early])}"
    never = [names[c.id] for c in cases if not courses[c.id].erases]
    if never:
        return f"{told}; in the requests of {len(never)} of {len(cases)} none is erased."
    return f"{told}; {late} last, at {grouped(first[late])}." if late != early else f"{told}."


def _startup_table(cases: tuple[Case, ...], names: Mapping[str, str], where: str) -> Table:
    rows = []
    for case in cases:
        stream = case.own.streams[0]
        means = (stream.startup_ns, stream.running_ns or stream.mean_ns)
        told = (duration(mean) if mean is not None else "–" for mean in means)
        counts = (grouped(stream.count), grouped(stream.startup_count))
        rows.append((names[case.id], *counts, *told, duration(stream.max_ns)))
    head = ("configuration", "requests", "start-up", "mean of these", "of the rest", "longest")
    return Table(f"Start-up and the rest{f', {where}' if where else ''}", head, (), tuple(rows))


def _removal_section(
    run: Run, cases: tuple[Case, ...], names: Mapping[str, str], key: str
) -> Section:
    """Blocks erased by phase, where a filling file is removed before the first request."""
    title = "What does removing the filling file erase?"
    if not any(case.own.erased.get("removal") for case in cases):
        return Section(key, title)
    bars = [
        plots.Bar(names[case.id], {name: float(n) for name, n in case.own.erased.items()})
        for case in cases
    ]
    most = max(bars, key=lambda bar: bar.parts["removal"])
    share = 100 * most.parts["removal"] / sum(most.parts.values())
    ready = ": its requests find them ready" if share >= _NOTABLE else ""
    rows = tuple(
        (bar.label, *(grouped(int(bar.parts.get(name, 0))) for name in PHASES.values()))
        for bar in bars
    )
    drawing = plots.stack(bars, _ERASED, "blocks erased", f"{key}-stack", ("", 1))
    where = _where(run, cases[0])
    return Section(
        key=key,
        title=title,
        sentence=f"**{most.label}** erases {grouped(int(most.parts['removal']))} blocks then, "
        f"{share:.0f} % of all that it erases{ready}.",
        charts=(Chart("Blocks erased by phase", drawing, f"At {where}." if where else ""),),
        tables=(Table("Blocks erased", ("configuration", *PHASES.values()), (), rows),),
        note="The removal stands before the first request and is in no other figure here.",
    )


def _cause_section(run: Run, names: Mapping[str, str], key: str) -> Section:
    """The slowest request of each case against its median, by cause."""
    ratios_by_place: dict[tuple[str, str], dict[str, plots.Ratio]] = {}
    for case in run.cases:
        where = _where(run, case)
        for stream in case.own.streams:
            slow = stream.slowest
            if slow is None or not stream.p50_ns:
                continue
            ratio = plots.Ratio(
                row=slow.cause,
                label=names[case.id],
                filesystem=case.filesystem,
                value=slow.latency_ns / stream.p50_ns,
                place=where,
                text=f"{duration(slow.latency_ns)}, {slow.work}".rstrip(", "),
            )
            known = ratios_by_place.setdefault((slow.cause, ratio.label), {})
            if where not in known or known[where].value < ratio.value:
                known[where] = ratio
    groups = {
        key: sorted(own.values(), key=lambda r: -r.value) for key, own in ratios_by_place.items()
    }
    shown = [ratio for own in groups.values() for ratio in own[:_MOST_SLOW]]
    shown.sort(key=lambda ratio: -ratio.value)
    if not shown:
        return Section(key, "Why are some requests slow?")
    worst = shown[0]
    rows = tuple(
        (cause, label, grouped(len(own)), significant(own[0].value), own[0].text, own[0].place)
        for (cause, label), own in groups.items()
    )
    head = ("cause", "configuration", "places", "÷ median", "slowest", "at")
    title = "Slowest request of a case ÷ its median"
    return Section(
        key=key,
        title="Why are some requests slow?",
        sentence=f"Furthest from its median, {significant(worst.value)} times, is a request of "
        f"**{worst.label}**: {worst.row}.",
        charts=(Chart(title, plots.ratios(shown, title, f"{key}-ratios")),),
        tables=(Table("By cause", head, (), rows, text_columns=2, told=True),),
        note="A rule tells the cause from the flash operations in the request "
        f"(docs/result-format.md). Of a configuration and a cause the {_MOST_SLOW} furthest are "
        "drawn.",
    )


def _between_section(run: Run, names: Mapping[str, str], key: str) -> Section:
    """The share of the flash’s work that is done between requests, against the sleep."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in run.cases:
        groups.setdefault((names[case.id], case.axes.get(_PAUSE, "0")), []).append(case)
    points = [_between_point(label, pause, cases) for (label, pause), cases in groups.items()]
    points = [point for point in points if point.value > 0]
    title = "What happens between requests?"
    if not points:
        return Section(key, title)
    pauses = sorted({float(pause) for _, pause in groups})
    most = max(points, key=lambda point: point.value)
    axis = axis_of(_PAUSE, pauses)
    at = f" with a {axis.word} of {axis.value_text(most.x)}" if len(pauses) > 1 else ""
    draw = plots.curves(points, _SHARE, axis, "Between requests", f"{key}-curves")
    if len(pauses) == 1:
        draw = plots.dots(points, _SHARE, "Between requests", f"{key}-dots")
    return Section(
        key=key,
        title=title,
        sentence=f"**{most.label}** does most, {significant(most.value)} % of its work on the "
        f"flash{at}.",
        charts=(Chart("Share of the flash’s work that is done between requests", draw),),
        tables=(Table("By task, all cases together", *_task_table(groups)),),
        note="Work is the time that tasks are in the flash driver.",
    )


def _between_point(label: str, pause: str, cases: list[Case]) -> plots.Point:
    streams = [stream for case in cases for stream in case.own.streams]
    whole = sum(stream.busy_ns for stream in streams)
    between = sum(task.busy_ns for stream in streams for task in stream.between)
    share = 100 * between / whole if whole else 0.0
    return plots.Point(label, cases[0].filesystem, share, x=float(pause))


def _task_table(
    groups: Mapping[tuple[str, str], list[Case]],
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, ...], ...], int]:
    """Head, units, rows and columns of words: what each task did between requests."""
    rows: list[tuple[str, ...]] = []
    for (label, pause), cases in groups.items():
        rows += _task_rows(label, f"{float(pause) / 1e3:g}", cases)
    head = ("configuration", "sleep", "task", "read", "programmed", "erased", "busy")
    units = ("", "ms", "", "pages", "pages", "blocks", "per request")
    return head, units, tuple(rows), 3


def _task_rows(label: str, sleep: str, cases: list[Case]) -> Iterator[tuple[str, ...]]:
    sums: dict[str, list[int]] = {}
    for case in cases:
        for stream in case.own.streams:
            for task in stream.between:
                own = (task.pages_read, task.pages_programmed, task.blocks_erased, task.busy_ns)
                known = sums.setdefault(task.task, [0] * len(own))
                sums[task.task] = [
                    known_count + more for known_count, more in zip(known, own, strict=True)
                ]
    requests_done = sum(case.own.requests for case in cases)
    for name, (*counts, busy_ns) in sums.items():
        yield label, sleep, name, *map(grouped, counts), duration(round(busy_ns / requests_done))
