"""Cases of cuts in a run: which guests they have, their results, what stops them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cut_target import CutTarget
from cuts_support import HISTORY, LOG, OPERATIONS, RECORD
from host_support import LAB, FakeSite, SilentProgress

from ffslab.campaign.done import PoolOptions
from ffslab.campaign.run import RunEnd, RunRequest, execute, prepare, prepare_resumed
from ffslab.errors import GuestLostError, InfrastructureError
from ffslab.oracle.history import parse_history
from ffslab.results.rundir import RunDirectory, find_run
from ffslab.targets.qemu.machine import KIND as QEMU
from ffslab.targets.target import GuestJob
from ffslab.workloads.cuts.explore import case as explore_case
from ffslab.workloads.cuts.stored import CutsResult, cuts_result
from ffslab.workloads.results import results_of

STUDY = """
schema = 1
name = "small"
title = "Cuts"
[base]
board = "apf27"
partition_bytes = "8 MiB"
[base.workload]
kind = "cuts"
kinds = "lost"
{workload}
[axes]
filesystem = ["jffs2", "ubifs", "logfs"]
"""
FIRST, SECOND, THIRD = (f"{name}-s1" for name in ("jffs2", "ubifs", "logfs"))


@pytest.fixture(autouse=True)
def three_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small history; whatever tree is there the oracle allows: it has tests of its own."""
    monkeypatch.setattr(explore_case, "history_of", lambda _: parse_history(HISTORY))
    oracle = lambda _name, _text, _again: []  # noqa: E731
    monkeypatch.setattr(explore_case, "oracle_for", lambda _case, _history: lambda _record: oracle)


def study_in(folder: Path, workload: str = "") -> Path:
    path = folder / "small.toml"
    path.write_text(STUDY.format(workload=workload))
    return path


def executed(
    study: Path,
    target: CutTarget,
    *,
    jobs: int = 1,
    resume: RunDirectory | None = None,
    keep: bool = False,
    progress: SilentProgress | None = None,
) -> RunEnd:
    prepared = prepare_resumed(resume, LAB.build_id) if resume else prepare(str(study))
    options = PoolOptions(jobs, 60, keep)
    root = study.parent / "results"
    request = RunRequest(prepared, options, "ffslab run", root, resume)
    site = FakeSite(target, kind=target.kind)
    now = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
    return execute(request, site, progress or SilentProgress(), lambda: now)


def cuts_of(run: RunDirectory) -> Mapping[str, CutsResult | None]:
    return {result["id"]: cuts_result(result) for result in results_of(run)}


def test_each_case_logs_and_goes_through_its_states(tmp_path: Path) -> None:
    target, progress = CutTarget(), SilentProgress()
    end = executed(study_in(tmp_path), target, progress=progress)
    assert [head["outcome"] for head in end.heads] == ["pass"] * 3
    assert target.ran[:2] == [f"{FIRST}-log-guest", f"{FIRST}-walk-0-0"]
    assert len(target.ran) == 6
    for case_id, cuts in cuts_of(end.run).items():
        assert cuts is not None
        assert cuts["operations"] == cuts["states"] == OPERATIONS
        assert cuts["counts"] == {"lost": {"correct": OPERATIONS}}
        place = end.run.case_dir(case_id)
        assert ((place / "log").read_text(), (place / "record").read_text()) == (LOG, RECORD)
        assert (place / "history").read_text() == HISTORY
        # Those of the first guest are the case's; the guests' own directories are gone.
        assert (place / "records.jsonl").is_file() and (place / "console.log").is_file()
        assert not [path for path in place.iterdir() if path.is_dir()]
        assert (case_id, OPERATIONS, OPERATIONS) in progress.parts
    assert end.run.manifest()["complete"]


def test_files_of_guests_are_kept_if_that_is_asked_for(tmp_path: Path) -> None:
    end = executed(study_in(tmp_path), CutTarget(), keep=True)
    place = end.run.case_dir(FIRST)
    assert {path.name for path in place.iterdir() if path.is_dir()} == {"log-guest", "walk-0-0"}
    assert (place / "walk-0-0" / "walk").is_file()


def test_results_do_not_depend_on_jobs(tmp_path: Path) -> None:
    found = []
    for jobs in (1, 2, 5):
        target = CutTarget(wrong=lambda name: name.startswith("2 "))
        end = executed(study_in(tmp_path), target, jobs=jobs)
        found.append((end.run.path / "results.jsonl").read_bytes())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(("findings", "outcome"), [("fail", "fail"), ("tell", "pass")])
