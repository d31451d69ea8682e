"""One offline HTML file that answers a study's questions from a run directory.

`build(run_dir)` reads the run, computes findings, draws charts to inline SVG and writes
`report.html`. The heavy libraries (vl-convert, Jinja2) are imported inside it only.
"""

from __future__ import annotations

from pathlib import Path


def build(run_dir: Path, output: Path | None = None) -> Path:
    """Write the report of `run_dir` to `output` (default: `report.html` inside it) and return its
    path.

    Raises `ffslab.errors.DamagedResultError` or `UsageError` when the run cannot be read; the
    text says what to do.
    """
    from ffslab.report.page import write_report

    return write_report(run_dir, output)
