"""The report of capacity: apart, since what draws needs more address space than mutants have."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_support import page_of_case
from test_capacity import STUDY, capacity_records


@pytest.mark.slow
def test_the_report_draws_every_write_and_names_causes(tmp_path: Path) -> None:
    page = page_of_case(tmp_path, STUDY, capacity_records())
    assert "What fits, and what comes back" in page
    assert page.count("garbage collection and erase") >= 2  # in the drawing and in the table
    assert "JFFS2’s collector" in page
