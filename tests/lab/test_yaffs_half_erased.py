"""YAFFS2 and blocks whose erase was cut off: the first page is blank, a later one is not.

Such a page has lost its tags and kept some of its data, so that a scan, which looks at tags, takes
the block for empty; or of the tags only the sequence number is blank. Who programs it programs upon
what is left. A cut leaves one in some thousand erases, so here they are made on the host, in the
flash file between two guests. The last test cuts erases as they come.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from cut_guests import run_of
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
from ffslab.workloads.cuts.states import parse_log
from ffslab.workloads.cuts.stored import cuts_result

CHIP = Chip(blocks=64)  # with fewer there is no checkpoint
LEFT_IN = 5  # the page of a block that was not erased to the end
OOB_OFFSET = CHIP.geometry().oob_offset
HALF_ERASED = 8  # blocks, those that are written to first
SYNC = "sync target=/mnt"
# kmod/vnand/image_format.h and rules.h
_BLOCK = struct.Struct("<7I")
_PAGE = struct.Struct("<4B")


def header_of(path: Path) -> LabHeader:
    header = parse_lab_header(map_file(path))
    assert header and not header.problem
    return header


def blocks_of(path: Path) -> list[tuple[int, ...]]:
    """Erases, programs, reads, reads since the erase, one behind the last page, flags of each."""
    header, contents = header_of(path), path.read_bytes()
    places = (header.blocks_offset + _BLOCK.size * block for block in range(header.blocks))
    return [_BLOCK.unpack_from(contents, at) for at in places]


def leave_half_erased(path: Path, left: str) -> list[int]:
    """Puts a page without a sequence number into the first empty blocks; these blocks."""
    header, rows = header_of(path), blocks_of(path)
    raw_bytes = header.page_bytes + header.oob_bytes
    empty = [block for block, row in enumerate(rows) if not row[4]][:HALF_ERASED]
    rest = b"\xff" * 512 + b"\x5a" * 512
    if left == "tags":
        # Three bits of the object's number: with those of what is programmed upon it they are
        # another number, and the ECC of the tags is none the wiser.
        rest = b"\xff" * (header.page_bytes + OOB_OFFSET + 4) + b"\xfe\xfd\xf7"
    with path.open("r+b") as flash:
        for block in empty:
            page = block * header.pages_per_block + LEFT_IN
            flash.seek(header.data_offset + page * raw_bytes)
            flash.write(rest + b"\xff" * (raw_bytes - len(rest)))
            flash.seek(header.pages_offset + page * _PAGE.size)
            flash.write(_PAGE.pack(1, 1, 1, left == "uncorrectable"))
            flash.seek(header.blocks_offset + block * _BLOCK.size)
            flash.write(_BLOCK.pack(*rows[block][:4], LEFT_IN + 1, *rows[block][5:]))
    return empty


@pytest.mark.parametrize("later", ["at-once", "after-a-checkpoint"])
@pytest.mark.parametrize("left", ["data", "uncorrectable", "tags"])
def test_what_half_an_erase_left_is_erased_before_it_is_written_upon(
    lab: LabBuild, tmp_path: Path, fstree: Path, left: str, later: str
) -> None:
    script = Script()
    script.write("/kept", 0, 30_000, 1)
    steps = [*load(CHIP), mount(), run(0), SYNC]  # and power is off
    first = start(lab, tmp_path / "first", fstree, steps, chip=CHIP, scripts=[script])
    flash = tmp_path / "flash"
    flash.write_bytes(first.flash.read_bytes())
    half_erased = leave_half_erased(flash, left)

    more, change = Script(), Script()
    more.write("/more", 0, (HALF_ERASED + 2) * 128 * 1024, 2)
    change.write("/little", 0, 100, 3)
    steps = [*load(CHIP), mount("no-checkpoint-read")]
    if later == "after-a-checkpoint":
        # Which is written only where something has changed.
        steps += [run(1), SYNC, UMOUNT, mount()]
    steps += [STATE, run(0), SYNC, STATE, "drop-caches", *LIST, UMOUNT]
    steps += [mount("no-checkpoint-read"), *LIST, UMOUNT, CHIP_COUNTERS]
    scripts = [more, change]
    guest = start(
        *(lab, tmp_path / "second", fstree, steps), chip=CHIP, scripts=scripts, flash=flash
    )
    before, after = guest.states
    assert before["mounted_by_checkpoint"] == (later == "after-a-checkpoint")
    expected = {**script.listing(), **more.listing()}
    if later == "after-a-checkpoint":
        expected |= change.listing()
    for listing in guest.listings:
        assert_same(expected, listing, ("mtime", "ctime"))
    assert no_violations(guest.counters)
    assert after["write_failures"] == after["retired_blocks"] == 0
    guest.assert_sound()
    # Each of them was erased once more, and holds what was written then.
    rows, old = blocks_of(guest.flash), blocks_of(flash)
    for block in half_erased:
        assert rows[block][0] > old[block][0] and rows[block][1] > old[block][1], block


def test_a_checkpoint_counts_half_erased_blocks_as_empty_ones(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    """Independent of the module, the checker counts them, too."""
    script, change = Script(), Script()
    script.write("/kept", 0, 30_000, 1)
    change.write("/little", 0, 100, 3)
    steps = [*load(CHIP), mount(), run(0), SYNC]  # and power is off
    first = start(lab, tmp_path / "first", fstree, steps, chip=CHIP, scripts=[script])
    flash = tmp_path / "flash"
    flash.write_bytes(first.flash.read_bytes())
    half_erased = leave_half_erased(flash, "data")

    steps = [*load(CHIP), mount("no-checkpoint-read"), run(0), UMOUNT]
    guest = start(
        *(lab, tmp_path / "second", fstree, steps), chip=CHIP, flash=flash, scripts=[change]
    )
    report = guest.assert_sound()
    assert report.checkpoint.state == "valid"
    assert report.counts["erase-interrupted"] >= len(half_erased) - 3  # not yet written again


CUT_ERASES = """
schema = 1
name = "cut-erases"
title = "Each erase is cut while a file is overwritten"

[base]
board = "apf27"
partition_bytes = "8 MiB"
options.layout = "segregated" # of yaffs2-improved

[base.workload]
kind = "cuts"
history = "overwrite"
parameters = "file_bytes=3000000 requests=1000 fsync_every=20"
kinds = "erase-half"
variants = 2
fill_sample = 3

[axes]
filesystem = ["yaffs2", "yaffs2-improved"]
"""


def test_every_erase_of_a_history_that_collects_garbage_is_cut(
    lab: LabBuild, tmp_path: Path
) -> None:
    """With a first page that is blank and with one that is not; the oracle finds nothing."""
    del lab
    run = run_of(CUT_ERASES, tmp_path)
    for result in run.results():
        log = parse_log((run.case_dir(result["id"]) / "log").read_text())
        erases = sum(operation.verb == "erase" for operation in log)
        cuts = cuts_result(result)
        assert cuts is not None, result["reason"]
        assert cuts["states"] == 2 * erases > 20
        assert not cuts["findings"]
        assert result["outcome"] == "pass"
