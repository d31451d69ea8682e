"""YAFFS2 and a rename over a file that power cut short: which of the two files is there.

The header with the new name shadows the old file by a mark; the old file's own headers, which say
that it is gone, come after it. If these are missing, a mount has to write one before the collector
moves the header with the mark, for the copy has none: 53,744 power cuts in a row found that the
old file was back. Here the cut is made on the host, in the flash file between two guests.
"""

from __future__ import annotations

import struct
from pathlib import Path

from fstree import Script, assert_same
from yaffs_guest import (
    CHIP_COUNTERS,
    LIST,
    MONITOR,
    STATE,
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
from ffslab.yaffs2.format import ID_DELETED
from ffslab.yaffs2.scan import FlashScan, PageRecord, scan_flash

CHIP = Chip(blocks=64)
BLOCKS = 56  # written, of which three quarters are deleted again
SYNC = "sync target=/mnt"
# kmod/vnand/image_format.h and rules.h
_BLOCK = struct.Struct("<7I")
_BLANK, _TORN = struct.pack("<4B", 0, 0, 0, 0), struct.pack("<4B", 1, 1, 1, 1)


def scan(flash: Path) -> FlashScan:
    return scan_flash(open_image(flash, CHIP.image_options()).flash)


def cut_behind_the_mark(flash: Path) -> int:
    """The next page, the old file's header, is torn, those behind it were never written.

    The old file's object.
    """
    marked = [
        (record, found) for record in scan(flash).blocks for found in record.pages
        if found.readable and found.tags.shadows
    ]  # fmt: skip
    ((record, mark),) = marked
    behind = [found for found in record.pages if found.page > mark.page]
    assert behind[0].page == mark.page + 1
    lab = parse_lab_header(map_file(flash))
    assert lab and not lab.problem
    raw_bytes = lab.page_bytes + lab.oob_bytes
    with flash.open("r+b") as file:
        for found in behind:
            page = record.block * lab.pages_per_block + found.page
            file.seek(lab.pages_offset + 4 * page)
            file.write(_TORN if found is behind[0] else _BLANK)
            if found is not behind[0]:
                file.seek(lab.data_offset + page * raw_bytes)
                file.write(b"\xff" * raw_bytes)
        at = lab.blocks_offset + record.block * _BLOCK.size
        file.seek(at)
        row = _BLOCK.unpack(file.read(_BLOCK.size))
        file.seek(at)
        file.write(_BLOCK.pack(*row[:4], mark.page + 2, *row[5:]))
    return behind[0].tags.object_id


def page_at(flash: Path, block: int, page: int) -> PageRecord:
    (found,) = [one for one in scan(flash).blocks[block].pages if one.page == page]
    return found


def test_the_old_file_is_deleted_before_the_collector_runs(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    script, rename = Script(), Script()
    # Blocks with dead pages and few erased ones, so that the collector has work at any write.
    for piece in range(BLOCKS * 8):
        for name, size in (("stays", 4096), ("goes", 12288)):
            script.write(f"/{name}", piece * size, size, len(name))
    script.write("/old", 0, 2305, 1)
    script.write("/new", 0, 1523, 2)
    script.unlink("/goes")
    rename.tree = script.tree
    rename.rename("/new", "/old")
    steps = [*load(CHIP, "yaffs_bg_enable=0"), mount("no-checkpoint"), run(0), SYNC, run(1)]
    before = start(lab, tmp_path / "first", fstree, steps, chip=CHIP, scripts=[script, rename])
    flash = tmp_path / "flash"
    flash.write_bytes(before.flash.read_bytes())
    victim = cut_behind_the_mark(flash)

    later = Script()
    later.write("/later", 0, 100, 3)
    steps = [*load(CHIP, "yaffs_bg_enable=0"), *MONITOR, mount("no-checkpoint"), *LIST, STATE]
    steps += [run(0), SYNC, STATE, CHIP_COUNTERS]
    guest = start(
        *(lab, tmp_path / "second", fstree, steps), chip=CHIP, flash=flash, scripts=[later]
    )
    (listing,) = guest.listings
    assert_same(rename.listing(), listing, ("mtime", "ctime"))
    programs = [(block, page) for kind, block, page in guest.operations if kind == "program"]
    first = page_at(guest.flash, *programs[0])
    assert (first.tags.object_id, first.tags.parent_id) == (victim, ID_DELETED)
    # The collector waited for this write, and came with the next.
    mounted, written = guest.states
    assert mounted["gc_copies"] == 0 < written["gc_copies"]
    assert no_violations(guest.counters)
    guest.assert_sound()
