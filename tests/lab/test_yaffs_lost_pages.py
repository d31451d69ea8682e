"""YAFFS2 and a live page that cannot be read: it must not keep the flash from being used.

Its block is kept, and blocks with shrink headers wait for older blocks with dead pages. Files that
come and go leave such headers everywhere, so in the end all blocks wait for that one, and nothing
can be written or deleted any more: found by 35,000 power cuts in a row. Here the pages are made
unreadable on the host, in the flash file between two guests.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from fstree import Script, assert_same
from yaffs_guest import (
    CHIP_COUNTERS,
    LIST,
    STATE,
    UMOUNT,
    Chip,
    load,
    mount,
    no_violations,
    run,
    start,
)

from ffslab.fsimage.flashfile import map_file
from ffslab.lab.lab_build import LabBuild
from ffslab.protocol.chip_layout import parse_lab_header
from ffslab.yaffs2.detect import open_image
from ffslab.yaffs2.mount import mount_scan
from ffslab.yaffs2.scan import scan_flash

CHIP = Chip(blocks=24)
CHUNK_BYTES = CHIP.page_bytes
UNCORRECTABLE = struct.pack("<4B", 1, 1, 1, 1)  # a page's state, kmod/vnand/rules.h
SYNC = "sync target=/mnt"
ROUNDS = 40  # each of a tenth of the flash


def spoil(flash: Path) -> dict[str, int]:
    """Makes the second chunk of `broken` and the header of `nameless` unreadable; ids by name."""
    image = open_image(flash, CHIP.image_options()).flash
    mounted = mount_scan(image, scan_flash(image))
    named = {
        found.header.name.decode(): found for found in mounted.objects.values() if found.header
    }
    chunk = named["broken"].chunks[2]
    header_at = named["nameless"].header_at
    assert header_at
    lab = parse_lab_header(map_file(flash))
    assert lab and not lab.problem
    with flash.open("r+b") as file:
        for block, page in ((chunk.block, chunk.page), header_at):
            file.seek(lab.pages_offset + 4 * (block * lab.pages_per_block + page))
            file.write(UNCORRECTABLE)
    return {name: found.object_id for name, found in named.items()}


def come_and_go() -> Script:
    """Writes the flash several times over; each file is shortened before it is deleted."""
    script = Script()
    for number in range(ROUNDS):
        path = f"/passing{number}"
        script.write(path, 0, CHIP.blocks * 128 * 1024 // 10, number)
        script.truncate(path, 100_000)
        script.unlink(path)
    return script


@pytest.mark.parametrize("options", ["", "inband-tags", "disable-summary"])
def test_a_page_that_cannot_be_read_does_not_fill_the_flash(
    lab: LabBuild, tmp_path: Path, fstree: Path, options: str
) -> None:
    first = Script()
    for name in ("passing", "kept", "broken", "nameless"):
        first.write(f"/{name}", 0, 3 * CHUNK_BYTES, len(name))
    first.unlink("/passing")  # so that their block has dead pages
    steps = [*load(CHIP), mount(options), run(0), SYNC]  # and power is off
    before = start(lab, tmp_path / "first", fstree, steps, chip=CHIP, scripts=[first])
    flash = tmp_path / "flash"
    flash.write_bytes(before.flash.read_bytes())
    ids = spoil(flash)

    delete = Script()
    delete.line("unlink", "/mnt/broken")
    delete.line("unlink", f"/mnt/obj{ids['nameless']}")
    steps = [*load(CHIP), mount(options), *LIST, run(0), SYNC, STATE, "drop-caches", *LIST, UMOUNT]
    steps += [mount(options), *LIST, run(0), SYNC, "drop-caches", *LIST]
    steps += [run(1), UMOUNT, mount(options), *LIST, UMOUNT, CHIP_COUNTERS]
    scripts = [come_and_go(), delete]
    guest = start(
        *(lab, tmp_path / "second", fstree, steps), chip=CHIP, scripts=scripts, flash=flash
    )
    assert guest.states[0]["pages_lost"] == 2
    known = {path: entry for path, entry in first.listing().items() if path == "/kept"}
    for listing in guest.listings:
        assert_same(known, {"/kept": listing["/kept"]}, ("mtime", "ctime"))
    # What was lost is lost: before it had to leave its block, after that, at the next mount.
    *present, gone = guest.listings
    for listing in present:
        assert {*listing} - {"/", "/lost+found"} == {"/kept", "/broken", f"/obj{ids['nameless']}"}
        assert listing["/broken"]["unreadable"] == ((0, "EIO"),)  # its 4 KiB
        assert listing[f"/obj{ids['nameless']}"]["error"] in ("EIO", "EBADMSG", "EUCLEAN")
    assert {*gone} - {"/", "/lost+found"} == {"/kept"}
    assert no_violations(guest.counters)
    # What took the place of the header is none.
    assert {problem.rule for problem in guest.check().errors} == {"header-type"}
