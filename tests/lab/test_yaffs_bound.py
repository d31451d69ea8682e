"""Mount option gc_bound_us: how long a call of YAFFS2 waits for the collector.

Files that fill most of a partition are overwritten at random, so that blocks with many live pages
have to be collected all the time. Each operation of the script is some calls: open, write, close.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from fstree import Script
from rich_trees import overwritten_files
from yaffs_guest import MONITOR, STATE, UMOUNT, Chip, Guest, load, mount, run, start

from ffslab.lab.lab_build import LabBuild

CHIP = Chip(blocks=256)
BLOCK_BYTES = 64 * 2048
WARNING = "a call waited"
QUIET = "yaffs_bg_enable=0"  # when the background works depends on the clock


def busy(
    lab: LabBuild, directory: Path, fstree: Path, options: str, *, files: int = 200, yaffs: str = ""
) -> Guest:
    steps = [*load(CHIP, yaffs), *MONITOR, mount(options), run(0), STATE, UMOUNT]
    scripts = [overwritten_files(files, 6000, 2)]
    return start(lab, directory, fstree, steps, chip=CHIP, scripts=scripts)


@pytest.mark.parametrize("bound_us", [50_000, 20_000, 10_000])
@pytest.mark.parametrize("yaffs", [QUIET, ""])
def test_no_call_waits_longer(
    lab: LabBuild, tmp_path: Path, fstree: Path, bound_us: int, yaffs: str
) -> None:
    """At 75 % of the partition's pages, where a block that is collected has most pages live."""
    guest = busy(lab, tmp_path / "guest", fstree, f"gc_bound_us={bound_us}", yaffs=yaffs)
    (state,) = guest.states
    print(state)
    assert state["bound_us"] == bound_us and state["bound_calls"] > 12_000
    assert state["gc_copies"] > 5_000
    assert state["bound_missed"] == 0 and state["bound_forced_runs"] == 0
    assert 0 < state["bound_longest_ns"] <= 1000 * bound_us
    assert WARNING not in guest.console
    guest.assert_sound()


def test_without_a_bound_calls_wait_for_a_whole_block(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    """A bound that nothing reaches shows how long they wait: far longer than the least above."""
    guest = busy(lab, tmp_path / "guest", fstree, "gc_bound_us=1000000", yaffs=QUIET)
    (state,) = guest.states
    assert state["bound_missed"] == 0
    bounded = busy(lab, tmp_path / "bounded", fstree, "gc_bound_us=10000", yaffs=QUIET)
    assert state["bound_longest_ns"] > 1.5 * bounded.states[0]["bound_longest_ns"]
    plain = busy(lab, tmp_path / "plain", fstree, "", yaffs=QUIET)
    assert not any(name.startswith("bound") for name in plain.states[0])
    # Pages written in all: at most a tenth more than without.
    programs = [sum(kind == "program" for kind, *_ in one.operations) for one in (bounded, plain)]
    assert programs[0] < 1.1 * programs[1]


def test_what_cannot_be_kept_is_counted_and_told_once(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    """A millisecond is less than what a call does itself: the collector gets no time at all."""
    guest = busy(lab, tmp_path / "guest", fstree, "gc_bound_us=1000", yaffs=QUIET)
    (state,) = guest.states
    assert state["bound_missed"] > 1 and state["bound_forced_runs"] > 1
    assert state["bound_longest_ns"] > 1_000_000
    assert guest.console.count(WARNING) == 1
    assert "more than gc_bound_us=1000 leaves" in guest.console
    guest.assert_sound()


def test_a_large_file_is_deleted_without_an_erase(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    """Its blocks are erased later; without a bound they all are before the call returns.

    (Where blocks have summaries these count as live, and the blocks are the collector's anyway.)
    """
    script = Script()
    script.write("/large", 0, 8_000_000, 1)
    script.unlink("/large")
    for options, erased in (("gc_bound_us=10000,", False), ("", True)):
        mounted = [mount(f"{options}disable-summary"), run(0), STATE, UMOUNT]
        steps = [*load(CHIP, QUIET), *MONITOR, *mounted]
        directory = tmp_path / f"guest{erased}"
        guest = start(lab, directory, fstree, steps, chip=CHIP, scripts=[script])
        assert (guest.states[0]["erasures"] >= 8_000_000 // BLOCK_BYTES) is erased
        guest.assert_sound()


def test_a_remount_changes_it(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    first = Script()
    first.line("remount-rw", "/mnt", "gc_bound_us=15000")
    second = Script()
    second.line("!EINVAL", "remount-rw", "/mnt", "no-cache")
    second.line("remount-rw", "/mnt", "gc_bound_us=0")
    mounts = "capture path=/proc/mounts"
    work = overwritten_files(20, 100, 2)
    steps = [*load(CHIP), mount(), mounts, run(0), mounts, run(2), STATE, run(1), mounts, UMOUNT]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=CHIP, scripts=[first, second, work])
    none, given, gone = guest.captures("/proc/mounts")
    assert "gc_bound_us" not in none and ",gc_bound_us=15000" in given
    assert "gc_bound_us" not in gone
    assert guest.states[0]["bound_us"] == 15_000 and guest.states[0]["bound_calls"] > 200


def test_an_old_checkpoint_is_erased_by_and_by(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """The first change erases where it begins, and no more; the next checkpoint is whole."""
    first = start(
        *(lab, tmp_path / "first", fstree, [*load(CHIP), mount(), run(0), UMOUNT]),
        chip=CHIP,
        scripts=[overwritten_files(200, 10, 2)],
    )
    change = Script()
    change.write("/new", 0, 10, 1)
    bounded = mount("gc_bound_us=10000")
    steps = [*load(CHIP, QUIET), bounded, STATE, run(0), STATE, UMOUNT, bounded, STATE, UMOUNT]
    second = start(
        *(lab, tmp_path / "second", fstree, steps),
        chip=CHIP,
        scripts=[change],
        flash=first.flash,
    )
    before, after, again = second.states
    assert before["mounted_by_checkpoint"] == again["mounted_by_checkpoint"] == 1
    assert after["erasures"] == 1 and after["checkpoint_blocks"] == 0
    second.assert_sound()
