"""Assembles the page of a run of workload `micro`: results → sentences, figures, tables → HTML."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.errors import DamagedResultError
from ffslab.report import data
from ffslab.report.curves import Figure, Style
from ffslab.report.elements import Panel, Table, seeds_text
from ffslab.report.load import Read
from ffslab.report.page import common
from ffslab.report.quantity import capitalized, duration, grouped, significant
from ffslab.report.standings import ALIKE, CUT
from ffslab.report.topics import Sentence, Topic
from ffslab.workloads.micro.report import charts, sentences, tables
from ffslab.workloads.micro.report.data import REQUEST, MicroCase, MicroRun
from ffslab.workloads.micro.report.figures import figures, idle_figures
from ffslab.workloads.micro.report.load import Figures, figures_of, run_of
from ffslab.workloads.micro.report.requests import MOST_DOTS, Choice, choose, course_of
from ffslab.workloads.micro.report.series import Section, labels_of, sections

_RULE = (
    "The report compares configurations at each point, with the smallest mean response time "
    "there. For several points it gives the range and where its ends are, not a mean, because "
    f"another one may be fastest further along an axis. {capitalized(ALIKE)} counts as alike. "
    "Lines cross between "
    "two neighbouring points at which one is faster here and the other there."
)
_CACHE = {
    "drop": "page cache dropped before",
    "bypass": "page cache bypassed: each read goes to the flash",
    "keep": "page cache kept",
}
TITLE = "Micro-benchmarks"
__all__ = ("TITLE", "figures_of", "page")  # what the report asks of a workload
_GLOSSARY = (
    ("request, response time", "One read() or write() of a given size; how long the call took."),
    (
        "start-up, running phase",
        "The first requests of a case, while the file system serves them differently; and the "
        "rest.",
    ),
    ("saturated", "The partition was written until it was full, and everything removed."),
    ("flush", "What a file system kept in memory is written after the last request (syncfs)."),
    (
        "snapshot",
        "The flash’s contents after the preparation. Cases that need the same state get copies.",
    ),
)


@dataclass(frozen=True)
class View:
    """A section with what it shows."""

    section: Section
    sentences: tuple[Sentence, ...]
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]


def page(run_dir: Path, read_cases: Sequence[Read[Figures]]) -> dict[str, Any]:
    """Everything the template shows of a run's cases of this workload."""
    run = run_of(run_dir, read_cases)
    labels = labels_of(run)
    styles = charts.styles_for(run, labels)
    all_sections = sections(run)
    courses, not_drawn = _courses(run, labels, styles)
    return {
        **common(run.run, _GLOSSARY),
        "seeds": f"{seeds_text(run.run.seeds)}.",
        "stopped": _stopped(run, labels),
        "rule": _RULE,
        "topics": _topics(all_sections),
        "headline_tables": [t for s in all_sections if not run.parts for t in _ranking_tables(s)],
        "write_back": _write_back(run, labels),
        "cache_note": _cache_note(run),
        "views": [_view(section, styles, headline=not run.parts) for section in all_sections],
        "courses": courses,
        "not_drawn": not_drawn,
        "most_dots": grouped(MOST_DOTS),
        "phases": [(s.title, tables.phase_table(s)) for s in all_sections],
        "slow": tables.slow_table(run, labels),
        "causes": tables.causes_table(run, labels),
        "idle": tables.idle_table(run, labels),
        "idle_figures": idle_figures(all_sections, styles),
        "preparation": tables.preparation_table(run, labels),
        "preparation_lead": _preparation_lead(run),
        "volume": tables.volume_table(run, labels),
        "case_table": tables.case_table(run),
    }


def _topics(all_sections: Sequence[Section]) -> tuple[Topic, ...]:
    """All sentences of a study without parts; of each part the strongest effect of its axis."""
    told: list[Topic] = []
    kept: list[Sentence] = []
    for section in all_sections:
        if not section.is_part:
            lead = f"{section.title}: " if len(all_sections) > 1 else ""
            told += [
                Topic(f"{lead}{topic.title}", topic.sentences)
                for topic in sentences.topics(section)
            ]
            continue
        said = sentences.effect_sentences(section) or sentences.first_sentences(section)
        if said:
            best = max(said, key=lambda sentence: sentence.weight)
            kept.append(Sentence(f"{section.title} – {best.text}", best.weight))
    return (*told, *([Topic("", tuple(kept))] if kept else []))


def _ranking_tables(section: Section) -> list[Table]:
    """The tables of the rules: who is fastest where, what the axes change."""
    shown_tables = [tables.ranking_table(section), tables.winners_table(section)]
    lines = sentences.response_curves(section)
    for axis in section.axes:
        if axis.name != REQUEST or section.is_part:
            effects = sentences.effects(section, axis, lines)
            shown_tables.append(tables.effects_table(effects, section) if effects else None)
    return [table for table in shown_tables if table is not None]


