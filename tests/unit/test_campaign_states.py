"""Prepared states in a run, on a target without a kernel: shared, kept, failed, interrupted."""

from __future__ import annotations

import errno
import gc
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest
from host_support import LAB, FakeSite, FakeTarget, SilentProgress, cases_of

from ffslab.campaign.chain import chain_of, in_order
from ffslab.campaign.done import CaseDone, PoolOptions
from ffslab.campaign.executor import Worker
from ffslab.campaign.pool import run_cases
from ffslab.campaign.run import RunEnd, RunRequest, execute, prepare
from ffslab.campaign.state_store import StateStore
from ffslab.campaign.states import StateRoom
from ffslab.errors import FfslabError, GuestLostError, InfrastructureError
from ffslab.protocol.chip_file import create_flash_file, flash_digest
from ffslab.results.rundir import create_run
from ffslab.targets.target import FLASH_NAME, GuestJob, GuestRun
from ffslab.targets.uml.guests import KIND

NOW = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
T = TypeVar("T")
STUDY = """
schema = 1
name = "small"
title = "A small study"

[base]
board = "omap3530-evm"
partition_bytes = "20 MiB"
options = { compression = "none" }
workload = { kind = "micro" }

[axes]
filesystem = ["jffs2", "yaffs2"]
state = ["saturated", { rate_percent = 50 }]
"workload.request_bytes" = ["2 KiB", "4 KiB", "8 KiB"]
"""


class StateTarget(FakeTarget):
    """Preparation guests leave a chip; `jobs` tells what ran, in order."""

    def __init__(self, failing: str = "") -> None:
        super().__init__()
        self.jobs: list[GuestJob] = []
        self.failing = failing

    def run(self, job: GuestJob) -> GuestRun:
        self.jobs.append(job)
        if job.flash is not None:
            assert job.flash.is_file()
        if not job.keep_flash:
            return super().run(job)
        bad = f"state={self.failing} " in job.plan
        self.files = {job.case.id: ("pass.log", "enospc.jsonl" if bad else "pass.jsonl")}
        ended = super().run(job)
        self.files = {}
        flash = job.case_dir / FLASH_NAME
        create_flash_file(flash, 2**20)
        with flash.open("r+b") as file:
            file.write(job.plan.encode())
        digest = flash_digest(flash)
        return GuestRun(0, ended.timed_out, ended.killed, 1, "fake", digest)

    @property
    def prepared(self) -> list[GuestJob]:
        return [job for job in self.jobs if job.keep_flash]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FFSLAB_STATE_CACHE", str(tmp_path / "state"))
    return tmp_path


def run(place: Path, target: FakeTarget, *, jobs: int = 2, fresh: bool = False) -> RunEnd:
    study = place / "small.toml"
    study.write_text(STUDY)
    request = RunRequest(
        prepare(str(study)),
        PoolOptions(jobs, 60),
        "ffslab run",
        place / "results",
        fresh_states=fresh,
    )
    # The board has unaligned access, and so a kernel of its own.
    lab = replace(LAB, variants={"unaligned": LAB})
    return execute(request, FakeSite(target, lab), SilentProgress(), lambda: NOW)


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_cases_that_differ_in_requests_share_a_state(place: Path, jobs: int) -> None:
    target = StateTarget()
    end = run(place, target, jobs=jobs)
    assert [result["outcome"] for result in end.results] == ["pass"] * 12
    assert len(target.prepared) == 4
    for job in target.jobs:
        if job.keep_flash:
            assert job.flash is None
            assert "prepare " in job.plan
        else:
            assert job.flash is not None
            assert "prepare " not in job.plan
    keys = {result["preparation"]["key"] for result in end.results}
    assert len(keys) == 4
    for key in keys:
        assert {path.name for path in (end.run.path / "states" / key).iterdir()} == {
            *("plan", "records.jsonl", "console.log")
        }


def test_a_kept_state_is_used_by_the_next_run_and_changes_nothing(place: Path) -> None:
    first = run(place, StateTarget())
    target = StateTarget()
    second = run(place, target)
    assert not target.prepared
    assert (first.run.path / "results.jsonl").read_bytes() == (
        second.run.path / "results.jsonl"
    ).read_bytes()
    for path in (first.run.path / "states").rglob("records.jsonl"):
        other = second.run.path / path.relative_to(first.run.path)
        assert path.read_bytes() == other.read_bytes()
    fresh = StateTarget()
    run(place, fresh, fresh=True)
    assert len(fresh.prepared) == 4


def test_a_state_that_cannot_be_prepared_fails_its_cases_only(place: Path) -> None:
    end = run(place, StateTarget(failing="filled"))
    outcomes = {result["id"]: (result["outcome"], result["reason"]) for result in end.results}
    assert len(outcomes) == 12
    for name, (outcome, reason) in outcomes.items():
        if "filled" in name:
            assert outcome == "fail"
            assert reason.startswith("preparation: ")
        else:
            assert outcome == "pass"
    # A failure is not kept: the next run tries again.
    again = StateTarget()
    assert all(result["outcome"] == "pass" for result in run(place, again).results)
    assert len(again.prepared) == 2


def test_a_case_that_is_skipped_prepares_nothing(place: Path) -> None:
    class Bare(StateTarget):
        def missing(self, case: object) -> str:  # noqa: ARG002
            return "the lab build has no module vnand"

    target = Bare()
    end = run(place, target)
    assert {result["outcome"] for result in end.results} == {"skip"}
    assert not target.jobs


def test_a_killed_preparation_ends_the_run_without_results(place: Path) -> None:
    target = StateTarget()
    target.killed.set()
    end = run(place, target)
    assert end.interrupted
    assert not end.results
    assert not list((place / "state").glob("*/complete.json"))


