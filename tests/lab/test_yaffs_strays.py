"""YAFFS2 and pages that are not what memory has there: erased, of others, older, with lost tags.

They read without an error of the chip. A mount by checkpoint does not look at them, so the first
to see one is who reads it: he gets an error, and the log a line. The collector makes no good copy
of one, nor takes it for nobody's: its block would be erased, and the file would show what is
written there next.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from fstree import Script, assert_same
from yaffs_guest import (
    CHIP_COUNTERS,
    LIST,
    STATE,
    UMOUNT,
    Chip,
    erase_counts,
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
from ffslab.yaffs2.mounting import mount_flash
from ffslab.yaffs2.scan import scan_flash
from ffslab.yaffs2.tags import pack_with_ecc, unpack

# Blocks enough for a checkpoint.
CHIP = Chip(blocks=64)
PARTITION_BYTES = CHIP.blocks * CHIP.pages_per_block * CHIP.page_bytes
TAG_BYTES = 16
CHUNKS = 12  # of each file
PAGES_READ = 4096  # by one read of the guest's


@dataclass
class Page:
    """A page in the flash file, with its OOB; `tags_at` is where its tags are."""

    file: Path
    at: int
    raw_bytes: int
    tags_at: int
    ecc: bool

    def read(self) -> bytes:
        with self.file.open("rb") as file:
            file.seek(self.at)
            return file.read(self.raw_bytes)

    def write(self, contents: bytes, offset: int = 0) -> None:
        with self.file.open("r+b") as file:
            file.seek(self.at + offset)
            file.write(contents)

    def change_tags(self, **words: int) -> None:
        """Other words in the tags, with the ECC of them."""
        tags = replace(unpack(self.read()[self.tags_at :][:TAG_BYTES]), **words)
        packed = pack_with_ecc(tags)
        self.write(packed if self.ecc else packed[:TAG_BYTES], self.tags_at)


def erased(page: Page, _other: Page) -> None:
    page.write(b"\xff" * page.raw_bytes)


def of_another(page: Page, other: Page) -> None:
    page.write(other.read())


def older(page: Page, _other: Page) -> None:
    number = unpack(page.read()[page.tags_at :][:TAG_BYTES]).sequence
    page.change_tags(sequence=number - 1)


def another_chunk(page: Page, _other: Page) -> None:
    chunk = unpack(page.read()[page.tags_at :][:TAG_BYTES]).chunk_word
    page.change_tags(chunk_word=chunk + 1)


def unreadable_tags(page: Page, _other: Page) -> None:
    """Two wrong bits: more than the ECC of the tags corrects, or none notices but who compares."""
    at = page.tags_at + 4
    word = page.read()[at]
    page.write(bytes([word ^ 0x81]), at)


Spoil = Callable[[Page, Page], None]
# By the chunk of `broken` that each spoils; what is read at once has two chunks.
SPOILS: dict[int, Spoil] = {
    1: erased,
    4: of_another,
    6: older,
    8: another_chunk,
    10: unreadable_tags,
}


def spoil(flash: Path, options: str) -> int:
    """Spoils chunks of `broken`, each another way; the block in which they all are."""
    inband, ecc = "inband" in options, "ecc-off" not in options
    image = open_image(flash, CHIP.image_options(inband=inband, tags_ecc=ecc))
    mounted = mount_flash(image.flash, scan_flash(image.flash, image.layout))
    chunks = {o.header.name: o.chunks for o in mounted.objects.values() if o.header}
    lab = parse_lab_header(map_file(flash))
    assert lab and not lab.problem

    def page(name: bytes, number: int) -> Page:
        chunk = chunks[name][number]
        return _page(flash, lab, chunk.block * lab.pages_per_block + chunk.page, options)

    for number, change in SPOILS.items():
        change(page(b"broken", number), page(b"kept", number))
    (block,) = {chunk.block for chunk in chunks[b"broken"].values()}
    return block


def _page(flash: Path, lab: LabHeader, number: int, options: str) -> Page:
    raw_bytes = lab.page_bytes + lab.oob_bytes
    inband = "inband" in options
    tags_at = lab.page_bytes - TAG_BYTES if inband else lab.page_bytes + 2
    ecc = not inband and "ecc-off" not in options
    return Page(flash, lab.data_offset + number * raw_bytes, raw_bytes, tags_at, ecc)


def come_and_go() -> Script:
    """Writes the flash several times over, with headers that wait for the oldest blocks."""
    script = Script()
    for number in range(60):
        script.write(f"/passing{number}", 0, PARTITION_BYTES // 10, number)
        script.truncate(f"/passing{number}", 100_000)
        script.unlink(f"/passing{number}")
    return script


def spoilt_reads(chunk_bytes: int) -> set[int]:
    """Where reads of the guest fail: of those that have a byte of a spoilt chunk."""
    offsets = range((min(SPOILS) - 1) * chunk_bytes, max(SPOILS) * chunk_bytes)
    spoilt = {at for at in offsets if at // chunk_bytes + 1 in SPOILS}
    return {at // PAGES_READ * PAGES_READ for at in spoilt}


@pytest.mark.parametrize(
    "options", ["", "inband-tags", "tags-ecc-off", "no-cache", "layout=segregated"]
)
def test_a_page_that_is_not_its_files_is_an_error(
    lab: LabBuild, tmp_path: Path, fstree: Path, options: str
) -> None:
    chunk_bytes = CHIP.page_bytes - (TAG_BYTES if "inband" in options else 0)
    first = Script()
    for number, name in enumerate(("passing", "kept", "broken")):
        first.write(f"/{name}", 0, CHUNKS * chunk_bytes, number)
    first.unlink("/passing")  # so that their block has dead pages
    steps = [*load(CHIP), mount(options), run(0), UMOUNT]
    before = start(lab, tmp_path / "first", fstree, steps, chip=CHIP, scripts=[first])
    flash = tmp_path / "flash"
    flash.write_bytes(before.flash.read_bytes())
    block = spoil(flash, options)
    erases = erase_counts(flash)[block]

    steps = [*load(CHIP), mount(options), STATE, *LIST, STATE, run(0), "sync target=/mnt"]
    steps += [STATE, "drop-caches", *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(
        *(lab, tmp_path / "second", fstree, steps), chip=CHIP, scripts=[come_and_go()], flash=flash
    )
    fresh, read, later = guest.states
    assert fresh["mounted_by_checkpoint"] == 1 and not fresh["pages_stray"]
    unreadable_by_ecc = "ecc-off" not in options and "inband" not in options
    assert read["pages_stray"] >= len(SPOILS) - unreadable_by_ecc
    told = re.findall(r"block \d+ page \d+ must be chunk (\d+) of object \d+", guest.console)
    assert {int(chunk) for chunk in told} == {
        number
        for number, how in SPOILS.items()
        if how is not unreadable_tags or not unreadable_by_ecc
    }
    # Their block was collected in the end, and each was given up. Where headers lie apart, other
    # blocks had nothing live when they were erased, and it was not.
    if erase_counts(guest.flash)[block] > erases:
        assert later["pages_lost"] >= len(SPOILS) - unreadable_by_ecc
    else:
        assert "segregated" in options
    known = {path: entry for path, entry in first.listing().items() if path == "/kept"}
    for listing in guest.listings:
        assert_same(known, {"/kept": listing["/kept"]}, ("mtime", "ctime"))
        unreadable = dict(listing["/broken"]["unreadable"])
        assert {*unreadable} == spoilt_reads(chunk_bytes)
        assert {*unreadable.values()} == {"EIO"}
    assert no_violations(guest.counters)


@pytest.mark.parametrize("options", ["", "inband-tags", "layout=segregated"])
def test_what_is_erased_below_a_mounted_file_system_is_an_error(
    lab: LabBuild, tmp_path: Path, fstree: Path, options: str
) -> None:
    """As `flash_erase /dev/mtd0 0 0` does, while it is mounted."""
    script = Script()
    for number in range(3):
        script.write(f"/file{number}", 0, CHUNKS * CHIP.page_bytes, number)
    steps = [*load(CHIP), mount(options), run(0), "sync target=/mnt", "drop-caches", *LIST]
    steps += ["erase mtd=data", "drop-caches", *LIST, STATE]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=CHIP, scripts=[script])
    before, after = guest.listings
    for path in (f"/file{number}" for number in range(3)):
        assert "unreadable" not in before[path] or not before[path]["unreadable"]
        assert dict(after[path]["unreadable"]).values()
        assert {*dict(after[path]["unreadable"]).values()} == {"EIO"}
    assert "and is blank: was it erased below the file system?" in guest.console
