"""YAFFS2 with layout=segregated: docs/yaffs2-segregated.md.

What all layouts have to do is tested where it is for the plain one, with this one among the
options; here is what only this one does.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from fstree import LOST_FOUND, Listing, Script, assert_same
from random_tree import Limits, RandomOperations
from rich_trees import overwritten_files, rich_tree
from yaffs_guest import (
    CHIP,
    CHIP_COUNTERS,
    LIST,
    STATE,
    UMOUNT,
    Chip,
    erase_counts,
    flash_contents,
    load,
    mount,
    no_violations,
    run,
    start,
)

from ffslab.lab.lab_build import LabBuild

LAYOUT = "layout=segregated"
WAYS = [
    "",
    "no-checkpoint-read",
    "disable-summary",
    "lazy-loading-off",
    "no-checkpoint-read,no-cache",
]
LARGE = Chip(blocks=256)


def without_lost_found(listing: Listing) -> Listing:
    return {path: entry for path, entry in listing.items() if path not in ("/", LOST_FOUND)}


@pytest.mark.parametrize("chip", [CHIP, Chip(1024, 32, 32, 128), Chip(4096, 128, 64, 64)])
@pytest.mark.parametrize("mode", ["", ",inband-tags"])
def test_a_tree_comes_back_by_every_way(
    lab: LabBuild, tmp_path: Path, fstree: Path, chip: Chip, mode: str
) -> None:
    options = LAYOUT + mode
    script = Script()
    rich_tree(script, chip.page_bytes - 16 * bool(mode))
    steps = [*load(chip), mount(options), run(0), *LIST, UMOUNT]
    for way in WAYS:
        steps += [mount(f"{options},{way}" if way else options), *LIST, STATE, UMOUNT]
    steps += [mount(options, flags="ro"), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip, scripts=[script])
    for listing in guest.listings:
        assert_same(script.listing(), listing)
    assert [state["mounted_by_checkpoint"] for state in guest.states] == [1, 0, 1, 1, 0]
    assert no_violations(guest.counters)


@pytest.mark.parametrize("seed", range(1, 9))
def test_random_operations_then_a_crash(
    lab: LabBuild, tmp_path: Path, fstree: Path, seed: int
) -> None:
    """Nothing that was synced is missing; two mounts in a row see the same."""
    script = Script()
    RandomOperations(script, Random(seed), Limits(2048)).add(2500)
    script.line("sync")
    chip = Chip(2048, 64, 16, 88)
    steps = [*load(chip), mount(f"{LAYOUT},no-checkpoint"), run(0), *LIST, STATE]
    first = start(lab, tmp_path / "first", fstree, steps, chip=chip, scripts=[script])
    assert first.states[0]["gc_copies"] > 100
    assert_same(script.listing(), first.listings[0])
    steps = [*load(chip), mount(LAYOUT, flags="ro"), *LIST, UMOUNT, mount(LAYOUT), *LIST]
    steps += [UMOUNT, mount(LAYOUT), *LIST, UMOUNT, mount(f"{LAYOUT},no-checkpoint-read"), *LIST]
    steps += [UMOUNT, CHIP_COUNTERS]
    second = start(lab, tmp_path / "second", fstree, steps, chip=chip, flash=first.flash)
    for listing in second.listings:
        assert_same(script.listing(), listing)
    assert no_violations(second.counters)
    assert "entries of files' indices" not in second.console


@pytest.mark.parametrize(("written", "mounted"), [("", LAYOUT), (LAYOUT, "")])
@pytest.mark.parametrize("way", ["", ",no-checkpoint"])
def test_the_other_layout_is_refused(
    lab: LabBuild, tmp_path: Path, fstree: Path, written: str, mounted: str, way: str
) -> None:
    script = Script()
    script.write("/file", 0, 300_000, 1)
    steps = [*load(), mount(written + way if written else way[1:]), run(0), UMOUNT]
    first = start(lab, tmp_path / "first", fstree, steps, scripts=[script])
    steps = [*load(), mount(mounted, may_fail=True), mount(mounted, flags="ro", may_fail=True)]
    second = start(lab, tmp_path / "second", fstree, steps, flash=first.flash)
    assert second.step_errors("mount") == ["EUCLEAN", "EUCLEAN"]
    word = "without" if mounted else "with"
    assert f"mount it {word} layout=segregated" in second.console
    assert flash_contents(first.flash) == flash_contents(second.flash)


def overwritten_large_file(count: int) -> Script:
    """Its index has several pages, which are written when they must be, and not with its header."""
    random = Random(3)
    script = Script()
    script.write("/large", 0, 6_000_000, 1)
    for number in range(count):
        script.write("/large", random.randrange(1460) * 4096, 4096, number)
    return script


@pytest.mark.parametrize(
    ("way", "pages_of_a_block"), [("", 1), (",disable-summary", LARGE.pages_per_block)]
)
def test_a_mount_after_a_crash_reads_little(
    lab: LabBuild, tmp_path: Path, fstree: Path, way: str, pages_of_a_block: int
) -> None:
    """The first tags of each block, the metadata, and half of the blocks at most for data."""
    script = overwritten_large_file(4500)
    steps = [*load(LARGE), mount(f"{LAYOUT},no-checkpoint{way}"), run(0), STATE]
    first = start(lab, tmp_path / "first", fstree, steps, chip=LARGE, scripts=[script])
    (state,) = first.states
    # Headers without their summaries; those that are there now are fewer.
    metadata_blocks = state["header_writes"] // LARGE.pages_per_block + 2
    assert state["index_writes"] > 6
    steps = [*load(LARGE), mount(LAYOUT + way, flags="ro"), CHIP_COUNTERS, *LIST]
    second = start(lab, tmp_path / "second", fstree, steps, chip=LARGE, flash=first.flash)
    assert_same(script.listing(), second.listings[0])
    # Of an erased block the mount asks two pages.
    most = 2 * LARGE.blocks + state["objects"] + 2 * metadata_blocks
    most += (LARGE.blocks // 2 + 2) * pages_of_a_block + 2 * LARGE.pages_per_block
    reads = second.counters["array_reads"]
    print(reads, most)
    # Some tens of blocks are newer than the index.
    assert LARGE.blocks + 20 * pages_of_a_block < reads <= most


def test_a_checkpoint_is_found_soon(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """Where blocks are used in turn the erased ones are the last."""
    script = Script()
    script.write("/large", 0, 20_000_000, 1)
    reads = {}
    for layout in ("original", "segregated"):
        options = f"layout={layout},wear=pools"
        steps = [*load(LARGE), mount(options), run(0), UMOUNT]
        first = start(lab, tmp_path / layout, fstree, steps, chip=LARGE, scripts=[script])
        assert first.assert_sound().checkpoint.state == "valid"
        steps = [*load(LARGE), mount(options, flags="ro"), CHIP_COUNTERS, STATE, *LIST]
        second = start(lab, tmp_path / f"{layout}-2", fstree, steps, chip=LARGE, flash=first.flash)
        assert second.states[0]["mounted_by_checkpoint"] == 1
        assert_same(script.listing(), second.listings[0])
        reads[layout] = second.counters["array_reads"]
    print(reads)
    # 20 MB fill 155 blocks of 63 pages. Of those that follow, one in two comes up by turn 4.
    assert reads["original"] > 155 and reads["segregated"] < reads["original"] - 140


def test_checkpoints_wear_blocks_alike(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """With wear=pools no block has to take them all."""
    script = Script()
    for number in range(60):
        script.write("/small", 0, 100, number)
        script.line("syncfs", "/mnt")
    most = {}
    for wear in ("none", "pools"):
        steps = [*load(yaffs="yaffs_bg_enable=0"), mount(f"{LAYOUT},wear={wear}"), run(0), STATE]
        guest = start(lab, tmp_path / wear, fstree, [*steps, UMOUNT], scripts=[script])
        assert guest.states[0]["checkpoints_written"] == 60
        guest.assert_sound()
        most[wear] = max(erase_counts(guest.flash))
    print(most)
    # 59 erases, one for each but the last: to one block, or to most of 64.
    assert most["none"] >= 59 and most["pools"] <= 3


def test_the_plain_layout_reads_more(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    script = overwritten_files(100, 6000, 2)
    reads = {}
    for layout in ("original", "segregated"):
        options = f"layout={layout},disable-summary"
        steps = [*load(LARGE), mount(f"{options},no-checkpoint"), run(0), UMOUNT]
        steps += [mount(options, flags="ro"), CHIP_COUNTERS]
        guest = start(lab, tmp_path / layout, fstree, steps, chip=LARGE, scripts=[script])
        before = start(
            lab, tmp_path / f"{layout}-before", fstree, [*steps[:-2], CHIP_COUNTERS],
            chip=LARGE, scripts=[script],
        )  # fmt: skip
        reads[layout] = guest.counters["array_reads"] - before.counters["array_reads"]
    print(reads)
    assert reads["original"] > 5 * reads["segregated"]
