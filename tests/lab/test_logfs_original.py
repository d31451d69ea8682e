"""The module with images that the original's mkfs wrote: tests/golden/logfs-images.

Where two readings of them are possible, the one that loses nothing is right: the second superblock
is in a segment that the segment file calls free, and must be there when all of that is full.
"""

from __future__ import annotations

import errno
import lzma
from pathlib import Path

import pytest
from cut_scripts import History, logged
from fstree import Churn, Script, assert_same, wrong_contents
from logfs_guest import (
    CHIP_COUNTERS,
    LIST,
    STATE,
    UMOUNT,
    Chip,
    Guest,
    flash_contents,
    load,
    mount,
    no_violations,
    run,
    start,
    write_flash,
)
from test_logfs_cuts import SAMPLE, all_good, names, overwrites, recovered

from ffslab.lab.lab_build import LabBuild

IMAGES = Path(__file__).resolve().parents[1] / "golden" / "logfs-images"
# Erase blocks are segments.
CHIPS = {
    "s14-w9": Chip(512, 16, 32, 512),
    "s16-w0": Chip(2048, 64, 32, 128),
    "s17-w11": Chip(2048, 64, 64, 128),
    "s17-w11-c": Chip(2048, 64, 64, 128),
    "s18-w12": Chip(4096, 128, 64, 256),
    "s19-w12": Chip(4096, 128, 128, 256),
}


def original_flash(name: str, directory: Path) -> Path:
    chip, flash, raw = CHIPS[name], directory / "flash", directory / "raw"
    data = lzma.decompress((IMAGES / f"{name}.img.xz").read_bytes())
    with raw.open("wb") as file:
        for at in range(0, len(data), chip.page_bytes):
            file.write(data[at : at + chip.page_bytes] + b"\xff" * chip.oob_bytes)
    write_flash(flash, chip, raw)
    return flash


def assert_clean(guest: Guest) -> None:
    """Without a warning, too: both superblocks are there."""
    report = guest.check()
    assert not report.problems, report.text()
    assert no_violations(guest.counters), guest.counters


def small_tree() -> Script:
    script = Script()
    script.mkdir("/d")
    script.write("/d/file", 0, 700_000, 1)
    script.write("/far", 9_000_000, 5000, 2)
    script.symlink("d/file", "/link")
    script.link("/d/file", "/d/second")
    script.truncate("/d/file", 300_000)
    return script


@pytest.mark.parametrize("name", CHIPS)
def test_the_module_reads_what_the_original_wrote(
    lab: LabBuild, tmp_path: Path, fstree: Path, name: str
) -> None:
    """Read-only nothing changes; writable it goes on, and what it leaves is as good."""
    chip, flash, script = CHIPS[name], original_flash(name, tmp_path), small_tree()
    steps = [*load(chip), mount(flags="ro"), *LIST, UMOUNT]
    looked = start(lab, tmp_path / "looked", fstree, steps, chip=chip, flash=flash)
    assert [*looked.listings[0]] == ["/"]
    assert flash_contents(flash) == flash_contents(looked.flash)
    steps = [*load(chip), mount(), run(0), *LIST, UMOUNT, mount(), *LIST, STATE, UMOUNT]
    steps += [mount(flags="ro"), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip, flash=flash, scripts=[script])
    for listing in guest.listings:
        assert_same(script.listing(one_link=True), listing)
    assert_same(guest.listings[0], guest.image_listing())
    assert_clean(guest)


@pytest.mark.parametrize("name", CHIPS)
def test_it_is_filled_and_its_second_superblock_stays(
    lab: LabBuild, tmp_path: Path, fstree: Path, name: str
) -> None:
    """Each segment that is free is used, more than once; all that was written comes back."""
    chip = CHIPS[name]
    bytes_of = chip.blocks * chip.pages_per_block * chip.page_bytes
    fills = Churn("/fill", files=2000, bytes=bytes_of // 60, rounds=1)
    again = Churn("/fill", files=30, bytes=bytes_of // 60, rounds=3, seed=9000)
    last = Script()
    last.line("unlink", "/mnt/fill0")
    last.line("sync")
    scripts = [fills.script(), last, again.script()]
    full = f"capture path={fills.result}"
    steps = [*load(chip), mount(), run(0), full, UMOUNT, mount(), *LIST, run(1), run(2), full]
    steps += [*LIST, UMOUNT, mount(), *LIST, STATE, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip, scripts=scripts,
                  flash=original_flash(name, tmp_path), limit_s=600)  # fmt: skip
    ended, rewritten = guest.captures(fills.result)
    assert f"errno {errno.ENOSPC}" in ended
    assert not wrong_contents(fills.contents(ended), guest.listings[0])
    files = fills.contents(ended) | again.contents(rewritten)
    for listing in guest.listings[1:]:
        assert not wrong_contents(files, listing)
    assert guest.states[-1]["retired_segments"] == 0
    assert_clean(guest)


@pytest.mark.parametrize("name", ["s14-w9", "s16-w0", "s17-w11", "s17-w11-c"])
@pytest.mark.parametrize("history", [names, overwrites])
def test_every_cut_of_what_began_with_the_original(
    lab: LabBuild, tmp_path: Path, fstree: Path, name: str, history: type[History]
) -> None:
    flash = original_flash(name, tmp_path)
    logs = logged(lab, tmp_path / "log", fstree, history(), CHIPS[name], flash=flash)
    all_good(logs, recovered(logs, tmp_path / "walk", logs.cuts(sample=SAMPLE)))
