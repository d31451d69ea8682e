"""Runs what publications need, one run after the other; what was measured before is kept.

The runs are those of any study: `ffslab show`, `report` and `compare` read them. What a build of
the lab has measured, of the same study with other cases too, is not run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ffslab.campaign.kept import ready
from ffslab.campaign.run import RunRequest, execute
from ffslab.campaign.study import Watch, pool_options
from ffslab.codesize.measure import measure
from ffslab.codesize.sizes import CodeSizes
from ffslab.loader import load_catalog
from ffslab.published.beside import JudgedPublication, judged
from ffslab.published.measured import MeasuredReader, Results
from ffslab.published.plan import Plan, PlannedRun
from ffslab.results.rundir import RunDirectory
from ffslab.targets.target import SiteOptions
from ffslab.workloads.results import results_of

_ARCHITECTURE = "um"


@dataclass(frozen=True, slots=True)
class How:
    """How cases are run: guests at once, a guest's wall time, where runs go."""

    output: Path
    watch: Watch
    jobs: int | None = None
    timeout_s: float | None = None
    fresh: bool = False
    options: SiteOptions = field(default_factory=SiteOptions)


@dataclass(frozen=True, slots=True)
class Reproduced:
    """A publication beside ours; `runs` by their keys, `interrupted` if not all were made."""

    plan: Plan
    judged: JudgedPublication
    runs: dict[str, RunDirectory]
    interrupted: bool


def reproduced(plan: Plan, how: How) -> Reproduced:
    """Runs what is missing of a publication, and judges its statements.

    After an interruption the statements whose cases are missing are not measured. Raises what a run
    of a study raises.
    """
    runs: dict[str, RunDirectory] = {}
    interrupted = False
    for planned in plan.runs:
        runs[planned.key], interrupted = _run(planned, plan.publication.name, how)
        if interrupted:
            break
    results = {planned.key: _results(runs.get(planned.key)) for planned in plan.runs}
    sizes = None if interrupted else _sizes(plan.sizes, how)
    by_key = {planned.key: planned for planned in plan.runs}
    reader = MeasuredReader(plan.publication, by_key, results, sizes)
    return Reproduced(plan, judged(plan.publication, reader), runs, interrupted)


def _run(planned: PlannedRun, publication: str, how: How) -> tuple[RunDirectory, bool]:
    """The run with all its cases, and whether it was interrupted."""
    # The size of code is measured apart: it belongs to no run here.
    study = replace(planned.prepared.study, sizes=())
    request = RunRequest(
        prepared=replace(planned.prepared, study=study),
        options=pool_options(planned.prepared.target, how.jobs, how.timeout_s),
        command=how.watch.command,
        results_root=how.output,
        label=f"reproduce {publication} {planned.key}",
    )
    is_ready = ready(request, how.options, how.watch.build, how.watch.now, fresh=how.fresh)
    if not is_ready.left and is_ready.run.manifest().get("complete"):
        return is_ready.run, False
    with how.watch.cases(is_ready.left) as progress:
        end = execute(is_ready.request, is_ready.site, progress, how.watch.now)
    if end.refused is not None:
        raise end.refused
    return end.run, end.interrupted


def _results(run: RunDirectory | None) -> Results:
    return {} if run is None else {result["id"]: result for result in results_of(run)}


def _sizes(filesystems: Sequence[str], how: How) -> CodeSizes | None:
    """The code of these file systems for the lab's kernel."""
    if not filesystems:
        return None
    catalog = load_catalog()
    wanted = [catalog.filesystem(name) for name in filesystems]
    return measure(wanted, [_ARCHITECTURE], how.watch.build, go_on=True)
