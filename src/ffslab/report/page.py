"""A run as one HTML page: first screen, sections, what a reader looks up.

The page is made of `Section`s: those that every workload has (`sections.general`) and those of its
own package. A run of several workloads or chapters has the sections of each below its name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ffslab.program import program
from ffslab.report import code_size, collector, data, repeats
from ffslab.report.chapters import Chapter, chapters_of
from ffslab.report.configurations import setting_text
from ffslab.report.data import Run
from ffslab.report.elements import environment
from ffslab.report.estimates.page import estimate_view
from ffslab.report.facts import other_kernel
from ffslab.report.files import case_files, case_folders, commands_of, criteria_csv
from ffslab.report.first.overview import Part, overview_of
from ffslab.report.first.page import First, first_of, headline_of
from ffslab.report.first.samples import matter_of
from ffslab.report.first.weigh import weigh
from ffslab.report.glossary import GLOSSARY
from ffslab.report.index import REPORT, keep_headline
from ffslab.report.kept import read_kept, run_of
from ffslab.report.load import open_run
from ffslab.report.rating import rating_view
from ffslab.report.sections.change import Criteria
from ffslab.report.sections.general import general_sections
from ffslab.report.sections.results import results_table
from ffslab.report.sections.section import Section
from ffslab.results.files import no_search_for_cycles, write_atomic
from ffslab.workloads.limits import Judge, limits_of
from ffslab.workloads.modules import report_module


def write_report(run_dir: Path, output: Path | None) -> Path:
    """Build the page and write it in one step, so that a reader never sees half of it; beside it a
    table of what people decide by.
    """
    target = output or run_dir / REPORT
    if target.is_dir():
        target = target / REPORT
    table = target.with_suffix(".csv")
    with no_search_for_cycles():  # what is kept of thousands of results would be searched each time
        rendered = _render(run_dir, target)
    write_atomic(table, rendered.table)
    write_atomic(target, rendered.page)
    keep_headline(target, run_dir, rendered.headline, rendered.title)
    return target


def render(run_dir: Path) -> str:
    """The whole page of a run."""
    return _render(run_dir, run_dir / REPORT).page


@dataclass(frozen=True)
class _Rendered:
    """A page, its table in CSV, and what it says of the run in a line."""

    page: str
    table: str
    headline: str
    title: str


def _render(run_dir: Path, target: Path) -> _Rendered:
    """The page that is to stand at `target`."""
    opened = open_run(run_dir)
    judge = Judge(limits_of(opened.manifest))
    read = read_kept(opened, judge)
    criteria = {case.head["id"]: case.figures.criteria for case in read}
    run = run_of(opened, read)
    members = chapters_of(opened.manifest, read)
    several = len(members) > 1
    chapters = [
        _shown(run_of(opened, chapter.cases) if several else run, chapter, criteria, several)
        for chapter in members
    ]
    firsts = [chapter.first for chapter in chapters]
    grades = rating_view(opened)
    overview = overview_of([chapter.part for chapter in chapters], grades)
    if overview is not None:
        overview = replace(overview, more=tuple(line for first in firsts for line in first.more))
    verdicts = estimate_view(opened, read[0].head["spec"])
    template = environment().get_template("page.html.j2")
    page = template.render(
        **common(run),
        chapters=chapters,
        overview=overview,
        hangs=verdicts.line,
        missed=judge.missed,
        unused=judge.unused,
        beside=(
            *collector.sections((case.head["id"], case.figures.collector) for case in read),
            *repeats.sections(opened),
            *code_size.sections(run_dir),
            verdicts.section,
        ),
        grades=grades,
        files=case_files(run_dir, target, run.failures),
        folders=case_folders(run_dir, target),
        commands=commands_of(run.cases),
        csv_link=quote(target.with_suffix(".csv").name),
        export_command=f"{program()} export {run_dir.name} -f csv",
    )
    told = headline_of([overview] if overview else firsts)
    return _Rendered(str(page), criteria_csv(read, criteria), told, run.title)


def common(run: Run) -> dict[str, Any]:
    """What the frame of every page shows."""
    return {
        "run": run,
        "board": next((fact.value for fact in run.facts if fact.name == "Board"), ""),
        "other_kernel": other_kernel(run.facts),
        "fixed": fixed_axes(run),
        "glossary": GLOSSARY,
        "states": [(name, meaning) for name, meaning in run.states.items() if name],
    }


def fixed_axes(run: Run) -> tuple[tuple[str, str], ...]:
    """What was the same in all cases: told once, so that the charts need not repeat it."""
    first = run.cases[0]
    return tuple(
        (
            data.axis_name(axis),
            data.filesystem_name(value) if axis == data.FILESYSTEM else setting_text(axis, value),
        )
        for axis, value in first.axes.items()
        if axis not in run.varying and value
    )


@dataclass(frozen=True)
class Shown:
    """A chapter as the template shows it: `title` where there are several."""

    key: str
    title: str
    part: Part
    first: First
    sections: tuple[Section, ...]
    results: Any
    method: str


def _shown(run: Run, chapter: Chapter, criteria: Criteria, several: bool) -> Shown:
    matter = matter_of(run, criteria)
    weighed = [weigh(row) for row in matter.rows]
    module = report_module(chapter.kind)
    prefix = f"{chapter.key}-" if several else ""
    own = [replace(s, key=f"{prefix}{s.key}") for s in module.sections(run, prefix)]
    general = general_sections(run, criteria, matter, weighed, prefix)
    first = first_of(run, matter, weighed, chapter.title if several else "", chapter.key)
    return Shown(
        key=chapter.key,
        title=chapter.title if several else "",
        part=Part(chapter.title, matter, weighed),
        first=replace(first, more=tuple((s.key, s.first) for s in own if s.first)),
        sections=(*own, *general),
        results=results_table(run, criteria, chapter.title if several else ""),
        method=module.METHOD,
    )
