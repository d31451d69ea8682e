"""Short sequences in the lab: all of one act, and of two in part; what hangs without any cut."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from cut_guests import cases_of_text, cuts_by_case, opened, run_of

from ffslab.lab.lab_build import LabBuild
from ffslab.oracle.acts import BEGINNINGS, acts_for
from ffslab.oracle.promises import promise_of
from ffslab.oracle.sequences import Tree
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.cuts.explore.guest import run_tree
from ffslab.workloads.cuts.outcomes import CORRECT, READ_ONLY
from ffslab.workloads.cuts.plan import cutter_of
from ffslab.workloads.cuts.stored import CutsResult
from ffslab.workloads.cuts.tree import parse_nodes, sequence_text
from findings import finding

NIGHTLY = os.environ.get("FFSLAB_NIGHTLY", "") not in ("", "0")
ALL = ("jffs2", "ubifs", "yaffs2", "yaffs2-improved", "logfs", "overlay-jffs2", "overlay-ubifs")
STUDY = """
schema = 1
name = "sequences"
title = "Short sequences"
[base]
board = "{board}"
partition_bytes = "{partition}"
{options}
[base.workload]
kind = "cuts"
history = "sequences"
{workload}
[axes]
filesystem = [{filesystems}]
"""


def study(workload: str, *filesystems: str, board: str = "apf27", partition: str = "8 MiB") -> str:
    named = ", ".join(f'"{name}"' for name in filesystems)
    options = 'options.layout = "segregated"' if "yaffs2-improved" in filesystems else ""
    return STUDY.format(
        board=board, partition=partition, options=options, workload=workload, filesystems=named
    )


def told(run: RunDirectory) -> dict[str, CutsResult]:
    """What became of the cuts of each file system."""
    return {key.partition(" ")[0]: cuts for key, cuts in cuts_by_case(run).items()}


# F-JFFS2-23 shows files in sequences of two acts.
KNOWN = {
    finding("F-JFFS2-22", ("jffs2", "bad-attributes")),
    finding("F-JFFS2-22", ("overlay-jffs2", "bad-attributes")),
    finding("F-JFFS2-23", ("jffs2", "changed-by-use")),
}


def tree_for(filesystem: str, act_set: str, length: int, begins: str = "new") -> Tree:
    """The sequences of acts that it does not refuse."""
    stack = filesystem.removesuffix("-improved")
    return Tree(acts_for(act_set, begins, promise_of(stack).refuses)[0], length, 1, begins)


def check(filesystem: str, cuts: CutsResult, tree: Tree) -> None:
    """Each sequence was gone through, no call failed but for want of space, all was as promised."""
    assert {(filesystem, one["outcome"]) for one in cuts["findings"]} <= KNOWN
    by_time = finding("F-JFFS2-23", "jffs2")  # where it writes goes by jiffies
    assert all(one["confirmed"] or filesystem == by_time for one in cuts["findings"])
    errnos = {failure["errno"] for failure in cuts["failed_calls"]}
    assert errnos <= ({errno.ENOSPC} if tree.begins == "full" else set())
    sequences = cuts["sequences"]
    assert sequences["visited"] == sequences["all"] == tree.count() and not sequences["unreached"]
    # Each is cut behind its last call at least.
    assert cuts["counts"]["lost"][CORRECT] >= tree.count()
    last = {pair["act"] for pair in sequences["pairs"]}
    assert last == {node.steps[-1][0].name for node in tree.nodes()}
    states = sum(sum(pair["outcomes"].values()) for pair in sequences["pairs"])
    assert states == cuts["states"] > tree.count()


# In each state of a full flash all of it is read.
SAMPLES = {
    "new": ALL,
    "names": ("jffs2", "ubifs", "yaffs2", "logfs"),
    "aged": ("yaffs2", "logfs"),
    "full": ("jffs2", "yaffs2"),
    "recovered": ("jffs2", "ubifs", "yaffs2", "yaffs2-improved", "logfs"),
    "bad-blocks": ("jffs2", "ubifs", "yaffs2", "logfs"),
}


@pytest.mark.parametrize("begins", BEGINNINGS)
def test_all_acts_behind_each_beginning(lab: LabBuild, tmp_path: Path, begins: str) -> None:
    del lab
    length = 2 if NIGHTLY else 1
    workload = f'act_set = "all"\nlength = {length}\nbeginning = "{begins}"'
    partition = "2 MiB" if begins == "full" else "8 MiB"
    run = run_of(study(workload, *SAMPLES[begins], partition=partition), tmp_path)
    for filesystem, cuts in told(run).items():
        check(filesystem, cuts, tree_for(filesystem, "all", length, begins))


def test_a_full_overlay_is_read_only(lab: LabBuild, tmp_path: Path) -> None:
    """Without room for its work directory: F-OVERLAY-04."""
    del lab
    workload = 'length = 1\nbeginning = "full"\nkinds = "lost"'
    (cuts,) = told(run_of(study(workload, "overlay-jffs2", partition="2 MiB"), tmp_path)).values()
    outcomes = cuts["counts"]["lost"]
    assert set(outcomes) == {finding("F-OVERLAY-04", READ_ONLY)}


# A call of each feature; what they need is made before.
READY = "append a 700 1\nappend b 700 3\nmkdir e\ncreate e/b\nopen @0 a\n"
CALLS_OF = {
    "mapping": "mapwrite @0 0 90 5",
    "tmpfile": "tmpfile @1 .",
    "exchange": "exchange a b",
    "xattr": "setxattr a user.x 40 7",
    "whiteout": "whiteout e/b e/w",
}


def test_what_a_promise_lacks_is_refused(lab: LabBuild, tmp_path: Path) -> None:
    """And nothing else is, so that a kernel that can do it by now is noticed."""
    del lab
    assert {act.feature for act in acts_for("all", "new", ())[0]} == {"", *CALLS_OF}
    names = [name for name in ALL if name != "yaffs2-improved"]
    calls = READY + "".join(f"{call}\n" for call in CALLS_OF.values())
    text = study(f'sample = 1\ncalls = """{calls}"""', *names)
    text = text.replace('history = "sequences"', 'history = "calls"')
    for name, cuts in told(run_of(text, tmp_path)).items():
        refused = {failure["call"] for failure in cuts["failed_calls"]}
        assert refused == {CALLS_OF[what] for what in promise_of(name).refuses}, name


def test_all_acts_on_nor_flash(lab: LabBuild, tmp_path: Path) -> None:
    del lab
    workload = 'act_set = "all"\nlength = 1'
    run = run_of(
        study(workload, "jffs2", "ubifs", board="mt7621-gnubee", partition="4 MiB"), tmp_path
    )
    for cuts in told(run).values():
        assert cuts["sequences"]["visited"] == cuts["sequences"]["all"] > 50
        assert "erase-half" not in cuts["counts"]


def test_the_number_of_guests_at_once_changes_nothing(lab: LabBuild, tmp_path: Path) -> None:
    """Nor does it whether a part was gone through with the others."""
    del lab
    text = study("length = 2", "yaffs2", "ubifs")
    one, two = (told(run_of(text, tmp_path / str(jobs), jobs=jobs)) for jobs in (1, 2))
    assert one == two
    halves = [
        told(run_of(study(f"length = 2\nparts = 2\npart = {part}", "ubifs"), tmp_path / f"p{part}"))
        for part in (1, 2)
    ]
    for name in ("visited", "unreached"):
        whole = one["ubifs"]["sequences"]
        assert sum(half["ubifs"]["sequences"][name] for half in halves) == whole[name]  # type: ignore[literal-required]
    assert sum(half["ubifs"]["states"] for half in halves) == one["ubifs"]["states"]


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs", "yaffs2", "logfs"])
def test_a_directory_over_an_emptied_one_hangs_only_jffs2(
    lab: LabBuild, tmp_path: Path, filesystem: str
) -> None:
    """F-JFFS2-08 as a sequence, without any cut: it ends its guest in the act `turn over`."""
    text = study('beginning = "names"', filesystem)
    (case,) = cases_of_text(text)
    lines = ["unlink e/b", "sync", "rename d e", "turnover t"]
    with opened(lab, case, tmp_path) as guests:
        texts = run_tree(
            guests, cutter_of(case, guests.rig), sequence_text(lines), "", tmp_path / "one"
        )
    assert texts is not None
    nodes = parse_nodes(texts.walk)
    hangs = not nodes.complete and nodes.begun is None
    assert hangs == (filesystem == finding("F-JFFS2-08", "jffs2")), texts.last
    if hangs:
        assert "stuck" in texts.death("")[0]
        assert len(nodes.visited) == 1 and not nodes.visited[0].states
