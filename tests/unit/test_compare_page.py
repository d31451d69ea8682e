"""What the HTML page of comparisons says, and how: headline, chart, tables, causes, colours."""

from __future__ import annotations

from typing import Any

import pytest
from compare_support import (
    MS,
    TIME,
    banded,
    compared,
    phase,
    result,
    scaled,
    seeds,
    side,
    spec,
    with_figure,
)
from test_report_support import rows_of

from ffslab.compare.engine import Comparison, compare_runs
from ffslab.compare.tables import Choice
from ffslab.report import svg
from ffslab.report.comparison.chart import MOST_ROWS, chart_of
from ffslab.report.comparison.headline import headline
from ffslab.report.comparison.page import ShownCase, ShownComparison, render_comparisons, shown
from ffslab.report.elements import Table


def page(found: Comparison, choice: Choice | None = None) -> ShownComparison:
    return shown(found, choice or Choice(), "c1")


def plain(duration_ms: int = 2000, **changes: Any) -> dict[str, Any]:
    own = {k: v for k, v in phase("creation", duration_ms * MS).items() if "flash" not in k}
    return result(phases=[own], virtual_ns=None, **changes)


def grid(*slow: tuple[str, str]) -> Comparison:
    """Two file systems in three states; a creation takes longer in those that are `slow`."""
    base, new = [], []
    for system in ("jffs2", "ubifs"):
        for state in ("free", "aged", "full"):
            own = spec(filesystem__name=system, state__name=state)
            axes = {"filesystem": system, "state": state, "seed": 1}
            row = plain(case_id=f"{system}-{state}-s1", spec=own, axes=axes)
            base.append(row)
            new.append(scaled(row, TIME, 1.5 if (system, state) in slow else 1))
    return compared(base, new)


def test_the_headline_says_how_many_where_and_what_most() -> None:
    slower = "the largest change: creation time 1.50 times slower"
    for slow, told in (
        ([("ubifs", "aged")], f"1 of 6 cases is worse, in UBIFS aged; {slower} (UBIFS aged)."),
        (
            [("ubifs", state) for state in ("free", "aged", "full")],
            f"3 of 6 cases are worse, all in UBIFS; {slower} (UBIFS free).",
        ),
        (
            [("ubifs", "aged"), ("ubifs", "free"), ("jffs2", "full")],
            f"3 of 6 cases are worse, most in UBIFS; {slower} (JFFS2 full).",
        ),
        ([], "Nothing differs."),
    ):
        assert headline(grid(*slow)) == told


def test_the_headline_has_other_outcomes() -> None:
    row, failed = plain(), {**plain(), "outcome": "fail"}
    two = plain(spec=spec(seed=2, cpu_scale=2), case_id="fast-s2")
    slower = "the largest change: creation time 1.50 times slower"
    for found, sign, told in (
        (compared(row, plain(1000)), "✓",
         "The only case is better; the largest change: creation time 2.00 times faster."),
        (compared(row, plain(3000, spec=spec(workload__number=250))), "?",
         "Not the same work: workload.number 500 → 250; the largest change: creation time 3.00 "
         "times slower per file."),
        (compared(row, failed), "✗", "The only case newly fails."),
        (compared(failed, row), "✓", "The only case is fixed."),
        (compared(failed, failed), "?", "Nothing differs, 1 of 1 cases still fail."),
        (compared([row, two], row), "?", "Nothing differs, 1 missing."),
        (compared(row, [row, two]), "✓", "Nothing differs, 1 new."),
        (compared([row, two], [plain(3000), scaled(two, TIME, 0.5)]), "✗",
         f"1 of 2 cases is worse, 1 better; {slower} (jffs2)."),
        (compared(row, plain(3000), "b1"), "✗",
         f"Not deterministic: 1 of 1 cases differs with equal build and spec; {slower}."),
        (compared(row, plain(2001), threshold=1), "✓", "Nothing differs beyond the threshold."),
        (banded(1.02, 0.98, 1.03), "✓", "Nothing differs beyond the band of builds."),
    ):  # fmt: skip
        assert (page(found).sign, headline(found)) == (sign, told)
        assert len(told.split()) <= 25


