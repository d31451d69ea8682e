"""Power cuts in the lab: what they find, and that it does not depend on how they are made."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from cut_guests import cases_of_text, cuts_by_case, opened, resumed, run_of

from ffslab.campaign.again import opened_again
from ffslab.cli.crash import find_finding
from ffslab.lab.lab_build import LabBuild
from ffslab.loader import find_study
from ffslab.model.case import Case
from ffslab.oracle.faults import kinds_on
from ffslab.oracle.generators.registry import KINDS as HISTORIES
from ffslab.results.rundir import RunDirectory
from ffslab.targets.target import SiteOptions
from ffslab.workloads.cuts.explore.guest import run_guest
from ffslab.workloads.cuts.explore.minimize import minimized
from ffslab.workloads.cuts.explore.replay import Where, replayed
from ffslab.workloads.cuts.keys import Cuts
from ffslab.workloads.cuts.plan import cuts_of, cutter_of
from ffslab.workloads.cuts.states import all_cuts, parse_log
from ffslab.workloads.cuts.stored import CutsResult, cuts_result
from ffslab.workloads.cuts.walk import State, parse_walk
from findings import ROOT, finding

STUDY = """
schema = 1
name = "small"
title = "A configuration file is replaced a few times"

[base]
board = "apf27"
partition_bytes = "8 MiB"

[base.workload]
kind = "cuts"
history = "update-by-rename"
parameters = "updates=10"
fill_sample = 3
{workload}

