"""LogFS and power cuts: after each, what was synced is there, the checker finds no error, and the
partition can be used.

Cuts are at every operation of the chip, or in the middle of it. A sample of them is drawn;
FFSLAB_NIGHTLY=1 makes all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from cut_scripts import History, Logs, Recovered, faults_in, logged, recovered
from fstree import Script
from guest_programs import NIGHTLY
from logfs_guest import Chip
from tree_states import OPERATIONS
from worn_images import worn_image

from ffslab.lab.lab_build import LabBuild

CHIP = Chip(blocks=33)  # files of some 800 KB fit
SAMPLE = 0 if NIGHTLY else 50
BLOCK_BYTES = 4096


def names() -> History:
    """Names come, change and go, and each change is synced."""
    history = History()
    for verb, arguments in OPERATIONS:
        history.do(verb, *arguments)
        path = str(arguments[0])
        is_file = verb in ("write", "truncate")
        history.sync(path if is_file else "")
    return history


def truncates() -> History:
    """Files become shorter and longer, over the limits of direct and indirect blocks."""
    history = History()
    for number, size in enumerate((300_000, 70_000)):
        history.do("write", f"/file{number}", 0, size, number)
    history.do("write", "/far", 2_200_000, 10_000, 9)
    history.sync()
    sizes = (200_001, 65_537, 65_536, 65_535, 262_144, 4096, 4095, 1, 0, 120_000)
    for number, size in enumerate(sizes):
        history.do("truncate", "/file0", size)
        history.do("write", "/file1", 8000 * number, 5000, 20 + number)
        history.sync()
    history.do("truncate", "/far", 100_000)
    history.sync()
    history.do("unlink", "/file1")
    history.sync()
    return history


def overwrites(count: int = 260, synced: int = 10) -> History:
    """Files that fill most of the partition are overwritten, so that garbage is collected."""
    history, random = History(), Random(1)
    files = 6
    for number in range(files):
        history.do("write", f"/file{number}", 0, 100_000, number)
    history.sync()
    for number in range(count):
        offset = BLOCK_BYTES * random.randrange(80_000 // BLOCK_BYTES)
        history.do("write", f"/file{random.randrange(files)}", offset, 12_000, 100 + number)
        if number % synced == 0:
            history.sync()
    history.sync()
    return history


def all_good(logs: Logs, states: Iterator[Recovered]) -> None:
    found = [*states]
    print(f"{logs.options or 'plain'}: {len(logs.log)} operations, {len(found)} cuts")
    problems = faults_in(logs, found)
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems[:40])


@pytest.mark.parametrize("options", ["", "compress"])
@pytest.mark.parametrize("history", [names, truncates, overwrites])
def test_every_cut(
    lab: LabBuild, tmp_path: Path, fstree: Path, history: Callable[[], History], options: str
) -> None:
    logs = logged(lab, tmp_path / "log", fstree, history(), CHIP, options=options)
    if history is overwrites and not options:
        assert logs.guest.states[0]["gc_segments"] > 5, logs.guest.states[0]["gc_segments"]
    all_good(logs, recovered(logs, tmp_path / "walk", logs.cuts(sample=SAMPLE)))


def test_every_cut_of_a_format(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """The first mount of an erased partition makes a file system; the next one makes it again."""
    history = History()
    history.do("write", "/file", 0, 20_000, 1)
    history.sync()
    logs = logged(lab, tmp_path / "log", fstree, history, CHIP, from_format=True)
    all_good(logs, recovered(logs, tmp_path / "walk", logs.cuts()))


def test_every_cut_of_a_move_of_the_journal(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """Other segments, and both superblocks written anew: the state before, or the one after."""
    before = Script()
    before.mkdir("/d")
    before.write("/d/kept", 0, 50_000, 1)
    before.write("/replaced", 0, 9000, 2)
    flash = worn_image(tmp_path, CHIP, before)
    history = History(before)
    history.do("write", "/new", 0, 20_000, 3)
    history.sync()
    history.do("rename", "/new", "/replaced")
    history.sync()
    logs = logged(lab, tmp_path / "log", fstree, history, CHIP, flash=flash)
    assert logs.guest.states[0]["journal_moved"] == 1
    all_good(logs, recovered(logs, tmp_path / "walk", logs.cuts(variants=4)))
