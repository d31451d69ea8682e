"""A case may end anywhere, with any outcome: what there is, is reported, and the others' with it.

Every kind of workload runs once. Then each step and phase of its records fails in turn, or its
guest ends there, and the run with it is read as any other: page, terminal, comparison, tables.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command, ffslab_command  # noqa: F401
from lab_support import run_study

from ffslab.campaign.run import prepare_resumed
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.protocol.records import Record, parse_records, read_records
from ffslab.report import elements
from ffslab.results.casefile import case_result
from ffslab.results.outcome import judge
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.registry import workloads
from ffslab.workloads.results import asked_of

SETTINGS = {
    "append-log": "lines = 200",
    "capacity": "",
    "cuts": "",
    "database": 'transactions = 50, database_bytes = "1 MiB"',
    "ffsmark": "number = 100, subdirectories = 5, transactions = 200",
    "micro": 'random = "uniform"',
    "probe": "",
    "random": "rounds = 2, operations = 50, turn_over = false",
    "raw": "",
    "script": 'script = "script.sh"',
    "tiobench": 'file_bytes = "1 MiB", random_bytes = "256 KiB"',
    "tree": "files = 3, directories = 2, depth = 1",
    "wear": 'static_bytes = "4 MiB", file_bytes = "1 MiB", volumes = "2 MiB, 4 MiB"',
}
HEAD = """
schema = 1
name = "all-kinds"
title = "Every kind of workload, small"

[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1]

[axes]
filesystem = ["yaffs2"]
"""
NUMBER = {"EUCLEAN": 117, "ENOSPC": 28, "EIO": 5}  # the step failed with it
GONE = "gone"  # the guest is; by its kernel if one of these was printed
STUCK = "[   9.000000] stuck: init (pid 1) has been in system call 74 for 120 s of virtual time"
PRINTED = {"stuck": STUCK, "crash": "[   9.000000] kernel BUG at fs/widget.c:1!"}
TIMEOUT = "timeout"
END = (*NUMBER, GONE, *PRINTED, TIMEOUT)
ALL = "FFSLAB_NIGHTLY" in os.environ


def study() -> str:
    """One part of each kind; `raw` alone needs no file system."""
    parts = []
    for kind in workloads():
        told = ", ".join(filter(None, (f'kind = "{kind}"', SETTINGS[kind])))
        part = f'[[part]]\nname = "{kind}"\nset = {{ workload = {{ {told} }} }}\n'
        parts.append(part + ('[part.axes]\nfilesystem = ["mtd"]\n' if kind == "raw" else ""))
    return HEAD + "\n".join(parts)


@dataclass(frozen=True)
class Recorded:
    """A case that ran, and what its guest recorded."""

    case: Case
    result: Any
    records: tuple[Record, ...]

    @property
    def ends(self) -> list[int]:
        """The records of steps and phases: where a case can fail."""
        numbered = enumerate(self.records)
        return [index for index, record in numbered if record["type"] in ("step", "phase")]

    def ended(self, place: int, name: str) -> tuple[Any, str]:
        """Result and records if this of its ends had failed with errno `name`; with another, if
        the guest had gone before it, so.
        """
        at = self.ends[min(place, len(self.ends) - 1)]
        kept = list(self.records[:at])
        if name in NUMBER:
            kept += self._failed(at, name)
        text = "".join(f"{json.dumps(record)}\n" for record in kept)
        stream = parse_records(text.encode())
        limit_s = 60.0 if name == TIMEOUT else None
        asked = asked_of(self.case.workload, own=True)
        outcome = judge(stream, PRINTED.get(name, ""), 0, limit_s, asked)
        assert outcome.kind != "pass", (self.case.id, at, name)
        assert name not in (*PRINTED, TIMEOUT) or outcome.kind == name
        assert "damaged" not in outcome.reason, outcome.reason
        return case_result(self.case, outcome, stream, None), text

    def _failed(self, at: int, name: str) -> Iterator[Record]:
        why = {
            "status": "error",
            "errno": NUMBER[name],
            "errno_name": name,
            "message": f"cannot do it: {name}",
        }
        record = self.records[at]
        yield {**record, **why}
        step = next(later for later in self.records[at:] if later["type"] == "step")
        if step is not record:
            yield {**step, "t_end_ns": record["t_end_ns"], **why}
        steps = sum(record["type"] == "step" for record in self.records)
        yield {
            "v": 1,
            "type": "end",
            "status": "error",
            "steps_run": step["index"] + 1,
            "steps_total": steps,
            "t_ns": record["t_end_ns"],
        }


@pytest.fixture(scope="module")
def run(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: ARG001
    directory = tmp_path_factory.mktemp("all-kinds")
    (directory / "all-kinds.toml").write_text(study())
    (directory / "script.sh").write_text("dd if=/dev/zero of=a bs=4096 count=50; sync\n")
    return run_study(directory / "all-kinds.toml", directory / "results")


@pytest.fixture(scope="module")
def recorded(run: Path) -> tuple[Recorded, ...]:
    cases = {case.id: case for case in prepare_resumed(RunDirectory(run), None).cases}
    lines = (run / "results.jsonl").read_text(encoding="utf-8").splitlines()
    results = {result["id"]: result for result in map(json.loads, lines)}
    return tuple(
        Recorded(case, results[name], read_records(run / "cases" / name / "records.jsonl").records)
        for name, case in cases.items()
    )


def written(run: Path, ends: list[tuple[Any, str]], to: Path) -> Path:
    """The run with other results and records."""
    to.mkdir()
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    del manifest["results_sha256"]
    (to / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    shutil.copy(run / "wall.jsonl", to)
    lines = "".join(f"{json.dumps(result)}\n" for result, _ in ends)
    (to / "results.jsonl").write_text(lines, encoding="utf-8")
    for result, records in ends:
        shutil.copytree(run / "cases" / result["id"], to / "cases" / result["id"])
        (to / "cases" / result["id"] / "records.jsonl").write_text(records, encoding="utf-8")
    return to


def test_every_kind_is_here(recorded: tuple[Recorded, ...]) -> None:
    """And ran well, so that what fails below fails because it ended early."""
    assert {one.case.workload.kind for one in recorded} == set(workloads())
    assert {one.result["outcome"] for one in recorded} <= {"pass", "short"}


def test_what_there_is_is_reported(
    run: Path,
    recorded: tuple[Recorded, ...],
    tmp_path: Path,
    ffslab_command: Command,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All kinds end at their first, second, … place at once; nightly with each of the errors."""
    monkeypatch.setattr(elements, "browser_bundle", str)
    places = max(len(one.ends) for one in recorded)
    for place in range(places):
        for how in END if ALL else (END[place % len(END)],):
            ends = [one.ended(place, how) for one in recorded]
            ended = written(run, ends, tmp_path / f"{place}-{how}")
            for words in (
                ("report", str(ended)),
                ("show", str(ended)),
                ("export", str(ended), "--format", "csv"),
                ("compare", str(run), str(ended)),
                ("compare", str(ended), str(run)),
            ):
                done = ffslab_command(*words)
                assert done.code in (0, 1, 4), (words, done.error)
            page = (ended / "report.html").read_text(encoding="utf-8")
            for result, _ in ends:
                assert result["id"] in page
