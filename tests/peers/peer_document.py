"""docs/peers.md, made of what tests/golden/peers.json keeps, and why checks are refused.

Every check that does not pass has a reason here, of the file system's format or of the kernel: one
without is told as unexplained, and a test fails.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from peer_matrix import FILE_SYSTEMS, FLASH, ROOT, STATES, key, read_golden
from peer_suites import SUITES

DOCUMENT = ROOT / "docs" / "peers.md"
TITLES = {"jffs2": "JFFS2", "ubifs": "UBIFS", "yaffs2": "YAFFS2", "logfs": "LogFS"}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why checks of a program do not pass, on these file systems: a pattern of the checks.

    `findings`: what docs/findings.md says of those of Linux among them.
    """

    program: str
    check: str
    file_systems: tuple[str, ...]
    why: str
    findings: tuple[str, ...] = ()


_ALL = FILE_SYSTEMS
_TYPES = "(::(block|char|fifo|regular|socket|dir|symlink))?"
_KERNEL = "the kernel's log"  # in the place of a check's name, if a case failed beside its checks
REASONS: tuple[Reason, ...] = (
    Reason(
        "pjdfstest",
        "link::link_count_max",
        _ALL,
        "Skipped: the C library knows of no limit.",
    ),
    Reason(
        "pjdfstest",
        "utimensat::subsecond",
        ("jffs2", "ubifs", "yaffs2"),
        "Times on the flash are whole seconds (UBIFS has room for more and does not use it).",
        ("F-JFFS2-14", "F-UBIFS-13"),
    ),
    Reason(
        "pjdfstest",
        "utimensat::y2038",
        ("jffs2",),
        "Times on the flash have 32 bits: they end in 2106, a second before the check's.",
        ("F-JFFS2-14",),
    ),
    Reason(
        "pjdfstest",
        f"(link|rename|unlink|truncate)::.*(ctime_success|to_multiply_linked){_TYPES}",
        ("jffs2",),
        "JFFS2 writes a new entry of a directory and no node of the file, whose ctime stays as it "
        "is; truncate(2) leaves both times.",
        ("F-JFFS2-11",),
    ),
    Reason(
        "pjdfstest",
        "rename::updates_link_parent",
        ("logfs",),
        "A directory of LogFS has one link, whatever is in it.",
    ),
    Reason(
        *("fsx", "mapped-[123]", ("jffs2",), "JFFS2 has no writable shared mmap (EINVAL)."),
        ("F-JFFS2-17",),
    ),
    Reason("fio", "mapped", ("jffs2",), "The same.", ("F-JFFS2-17",)),
    Reason("stress-ng", "xattr", ("logfs",), "LogFS has no extended attributes."),
    Reason(
        "integck",
        "verified|repeated",
        ("logfs",),
        "It counts the links of directories; one of LogFS has one link, whatever is in it.",
    ),
)
_BEGIN = "## What passes\n\n"  # what stands above is written by hand


def write_document() -> None:
    """Replaces docs/peers.md."""
    DOCUMENT.write_text(document(DOCUMENT.read_text("utf-8"), read_golden()), "utf-8")


def document(page: str, golden: Mapping[str, Any]) -> str:
    """The page with its figures from what is kept."""
    head, begin, _ = page.partition(_BEGIN)
    told = (textwrap.fill(line, 120, subsequent_indent="  ") for line in _refused(golden["cases"]))
    return "".join((head, begin, *(f"{line}\n" for line in (*_table(golden), "", *told))))


def unexplained(cases: Mapping[str, Any]) -> list[str]:
    """Checks that do not pass, without a reason."""
    return [
        f"{name}: {check}: {why}"
        for name, case in cases.items()
        for check, why in _not_passed(case).items()
        if _reason(name, check) is None
    ]


def _table(golden: Mapping[str, Any]) -> Iterator[str]:
    heads = [f"{TITLES[name]} {flash.name}" for flash in FLASH for name in _on(golden, flash.name)]
    yield f"| program | {' | '.join(heads)} |"
    yield f"|---|{'---|' * len(heads)}"
    for suite in SUITES:
        cells = [
            _cell(golden["cases"], suite.name, flash.name, name)
            for flash in FLASH
            for name in _on(golden, flash.name)
        ]
        yield f"| {suite.name} {golden['programs'][suite.name]} | {' | '.join(cells)} |"


def _on(golden: Mapping[str, Any], flash: str) -> list[str]:
    """File systems with a case that was not skipped on this flash."""
    first = SUITES[0].name
    cases = golden["cases"]
    return [
        name
        for name in FILE_SYSTEMS
        if cases[key(first, flash, name, STATES[0])]["outcome"] != "skip"
    ]


def _cell(cases: Mapping[str, Any], suite: str, flash: str, name: str) -> str:
    told = []
    for state in STATES:
        case = cases[key(suite, flash, name, state)]
        ended = "" if case["outcome"] in ("pass", "fail") else f" ({case['outcome']})"
        told.append(f"{case['checks'] - len(case['refused'])} of {case['checks']}{ended}")
    return ", ".join(dict.fromkeys(told))


def _refused(cases: Mapping[str, Any]) -> Iterator[str]:
    yield "## What does not, and why"
    yield ""
    skipped = sorted({case["reason"] for case in cases.values() if case["outcome"] == "skip"})
    yield from (f"- {reason}." for reason in skipped)
    for reason in REASONS:
        names = sorted(
            {
                check
                for name, case in cases.items()
                for check in _not_passed(case)
                if _reason(name, check) is reason
            }
        )
        systems = [TITLES[name] for name in reason.file_systems]
        where = "all" if reason.file_systems == _ALL else ", ".join(systems)
        if names:
            listed = f"{_listed(names)} ({len(names)})"
            numbers = f" ({', '.join(reason.findings)})" if reason.findings else ""
            yield f"- **{reason.program}** on {where}: {listed}. {reason.why}{numbers}"
    for line in unexplained(cases):
        yield f"- Unexplained: {line}"


def _listed(names: list[str]) -> str:
    """Names, those of a kind once."""
    kinds = dict.fromkeys(
        re.sub(r"::(block|char|fifo|regular|socket|dir|symlink)$", "", n) for n in names
    )
    return ", ".join(kind if kind == _KERNEL else f"`{kind}`" for kind in kinds)


def _not_passed(case: Mapping[str, Any]) -> dict[str, str]:
    """The checks that did not pass, and what the case failed with beside them."""
    failed = {_KERNEL: case["reason"]} if case["outcome"] not in ("pass", "skip") else {}
    return {**case["refused"], **failed}


def _reason(name: str, check: str) -> Reason | None:
    program, _, file_system, _ = name.split()
    return next(
        (
            reason
            for reason in REASONS
            if reason.program == program
            and file_system in reason.file_systems
            and re.fullmatch(reason.check, check)
        ),
        None,
    )
