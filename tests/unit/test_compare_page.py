"""What the HTML page of comparisons says, and how: its headline, tables, causes, colours."""

from __future__ import annotations

from typing import Any

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

from ffslab.compare.cases import Side
from ffslab.compare.engine import Comparison, compare_runs
from ffslab.compare.tables import Choice
from ffslab.report.comparison.page import ShownCase, ShownComparison, render_comparisons, shown
from ffslab.report.elements import Table


def page(found: Comparison, choice: Choice | None = None) -> ShownComparison:
    return shown(found, choice or Choice(), "c1")


def only_case(found: Comparison, choice: Choice | None = None) -> ShownCase:
    (case,) = page(found, choice).cases
    return case


def plain(duration_ms: int = 2000, **changes: Any) -> dict[str, Any]:
    own = {k: v for k, v in phase("creation", duration_ms * MS).items() if "flash" not in k}
    return result(phases=[own], virtual_ns=None, **changes)


def test_the_headline_is_the_outcome() -> None:
    row = plain()
    for found, is_bad, headline in (
        (compared(row, plain(3000)), True, "✕ Worse."),
        (compared(row, plain(1000)), False, "✓ Nothing is worse."),
        (compared(row, row), False, "✓ Nothing changed."),
        (
            compared(row, plain(3000), threshold=None),
            False,
            "? Not judged: another build, without a measured band.",
        ),
        (compared(row, {**plain(3000), "outcome": "fail"}, threshold=None), True, "✕ Worse."),
        (compared(row, plain(1000), "b1"), True, "✕ Worse."),
    ):
        assert (page(found).is_bad, page(found).headline) == (is_bad, headline)


def test_the_whole_of_a_comparison() -> None:
    same = plain(spec=spec(seed=2, cpu_scale=2), case_id="fast-s2")
    found = page(compared([plain(), same], [plain(3000), same]))
    assert (found.key, found.title, found.broken) == ("c1", "new against base", 0)
    assert (found.status, found.figures) == ("1 worse, 1 same", "1 worse, 11 same")
    assert found.unchanged == ("fast: same",)
    assert [cause.name for cause in found.sides] == ["base", "new"]
    assert found.circumstances == Table(
        "What differs",
        ("", "base", "new", "cases"),
        (),
        (("build of the lab", "b1", "b2", "all"),),
        text_columns=3,
        wrapped=(0, 1, 2),
    )
    (case,) = found.cases
    assert (case.label, case.verdict, case.tone) == ("jffs2", "worse", "bad")
    assert (case.why, case.counts, case.broken) == ("", "1 worse, 5 same", ())
    assert case.table == Table(
        "",
        ("figure", "verdict", "change", "base", "new", "over seeds", "band of builds"),
        (),
        (("creation: time", "worse", "1.50 times slower", "2.00 s", "3.00 s", "–", "–"),),
        text_columns=3,
        wrapped=(0, 2),
    )
    assert case.further.rows == ()
    assert case.causes == (
        "creation: +1.00 s, and the chip does not count its time; no flash operation more or fewer",
    )


def test_seeds_and_a_band_have_columns_of_their_own() -> None:
    (first, *_) = only_case(compared(seeds(1.0, 1.0), seeds(1.1, 1.3))).table.rows
    assert first[2:] == ("20 % slower", "2.00 s", "2.40 s", "+10 % to +30 %, 2 seeds", "–")
    (first, *_) = only_case(banded(1.05, 0.98, 1.03)).table.rows
    assert first[2:] == ("5 % slower", "2.00 s", "2.10 s", "–", "−2 % to +3 %")


def test_what_is_said_of_a_side() -> None:
    base = side([plain(), plain(spec=spec(perturbation=1), case_id="jffs2-perturbation1-s1")],
                started="today", build="0123456789abcdef", cases_total=3)  # fmt: skip
    new = side([plain(3000)], "new", "b2")
    sides = page(compare_runs(base, new)).sides
    assert sides[0].facts == (
        ("Cases", "1"), ("Perturbed", "1"), ("Build", "0123456789ab"), ("Study", "small"),
        ("Started", "today"), ("Incomplete", "of 3"),
    )  # fmt: skip
    assert sides[1].facts == (("Cases", "1"), ("Build", "b2"), ("Study", "small"))
    unknown = Side("x", {}, base.cases, 2)
    assert page(compare_runs(unknown, new)).sides[0].facts == (("Cases", "1"), ("Perturbed", "1"))


