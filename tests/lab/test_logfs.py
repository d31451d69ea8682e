"""LogFS in the lab: what it writes the checker reads, and what mkfs makes it reads; mounts,
crashes, full partitions, bad blocks, compression.

Single behaviours and histories of thousands of operations are in test_posix.py and test_history.py.
"""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest
from fstree import Churn, Listing, Script, assert_same, wrong_contents
from logfs_guest import (
    CHIP,
    CHIP_COUNTERS,
    LIST,
    STATE,
    UMOUNT,
    Chip,
    Guest,
    bad_blocks,
    flash_contents,
    load,
    mount,
    no_violations,
    run,
    start,
    write_flash,
)
from rich_trees import LOGFS, overwritten_files, rich_tree

from ffslab.lab.lab_build import LabBuild
from ffslab.logfs.image import PageGeometry
from ffslab.logfs.mkfs import MkfsOptions, make_image
from ffslab.oracle.promises import promise_of

GEOMETRIES = {
    "2048x64": CHIP,
    "512x32": Chip(512, 16, 32, 512),  # eight erase blocks are a segment
    "4096x64": Chip(4096, 128, 64, 40),
    "8192x128": Chip(8192, 448, 128, 32),
}
BUSY = Churn("/busy", files=8, bytes=200_000, rounds=12)
RESULT = f"capture path={BUSY.result}"


def rich_script() -> Script:
    script = Script()
    rich_tree(script, 4096, limits=LOGFS)
    return script


def small_tree(script: Script) -> Script:
    script.mkdir("/d")
    script.write("/d/file", 0, 50_000, 1)
    script.write("/other", 0, 3000, 2)
    script.symlink("d/file", "/link")
    script.link("/d/file", "/d/second")
    return script


def assert_tree(script: Script, listing: Listing) -> None:
    others = {path: entry for path, entry in listing.items() if not path.startswith("/busy")}
    assert_same(script.listing(one_link=True), others)


# --- the format ---


@pytest.mark.parametrize("options", ["", "compress"])
@pytest.mark.parametrize("chip", GEOMETRIES.values(), ids=GEOMETRIES)
def test_the_checker_reads_what_the_module_writes(
    lab: LabBuild, tmp_path: Path, fstree: Path, chip: Chip, options: str
) -> None:
    """And so does the module itself, in another guest, read-only and writable."""
    script = rich_script()
    steps = [*load(chip), mount(options), run(0), *LIST, UMOUNT, CHIP_COUNTERS]
    first = start(lab, tmp_path / "first", fstree, steps, chip=chip, scripts=[script])
    assert_tree(script, first.listings[0])
    report = first.assert_sound()
    assert not report.warnings, report.text()
    assert_same(first.listings[0], first.image_listing())
    assert no_violations(first.counters)
    steps = [*load(chip), mount(flags="ro"), *LIST, UMOUNT, mount(), *LIST, UMOUNT]
    second = start(lab, tmp_path / "second", fstree, steps, chip=chip, flash=first.flash)
    for listing in second.listings:
        assert_same(first.listings[0], listing)
    second.assert_sound()


@pytest.mark.parametrize("compress", [False, True], ids=["plain", "compressed"])
def test_the_module_reads_what_mkfs_makes(
    lab: LabBuild, tmp_path: Path, fstree: Path, compress: bool
) -> None:
    script = small_tree(Script())
    archive, raw, flash = tmp_path / "tree.tar", tmp_path / "raw", tmp_path / "flash"
    for path in script.tree:
        script.utimes(path, 1_234_567_890, 1_234_567_890)
    script.archive(archive)
    geometry = PageGeometry(CHIP.page_bytes, CHIP.oob_bytes, CHIP.pages_per_block)
    partition = CHIP.blocks * CHIP.page_bytes * CHIP.pages_per_block
    make_image(archive, raw, MkfsOptions(partition, geometry=geometry, compress=compress))
    write_flash(flash, CHIP, raw)
    more = Script()
    more.write("/more", 0, 100_000, 9)
    steps = [*load(), mount(), *LIST, run(0), *LIST, UMOUNT]
    guest = start(lab, tmp_path / "guest", fstree, steps, flash=flash, scripts=[more])
    assert_tree(script, guest.listings[0])
    assert_same(guest.listings[1], guest.image_listing())
    guest.assert_sound()


# --- mounts ---


