"""The workload `raw` in the lab: what it writes is on the flash, and bad blocks are left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_support import ffslab, results, run_study

MIB = 2**20
BLOCK = 128 * 1024
STUDY = """
schema = 1
name = "raw"
title = "The bare device"

[base]
board = "celf-mips"
filesystem = "mtd"
partition_bytes = "8 MiB"
seeds = [1]

[base.workload]
kind = "raw"
erase_mb_s = 10.61
write_mb_s = 2.00
read_mb_s = {read}
"""


def study(directory: Path, more: str = "", read: float = 2.50) -> Path:
    path = directory / "raw.toml"
    path.write_text(STUDY.format(read=read) + more, encoding="utf-8")
    return path


def phases(run: Path) -> dict[str, Any]:
    (result,) = results(run)
    assert result["outcome"] == "pass", result
    return {one["phase"]: one for one in result["raw"]["phases"]}


def test_the_published_throughput_and_the_same_nanoseconds_again(tmp_path: Path) -> None:
    one, other = (phases(run_study(study(tmp_path), tmp_path / name)) for name in ("one", "other"))
    assert list(one) == ["erase", "write", "read"]
    for found in one.values():
        assert found["bytes"] == 8 * MIB
        assert found["agrees"] is True and abs(found["difference"]) < 0.03
    assert one == other


def test_bad_blocks_are_left_out_and_told(tmp_path: Path) -> None:
    """The partition begins behind others, so some of the chip's 200 bad blocks are in it."""
    found = phases(
        run_study(study(tmp_path, '[axes]\n"chip.factory_bad" = [200]\n'), tmp_path / "run")
    )
    volumes = {one["bytes"] for one in found.values()}
    assert len(volumes) == 1
    (volume,) = volumes
    assert volume % BLOCK == 0 and 0 < volume < 8 * MIB
    for one in found.values():
        assert one["raw_bytes_per_s"] == pytest.approx(one["published_bytes_per_s"], rel=0.03)


def test_a_board_that_is_slower_than_published_is_told(tmp_path: Path) -> None:
    run = run_study(study(tmp_path, read=3.5), tmp_path / "run")
    assert phases(run)["read"]["agrees"] is False
    shown = ffslab("show", str(run)).stdout
    assert "differs" in shown
