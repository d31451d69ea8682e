"""Runs the jobs of cases on a target, and writes each result when it is there.

The first Ctrl-C starts no further case and waits for the running ones; the second kills them.
Whatever is finished is kept either way, for `--resume`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ffslab.campaign.chain import Chain, Job, in_order, unsupported
from ffslab.campaign.executor import Executor, LocalPool, Worker
from ffslab.campaign.states import PreparedState, StateRoom
from ffslab.errors import FfslabError, GuestLostError
from ffslab.model.case import Case
from ffslab.results.casefile import case_result, skipped_result, unprepared_result
from ffslab.results.files import disk_error
from ffslab.results.outcome import judged
from ffslab.results.preparation import Preparation
from ffslab.results.rundir import RunDirectory
from ffslab.targets.target import CONSOLE_NAME, RECORDS_NAME, GuestJob, GuestRun, Target
from ffslab.workloads.results import asked_of

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """How cases are run; nothing here may change a result."""

    jobs: int
    timeout_s: float
    keep_flash: bool = False
    host_cpus: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseDone:
    """A case that has just ended, for whoever shows the progress."""

    case: Case
    result: dict[str, Any]
    wall_ns: int


class Progress(Protocol):
    """Shows what a pool does; all but `note` is called from the pool's main thread only."""

    def case_done(self, done: CaseDone) -> None:
        """A case has ended."""
        ...

    def stopping(self, running: int) -> None:
        """Ctrl-C: `running` guests are waited for."""
        ...

    def note(self, text: str) -> None:
        """A fact that the user should know, on a line of its own."""
        ...


@dataclass(frozen=True, slots=True)
class PoolEnd:
    """`interrupted`: not all cases were started, or guests were killed."""

    finished: int
    interrupted: bool


def run_cases(
    chains: Sequence[Chain],
    target: Target,
    run: RunDirectory,
    options: PoolOptions,
    progress: Progress,
    states: StateRoom,
    executor: Executor | None = None,
) -> PoolEnd:
    """Runs cases in order, on this computer unless another executor is named.

    Raises the first FfslabError of the infrastructure.

    On such an error no further case is started; results so far are kept. Such an error is also
    what becomes of a guest that the host ended: its case has no result, and is not tried again.
    """
    chains, skipped = _without_skipped(chains, target)
    jobs = _Jobs(target, run, options, states, skipped)
    with executor or LocalPool(options.jobs, options.host_cpus) as workers:
        futures = []
        for job, chain in in_order(chains):
            after = states.future(job.before) if chain is None or chain.preparing else None
            if chain is None:
                states.announce(job, workers.submit(jobs.guarded(jobs.prepare, job), after))
            else:
                futures.append(workers.submit(jobs.guarded(jobs.own, chain), after))
        try:
            return _watch(futures, jobs.stop, target, progress)
        except BaseException:
            jobs.stop.set()
            target.kill_all()
            raise


@dataclass(frozen=True, slots=True)
class _Jobs:
    """What workers do; `skipped` has the cases that are not run, with the reason."""

    target: Target
    run: RunDirectory
    options: PoolOptions
    states: StateRoom
    skipped: Mapping[str, str]
    stop: threading.Event = field(default_factory=threading.Event)

    def guarded(self, work: Callable[[S, Worker], T], subject: S) -> Callable[[Worker], T]:
        """An error stops the rest at once.

        Not where it is told: this thread would take the next case before that.
        """

        def guarded_work(worker: Worker) -> T:
            try:
                return work(subject, worker)
            except FfslabError:
                self.stop.set()
                raise

        return guarded_work

    def prepare(self, job: Job, worker: Worker) -> PreparedState | None:
        """Prepares a flash, or takes it from the store; None after the stop."""
        before = self.states.result(job.before) if job.before else None
        if job.before is not None and (before is None or before.flash is None):
            return before
        if self.stop.is_set():
            return None
        kept = self.states.kept(job, before, self.run)
        if kept is not None:
            return kept
        limit_s, cpu = self.options.timeout_s, worker.host_cpu
        try:
            return self.states.prepare(job, before, self.target, self.run, limit_s, cpu)
        except GuestLostError as error:
            told = f"while the flash was prepared, {error.message}"
            raise GuestLostError(told, cause=error.cause, remedy=error.remedy) from error

    def own(self, chain: Chain, worker: Worker) -> CaseDone | None:
        """Runs a case's own guest; None after the stop."""
        prepared = self.states.result(chain.preparing[-1]) if chain.preparing else None
        if self.stop.is_set():
            return None
        reason = self.skipped.get(chain.own.case.id, "")
        return _run_case(chain, reason, self.target, self.run, self.options, worker, prepared)


