"""Data without power: bit flips grow with the hours, UBI moves blocks, in the end data are lost.

The rates are far above any chip's, so that a small tree shows all of it.
"""

from __future__ import annotations

from typing import Any

import pytest
from lab_support import results, run_study

pytestmark = pytest.mark.usefixtures("lab")
STUDY = """
schema = 1
name = "shelf"
title = "Years without power"

[base]
board = "apf27-2012"
partition_bytes = "16 MiB"
seeds = [1]

[base.workload]
kind = "tree"
steps = "mount create unmount restart mount check settle unmount"
files = "constant(8)"
directories = "constant(2)"
size = "constant(65536)"
depth = "constant(1)"

[axes]
"chip.ecc_strength_bits" = [4]
"chip.endurance_cycles" = [100_000]
"chip.rber_retention_e12" = [2_800_000]
"chip.worn_cycles" = [50_000]
"chip.shelf_hours" = [0, 8_760, 43_800, 1_000_000]
filesystem = ["ubifs", "jffs2"]
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], Any]:
    """The results by file system and hours."""
    place = tmp_path_factory.mktemp("shelf")
    (place / "shelf.toml").write_text(STUDY)
    run = run_study(place / "shelf.toml", place / "run", status=1)
    return {
        (one["axes"]["filesystem"], one["axes"]["chip.shelf_hours"]): one for one in results(run)
    }


def step(result: Any, phase: str) -> Any:
    return next(one for one in result["tree"]["steps"] if one["phase"] == phase)


@pytest.mark.parametrize("name", ["ubifs", "jffs2"])
def test_flips_grow_with_the_hours(found: dict[tuple[str, int], Any], name: str) -> None:
    flips = [step(found[name, hours], "check")["corrected_bitflips"] for hours in (0, 8760, 43800)]
    assert flips[0] == 0
    # Five times the hours, five times the mean: 4,096 bits × 2.8e-6 × 0.5 × 8.76 = 0.05 in a step.
    assert flips[1] > 100
    if name == "jffs2":
        assert flips[2] == pytest.approx(5 * flips[1], rel=0.1)
    else:  # what UBI reads to move it counts as well
        assert flips[2] > 4 * flips[1]
    assert found[name, 8760]["outcome"] == "pass"


def test_ubi_moves_blocks_that_are_near_the_limit(found: dict[tuple[str, int], Any]) -> None:
    def moved(hours: int) -> int:
        """Pages that UBI's worker programmed after the power came back."""
        steps = (step(found["ubifs", hours], name) for name in ("mount-2", "check", "settle"))
        tasks = (task for one in steps for task in one["tasks"] if "ubi_bgt" in task["name"])
        return sum(task["pages_programmed"] for task in tasks)

    assert moved(0) == 0
    assert moved(43800) > 64  # a block at least


@pytest.mark.parametrize("name", ["ubifs", "jffs2"])
def test_in_the_end_data_are_lost(found: dict[tuple[str, int], Any], name: str) -> None:
    assert found[name, 1_000_000]["outcome"] in ("corrupt", "fail")
    assert found[name, 0]["outcome"] == "pass"
