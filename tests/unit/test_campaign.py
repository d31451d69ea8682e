"""Runs on a target without a kernel: results, resume, Ctrl-C, faults of the host."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from host_support import LAB, STUDY, FakeSite, FakeTarget, SilentProgress, cases_of

from ffslab.campaign.chain import Chain, chain_of
from ffslab.campaign.done import PoolOptions
from ffslab.campaign.plan import Estimate, host_cpu_for, remaining
from ffslab.campaign.pool import run_cases
from ffslab.campaign.run import (
    RunEnd,
    RunRequest,
    execute,
    find_resumable,
    prepare,
    prepare_resumed,
)
from ffslab.campaign.state_store import StateStore
from ffslab.campaign.states import StateRoom
from ffslab.errors import DamagedResultError, GuestLostError, InfrastructureError, UsageError
from ffslab.model.case import Case
from ffslab.results.files import disk_error
from ffslab.results.rundir import RunDirectory, create_run, find_run
from ffslab.targets.target import GuestJob
from ffslab.targets.uml.guests import KIND

NOW = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)


def chains_of(cases: Sequence[Case]) -> list[Chain]:
    return [chain_of(case, KIND, LAB.build_id) for case in cases]


def states_in(directory: Path) -> StateRoom:
    return StateRoom(StateStore(directory / "state"))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return path


def _execute(
    study: Path, target: FakeTarget, *, jobs: int = 1, resume: RunDirectory | None = None
) -> RunEnd:
    root = study.parent / "results"
    prepared = prepare_resumed(resume, LAB.build_id) if resume else prepare(str(study))
    request = RunRequest(prepared, PoolOptions(jobs, 60), "ffslab run", root, resume)
    return execute(request, FakeSite(target), SilentProgress(), lambda: NOW)


def test_run_directory_is_complete(study: Path) -> None:
    end = _execute(study, FakeTarget())
    assert end.run.path.name == "20250102T030405Z-small"
    assert [result["outcome"] for result in end.results] == ["pass"] * 8
    manifest = end.run.manifest()
    assert manifest["complete"]
    assert manifest["build_id"] == "build-1"
    assert manifest["study_text"] == STUDY
    assert any(entry["estimate"] for entry in manifest["provenance"])
    case = end.run.case_dir("ubifs-aged-s1")
    names = {path.name for path in case.iterdir()}
    assert {"spec.json", "plan", "records.jsonl", "console.log", "case.json"} <= names
    line = (end.run.path / "results.jsonl").read_text().splitlines()[6]
    assert (case / "case.json").read_text() == line + "\n"


def test_results_do_not_depend_on_jobs_and_name_nothing_of_the_host(study: Path) -> None:
    ends = [_execute(study, FakeTarget(), jobs=jobs) for jobs in (1, 4)]
    first, second = ((end.run.path / "results.jsonl").read_bytes() for end in ends)
    assert first == second
    assert ends[1].run.path.name == "20250102T030405Z-small-2"
    assert b"wall" not in first
    assert str(study.parent).encode() not in first


def test_failures_are_kept_and_told_apart(study: Path) -> None:
    files = {
        "jffs2-free-s1": ("panic.log", "cut.jsonl"),
        "jffs2-free-s2": ("pass.log", "enospc.jsonl"),
        "ubifs-free-s1": ("pass.log", "verify.jsonl"),
    }
    target = FakeTarget(files, timed_out=frozenset({"ubifs-free-s2"}))
    outcomes = {result["id"]: result["outcome"] for result in _execute(study, target).results}
    assert len(outcomes) == 8
    assert outcomes["jffs2-free-s1"] == "crash"
    assert outcomes["jffs2-free-s2"] == "short"
    assert outcomes["ubifs-free-s1"] == "corrupt"
    assert outcomes["ubifs-free-s2"] == "timeout"


def test_enospc_keeps_what_was_measured(study: Path) -> None:
    target = FakeTarget({"jffs2-free-s1": ("pass.log", "enospc.jsonl")})
    result = _execute(study, target).results[0]
    assert result["phases"][0]["errno_name"] == "ENOSPC"
    assert result["phases"][0]["pages_programmed"] == 400


def test_resume_runs_only_what_is_missing(study: Path) -> None:
    first = _execute(study, FakeTarget())
    before = (first.run.path / "results.jsonl").read_bytes()
    # As kill -9 leaves it: one case half written, one without a result, nothing collected; and
    # one that somebody has edited.
    (first.run.case_dir("jffs2-aged-s1") / "case.json").unlink()
    (first.run.case_dir("ubifs-free-s2") / "case.json").write_text('{"v":1,"id":"ubi')
    edited = first.run.case_dir("ubifs-free-s1") / "case.json"
    edited.write_text(edited.read_text().replace('"phases"', '"phasen"'))
    (first.run.path / "results.jsonl").unlink()
    manifest = first.run.manifest()
    first.run.write_manifest({**manifest, "complete": False})
    target = FakeTarget()
    found = find_resumable(str(study), study.parent / "results")
    end = _execute(study, target, resume=found)
    assert target.ran == ["jffs2-aged-s1", "ubifs-free-s1", "ubifs-free-s2"]
    assert (end.run.path / "results.jsonl").read_bytes() == before
    assert end.run.manifest()["complete"]


def test_resume_uses_the_study_as_it_was(study: Path) -> None:
    end = _execute(study, FakeTarget())
    study.write_text(STUDY.replace("[1, 2]", "[7]"))
    prepared = prepare_resumed(end.run, "build-1")
    assert [case.seed for case in prepared.cases][:2] == [1, 2]


def test_resume_refuses_another_lab(study: Path) -> None:
    end = _execute(study, FakeTarget())
    with pytest.raises(UsageError, match="the lab is another build"):
        prepare_resumed(end.run, "build-2")


def test_nothing_to_resume(study: Path) -> None:
    with pytest.raises(UsageError, match="no interrupted run of small"):
        find_resumable(str(study), study.parent / "results")


def test_damaged_manifest_is_reported(study: Path) -> None:
    end = _execute(study, FakeTarget())
    (end.run.path / "manifest.json").write_text("{")
    with pytest.raises(DamagedResultError, match=r"manifest.json: damaged"):
        end.run.manifest()


def test_damaged_results_name_the_line(study: Path) -> None:
    end = _execute(study, FakeTarget())
    path = end.run.path / "results.jsonl"
    lines = path.read_text().splitlines()
    lines[2] = lines[2][:100]
    path.write_text("\n".join(lines))
    with pytest.raises(DamagedResultError, match=r"results.jsonl, line 3: damaged"):
        end.run.results()


def test_a_figure_that_was_edited_is_noticed_and_resuming_brings_back_what_was_measured(
    study: Path,
) -> None:
    end = _execute(study, FakeTarget())
    path = end.run.path / "results.jsonl"
    before = path.read_text()
    path.write_text(re.sub(r'"duration_ns":(\d+)', r'"duration_ns":1\1', before, count=1))
    assert path.read_text() != before
    with pytest.raises(DamagedResultError, match="another SHA-256") as caught:
        end.run.results()
    assert "--resume" in caught.value.remedy
    again = _execute(study, FakeTarget(), resume=end.run)
    assert path.read_text() == before
    assert len(again.run.results()) == len(end.results)


def test_full_disk_stops_the_run_and_keeps_results(study: Path) -> None:
    def disk_full_at_fourth(job: GuestJob) -> None:
        if len(target.ran) == 3:
            raise OSError(errno.ENOSPC, "No space left on device", str(job.case_dir))

    target = FakeTarget(before=disk_full_at_fourth)
    with pytest.raises(InfrastructureError, match="No space left") as caught:
        _execute(study, target)
    assert "--resume" in caught.value.remedy
    run = find_run("latest", study.parent / "results")
    assert len(run.results()) == 3
    assert not run.manifest()["complete"]
    end = _execute(study, FakeTarget(), resume=run)
    assert len(end.results) == 8


def test_a_disk_that_is_full_at_the_end_is_told_with_how_to_go_on(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(run: RunDirectory, *_: object) -> None:
        raise disk_error(OSError(errno.ENOSPC, "No space left on device"), run.path / "results")

    monkeypatch.setattr(RunDirectory, "collect", full)
    with pytest.raises(InfrastructureError, match="No space left") as caught:
        _execute(study, FakeTarget())
    run = find_run("latest", study.parent / "results")
    assert caught.value.remedy == f"free some space there, then: ffslab run {run.path} --resume"


def test_a_guest_that_the_host_ended_has_no_result_and_is_repeated(study: Path) -> None:
    begun = []

    def lose_the_third(job: GuestJob) -> None:
        begun.append(job.case.id)
        if len(target.ran) == 2 and not target.killed.is_set():
            raise GuestLostError(f"the host ended the guest of {job.case.id}", remedy="free -m")

    target = FakeTarget(before=lose_the_third)
    with pytest.raises(GuestLostError) as caught:
        _execute(study, target)
    run = find_run("latest", study.parent / "results")
    assert caught.value.exit_code == 3
    told = f"the host ended the guest of jffs2-aged-s1\n{run.path} is not complete."
    assert caught.value.message == told
    assert caught.value.remedy == f"free -m, then: ffslab run {run.path} --resume"
    # None is tried again in this run, and none begins after that.
    assert target.ran == ["jffs2-free-s1", "jffs2-free-s2"]
    assert begun == [*target.ran, "jffs2-aged-s1"]
    assert [result["outcome"] for result in run.results()] == ["pass", "pass"]
    assert not run.manifest()["complete"]
    end = _execute(study, FakeTarget(), resume=run)
    assert len(end.results) == 8 and end.run.manifest()["complete"]


HOLD = """
import sys
from pathlib import Path
from ffslab.results.files import disk_error
from ffslab.results.rundir import RunDirectory
with RunDirectory(Path(sys.argv[1])).worked_on():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_process_at_a_time_works_on_a_run(study: Path) -> None:
    end = _execute(study, FakeTarget())
    (end.run.case_dir("jffs2-aged-s1") / "case.json").unlink()
    source = Path(__file__).resolve().parents[2] / "src"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(end.run.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(source)},
    ) as other:
        assert other.stdout is not None and other.stdout.readline()
        target = FakeTarget()
        with pytest.raises(InfrastructureError) as caught:
            _execute(study, target, resume=end.run)
        assert f"{end.run.path} is being worked on by process {other.pid}" in caught.value.message
        assert not target.ran
        # Nothing of a killed holder is left.
        other.kill()
    assert _execute(study, target, resume=end.run).run.manifest()["complete"]
    assert target.ran == ["jffs2-aged-s1"]


