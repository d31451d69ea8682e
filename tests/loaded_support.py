"""Runs as their report reads them, for tests of what it makes of them."""

from __future__ import annotations

from pathlib import Path

from ffslab.report.data import Run
from ffslab.report.kept import kept_of, with_kept
from ffslab.report.load import plain_run, read_figures


def load_run(run_dir: Path) -> Run:
    read = read_figures(run_dir, kept_of)
    return with_kept(plain_run(run_dir, read), read)
