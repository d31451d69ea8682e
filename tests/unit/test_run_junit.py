"""A run as JUnit XML: what fails, what is known, what missed a limit."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from cli_support import Command
from compare_support import result
from test_compare_findings import OLD, finding

from ffslab.model.bounds import LimitFile
from ffslab.model.known import known_from_document
from ffslab.report.first.brief import Brief
from ffslab.report.junit import run_as_junit
from ffslab.results.result import head_of
from ffslab.workloads.accepted import accepted
from ffslab.workloads.limits import missed_of


def brief(*rows: dict[str, Any], findings: Any = (), known: Any = (), limits: Any = ()) -> Brief:
    heads = tuple(head_of(row) for row in rows)  # type: ignore[arg-type]
    failed = [head["id"] for head in heads if head["outcome"] == "fail"]
    missed = tuple(one for row in rows for one in missed_of(row, limits))  # type: ignore[arg-type]
    return Brief(heads, accepted(findings, failed, known, {}), missed)


def told(made: Brief, **walls: Any) -> dict[str, tuple[str, str, str]]:
    """By the case what became of it: the element's name, its message and its text."""
    root = ET.fromstring(run_as_junit("run-1", "small", made, walls))
    (suite,) = root
    cases = {}
    for case in suite:
        inner = next(iter(case), None)
        assert case.get("classname") == "ffslab.small"
        cases[str(case.get("name"))] = (
            ("", "", "")
            if inner is None
            else (inner.tag, str(inner.get("message")), str(inner.text or ""))
        )
    tags = [tag for tag, _, _ in cases.values()]
    counts = tuple(int(str(suite.get(word))) for word in ("tests", "failures", "skipped"))
    assert counts == (len(cases), tags.count("failure"), tags.count("skipped"))
    return cases


def test_each_outcome_has_its_element() -> None:
    cases = told(
        brief(
            result("good-s1"),
            result("bad-s1", outcome="crash", reason="oops \x1b[0m"),
            result("left-s1", outcome="skip", reason="no module"),
        )
    )
    assert cases == {
        "good-s1": ("", "", ""),
        "bad-s1": ("failure", "oops �[0m", ""),
        "left-s1": ("skipped", "no module", ""),
    }


def test_known_findings_are_skipped_and_new_ones_named() -> None:
    known = known_from_document({"known": [{"id": "aaaa0001", "reason": "documented"}]}, "k.toml")
    rows = [result(f"{n}-s1", outcome="fail", reason="1 of 9 states") for n in ("old", "new")]
    other = finding("cccc0001", 10, "another")
    cases = told(brief(*rows, findings=[("old-s1", OLD), ("new-s1", other)], known=known))
    assert cases["old-s1"] == ("skipped", "known: documented", "")
    tag, message, text = cases["new-s1"]
    assert (tag, message) == ("failure", "1 of 9 states") and text.startswith(
        "cccc0001  mount-fails"
    )


def test_a_missed_limit_is_a_failure_of_a_case_that_passed() -> None:
    limit = LimitFile(figure="creation.time", at_most="1 s").limit
    cases = told(brief(result("slow-s1"), limits=[limit]))
    line = "creation.duration_ns is 2 s, at most 1 s: 100 % above"
    assert cases["slow-s1"] == ("failure", line, f"missed: {line}")


def test_the_wall_time_is_told_where_it_is_known() -> None:
    made = brief(result("good-s1"))
    walls: Any = {"good-s1": {"wall_ns": 1_234_567_890}}
    assert 'name="good-s1" time="1.235"' in run_as_junit("run-1", "small", made, walls)
    assert "time=" not in run_as_junit("run-1", "small", made)


def test_export_writes_it_beside_the_results_or_where_it_is_told(ffslab_command: Command) -> None:
    assert ffslab_command("run", "small.toml", "--no-report").code == 0
    beside = ffslab_command("export", "latest", "-f", "junit").output.strip()
    assert beside.endswith("export/junit.xml")
    assert ET.parse(beside).getroot().find("testsuite").get("tests") == "8"  # type: ignore[union-attr]
    assert ffslab_command("export", "latest", "-f", "junit", "--to", "ci.xml").output == "ci.xml\n"
    assert Path("ci.xml").read_text() == Path(beside).read_text()
