"""The workload wear in the lab: what it says of erases is what the monitor counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_support import results, run_study

pytestmark = pytest.mark.usefixtures("lab")
SMALL = {
    "partition_bytes": "16 MiB",
    "workload.static_bytes": "4 MB",
    "workload.file_bytes": "4 MB",
    "workload.volumes": "10 MB, 20 MB",
}


def test_erases_of_every_block(tmp_path: Path) -> None:
    given = [word for key, value in SMALL.items() for word in ("--set", f'{key}="{value}"')]
    run = run_study("wear", tmp_path / "run", *given)
    assert len(results(run)) == 3
    for result in results(run):
        assert result["outcome"] == "pass"
        found = result["wear"]
        assert [one["written_bytes"] for one in found["volumes"]] == [10**7, 2 * 10**7]
        # 4 MB are 30.5 blocks; the file system's own data may fill some more by half.
        assert 30 <= len(found["static_blocks"]) <= 36
        last = found["volumes"][-1]
        write = next(phase for phase in result["phases"] if phase["phase"] == "write")
        assert 0 < sum(last["erases"]) <= write["blocks_erased"]
        assert last["write_amplification"] >= 1
        # 256 MiB of 128 KiB are 2,048 blocks, of which the partition has 128.
        assert last["inside"]["blocks"] == 128 and last["outside"]["blocks"] == 1920
        assert last["outside"]["max"] == 0 and last["global_leveling"] == "no"
