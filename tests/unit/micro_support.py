"""Synthetic micro-benchmarks: the records of a measured guest and of the one that prepared its
state, and the result that the host makes of them.

`micro_records` and `prepared_records` give what an agent would report; a test chooses latencies,
flash operations and wear. `micro_result` makes a line of results.jsonl of them, and
`write_micro_run` a run directory of a whole study.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host_support import begun_run, prepared_study
from made_records import (
    Record,
    counters,
    end_record,
    flash_record,
    latency_record,
    lines_of,
    phase_record,
    planned,
    space_record,
    start_record,
    step_record,
    task,
    tasks_record,
)
from test_report_support import Overrides

from ffslab.campaign.prepared import Prepared
from ffslab.model.case import Case
from ffslab.protocol.records import parse_records
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.results.preparation import Preparation
from ffslab.workloads.micro.keys import Micro

AGENT = "ffsmicro"
START_NS = 10_000_000_000

MICRO_STUDY = """
schema = 1
name = "micro-small"
title = "A small micro-benchmark"

[base]
board = "apf27"
partition_bytes = "16 MiB"
state = "saturated"
options = { compression = "none" }

[base.workload]
kind = "micro"
pattern = "random-write"
request_bytes = "4 KiB"
volume_bytes = "1 MiB"

[axes]
filesystem = ["jffs2", "ubifs"]
"""


@dataclass(frozen=True)
class Row:
    """Flash operations of one task in (when 0) or after (when 1) a request."""

    request: int
    task: str = AGENT
    when: int = 0
    pages_read: int = 0
    pages_programmed: int = 0
    blocks_erased: int = 0
    busy_ns: int = 0
    oob_pages: int = 0
    stream: int = 0

    @property
    def counts(self) -> tuple[int, int, int]:
        return self.pages_read, self.pages_programmed, self.blocks_erased


@dataclass(frozen=True)
class Stream:
    """The requests of one stream. `offset`: in order without gaps if there is none."""

    latency_ns: Sequence[int]
    op: str = "write"
    pause_ns: int = 0
    offset: Sequence[int] = ()
    rows: Sequence[Row] = ()


@dataclass(frozen=True)
class Guest:
    """What the measured guest did. `erases`: gained by each block from measure to flush."""

    streams: Sequence[Stream] = (Stream((1_000_000,) * 256),)
    erases: Sequence[int] = (1, 0, 2, 1)
    flush_ns: int = 5_000_000
    flush_pages: int = 0
    planned: int | None = None  # requests; None: as many as were made
    stopped: str = ""
    pages: Mapping[str, int] = field(default_factory=dict)  # counters of the phase, if not the sums


def micro_cases(text: str = MICRO_STUDY) -> tuple[Case, ...]:
    """The cases of a study's TOML text."""
    return planned(text).cases


def micro_records(case: Case, guest: Guest | None = None) -> bytes:
    """The records of the measured guest."""
    return lines_of(_records(case, guest or Guest()))


def prepared_records(
    case: Case, capacity_bytes: int | None = None, error: str = "", total_bytes: int | None = None
) -> bytes:
    """The records of the preparation guest; with `error` it ran out of space with this message."""
    partition, errno = case.partition_bytes, "ENOSPC" if error else ""
    capacity = partition * 9 // 10 if capacity_bytes is None else capacity_bytes
    saturated = case.state.kind == "saturated"
    total = partition * 95 // 100 if total_bytes is None else total_bytes
    prepared = {
        "type": "prepared",
        "state": case.state.kind,
        "valid_bytes": capacity * max(case.state.valid_percent, case.state.rate_percent) // 100,
        "invalid_bytes": capacity if saturated else capacity * case.state.invalid_percent // 100,
        "invalid_present": int(saturated),
        "file_bytes": 0,
        "capacity_bytes": capacity if saturated else 0,
    }
    times, flash = (2_000_000_000, 7_000_000_000), (_timed(0, 0, 0), _timed(10, 8000, 4))
    phase = phase_record("prepare", "prepare", times, flash, errno, bytes_written=capacity)
    step = step_record("prepare", *times, errno, index=3)
    told = {"message": error} if error else {}
    return lines_of(
        [
            space_record("mount", total),
            flash_record("prepare:start", flash[0], [0] * 4, times[0]),
            {**phase, **told},
            space_record("prepare:start", total),
            space_record("prepare:end", total, 0),
            flash_record("prepare:end", flash[1], [1] * 4, times[1]),
            prepared,
            {**step, **told},
            end_record(7_500_000_000, errno),
        ]
    )


