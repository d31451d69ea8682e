"""The same bytes of kernel, modules and agent give the same results on this host as on another one.

`tests/golden/hosts.json` has the hashes of what was built, of the results, and the host that had
them. Where the build is another one there is nothing to compare: the reason for the skip then has
the file's new contents. FFSLAB_NIGHTLY=1 runs it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from guest_programs import NIGHTLY
from lab_support import ROOT, run_study

from ffslab.lab.lab_build import LabBuild
from ffslab.results.rundir import RESULTS

pytestmark = pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 compares with another host")

GOLDEN = ROOT / "tests" / "golden" / "hosts.json"
# UBIFS with a compressor writes back by the clock: what takes another nanosecond shows there.
RUNS = {
    "quick": ("quick",),
    "compression": (
        *("compression", "--case", "files-ubifs-lzo-s1"),
        *("--case", "files-ubifs-zstd-s1"),
    ),
}
USED = ("vnand", "flashmon", "mtdsplit")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    wanted = ("vendor_id", "cpu family", "model\t", "model name")
    told = [line.partition(":")[2].strip() for line in lines if line.startswith(wanted)]
    return ", ".join(told[: len(wanted)])


def test_another_host_has_the_same_results(lab: LabBuild, tmp_path: Path) -> None:
    results = {
        name: sha256(run_study(words[0], tmp_path / name, *words[1:]) / RESULTS)
        for name, words in RUNS.items()
    }
    built = {"kernel": sha256(lab.kernel), "agent": sha256(lab.agent)}
    built |= {name: sha256(lab.modules[name]) for name in USED if name in lab.modules}
    here: dict[str, Any] = {"host": processor(), "built": built, "results": results}
    known = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert known["built"] == built, f"another build: {GOLDEN.name} is to be {json.dumps(here)}"
    assert known["results"] == results, f"{known['host']} had other results than {here['host']}"
