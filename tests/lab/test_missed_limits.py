"""A study of its own, as `quick`, states limits: what real cases are beyond, they missed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_support import ROOT, ffslab, results, run_study

pytestmark = pytest.mark.usefixtures("lab")


def mount_ns(result: Any) -> int:
    (step,) = [step for step in result["steps"] if step["verb"] == "mount"]
    return int(step["duration_ns"])


def programmed(result: Any) -> int:
    (phase,) = [phase for phase in result["phases"] if phase["phase"] == "workload"]
    return int(phase["pages_programmed"])


def test_a_study_states_limits(tmp_path: Path) -> None:
    quick = (ROOT / "studies" / "quick.toml").read_text()
    for key in ("number", "transactions"):
        quick = quick.replace(f"{key} = 500", f"{key} = 200")
    study = tmp_path / "own.toml"
    study.write_text(quick)
    free = run_study(study, tmp_path / "free", "--no-report", "--jobs", "1")
    measured = {result["id"]: result for result in results(free)}
    slowest = max(mount_ns(result) for case, result in measured.items() if case[:5] == "ubifs")
    pages = programmed(measured["jffs2-free-s1"])

    limits = (
        f'\n[[limits]]\nfigure = "mount.time"\ncase = "ubifs-*"\nat_most = "{slowest} ns"\n'
        f'\n[[limits]]\nfigure = "workload.pages_programmed"\ncase = "jffs2-free-s1"\nat_most = '
    )
    study.write_text(f"{quick}{limits}{pages}\n")
    kept = run_study(study, tmp_path / "kept", "--no-report", "--jobs", "1")
    assert (kept / "results.jsonl").read_bytes() == (free / "results.jsonl").read_bytes()

    study.write_text(f"{quick}{limits}{pages - 1}\n")
    missed = run_study(study, tmp_path / "missed", "--jobs", "1", status=1)
    assert (missed / "results.jsonl").read_bytes() == (free / "results.jsonl").read_bytes()
    told = f"workload.pages_programmed is {pages:,}, at most {pages - 1:,}: "
    shown = ffslab("show", str(missed)).stdout
    assert f"jffs2-free-s1: missed: {told}" in shown and "4 pass, 1 missed" in shown
    page = (missed / "report.html").read_text()
    assert "1 of 4 cases missed a limit of the study" in page and told in page
