"""Runs the jobs of cases on a target, and writes each result when it is there.

The first Ctrl-C starts no further case and waits for the running ones; the second kills them.
Whatever is finished is kept either way, for `--resume`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar

from ffslab.campaign.chain import Chain, Job, in_order, unsupported
from ffslab.campaign.done import CaseDone, PoolOptions, wall_of
from ffslab.campaign.executor import Executor, LocalPool, Worker
from ffslab.campaign.explorers import Explorers
from ffslab.campaign.images import ImageJob, Noted, built
from ffslab.campaign.states import PreparedState, StateRoom, judged_guest, prepared_in_place
from ffslab.errors import FfslabError, GuestLostError, SpecError
from ffslab.model.case import Case
from ffslab.results.casefile import case_result, skipped_result, unprepared_result
from ffslab.results.files import disk_error
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult
from ffslab.results.rundir import RunDirectory
from ffslab.targets.running import GuestSlot, RunningGuests
from ffslab.targets.target import GuestJob, GuestRun, Target

S = TypeVar("S")
T = TypeVar("T")


class Progress(Protocol):
    """Shows what a pool does; `case_done` and `stopping` are called from its main thread only."""

    def case_done(self, done: CaseDone) -> None:
        """A case has ended."""
        ...

    def stopping(self, running: int) -> None:
        """Ctrl-C: `running` guests are waited for, those that build images among them."""
        ...

    def note(self, text: str) -> None:
        """A fact that the user should know, on a line of its own."""
        ...

    def part_done(self, case: Case, done: int, total: int) -> None:
        """So much of a case of many guests is done."""
        ...


@dataclass(frozen=True, slots=True)
class PoolEnd:
    """`interrupted`: not all cases were started, or guests were killed.

    `refused`: what was wrong with an image, if all cases that were to run need one and none could
    be built.
    """

    finished: int
    interrupted: bool
    refused: SpecError | None = None


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
    jobs = _Jobs(target, run, options, states, skipped, RunningGuests(progress.note))
    explorers = Explorers(target, run, options, jobs.stop, progress.part_done)
    with executor or LocalPool(options.jobs, options.host_cpus) as workers, explorers:
        try:
            end = _watch(_submitted(chains, jobs, workers, explorers), jobs, progress)
        except BaseException:
            jobs.kill()
            raise
    return end if end.interrupted else replace(end, refused=_refused(chains, jobs))


def _refused(chains: Sequence[Chain], jobs: _Jobs) -> SpecError | None:
    """Why no case could begin, if an image is what each of them lacks."""
    errors = []
    for chain in chains:
        if chain.own.case.id in jobs.skipped:
            continue
        image = chain.preparing[0].image if chain.preparing else None
        made = jobs.states.result(image) if image is not None else None
        if made is None or made.refused is None:
            return None
        errors.append(made.refused)
    return errors[0] if errors else None


@dataclass(frozen=True, slots=True)
class _Futures:
    """The cases' own guests that have not been told of, and the jobs that they wait for."""

    cases: set[Future[CaseDone | None]] = field(default_factory=set)
    preparing: list[Future[PreparedState | None]] = field(default_factory=list)

    @property
    def running(self) -> int:
        """How many are being done."""
        cases = sum(future.running() for future in self.cases)
        return cases + sum(future.running() for future in self.preparing)


@dataclass(frozen=True, slots=True)
class _Jobs:
    """What workers do; `skipped` has the cases that are not run, with the reason.

    `builders` are the guests that build images, which are not the target's.
    """

    target: Target
    run: RunDirectory
    options: PoolOptions
    states: StateRoom
    skipped: Mapping[str, str]
    builders: RunningGuests
    stop: threading.Event = field(default_factory=threading.Event)

    def start_no_more(self) -> None:
        """What runs goes on."""
        self.stop.set()
        self.target.start_no_more()
        self.builders.start_no_more()

    def kill(self) -> None:
        """Ends what runs at once."""
        self.stop.set()
        self.target.kill_all()
        self.builders.kill_all()

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

    def build(self, job: ImageJob, worker: Worker) -> PreparedState | None:
        """Builds an image, or takes it from the cache; None after the stop."""
        if self.stop.is_set():
            return None
        slot = GuestSlot(self.builders, worker.host_cpu)
        try:
            image = built(job, Noted(self.builders.tell), slot)
        except SpecError as error:
            # No reason not to run the cases that need another image, or none.
            return PreparedState(refused=error)
        return PreparedState(image=image) if image else None

    def prepare(self, job: Job, worker: Worker) -> PreparedState | None:
        """Prepares a flash, or takes it from the store; None after the stop."""
        before = self.states.result(job.after) if job.after else None
        if job.after is not None and (before is None or before.failed):
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