def test_a_state_that_is_not_correct_is_a_finding_and_a_failed_case_unless_it_is_only_told(
    findings: str, outcome: str, tmp_path: Path
) -> None:
    target = CutTarget(wrong=lambda name: name.startswith("2 "))
    end = executed(study_in(tmp_path, f'findings = "{findings}"'), target)
    for result in end.run.results():
        cuts = cuts_result(result)
        assert cuts is not None
        assert result["outcome"] == outcome
        told = "1 of 4 states are not correct: 1 mount-fails"
        assert result["reason"] == told
        (finding,) = cuts["findings"]
        assert (finding["state"], finding["outcome"]) == ("2 lost 0", "mount-fails")
        assert finding["confirmed"]
    # The state was repeated alone.
    alone = [target.asked[name] for name in target.ran if "alone" in name]
    assert [[line.removesuffix(" fill") for line in one] for one in alone] == [["2 lost 0"]] * 3


def test_a_history_that_fails_without_a_cut_is_no_finding(tmp_path: Path) -> None:
    target = CutTarget(ended="failed")
    end = executed(study_in(tmp_path), target)
    assert [name.removeprefix(f"{FIRST}-") for name in target.ran][:1] == ["log-guest"]
    assert len(target.ran) == 3
    for result in end.run.results():
        assert result["outcome"] not in ("pass", "skip")
        assert result["reason"].startswith("without any cut: ")
        assert cuts_result(result) is None


def test_a_target_that_cannot_cut_power_skips_with_the_reason(tmp_path: Path) -> None:
    class Emulated(CutTarget):
        kind = replace(QEMU, capabilities=replace(QEMU.capabilities))

    target = Emulated()
    end = executed(study_in(tmp_path), target)
    assert [result["outcome"] for result in end.run.results()] == ["skip"] * 3
    reasons = {result["reason"] for result in end.run.results()}
    assert reasons == {"the target cannot cut the power in the middle of a flash operation"}
    assert target.ran == []


def test_a_stop_in_the_middle_leaves_the_case_unfinished_and_it_is_resumed(tmp_path: Path) -> None:
    study = study_in(tmp_path)
    whole = executed(study, CutTarget())

    def stop_at_the_second_case(job: GuestJob) -> None:
        # As after the first Ctrl-C: what is asked for from here on does not start.
        if job.case.id == f"{SECOND}-walk-0-0":
            target.stopped = True

    target = CutTarget(before=stop_at_the_second_case)
    end = executed(study, target)
    assert end.interrupted
    assert [head["id"] for head in end.heads] == [FIRST]
    assert not (end.run.case_dir(SECOND) / "case.json").exists()
    assert not end.run.manifest()["complete"]
    again = CutTarget()
    rest = executed(study, again, resume=end.run)
    assert rest.run.manifest()["complete"]
    # The case that was begun begins anew; the one that had ended does not.
    assert again.ran[0] == f"{SECOND}-log-guest"
    assert not [name for name in again.ran if name.startswith(FIRST)]
    one, other = ((run.path / "results.jsonl").read_bytes() for run in (whole.run, rest.run))
    assert one == other


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    "error",
    [
        GuestLostError("the host ended the guest", remedy="free -m"),
        OSError(28, "No space left on device"),
        InfrastructureError("the lab is broken"),
    ],
)
def test_an_error_of_the_infrastructure_stops_the_run(
    error: Exception, jobs: int, tmp_path: Path
) -> None:
    def fail(job: GuestJob) -> None:
        if job.case.id == f"{FIRST}-walk-0-0":
            raise error

    study, target = study_in(tmp_path), CutTarget(before=fail)
    with pytest.raises(InfrastructureError) as caught:
        executed(study, target, jobs=jobs)
    assert "--resume" in caught.value.remedy
    run = find_run("latest", tmp_path / "results")
    assert not run.manifest()["complete"]
    assert FIRST not in cuts_of(run)
    # No case begins after that.
    assert not [name for name in target.ran if name.startswith(THIRD)] or jobs > 1
    rest = executed(study, CutTarget(), resume=run)
    assert list(cuts_of(rest.run)) == [FIRST, SECOND, THIRD]


def test_as_many_guests_run_at_once_as_there_are_jobs(tmp_path: Path) -> None:
    """And cases beside each other: while one waits for its log, another goes through states."""
    running, most = 0, 0
    lock, both = threading.Lock(), threading.Barrier(2)

    def count(job: GuestJob) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        if job.case.id in (f"{FIRST}-log-guest", f"{SECOND}-log-guest"):
            both.wait(20)
        with lock:
            running -= 1

    target = CutTarget(before=count)
    executed(study_in(tmp_path), target, jobs=2)
    assert most == 2 and len(target.ran) == 6
