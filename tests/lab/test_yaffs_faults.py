"""YAFFS2 on a chip that fails: bad blocks, failed programs and erases, bit errors, wear.

The chip's faults are drawn from its seed, so every run meets the same. Each test makes sure that
what it is about really happened. Whatever happens, no rule of the chip is broken, the image is
sound, and no byte is ever wrong without an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fstree import Churn, Listing, Script, assert_same, errors_in, wrong_contents
from rich_trees import rich_tree
from yaffs_guest import (
    CHIP_COUNTERS,
    LIST,
    STATE,
    UMOUNT,
    Chip,
    Guest,
    bad_blocks,
    failed_blocks,
    load,
    mount,
    no_violations,
    run,
    start,
)

from ffslab.lab.lab_build import LabBuild

CHIP = Chip(blocks=72)
BUSY = Churn("/busy", files=40, bytes=60_000, rounds=12)
LATER = Churn("/later", files=10, bytes=60_000, rounds=30, seed=100_000)
RESULT = f"capture path={BUSY.result}"
LATER_RESULT = f"capture path={LATER.result}"
SYNC = "sync target=/mnt"
IDLE = "sleep ms=60000"


def with_faults(faults: Mapping[str, object], **chip: int) -> Chip:
    return replace(CHIP, faults=dict(faults), **chip)


def assert_right(guest: Guest, listings: Sequence[Listing], *churns: Churn) -> None:
    """No wrong byte in any listing of files that were churned before."""
    for churn in churns:
        files = churn.contents(guest.captures(churn.result)[0])
        assert files
        for listing in listings:
            assert wrong_contents(files, listing) == []


def mounted_bytes(guest: Guest) -> list[int]:
    """The size of the file system at each mount."""
    records = guest.boot.of_type("space")
    return [record["total_bytes"] for record in records if record["label"] == "mount"]


# --- blocks ---


@pytest.mark.parametrize("options", ["", "inband-tags"])
@pytest.mark.parametrize("bad", ["count:12", "0/1/2/3/4/70/71", "1/3/5/7/9/11/13/15/17/19/21"])
def test_bad_blocks_are_never_used(
    lab: LabBuild, tmp_path: Path, fstree: Path, bad: str, options: str
) -> None:
    chip = with_faults({"factory_bad": bad})
    script = Script()
    rich_tree(script, 2048 - (16 if options else 0))
    steps = [*load(chip), mount(options), run(0), run(1), RESULT, *LIST, UMOUNT]
    steps += [mount(options), STATE, *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip,
                  scripts=[script, BUSY.script()])  # fmt: skip
    for listing in guest.listings:
        tree = {path: entry for path, entry in listing.items() if "busy" not in path}
        assert_same(script.listing(), tree)
    assert_right(guest, guest.listings, BUSY)
    assert guest.states[0]["mounted_by_checkpoint"] == 1
    assert guest.states[0]["retired_blocks"] == 0
    count = len(bad_blocks(guest.flash))
    assert count == (12 if "count" in bad else len(bad.split("/")))
    assert mounted_bytes(guest)[0] == (chip.blocks - count) * 64 * (2032 if options else 2048)
    assert guest.counters["program_failures"] == guest.counters["erase_failures"] == 0
    assert no_violations(guest.counters)
    guest.assert_sound()


@pytest.mark.parametrize(
    "options", ["", "inband-tags", "no-checkpoint", "no-cache", "gc_bound_us=10000"]
)
@pytest.mark.parametrize(
    ("seed", "faults"),
    [
        (1, {"program_fail_ppm": 600}),
        (2, {"program_fail_ppm": 600}),
        (3, {"erase_fail_ppm": 20_000}),
    ],
    ids=["programs-1", "programs-2", "erases"],
)
def test_blocks_that_fail_are_retired(
    lab: LabBuild,
    tmp_path: Path,
    fstree: Path,
    options: str,
    seed: int,
    faults: dict[str, object],
) -> None:
    chip = with_faults(faults, seed=seed)
    script = Script()
    rich_tree(script, 2048 - (16 if "inband" in options else 0))
    # The changes of directories are on flash before the last listing.
    steps = [*load(chip), mount(options), STATE, run(0), run(1), RESULT, IDLE, STATE, *LIST, UMOUNT]
    steps += [mount(options), STATE, *LIST, UMOUNT, mount(f"{options},no-checkpoint-read"), *LIST]
    steps += [UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip,
                  scripts=[script, BUSY.script()])  # fmt: skip
    for listing in guest.listings:
        tree = {path: entry for path, entry in listing.items() if "busy" not in path}
        assert_same(script.listing(), tree)
    assert_right(guest, guest.listings, BUSY)

    counters = guest.counters
    fresh, worn, again = guest.states
    assert counters["program_failures"] + counters["erase_failures"] >= 2
    if "program_fail_ppm" in faults:
        assert worn["write_failures"] >= 2
    assert worn["retired_blocks"] >= 2
    assert failed_blocks(guest.flash) == bad_blocks(guest.flash)
    if "no-checkpoint" not in options:
        assert again["mounted_by_checkpoint"] == 1
    before, after, _ = mounted_bytes(guest)
    assert after <= before - worn["retired_blocks"] * 64 * fresh["chunk_bytes"]
    assert no_violations(counters)
    guest.assert_sound()


@pytest.mark.parametrize("seed", [1, 2])
def test_a_workload_on_a_failing_chip(
    lab: LabBuild, tmp_path: Path, fstree: Path, seed: int
) -> None:
    """FFSMark, which reads everything back; factory, program and erase failures together."""
    chip = with_faults(
        {"factory_bad": "count:5", "program_fail_ppm": 400, "erase_fail_ppm": 4000},
        blocks=128,
        seed=seed,
    )
    workload = "ffsmark dir=/mnt number=300 subdirectories=5 transactions=2000 verify=1 seed=1"
    workload += " valid_percent=30 invalid_percent=30"
    steps = [*load(chip), mount(), workload, STATE, UMOUNT, mount(), UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip)
    verify = [r for r in guest.boot.of_type("phase") if r["phase"] == "verify"]
    assert verify[0]["status"] == "ok" and verify[0]["files_read"] > 200
    assert guest.states[0]["retired_blocks"] > 3
    assert no_violations(guest.counters)
    guest.assert_sound()


# --- the end of a chip ---


@pytest.mark.parametrize("options", ["", "inband-tags", "no-checkpoint,disable-summary"])
@pytest.mark.parametrize(
    "faults",
    [{"endurance_cycles": 12}, {"erase_fail_ppm": 1_000_000}, {"program_fail_ppm": 20_000}],
    ids=["worn", "erases", "programs"],
)
def test_a_worn_chip_ends_cleanly(
    lab: LabBuild, tmp_path: Path, fstree: Path, options: str, faults: dict[str, object]
) -> None:
    """Writes fail at last, and what was synced before stays readable, then and later."""
    chip = with_faults(faults)
    churn = replace(BUSY, rounds=200)
    steps = [*load(chip), mount(options), run(0), RESULT, IDLE, STATE, "drop-caches", *LIST]
    steps += [f"{UMOUNT} may_fail=1", mount(options, flags="ro"), *LIST, UMOUNT]
    steps += [mount(f"{options},no-checkpoint-read"), *LIST, f"{UMOUNT} may_fail=1", CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip, scripts=[churn.script()])
    result = dict(line.split() for line in guest.captures(churn.result)[0].splitlines())
    assert int(result["errno"]) in (5, 28, 30)  # EIO, ENOSPC, EROFS
    assert int(result["rounds"]) >= 1
    assert guest.states[0]["retired_blocks"] > 20
    assert_right(guest, guest.listings, churn)
    assert [errors_in(listing) for listing in guest.listings] == [[]] * 3
    assert no_violations(guest.counters)
    guest.assert_sound()


def test_a_chip_that_takes_nothing(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    chip = with_faults({"program_fail_ppm": 1_000_000})
    script = Script()
    script.line("!ENOSPC", "create", "/mnt/file", "644")
    steps = [*load(chip), mount(), run(0), *LIST, UMOUNT, mount(), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip, scripts=[script])
    assert all({*listing} == {"/", "/lost+found"} for listing in guest.listings)
    assert no_violations(guest.counters)


# --- bit errors that ECC corrects ---

# Errors in an ECC step of 512 bytes: 0.25 on average. MTD reports three of the four that it can
# correct, and the file system moves what is near the limit; five hardly ever occur.
CORRECTABLE = {"rber_e12": 60_000_000, "ecc_strength_bits": 4}


@pytest.mark.parametrize("options", ["", "inband-tags"])
def test_corrected_blocks_are_moved(
    lab: LabBuild, tmp_path: Path, fstree: Path, options: str
) -> None:
    chip = with_faults(CORRECTABLE)
    churn = replace(BUSY, rounds=1)
    steps = [*load(chip), mount(f"{options},no-checkpoint"), run(0), RESULT, IDLE, "drop-caches"]
    steps += [STATE, *LIST, STATE, IDLE, "drop-caches", STATE, *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip, scripts=[churn.script()])
    before, read, moved = guest.states
    assert before["data_corrected"] == 0
    assert read["data_corrected"] > 3
    assert moved["gc_copies"] > read["gc_copies"] + 64
    assert_right(guest, guest.listings, churn)
    assert [errors_in(listing) for listing in guest.listings] == [[], []]
    assert guest.counters["bitflips_corrected"] > 100
    assert no_violations(guest.counters)
    guest.assert_sound()


@pytest.mark.parametrize("collects", [True, False], ids=["collecting", "control"])
@pytest.mark.parametrize("options", ["no-checkpoint", ""], ids=["no-checkpoint", "checkpoint"])
def test_reading_does_not_wear_out_data(
    lab: LabBuild, tmp_path: Path, fstree: Path, options: str, collects: bool
) -> None:
    """Read disturb: blocks that are read often are moved before their errors are too many.

    Without the collector they become unreadable, so the test can fail.
    """
    chip = with_faults({"rber_disturb_e12": 120_000_000, "ecc_strength_bits": 4})
    churn = replace(BUSY, files=10, rounds=1)
    steps = [*load(chip, f"yaffs_gc_control={int(collects)}"), mount(options), run(0), RESULT]
    for _ in range(40):
        steps += [*LIST[:1], "drop-caches", "sleep ms=10000"]
    steps += [*LIST, STATE, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip, scripts=[churn.script()])
    assert bool(errors_in(guest.listings[-1])) != collects
    assert_right(guest, guest.listings, churn)
    assert guest.states[0]["data_corrected"] > 3


# --- bit errors beyond ECC ---


@pytest.mark.parametrize(
    "options",
    ["", "no-checkpoint", "inband-tags", "lazy-loading-off", "disable-summary", "no-cache",
     "inband-tags,disable-summary", "gc_bound_us=10000"],
)  # fmt: skip
def test_unreadable_pages_are_errors_and_nothing_else(
    lab: LabBuild, tmp_path: Path, fstree: Path, options: str
) -> None:
    """One page in two hundred cannot be corrected. It is never taken for something else.

    Neither when it is read, nor when the collector works on its block, nor after a scan.
    """
    chip = with_faults({"rber_e12": 8_000_000, "ecc_strength_bits": 1})
    churn = replace(BUSY, rounds=2)
    steps = [*load(chip), mount(options), run(0), RESULT, "drop-caches", *LIST, IDLE]
    steps += [run(1), LATER_RESULT, IDLE, "drop-caches", *LIST, STATE, UMOUNT]
    steps += [mount(f"{options},no-checkpoint-read"), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip,
                  scripts=[churn.script(), LATER.script()])  # fmt: skip
    assert guest.counters["steps_uncorrectable"] > 5
    assert guest.states[0]["data_uncorrectable"] > 5
    assert guest.states[0]["gc_copies"] > 30
    first, second, third = guest.listings
    assert_right(guest, guest.listings, churn)
    assert_right(guest, [second, third], LATER)
    for listing in guest.listings:
        errors = errors_in(listing)
        assert 0 < len(errors) < 40 and {*errors} <= {"EIO", "EUCLEAN"}
        assert len([entry for entry in listing.values() if "error" in entry]) <= 3
    assert {path for path, entry in first.items() if entry.get("unreadable")} <= {
        path for path, entry in second.items() if entry.get("unreadable")
    }  # the collector healed none of them
    assert no_violations(guest.counters)
