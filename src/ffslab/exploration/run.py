"""An exploration from its file to its directory: all units, several at once, and resumed.

A run directory of an exploration has `exploration.json` (what it is of), `exploration.toml`, and
for each unit `units/ID/unit.json`, which appears last: that is what `--resume` looks for.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from ffslab import __version__
from ffslab.campaign.plan import host_cpu_for
from ffslab.errors import DamagedResultError, UsageError
from ffslab.exploration.guest import Explored, GuestTexts, run_guest, run_series
from ffslab.exploration.lower import lower_image
from ffslab.exploration.oracle import oracle_for
from ffslab.exploration.series import SeriesUnit, stored_series
from ffslab.exploration.stored import StoredUnit, stored_of, stored_unit
from ffslab.exploration.study import (
    SERIES,
    Exploration,
    HistoryChoice,
    exploration_of,
    load_exploration,
)
from ffslab.exploration.unit import StoppedError, Unit
from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.outoftree import identified
from ffslab.lab.progress import Progress as BuildProgress
from ffslab.loader import load_catalog, read_text
from ffslab.model.canonical import canonical_json
from ffslab.model.case import Case
from ffslab.model.names import suggestion
from ffslab.oracle.generators.registry import history_of_kind, worn_erases_of_kind
from ffslab.oracle.history import History
from ffslab.oracle.promises import promise_of
from ffslab.program import command, program
from ffslab.reading import json_value, read_bounded
from ffslab.results.files import disk_error, write_atomic
from ffslab.results.rundir import create_run
from ffslab.targets.target import Opening, Target
from ffslab.targets.uml.site import LocalSite, lab_parts

MANIFEST = "exploration.json"
SECONDS_A_CUT = 0.05  # of a series, added to the limit of a guest
STUDY, UNITS, UNIT = "exploration.toml", "units", "unit.json"
# What the manifest has of each run; builds are added as guests are begun.
_ABOUT = {"title": str, "description": str, "catalogs": list, "units": list}


@dataclass(frozen=True, slots=True)
class UnitSpec:
    """A unit before it is explored: which file system, which history."""

    case: Case
    choice: HistoryChoice

    @property
    def id(self) -> str:
        """The file system as in the axes, and the workload."""
        return f"{self.case.id}-{self.choice.name}"


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for. `units`: only these; none: all."""

    name: str
    catalogs: tuple[Path, ...]
    units: tuple[str, ...]
    command: str


@dataclass(frozen=True, slots=True)
class Options:
    """How it is run; none of it is in results."""

    jobs: int
    timeout_s: float
    host_cpus: tuple[int, ...] = ()
    keep: bool = False  # the texts of all guests


def units_of(exploration: Exploration) -> tuple[UnitSpec, ...]:
    """All units, file system after file system; sources of modules are read for their hash."""
    cases = identified(exploration.cases)
    choices = list(exploration.workloads)
    if exploration.series:
        choices.append(HistoryChoice(SERIES, SERIES, {}))
    return tuple(UnitSpec(case, choice) for case in cases for choice in choices)


def _chosen(exploration: Exploration, ids: Sequence[str]) -> tuple[UnitSpec, ...]:
    units = units_of(exploration)
    known = [unit.id for unit in units]
    for wanted in ids:
        if wanted not in known:
            raise UsageError(
                f"no unit {wanted!r}{suggestion(wanted, known)}",
                cause="a unit is called after its file system and its workload",
                remedy=f"one of: {', '.join(known)}",
            )
    return tuple(unit for unit in units if not ids or unit.id in ids)


def history_of(spec: UnitSpec) -> History:
    """The operations of a unit; UsageError for a kind that there is not."""
    return history_of_kind(spec.choice.kind, spec.case.seed, spec.choice.parameters)


def explored_of(exploration: Exploration, spec: UnitSpec, history: History) -> Explored:
    """What the guests of a unit are told; its own history, or one that it was made smaller to."""
    return Explored(
        spec.case,
        history.text,
        exploration.cuts.check,
        exploration.paired_distance_pages,
        worn_erases_of_kind(spec.choice.kind, spec.choice.parameters),
        lower_image(history),
    )


