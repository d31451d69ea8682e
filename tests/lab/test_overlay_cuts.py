"""Power cuts of SquashFS below UBIFS and JFFS2: what is found, and that a mistake would be.

The mistake is one of overlayfs: its sources, as the lab kernel has them, are built as a module of a
user's, where copying a file up does not sync its data.
"""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest
from cut_guests import cases_of_text, explored, opened

from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.progress import ConsoleProgress
from ffslab.lab.source import ensure_source
from ffslab.model.case import Case
from ffslab.paths import data_dir
from ffslab.targets.uml.site import lab_parts
from ffslab.workloads.cuts.explore.guest import run_guest
from ffslab.workloads.cuts.explored import Judged
from ffslab.workloads.cuts.outcomes import CORRECT
from ffslab.workloads.cuts.plan import cutter_of
from ffslab.workloads.cuts.walk import State, parse_walk
from findings import finding

STUDY = """
schema = 1
name = "small"
title = "A round on a lower tree"

[base]
board = "apf27"
partition_bytes = "8 MiB"
filesystem = "{filesystem}"

[base.workload]
kind = "cuts"
history = "overlay"
parameters = "rounds=1 big_bytes=20000"
fill_sample = 2
{kinds}
"""
KNOWN = {
    "overlay-jffs2": {
        finding("F-JFFS2-01", ("mount-fails", "torn-bits")),
        finding("F-OVERLAY-01", ("name-lost", "torn-prefix")),
    },
    "overlay-ubifs": {finding("F-OVERLAY-02", ("unreadable", "torn-prefix"))},
}
# What overlayfs refuses; and then a name is there still, or is not there.
REFUSED = {
    "overlay-jffs2": {
        *(("rename", errno.EXDEV), ("rename", errno.EINVAL), ("rmdir", errno.EINVAL)),
        *(("mkdir", errno.EINVAL), ("mkdir", errno.EEXIST), ("rmdir", errno.ENOTEMPTY)),
        ("write", errno.ENOENT),
    },
    "overlay-ubifs": {("rename", errno.EXDEV), ("rmdir", errno.ENOTEMPTY)},
}
SYNCED = "if (!error && ovl_should_sync(ofs))"


def case_of(filesystem: str, kinds: str = "", catalogs: tuple[Path, ...] = ()) -> Case:
    (case,) = cases_of_text(STUDY.format(filesystem=filesystem, kinds=kinds), catalogs)
    return case


def all_cuts_of(case: Case, directory: Path) -> tuple[Judged, ...]:
    directory.mkdir(exist_ok=True)
    return explored(ensure_lab(**lab_parts([case])), case, directory).judged


def wrong(judged: tuple[Judged, ...]) -> set[tuple[str, str]]:
    return {
        (one.judgement.outcome, one.name.cut.kind)
        for one in judged
        if one.judgement.outcome != CORRECT
    }


@pytest.mark.parametrize("filesystem", KNOWN)
def test_what_a_cut_leaves_of_an_overlay(lab: LabBuild, tmp_path: Path, filesystem: str) -> None:
    del lab
    judged = all_cuts_of(case_of(filesystem), tmp_path)
    assert len(judged) > 150
    assert wrong(judged) <= KNOWN[filesystem]
    assert sum(one.judgement.outcome != CORRECT for one in judged) <= 10


@pytest.mark.parametrize("filesystem", KNOWN)
def test_all_of_the_stack_is_mounted_and_measured(
    lab: LabBuild, tmp_path: Path, filesystem: str
) -> None:
    case = case_of(filesystem)
    with opened(lab, case, tmp_path) as guests:
        cutter = cutter_of(case, guests.rig)
        first = run_guest(guests, cutter, "", tmp_path / "log")
        assert first is not None and first[0].log is not None
        last = len(first[0].log.splitlines()) - 1
        # The second is no cut, for that operation is a program: there is no recovery from it.
        lines = f"{last} done 0\n0 erase-half 0 * lost 0\n"
        ended = run_guest(guests, cutter, lines, tmp_path / "walk")
    assert ended is not None
    calls = [line.split(" ") for line in ended[0].record.splitlines()[:-1]]
    verbs = [line.split(" ")[0] for line in cutter.history.splitlines()]
    failed = {(verbs[int(at)], int(error)) for _, at, error, *_ in calls if error != "0"}
    assert {("rename", errno.EXDEV)} <= failed <= REFUSED[filesystem]
    walk = parse_walk(ended[0].walk)
    state, refused = walk.states
    assert walk.complete and refused.refused == str(errno.EOPNOTSUPP)
    assert isinstance(state, State) and state.seen and state.again and state.used == "ok"
    assert state.seen.digest == state.after.digest == state.again.digest  # type: ignore[union-attr]
    # SquashFS's superblock and tables are read through the chip, too: its root alone is a page.
    assert state.mount is not None and state.mount.pages_read > 1
    tree = {
        line.split(" ")[1]: line.split(" ")
        for line in walk.texts[state.seen.digest].split("\n")
        if line
    }
    # Inodes of the lower, and of the upper file system; those of directories are overlayfs's.
    devices = {path: int(words[4]) // 10**12 for path, words in tree.items() if words[0] == "file"}
    assert devices["r0/still"] == devices["r0/keep/p"] != 0
    assert devices["r0/gone"] not in (0, devices["r0/still"])
    assert devices["r0/third"] == devices["r0/meta"] == devices["r0/gone"]
    assert tree["r0/alias"][3] == "2" and devices["r0/alias"] == devices["r0/still"]


def without_sync(directory: Path) -> Path:
    """A catalog whose overlay-ubifs has an overlayfs that copies without syncing."""
    source = ensure_source(ConsoleProgress()).tree / "fs"
    copy = directory / "overlay"
    shutil.copytree(
        source / "overlayfs", copy, ignore=shutil.ignore_patterns("Kconfig", "Makefile")
    )
    shutil.copy(source / "exportfs" / "expfs.c", copy)
    kbuild = (data_dir("kmod") / "overlay" / "Kbuild").read_text()
    (copy / "Kbuild").write_text(kbuild[: kbuild.index("$(obj)/expfs.o")])
    text = (copy / "copy_up.c").read_text()
    assert text.count(SYNCED) == 1
    (copy / "copy_up.c").write_text(text.replace(SYNCED, "if (0)"))
    described = (data_dir("catalog") / "filesystems" / "overlay-ubifs.toml").read_text()
    described = described.replace('name = "overlay-ubifs"', 'name = "overlay-unsynced"', 1)
    described += '\n[module_source]\ndirectory = "../../overlay"\n'
    catalog = directory / "catalog" / "filesystems"
    catalog.mkdir(parents=True)
    (catalog / "overlay-unsynced.toml").write_text(described)
    return catalog.parent


def test_a_copy_that_is_not_synced_is_found(lab: LabBuild, tmp_path: Path) -> None:
    del lab
    case = case_of("overlay-unsynced", 'kinds = "lost"', (without_sync(tmp_path),))
    judged = all_cuts_of(case, tmp_path / "run")
    found = [one.judgement for one in judged if one.judgement.outcome != CORRECT]
    assert {one.outcome for one in found} & {"synced-data-lost", "stale-data", "wrong-size"}
    assert len(found) > 3
