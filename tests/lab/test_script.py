"""The workload script: a script of the user as a measured phase, the same wherever it lies."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from lab_support import results, run_study

pytestmark = pytest.mark.usefixtures("lab")
STUDY = """
schema = 1
name = "own"
title = "A script"

[base]
board = "apf27"
partition_bytes = "16 MiB"
filesystem = "jffs2"
seeds = [1]

[base.workload]
kind = "script"
script = "own one.sh"
files = ["data"]
arguments = "'two words' three"
"""
WRITES = """
[ "$1" = 'two words' ] && [ "$2" = three ] && [ "$PWD" = /mnt ] || exit 9
cp "$FFSLAB_FILES/data/a" . && dd if=/dev/urandom of=b bs=4k count=64 && sleep 2
"""
ALL = "filesystem=['jffs2', 'ubifs', 'yaffs2']"


def study(directory: Path, script: str) -> Path:
    (directory / "data").mkdir(parents=True)
    (directory / "data" / "a").write_text("a file\n")
    (directory / "own one.sh").write_text(script)
    (directory / "own.toml").write_text(STUDY)
    return directory / "own.toml"


def phases(result: Any) -> dict[str, Any]:
    return {phase["phase"]: phase for phase in result["phases"]}


def test_equal_scripts_give_equal_bytes_wherever_they_are(tmp_path: Path) -> None:
    file = study(tmp_path / "one", WRITES)
    shutil.copytree(tmp_path / "one", tmp_path / "another place")
    wanted = ("--set", ALL, "--set", "state=['free', 'aged']")
    one = run_study(file, tmp_path / "r1", *wanted)
    other = run_study(tmp_path / "another place" / "own.toml", tmp_path / "r2", *wanted)
    assert (one / "results.jsonl").read_bytes() == (other / "results.jsonl").read_bytes()
    assert len(results(one)) == 6
    for result in results(one):
        found = phases(result)
        assert result["outcome"] == "pass" and result["script"] == {"exit_status": 0}
        assert 2e9 < found["script"]["duration_ns"] < 9e9
        assert found["workload"]["pages_programmed"] >= 128  # 256 KiB in pages of 2 KiB
        assert "path" not in str(result["spec"]["workload"])


def test_other_contents_are_another_case(tmp_path: Path) -> None:
    hashes = set()
    for number in range(3):
        file = study(tmp_path / str(number), f"echo {min(number, 1)}\n")
        if number == 2:
            (file.parent / "data" / "a").write_text("another\n")
        run = run_study(file, tmp_path / f"r{number}")
        hashes |= {result["spec_hash"] for result in results(run)}
    assert len(hashes) == 3


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo first; echo last >&2; exit 3", "the script exited with status 3: last"),
        ("kill -9 $$", "the script exited with status 137: Killed"),
        ("#!/no/such\necho", "the script exited with status 127: "),
    ],
)
def test_a_script_that_fails_says_how(tmp_path: Path, script: str, reason: str) -> None:
    run = run_study(study(tmp_path / "s", script), tmp_path / "r", status=1)
    (result,) = results(run)
    assert result["outcome"] == "fail" and result["reason"].startswith(reason)
    assert "flush" in phases(result)  # what it did is measured all the same


def test_what_a_script_leaves_running_does_not_keep_the_file_system(tmp_path: Path) -> None:
    # A shell and, in the middle of its time, its sleep.
    script = "while :; do echo x >>f; sleep 4; done &\nsleep 2"
    run = run_study(study(tmp_path / "s", script), tmp_path / "r")
    (result,) = results(run)
    output = (run / "cases" / result["id"] / "output.log").read_text()
    assert "left 2 processes behind" in output
