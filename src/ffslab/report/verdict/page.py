"""The verdict of a run as its template shows it: sentences, notes, and the table of decisions."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ffslab.program import program
from ffslab.report import data
from ffslab.report.data import Run
from ffslab.report.standings import listed
from ffslab.report.topics import Finding
from ffslab.report.verdict.samples import Matter, matter_of
from ffslab.report.verdict.table import Decisions, decisions
from ffslab.report.verdict.weigh import Weighed, weigh
from ffslab.report.verdict.words import aside_sentence, best_sentence, unlike_sentence
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
class Verdict:
    """What the head of a report says of one workload: `title` where there are several."""

    title: str
    findings: tuple[Finding, ...]
    costs: tuple[tuple[str, tuple[Finding, ...]], ...]
    notes: tuple[str, ...]
    tables: tuple[Decisions, ...]


def verdict_of(run: Run, criteria: Mapping[str, Sequence[Criterion]], title: str = "") -> Verdict:
    """The verdict on a run of one workload; `criteria` are those of each case by its id."""
    matter = matter_of(run, criteria)
    weighed = [weigh(row) for row in matter.rows]
    several = len(matter.configurations) > 1
    return Verdict(
        title=title,
        findings=tuple(_headlines(weighed, matter.synced)) if several else (),
        costs=tuple(_costs(weighed)) if several else (),
        notes=tuple(_notes(run, matter, weighed)),
        tables=decisions(matter, weighed) if weighed else (),
    )


def _headlines(weighed: Sequence[Weighed], synced: Mapping[str, str]) -> list[Finding]:
    """Which is fastest; beside it what ends in memory. A row that has no match elsewhere says "
    "so."""
    found = []
    for one in weighed:
        if not one.row.headline:
            continue
        parts = (best_sentence(one, synced), aside_sentence(one, synced))
        text = unlike_sentence(one) or " ".join(part for part in parts if part)
        if text:
            found.append(Finding(text))
    return found[:_MOST_HEADLINES]


def _costs(weighed: Sequence[Weighed]) -> list[tuple[str, tuple[Finding, ...]]]:
    """What else is to be weighed, by aspect; not what is below 1 because memory holds the rest."""
    found = []
    for aspect, title, names in _COSTS:
        told = [
            Finding(text)
            for one in weighed
            if one.row.aspect == aspect
            and (not names or one.row.metric.name in names)
            and (text := best_sentence(one))
        ]
        if told:
            found.append((title, tuple(told[:_MOST_OF_A_COST])))
    return found


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
    if any(one.row.headline and (one.aside or unlike_sentence(one)) for one in weighed):
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
        one.filesystem
        for one in matter.configurations
        if one.writing == data.WRITE_BACK and one.label not in matter.synced
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
