"""Power cuts in a row on one flash of the real file systems: what stays, what is found, again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from cut_guests import cases_of_text, cuts_by_case, opened, run_of
from lab_support import boot
from planted_faults import Fault
from test_crash_walk import capture, captures, case_of, history_steps, run
from test_planted_faults import changed_module

from ffslab.campaign.again import opened_again
from ffslab.cli.crash import find_finding
from ffslab.lab.lab_build import LabBuild
from ffslab.oracle.promises import promise_of
from ffslab.protocol.plan import step
from ffslab.results.rundir import RunDirectory
from ffslab.targets.target import SiteOptions
from ffslab.workloads.cuts.explore.guest import run_series
from ffslab.workloads.cuts.explore.replay import Where, replayed
from ffslab.workloads.cuts.explore.series import SeriesExplorer
from ffslab.workloads.cuts.plan import cuts_on_chip, cutter_of
from ffslab.workloads.cuts.series import stored_series
from ffslab.workloads.cuts.texts import GuestTexts
from findings import finding

STUDY = """
schema = 1
name = "row"
title = "In a row"
[base]
board = "apf27"
partition_bytes = "{partition}"
{options}
[base.workload]
kind = "cuts"
history = "series"
{series}
[axes]
filesystem = [{filesystems}]
"chip.factory_bad" = [{bad}]
"""
ALL = ("jffs2", "ubifs", "yaffs2", "logfs")
KNOWN = {
    finding("F-JFFS2-02", ("jffs2", "bad-links")),
    finding("F-JFFS2-05", ("jffs2", "name-kept")),
    finding("F-JFFS2-20", ("jffs2", "guest-died")),
}
PROGRAM = "/test/ffscrash"
MOVES = 'cuts = {cuts}\nspace_every = 100\nacts = "{acts}"'
CLEAN_BLOCKS = MOVES.format(cuts=200, acts="moves drop-caches turn-over")
CUT_ERASES = 'cuts = 900\nspace_every = 0\nkinds = "erase-half"'
# Moves into another directory that are wrong, where all other calls are right.
MOVED = (
    Fault(
        "logfs-move",
        "a directory that moves into another one keeps its old name, too",
        "series",
        (),
        # Files that are in two places are deleted twice.
        frozenset({"name-kept", "not-atomic", "use-fails"}),
        changes=(
            (
                "core/dir.c",
                "\tif (!err)\n\t\terr = drop_entry(old_dir, found.bix);\n"
                "\tif (!err)\n\t\terr = logfs_node_write(node);",
                "\tif (!err && new_dir == old_dir)\n\t\terr = drop_entry(old_dir, found.bix);\n"
                "\tif (!err)\n\t\terr = logfs_node_write(node);",
            ),
        ),
    ),
    Fault(
        "yaffs2-move",
        "a directory that moves into another one is not written, and so known to memory only",
        "series",
        (),
        frozenset({"name-kept", "name-lost", "not-atomic"}),
        changes=(
            (
                "core/operations.c",
                "err = yaffs_header_write(obj, change);\n\tif (err) {\n\t\tyaffs_directory_remove",
                "err = obj->type == YAFFS_TYPE_DIRECTORY && dir != old_dir ?\n\t\t      0 :"
                " yaffs_header_write(obj, change);\n\tif (err) {\n\t\tyaffs_directory_remove",
            ),
        ),
    ),
)


def study(
    series: str,
    filesystems: Sequence[str] = ALL,
    bad: int = 0,
    options: str = 'options.compression = "default"',
    partition: str = "16 MiB",
) -> str:
    named = ", ".join(f'"{name}"' for name in filesystems)
    return STUDY.format(
        series=series, filesystems=named, options=options, partition=partition, bad=bad
    )


@pytest.fixture(scope="module")
def short(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    del lab
    return run_of(study("cuts = 300\nspace_every = 100"), tmp_path_factory.mktemp("short"))


def test_all_come_through_many_cuts(short: RunDirectory) -> None:
    whole = cuts_by_case(short)
    assert [key.split()[0] for key in whole] == list(ALL)
    for key, cuts in whole.items():
        kinds = {kind: sum(counted.values()) for kind, counted in cuts["counts"].items()}
        assert cuts["states"] == sum(kinds.values()) == 300
        assert {"lost", "done", "torn-prefix", "torn-bits", "erase-half"} == set(kinds)
        assert min(kinds[kind] for kind in ("lost", "done", "torn-bits")) > 40
        series = cuts["series"]
        assert series["lives"] == [0] and not series["spared"]
        assert [row[0] for row in series["space"]] == [0, 100, 200, 300]
        for before, after in zip(series["space"], series["space"][1:], strict=False):
            assert after[1] > 0.8 * before[1]  # what fits
            assert after[5] > before[5]  # erases
        # A mount after each cut, two more where it was filled before any.
        assert sum(row[0] for row in series["recovery"].values()) == 300 + 1 + 4
        assert all(row[1] > 0 for row in series["recovery"].values())
        assert {(key.split()[0], one["outcome"]) for one in cuts["findings"]} <= KNOWN


def test_the_same_cuts_leave_the_same_flash_whoever_else_runs(
    short: RunDirectory, tmp_path: Path
) -> None:
    again = run_of(study("cuts = 300\nspace_every = 100"), tmp_path / "again", jobs=1)
    for result in short.results():
        for name in ("case.json", "series"):
            one, other = (run.case_dir(result["id"]) / name for run in (short, again))
            assert one.read_bytes() == other.read_bytes()


def test_bad_blocks_from_the_factory_stay_what_they_are(lab: LabBuild, tmp_path: Path) -> None:
    del lab
    text = study("cuts = 60\nspace_every = 30", bad=3)
    for cuts in cuts_by_case(run_of(text, tmp_path / "bad")).values():
        bad = {row[4] for row in cuts["series"]["space"]}
        assert len(bad) == 1 and bad.pop() >= 3
        assert not cuts["findings"]


def test_what_a_grown_file_system_takes_is_no_leak(lab: LabBuild, tmp_path: Path) -> None:
    """From its 512th inode on LogFS has a block less for a file: between two measurements here."""
    del lab
    text = study("cuts = 1000\nspace_every = 125", ["logfs"])
    (cuts,) = cuts_by_case(run_of(text, tmp_path / "grown")).values()
    fitted = [row[1] for row in cuts["series"]["space"]]
    assert len(fitted) == 9 and fitted[0] - fitted[-1] == promise_of("logfs").growth_bytes
    assert len({*fitted}) == 2 and not cuts["findings"]
    assert len({row[3] for row in cuts["series"]["space"]}) == 1  # free when all is deleted


def turns(run: RunDirectory) -> dict[str, list[list[int]]]:
    """Of each case and time: blocks that were erased, of how many, by writing so many bytes."""
    texts = {
        result["spec"]["filesystem"]["name"]: (run.case_dir(result["id"]) / "series").read_text()
        for result in run.results()
    }
    return {
        name: [
            [int(word) for word in line.split()[2:]]
            for line in text.splitlines()
            if line.startswith("turned ")
        ]
        for name, text in texts.items()
    }


def test_directories_move_while_the_flash_is_turned_over(lab: LabBuild, tmp_path: Path) -> None:
    """A sample of the study directories-in-a-row."""
    del lab
    acts = "moves over-emptied drop-caches turn-over"
    text = MOVES.format(cuts=200, acts=acts)
    found = run_of(study(text, ["ubifs", "yaffs2", "logfs"]), tmp_path / "all")
    # F-JFFS2-08: renaming over an emptied directory makes it hang.
    assert MOVES.format(cuts=200, acts=acts.replace("over-emptied ", "")) == CLEAN_BLOCKS
    jffs2 = run_of(study(CLEAN_BLOCKS, ["jffs2"]), tmp_path / "jffs2")
    for key, cuts in {**cuts_by_case(found), **cuts_by_case(jffs2)}.items():
        outcomes = {(key.split()[0], one["outcome"]) for one in cuts["findings"]}
        assert cuts["states"] == 200 and outcomes <= KNOWN
    turned = turns(found) | turns(jffs2)
    assert set(turned) == set(ALL)
    for name, times in turned.items():
        assert len(times) >= 3, name
        for erased, blocks, written in times:
            # UBI leaves blocks without garbage where they are, LogFS its superblocks.
            assert blocks == 128 and erased > blocks // 4, name
            assert erased == blocks or name != "yaffs2", name
            assert written <= 3 * 2**24


@pytest.mark.parametrize("fault", MOVED, ids=lambda fault: fault.name)
def test_a_directory_that_moves_wrongly_is_found(fault: Fault, tmp_path: Path) -> None:
    found = {}
    for acts in ("moves", "drop-caches"):
        text = study(MOVES.format(cuts=60, acts=acts), [f"{fault.filesystem}-planted"])
        directory = tmp_path / acts
        directory.mkdir()
        catalog = changed_module(fault, directory)
        (found[acts],) = cuts_by_case(run_of(text, directory / "x", catalogs=(catalog,))).values()
    outcomes = {one["outcome"] for one in found["moves"]["findings"]}
    assert outcomes & fault.outcomes
    judged = [one for one in found["moves"]["findings"] if one["outcome"] != "use-fails"]
    assert all(" steps=" in one["detail"] for one in judged)
    assert not found["drop-caches"]["findings"]  # no other call meets it


def test_a_promise_that_is_not_kept_is_found(lab: LabBuild, tmp_path: Path) -> None:
    """JFFS2 does not promise that what returned is durable, and the series notices that."""
    (case,) = cases_of_text(study("cuts = 200", ["jffs2"]))
    with opened(lab, case, tmp_path, 120.0) as guests:
        cutter = cutter_of(case, guests.rig)

        def guest(
            name: str, words: Sequence[str], begun: Callable[[Path], None]
        ) -> GuestTexts | None:
            del begun
            ended = run_series(guests, cutter, words, tmp_path / name, 120.0)
            return ended[0] if ended else None

        promise = replace(promise_of("jffs2"), returned_is_durable=True)
        lives = SeriesExplorer(cuts_on_chip(case), promise, 1, guest).explore()
    stored = stored_series(case, lives)
    outcomes = {one["outcome"] for one in stored["findings"]}
    assert {"stale-data", "name-kept"} <= outcomes
    assert sum(one["states"] for one in stored["findings"]) > 10


def test_a_flash_that_cannot_be_mounted_is_found_again(lab: LabBuild, tmp_path: Path) -> None:
    """An erase that was cut and left UBI's headers, which UBIFS reads many cuts later."""
    del lab
    found = run_of(study(CUT_ERASES, ["ubifs"]), tmp_path / "erased")
    (cuts,) = cuts_by_case(found).values()
    (fault,) = cuts["findings"]
    assert fault["outcome"] == finding("F-UBIFS-01", "mount-fails")
    assert cuts["states"] == 900
    assert cuts["series"]["lives"] == [0, int(fault["state"].split()[0])]
    assert any("UBIFS error" in line for line in fault["console"])
    case_id, _ = find_finding(found, fault["id"])
    with opened_again(found, case_id, SiteOptions(), 120.0) as once:
        where = Where(once.case, cuts, fault, once.directory, once.guests, once.room)
        again = replayed(where)
    assert again.is_there
    parts = dict(again.parts)
    assert any("<-" in line for line in parts["chip's log around the cut"])
    assert any("garbage" in line for line in parts["kernel at the mount after it"])


