"""The report's section about estimates, of synthetic runs with and without changed ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from test_report_micro_support import write_micro_run
from test_report_support import Effects, Overrides, case_ids, page_of_words, write_run
from test_report_tree_support import files_text, write_tree_run

from ffslab.model.estimates import ESTIMATE, VALUES
from ffslab.report.estimates.load import load_estimates
from ffslab.report.estimates.page import estimate_view
from ffslab.report.estimates.robustness import ratios_of
from ffslab.results.outcome import Outcome
from loaded_support import load_run

PLAIN: Overrides = [("seed", (1,)), ("options.compression", ("none",)), ("state", ("free",))]
TRIED: Overrides = [*PLAIN, (ESTIMATE, VALUES)]
# As stated UBIFS takes 29 s, YAFFS2 33 s; with the driver's work doubled UBIFS takes 29 s × 1.5.
TURNING = Effects(driver_time={"ubifs": 1.5})


def section(path: Path, page_of: Callable[[Path], str] = page_of_words) -> str:
    page = page_of(path)
    start = page.index('<section id="estimates"')
    return re.sub(r"<svg.*?</svg>", "", page[start : page.index('<section id="time-model"')])


def test_without_changes_the_report_says_what_would_try_it(tmp_path: Path) -> None:
    text = section(write_run(tmp_path / "r", PLAIN))
    assert "Not tried" in text and "CPU time of the driver, per page read (165" in text
    assert "--sensitivity</code>" in text
    # Published figures are none of the estimates.
    assert "Page program, tPROG" not in text


def test_an_order_that_hangs_on_the_driver(tmp_path: Path) -> None:
    view = estimate_view(write_run(tmp_path / "r", TRIED, TURNING))
    (turning,) = [f.text for f in view.sentences if f.text.startswith("**Transactions")]
    assert "does not hold with the driver's work per page doubled (×1.14 → ×0.759)" in turning
    assert view.effects is not None
    assert view.effects.rows[0][0] == "driver's work per page" and int(view.effects.rows[0][3]) > 0
    assert {row[3] for row in view.effects.rows[1:]} == {"0"}
    assert any("transactions" in panel.title and panel.drawing for panel in view.panels)
    assert "hang" in view.checked


def test_what_survives_is_said(tmp_path: Path) -> None:
    view = estimate_view(write_run(tmp_path / "r", TRIED, Effects(driver_time={"ubifs": 1.01})))
    assert "orders hold for all tried" in view.checked and "**All" in view.checked
    assert all("holds for all tried" in sentence.text for sentence in view.sentences)


def test_changed_cases_are_in_their_section_only(tmp_path: Path) -> None:
    run = load_run(write_run(tmp_path / "r", TRIED, TURNING))
    assert [case.id for case in run.cases] == case_ids(PLAIN)
    assert run.missing == 0 and ESTIMATE not in run.cases[0].axes
    view = estimate_view(tmp_path / "r")
    assert view.cases is not None and len(view.cases.rows) == len(case_ids(TRIED)) - len(run.cases)


def test_a_changed_case_that_failed_is_named(tmp_path: Path) -> None:
    name = next(name for name in case_ids(TRIED) if "halfram" in name)
    outcomes = {name: Outcome("crash", "out of memory")}
    view = estimate_view(write_run(tmp_path / "r", TRIED, TURNING, outcomes))
    assert f"{name}: crash: out of memory" in view.notes
    assert "crash" in [row[1] for row in view.cases.rows] if view.cases else False


def test_a_changed_case_that_has_not_run_is_not_one_without_effect(tmp_path: Path) -> None:
    """UBIFS's doubled driver turns an order; without that case nothing is claimed about it."""
    folder = write_run(tmp_path / "r", TRIED, TURNING)
    results = folder / "results.jsonl"
    lines = [line for line in results.read_text().splitlines() if "doubledriver" not in line]
    results.write_text("\n".join(lines) + "\n")
    view = estimate_view(folder)
    for ratio in ratios_of(load_estimates(folder).samples):
        assert ratio.mean("double-driver") is None and ratio.mean("half-driver") is not None
    planned = sum("doubledriver" in name for name in case_ids(TRIED))
    assert f"{planned} cases with a changed estimate have not run yet." in view.notes


def test_a_run_of_changed_cases_alone_is_a_run(tmp_path: Path) -> None:
    names = [name for name in case_ids(TRIED) if "doublebus" in name]
    run = load_run(write_run(tmp_path / "r", TRIED, case_ids=names))
    assert [case.id for case in run.cases] == names


@pytest.mark.slow
def test_every_kind_of_report_has_the_section_and_valid_charts(tmp_path: Path) -> None:
    """Valid to Vega-Lite's schema: what draws them passes over what it does not understand."""
    pages: list[str] = []

    def page(path: Path) -> str:
        pages.append(page_of_words(path, validate=True))
        return pages[-1]

    overrides = [("filesystem", ("jffs2", "ubifs")), ("workload.request_bytes", (2048, 4096))]
    tried = ("seed", (1, 2)), (ESTIMATE, (VALUES[0], "double-bus"))
    text = section(write_micro_run(tmp_path / "micro", overrides=[*overrides, *tried]), page)
    assert "mean response time" in text and "random-write" in text and "1 change of" in text
    assert "Not tried" in section(write_tree_run(tmp_path / "tree", files_text((1,))), page)
    body = files_text((1,)).replace("[axes]\n", f'[axes]\n{ESTIMATE} = ["as-stated", "half-bus"]\n')
    text = section(write_tree_run(tmp_path / "tried", body), page)
    assert "Mount" in text and "<td" in text and "Not tried" not in text
    section(write_run(tmp_path / "ffsmark", [("seed", (1, 2))]), page)
    drawings = [page.count("data-digest") for page in pages]
    assert all(count > 5 for count in drawings), drawings
