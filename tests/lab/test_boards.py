"""Boards of the catalog boot, with their RAM and chip: the published ones with every file system.

Of the others a sample boots: each with JFFS2, one of each kind of chip with what else runs there.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_support import STUDY, boot, cases

from ffslab.lab.lab_build import LabBuild
from ffslab.loader import load_catalog

BOARDS = sorted(load_catalog().boards)
PUBLISHED = ("apf27", "apf27-2012", "celf-mips", "omap3530-evm", "xscale-1g")
SAMPLE = [
    *((board, filesystem) for board in PUBLISHED for filesystem in ("jffs2", "ubifs", "yaffs2")),
    *((board, "jffs2") for board in BOARDS if board not in PUBLISHED),
    ("imx6ull-nand", "ubifs"),
    ("openwrt-one", "ubifs"),
    ("mt7981-router", "yaffs2"),
    ("mt7621-gnubee", "ubifs"),
]


@pytest.mark.parametrize(("board", "filesystem"), SAMPLE)
def test_board(lab: LabBuild, tmp_path: Path, board: str, filesystem: str) -> None:
    size_bytes = min(32 * 2**20, load_catalog().board(board).chip.size_bytes)
    study = STUDY.replace('"apf27"', f'"{board}"').replace('"16 MiB"', str(size_bytes))
    case = next(iter(cases(study.replace('["jffs2", "ubifs"]', f'["{filesystem}"]')).values()))
    guest = boot(lab, tmp_path / "guest", case)
    assert guest.of_type("end")[0]["status"] == "ok"
    (device,) = guest.of_type("mtd")
    chip = case.board.chip
    # MTD calls the smallest write a page, which is a byte on NOR.
    assert device["page_bytes"] == (1 if chip.is_nor else chip.page_bytes)
    assert device["oob_bytes"] == chip.oob_bytes
    free = guest.of_type("space")[0]["mem_free_bytes"]
    # Of 32 MiB the kernel and UBIFS take some 13.
    assert 0.5 * case.board.ram_bytes < free < case.board.ram_bytes