def _submitted(
    chains: Sequence[Chain], jobs: _Jobs, workers: Executor, explorers: Explorers
) -> _Futures:
    """Everything that there is to do; a job waits for the one whose flash or image it gets.

    A case that decides on its guests as it goes takes no worker, but each of its guests does.
    """
    states, futures = jobs.states, _Futures()
    for job, chain in in_order(chains):
        if chain is not None and explorers.takes(chain) and chain.own.case.id not in jobs.skipped:
            futures.cases.add(explorers.submit(chain, workers))
            continue
        if chain is not None:
            after = states.future(chain.own.before) if chain.preparing else None
            futures.cases.add(workers.submit(jobs.guarded(jobs.own, chain), after))
            continue
        if isinstance(job, ImageJob):
            future = workers.submit(jobs.guarded(jobs.build, job))
        else:
            after = states.future(job.after)
            future = workers.submit(jobs.guarded(jobs.prepare, job), after)
        futures.preparing.append(future)
        states.announce(job, future)
    return futures


def _watch(futures: _Futures, jobs: _Jobs, progress: Progress) -> PoolEnd:
    """Tells of each case that has ended, and lets its result go."""
    total = len(futures.cases)
    finished = 0
    failure: FfslabError | None = None
    ended: deque[Future[CaseDone | None]] = deque()
    some_ended = threading.Event()

    def note(future: Future[CaseDone | None]) -> None:
        ended.append(future)
        some_ended.set()

    for future in futures.cases:
        future.add_done_callback(note)
    while futures.cases:
        try:
            some_ended.wait()
        except KeyboardInterrupt:
            if jobs.stop.is_set():
                jobs.kill()
            else:
                jobs.start_no_more()
                progress.stopping(futures.running)
            continue
        some_ended.clear()
        while ended:
            future = ended.popleft()
            futures.cases.remove(future)
            try:
                done = future.result()
            except FfslabError as error:
                # The infrastructure's fault: the remaining cases would meet it too.
                failure = failure or error
                jobs.start_no_more()
                continue
            if done is not None:
                finished += 1
                progress.case_done(done)
    if failure is not None:
        raise failure
    return PoolEnd(finished, finished < total)


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
        if prepared.refused is not None:
            return _not_run(case, run, skipped_result(case, prepared.refused.message))
        if prepared.failed:
            return _not_run(case, run, unprepared_result(case, prepared.prepared))
    cpu = worker.host_cpu
    flash = prepared.flash if prepared else None
    before: Sequence[Preparation] = prepared.prepared if prepared else ()
    if chain.in_place:
        done = prepared_in_place(chain.in_place, target, run, options.timeout_s)
        if done is None:
            return None
        before = done
        if before[-1].outcome.kind != "pass":
            return _not_run(case, run, unprepared_result(case, before))
    job = GuestJob(
        case,
        plan,
        directory,
        options.timeout_s,
        options.keep_flash,
        cpu,
        flash,
        follows=bool(chain.in_place),
    )
    try:
        guest = target.run(job)
    except OSError as error:
        raise disk_error(error, directory) from error
    if guest.killed:
        return None
    result = _result(case, guest, directory, options.timeout_s, before)
    if not target.kind.capabilities.virtual_time:
        _count_from_the_first_step(result)
    run.finish_case(result, wall_of(case, guest.wall_ns, result["virtual_ns"], cpu))
    return CaseDone(case, result, guest.wall_ns)


def _not_run(case: Case, run: RunDirectory, result: CaseResult) -> CaseDone:
    run.finish_case(result, wall_of(case, 0, None, None))
    return CaseDone(case, result, 0)


def _result(
    case: Case,
    guest: GuestRun,
    directory: Path,
    timeout_s: float,
    prepared: Sequence[Preparation],
) -> CaseResult:
    limit_s = timeout_s if guest.timed_out else None
    outcome, stream = judged_guest(
        case, directory, guest.exit_status, limit_s, own=True, failure=guest.failure
    )
    return case_result(case, outcome, stream, guest.flash_sha256, prepared)


def _count_from_the_first_step(result: CaseResult) -> None:
    """A board's clock counts since it was switched on, not since the case began."""
    if result["virtual_ns"] is not None and result["steps"]:
        result["virtual_ns"] -= result["steps"][0]["t_start_ns"]
