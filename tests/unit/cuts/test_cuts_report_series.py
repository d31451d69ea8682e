"""Cuts in a row in the report of an exploration: their table, and numbers of their own."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from cuts_support import finding, series_study, unit_of

from ffslab.workloads.cuts.explore.case import Directory, Request, begin
from ffslab.workloads.cuts.stored import StoredSeries
from ffslab.workloads.cuts.report.load import load
from ffslab.workloads.cuts.report.page import render_exploration
from ffslab.workloads.cuts.report.series import words_of
from ffslab.workloads.cuts.report.words import facts

SERIES: StoredSeries = {
    "cuts": 40,
    "lives": [0, 30],
    "given_up": [],
    "space": [[0, 9_000_000, 1, 1, 2, 5, 3], [30, 7_500_000, 1, 1, 4, 50, 30]],
    "recovery": {"none": [2, 900, 0, 0, 900, 0, 0], "lost": [40, 400, 80, 4, 33, 9, 1]},
    "spared": [],
}


def made(place: Path) -> Directory:
    path = place / "row.toml"
    path.write_text(series_study('cuts = 40\nkinds = ["lost", "done"]'))
    request = Request(str(path), (), (), "ffslab crash run row.toml")
    directory = begin(request, place, datetime(2026, 1, 1, tzinfo=UTC))
    for unit_id in directory.about()["units"]:
        found = [finding(unit_id, "31 lost 0", "mount-fails")]
        unit = unit_of(unit_id, series=SERIES, findings=found if "jffs2" in unit_id else [])
        unit["recovery"] = {"curve": [], "worst": None}
        directory.unit_dir(unit_id).mkdir(parents=True)
        directory.finish(unit)
    return directory


def test_a_series_is_told_in_words() -> None:
    assert words_of(SERIES) == ("40", "2", "9.00", "7.50", "7.50", "2", "30", "10", "33")
    nothing: StoredSeries = {**SERIES, "space": [], "recovery": {"none": [1, 5, 0, 0, 5, 0, 0]}}
    assert words_of(nothing) == ("40", "2", *("–",) * 7)


def test_cuts_in_a_row_have_a_table_and_numbers_of_their_own(tmp_path: Path) -> None:
    directory = made(tmp_path)
    page = render_exploration(directory)
    assert 'id="series"' in page and 'id="recovery"' not in page
    assert "cut 31: lost" in page and "crash replay" in page
    # A series has no history that could be made shorter.
    assert "crash minimize" not in page
    told = dict(facts(load(directory)))
    assert (told["Cuts in a row"], told["Kinds of these"]) == ("40", "lost, done")
    assert "Sample" not in told
