"""A run as JUnit XML, which CI systems read: one test case per case. Pure.

A case fails if its outcome is a failure, with the reason and its findings, or if it misses a limit
of the study. What was skipped, or fails by known findings alone, counts as skipped.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping

from ffslab.compare.junit import plain, suites_text
from ffslab.report.first.brief import Brief
from ffslab.results.outcome import MISSED
from ffslab.results.result import CaseHead, WallResult
from ffslab.results.shortfall import is_good
from ffslab.workloads.results import finding_line

_SKIPPED = "skip"
_NS = 1e9


def run_as_junit(
    name: str, study: str, brief: Brief, walls: Mapping[str, WallResult] | None = None
) -> str:
    """The whole document; times are those of the wall clock."""
    suite = ET.Element("testsuite", name=plain(name))
    for head in brief.heads:
        case = ET.SubElement(
            suite, "testcase", classname=plain(f"ffslab.{study}"), name=plain(head["id"])
        )
        if walls and head["id"] in walls:
            case.set("time", f"{walls[head['id']]['wall_ns'] / _NS:.3f}")
        _judge(case, head, brief)
    failures = sum(case.find("failure") is not None for case in suite)
    skipped = sum(case.find("skipped") is not None for case in suite)
    counts = {"tests": len(suite), "failures": failures, "errors": 0, "skipped": skipped}
    for word, count in counts.items():
        suite.set(word, str(count))
    return suites_text("ffslab run", [suite])


def _judge(case: ET.Element, head: CaseHead, brief: Brief) -> None:
    """What became of a case, beneath it; nothing if it passed within its limits."""
    told = [each for each in brief.accepted.told if each.case == head["id"]]
    missed = [each.text for each in brief.missed if each.case == head["id"]]
    if head["outcome"] == _SKIPPED:
        ET.SubElement(case, "skipped", message=plain(head["reason"]))
    elif head["id"] in brief.accepted.cases and not missed:
        reasons = dict.fromkeys(each.entry.reason for each in told if each.entry)
        ET.SubElement(case, "skipped", message=plain(f"known: {'; '.join(reasons)}"))
    elif missed or not is_good(head):
        kind = MISSED if is_good(head) else head["outcome"]
        failure = ET.SubElement(case, "failure", type=kind)
        failure.set("message", plain(missed[0] if is_good(head) else head["reason"]))
        lines = [finding_line(each.finding) for each in told if not each.is_known]
        failure.text = plain("\n".join([*(f"missed: {text}" for text in missed), *lines]))
