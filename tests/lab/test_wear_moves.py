"""The history `moved-blocks`: UBI moves blocks to worn ones, and power may fail meanwhile.

A move is recognised by what is on the flash: the header that UBI writes in front of a copy says
that it is one, and the log of the chip has all that was written and erased meanwhile.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from cut_guests import cases_of_text, opened

from ffslab.lab.lab_build import LabBuild
from ffslab.loader import find_study
from ffslab.model.case import Case
from ffslab.oracle.faults import PROGRAM
from ffslab.targets.target import FLASH_NAME, GuestJob, GuestRun
from ffslab.workloads.cuts.explore.guest import run_guest
from ffslab.workloads.cuts.oracle import oracle_for
from ffslab.workloads.cuts.outcomes import CORRECT, judgement_of
from ffslab.workloads.cuts.plan import cuts_of, cutter_of, history_of
from ffslab.workloads.cuts.states import Logged, kinds_of, parse_log
from ffslab.workloads.cuts.texts import GuestTexts
from ffslab.workloads.cuts.walk import Cut, parse_walk

THRESHOLD = 4096  # CONFIG_MTD_UBI_WL_THRESHOLD of the lab's kernel
VID_HEADER_AT = 512  # of a block: a sub-page
KINDS = ("lost", "torn-prefix", "torn-bits", "erase-half")


@dataclass(frozen=True)
class Block:
    """What UBI's two headers of a block say; a block without data has no number."""

    erases: int
    is_copy: bool = False
    number: int | None = None


@dataclass(frozen=True)
class Move:
    """The operations of a move: header and data of the copy, erase and header of what it is of."""

    to: int
    operations: tuple[Logged, ...]


@dataclass(frozen=True)
class Worn:
    """The case of UBIFS with `moved-blocks`, and what its first guest left behind."""

    case: Case
    first: GuestTexts
    log: tuple[Logged, ...]
    blocks: tuple[Block, ...]


def blocks_of(flash: Path, count: int) -> tuple[Block, ...]:
    """The headers of UBI's blocks in the image of a chip (image_format.h, ubi-media.h)."""
    with flash.open("rb") as image:
        head = image.read(72)
        page_bytes, oob_bytes, _, pages = struct.unpack_from("<4I", head, 12)
        (data,) = struct.unpack_from("<Q", head, 48)
        blocks = []
        for number in range(count):
            image.seek(data + number * pages * (page_bytes + oob_bytes))
            page = image.read(page_bytes)
            magic, erases = struct.unpack_from(">4s4xQ", page)
            assert magic == b"UBI#", number
            magic, is_copy, lnum = struct.unpack_from(">4s2xB5xI", page, VID_HEADER_AT)
            in_use = magic == b"UBI!"
            blocks.append(Block(erases, in_use and bool(is_copy), lnum if in_use else None))
    return tuple(blocks)


def moves_of(log: Sequence[Logged], blocks: Sequence[Block]) -> list[Move]:
    """The moves whose copy is still there."""
    headers = {
        one.block: at
        for at, one in enumerate(log)
        if one.verb == PROGRAM and one.page == 0 and int(one.line.split()[4]) == VID_HEADER_AT
    }
    moves = []
    for block, first in sorted(headers.items(), key=lambda one: one[1]):
        if blocks[block].is_copy:
            behind = next(at for at in range(first, len(log)) if log[at].verb != PROGRAM)
            moves.append(Move(block, tuple(log[first : behind + 2])))
    return moves