@dataclass(frozen=True, slots=True)
class Directory:
    """The run directory of an exploration."""

    path: Path

    def begin(self, exploration: Exploration, request: Request) -> None:
        """What it is of."""
        write_atomic(self.path / STUDY, exploration.text)
        about = {
            "v": 1,
            "name": exploration.name,
            "title": exploration.title,
            "description": exploration.description,
            "ffslab": __version__,
            "command": request.command,
            "catalogs": [str(catalog.resolve()) for catalog in request.catalogs],
            "units": [unit.id for unit in _chosen(exploration, request.units)],
        }
        write_atomic(self.path / MANIFEST, json.dumps(about, indent=1, ensure_ascii=False) + "\n")

    def exploration(self) -> Exploration:
        """What it is of, read again."""
        catalogs = [Path(catalog) for catalog in self.about()["catalogs"]]
        path = self.path / STUDY
        return exploration_of(read_text(path), str(path), load_catalog(catalogs))

    def spec(self, unit_id: str) -> UnitSpec:
        """A unit of it; UsageError if there is no such unit."""
        return _chosen(self.exploration(), (unit_id,))[0]

    def about(self) -> dict[str, Any]:
        """What `begin` wrote; DamagedResultError if that is no such file."""
        try:
            about = dict(json_value(read_bounded(self.path / MANIFEST)))
            for key, kind in _ABOUT.items():
                if not isinstance(about[key], kind):
                    raise TypeError(f"{key}: {about[key]!r}")
            return about
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise DamagedResultError(
                f"{self.path / MANIFEST} cannot be read: {error}",
                cause="the run was stopped as it began, or the file was changed",
                remedy=f"{program()} crash run again",
            ) from error

    def built_with(self, build_id: str) -> None:
        """Keeps which build its guests are of; a run that was resumed may have several."""
        about = self.about()
        about["builds"] = list(dict.fromkeys([*about.get("builds", ()), build_id]))
        write_atomic(self.path / MANIFEST, json.dumps(about, indent=1, ensure_ascii=False) + "\n")

    def unit_dir(self, unit_id: str) -> Path:
        return self.path / UNITS / unit_id

    def finish(self, unit: StoredUnit) -> None:
        """From here on the unit has been explored."""
        write_atomic(self.unit_dir(unit["id"]) / UNIT, canonical_json(unit) + "\n", durable=True)

    def stored(self, unit_id: str) -> StoredUnit | None:
        """A unit that has been explored."""
        path = self.unit_dir(unit_id) / UNIT
        return stored_unit(path) if path.exists() else None

    def units(self) -> Iterator[StoredUnit]:
        """All that have been explored, in order."""
        for unit_id in self.about()["units"]:
            unit = self.stored(unit_id)
            if unit is not None:
                yield unit


def new_directory(root: Path, name: str, now: datetime) -> Directory:
    """A new run directory under `root`."""
    path = create_run(root, f"crash-{name}", now).path
    (path / "cases").rmdir()
    (path / UNITS).mkdir()
    return Directory(path)


def begin(request: Request, root: Path, now: datetime) -> Directory:
    """The directory of a new run; SpecError or UsageError for whatever is wrong with `request`."""
    exploration = load_exploration(request.name, request.catalogs)
    for unit in _chosen(exploration, request.units):
        if unit.choice.kind != SERIES:
            history_of(unit)
        promise_of(unit.case.filesystem.stack)
    directory = new_directory(root, exploration.name, now)
    directory.begin(exploration, request)
    return directory


def explore(
    directory: Directory,
    options: Options,
    scratch: Path | None,
    progress: BuildProgress,
    tell: Callable[[str, int, int], None],
    done: Callable[[StoredUnit], None],
) -> None:
    """Explores all that is missing in a directory; the lab is built if it is not in the cache."""
    exploration = directory.exploration()
    cases = identified(exploration.cases)
    lab = ensure_lab(progress=progress, **lab_parts(cases))
    directory.built_with(lab.build_id)
    explorer = Explorer(exploration, directory, options, tell, done)
    with opened(lab, cases, directory.path, options.jobs, scratch) as (target, jobs):
        explorer.options = replace(options, jobs=jobs)
        explorer.run(lab, target)


@contextmanager
def opened(
    lab: LabBuild, cases: Sequence[Case], place: Path, jobs: int, scratch: Path | None
) -> Iterator[tuple[Target, int]]:
    """A target with room for so many guests, or fewer."""
    with LocalSite(lab, scratch).open(Opening(cases, jobs, place)) as site:
        yield site.target, site.jobs


@contextmanager
def opened_alone(lab: LabBuild, case: Case, scratch: Path | None) -> Iterator[tuple[Target, Path]]:
    """A target for one guest at a time, and a directory for what these write, which goes then."""
    with (
        tempfile.TemporaryDirectory(prefix="ffslab-crash-") as room,
        opened(lab, [case], Path(room), 1, scratch) as (target, _),
    ):
        yield target, Path(room)


def all_directories(root: Path) -> list[Directory]:
    """The explorations under `root`, oldest first."""
    if not root.is_dir():
        return []
    return [Directory(path.parent) for path in sorted(root.glob(f"*/{MANIFEST}"))]


def find_directory(name: str, root: Path) -> Directory:
    """An exploration by its directory, or `latest`; UsageError if there is none."""
    path = Path(name)
    if (path / MANIFEST).is_file():
        return Directory(path)
    found = all_directories(root)
    if name == "latest" and found:
        return found[-1]
    named = [one for one in found if one.path.name == name]
    if named:
        return named[0]
    raise UsageError(
        f"no exploration {name!r} in {root}",
        cause="a mistyped name, or another directory for results",
        remedy=f"{command('crash', 'run', 'crash-quick')}, or name its directory",
    )


