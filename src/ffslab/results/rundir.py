"""A run directory: where the results of one run of a study are, and how it is read.

    results/<UTC stamp>-<study>/
        manifest.json       what was run, with what, when, by which command
        results.jsonl       one line per case in expansion order, host-independent
        wall.jsonl          wall-clock figures of the cases
        sizes.json          sizes of the file systems' code, if the study wants them
        cases/<id>/         spec.json plan records.jsonl console.log case.json wall.json
        states/<key>/       plan records.jsonl console.log of a guest that prepared a state

case.json appears last, by a rename: a case without it has not run. results.jsonl
and wall.jsonl are collected from the cases whenever ffslab stops. One process at a time
works on a run: it holds a lock on the file .lock.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NotRequired

from typing_extensions import TypedDict

from ffslab.errors import DamagedResultError, InfrastructureError, UsageError
from ffslab.lock_holder import holder_of, write_holder
from ffslab.model.canonical import canonical_json
from ffslab.model.case import Case, case_spec
from ffslab.model.names import suggestion
from ffslab.program import command, program
from ffslab.results.files import (
    CASES,
    MANIFEST,
    damaged,
    disk_error,
    nothing_more,
    read_json_as,
    read_json_lines,
    read_json_text_as,
    write_atomic,
)
from ffslab.results.result import CaseHead, CaseResult, WallResult, WrongShapeError, head_of

MANIFEST_VERSION = 1
RESULTS = "results.jsonl"
RESULTS_SHA256 = "results_sha256"
WALL = "wall.jsonl"
STATES = "states"
SIZES = "sizes.json"
CASE_RESULT = "case.json"
CASE_WALL = "wall.json"
_LOCK = ".lock"
Check = Callable[[CaseResult], None]
_LATEST = re.compile(r"latest(?:~(\d{1,6}))?")


class ManifestCase(TypedDict):
    """What a manifest says of a case; `spec_hash` is what the case was when the run began."""

    id: str
    spec_hash: NotRequired[str]


class Judged(TypedDict):
    """How a run ended, beside the outcomes of its cases (`ffslab.workloads.ended`).

    `known`: by outcome, the cases that fail by known findings alone. `missed`: cases beyond a limit
    of the study. `unused`: limits that no case has the figure of. `good`: `ffslab run` ends with 0.
    """

    known: dict[str, int]
    missed: int
    unused: int
    good: bool


class Manifest(TypedDict):
    """What every reader of a manifest relies on; docs/result-format.md has all keys."""

    v: int
    cases: list[ManifestCase]
    cases_total: NotRequired[int]
    complete: NotRequired[bool]
    study: NotRequired[str]
    study_text: NotRequired[str]
    title: NotRequired[str]
    label: NotRequired[str]
    command: NotRequired[str]
    started: NotRequired[str]
    boards: NotRequired[dict[str, Any]]
    overrides: NotRequired[list[list[Any]]]
    outcomes: NotRequired[dict[str, int] | None]
    judged: NotRequired[Judged]
    wall_s: NotRequired[float | int | None]
    known: NotRequired[list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """Paths and files of one run."""

    path: Path

    @contextmanager
    def worked_on(self, clock_s: Callable[[], float] = time.time) -> Iterator[None]:
        """This process alone works on the run meanwhile; the kernel ends that with the process.

        Raises InfrastructureError, which names the other, if another process does already.
        """
        try:
            descriptor = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise disk_error(error, self.path / _LOCK) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InfrastructureError(
                    f"{self.path} is being worked on by {holder_of(descriptor, clock_s())}",
                    cause="the same run was started or resumed in another terminal",
                    remedy="wait until that has ended, or stop it with Ctrl-C there",
                ) from error
            write_holder(descriptor, clock_s())
            yield
            os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)

    def is_worked_on(self) -> bool:
        """Whether a process works on the run now."""
        try:
            descriptor = os.open(self.path / _LOCK, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            # It is empty while nobody does, so that a look rarely needs the lock for a moment.
            if os.fstat(descriptor).st_size:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def remove(self) -> None:
        """Removes the run with all its files; InfrastructureError if a process works on it.

        The manifest goes first: what an interruption leaves is no run any more.
        """
        with self.worked_on():
            try:
                (self.path / MANIFEST).unlink()
                shutil.rmtree(self.path)
            except OSError as error:
                raise disk_error(error, self.path) from error

    def case_dir(self, case_id: str) -> Path:
        """Where the files of a case are."""
        return self.path / CASES / case_id

    def manifest(self) -> dict[str, Any]:
        """The manifest; DamagedResultError if it cannot be read, or is of another format."""
        path = self.path / MANIFEST
        manifest = read_json_as(path, Manifest)
        if manifest["v"] != MANIFEST_VERSION:
            raise DamagedResultError(
                f"{path}: the run has format {manifest['v']}; this ffslab reads format "
                f"{MANIFEST_VERSION}",
                cause=f"ffslab {manifest.get('ffslab', 'of another version')} wrote it",
                remedy="that version of ffslab, or a new run of the study",
            )
        return dict(manifest)

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replaces the manifest; readable, since people look at it."""
        text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False)
        write_atomic(self.path / MANIFEST, text + "\n", durable=True)

    def write_sizes(self, document: Mapping[str, Any]) -> None:
        """Keeps the sizes of code that were measured beside the cases (`ffslab.codesize`)."""
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
        write_atomic(self.path / SIZES, text + "\n", durable=True)

    def done_ids(self, cases: Sequence[Case], check: Check = nothing_more) -> frozenset[str]:
        """The cases that have a readable result of the same spec; `check` as of `each_result`."""
        done = set()
        for case in cases:
            path = self.case_dir(case.id) / CASE_RESULT
            if not path.exists():
                continue
            wall = path.with_name(CASE_WALL)
            try:
                result = read_json_as(path, CaseResult, check)
                if wall.exists():
                    read_json_as(wall, WallResult)
            except DamagedResultError:
                continue
            if result["spec_hash"] == case.spec_hash:
                done.add(case.id)
        return frozenset(done)

    def start_case(self, case: Case, plan: str) -> Path:
        """An empty directory for a case with its spec and plan in it."""
        directory = self.case_dir(case.id)
        try:
            if directory.exists():
                shutil.rmtree(directory)
            directory.mkdir(parents=True)
        except OSError as error:
            raise disk_error(error, directory) from error
        write_atomic(directory / "spec.json", canonical_json(case_spec(case)) + "\n")
        write_atomic(directory / "plan", plan)
        return directory

    def keep_state(self, key: str, plan: str, files: Iterable[Path]) -> None:
        """What a guest that prepared a state was told, and the files that say what it said."""
        directory = self.path / STATES / key
        try:
            directory.mkdir(parents=True, exist_ok=True)
            (directory / "plan").write_text(plan, encoding="utf-8")
            for file in files:
                shutil.copyfile(file, directory / file.name)
        except OSError as error:
            raise disk_error(error, directory) from error

    def finish_case(self, result: CaseResult, wall: WallResult) -> None:
        """Writes a case's figures; the case counts as run from here on."""
        directory = self.case_dir(result["id"])
        write_atomic(directory / CASE_WALL, canonical_json(wall) + "\n")
        write_atomic(directory / CASE_RESULT, canonical_json(result) + "\n", durable=True)

    def collect(self, case_ids: Sequence[str]) -> list[CaseHead]:
        """Writes results.jsonl and wall.jsonl from the cases that have run, in this order.

        Results are read one after the other; returned is what each is of, and its outcome.
        """
        heads: list[CaseHead] = []
        places = [self.case_dir(case_id) for case_id in case_ids]
        places = [directory for directory in places if (directory / CASE_RESULT).exists()]

        def lines() -> Iterator[str]:
            for directory in places:
                text, result = read_json_text_as(directory / CASE_RESULT, CaseResult)
                heads.append(head_of(result))
                yield text

        write_atomic(self.path / RESULTS, lines(), durable=True)
        walls = (directory / CASE_WALL for directory in places if (directory / CASE_WALL).exists())
        write_atomic(
            self.path / WALL,
            (read_json_text_as(wall, WallResult)[0] for wall in walls),
        )
        return heads

    def result(self, case_id: str, check: Check = nothing_more) -> CaseResult:
        """The result of one case, from its own file; `check` as of `each_result`."""
        return read_json_as(self.case_dir(case_id) / CASE_RESULT, CaseResult, check)

    def each_result(
        self,
        check: Check = nothing_more,
        manifest: Mapping[str, Any] | None = None,
        parse: Callable[[bytes], CaseResult] | None = None,
    ) -> Iterator[CaseResult]:
        """The results in order; those collected, or the cases of an interrupted run.

        DamagedResultError for what is no result. `check` may say so too, by a WrongShapeError:
        of the keys of single workloads nothing is known here (`ffslab.workloads.results`). Holds no
        result that it gave. `manifest`: that of the run, if it has been read. `parse`: makes a
        result of a line of those collected, if not all of it is wanted.
        """
        manifest = self.manifest() if manifest is None else manifest
        listed = [str(case["id"]) for case in manifest["cases"]]
        read: list[str] = []
        digest = hashlib.sha256()

        def noted(result: CaseResult) -> None:
            check(result)
            read.append(result["id"])

        yield from self._stored(listed, noted, digest.update, parse)
        # Lines that were removed or added leave files of the right shape behind.
        wanted = (
            listed
            if manifest.get("complete")
            else [case_id for case_id in listed if case_id in set(read)]
        )
        if read != wanted:
            raise damaged(self.path / RESULTS, 0, WrongShapeError(_other_cases(read, listed)))
        # So do figures that were changed into others. Runs of older versions have no sum.
        stored = manifest.get(RESULTS_SHA256)
        if stored is not None and stored != digest.hexdigest():
            raise damaged(self.path / RESULTS, 0, ValueError("another SHA-256 than its run's"))

    def results_sha256(self) -> str | None:
        """The SHA-256 of the results collected; None if there are none."""
        try:
            with (self.path / RESULTS).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError:
            return None

    def _stored(
        self,
        listed: Sequence[str],
        check: Check,
        read: Callable[[bytes], None],
        parse: Callable[[bytes], CaseResult] | None,
    ) -> Iterator[CaseResult]:
        if (self.path / RESULTS).exists():
            yield from read_json_lines(self.path / RESULTS, CaseResult, check, read, parse)
            return
        for path in (self.case_dir(case_id) / CASE_RESULT for case_id in listed):
            if path.exists():
                yield read_json_as(path, CaseResult, check)

    def results(self) -> list[CaseResult]:
        """All results at once; the keys of single workloads are not looked at."""
        return list(self.each_result())

    def walls(self) -> dict[str, WallResult]:
        """Wall-clock figures by case."""
        if not (self.path / WALL).exists():
            return {}
        return {line["id"]: line for line in read_json_lines(self.path / WALL, WallResult)}


