"""What a report says of raw flash only: whether it is as fast as published."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ffslab.report import data, plots
from ffslab.report.elements import Table
from ffslab.report.lines import names_of
from ffslab.report.quantity import duration, significant
from ffslab.report.sections.section import Chart, Section
from ffslab.workloads.raw.metrics import published_text, rate_text
from ffslab.workloads.raw.stored import RawPhase, RawResult, raw_of

if TYPE_CHECKING:
    from ffslab.report.data import Run
    from ffslab.results.result import CaseResult

TITLE = "Raw flash"
METHOD = (
    "A case reads, programs and erases the partition through MTD without a file system. A rate is "
    "the bytes that the flash was asked for ÷ the time of the phase. Published rates are in MiB/s, "
    "as their publication counts them, with the same rate in MB/s behind them."
)
_HEAD = ("device", "phase", "measured", "published", "difference", "time")


def figures_of(row: CaseResult) -> RawResult | None:
    """What a case measured; None for what it did not get to."""
    return raw_of(row)


def sections(run: Run, prefix: str) -> Iterator[Section]:
    """One section, if anything is published."""
    names = names_of(run)
    phases: list[tuple[str, RawPhase]] = []
    within = 0.0
    for group in data.group_by_seed([case for case in run.passed if case.own is not None]):
        raw: RawResult = group.first.own
        name = ", ".join(filter(None, names[group.first.id]))
        within = raw["within"]
        phases += [(name, phase) for phase in raw["phases"]]
    ratios = [
        plots.Ratio(
            row=phase["phase"],
            label=name,
            filesystem="mtd",
            value=1 + phase["difference"],
            place="",
            text=f"{rate_text(phase['raw_bytes_per_s'])}, {phase['difference']:+.2%}",
        )
        for name, phase in phases
        if phase["difference"] is not None
    ]
    if ratios:
        drawing = plots.ratios(ratios, "measured ÷ published", f"{prefix}published-ratios")
        yield Section(
            key="published",
            title="Is the device as fast as published?",
            sentence=_sentence([phase for _, phase in phases], within),
            charts=(Chart("Measured against published", drawing),),
            tables=(Table("Through MTD", _HEAD, (), tuple(_row(*each) for each in phases), 2),),
        )


def _sentence(phases: list[RawPhase], within: float) -> str:
    """Whether the published figures came out."""
    told = {p["phase"]: p["difference"] for p in phases if p["difference"] is not None}
    off = [phase["phase"] for phase in phases if phase["agrees"] is False]
    worst = max(told, key=lambda name: abs(told[name]))
    verdict = f"not as published: {', '.join(off)}" if off else "as published"
    return (
        f"Within {significant(100 * within)} % it is **{verdict}**; {worst} differs most, by "
        f"{told[worst]:+.2%}."
    )


def _row(name: str, phase: RawPhase) -> tuple[str, ...]:
    published, difference = phase["published_bytes_per_s"], phase["difference"]
    return (
        name,
        phase["phase"],
        rate_text(phase["raw_bytes_per_s"]),
        "–" if published is None else published_text(published),
        "–" if difference is None else f"{difference:+.2%}",
        duration(phase["duration_ns"]),
    )
