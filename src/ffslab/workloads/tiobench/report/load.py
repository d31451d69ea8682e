"""A run of tiobench as frozen values: where the format of its results is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ffslab.report import data
from ffslab.report.configurations import chosen_among, place_of, place_text
from ffslab.report.data import Latency, Run
from ffslab.report.load import Read, histogram, plain_run
from ffslab.report.quantity import capitalized
from ffslab.results.result import CaseResult, PhaseResult
from ffslab.workloads.tiobench.result import OPS
from ffslab.workloads.tiobench.stored import TioPhase, tio_of


@dataclass(frozen=True, slots=True)
class Figures:
    """What a result of tiobench says beside what every result does; by phase."""

    phases: Mapping[str, TioPhase]
    flash: Mapping[str, PhaseResult]
    latencies: Mapping[str, Latency]


@dataclass(frozen=True, slots=True)
class TioCase:
    """One case: `label` is its configuration, `place` the rest that varies but the seed."""

    case: data.Case
    label: str
    place: str
    figures: Figures


@dataclass(frozen=True)
class TioRun:
    """A run: `run` has what every report shows."""

    run: Run
    cases: tuple[TioCase, ...]

    @property
    def measured(self) -> tuple[TioCase, ...]:
        """The cases that passed; one that ran out of space is among the failures."""
        return tuple(
            tio_case for tio_case in self.cases if tio_case.case.passed and tio_case.figures.phases
        )

    @property
    def places(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tio_case.place for tio_case in self.measured))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tio_case.label for tio_case in self.measured))

    def at(self, label: str, scenario: str) -> tuple[TioCase, ...]:
        """The cases of a configuration at a place, which differ in the seed."""
        return tuple(
            tio_case
            for tio_case in self.measured
            if (tio_case.label, tio_case.place) == (label, scenario)
        )


def figures_of(row: CaseResult) -> Figures:
    """What a case measured; without what it did not get to."""
    tio = tio_of(row)
    return Figures(
        phases={phase["phase"]: phase for phase in tio["phases"]} if tio else {},
        flash={phase["phase"]: phase for phase in row["phases"]},
        latencies={
            entry["phase"]: histogram(entry)
            for entry in row["latencies"]
            if entry["count"] and OPS.get(entry["phase"]) == entry["op"]
        },
    )


def run_of(run_dir: Path, read_cases: Sequence[Read[Figures]]) -> TioRun:
    """The run in `run_dir` of what was read of it."""
    run = plain_run(run_dir, read_cases)
    shown = (data.FILESYSTEM, *chosen_among(run.cases))
    placed = (
        TioCase(
            case=case,
            label=data.group_label(case.axes, shown) or "all cases",
            place=capitalized(place_text(place_of(case.axes, run.varying)) or " ").strip(),
            figures=read_case.figures,
        )
        for case, read_case in zip(run.cases, read_cases, strict=True)
    )
    return TioRun(run, tuple(placed))
