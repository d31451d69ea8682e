"""The horizon of YAFFS2's segregated layout under a bound: how far a mount would look back.

Small files lie among the pages of a large one that is overwritten: what the collector moves are
pages of many files, and each makes the index of its file wait to be written.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from fstree import Script
from yaffs_guest import STATE, Chip, load, mount, run, start

from ffslab.lab.lab_build import LabBuild
from ffslab.yaffs2.segregated.marks import POSITION_PAGES

CHIP = Chip(blocks=256)
PAGE_BYTES = 2048


def scattered(small: int, each: int, overwrites: int) -> Script:
    script, random = Script(), Random(5)
    for number in range(small):
        script.write(f"/small{number}", 0, PAGE_BYTES, number)
        if not number % each:
            script.write("/large", number // each * PAGE_BYTES, PAGE_BYTES, number)
    for number in range(overwrites):
        page = random.randrange(small // each)
        script.write("/large", page * PAGE_BYTES, PAGE_BYTES, number)
    return script


@pytest.mark.parametrize(("bound_us", "holds"), [(20_000, True), (5000, False)])
def test_it_stays_near(
    lab: LabBuild, tmp_path: Path, fstree: Path, bound_us: int, holds: bool
) -> None:
    """At most half of the blocks are newer, even where the bound is more than can be kept."""
    script = scattered(6200, 6, 12_000)
    options = f"layout=segregated,no-checkpoint,gc_bound_us={bound_us}"
    steps = [*load(CHIP, "yaffs_bg_enable=0"), mount(options), run(0), STATE]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=CHIP, scripts=[script])
    (state,) = guest.states
    print(state)
    # Far more moves than there are pages written by the user: each of another file.
    assert state["gc_copies"] > 50_000
    assert (state["bound_missed"] == 0) == holds
    report = guest.assert_sound()
    assert "horizon-far" not in report.counts
    seen_from = report.statistics["horizon"] // POSITION_PAGES
    assert report.statistics["newest_sequence"] - seen_from <= CHIP.blocks // 2
