"""What a report keeps of each result while it is made: a large run does not fit into memory.

Histograms are most of a result, and pages show seeds together. So those of neighbours that differ
in the seed only are added up while they pass.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, cast

from ffslab.model.canonical import canonical_json
from ffslab.protocol.records import OK
from ffslab.report.data import SEED, Histogram, Latency, Run, packed_buckets, together
from ffslab.report.distribution import Counts
from ffslab.report.load import Opened, Read, erases_during, explained, plain_run, read_rows
from ffslab.report.spent import parts_of
from ffslab.results.criteria import Criterion
from ffslab.results.result import CaseResult, LatencyResult, PhaseResult, head_of
from ffslab.workloads.figures import criteria_of
from ffslab.workloads.limits import Judge
from ffslab.workloads.modules import report_module, result_module
from ffslab.workloads.registry import kind_of

_of_latency = itemgetter("phase", "op", "count", "sum_ns", "min_ns", "max_ns")


@dataclass(frozen=True, slots=True)
class Kept:
    """A result without what no page shows; `own` is what its workload's sections need.

    `histograms` are there when the last of the cases that share them has been read.
    """

    own: Any
    criteria: tuple[Criterion, ...]
    collector: Any
    latencies: tuple[Latency, ...]
    histograms: Mapping[str, Histogram]
    erases: tuple[int, ...]
    parts: Mapping[str, float]


def read_kept(run: Opened, judge: Judge | None = None) -> list[Read[Kept]]:
    """What the page needs of the results of a run; `judge` takes them as they pass.

    Raises as `read_rows` does, and DamagedResultError for results that lack something.
    """
    read: list[Read[Kept]] = []
    alike, seeds = "", _Seeds()
    with explained(run):
        for row in read_rows(run):
            if judge is not None:
                judge.take(row)
            settings = _but_for_the_seed(row)
            if settings != alike:
                seeds.finish()
                alike, seeds = settings, _Seeds()
            read.append(Read(head_of(row), seeds.kept_of(row)))
            del row  # the next one gets its memory
        seeds.finish()
        return read


def _but_for_the_seed(row: CaseResult) -> str:
    """Equal for cases that differ in the seed only, and came to the same."""
    axes, spec = (
        {k: v for k, v in part.items() if k != SEED} for part in (row["axes"], row["spec"])
    )
    return canonical_json([row["outcome"], row.get("short"), axes, spec])


class _Seeds:
    """Cases that differ in the seed only, while they are read: they share their `histograms`."""

    def __init__(self) -> None:
        self.histograms: dict[str, Histogram] = {}
        self._counts: dict[str, Counts] = defaultdict(Counts)

    def kept_of(self, row: CaseResult) -> Kept:
        """What is kept of one of them, but for the histograms; ValueError for what is no bucket."""
        kept = _kept_of(row, self.histograms)
        for latency, record in zip(kept.latencies, row["latencies"], strict=True):
            if latency.count:
                known = self.histograms.get(latency.op)
                summed = together((latency,) if known is None else (known, latency))
                self.histograms[latency.op] = Histogram(*summed, b"")
                self._counts[latency.op].add(record["buckets"])
        return kept

    def finish(self) -> None:
        """Fills in the buckets of the histograms; ValueError for what is no bucket."""
        for op, counts in self._counts.items():
            packed = packed_buckets(counts.buckets())
            self.histograms[op] = replace(self.histograms[op], packed=packed)


def _kept_of(row: CaseResult, histograms: Mapping[str, Histogram]) -> Kept:
    kind = kind_of(row["spec"])
    begun = {phase["phase"]: phase["t_start_ns"] for phase in row["phases"]}
    phases = result_module(kind).PHASES
    return Kept(
        own=report_module(kind).figures_of(row),
        criteria=criteria_of(row),
        collector=row.get("collector"),
        latencies=tuple(
            _latency(record, begun.get(record["phase"], 0)) for record in row["latencies"]
        ),
        histograms=histograms,
        erases=erases_during(row, phases) if phases else (),
        parts=_parts([phase for phase in row["phases"] if phase["phase"] in phases]),
    )


def _latency(record: LatencyResult, begun_ns: int) -> Latency:
    slowest = tuple([(began - begun_ns, took) for began, took in record.get("slowest", ())])
    return Latency(*(*_of_latency(record), slowest))


def run_of(opened: Opened, read_cases: Sequence[Read[Kept]]) -> Run:
    """The run with these cases and what was kept of them."""
    run = plain_run(opened, read_cases)
    cases = (
        replace(
            case,
            own=read.figures.own,
            latencies=read.figures.latencies,
            histograms=read.figures.histograms,
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
