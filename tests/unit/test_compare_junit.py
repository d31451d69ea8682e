"""A comparison as JUnit XML: which cases fail, which are skipped, and what they say."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from compare_support import compared, result, scaled, spec

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
    for name in ("duration_ns", "pages_read", "pages_programmed", "blocks_erased"):
        new = scaled(new, f"transactions.{name}", 2)
    failure = ET.fromstring(as_junit([compared(row, new)])).find(".//failure")
    assert failure is not None
    assert str(failure.get("message")).endswith("; and 2 more")
    assert "blocks erased: 30 → 60, 2.00 times as many blocks" in str(failure.text)


def test_junit_of_what_is_not_deterministic() -> None:
    row = result()
    xml = as_junit([compared(row, scaled(row, TIME, 0.9), "b1")])
    failure = ET.fromstring(xml).find(".//failure")
    assert failure is not None and failure.get("type") == "not deterministic"
    assert TIME in str(failure.text)
