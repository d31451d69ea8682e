"""Synthetic logs: the records that an agent would report, and runs of whole studies of them.

A test chooses what a line takes, how many pages, how many erases, and who programs them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host_support import begun_run, cases_of
from test_report_support import bucket_index

from ffslab.campaign.run import prepare
from ffslab.model.canonical import canonical_json
from ffslab.model.case import Case
from ffslab.protocol.records import RecordStream, parse_records
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome, judge
from ffslab.results.rundir import RESULTS
from ffslab.workloads.append_log.keys import AppendLog
from ffslab.workloads.results import asked_of

MS = 1_000_000
BLOCKS = 128
LOG_STUDY = """
schema = 1
name = "logs"
title = "A small log"

[base]
board = "apf27"
partition_bytes = "16 MiB"

[base.workload]
kind = "append-log"
lines = 1000

[axes]
filesystem = ["jffs2", "ubifs"]
"""


@dataclass(frozen=True)
class Made:
    """What a guest did: `latencies_ns` by operation; `tasks` are pages programmed in `append`, and
    with `flush_pages` all that were.
    """

    latencies_ns: Mapping[str, Sequence[int]]
    lines: int = 1000
    done: int = 1000
    line_bytes: int = 128
    synced: int = 1000
    rotations: int = 0
    stopped: str = ""
    tasks: Mapping[str, int] = field(default_factory=lambda: {"init": 2000})
    flush_pages: int = 0
    pages_read: int = 0
    erases: int = 0
    verify: str = ""  # ok, an errno_name, or empty: not read back
    more: Mapping[str, Any] = field(default_factory=dict)  # of the record append-log


def line_latencies(common_ns: int, slow_ns: int, slow: int, of: int = 1000) -> tuple[int, ...]:
    """So many latencies, of which the last `slow` are longer."""
    return (*[common_ns] * (of - slow), *[slow_ns] * slow)


def log_records(made: Made) -> list[dict[str, Any]]:
    """The records of a guest, without those of its other steps."""
    pages = sum(made.tasks.values())
    before = _counters(0, 0, 0)
    after = _counters(made.pages_read, pages, made.erases)
    last = _counters(made.pages_read, pages + made.flush_pages, made.erases)
    records = [
        _flash("append:start", before, 0),
        _phase("append", 10**9, 11 * 10**9, before, after, made.stopped, made),
        *(_latency(op, values) for op, values in made.latencies_ns.items()),
        _flash("append:end", after, made.erases),
        _tasks("append", made.tasks),
    ]
    if not made.stopped:
        records += [
            _flash("flush:start", after, made.erases),
            _phase("flush", 11 * 10**9, 12 * 10**9, after, last, "", made),
            _flash("flush:end", last, made.erases),
            _tasks("flush", {"kworker/u2:1": made.flush_pages}),
        ]
    record = {
        "type": "append-log",
        "lines": made.lines,
        "lines_done": made.done,
        "synced": made.synced,
        "rotations": made.rotations,
        "bytes": made.done * made.line_bytes,
        "stopped": made.stopped,
    }
    records.append(record | dict(made.more))
    if made.verify:
        read = _counters(made.pages_read + 700, pages + made.flush_pages, made.erases)
        errno = "" if made.verify == "ok" else made.verify
        records.append(_phase("verify", 12 * 10**9, 13 * 10**9, last, read, errno, made))
        records.append(_tasks("verify", {"init": 0}))
    status = {"status": "ok"}
    if made.stopped or made.verify not in ("", "ok"):
        status = {"status": "error", "errno_name": made.stopped or made.verify}
    step = {"type": "step", "index": 8, "verb": "append-log", "label": "", "may_fill": True}
    times = {"t_start_ns": 10**9, "t_end_ns": 13 * 10**9}
    end = {"type": "end", "steps_run": 9, "steps_total": 9, "t_ns": 14 * 10**9}
    records += [step | times | status, end | status]
    return [{"v": 1, **entry} for entry in records]


def stream_of(made: Made) -> RecordStream:
    """The records as they are read."""
    lines = [json.dumps(record) for record in log_records(made)]
    return parse_records(("\n".join(lines) + "\n").encode())


def log_case(**keys: Any) -> Case:
    """A case of JFFS2 whose workload has these keys."""
    stated = "".join(f"{name} = {json.dumps(value)}\n" for name, value in keys.items())
    text = LOG_STUDY.replace("lines = 1000\n", f"lines = 1000\n{stated}")
    return cases_of(text)[0]


def log_result(made: Made, case: Case | None = None) -> dict[str, Any]:
    """The case's line of the results."""
    case = case or log_case()
    return case_result(case, outcome_of(made, case), stream_of(made), None)


