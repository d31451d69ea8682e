"""LogFS images of which some segments were erased more often than others, as they say.

With a journal of `WORN` erases the next write moves it to other segments.
"""

from __future__ import annotations

import struct
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

from fstree import Script
from logfs_guest import Chip, write_flash
from logfs_support import Image

from ffslab.logfs.format import EntryType, SegmentHeader, SegmentType
from ffslab.logfs.image import PageGeometry
from ffslab.logfs.mkfs import MkfsOptions, make_image

WORN = 900  # more than twice 397 above all others


def kept_tree(kept_bytes: int) -> Script:
    """What is to be there at the end, whatever fails meanwhile."""
    script = Script()
    script.mkdir("/d")
    script.write("/d/kept", 0, kept_bytes, 1)
    script.write("/other", 0, 9000, 2)
    script.line("sync")
    return script


def worn_image(
    directory: Path, chip: Chip, script: Script, journal: int = WORN, free: int = 1
) -> Path:
    """A flash file with the tree of the script: erases of each segment of the journal, and of each
    free one. Those with the tree have been erased once.
    """
    archive, raw, flash = (directory / f"worn.{name}" for name in ("tar", "raw", "flash"))
    for path in script.tree:
        script.utimes(path, 1_234_567_890, 1_234_567_890)
    script.archive(archive)
    geometry = PageGeometry(chip.page_bytes, 0, chip.pages_per_block)
    make_image(archive, raw, MkfsOptions(chip.blocks * geometry.block_bytes, geometry=geometry))
    image = Image(raw)
    for segno, (_, valid) in enumerate(image.mounted.entries):
        if not valid:
            image.segment_entry(segno, free << 4)
    segnos = image.mounted.superblock.journal_segnos
    dynamic = replace(image.mounted.dynamic, gec=image.gec + 1)
    newest = image.commit(
        slot=1,
        entries=[
            (EntryType.ANCHOR, image.mounted.anchor.pack()),
            (EntryType.ERASE_COUNTS, struct.pack(">16I", *[journal] * 16)),
            (EntryType.DYNAMIC, dynamic.pack()),
        ],
    )
    for segno, gec in ((segnos[0], image.gec - 1), (newest, image.gec)):
        header = SegmentHeader(SegmentType.JOURNAL, 0, segno, journal, gec)
        image.patch(segno * geometry.block_bytes, header.pack())
    assert not image.check().errors
    pages = (
        bytes(image.raw[at : at + chip.page_bytes]) + b"\xff" * chip.oob_bytes
        for at in range(0, len(image.raw), chip.page_bytes)
    )
    raw.write_bytes(b"".join(pages))
    write_flash(flash, chip, raw)
    return flash
