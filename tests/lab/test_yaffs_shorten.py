"""YAFFS2 and a file that is made shorter while the collector runs: its tail must stay dead.

The header with the new size is what kills the tail: pages older than it. The collector, which runs
before a header is written, copies headers with the size that a file has at the moment, and pages
after them. Had it the new size already, the tail would be newer than that, and a power cut before
the header itself brought it back behind a hole: found at cut 64,271 of power-loss-long. Here all
that was ever written is looked at for such a tail.
"""

from __future__ import annotations

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

from ffslab.lab.lab_build import LabBuild
from ffslab.yaffs2.detect import open_image
from ffslab.yaffs2.format import ObjectType
from ffslab.yaffs2.scan import BlockKind, PageRecord, scan_flash

CHIP = Chip(blocks=64)
PIECES = 525  # of seven pages each, two of which stay: all but a few blocks
LONG, LESS, SHORT = 3000, 2500, 1000  # sizes of the file one after the other
SYNC = "sync target=/mnt"


def pages_in_time(flash: Path) -> list[PageRecord]:
    """All pages with tags, the first that was written first."""
    blocks = scan_flash(open_image(flash, CHIP.image_options()).flash).of_kind(BlockKind.DATA)
    blocks.sort(key=lambda record: record.sequence)
    return [page for record in blocks for page in record.pages if page.readable]


def tails_after_the_end(flash: Path) -> set[int]:
    """Objects with a page behind the new size that is newer than a header with that size."""
    short, found = set(), set()
    for page in pages_in_time(flash):
        tags = page.tags
        if tags.type_number == ObjectType.FILE and tags.bytes_word == SHORT:
            short.add(tags.object_id)
        elif tags.chunk_id > 1 and tags.object_id in short:
            found.add(tags.object_id)
    return found


def test_the_collector_copies_no_tail_behind_the_new_size(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    script, file, shorten = Script(), Script(), Script()
    # Blocks with dead pages and hardly any erased one: the collector has to work at any write.
    for piece in range(PIECES):
        script.write("/stays", piece * 4096, 4096, piece)
        script.write("/changes", 0, 6144, piece)
    # In a block of its own, the cheapest to collect; its last page is behind its header.
    file.tree = script.tree
    file.write("/file", 0, LONG, 1)
    file.truncate("/file", LESS)
    steps = [*load(CHIP, "yaffs_bg_enable=0 yaffs_gc_control=0")]
    steps += [mount("no-checkpoint"), run(0), UMOUNT, mount("no-checkpoint"), run(1), SYNC]
    first = start(lab, tmp_path / "first", fstree, steps, chip=CHIP, scripts=[script, file])
    flash = tmp_path / "flash"
    flash.write_bytes(first.flash.read_bytes())

    shorten.tree = file.tree
    shorten.truncate("/file", SHORT)
    steps = [*load(CHIP, "yaffs_bg_enable=0"), mount("no-checkpoint"), STATE, run(0), SYNC, STATE]
    steps += [*LIST, CHIP_COUNTERS]
    guest = start(
        *(lab, tmp_path / "second", fstree, steps), chip=CHIP, scripts=[shorten], flash=flash
    )
    mounted, shortened = guest.states
    assert mounted["gc_copies"] == 0 < shortened["gc_copies"]
    (listing,) = guest.listings
    assert_same(shorten.listing(), listing, ("mtime", "ctime"))
    assert not tails_after_the_end(guest.flash)
    assert no_violations(guest.counters)
    guest.assert_sound()


def whole_after_the_end(flash: Path) -> list[PageRecord]:
    """First pages with more than the new size that are newer than the header with that size."""
    pages = pages_in_time(flash)
    at = next(
        number for number, page in enumerate(pages)
        if page.tags.type_number == ObjectType.FILE and page.tags.bytes_word == SHORT
    )  # fmt: skip
    of_it = [page for page in pages[at:] if page.tags.object_id == pages[at].tags.object_id]
    return [page for page in of_it if page.tags.chunk_id == 1 and page.tags.bytes_word > SHORT]


def test_the_collector_copies_no_more_than_the_new_size_of_the_last_page(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    """It runs between the header and the page that is written anew, too."""
    script, file, other, shorten = Script(), Script(), Script(), Script()
    # Two blocks more are erased, so that the collector stops after one block.
    for piece in range(PIECES - 18):
        script.write("/stays", piece * 4096, 4096, piece)
        script.write("/changes", 0, 6144, piece)
    file.tree = script.tree
    file.write("/file", 0, LONG, 1)
    # In the block that is cheapest to collect, before the header; that of the file is the next.
    other.tree = file.tree
    other.create("/other")
    steps = [*load(CHIP, "yaffs_bg_enable=0 yaffs_gc_control=0")]
    steps += [mount("no-checkpoint"), run(0), UMOUNT, mount("no-checkpoint"), run(1), UMOUNT]
    steps += [mount("no-checkpoint"), run(2), SYNC]
    scripts = [script, file, other]
    first = start(lab, tmp_path / "first", fstree, steps, chip=CHIP, scripts=scripts)
    flash = tmp_path / "flash"
    flash.write_bytes(first.flash.read_bytes())

    shorten.tree = other.tree
    shorten.truncate("/file", SHORT)
    steps = [*load(CHIP, "yaffs_bg_enable=0"), mount("no-checkpoint"), STATE, run(0), SYNC, STATE]
    steps += [*LIST, CHIP_COUNTERS]
    guest = start(
        *(lab, tmp_path / "second", fstree, steps), chip=CHIP, scripts=[shorten], flash=flash
    )
    mounted, shortened = guest.states
    assert mounted["erased_blocks"] == 5
    assert mounted["gc_copies"] == 0 < shortened["gc_copies"]
    (listing,) = guest.listings
    assert_same(shorten.listing(), listing, ("mtime", "ctime"))
    assert not whole_after_the_end(guest.flash)
    assert no_violations(guest.counters)
    guest.assert_sound()
