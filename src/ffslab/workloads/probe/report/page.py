"""probe's part of a report: what an operation of each kind takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ffslab.report import data
from ffslab.report.configurations import chosen_among
from ffslab.report.elements import Table
from ffslab.report.load import Read, plain_run
from ffslab.report.page import common
from ffslab.report.quantity import duration
from ffslab.results.result import CaseResult
from ffslab.workloads.probe.metrics import operation_ns
from ffslab.workloads.probe.stored import ProbePhase, ProbeResult, probe_of

TITLE = "Single operations"
_NONE = "–"
_GLOSSARY = (("probe", "One operation of flash or kernel, asked for many times in a row."),)
_HEAD = ("configuration", "", "one operation", "operations", "bytes each", "all", "CPU")
_UNITS = ("", "", "", "", "", "", "%")


def figures_of(row: CaseResult) -> ProbeResult | None:
    """What a case measured; None if it did not get so far."""
    return probe_of(row)


def page(run_dir: Path, read_cases: Sequence[Read[ProbeResult | None]]) -> dict[str, Any]:
    """Everything the template shows of a run's cases of this workload."""
    run = plain_run(run_dir, read_cases)
    cases = run.cases
    shown = chosen_among(cases)
    rows = [
        _row(data.group_label(case.axes, shown) or case.id, phase)
        for case, read_case in zip(cases, read_cases, strict=True)
        if case.passed and read_case.figures is not None
        for phase in read_case.figures["phases"]
    ]
    return {
        **common(run, _GLOSSARY),
        "probes": Table("What operations take", _HEAD, _UNITS, tuple(rows), text_columns=2),
    }


def _row(label: str, phase: ProbePhase) -> tuple[str, ...]:
    cpu_ns, took_ns = phase["cpu_ns"], phase["duration_ns"]
    return (
        label,
        phase["phase"],
        duration(round(operation_ns(phase))),
        f"{phase['count']:,}",
        f"{phase['bytes']:,}" if phase["bytes"] else _NONE,
        duration(took_ns),
        _NONE if cpu_ns is None or not took_ns else f"{100 * cpu_ns / took_ns:.0f}",
    )
