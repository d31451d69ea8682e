"""What `ffslab new workload` writes into a copy of the checkout runs there as it is."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("lab")
ROOT = Path(__file__).resolve().parents[2]
NOT_COPIED = ("build", "__pycache__", ".git", ".mypy_cache", ".pytest_cache", ".ruff_cache")


def copied_to(checkout: Path) -> None:
    """A checkout of its own, without results."""

    def ignored(directory: str, names: list[str]) -> set[str]:
        results = {"results"} if Path(directory) == ROOT else set()
        return (results | set(NOT_COPIED)) & set(names)

    shutil.copytree(ROOT, checkout, symlinks=True, ignore=ignored)


def ffslab(checkout: Path, *words: str) -> str:
    done = subprocess.run(
        ["./ffslab", *words],
        cwd=checkout,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def results(checkout: Path) -> list[dict[str, Any]]:
    """The results of the latest run."""
    run = max((checkout / "results").glob("*/"))
    lines = (run / "results.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_new_workload_runs_as_it_is(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    copied_to(checkout)
    told = ffslab(checkout, "new", "workload", "my-files")
    assert "wrote guest/agent/workloads/my_files/verbs.c" in told
    ran = ffslab(checkout, "run", "my-files")
    assert "2 of 2 cases: 2 pass" in ran
    for result in results(checkout):
        own = result["my_files"]
        assert (own["files_done"], own["bytes"], own["stopped"]) == (100, 100 * 4096, "")
        (whole,) = (phase for phase in result["phases"] if phase["phase"] == "workload")
        assert whole["pages_programmed"] >= 200  # random bytes in pages of 2 KiB
        assert own["my_files_mean_ns"] == pytest.approx(whole["duration_ns"] / 100, rel=0.01)
        assert [one["count"] for one in result["latencies"] if one["op"] == "file"] == [100]
    (page,) = (checkout / "results").glob("*/report.html")
    assert "A file, with its part of the sync" in page.read_text(encoding="utf-8")
    shown = ffslab(checkout, "show", "latest", "jffs2-s1")
    assert "100 of 100 files" in shown


def test_it_says_how_far_it_came_on_a_full_partition(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    copied_to(checkout)
    ffslab(checkout, "new", "workload", "my-files")
    subprocess.run(
        ["./ffslab", "run", "my-files", "--no-report", "--case", "jffs2-s1",
         "--set", "workload.files=5000"],
        cwd=checkout, stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )  # fmt: skip
    (result,) = results(checkout)
    own = result["my_files"]
    assert result["outcome"] == "short" and own["stopped"] == "ENOSPC"
    assert result["short"]["what"] == "files" and result["short"]["asked"] == 5000
    # 16 MiB of files of 4 KiB are 4,096, less what the file system keeps for itself.
    assert 1000 < own["files_done"] == result["short"]["measured"] < 4096
