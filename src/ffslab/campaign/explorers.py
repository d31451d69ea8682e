"""Cases that decide on their guests as they go, each in a thread that waits for its guests.

Such a case takes no worker: each of its guests does. As many cases go on at once as there are
workers, so that none of these is idle while one case ends.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Self, cast

from ffslab.campaign.chain import Chain
from ffslab.campaign.done import CaseDone, PoolOptions, wall_of
from ffslab.campaign.executor import Executor, Worker
from ffslab.errors import FfslabError
from ffslab.model.case import Case
from ffslab.results.casefile import case_result
from ffslab.results.files import disk_error
from ffslab.results.rundir import RunDirectory
from ffslab.targets.several import ExplorePart, Guests, StoppedError
from ffslab.targets.target import GuestJob, GuestRun, Target
from ffslab.workloads.modules import explore_module


class Explorers:
    """Runs such cases of a run; a context, at whose end all of them are done."""

    def __init__(
        self,
        target: Target,
        run: RunDirectory,
        options: PoolOptions,
        stop: threading.Event,
        tell: Callable[[Case, int, int], None],
    ) -> None:
        """`tell` is called with how much of a case is done, of how much, from any thread."""
        self._target = target
        self._run = run
        self._options = options
        self._stop = stop
        self._tell = tell
        self._threads = ThreadPoolExecutor(options.jobs, thread_name_prefix="explorer")

    def takes(self, chain: Chain) -> bool:
        """Whether a case's guests are not known beforehand."""
        return _part(chain.own.case) is not None

    def submit(self, chain: Chain, workers: Executor) -> Future[CaseDone | None]:
        """The case, whose guests are run by `workers`; None after the stop."""
        return self._threads.submit(self._case, chain, workers)

    def _case(self, chain: Chain, workers: Executor) -> CaseDone | None:
        if self._stop.is_set():
            return None
        case = chain.own.case
        part = _part(case)
        assert part is not None
        directory = self._run.start_case(case, chain.own.plan)
        started_ns = time.monotonic_ns()
        guests = Guests(
            self._target.kind.rig,
            partial(self._guest, workers),
            self._options.jobs,
            self._options.timeout_s,
            self._options.keep_flash,
        )
        try:
            found = part.run_case(case, guests, directory, partial(self._tell, case))
        except StoppedError:
            return None
        except FfslabError:
            self._stop.set()
            raise
        except OSError as error:
            self._stop.set()
            raise disk_error(error, directory) from error
        result = case_result(case, found.outcome, found.stream, None, own=found.keys)
        wall_ns = time.monotonic_ns() - started_ns
        self._run.finish_case(result, wall_of(case, wall_ns, None, None))
        return CaseDone(case, result, wall_ns)

    def _guest(self, workers: Executor, job: GuestJob) -> GuestRun:
        def on(worker: Worker) -> GuestRun:
            return self._target.run(replace(job, host_cpu=worker.host_cpu))

        return workers.submit(on).result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._threads.shutdown(wait=True)


def _part(case: Case) -> ExplorePart | None:
    return cast(ExplorePart | None, explore_module(case.workload.kind))
