"""Runs cases on a target with several workers, and writes each result when it is there.

Guests are external processes, so threads are enough. A worker owns a slot, and
with it a host CPU that its guests are pinned to. The first Ctrl-C starts no
further case and waits for the running ones; the second kills them. Whatever is
finished is kept either way, for `--resume`.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from ffslab.campaign.chain import Chain, Job, in_order, unsupported
from ffslab.campaign.plan import host_cpu_for
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
) -> PoolEnd:
    """Runs cases in order; raises the first FfslabError of the infrastructure.

    On such an error no further case is started; results so far are kept. Such an error is also
    what becomes of a guest that the host ended: its case has no result, and is not tried again.
    """
    chains, skipped = _without_skipped(chains, target)
    slots: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(options.jobs):
        slots.put(number)
    stop = threading.Event()

    @contextmanager
    def slot() -> Iterator[int]:
        number = slots.get()
        try:
            yield number
        except FfslabError:
            # Here, and not where it is told: this thread would take the next case before that.
            stop.set()
            raise
        finally:
            slots.put(number)

    def prepare(job: Job) -> PreparedState | None:
        before = states.wait_for(job.before) if job.before else None
        if job.before is not None and (before is None or before.flash is None):
            return before
        if stop.is_set():
            return None
        with slot() as number:
            kept = states.kept(job, before, run)
            if kept is not None:
                return kept
            cpu = host_cpu_for(number, options.jobs, options.host_cpus)
            try:
                return states.prepare(job, before, target, run, options.timeout_s, cpu)
            except GuestLostError as error:
                told = f"while the flash was prepared, {error.message}"
                raise GuestLostError(told, cause=error.cause, remedy=error.remedy) from error

    def work(chain: Chain) -> CaseDone | None:
        # Waits before it takes a slot: the guest that prepares the state needs one.
        prepared = states.wait_for(chain.preparing[-1]) if chain.preparing else None
        if stop.is_set():
            return None
        with slot() as number:
            reason = skipped.get(chain.own.case.id, "")
            return _run_case(chain, reason, target, run, options, number, prepared)

    with ThreadPoolExecutor(max_workers=options.jobs, thread_name_prefix="guest") as executor:
        futures = []
        for job, chain in in_order(chains):
            if chain is None:
                states.announce(job, executor.submit(prepare, job))
            else:
                futures.append(executor.submit(work, chain))
        try:
            return _watch(futures, stop, target, progress)
        except BaseException:
            stop.set()
            target.kill_all()
            raise


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
    slot: int,
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
    cpu = host_cpu_for(slot, options.jobs, options.host_cpus)
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
