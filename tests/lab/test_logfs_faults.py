"""LogFS on a chip that fails: superblocks and journal, which nothing stands behind, and the rest.

Blocks fail that a test names, or by a chance that is drawn from the chip's seed. Whatever happens,
no rule of the chip is broken, what was synced is there, and the image is sound.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from fstree import Churn, Script, assert_same, wrong_contents
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
from worn_journals import worn_journal

from ffslab.kernel.lab_build import LabBuild

CHIP = Chip(blocks=40)
FIRST, LAST = 0, CHIP.blocks - 1  # superblocks
JOURNAL = (1, 2, 3, 4)  # in this order
BUSY = Churn("/busy", files=8, bytes=60_000, rounds=12)
RESULT = f"capture path={BUSY.result}"


def kept_tree() -> Script:
    script = Script()
    script.mkdir("/d")
    script.write("/d/kept", 0, 100_000, 1)
    script.write("/other", 0, 9000, 2)
    script.line("sync")
    return script


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
    tree = kept_tree()
    flash = worn_journal(tmp_path, CHIP, tree)
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
    tree = kept_tree()
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
    tree, refused = kept_tree(), Script()
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
