"""Target local on a computer with a flash: ffslab runs in a guest of the lab, on the guest's MTD.

The guest is that of `ffslab shell`: the host's programs, Python among them, and a kernel whose
flash is the virtual chip, with the time of the host. For ffslab in it that is the computer that it
runs on. One guest is for all: its script prints what the tests look at.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_support import ROOT

from ffslab.lab.lab_build import LabBuild

STUDY = """
schema = 1
name = "onboard"
title = "Small workloads, here"

[base]
board = "apf27"
partition_bytes = "32 MiB"
seeds = [1]

[base.workload]
kind = "ffsmark"
number = 40
subdirectories = 5
transactions = 100
verify = true

[axes]
filesystem = ["jffs2", "ubifs"]
"""
PLACE = """
schema = 1
name = "guest"
board = "apf27"
directory = "/tmp/ffslab"
agent = "ffsagent"

[partition]
name = "data"
size = "{size}"
"""
# `said NAME COMMAND`: its output, and its exit status on the last line.
SCRIPT = """
cd /tmp
export PYTHONPATH={files}/src HOME=/tmp PYTHONDONTWRITEBYTECODE=1
said() {{ echo "@@ $1"; shift; "$@" 2>&1; echo "status $?"; }}
here() {{ place=$1; shift
    {python} -m ffslab run {files}/study.toml --target local --access {files}/$place.toml \\
        --no-report "$@"; }}
rm /dev/vtime  # the lab's own clock, which stands still in a shell
said mounted here right --yes -o /tmp/r
said untouched cat /mnt/kept
umount /mnt
said wrong here wrong --yes -o /tmp/r
said asked here right -o /tmp/r </dev/null
said run here right --yes -o /tmp/r --repeats 2
said results cat /tmp/r/*/results.jsonl
said manifest cat /tmp/r/*/manifest.json
said late here right --yes -o /tmp/late --case jffs2-s1 --repeats 1 --timeout 2 \\
    --set workload.transactions=1000000
said late-results cat /tmp/late/*/results.jsonl
said agents sh -c 'cat /proc/[0-9]*/cmdline | tr "\\0" "\\n" | grep -cx [.]/ffsagent'
said again here right --yes -o /tmp/again --case ubifs-s1 --repeats 1
said left grep -c -e mtd:data -e ubi0 /proc/mounts
"""


@pytest.fixture(scope="module")
def files() -> Iterator[Path]:
    """ffslab and what the guest reads, where it sees them: its own /tmp is another one."""
    directory = Path(tempfile.mkdtemp(prefix="ffslab-local-", dir="/var/tmp"))
    for name in ("src", "catalog", "studies"):
        shutil.copytree(ROOT / name, directory / name, ignore=shutil.ignore_patterns("*.pyc"))
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def said(lab: LabBuild, files: Path) -> dict[str, tuple[str, int]]:
    """What the guest's commands printed, and their exit statuses."""
    shutil.copy(lab.agent, files / "ffsagent")
    (files / "study.toml").write_text(STUDY, "utf-8")
    for name, size in (("right", "32 MiB"), ("wrong", "16 MiB")):
        (files / f"{name}.toml").write_text(PLACE.format(size=size), "utf-8")
    script = SCRIPT.format(files=files, python=shlex.quote(sys.executable))
    words = ("shell", "quick", "--case", "jffs2-free-s1", "--set", "board.ram_bytes=1 GiB")
    done = subprocess.run(
        [sys.executable, "-m", "ffslab", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        input="echo here >/mnt/kept; sync" + script,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    print(done.stdout, done.stderr)
    found = {}
    for part in done.stdout.split("@@ ")[1:]:
        name, _, printed = part.partition("\n")
        text, _, status = printed.rpartition("status ")
        found[name] = (text, int(status))
    return found


def flat(text: str) -> str:
    return " ".join(text.split())


def test_what_is_mounted_is_not_destroyed(said: dict[str, tuple[str, int]]) -> None:
    told, status = said["mounted"]
    assert status == 3 and "partition data is mounted on /mnt" in flat(told)
    assert said["untouched"] == ("here\n", 0)


def test_another_size_is_another_partition(said: dict[str, tuple[str, int]]) -> None:
    told, status = said["wrong"]
    assert status == 3 and "partition data has 32 MiB" in flat(told)


def test_nothing_is_destroyed_unless_that_is_allowed(said: dict[str, tuple[str, int]]) -> None:
    told, status = said["asked"]
    assert status == 2 and "--yes" in told
    assert "MTD partition 'data' (32 MiB) of guest (this computer, Linux" in flat(told)


def test_a_study_passes_here_and_each_case_is_repeated(said: dict[str, tuple[str, int]]) -> None:
    assert said["run"][1] == 0, said["run"][0]
    results = [json.loads(line) for line in said["results"][0].splitlines()]
    assert [(row["id"], row["outcome"]) for row in results] == [
        (f"{name}{repeat}-s1", "pass") for name in ("jffs2", "ubifs") for repeat in ("", "-repeat2")
    ]
    for row in results:
        assert row["virtual_ns"] >= 10 * 10**9  # nobody sees that the flash is quiet: a pause
        assert sum(phase["duration_ns"] for phase in row["phases"]) > 0
    assert len({row["virtual_ns"] for row in results}) == 4  # of a real clock
    assert all(row["mtd_statistics"]["bad_blocks"] == 0 for row in results)
    manifest = json.loads(said["manifest"][0])
    assert (manifest["target"], manifest["real_clock"]) == ("local", True)


def test_a_case_that_takes_too_long_is_ended(said: dict[str, tuple[str, int]]) -> None:
    """With its processes, and what it had mounted is taken away before the next one begins."""
    assert said["late"][1] == 1
    (row,) = map(json.loads, said["late-results"][0].splitlines())
    assert row["outcome"] == "timeout"
    assert said["agents"][0].strip() == "0"
    assert said["again"][1] == 0, said["again"][0]
    assert said["left"][0].strip() == "0"
