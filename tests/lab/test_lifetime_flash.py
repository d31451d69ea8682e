"""Chips that wear out in the lab: how each file system ends, and that the records say so."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_support import results, run_study

from ffslab.lifetime.read import wear_out_of

pytestmark = pytest.mark.usefixtures("lab")
# Each block endures 90 to 110 erases. 12 blocks of the partition's 64 are enough to write to.
SMALL = {
    "part": "append",
    "chip.endurance_cycles": 100,
    "workload.volumes": "2 MB, 4 MB, 6 MB, 10 GB",
    "options.wl_threshold": "4096",
}
# What the kernel says of each block that is marked bad.
SAYS = {"jffs2": " as bad", "ubifs": " as bad", "yaffs2": " is bad now"}
ENDS = {"jffs2": "ENOSPC", "ubifs": "EROFS", "yaffs2": "ENOSPC"}


def test_chips_are_written_to_their_death(tmp_path: Path) -> None:
    given = [
        word
        for key, value in SMALL.items()
        for word in ("--set", f"{key}={value!r}".replace("'", '"'))
    ]
    run = run_study("lifetime", tmp_path / "run", *given)
    assert len(results(run)) == 3
    for result in results(run):
        name, found = result["spec"]["filesystem"]["name"], result["wear"]
        # The static data were read back and compared, or it would not have passed.
        assert result["outcome"] == "pass", (name, result["reason"])
        assert found["stopped"] == ENDS[name]
        outcome = wear_out_of(found)
        assert outcome is not None and outcome.first_bad_bytes and outcome.end_bytes
        assert found["volumes"][1]["written_bytes"] < outcome.first_bad_bytes < outcome.end_bytes
        # Nobody had 110 erases; whoever was the first to fail had 90 at least, with those from
        # before the static data were there.
        grown = found["grown"]
        assert 85 <= max(grown["erases"]) <= 110
        console = (run / "cases" / result["id"] / "console.log").read_text(errors="replace")
        assert console.count(SAYS[name]) == outcome.bad_blocks
        if name == "ubifs":
            # 20 of 1,024 of the chip's 256 blocks are kept for bad ones.
            assert outcome.bad_blocks == 5