def test_a_new_run_is_held_while_its_guests_run(study: Path) -> None:
    refused: list[str] = []

    def resume(_: GuestJob) -> None:
        run = find_resumable(str(study), study.parent / "results")
        with (
            pytest.raises(InfrastructureError, match="is being worked on") as caught,
            run.worked_on(),
        ):
            pass
        refused.append(caught.value.message)

    _execute(study, FakeTarget(before=resume))
    assert len(refused) == 8 and "another thread of this process" in refused[0]


@contextmanager
def _interrupts(*delays_s: float) -> Iterator[None]:
    """Sends this process a Ctrl-C after each delay."""
    main = threading.main_thread().ident
    assert main is not None
    timers = [
        threading.Timer(delay, signal.pthread_kill, (main, signal.SIGINT)) for delay in delays_s
    ]
    for timer in timers:
        timer.start()
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()


def test_first_interrupt_lets_running_guests_end(study: Path) -> None:
    waiting = threading.Event()
    target = FakeTarget(before=lambda _: (waiting.wait(0.4), None)[1])
    with _interrupts(0.2):
        end = _execute(study, target, jobs=2)
    assert end.interrupted
    assert target.ran
    assert len(end.results) == len(target.ran) < 8


def test_second_interrupt_kills_and_keeps_what_is_done(study: Path) -> None:
    def hang_after_first(_: GuestJob) -> None:
        if target.ran:
            assert target.killed.wait(10)

    target = FakeTarget(before=hang_after_first)
    with _interrupts(0.2, 0.4):
        end = _execute(study, target)
    assert end.interrupted
    assert [result["id"] for result in end.results] == ["jffs2-free-s1"]
    assert not (end.run.case_dir("jffs2-free-s2") / "case.json").exists()


