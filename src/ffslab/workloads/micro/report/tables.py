"""The tables of a run of workload `micro`, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ffslab.report import data
from ffslab.report.axes import axis_of
from ffslab.report.elements import Table
from ffslab.report.quantity import SPACE, duration, grouped, significant, times
from ffslab.report.standings import (
    ALIKE,
    CUT,
    crossing_text,
    extent_text,
    factors_text,
    listed,
    spans,
)
from ffslab.workloads.micro.report import sentences
from ffslab.workloads.micro.report.data import (
    PAUSE,
    MicroCase,
    MicroRun,
    Preparation,
    Response,
    SlowRequest,
    TaskWork,
    merged,
)
from ffslab.workloads.micro.report.series import Curves, Point, Sample, Section, curves

_SLOWEST_PER_LINE = 5
_NONE = "–"
_IN_MEMORY = "in memory"
_WHOLE = 0.995  # of a volume: less would be told by three digits


def ranking_table(section: Section) -> Table | None:
    """How far each configuration is behind the fastest at each point, per pattern and value of the
    second axis: the range over the points of the first.
    """
    ranked = sentences.flash_rankings(section)
    if not ranked:
        return None
    several = len(section.panels) > 1 or len(section.axes) < 2
    places = [ranking.words if several else ranking.place for ranking in ranked]
    title = "How far behind the fastest: mean response time ÷ the smallest at the same point"
    if section.in_memory:
        title += ", of those that wait for the flash"
    if len(places) > len(section.labels):
        rows = [
            (row_name, *(_behind_cell(section, ranking, label) for label in section.labels))
            for row_name, ranking in zip(places, ranked, strict=True)
        ]
        return Table(title, ("pattern", *section.labels), (), tuple(rows))
    rows = [
        (label, *(_behind_cell(section, ranking, label) for ranking in ranked))
        for label in section.labels
    ]
    return Table(title, ("configuration", *places), (), tuple(rows))


def _behind_cell(section: Section, ranking: sentences.Ranking, label: str) -> str:
    extent = ranking.standing.behind.get(label)
    if extent:
        return factors_text(extent) + ranking.cut.get(label, "")
    return _IN_MEMORY if (ranking.panel, label) in section.in_memory else _NONE


def winners_table(section: Section) -> Table | None:
    """At which points each configuration is the fastest, where it is not one everywhere, and which
    lines cross.
    """
    ranked = sentences.flash_rankings(section)
    if not any(ranking.standing.crossings for ranking in ranked):
        return None
    rows = []
    for ranking in ranked:
        order, axis = ranking.standing, ranking.axis
        if axis is None:
            continue
        reigns = (
            f"{listed(reign.labels)} at {spans(axis, reign.points, order.points)}"
            for reign in order.reigns
        )
        crossed = (crossing_text(crossing, axis) for crossing in order.crossings)
        rows.append((ranking.words, "; ".join(reigns), "; ".join(crossed) or "none"))
    head = ("pattern", f"fastest (alike: {ALIKE})", "lines that cross")
    title = "Which is fastest where, and which lines cross"
    return Table(title, head, (), tuple(rows), 3, wrapped=(1, 2)) if rows else None


def effects_table(effects: sentences.Effects, section: Section) -> Table:
    """What each value of an axis changes against its base, per configuration."""
    several = len(section.panels) > 1
    head = (*(["pattern"] if several else []), "configuration")
    rows = tuple(
        (
            *([row.panel] if several else []),
            row.label,
            *(
                f"{extent_text(factor)}{cut}" if factor else _NONE
                for factor, cut in zip(row.factors, row.cut, strict=True)
            ),
        )
        for row in effects.rows
    )
    axis = effects.axis
    title = f"{sentences.effect_title(effects)}: response time against {axis.text(effects.base)}"
    if effects.other:
        title += f", range over the {effects.other.word}"
    columns = tuple(axis.value_text(value) for value in effects.values)
    return Table(title, (*head, *columns), (), rows, len(head), told=True)


def response_table(section: Section) -> Table | None:
    """Mean response times: a row per configuration, pattern and value of the second axis."""
    responses = sentences.response_curves(section)
    values = [mean.mean for line in responses.values() for mean in line.values()]
    unit, scale = ("ms", 1e6) if max(values, default=0) >= 1e6 else ("µs", 1e3)
    title = f"Mean response time of all requests ({unit})"
    return _point_table(section, title, responses, lambda value: significant(value / scale))


def wear_tables(section: Section) -> tuple[Table, ...]:
    """Erases per block at each point: mean and standard deviation over the blocks."""
    titles = ("Mean erases per block", "Standard deviation of erases per block")
    tables = (
        _point_table(section, title, lines, significant)
        for title, lines in zip(titles, wear_curves(section), strict=True)
        if lines
    )
    return tuple(table for table in tables if table)


def _point_table(
    section: Section,
    title: str,
    lines: Curves,
    text: Callable[[float], str],
) -> Table | None:
    """A value at each point of the first axis, the patterns below each other; with what was moved
    of the volume asked for, which is what the values are of.
    """
    if not section.axes:
        return None
    first = section.axes[0]
    moved = moved_bytes(section)
    rows: list[tuple[str, ...]] = []
    headings = {}
    for panel in section.panels:
        if any(left_out == panel for left_out, _ in lines):
            headings[len(rows)] = panel
        for label in section.labels:
            line = lines.get((panel, label), {})
            for rest in dict.fromkeys(point[1:] for point in line):
                at = [line.get((value, *rest)) for value in first.values]
                cells = [text(mean.mean) + CUT * mean.cut if mean else _NONE for mean in at]
                places = [a.text(v) for a, v in zip(section.axes[1:], rest, strict=True)]
                rows.append((label, *places, _moved_text(moved[panel, label, rest]), *cells))
    head = ("configuration", *(axis.title for axis in section.axes[1:]))
    columns = tuple(first.value_text(value) for value in first.values)
    return Table(
        f"{title}, against {first.title}",
        (*head, "moved (MB)", *columns),
        (),
        tuple(rows),
        len(head),
        headings=headings if len(headings) > 1 else {},
        note=cut_note(section),
    )


def moved_bytes(section: Section) -> dict[tuple[str, str, Point], list[tuple[int, int]]]:
    """What each configuration moved in each pattern and what it was asked to, of each case, at each
    place but on the first axis.
    """
    by_point: dict[tuple[str, str, Point], list[tuple[int, int]]] = {}
    for sample in section.samples:
        key = (sample.panel, sample.label, sample.point[1:])
        volumes = (sample.case.moved_bytes, sample.case.asked_bytes)
        by_point.setdefault(key, []).append(volumes)
    return by_point


def _moved_text(volumes: Sequence[tuple[int, int]]) -> str:
    """`11.0 of 21.0`: what was asked for is told where it is more."""
    moved = _sizes(done for done, _ in volumes)
    short = any(done < asked * _WHOLE for done, asked in volumes)
    return f"{moved} of {_sizes(asked for _, asked in volumes)}" if short else moved


def cut_note(section: Section) -> str:
    """What the mark means, and how far the marked cases came; empty if there is none."""
    shares = [
        100 * sample.case.requests_done / sample.case.requests
        for sample in section.samples
        if sample.case.stopped and sample.case.requests
    ]
    if not shares:
        return ""
    low, high = significant(min(shares)), significant(max(shares))
    came = f"{low} %" if low == high else f"{low} to {high} %"
    return (
        f"{CUT} The file system was full (ENOSPC) before all was written: figures of the first "
        f"{came} of the requests."
    )


def wear_curves(section: Section) -> tuple[Curves, Curves]:
    """Mean and standard deviation of erases per block, of cases that write.

    A mix has one wear, whichever of its patterns one looks at.
    """
    samples = [
        sample
        for sample in section.samples
        if sample.case.writes and sample.panel.startswith(sample.case.pattern)
    ]
    return (
        curves(samples, lambda sample: sample.case.erases_mean),
        curves(samples, lambda sample: sample.case.erases_std),
    )


def phase_table(section: Section) -> Table:
    """Start-up and running phase of each configuration at each point, over its seeds."""
    groups: dict[tuple[str, str, tuple[float, ...]], list[Sample]] = {}
    for sample in section.samples:
        groups.setdefault((sample.panel, sample.label, sample.point), []).append(sample)
    rows = []
    order = section.panels
    for (panel, label, point), members in sorted(
        groups.items(), key=lambda item: order.index(item[0][0])
    ):
        places = [axis.text(value) for axis, value in zip(section.axes, point, strict=True)]
        rows.append(
            (
                panel,
                label,
                *places,
                _range_text([sample.startup_count for sample in members]),
                *_phase_cells(sample.startup for sample in members),
                *_phase_cells((sample.running or sample.all for sample in members), _cut(members)),
            )
        )
    words = ("pattern", "configuration", *(axis.title for axis in section.axes))
    figures = ("mean", "p50", "p90", "p99", "max")
    head = (
        *words,
        "start-up requests",
        *(f"start-up {name}" for name in figures),
        *(f"running {name}" for name in figures),
    )
    return Table("", head, (), tuple(rows), len(words), note=cut_note(section))


def _cut(members: Iterable[Sample]) -> str:
    return CUT if any(sample.case.stopped for sample in members) else ""


def _phase_cells(responses: Iterable[Response | None], mark: str = "") -> list[str]:
    """Means over seeds; of the maximum the largest. `mark` stands beside the mean."""
    known = [response for response in responses if response is not None]
    if not known:
        return [_NONE] * 5
    cells = [duration(sum(response.mean_ns for response in known) / len(known)) + mark]
    for name in ("p50_ns", "p90_ns", "p99_ns"):
        values = [value for r in known if (value := getattr(r, name)) is not None]
        cells.append(duration(sum(values) / len(values)) if values else _NONE)
    return [*cells, duration(max(response.max_ns for response in known))]


def slow_table(run: MicroRun, labels: Mapping[str, str]) -> Table | None:
    """The slowest requests of each configuration, with cause and flash operations by task.

    Of each case its slowest one, of cases that differ only in the seed one; those furthest above
    the median of their case.
    """
    slowest: dict[str, dict[str, tuple[float, tuple[str, ...]]]] = {}
    for case in run.passed:
        alike = case.id.removesuffix(f"-s{case.seed}")
        of_label = slowest.setdefault(labels[case.id], {})
        for stream in case.streams:
            for slow in stream.slowest[:1]:
                times_median = slow.latency_ns / (stream.all.p50_ns or slow.latency_ns or 1)
                entry = (times_median, _slow_cells(case, slow, stream.all.p50_ns))
                of_label[alike] = max(of_label.get(alike, entry), entry, key=lambda kept: kept[0])
    rows = []
    for of_label in slowest.values():
        entries = sorted(of_label.values(), key=lambda entry: -entry[0])
        rows += [cells for _, cells in entries[:_SLOWEST_PER_LINE]]
    if not rows:
        return None
    head = (
        "case",
        "cause",
        "flash operations by task",
        "response time",
        "÷ median",
        "request",
        "offset",
    )
    return Table("", head, (), tuple(rows), 3, wrapped=(0, 1, 2))


def _slow_cells(case: MicroCase, slow: SlowRequest, median_ns: float | None) -> tuple[str, ...]:
    return (
        case.id,
        slow.cause,
        _work_text(slow.tasks),
        duration(slow.latency_ns),
        _against_median(slow.latency_ns, median_ns),
        grouped(slow.request),
        _size_text(slow.offset),
    )


def _against_median(latency_ns: int, median_ns: float | None) -> str:
    return times(latency_ns / median_ns) if median_ns else _NONE


def causes_table(run: MicroRun, labels: Mapping[str, str]) -> Table | None:
    """How often each cause appears among the slowest requests of all cases."""
    counts: dict[str, dict[str, int]] = {}
    for case in run.passed:
        for stream in case.streams:
            for slow in stream.slowest:
                by_cause = counts.setdefault(labels[case.id], {})
                by_cause[slow.cause] = by_cause.get(slow.cause, 0) + 1
    causes = sorted({cause for of_label in counts.values() for cause in of_label})
    if not causes:
        return None
    rows = tuple(
        (label, *(grouped(of_label[cause]) if cause in of_label else _NONE for cause in causes))
        for label, of_label in counts.items()
    )
    head = ("configuration", *(cause or "not recorded" for cause in causes))
    return Table("Causes of the slowest requests of all cases", head, (), rows)


def _work_text(tasks: Iterable[TaskWork]) -> str:
    texts = [f"{task.name}: {operations_text(task)}" for task in tasks if task.operations]
    return "; ".join(texts) or "none"


def operations_text(task: TaskWork) -> str:
    """Flash operations in words, without those that did not happen."""
    parts = (
        (task.pages_read, "read"),
        (task.pages_programmed, "programmed"),
        (task.blocks_erased, "erased"),
        (task.oob_pages, "OOB areas"),
    )
    return ", ".join(f"{grouped(count)} {word}" for count, word in parts if count) or "none"


def idle_table(run: MicroRun, labels: Mapping[str, str]) -> Table | None:
    """What each task did on the flash between requests, per request, by configuration and sleep."""
    groups: dict[tuple[str, float | None], list[MicroCase]] = {}
    for case in run.passed:
        groups.setdefault((labels[case.id], case.numbers.get(PAUSE)), []).append(case)
    order = list(dict.fromkeys(label for label, _ in groups))
    rows = []
    for label, pause in sorted(groups, key=lambda key: (order.index(key[0]), key[1] or 0)):
        cases = groups[label, pause]
        requests = sum(stream.all.count for case in cases for stream in case.streams)
        work = _after(cases)
        sleep = _sleep_text(pause)
        for name, task in work.items():
            rows.append((label, sleep, name, *_per_request(task, requests)))
        if not work:
            rows.append((label, sleep, "nothing", *[_NONE] * 6))
    if not any(row[2] != "nothing" for row in rows):
        return None
    head = (
        "configuration",
        "sleep",
        "task",
        "pages read",
        "pages programmed",
        "blocks erased",
        "OOB areas alone",
        "programmed",
        "time in the driver",
    )
    units = ("", "", "", "", "", "", "", "per request", "per request")
    return Table("", head, units, tuple(rows), 3)


def _sleep_text(pause_us: float | None) -> str:
    return axis_of(PAUSE, (pause_us,)).value_text(pause_us) if pause_us else "none"


def _after(cases: Sequence[MicroCase]) -> dict[str, TaskWork]:
    """Work between requests by task, over cases, the busiest first."""
    by_name: dict[str, list[TaskWork]] = {}
    for case in cases:
        for stream in case.streams:
            for task in stream.tasks:
                if task.when == "after" and task.operations:
                    name = task.name.partition("/")[0]  # kworker/u2:1: any of the kernel's workers
                    by_name.setdefault(name, []).append(task)
    summed = {
        name: TaskWork(
            name,
            "after",
            sum(task.pages_read for task in tasks),
            sum(task.pages_programmed for task in tasks),
            sum(task.blocks_erased for task in tasks),
            sum(task.busy_ns for task in tasks),
            sum(task.oob_pages for task in tasks),
        )
        for name, tasks in by_name.items()
    }
    return dict(sorted(summed.items(), key=lambda item: -item[1].busy_ns))


def _per_request(task: TaskWork, requests: int) -> tuple[str, ...]:
    return (
        grouped(task.pages_read),
        grouped(task.pages_programmed),
        grouped(task.blocks_erased),
        grouped(task.oob_pages),
        significant(task.pages_programmed / requests) if requests else _NONE,
        duration(round(task.busy_ns / requests)) if requests else _NONE,
    )


def preparation_table(run: MicroRun, labels: Mapping[str, str]) -> Table | None:
    """What the preparation of each state achieved; a range where seeds differ."""
    groups: dict[tuple[str, str, bool], dict[str, Preparation]] = {}
    for case in run.cases:
        made = case.preparation
        if made is not None:
            name = _state_name(case)
            key = (labels[case.id], name, made.file_bytes > 0)
            groups.setdefault(key, {})[made.key or case.id] = made
    rows = []
    for (label, state, _), members in groups.items():
        made_all = list(members.values())
        first = made_all[0]
        rows.append(
            (
                label,
                state,
                grouped(len(made_all)),
                _sizes(made.valid_bytes for made in made_all),
                _sizes(made.invalid_bytes for made in made_all) + _fate(first),
                _sizes(made.file_bytes for made in made_all),
                _range_text([made.pages_programmed for made in made_all]),
                _range_text([made.blocks_erased for made in made_all]),
                _sizes(made.free_before for made in made_all),
                _sizes(made.free_after for made in made_all),
                _sizes(made.reserve_bytes for made in made_all),
            )
        )
    if not rows:
        return None
    head = (
        "configuration",
        "state",
        "prepared",
        "valid file",
        "invalid file",
        "test file",
        "pages programmed",
        "blocks erased",
        "free before",
        "free after",
        "reserve",
    )
    units = ("", "", "", "MB", "MB", "MB", "", "", "MB", "MB", "MB")
    return Table("", head, units, tuple(rows), 2)


def _fate(made: Preparation) -> str:
    """Whether the invalid data were removed before the snapshot, to make room, or are removed
    right before the first request.
    """
    return ", removed" if made.invalid_bytes and not made.invalid_present else ""


def _state_name(case: MicroCase) -> str:
    made = case.preparation
    state = case.line.get(data.STATE) or (made.state if made else "")
    rate = case.numbers.get("state.rate_percent")
    return f"{state} {rate:g}{SPACE}%" if rate is not None else state


def volume_table(run: MicroRun, labels: Mapping[str, str]) -> Table | None:
    """How much was moved after cutting to what is available, and what ended early."""
    groups: dict[tuple[str, str], list[MicroCase]] = {}
    for case in run.passed:
        op = "write" if case.writes else "read"
        groups.setdefault((labels[case.id], op), []).append(case)
    rows = []
    for (label, op), cases in groups.items():
        stopped = [case for case in cases if case.stopped]
        rows.append(
            (
                label,
                op,
                grouped(len(cases)),
                _sizes(case.asked_bytes for case in cases),
                _sizes(case.volume_bytes for case in cases),
                _sizes(case.file_bytes for case in cases),
                grouped(len(stopped)) if stopped else "none",
            )
        )
    head = ("configuration", "requests", "cases", "volume asked for", "volume", "test file")
    units = ("", "", "", "MB", "MB", "MB", "cases")
    return Table("", (*head, "ended by ENOSPC"), units, tuple(rows), 2) if rows else None


def case_table(run: MicroRun) -> Table:
    """Every case with its main figures."""
    by_id = {case.id: case for case in run.cases}
    rows = [(plain.id, plain.outcome, *_case_cells(by_id[plain.id])) for plain in run.run.cases]
    head = (
        "case",
        "outcome",
        "requests",
        "mean",
        "p50",
        "p99",
        "max",
        "mean erases per block",
        "standard deviation",
        "pages programmed",
        "in flush",
        "blocks erased",
        "stopped",
    )
    return Table("", head, (), tuple(rows), 2, outcomes=True)


def _case_cells(case: MicroCase) -> list[str]:
    if not case.streams:
        return [_NONE] * 11
    whole = merged(stream.all for stream in case.streams)
    shown = [_NONE] * 5
    if whole:
        known = (whole.mean_ns, whole.p50_ns, whole.p99_ns, whole.max_ns)
        shown = [grouped(whole.count)]
        if case.stopped:
            shown = [f"{grouped(whole.count)} of {grouped(case.requests)}{CUT}"]
        shown += [duration(value) if value is not None else _NONE for value in known]
    wear = [
        significant(value) if value is not None else _NONE
        for value in (case.erases_mean, case.erases_std)
    ]
    counts = (case.pages_programmed, case.flush_pages, case.blocks_erased)
    return [*shown, *wear, *(grouped(count) for count in counts), case.stopped or _NONE]


def _size_text(value: int) -> str:
    """Bytes with a binary unit when they are whole."""
    for unit, size in (("MiB", 2**20), ("KiB", 2**10)):
        if value and value % size == 0:
            return f"{grouped(value // size)}{SPACE}{unit}"
    return f"{grouped(value)}{SPACE}B"


def _sizes(values: Iterable[int | None]) -> str:
    """Bytes in MB, or their range."""
    known = [value for value in values if value is not None]
    if not known:
        return _NONE
    low, high = (significant(value / 1e6) for value in (min(known), max(known)))
    return low if low == high else f"{low} – {high}"


def _range_text(values: Sequence[int]) -> str:
    low, high = grouped(min(values)), grouped(max(values))
    return low if low == high else f"{low} – {high}"