class _Room:
    """Room for `jobs` guests of all units, each with a host CPU if there are enough."""

    def __init__(self, options: Options) -> None:
        self._cpus: SimpleQueue[int | None] = SimpleQueue()
        for slot in range(options.jobs):
            self._cpus.put(host_cpu_for(slot, options.jobs, options.host_cpus))

    @contextmanager
    def for_guest(self) -> Iterator[int | None]:
        """Waits for room."""
        cpu = self._cpus.get()
        try:
            yield cpu
        finally:
            self._cpus.put(cpu)


@dataclass(slots=True)
class Explorer:
    """Explores the units that are missing in a directory.

    `tell` gets a unit's id, the states that are done, and all of it; `done` each unit's result.
    """

    exploration: Exploration
    directory: Directory
    options: Options
    tell: Callable[[str, int, int], None] = lambda _unit, _done, _all: None
    done: Callable[[StoredUnit], None] = lambda _unit: None

    def run(self, lab: LabBuild, target: Target) -> None:
        """All missing units, `jobs` at once; ends early, after the units that run, if one fails."""
        wanted = set(self.directory.about()["units"])
        missing = [
            unit
            for unit in units_of(self.exploration)
            if unit.id in wanted and self.directory.stored(unit.id) is None
        ]
        room = _Room(self.options)
        stop = threading.Event()
        with ThreadPoolExecutor(self.options.jobs) as pool:
            work = [pool.submit(self._unit, unit, lab, target, room, stop) for unit in missing]
            try:
                finished, _ = wait(work, return_when=FIRST_EXCEPTION)
            except KeyboardInterrupt:
                stop.set()
                target.kill_all()
                raise
            failed = next((one for one in finished if one.exception()), None)
            if failed is not None:
                stop.set()
                target.start_no_more()
        for one in work:
            error = one.exception()
            if error is not None and not isinstance(error, StoppedError):
                raise error

    def _unit(
        self, spec: UnitSpec, lab: LabBuild, target: Target, room: _Room, stop: threading.Event
    ) -> None:
        place = self.directory.unit_dir(spec.id)
        try:
            if stop.is_set():
                raise StoppedError
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            started_s = time.monotonic()
            explore = self._series if spec.choice.kind == SERIES else self._history
            stored, texts = explore(spec, place, lab, target, room)
            for name, text in texts.items():
                (place / name).write_text(text, encoding="utf-8")
            wall = {"id": spec.id, "wall_s": time.monotonic() - started_s}
            write_atomic(place / "wall.json", canonical_json(wall) + "\n")
            self.directory.finish(stored)
            self.done(stored)
        except OSError as error:
            raise disk_error(error, place) from error

    def _history(
        self, spec: UnitSpec, place: Path, lab: LabBuild, target: Target, room: _Room
    ) -> tuple[StoredUnit, dict[str, str]]:
        """The states of a history, and the texts that the verdicts rest on."""
        history = history_of(spec)
        explored = explored_of(self.exploration, spec, history)

        def guest(name: str, states: str) -> GuestTexts | None:
            with self._guest(place / f"{spec.id}-{name}", room) as (where, cpu):
                limit_s = self.options.timeout_s
                return run_guest(target, lab, explored, states, where, limit_s, cpu)

        unit = Unit(
            explored,
            self.exploration.cuts,
            spec.case.seed,
            guest,
            oracle_for(spec.case, history),
            lambda done, whole: self.tell(spec.id, done, whole),
            self.options.jobs,
        )
        result = unit.explore()
        stored = stored_of(
            self.exploration.name,
            spec.id,
            spec.case.filesystem.name,
            spec.choice.name,
            spec.case.seed,
            len(history.operations),
            result,
        )
        return stored, {"history": history.text, "record": result.record, "log": result.log}

    def _series(
        self, spec: UnitSpec, place: Path, lab: LabBuild, target: Target, room: _Room
    ) -> tuple[StoredUnit, dict[str, str]]:
        """Cuts in a row, and what the guest said of them."""
        explored = Explored(spec.case, "", self.exploration.cuts.check)
        series = self.exploration.series
        assert series is not None
        limit_s = self.options.timeout_s + series.cuts * SECONDS_A_CUT

        def guest(
            name: str, words: Sequence[str], begun: Callable[[Path], None]
        ) -> GuestTexts | None:
            with self._guest(place / f"{spec.id}-{name}", room) as (where, cpu):
                return run_series(target, lab, explored, words, where, limit_s, cpu, begun)

        unit = SeriesUnit(
            series,
            promise_of(spec.case.filesystem.stack),
            spec.case.seed,
            guest,
            lambda done, whole: self.tell(spec.id, done, whole),
        )
        lives = unit.explore()
        name = spec.case.filesystem.name
        stored = stored_series(self.exploration.name, spec.id, name, spec.case.seed, lives)
        return stored, {SERIES: "".join(life.text for life in lives)}

    @contextmanager
    def _guest(self, where: Path, room: _Room) -> Iterator[tuple[Path, int | None]]:
        """Room for a guest, and its directory, which goes unless it is to be kept."""
        with room.for_guest() as cpu:
            yield where, cpu
        if not self.options.keep:
            shutil.rmtree(where, ignore_errors=True)
