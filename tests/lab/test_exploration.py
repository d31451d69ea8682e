"""Explorations of power cuts in the lab: what they find, and that it does not depend on how."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ffslab.exploration.guest import Explored, log_of, run_guest
from ffslab.exploration.minimize import minimized
from ffslab.exploration.replay import replayed
from ffslab.exploration.run import (
    Directory,
    Options,
    Request,
    begin,
    explore,
    explored_of,
    history_of,
    opened,
    units_of,
)
from ffslab.exploration.states import all_cuts, parse_log
from ffslab.exploration.stored import StoredUnit
from ffslab.exploration.study import Cuts, load_exploration
from ffslab.exploration.walked import State, parse_walk
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.progress import ConsoleProgress
from ffslab.oracle.faults import KINDS
from ffslab.oracle.generators.registry import KINDS as KIND_NAMES

EXPLORATION = """
exploration = 1
name = "small"
title = "A configuration file is replaced a few times"

[base]
board = "apf27"
partition_bytes = "8 MiB"

[axes]
filesystem = [{filesystems}]

[chip]
{chip}

[[workload]]
kind = "{workload}"
{parameters}

[cuts]
fill_sample = 3
{cuts}
"""
ALL = ("jffs2", "ubifs", "yaffs2", "logfs")
# A JFFS2 whose very first node was torn cannot be mounted (docs/findings.md).
KNOWN = {("jffs2", "mount-fails")}


def explored(
    directory: Path,
    *,
    filesystems: Sequence[str] = ALL,
    workload: str = "update-by-rename",
    parameters: str = "parameters.updates = 10",
    chip: str = "",
    cuts: str = "",
    jobs: int = 2,
) -> Directory:
    directory.mkdir(exist_ok=True)
    path = directory / "small.toml"
    named = ", ".join(f'"{name}"' for name in filesystems)
    path.write_text(
        EXPLORATION.format(
            filesystems=named, workload=workload, parameters=parameters, chip=chip, cuts=cuts
        )
    )
    request = Request(str(path), (), (), "ffslab crash run small.toml")
    run = begin(request, directory, datetime(2026, 1, 1, tzinfo=UTC))
    finish(run, jobs)
    return run


def finish(run: Directory, jobs: int = 2) -> None:
    explore(
        run,
        Options(jobs, 120.0),
        None,
        ConsoleProgress(),
        lambda _unit, _done, _all: None,
        lambda _unit: None,
    )


def wrong(units: Sequence[StoredUnit]) -> set[tuple[str, str]]:
    return {(unit["filesystem"], one["outcome"]) for unit in units for one in unit["findings"]}


@pytest.fixture(scope="module")
def small(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> Directory:
    del lab
    return explored(tmp_path_factory.mktemp("small"))


def test_all_kinds_of_all_file_systems_are_gone_through(small: Directory) -> None:
    units = list(small.units())
    assert [unit["filesystem"] for unit in units] == list(ALL)
    for unit in units:
        log = parse_log((small.unit_dir(unit["id"]) / "log").read_text())
        assert unit["operations"] == len(log) > 15
        counts = {kind: sum(found.values()) for kind, found in unit["counts"].items()}
        programs = sum(operation.verb == "program" for operation in log)
        assert counts["lost"] == counts["unstable"] == len(log)
        assert counts["torn-bits"] == programs >= counts["torn-prefix"] > programs // 2
        assert sum(counts.values()) == unit["states"]
        assert len(unit["recovery"]["curve"]) == len(log)
        assert all(row[1] > 0 for row in unit["recovery"]["curve"])  # a mount reads
    assert wrong(units) <= KNOWN


def test_cuts_of_every_workload(lab: LabBuild, tmp_path: Path) -> None:
    """The shipped exploration as it is: nothing is found but what docs/findings.md has."""
    del lab
    request = Request("power-cuts", (), (), "ffslab crash run power-cuts")
    run = begin(request, tmp_path, datetime(2026, 1, 1, tzinfo=UTC))
    finish(run)
    units = list(run.units())
    assert len(units) == 50
    assert sum(unit["states"] for unit in units) > 7100
    found = {
        (unit["filesystem"], unit["workload"], one["outcome"])
        for unit in units
        for one in unit["findings"]
    }
    assert {one for one in found if one[2] != "mount-fails"} <= {("jffs2", "tree", "wrong-kind")}
    assert {one[0] for one in found} == {"jffs2"}


@pytest.mark.parametrize("filesystem", [*ALL, "yaffs2-improved"])
def test_no_call_of_a_workload_fails_without_a_cut(
    lab: LabBuild, tmp_path: Path, filesystem: str
) -> None:
    """But where it cannot be otherwise: else a workload would not do what it is for."""
    exploration = load_exploration("power-cuts")
    units = [one for one in units_of(exploration) if one.case.filesystem.name == filesystem]
    failed: dict[str, set[str]] = {}
    with opened(lab, [unit.case for unit in units], tmp_path, 1, None) as (target, _):
        for unit in units:
            guest = explored_of(exploration, unit, history_of(unit))
            texts = run_guest(target, lab, guest, "", tmp_path / unit.id, 60)
            assert texts is not None and texts.passed
            calls = [line.split() for line in texts.record.splitlines()[:-1]]
            failed[unit.choice.kind] = {error for _, _, error, *_ in calls} - {"0"}
    # No space; and then what could not be made is not there.
    assert failed.pop("full") <= {str(errno.ENOSPC), str(errno.ENOENT)}
    # JFFS2 has no mappings that can be written to.
    refused = {str(errno.EINVAL)} if filesystem == "jffs2" else set()
    assert failed.pop("open-files") == refused
    # What is below an overlay has an exploration of its own: test_overlay_cuts.py.
    assert set(failed) == set(KIND_NAMES) - {"full", "open-files", "overlay"}
    assert not any(failed.values()), failed


def test_jobs_and_a_restart_change_no_byte(small: Directory, tmp_path: Path) -> None:
    again = explored(tmp_path / "again", jobs=1)
    lost = next(unit for unit in small.units() if unit["filesystem"] == "yaffs2")["id"]
    shutil.rmtree(again.unit_dir(lost))
    finish(again)
    for unit in small.units():
        for name in ("unit.json", "log", "record", "history"):
            paths = [one.unit_dir(unit["id"]) / name for one in (small, again)]
            assert paths[0].read_bytes() == paths[1].read_bytes(), (unit["id"], name)


def like(state: State) -> tuple[object, ...]:
    """All of a state but its name, and what depends on it."""
    return tuple(
        getattr(state, key)
        for key in ("attach", "mount", "seen", "used", "after", "attach_again", "remount", "again")
    )


@pytest.mark.parametrize("filesystem", ALL)
def test_a_state_that_is_left_out_is_like_the_one_that_stands_for_it(
    lab: LabBuild, tmp_path: Path, filesystem: str
) -> None:
    """`done` at K is `lost` at K + 1, by brute force."""
    exploration = load_exploration("crash-quick")
    unit = next(one for one in units_of(exploration) if one.case.filesystem.type == filesystem)
    unit = replace(unit, choice=replace(unit.choice, parameters={"updates": 5}))
    guest = Explored(unit.case, history_of(unit).text, "full")
    cuts = Cuts(("lost", "done"), 1, 0, 0, 0, "full")
    with opened(lab, [unit.case], tmp_path, 1, None) as (target, _):
        first = run_guest(target, lab, guest, "", tmp_path / "log", 60)
        assert first is not None
        log = parse_log(log_of(first, guest))
        whole = list(all_cuts(log, cuts, paired=False, same_twice=True))
        lines = "".join(f"{cut}\n" for cut in whole)
        second = run_guest(target, lab, guest, lines, tmp_path / "walk", 60)
    assert second is not None
    found = {state.name.cut: state for state in parse_walk(second.walk).states}
    assert len(found) == len(whole) == 2 * len(log)
    by_name = {(cut.operation, cut.kind): like(state) for cut, state in found.items()}
    assert all(
        by_name[number, "done"] == by_name[number + 1, "lost"] for number in range(len(log) - 1)
    )
    kept = list(all_cuts(log, cuts, paired=False))
    assert len(kept) == len(log) + 1


def test_every_cut_in_a_recovery(lab: LabBuild, tmp_path: Path) -> None:
    del lab
    kinds = '["lost", "torn-bits"]'
    run = explored(tmp_path, cuts=f"kinds = {kinds}\nsample = 40\nrecovery_sample = 4")
    for unit in run.units():
        second = {kind: sum(found.values()) for kind, found in unit["counts"].items()}
        both = {kind: count for kind, count in second.items() if " / " in kind}
        assert sum(second.values()) - sum(both.values()) == min(40, unit["states_possible"])
        if unit["filesystem"] == "ubifs":  # its recovery writes
            assert sum(both.values()) > 20
    assert wrong(list(run.units())) <= KNOWN


@pytest.mark.parametrize(
    "chip",
    [
        "factory_bad = 3",
        "program_fail_ppm = 500\nerase_fail_ppm = 500",
        "paired_distance_pages = 4",
    ],
)
def test_chips_with_bad_failing_and_paired_pages(lab: LabBuild, tmp_path: Path, chip: str) -> None:
    del lab
    is_paired = chip.startswith("paired")
    kinds = '["paired"]' if is_paired else f"[{', '.join(repr(kind) for kind in [*KINDS][:5])}]"
    run = explored(tmp_path, chip=chip, cuts=f"kinds = {kinds}\nsample = 60")
    units = list(run.units())
    assert all(sum(unit["counts"].get("paired", {}).values()) > 10 for unit in units) == is_paired
    if is_paired:
        # UBIFS takes damage before the end of its journal for corruption: it has to refuse. So does
        # LogFS if what is destroyed is its root, or its segment file, which the first change needs.
        # What it can read stays readable.
        refusing = {("ubifs", "mount-fails"), ("logfs", "mount-fails"), ("logfs", "use-fails")}
        assert wrong(units) <= {*KNOWN, *refusing}
    else:
        assert wrong(units) <= KNOWN


def test_a_finding_is_replayed_and_made_small(lab: LabBuild, tmp_path: Path) -> None:
    """A JFFS2 of which the first page was torn: known, and certain."""
    del lab
    run = explored(tmp_path, filesystems=["jffs2"], cuts='kinds = ["torn-bits"]\nvariants = 4')
    (unit,) = run.units()
    finding = next(one for one in unit["findings"] if one["outcome"] == "mount-fails")
    assert finding["confirmed"] and finding["state"].startswith("0 torn-bits")
    again = replayed(run, finding["id"][:6], None, 60)
    assert again.is_there
    parts = dict(again.parts)
    assert any("<- torn-bits" in line for line in parts["chip's log around the cut"])
    assert any("Cowardly refusing" in line for line in parts["kernel"])
    smaller = minimized(run, finding["id"], None, 60)
    assert len(smaller.operations) <= 2


def test_a_torn_summary_is_no_file_system_without_ecc(lab: LabBuild, tmp_path: Path) -> None:
    """YAFFS2 read the torn last page of a block twice, and took it for two pages without ECC."""
    exploration = load_exploration("crash-quick")
    unit = next(one for one in units_of(exploration) if one.case.filesystem.type == "yaffs2")
    guest = Explored(unit.case, history_of(unit).text, "mount")
    with opened(lab, [unit.case], tmp_path, 1, None) as (target, _):
        first = run_guest(target, lab, guest, "", tmp_path / "log", 60)
        assert first is not None
        log = parse_log(log_of(first, guest))
        last = next(one.number for one in log if one.page == 63)
        lines = "".join(f"{last} torn-bits {variant}\n" for variant in range(400))
        second = run_guest(target, lab, guest, lines, tmp_path / "walk", 60)
    assert second is not None
    states = parse_walk(second.walk).states
    assert [state.mount.errno for state in states if state.mount] == [0] * 400
