"""What is said of a run in a line: its cases, its state, what was set, its size on the disk."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.errors import EXIT_FAILED, DamagedResultError
from ffslab.results.files import MANIFEST, damaged
from ffslab.results.outcome import KNOWN, MISSED
from ffslab.results.result import WrongShapeError
from ffslab.results.rundir import Judged, RunDirectory

COMPLETE = "complete"
RUNNING = "running"
INTERRUPTED = "interrupted"
DAMAGED = "damaged"
_VALUES_SHOWN = 4


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run without its results.

    `size_bytes` is 0 where the disk was not asked. `started` is UTC in ISO 8601. `outcomes` counts
    cases by outcome; None where the run did not end or is of an older ffslab. `problem` says why a
    manifest cannot be read; then only `path` and `size_bytes` are known. `judged` has what is to be
    said of the run beyond outcomes; None in runs of older versions.
    """

    path: Path
    state: str
    size_bytes: int
    study: str = ""
    started: str = ""
    boards: tuple[str, ...] = ()
    cases_total: int = 0
    outcomes: Mapping[str, int] | None = None
    judged: Judged | None = None
    overrides: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    title: str = ""
    command: str = ""
    label: str = ""
    problem: str = ""

    @property
    def words(self) -> str:
        """For example "4 cases, complete: 3 pass, 1 fail, exit 1; with seeds=1; label v6.2"."""
        if self.problem:
            return self.problem
        words = f"{self.cases_total:,} cases, {self.state}"
        if self.counts:
            told = [f"{count:,} {outcome}" for outcome, count in self.counts.items()]
            words += f": {', '.join((*told, *self.beyond))}"
        words += f"; with {self.settings}" if self.overrides else ""
        return words + (f"; label {self.label}" if self.label else "")

    @property
    def counts(self) -> Mapping[str, int]:
        """Cases by outcome; those that fail by known findings alone are `known`."""
        known = Counter(self.judged["known"] if self.judged else ())
        counts = Counter(self.outcomes or {})
        counts -= known
        return {**counts, **({KNOWN: known.total()} if known else {})}

    @property
    def beyond(self) -> list[str]:
        """What stands behind the outcomes: limits, and how a run that is not good ended."""
        if self.judged is None:
            return []
        missed, unused = self.judged["missed"], self.judged["unused"]
        bad = self.state == COMPLETE and not self.judged["good"]
        return [
            *([f"{missed:,} {MISSED}"] if missed else []),
            *([f"limits not checked: {unused}"] if unused else []),
            *([f"exit {EXIT_FAILED}"] if bad else []),
        ]

    @property
    def settings(self) -> str:
        """What was set for this run, for example "seed=1,2 state=free"."""
        return " ".join(_shortly(key, values) for key, values in self.overrides)


def summary_of(run: RunDirectory, *, with_size: bool = True) -> RunSummary:
    """Reads the manifest, not the results; for sizes the disk is asked about each file."""
    size_bytes = sum(_file_sizes(run.path)) if with_size else 0
    try:
        manifest = run.manifest()
        overrides = _overrides(run, manifest)
    except DamagedResultError as error:
        return RunSummary(run.path, DAMAGED, size_bytes, problem=error.message)
    return RunSummary(
        path=run.path,
        state=_state(run, manifest),
        size_bytes=size_bytes,
        study=manifest.get("study", ""),
        started=manifest.get("started", ""),
        boards=tuple(manifest.get("boards", ())),
        cases_total=int(manifest.get("cases_total") or 0),
        outcomes=manifest.get("outcomes"),
        judged=manifest.get("judged"),
        overrides=overrides,
        title=manifest.get("title", ""),
        command=manifest.get("command", ""),
        label=manifest.get("label", ""),
    )


def _state(run: RunDirectory, manifest: Mapping[str, Any]) -> str:
    if run.is_worked_on():
        return RUNNING
    return COMPLETE if manifest.get("complete") else INTERRUPTED


def _overrides(
    run: RunDirectory, manifest: Mapping[str, Any]
) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    try:
        return tuple((str(key), tuple(values)) for key, values in manifest.get("overrides", ()))
    except (TypeError, ValueError):
        wrong = WrongShapeError("overrides: not names with lists of values")
        raise damaged(run.path / MANIFEST, 0, wrong) from None


def _shortly(key: str, values: Sequence[Any]) -> str:
    if len(values) > _VALUES_SHOWN:
        return f"{key}=({len(values)} values)"
    return f"{key}={','.join(str(value) for value in values)}"


def _file_sizes(directory: Path) -> Iterator[int]:
    """What each file takes on the disk: a chip's contents are mostly holes."""
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from _file_sizes(Path(entry.path))
                else:
                    yield entry.stat(follow_symlinks=False).st_blocks * 512
    except OSError:  # gone meanwhile, or not ours to read
        return
