"""Assembles the page of a run of workload `tree`: results → sentences, figures, tables → HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.report import data
from ffslab.report.curves import Figure, Style, styles_for
from ffslab.report.elements import Table, seeds_text
from ffslab.report.load import Read
from ffslab.report.page import common, fixed_axes
from ffslab.report.topics import Sentence
from ffslab.workloads.tree.report import criteria, figures, options, sentences, tables
from ffslab.workloads.tree.report.data import TreeRun
from ffslab.workloads.tree.report.figures import Panels
from ffslab.workloads.tree.report.load import Figures, figures_of, run_of
from ffslab.workloads.tree.report.series import Section, images, sections

TITLE = "Directory trees"
__all__ = ("TITLE", "figures_of", "page")  # what the report asks of a workload
_GLOSSARY = (
    ("mount", "From the first step (attaching UBI, where there is one) to the end of mount(2)."),
    ("unmount", "Until umount(2) has ended and, where there is UBI, is detached."),
    ("list, find", "Reading every directory (ls -R); looking for a name that is not there."),
    ("run 1, run 2", "A list of steps that is done twice, on what the first time left."),
    ("after a crash", "The first guest ended without unmounting and without writing back."),
    (
        "image",
        "A tool makes it from a directory tree; ffslab writes it to the flash as a flasher does.",
    ),
    ("memory", "Growth of the kernel’s memory since before the file system was there."),
)


@dataclass(frozen=True)
class View:
    """A section with what it shows."""

    section: Section
    sentences: tuple[Sentence, ...]
    panels: tuple[Panels, ...]
    figures: tuple[Figure, ...]
    notes: tuple[str, ...]
    options: Table | None = None


@dataclass(frozen=True)
class MemoryView:
    """A section's memory."""

    title: str
    panels: Panels | None
    figures: tuple[Figure, ...]
    table: Table | None


_MEANS = "figures are means over them, with their range"


def page(run_dir: Path, read_cases: Sequence[Read[Figures]]) -> dict[str, Any]:
    """Everything the template shows of a run's cases of this workload."""
    run = run_of(run_dir, read_cases)
    styles = styles_for(run.lines)
    all_sections = sections(run)
    built = images(run)
    head, by_name = _ratings(run, all_sections)
    steps = [(table.title, table) for s in all_sections if (table := tables.step_table(run, s))]
    unmounts = [table for s in all_sections if (table := tables.unmount_table(s))]
    return {
        **common(run.run, _GLOSSARY),
        "fixed": [(name, value) for name, value in fixed_axes(run.run) if name != "steps"],
        "seeds": f"{seeds_text(run.run.seeds, _MEANS)}.",
        "lists": _step_lists(run, all_sections),
        "topics": sentences.topics(run, all_sections),
        "sentence_rule": sentences.RULE,
        "rating_head": head,
        "rating": by_name,
        "rating_rule": criteria.RULE,
        "rating_each": _each_rating(run, all_sections),
        "image": figures.image_figure(built, styles),
        "image_tables": tables.image_tables(built),
        "views": [_view(run, section, styles) for section in all_sections],
        "unmounts": unmounts,
        "memory": _memory(all_sections, styles),
        "steps": steps,
        "case_table": tables.case_table(run),
    }


def _ratings(
    run: TreeRun, all_sections: Sequence[Section]
) -> tuple[tuple[str, ...], tuple[tables.RatingRow, ...]]:
    """Head and rows of the rating of file systems."""
    rated = (criteria.rate(criterion) for criterion in criteria.criteria(run, all_sections))
    grouped = (criteria.by_filesystem(run, entry) for entry in rated if entry)
    return tables.rating_rows([entry for entry in grouped if entry], run)


def _each_rating(run: TreeRun, all_sections: Sequence[Section]) -> Table | None:
    """The rating of configurations, where a file system has several."""
    if len(run.lines) == len({axes[data.FILESYSTEM] for axes in run.lines.values()}):
        return None
    rated = [entry for c in criteria.criteria(run, all_sections) if (entry := criteria.rate(c))]
    return tables.configuration_rating(rated)


def _view(run: TreeRun, section: Section, styles: Mapping[str, Style]) -> View:
    groups = sentences.section_sentences(run, section)
    said = [said.sentence for _, group in groups for said in group]
    panels: tuple[Panels | None, ...] = ()
    if section.axis is None:
        panels = (figures.step_panels(section, styles), figures.total_panels(section))
    return View(
        section,
        tuple(said),
        tuple(shown for shown in panels if shown),
        figures.curve_figures(section, styles),
        section.notes,
        options.table(options.options_of(run, section)),
    )


def _memory(all_sections: Sequence[Section], styles: Mapping[str, Style]) -> list[MemoryView]:
    views = []
    for section in all_sections:
        view = MemoryView(
            section.title,
            figures.memory_panels(section),
            figures.memory_figures(section, styles),
            tables.memory_table(section),
        )
        if view.panels or view.figures or view.table:
            views.append(view)
    return views


def _step_lists(run: TreeRun, sections: Sequence[Section]) -> list[tuple[str, str]]:
    """Each list of steps with its name, or with the file systems that have it."""
    names = {words: name for section in sections for words, name in section.names.items()}
    lists: dict[tuple[str, ...], dict[str, None]] = {}
    for case in run.cases:
        name = names.get(case.words) or data.filesystem_name(case.line[data.FILESYSTEM])
        lists.setdefault(case.words, {})[name] = None
    return [
        (", ".join(names) if len(lists) > 1 else "all cases", " ".join(words))
        for words, names in lists.items()
    ]