def _without_skipped(chains: Sequence[Chain], target: Target) -> tuple[list[Chain], dict[str, str]]:
    """The chains, nothing prepared for cases that the target cannot run; and these with why."""
    can = target.kind.capabilities
    found = {c.own.case.id: target.missing(c.own.case) or unsupported(c, can) for c in chains}
    skipped = {case_id: reason for case_id, reason in found.items() if reason}
    return [
        replace(chain, preparing=()) if chain.own.case.id in skipped else chain for chain in chains
    ], skipped


def _watch(
    futures: Sequence[Future[CaseDone | None]],
    stop: threading.Event,
    target: Target,
    progress: Progress,
) -> PoolEnd:
    pending = set(futures)
    finished = 0
    failure: FfslabError | None = None
    while pending:
        try:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
        except KeyboardInterrupt:
            if stop.is_set():
                target.kill_all()
            else:
                stop.set()
                target.start_no_more()
                progress.stopping(sum(future.running() for future in pending))
            continue
        for future in done:
            try:
                ended = future.result()
            except FfslabError as error:
                # The infrastructure's fault: the remaining cases would meet it too.
                failure = failure or error
                stop.set()
                target.start_no_more()
                continue
            if ended is not None:
                finished += 1
                progress.case_done(ended)
    if failure is not None:
        raise failure
    return PoolEnd(finished, finished < len(futures))


def _run_case(
    chain: Chain,
    reason: str,
    target: Target,
    run: RunDirectory,
    options: PoolOptions,
    worker: Worker,
    prepared: PreparedState | None,
) -> CaseDone | None:
    case, plan = chain.own.case, chain.own.plan
    directory = run.start_case(case, plan)
    if reason:
        return _not_run(case, run, skipped_result(case, reason))
    if chain.preparing:
        if prepared is None:
            return None
        if prepared.flash is None:
            return _not_run(case, run, unprepared_result(case, prepared.prepared))
    cpu = worker.host_cpu
    flash = prepared.flash if prepared else None
    job = GuestJob(case, plan, directory, options.timeout_s, options.keep_flash, cpu, flash)
    try:
        guest = target.run(job)
    except OSError as error:
        raise disk_error(error, directory) from error
    if guest.killed:
        return None
    before = prepared.prepared if prepared else ()
    result = _result(case, guest, directory, options.timeout_s, before)
    run.finish_case(result, _wall(case, guest.wall_ns, result["virtual_ns"], cpu))
    return CaseDone(case, result, guest.wall_ns)


def _not_run(case: Case, run: RunDirectory, result: dict[str, Any]) -> CaseDone:
    run.finish_case(result, _wall(case, 0, None, None))
    return CaseDone(case, result, 0)


def _result(
    case: Case,
    guest: GuestRun,
    directory: Path,
    timeout_s: float,
    prepared: Sequence[Preparation],
) -> dict[str, Any]:
    outcome, stream = judged(
        (directory / RECORDS_NAME).read_bytes(),
        (directory / CONSOLE_NAME).read_bytes(),
        guest.exit_status,
        timeout_s if guest.timed_out else None,
        asked_of(case.workload, own=True),
    )
    return case_result(case, outcome, stream, guest.flash_sha256, prepared)


def _wall(case: Case, wall_ns: int, virtual_ns: int | None, host_cpu: int | None) -> dict[str, Any]:
    ratio = virtual_ns / wall_ns if virtual_ns and wall_ns else None
    return {
        "id": case.id,
        "wall_ns": wall_ns,
        "virtual_ns": virtual_ns,
        "virtual_per_wall": ratio,
        "host_cpu": host_cpu,
    }
