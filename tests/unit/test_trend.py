"""Figures over runs: the band, what is judged, bars, and what JSON says of them."""

from __future__ import annotations

from typing import Any

import pytest

from ffslab.cli.trend_tables import bars
from ffslab.compare.trend import (
    Deciding,
    RunCase,
    Trend,
    TrendRun,
    as_document,
    departures_of,
    trend_of,
)
from ffslab.report.trend.page import headline
from ffslab.results.schema import BY_NAME, Better

SPEC = {"filesystem": {"name": "ubifs"}, "workload": {"number": 500}}
SECOND = 10**9
BAND = 0.02


def case_of(*values: float, better: Better = "lower", why: str = "", **spec: Any) -> RunCase:
    """A case with figures a, b, …, all times of a second times these values."""
    figures = {
        name: Deciding(name, name, name, BY_NAME["duration_ns"], better, value * SECOND)
        for name, value in zip("abcdefgh", values, strict=False)
    }
    if why:
        return RunCase({**SPEC, **spec}, {}, why, failed=True)
    return RunCase({**SPEC, **spec}, figures)


def trend(*cases: RunCase | None, threshold: float = BAND) -> Trend:
    """The trend of one case over runs; None: a run does not have it."""
    runs = [
        TrendRun(
            f"r{n}", f"results/r{n}", f"v{n}", f"{n}", "b", "small", {"c": case} if case else {}
        )
        for n, case in enumerate(cases)
    ]
    return trend_of(runs, threshold)


def departures(*values: float | None) -> list[tuple[int, int | None, bool]]:
    return [(one.run, one.back, one.grown) for one in departures_of(values, BAND)]


# --- the band ---


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ((100, 102, 98.1, 100), []),  # its ends are inside
        ((100, 100, 102.1, 105), [(2, None, True)]),
        ((100, 98, 98), [(1, None, False)]),  # as far as 2.04 %, the other way
        ((100, 105, 101, 100), [(1, 2, True)]),
        ((100, 105, 101, 106), [(1, 2, True), (3, None, True)]),
        ((100, 105, 90), [(1, 2, True), (2, None, False)]),  # over the band to its other side
        ((100, 101, 102, 103, 104), [(3, None, True)]),  # each step is inside
        ((None, 100, None, 105, None, 106), [(3, None, True)]),
        ((100, 105, 101, 106, 107, 99, 99), [(1, 2, True), (3, 5, True)]),
        ((0, 0, 1, 0), [(2, 3, True)]),
        ((5, 0), [(1, None, False)]),
        ((None, None), []),
    ],
)
def test_a_figure_leaves_the_band_around_its_first_value(
    values: tuple[float | None, ...], found: list[Any]
) -> None:
    assert departures(*values) == found


@pytest.mark.parametrize(
    ("better", "values", "verdict"),
    [
        ("lower", (1, 1.1), "worse"),
        ("lower", (1, 0.9), "better"),
        ("higher", (1, 1.1), "better"),
        ("higher", (1, 0.9), "worse"),
        ("neither", (1, 1.1), "moved"),
        ("lower", (1, 1.1, 1), "back"),
        ("lower", (1, 1.01), "same"),
    ],
)
def test_which_way_is_worse_the_figure_says(
    better: Better, values: tuple[float, ...], verdict: str
) -> None:
    (series,) = trend(*(case_of(value, better=better) for value in values)).series
    assert series.verdict == verdict
    assert trend(*(case_of(value, better=better) for value in values)).is_worse == (
        verdict == "worse"
    )


def test_the_gravest_and_there_the_furthest_is_first() -> None:
    found = trend(case_of(1, 1, 1, 1), case_of(1.05, 0.1, 1.5, 1.01))
    assert [series.deciding.title for series in found.ranked] == ["c", "a", "b", "d"]
    assert found.counts == {"worse": 2, "better": 1, "same": 1}
    # What was 0 is further away than all that has a ratio.
    found = trend(case_of(1, 0), case_of(9, 1))
    assert [series.deciding.title for series in found.ranked] == ["b", "a"]


def test_the_newest_value_is_that_of_the_newest_run() -> None:
    (series,) = trend(case_of(1), case_of(1.5), case_of(1.25)).series
    assert (series.base, series.last, series.ratio) == (SECOND, 1.25 * SECOND, 1.25)


def test_cases_and_figures_stand_as_in_the_newest_run() -> None:
    whole = case_of(1, 2)
    turned = RunCase(whole.spec, dict(reversed(whole.figures.items())))
    runs = [
        TrendRun("r0", "r0", "", "", "", "", {"x": whole, "old": whole, "y": whole}),
        TrendRun("r1", "r1", "", "", "", "", {"y": turned, "x": whole, "old": whole}),
        TrendRun("r2", "r2", "", "", "", "", {"y": turned, "x": whole}),
    ]
    found = trend_of(runs)
    assert [(series.case, series.deciding.title) for series in found.series] == [
        *(("y", "b"), ("y", "a"), ("x", "a"), ("x", "b"), ("old", "a"), ("old", "b")),
    ]
    assert found.unjudged == ()  # that a run does not have a case is nothing to tell


