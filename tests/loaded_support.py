"""Runs as their report reads them, for tests of what it makes of them."""

from __future__ import annotations

from pathlib import Path

from ffslab.report.data import Run
from ffslab.report.kept import read_kept, run_of
from ffslab.report.load import open_run


def load_run(run_dir: Path) -> Run:
    opened = open_run(run_dir)
    return run_of(opened, read_kept(opened))
