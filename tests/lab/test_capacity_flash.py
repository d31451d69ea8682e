"""Workload capacity on real file systems: what goes in, what the flash counted, what comes back."""

from __future__ import annotations

from typing import Any

import pytest
from lab_support import results, run_study

from ffslab.lab.lab_build import LabBuild

MIB = 2**20
STUDY = """
schema = 1
name = "full"
title = "Until it is full"

[base]
board = "apf27"
partition_bytes = "32 MiB"
options = { compression = "none" }

[base.workload]
kind = "capacity"

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
"""


@pytest.fixture(scope="module")
def found(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:  # noqa: ARG001
    place = tmp_path_factory.mktemp("full")
    study = place / "study.toml"
    study.write_text(STUDY)
    return results(run_study(study, place / "run", "--jobs", "2"))


def test_a_partition_is_filled_emptied_and_filled_again(found: list[Any]) -> None:
    assert {result["spec"]["filesystem"]["name"] for result in found} == {
        "jffs2",
        "ubifs",
        "yaffs2",
    }
    for result in found:
        assert result["outcome"] == "pass", (result["id"], result["reason"])
        capacity = result["capacity"]
        written, again = capacity["written_bytes"], capacity["again_bytes"]
        # Something is kept for headers, and for collecting garbage; not half of it.
        assert 16 * MIB < written < 32 * MIB, result["id"]
        assert abs(again - written) < written / 20, result["id"]
        assert capacity["settled_bytes"] > 0.9 * capacity["promised_bytes"], result["id"]


def test_every_write_has_its_time_and_the_pages_are_counted(found: list[Any]) -> None:
    """What was written is random, so it takes at least as many pages as it has."""
    for result in found:
        capacity = result["capacity"]
        whole, last = divmod(capacity["written_bytes"], 128 * 1024)
        assert capacity["latency"]["count"] in (whole, whole + bool(last))
        workload = next(one for one in result["phases"] if one["phase"] == "workload")
        assert workload["pages_programmed"] >= capacity["written_bytes"] // 2048
        peaks = [peak["latency_ns"] for peak in capacity["peaks"]]
        assert peaks == sorted(peaks, reverse=True)
        assert peaks[0] == capacity["latency"]["max_ns"]
        for peak in capacity["peaks"][:3]:
            assert peak["tasks"], (result["id"], peak)
