# SPDX-License-Identifier: GPL-2.0-only
"""What the end-to-end tests of the agent share: the program, its records, the runner.

Only the standard library is needed.  A test that the machine cannot run (no
right to mount, no postmark) prints why; everything else counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Record = dict[str, Any]
SHM = Path("/dev/shm")
# The long form of the tests.
NIGHTLY = os.environ.get("FFSLAB_NIGHTLY", "") not in ("", "0")
ORDER = {
    "start": ["v", "type", "agent", "kernel", "clock", "seed"],
    "step": ["v", "type", "index", "verb", "label", "t_start_ns", "t_end_ns", "status"],
    "space": [
        "v", "type", "label", "total_bytes", "free_bytes", "available_bytes",
        "files", "files_free", "page_cache_bytes", "mem_free_bytes",
    ],
    "phase": [
        "v", "type", "workload", "phase", "t_start_ns", "t_end_ns", "status",
        "files_created", "files_deleted", "files_read", "files_appended",
        "bytes_read", "bytes_written",
    ],
    "latency": [
        "v", "type", "workload", "phase", "op", "count", "sum_ns", "min_ns",
        "max_ns", "buckets",
    ],
    "full-latency": ["v", "type", "workload", "phase", "op", "values_ns"],
    "prepared": [
        "v", "type", "state", "valid_bytes", "invalid_bytes", "invalid_present",
        "file_bytes", "capacity_bytes",
    ],
    "micro": [
        "v", "type", "pattern", "cache", "file_bytes", "volume_bytes", "requests",
        "requests_done", "stopped", "streams", "dropped_rows",
    ],
    "requests": [
        "v", "type", "workload", "phase", "stream", "op", "first", "offset",
        "t_start_ns", "latency_ns",
    ],
    "tree": [
        "v", "type", "phase", "directories", "files", "links", "others", "bytes", "depth",
        "found", "digest", "largest_directory",
    ],
    "written": [
        "v", "type", "path", "image_bytes", "pages", "blocks", "bad_blocks_skipped",
    ],
    "memory": [
        "v", "type", "label", "t_ns", "mem_free_bytes", "page_cache_bytes", "anonymous_bytes",
        "kernel_stack_bytes", "page_table_bytes", "percpu_bytes", "slabs", "vmalloc",
    ],
    "file": ["v", "type", "path", "text"],
    "end": ["v", "type", "status", "steps_run", "steps_total", "t_ns"],
}  # fmt: skip
FAILURE = ["errno", "errno_name", "message"]


class Skip(Exception):
    """This machine cannot run the test; the reason is the message."""


class Agent:
    """The program under test and a scratch directory."""

    def __init__(self, program: Path, scratch: Path) -> None:
        self.program = program
        self.scratch = scratch
        self.dir = scratch / "work"
        self.dir.mkdir()

    def call(self, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.program), *args],
            input=stdin, capture_output=True, text=True, timeout=120, cwd=self.scratch,
        )  # fmt: skip

    def plan(self, *lines: str, expect: int = 0) -> list[Record]:
        path = self.scratch / "plan"
        path.write_text("\n".join(["ffsplan 1", *lines]) + "\n")
        done = self.call("run", str(path))
        assert done.returncode == expect, (done.returncode, done.stderr)
        return parse(done.stdout)

    def micro(self, *steps: str, expect: int = 0) -> list[Record]:
        """Steps that begin with prepare or micro, in the scratch directory."""
        verbs = (step.partition(" ") for step in steps)
        lines = (f"{verb} dir={self.dir} {keys}" for verb, _, keys in verbs)
        return self.plan(*lines, expect=expect)

    def ffsmark(self, keys: str, expect: int = 0) -> list[Record]:
        return self.plan(f"ffsmark dir={self.dir} drop_caches=0 {keys}", expect=expect)


def parse(text: str) -> list[Record]:
    records = [json.loads(line) for line in text.splitlines()]
    for record in records:
        keys = list(record)
        order = ORDER[record["type"]]
        if record.get("status") == "error":
            at = order.index("status") + 1
            order = order[:at] + FAILURE + order[at:]
            # Only where it is true, and only of a step.
            if record["type"] == "step":
                order += [key for key in ("may_fail", "may_fill") if record.get(key) is True]
        if record["type"] == "latency" and record.get("slowest"):
            order = [*order, "slowest"]
        assert keys == order, (keys, order)
        assert record["v"] == 1
    assert records[0]["type"] == "start" and records[-1]["type"] == "end"
    return records


def of_type(records: list[Record], kind: str) -> list[Record]:
    return [record for record in records if record["type"] == kind]


def phases(records: list[Record]) -> dict[str, Record]:
    return {record["phase"]: record for record in of_type(records, "phase")}


def latency(records: list[Record], phase: str, op: str) -> Record | None:
    latencies = [r for r in of_type(records, "latency") if (r["phase"], r["op"]) == (phase, op)]
    assert len(latencies) <= 1
    return latencies[0] if latencies else None


class tmpfs:  # noqa: N801 - used like a function
    """A small file system that can be filled; needs the right to mount."""

    def __init__(self, agent: Agent, size: str) -> None:
        self.path = agent.scratch / "tmpfs"
        self.size = size

    def __enter__(self) -> Path:
        self.path.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={self.size}", "none", str(self.path)],
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            raise Skip(f"cannot mount a tmpfs: {done.stderr.strip()}")
        return self.path

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", str(self.path)], check=True)
        self.path.rmdir()


def run_one(program: Path, test: Callable[[Agent], None]) -> str:
    """Run one test in a directory of its own; return ok, FAIL or skip."""
    base = SHM if os.access(SHM, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="ffsagent-", dir=base) as scratch:
        try:
            test(Agent(program, Path(scratch)))
        except Skip as reason:
            print(f"skip {test.__name__}: {reason}")
            return "skip"
        except Exception as error:  # a test that crashes has failed
            print(f"FAIL {test.__name__}: {type(error).__name__}: {error}")
            return "FAIL"
    print(f"ok   {test.__name__}")
    return "ok"


def main(module: Mapping[str, Any]) -> int:
    """Run the tests of a module; its last line is "N passed, N failed"."""
    if len(sys.argv) != 2:
        print(module["__doc__"], file=sys.stderr)
        return 2
    program = Path(sys.argv[1]).resolve()
    tests = [value for name, value in module.items() if name.startswith("test_")]
    outcomes = [run_one(program, test) for test in tests]
    print(f"{outcomes.count('ok')} passed, {outcomes.count('FAIL')} failed")
    return "FAIL" in outcomes
