"""Synthetic logs: the records that an agent would report, and runs of whole studies of them.

A test chooses what a line takes, how many pages, how many erases, and who programs them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from host_support import cases_of
from made_records import (
    Record,
    counters,
    end_record,
    flash_record,
    latency_record,
    phase_record,
    read_records,
    step_record,
    task,
    tasks_record,
)

from ffslab.model.case import Case
from ffslab.protocol.records import RecordStream
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome, judge
from ffslab.workloads.results import asked_of

MS = 1_000_000
BLOCKS = 128
KIND = "append-log"
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


TASK = {"name": "init", "code_ns": 10**9, "driver_ns": 0, "chip_ns": 0}


def line_latencies(common_ns: int, slow_ns: int, slow: int, of: int = 1000) -> tuple[int, ...]:
    """So many latencies, of which the last `slow` are longer."""
    return (*[common_ns] * (of - slow), *[slow_ns] * slow)


def log_records(made: Made) -> list[Record]:
    """The records of a guest, without those of its other steps."""
    pages = sum(made.tasks.values())
    before, after = counters(), counters(made.pages_read, pages, made.erases)
    last = {**after, "pages_programmed": pages + made.flush_pages}
    work = {"files_appended": made.done, "bytes_written": made.done * made.line_bytes}
    own = [task(name, pages_programmed=count) for name, count in made.tasks.items()]
    records = [
        _flash("append:start", before, 0),
        phase_record(KIND, "append", _seconds(1, 11), (before, after), made.stopped, **work),
        *(latency_record(KIND, "append", op, values) for op, values in made.latencies_ns.items()),
        _flash("append:end", after, made.erases),
        tasks_record(KIND, "append", own),
    ]
    if not made.stopped:
        worker = task("kworker/u2:1", pages_programmed=made.flush_pages)
        records += [
            _flash("flush:start", after, made.erases),
            {**phase_record(KIND, "flush", _seconds(11, 12), (after, last)), "task_times": [TASK]},
            _flash("flush:end", last, made.erases),
            tasks_record(KIND, "flush", [worker]),
        ]
    records.append(_told(made))
    errno = made.verify.removeprefix("ok")
    if made.verify:
        read = {**last, "pages_read": made.pages_read + 700}
        records.append(phase_record(KIND, "verify", _seconds(12, 13), (last, read), errno))
        records.append(tasks_record(KIND, "verify", [task("init")]))
    step = step_record(KIND, *_seconds(1, 13), made.stopped or errno)
    return [*records, {**step, "may_fill": True}, end_record(14 * 10**9, made.stopped or errno)]


def _told(made: Made) -> Record:
    lines = {"lines": made.lines, "lines_done": made.done, "bytes": made.done * made.line_bytes}
    more = {"synced": made.synced, "rotations": made.rotations, "stopped": made.stopped}
    return {"type": KIND, **lines, **more, **made.more}


def _seconds(*times: int) -> tuple[int, ...]:
    return tuple(10**9 * time for time in times)


def _flash(label: str, counted: Mapping[str, int], erases: int) -> Record:
    per_block = [erases // BLOCKS + (block < erases % BLOCKS) for block in range(BLOCKS)]
    return flash_record(label, counted, per_block)


def stream_of(made: Made) -> RecordStream:
    """The records as they are read."""
    return read_records(log_records(made))


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
