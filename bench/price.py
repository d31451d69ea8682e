"""Part `price`: how well the CPU model foretells the CPU time of an ARM machine.

The same cases run on QEMU, whose time is that of the instructions of its ARM processor, and in the
lab. What a model counts is found by the lab's own clock: a guest in which one thing alone has a
price lasts as long as there are many of it. `price_fit` then finds the prices.

Limits: with other prices other moments fall to background work, so a few counts are off by what a
flusher or garbage collector did in the one guest and not in the other. What takes time in the lab
at any price, reading the clock and a call that fails, is counted with everything: it is little.
QEMU has no caches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.flash_table import Table
from bench.pool import pool_time
from bench.price_cases import LEAST_NS, Phase, phases_of, price_cases
from bench.price_fit import Judgement, Sample, judge
from bench.price_models import MODELS, Counted
from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.results.rundir import RunDirectory
from ffslab.targets.qemu.site import site_for
from ffslab.targets.target import SiteOptions
from ffslab.targets.uml.guests import BATCH_CONSOLE, UML, Machine, kernel_arguments
from ffslab.targets.uml.launch import GuestCommand

MEDIAN_GOAL = 0.10
WORST_GOAL = 0.20
# What the monitor, which is between file system and chip, costs on QEMU for each call.
MTD_CALLS = "monitor, per call"


@dataclass(frozen=True, slots=True)
class PriceReport:
    """Every model judged by the same samples."""

    judged: Mapping[str, Judgement]
    left_out: int

    def raw(self) -> dict[str, object]:
        """For --json: prices and samples of each model."""
        return {title: asdict(judgement) for title, judgement in self.judged.items()}

    @property
    def met(self) -> bool:
        """Whether the last model, the best one, meets both goals."""
        last = list(self.judged.values())[-1]
        return last.median <= MEDIAN_GOAL and last.worst <= WORST_GOAL


def measure(scratch: Path, host_cpus: tuple[int, ...], tell: Callable[[str], None]) -> PriceReport:
    """Runs everything; InfrastructureError if a guest does not pass."""
    cases = price_cases()
    runs = _Runs(scratch, host_cpus, cases)
    tell("on QEMU")
    site = site_for(cases, SiteOptions())
    reference = _phases(runs.run(site.lab, site.machine))
    known: dict[tuple[str, ...], dict[tuple[str, str], float]] = {}
    judged = {}
    for model in MODELS:
        lab = ensure_lab(model.variant, file_systems=[case.filesystem for case in cases])
        counts = {}
        for name, counted in model.counted.items():
            key = (model.variant, *counted.arguments)
            if key not in known:
                tell(f"{model.title}: {name}")
                known[key] = _counts(runs.run(lab, machine(counted)), counted)
            counts[name] = known[key]
        judged[model.title] = judge(list(samples(reference, counts)), [*model.counted, MTD_CALLS])
    left_out = sum(phase.cpu_ns < LEAST_NS for phase in reference.values())
    return PriceReport(judged, left_out)


def samples(
    reference: Mapping[tuple[str, str], Phase],
    counts: Mapping[str, Mapping[tuple[str, str], float]],
) -> Iterator[Sample]:
    """The phases that are long enough, with what was counted in the lab."""
    for key, phase in reference.items():
        if phase.cpu_ns >= LEAST_NS:
            own = {name: by_key[key] for name, by_key in counts.items()}
            yield Sample(*key, phase.cpu_ns, {**own, MTD_CALLS: phase.mtd_calls})


@dataclass(slots=True)
class _Runs:
    """Runs of all cases, each with prepared states of its own."""

    scratch: Path
    host_cpus: tuple[int, ...]
    cases: Sequence[Case]
    number: int = 0

    def run(self, lab: LabBuild, machine: Machine) -> RunDirectory:
        self.number += 1
        store = self.scratch / f"price-states-{self.number}"
        jobs = len(self.host_cpus)
        return pool_time(lab, self.scratch, self.host_cpus, self.cases, jobs, store, machine).run


def _phases(run: RunDirectory) -> dict[tuple[str, str], Phase]:
    return {phase.key: phase for result in run.each_result() for phase in phases_of(result)}


def _counts(run: RunDirectory, counted: Counted) -> dict[tuple[str, str], float]:
    return {key: phase.cpu_ns * 1e3 / counted.price_ps for key, phase in _phases(run).items()}


def machine(counted: Counted) -> Machine:
    """Guests of the lab in which one thing has a price."""
    words = counted.arguments

    def command(case: Case, _: Path, host_cpu: int | None, on_disk: bool) -> GuestCommand:
        return GuestCommand((*kernel_arguments(case, BATCH_CONSOLE), *words), host_cpu, on_disk)

    return replace(UML, command=command)


# ---- what is printed ----


def summary(report: PriceReport) -> Table:
    """A line for each model."""
    rows: list[tuple[str, ...]] = []
    for title, judgement in report.judged.items():
        met = judgement.median <= MEDIAN_GOAL and judgement.worst <= WORST_GOAL
        figures = (
            len(judgement.judged),
            judgement.median,
            judgement.within(MEDIAN_GOAL),
            judgement.within(WORST_GOAL),
        )
        n, median, in_10, in_20 = figures
        cells = (title, str(n), _percent(median), _percent(in_10), _percent(in_20))
        rows.append((*cells, _percent(judgement.worst), "met" if met else "missed"))
    if report.left_out:
        rows.append((f"{report.left_out} phases shorter than {LEAST_NS // 10**6} ms left out",))
    columns = ("", "phases", "median", "within 10 %", "within 20 %", "worst", "goal")
    return Table(
        "Error of foretold CPU time, judged by the prices of the other half", columns, tuple(rows)
    )


def prices(report: PriceReport) -> Table:
    """Fitted to all samples, and to each half."""
    rows: list[tuple[str, ...]] = []
    for title, judgement in report.judged.items():
        rows.append((title,))
        for name, price in judgement.prices_ns.items():
            first, second = (half[name] for half in judgement.of_halves_ns)
            rows.append((name, f"{price:.3f}", f"{first:.3f}", f"{second:.3f}", ""))
    return Table("Prices, ns", ("", "all", "first half", "second half", ""), tuple(rows))


def errors(report: PriceReport) -> Table:
    """A line for each phase: what QEMU took, and the error of each model."""
    rows: list[tuple[str, ...]] = []
    beside = list(zip(*(judgement.judged for judgement in report.judged.values()), strict=True))
    for workload in dict.fromkeys(row[0].sample.workload for row in beside):
        own = [row for row in beside if row[0].sample.workload == workload]
        rows.append((f"{workload}, half {own[0][0].half + 1}",))
        for row in own:
            sample = row[0].sample
            shown = (f"{judged.error * 100:+.0f} %" for judged in row)
            rows.append((sample.filesystem, f"{sample.measured_ns / 1e6:.2f}", *shown, ""))
    columns = ("", "QEMU, ms", *report.judged, "")
    return Table("CPU time of the phases, and the models' errors", columns, tuple(rows))


def tables(report: PriceReport) -> list[Table]:
    """All, the short ones first."""
    return [summary(report), prices(report), errors(report)]


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"
