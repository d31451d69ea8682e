"""Comparisons as tables: what is shown and counted, JSON, CSV, Markdown; what a check fails on."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from compare_support import (
    MS,
    banded,
    compared,
    is_worse,
    only,
    phase,
    result,
    row_of,
    scaled,
    seeds,
    spec,
    with_figure,
)

from ffslab.compare.engine import Comparison
from ffslab.compare.tables import (
    Choice,
    as_csv,
    as_json,
    as_markdown,
    case_counts,
    figure_counts,
    has_change,
    told_change,
)
from ffslab.compare.verdicts import Verdict

TIME = "creation.duration_ns"


def two_cases() -> Comparison:
    """One case with a worse time and 60 further figures of one phase, one that is the same."""
    other = result("ubifs-s1", spec=spec(filesystem__name="ubifs"))
    row = result()
    return compared([row, other], [scaled(row, TIME, 1.5), other])


def test_which_figures_are_shown() -> None:
    case, same = two_cases().cases
    keys = [row.figure.key for row in Choice().rows(case)]
    assert keys[:2] == [TIME, "deletion.duration_ns"]  # those asked for first, changed or not
    assert keys[-1] == "creation.rest_ns"
    assert [row.figure.key for row in Choice(only_changed=True).rows(case)] == [
        TIME, "creation.rest_ns",
    ]  # fmt: skip
    assert Choice().rows(same) == ()
    assert [found.label for found in Choice(only_changed=True).cases(two_cases())] == ["jffs2"]


def test_of_many_changed_figures_the_most_changed_are_shown() -> None:
    row = result()
    names = ("pages_read", "pages_programmed", "blocks_erased", "bytes_written", "in_driver_ns")
    row = with_figure(row, "creation", in_driver_ns=1000, erases_std=1.0, erases_max=10)
    new = with_figure(row, "creation", erases_std=3.0, erases_max=20)
    for name in names:
        new = scaled(new, f"creation.{name}", 1.1)
    case = only(compared(row, new))
    others = [found.figure.key for found in Choice(only_changed=True).rows(case)]
    assert others[:2] == ["creation.erases_std", "creation.erases_max"]
    assert len(others) == 5 and Choice(only_changed=True).hidden(case) == 2
    every = Choice(only_changed=True, all_figures=True)
    assert len(every.rows(case)) == 7 and every.hidden(case) == 0


def test_counts() -> None:
    found = two_cases()
    assert dict(case_counts(found)) == {"worse": 1, "same": 1}
    assert figure_counts(found)["worse"] == 2
    assert list(figure_counts(found)) == ["worse", "same"]


def test_json_has_everything() -> None:
    document = json.loads(as_json([two_cases()], Choice()))
    assert document["v"] == 2
    (found,) = document["comparisons"]
    assert (found["base"], found["new"]) == ("base", "new")
    assert found["differs"] == [{"what": "build of the lab", "base": "b1", "new": "b2", "cases": 0}]
    case = found["cases"][0]
    assert case["verdict"] == "worse" and case["ids"] == [["jffs2-s1", "jffs2-s1"]]
    figure = next(row for row in case["figures"] if row["figure"] == TIME)
    assert figure == {
        "figure": TIME,
        "title": "creation: time",
        "verdict": "worse",
        "decides": True,
        "per": "",
        "base": 2000 * MS,
        "new": 3000 * MS,
        "ratio": 1.5,
        "ratio_low": 1.5,
        "ratio_high": 1.5,
        "seeds": 1,
        "band_low": None,
        "band_high": None,
        "words": "1.50 times slower",
        "why": "",
    }
    assert case["causes"][0].startswith("creation: +1.00 s = flash 0")
    fewer = json.loads(as_json([two_cases()], Choice(only_changed=True)))["comparisons"][0]
    assert len(fewer["cases"]) == 1 and len(fewer["cases"][0]["figures"]) == 2
    assert fewer["case_counts"] == {"worse": 1, "same": 1}


def test_json_has_the_band_as_ratios() -> None:
    document = json.loads(as_json([banded(1.5, 0.98, 1.03)], Choice()))
    figures = document["comparisons"][0]["cases"][0]["figures"]
    figure = next(row for row in figures if row["figure"] == TIME)
    assert (figure["band_low"], figure["band_high"]) == (pytest.approx(0.98), pytest.approx(1.03))


def test_csv_has_a_line_per_figure() -> None:
    failed = result(
        "ubifs-s1", spec=spec(filesystem__name="ubifs"), outcome="crash", reason='a "b"'
    )
    good = {**failed, "outcome": "pass"}
    row = result()
    found = compared([row, good], [scaled(row, TIME, 1.5), failed])
    lines = list(csv.DictReader(io.StringIO(as_csv([found], Choice()))))
    of_time = next(line for line in lines if line["figure"] == TIME)
    assert of_time["words"] == "1.50 times slower" and of_time["ratio"] == "1.5"
    assert of_time["band_low"] == "" and of_time["case_verdict"] == "worse"
    last = lines[-1]
    assert (last["case"], last["case_verdict"], last["figure"]) == ("ubifs", "newly failing", "")
    assert last["why"] == 'crash: a "b"' and None not in last


def test_markdown() -> None:
    text = as_markdown([two_cases()], Choice(only_changed=True))
    assert text.startswith("## new against base\n")
    assert "| build of the lab | b1 | b2 |  |" in text
    assert "| jffs2 | creation: time | 2.00 s | 3.00 s | 1.50 times slower | worse |" in text
    assert "ubifs" not in text
    assert "- jffs2, creation: +1.00 s" in text
    same = as_markdown([compared(result(), result(), "b1")], Choice())
    assert "Nothing differs in the circumstances." in same
    failing = as_markdown([compared(result(), result(outcome="fail", reason="a|b"))], Choice())
    assert "| jffs2 | | | | fail: a\\|b | newly failing |" in failing


@pytest.mark.parametrize(
    ("new", "worse", "change"),
    [
        (result(), False, False),
        (scaled(result(), TIME, 1.1), True, True),
        (scaled(result(), TIME, 0.9), False, True),
        (with_figure(result(), "creation", bytes_written=1), False, True),
        (result(outcome="fail"), True, True),
        (result(outcome="skip"), False, True),
    ],
)
def test_what_a_check_fails_on(new: dict[str, Any], worse: bool, change: bool) -> None:
    found = compared(result(), new)
    assert is_worse(found) is worse
    assert has_change(found) is change


def test_a_worse_figure_of_a_case_that_newly_fails_for_another_seed_counts() -> None:
    new = [seeds(1.0)[0], result("jffs2-s2", spec=spec(seed=2), outcome="fail")]
    assert is_worse(compared(seeds(1.0, 1.0), new))


def test_within_the_band_is_no_change() -> None:
    found = banded(1.02, 0.98, 1.03)
    assert row_of(only(found), TIME).verdict is Verdict.BAND
    # The time outside the flash moved with it, and has the same band.
    assert not has_change(found)


def test_a_figure_that_cannot_be_compared_says_why() -> None:
    row = result()
    found = only(compared(row, result(phases=row["phases"][:1])))
    assert told_change(row_of(found, "deletion.duration_ns")) == (
        "not comparable: the new side has none"
    )


def every_verdict() -> Comparison:
    """A case for each verdict that a case can have by its outcome, and some by their figures."""
    names = ("fails", "fixed", "failing", "gone", "worse", "better", "same")
    base = {name: result(f"{name}-s1", spec=spec(workload__name=name)) for name in names}
    new = dict(base)
    new["fails"] = {**base["fails"], "outcome": "fail", "reason": "why"}
    base["fixed"] = {**base["fixed"], "outcome": "fail"}
    base["failing"] = new["failing"] = {**base["failing"], "outcome": "crash"}
    new["worse"] = scaled(base["worse"], TIME, 2)
    new["better"] = scaled(base["better"], TIME, 0.5)
    del new["gone"]
    added = result("added-s1", spec=spec(workload__name="added"))
    return compared(base.values(), [*new.values(), added])


def test_the_gravest_are_counted_first() -> None:
    assert list(case_counts(every_verdict()).items()) == [
        ("newly failing", 1), ("missing", 1), ("still failing", 1), ("worse", 1), ("better", 1),
        ("same", 1), ("fixed", 1), ("new", 1),
    ]  # fmt: skip


def test_counts_are_in_the_order_of_gravity() -> None:
    row = result()
    new = with_figure(row, "creation", duration_ns=1, pages_read=1001, bytes_written=1)
    counts = figure_counts(compared(row, new))
    assert [name for name in counts if name != "same"] == ["worse", "better", "different"]
    # Seeds disagree on the pages, and both are faster.
    base = seeds(1.0, 1.0)
    new = [scaled(row, TIME, 0.5) for row in base]
    new = [
        with_figure(row, "creation", pages_read=n) for row, n in zip(new, (9, 1009), strict=True)
    ]
    counts = figure_counts(compared(base, new))
    assert [name for name in counts if name != "same"] == ["seeds disagree", "better"]


def test_of_a_case_that_fails_on_both_sides_what_changed_is_shown() -> None:
    """Seed 2 fails in both, seed 1 has the same figures but for one."""
    base = seeds(1.0, 1.0)
    base[1] = {**base[1], "outcome": "fail"}
    case = only(compared(base, [scaled(base[0], TIME, 2), base[1]]))
    assert case.verdict is Verdict.FAILING
    keys = [row.figure.key for row in Choice().rows(case)]
    assert keys == [TIME, "creation.rest_ns"]


def test_changes_only() -> None:
    shown = [case.label for case in Choice(only_changed=True).cases(every_verdict())]
    assert shown == ["fails", "fixed", "worse", "better", "gone-s1", "added-s1"]
    failing = next(case for case in every_verdict().cases if case.label == "failing")
    assert Choice().rows(failing) == ()


def test_worse_figures_stand_before_better_ones_that_changed_more() -> None:
    row = with_figure(result(), "creation", erases_std=1.0, erases_max=100)
    new = with_figure(row, "creation", erases_std=0.1, erases_max=101, bytes_written=1)
    keys = [found.figure.key for found in Choice(only_changed=True).rows(only(compared(row, new)))]
    assert keys == ["creation.erases_max", "creation.erases_std", "creation.bytes_written"]


def test_the_whole_document() -> None:
    row = result(phases=[phase("creation")], virtual_ns=None)
    new = {**scaled(row, TIME, 1.5), "spec": spec(cpu_scale=0.5), "spec_hash": "x"}
    document = json.loads(as_json([compared(row, new, "b1")], Choice(only_changed=True)))
    figures = document["comparisons"][0]["cases"][0].pop("figures")
    assert [figure["figure"] for figure in figures] == [TIME, "creation.rest_ns"]
    assert document == {
        "v": 2,
        "comparisons": [
            {
                "base": "base",
                "new": "new",
                "axis": "",
                "verdict": "worse",
                "other_work": [],
                "differs": [{"what": "cpu_scale", "base": "1.0", "new": "0.5", "cases": 1}],
                "cases": [
                    {
                        "case": "jffs2",
                        "verdict": "worse",
                        "why": "",
                        "ids": [["jffs2-s1", "jffs2-s1"]],
                        "spec_differences": [["cpu_scale", "1.0", "0.5"]],
                        "equal_build_and_spec": False,
                        "not_deterministic": [],
                        "causes": [
                            "creation: +1.00 s = flash 0, CPU and other +1.00 s; no flash "
                            "operation more or fewer"
                        ],
                        "findings": {"new": [], "known": [], "gone": [], "same": []},
                        "missed": {"new": [], "gone": [], "same": []},
                        "functions": [],
                    }
                ],
                "case_counts": {"worse": 1},
                "figure_counts": {"worse": 2, "same": 10},
            }
        ],
    }
    broken = json.loads(as_json([compared(row, scaled(row, TIME, 2), "b1")], Choice()))
    case = broken["comparisons"][0]["cases"][0]
    assert case["equal_build_and_spec"] is True
    assert case["not_deterministic"] == [TIME, "creation.rest_ns"]


def test_json_is_for_people_too() -> None:
    text = as_json([compared(result("ä-s1"), result("ä-s1"))], Choice())
    assert '\n "comparisons": [\n  {\n' in text and "ä" in text


def test_a_line_of_csv() -> None:
    base = [scaled(row, TIME, 1) for row in seeds(1.0, 1.0)]
    text = as_csv([compared(base, seeds(1.1, 1.3))], Choice(only_changed=True))
    head, line, *_ = text.splitlines()
    assert head == (
        "base,new,case,case_verdict,figure,verdict,decides,per,base_value,new_value,ratio,ratio_low,"
        "ratio_high,seeds,band_low,band_high,words,why"
    )
    assert line.startswith(
        "base,new,jffs2,worse,creation.duration_ns,worse,True,,2000000000.0,2400000000.0,1.2"
    )
    assert line.endswith(",1.1,1.3,2,,,20 % slower,")
    of_band = as_csv([banded(1.5, 0.98, 1.03)], Choice(only_changed=True)).splitlines()[1]
    assert of_band.endswith(",1.5,1.5,1.5,1,0.98,1.03,1.50 times slower,")


def test_the_whole_markdown() -> None:
    row = result(phases=[phase("creation")], virtual_ns=None)
    text = as_markdown([compared(row, scaled(row, TIME, 1.5))], Choice(only_changed=True))
    assert text == (
        "## new against base\n"
        "\n"
        "| what differs | base | new | cases |\n"
        "|---|---|---|---|\n"
        "| build of the lab | b1 | b2 |  |\n"
        "\n"
        "**worse**: 1 worse\n"
        "\n"
        "| case | figure | base | new | change | verdict |\n"
        "|---|---|---|---|---|---|\n"
        "| jffs2 | creation: time | 2.00 s | 3.00 s | 1.50 times slower | worse |\n"
        "| jffs2 | creation: time outside the flash | 1.00 s | 2.00 s | 2.00 times as long | worse "
        "|\n"
        "\n"
        "- jffs2, creation: +1.00 s = flash 0, CPU and other +1.00 s; no flash operation more or "
        "fewer\n"
    )
    same = as_markdown([compared(row, row, "b1")], Choice(only_changed=True))
    assert same == (
        "## new against base\n\nNothing differs in the circumstances.\n\n**same**: 1 same\n\n"
    )


def test_one_of_many_cases_is_enough() -> None:
    base = [result(f"{n}-s1", spec=spec(workload__n=n)) for n in ("a", "b")]
    for new, worse in ((scaled(base[1], TIME, 2), True), (scaled(base[1], TIME, 0.5), False)):
        found = compared(base, [base[0], new])
        assert is_worse(found) is worse
        assert has_change(found) is True
    found = compared(base, [base[0], scaled(base[1], TIME, 0.5)], "b1")
    assert is_worse(found) is True  # not deterministic