def outcome_of(made: Made, case: Case | None = None) -> Outcome:
    """What becomes of the case."""
    asked = asked_of((case or log_case()).workload, own=True)
    return judge(stream_of(made), "", 0, None, asked)


def write_log_run(folder: Path, study: str, does: Callable[[Case, AppendLog], Made]) -> Path:
    """A run of a study, in which each case did what `does` says."""
    path = folder.parent / f"{folder.name}.toml"
    path.write_text(study)
    prepared = prepare(str(path))
    folder.mkdir(parents=True)
    run = begun_run(folder, prepared)
    lines = []
    for case in prepared.cases:
        assert isinstance(case.workload, AppendLog)
        lines.append(canonical_json(log_result(does(case, case.workload), case)) + "\n")
    (run.path / RESULTS).write_text("".join(lines))
    return folder


def _counters(read: int, programmed: int, erased: int) -> dict[str, int]:
    return {"pages_read": read, "pages_programmed": programmed, "blocks_erased": erased}


def _flash(label: str, counters: Mapping[str, int], erases: int) -> dict[str, Any]:
    per_block = [erases // BLOCKS + (block < erases % BLOCKS) for block in range(BLOCKS)]
    zeros = [0] * BLOCKS
    return {
        "type": "flash",
        "label": label,
        "t_ns": 0,
        "counters": counters,
        "erases": per_block,
        "programs": zeros,
        "reads": zeros,
    }


def _phase(
    name: str,
    start: int,
    end: int,
    before: Mapping[str, int],
    after: Mapping[str, int],
    errno: str,
    made: Made,
) -> dict[str, Any]:
    ended = (
        {"status": "error", "errno_name": errno, "message": "full"} if errno else {"status": "ok"}
    )
    return {
        "type": "phase",
        "workload": "append-log",
        "phase": name,
        "t_start_ns": start,
        "t_end_ns": end,
        **ended,
        "files_created": 0,
        "files_deleted": 0,
        "files_read": 0,
        "files_appended": made.done if name == "append" else 0,
        "bytes_read": 0,
        "bytes_written": made.done * made.line_bytes if name == "append" else 0,
        "flash_start": before,
        "flash_end": after,
    }


def _latency(op: str, values: Sequence[int]) -> dict[str, Any]:
    buckets: dict[int, int] = {}
    for value in values:
        index = bucket_index(value)
        buckets[index] = buckets.get(index, 0) + 1
    return {
        "type": "latency",
        "workload": "append-log",
        "phase": "append",
        "op": op,
        "count": len(values),
        "sum_ns": sum(values),
        "min_ns": min(values),
        "max_ns": max(values),
        "buckets": sorted(buckets.items()),
    }


def _tasks(phase: str, pages: Mapping[str, int]) -> dict[str, Any]:
    rest = {"pages_read": 0, "blocks_erased": 0, "busy_ns": 0, "oob_pages": 0}
    tasks = [{"name": name, **rest, "pages_programmed": count} for name, count in pages.items()]
    return {"type": "tasks", "workload": "append-log", "phase": phase, "tasks": tasks}