def test_a_comparison_without_a_figure() -> None:
    failed = {**plain(), "outcome": "fail"}
    found = page(compared(plain(), failed))
    assert (found.status, found.figures) == ("1 newly failing", "none")


def test_settings_that_differ_say_in_how_many_cases() -> None:
    found = page(compared(plain(), plain(3000, spec=spec(cpu_scale=2.0)), "b1"))
    assert found.circumstances.rows == (("cpu_scale", "1.0", "2.0", "1"),)


def test_tones() -> None:
    row = plain()
    for new, tone in (
        (plain(3000), "bad"),
        ({**row, "outcome": "fail"}, "bad"),
        (plain(1000), "good"),
        (with_figure(row, "creation", bytes_written=1), ""),
    ):
        assert only_case(compared(row, new)).tone == tone
    assert only_case(compared({**row, "outcome": "fail"}, row)).tone == "good"
    assert only_case(compared(row, plain(1000), "b1")).tone == "bad"
    found = page(compared([row], [row, plain(spec=spec(seed=2, cpu_scale=2), case_id="fast-s2")]))
    assert [case.tone for case in found.cases] == ["good"]  # it is new


def test_what_is_broken_is_named() -> None:
    row = plain()
    found = page(compared(row, {**row, "flash_sha256": "0"}, "b1"))
    assert found.broken == 1 and found.unchanged == ()
    assert found.cases[0].broken == ("flash contents",)


def test_of_many_figures_the_others_are_folded_in() -> None:
    row = result(phases=[*result()["phases"], phase("unmount")])
    names = ("pages_read", "pages_programmed", "blocks_erased", "bytes_written")
    new = row
    for name in (*names, "flash_read_ns", "flash_program_ns"):
        new = scaled(new, f"creation.{name}", 1.5)
    new = scaled(new, "unmount.pages_read", 1.001)
    case = only_case(compared(row, new))
    shown_rows = [row[0] for row in case.table.rows]
    assert len(case.further.rows) == 2 and case.further.rows[-1][0] == "unmount: pages read"
    assert not set(shown_rows) & {row[0] for row in case.further.rows}
    assert [cause.partition(":")[0] for cause in case.causes] == ["creation"]
    every = only_case(compared(row, new), Choice(all_figures=True))
    assert every.further.rows == () and len(every.causes) == 2


def test_what_cannot_be_compared_says_why() -> None:
    row = result()
    case = only_case(compared(row, scaled(result(phases=row["phases"][:1]), TIME, 2)))
    told = {row[0]: row for row in case.table.rows}
    assert told["transactions: time"] == (
        "transactions: time", "not comparable", "the new side has none", "2.00 s", "–", "–", "–",
    )  # fmt: skip
    assert told["creation: time"][2] == "2.00 times slower"


def test_a_figure_that_is_the_same_beside_one_that_is_not() -> None:
    case = only_case(compared(result(), scaled(result(), TIME, 2)))
    told = {row[0]: row[1:] for row in case.table.rows}
    assert told["transactions: time"] == ("same", "–", "2.00 s", "2.00 s", "–", "–")


def test_a_page_of_several_comparisons() -> None:
    row = plain()
    worse, same = compared(row, plain(3000)), compared(row, row, "b1")
    text = render_comparisons([worse, same], Choice())
    for part in (
        'id="c1"', 'id="c2"', "<strong>✕ Worse.</strong>", "<strong>✓ Nothing changed.</strong>",
        "1.50 times slower", "Nothing: build, version and settings are the same.",
        "1 cases without a change", 'class="failure bad"', "the ratio of these two means",
    ):  # fmt: skip
        assert part in text, part
    assert "Not deterministic" not in text
    broken = render_comparisons([compared(row, plain(3000), "b1")], Choice())
    assert "Not deterministic." in broken and "differ in 1 of the cases" in broken
