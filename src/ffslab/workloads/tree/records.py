"""The records of a case of workload `tree`, checked: phases, trees, memory.

Unlike other workloads' phases these have no snapshot of every block around them, only the
monitor's counters at both ends (guest/agent/measure/measure.h). A guest that was cut leaves fewer
records. What contradicts itself (a phase that ends before it begins, a counter that falls, a phase
twice) is a DamagedResultError that says what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ffslab.errors import DamagedResultError
from ffslab.protocol.record_values import is_count
from ffslab.protocol.records import (
    MEASURED_STEP,
    Record,
    RecordStream,
    TaskRecord,
)
from ffslab.workloads.tree.stored import WalkCounts

RECORDS_NAME = "records.jsonl"
START_LABEL = "start"  # of the memory before the first attach or mount
TREE_COUNTS = ("directories", "files", "links", "others", "bytes", "depth", "found")
MEMORY_SIZES = (
    "mem_free_bytes",
    "page_cache_bytes",
    "anonymous_bytes",
    "kernel_stack_bytes",
    "page_table_bytes",
    "percpu_bytes",
)
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class TreePhase:
    """One measured piece of the plan; times are virtual nanoseconds.

    `counters`: what each counter of the monitor gained, None without a monitor. `tasks`: what
    each task asked of the flash, in the record's order; two may have one name.
    """

    name: str
    t_start_ns: int
    t_end_ns: int
    status: str
    errno_name: str
    bytes_read: int
    bytes_written: int
    counters: Mapping[str, int] | None
    tasks: tuple[TaskRecord, ...] = ()

    @property
    def duration_ns(self) -> int:
        """Virtual time from begin to end."""
        return self.t_end_ns - self.t_start_ns


@dataclass(frozen=True, slots=True)
class MemorySnapshot:
    """The kernel's memory at one time, in bytes: `sizes` by MEMORY_SIZES, caches, callers."""

    label: str
    sizes: Mapping[str, int]
    slabs: Mapping[str, int]  # by cache, whole pages
    vmalloc: Mapping[str, int]  # by the function that allocated


@dataclass(frozen=True, slots=True)
class TreeRecords:
    """What one guest reported, by name of the phase; memory in order."""

    phases: Mapping[str, TreePhase] = field(default_factory=dict)
    trees: Mapping[str, WalkCounts] = field(default_factory=dict)
    memory: tuple[MemorySnapshot, ...] = ()


def load_tree_records(stream: RecordStream, where: str = RECORDS_NAME) -> TreeRecords:
    """The records of workload `tree`; empty for other workloads.

    DamagedResultError names `where` and what does not fit together.
    """
    try:
        tasks = _by_phase(_of_workload(stream, "tasks"), _tasks)
        phases = _by_phase(_of_workload(stream, "phase"), _phase)
        return TreeRecords(
            {name: replace(phase, tasks=tasks.get(name, ())) for name, phase in phases.items()},
            _by_phase(stream.of_type("tree"), _tree),
            tuple(_memory(record) for record in stream.of_type("memory")),
        )
    except ValueError as error:
        raise DamagedResultError(
            f"{where}: damaged: {error}",
            cause="the file was edited or cut after the run, or another version of the agent "
            "wrote it",
            remedy="repeat the case: remove its directory under cases/ and run with --resume",
        ) from None


def _of_workload(stream: RecordStream, kind: str) -> Iterable[Record]:
    return (record for record in stream.of_type(kind) if record["workload"] == MEASURED_STEP)


def _by_phase(records: Iterable[Record], read: Callable[[Record], _Read]) -> dict[str, _Read]:
    by_phase: dict[str, _Read] = {}
    for record in records:
        name = record["phase"]
        if not isinstance(name, str) or name in by_phase:
            raise ValueError(f"{record['type']} of phase {name!r} twice, or without a name")
        by_phase[name] = read(record)
    return by_phase


def _phase(record: Record) -> TreePhase:
    name = record["phase"]
    if record["t_end_ns"] < record["t_start_ns"]:
        raise ValueError(f"phase {name} ends before it begins")
    return TreePhase(
        name=name,
        status="ok" if record["status"] == "ok" else "error",
        errno_name=str(record.get("errno_name", "")),
        counters=_counters(record),
        t_start_ns=record["t_start_ns"],
        t_end_ns=record["t_end_ns"],
        bytes_read=record.get("bytes_read", 0),
        bytes_written=record.get("bytes_written", 0),
    )


def _counters(record: Record) -> dict[str, int] | None:
    """What both ends have; None if the phase had no monitor, or its end could not be read."""
    before, after = record.get("flash_start") or {}, record.get("flash_end") or {}
    fallen = next((name for name in after if after[name] < before.get(name, 0)), None)
    if fallen is not None:
        raise ValueError(
            f"phase {record['phase']}: counter {fallen} falls from {before[fallen]} "
            f"to {after[fallen]}"
        )
    return {name: after[name] - before[name] for name in after if name in before} or None


def _tasks(record: Record) -> tuple[TaskRecord, ...]:
    return tuple(record["tasks"])


def _tree(record: Record) -> WalkCounts:
    what = f"tree of phase {record['phase']}"
    if not isinstance(record["digest"], str):
        raise ValueError(f"{what}: its digest is no text")
    counts = _numbers(record, TREE_COUNTS, what)
    return {
        "directories": counts["directories"],
        "files": counts["files"],
        "links": counts["links"],
        "others": counts["others"],
        "bytes": counts["bytes"],
        "depth": counts["depth"],
        "found": counts["found"],
        "digest": record["digest"],
    }


def _memory(record: Record) -> MemorySnapshot:
    label = record["label"]
    if not isinstance(label, str):
        raise ValueError(f"memory {label!r}: its label is no text")
    what = f"memory {label}"
    return MemorySnapshot(
        label,
        _numbers(record, MEMORY_SIZES, what),
        _sums(record["slabs"], 4, f"{what}: slabs"),
        _sums(record["vmalloc"], 2, f"{what}: vmalloc"),
    )


def _sums(rows: Any, width: int, what: str) -> dict[str, int]:
    """[[name, bytes, …], …] as bytes by name."""
    if not isinstance(rows, list):
        raise ValueError(f"{what}: no list")
    sums: dict[str, int] = {}
    for row in rows:
        fits = isinstance(row, list) and len(row) == width and isinstance(row[0], str)
        if not fits or not all(is_count(value) for value in row[1:]):
            raise ValueError(f"{what}: a row is not a name and {width - 1} numbers")
        sums[row[0]] = sums.get(row[0], 0) + row[1]
    return sums


def _numbers(record: Record, names: Sequence[str], what: str) -> dict[str, int]:
    bad = next((name for name in names if not is_count(record.get(name))), None)
    if bad is not None:
        raise ValueError(f"{what}: {bad} is {record.get(bad)!r}")
    return {name: record[name] for name in names}