@pytest.fixture(scope="module")
def worn(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> Worn:
    case = next(
        one
        for one in cases_of_text(find_study("power-cuts").text)
        if one.filesystem.type == "ubifs" and cuts_of(one).history == "moved-blocks"
    )
    directory = tmp_path_factory.mktemp("worn")
    with opened(lab, case, directory) as guests:

        def keeping(job: GuestJob) -> GuestRun:
            return guests.run(replace(job, keep_flash=True))

        cutter = cutter_of(case, guests.rig)
        ended = run_guest(replace(guests, run=keeping), cutter, "", directory / "log")
    assert ended is not None
    first = ended[0]
    assert first.passed and first.log is not None
    blocks = blocks_of(directory / "log" / FLASH_NAME, case.partition_blocks)
    return Worn(case, first, parse_log(first.log), blocks)


def walked(worn: Worn, lab: LabBuild, directory: Path, states: Sequence[str]) -> list[str]:
    """What became of these states."""
    lines = "".join(f"{state}\n" for state in states)
    directory.mkdir(exist_ok=True)
    with opened(lab, worn.case, directory, 300) as guests:
        cutter = cutter_of(worn.case, guests.rig)
        ended = run_guest(guests, cutter, lines, directory / "walk")
    assert ended is not None and ended[0].passed
    walk = parse_walk(ended[0].walk)
    oracle = oracle_for(worn.case, history_of(worn.case))(worn.first.record)
    return [
        judgement_of(state, walk.texts, oracle).outcome
        for state in walk.states
        if not state.refused
    ]


def test_blocks_are_moved_to_worn_ones(worn: Worn) -> None:
    calls = worn.first.record.splitlines()[:-1]
    assert {line.split()[2] for line in calls} == {"0"}  # nothing fails, as with no space
    moves = moves_of(worn.log, worn.blocks)
    assert len(moves) >= 10
    for move in moves:
        copy, (*programs, erase, header) = move.to, move.operations
        assert {one.block for one in programs} == {copy}
        assert [one.page for one in programs] == list(range(len(programs)))
        assert (erase.verb, header.verb, header.block) == ("erase", PROGRAM, erase.block)
        assert erase.block != copy
        assert worn.blocks[copy].erases - worn.blocks[erase.block].erases > THRESHOLD
    # Whole blocks of the cold files are among them.
    assert sum(len(move.operations) > 60 for move in moves) >= 3


def test_power_may_fail_at_every_operation_of_a_move(
    worn: Worn, lab: LabBuild, tmp_path: Path
) -> None:
    cuts = [
        str(Cut(one.number, kind, 0))
        for move in moves_of(worn.log, worn.blocks)
        for one in move.operations
        for kind in kinds_of(one, KINDS, paired=False)
    ]
    assert len(cuts) > 1000
    outcomes = walked(worn, lab, tmp_path, cuts)
    assert len(outcomes) > 0.9 * len(cuts)
    assert set(outcomes) == {CORRECT}


def test_power_may_fail_in_a_recovery_that_moves_blocks(
    worn: Worn, lab: LabBuild, tmp_path: Path
) -> None:
    """When UBI is attached it goes on with what is due."""
    moves = [move for move in moves_of(worn.log, worn.blocks) if len(move.operations) > 60]
    middle = moves[0].operations[30].number
    outcomes = walked(worn, lab, tmp_path, [f"{middle} {kind} 0 * {kind} 0" for kind in KINDS[:3]])
    assert len(outcomes) > 300
    assert set(outcomes) == {CORRECT}


def test_the_last_page_of_a_copy_may_not_stay(worn: Worn, lab: LabBuild, tmp_path: Path) -> None:
    """UBI trusts the copy, erases the other block, and then cannot read it: docs/findings.md."""
    last = [move.operations[-3].number for move in moves_of(worn.log, worn.blocks)]
    earlier = [move.operations[-4].number for move in moves_of(worn.log, worn.blocks)]
    outcomes = walked(worn, lab, tmp_path, [f"{number} unstable 0" for number in last])
    assert {"corrupt-contents", "remount-fails"} < set(outcomes)
    # With any other page the copy is not whole yet when power fails.
    others = walked(worn, lab, tmp_path / "others", [f"{one} unstable 0" for one in earlier])
    assert set(others) == {CORRECT}
