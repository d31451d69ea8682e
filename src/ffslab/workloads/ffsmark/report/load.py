"""The results of a run of FFSMark as the report's frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ffslab.report.data import Run
from ffslab.report.load import (
    Row,
    erases_during,
    explained,
    fixed_options,
    histogram,
    open_run,
    outline,
    plain_case,
    read_rows,
    study_word,
)
from ffslab.results.metrics import FLASH_TIMES
from ffslab.workloads.ffsmark.metrics import KIND, files_per_s
from ffslab.workloads.ffsmark.result import PHASES as WORKLOAD_PHASES

_WORKLOAD_KEYS = (
    "read_bytes_per_s",
    "write_bytes_per_s",
    "pages_read",
    "pages_programmed",
    "blocks_erased",
    "erases_mean",
    "erases_std",
    "erases_spread",
    "write_amplification",
    "in_driver_ns",
)
_PHASE_RATES = ("read_bytes_per_s", "write_bytes_per_s")


def load_run(run_dir: Path) -> Run:
    """Read `run_dir`, a run of FFSMark.

    Raises UsageError when it is no run or has no result yet, DamagedResultError when a file is
    not what ffslab wrote.
    """
    directory = open_run(run_dir)
    manifest = directory.manifest()
    rows = list(read_rows(directory, KIND))
    with explained(run_dir, manifest):
        return _run(run_dir, manifest, rows, directory.walls())


def _run(run_dir: Path, manifest: Row, rows: Sequence[Row], walls: Mapping[str, Row]) -> Run:
    study, fixed = study_word(manifest), fixed_options([row["spec"] for row in rows])
    return outline(
        run_dir,
        manifest,
        [row["spec"] for row in rows],
        tuple(
            replace(
                plain_case(row, manifest, study, fixed),
                metrics=_metrics(row, walls.get(row["id"], {})),
                latencies=tuple(histogram(latency) for latency in row["latencies"]),
                erases=erases_during(row, WORKLOAD_PHASES),
            )
            for row in rows
        ),
    )


def _metrics(row: Row, wall: Row) -> dict[str, float]:
    phases = {phase["phase"]: phase for phase in row["phases"]}
    metrics = {
        f"{name}_ns": float(phases[name]["duration_ns"])
        for name in WORKLOAD_PHASES
        if name in phases
    }
    for name in WORKLOAD_PHASES:
        metrics.update(_phase(name, phases.get(name, {})))
    metrics.update(_workload(phases.get("workload")))
    if "workload" in phases:
        metrics.update(_flash_time([phases[name] for name in WORKLOAD_PHASES]))
    if row["virtual_ns"] is not None:
        metrics["total_ns"] = float(row["virtual_ns"])
    for key in ("wall_ns", "virtual_per_wall"):
        if wall.get(key) is not None:
            metrics[key] = float(wall[key])
    return metrics


def _phase(name: str, phase: Row) -> dict[str, float]:
    """One phase's rates and its bytes programmed ÷ written; without what it did not do."""
    rate = files_per_s(phase)
    metrics = {f"{name}_{key}": float(phase.get(key, 0)) for key in _PHASE_RATES}
    if rate is not None:
        metrics[f"{name}_files_per_s"] = rate
    if phase.get("write_amplification") is not None:
        metrics[f"{name}_share"] = float(phase["write_amplification"])
    return {key: value for key, value in metrics.items() if value}


def _workload(total: Row | None) -> dict[str, float]:
    """The three phases together; empty when the workload did not end."""
    if total is None:
        return {}
    return {key: float(total[key]) for key in _WORKLOAD_KEYS if total.get(key) is not None}


def _flash_time(phases: Sequence[Row]) -> dict[str, float]:
    """How long the chip was busy during the phases, as it counted itself, and the rest of the time.

    Empty where the chip does not count. Work between the phases (dropping caches) is in neither.
    """
    if not all(name in phase for phase in phases for name in FLASH_TIMES):
        return {}
    metrics = {name: float(sum(phase[name] for phase in phases)) for name in FLASH_TIMES}
    duration = sum(phase["duration_ns"] for phase in phases)
    metrics["rest_ns"] = max(duration - metrics["flash_ns"], 0.0)
    return metrics
