"""LogFS and pages that cannot be read, one kind of object at a time.

A page is made uncorrectable on the host, in the flash file between two guests: everything else is
there, no byte is wrong, and what can still be written can be written.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fstree import Script, assert_same, errors_in
from logfs_guest import (
    CHIP_COUNTERS,
    LIST,
    STATE,
    UMOUNT,
    Chip,
    flash_contents,
    load,
    mount,
    no_violations,
    run,
    spoil_pages,
    start,
)
from test_logfs_original import flash_of

from ffslab.lab.lab_build import LabBuild
from ffslab.logfs import ImageOptions
from ffslab.logfs.check import examine
from ffslab.logfs.format import FULL
from ffslab.logfs.image import PageGeometry
from ffslab.logfs.mkfs import MkfsOptions, make_image
from ffslab.logfs.mount import Mounted

CHIP = Chip(blocks=40)
KNOWN = ImageOptions(first_block=0, blocks=CHIP.blocks)
INO_SEGMENTS = 3
ROUNDS = 40  # of 200 KB: each segment is written again


def tree() -> Script:
    """`/first` has a block of pointers; the inode of `/file30` lies among those of other files."""
    script = Script()
    script.write("/first", 0, 120_000, 1)
    for number in range(60):
        script.write(f"/file{number}", 0, 5000, number)
    script.line("sync")
    return script


def come_and_go() -> Script:
    script = Script()
    for number in range(ROUNDS):
        script.write(f"/passing{number}", 0, 200_000, number)
        script.line("sync")
        script.unlink(f"/passing{number}")
    script.line("sync")
    return script


def first_ino(mounted: Mounted) -> int:
    return min(ino for ino in mounted.inodes if ino > 16)


def data(mounted: Mounted) -> int:
    return mounted.inodes[first_ino(mounted)].walked.blocks[2] + 2048


def pointers(mounted: Mounted) -> int:
    """A page that has nothing else."""
    return (mounted.inodes[first_ino(mounted)].inode.data[16] & ~FULL) + 2048


def inode(mounted: Mounted) -> int:
    return mounted.inode_file.blocks[first_ino(mounted) + 31]


def segment_file(mounted: Mounted) -> int:
    return mounted.inodes[INO_SEGMENTS].walked.blocks[0]


def spoiled(lab: LabBuild, directory: Path, fstree: Path, where: Callable[[Mounted], int]) -> Path:
    steps = [*load(CHIP), mount(), run(0), UMOUNT]
    guest = start(lab, directory / "first", fstree, steps, chip=CHIP, scripts=[tree()])
    found = examine(guest.flash, KNOWN).tree
    assert found is not None
    spoil_pages(guest.flash, [where(found.mounted) // CHIP.page_bytes])
    return guest.flash


@pytest.mark.parametrize("copy", [0, 1])
def test_a_superblock(lab: LabBuild, tmp_path: Path, fstree: Path, copy: int) -> None:
    """The other one does, and the next writable mount writes it again."""
    flash = spoiled(lab, tmp_path, fstree, lambda mounted: mounted.superblock.copies[copy])
    steps = [*load(CHIP), mount(flags="ro"), *LIST, UMOUNT, mount(), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "second", fstree, steps, chip=CHIP, flash=flash)
    for listing in guest.listings:
        assert_same(tree().listing(one_link=True), listing)
    assert f"copy {copy} of the superblock is written anew" in guest.console
    assert no_violations(guest.counters)
    report = guest.assert_sound()
    assert not report.warnings, report.text()


@pytest.mark.parametrize("where", [data, pointers, inode])
def test_an_object(
    lab: LabBuild, tmp_path: Path, fstree: Path, where: Callable[[Mounted], int]
) -> None:
    """What was there before and can be read stays so, while all segments are written again."""
    flash = spoiled(lab, tmp_path, fstree, where)
    steps = [*load(CHIP), mount(), *LIST, run(0), STATE, "drop-caches", *LIST, UMOUNT, mount()]
    steps += [*LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "second", fstree, steps, chip=CHIP, scripts=[come_and_go()],
                  flash=flash)  # fmt: skip
    assert guest.states[0]["erasures"] > CHIP.blocks
    whole = tree().listing(one_link=True)
    for listing in guest.listings:
        assert listing.keys() - {"/"} == whole.keys()
        broken = {
            path for path, entry in listing.items() if "error" in entry or entry.get("unreadable")
        }
        print(where.__name__, len(broken), sorted({*errors_in(listing)}))
        assert ("/file30" if where is inode else "/first") in broken
        assert {*errors_in(listing)} <= {"EIO", "EUCLEAN", "EBADMSG"}
        assert len(broken) == 1 or (where is inode and len(broken) <= 10)
        kept = {path: entry for path, entry in listing.items() if path not in {"/", *broken}}
        assert_same({path: whole[path] for path in kept}, kept)
    assert no_violations(guest.counters)


def test_the_segment_file(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """Nothing can be written without it, which the first change finds; all can be read."""
    flash = spoiled(lab, tmp_path, fstree, segment_file)
    change = Script()
    change.write("/new", 0, 5000, 1)
    change.line("sync")
    steps = [*load(CHIP), mount(), *LIST, f"{run(0)} may_fail=1", *LIST, f"{UMOUNT} may_fail=1"]
    steps += [mount(flags="ro"), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "second", fstree, steps, chip=CHIP, flash=flash,
                  scripts=[change])  # fmt: skip
    assert guest.step_errors("exec") != [""]
    assert "the segment file cannot be read" in guest.console
    for listing in guest.listings:
        assert_same(tree().listing(one_link=True), listing)
    assert len(guest.listings) == 3
    assert no_violations(guest.counters)


@pytest.mark.parametrize("damaged", ["first", "last", "all"])
@pytest.mark.parametrize("size", [100, 300_000])
def test_the_only_commit_of_an_image(
    lab: LabBuild, tmp_path: Path, fstree: Path, size: int, damaged: str
) -> None:
    """Without it the flash looks like a format that was cut off. The tree is not written over."""
    script = Script()
    script.write("/file", 0, size, 1)
    script.archive(tmp_path / "tree.tar")
    geometry = PageGeometry(CHIP.page_bytes, 0, CHIP.pages_per_block)
    options = MkfsOptions(CHIP.blocks * geometry.block_bytes, geometry=geometry)
    make_image(tmp_path / "tree.tar", tmp_path / "image", options)
    raw = (tmp_path / "image").read_bytes()
    flash = flash_of(raw, CHIP, tmp_path)
    journal = range(CHIP.pages_per_block, 2 * CHIP.pages_per_block)
    commit = [page for page in journal if raw[page * CHIP.page_bytes :][:64] != b"\xff" * 64]
    assert commit[0] == journal[0] and len(commit) < 8
    spoil_pages(flash, {"first": commit[:1], "last": commit[-1:], "all": commit}[damaged])
    steps = [*load(CHIP), mount(may_fail=True), mount(flags="ro", may_fail=True), CHIP_COUNTERS]
    guest = start(*(lab, tmp_path / "guest", fstree, steps), chip=CHIP, flash=flash, clean=False)
    assert guest.step_errors("mount") == ["EUCLEAN", "EUCLEAN"]
    assert guest.console.count("no commit in the journal can be used (-61): check the partit") == 2
    assert flash_contents(flash) == flash_contents(guest.flash)
    assert no_violations(guest.counters)