def test_unmet_requirement_is_a_skip_with_its_reason(tmp_path: Path) -> None:
    class Bare(FakeTarget):
        def missing(self, case: object) -> str:  # noqa: ARG002
            return "the lab build has no module vnand"

    run = create_run(tmp_path, "x", NOW)
    progress = SilentProgress()
    chains, states = chains_of(cases_of()[:1]), states_in(tmp_path)
    run_cases(chains, Bare(), run, PoolOptions(1, 60), progress, states)
    (result,) = progress.done
    assert (result["outcome"], result["reason"]) == ("skip", "the lab build has no module vnand")


def test_result_of_another_spec_does_not_count_as_done(tmp_path: Path) -> None:
    run = create_run(tmp_path, "x", NOW)
    cases = cases_of()[:1]
    chains, states = chains_of(cases), states_in(tmp_path)
    run_cases(chains, FakeTarget(), run, PoolOptions(1, 60), SilentProgress(), states)
    assert run.done_ids(cases) == {cases[0].id}
    assert run.done_ids([replace(cases[0], cpu_scale=2.0)]) == frozenset()


def test_planning() -> None:
    cases = cases_of()
    assert [c.id for c in remaining(cases, {c.id for c in cases[1:]})] == [cases[0].id]
    assert [host_cpu_for(slot, 2, (4, 5)) for slot in (0, 1)] == [4, 5]
    assert host_cpu_for(0, 3, (4, 5)) is None
    assert Estimate(2, 6, 10).left_s == 20
    assert Estimate(0, 6, 10).left_s is None


def test_runs_are_found_by_name_and_beginning(study: Path) -> None:
    end = _execute(study, FakeTarget())
    root = study.parent / "results"
    for name in ("latest", "20250102", end.run.path.name, str(end.run.path)):
        assert find_run(name, root).path.name == end.run.path.name
    with pytest.raises(UsageError, match="no run 'nope'"):
        find_run("nope", root)


def test_wall_figures_are_apart(study: Path) -> None:
    end = _execute(study, FakeTarget())
    wall = json.loads((end.run.path / "wall.jsonl").read_text().splitlines()[0])
    assert wall["virtual_per_wall"] == 9.0
