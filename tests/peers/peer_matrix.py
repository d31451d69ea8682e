"""Runs the programs of others on every file system, and compares what passes with what passed.

A case is a program on a file system, in a state, on a kind of flash. It is kept as the number of
its checks, and those that did not pass with their reasons, in tests/golden/peers.json, of which
docs/peers.md is made.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peer_suites import SUITES, Suite

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "peers.json"
FILE_SYSTEMS = ("jffs2", "ubifs", "yaffs2", "logfs")
STATES = ("free", "aged")
_LIMIT_S = 600  # of wall time: where a kernel hangs, the case ends
_STUDY = """
schema = 1
name = "peers"
title = "A program of others"

[base]
board = "{board}"
partition_bytes = "{size}"
kernel = "sockets"
seeds = [1]

[base.workload]
kind = "script"
script = "peer.sh"
files = {files}

[axes]
filesystem = {file_systems}
state = {states}
"board.ram_bytes" = ["512 MiB"]  # for the libraries of Debian's fio
"""

Case = Mapping[str, Any]  # outcome, reason, checks, refused


@dataclass(frozen=True, slots=True)
class Flash:
    """A kind of flash: its board, the size of the partition, further words of `ffslab run`."""

    name: str
    board: str
    size: str
    words: tuple[str, ...] = ()


FLASH = (
    Flash("NAND", "apf27", "32 MiB"),
    # Not the kernel of boards with unaligned access: one kernel for all cases.
    Flash("NOR", "v3s-licheepi", "24 MiB", ("--set", "board.unaligned=false")),
)


def key(suite: str, flash: str, file_system: str, state: str) -> str:
    """What a case is called in the file."""
    return f"{suite} {flash} {file_system} {state}"


def run(suite: Suite, flash: Flash) -> dict[str, Case]:
    """The cases of a program on a kind of flash, by their keys."""
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        directory = Path(name)
        values = {
            "files": json.dumps(suite.put(directory)),
            "file_systems": json.dumps(FILE_SYSTEMS),
            "states": json.dumps(STATES),
        }
        study = directory / "peers.toml"
        study.write_text(_STUDY.format(board=flash.board, size=flash.size, **values))
        output = directory / "results"
        further = ("--no-report", "--timeout", str(_LIMIT_S), "--output", str(output))
        done = subprocess.run(
            [str(ROOT / "ffslab"), "run", str(study), *further, *flash.words],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stdout + done.stderr
        (made,) = (place for place in output.iterdir() if place.is_dir())
        return dict(_cases(suite, flash, made))


def _cases(suite: Suite, flash: Flash, made: Path) -> Iterator[tuple[str, Case]]:
    for line in (made / "results.jsonl").read_text().splitlines():
        result = json.loads(line)
        file_system, state, _ = result["id"].rsplit("-", 2)
        output = made / "cases" / result["id"] / "output.log"
        checks = suite.read(output.read_text(errors="replace")) if output.exists() else {}
        case = {"outcome": result["outcome"], "reason": result["reason"], "checks": len(checks)}
        refused = {name: why for name, why in sorted(checks.items()) if why}
        yield key(suite.name, flash.name, file_system, state), {**case, "refused": refused}


def worse(before: Mapping[str, Case], now: Mapping[str, Case]) -> Iterator[str]:
    """What passed before and passes no longer, among the cases that ran now."""
    for name, case in now.items():
        if name not in before:
            yield f"{name}: not in {GOLDEN.name} (python tests/peers writes it)"
            continue
        old = before[name]
        if case["outcome"] != old["outcome"] and old["outcome"] != "timeout":
            yield f"{name}: was {old['outcome']}, is {case['outcome']}: {case['reason']}"
        if case["checks"] < old["checks"]:
            yield f"{name}: had {old['checks']} checks, has {case['checks']}"
        for check, why in case["refused"].items():
            if check not in old["refused"]:
                yield f"{name}: {check} passed, now: {why}"


def read_golden() -> dict[str, Any]:
    """The file: `programs` with their versions, and `cases`."""
    golden: dict[str, Any] = json.loads(GOLDEN.read_text("utf-8"))
    return golden


def write_golden(cases: Mapping[str, Case]) -> None:
    """Replaces the cases that ran, and keeps the others."""
    golden = read_golden() if GOLDEN.exists() else {"cases": {}}
    golden["programs"] = {suite.name: suite.version() for suite in SUITES}
    golden["cases"] = dict(sorted({**golden["cases"], **cases}.items()))
    GOLDEN.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n", "utf-8")


def say(text: str) -> None:
    """Progress, on standard error."""
    print(text, file=sys.stderr, flush=True)
