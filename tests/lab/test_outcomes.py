"""Guests that panic, hang or run out of space are results, never crashes of ffslab."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab_support import ROOT, STUDY, cases, ffslab, results, run_study

from ffslab.lab.lab_build import LabBuild
from ffslab.targets.target import GuestJob, GuestRun
from ffslab.targets.uml.guests import LocalTarget
from ffslab.targets.uml.scratch import Place, Scratch
from ffslab.targets.virtual_flash import plan_text

HANG = "int main(void) { for (;;) ; }"
LEAVE = "int main(void) { return 0; }"


def build_agent(tmp_path: Path, source: str) -> Path:
    (tmp_path / "agent.c").write_text(source)
    program = tmp_path / "agent"
    subprocess.run(["gcc", "-static", "-o", str(program), str(tmp_path / "agent.c")], check=True)
    return program


def run_one(lab: LabBuild, tmp_path: Path, timeout_s: float) -> tuple[GuestRun, str]:
    case = cases()["jffs2-free-s1"]
    scratch, case_dir = tmp_path / "scratch", tmp_path / "case"
    scratch.mkdir()
    case_dir.mkdir()
    place = Place(scratch)
    target = LocalTarget(lab, Scratch(place, place, 1), time.monotonic_ns)
    run = target.run(GuestJob(case, plan_text(case), case_dir, timeout_s))
    return run, (case_dir / "console.log").read_text(errors="replace")


def test_panic(lab: LabBuild, tmp_path: Path) -> None:
    run, console = run_one(replace(lab, agent=build_agent(tmp_path, LEAVE)), tmp_path, 60)
    assert "Kernel panic - not syncing: Attempted to kill init" in console
    assert run.exit_status != 0 and not run.timed_out


def test_hang(lab: LabBuild, tmp_path: Path) -> None:
    run, _ = run_one(replace(lab, agent=build_agent(tmp_path, HANG)), tmp_path, 3)
    assert run.timed_out
    assert not subprocess.run(
        ["pgrep", "-f", str(tmp_path)], capture_output=True, text=True, check=False
    ).stdout


def test_not_an_agent(lab: LabBuild, tmp_path: Path) -> None:
    text = tmp_path / "agent"
    text.write_text("this is no program\n")
    run, console = run_one(replace(lab, agent=text), tmp_path, 60)
    assert "Kernel panic" in console and run.exit_status != 0


@pytest.mark.usefixtures("lab")
def test_no_space_is_a_result(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(STUDY.replace("number = 300", "number = 20000"))
    done = ffslab("run", str(study), "--output", str(tmp_path / "out"))
    assert done.returncode == 1, done.stdout + done.stderr
    (run,) = (tmp_path / "out").glob("*/")
    for result in results(run):
        assert result["outcome"] == "short" and "ENOSPC" in result["reason"], result
        short = result["short"]
        assert (short["what"], short["asked"]) == ("files created", 20000)
        assert not short["accepted"]
        records = (run / "cases" / result["id"] / "records.jsonl").read_text()
        phases = [json.loads(line) for line in records.splitlines() if '"type":"phase"' in line]
        (creation,) = [phase for phase in phases if phase["phase"] == "creation"]
        assert creation["errno_name"] == "ENOSPC" and creation["files_created"] > 500
        assert short["measured"] == creation["files_created"]


SHORT_STUDY = """
schema = 1
name = "short"
title = "Overwrites on a partition that is filled further and further"
[base]
board = "omap3530-evm"
filesystem = "jffs2"
partition_bytes = "10 MiB"
options = { compression = "none" }
state = { rate_percent = 30 }
[base.workload]
kind = "micro"
volume_bytes = "2 MiB"
request_bytes = "512 KiB"
existing = true
[axes]
"state.rate_percent" = [30, 75, 78]
"""


@pytest.mark.usefixtures("lab")
def test_less_than_was_asked_for_is_told(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(SHORT_STUDY)
    run = ("run", str(study), "--output", str(tmp_path / "out"), "--no-report")
    allowed = ffslab(*run, "--set", "state.rate_percent=[30, 75]")
    assert allowed.returncode == 0, allowed.stdout + allowed.stderr
    assert "SHORT: 1 of 2 cases measured less than was asked for, 75% of it" in allowed.stdout
    assert "2 of 2 cases: 1 pass, 1 short;" in allowed.stdout
    done = ffslab(*run)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "ratepercent78-s1: short: nothing was measured; 0 of 2 requests" in done.stdout
    assert "3 of 3 cases: 1 pass, 2 short (1 of them failed);" in done.stdout
    (_, place) = sorted((tmp_path / "out").glob("*/"))
    passed, cut, nothing = results(place)
    assert (passed["outcome"], passed["short"]) == ("pass", None)
    assert cut["short"]["measured"] == cut["micro"]["requests_done"] * 2**19 == 3 * 2**19
    assert (cut["short"]["asked"], cut["short"]["accepted"]) == (2**21, True)
    assert (nothing["short"]["measured"], nothing["short"]["stopped"]) == (0, "ENOSPC")
    shown = ffslab("show", str(place)).stdout
    assert "3 of 3 cases: 1 pass, 2 short (1 of them failed)" in shown
    one = ffslab("show", str(place), "ratepercent75-s1").stdout
    assert (
        "ratepercent75-s1: short\n  1.5 MiB of 2 MiB: the file system has room for no more" in one
    )


def finished_cases(run: Path) -> set[str]:
    return {path.parent.name for path in run.glob("cases/*/case.json")}


def wait_for_case(output: Path, process: subprocess.Popen[Any]) -> Path:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        runs = list(output.glob("*/"))
        if runs and finished_cases(runs[0]):
            return runs[0]
        assert process.poll() is None, "the run ended before it could be interrupted"
        time.sleep(0.02)
    raise AssertionError("no case ended")


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_interrupted_study_is_resumed(tmp_path: Path, how: int) -> None:
    study = tmp_path / "study.toml"
    study.write_text(STUDY.replace("seeds = [1]", "seeds = [1, 2, 3]"))
    output = tmp_path / "out"
    command = [sys.executable, "-m", "ffslab", "run", str(study), "--output", str(output)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(
        [*command, "--jobs", "1"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    run = wait_for_case(output, process)
    process.send_signal(how)
    process.wait(60)
    done = finished_cases(run)
    assert 0 < len(done) < 12
    kept = {name: (run / "cases" / name / "case.json").stat().st_mtime_ns for name in done}

    resumed = ffslab("run", str(run), "--resume")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert len(finished_cases(run)) == 12
    for name, moment in kept.items():
        assert (run / "cases" / name / "case.json").stat().st_mtime_ns == moment, name
    # Interrupted and resumed, or in one go: the same results.
    whole = run_study(study, tmp_path / "whole")
    assert (whole / "results.jsonl").read_bytes() == (run / "results.jsonl").read_bytes()
    shutil.rmtree(output)
