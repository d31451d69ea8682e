"""A run as one HTML page: what its workloads have to say, in the frame that all reports share.

A workload's package has a template that fills the blocks of `templates/base.html.j2`, and the
values that it shows. A run of several workloads becomes one page in which each of them has its own
sections, under its own heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ffslab.program import program
from ffslab.report import data, wear
from ffslab.report.charts import PALETTE
from ffslab.report.code_size import size_view
from ffslab.report.collector import collector_view
from ffslab.report.data import Run
from ffslab.report.elements import environment
from ffslab.report.estimates.page import estimate_view
from ffslab.report.facts import other_kernel
from ffslab.report.files import case_files, criteria_csv
from ffslab.report.folding import fold
from ffslab.report.front.page import front_of
from ffslab.report.glossary import GLOSSARY
from ffslab.report.load import Read, open_run, part_texts, plain_run, read_figures
from ffslab.report.rating import rating_view
from ffslab.report.repeats import repeats_view
from ffslab.results.criteria import Criterion
from ffslab.results.files import write_atomic
from ffslab.results.result import CaseResult
from ffslab.workloads.figures import criteria_of
from ffslab.workloads.modules import report_module
from ffslab.workloads.registry import kind_of

_BLOCKS = ("style", "contents", "cautions", "body", "results", "commands_lead", "method")


def write_report(run_dir: Path, output: Path | None) -> Path:
    """Build the page and write it in one step, so that a reader never sees half of it; beside it a
    table of what people decide by.
    """
    target = output or run_dir / "report.html"
    if target.is_dir():
        target = target / "report.html"
    table = target.with_suffix(".csv")
    page, rows = _render(run_dir, target)
    write_atomic(table, rows)
    write_atomic(target, page)
    return target


def render(run_dir: Path) -> str:
    """The whole page of a run."""
    return _render(run_dir, run_dir / "report.html")[0]


def _render(run_dir: Path, target: Path) -> tuple[str, str]:
    """The page that is to stand at `target`, and its table."""
    read = read_figures(
        run_dir, lambda row: (_figures_of(row), criteria_of(row), row.get("collector"))
    )
    read_cases = [Read(case.head, case.figures[0]) for case in read]
    criteria = {case.head["id"]: case.figures[1] for case in read}
    chapters = chapters_of(open_run(run_dir).manifest(), read_cases)
    if len(chapters) > 1:
        template = environment().get_template("several.html.j2")
        shown = _several(run_dir, chapters, read_cases, criteria)
    else:
        (kind,) = (chapter.kind for chapter in chapters)
        template = environment().get_template(_template(kind))
        shown = report_module(kind).page(run_dir, read_cases)
        shown["fronts"] = [front_of(shown["run"], criteria)]
    page = template.render(
        **shown,
        estimates=estimate_view(run_dir),
        grades=rating_view(run_dir),
        code_sizes=size_view(run_dir),
        repeats=repeats_view(run_dir),
        collector=collector_view((case.head["id"], case.figures[2]) for case in read),
        files=case_files(run_dir, target, shown["run"]),
        csv_link=quote(target.with_suffix(".csv").name),
        export_command=f"{program()} export {run_dir.name} -f csv",
    )
    return fold(str(page), len(read_cases)), criteria_csv(read_cases, criteria)


def _figures_of(row: CaseResult) -> Any:
    return report_module(kind_of(row["spec"])).figures_of(row)


def common(run: Run, terms: Iterable[tuple[str, str]] = ()) -> dict[str, Any]:
    """What the frame of every page shows; `terms` are a workload's own, with their meanings."""
    return {
        "run": run,
        "board": next((fact.value for fact in run.facts if fact.name == "Board"), ""),
        "other_kernel": other_kernel(run.facts),
        "fixed": fixed_axes(run),
        "glossary": (*GLOSSARY, *terms),
        "states": [(name, meaning) for name, meaning in run.states.items() if name],
        "palette": PALETTE,
        "ramp": wear.RAMP,
    }


