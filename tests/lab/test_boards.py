"""Every board of the catalog boots, with its RAM, its chip and every file system."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_support import STUDY, boot, cases

from ffslab.kernel.lab_build import LabBuild
from ffslab.loader import load_catalog

BOARDS = sorted(load_catalog().boards)


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs", "yaffs2"])
@pytest.mark.parametrize("board", BOARDS)
def test_board(lab: LabBuild, tmp_path: Path, board: str, filesystem: str) -> None:
    study = STUDY.replace('"apf27"', f'"{board}"').replace('"16 MiB"', '"32 MiB"')
    case = next(iter(cases(study.replace('["jffs2", "ubifs"]', f'["{filesystem}"]')).values()))
    guest = boot(lab, tmp_path / "guest", case)
    assert guest.of_type("end")[0]["status"] == "ok"
    (device,) = guest.of_type("mtd")
    chip = case.board.chip
    assert device["page_bytes"] == chip.page_bytes and device["oob_bytes"] == chip.oob_bytes
    free = guest.of_type("space")[0]["mem_free_bytes"]
    # Of 32 MiB the kernel and UBIFS take some 13.
    assert 0.5 * case.board.ram_bytes < free < case.board.ram_bytes


def test_there_are_the_five_published_boards() -> None:
    assert len(BOARDS) == 5