# --- what is judged ---


def test_other_work_is_told_and_not_judged() -> None:
    """The band begins anew where the work of the newest run does."""
    small, large = {"number": 500}, {"number": 600}
    found = trend(
        case_of(1, workload=small), case_of(5, workload=large), case_of(5.01, workload=large)
    )
    (series,) = found.series
    assert series.values == (None, 5 * SECOND, 5.01 * SECOND) and series.verdict == "same"
    (told,) = found.unjudged
    assert (told.case, told.run, told.why) == ("c", 0, "another spec: workload.number 500 → 600")
    assert not found.is_worse


def test_other_sources_of_a_module_are_the_same_work() -> None:
    systems = [{"name": "ubifs", "module_source": {"sha256": letter}} for letter in "ab"]
    found = trend(*(case_of(n, filesystem=one) for n, one in enumerate(systems, start=1)))
    assert not found.unjudged and found.is_worse


def test_another_option_of_a_file_system_is_other_work() -> None:
    systems = [{"name": "ubifs", "options": {"compression": word}} for word in ("lzo", "zstd")]
    (told,) = trend(*(case_of(1, filesystem=system) for system in systems)).unjudged
    assert told.why == "another spec: filesystem.options.compression lzo → zstd"


def test_a_figure_that_the_newest_run_lacks_has_its_own_last_value() -> None:
    found = trend(case_of(1, 1), case_of(1, 2), case_of(1))
    (series,) = (series for series in found.series if series.deciding.title == "b")
    assert series.values == (SECOND, 2 * SECOND, None) and series.last == 2 * SECOND
    assert series.deciding.value == 2 * SECOND


def test_a_case_that_fails_now_and_did_not_is_worse() -> None:
    failing = case_of(why="crash: the kernel oopsed")
    found = trend(case_of(1), case_of(1), failing)
    assert [one.run for one in found.failing] == [2] and found.is_worse
    assert headline(found) == "c fails in v2: crash: the kernel oopsed."
    # It always did, it did once, or the newest run does not have it: nothing became worse.
    for cases in ((failing, failing), (case_of(1), failing, case_of(1))):
        assert not trend(*cases).failing and not trend(*cases).is_worse
    assert trend(case_of(1), failing, None).failing


def test_a_figure_of_one_run_is_no_trend() -> None:
    found = trend(case_of(1), case_of(1, 2), None)
    assert [series.deciding.title for series in found.series] == ["a"]


# --- bars ---


def test_bars_show_what_is_beyond_the_band() -> None:
    flat = bars([100, 100.1, 99.9, 100], BAND)
    assert len(set(flat)) == 1 and flat[0] not in "▁█"
    assert bars([100, 100, 150, 200, None], BAND) == "▁▁▅█·"
    assert bars([0, 0], BAND) == "▁▁"
    assert bars([200, *([100] * 20)], BAND).count("█") == 0  # the newest ones alone are shown
    assert len(bars([1] * 50, BAND)) == 16


# --- JSON ---


def test_json_says_what_became_of_each_figure() -> None:
    told = as_document(
        trend(case_of(3, workload={"number": 1}), case_of(1), case_of(1.1, better="neither"))
    )
    assert told["threshold_percent"] == 2 and told["verdicts"] == {"moved": 1}
    assert told["against"] == "first"
    assert told["runs"][1] == {
        "run": "r1",
        "path": "results/r1",
        "label": "v1",
        "started": "1",
        "build_id": "b",
        "study": "small",
    }
    assert [run["run"] for run in told["runs"]] == ["r0", "r1", "r2"]
    assert told["figures"] == [
        {
            "case": "c",
            "figure": "a",
            "title": "a",
            "better": "neither",
            "values": [None, 1 * SECOND, 1.1 * SECOND],
            "ratio": 1.1,
            "verdict": "moved",
            "departures": [{"run": 2, "back": None, "direction": "up"}],
        }
    ]
    (aside,) = told["not_judged"]
    assert (aside["case"], aside["run"]) == ("c", 0) and "another spec" in aside["why"]
    back = as_document(trend(case_of(1), case_of(0.9), case_of(1)))["figures"][0]["departures"]
    assert back == [{"run": 1, "back": 2, "direction": "down"}]


def test_of_many_settings_that_differ_the_first_are_told() -> None:
    one, other = ({f"k{n}": value for n in range(5)} for value in (1, 2))
    (told,) = trend(case_of(1, workload=one), case_of(1, workload=other)).unjudged
    words = ", ".join(f"workload.k{n} 1 → 2" for n in range(3))
    assert told.why == f"another spec: {words} and 2 more"
    one, other = ({"x": value, "y": value, "z": value} for value in (1, 2))
    (whole,) = trend(case_of(1, **one), case_of(1, **other)).unjudged
    assert whole.why == "another spec: x 1 → 2, y 1 → 2, z 1 → 2"