def test_a_preparation_that_the_host_ended_is_no_result_of_any_case(place: Path) -> None:
    class Lost(StateTarget):
        def run(self, job: GuestJob) -> GuestRun:
            if job.keep_flash:
                raise GuestLostError(f"the host ended the guest of {job.case.id}")
            return super().run(job)

    with pytest.raises(GuestLostError, match="while the flash was prepared, the host ended"):
        run(place, Lost())
    (directory,) = (place / "results").iterdir()
    assert not list(directory.glob("cases/*/case.json"))
    assert '"complete": false' in (directory / "manifest.json").read_text()
    assert not list((place / "state").glob("*/complete.json"))


def test_a_limit_of_zero_removes_kept_states_before_a_run(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(place, StateTarget())
    stamps = list((place / "state").glob("*/complete.json"))
    assert len(stamps) == 4
    left: list[bool] = []

    class Looking(StateTarget):
        def run(self, job: GuestJob) -> GuestRun:
            left.extend(stamp.exists() for stamp in stamps[:1] if not self.jobs)
            return super().run(job)

    monkeypatch.setenv("FFSLAB_STATE_CACHE_GIB", "0")
    run(place, Looking(), jobs=1)
    assert left == [False]


def test_a_full_store_stops_the_run_with_the_command_that_goes_on(place: Path) -> None:
    class Full(StateTarget):
        def run(self, job: GuestJob) -> GuestRun:
            if job.keep_flash:
                raise OSError(errno.ENOSPC, "No space left on device", "flash.img")
            return super().run(job)

    with pytest.raises(InfrastructureError, match="cannot keep a prepared state") as caught:
        run(place, Full())
    (directory,) = (place / "results").iterdir()
    assert caught.value.remedy.endswith(f", then: ffslab run {directory} --resume")
    assert "--scratch" not in caught.value.remedy


def test_a_state_begins_one_state_ahead() -> None:
    chains = [chain_of(case, KIND, "build") for case in cases_of(STUDY)]
    order = ["state" if chain is None else "case" for _, chain in in_order(chains)]
    assert order == [
        *("state", "state", "case", "case", "case"),
        *("state", "case", "case", "case"),
        *("state", "case", "case", "case"),
        *("case", "case", "case"),
    ]
    begun: set[str] = set()
    for job, chain in in_order(chains):
        if chain is None:
            assert job.key not in begun
            begun.add(job.key)
        else:
            assert chain.preparing[-1].key in begun
    alone = [replace(chain, preparing=()) for chain in chains]
    assert list(in_order(alone)) == [(chain.own, chain) for chain in alone]


class InTurn:
    """An executor that does each piece of work when it is submitted: no thread, no worker."""

    def __init__(self) -> None:
        self.done: list[bool] = []  # whether what it waited for had ended

    def submit(self, work: Callable[[Worker], T], after: Future[Any] | None = None) -> Future[T]:
        self.done.append(after is None or after.done())
        future: Future[T] = Future()
        try:
            future.set_result(work(Worker()))
        except FfslabError as error:
            future.set_exception(error)
        return future

    def __enter__(self) -> InTurn:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def test_another_executor_gives_the_same_results(place: Path) -> None:
    """And it is asked for no work whose flash is not there."""
    wanted = run(place, StateTarget())
    executor, found = InTurn(), create_run(place / "in-turn", "small", NOW)
    cases = prepare(str(place / "small.toml")).cases
    chains = [chain_of(case, KIND, LAB.build_id) for case in cases]
    states = StateRoom(StateStore(place / "other"))
    target, options = StateTarget(), PoolOptions(1, 60)
    end = run_cases(chains, target, found, options, SilentProgress(), states, executor)
    assert (end.finished, end.interrupted) == (12, False)
    assert executor.done == [True] * 16
    found.collect([case.id for case in cases])
    found.write_manifest({"v": 1, "cases": [{"id": case.id} for case in cases]})
    assert tuple(found.results()) == wanted.results


def test_a_case_that_was_told_of_leaves_nothing_in_memory(place: Path) -> None:
    """The results of thousands of cases are in files, and only there."""

    class Counting(SilentProgress):
        def __init__(self) -> None:
            super().__init__()
            self.alive: list[int] = []

        def case_done(self, _: CaseDone) -> None:
            self.alive.append(sum(isinstance(one, CaseDone) for one in gc.get_objects()))

    chains = [chain_of(case, KIND, LAB.build_id) for case in cases_of(STUDY)]
    states, found = StateRoom(StateStore(place / "other")), create_run(place / "one", "small", NOW)
    progress = Counting()
    # In turn: all cases have ended before the first of them is told of.
    run_cases(chains, StateTarget(), found, PoolOptions(1, 60), progress, states, InTurn())
    assert [count - progress.alive[-1] for count in progress.alive] == list(range(11, -1, -1))


def test_an_error_of_a_job_stops_those_behind_it(place: Path) -> None:
    class Refusing(StateTarget):
        def run(self, job: GuestJob) -> GuestRun:
            if len(self.jobs) == 3:
                raise InfrastructureError("the fourth is refused")
            return super().run(job)

    found = create_run(place / "refused", "small", NOW)
    (place / "small.toml").write_text(STUDY)
    chains = [
        chain_of(case, KIND, LAB.build_id) for case in prepare(str(place / "small.toml")).cases
    ]
    target, states = Refusing(), StateRoom(StateStore(place / "other"))
    with pytest.raises(InfrastructureError, match="the fourth is refused"):
        run_cases(chains, target, found, PoolOptions(1, 60), SilentProgress(), states, InTurn())
    assert len(target.jobs) == 3
