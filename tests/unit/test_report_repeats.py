"""The report's section on repeats, of a run on a real clock."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_report_support import charts_of, page_of_words, section_of, write_run

from ffslab.report.load import open_run
from ffslab.report.repeats import sections

PLAIN = [("seed", (1,)), ("filesystem", ("jffs2",)), ("state", ("free",))]


def real_run(folder: Path, *factors: float) -> Path:
    """A case and as many repeats of it; their transactions took so many times as long."""
    run = write_run(folder, [*PLAIN, ("options.compression", ("none",))])
    (row,) = map(json.loads, (run / "results.jsonl").read_text().splitlines())
    rows = [row, *(repeated(row, number, f) for number, f in enumerate(factors, start=2))]
    (run / "results.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    manifest = json.loads((run / "manifest.json").read_text())
    (planned,) = manifest["cases"]
    manifest["cases"] += [
        {**planned, "id": each["id"], "repeat": each["spec"]["repeat"]} for each in rows[1:]
    ]
    more = {"real_clock": True, "absent": [["CPU time", "nobody counts it"]]}
    (run / "manifest.json").write_text(json.dumps({**manifest, **more}))
    return run


def repeated(row: dict[str, Any], number: int, factor: float) -> dict[str, Any]:
    phases = [
        {**phase, "duration_ns": round(phase["duration_ns"] * factor)} for phase in row["phases"]
    ]
    spec = {**row["spec"], "repeat": number}
    return {**row, "id": f"{row['id']}-repeat{number}", "spec": spec, "phases": phases}


def test_the_median_and_the_range_of_all_repeats(tmp_path: Path) -> None:
    (section,) = sections(open_run(real_run(tmp_path / "r", 1.5, 0.9)))
    assert section.sentence.startswith("Each case was measured 3 times; ")
    (table,) = section.tables
    name = "transactions: time"
    (row,) = [row for row in table.rows if row[1] == name]
    # 0.9, 1 and 1.5 of the first: from 0.9 to 1.5 are 60 % of the median.
    assert row[5] == "60 %"
    page = page_of_words(tmp_path / "r")
    drawn = charts_of(page)["repeats-ranges"]["data"]["rows"]
    ends = [v for v, r in zip(drawn["value"], drawn["row"], strict=True) if r == name]
    assert ends == [pytest.approx(0.9), pytest.approx(1.5)]
    assert "Absent: CPU time, because nobody counts it." in section_of(page, "repeats")


def test_without_a_repeat_nobody_knows_how_far_it_varies(tmp_path: Path) -> None:
    (section,) = sections(open_run(real_run(tmp_path / "r")))
    assert "nobody knows how far it varies" in section.sentence and not section.charts


def test_in_virtual_time_there_is_no_such_section(tmp_path: Path) -> None:
    assert not list(sections(open_run(write_run(tmp_path / "r", PLAIN))))