def _view(section: Section, styles: Mapping[str, Style], headline: bool) -> View:
    """A section; its sentences are at the head of the report unless the study has parts."""
    own = [] if headline else _ranking_tables(section)
    response = tables.response_table(section)
    return View(
        section,
        ()
        if headline
        else tuple(f for topic in sentences.topics(section) for f in topic.sentences),
        figures(section, styles),
        (*own, *([response] if response else []), *tables.wear_tables(section)),
    )


def _courses(
    run: MicroRun, labels: Mapping[str, str], styles: Mapping[str, Style]
) -> tuple[list[tuple[str, list[Panel]]], str]:
    """Drawn cases by configuration, and what could not be drawn and why."""
    courses: dict[str, list[Panel]] = {}
    lost: list[str] = []
    for number, choice in enumerate(choose(run, dict(labels))):
        try:
            view = _course(run, choice, styles[choice.label], f"course-{number}")
        except DamagedResultError as error:
            lost.append(error.message.replace(f"{run.folder}/", ""))
            continue
        if view:
            courses.setdefault(choice.label, []).append(view)
    why = f"{grouped(len(lost))} cases could not be drawn. The first: {lost[0]}." if lost else ""
    return list(courses.items()), why


def _course(run: MicroRun, choice: Choice, style: Style, identifier: str) -> Panel | None:
    drawn = course_of(run.folder, choice.case)
    if drawn is None:
        return None
    case = choice.case
    words = f"{grouped(drawn.count)} requests, {grouped(drawn.startup_count)} of them start-up"
    title = f"Response time of each request, {choice.label}, {case.pattern}, {case.id}"
    drawing = charts.course(drawn, style, title, identifier)
    thinned = f"; {grouped(len(drawn.dots))} drawn" if drawn.thinned else ""
    meaning = f"{choice.why}: {case.id}; {words}{thinned}"
    return Panel(case.pattern, meaning, drawing)


def _write_back(run: MicroRun, labels: Mapping[str, str]) -> str:
    """What to know of configurations that write back and were written to; empty without one."""
    by_label: dict[str, list[MicroCase]] = {}
    for case in run.passed:
        if case.line.get(data.WRITING) == data.WRITE_BACK and case.writes:
            by_label.setdefault(labels[case.id], []).append(case)
    if not by_label:
        return ""
    parts = []
    for label, cases in by_label.items():
        median, slowest, share = _write_back_figures(cases)
        parts.append(
            f"{label}: median {duration(median)} in the middle one of {grouped(len(cases))} cases, "
            f"slowest request {duration(slowest)}; {significant(100 * share)} % of the pages are "
            "programmed in the flush"
        )
    return (
        f"**A write to {' or '.join(by_label)} ends when its data are in memory.** So most "
        "response times are those of memory, and some are of waiting for room in it. Kernel "
        "threads (kworker) do the work on the flash, during and between requests and in the flush "
        f"after the last one. {'. '.join(parts)}. Erases and pages include all of that."
    )


def _write_back_figures(cases: Sequence[MicroCase]) -> tuple[float, float, float]:
    """Median of the cases' median responses, the slowest response, share of pages in the flush."""
    writes = [stream.all for case in cases for stream in case.streams if stream.op == "write"]
    pages = sum(case.pages_programmed for case in cases)
    return (
        statistics.median(response.p50_ns or 0.0 for response in writes),
        max(response.max_ns for response in writes),
        sum(case.flush_pages for case in cases) / pages if pages else 0.0,
    )


def _stopped(run: MicroRun, labels: Mapping[str, str]) -> str:
    """Which configurations were full before all was written; empty if none was."""
    full: dict[str, int] = {}
    writing: dict[str, int] = {}
    for case in run.passed:
        if case.writes:
            label = labels[case.id]
            writing[label] = writing.get(label, 0) + 1
            full[label] = full.get(label, 0) + bool(case.stopped)
    parts = [
        f"{label} in {grouped(count)} of {grouped(writing[label])} cases"
        for label, count in full.items()
        if count
    ]
    if not parts:
        return ""
    return (
        f"{CUT} Full before all was written (ENOSPC): {', '.join(parts)}. Figures with this mark, "
        "and hollow points, are of the requests until then."
    )


def _cache_note(run: MicroRun) -> str:
    """How reads were kept from memory, by what the cases say."""
    reads = [case for case in run.passed if _reads(case)]
    modes = dict.fromkeys(case.cache for case in reads)
    if not modes:
        return ""
    return f"Reads: {'; '.join(_CACHE.get(mode, mode) for mode in modes)}."


def _reads(case: MicroCase) -> bool:
    return case.pattern.endswith("read") or case.mix_pattern.endswith("read")


def _preparation_lead(run: MicroRun) -> str:
    keys = {case.preparation.key for case in run.cases if case.preparation} - {""}
    if not keys:
        return "Each case prepared the initial state itself, in the guest that it measured."
    return (
        "A guest of its own prepared each state once; every case began with a copy of its "
        f"snapshot ({grouped(len(keys))} snapshots for "
        f"{grouped(len(run.cases))} cases)."
    )
