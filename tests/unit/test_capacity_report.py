"""The report of capacity: apart, since what draws needs more address space than mutants have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from host_support import page_of_case
from test_capacity import STUDY, capacity_records
from test_report_support import charts_of, section_of

from ffslab.report import build


@pytest.mark.slow
def test_the_report_draws_every_write_and_names_causes(tmp_path: Path) -> None:
    """Four writes of 128 KiB of 16 MiB, 600 KiB of which were promised; 500 more after that."""
    page = page_of_case(tmp_path, STUDY, capacity_records())
    charts = charts_of(page)
    shown = charts["fits-dots"]["data"]["rows"]
    shares = dict(zip(shown["what"], shown["share"], strict=True))
    assert shares["written"] == 3.125 and shares["written again"] == 3.05176
    told = re.sub(r"<[^>]*>|\s+", " ", section_of(page, "fits"))
    assert "3.12 % of the partition, 0.08594 MiB less than promised." in told.replace("\xa0", " ")
    writes = charts["filling-dots"]["data"]["rows"]
    assert writes["x"] == [0, 0.125, 0.25, 0.375] and writes["ms"] == [70, 80, 500, 90]
    assert writes["named"] == ["", "", "garbage collection and erase", ""]
    filling = section_of(page, "filling")
    assert "JFFS2’s collector" in filling and "500 ms (garbage collection and erase)" in (
        filling.replace("\xa0", " ")
    )


@pytest.mark.slow
def test_without_its_records_the_rest_of_a_report_is_there(tmp_path: Path) -> None:
    page_of_case(tmp_path, STUDY, capacity_records())
    (records,) = tmp_path.rglob("records.jsonl")
    records.unlink()
    page = build(records.parents[2], tmp_path / "without.html").read_text(encoding="utf-8")
    assert "fits-dots" in charts_of(page) and "filling-dots" not in charts_of(page)
    assert "Not all could be drawn: cases/" in section_of(page, "filling")