def test_the_chart_has_a_dot_for_each_figure_the_worst_first() -> None:
    row = result()
    new = scaled(scaled(row, TIME, 0.5), "deletion.duration_ns", 2)
    drawn = chart_of(compared(row, new), "c")
    rows = rows_of(drawn.drawing)
    assert (drawn.shown, drawn.moved, drawn.has_band) == (2, 2, False)
    assert [(r["row"], r["value"], r["change"], r["values"]) for r in rows] == [
        ("deletion time", 2, "✗ 2.00 times slower", "2.00 s → 4.00 s"),
        ("creation time", 0.5, "✓ 2.00 times faster", "2.00 s → 1.00 s"),
    ]
    assert {r["fill"] for r in rows} == {svg.PAINT["c0"]}
    assert [r["tone"] for r in rows] == [svg.PAINT["bad"], svg.PAINT["good"]]


def test_the_chart_has_the_band_and_hollow_dots_within_it() -> None:
    for moved, fill in ((1.02, svg.PAINT["paper"]), (1.3, svg.PAINT["c0"])):
        drawn = chart_of(banded(moved, 0.98, 1.03), "c")
        (row,) = rows_of(drawn.drawing)
        assert drawn.has_band and (row["low"], row["high"], row["fill"]) == (0.98, 1.03, fill)


def test_the_chart_has_the_largest_changes_only() -> None:
    rows = [plain(spec=spec(seed=1, number=n), case_id=f"n{n}-s1") for n in range(40)]
    new = [scaled(row, TIME, 1 + n / 100) for n, row in enumerate(rows)]
    drawn = chart_of(compared(rows, new), "c")
    values = [row["value"] for row in rows_of(drawn.drawing)]
    assert (drawn.shown, drawn.moved) == (MOST_ROWS, 39)
    assert values == sorted(values, reverse=True) and values[0] == 1.39 and values[-1] == 1.16


@pytest.mark.parametrize(("metric", "ratio"), [("pages_read", 0), ("pages_read", 1)])
def test_what_has_no_ratio_is_in_the_table_alone(metric: str, ratio: float) -> None:
    found = compared(plain(), scaled(plain(), f"creation.{metric}", ratio))
    assert (chart_of(found, "c").drawing, len(page(found).figures.rows)) == ("", 1 - ratio)


def test_figures_are_sorted_the_gravest_and_largest_first() -> None:
    row = result()
    new = scaled(scaled(row, TIME, 0.25), "deletion.duration_ns", 2)
    new = scaled(new, "workload.duration_ns", 3)
    table = page(compared(row, new)).figures
    assert table.head == ("case", "figure", "verdict", "change", "base", "new")
    assert (table.title, table.text_columns, table.told) == ("", 4, True)
    shown = [cells[1:4] for cells in table.rows]
    worse = [cells for cells in shown if cells[1] == "worse"]
    told = [cells for cells in worse if cells[0].endswith(": time")]
    assert told == [
        ("workload: time", "worse", "3.00 times slower"),
        ("deletion: time", "worse", "2.00 times slower"),
    ]
    assert shown[len(worse)] == ("creation: time", "better", "4.00 times faster")


def test_seeds_and_a_band_have_columns_where_there_are_any() -> None:
    new = [{**row, "phases": row["phases"][:1]} for row in seeds(1.1, 1.3)]
    for found, head, words in (
        (compared(seeds(1.0, 1.0), new), "over seeds", "+10 % to +30 %, 2 seeds"),
        (banded(1.05, 0.98, 1.03), "band of builds", "−2 % to +3 %"),
    ):
        table = page(found).figures
        (row,) = (cells for cells in table.rows if cells[1] == "creation: time")
        assert (table.head[-1], row[-1]) == (head, words)


def test_what_cannot_be_compared_says_why() -> None:
    row = result()
    table = page(compared(row, scaled(result(phases=row["phases"][:1]), TIME, 2))).figures
    told = {cells[1]: cells[2:] for cells in table.rows}
    assert told["deletion: time"] == ("not comparable", "the new side has none", "2.00\u00a0s", "–")  # fmt: skip  # noqa: E501


def test_of_many_figures_the_others_are_counted() -> None:
    new = row = result(phases=[*result()["phases"], phase("unmount")])
    for name in ("pages_read", "pages_programmed", "blocks_erased", "bytes_written"):
        new = scaled(scaled(new, f"creation.{name}", 1.5), f"unmount.{name}", 1.5)
    few, every = page(compared(row, new)), page(compared(row, new), Choice(all_figures=True))
    assert few.hidden > 0 and every.hidden == 0
    assert len(every.figures.rows) == len(few.figures.rows) + few.hidden


