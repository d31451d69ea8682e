"""docs/peers.md, made of what tests/golden/peers.json keeps, and why checks are refused.

Every check that does not pass has a reason here, of the file system's format or of the kernel: one
without is told as unexplained, and a test fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from peer_matrix import FILE_SYSTEMS, FLASH, ROOT, STATES, key, read_golden
from peer_suites import SUITES

DOCUMENT = ROOT / "docs" / "peers.md"
TITLES = {"jffs2": "JFFS2", "ubifs": "UBIFS", "yaffs2": "YAFFS2", "logfs": "LogFS"}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why checks of a program do not pass: patterns of the check and what was said of it."""

    program: str
    check: str
    file_systems: tuple[str, ...]
    why: str


_ALL = FILE_SYSTEMS
REASONS: tuple[Reason, ...] = ()
_HEAD = """# What others test file systems with

Programs that others wrote run in the lab as [scripts](study-format.md#baseworkload-of-script), on each of the four file
systems, empty and aged (half full, a quarter deleted), on NAND (apf27, 32 MiB) and on SPI-NOR flash (v3s-licheepi, 24
MiB), with 512 MiB of RAM and the kernel `sockets`. Equal versions give equal results.

```sh
./ffslab test --peers
```

runs them all and fails if a check that passed passes no longer; so does a nightly run of all tests
(`FFSLAB_NIGHTLY=1 ./ffslab test`). It needs cargo (Rust 1.85 or newer), and installs Debian's packages. `python
tests/peers` writes `tests/golden/peers.json` and this page anew.

## What passes

Checks that pass, of all; "free, aged" if the two differ.

"""


def write_document() -> None:
    """Replaces docs/peers.md."""
    DOCUMENT.write_text(document(read_golden()), "utf-8")


def document(golden: Mapping[str, Any]) -> str:
    """The page, from what is kept."""
    return _HEAD + "\n".join([*_table(golden), "", *_refused(golden["cases"])]) + "\n"


def unexplained(cases: Mapping[str, Any]) -> list[str]:
    """Checks that do not pass, without a reason."""
    return [
        f"{name}: {check}: {why}"
        for name, case in cases.items()
        for check, why in case["refused"].items()
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
                for check in case["refused"]
                if _reason(name, check) is reason
            }
        )
        systems = [TITLES[name] for name in reason.file_systems]
        where = "All" if reason.file_systems == _ALL else ", ".join(systems)
        if names:
            yield f"- **{reason.program}** on {where} ({len(names)}): {_listed(names)}. {reason.why}"
    for line in unexplained(cases):
        yield f"- Unexplained: {line}"
    yield from _said_by_kernel(cases)


def _listed(names: list[str]) -> str:
    """Names, those of a kind once."""
    kinds = dict.fromkeys(re.sub(r"::(block|char|fifo|regular|socket|dir|symlink)$", "", n) for n in names)
    return ", ".join(f"`{kind}`" for kind in kinds)


def _said_by_kernel(cases: Mapping[str, Any]) -> Iterator[str]:
    """Cases whose kernel complained, whatever the checks say."""
    for name, case in cases.items():
        if case["outcome"] not in ("pass", "skip"):
            yield f"- {name}: {case['outcome']}: {case['reason']}"


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
