"""Nothing above `ffslab.targets` assumes User-Mode Linux: a study on a target of this file.

Its guests are processes of the host, its file system is whatever the host's directory is on, its
time is the host's clock. It has no flash, so what needs one is skipped with the reason.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ffslab.campaign.done import CaseDone, PoolOptions
from ffslab.campaign.run import RunEnd, RunRequest, execute, prepare
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.protocol.plan import step
from ffslab.report import build
from ffslab.targets.target import (
    CONSOLE_NAME,
    RECORDS_NAME,
    Capabilities,
    GuestJob,
    GuestRun,
    Opened,
    Opening,
    TargetKind,
)

STUDY = """
schema = 1
name = "elsewhere"
title = "Cases on a target that is not the lab"

[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1]
filesystem = "jffs2"

[base.workload]
number = 50
subdirectories = 2
transactions = 200
verify = true

[[part]]
name = "files"

[[part]]
name = "faulty"
set = { "chip.factory_bad" = 3 }

[[part]]
name = "requests"
set = { "workload.kind" = "micro", "workload.volume_bytes" = "256 KiB", state = "saturated" }

[[part]]
name = "live"
[part.set]
"workload.kind" = "micro"
"workload.volume_bytes" = "256 KiB"
state = { kind = "free", remount = false }
"""


@dataclass(frozen=True)
class DirectoryRig:
    """A directory of the host that is there already: nothing is to be mounted, nobody counts."""

    directory: str

    def begin(self, case: Case, *, trace: bool) -> list[str]:  # noqa: ARG002
        return []

    def erase(self) -> list[str]:
        return []

    def write_image(self, case: Case, *, phase: str) -> list[str]:  # noqa: ARG002
        raise AssertionError("the target says that it takes no image")

    def mount(self, case: Case, *, new: bool = False, named: Any = None) -> list[str]:  # noqa: ARG002
        return []

    def unmount(self, case: Case, *, named: Any = None) -> list[str]:  # noqa: ARG002
        return [step("sync", target=self.directory)]

    def settle(self, **keys: object) -> list[str]:  # noqa: ARG002
        return []

    def snapshot(self, label: str) -> list[str]:  # noqa: ARG002
        return []

    def kept_files(self, case: Case) -> list[str]:  # noqa: ARG002
        return []

    def statistics(self) -> list[str]:
        return []


@dataclass
class ProcessTarget:
    """Runs the agent as an ordinary program, one at a time, in one directory."""

    kind: TargetKind
    agent: Path
    directory: Path
    ran: list[str] = field(default_factory=list)

    def missing(self, case: Case) -> str:  # noqa: ARG002
        return ""

    def run(self, job: GuestJob) -> GuestRun:
        # A guest that prepares a flash fills it, and here that is the host's disk.
        assert not job.keep_flash and "saturated" not in job.plan
        assert not any(self.directory.iterdir())
        plan = job.case_dir / "plan.told"
        plan.write_text(job.plan)
        words = [str(self.agent), "run", "-o", str(job.case_dir / RECORDS_NAME), str(plan)]
        begun = time.monotonic_ns()
        with (job.case_dir / CONSOLE_NAME).open("wb") as console:
            ended = subprocess.run(words, stdout=console, stderr=console, check=False)
        self.ran.append(job.case.id)
        return GuestRun(ended.returncode, False, False, time.monotonic_ns() - begun, "")

    def start_no_more(self) -> None:
        pass

    def kill_all(self) -> None:
        pass


@dataclass(frozen=True)
class DirectorySite:
    """Where these processes run."""

    target: ProcessTarget
    build_id: str = "the agent alone"
    variant_ids: Mapping[str, str] = field(default_factory=dict)
    linux_of: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> TargetKind:
        return self.target.kind

    def lab_of_images(self) -> LabBuild:
        raise AssertionError("the target says that it takes no image")

    @contextmanager
    def open(self, opening: Opening) -> Iterator[Opened]:
        assert opening.jobs == 1  # as the kind says
        yield Opened(self.target, opening.jobs)


class Quiet:
    """A run's progress that nobody watches."""

    def case_done(self, done: CaseDone) -> None:
        pass

    def stopping(self, running: int) -> None:
        pass

    def note(self, text: str) -> None:
        pass

    def part_done(self, case: Case, done: int, total: int) -> None:
        pass


def kind_in(directory: Path) -> TargetKind:
    return TargetKind(
        name="directory",
        title="a process of the host in a directory",
        capabilities=Capabilities(
            virtual_time=False,
            flash_snapshot=False,
            images=False,
            fault_injection=False,
            trace=False,
            most_at_once=1,
        ),
        rig=DirectoryRig(str(directory)),
        history=lambda case: {"seed": case.seed},
    )


@pytest.fixture
def end(lab: LabBuild, tmp_path: Path) -> RunEnd:
    study, directory = tmp_path / "elsewhere.toml", tmp_path / "files"
    study.write_text(STUDY)
    directory.mkdir()
    target = ProcessTarget(kind_in(directory), lab.agent, directory)
    request = RunRequest(
        prepare(str(study)), PoolOptions(4, 60), "ffslab run", tmp_path / "results"
    )
    ended = execute(request, DirectorySite(target), Quiet(), lambda: datetime.now(UTC))
    assert target.ran == ["files-s1", "live-s1"]
    return ended


def test_what_needs_no_flash_runs_and_the_rest_is_skipped_with_the_reason(end: RunEnd) -> None:
    found = {result["id"]: (result["outcome"], result["reason"]) for result in end.results}
    assert found == {
        "files-s1": ("pass", ""),
        "faulty-s1": ("skip", "the target cannot have a chip with faults"),
        "requests-s1": ("skip", "the target cannot begin with a flash that was prepared"),
        "live-s1": ("pass", ""),
    }
    assert end.run.manifest()["complete"]


def test_results_say_what_was_measured_and_nothing_of_a_flash(end: RunEnd) -> None:
    files = next(result for result in end.results if result["id"] == "files-s1")
    phases = {phase["phase"]: phase for phase in files["phases"]}
    assert phases["creation"]["files_created"] == 50
    assert phases["workload"]["duration_ns"] > 0
    assert not any("pages_programmed" in phase or phase["flash"] for phase in files["phases"])
    assert files["flash"] == [] and files["flash_sha256"] is None
    live = next(result for result in end.results if result["id"] == "live-s1")
    (stream,) = live["requests"]
    assert (stream["count"], stream["bytes"]) == (64, 256 * 1024)


def test_its_report_has_both_workloads(end: RunEnd) -> None:
    page = build(end.run.path).read_text()
    for title in ("FFSMark", "Micro-benchmarks"):
        assert f">{title}</h2>" in page


def test_a_trace_is_what_it_cannot_do(lab: LabBuild, tmp_path: Path) -> None:
    study, directory = tmp_path / "elsewhere.toml", tmp_path / "files"
    study.write_text(STUDY)
    directory.mkdir()
    prepared = prepare(str(study), [("part", ("files",))], trace=True)
    target = ProcessTarget(kind_in(directory), lab.agent, directory)
    request = RunRequest(prepared, PoolOptions(1, 60), "ffslab run", tmp_path / "results")

    (result,) = execute(request, DirectorySite(target), Quiet(), lambda: datetime.now(UTC)).results
    assert (result["outcome"], result["reason"]) == (
        "skip",
        "the target cannot record flash operations",
    )