@pytest.mark.parametrize(
    ("partition", "cuts", "bound"),
    [("2 MiB", 100, "none"), ("8 MiB", 300, "none"), ("2 MiB", 300, "5ms")],
)
def test_in_the_segregated_layout_cuts_use_up_no_block(
    lab: LabBuild, tmp_path: Path, partition: str, cuts: int, bound: str
) -> None:
    """Each leaves two that nothing is written to any more: to be erased, there must be another.

    On 2 MiB there was none after 54 cuts, with a bound after 271; on 8 MiB all waited for a pinned
    one after 214.
    """
    del lab
    series = f"cuts = {cuts}\nspace_every = 50"
    options = f'options.layout = "segregated"\noptions.gc_bound = "{bound}"'
    text = study(series, ["yaffs2-improved"], 0, options, partition)
    (found,) = cuts_by_case(run_of(text, tmp_path / "x")).values()
    assert found["states"] == cuts and found["findings"] == []
    assert len(found["series"]["space"]) == cuts // 50 + 1


def test_a_cut_that_is_kept_is_the_flash_that_is_there(lab: LabBuild, tmp_path: Path) -> None:
    """Its contents and its weak pages: JFFS2 tells of each that it cannot read."""
    case = case_of("jffs2")
    history = tmp_path / "history"
    history.write_text("write a 0 9000 1\nsync\nwrite a 0 9000 3\nsync\n")
    steps = history_steps(case)
    mount = next(line for line in reversed(steps) if line.startswith("mount "))
    mounted = [mount, step("umount", target="/mnt")]
    chip = [run("chip flash0", word) for word in ("push", "stop", "at 0", "keep", "back")]
    plan = [
        *(*steps, run("chip flash0 at 4"), run("chip flash0 cut torn-bits 0"), capture("digest")),
        *(chip[0], *mounted, chip[1], chip[2], capture("digest"), chip[3], capture("digest")),
        # Once more upon what was kept, and over the memory of what was forgotten.
        *(chip[0], *mounted, chip[1], chip[2], capture("digest"), chip[3], chip[4]),
        *(capture("digest"), chip[0], *mounted),
    ]
    files = {"/test/history": history, PROGRAM: lab.cutter}
    guest = boot(lab, tmp_path / "guest", case, "\n".join(plan) + "\n", files=files, clean=False)
    assert guest.status == 0, guest.console[-3000:]
    digests = captures(guest, "digest")
    assert len(digests) == 5 and len(set(digests)) == 1
    unreadable = [line for line in guest.console.splitlines() if "ECC error" in line]
    told = [line.partition("] ")[2] for line in unreadable]
    third = len(told) // 3
    assert third and told == told[:third] * 3