def micro_result(
    case: Case | None = None,
    guest: Guest | None = None,
    *,
    outcome: Outcome | None = None,
    prepared: bytes | None = None,
) -> dict[str, Any]:
    """A line of results.jsonl of a passed case (the first of MICRO_STUDY, if none is given)."""
    case = case or micro_cases()[0]
    stream = parse_records(prepared_records(case) if prepared is None else prepared)
    preparation = Preparation("5" * 64, Outcome("pass"), stream)
    records = parse_records(micro_records(case, guest))
    return case_result(case, outcome or Outcome("pass"), records, None, [preparation])


def usual_guest(case: Case) -> Guest:
    """Forty requests of each of a case's streams. File systems, sizes, sync and seeds differ in
    time; every 16th request erases a block, in it or after it.
    """
    workload = case.workload
    assert isinstance(workload, Micro)
    base_ns = {"jffs2": 100_000, "ubifs": 50_000}.get(case.filesystem.name, 200_000)
    base_ns = base_ns * workload.request_bytes // 2048 * (9 + case.seed) // 10
    sync = dict(case.filesystem.options).get("write_mode") == "sync"
    patterns = [workload.pattern] * workload.parallel
    streams = []
    mixed = [workload.mix_pattern] if workload.mix_pattern else []
    for number, pattern in enumerate([*patterns, *mixed]):
        op = pattern.rpartition("-")[2]
        factor = 1 if op == "read" else 18 if sync else 3
        latencies = [factor * base_ns * (10 + n % 7) // 10 for n in range(40)]
        work = [(n, "gc-thread" if n % 32 else AGENT, int(n % 32 > 0)) for n in range(0, 40, 16)]
        rows = [Row(*at, 1, 64, 1, 1_000_000, 2, number) for at in work]
        streams.append(Stream(latencies, op, workload.pause_us * 1000, rows=rows))
    return Guest(streams)


def write_micro_run(
    folder: Path,
    study: Prepared | None = None,
    guest_of: Callable[[Case], Guest] = lambda _: Guest(),
    outcomes: Mapping[str, Outcome] | None = None,
) -> Path:
    """A run directory of a study (MICRO_STUDY), each case with what `guest_of` says it did."""
    study, outcomes = study or planned(MICRO_STUDY), outcomes or {}
    folder.mkdir(parents=True)
    run = begun_run(folder, study)
    for case in study.cases:
        outcome = outcomes.get(case.id, Outcome("pass"))
        directory = run.start_case(case, "ffsplan 1\n")
        records = micro_records(case, guest_of(case)) if outcome.kind == "pass" else b""
        (directory / "records.jsonl").write_bytes(records)
        preparation = Preparation("5" * 64, Outcome("pass"), parse_records(prepared_records(case)))
        result = case_result(case, outcome, parse_records(records), None, [preparation])
        virtual = result["virtual_ns"]
        wall = {"id": case.id, "wall_ns": 10**9, "virtual_ns": virtual, "virtual_per_wall": None}
        run.finish_case(result, wall)
    run.collect([case.id for case in study.cases])
    return folder


def write_usual_run(
    folder: Path,
    study: str = "micro-saturated",
    overrides: Overrides = (),
    outcomes: Mapping[str, Outcome] | None = None,
) -> Path:
    """A run of a study by its name, in which guests did the usual."""
    return write_micro_run(folder, prepared_study(study, overrides), usual_guest, outcomes)


def _records(case: Case, guest: Guest) -> Iterable[Record]:
    workload = case.workload
    assert isinstance(workload, Micro)
    size, erases = workload.request_bytes, guest.erases
    spans = [_times(stream) for stream in guest.streams]
    end = max((start + latency for span in spans for start, latency in span), default=START_NS)
    totals = _totals(guest, size, case.board.chip.page_bytes)
    begin, middle = _timed(100, 8000, 50), _timed(100, 8000, 50, totals)
    flushed = totals["pages_programmed"] + guest.flush_pages
    last = _timed(100, 8000, 50, {**totals, "pages_programmed": flushed})
    times, after = (START_NS, end), (end + 1000, end + 1000 + guest.flush_ns)
    yield start_record(case.seed)
    yield space_record("mount", case.partition_bytes * 95 // 100)
    removing = (START_NS - 2000, START_NS - 1000)
    yield phase_record("micro", "invalidate", removing, files_deleted=1)
    for label, at, gained, counted in (
        ("measure:start", times[0], [0] * len(erases), begin),
        ("measure:end", times[1], erases, middle),
        ("flush:start", after[0], erases, middle),
        ("flush:end", after[1], erases, last),
    ):
        yield flash_record(label, counted, [2 + gain for gain in gained], at)
    moved = {op: len(values) * size for op, values in _by_op(guest).items()}
    work = {"bytes_written": moved.get("write", 0), "bytes_read": moved.get("read", 0)}
    yield phase_record("micro", "measure", times, (begin, middle), **work)
    for op, values in _by_op(guest).items():
        yield latency_record("micro", "measure", f"request-{op}", values)
    yield _told(workload, guest)
    for number, (stream, span) in enumerate(zip(guest.streams, spans, strict=True)):
        yield from _request_records(number, stream, span, size)
    for number, stream in enumerate(guest.streams):
        yield from _row_records(number, stream.rows)
    yield tasks_record("micro", "measure", [task(AGENT, **totals, busy_ns=1_000_000)])
    yield phase_record("micro", "flush", after, (middle, last))
    yield tasks_record("micro", "flush", [])
    yield end_record(after[1] + 10**9)


def _by_op(guest: Guest) -> dict[str, list[int]]:
    """The latencies of all streams that do the same, without what none does."""
    latencies: dict[str, list[int]] = {"read": [], "write": []}
    for stream in guest.streams:
        latencies[stream.op] += stream.latency_ns
    return {op: values for op, values in latencies.items() if values}


def _told(workload: Micro, guest: Guest) -> Record:
    done = sum(len(stream.latency_ns) for stream in guest.streams)
    planned = done if guest.planned is None else guest.planned
    asked = {name: getattr(workload, name) for name in ("pattern", "cache", "volume_bytes")}
    counts = {"requests": planned, "requests_done": done, "stopped": guest.stopped}
    streams = {"streams": len(guest.streams), "dropped_rows": 0}
    return {"type": "micro", "file_bytes": workload.test_file_bytes, **asked, **counts, **streams}


def _times(stream: Stream) -> list[tuple[int, int]]:
    at, spans = START_NS, []
    for latency in stream.latency_ns:
        spans.append((at, latency))
        at += latency + stream.pause_ns
    return spans


def _totals(guest: Guest, request_bytes: int, page_bytes: int) -> dict[str, int]:
    """The phase's counters: from the rows, or as many pages as the data fill."""
    rows = [row for stream in guest.streams for row in stream.rows]
    pages = {op: len(own) * request_bytes // page_bytes for op, own in _by_op(guest).items()}
    totals = {
        "pages_read": sum(r.pages_read for r in rows) or pages.get("read", 0),
        "pages_programmed": sum(r.pages_programmed for r in rows) or pages.get("write", 0),
        "blocks_erased": sum(guest.erases),
    }
    return totals | dict(guest.pages)


def _request_records(
    number: int, stream: Stream, span: Sequence[tuple[int, int]], size: int
) -> Iterable[Record]:
    offsets = list(stream.offset) or [i * size for i in range(len(span))]
    head = {"workload": "micro", "phase": "measure", "stream": number, "op": stream.op}
    for first in range(0, len(span), 1024):
        starts, latencies = zip(*span[first : first + 1024], strict=True)
        times = {"t_start_ns": starts, "latency_ns": latencies}
        at = {"first": first, "offset": offsets[first : first + 1024]}
        yield {"type": "requests", **head, **at, **times}


def _row_records(number: int, rows: Sequence[Row]) -> Iterable[Record]:
    for first in range(0, len(rows), 512):
        part = rows[first : first + 512]
        tasks = list(dict.fromkeys([AGENT, *(row.task for row in part)]))
        head = {"workload": "micro", "phase": "measure", "stream": number, "tasks": tasks}
        told = [
            [row.request, row.when, tasks.index(row.task), *row.counts, row.busy_ns, row.oob_pages]
            for row in part
        ]
        yield {"type": "request-flash", **head, "rows": told}


def _timed(
    read: int, programmed: int, erased: int, more: Mapping[str, int] | None = None
) -> dict[str, int]:
    """The counters and the time of the flash, with what is counted more."""
    pages = counters(read, programmed, erased)
    pages = {name: count + (more or {}).get(name, 0) for name, count in pages.items()}
    each = {"read_ns": 100_000, "program_ns": 300_000, "erase_ns": 2_000_000}
    times = zip(each.items(), pages.values(), strict=True)
    return pages | {name: count * ns for (name, ns), count in times}
