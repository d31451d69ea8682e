"""The part of a report that is about power cuts: what became of them, what recovery costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.oracle.faults import KINDS
from ffslab.program import command
from ffslab.report import charts
from ffslab.report.data import FILESYSTEM, Case, Group, Run
from ffslab.report.elements import Table
from ffslab.report.load import Read, explained, open_run, plain_outline
from ffslab.report.page import common
from ffslab.report.quantity import grouped, significant
from ffslab.results.result import CaseResult
from ffslab.workloads.cuts.outcomes import CORRECT, wrong_words
from ffslab.workloads.cuts.report.chart import strips
from ffslab.workloads.cuts.report.load import Part, parts_of
from ffslab.workloads.cuts.report.outcomes import outcomes_of, tone_of, total
from ffslab.workloads.cuts.report.recovery import Recovery, Series, recovery_of
from ffslab.workloads.cuts.report.series import series_table
from ffslab.workloads.cuts.report.words import (
    cut_words,
    facts,
    kinds_of,
    minimize_command,
    result_words,
    series_words,
    under_way,
)
from ffslab.workloads.cuts.stored import CutsResult, StoredFinding, cuts_result
from ffslab.workloads.cuts.walk import cut_of

TITLE = "Power cuts"
__all__ = ("TITLE", "figures_of", "page")  # what the report asks of a workload
_DETAIL = 300  # as much of what differed is shown


@dataclass(frozen=True)
class ShownFinding:
    """A line of the list of findings."""

    id: str
    tone: str
    filesystem: str
    history: str
    cut: str
    times: str
    under_way: str
    outcome: str
    detail: str
    command: str


@dataclass(frozen=True)
class ShownRecovery:
    """The chart of a case, with its table."""

    title: str
    meaning: str
    drawing: str
    table: Table


def figures_of(row: CaseResult) -> CutsResult | None:
    """What became of a case's cuts; None if the history failed without one."""
    return cuts_result(row)


def page(run_dir: Path, read_cases: Sequence[Read[CutsResult | None]]) -> dict[str, Any]:
    """Everything the template shows of a run's cases of this workload."""
    directory = open_run(run_dir)
    manifest = directory.manifest()
    with explained(run_dir, manifest):
        run = plain_outline(run_dir, manifest, read_cases)
        parts = parts_of(directory, run, read_cases)
        return _shown_page(run_dir, run, parts)


def _shown_page(run_dir: Path, run: Run, parts: Sequence[Part]) -> dict[str, Any]:
    explored = {part.case.id for part in parts}
    recoveries = _in_order(
        [recovery for part in parts if (recovery := recovery_of(part)) is not None]
    )
    is_timed = all(part.is_timed for part in parts)
    made = {kind for part in parts for kind in kinds_of(part)}
    return {
        **common(run),
        "facts": facts(parts),
        "result": result_words(parts),
        "is_bad": any(word != CORRECT for word in total(parts)),
        "states": sum(part.cuts["states"] for part in parts),
        "outcomes": outcomes_of(parts),
        "is_sample": any(part.workload.sample for part in parts),
        "findings": [
            _finding(run_dir, part, finding) for part in parts for finding in part.cuts["findings"]
        ],
        "is_timed": is_timed,
        "fault_kinds": [kind for kind in KINDS.values() if kind.name in made],
        "series": series_table(parts),
        "worst": _worst_table(recoveries, is_timed=is_timed),
        "recoveries": _by_history(recoveries),
        "minimize": minimize_command(parts, run_dir),
        "unexplored": [case for case in run.failures if case.id not in explored],
        "case_table": _case_table(run.cases, {part.case.id: part for part in parts}),
    }


def _case_table(cases: Sequence[Case], parts: Mapping[str, Part]) -> Table:
    rows = []
    for case in cases:
        part = parts.get(case.id)
        outcomes = total([part]) if part else Counter[str]()
        figures = (
            grouped(outcomes.total()),
            grouped(outcomes[CORRECT]),
            ", ".join(wrong_words(outcomes)),
        )
        rows.append((case.id, case.outcome, *(figures if part else ("–",) * 3)))
    head = ("case", "outcome", "states", "correct", "else")
    return Table("All cases", head, (), tuple(rows), text_columns=2, outcomes=True)


