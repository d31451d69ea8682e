"""What a report says of scripts only: how they ended, what they said, what their flush took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ffslab.compare.ratios import mean
from ffslab.report import data, plots
from ffslab.report.configurations import chosen_among, place_of, place_text
from ffslab.report.elements import Table
from ffslab.report.first.board import short_names
from ffslab.report.quantity import counted, duration, significant
from ffslab.report.sections.section import Chart, Section
from ffslab.visible_text import visible
from ffslab.workloads.script.stored import below_of, script_of

if TYPE_CHECKING:
    from pathlib import Path

    from ffslab.report.data import Case, Run
    from ffslab.results.result import CaseResult, PhaseResult

TITLE = "script"
METHOD = (
    "A case boots on flash that another guest brought into its initial state, runs the script in "
    "the mounted file system and syncs it (flush). The script’s programs are the host’s, seen "
    "read-only: what they compute takes no time, what they ask of the kernel does. Another host "
    "may have other programs, and other figures."
)
PARTS: Mapping[str, str] = {"script": "t1", "flush": "t2"}
_FEW = 4
_MOST_LINES = 40  # of what a script said; its file has all
_OUTPUT = "output.log"
_NONE = "–"


@dataclass(frozen=True, slots=True)
class Figures:
    """What a case measured, by phase, and how its script ended: None for one that did not.

    `below`: what programs did to the flash below the file system.
    """

    phases: Mapping[str, PhaseResult]
    status: int | None
    below: str = ""


def figures_of(row: CaseResult) -> Figures:
    """What a case measured; without what it did not get to."""
    script = script_of(row)
    phases = {phase["phase"]: phase for phase in row["phases"]}
    return Figures(phases, script["exit_status"] if script else None, below_of(script))


def sections(run: Run, prefix: str) -> Iterator[Section]:
    """How the scripts ended, with their output; their time and that of the flush."""
    cases = [case for case in run.cases if case.outcome != "skip"]
    if cases:
        yield _ended(run.path, cases)
    groups = [
        group
        for group in data.group_by_seed(cases)
        if all(case.passed and set(PARTS) <= set(case.own.phases) for case in group.cases)
    ]
    if groups:
        yield _phases(run, groups, prefix)


def _ended(folder: Path, cases: Sequence[Case]) -> Section:
    rows = tuple(
        (case.id, case.outcome, _NONE if case.own.status is None else str(case.own.status))
        for case in cases
    )
    head = ("case", "outcome", "exit status")
    return Section(
        key="ended",
        title="How did the script end, and what did it say?",
        sentence=" ".join(
            (
                status_sentence({case.id: case.own.status for case in cases}),
                *below_sentences({case.id: case.own.below for case in cases}),
            )
        ),
        tables=(Table("Exit statuses", head, (), rows, text_columns=2, outcomes=True),),
        markup=_outputs(folder, cases),
    )


def _outputs(folder: Path, cases: Sequence[Case]) -> str:
    """What scripts said, once for all that said the same."""
    from markupsafe import Markup

    said: dict[str, list[str]] = {}
    for case in cases:
        path = folder / "cases" / case.id / _OUTPUT
        if path.is_file():
            with path.open(encoding="utf-8", errors="replace") as file:
                lines = [line for line, _ in zip(file, range(_MOST_LINES), strict=False)]
            said.setdefault("".join(lines), []).append(case.id)
    form = "<details{}><summary>Said in {}</summary><pre tabindex=0>{}</pre></details>"
    unfolded = Markup(" open") if len(said) == 1 else ""
    return Markup("").join(
        Markup(form).format(unfolded, _named(names, len(cases)), visible(text))
        for text, names in said.items()
        if text
    )


def status_sentence(statuses: Mapping[str, int | None]) -> str:
    """With what status the script of each case exited, those that did not come to it named last."""
    members: dict[int | None, list[str]] = {}
    for name, status in statuses.items():
        members.setdefault(status, []).append(name)
    late = members.pop(None, [])
    parts = [f"**{status}** in {_named(names, len(statuses))}" for status, names in members.items()]
    if late:
        parts.append(f"none in {_named(late, len(statuses))}, which did not get to the end")
    return f"Exit status: {'; '.join(parts)}."


def below_sentences(below: Mapping[str, str]) -> Iterator[str]:
    """What programs did to the flash below the file system, those that did the same together."""
    members: dict[str, list[str]] = {}
    for name, what in below.items():
        members.setdefault(what, []).append(name)
    members.pop("", None)
    for what, names in members.items():
        yield (
            f"In {_named(names, len(below))} programs made **{what}** below the mounted file "
            f"system: no figure of these is the file system's alone."
        )


def _named(names: Sequence[str], count: int) -> str:
    if 1 < len(names) == count:
        return f"all {count} cases"
    return ", ".join(names) if len(names) <= _FEW else f"{len(names)} cases"


def _phases(run: Run, groups: Sequence[data.Group], prefix: str) -> Section:
    shown = (data.FILESYSTEM, *chosen_among(run.cases))
    labels = [data.group_label(group.axes, shown) or "all cases" for group in groups]
    names = short_names(labels)
    bars = [
        plots.Bar(
            names[label],
            {
                name: mean(case.own.phases[name]["duration_ns"] for case in group.cases)
                for name in PARTS
            },
            place_text(place_of(group.axes, run.varying)),
        )
        for label, group in zip(labels, groups, strict=True)
    ]
    rows = tuple(
        (bar.label, bar.facet, name, *_cells(group, name))
        for bar, group in zip(bars, groups, strict=True)
        for name in PARTS
    )
    most = max(bars, key=_share)
    share = significant(100 * _share(most), 2)
    where = f"**{most.label}**{f', {most.facet}' if most.facet else ''}"
    head = ("configuration", "at", "phase", "time", "pages read", "programmed", "blocks erased")
    drawing = plots.stack(bars, PARTS, "time", f"{prefix}flush")
    return Section(
        key="flush",
        title="What does the script leave to the flush?",
        sentence=f"The flush has up to {share} % of the time: {where}.",
        charts=(Chart("Time until all is on the flash", drawing),),
        tables=(Table("Phases", head, (), rows, text_columns=3),),
    )


def _share(bar: plots.Bar) -> float:
    return bar.parts["flush"] / (sum(bar.parts.values()) or 1)


def _cells(group: data.Group, name: str) -> tuple[str, ...]:
    phases = [case.own.phases[name] for case in group.cases]
    counts = ("pages_read", "pages_programmed", "blocks_erased")
    return (
        duration(round(mean(phase["duration_ns"] for phase in phases))),
        *(counted(mean(phase[count] for phase in phases)) for count in counts),
    )