def _other_cases(read: Sequence[str], listed: Sequence[str]) -> str:
    """How the results of a run differ from the cases of its manifest."""
    missing = [case_id for case_id in listed if case_id not in set(read)]
    strange = [case_id for case_id in read if case_id not in set(listed)]
    if strange:
        return f"the result of {strange[0]}, which is not a case of the run"
    if len(read) + len(missing) == len(listed) and missing:
        return f"{len(read)} results of {len(listed)} cases of a complete run; {missing[0]} lacks"
    return "results twice, or in another order than the cases"


def create_run(root: Path, study: str, now: datetime) -> RunDirectory:
    """A new run directory under `root`, named by the UTC time and the study."""
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    name = f"{stamp}-{study}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        for number in range(1, 1000):
            path = root / (name if number == 1 else f"{name}-{number}")
            try:
                path.mkdir()
            except FileExistsError:
                continue
            (path / CASES).mkdir()
            return RunDirectory(path)
    except OSError as error:
        raise disk_error(error, root) from error
    raise UsageError(f"{root} already has a thousand runs called {name}")


def all_runs(root: Path) -> list[RunDirectory]:
    """The runs under `root` that the user may look into, oldest first."""
    return [RunDirectory(path.parent) for path in sorted(root.glob(f"*/{MANIFEST}"))]


