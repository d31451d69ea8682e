"""Studies of power cuts that nobody ran: cases with results, logs and records as tests say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from host_support import begun_run, cases_of, stream_of

from ffslab.campaign.done import wall_of
from ffslab.campaign.run import prepare
from ffslab.model.case import Case
from ffslab.report.data import Run
from ffslab.report.sections.section import Section
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.cuts.outcomes import CORRECT
from ffslab.workloads.cuts.report import page
from ffslab.workloads.cuts.stored import CutsResult, StoredFinding, outcomes_of
from loaded_support import load_run

STUDY = """
schema = 1
name = "made"
title = "Power cuts that were made up"
description = "A description <of> them."
[base]
board = "apf27"
partition_bytes = "8 MiB"
{base}
[base.workload]
kind = "cuts"
{workload}
[axes]
filesystem = [{filesystems}]
"workload.history" = ["update-by-rename", "appends"]
{axes}
"""
SERIES_STUDY = """
schema = 1
name = "row"
title = "In a row"
[base]
board = "apf27"
partition_bytes = "16 MiB"
[base.workload]
kind = "cuts"
history = "series"
{workload}
[axes]
filesystem = ["jffs2", "ubifs"]
"""
# Three calls: the first makes operations 0 and 1, the second none, the third 2; 3 is the unmount's.
HISTORY = "create a\nwrite a 0 10 1\nfsync a\n"
RECORD = "op 0 0 0 2\nop 1 0 2 2\nop 2 0 2 3\nend 3 3 3\n"
LOG = "0 program 7 0 0 2048 1\n1 erase 9\n2 program 7 1 0 2048 1\n3 mark 12\n"
TEXTS = {"history": HISTORY, "record": RECORD, "log": LOG}
OPERATIONS = 4
# Of each operation: pages read, pages programmed, blocks erased, nanoseconds.
CURVE = [[0, 10, 0, 0, 0], [1, 30, 2, 1, 0], [2, 20, 4, 0, 0], [3, 30, 0, 0, 0]]
Made = tuple[str, CutsResult]  # a case and what became of its cuts


def study_text(
    filesystems: Sequence[str] = ("jffs2", "ubifs"),
    *,
    workload: str = "",
    base: str = "",
    axes: str = "",
) -> str:
    named = ", ".join(f'"{name}"' for name in filesystems)
    return STUDY.format(filesystems=named, workload=workload, base=base, axes=axes)


def cut_case(workload: str = "", filesystem: str = "jffs2", *, series: bool = False) -> Case:
    """A case with these settings of the workload."""
    text = SERIES_STUDY.format(workload=workload) if series else study_text(workload=workload)
    return next(case for case in cases_of(text) if case.filesystem.name == filesystem)


def new_run(folder: Path, text: str | None = None, cases: Sequence[str] = ()) -> RunDirectory:
    """A run of which no case has ended."""
    path = folder / "made.toml"
    path.write_text(text or study_text())
    run = folder / "results" / "20261123T000000Z-made"
    run.mkdir(parents=True)
    return begun_run(run, prepare(str(path), (), cases))


def made(case_id: str, **further: Any) -> Made:
    """A case in which four operations were lost, and all is correct, but for what is said."""
    whole: dict[str, Any] = {
        "calls": 3,
        "operations": OPERATIONS,
        "states_possible": OPERATIONS,
        "untouched": 0,
        "counts": {"lost": {"correct": OPERATIONS}},
        "random": {},
        "findings": [],
        "recovery": {"curve": CURVE, "worst": 1, "uncut": [5, 1, 0, 0]},
        **further,
    }
    states = sum(sum(counts.values()) for counts in whole["counts"].values())
    found: CutsResult = {"states": states, **whole}  # type: ignore[typeddict-item]
    return case_id, found


def finding(identifier: str, state: str, outcome: str, **further: Any) -> StoredFinding:
    whole: dict[str, Any] = {
        "id": identifier,
        "state": state,
        "outcome": outcome,
        "kind": state.split(" ")[1],
        "detail": "nothing is there",
        "states": 1,
        "confirmed": True,
        "filled": False,
        "console": [],
        **further,
    }
    found: StoredFinding = whole  # type: ignore[assignment]
    return found


def keep(run: RunDirectory, case: Made, texts: Mapping[str, str] = TEXTS) -> None:
    """Puts a case into a run as if its cuts had been made."""
    case_id, cuts = case
    counted = outcomes_of(cuts)
    is_good = set(counted) <= {CORRECT}
    outcome = Outcome("pass") if is_good else Outcome("fail", "states are not correct")
    own = next(one for one in run_cases(run) if one.id == case_id)
    place = run.start_case(own, "ffsplan 1\n")
    for name, text in texts.items():
        (place / name).write_text(text)
    result = case_result(own, outcome, stream_of(), None, own={"cuts": cuts})
    run.finish_case(result, wall_of(own, 1, None, None))
    run.collect([one.id for one in run_cases(run)])


def run_cases(run: RunDirectory) -> tuple[Case, ...]:
    """The cases of the run's own study."""
    return cases_of((run.path.parent.parent / "made.toml").read_text())


def kept(
    folder: Path, *cases: Made, text: str | None = None, texts: Mapping[str, str] = TEXTS
) -> RunDirectory:
    """A run with these cases; others of its study have not been run."""
    run = new_run(folder, text)
    for case in cases:
        keep(run, case, texts)
    return run


def shown(run: RunDirectory) -> tuple[Run, tuple[Section, ...]]:
    """A run as the page has it, and its own sections."""
    whole = load_run(run.path)
    return whole, tuple(page.sections(whole, ""))


def section(run: RunDirectory, key: str) -> Section:
    """One of the own sections of a run."""
    return next(one for one in shown(run)[1] if one.key == key)
