"""The local pool: what waits takes no worker, and what was submitted first is done first."""

from __future__ import annotations

import threading
import time
import weakref
from concurrent.futures import Future

import pytest

from ffslab.campaign.executor import LocalPool, Worker


def test_work_waits_for_other_work_and_takes_no_worker_meanwhile() -> None:
    begun, go = threading.Event(), threading.Event()
    done: list[str] = []

    def first(_: Worker) -> None:
        begun.set()
        assert go.wait(10)
        done.append("first")

    with LocalPool(2) as pool:
        one = pool.submit(first)
        behind = [pool.submit(lambda _: done.append("behind"), one) for _ in range(5)]
        assert begun.wait(10)
        # One worker is busy, five pieces wait for it: the other worker has this.
        pool.submit(lambda _: done.append("other")).result(10)
        assert not any(future.done() or future.running() for future in behind)
        assert one.running()
        go.set()
    assert done == ["other", "first", *["behind"] * 5]


def test_of_what_can_be_done_the_first_submitted_is_done_first() -> None:
    """Though it could be done last."""
    order: list[str] = []
    gate: Future[None] = Future()

    def open_gate(_: Worker) -> None:
        gate.set_result(None)

    with LocalPool(1) as pool:
        pool.submit(lambda _: order.append("behind the gate"), gate)
        pool.submit(open_gate)
        for name in ("a", "b"):
            pool.submit(lambda _, name=name: order.append(name))  # type: ignore[misc]
    assert order == ["behind the gate", "a", "b"]


def test_an_error_is_told_and_what_waits_for_it_is_done() -> None:
    def fail(_: Worker) -> None:
        raise ValueError("broken")

    with LocalPool(1) as pool:
        failing = pool.submit(fail)
        after = pool.submit(lambda _: failing.exception(), failing)
        with pytest.raises(ValueError, match="broken"):
            failing.result(10)
        assert str(after.result(10)) == "broken"


def test_each_worker_has_a_processor_of_its_own() -> None:
    together = threading.Barrier(2)

    def cpu(worker: Worker) -> int | None:
        together.wait(10)
        return worker.host_cpu

    with LocalPool(2, (4, 6)) as pool:
        found = [pool.submit(cpu) for _ in range(6)]
    assert sorted(future.result() or 0 for future in found) == [4, 4, 4, 6, 6, 6]


def test_what_work_gave_is_the_callers_alone() -> None:
    class Large:
        pass

    with LocalPool(1) as pool:
        given = weakref.ref(pool.submit(lambda _: Large()).result(10))
        deadline = time.monotonic() + 10
        while given() is not None and time.monotonic() < deadline:
            pool.submit(lambda _: None).result(10)
            time.sleep(0.01)
        assert given() is None
