"""Where the jobs of a run are done: several at once, each on a worker.

An executor knows nothing of cases. It does pieces of work when a worker is free, and none before
what it waits for has ended. The pool of this computer's processors is one implementation; a cluster
is another.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from ffslab.campaign.plan import host_cpu_for

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Worker:
    """Who does a piece of work; `host_cpu` is to be its guest's alone, None: the host decides."""

    host_cpu: int | None = None


class Executor(Protocol):
    """Does pieces of work on workers; a context, at whose end all of it is done."""

    def submit(self, work: Callable[[Worker], T], after: Future[Any] | None = None) -> Future[T]:
        """`work` on a worker, when one is free and `after` has ended, however it ended.

        `after` was submitted before, so that waiting for it cannot block it.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class LocalPool:
    """`jobs` workers of this process, each a thread with a host CPU, if there are enough of these.

    Guests are external processes, so threads are enough.
    """

    def __init__(self, jobs: int, host_cpus: tuple[int, ...] = ()) -> None:
        self._workers: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for slot in range(jobs):
            self._workers.put(Worker(host_cpu_for(slot, jobs, host_cpus)))
        self._threads = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="guest")

    def submit(self, work: Callable[[Worker], T], after: Future[Any] | None = None) -> Future[T]:
        """See `Executor`. A thread that waits for `after` takes no worker meanwhile."""

        def when_free() -> T:
            if after is not None:
                wait([after])
            with self._worker() as worker:
                return work(worker)

        return self._threads.submit(when_free)

    @contextmanager
    def _worker(self) -> Iterator[Worker]:
        worker = self._workers.get()
        try:
            yield worker
        finally:
            self._workers.put(worker)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.shutdown(wait=True)
