"""The part of a report that is about scripts: how they ended, what they took, who did what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.report.data import Case
from ffslab.report.elements import Table, seeds_text
from ffslab.report.load import Read, of_stored, plain_run
from ffslab.report.page import common
from ffslab.report.quantity import duration, grouped
from ffslab.results.result import CaseResult
from ffslab.workloads.script.report.phases import (
    PHASES,
    Work,
    phase_table,
    runs_of,
    status_sentence,
    time_panel,
)
from ffslab.workloads.script.stored import script_of

TITLE = "script"
_NONE = "–"
_GLOSSARY = (
    ("script", "Your shell script, run in the guest with the host’s programs."),
    ("flush", "What is still in memory is written after the script’s end (syncfs)."),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a result of a script says beside what every result does."""

    works: Mapping[str, Work]  # by phase: script, flush, workload, which is both
    exit_status: int | None


def figures_of(row: CaseResult) -> Figures:
    """What a case measured; without what it did not get to."""
    script = script_of(row)
    works = {
        phase["phase"]: of_stored(Work, phase, flash_ns=phase.get("flash_ns"))
        for phase in row["phases"]
    }
    return Figures(works, script["exit_status"] if script else None)


def page(run_dir: Path, read_cases: Sequence[Read[Figures]]) -> dict[str, Any]:
    """Everything the template shows of a run's cases of this workload."""
    run = plain_run(run_dir, read_cases)
    cases = run.cases
    figures = {read_case.head["id"]: read_case.figures for read_case in read_cases}
    kept = [case for case in cases if case.outcome != "skip"]
    runs = runs_of(kept, {name: of_case.works for name, of_case in figures.items()})
    return {
        **common(run, _GLOSSARY),
        "seeds": f"{seeds_text(run.seeds)}.",
        "statuses": status_sentence({case.id: figures[case.id].exit_status for case in kept}),
        "time": time_panel(runs),
        "phase_table": phase_table(runs),
        "case_table": _table(cases, figures),
    }


def _table(cases: Sequence[Case], figures: Mapping[str, Figures]) -> Table:
    rows = []
    for case in cases:
        of_case = figures[case.id]
        times = (of_case.works.get(phase) for phase in PHASES)
        whole = of_case.works.get("workload")
        counts = (whole.pages_read, whole.pages_programmed, whole.blocks_erased) if whole else ()
        rows.append(
            (
                case.id,
                case.outcome,
                _NONE if of_case.exit_status is None else str(of_case.exit_status),
                *(_NONE if work is None else duration(work.duration_ns) for work in times),
                *(map(grouped, counts) if counts else (_NONE,) * 3),
            )
        )
    head = ("case", "outcome", "exit status", *PHASES, "read", "programmed", "erased")
    units = ("", "", "", "", "", "pages", "pages", "blocks")
    return Table("All cases", head, units, tuple(rows), text_columns=2, outcomes=True)
