"""Runs as their report reads them, for tests of what it makes of them."""

from __future__ import annotations

from pathlib import Path

from ffslab.report.data import Run
from ffslab.report.kept import read_kept, with_kept
from ffslab.report.load import plain_run


def load_run(run_dir: Path) -> Run:
    read = read_kept(run_dir)
    return with_kept(plain_run(run_dir, read), read)
