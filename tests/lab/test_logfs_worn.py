"""LogFS and wear: a chip that is used until it can take no more, and wear that is spread.

The chip counts each block's erases itself: its flash file is the truth.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest
from fstree import Churn, Script, assert_same, errors_in, wrong_contents
from guest_programs import NIGHTLY
from logfs_guest import (
    CHIP_COUNTERS,
    LIST,
    STATE,
    UMOUNT,
    Chip,
    bad_blocks,
    erase_counts,
    failed_blocks,
    load,
    mount,
    no_violations,
    run,
    start,
)
from worn_images import kept_tree, worn_image

from ffslab.lab.lab_build import LabBuild
from ffslab.logfs.check import examine

KEPT = ("/d", "/d/kept", "/other")


# --- the end of a chip ---


WORN = {"endurance_cycles": 12}
FAILING: list[tuple[int, dict[str, object], str]] = [
    (1, dict(WORN), ""),
    (1, {"erase_fail_ppm": 100_000}, ""),
    (1, {"program_fail_ppm": 20_000}, "compress"),
]
if NIGHTLY:
    FAILING += [(seed, dict(WORN), "") for seed in range(2, 8)]
    FAILING += [(seed, {"erase_fail_ppm": 100_000}, "") for seed in range(2, 4)]
    FAILING += [(seed, {"program_fail_ppm": 5_000}, "") for seed in range(1, 4)]


@pytest.mark.parametrize(("seed", "faults", "options"), FAILING)
def test_a_worn_chip_ends_cleanly(
    lab: LabBuild,
    tmp_path: Path,
    fstree: Path,
    seed: int,
    faults: dict[str, object],
    options: str,
) -> None:
    """Writes fail at last, and what was synced before stays readable, then and later."""
    chip = Chip(blocks=40, seed=seed, faults=faults)
    churn = Churn("/busy", files=8, bytes=60_000, rounds=2000)
    tree, refused = kept_tree(300_000), Script()
    steps = [*load(chip), mount(options)]
    steps += [run(0), run(1), f"capture path={churn.result}", STATE, "drop-caches", *LIST]
    steps += [f"{UMOUNT} may_fail=1", mount(flags="ro"), *LIST, UMOUNT]
    steps += [mount(options), run(2), *LIST, f"{UMOUNT} may_fail=1", CHIP_COUNTERS]
    refused.line("read", "/mnt/d/kept", 0)
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip,
                  scripts=[tree, churn.script(), refused], limit_s=600)  # fmt: skip
    (text,) = guest.captures(churn.result)
    result = dict(line.split() for line in text.splitlines())
    state = guest.states[0]
    print(seed, faults, options, result, state["retired_segments"], state["journal_moved"],
          len(bad_blocks(guest.flash)), fmean(erase_counts(guest.flash)))  # fmt: skip
    assert int(result["errno"]) in (5, 28, 30)  # EIO, ENOSPC, EROFS
    assert int(result["rounds"]) or int(result["files"])
    assert len(failed_blocks(guest.flash)) > 5
    for listing in guest.listings:
        kept = {path: entry for path, entry in listing.items() if path in KEPT}
        assert_same(tree.listing(one_link=True), kept)
        assert errors_in(listing) == []
    assert wrong_contents(churn.contents(text), guest.listings[-1]) == []
    assert no_violations(guest.counters)
    guest.assert_sound()


# --- wear that is spread ---

CHIP = Chip(blocks=40)
LIMIT = 397  # erases that segments may be apart: kmod/logfs/core/gc.h
JOURNAL = (1, 2, 3, 4)


@pytest.mark.parametrize("apart", [LIMIT - 20, LIMIT + 20])
def test_what_never_changes_moves(lab: LabBuild, tmp_path: Path, fstree: Path, apart: int) -> None:
    """Free segments were erased that much more: every hundred erases one with old data is moved."""
    tree = kept_tree(300_000)
    flash = worn_image(tmp_path, CHIP, tree, journal=apart, free=1 + apart)
    hot = Churn("/busy", files=8, bytes=60_000, rounds=70)
    steps = [*load(CHIP), mount(), run(0), f"capture path={hot.result}", STATE, *LIST, UMOUNT]
    steps += [CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=CHIP, scripts=[hot.script()],
                  flash=flash)  # fmt: skip
    (state,) = guest.states
    cold = erase_counts(guest.flash)[5:7]  # full of what never changes
    print(apart, state["erasures"], state["wear_segments"], cold)
    assert state["erasures"] > 210
    if apart < LIMIT:
        assert state["wear_segments"] == 0 and cold == [0, 0]
    else:
        assert state["wear_segments"] == 2 and min(cold) >= 1
    kept = {path: entry for path, entry in guest.listings[0].items() if path in KEPT}
    assert_same(tree.listing(one_link=True), kept)
    assert no_violations(guest.counters)
    guest.assert_sound()


def test_the_wear_of_the_journal_is_bounded(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """It moves when its segments were erased twice the limit more often than others."""
    tree, before = kept_tree(300_000), 2 * LIMIT - 2
    flash = worn_image(tmp_path, CHIP, tree, journal=before)
    commits = Churn("/busy", files=1, bytes=4096, rounds=1000)
    steps = [*load(CHIP), mount(), run(0), STATE, *LIST, UMOUNT, mount(), STATE, *LIST, UMOUNT]
    steps += [CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=CHIP, scripts=[commits.script()],
                  flash=flash)  # fmt: skip
    first = guest.states[0]
    image = examine(guest.flash, guest.options())
    assert image.tree is not None
    mounted = image.tree.mounted
    erases = [mounted.entries[segno][0] >> 4 for segno in JOURNAL]
    print(first["commits"], first["journal_segments"], erases, mounted.superblock.journal_segnos)
    assert first["journal_moved"] == 1
    assert not {*mounted.superblock.journal_segnos} & {*JOURNAL}
    # Where it was: one of them may be erased once more before the last of them is above the limit.
    assert all(2 * LIMIT < count <= 2 * LIMIT + 6 for count in erases), erases
    for listing in guest.listings:
        kept = {path: entry for path, entry in listing.items() if path in KEPT}
        assert_same(tree.listing(one_link=True), kept)
    assert no_violations(guest.counters)
    guest.assert_sound()
