"""Cuts in a row on the page of power cuts: their table, and numbers of their own."""

from __future__ import annotations

from pathlib import Path

from cuts_support import SERIES_STUDY, finding, keep, made, new_run, parts, run_cases

from ffslab.report.page import render
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.cuts.report.series import words_of
from ffslab.workloads.cuts.report.words import facts
from ffslab.workloads.cuts.stored import StoredSeries

SERIES: StoredSeries = {
    "cuts": 40,
    "lives": [0, 30],
    "given_up": [],
    "space": [[0, 9_000_000, 1, 1, 2, 5, 3], [30, 7_500_000, 1, 1, 4, 50, 30]],
    "recovery": {"none": [2, 900, 0, 0, 900, 0, 0], "lost": [40, 400, 80, 4, 33, 9, 1]},
    "spared": [],
}


def run_of_series(place: Path) -> RunDirectory:
    run = new_run(place, SERIES_STUDY.format(workload='cuts = 40\nkinds = "lost done"'))
    for case in run_cases(run):
        found = [finding("abcd1234", "31 lost 0", "mount-fails")] if "jffs2" in case.id else []
        recovery = {"curve": [], "worst": None}
        keep(run, made(case.id, series=SERIES, findings=found, recovery=recovery), {})
    return run


def test_a_series_is_told_in_words() -> None:
    assert words_of(SERIES) == ("40", "2", "9.00", "7.50", "7.50", "2", "30", "10", "33")
    nothing: StoredSeries = {**SERIES, "space": [], "recovery": {"none": [1, 5, 0, 0, 5, 0, 0]}}
    assert words_of(nothing) == ("40", "2", *("–",) * 7)


def test_cuts_in_a_row_have_a_table_and_numbers_of_their_own(tmp_path: Path) -> None:
    run = run_of_series(tmp_path)
    page = render(run.path)
    assert 'id="series"' in page and 'id="recovery"' not in page
    assert "cut 31: lost" in page and "crash replay" in page
    # A series has no history that could be made shorter.
    assert "crash minimize" not in page
    told = dict(facts(parts(run)))
    assert (told["Cuts in a row"], told["Kinds of these"]) == ("40", "lost done")
    assert "Sample" not in told
