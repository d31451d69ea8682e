"""Findings of power cuts on two sides: new, gone, the same, and what that makes a case."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest
from compare_support import compared, result, scaled, side, spec

from ffslab.cli.compare_tables import print_comparison
from ffslab.cli.screen import Screen
from ffslab.compare.cases import compared_case
from ffslab.compare.engine import CaseRow, Comparison, compare_runs
from ffslab.compare.findings import finding_change
from ffslab.compare.junit import as_junit
from ffslab.compare.tables import Choice, as_json, as_markdown
from ffslab.compare.verdicts import Verdict
from ffslab.model.bounds import LimitFile
from ffslab.model.known import known_from_document
from ffslab.report.comparison.page import render_comparisons, shown
from ffslab.report.elements import Table


def finding(identifier: str, operation: int, detail: str = "mounting fails", **changes: Any) -> Any:
    found: dict[str, Any] = {
        "id": identifier,
        "state": f"{operation} lost 0",
        "outcome": "mount-fails",
        "kind": "lost",
        "detail": detail,
        "states": 1,
        "confirmed": True,
        "filled": False,
        "console": [],
    }
    return {**found, **changes}


def cut_case(*findings: Any, seed: int = 1, **changes: Any) -> dict[str, Any]:
    """A case of cuts with these findings of 100 states; it fails by them."""
    wrong = sum(one["states"] for one in findings)
    cuts = {
        "calls": 3,
        "operations": 100,
        "states_possible": 100,
        "states": 100,
        "untouched": 0,
        "counts": {"lost": {"correct": 100 - wrong, "mount-fails": wrong}},
        "random": {},
        "findings": list(findings),
        "recovery": {"curve": [[0, 10, 0, 0, 0]], "worst": 0, "uncut": None},
    }
    workload = {"kind": "cuts", "history": "update-by-rename", "timing": "none"}
    whole = {
        "phases": [],
        "cuts": cuts,
        "outcome": "fail" if findings else "pass",
        "reason": f"{wrong} of 100 states are not correct" if findings else "",
        "spec": spec(workload=workload, seed=seed),
    }
    return result(f"jffs2-s{seed}", **{**whole, **changes})


def only(base: Any, new: Any, **rules: Any) -> CaseRow:
    (case,) = compared(base, new, **rules).cases
    return case


OLD = finding("aaaa0001", 10)


def test_a_finding_is_known_by_what_it_is_and_not_by_its_operation() -> None:
    """Another build writes one page more before it; the numbers in its sentence are others."""
    one, other = finding("aaaa0001", 10, "8 pages"), finding("bbbb0001", 11, "9 pages")
    case = only(cut_case(one), cut_case(other))
    assert case.findings.words == (("same", "bbbb0001  mount-fails at 11 lost 0: 9 pages"),)
    assert case.verdict is Verdict.SAME
    for key, value in (("outcome", "stale-data"), ("kind", "torn-bits"), ("detail", "else")):
        changed = only(cut_case(one), cut_case({**other, key: value}))
        assert [word for word, _ in changed.findings.words] == ["new", "gone"], key


def test_a_new_finding_is_worse_whatever_the_band_and_one_that_is_gone_is_better() -> None:
    for threshold in (None, 0.5):
        worse = only(cut_case(), cut_case(OLD), threshold=threshold)
        assert (worse.verdict, worse.findings.new) == (
            Verdict.WORSE,
            ("aaaa0001  mount-fails at 10 lost 0: mounting fails",),
        )
        better = only(cut_case(OLD), cut_case(), threshold=threshold)
        assert better.verdict is Verdict.BETTER and len(better.findings.gone) == 1
        other = finding("cccc0001", 10, "another reason")
        both = only(cut_case(OLD), cut_case(other), threshold=threshold)
        assert both.verdict is Verdict.MIXED
        assert (len(both.findings.new), len(both.findings.gone)) == (1, 1)


def test_a_new_finding_that_is_known_is_told_and_does_not_count() -> None:
    entries = ({"id": "aaaa0001", "reason": "documented", "until": "6.12"},)
    document = known_from_document({"known": list(entries)}, "known.toml")
    for kernel, known in (("6.1.192", True), ("6.12.3", False), ("", False)):
        base, new = side([cut_case()]), side([cut_case(OLD)], "new", "b2")
        new = replace(new, known=document, cases=(replace(new.cases[0], kernel=kernel),))
        (case,) = (found := compare_runs(base, new)).cases
        assert case.findings.words[0][0] == ("known" if known else "new")
        assert case.verdict is found.verdict is (Verdict.SAME if known else Verdict.WORSE)
    other = side([cut_case(OLD, finding("cccc0001", 10, "another"))], "new", "b2")
    (case,) = compare_runs(base, replace(other, known=document)).cases
    assert case.verdict is Verdict.WORSE


def test_a_case_that_failed_by_its_findings_is_compared_and_another_is_not() -> None:
    case = only(cut_case(OLD), cut_case(OLD))
    assert case.verdict is Verdict.SAME and case.rows
    crashed = cut_case(outcome="crash", reason="without any cut: panic", cuts=None)
    assert only(cut_case(OLD), crashed).verdict is Verdict.NEWLY_FAILING
    assert only(crashed, cut_case(OLD)).verdict is Verdict.FIXED
    assert only(crashed, crashed).verdict is Verdict.FAILING


def test_findings_of_several_seeds_are_told_once() -> None:
    base = [cut_case(seed=1), cut_case(OLD, seed=2)]
    new = [cut_case(OLD, seed=1), cut_case(OLD, seed=2)]
    case = only(base, new)
    line = "aaaa0001  mount-fails at 10 lost 0: mounting fails"
    assert (case.findings.new, case.findings.same, case.findings.gone) == ((line,), (line,), ())
    assert case.verdict is Verdict.WORSE


def test_nothing_on_either_side_is_nothing_to_be_told() -> None:
    assert not finding_change([])
    assert not only(result(), result()).findings
    for base, new in ((cut_case(), cut_case(OLD)), (cut_case(OLD), cut_case())):
        assert only(base, new).findings
    assert only(cut_case(OLD), cut_case(OLD)).findings


@pytest.fixture
def case_pair() -> Any:
    """One finding is the same, one new, one gone."""
    gone, new = finding("cccc0001", 1, "went <away>"), finding("dddd0001", 2, "came", states=3)
    return compared(cut_case(OLD, gone), cut_case(OLD, new))


LINES = {
    "new": "dddd0001  mount-fails at 2 lost 0 and 2 more: came",
    "gone": "cccc0001  mount-fails at 1 lost 0: went <away>",
    "same": "aaaa0001  mount-fails at 10 lost 0: mounting fails",
}


def test_json_has_them(case_pair: Any) -> None:
    (case,) = json.loads(as_json([case_pair], Choice()))["comparisons"][0]["cases"]
    assert case["findings"] == {"known": [], **{word: [line] for word, line in LINES.items()}}


def test_markdown_has_them(case_pair: Any) -> None:
    lines = as_markdown([case_pair], Choice()).splitlines()
    told = [line for line in lines if ", finding, " in line]
    assert len(told) == 3
    for line, word in zip(told, LINES, strict=True):
        assert line.startswith(f"- jffs2, finding, {word}: ")
    assert "dddd0001  mount-fails at 2 lost 0 and 2 more: came" in told[0]


def test_the_terminal_has_them(case_pair: Any) -> None:
    text = io.StringIO()
    print_comparison(Screen(file=text, width=80), case_pair, Choice())
    shown = " ".join(text.getvalue().split())
    for word, line in LINES.items():
        assert f"finding, {word}: {' '.join(line.split())}" in shown


def test_junit_fails_a_case_by_its_new_findings_first(case_pair: Any) -> None:
    text = as_junit([case_pair])
    assert "new finding: dddd0001" in text and "<failure" in text
    assert "cccc0001" not in text


def test_the_page_has_them(case_pair: Any) -> None:
    found = shown(case_pair, Choice(), "c")
    rows = tuple((word, "jffs2", line) for word, line in LINES.items())
    assert found.findings == Table(
        "", ("", "case", "finding"), (), rows, text_columns=3, wrapped=(2,)
    )
    # The new ones of all cases come first.
    own = spec(workload={"kind": "cuts", "timing": "none"}, filesystem__name="ubifs")
    before = [cut_case(OLD), cut_case(seed=2, spec=own)]
    after = [cut_case(), cut_case(OLD, seed=2, spec=own)]
    told = shown(compared(before, after), Choice(), "c").findings.rows
    assert [row[:2] for row in told] == [("new", "jffs2-s2"), ("gone", "jffs2")]
    page = render_comparisons([case_pair], Choice())
    assert "went &lt;away&gt;" in page and "findings: 1 new and 1 gone" in page


def test_a_limit_that_the_new_run_alone_misses_makes_its_case_worse() -> None:
    """And one that the base alone misses better; the figure itself may be within the threshold."""
    limit = LimitFile(figure="creation.time", at_most="2005 ms").limit
    rows = result(), scaled(result(), "creation.duration_ns", 1.01)

    def sides(first: int, second: int) -> Comparison:
        base, new = (
            replace(
                side([rows[n]], f"run {build}", build), cases=(compared_case(rows[n], (), [limit]),)
            )
            for build, n in (("b1", first), ("b2", second))
        )
        return compare_runs(base, new)

    for first, second, verdict, words in (
        (0, 1, Verdict.WORSE, ["new"]),
        (1, 0, Verdict.BETTER, ["gone"]),
        (1, 1, Verdict.SAME, ["same"]),
        (0, 0, Verdict.SAME, []),
    ):
        found = sides(first, second)
        assert found.verdict is verdict
        (case,) = found.cases
        assert [word for word, _ in case.missed.words] == words
    (_, line) = sides(0, 1).cases[0].missed.words[0]
    assert line == "creation.duration_ns is 2,020 ms, at most 2,005 ms: 0.748 % above"
    failure = ET.fromstring(as_junit([sides(0, 1)])).find(".//failure")
    assert failure is not None and failure.get("message") == f"limit missed: {line}"
    assert ET.fromstring(as_junit([sides(1, 1)])).find(".//failure") is None
    told = as_markdown([sides(0, 1)], Choice())
    assert f"- jffs2, limit missed, new: {line}" in told
    text = io.StringIO()
    print_comparison(Screen(file=text, width=120), sides(0, 1), Choice())
    assert f"  jffs2: limit missed, new: {line}" in text.getvalue()
    assert "Limit missed (new):" in render_comparisons([sides(0, 1)], Choice())