[axes]
filesystem = [{filesystems}]
{axes}
"""
ALL = ("jffs2", "ubifs", "yaffs2", "logfs")
KNOWN = {finding("F-JFFS2-01", ("jffs2", "mount-fails"))}


def small_study(filesystems: Sequence[str] = ALL, *, workload: str = "", axes: str = "") -> str:
    named = ", ".join(f'"{name}"' for name in filesystems)
    return STUDY.format(filesystems=named, workload=workload, axes=axes)


def shipped_case(name: str, filesystem: str, history: str = "update-by-rename") -> Case:
    """A case of a shipped study."""
    return next(
        case
        for case in cases_of_text(find_study(name).text)
        if case.filesystem.type == filesystem and cuts_of(case).history == history
    )


def wrong(found: Mapping[str, CutsResult]) -> set[tuple[str, str]]:
    return {
        (key.split()[0], one["outcome"]) for key, cuts in found.items() for one in cuts["findings"]
    }


@pytest.fixture(scope="module")
def small(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    del lab
    return run_of(small_study(), tmp_path_factory.mktemp("small"))


def test_all_kinds_of_all_file_systems_are_gone_through(small: RunDirectory) -> None:
    found = cuts_by_case(small)
    assert [key.split()[0] for key in found] == list(ALL)
    for result in small.results():
        cuts = cuts_result(result)
        assert cuts is not None
        log = parse_log((small.case_dir(result["id"]) / "log").read_text())
        assert cuts["operations"] == len(log) > 15
        counts = {kind: sum(counted.values()) for kind, counted in cuts["counts"].items()}
        programs = sum(operation.verb == "program" for operation in log)
        assert counts["lost"] == counts["unstable"] == len(log)
        assert counts["torn-bits"] == programs >= counts["torn-prefix"] > programs // 2
        assert sum(counts.values()) == cuts["states"]
        assert len(cuts["recovery"]["curve"]) == len(log)
        assert all(row[1] > 0 for row in cuts["recovery"]["curve"])  # a mount reads
        # A state that is not correct makes the case fail.
        assert result["outcome"] == ("fail" if cuts["findings"] else "pass")
    assert wrong(found) <= KNOWN


def test_cuts_of_every_history(lab: LabBuild, tmp_path: Path) -> None:
    """The shipped study as it is: nothing is found but what docs/findings.md has."""
    del lab
    cuts = cuts_by_case(run_of("power-cuts", tmp_path))
    assert len(cuts) == 45
    assert sum(one["states"] for one in cuts.values()) > 6600
    found = {(*key.split(), one["outcome"]) for key in cuts for one in cuts[key]["findings"]}
    known = {finding("F-JFFS2-02", ("jffs2", "directories", "wrong-kind"))}
    assert {one for one in found if one[2] != "mount-fails"} <= known
    assert {one[0] for one in found} == {"jffs2"}


def test_a_directory_has_both_names_of_a_rename_on_jffs2(lab: LabBuild, tmp_path: Path) -> None:
    """The shipped calls on NOR flash, where each node goes to flash by itself: F-JFFS2-21."""
    del lab
    calls = (ROOT / "examples" / "calls" / "rename-directory.calls").read_text()
    text = f'''schema = 1
name = "calls"
title = "A directory is renamed"
[base]
board = "mt7621-gnubee"
partition_bytes = "2 MiB"
[base.workload]
kind = "cuts"
history = "calls"
calls = """{calls}"""
[axes]
filesystem = ["jffs2", "ubifs"]
'''
    cuts = {
        key.partition(" ")[0]: told for key, told in cuts_by_case(run_of(text, tmp_path)).items()
    }
    assert [told["failed_calls"] for told in cuts.values()] == [[], []]
    wrong = {(key, one["outcome"]) for key, told in cuts.items() for one in told["findings"]}
    assert wrong == {finding("F-JFFS2-21", ("jffs2", "not-atomic"))}
    assert {one["known"] for one in cuts["jffs2"]["findings"]} == {"F-JFFS2-21"}
    (detail,) = {one["detail"] for one in cuts["jffs2"]["findings"]}
    assert detail == "operation 3 (rename D E): the directory has both names"


@pytest.mark.parametrize("filesystem", [*ALL, "yaffs2-improved"])
def test_no_call_of_a_history_fails_without_a_cut(
    lab: LabBuild, tmp_path: Path, filesystem: str
) -> None:
    """But where it cannot be otherwise: else a history would not do what it is for."""
    cases = [
        case
        for case in cases_of_text(find_study("power-cuts").text)
        if case.filesystem.name == filesystem
    ]
    failed: dict[str, set[str]] = {}
    with opened(lab, cases[0], tmp_path) as guests:
        for case in cases:
            ended = run_guest(guests, cutter_of(case, guests.rig), "", tmp_path / case.id)
            assert ended is not None and ended[0].passed
            calls = [line.split() for line in ended[0].record.splitlines()[:-1]]
            failed[cuts_of(case).history] = {error for _, _, error, *_ in calls} - {"0"}
    # No space; and then what could not be made is not there.
    assert failed.pop("full") <= {str(errno.ENOSPC), str(errno.ENOENT)}
    refused = finding("F-JFFS2-17", {str(errno.EINVAL)}) if filesystem == "jffs2" else set()
    assert failed.pop("open-files") == refused
    # The history `overlay` is of stacks only.
    assert set(failed) == set(HISTORIES) - {"full", "open-files", "overlay"}
    assert not any(failed.values()), failed


def test_jobs_and_a_restart_change_no_byte(small: RunDirectory, tmp_path: Path) -> None:
    again = run_of(small_study(), tmp_path / "again", jobs=1)
    whole = again.results()
    lost = next(one["id"] for one in whole if one["spec"]["filesystem"]["name"] == "yaffs2")
    shutil.rmtree(again.case_dir(lost))
    again.write_manifest({**again.manifest(), "complete": False})
    resumed(again)
    assert (small.path / "results.jsonl").read_bytes() == (
        again.path / "results.jsonl"
    ).read_bytes()
    for result in whole:
        for name in ("case.json", "log", "record", "history"):
            paths = [one.case_dir(result["id"]) / name for one in (small, again)]
            assert paths[0].read_bytes() == paths[1].read_bytes(), (result["id"], name)


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
    case = shipped_case("crash-quick", filesystem)
    case = replace(case, workload=replace(cuts_of(case), parameters="updates=5"))
    cuts = Cuts(kinds="lost done", fill_sample=0)
    with opened(lab, case, tmp_path) as guests:
        cutter = cutter_of(case, guests.rig)
        first = run_guest(guests, cutter, "", tmp_path / "log")
        assert first is not None and first[0].log is not None
        log = parse_log(first[0].log)
        whole = list(all_cuts(log, cuts, paired=False, same_twice=True))
        lines = "".join(f"{cut}\n" for cut in whole)
        second = run_guest(guests, cutter, lines, tmp_path / "walk")
    assert second is not None
    found = {state.name.cut: state for state in parse_walk(second[0].walk).states}
    assert len(found) == len(whole) == 2 * len(log)
    by_name = {(cut.operation, cut.kind): like(state) for cut, state in found.items()}
    assert all(
        by_name[number, "done"] == by_name[number + 1, "lost"] for number in range(len(log) - 1)
    )
    kept = list(all_cuts(log, cuts, paired=False))
    assert len(kept) == len(log) + 1


def test_every_cut_in_a_recovery(lab: LabBuild, tmp_path: Path) -> None:
    del lab
    workload = 'kinds = "lost torn-bits"\nsample = 40\nrecovery_sample = 4'
    found = cuts_by_case(run_of(small_study(workload=workload), tmp_path))
    for key, cuts in found.items():
        second = {kind: sum(counted.values()) for kind, counted in cuts["counts"].items()}
        both = {kind: count for kind, count in second.items() if " / " in kind}
        assert sum(second.values()) - sum(both.values()) == min(40, cuts["states_possible"])
        if key.startswith("ubifs"):  # its recovery writes
            assert sum(both.values()) > 20
    assert wrong(found) <= KNOWN


@pytest.mark.parametrize(
    "chip",
    [
        '"chip.factory_bad" = [3]',
        '"chip.program_fail_ppm" = [500]\n"chip.erase_fail_ppm" = [500]',
        "",
    ],
    ids=["bad", "failing", "paired"],
)
def test_chips_with_bad_failing_and_paired_pages(lab: LabBuild, tmp_path: Path, chip: str) -> None:
    del lab
    is_paired = not chip
    kinds = "paired" if is_paired else " ".join(kinds_on(["NAND"])[:5])
    workload = f'kinds = "{kinds}"\nsample = 60'
    if is_paired:
        workload += "\npaired_distance_pages = 4"
    found = cuts_by_case(run_of(small_study(workload=workload, axes=chip), tmp_path))
    paired = [sum(cuts["counts"].get("paired", {}).values()) for cuts in found.values()]
    assert all(count > 10 for count in paired) == is_paired
    if is_paired:
        # UBIFS takes damage before the end of its journal for corruption: it has to refuse. So does
        # LogFS if what is destroyed is its root, or its segment file, which the first change needs.
        # What it can read stays readable.
        refusing = {
            finding("F-UBIFS-07", ("ubifs", "mount-fails")),
            *(("logfs", "mount-fails"), ("logfs", "use-fails")),
        }
        assert wrong(found) <= {*KNOWN, *refusing}
    else:
        assert wrong(found) <= KNOWN


def test_a_finding_is_replayed_and_made_small(lab: LabBuild, tmp_path: Path) -> None:
    """A JFFS2 of which the first page was torn: known, and certain."""
    del lab
    run = run_of(small_study(["jffs2"], workload='kinds = "torn-bits"\nvariants = 4'), tmp_path)
    (cuts,) = cuts_by_case(run).values()
    finding = next(one for one in cuts["findings"] if one["outcome"] == "mount-fails")
    assert finding["confirmed"] and finding["state"].startswith("0 torn-bits")
    case_id, finding_id = find_finding(run, finding["id"][:6])
    assert finding_id == finding["id"]
    with opened_again(run, case_id, SiteOptions(), 60) as again:
        where = Where(again.case, cuts, finding, again.directory, again.guests, again.room)
        replay = replayed(where)
        smaller = minimized(where)
    assert replay.is_there
    parts = dict(replay.parts)
    assert any("<- torn-bits" in line for line in parts["chip's log around the cut"])
    assert any("Cowardly refusing" in line for line in parts["kernel"])
    assert len(smaller.operations) <= 2


def test_a_torn_summary_is_no_file_system_without_ecc(lab: LabBuild, tmp_path: Path) -> None:
    """YAFFS2 read the torn last page of a block twice, and took it for two pages without ECC."""
    case = shipped_case("crash-quick", "yaffs2")
    case = replace(case, workload=replace(cuts_of(case), check="mount"))
    with opened(lab, case, tmp_path) as guests:
        cutter = cutter_of(case, guests.rig)
        first = run_guest(guests, cutter, "", tmp_path / "log")
        assert first is not None and first[0].log is not None
        log = parse_log(first[0].log)
        last = next(one.number for one in log if one.page == 63)
        lines = "".join(f"{last} torn-bits {variant}\n" for variant in range(400))
        second = run_guest(guests, cutter, lines, tmp_path / "walk")
    assert second is not None
    states = parse_walk(second[0].walk).states
    assert [state.mount.errno for state in states if state.mount] == [0] * 400
