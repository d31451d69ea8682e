"""LogFS on a chip that fails: superblocks and journal, which nothing stands behind, and the rest.

Blocks fail that a test names, or by a chance that is drawn from the chip's seed. Whatever happens,
no rule of the chip is broken, what was synced is there, and the image is sound.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fstree import Churn, Script, assert_same, errors_in, wrong_contents
from logfs_guest import (
    CHIP_COUNTERS,
    LIST,
    STATE,
    UMOUNT,
    Chip,
    Guest,
    bad_blocks,
    fail_blocks,
    failed_blocks,
    load,
    mount,
    no_violations,
    run,
    start,
    write_flash,
)
from worn_images import kept_tree, worn_image

from ffslab.lab.lab_build import LabBuild

CHIP = Chip(blocks=40)
FIRST, LAST = 0, CHIP.blocks - 1  # superblocks
JOURNAL = (1, 2, 3, 4)  # in this order
BUSY = Churn("/busy", files=8, bytes=60_000, rounds=12)
RESULT = f"capture path={BUSY.result}"


def assert_kept(guest: Guest, tree: Script, churn: Churn = BUSY) -> None:
    """In each listing: the tree, and what was churned as far as it went."""
    for listing in guest.listings:
        others = {path: entry for path, entry in listing.items() if churn.prefix not in path}
        assert_same(tree.listing(one_link=True), others)
        for result in guest.captures(churn.result):
            assert wrong_contents(churn.contents(result), listing) == []


def blank_flash(path: Path, chip: Chip) -> Path:
    empty = path.with_suffix(".raw")
    empty.write_bytes(b"")
    write_flash(path, chip, empty)
    return path


# --- superblocks and journal ---


@pytest.mark.parametrize("failing", [(FIRST,), (LAST,), (FIRST, LAST)])
def test_superblocks_that_cannot_be_written(
    lab: LabBuild, tmp_path: Path, fstree: Path, failing: tuple[int, ...]
) -> None:
    """The journal is to move. A superblock of which the erase fails still names the old one."""
    tree = kept_tree(100_000)
    flash = worn_image(tmp_path, CHIP, tree)
    fail_blocks(flash, failing)
    steps = [*load(CHIP), mount(), run(0), RESULT, STATE, UMOUNT, mount(), *LIST, UMOUNT]
    steps += [mount(flags="ro"), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=CHIP, scripts=[BUSY.script()],
                  flash=flash)  # fmt: skip
    (result,) = guest.captures(BUSY.result)
    assert result.split() == ["rounds", "12", "files", "0", "errno", "0"]
    assert guest.states[0]["erasures"] > CHIP.blocks  # the old journal's segments, too
    assert_kept(guest, tree)
    assert no_violations(guest.counters)
    guest.assert_sound()


@pytest.mark.parametrize("failing", [(2,), (2, 3), (1, 2)])
def test_segments_of_the_journal_that_fail_are_replaced(
    lab: LabBuild, tmp_path: Path, fstree: Path, failing: tuple[int, ...]
) -> None:
    flash = blank_flash(tmp_path / "flash", CHIP)
    fail_blocks(flash, failing)
    tree = kept_tree(100_000)
    steps = [*load(CHIP), mount(), run(0), run(1), RESULT, STATE, UMOUNT, mount(), *LIST, UMOUNT]
    steps += [CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=CHIP,
                  scripts=[tree, BUSY.script()], flash=flash)  # fmt: skip
    (result,) = guest.captures(BUSY.result)
    assert result.split() == ["rounds", "12", "files", "0", "errno", "0"]
    assert_kept(guest, tree)
    assert guest.states[0]["journal_moved"] >= 1
    assert failed_blocks(guest.flash) == bad_blocks(guest.flash) == {*failing}
    assert no_violations(guest.counters)
    guest.assert_sound()


def test_a_journal_that_cannot_go_on(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """The first segment is full, and no other can be written: read-only, and nothing is lost."""
    flash = blank_flash(tmp_path / "flash", CHIP)
    fail_blocks(flash, JOURNAL[1:])
    tree, refused = kept_tree(100_000), Script()
    refused.line("!EROFS", "create", "/mnt/new", "644")
    steps = [*load(CHIP), mount(), run(0), run(1), RESULT, run(2), f"{UMOUNT} may_fail=1"]
    steps += [mount(flags="ro"), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=CHIP, flash=flash,
                  scripts=[tree, BUSY.script(), refused])  # fmt: skip
    (result,) = guest.captures(BUSY.result)
    words = dict(line.split() for line in result.splitlines())
    assert words["errno"] in ("5", "30") and int(words["rounds"]) > 1  # EIO, EROFS
    assert "read-only from now on" in guest.console
    assert_kept(guest, tree)
    assert no_violations(guest.counters)
    guest.assert_sound()


# --- blocks of objects ---


@pytest.mark.parametrize(
    ("seed", "faults"),
    [
        (1, {"program_fail_ppm": 600}),
        (2, {"program_fail_ppm": 600}),
        (3, {"program_fail_ppm": 300, "factory_bad": "count:2"}),
        (4, {"erase_fail_ppm": 20_000}),
        (5, {"erase_fail_ppm": 20_000, "factory_bad": "0/1/3/39"}),
        (6, {"program_fail_ppm": 300, "erase_fail_ppm": 10_000}),
    ],
    ids=["programs-1", "programs-2", "programs-bad", "erases", "erases-bad", "both"],
)
def test_a_partition_that_is_nearly_full_and_fails(
    lab: LabBuild, tmp_path: Path, fstree: Path, seed: int, faults: dict[str, object]
) -> None:
    """Overwritten again and again; of all listings the last is of another guest."""
    chip = Chip(blocks=48, seed=seed, faults=faults)
    churn = Churn("/busy", files=8, bytes=110_000, rounds=25)
    tree = kept_tree(100_000)
    steps = [*load(chip), mount(), run(0), run(1), f"capture path={churn.result}", STATE]
    steps += [*LIST, UMOUNT, mount(), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip,
                  scripts=[tree, churn.script()])  # fmt: skip
    (result,) = guest.captures(churn.result)
    print(seed, result.split(), guest.states[0]["retired_segments"])
    assert result.split() == ["rounds", "25", "files", "0", "errno", "0"]
    assert_kept(guest, tree, churn)
    counters = guest.counters
    assert counters["program_failures"] + counters["erase_failures"] >= 2
    assert failed_blocks(guest.flash) <= bad_blocks(guest.flash)
    assert no_violations(counters)
    guest.assert_sound()


def test_a_chip_that_takes_nothing(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    chip = Chip(faults={"program_fail_ppm": 1_000_000})
    steps = [*load(chip), *(mount(may_fail=True) for _ in range(3)), CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip)
    assert guest.step_errors("mount") == ["EIO"] * 3
    assert "cannot be formatted" in guest.console
    assert no_violations(guest.counters)


@pytest.mark.parametrize("failing", [(FIRST,), (LAST,), (FIRST, 1, 2)])
def test_a_format_passes_over_blocks_that_fail(
    lab: LabBuild, tmp_path: Path, fstree: Path, failing: tuple[int, ...]
) -> None:
    flash = blank_flash(tmp_path / "flash", CHIP)
    fail_blocks(flash, failing)
    tree = kept_tree(100_000)
    steps = [*load(CHIP), mount(), run(0), *LIST, UMOUNT, mount(), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=CHIP, scripts=[tree], flash=flash)
    assert_kept(guest, tree)
    assert no_violations(guest.counters)
    guest.assert_sound()


# --- bits ---

# As for YAFFS2 (test_yaffs_faults.py): MTD reports three of the four errors of a step that it
# can correct; and one page in two hundred, or so, is beyond ECC.
CORRECTABLE = {"rber_e12": 60_000_000, "ecc_strength_bits": 4}
UNCORRECTABLE = {"rber_e12": 12_000_000, "ecc_strength_bits": 1}


def test_segments_with_bit_errors_are_cleaned(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """All of those that one reading of the files met."""
    chip = Chip(seed=2, faults=dict(CORRECTABLE))
    tree = kept_tree(100_000)
    steps = [*load(chip), mount(), run(0), run(1), RESULT, "drop-caches", *LIST, STATE, run(2)]
    steps += [STATE, UMOUNT, mount(), *LIST, UMOUNT, CHIP_COUNTERS]
    sync = Script()
    for _ in range(6):
        sync.line("write", "/mnt/d/kept", 0, 4096, 1)
        sync.line("sync")
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip,
                  scripts=[tree, BUSY.script(), sync])  # fmt: skip
    before, after = guest.states
    print({key: (before[key], after[key]) for key in ("bits_corrected", "scrubbed_segments")})
    assert before["bits_corrected"] > 5
    assert after["scrubbed_segments"] >= 3
    assert_kept(guest, tree)
    assert [errors_in(listing) for listing in guest.listings] == [[]] * 2
    assert no_violations(guest.counters)
    guest.assert_sound()


@pytest.mark.parametrize("cleans", [True, False], ids=["used", "only-read"])
def test_reading_does_not_wear_out_data(
    lab: LabBuild, tmp_path: Path, fstree: Path, cleans: bool
) -> None:
    """Read disturb: what is read often is moved, if anything is written now and then.

    A read-only mount moves nothing, so there it becomes unreadable.
    """
    chip = Chip(faults={"rber_disturb_e12": 120_000_000, "ecc_strength_bits": 4})
    tree, written = kept_tree(100_000), Script()
    written.line("write", "/mnt/d/kept", 0, 4096, 1)
    written.line("sync")
    steps = [*load(chip), mount(), run(0), UMOUNT, mount(flags="" if cleans else "ro")]
    for _ in range(80):
        steps += [*LIST, "drop-caches", CHIP_COUNTERS, *([run(1)] if cleans else [])]
    steps += [STATE]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip, scripts=[tree, written],
                  passes=cleans)  # fmt: skip
    errors = [name for listing in guest.listings for name in errors_in(listing)]
    ended = guest.boot.of_type("end")[0]["status"] == "ok"  # or the root could not be listed
    assert (ended and not errors) == cleans, errors
    if cleans:
        assert guest.states[0]["scrubbed_segments"] > 0
    assert no_violations(guest.counters)


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_unreadable_pages_are_errors_and_nothing_else(
    lab: LabBuild, tmp_path: Path, fstree: Path, seed: int
) -> None:
    """Whatever it meets, no byte is wrong, and a later mount says the same or refuses."""
    chip = Chip(seed=seed, faults=dict(UNCORRECTABLE))
    steps = [*load(chip), mount(), run(0), RESULT, "drop-caches", *LIST, STATE]
    steps += [f"{UMOUNT} may_fail=1", mount(may_fail=True), *LIST]
    steps += [f"{UMOUNT} may_fail=1", CHIP_COUNTERS]
    churn = replace(BUSY, files=40, rounds=2)
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip, scripts=[churn.script()])
    files = churn.contents(guest.captures(churn.result)[0])
    assert files
    assert guest.counters["steps_uncorrectable"] > 5
    first, second = guest.listings
    is_mounted = guest.step_errors("mount")[1] == ""
    for listing in (first, second) if is_mounted else (first,):
        errors = errors_in(listing)
        print(seed, is_mounted, errors)
        assert {*errors} <= {"EIO", "EUCLEAN", "EBADMSG"}
        known = {path: one for path, one in files.items() if path in listing}
        assert wrong_contents(known, listing) == []
    assert no_violations(guest.counters)
