"""Runs as their report reads them, for tests of what it makes of them; real ones among them."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

from ffslab.report.data import Run
from ffslab.report.kept import read_kept, run_of
from ffslab.report.load import open_run
from ffslab.results.rundir import RESULTS

RECORDED = Path(__file__).parent / "golden" / "first-screens"  # first_screens.py records there


def load_run(run_dir: Path) -> Run:
    opened = open_run(run_dir)
    return run_of(opened, read_kept(opened))


def recorded(but: str = "") -> list[str]:
    """The studies of which there is a recording."""
    studies = sorted(path.name.removesuffix(".tar.xz") for path in RECORDED.glob("*.tar.xz"))
    return [study for study in studies if study != but]


def unpacked(study: str, folder: Path) -> Path:
    """The run directory of a recording, put into `folder`."""
    with tarfile.open(RECORDED / f"{study}.tar.xz") as archive:
        archive.extractall(folder)
    (run,) = folder.iterdir()
    return run


def recorded_results(study: str, kind: str = "") -> list[Any]:
    """The results of a recording, all or those of a workload."""
    with tarfile.open(RECORDED / f"{study}.tar.xz") as archive:
        (name,) = (one for one in archive.getnames() if one.endswith(RESULTS))
        lines = archive.extractfile(name)
        assert lines is not None
        results = [json.loads(line) for line in lines]
    return [one for one in results if kind in ("", one["spec"]["workload"].get("kind"))]
