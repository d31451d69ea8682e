"""The workload database on the file systems of the lab: what journals cost, and that it repeats."""

from __future__ import annotations

from pathlib import Path

from lab_support import results, run_study

from ffslab.lab.lab_build import LabBuild

STUDY = """
schema = 1
name = "databases"
title = "Small databases"

[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1]

[base.workload]
kind = "database"
transactions = 100
pages_per_transaction = 3
database_bytes = "512 KiB"
checkpoint_frames = 60
contents = "random"
verify = true

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2", "logfs"]
"workload.journal" = ["delete", "wal"]
"""
CHANGED = 100 * 3 * 4096


def test_the_journals_on_every_file_system(lab: LabBuild, tmp_path: Path) -> None:  # noqa: ARG001
    study = tmp_path / "databases.toml"
    study.write_text(STUDY)
    runs = [run_study(study, tmp_path / f"out-{jobs}", "--jobs", jobs) for jobs in ("1", "2")]
    one, two = ((run / "results.jsonl").read_bytes() for run in runs)
    assert one == two
    found = {result["id"]: result for result in results(runs[0])}
    assert len(found) == 8
    for name, result in found.items():
        # All pages were read back.
        assert result["outcome"] == "pass", (name, result["reason"])
        stored, counts = result["database"], {x["op"]: x["count"] for x in result["latencies"]}
        phases = {phase["phase"]: phase for phase in result["phases"]}
        whole = phases["workload"]
        assert (stored["transactions_done"], stored["changed_bytes"]) == (100, CHANGED)
        assert phases["verify"]["bytes_read"] == 512 * 1024
        if "delete" in name:
            assert counts == {"transaction": 100, "sync": 300}
            each = 512 + 4 + 4 * (4096 + 8) + 4 * 4096
            assert stored["written_bytes"] == 100 * each
            # Each old and each new page must be on the flash, and nothing shortens random bytes.
            assert whole["pages_programmed"] >= 100 * 2 * 8
        else:
            # 20 transactions come to 60 frames, which is five times in 100; the log is then empty.
            assert counts == {"transaction": 100, "sync": 105, "checkpoint": 5}
            assert stored["checkpoints"] == 5
            assert whole["pages_programmed"] >= CHANGED // 2048
        assert abs(stored["programs_per_transaction"] * 100 - whole["pages_programmed"]) < 0.5
        own = phases["commit"]["pages_programmed"] + phases["close"]["pages_programmed"]
        assert sum(task["pages_programmed"] for task in stored["tasks"]) == own


def test_a_used_flash_and_one_that_fills_up(lab: LabBuild, tmp_path: Path) -> None:  # noqa: ARG001
    study = tmp_path / "databases.toml"
    study.write_text(STUDY.replace("seeds = [1]", 'seeds = [1]\nstate = "saturated"'))
    keys = ("--set", "filesystem=jffs2", "--set", "workload.journal=wal")
    (used,) = results(run_study(study, tmp_path / "used", *keys))
    assert used["outcome"] == "pass" and used["preparation"]["prepared"]["invalid_present"]
    assert [p["phase"] for p in used["phases"] if p["phase"] == "invalidate"]
    study.write_text(STUDY.replace("60\n", "20_000\n").replace("= 100\n", "= 5000\n"))
    (full,) = results(run_study(study, tmp_path / "full", *keys, status=1))
    assert full["outcome"] == "short" and full["short"]["what"] == "transactions"
    assert 0 < full["short"]["measured"] == full["database"]["transactions_done"] < 5000
