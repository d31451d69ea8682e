"""What the host side's tests share: golden files, a small study, a target without a kernel."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ffslab.campaign.done import CaseDone
from ffslab.campaign.manifest import new_manifest
from ffslab.campaign.prepared import Prepared
from ffslab.campaign.run import prepare
from ffslab.lab.lab_build import LabBuild
from ffslab.loader import StudySource, find_study, load_catalog, parse_toml
from ffslab.model.case import Case
from ffslab.model.catalog import Catalog
from ffslab.model.study import (
    Override,
    Study,
    expand,
    select,
    study_from_document,
    with_overrides,
)
from ffslab.protocol.records import RecordStream, parse_records
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.results.rundir import RunDirectory
from ffslab.targets.target import (
    CONSOLE_NAME,
    RECORDS_NAME,
    GuestJob,
    GuestRun,
    Opened,
    Opening,
    Target,
    TargetKind,
)
from ffslab.targets.uml.guests import KIND

LAB = LabBuild(Path("linux"), {}, Path("agent"), "build-1", Path("ffscrash"))
GOLDEN = Path(__file__).resolve().parent.parent / "golden"

STUDY = """
schema = 1
name = "small"
title = "A small study"

[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1, 2]

[axes]
filesystem = ["jffs2", "ubifs"]
state = ["free", "aged"]
"""


def make_environment(directory: Path) -> None:
    """A Python environment with the pip of the tests' own, which takes a fraction of the time."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True)
    (packages,) = directory.glob("lib/python*/site-packages")
    (packages / "pip.pth").write_text(sysconfig.get_path("purelib") + "\n")


def golden(path: str) -> bytes:
    """A golden file's bytes."""
    return (GOLDEN / path).read_bytes()


_NEEDED: Mapping[str, Mapping[str, Any]] = {
    "step": {"index": 0, "t_start_ns": 0, "t_end_ns": 0, "status": "ok"},
    "phase": {"workload": "", "t_start_ns": 0, "t_end_ns": 0, "status": "ok"},
    "end": {"t_ns": 0},
}


def whole(record: Mapping[str, Any]) -> dict[str, Any]:
    """A hand-made record with what the test does not care for."""
    return {**_NEEDED.get(record["type"], {}), **record}


def stream_of(*records: Mapping[str, Any]) -> RecordStream:
    """A stream of hand-made records."""
    return RecordStream(tuple(map(whole, records)), (), False)


def study_of(text: str, catalog: Catalog | None = None) -> Study:
    """The study of a TOML text."""
    return study_from_document(parse_toml(text, "test"), catalog or load_catalog(), "test")


def cases_of(text: str = STUDY) -> tuple[Case, ...]:
    """The cases of a TOML text."""
    catalog = load_catalog()
    return expand(study_of(text, catalog), catalog)


def prepared_study(
    name: str, overrides: Sequence[Override] = (), case_ids: Sequence[str] = ()
) -> Prepared:
    """A study ready to run: that of tests/golden/studies if there is one, else the shipped one."""
    source = find_study(name)
    own = GOLDEN / "studies" / f"{name}.toml"
    if own.is_file():
        text = own.read_text(encoding="utf-8")
        # Called by its name in commands, as a shipped one is.
        source = StudySource(Path(name), text, parse_toml(text, str(own)))
    catalog = load_catalog()
    study = study_from_document(source.document, catalog, name)
    if overrides:
        study = with_overrides(study, overrides, catalog)
    cases = select(expand(study, catalog), case_ids, name)
    return Prepared(source, study, tuple(overrides), cases)


def begun_run(folder: Path, planned: Prepared) -> RunDirectory:
    """A run directory in an existing folder with the manifest of a run that has just begun."""
    run = RunDirectory(folder)
    run.write_manifest(
        new_manifest(
            folder.name,
            planned,
            FakeSite(FakeTarget(), replace(LAB, build_id="0123456789ab")),
            command=f"ffslab run {planned.study.name}",
            started=datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC),
            jobs=2,
        )
    )
    return run


def page_of_case(directory: Path, study_text: str, records: bytes) -> str:
    """The report of a run of a study with one case, which passed with these records."""
    from ffslab.report import build

    study = directory / "study.toml"
    study.write_text(study_text)
    planned = prepare(str(study), (), ())
    (directory / "run").mkdir()
    run = begun_run(directory / "run", planned)
    (case,) = planned.cases
    (run.start_case(case, "ffsplan 1\n") / "records.jsonl").write_bytes(records)
    result = case_result(case, Outcome("pass"), parse_records(records), "f" * 64)
    wall = {"id": case.id, "wall_ns": 1, "virtual_ns": 1, "virtual_per_wall": None}
    run.finish_case(result, wall)  # type: ignore[arg-type]
    run.collect([case.id])
    return build(run.path).read_text(encoding="utf-8")


@dataclass
class FakeTarget:
    """Plays golden files back; `files` names another pair for some cases."""

    files: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    before: Callable[[GuestJob], None] = lambda _: None
    timed_out: frozenset[str] = frozenset()
    killed: threading.Event = field(default_factory=threading.Event)
    ran: list[str] = field(default_factory=list)
    kind = KIND

    def missing(self, case: Case) -> str:  # noqa: ARG002
        return ""

    def run(self, job: GuestJob) -> GuestRun:
        self.before(job)
        console, records = self.files.get(job.case.id, ("pass.log", "pass.jsonl"))
        (job.case_dir / CONSOLE_NAME).write_bytes(golden(f"console/{console}"))
        (job.case_dir / RECORDS_NAME).write_bytes(golden(f"records/{records}"))
        self.ran.append(job.case.id)
        return GuestRun(
            exit_status=0,
            timed_out=job.case.id in self.timed_out,
            killed=self.killed.is_set(),
            wall_ns=10**9,
            command="fake",
            flash_sha256="0" * 64,
        )

    def start_no_more(self) -> None:
        pass

    def kill_all(self) -> None:
        self.killed.set()


@dataclass(frozen=True)
class FakeSite:
    """A site whose target is at hand; there is a lab, but for no guest."""

    target: Target
    lab: LabBuild = LAB
    kind: TargetKind = KIND

    @property
    def build_id(self) -> str:
        return self.lab.build_id

    @property
    def variant_ids(self) -> Mapping[str, str]:
        return self.lab.variant_ids

    @property
    def linux_of(self) -> Mapping[str, str]:
        return self.lab.linux_of

    def lab_of_images(self) -> LabBuild:
        return self.lab

    @contextmanager
    def open(self, opening: Opening) -> Iterator[Opened]:
        yield Opened(self.target, opening.jobs)


class SilentProgress:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.done: list[dict[str, Any]] = []
        self.stopped = 0
        self.notes: list[str] = []
        self.parts: list[tuple[str, int, int]] = []

    def case_done(self, done: CaseDone) -> None:
        self.done.append(done.result)

    def stopping(self, running: int) -> None:
        self.stopped = running

    def note(self, text: str) -> None:
        self.notes.append(text)

    def part_done(self, case: Case, done: int, total: int) -> None:
        self.parts.append((case.id, done, total))