def _no_run(name: str, root: Path, runs: Sequence[RunDirectory]) -> tuple[str, str]:
    """Why there is no run of that name, and the next command."""
    inside = all_runs(Path(name)) if name and Path(name).is_dir() else ()
    if inside:
        last = inside[-1].path
        return f"{name} is a directory of runs, {last} the last of them", command("show", last)
    of_study = [
        run for run in runs if re.fullmatch(rf"\d+T\d+Z-{re.escape(name)}(-\d+)?", run.path.name)
    ]
    if of_study:
        last = of_study[-1].path
        return f"{name} is a study, {last} the last run of it", command("show", last)
    if not runs:
        return "nothing has been run there", f"{program()} run quick"
    how = "a run is named by its directory, the beginning of its name, `latest`, or `latest~1`"
    return how, command("list", "runs", "-o", root)


def find_run(name: str, root: Path) -> RunDirectory:
    """A run by path, by name or its beginning, or `latest`; `latest~N` is the N-th before that.

    UsageError if there is none.
    """
    latest = _LATEST.fullmatch(name)
    if name and not latest:
        path = Path(name)
        if (path / MANIFEST).is_file():
            return RunDirectory(path)
    runs = all_runs(root)
    if latest and len(runs) > int(latest[1] or 0):
        return runs[-1 - int(latest[1] or 0)]
    matching = [run for run in runs if run.path.name == name or run.path.name.startswith(name)]
    if len(matching) == 1 or (matching and matching[0].path.name == name):
        return matching[0]
    names = [run.path.name for run in matching or runs]
    cause, remedy = _no_run(name, root, runs)
    if matching:
        cause = "the names of several runs begin so"
    raise UsageError(
        f"no run {name!r} in {root}{suggestion(name, names)}"
        if not matching
        else f"{name!r} means several runs: {', '.join(names)}",
        cause=cause,
        remedy=remedy,
    )
