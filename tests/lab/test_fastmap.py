"""UBI with fastmap: an attach that does not read every block, after an unmount or a crash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_support import results, run_study

from ffslab.lab.lab_build import LabBuild
from findings import finding

STUDY = """
schema = 1
name = "fastmap"
title = "What fastmap spares an attach"

[base]
board = "celf-mips"
filesystem = "ubifs"
partition_bytes = "128 MiB"
options = { compression = "none" }

[base.workload]
kind = "tree"
files = 20
directories = 2
depth = 2
size = "64 KiB"

[axes]
"options.fastmap" = ["off", "on"]
"workload.steps" = [
  "mount settle create unmount restart mount check list unmount",
  "mount settle create sync log crash mount check list unmount",
]
"""


@pytest.fixture(scope="module")
def found(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:  # noqa: ARG001
    place = tmp_path_factory.mktemp("fastmap")
    study = place / "study.toml"
    study.write_text(STUDY)
    return results(run_study(study, place / "run", "--jobs", "2"))


def test_an_attach_reads_few_blocks(found: list[Any]) -> None:
    """Without a fastmap UBI reads two headers of each of the 1,024 blocks, a page each. With one it
    looks for its anchor at the headers of the first 64, reads the block that the fastmap is in, and
    the headers of the blocks in its pools: 5 % of all, and half as many for wear leveling. What
    UBIFS itself reads is nearly the same.
    """
    read: dict[tuple[str, str], int] = {}
    for result in found:
        assert result["outcome"] == "pass", (result["id"], result["reason"])
        (mount,) = (
            step
            for step in result["tree"]["steps"]
            if step["step"] == "mount" and not step["prepared"]
        )
        option, steps = (result["axes"][name] for name in ("options.fastmap", "workload.steps"))
        read[option, steps] = mount["pages_read"]
        assert (option == "on") == (result["spec"].get("kernel", {}).get("variant") == "fastmap")
    for (option, steps), pages in read.items():
        if option == "on":
            of_ubifs = read["off", steps] - 2 * 1024
            assert 0 < of_ubifs < 500
            assert pages - of_ubifs < 2 * 64 + 64 + 2 * (51 + 25) + 20
    assert len(read) == 4


FLASHED = """
schema = 1
name = "flashed"
title = "The first attach of a flashed image"

[base]
board = "apf27"
filesystem = "ubifs"
partition_bytes = "64 MiB"
state = { kind = "image", tree = "embedded-rootfs" }

[base.workload]
kind = "tree"
steps = "mount unmount"

[axes]
"options.fastmap" = ["off", "on"]
"""


def test_a_flashed_image_has_no_place_for_its_first_fastmap(lab: LabBuild, tmp_path: Path) -> None:
    del lab
    study = tmp_path / "study.toml"
    study.write_text(FLASHED)
    off, on = results(run_study(study, tmp_path / "run", status=1))
    assert off["outcome"] == "pass", off["reason"]
    # It goes on without one, so all the rest is as it should be.
    assert finding("F-UBIFS-08", "could not find any anchor PEB") in on["reason"]
