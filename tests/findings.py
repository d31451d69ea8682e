"""Checks that are left out or loosened for a file system of the kernel, each with its finding.

docs/findings.md numbers what is wrong. Whoever makes an exception for it says the number, by
`finding()`: an exception without one fails tests/unit/test_findings_named.py, and so does a number
that the document has not. tests/lab/test_findings.py makes each check without its exception and
wants it to fail, so that a kernel that mends the mistake is noticed.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "findings.md"
NUMBER = re.compile(r"\bF-[A-Z0-9]+-\d\d\b")
_DECLARED = re.compile(r"^(?:\*\*|\| )(F-[A-Z0-9]+-\d\d)\b", re.MULTILINE)
# What tests/lab/findings_by_version.py found: of each finding a word for each kernel.
BY_VERSION = ROOT / "tests" / "golden" / "findings-by-version.json"
THERE, NOT_THERE, NOT_SEEN, NOT_RUN = "there", "not there", "not seen", "not run"
_OF_LINUX = re.compile(r"F-(JFFS2|UBI|UBIFS)-")
Excepted = TypeVar("Excepted")


@cache
def declared() -> tuple[str, ...]:
    """The numbers that the document declares: a paragraph in bold, or a row of a table, each."""
    return tuple(_DECLARED.findall(DOCUMENT.read_text(encoding="utf-8")))


def finding(number: str, excepted: Excepted) -> Excepted:
    """What is excepted; AssertionError if the document does not declare the number."""
    assert number in declared(), f"{number} is not in {DOCUMENT.relative_to(ROOT)}"
    return excepted


def by_version_numbers() -> list[str]:
    """The findings of JFFS2, UBI and UBIFS."""
    return sorted(number for number in declared() if _OF_LINUX.match(number))


def cells() -> dict[str, dict[str, str]]:
    """The words of BY_VERSION."""
    found: dict[str, dict[str, str]] = json.loads(BY_VERSION.read_text(encoding="utf-8"))
    return found


def rows() -> list[str]:
    """The table of BY_VERSION, as the document has it."""
    found = cells()
    kernels = list(dict.fromkeys(kernel for row in found.values() for kernel in row))
    lines = [f"| | {' | '.join(kernels)} |", "|" + "---|" * (len(kernels) + 1)]
    for number in by_version_numbers():
        words = [found.get(number, {}).get(kernel, NOT_RUN) for kernel in kernels]
        lines.append(f"| `{number}` | {' | '.join(words)} |")
    return lines
