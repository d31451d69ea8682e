"""A comparison as JUnit XML, which CI systems read: one test case per case. Pure.

A case fails if a deciding figure got worse beyond threshold and band, if it newly fails, newly
misses a limit of its study, or differs although build and spec are equal. What could not be
compared is skipped, with the reason.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence

from ffslab.compare.engine import CaseRow, Comparison
from ffslab.compare.tables import told_change
from ffslab.compare.verdicts import LOSSES, REGRESSIONS, Verdict
from ffslab.compare.words import cause_words, row_title, values_text

_SKIPPED = frozenset({Verdict.MISSING, Verdict.FAILING, Verdict.INCOMPARABLE})
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MESSAGE_FIGURES = 3


def as_junit(comparisons: Sequence[Comparison]) -> str:
    """The whole document."""
    return suites_text("ffslab compare", map(_suite, comparisons))


def suites_text(name: str, suites: Iterable[ET.Element]) -> str:
    """Suites as a whole document."""
    root = ET.Element("testsuites", name=name)
    root.extend(suites)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(comparison: Comparison) -> ET.Element:
    cases = [_test_case(comparison, case) for case in comparison.cases]
    suite = ET.Element(
        "testsuite",
        name=plain(f"{comparison.new.name} against {comparison.base.name}"),
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors="0",
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
    )
    suite.extend(cases)
    return suite


def _test_case(comparison: Comparison, case: CaseRow) -> ET.Element:
    suite = plain(f"ffslab.{comparison.base.study}")
    made = ET.Element("testcase", classname=suite, name=plain(case.label))
    failure = _failure(case)
    if failure is not None:
        made.append(failure)
    elif case.verdict in _SKIPPED:
        ET.SubElement(made, "skipped", message=plain(_why(case)))
    return made


def _failure(case: CaseRow) -> ET.Element | None:
    """The figures that got worse, with their causes; None for a case that is no regression."""
    worse = [row for row in case.deciding if row.verdict in LOSSES] if not case.other_work else []
    lines = [
        f"{row_title(row)}: "
        f"{' → '.join(values_text(row.figure.metric, row.base, row.new))}, {told_change(row)}"
        for row in worse
    ]
    wrong = [f"new finding: {line}" for line in case.findings.new]
    wrong += [f"limit missed: {line}" for line in case.missed.new]
    lines = [*wrong, *lines]
    messages = lines[:_MESSAGE_FIGURES]
    if len(lines) > len(messages):
        messages.append(f"and {len(lines) - len(messages)} more")
    if case.verdict is Verdict.NEWLY_FAILING:
        lines.insert(0, case.why)
        messages = [case.why]
    if case.broken:
        kind, told = "not deterministic", "equal build and spec, and results differ"
        messages = [told]
        lines = [f"{told}: {', '.join(case.broken)}", *lines]
    elif lines:
        kind = str(case.verdict if case.verdict in REGRESSIONS else Verdict.WORSE)
    else:
        return None
    lines += [f"cause, {cause_words(cause)}" for cause in case.causes]
    failure = ET.Element("failure", type=kind, message=plain("; ".join(messages)))
    failure.text = plain("\n".join(lines))
    return failure


def _why(case: CaseRow) -> str:
    reason = case.why or next((row.why for row in case.rows if row.why), "")
    return f"{case.verdict}: {reason}" if reason else str(case.verdict)


def plain(text: str) -> str:
    """Without what XML cannot hold: control characters of a console, bytes that are no UTF-8."""
    return _NO_XML.sub("�", text)