def fixed_axes(run: Run) -> tuple[tuple[str, str], ...]:
    """What was the same in all cases: told once, so that the charts need not repeat it."""
    first = run.cases[0]
    return tuple(
        (data.axis_name(axis), data.filesystem_name(value) if axis == data.FILESYSTEM else value)
        for axis, value in first.axes.items()
        if axis not in run.varying and value
    )


@dataclass(frozen=True)
class Chapter:
    """The cases of one workload that are shown together; `key` tells its anchors from others'."""

    key: str
    title: str
    kind: str
    cases: tuple[Read[Any], ...]


def chapters_of(
    manifest: Mapping[str, Any], read_cases: Sequence[Read[Any]]
) -> tuple[Chapter, ...]:
    """The chapters of a report in the order of the cases: those that the study's parts name, and
    one for each workload of the others. A chapter of two workloads is one for each of them.
    """
    stated = part_texts(manifest, "chapter")
    cases: dict[tuple[str, str], list[Read[Any]]] = {}
    for read_case in read_cases:
        name = stated.get(str(read_case.head["axes"].get("part", "")), "")
        cases.setdefault((name, kind_of(read_case.head["spec"])), []).append(read_case)
    titles = [name for name, _ in cases]
    chapters = []
    for number, ((name, kind), members) in enumerate(cases.items()):
        told = report_module(kind).TITLE
        title = name if titles.count(name) == 1 else f"{name}: {told}"
        key = f"chapter-{number}" if name else kind
        chapters.append(Chapter(key, title if name else told, kind, tuple(members)))
    return tuple(chapters)


@dataclass(frozen=True)
class Part:
    """What one chapter adds to the page of several: the blocks of its workload's template."""

    key: str
    title: str
    blocks: Mapping[str, str]


def _template(kind: str) -> str:
    return f"{kind}/page.html.j2"


def _several(
    run_dir: Path,
    chapters: Sequence[Chapter],
    read_cases: Sequence[Read[Any]],
    criteria: Mapping[str, Sequence[Criterion]],
) -> dict[str, Any]:
    shown = [
        (chapter, report_module(chapter.kind).page(run_dir, chapter.cases)) for chapter in chapters
    ]
    terms = {term: meaning for _, page in shown for term, meaning in page["glossary"]}
    return {
        **common(plain_run(run_dir, read_cases)),
        "glossary": tuple(terms.items()),
        "parts": [_part(chapter, page) for chapter, page in shown],
        "fronts": [front_of(page["run"], criteria, chapter.title) for chapter, page in shown],
    }


def _part(chapter: Chapter, page: Mapping[str, Any]) -> Part:
    """The blocks of a workload's template, its anchors told from those of the others."""
    template = environment().get_template(_template(chapter.kind))
    frame: dict[str, Any] = {
        "estimates": None,
        "grades": None,
        "code_sizes": None,
        "repeats": None,
        "collector": None,
        "fronts": [],
        "files": {},
        "csv_link": "",
    }  # not of a part
    context = template.new_context({**page, **frame})
    # Only this puts into the context what the template imports.
    list(template.root_render_func(context))
    blocks = {
        name: "".join(template.blocks[name](context)) if name in template.blocks else ""
        for name in _BLOCKS
    }
    own = {anchor for text in blocks.values() for anchor in re.findall(r'\bid="([^"]+)"', text)}
    told = {name: _with_own_anchors(text, chapter.key, own) for name, text in blocks.items()}
    return Part(chapter.key, chapter.title, told)


def _with_own_anchors(html: str, key: str, own: set[str]) -> str:
    """The fragment with `key-` before those anchors that are its own, and before references."""

    def renamed(match: re.Match[str]) -> str:
        before, anchor = match.groups()
        return f"{before}{key}-{anchor}" if anchor in own else match[0]

    return re.sub(r'(\bid="|\bhref="#|url\(#|\baria-[a-z]+="|\bfor="#?)([^")]+)', renamed, html)
