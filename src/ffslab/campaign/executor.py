"""Where the jobs of a run are done: several at once, each on a worker.

An executor knows nothing of cases. It does pieces of work when a worker is free, and none before
what it waits for has ended. The pool of this computer's processors is one implementation; a cluster
is another.
"""

from __future__ import annotations

import queue
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
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

    def __exit__(self, *_error: object) -> None: ...


@dataclass(frozen=True, order=True)
class _Piece:
    """A piece of work that can be done; those that were submitted first come first."""

    number: int
    do: Callable[[Worker], None] = field(compare=False)


class LocalPool:
    """`jobs` workers of this process, each a thread with a host CPU, if there are enough of these.

    Guests are external processes, so threads are enough. What waits for other work takes no thread:
    a worker that is free does the first of all pieces that can be done.
    """

    def __init__(self, jobs: int, host_cpus: tuple[int, ...] = ()) -> None:
        self._workers: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for slot in range(jobs):
            self._workers.put(Worker(host_cpu_for(slot, jobs, host_cpus)))
        self._threads = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="guest")
        self._ready: queue.PriorityQueue[_Piece] = queue.PriorityQueue()
        self._submitted = 0
        self._open: set[Future[Any]] = set()  # that have not ended; what has may be large

    def submit(self, work: Callable[[Worker], T], after: Future[Any] | None = None) -> Future[T]:
        """See `Executor`."""
        future: Future[T] = Future()
        piece = _Piece(self._submitted, lambda worker: _do(work, worker, future))
        self._submitted += 1
        self._open.add(future)
        future.add_done_callback(self._open.discard)
        if after is None:
            self._is_ready(piece)
        else:
            after.add_done_callback(lambda _: self._is_ready(piece))
        return future

    def _is_ready(self, piece: _Piece) -> None:
        self._ready.put(piece)
        # There are as many of these calls as pieces, but a thread does not know which it will do.
        self._threads.submit(self._do_first)

    def _do_first(self) -> None:
        piece = self._ready.get()
        worker = self._workers.get()
        try:
            piece.do(worker)
        finally:
            self._workers.put(worker)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        # Only then nothing becomes ready any more.
        wait(list(self._open))
        self._threads.shutdown(wait=True)


def _do(work: Callable[[Worker], T], worker: Worker, future: Future[T]) -> None:
    """Like the library's own: whatever happens is told by the future."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work(worker)
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