def test_cases_have_causes_and_tones() -> None:
    row, two = plain(), plain(spec=spec(seed=2, cpu_scale=2), case_id="fast-s2")
    for base, new, tone, told in (
        ([row], [plain(3000)], "bad", "1 worse, 5 same"),
        ([row], [{**row, "outcome": "fail"}], "bad", ""),
        ([row], [plain(1000)], "good", "1 better, 5 same"),
        ([{**row, "outcome": "fail"}], [row], "good", ""),
        ([row], [row, two], "good", ""),
        ([row, two], [row], "", ""),
    ):
        (case,) = page(compared(base, new)).cases
        assert (case.tone, case.counts) == (tone, told)
    missing = page(compared([row, two], [row]))
    assert missing.cases == (ShownCase("fast-s2", "missing", "", "", ("not in new",)),)
    assert missing.unchanged == ("jffs2: same",)
    assert missing.status == "Cases: 1 missing, 1 same. Figures: 6 same."
    assert page(compared(row, {**row, "outcome": "fail"})).status.endswith(" Figures: none.")


def test_a_case_has_the_causes_of_its_main_figures_or_the_first() -> None:
    row = result()
    read = with_figure(row, "creation", pages_read=900, pages_programmed=9)
    for new, phases in (
        (scaled(scaled(row, TIME, 2), "deletion.duration_ns", 3), ["creation", "deletion"]),
        (scaled(read, "deletion.duration_ns", 3), ["deletion"]),
        (with_figure(read, "workload", pages_programmed=2001), ["workload"]),
    ):
        (case,) = page(compared(row, new)).cases
        assert [line.partition(":")[0] for line in case.lines] == phases
    (case,) = page(compared(plain(), plain(3000))).cases
    assert (case.label, case.verdict) == ("jffs2", "worse")
    assert case.lines == (
        "creation: +1.00 s, and the chip does not count its time; no flash operation more or fewer",
    )


def test_both_sides_and_what_differs_are_one_table() -> None:
    versions = {"jffs2-perturbation1-s1": spec(perturbation=1), "jffs2-repeat2-s1": spec(repeat=2)}
    own = [plain(), *(plain(case_id=name, spec=told) for name, told in versions.items())]
    base = side(own, started="today", build="0123456789abcdef", cases_total=4)
    new = side([plain(3000, spec=spec(cpu_scale=2))], "new", "b2", cases_total=9)
    found = page(compare_runs(base, new))
    rows = (
        ("run", "base", "new", ""),
        ("study", "small", "small", ""),
        ("started", "today", "–", ""),
        ("build", "0123456789ab", "b2", ""),
        ("cases", "1", "1", ""),
        ("perturbed", "1", "–", ""),
        ("repeats", "1", "–", ""),
        ("build of the lab", "0123456789ab", "b2", "all"),
        ("cpu_scale", "1.0", "2", "1"),
    )
    head = ("", "base", "new", "cases that it is in")
    assert found.sides == Table("", head, (), rows, text_columns=3, wrapped=(0, 1, 2))
    assert found.warnings == (
        "**Incomplete:** base, 3 of 4 cases have a result",
        "**Incomplete:** new, 1 of 9 cases have a result",
    )
    same = page(compared(plain(), plain(), "b1"))
    assert same.sides.note == "Build, version and settings are the same."
    other = page(compared(plain(), plain(spec=spec(workload__number=1)))).warnings
    assert [line.partition("**")[2].partition(":")[0] for line in other] == ["Not the same work"]


def test_what_is_broken_is_named() -> None:
    row = plain()
    found = page(compared(row, {**row, "flash_sha256": "0"}, "b1"))
    assert found.warnings == ("**Not deterministic:** jffs2: flash contents",)
    assert found.unchanged == () and found.cases[0].tone == "bad"
    names = ("pages_read", "pages_programmed", "blocks_erased", "bytes_written", "duration_ns")
    for count, more in ((3, ""), (4, " and 1 more"), (5, " and 2 more")):
        changed = with_figure(row, "creation", **dict.fromkeys(names[:count], 1))
        (warning,) = page(compared(row, changed, "b1")).warnings
        assert warning.count(", creation.") == 2 and warning.partition(" and ")[2] == more[5:]


def test_a_page_of_several_comparisons() -> None:
    row = plain()
    text = render_comparisons([compared(row, plain(3000)), compared(row, row, "b1")], Choice())
    for part in (
        "<h1>2 comparisons</h1>", '<a href="#c1">', 'id="c1"', 'id="c2"', 'id="c1-chart"',
        "Nothing differs.", "Build, version and settings are the same.",
        "1 cases without a change", 'class="failure bad"', "the ratio of these two means",
    ):  # fmt: skip
        assert part in text, part
    assert 'id="c2-chart"' not in text and "Not deterministic:" not in text