def _finding(run_dir: Path, part: Part, finding: StoredFinding) -> ShownFinding:
    name = cut_of(finding["state"])
    detail = finding["detail"]
    more = f"and {grouped(finding['states'] - 1)} more" if finding["states"] > 1 else ""
    alone = "" if finding["confirmed"] else "not confirmed alone in a guest"
    return ShownFinding(
        id=finding["id"],
        tone=tone_of(finding["outcome"]),
        filesystem=part.label,
        history=part.history,
        cut=series_words(name.cut)
        if "series" in part.cuts
        else cut_words(name.cut) + (f"; recovery: {cut_words(name.then)}" if name.then else ""),
        times=", ".join(words for words in (more, alone) if words),
        under_way=under_way(part, name.cut.operation),
        outcome=finding["outcome"],
        detail=detail if len(detail) <= _DETAIL else f"{detail[:_DETAIL].rstrip()}…",
        command=command("crash", "replay", finding["id"], "--run", run_dir),
    )


def _worst_table(recoveries: Sequence[Recovery], *, is_timed: bool) -> Table:
    """A row for each case: its most expensive mount."""
    rows: list[tuple[str, ...]] = []
    headings: dict[int, str] = {}
    for recovery in recoveries:
        if recovery.part.history not in headings.values():
            headings[len(rows)] = recovery.part.history
        rows.append(_worst_row(recovery))
    time = "virtual time" if is_timed else "flash time, estimate"
    head = ("", "cut at", "reads", "programs", "erases", time, "uncut", "power was cut in")
    units = ("", "", "", "", "", "ms", "ms", "")
    return Table("The most expensive mount", head, units, tuple(rows), headings=headings)


def _worst_row(recovery: Recovery) -> tuple[str, ...]:
    at = recovery.worst

    def there(series: Series) -> float:
        return dict(series.points)[at]

    return (
        recovery.part.label,
        grouped(at),
        *(series.text(there(series)) for series in recovery.counts),
        _range([there(series) for series in recovery.times]),
        _range([series.uncut for series in recovery.times]),
        under_way(recovery.part, at),
    )


def _range(values_ms: Sequence[float | None]) -> str:
    """One value, or the two bounds of an estimate; "–" for none."""
    texts = dict.fromkeys(significant(value) for value in values_ms if value is not None)
    return "–".join(texts) or "–"


def _in_order(recoveries: Sequence[Recovery]) -> list[Recovery]:
    """By history, as the table of outcomes."""
    names = list(dict.fromkeys(recovery.part.history for recovery in recoveries))
    return sorted(recoveries, key=lambda recovery: names.index(recovery.part.history))


def _by_history(recoveries: Sequence[Recovery]) -> list[tuple[str, list[ShownRecovery]]]:
    names = dict.fromkeys(recovery.part.filesystem for recovery in recoveries)
    look = charts.look_for([Group({FILESYSTEM: name}, ()) for name in names])
    shown: dict[str, list[ShownRecovery]] = {}
    for number, recovery in enumerate(recoveries):
        colour = look.colour(recovery.part.filesystem)
        shown.setdefault(recovery.part.history, []).append(_shown(recovery, colour, f"r{number}"))
    return list(shown.items())


def _shown(recovery: Recovery, colour: str, identifier: str) -> ShownRecovery:
    operations = recovery.part.cuts["operations"]
    if recovery.is_exhaustive:
        cuts = f"a cut before each of {grouped(operations)} operations"
    else:
        drawn = grouped(len(recovery.drawn[0].points))
        cuts = f"cuts before {drawn} of {grouped(operations)} operations"
    title = f"{recovery.part.label}, {recovery.part.history}: mounts after {cuts}"
    return ShownRecovery(
        recovery.part.label,
        f"After {cuts}.",
        strips(recovery.drawn, operations, colour, title, identifier),
        Table(
            "",
            ("", "median", "95 %", "most", "cut at", "uncut"),
            (),
            (
                *(_statistics(series) for series in recovery.drawn),
                *([_estimate(recovery.estimate)] if recovery.estimate else []),
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
