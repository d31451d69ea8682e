"""YAFFS2 and a live page whose tags say that it is another file's: the collector must not drop it.

Tags without ECC may say anything after a bit error. A mount by checkpoint does not look at them,
and the collector took such a page for nobody's, though its file's index named it: the block was
erased, and the file read what was written there next. An assertion told it, from a damaged image.
"""

from __future__ import annotations

import struct
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
from ffslab.protocol.chip_layout import parse_lab_header
from ffslab.yaffs2.detect import open_image
from ffslab.yaffs2.mount import mount_scan
from ffslab.yaffs2.scan import scan_flash

# Blocks enough for a checkpoint.
CHIP = Chip(blocks=64)
CHUNK_BYTES = CHIP.page_bytes
PARTITION_BYTES = CHIP.blocks * CHIP.pages_per_block * CHIP.page_bytes
OBJECT_WORD_AT = 2 + 4  # in the OOB: behind the mark of bad blocks, and the sequence number
NOBODY = 9_999


def give_away(flash: Path) -> None:
    """Has the tags of the second chunk of `kept` name another object."""
    image = open_image(flash, CHIP.image_options(tags_ecc=False)).flash
    mounted = mount_scan(image, scan_flash(image))
    (kept,) = (o for o in mounted.objects.values() if o.header and o.header.name == b"kept")
    chunk = kept.chunks[2]
    lab = parse_lab_header(map_file(flash))
    assert lab and not lab.problem
    page = chunk.block * lab.pages_per_block + chunk.page
    with flash.open("r+b") as file:
        file.seek(
            lab.data_offset
            + page * (lab.page_bytes + lab.oob_bytes)
            + lab.page_bytes
            + OBJECT_WORD_AT
        )
        (word,) = struct.unpack("<I", file.read(4))
        assert word & 0x3FFFF == kept.object_id
        file.seek(-4, 1)
        file.write(struct.pack("<I", word - kept.object_id + NOBODY))


def come_and_go() -> Script:
    """Writes the flash several times over, with headers that wait for the oldest blocks."""
    script = Script()
    for number in range(100):
        script.write(f"/passing{number}", 0, PARTITION_BYTES // 10, number)
        script.truncate(f"/passing{number}", 100_000)
        script.unlink(f"/passing{number}")
    return script


def test_a_page_with_wrong_tags_stays_its_files(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    options = "tags-ecc-off"
    first = Script()
    for name in ("passing", "kept"):
        first.write(f"/{name}", 0, 3 * CHUNK_BYTES, len(name))
    first.unlink("/passing")  # so that their block has dead pages
    steps = [*load(CHIP), mount(options), run(0), UMOUNT]
    before = start(lab, tmp_path / "first", fstree, steps, chip=CHIP, scripts=[first])
    flash = tmp_path / "flash"
    flash.write_bytes(before.flash.read_bytes())
    give_away(flash)

    steps = [*load(CHIP), mount(options), STATE, run(0), "sync target=/mnt", STATE]
    steps += ["drop-caches", *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(
        *(lab, tmp_path / "second", fstree, steps), chip=CHIP, scripts=[come_and_go()], flash=flash
    )
    fresh, later = guest.states
    assert fresh["mounted_by_checkpoint"] == 1
    # The block was collected, and what can be moved of it was.
    assert later["gc_copies"] - later["gc_metadata_copies"] >= 1
    (listing,) = guest.listings
    known = {path: entry for path, entry in first.listing().items() if path == "/kept"}
    assert_same(known, {"/kept": listing["/kept"]}, ("mtime", "ctime"))
    assert no_violations(guest.counters)
