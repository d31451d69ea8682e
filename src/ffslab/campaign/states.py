"""The states of the flash that a run's cases share, and the jobs that prepare them.

Each image is built once in a run and each state prepared once, or taken from the store.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

from ffslab.campaign.chain import Job
from ffslab.campaign.images import CaseImage, ImageJob
from ffslab.campaign.state_store import StateStore
from ffslab.errors import SpecError
from ffslab.model.case import Case
from ffslab.protocol.records import RecordStream
from ffslab.results.console import Printed
from ffslab.results.outcome import Outcome, judged
from ffslab.results.preparation import Preparation
from ffslab.results.rundir import RunDirectory
from ffslab.targets.target import (
    CONSOLE_NAME,
    FLASH_NAME,
    OUTPUT_NAME,
    RECORDS_NAME,
    GuestJob,
    Target,
)
from ffslab.workloads.results import asked_of


@dataclass(frozen=True, slots=True)
class PreparedState:
    """How a job for a case's flash ended: what the next guest begins with.

    `prepared` are the guests so far in order, of which the last may have failed. It gets the chip's
    file `flash` or, if it is the first, an `image` to write; neither if a job did not succeed.
    `refused` is why there is no image.
    """

    prepared: tuple[Preparation, ...] = ()
    flash: Path | None = None
    image: CaseImage | None = None
    refused: SpecError | None = None

    @property
    def failed(self) -> bool:
        """Whether there is nothing to begin with."""
        return self.flash is None and self.image is None


class StateRoom:
    """The states of one run while it goes on; safe to use from several threads."""

    def __init__(self, store: StateStore, *, fresh: bool = False) -> None:
        """`fresh`: states are prepared again, kept or not."""
        self._store = store
        self._fresh = fresh
        self._lock = threading.Lock()  # protects _futures
        self._futures: dict[str, Future[PreparedState | None]] = {}

    def announce(self, job: Job | ImageJob, future: Future[PreparedState | None]) -> None:
        """Says who does `job`."""
        with self._lock:
            self._futures[job.key] = future

    def future(self, job: Job | ImageJob | None) -> Future[PreparedState | None] | None:
        """What will be the flash or the image that the job leaves; None for no job."""
        if job is None:
            return None
        with self._lock:
            return self._futures[job.key]

    def result(self, job: Job | ImageJob) -> PreparedState | None:
        """What a job that has ended left; None if the run was stopped before that."""
        future = self.future(job)
        assert future is not None
        return future.result()

    def kept(
        self, job: Job, before: PreparedState | None, run: RunDirectory
    ) -> PreparedState | None:
        """The state from the store, if it is there; what its guest printed is kept in the run."""
        entry = None if self._fresh else self._store.find(job.key)
        return None if entry is None else _judged(job, entry, run, 0, None, before)

    def prepare(
        self,
        job: Job,
        before: PreparedState | None,
        target: Target,
        run: RunDirectory,
        timeout_s: float,
        cpu: int | None,
    ) -> PreparedState | None:
        """Runs the guest of a job on what there is before; None if it was killed.

        What the guest printed is kept in the run directory either way.
        """
        with self._store.new_entry() as directory:
            guest_job = GuestJob(
                job.case,
                job.plan,
                directory,
                timeout_s,
                keep_flash=True,
                host_cpu=cpu,
                flash=before.flash if before else None,
                image=before.image.path if before and before.image else None,
            )
            with self._store.errors_explained():
                guest = target.run(guest_job)
            if guest.killed:
                return None
            limit = timeout_s if guest.timed_out else None
            prepared = _judged(
                *(job, directory, run, guest.exit_status, limit, before), guest.failure
            )
            if prepared.flash is None or guest.flash_sha256 is None:
                return replace(prepared, flash=None)
            entry = self._store.keep(directory, job.key, guest.flash_sha256)
            return replace(prepared, flash=entry / FLASH_NAME)


def _judged(
    job: Job,
    directory: Path,
    run: RunDirectory,
    exit_status: int,
    limit_s: float | None,
    before: PreparedState | None,
    failure: str = "",
) -> PreparedState:
    run.keep_state(job.key, job.plan, _files_of_guest(directory))
    outcome, stream = judged_guest(
        job.case, directory, exit_status, limit_s, own=False, failure=failure
    )
    facts = before.image.facts if before and before.image else None
    preparation = Preparation(job.key, outcome, stream, facts)
    earlier = before.prepared if before else ()
    flash = directory / FLASH_NAME if outcome.kind == "pass" else None
    return PreparedState((*earlier, preparation), flash)


def _files_of_guest(directory: Path) -> list[Path]:
    """What it printed and recorded, in its channels."""
    names = (RECORDS_NAME, CONSOLE_NAME, OUTPUT_NAME)
    return [directory / name for name in names if (directory / name).exists()]


def prepared_in_place(
    jobs: Sequence[Job], target: Target, run: RunDirectory, timeout_s: float
) -> tuple[Preparation, ...] | None:
    """Runs the guests before a case's own on the one flash of a target, until one fails.

    What they printed is kept in the run directory. None if one was killed.
    """
    done: list[Preparation] = []
    for job in jobs:
        with tempfile.TemporaryDirectory(prefix="ffslab-") as name:
            directory = Path(name)
            guest = target.run(
                GuestJob(job.case, job.plan, directory, timeout_s, follows=bool(done))
            )
            if guest.killed:
                return None
            limit_s = timeout_s if guest.timed_out else None
            outcome, stream = judged_guest(
                *(job.case, directory, guest.exit_status, limit_s),
                own=False,
                failure=guest.failure,
            )
            run.keep_state(job.key, job.plan, _files_of_guest(directory))
        done.append(Preparation(job.key, outcome, stream, None))
        if outcome.kind != "pass":
            break
    return tuple(done)


def judged_guest(
    case: Case,
    directory: Path,
    exit_status: int,
    limit_s: float | None,
    *,
    own: bool,
    failure: str = "",
) -> tuple[Outcome, RecordStream]:
    """The judgement of a guest that printed into `directory`, with its records.

    `own`: it is the case's own, and did not only prepare the flash. `limit_s`: it was killed then.
    `failure`: what the target says went wrong.
    """
    return judged(
        directory / RECORDS_NAME,
        Printed.of(directory / CONSOLE_NAME, directory / OUTPUT_NAME),
        exit_status,
        limit_s,
        asked_of(case.workload, own=own),
        failure,
    )
