"""YAFFS2 with layout=segregated: what was deleted stays so when what says it is itself erased.

That is the last header of an object, or a summary that does not name the object. Earlier headers
may outlive them: in a block whose erase power cut short, or in an older block.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from fstree import LOST_FOUND, Listing, Script, assert_same
from yaffs_guest import CHIP_COUNTERS, LIST, Chip, load, mount, no_violations, run, start

from ffslab.fsimage.flashfile import map_file
from ffslab.lab.lab_build import LabBuild
from ffslab.protocol.chip_layout import LabHeader, parse_lab_header
from ffslab.yaffs2.detect import open_image
from ffslab.yaffs2.format import ID_DELETED
from ffslab.yaffs2.scan import BlockKind, BlockRecord, scan_flash

CHIP = Chip(blocks=16)
SYNC = "sync target=/mnt"
# kmod/vnand/image_format.h and rules.h
_BLOCK = struct.Struct("<7I")
_PAGE_BYTES = 4


def header_of(flash: Path) -> LabHeader:
    header = parse_lab_header(map_file(flash))
    assert header and not header.problem
    return header


def metadata_blocks(flash: Path) -> list[BlockRecord]:
    """From the oldest to the newest."""
    image = open_image(flash, CHIP.image_options())
    found = scan_flash(image.flash, image.layout).of_kind(BlockKind.METADATA)
    return sorted(found, key=lambda record: record.sequence)


def half_erased(before: Path, after: Path, block: int, pages: int) -> None:
    """Puts the first pages of a block into a flash in which it is erased."""
    header, old = header_of(before), before.read_bytes()
    raw_bytes = pages * (header.page_bytes + header.oob_bytes)
    first = block * header.pages_per_block
    places = [
        (header.data_offset + first * (header.page_bytes + header.oob_bytes), raw_bytes),
        (header.pages_offset + first * _PAGE_BYTES, pages * _PAGE_BYTES),
    ]
    with after.open("r+b") as file:
        for at, n in places:
            file.seek(at)
            file.write(old[at : at + n])
        at = header.blocks_offset + block * _BLOCK.size
        file.seek(at)
        row = _BLOCK.unpack(file.read(_BLOCK.size))
        assert row[4] == 0, "it is not erased"
        file.seek(at)
        file.write(_BLOCK.pack(*row[:4], pages, *row[5:]))


def without_lost_found(listing: Listing) -> Listing:
    return {path: entry for path, entry in listing.items() if path not in ("/", LOST_FOUND)}


@pytest.mark.parametrize("bound", ["", ",gc=predict,gc_bound_us=5000"])
def test_half_an_erase_takes_the_mark_and_not_the_header(
    lab: LabBuild, tmp_path: Path, fstree: Path, bound: str
) -> None:
    options = f"layout=segregated,no-checkpoint{bound}"
    script, later = Script(), Script()
    script.write("/stays", 0, 6 * 63 * 2048, 1)  # leaves few blocks erased
    script.write("/gone", 0, 100, 2)
    script.unlink("/gone")
    steps = [*load(CHIP, "yaffs_bg_enable=0"), mount(options), run(0), SYNC]
    first = start(lab, tmp_path / "first", fstree, steps, chip=CHIP, scripts=[script])
    (block,) = metadata_blocks(first.flash)
    mark = next(one for one in block.pages if one.tags.parent_id == ID_DELETED)
    of_it = [one.page for one in block.pages if one.tags.object_id == mark.tags.object_id]
    assert of_it[-1] == mark.page > of_it[0]

    later.tree = script.tree
    for number in range(10):  # has blocks collected, fills none of metadata, and takes no id
        later.write("/stays", 0, 65536, number)
        later.line("sync")
    steps = [*load(CHIP, "yaffs_bg_enable=0"), mount(options), run(0)]
    second = start(
        *(lab, tmp_path / "second", fstree, steps), chip=CHIP, flash=first.flash, scripts=[later]
    )
    second.assert_sound()
    assert not any(record.summary_valid for record in metadata_blocks(second.flash))
    flash = tmp_path / "flash"
    flash.write_bytes(second.flash.read_bytes())
    half_erased(first.flash, flash, block.block, of_it[0] + 1)

    steps = [*load(CHIP), mount(options), *LIST, CHIP_COUNTERS]
    third = start(lab, tmp_path / "third", fstree, steps, chip=CHIP, flash=flash)
    (listing,) = third.listings
    assert_same(without_lost_found(later.listing()), without_lost_found(listing))
    assert no_violations(third.counters)


def test_a_mount_leaves_what_older_headers_are_void_by(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    """A block of metadata without a live page, whose summary says that a file is gone."""
    options = "layout=segregated,no-checkpoint"
    script = Script()
    script.write("/gone", 0, 100, 1)
    script.write("/stays", 0, 100, 2)
    script.write("/moves", 0, 100, 3)

    def renamed(count: int) -> None:
        for _ in range(count):
            script.rename("/moves", "/moved")
            script.rename("/moved", "/moves")

    renamed(35)  # fills the first block; its summary says that the file is there
    script.unlink("/gone")
    renamed(35)
    steps = [*load(CHIP, "yaffs_bg_enable=0"), mount(options), run(0), SYNC]
    first = start(lab, tmp_path / "first", fstree, steps, chip=CHIP, scripts=[script])
    blocks = metadata_blocks(first.flash)
    assert [record.summary_valid for record in blocks] == [True, True, False]
    assert any(one.tags.parent_id == ID_DELETED for one in blocks[1].pages)

    flash = first.flash
    for number in range(3):
        steps = [*load(CHIP, "yaffs_bg_enable=0"), mount(options), *LIST, CHIP_COUNTERS]
        guest = start(lab, tmp_path / f"mount{number}", fstree, steps, chip=CHIP, flash=flash)
        (listing,) = guest.listings
        assert_same(without_lost_found(script.listing()), without_lost_found(listing))
        assert no_violations(guest.counters)
        flash = guest.flash