def test_a_read_only_mount_changes_nothing(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """After a crash, too, when a writable one would recover."""
    script = small_tree(Script())
    script.line("sync")
    first = start(lab, tmp_path / "first", fstree, [*load(), mount(), run(0)], scripts=[script])
    refused = Script()
    refused.line("!EROFS create", "/mnt/new", "644")
    refused.line("!EROFS unlink", "/mnt/other")
    refused.line("fsync", "/mnt/other")
    refused.line("sync")
    steps = [*load(), mount(flags="ro"), run(0), *LIST, UMOUNT]
    second = start(lab, tmp_path / "second", fstree, steps, flash=first.flash, scripts=[refused])
    assert_tree(script, second.listings[0])
    assert flash_contents(first.flash) == flash_contents(second.flash)


def test_remounts(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    script = small_tree(Script())
    script.line("!EINVAL", "remount-rw", "/mnt", "none-such")
    script.line("remount-ro", "/mnt", "")
    script.line("!EROFS create", "/mnt/new", "644")
    script.line("remount-rw", "/mnt", "")
    script.write("/after", 0, 10, 1)
    steps = [*load(), mount(), run(0), *LIST, UMOUNT]
    guest = start(lab, tmp_path / "guest", fstree, steps, scripts=[script])
    assert_tree(script, guest.listings[0])
    assert_same(guest.listings[0], guest.image_listing())
    guest.assert_sound()


@pytest.mark.parametrize("options", ["none-such", "compress=1", "compress,none-such"])
def test_unknown_options_are_refused(
    lab: LabBuild, tmp_path: Path, fstree: Path, options: str
) -> None:
    steps = [*load(), mount(options, may_fail=True), mount(), UMOUNT]
    guest = start(lab, tmp_path / "guest", fstree, steps)
    assert guest.step_errors("mount") == ["EINVAL", ""]


def test_what_is_no_logfs_is_refused(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """Read-only an erased partition, and one with other contents whatever the mount."""
    steps = [*load(), mount(flags="ro", may_fail=True)]
    erased = start(lab, tmp_path / "erased", fstree, steps)
    assert erased.step_errors("mount") == ["EINVAL"]
    assert "mkfs logfs" in erased.console
    raw, flash = tmp_path / "raw", tmp_path / "flash"
    raw.write_bytes(b"something else" * 500_000)
    write_flash(flash, CHIP, raw)
    steps = [*load(), *(mount(flags=flags, may_fail=True) for flags in ("", "ro"))]
    other = start(lab, tmp_path / "other", fstree, steps, flash=flash)
    assert other.step_errors("mount") == ["EINVAL", "EINVAL"]
    assert flash_contents(flash) == flash_contents(other.flash)


def test_a_partition_that_is_too_small(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    chip = Chip(blocks=20)
    steps = [*load(chip), mount(may_fail=True)]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip)
    assert guest.step_errors("mount")[0] in ("EINVAL", "ENOSPC")


# --- crashes ---


@pytest.mark.parametrize("last", ["sync", "fsync"])
def test_what_was_synced_survives_a_crash(
    lab: LabBuild, tmp_path: Path, fstree: Path, last: str
) -> None:
    """An fsync of one file makes all names last, and the contents of that file."""
    script = rich_script()
    script.line("sync")
    if last == "fsync":
        script.mkdir("/late")
        script.write("/late/file", 0, 30_000, 7)
        script.rename("/late/file", "/late/renamed")
        script.line("fsync", "/mnt/late/renamed")
    lost = Script()
    lost.write("/busy-lost", 0, 10_000, 8)
    steps = [*load(), mount(), run(0), run(1)]
    first = start(lab, tmp_path / "first", fstree, steps, scripts=[script, lost])
    first.assert_sound()
    steps = [*load(), mount(flags="ro"), *LIST, UMOUNT, mount(), *LIST, UMOUNT, CHIP_COUNTERS]
    second = start(lab, tmp_path / "second", fstree, steps, flash=first.flash)
    for listing in second.listings:
        assert_tree(script, listing)
    second.assert_sound()
    assert no_violations(second.counters)


def test_a_crash_amid_work_leaves_a_sound_file_system(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    """Garbage was collected, and everything was synchronous."""
    script = overwritten_files(files=35, count=1500, seed=1)
    steps = [*load(), mount(flags="sync"), run(0), STATE]
    first = start(lab, tmp_path / "first", fstree, steps, scripts=[script])
    assert first.states[0]["gc_segments"] > 10, first.states
    first.assert_sound()
    steps = [*load(), mount(), *LIST, UMOUNT, CHIP_COUNTERS]
    second = start(lab, tmp_path / "second", fstree, steps, flash=first.flash)
    assert_tree(script, second.listings[0])
    second.assert_sound()
    assert no_violations(second.counters)


# --- space ---


def test_a_full_partition(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """What was written until it was full is there; when it is deleted the space is back."""
    script = small_tree(Script())
    fill = Churn("/busy", files=1000, bytes=100_000, rounds=1)
    capture = f"capture path={fill.result}"
    steps = [*load(), mount(), run(0), run(1), capture, *LIST, UMOUNT, mount(), *LIST, UMOUNT]
    first = start(lab, tmp_path / "first", fstree, steps, scripts=[script, fill.script()])
    (result,) = first.captures(fill.result)
    ended = {key: int(value) for key, value in map(str.split, result.splitlines())}
    assert ended["errno"] == errno.ENOSPC
    for listing in first.listings:
        assert_tree(script, listing)
        assert not wrong_contents(fill.contents(result), listing)
    first.assert_sound()

    empty = Script()
    for path in first.listings[-1]:
        if path.startswith("/busy"):
            empty.line("unlink", f"/mnt{path}")
    steps = [*load(), mount(), run(0), *LIST, run(1), capture, UMOUNT, CHIP_COUNTERS]
    again = [empty, fill.script()]
    second = start(lab, tmp_path / "second", fstree, steps, scripts=again, flash=first.flash)
    assert not any(path.startswith("/busy") for path in second.listings[0])
    (result,) = second.captures(fill.result)
    assert int(dict(map(str.split, result.splitlines()))["files"]) >= ended["files"] - 1
    second.assert_sound()
    assert no_violations(second.counters)


def test_from_inode_512_on_a_file_takes_a_block_of_pointers_more(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    """Without any cut; with the file it goes, so nothing is lost. The judge of many cuts knows."""
    written, deleted = {}, {}
    for earlier in (0, 494, 495, 1100):  # the first is inode 17
        many, one, none = Script(), Script(), Script()
        for _ in range(earlier):
            many.create("/before")
            many.unlink("/before")
        one.write("/file", 0, 100_000, 1)
        one.line("sync")
        none.line("unlink", "/mnt/file")
        none.line("sync")
        steps = [*load(), mount(), run(0), run(1), STATE, *LIST, run(2), STATE, UMOUNT]
        scripts = [many, one, none]
        guest = start(lab, tmp_path / f"guest{earlier}", fstree, steps, scripts=scripts)
        ino = guest.listings[0]["/file"]["ino"]
        written[ino], deleted[ino] = (state["used_bytes"] for state in guest.states)
        guest.assert_sound()
    assert [*written] == [17, 511, 512, 1117]
    assert len({*deleted.values()}) == 1
    block = 28 + promise_of("logfs").growth_bytes  # with the header of its object
    assert [used - written[17] for used in written.values()] == [0, 0, block, block]


def test_compression_takes_less_flash(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    programs = {}
    for options in ("", "compress"):
        script = Script()
        script.write("/file", 0, 1_000_000, 3)
        script.line("sync")
        steps = [*load(), mount(options), run(0), *LIST, UMOUNT, CHIP_COUNTERS]
        guest = start(lab, tmp_path / f"guest{options}", fstree, steps, scripts=[script])
        assert_tree(script, guest.listings[0])
        programs[options] = guest.counters["programs"]
    # Records of 16 characters of which few differ.
    assert programs["compress"] < programs[""] / 2


# --- blocks ---


@pytest.mark.parametrize("bad", ["count:12", "0/1/2/3/4/62/63", "1/3/5/7/9/11/13/15/17/19/21"])
def test_bad_blocks_are_never_used(lab: LabBuild, tmp_path: Path, fstree: Path, bad: str) -> None:
    chip = Chip(faults={"factory_bad": bad})
    script = rich_script()
    steps = [*load(chip), mount(), run(0), run(1), RESULT, *LIST, UMOUNT]
    steps += [mount(), STATE, *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(
        lab, tmp_path / "guest", fstree, steps, chip=chip, scripts=[script, BUSY.script()]
    )
    for listing in guest.listings:
        assert_tree(script, listing)
        assert not wrong_contents(BUSY.contents(guest.captures(BUSY.result)[0]), listing)
    assert guest.states[0]["retired_segments"] == 0
    assert len(bad_blocks(guest.flash)) == (12 if "count" in bad else len(bad.split("/")))
    assert no_violations(guest.counters)
    guest.assert_sound()


@pytest.mark.parametrize(
    "faults",
    [{"program_fail_ppm": 400}, {"erase_fail_ppm": 20_000}],
    ids=["programs", "erases"],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_segments_that_fail_are_retired(
    lab: LabBuild, tmp_path: Path, fstree: Path, faults: dict[str, object], seed: int
) -> None:
    chip = Chip(blocks=96, seed=seed, faults=faults)
    script = small_tree(Script())
    churn = Churn("/busy", files=8, bytes=200_000, rounds=20)
    steps = [*load(chip), mount(), run(0), run(1), f"capture path={churn.result}", STATE, *LIST]
    steps += [UMOUNT, mount(), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(
        lab,
        tmp_path / "guest",
        fstree,
        steps,
        chip=chip,
        scripts=[script, churn.script()],
        clean=False,
    )
    for listing in guest.listings:
        assert_tree(script, listing)
        assert not wrong_contents(churn.contents(guest.captures(churn.result)[0]), listing)
    assert guest.states[0]["retired_segments"] > 0
    failures = guest.counters["program_failures"] + guest.counters["erase_failures"]
    assert failures > 0
    assert no_violations(guest.counters)
    guest.assert_sound()


def test_the_state_is_shown(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    script = small_tree(Script())
    steps = [*load(), mount(), run(0), "sync", STATE, UMOUNT]
    guest: Guest = start(lab, tmp_path / "guest", fstree, steps, scripts=[script])
    (state,) = guest.states
    assert state["commits"] >= 1
    assert state["used_bytes"] > 53_000
    assert re.fullmatch(r"[a-z0-9_ \n]+", guest.captures("/proc/logfs/mtd0")[0])
