"""A run of cases by the local pool, timed; for the parts that measure more than one guest."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ffslab.campaign.chain import chain_of
from ffslab.campaign.done import CaseDone, PoolOptions
from ffslab.campaign.pool import run_cases
from ffslab.campaign.state_store import StateStore
from ffslab.campaign.states import StateRoom
from ffslab.errors import InfrastructureError
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.results.rundir import MANIFEST_VERSION, RunDirectory, create_run
from ffslab.results.shortfall import is_good
from ffslab.targets.target import Opening
from ffslab.targets.uml.guests import UML, Machine
from ffslab.targets.uml.site import LocalSite


@dataclass(frozen=True, slots=True)
class PoolTime:
    """Seconds of one run: of the wall, of all guests together, of ffslab's own process's CPU."""

    run: RunDirectory

    wall_s: float
    guests_s: float
    own_cpu_s: float


class _Guests:
    """The pool's progress: adds up the guests' wall time; a case that fails ends it all."""

    def __init__(self) -> None:
        self.wall_ns = 0

    def case_done(self, done: CaseDone) -> None:
        if not is_good(done.result):
            raise InfrastructureError(f"{done.case.id}: {done.result['reason']}")
        self.wall_ns += done.wall_ns

    def stopping(self, running: int) -> None:
        """The pool says so itself by what it returns."""

    def note(self, text: str) -> None:
        """Of no interest to a measurement."""

    def part_done(self, case: Case, done: int, total: int) -> None:
        """Of no interest to a measurement."""


def pool_time(
    lab: LabBuild,
    scratch: Path,
    host_cpus: tuple[int, ...],
    cases: Sequence[Case],
    jobs: int,
    store: Path,
    machine: Machine = UML,
) -> PoolTime:
    """Runs the cases with `jobs` workers in `scratch`; prepared states are kept in `store`.

    `machine`: what the guests run on, which is that of the lab.
    """
    run = create_run(scratch / "results", "bench", datetime.now(UTC))
    run.write_manifest({"v": MANIFEST_VERSION, "cases": [{"id": case.id} for case in cases]})
    site = LocalSite(lab, scratch, machine=machine)
    chains = [chain_of(case, site.kind, lab.build_id) for case in cases]
    states = StateRoom(StateStore(store))
    guests = _Guests()
    with site.open(Opening(cases, jobs, run.path, guests.note)) as opened:
        options = PoolOptions(opened.jobs, 300.0, host_cpus=host_cpus)
        wall, cpu = time.monotonic(), time.process_time()
        end = run_cases(chains, opened.target, run, options, guests, states)
        own_cpu_s, wall_s = time.process_time() - cpu, time.monotonic() - wall
    if end.interrupted:
        raise KeyboardInterrupt
    return PoolTime(run, wall_s, guests.wall_ns / 1e9, own_cpu_s)
