"""What collecting garbage costs in YAFFS2, of layouts that are known to the page.

The bounds are worked out from these: a collector that takes the wrong blocks, or more than it needs
to, is beyond them, and one that never ends is `stuck`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from math import exp
from pathlib import Path

import pytest
from fstree import Script
from yaffs_guest import STATE, UMOUNT, Chip, load, mount, run, start

from ffslab.lab.lab_build import LabBuild

CHIP = Chip(blocks=256)
BLOCK_PAGES, PAGE_BYTES = 64, 2048
PAGES = BLOCK_PAGES * CHIP.blocks
REFRESH_PERIOD = 500  # selections, after which the original design moves the oldest block
OVERWRITES = 12_000
LAYOUTS = ("original", "segregated")


def write_pages(script: Script, path: str, first: int, count: int, seed: int) -> None:
    script.write(path, first * PAGE_BYTES, count * PAGE_BYTES, seed)


def costs(
    lab: LabBuild, directory: Path, fstree: Path, layout: str, before: Script, measured: Script
) -> Mapping[str, int]:
    """The counters of what was measured, by their names."""
    steps = [*load(CHIP, "yaffs_bg_enable=0"), mount(f"layout={layout},disable-summary")]
    steps += [run(0), STATE, run(1), STATE, UMOUNT]
    guest = start(lab, directory, fstree, steps, chip=CHIP, scripts=[before, measured])
    guest.assert_sound()
    first, last = guest.states
    return {name: last[name] - first[name] for name in last}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_blocks_with_much_garbage_are_taken_first(
    lab: LabBuild, tmp_path: Path, fstree: Path, layout: str
) -> None:
    """A file of 180 blocks, of which each fifth, 36, is overwritten but for 3 pages, and each other
    one in 12 of its pages: 36 * 61 + 144 * 12 = 3,924 pages, 62 blocks. So 14 are erased; 27 more
    are written, and 25 of the 36 give room for them, with 3 copies each. Of the others 25 would be
    room for 300 pages, at 1,300 copies; by turns each 5 give 109, at 211 copies.
    """
    before, measured = Script(), Script()
    write_pages(before, "/file", 0, 180 * BLOCK_PAGES, 1)
    for block in range(180):
        # One page ahead is the header of the file, when it was made.
        write_pages(before, "/file", block * BLOCK_PAGES + 1, 12 if block % 5 else 61, 2 + block)
    for block in range(27):
        write_pages(measured, f"/new{block}", 0, BLOCK_PAGES, 200 + block)
    cost = costs(lab, tmp_path / "guest", fstree, layout, before, measured)
    print(layout, cost["gc_copies"], cost["erasures"])
    assert cost["erasures"] >= 20
    refreshed = cost["data_writes"] // REFRESH_PERIOD + 1
    assert cost["gc_copies"] <= 3 * cost["erasures"] + BLOCK_PAGES * refreshed


def copies_by_turns(used: float) -> float:
    """Pages that are copied for each overwrite if blocks are collected by turns.

    Of p pages u p are live data. An overwrite programs its page and a header, which the next one
    makes invalid; with c copies that is 2 + c pages, of which v = c / (2 + c) are copies. In a turn
    there are T = p / (2 + c) = p (1 - v) / 2 overwrites, and a page is left alone by them with a
    probability of exp(-T / (u p)). Of what is written (1 + c) / (2 + c) = (1 + v) / 2 are data;
    what is left of these at the end of the turn is copied: v = (1 + v) / 2 * exp(-(1 - v) / (2 u)).
    """
    share = 0.0
    for _ in range(1000):  # it rises to the smallest such v
        share = (1 + share) / 2 * exp(-(1 - share) / (2 * used))
    return 2 * share / (1 - share)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("used", [0.6, 0.75])
def test_random_overwriting_costs_no_more_than_taking_blocks_by_turns(
    lab: LabBuild, tmp_path: Path, fstree: Path, layout: str, used: float
) -> None:
    """A file is overwritten a page at a time, anywhere, once to age it and once to measure.

    The original design does take them by turns, whenever it finds none with little alive; and
    before it has to, until a quarter of what is free is erased: the data are in what remains.
    A twentieth more is what it moves to refresh it, and the few blocks that are always kept.
    """
    pages = int(PAGES * used)
    before, measured, draw = Script(), Script(), random.Random(2)
    write_pages(before, "/file", 0, pages, 1)
    for script in (before, measured):
        for number in range(OVERWRITES):
            write_pages(script, "/file", draw.randrange(pages), 1, number)
    cost = costs(lab, tmp_path / "guest", fstree, layout, before, measured)
    copies, erases = cost["gc_copies"] / OVERWRITES, cost["erasures"] / OVERWRITES
    most = copies_by_turns(used)
    if layout == "original":
        most = 1.05 * copies_by_turns(used / (1 - (1 - used) / 4))
    print(layout, used, copies, most, erases)
    assert 0 < copies < most
    # Nothing is erased that has no room for what is written.
    assert erases <= 1.01 * (2 + copies) / BLOCK_PAGES
