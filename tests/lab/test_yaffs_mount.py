"""Mounting YAFFS2: what is refused, what a mount may and may not change, checkpoints, options."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fstree import Churn, Script, assert_same
from yaffs_guest import (
    CHIP,
    CHIP_COUNTERS,
    LIST,
    MONITOR,
    STATE,
    UMOUNT,
    Chip,
    Guest,
    flash_contents,
    listing_steps,
    load,
    mount,
    no_violations,
    run,
    start,
    write_flash,
)

from ffslab.lab.lab_build import LabBuild
from ffslab.targets.uml.guests import WALL_CLOCK_START_NS
from ffslab.yaffs2.format import ObjectType
from ffslab.yaffs2.header import HeaderFields, pack_header
from ffslab.yaffs2.tags import header_tags
from ffslab.yaffs2.writer import LogWriter


def small_tree(script: Script, seed: int = 1) -> Script:
    script.mkdir("/d")
    script.write("/d/file", 0, 50_000, seed)
    script.write("/other", 0, 3000, seed + 1)
    script.setxattr("/other", "user.a", "b")
    script.symlink("d/file", "/link")
    script.link("/d/file", "/d/second")
    return script


def made(
    lab: LabBuild, directory: Path, program: Path, options: str = "", chip: Chip = CHIP
) -> tuple[Guest, Script]:
    """A guest that made a small tree and unmounted."""
    script = small_tree(Script())
    steps = [*load(chip), mount(options), run(0), *LIST, UMOUNT]
    return start(lab, directory, program, steps, chip=chip, scripts=[script]), script


# --- refused ---


@pytest.mark.parametrize(
    "options",
    [
        "none-such",
        "no-cache,none-such=1",
        "inband-tags=1",
        "tags-ecc",
        "no-checkpoint=",
        "gc_bound_us",
        "gc_bound_us=-1",
        "gc_bound_us=5000000000",
        "gc=clever",
    ],
)
def test_unknown_options_are_refused(
    lab: LabBuild, tmp_path: Path, fstree: Path, options: str
) -> None:
    first, script = made(lab, tmp_path / "first", fstree)
    steps = [*load(), mount(options, may_fail=True), mount(), *LIST, UMOUNT]
    second = start(lab, tmp_path / "second", fstree, steps, flash=first.flash)
    assert second.step_errors("mount") == ["EINVAL", ""]
    assert re.search(r"yaffs2: .*(none-such|inband-tags|tags-ecc|no-checkpoint|gc)", second.console)
    assert_same(script.listing(), second.listings[0])


@pytest.mark.parametrize(
    ("written", "mounted"),
    [
        ("", "inband-tags"),
        ("inband-tags", ""),
        ("disable-summary,no-checkpoint", "inband-tags"),
        ("inband-tags,disable-summary,no-checkpoint", ""),
        ("tags-ecc-off", "inband-tags"),
        ("inband-tags", "tags-ecc-off"),
    ],
)
@pytest.mark.parametrize("flags", ["", "ro"])
def test_another_tag_mode_is_refused(
    lab: LabBuild, tmp_path: Path, fstree: Path, written: str, mounted: str, flags: str
) -> None:
    """It would look like an empty file system, and the first writes would destroy what is there."""
    first, script = made(lab, tmp_path / "first", fstree, written)
    steps = [*load(), mount(mounted, flags=flags, may_fail=True)]
    second = start(lab, tmp_path / "second", fstree, steps, flash=first.flash)
    assert second.step_errors("mount") == ["EUCLEAN"]
    assert "without inband-tags" in second.console or "with inband-tags" in second.console
    assert flash_contents(first.flash) == flash_contents(second.flash)
    steps = [*load(), mount(written), *LIST, UMOUNT]
    third = start(lab, tmp_path / "third", fstree, steps, flash=second.flash)
    assert_same(script.listing(), third.listings[0])


def write_file_header(log: LogWriter, object_id: int, parent_id: int, name: bytes) -> None:
    fields = HeaderFields(
        ObjectType.FILE, parent_id, name, mode=stat.S_IFREG | 0o644, mtime=9, ctime=9, atime=9
    )
    words = header_tags(0, object_id, ObjectType.FILE, parent_id, size_or_target=0).words
    log.write(words, pack_header(fields))


@pytest.mark.parametrize("first", ["", "tags-ecc-off"], ids=["with-first", "without-first"])
def test_tags_with_and_without_ecc(lab: LabBuild, tmp_path: Path, fstree: Path, first: str) -> None:
    """Whoever forgets the option, or gives it later, loses nothing: it is read, or refused."""
    second = "" if first else "tags-ecc-off"
    parts = [Script(f"/mnt/{number}") for number in range(4)]
    steps = load()
    for number, options in enumerate([first, second, first, second]):
        parts[number].line("mkdir", f"/mnt/{number}", "755")
        small_tree(parts[number], seed=number)
        steps += [mount(options), run(number), *LIST, UMOUNT]
    guest = start(lab, tmp_path / "guest", fstree, steps, scripts=parts, passes=False)
    mounted = len(guest.listings)
    assert guest.step_errors("mount") == ["", "EUCLEAN"] if mounted == 1 else [""] * 4
    for number, script in enumerate(parts[:mounted]):
        start_of = f"/{number}/"
        below = {p[2:]: e for p, e in guest.listings[-1].items() if p.startswith(start_of)}
        assert_same(script.listing(), below)


@pytest.mark.parametrize(
    ("chip", "error", "message"),
    [
        (Chip(blocks=9), "ENOSPC", "fewer than 10 erase blocks"),
        (Chip(page_bytes=512, oob_bytes=16), "EINVAL", "pages of 512 bytes, fewer than 1024"),
    ],
    ids=["small-partition", "small-pages"],
)
def test_chips_that_cannot_hold_it(
    lab: LabBuild, tmp_path: Path, fstree: Path, chip: Chip, error: str, message: str
) -> None:
    guest = start(lab, tmp_path / "guest", fstree, [*load(chip), mount(may_fail=True)], chip=chip)
    assert guest.step_errors("mount") == [error]
    assert message in guest.console


def test_the_smallest_partition_works(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    chip = Chip(blocks=10)
    guest, script = made(lab, tmp_path / "first", fstree, chip=chip)
    guest.assert_sound()
    assert_same(script.listing(), guest.listings[0])


# --- names of the source, several mounts, modules ---


@pytest.mark.parametrize("source", ["mtd0", "mtd:data"])
def test_sources(lab: LabBuild, tmp_path: Path, fstree: Path, source: str) -> None:
    steps = [*load(), mount(source=source), STATE, UMOUNT]
    steps += [mount(source="mtd:none", may_fail=True), mount(source="mtd7", may_fail=True)]
    guest = start(lab, tmp_path / "guest", fstree, steps)
    assert guest.states[0]["blocks"] == 64
    # What is no MTD device Linux looks up as a block device's path.
    known = ("ENODEV", "EINVAL", "ENOENT")
    assert all(error in known for error in guest.step_errors("mount")[1:])


def test_several_mounts(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """Of one partition: the same file system once more. Of two partitions: two file systems."""
    chip = replace(CHIP, spare_blocks=64)
    script = Script()
    script.line("mount", "mtd:data", "/second", "yaffs2", "")
    script.line("mount-ro", "mtd:data", "/third", "yaffs2", "")
    script.line("!EROFS", "create", "/third/new", "644")
    small_tree(script)
    other = small_tree(Script("/rest"), seed=9)
    steps = [*load(chip), mount(), mount(source="mtd:rest").replace("/mnt", "/rest")]
    steps += [run(0), run(1), *listing_steps("/second"), *listing_steps("/rest"), STATE]
    steps += [
        "capture path=/proc/yaffs2/mtd1",
        "umount target=/second",
        "umount target=/third",
        *LIST,
    ]
    steps += ["umount target=/rest", UMOUNT, "capture path=/proc/mounts"]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip, scripts=[script, other])
    second, rest, last = guest.listings
    assert_same(script.listing(), second)
    assert_same(script.listing(), last)
    assert_same(other.listing(), rest)
    assert "yaffs2" not in guest.captures("/proc/mounts")[0]
    guest.assert_sound()


def test_the_module_unloads(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    script = small_tree(Script())
    steps = [*load(), mount(), run(0), "rmmod name=yaffs may_fail=1", *LIST, UMOUNT]
    steps += [f"{STATE} may_fail=1", "rmmod name=yaffs", "rmmod name=vnand"]
    steps += [*load(), mount(), *LIST, UMOUNT, "rmmod name=yaffs"]
    # The modules are loaded again, after programs.
    opened = ["host=open"]
    guest = start(lab, tmp_path / "guest", fstree, steps, scripts=[script], arguments=opened)
    assert guest.step_errors("rmmod") == ["EAGAIN", "", "", ""]
    assert guest.step_errors("capture")[1] == "ENOENT"  # after the unmount
    for listing in guest.listings:
        assert_same(script.listing(), listing)


# --- options and times as shown ---


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("", ""),
        ("inband-tags", "inband-tags"),
        ("tags-ecc-off", "tags-ecc-off"),
        ("tags-ecc-off,tags-ecc-on", ""),
        ("lazy-loading-off", "lazy-loading-off"),
        ("lazy-loading-on,empty-lost-and-found-off", ""),
        ("disable-summary,no-cache", "disable-summary,no-cache"),
        ("empty-lost-and-found-on", "empty-lost-and-found-on"),
        ("no-checkpoint-read", "no-checkpoint-read"),
        ("no-checkpoint-write", "no-checkpoint-write"),
        ("no-checkpoint-read,no-checkpoint-write", "no-checkpoint"),
        ("no-checkpoint", "no-checkpoint"),
        ("gc=predict,gc_bound_us=20000", "gc=predict,gc_bound_us=20000"),
        ("gc=original,gc_bound_us=0", ""),
    ],
)
def test_options_are_shown(
    lab: LabBuild, tmp_path: Path, fstree: Path, given: str, shown: str
) -> None:
    steps = [*load(), mount(given), "capture path=/proc/mounts", UMOUNT]
    guest = start(lab, tmp_path / "guest", fstree, steps)
    (line,) = [row for row in guest.captures("/proc/mounts")[0].splitlines() if " yaffs2 " in row]
    source, target, _, words, *_ = line.split()
    assert (source, target) == ("mtd:data", "/mnt")
    own = [word for word in words.split(",") if word not in ("rw", "noatime", "relatime")]
    assert own == shown.split(",") * bool(shown)


def test_a_geometry_without_room_for_tags_shows_inband(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    chip = Chip(1024, 32, 64, 64)
    steps = [*load(chip), mount(), STATE, "capture path=/proc/mounts", UMOUNT]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip)
    assert "inband-tags" in guest.captures("/proc/mounts")[0]
    assert guest.states[0]["inband_tags"] == 1
    assert guest.states[0]["chunk_bytes"] == 1008


def test_times_are_those_of_the_clock(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    now = WALL_CLOCK_START_NS // 10**9
    first, _ = made(lab, tmp_path / "first", fstree)
    steps = [*load(), mount(), *LIST, UMOUNT]
    second = start(lab, tmp_path / "second", fstree, steps, flash=first.flash)
    for path, entry in second.listings[0].items():
        for key in ("mtime", "ctime", "atime"):
            assert now <= entry[key] < now + 60, (path, key)


def test_a_remount_cannot_change_options(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    script = small_tree(Script())
    script.line("!EINVAL", "remount-rw", "/mnt", "no-cache")
    script.line("!EINVAL", "remount-ro", "/mnt", "inband-tags")
    script.line("!EINVAL", "remount-rw", "/mnt", "none-such")
    script.line("remount-rw", "/mnt", "")
    script.line("remount-rw", "/mnt", "tags-ecc-on")
    script.write("/after", 0, 10, 1)
    guest = start(lab, tmp_path / "guest", fstree, [*load(), mount(), run(0), *LIST, UMOUNT],
                  scripts=[script])  # fmt: skip
    assert_same(script.listing(), guest.listings[0])
    guest.assert_sound()


# --- read-only ---


def crashed(lab: LabBuild, directory: Path, program: Path) -> tuple[Guest, Script]:
    """A guest that was switched off, with files that are open and have no name."""
    script = small_tree(Script())
    for number in range(3):
        script.write(f"/gone{number}", 0, 20_000, seed=number)
        script.line("hold", f"/mnt/gone{number}")
        script.unlink(f"/gone{number}")
    script.line("sync")
    script.write("/last", 0, 4000, seed=5)
    script.line("fsync", "/mnt/last")
    guest = start(lab, directory, program, [*load(), mount(), run(0)], scripts=[script])
    assert guest.assert_sound().counts["object-unlinked"] == 3
    return guest, script


READ_ONLY = Script()
for _words in (
    ("create", "/mnt/new", "644"),
    ("write", "/mnt/other", 0, 10, 1),
    ("truncate", "/mnt/other", 1),
    ("unlink", "/mnt/other"),
    ("rename", "/mnt/other", "/mnt/renamed"),
    ("chmod", "/mnt/other", "600"),
    ("setxattr", "/mnt/other", "user.a", "c"),
    ("link", "/mnt/other", "/mnt/linked"),
):
    READ_ONLY.line(f"!EROFS {_words[0]}", *_words[1:])
READ_ONLY.line("read", "/mnt/other", 0)
READ_ONLY.line("syncfs", "/mnt")
READ_ONLY.line("sync")
READ_ONLY.line("sleep", 5000)


@pytest.mark.parametrize("clean", [True, False], ids=["unmounted", "crashed"])
@pytest.mark.parametrize("options", ["", "no-checkpoint-read", "lazy-loading-off,no-checkpoint"])
def test_a_read_only_mount_changes_nothing(
    lab: LabBuild, tmp_path: Path, fstree: Path, clean: bool, options: str
) -> None:
    make = made if clean else crashed
    first, script = make(lab, tmp_path / "first", fstree)
    steps = [*load(), mount(options, flags="ro"), run(0), *LIST, UMOUNT]
    second = start(lab, tmp_path / "second", fstree, steps, scripts=[READ_ONLY], flash=first.flash)
    assert_same(script.listing(), second.listings[0])
    assert flash_contents(first.flash) == flash_contents(second.flash)


def test_becoming_writable_finishes_the_recovery(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    first, script = crashed(lab, tmp_path / "first", fstree)
    remount = Script()
    remount.line("remount-rw", "/mnt", "")
    steps = [*load(), mount(flags="ro"), STATE, *LIST, run(0), STATE, *LIST, UMOUNT]
    second = start(lab, tmp_path / "second", fstree, steps, scripts=[remount], flash=first.flash)
    for listing in second.listings:
        assert_same(script.listing(), listing)
    before, after = second.states
    assert after["objects"] == before["objects"] - 3
    assert after["free_chunks"] > before["free_chunks"]
    assert "object-unlinked" not in second.assert_sound().counts


def test_becoming_read_only_puts_everything_on_flash(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    """With a checkpoint; and back, which makes that invalid before anything is written."""
    script = small_tree(Script())
    script.line("remount-ro", "/mnt", "")
    script.lines += READ_ONLY.lines
    expected = script.listing()
    again = Script()
    again.tree = script.tree
    again.line("remount-rw", "/mnt", "")
    again.write("/after", 0, 5000, 3)
    again.line("fsync", "/mnt/after")
    steps = [*load(), mount(), run(0)]
    first = start(lab, tmp_path / "first", fstree, steps, scripts=[script])
    report = first.assert_sound()
    assert report.checkpoint.state == "valid"
    steps = [*load(), mount(), STATE, *LIST, UMOUNT]
    second = start(lab, tmp_path / "second", fstree, steps, flash=first.flash)
    assert second.states[0]["mounted_by_checkpoint"] == 1
    steps = [*load(), mount(), run(0), run(1)]
    third = start(lab, tmp_path / "third", fstree, steps, scripts=[script, again])
    assert third.assert_sound().checkpoint.state != "valid"
    steps = [*load(), mount(), STATE, *LIST, UMOUNT]
    fourth = start(lab, tmp_path / "fourth", fstree, steps, flash=third.flash)
    assert fourth.states[0]["mounted_by_checkpoint"] == 0
    assert_same(expected, second.listings[0])
    assert_same(again.listing(), fourth.listings[0])


# --- checkpoints ---


CHANGES: dict[str, Callable[[Script], None]] = {
    "write": lambda script: script.write("/other", 10, 10, 7),
    "create": lambda script: script.create("/new"),
    "unlink": lambda script: script.unlink("/other"),
    "rename": lambda script: script.rename("/other", "/renamed"),
    "chmod": lambda script: script.chmod("/other", 0o600),
    "truncate": lambda script: script.truncate("/other", 0),
    "setxattr": lambda script: script.setxattr("/other", "user.c", "d"),
    "link": lambda script: script.link("/other", "/linked"),
    "mkdir": lambda script: script.mkdir("/new"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_checkpoint_is_erased_before_the_first_change(
    lab: LabBuild, tmp_path: Path, fstree: Path, change: str
) -> None:
    first, script = made(lab, tmp_path / "first", fstree)
    assert first.assert_sound().checkpoint.state == "valid"
    changes = Script()
    changes.tree = script.tree
    CHANGES[change](changes)
    steps = [*load(), *MONITOR, mount(), STATE, run(0), STATE]
    second = start(lab, tmp_path / "second", fstree, steps, scripts=[changes], flash=first.flash)
    report = second.assert_sound()
    assert report.checkpoint.state == "none"
    before, after = second.states
    assert (before["mounted_by_checkpoint"], before["checkpoint_blocks"]) == (1, 1)
    assert (after["checkpoints_invalidated"], after["checkpoint_blocks"]) == (1, 0)
    kinds = [kind for kind, _, _ in second.operations]
    assert kinds[0] == "erase" and "program" in kinds
    steps = [*load(), mount(), STATE, *LIST, UMOUNT]
    third = start(lab, tmp_path / "third", fstree, steps, flash=second.flash)
    assert third.states[0]["mounted_by_checkpoint"] == 0
    assert_same(changes.listing(), third.listings[0])


def test_a_checkpoint_of_several_blocks(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """Its first block is the first to be erased: the rest alone is not taken for one."""
    chip = Chip(1024, 64, 16, 512)
    script = Script()
    for number in range(1200):
        script.create(f"/file{number}")
    steps = [*load(chip), mount(), run(0), UMOUNT]
    first = start(lab, tmp_path / "first", fstree, steps, chip=chip, scripts=[script])
    assert first.assert_sound().checkpoint.state == "valid"
    change = Script()
    change.tree = script.tree
    change.create("/new")
    steps = [*load(chip), *MONITOR, mount(), STATE, run(0)]
    second = start(
        lab, tmp_path / "second", fstree, steps, chip=chip, scripts=[change], flash=first.flash
    )
    state = second.states[0]
    assert state["mounted_by_checkpoint"] == 1 and state["checkpoint_blocks"] > 2
    blocks = []
    for kind, block, _ in second.operations:
        if kind != "erase":
            break
        blocks.append(block)
    assert len(blocks) == state["checkpoint_blocks"] and blocks == sorted(blocks)
    second.assert_sound()


def test_reading_leaves_the_checkpoint_alone(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    first, script = made(lab, tmp_path / "first", fstree)
    reading = Script()
    reading.line("read", "/mnt/other", 0)
    reading.line("syncfs", "/mnt")
    reading.line("sleep", 60_000)
    steps = [*load(), mount(), *LIST, run(0), *LIST, STATE, CHIP_COUNTERS, UMOUNT, CHIP_COUNTERS]
    second = start(lab, tmp_path / "second", fstree, steps, scripts=[reading], flash=first.flash)
    assert flash_contents(first.flash) == flash_contents(second.flash)
    assert second.counters["programs"] == second.counters["erases"] == 0
    assert_same(script.listing(), second.listings[1])


@pytest.mark.parametrize(
    ("parameters", "written"),
    [("", [1, 2]), ("yaffs_auto_checkpoint=0", [0, 0]), ("yaffs_auto_checkpoint=4", [1, 1])],
    ids=["always", "never", "once"],
)
def test_sync_writes_a_checkpoint(
    lab: LabBuild, tmp_path: Path, fstree: Path, parameters: str, written: list[int]
) -> None:
    one, two = small_tree(Script()), Script()
    one.line("syncfs", "/mnt")
    two.tree = one.tree
    two.write("/more", 0, 10, 1)
    two.line("syncfs", "/mnt")
    two.line("syncfs", "/mnt")
    steps = [*load(yaffs=parameters), mount(), run(0), STATE, run(1), STATE]
    first = start(lab, tmp_path / "first", fstree, steps, scripts=[one, two])
    assert [state["checkpoints_written"] for state in first.states] == written
    first.assert_sound()
    steps = [*load(), mount(), STATE, *LIST, UMOUNT]
    second = start(lab, tmp_path / "second", fstree, steps, flash=first.flash)
    assert second.states[0]["mounted_by_checkpoint"] == (written[1] == 2)
    assert_same(two.listing(), second.listings[0])


def test_without_writing_checkpoints(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """One that is there is used, and erased by the first change like any other."""
    first, script = made(lab, tmp_path / "first", fstree)
    change = Script()
    change.tree = script.tree
    change.write("/more", 0, 10, 1)
    option = "no-checkpoint-write"
    steps = [*load(), mount(option), STATE, UMOUNT, mount(option), STATE, run(0), UMOUNT]
    steps += [mount(), STATE, *LIST, UMOUNT]
    second = start(lab, tmp_path / "second", fstree, steps, scripts=[change], flash=first.flash)
    assert [state["mounted_by_checkpoint"] for state in second.states] == [1, 1, 0]
    assert_same(change.listing(), second.listings[0])


# --- what a scan finds ---


VICTIMS: dict[str, Callable[[Script], None]] = {
    "directory": lambda script: script.mkdir("/victim"),
    "symlink": lambda script: script.symlink("x", "/victim"),
    "special": lambda script: script.mknod("/victim", stat.S_IFIFO | 0o644),
    "file": lambda script: script.write("/victim", 0, 5000, 2),
    "link": lambda script: script.link("/kept", "/victim"),
}


@pytest.mark.parametrize("kind", VICTIMS)
def test_what_was_deleted_stays_deleted(
    lab: LabBuild, tmp_path: Path, fstree: Path, kind: str
) -> None:
    """However often it is scanned, and whatever becomes of the page that says so.

    The old header is in a block full of live data, which nobody collects. The last one is in a
    block where everything else dies, and the background thread has the time to collect that.
    """
    script = Script()
    script.write("/kept", 0, 60 * 2048, 1)
    VICTIMS[kind](script)
    script.line("sync")
    if kind == "directory":
        script.rmdir("/victim")
    else:
        script.unlink("/victim")
    churn = Churn("/busy", files=3, bytes=40_000, rounds=10).script()
    churn.line("utimes", "/mnt", 1, 1)  # the root's header dies, too
    churn.line("utimes", "/mnt/kept", 1, 1)
    options = "no-checkpoint"
    steps = [*load(), mount(options), run(0), run(1), *LIST, UMOUNT]
    for _ in range(4):
        steps += [mount(options), *LIST, run(1), "sleep ms=20000", UMOUNT]
    guest = start(lab, tmp_path / "guest", fstree, steps, scripts=[script, churn])
    for listing in guest.listings:
        kept = {path: entry for path, entry in listing.items() if "busy" not in path}
        assert_same(script.listing(), kept)
    guest.assert_sound()


@pytest.mark.parametrize("emptied", [True, False], ids=["emptied", "kept"])
def test_objects_without_a_directory_go_to_lost_and_found(
    lab: LabBuild, tmp_path: Path, fstree: Path, emptied: bool
) -> None:
    raw, flash = tmp_path / "raw", tmp_path / "flash"
    with raw.open("wb") as file:
        log = LogWriter(file, CHIP.geometry())
        write_file_header(log, 300, 1, b"found")
        write_file_header(log, 301, 999, b"lost")
        log.write((302, 1, 5), b"data!")  # never had a header
        log.pad()
    write_flash(flash, CHIP, raw)
    options = "empty-lost-and-found-on" if emptied else ""
    steps = [*load(), mount(options, flags="ro"), *LIST, UMOUNT]
    steps += [mount(options), *LIST, UMOUNT, CHIP_COUNTERS, mount(options), *LIST, UMOUNT]
    guest = start(lab, tmp_path / "guest", fstree, steps, flash=flash)
    read_only, writable, again = guest.listings
    there = {"/", "/found", "/lost+found"}
    lost = {"/lost+found/lost", "/lost+found/obj302"}
    assert {*read_only} == there | lost
    assert {*writable} == {*again} == (there if emptied else there | lost)
    if not emptied:
        assert writable["/lost+found/obj302"]["size"] == 5
    assert no_violations(guest.counters)
