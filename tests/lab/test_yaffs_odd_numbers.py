"""YAFFS2 and blocks whose first page has a sequence number that no block can have.

Three wrong bits pass for one in the ECC of tags: a power cut that came into the program of a
checkpoint's first page left such a block, the 56,942nd in a row. Nobody may take it for a bad one,
or it is lost for good. Here the numbers are written on the host, in the flash file between two
guests.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

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
from ffslab.protocol.chip_layout import LabHeader, parse_lab_header
from ffslab.yaffs2.detect import open_image
from ffslab.yaffs2.format import SEQUENCE_BAD_BLOCK, SEQUENCE_CHECKPOINT
from ffslab.yaffs2.scan import BlockKind, FlashScan, scan_flash
from ffslab.yaffs2.tags import Tags, TagState, pack_with_ecc, read_tags

CHIP = Chip(blocks=64)  # with fewer there is no checkpoint
OOB_OFFSET = CHIP.geometry().oob_offset
SYNC = "sync target=/mnt"
# Below all numbers, what the power cut left, and above all.
ODD = (0, 0x821, 0xF000_1234)
# kmod/vnand/image_format.h and rules.h
_BLOCK = struct.Struct("<7I")
_GOOD_PAGE = struct.pack("<4B", 1, 1, 1, 0)


def header_of(path: Path) -> LabHeader:
    header = parse_lab_header(map_file(path))
    assert header and not header.problem
    return header


def scan(flash: Path) -> FlashScan:
    return scan_flash(open_image(flash, CHIP.image_options()).flash)


def erases_of(path: Path) -> list[int]:
    header, contents = header_of(path), path.read_bytes()
    places = (header.blocks_offset + _BLOCK.size * block for block in range(header.blocks))
    return [_BLOCK.unpack_from(contents, at)[0] for at in places]


def put_first_page(path: Path, block: int, tags: bytes) -> None:
    """Makes a page with these tags, as stored, and what else it has the first of an empty block."""
    header = header_of(path)
    page = block * header.pages_per_block
    raw_bytes = header.page_bytes + header.oob_bytes
    at = header.blocks_offset + block * _BLOCK.size
    with path.open("r+b") as flash:
        flash.seek(header.data_offset + page * raw_bytes)
        raw = b"\x5a" * header.page_bytes + b"\xff" * header.oob_bytes
        flash.write(raw)
        flash.seek(header.data_offset + page * raw_bytes + header.page_bytes + OOB_OFFSET)
        flash.write(tags)
        flash.seek(header.pages_offset + page * len(_GOOD_PAGE))
        flash.write(_GOOD_PAGE)
        flash.seek(at)
        row = _BLOCK.unpack(flash.read(_BLOCK.size))
        flash.seek(at)
        flash.write(_BLOCK.pack(*row[:4], 1, *row[5:]))


def number_first_page(path: Path, block: int, sequence: int) -> None:
    """Gives the tags of a block's first page another sequence number, and an ECC that fits."""
    header = header_of(path)
    first = scan(path).blocks[block].pages[0]
    assert first.page == 0 and first.state is TagState.GOOD
    at = header.data_offset + OOB_OFFSET + header.page_bytes
    with path.open("r+b") as flash:
        pages = block * header.pages_per_block
        flash.seek(at + pages * (header.page_bytes + header.oob_bytes))
        flash.write(pack_with_ecc(replace(first.tags, sequence=sequence)))


def test_three_wrong_bits_make_an_odd_number() -> None:
    """The tags that the power cut left: 1 bits for 0 bits in three words, and in the padding."""
    words, ecc = "21080000 08000000 01200000 00090000", "26200000 01000000 feffffff"
    meant = pack_with_ecc(Tags(SEQUENCE_CHECKPOINT, 8, 1, CHIP.page_bytes))
    left = bytes.fromhex(words + ecc)
    assert sum((one ^ other).bit_count() for one, other in zip(meant, left, strict=True)) == 4
    state, found = read_tags(left, ecc=True)
    assert (state, found.sequence) == (TagState.CORRECTED, ODD[1])


def first_guest(lab: LabBuild, tmp_path: Path, fstree: Path, script: Script) -> Path:
    """A flash that was left without unmount."""
    steps = [*load(CHIP), mount(), run(0), SYNC]
    guest = start(lab, tmp_path / "first", fstree, steps, chip=CHIP, scripts=[script])
    flash = tmp_path / "flash"
    flash.write_bytes(guest.flash.read_bytes())
    return flash


def test_a_block_with_an_odd_number_is_erased(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    script, more = Script(), Script()
    script.write("/kept", 0, 300_000, 1)
    flash = first_guest(lab, tmp_path, fstree, script)
    empty = [record.block for record in scan(flash).of_kind(BlockKind.ERASED)]
    odd = dict(zip(empty, ODD, strict=False))
    bad = empty[len(odd)]
    for block, sequence in (*odd.items(), (bad, SEQUENCE_BAD_BLOCK)):
        put_first_page(flash, block, pack_with_ecc(Tags(sequence, 7, 1, CHIP.page_bytes)))

    more.write("/more", 0, 8 * 128 * 1024, 2)
    steps = [*load(CHIP), mount("no-checkpoint-read"), STATE, *LIST, run(0), UMOUNT]
    steps += [mount(), STATE, *LIST, UMOUNT, mount("no-checkpoint"), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(
        *(lab, tmp_path / "second", fstree, steps), chip=CHIP, scripts=[more], flash=flash
    )
    scanned, read = guest.states
    # All but those with data and the one that says of itself that it is bad.
    used = len(scan(flash).of_kind(BlockKind.DATA))
    assert scanned["erased_blocks"] == CHIP.blocks - used - 1
    assert read["mounted_by_checkpoint"] == 1
    expected = script.listing()
    for listing in guest.listings:
        assert_same(expected, listing, ("mtime", "ctime"))
        expected = {**script.listing(), **more.listing()}
    before, after = erases_of(flash), erases_of(guest.flash)
    assert all(after[block] == before[block] + 1 for block in odd)
    assert after[bad] == before[bad]
    assert no_violations(guest.counters)
    report = guest.assert_sound()
    assert report.counts["block-retired"] == 1


def test_a_block_in_use_is_read_by_the_number_of_its_other_pages(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    script = Script()
    script.write("/kept", 0, 300_000, 1)
    flash = first_guest(lab, tmp_path, fstree, script)
    (full, *_) = scan(flash).of_kind(BlockKind.DATA)
    assert full.summary_valid
    number_first_page(flash, full.block, ODD[1])

    steps = [*load(CHIP), mount("no-checkpoint-read"), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "second", fstree, steps, chip=CHIP, flash=flash)
    (listing,) = guest.listings
    assert_same(script.listing(), listing, ("mtime", "ctime"))
    assert erases_of(guest.flash)[full.block] == erases_of(flash)[full.block]
    assert no_violations(guest.counters)
