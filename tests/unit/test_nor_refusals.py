"""What cannot run on NOR flash is told, and what can is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ffslab.loader import find_study, load_catalog
from ffslab.model.case import Case
from ffslab.model.nor import refused_by_nor
from ffslab.model.study import expand, study_from_document, with_overrides

CATALOG = load_catalog()


def case_on(board: str, filesystem: str, **settings: Any) -> Case:
    study = study_from_document(find_study("quick").document, CATALOG, "quick")
    stated = {"board": board, "filesystem": filesystem, "state": "free"}
    stated["partition_bytes"] = "28 MiB"
    given = [(key, (value,)) for key, value in (stated | settings).items()]
    return expand(with_overrides(study, given, CATALOG), CATALOG)[0]


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs", "yaffs2", "overlay-jffs2"])
def test_nand_refuses_nothing(filesystem: str) -> None:
    assert not refused_by_nor(case_on("openwrt-one", filesystem))


def test_jffs2_and_ubifs_run_on_nor() -> None:
    assert not refused_by_nor(case_on("imx6ull-evk", "jffs2"))
    assert not refused_by_nor(case_on("imx6ull-evk", "ubifs"))


def test_what_needs_oob_or_pages_does_not() -> None:
    assert "OOB" in refused_by_nor(case_on("imx6ull-evk", "yaffs2"))
    assert "images" in refused_by_nor(case_on("imx6ull-evk", "overlay-jffs2"))
    case = case_on("imx6ull-evk", "jffs2")
    of_image = replace(case, state=replace(case.state, kind="image"))
    assert "images" in refused_by_nor(of_image)


@pytest.mark.parametrize(("pages_per_block", "refused"), [(16, True), (60, True), (61, False)])
def test_ubifs_needs_15_kib_behind_the_headers_of_ubi(pages_per_block: int, refused: bool) -> None:
    """15 KiB and 2 × 64 bytes are 15,488 bytes: more than 60 pages of 256. JFFS2 does not mind."""
    for filesystem in ("ubifs", "jffs2"):
        case = case_on("imx6ull-evk", filesystem)
        chip = replace(case.board.chip, pages_per_block=pages_per_block)
        case = replace(case, board=replace(case.board, chip=chip))
        assert bool(refused_by_nor(case)) == (refused and filesystem == "ubifs")
