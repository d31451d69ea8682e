"""Synthetic micro-benchmarks: the records of a measured guest and of the one that prepared its
state, and the result that the host makes of them.

`micro_records` and `prepared_records` give what an agent would report; a test chooses latencies,
flash operations and wear. `micro_result` makes a line of results.jsonl of them, and
`write_micro_run` a run directory of a whole study.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host_support import begun_run

from ffslab.campaign.run import prepare
from ffslab.loader import load_catalog, parse_toml
from ffslab.model.case import Case
from ffslab.model.study import expand, study_from_document
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
    catalog = load_catalog()
    return expand(study_from_document(parse_toml(text, "test"), catalog, "test"), catalog)


def lines_of(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Records as the agent writes them."""
    return b"".join(
        json.dumps({"v": 1, **r}, separators=(",", ":")).encode() + b"\n" for r in records
    )


def micro_records(case: Case, guest: Guest | None = None) -> bytes:
    """The records of the measured guest."""
    return lines_of(_records(case, guest or Guest()))


def prepared_records(
    case: Case, capacity_bytes: int | None = None, error: str = "", total_bytes: int | None = None
) -> bytes:
    """The records of the preparation guest; with `error` it ran out of space with this message."""
    partition = case.partition_bytes
    capacity = partition * 9 // 10 if capacity_bytes is None else capacity_bytes
    saturated = case.state.kind == "saturated"
    total = partition * 95 // 100 if total_bytes is None else total_bytes
    failed = {"status": "error", "errno": 28, "errno_name": "ENOSPC", "message": error}
    status = failed if error else {"status": "ok"}
    prepared = {
        "type": "prepared",
        "state": case.state.kind,
        "valid_bytes": capacity * max(case.state.valid_percent, case.state.rate_percent) // 100,
        "invalid_bytes": capacity if saturated else capacity * case.state.invalid_percent // 100,
        "invalid_present": int(saturated),
        "file_bytes": 0,
        "capacity_bytes": capacity if saturated else 0,
    }
    times = {"t_start_ns": 2_000_000_000, "t_end_ns": 7_000_000_000}
    phase = _phase("prepare", "prepare", *times.values(), written=capacity)
    counters = {"flash_start": _counters(0, 0, 0), "flash_end": _counters(10, 8000, 4)}
    return lines_of(
        [
            _space("mount", total),
            _flash("prepare:start", 2_000_000_000, [0] * 4, _counters(0, 0, 0)),
            phase | counters | status,
            _space("prepare:start", total),
            _space("prepare:end", total, 0),
            _flash("prepare:end", 7_000_000_000, [1] * 4, _counters(10, 8000, 4)),
            prepared,
            {"type": "step", "index": 3, "verb": "prepare", "label": "", **times, **status},
            _end(7_500_000_000, status["status"]),
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


def write_micro_run(
    folder: Path,
    text: str = MICRO_STUDY,
    guest_of: Callable[[Case], Guest] = lambda _: Guest(),
    outcomes: Mapping[str, Outcome] | None = None,
) -> Path:
    """A run directory of a study in TOML, each case with what `guest_of` says it did."""
    outcomes = outcomes or {}
    folder.mkdir(parents=True)
    study = folder.parent / f"{folder.name}.toml"
    study.write_text(text)
    planned = prepare(str(study), (), ())
    run = begun_run(folder, planned)
    for case in planned.cases:
        guest, outcome = guest_of(case), outcomes.get(case.id, Outcome("pass"))
        directory = run.start_case(case, "ffsplan 1\n")
        records = micro_records(case, guest) if outcome.kind == "pass" else b""
        (directory / "records.jsonl").write_bytes(records)
        preparation = Preparation("5" * 64, Outcome("pass"), parse_records(prepared_records(case)))
        result = case_result(case, outcome, parse_records(records), None, [preparation])
        virtual = result["virtual_ns"]
        wall = {"id": case.id, "wall_ns": 10**9, "virtual_ns": virtual, "virtual_per_wall": None}
        run.finish_case(result, wall)
    run.collect([case.id for case in planned.cases])
    return folder


def _records(case: Case, guest: Guest) -> Iterable[dict[str, Any]]:
    workload = case.workload
    assert isinstance(workload, Micro)
    size = workload.request_bytes
    spans = [_times(stream) for stream in guest.streams]
    end = max((start + latency for span in spans for start, latency in span), default=START_NS)
    totals = _totals(guest, size, case.board.chip.page_bytes)
    erased, flushed = sum(guest.erases), end + 1000 + guest.flush_ns
    begin, middle = _counters(100, 8000, 50), _counters(100, 8000, 50, totals)
    last = _counters(
        100, 8000, 50, totals | {"pages_programmed": totals["pages_programmed"] + guest.flush_pages}
    )
    blocks = len(guest.erases)
    yield {"type": "start", "agent": "0.1", "kernel": "6.1.0", "clock": "page", "seed": case.seed}
    yield _space("mount", case.partition_bytes * 95 // 100)
    yield _phase("micro", "invalidate", START_NS - 2000, START_NS - 1000)
    for label, at, gained, counters in (
        ("measure:start", START_NS, [0] * blocks, begin),
        ("measure:end", end, list(guest.erases), middle),
        ("flush:start", end + 1000, list(guest.erases), middle),
        ("flush:end", flushed, list(guest.erases), last),
    ):
        yield _flash(label, at, [2 + gain for gain in gained], counters)
    moved = {"read": 0, "write": 0}
    for stream in guest.streams:
        moved[stream.op] += len(stream.latency_ns) * size
    phase = _phase("micro", "measure", START_NS, end, moved["write"], moved["read"])
    yield phase | {"flash_start": begin, "flash_end": middle}
    for op in ("read", "write"):
        values = [n for stream in guest.streams if stream.op == op for n in stream.latency_ns]
        if values:
            yield _histogram(f"request-{op}", values)
    done = sum(len(stream.latency_ns) for stream in guest.streams)
    yield {
        "type": "micro",
        "pattern": workload.pattern,
        "cache": workload.cache,
        "file_bytes": workload.test_file_bytes,
        "volume_bytes": workload.volume_bytes,
        "requests": done if guest.planned is None else guest.planned,
        "requests_done": done,
        "stopped": guest.stopped,
        "streams": len(guest.streams),
        "dropped_rows": 0,
    }
    for number, (stream, span) in enumerate(zip(guest.streams, spans, strict=True)):
        yield from _request_records(number, stream, span, size)
    for number, stream in enumerate(guest.streams):
        yield from _row_records(number, stream.rows)
    task = {"name": AGENT, **totals, "blocks_erased": erased, "busy_ns": 1_000_000, "oob_pages": 0}
    yield {"type": "tasks", "workload": "micro", "phase": "measure", "tasks": [task]}
    flush = _phase("micro", "flush", end + 1000, flushed)
    yield flush | {"flash_start": middle, "flash_end": last}
    yield {"type": "tasks", "workload": "micro", "phase": "flush", "tasks": []}
    yield _end(flushed + 10**9, "ok")


def _times(stream: Stream) -> list[tuple[int, int]]:
    at, spans = START_NS, []
    for latency in stream.latency_ns:
        spans.append((at, latency))
        at += latency + stream.pause_ns
    return spans


def _totals(guest: Guest, request_bytes: int, page_bytes: int) -> dict[str, int]:
    """The phase's counters: from the rows, or as many pages as the data fill."""
    rows = [row for stream in guest.streams for row in stream.rows]
    pages = {
        op: sum(len(s.latency_ns) for s in guest.streams if s.op == op) * request_bytes
        for op in ("read", "write")
    }
    totals = {
        "pages_read": sum(r.pages_read for r in rows) or pages["read"] // page_bytes,
        "pages_programmed": sum(r.pages_programmed for r in rows) or pages["write"] // page_bytes,
        "blocks_erased": sum(guest.erases),
    }
    return totals | dict(guest.pages)


def _request_records(
    number: int, stream: Stream, span: Sequence[tuple[int, int]], size: int
) -> Iterable[dict[str, Any]]:
    offsets = list(stream.offset) or [i * size for i in range(len(span))]
    for first in range(0, len(span), 1024):
        part = span[first : first + 1024]
        yield {
            "type": "requests",
            "workload": "micro",
            "phase": "measure",
            "stream": number,
            "op": stream.op,
            "first": first,
            "offset": offsets[first : first + 1024],
            "t_start_ns": [start for start, _ in part],
            "latency_ns": [latency for _, latency in part],
        }


def _row_records(number: int, rows: Sequence[Row]) -> Iterable[dict[str, Any]]:
    for first in range(0, len(rows), 512):
        part = rows[first : first + 512]
        tasks = list(dict.fromkeys([AGENT, *(row.task for row in part)]))
        yield {
            "type": "request-flash",
            "workload": "micro",
            "phase": "measure",
            "stream": number,
            "tasks": tasks,
            "rows": [
                [
                    row.request,
                    row.when,
                    tasks.index(row.task),
                    row.pages_read,
                    row.pages_programmed,
                    row.blocks_erased,
                    row.busy_ns,
                    row.oob_pages,
                ]
                for row in part
            ],
        }


def _counters(
    read: int, programmed: int, erased: int, more: Mapping[str, int] | None = None
) -> dict[str, int]:
    more = more or {}
    pages_read = read + more.get("pages_read", 0)
    pages_programmed = programmed + more.get("pages_programmed", 0)
    blocks_erased = erased + more.get("blocks_erased", 0)
    return {
        "pages_read": pages_read,
        "pages_programmed": pages_programmed,
        "blocks_erased": blocks_erased,
        "read_ns": pages_read * 100_000,
        "program_ns": pages_programmed * 300_000,
        "erase_ns": blocks_erased * 2_000_000,
    }


def _phase(
    workload: str, phase: str, start: int, end: int, written: int = 0, read: int = 0
) -> dict[str, Any]:
    return {
        "type": "phase",
        "workload": workload,
        "phase": phase,
        "t_start_ns": start,
        "t_end_ns": end,
        "status": "ok",
        "files_created": 0,
        "files_deleted": int(phase == "invalidate"),
        "files_read": 0,
        "files_appended": 0,
        "bytes_read": read,
        "bytes_written": written,
    }


def _flash(
    label: str, at: int, erases: Sequence[int], counters: Mapping[str, int]
) -> dict[str, Any]:
    zero = [0] * len(erases)
    return {
        "type": "flash",
        "label": label,
        "t_ns": at,
        "counters": dict(counters),
        "erases": list(erases),
        "programs": zero,
        "reads": zero,
    }


def _space(label: str, total: int, available: int | None = None) -> dict[str, Any]:
    return {
        "type": "space",
        "label": label,
        "total_bytes": total,
        "free_bytes": total if available is None else available,
        "available_bytes": total if available is None else available,
        "files": 0,
        "files_free": 0,
        "page_cache_bytes": 0,
        "mem_free_bytes": 2**25,
    }


def _histogram(op: str, values: Sequence[int]) -> dict[str, Any]:
    counts: dict[int, int] = {}
    for value in values:
        exponent = max(value.bit_length() - 1, 6)
        index = value if value < 128 else (exponent - 7) * 128 + (value >> (exponent - 7))
        counts[index] = counts.get(index, 0) + 1
    return {
        "type": "latency",
        "workload": "micro",
        "phase": "measure",
        "op": op,
        "count": len(values),
        "sum_ns": sum(values),
        "min_ns": min(values),
        "max_ns": max(values),
        "buckets": [list(item) for item in sorted(counts.items())],
    }


def _end(at: int, status: str) -> dict[str, Any]:
    return {"type": "end", "status": status, "steps_run": 9, "steps_total": 9, "t_ns": at}
