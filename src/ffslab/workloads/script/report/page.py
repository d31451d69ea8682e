"""The part of a report that is about scripts: data → a table, and one sentence for each state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ffslab.report.data import Case
from ffslab.report.glossary import GLOSSARY
from ffslab.report.load import (
    Read,
    explained,
    fixed_options,
    open_run,
    outline,
    plain_case,
    study_word,
)
from ffslab.report.page import common
from ffslab.report.parts import Table, seeds_text
from ffslab.report.quantity import duration, grouped
from ffslab.results.result import CaseResult, PhaseResult
from ffslab.workloads.script.stored import script_of

TITLE = "script"
_NONE = "–"
_GLOSSARY = (
    ("script", "A shell script of the user, run in the guest with the host’s programs."),
    ("flush", "What is still in memory is written after the script’s end (syncfs)."),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a result of a script says beside what every result does."""

    script_ns: float | None
    flush_ns: float | None
    counts: tuple[int | None, ...]  # pages read, programmed; blocks erased
    exit_status: int | None


def figures_of(row: CaseResult) -> Figures:
    """What a case measured; without what it did not get to."""
    phases = {phase["phase"]: phase for phase in row["phases"]}
    found = script_of(row)
    return Figures(
        _duration(phases.get("script")),
        _duration(phases.get("flush")),
        _counts(phases.get("workload")),
        found["exit_status"] if found else None,
    )


def _duration(phase: PhaseResult | None) -> float | None:
    return float(phase["duration_ns"]) if phase is not None else None


def _counts(whole: PhaseResult | None) -> tuple[int | None, ...]:
    if whole is None:
        return (None, None, None)
    return (whole.get("pages_read"), whole.get("pages_programmed"), whole.get("blocks_erased"))


def page(run_dir: Path, found: Sequence[Read[Figures]]) -> dict[str, Any]:
    """Everything the template shows of a run's cases of this workload."""
    manifest = open_run(run_dir).manifest()
    with explained(run_dir, manifest):
        specs = [one.head["spec"] for one in found]
        study, fixed = study_word(manifest), fixed_options(specs)
        cases = tuple(
            replace(plain_case(one.head, manifest, study, fixed), metrics=_metrics(one.figures))
            for one in found
        )
        run = outline(run_dir, manifest, specs, cases)
    figures = [one.figures for one in found]
    return {
        **common(run),
        "glossary": (*GLOSSARY, *_GLOSSARY),
        "seeds": f"{seeds_text(run.seeds, 'each case is a row')}.",
        "case_table": _table(cases, figures),
        "fastest": _fastest(cases, figures),
    }


def _metrics(figures: Figures) -> dict[str, float]:
    named = {"script_ns": figures.script_ns, "flush_ns": figures.flush_ns}
    return {name: value for name, value in named.items() if value is not None}


def _whole_ns(figures: Figures) -> float | None:
    """Until all is on the flash."""
    if figures.script_ns is None or figures.flush_ns is None:
        return None
    return figures.script_ns + figures.flush_ns


def _fastest(cases: Sequence[Case], figures: Sequence[Figures]) -> str:
    """Who was done first, and who last, in a sentence; empty without a case that passed."""
    known = sorted(
        (whole, case.id)
        for case, one in zip(cases, figures, strict=True)
        if case.passed and (whole := _whole_ns(one)) is not None
    )
    if not known:
        return ""
    (least, first), (most, last) = known[0], known[-1]
    if first == last:
        return f"{first} took {duration(least)}, its flush included."
    return f"{first} was the fastest with {duration(least)}, {last} took {duration(most)}."


def _table(cases: Sequence[Case], figures: Sequence[Figures]) -> Table:
    rows = [
        (
            case.id,
            case.outcome,
            *(_NONE if ns is None else duration(ns) for ns in (one.script_ns, one.flush_ns)),
            *(_NONE if count is None else grouped(count) for count in one.counts),
            _NONE if one.exit_status is None else str(one.exit_status),
        )
        for case, one in zip(cases, figures, strict=True)
    ]
    head = ("case", "outcome", "script", "flush", "read", "programmed", "erased", "exit status")
    units = ("", "", "", "", "pages", "pages", "blocks", "")
    return Table("All cases", head, units, tuple(rows), text_columns=2, outcomes=True)
