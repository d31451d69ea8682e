"""What a guest's kernel log says about its end: crashes, stuck and hung tasks, warnings.

A pure parser, tested against recorded logs. It looks only at what the kernel
prints, never at the agent's words, and it does not care whether the log is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["stuck", "crash", "fail"]
_EXCERPT_BEFORE = 2
_EXCERPT_AFTER = 18
_LINE_LIMIT = 160


@dataclass(frozen=True, slots=True)
class Finding:
    """Something the kernel log reports: `line` counts from 1."""

    severity: Severity
    kind: str
    line: int
    text: str
    excerpt: tuple[str, ...]

    @property
    def is_end(self) -> bool:
        """Whether the guest's kernel ended there."""
        return self.severity != "fail"


# In order of importance: the first finding of the most important kind is reported. What matches
# has one of the words before the pattern, and looking for these takes a tenth of the time.
_PATTERNS: tuple[tuple[Severity, str, tuple[str, ...], re.Pattern[str]], ...] = (
    # Before the panic that follows it (kernel/patches/0026-um-stuck.patch).
    (
        "stuck",
        "stuck",
        ("] stuck: ",),
        re.compile(r"^\[ *\d+\.\d+\] stuck: .+ of virtual time", re.MULTILINE),
    ),
    (
        "crash",
        "hung task",
        ("INFO: task ",),
        re.compile(r"INFO: task .+ blocked for more than \d+ seconds"),
    ),
    ("crash", "kernel bug", ("BUG",), re.compile(r"\bkernel BUG at |\bBUG: ")),
    (
        "crash",
        "oops",
        ("Oops", " fault"),
        re.compile(r"\bOops\b|Kernel mode fault|[Gg]eneral protection fault"),
    ),
    ("crash", "kernel panic", ("Kernel panic",), re.compile(r"Kernel panic - not syncing")),
    (
        "fail",
        "lock dependency",
        ("possible ", "inconsistent lock", "suspicious RCU"),
        re.compile(
            r"possible (circular|recursive) locking|possible irq lock inversion|"
            r"inconsistent lock state|suspicious RCU usage"
        ),
    ),
    (
        "fail",
        "kernel warning",
        ("WARNING: ",),
        re.compile(r"\bWARNING: (CPU|at|possible|suspicious|bad)"),
    ),
    (
        "fail",
        "rule violation",
        (": rule violation",),
        re.compile(r"vn(and|or).*: rule violation"),
    ),
    (
        "fail",
        "file system error",
        ("UBIFS error", "UBI error", "jffs2: error", "ubi"),
        re.compile(r"\bUBIFS error\b|\bubi\d+ error\b|\bUBI error\b|\bjffs2: error\b"),
    ),
)


def scan_console(text: str) -> tuple[Finding, ...]:
    """Every finding, the most important kind first and then by line."""
    lines = _lines(text)
    findings: list[Finding] = []
    for severity, kind, words, pattern in _PATTERNS:
        # None can match across lines, so most consoles are searched once for each.
        if not any(word in text for word in words) or not pattern.search(text):
            continue
        for number, line in enumerate(lines):
            if pattern.search(line):
                findings.append(
                    Finding(severity, kind, number + 1, _clean(line), _excerpt(lines, number))
                )
    return tuple(findings)


def last_lines(text: str, count: int = 12) -> tuple[str, ...]:
    """The end of a log, for a guest that stopped without a word."""
    return tuple(_clean(line) for line in _lines(text)[-count:])


def _lines(text: str) -> list[str]:
    """As the kernel ends them: a file's name in a message may hold what splitlines() splits at."""
    return text.removesuffix("\n").split("\n")


def _excerpt(lines: list[str], number: int) -> tuple[str, ...]:
    return tuple(_clean(line) for line in _window(lines, number))


def _window(lines: list[str], number: int) -> Iterable[str]:
    return lines[max(0, number - _EXCERPT_BEFORE) : number + _EXCERPT_AFTER]


def _clean(line: str) -> str:
    printable = "".join(c if c.isprintable() or c == "\t" else "?" for c in line.rstrip())
    return printable[:_LINE_LIMIT]
