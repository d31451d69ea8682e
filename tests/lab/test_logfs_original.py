"""The module with images that the original's mkfs wrote: tests/golden/logfs-images.

Where two readings of them are possible, the one that loses nothing is right: the second superblock
is in a segment that the segment file calls free, and must be there when all of that is full.
"""

from __future__ import annotations

import errno
import lzma
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

from cut_scripts import History, logged
from fstree import Churn, Script, assert_same, wrong_contents
from guest_programs import NIGHTLY
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
from logfs_support import Image
from test_logfs_cuts import SAMPLE, all_good, names, overwrites, recovered

from ffslab.lab.lab_build import LabBuild
from ffslab.logfs.image import PageGeometry
from ffslab.logfs.mkfs import MkfsOptions, make_image

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
# The guest copies the flash twice for each cut: of large ones there is a sample always.
CUTS = dict.fromkeys(CHIPS, SAMPLE) | (
    {"s18-w12": 80, "s19-w12": 30} if NIGHTLY else {"s18-w12": 8, "s19-w12": 3}
)


def original_flash(name: str, directory: Path) -> Path:
    data = lzma.decompress((IMAGES / f"{name}.img.xz").read_bytes())
    return flash_of(data, CHIPS[name], directory)


def flash_of(data: bytes, chip: Chip, directory: Path) -> Path:
    flash, raw = directory / "flash", directory / "raw"
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
    again = Churn("/again", files=10, bytes=bytes_of // 60, rounds=12, seed=9000)
    fewer = Script()
    for number in range(15):
        fewer.line("unlink", f"/mnt/fill{number}")
    fewer.line("sync")
    scripts = [fills.script(), fewer, again.script()]
    full, rewrote = (f"capture path={churn.result}" for churn in (fills, again))
    steps = [*load(chip), mount(), run(0), full, UMOUNT, mount(), *LIST, run(1), run(2), rewrote]
    steps += [*LIST, STATE, UMOUNT, mount(), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip, scripts=scripts,
                  flash=original_flash(name, tmp_path), limit_s=600)  # fmt: skip
    ((ended,), (rewritten,)) = map(guest.captures, (fills.result, again.result))
    assert f"errno {errno.ENOSPC}" in ended and "rounds 12\n" in rewritten
    files = fills.contents(ended)
    assert not wrong_contents(files, guest.listings[0])
    kept = {path: contents for path, contents in files.items() if int(path[5:]) >= 15}
    for listing in guest.listings[1:]:
        assert not wrong_contents(kept | again.contents(rewritten), listing)
    if not name.endswith("-c"):  # these contents are short then
        assert guest.states[-1]["erasures"] > guest.states[-1]["segments"]
    assert_clean(guest)


# FFSLAB_NIGHTLY=1 has all; the smallest and the compressed one have all kinds of addresses.
@pytest.mark.parametrize("name", CHIPS if NIGHTLY else ["s14-w9", "s17-w11-c"])
@pytest.mark.parametrize("history", [names, overwrites])
def test_every_cut_of_what_began_with_the_original(
    lab: LabBuild, tmp_path: Path, fstree: Path, name: str, history: type[History]
) -> None:
    flash = original_flash(name, tmp_path)
    logs = logged(lab, tmp_path / "log", fstree, history(), CHIPS[name], flash=flash)
    all_good(logs, recovered(logs, tmp_path / "walk", logs.cuts(sample=CUTS[name])))


def test_objects_in_the_place_of_a_superblock_are_kept(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    """Another, for which that segment is free, has written there: no superblock is written anew."""
    script, chip = Script(), Chip(blocks=40)
    script.mkdir("/d")
    script.write("/d/file", 0, 300_000, 1)
    for path in script.tree:
        script.utimes(path, 1_234_567_890, 1_234_567_890)
    script.archive(tmp_path / "tree.tar")
    geometry = PageGeometry(chip.page_bytes, 0, chip.pages_per_block)
    options = MkfsOptions(chip.blocks * geometry.block_bytes, geometry=geometry)
    make_image(tmp_path / "tree.tar", tmp_path / "image", options)
    image = Image(tmp_path / "image")
    of_inodes = image.inode_ofs(2) // geometry.block_bytes
    image.superblock(copies=(0, (of_inodes + 1) * geometry.block_bytes - 4096))
    flash = flash_of(bytes(image.raw), chip, tmp_path)
    more = Script()
    more.write("/more", 0, 100_000, 3)
    steps = [*load(chip), mount(), *LIST, run(0), UMOUNT, mount(), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip, flash=flash, scripts=[more])
    first, second = ({**listing} for listing in guest.listings)
    assert_same(script.listing(one_link=True), first)
    assert second.pop("/more")["size"] == 100_000
    assert_same(first, second, ("mtime", "ctime", "size"))
    assert "written anew" not in guest.console and no_violations(guest.counters)
