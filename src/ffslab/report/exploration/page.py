"""The page of an exploration: what was explored, what became of it, what recovery costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ffslab.exploration.run import Directory
from ffslab.exploration.stored import StoredFinding, cut_of
from ffslab.exploration.verdict import CORRECT
from ffslab.oracle.faults import KINDS
from ffslab.program import command
from ffslab.report import charts
from ffslab.report.charts import PALETTE
from ffslab.report.data import FILESYSTEM, Group
from ffslab.report.elements import Table, environment
from ffslab.report.exploration.chart import strips
from ffslab.report.exploration.load import Loaded, Part, load
from ffslab.report.exploration.outcomes import outcomes_of, tone_of, total
from ffslab.report.exploration.recovery import Recovery, Series, recovery_of
from ffslab.report.exploration.series import series_table
from ffslab.report.exploration.words import (
    commands,
    cut_words,
    facts,
    result_words,
    series_words,
    under_way,
)
from ffslab.report.quantity import grouped, significant
from ffslab.report.wear import RAMP
from ffslab.results.files import write_atomic

REPORT = "report.html"
_DETAIL = 300  # as much of what differed is shown


@dataclass(frozen=True)
class ShownFinding:
    """A line of the list of findings."""

    id: str
    tone: str
    filesystem: str
    workload: str
    cut: str
    times: str
    under_way: str
    outcome: str
    detail: str
    command: str


@dataclass(frozen=True)
class ShownRecovery:
    """The chart of a unit, with its table."""

    title: str
    meaning: str
    drawing: str
    table: Table


def write_exploration(directory: Directory, output: Path | None = None) -> Path:
    """Writes the page in one step, and returns its path: `report.html` in the directory."""
    target = output or directory.path / REPORT
    if target.is_dir():
        target = target / REPORT
    write_atomic(target, render_exploration(directory))
    return target


def render_exploration(directory: Directory) -> str:
    """The page; MissingExtraError without the packages that a report needs."""
    template = environment().get_template("exploration.html.j2")
    loaded = load(directory)
    is_timed = loaded.exploration.is_timed
    every = (recovery_of(part, is_timed=is_timed) for part in loaded.parts)
    recoveries = _in_order([one for one in every if one is not None])
    page = template.render(
        about=loaded.about,
        loaded=loaded,
        facts=facts(loaded),
        result=result_words(loaded),
        is_bad=any(word != CORRECT for word in total(p.stored["counts"] for p in loaded.parts)),
        outcomes=outcomes_of(loaded.parts, is_sample=bool(loaded.exploration.cuts.sample)),
        findings=[
            _finding(loaded, part, finding)
            for part in loaded.parts
            for finding in part.stored["findings"]
        ],
        is_timed=is_timed,
        fault_kinds=KINDS.values(),
        series=series_table(loaded.parts),
        worst=_worst_table(recoveries, is_timed=is_timed),
        recoveries=_by_workload(recoveries),
        boards=tuple(dict.fromkeys(part.board.name for part in loaded.parts)),
        commands=commands(loaded),
        palette=PALETTE,
        ramp=RAMP,
    )
    return str(page)


def _finding(loaded: Loaded, part: Part, finding: StoredFinding) -> ShownFinding:
    name = cut_of(finding["state"])
    detail = finding["detail"]
    more = f"and {grouped(finding['states'] - 1)} more" if finding["states"] > 1 else ""
    alone = "" if finding["confirmed"] else "not confirmed alone in a guest"
    return ShownFinding(
        id=finding["id"],
        tone=tone_of(finding["outcome"]),
        filesystem=part.label,
        workload=part.workload,
        cut=series_words(name.cut)
        if "series" in part.stored
        else cut_words(name.cut) + (f"; recovery: {cut_words(name.then)}" if name.then else ""),
        times=", ".join(words for words in (more, alone) if words),
        under_way=under_way(part, name.cut.operation),
        outcome=finding["outcome"],
        detail=detail if len(detail) <= _DETAIL else f"{detail[:_DETAIL].rstrip()}…",
        command=command("crash", "replay", finding["id"], "--run", loaded.path),
    )


def _worst_table(recoveries: Sequence[Recovery], *, is_timed: bool) -> Table:
    """A row for each unit: its most expensive mount."""
    rows: list[tuple[str, ...]] = []
    headings: dict[int, str] = {}
    for one in recoveries:
        if one.part.workload not in headings.values():
            headings[len(rows)] = one.part.workload
        rows.append(_worst_row(one))
    time = "virtual time" if is_timed else "flash time, estimate"
    head = ("", "cut at", "reads", "programs", "erases", time, "uncut", "power was cut in")
    units = ("", "", "", "", "", "ms", "ms", "")
    return Table("The most expensive mount", head, units, tuple(rows), headings=headings)


def _worst_row(one: Recovery) -> tuple[str, ...]:
    at = one.worst

    def there(series: Series) -> float:
        return dict(series.points)[at]

    return (
        one.part.label,
        grouped(at),
        *(series.text(there(series)) for series in one.counts),
        _range([there(series) for series in one.times]),
        _range([series.uncut for series in one.times]),
        under_way(one.part, at),
    )


def _range(values_ms: Sequence[float | None]) -> str:
    """One value, or the two bounds of an estimate; "–" for none."""
    texts = dict.fromkeys(significant(value) for value in values_ms if value is not None)
    return "–".join(texts) or "–"


def _in_order(recoveries: Sequence[Recovery]) -> list[Recovery]:
    """By workload, as the table of outcomes."""
    names = list(dict.fromkeys(one.part.workload for one in recoveries))
    return sorted(recoveries, key=lambda one: names.index(one.part.workload))


def _by_workload(recoveries: Sequence[Recovery]) -> list[tuple[str, list[ShownRecovery]]]:
    names = dict.fromkeys(one.part.spec.case.filesystem.name for one in recoveries)
    look = charts.look_for([Group({FILESYSTEM: name}, ()) for name in names])
    shown: dict[str, list[ShownRecovery]] = {}
    for number, one in enumerate(recoveries):
        colour = look.colour(one.part.spec.case.filesystem.name)
        shown.setdefault(one.part.workload, []).append(_shown(one, colour, f"r{number}"))
    return list(shown.items())


def _shown(one: Recovery, colour: str, identifier: str) -> ShownRecovery:
    operations = one.part.stored["operations"]
    if one.is_exhaustive:
        cuts = f"a cut before each of {grouped(operations)} operations"
    else:
        drawn = grouped(len(one.drawn[0].points))
        cuts = f"cuts before {drawn} of {grouped(operations)} operations"
    title = f"{one.part.label}, {one.part.workload}: mounts after {cuts}"
    return ShownRecovery(
        one.part.label,
        f"After {cuts}.",
        strips(one.drawn, operations, colour, title, identifier),
        Table(
            "",
            ("", "median", "95 %", "most", "cut at", "uncut"),
            (),
            (
                *(_statistics(series) for series in one.drawn),
                *([_estimate(one.estimate)] if one.estimate else []),
            ),
        ),
    )


def _statistics(series: Series) -> tuple[str, ...]:
    at, most = series.worst
    return (
        f"{series.name}, {series.unit}" if series.unit else series.name,
        series.text(series.percentile(50)),
        series.text(series.percentile(95)),
        series.text(most),
        grouped(at) if most else "–",
        series.text(series.uncut),
    )


def _estimate(bounds: Sequence[Series]) -> tuple[str, ...]:
    return (
        "flash time, ms, estimate",
        _range([series.percentile(50) for series in bounds]),
        _range([series.percentile(95) for series in bounds]),
        _range([series.worst[1] for series in bounds]),
        grouped(bounds[-1].worst[0]),
        _range([series.uncut for series in bounds]),
    )
