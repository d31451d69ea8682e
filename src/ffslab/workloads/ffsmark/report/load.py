"""The results of a run of FFSMark as the report's frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ffslab.report.data import Latency, Run
from ffslab.report.load import (
    Read,
    erases_during,
    explained,
    histogram,
    open_run,
    plain_outline,
)
from ffslab.results.metrics import FLASH_TIMES
from ffslab.results.result import CaseResult, PhaseResult, WallResult
from ffslab.results.schema import BY_NAME, IN_DRIVER, OF_FLASH, figures_at
from ffslab.workloads.ffsmark.metrics import files_per_s
from ffslab.workloads.ffsmark.result import PHASES as WORKLOAD_PHASES

_RATES = (BY_NAME["read_bytes_per_s"], BY_NAME["write_bytes_per_s"])
_OF_WORKLOAD = (*_RATES, *OF_FLASH, IN_DRIVER)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a result of FFSMark says beside what every result does."""

    metrics: dict[str, float]
    latencies: tuple[Latency, ...]
    erases: tuple[int, ...]


def figures_of(row: CaseResult) -> Figures:
    """What a case measured; without what it did not get to."""
    return Figures(
        metrics=_metrics(row),
        latencies=tuple(histogram(latency) for latency in row["latencies"]),
        erases=erases_during(row, WORKLOAD_PHASES),
    )


def run_of(run_dir: Path, read_cases: Sequence[Read[Figures]]) -> Run:
    """The run in `run_dir` of what was read of it."""
    directory = open_run(run_dir)
    manifest = directory.manifest()
    with explained(run_dir, manifest):
        walls, run = directory.walls(), plain_outline(run_dir, manifest, read_cases)
        cases = (
            replace(
                case,
                metrics=read_case.figures.metrics | _wall_metrics(walls.get(case.id)),
                latencies=read_case.figures.latencies,
                erases=read_case.figures.erases,
            )
            for case, read_case in zip(run.cases, read_cases, strict=True)
        )
        return replace(run, cases=tuple(cases))


def _wall_metrics(wall: WallResult | None) -> dict[str, float]:
    """What a case took of the host's time, if that is known."""
    if wall is None:
        return {}
    metrics = {"wall_ns": float(wall["wall_ns"])}
    if wall["virtual_per_wall"] is not None:
        metrics["virtual_per_wall"] = float(wall["virtual_per_wall"])
    return metrics


def _metrics(row: CaseResult) -> dict[str, float]:
    phases = {phase["phase"]: phase for phase in row["phases"]}
    own = [phases[name] for name in WORKLOAD_PHASES if name in phases]
    metrics = {f"{phase['phase']}_ns": float(phase["duration_ns"]) for phase in own}
    for phase in own:
        metrics.update(_phase(phase))
    if "workload" in phases:
        metrics.update(_workload(phases["workload"]))
        metrics.update(_flash_time(own))
    if row["virtual_ns"] is not None:
        metrics["total_ns"] = float(row["virtual_ns"])
    return metrics


def _phase(phase: PhaseResult) -> dict[str, float]:
    """One phase's rates and its bytes programmed ÷ written; without what it did not do."""
    figures = {
        "read_bytes_per_s": phase["read_bytes_per_s"],
        "write_bytes_per_s": phase["write_bytes_per_s"],
        "files_per_s": files_per_s(phase),
        "share": phase.get("write_amplification"),
    }
    return {f"{phase['phase']}_{key}": float(value) for key, value in figures.items() if value}


def _workload(total: PhaseResult) -> dict[str, float]:
    """The three phases together."""
    figures = figures_at(total, total["phase"], _OF_WORKLOAD)
    return {figure.metric.name: float(figure.value) for figure in figures}


def _flash_time(phases: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """How long the chip was busy during the phases, as it counted itself, and the rest of the time.

    Empty where the chip does not count. Work between the phases (dropping caches) is in neither.
    """
    if not all(name in phase for phase in phases for name in FLASH_TIMES):
        return {}
    duration_ns = sum(phase["duration_ns"] for phase in phases)
    times = {name: float(sum(phase[name] for phase in phases)) for name in FLASH_TIMES}
    return {**times, "rest_ns": max(duration_ns - times["flash_ns"], 0.0)}
