"""What a guest's kernel log says about its end: crashes, stuck and hung tasks, warnings.

A parser, tested against recorded logs. It looks only at what the kernel prints, never at the words
of agent and programs, where a target has these apart; and it does not care whether the log is cut.
A log is read line by line, and what is kept of it is bounded, however long it is.
"""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Literal

from ffslab.results.refusals import is_refusal

Severity = Literal["stuck", "crash", "fail"]
_EXCERPT_BEFORE = 2
_EXCERPT_AFTER = 18
_LINE_LIMIT = 160
_LAST_LINES = 12
_MOST_MESSAGES = 1000  # of a kind
_LINE_BYTES = 2**16  # what is longer counts as several lines
_TAIL_BYTES = 2**16


@dataclass(frozen=True, slots=True)
class KernelMessage:
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


# In order of importance: the first message of the most important kind is reported. What matches
# has one of the words before the pattern, and looking for these takes a tenth of the time.
_PATTERNS: tuple[tuple[Severity, str, tuple[str, ...], re.Pattern[str]], ...] = (
    # Before the panic that follows it (kernel/patches/0026-um-stuck.patch, 0029).
    (
        "stuck",
        "stuck",
        ("] stuck: ",),
        re.compile(
            r"^\[ *\d+\.\d+\] stuck: .+ (of virtual time|million instructions)", re.MULTILINE
        ),
    ),
    (
        "crash",
        "hung task",
        ("INFO: task ",),
        re.compile(r"INFO: task .+ blocked for more than \d+ seconds"),
    ),
    ("crash", "kernel bug", ("BUG",), re.compile(r"\bkernel BUG at |\bBUG: |\bBUG [\w-]+ \(")),
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
        "failed assertion",
        ("assert failed",),
        re.compile(r"\bUBIFS assert failed\b|\bUBI assert failed\b"),
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


_ERRORS = next(index for index, row in enumerate(_PATTERNS) if row[1] == "file system error")
_WORDS = tuple(word for _, _, words, _ in _PATTERNS for word in words)


@dataclass(frozen=True, slots=True)
class KernelLog:
    """What matters of a log: `messages`, the most important kind first and then by line, at most
    `_MOST_MESSAGES` of a kind; and its `last` lines, for a guest that stopped without a word.
    """

    messages: tuple[KernelMessage, ...] = ()
    last: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Printed:
    """What a guest printed: its kernel's log, and the end of what its programs printed.

    `apart`: these have a channel of their own; else `output` is the end of the one that there is.
    """

    kernel: KernelLog
    output: str
    apart: bool = True

    @classmethod
    def on_one_channel(cls, text: str) -> Printed:
        """What `text` has of both."""
        return cls(read_log(_lines(text)), text[-_TAIL_BYTES:], apart=False)

    @classmethod
    def of(cls, console: Path, output: Path) -> Printed:
        """What is in the two files, or in the first one if there is no second."""
        log = read_log(lines_of(console))
        if output.exists():
            return cls(log, tail_of(output))
        return cls(log, tail_of(console), apart=False)

    @property
    def last(self) -> tuple[str, ...]:
        """The last lines, of both."""
        output = last_lines(self.output, _LAST_LINES // 2) if self.apart and self.output else ()
        return (*self.kernel.last[-(_LAST_LINES - len(output)) :], *output)


def scan_console(text: str) -> tuple[KernelMessage, ...]:
    """The messages of a log in one text."""
    return read_log(_lines(text)).messages


def read_log(lines: Iterable[str]) -> KernelLog:
    """What matters of a log, each of whose lines is read once."""
    matches: list[tuple[int, int, list[str]]] = []  # place in _PATTERNS, line, excerpt
    before: deque[str] = deque(maxlen=_EXCERPT_BEFORE)
    last: deque[str] = deque(maxlen=_LAST_LINES)
    open_excerpts: deque[tuple[int, list[str]]] = deque()
    kinds: Counter[int] = Counter()
    for number, line in enumerate(lines, start=1):
        while open_excerpts and open_excerpts[0][0] + _EXCERPT_AFTER <= number:
            open_excerpts.popleft()
        for _, excerpt in open_excerpts:
            excerpt.append(_clean(line))
        if any(word in line for word in _WORDS):
            for kind, (*_, pattern) in enumerate(_PATTERNS):
                if kind == _ERRORS and is_refusal(line):
                    continue
                if kinds[kind] < _MOST_MESSAGES and pattern.search(line):
                    kinds[kind] += 1
                    excerpt = [*map(_clean, before), _clean(line)]
                    matches.append((kind, number, excerpt))
                    open_excerpts.append((number, excerpt))
        before.append(line)
        last.append(line)
    matches.sort(key=lambda match: match[0])
    return KernelLog(tuple(starmap(_kernel_message, matches)), tuple(map(_clean, last)))


def _kernel_message(kind: int, number: int, excerpt: list[str]) -> KernelMessage:
    severity, name, *_ = _PATTERNS[kind]
    text = excerpt[min(number - 1, _EXCERPT_BEFORE)]
    return KernelMessage(severity, name, number, text, tuple(excerpt))


def last_lines(text: str, count: int = _LAST_LINES) -> tuple[str, ...]:
    """The end of a text that was printed."""
    return tuple(_clean(line) for line in _lines(text)[-count:])


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a file, none if there is no such file; one at a time is in memory."""
    try:
        file = path.open("rb")
    except OSError:
        return
    with file:
        while line := file.readline(_LINE_BYTES):
            yield line.removesuffix(b"\n").decode("utf-8", "replace")


def tail_of(path: Path) -> str:
    """The end of a file, empty if there is no such file."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return file.read(_TAIL_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _lines(text: str) -> list[str]:
    """As the kernel ends them: a file's name in a message may hold what splitlines() splits at."""
    return text.removesuffix("\n").split("\n")


def _clean(line: str) -> str:
    printable = "".join(c if c.isprintable() or c == "\t" else "?" for c in line.rstrip())
    return printable[:_LINE_LIMIT]
