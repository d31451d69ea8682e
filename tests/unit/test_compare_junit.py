"""A comparison as JUnit XML: which cases fail, which are skipped, and what they say."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from compare_support import compared, phase, result, scaled, spec, with_figure

from ffslab.compare.junit import as_junit

TIME = "creation.duration_ns"


def test_junit_of_what_has_no_figures() -> None:
    base = [
        result(f"{n}-s1", spec=spec(workload__n=n)) for n in ("fails", "fixed", "skips", "gone")
    ]
    new = [
        {**base[0], "outcome": "crash", "reason": "BUG: \x1b[0m at \x00"},
        base[1],
        {**base[2], "outcome": "skip", "reason": "no module"},
    ]
    base[1] = {**base[1], "outcome": "fail"}
    suite = ET.fromstring(as_junit([compared(base, new)])).find("testsuite")
    assert suite is not None
    told = {case.get("name"): next(iter(case), None) for case in suite}
    assert {name: None if found is None else found.tag for name, found in told.items()} == {
        "fails": "failure", "fixed": None, "skips": "skipped", "gone-s1": "skipped",
    }  # fmt: skip
    failure, skipped = told["fails"], told["skips"]
    assert failure is not None and failure.get("type") == "newly failing"
    assert failure.get("message") == "crash: BUG: �[0m at �"
    assert skipped is not None and skipped.get("message") == "not comparable: skip: no module"
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "2")


def test_junit_of_many_worse_figures_has_a_short_message() -> None:
    row = result()
    new = row
    for key in (
        TIME,
        "deletion.duration_ns",
        "workload.pages_programmed",
        "workload.blocks_erased",
    ):
        new = scaled(new, key, 2)
    failure = ET.fromstring(as_junit([compared(row, new)])).find(".//failure")
    assert failure is not None
    assert str(failure.get("message")).endswith("; and 1 more")
    assert "blocks erased: 30 → 60, 2.00 times as many blocks" in str(failure.text)


def test_junit_of_what_is_not_deterministic() -> None:
    row = result()
    xml = as_junit([compared(row, scaled(row, TIME, 0.9), "b1")])
    failure = ET.fromstring(xml).find(".//failure")
    assert failure is not None and failure.get("type") == "not deterministic"
    assert TIME in str(failure.text)


def test_the_whole_document() -> None:
    row = result()
    other = result("ubifs-s1", spec=spec(filesystem__name="ubifs"))
    failing = {**other, "outcome": "fail", "reason": "no"}
    new = with_figure(row, "workload", pages_programmed=2001, pages_read=9)
    assert as_junit([compared([row, failing], [new, failing])]) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuites name="ffslab compare">\n'
        '  <testsuite name="new against base" tests="2" failures="1" errors="0" skipped="1">\n'
        '    <testcase classname="ffslab.small" name="jffs2">\n'
        '      <failure type="worse" '
        'message="workload: pages programmed: 2,000 → 2,001, 0.05 % more pages">'
        "workload: pages programmed: 2,000 → 2,001, 0.05 % more pages\n"
        "cause, workload: takes as long as before; 991 fewer pages read (1,000 → 9), 1 more page "
        "programmed (2,000 → 2,001); by task: not recorded</failure>\n"
        "    </testcase>\n"
        '    <testcase classname="ffslab.small" name="ubifs">\n'
        '      <skipped message="still failing: fail: no, then fail: no" />\n'
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n"
    )


def test_three_worse_figures_are_all_in_the_message() -> None:
    new = result()
    for key in (TIME, "workload.pages_programmed", "workload.blocks_erased"):
        new = scaled(new, key, 2)
    root = ET.fromstring(as_junit([compared(result(), new)]))
    failure, suite = root.find(".//failure"), root.find("testsuite")
    assert failure is not None and "more" not in str(failure.get("message"))
    assert suite is not None and suite.get("skipped") == "0"


def test_a_case_that_newly_fails_for_one_seed_says_so_first() -> None:
    rows = [result(f"jffs2-s{n}", spec=spec(seed=n)) for n in (1, 2)]
    new = [scaled(rows[0], TIME, 2), {**rows[1], "outcome": "crash", "reason": "oops"}]
    failure = ET.fromstring(as_junit([compared(rows, new)])).find(".//failure")
    assert failure is not None and failure.get("type") == "newly failing"
    assert failure.get("message") == "seed 2: crash: oops"
    lines = str(failure.text).splitlines()
    assert lines[0] == "seed 2: crash: oops" and lines[1].startswith("creation: time: ")


def test_what_differs_without_a_reason_lists_its_figures() -> None:
    row = result()
    xml = as_junit([compared(row, scaled(row, TIME, 2), "b1")])
    text = str(ET.fromstring(xml).find(".//failure").text)  # type: ignore[union-attr]
    assert text.splitlines()[0].endswith(f"{TIME}, creation.rest_ns")
    assert "creation: time: 2.00 s → 4.00 s" in text and "cause, creation" in text


def test_why_figures_cannot_be_compared_is_told() -> None:
    row = result(phases=[], virtual_ns=5)
    other = result(phases=[phase("creation")], virtual_ns=5)
    skipped = ET.fromstring(as_junit([compared(row, other)])).find(".//skipped")
    assert skipped is not None
    assert skipped.get("message") == "not comparable: the base has none"


def test_a_figure_that_does_not_decide_is_no_reason_to_skip() -> None:
    row = result(phases=[phase("creation")])
    other = result(phases=[phase("creation"), phase("unmount")])
    assert ET.fromstring(as_junit([compared(row, other)])).find(".//skipped") is None


def test_different_work_is_skipped_whatever_became_of_it() -> None:
    row = result()
    found = compared(row, scaled(result(spec=spec(workload__number=501)), TIME, 2))
    root = ET.fromstring(as_junit([found]))
    skipped, suite = root.find(".//skipped"), root.find("testsuite")
    assert skipped is not None and suite is not None
    told = "not comparable: not the same work: workload.number 500 → 501"
    assert skipped.get("message") == told
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
