"""The report of capacity: apart, since what draws needs more address space than mutants have."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_support import begun_run
from test_capacity import STUDY, capacity_records

from ffslab.campaign.run import prepare
from ffslab.protocol.records import parse_records
from ffslab.report import build
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome


@pytest.mark.slow
def test_the_report_draws_every_write_and_names_causes(tmp_path: Path) -> None:
    study = tmp_path / "full.toml"
    study.write_text(STUDY)
    planned = prepare(str(study), (), ())
    (tmp_path / "run").mkdir()
    run = begun_run(tmp_path / "run", planned)
    (case,) = planned.cases
    records = capacity_records()
    (run.start_case(case, "ffsplan 1\n") / "records.jsonl").write_bytes(records)
    result = case_result(case, Outcome("pass"), parse_records(records), "f" * 64)
    wall = {"id": case.id, "wall_ns": 1, "virtual_ns": 1, "virtual_per_wall": None}
    run.finish_case(result, wall)  # type: ignore[arg-type]
    run.collect([case.id])
    page = build(run.path).read_text(encoding="utf-8")
    assert "What fits, and what comes back" in page
    assert page.count("garbage collection and erase") >= 2  # in the drawing and in the table
    assert "JFFS2’s collector" in page
