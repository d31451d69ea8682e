"""What a report keeps of each result while it is made: a large run does not fit into memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ffslab.protocol.records import OK
from ffslab.report.data import Latency, Run
from ffslab.report.load import Read, erases_during, histogram
from ffslab.report.spent import parts_of
from ffslab.results.criteria import Criterion
from ffslab.results.result import CaseResult, PhaseResult
from ffslab.workloads.figures import criteria_of
from ffslab.workloads.modules import report_module, result_module
from ffslab.workloads.registry import kind_of


@dataclass(frozen=True, slots=True)
class Kept:
    """A result without what no page shows; `own` is what its workload's sections need."""

    own: Any
    criteria: tuple[Criterion, ...]
    collector: Any
    latencies: tuple[Latency, ...]
    erases: tuple[int, ...]
    parts: Mapping[str, float]


def kept_of(row: CaseResult) -> Kept:
    """What the page needs of a result."""
    kind = kind_of(row["spec"])
    begun = {phase["phase"]: phase["t_start_ns"] for phase in row["phases"]}
    phases = result_module(kind).PHASES
    return Kept(
        own=report_module(kind).figures_of(row),
        criteria=criteria_of(row),
        collector=row.get("collector"),
        latencies=tuple(
            histogram(latency, begun.get(latency["phase"], 0)) for latency in row["latencies"]
        ),
        erases=erases_during(row, phases) if phases else (),
        parts=_parts([phase for phase in row["phases"] if phase["phase"] in phases]),
    )


def with_kept(run: Run, read_cases: Sequence[Read[Kept]]) -> Run:
    """The run with what was kept of its cases, which are in the same order."""
    cases = (
        replace(
            case,
            own=read.figures.own,
            latencies=read.figures.latencies,
            erases=read.figures.erases,
            parts=read.figures.parts,
            tallied=any(criterion.tally for criterion in read.figures.criteria),
        )
        for case, read in zip(run.cases, read_cases, strict=True)
    )
    return replace(run, cases=tuple(cases))


def _parts(phases: Sequence[PhaseResult]) -> dict[str, float]:
    """The time of these phases by what it is made of, in ns; empty where the chip did not count.

    What the chip does between two phases is in none of them.
    """
    timed = [phase for phase in phases if phase["status"] == OK and "flash_ns" in phase]
    if not timed:
        return {}
    whole: Counter[str] = Counter()
    for phase in timed:
        counted = cast(Mapping[str, float], phase)
        whole.update(parts_of(counted, phase["duration_ns"], phase.get("task_times", ())))
    return dict(whole)
