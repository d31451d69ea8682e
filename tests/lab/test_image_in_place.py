"""Images that are written in place: each erase block into the one with the same number (LogFS)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fstree import Script, assert_same, parse_listing
from test_image_flash import (
    BAD,
    BLOCK,
    CHIP,
    IN_PLACE_BAD,
    PAGES_PER_BLOCK,
    Flash,
    bad_blocks,
    by_nandwrite,
    chip_case,
    end,
    images,
    packed_tree,
    shown,
    started,
    write_step,
    written,
)
from yaffs_guest import LIST, LISTING, PROGRAM, run

from ffslab.lab.lab_build import LabBuild
from ffslab.logfs import check_image
from ffslab.logfs.check import examine

__all__ = ["bad_blocks", "images"]  # the fixtures


def test_nandwrite_writes_the_same_pages_in_place(
    lab: LabBuild, tmp_path: Path, images: Mapping[str, Path]
) -> None:
    image = images[IN_PLACE_BAD]
    case = chip_case(factory_bad=BAD)
    steps = [shown(image.parent), write_step(image, in_place=True)]
    ours = Flash.read(started(lab, tmp_path / "agent", case, steps).flash).pages
    theirs = by_nandwrite(lab, tmp_path / "nandwrite", case, image, "-N", "-k")
    assert ours == theirs and len(ours) > 400


def test_data_in_place_of_a_bad_block_are_refused_before_a_page_is_written(
    lab: LabBuild, tmp_path: Path, images: Mapping[str, Path], bad_blocks: frozenset[int]
) -> None:
    image = images["logfs"]
    content = image.read_bytes()
    first = min(
        block for block in bad_blocks if content[block * BLOCK :][:BLOCK].strip(b"\xff") != b""
    )
    case = chip_case(factory_bad=BAD)
    steps = [shown(image.parent), write_step(image, in_place=True)]
    guest = started(lab, tmp_path / "guest", case, steps)
    assert end(guest)["errno_name"] == "EINVAL"
    assert f"erase block {first} of 'data' is bad" in end(guest)["message"]
    assert f"(make it with --bad-block {first})" in end(guest)["message"]
    assert not Flash.read(guest.flash).pages


def test_logfs_goes_around_a_bad_block_that_its_image_does_not_know(
    lab: LabBuild, tmp_path: Path, images: Mapping[str, Path], fstree: Path
) -> None:
    """The image has nothing there; the file system finds out when it wants to use the block."""
    image = images["logfs"]
    packed = packed_tree()
    more = Script()
    more.tree = packed.tree
    more.write("/empty/large", 0, 10_000_000, seed=1)
    changes = tmp_path / "changes"
    changes.write_text(more.text)
    case = chip_case("logfs", factory_bad=1)
    mount = "mount type=logfs source=mtd:data"
    steps = [shown(image.parent), write_step(image, in_place=True), mount, run(0), "umount"]
    steps += [mount, *LIST, "umount", f"capture path={CHIP}"]
    files = {PROGRAM: fstree, "/test/script0": changes}
    guest = started(lab, tmp_path / "guest", case, steps, files=files)
    assert end(guest)["status"] == "ok", end(guest)
    (bad,) = Flash.read(guest.flash).bad
    assert written(guest)["bad_blocks_skipped"] == 1
    (listing,) = [parse_listing(r["text"]) for r in guest.of_type("file") if r["path"] == LISTING]
    assert_same(packed.listing(one_link=True), listing)
    before, after = examine(image).tree, examine(guest.flash).tree
    assert before and after
    assert before.mounted.entries[bad] == (1 << 4, 0)
    assert after.mounted.entries[bad] == (0xFFFFFFFF, 0xFFFFFFFF)
    report = check_image(guest.flash)
    assert not report.errors and not report.warnings, report.text()


def test_a_block_that_fails_in_place_ends_the_writing(
    lab: LabBuild, tmp_path: Path, images: Mapping[str, Path]
) -> None:
    """What is behind the block is not written."""
    image = images["logfs"]
    case = chip_case("logfs", program_fail_ppm=3_000)
    steps = [shown(image.parent), write_step(image, in_place=True)]
    guest = started(lab, tmp_path / "guest", case, steps)
    assert end(guest)["errno_name"] == "EIO"
    flash = Flash.read(guest.flash)
    (bad,) = flash.bad
    assert f"erase block {bad} of 'data' failed and is marked as bad" in end(guest)["message"]
    assert {page // PAGES_PER_BLOCK for page in flash.pages} <= {*range(bad + 1)}
