"""raw's part of a report: the throughput of the device beside what is published."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ffslab.report import data
from ffslab.report.configurations import chosen_among
from ffslab.report.elements import Table
from ffslab.report.load import Read, plain_run
from ffslab.report.page import common
from ffslab.report.quantity import duration, significant
from ffslab.report.topics import Sentence
from ffslab.results.result import CaseResult
from ffslab.workloads.raw.result import MB
from ffslab.workloads.raw.stored import RawPhase, RawResult, raw_of

TITLE = "Raw throughput of the flash"
_NONE = "–"
_GLOSSARY = (("raw", "Through the MTD character device, without a file system; ECC included."),)
_HEAD = ("configuration", "", "measured", "published", "difference", "bytes", "time")
_UNITS = ("", "", "MB/s", "MB/s", "%", "MiB", "")


def figures_of(row: CaseResult) -> RawResult | None:
    """What a case measured; None if it did not get so far."""
    return raw_of(row)


def page(run_dir: Path, read_cases: Sequence[Read[RawResult | None]]) -> dict[str, Any]:
    """Everything the template shows of a run's cases of this workload."""
    run = plain_run(run_dir, read_cases)
    cases = run.cases
    shown = chosen_among(cases)
    boards = [read_case.head["spec"]["board"]["name"] for read_case in read_cases]
    measured = [
        (data.group_label(case.axes, shown) or board, read_case.figures)
        for case, board, read_case in zip(cases, boards, read_cases, strict=True)
        if case.passed and read_case.figures is not None
    ]
    rows = [_row(label, phase) for label, figures in measured for phase in figures["phases"]]
    return {
        **common(run, _GLOSSARY),
        "raw_sentences": [
            sentence(label, figures) for label, figures in measured if _told(figures)
        ],
        "raw": Table("Through the MTD device", _HEAD, _UNITS, tuple(rows), text_columns=2),
    }


def _told(raw: RawResult) -> list[RawPhase]:
    return [phase for phase in raw["phases"] if phase["agrees"] is not None]


def sentence(label: str, raw: RawResult) -> Sentence:
    """Whether the published figures came out."""
    told = _told(raw)
    off = [phase for phase in told if not phase["agrees"]]
    within = significant(100 * raw["within"])
    largest = max((abs(phase["difference"] or 0) for phase in told), default=0.0)
    if not off:
        words = f"as published within {within} %: the largest difference is {largest:.1%}"
        return Sentence(f"**{label}**: {words}.")
    names = ", ".join(f"{phase['phase']} by {phase['difference']:+.1%}" for phase in off)
    return Sentence(f"**{label}**: not as published within {within} %: {names}.")


def _row(label: str, phase: RawPhase) -> tuple[str, ...]:
    published, difference = phase["published_bytes_per_s"], phase["difference"]
    return (
        label,
        phase["phase"],
        f"{phase['raw_bytes_per_s'] / MB:.3f}",
        _NONE if published is None else f"{published / MB:.2f}",
        _NONE if difference is None else f"{100 * difference:+.2f}",
        significant(phase["bytes"] / MB),
        duration(phase["duration_ns"]),
    )
