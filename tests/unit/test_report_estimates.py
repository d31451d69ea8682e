"""The report's section about estimates, of synthetic runs with and without changed ones."""

from __future__ import annotations

import re
from pathlib import Path

from test_report_support import Overrides, case_ids, page_of_words, write_run
from test_report_support import rows_of as rows_in

from ffslab.model.estimates import ESTIMATE, VALUES
from ffslab.report.estimates.load import load_estimates
from ffslab.report.estimates.page import EstimateView, estimate_view
from ffslab.report.estimates.robustness import ratios_of
from ffslab.report.load import open_run, read_rows
from ffslab.results.outcome import Outcome
from loaded_support import load_run

PLAIN: Overrides = [("seed", (1,)), ("options.compression", ("none",)), ("state", ("free",))]
TRIED: Overrides = [*PLAIN, (ESTIMATE, VALUES)]
# As stated UBIFS takes 29 s, YAFFS2 33 s; with the driver's work doubled UBIFS takes 29 s × 1.5.
TURNING = {"ubifs": 1.5}
CHANGED = "Cases with a changed estimate"


def view_of(path: Path) -> EstimateView:
    run = open_run(path)
    return estimate_view(run, next(read_rows(run))["spec"])


def notes_of(path: Path) -> str:
    return view_of(path).section.note


def rows_of(path: Path, title: str) -> tuple[tuple[str, ...], ...]:
    (table,) = [table for table in view_of(path).section.tables if table.title == title]
    return table.rows


def test_without_changes_the_report_says_what_would_try_it(tmp_path: Path) -> None:
    text = page_of_words(write_run(tmp_path / "r", PLAIN))
    first, _, below = text.partition("</nav>")
    assert "was not tried in this run" in first and "--sensitivity</code>" in below
    names = [row[0] for row in rows_of(tmp_path / "r", "Estimates of the board and its chip")]
    # Published figures are none of the estimates.
    assert "CPU time of the driver, per page read" in names
    assert not any("tPROG" in name for name in names)


def test_an_order_that_hangs_on_the_driver(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", TRIED, TURNING)
    verdicts = view_of(folder)
    assert "hang" in verdicts.line and verdicts.line == verdicts.section.sentence
    assert len(verdicts.line.split()) <= 30 and verdicts.line.replace("**", "") in text_of(folder)
    turning = [row for row in rows_of(folder, "All ratios") if "turns with" in row[3]]
    (transactions,) = [row for row in turning if row[0] == "transactions"]
    assert transactions[3:6] == ("turns with driver's work per page doubled", "×1.14", "×0.759")
    effects = rows_of(folder, "Each estimate")
    assert effects[0][0] == "driver's work per page" and int(effects[0][3]) > 0
    assert {row[3] for row in effects[1:]} == {"0"}
    (chart,) = verdicts.section.charts
    # What turns is first, and reaches beyond 1.
    told = [(row["verdict"], row["least"] < 1) for row in rows_in(chart.drawing)]
    assert told == sorted(told, reverse=True)
    assert told.count(("turns", True)) == len(turning) == sum(below for _, below in told)


def text_of(folder: Path) -> str:
    page = page_of_words(folder)
    return re.sub(r"<[^>]*>", "", page[page.index('id="outcome"') : page.index("</nav>")])


def test_what_survives_is_said(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", TRIED, {"ubifs": 1.01})
    assert re.match(r"\*\*All \d+ orders hold for all tried\*\*", view_of(folder).line)
    assert {row[3] for row in rows_of(folder, "All ratios")} <= {"holds for all tried", "no order"}


def test_changed_cases_are_in_their_section_only(tmp_path: Path) -> None:
    run = load_run(write_run(tmp_path / "r", TRIED, TURNING))
    assert [case.id for case in run.cases] == case_ids(PLAIN)
    assert run.missing == 0 and ESTIMATE not in run.cases[0].axes
    assert len(rows_of(tmp_path / "r", CHANGED)) == len(case_ids(TRIED)) - len(run.cases)


def test_a_changed_case_that_failed_is_named(tmp_path: Path) -> None:
    name = next(name for name in case_ids(TRIED) if "halfram" in name)
    outcomes = {name: Outcome("crash", "out of memory")}
    folder = write_run(tmp_path / "r", TRIED, TURNING, outcomes)
    assert f"{name}: crash: out of memory" in notes_of(folder)
    assert "crash" in [row[1] for row in rows_of(folder, CHANGED)]


def test_a_changed_case_that_has_not_run_is_not_one_without_effect(tmp_path: Path) -> None:
    """UBIFS's doubled driver turns an order; without that case nothing is claimed about it."""
    folder = write_run(tmp_path / "r", TRIED, TURNING)
    results = folder / "results.jsonl"
    lines = [line for line in results.read_text().splitlines() if "doubledriver" not in line]
    results.write_text("\n".join(lines) + "\n")
    for ratio in ratios_of(load_estimates(open_run(folder), {}).samples):
        assert ratio.mean("double-driver") is None and ratio.mean("half-driver") is not None
    planned = sum("doubledriver" in name for name in case_ids(TRIED))
    assert f"{planned} cases with a changed estimate have not run yet." in notes_of(folder)


def test_a_run_of_changed_cases_alone_is_a_run(tmp_path: Path) -> None:
    names = [name for name in case_ids(TRIED) if "doublebus" in name]
    run = load_run(write_run(tmp_path / "r", TRIED, case_ids=names))
    assert [case.id for case in run.cases] == names
