"""Part `report`: the time and the memory of reports of real size.

The 14 cases of the study `ffsmark` of JFFS2 and UBIFS, one seed, are run once by the local pool.
Their results under 3 other seeds are the run of 42 cases, under 144 that of 2,016: some 300 MB.
What a report costs hangs on how much was measured, not on its values, which equal ones hide.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from bench.commands import LAUNCHER, Cost, cost_of
from bench.measurements import Bench, Measured
from bench.pool import pool_time
from bench.ratios import Goal, Line, spread
from ffslab.campaign.manifest import new_manifest
from ffslab.campaign.prepared import Prepared
from ffslab.campaign.run import prepare
from ffslab.model.canonical import canonical_json
from ffslab.model.case import Case, case_spec
from ffslab.results.result import CaseResult
from ffslab.results.rundir import RESULTS, RESULTS_SHA256, RunDirectory
from ffslab.targets.target import Site
from ffslab.targets.uml.site import LocalSite

STUDY = "ffsmark"
FILE_SYSTEMS = ("jffs2", "ubifs")
GOALS = {3: Goal(2, unit="s"), 144: Goal(5, unit="s")}  # by the number of seeds
MEMORY_GOAL = Goal(0.4, unit="GB")


def measure(bench: Bench) -> Measured:
    """CPU time and largest memory of `ffslab report`."""
    bench.tell("cases whose results are reported")
    measured = _measured_results(bench)
    site = LocalSite(bench.lab)
    lines = [Line("9. `ffslab report`, host CPU and largest memory")]
    raw: dict[str, object] = {}
    for seeds, goal in GOALS.items():
        folder = bench.scratch / f"report-{seeds}"
        cases = write_copies(folder, prepared_with(range(1, seeds + 1)), site, measured)
        costs: list[Cost] = []
        for repeat in range(bench.repeats):
            bench.tell(f"{cases:,} cases, repeat {repeat + 1} of {bench.repeats}")
            costs.append(cost_of([str(LAUNCHER), "report", str(folder)], folder))
        shutil.rmtree(folder)
        gigabytes = spread([cost.peak_bytes / 1e9 for cost in costs])
        lines.append(Line(f"{cases:,} cases", spread([c.cpu_s for c in costs]), goal, "s"))
        lines.append(Line(f"{cases:,} cases, memory", gigabytes, MEMORY_GOAL, "GB"))
        raw[f"{cases} cases"] = [asdict(cost) for cost in costs]
    return Measured(tuple(lines), raw)


def prepared_with(seeds: Iterable[int]) -> Prepared:
    """The cases of the study with these seeds."""
    return prepare(STUDY, [("filesystem", FILE_SYSTEMS), ("seed", tuple(seeds))])


def write_copies(
    folder: Path,
    prepared: Prepared,
    site: Site,
    measured: Mapping[tuple[object, ...], CaseResult],
) -> int:
    """A run directory of the cases, each with the figures of that with another seed; how many."""
    folder.mkdir()
    run = RunDirectory(folder)
    words = f"ffslab run {STUDY}"
    now = datetime.now(UTC)
    manifest = new_manifest(folder.name, prepared, site, command=words, started=now, jobs=1)
    with (folder / RESULTS).open("w", encoding="utf-8") as lines:
        for case in prepared.cases:
            own = {
                "id": case.id,
                "axes": dict(case.axes),
                "spec": case_spec(case),
                "spec_hash": case.spec_hash,
            }
            lines.write(canonical_json({**measured[configuration(case)], **own}) + "\n")
    run.write_manifest({**manifest, "complete": True, RESULTS_SHA256: run.results_sha256()})
    return len(prepared.cases)


def configuration(case: Case) -> tuple[object, ...]:
    """What a case has in common with those of other seeds."""
    return tuple(value for name, value in case.axes if name != "seed")


def _measured_results(bench: Bench) -> dict[tuple[object, ...], CaseResult]:
    cases = prepared_with([1]).cases
    jobs, store = len(bench.host_cpus), bench.scratch / "states"
    times = pool_time(bench.lab, bench.scratch, bench.host_cpus, cases, jobs, store)
    times.run.collect([case.id for case in cases])
    results = times.run.each_result()
    return {configuration(case): result for case, result in zip(cases, results, strict=True)}
