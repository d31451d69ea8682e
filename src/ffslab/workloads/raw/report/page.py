"""raw's part of a report: the throughput of the device beside what is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.report import data
from ffslab.report.configurations import chosen_among
from ffslab.report.glossary import GLOSSARY
from ffslab.report.load import Read, explained, open_run, plain_outline
from ffslab.report.page import common
from ffslab.report.parts import Table
from ffslab.report.quantity import duration, significant
from ffslab.results.result import CaseResult
from ffslab.workloads.raw.result import MB
from ffslab.workloads.raw.stored import RawPhase, RawResult, raw_of

TITLE = "Raw throughput of the flash"
_NONE = "–"
_GLOSSARY = (("raw", "Through the MTD character device, without a file system; ECC included."),)
_HEAD = ("configuration", "", "measured", "published", "difference", "bytes", "time")
_UNITS = ("", "", "MB/s", "MB/s", "%", "MiB", "")


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence, with ** around what is bold."""

    text: str


def figures_of(row: CaseResult) -> RawResult | None:
    """What a case measured; None if it did not get so far."""
    return raw_of(row)


def page(run_dir: Path, found: Sequence[Read[RawResult | None]]) -> dict[str, Any]:
    """Everything the template shows of a run's cases of this workload."""
    manifest = open_run(run_dir).manifest()
    with explained(run_dir, manifest):
        run = plain_outline(run_dir, manifest, found)
    cases = run.cases
    shown = chosen_among(cases)
    boards = [one.head["spec"]["board"]["name"] for one in found]
    measured = [
        (data.group_label(case.axes, shown) or board, one.figures)
        for case, board, one in zip(cases, boards, found, strict=True)
        if case.passed and one.figures is not None
    ]
    rows = [_row(label, one) for label, figures in measured for one in figures["phases"]]
    return {
        **common(run),
        "glossary": (*GLOSSARY, *_GLOSSARY),
        "raw_findings": [finding(label, figures) for label, figures in measured if _told(figures)],
        "raw": Table("Through the MTD device", _HEAD, _UNITS, tuple(rows), text_columns=2),
    }


def _told(found: RawResult) -> list[RawPhase]:
    return [one for one in found["phases"] if one["agrees"] is not None]


def finding(label: str, found: RawResult) -> Finding:
    """Whether the published figures came out."""
    told = _told(found)
    off = [one for one in told if not one["agrees"]]
    within = significant(100 * found["within"])
    largest = max((abs(one["difference"] or 0) for one in told), default=0.0)
    if not off:
        words = f"as published within {within} %: the largest difference is {largest:.1%}"
        return Finding(f"**{label}**: {words}.")
    names = ", ".join(f"{one['phase']} by {one['difference']:+.1%}" for one in off)
    return Finding(f"**{label}**: not as published within {within} %: {names}.")


def _row(label: str, one: RawPhase) -> tuple[str, ...]:
    published, difference = one["published_bytes_per_s"], one["difference"]
    return (
        label,
        one["phase"],
        f"{one['raw_bytes_per_s'] / MB:.3f}",
        _NONE if published is None else f"{published / MB:.2f}",
        _NONE if difference is None else f"{100 * difference:+.2f}",
        significant(one["bytes"] / MB),
        duration(one["duration_ns"]),
    )
