"""The front of a report as its template shows it: sentences, notes, the table of decisions."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ffslab.program import program
from ffslab.report import data
from ffslab.report.data import Run
from ffslab.report.front.samples import Matter, matter_of
from ffslab.report.front.table import Decisions, decisions
from ffslab.report.front.weigh import Weighed, weigh
from ffslab.report.front.words import aside_sentence, best_sentence, unlike_sentence
from ffslab.report.standings import listed
from ffslab.report.topics import Sentence
from ffslab.results.criteria import Aspect, Criterion

_MOST_HEADLINES = 8
_COSTS: tuple[tuple[Aspect, str, tuple[str, ...]], ...] = (
    ("wait", "The longest waits", ("max_ns",)),
    ("wear", "Wear", ("pages_programmed", "pages_per_line", "blocks_erased", "erases_max")),
    ("space", "Space", ()),
    ("memory", "Memory", ()),
)
_MOST_OF_A_COST = 3


@dataclass(frozen=True)
class Front:
    """What the head of a report says of one workload: `title` where there are several."""

    title: str
    sentences: tuple[Sentence, ...]
    costs: tuple[tuple[str, tuple[Sentence, ...]], ...]
    notes: tuple[str, ...]
    tables: tuple[Decisions, ...]


def front_of(run: Run, criteria: Mapping[str, Sequence[Criterion]], title: str = "") -> Front:
    """The front of a report on one workload; `criteria` are those of each case by its id."""
    matter = matter_of(run, criteria)
    weighed = [weigh(row) for row in matter.rows]
    several = len(matter.configurations) > 1
    return Front(
        title=title,
        sentences=tuple(_headlines(weighed, matter.synced)) if several else (),
        costs=tuple(_costs(weighed)) if several else (),
        notes=tuple(_notes(run, matter, weighed)),
        tables=decisions(matter, weighed) if weighed else (),
    )


def _headlines(weighed: Sequence[Weighed], synced: Mapping[str, str]) -> list[Sentence]:
    """Who is fastest; beside it what ends in memory. A row that has no match elsewhere says so."""
    headlines = []
    for weighed_row in weighed:
        if not weighed_row.row.headline:
            continue
        parts = (best_sentence(weighed_row, synced), aside_sentence(weighed_row, synced))
        text = unlike_sentence(weighed_row) or " ".join(part for part in parts if part)
        if text:
            headlines.append(Sentence(text))
    return headlines[:_MOST_HEADLINES]


def _costs(weighed: Sequence[Weighed]) -> list[tuple[str, tuple[Sentence, ...]]]:
    """What else is to be weighed, by aspect; not what is below 1 because memory holds the rest."""
    costs = []
    for aspect, title, names in _COSTS:
        told = [
            Sentence(text)
            for weighed_row in weighed
            if weighed_row.row.aspect == aspect
            and (not names or weighed_row.row.metric.name in names)
            and (text := best_sentence(weighed_row))
        ]
        if told:
            costs.append((title, tuple(told[:_MOST_OF_A_COST])))
    return costs


def _notes(run: Run, matter: Matter, weighed: Sequence[Weighed]) -> list[str]:
    notes = []
    if not run.passed:
        notes.append("No case passed, so there is no verdict; the failures say why.")
    elif not matter.rows:
        notes.append("No case measured what people decide by, so there is no verdict.")
    elif len(matter.configurations) == 1:
        notes.append(
            f"Only one configuration was run, {matter.labels[0]}: there is nothing to compare. "
            "The table has its figures."
        )
    if matter.failed:
        names = sorted({label for label, _ in matter.failed})
        count = sum(map(len, matter.failed.values()))
        notes.append(
            f"{count} of {len(run.cases)} cases did not pass, of {listed(names)}: their place "
            "is not known, and no figure here comes from them."
        )
    if any(
        weighed_row.row.headline and (weighed_row.aside or unlike_sentence(weighed_row))
        for weighed_row in weighed
    ):
        notes.append(f"{_LATE}{_sync_advice(run, matter)}")
    if len(matter.seeds) > 1:
        notes.append(
            f"Figures are means over {len(matter.seeds)} seeds; a range behind figures is that of "
            "the seeds’ own ratios."
        )
    return notes


def _sync_advice(run: Run, matter: Matter) -> str:
    """How to get figures that can be compared, of what was not run synchronously."""
    alone = [
        configuration.filesystem
        for configuration in matter.configurations
        if configuration.writing == data.WRITE_BACK and configuration.label not in matter.synced
    ]
    if not alone:
        return ""
    names = listed([data.filesystem_name(name) for name in dict.fromkeys(alone)])
    setting = shlex.quote('options.write_mode=["default", "sync"]')
    return f" With {names} writing synchronously too: {program()} run {run.study} --set {setting}"


_LATE = (
    "◦ Write-back: write() returns when the data are in memory, so such a time is shown beside "
    "those that end on the flash, and not compared with them."
)
