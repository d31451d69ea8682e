"""The agent's records: parsing of a stream that may be cut or damaged.

docs/plan-format.md, section 3, defines the records. A guest that crashes cuts
its last line; anything else that is not a record of version 1 is damage and is
reported with its line, never skipped in silence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

RECORD_VERSION = 1
MEASURED_STEP = "tree"  # the workload that phases of single measured steps name
Record = Mapping[str, Any]

_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "step": ("index", "verb", "t_start_ns", "t_end_ns", "status"),
    "phase": ("workload", "phase", "t_start_ns", "t_end_ns", "status"),
    "latency": ("workload", "phase", "op", "count", "sum_ns", "min_ns", "max_ns", "buckets"),
    "flash": ("label", "t_ns", "counters", "erases", "programs", "reads"),
    "prepared": (
        "state",
        "valid_bytes",
        "invalid_bytes",
        "invalid_present",
        "file_bytes",
        "capacity_bytes",
    ),
    "micro": (
        "pattern",
        "cache",
        "file_bytes",
        "volume_bytes",
        "requests",
        "requests_done",
        "stopped",
        "streams",
        "dropped_rows",
    ),
    "requests": (
        "workload",
        "phase",
        "stream",
        "op",
        "first",
        "offset",
        "t_start_ns",
        "latency_ns",
    ),
    "request-flash": ("workload", "phase", "stream", "tasks", "rows"),
    "tasks": ("workload", "phase", "tasks"),
    "tree": (
        "phase",
        "directories",
        "files",
        "links",
        "others",
        "bytes",
        "depth",
        "found",
        "digest",
        "largest_directory",
    ),
    "append-log": ("lines", "lines_done", "synced", "rotations", "bytes", "stopped"),
    "written": ("path", "image_bytes", "pages", "blocks", "bad_blocks_skipped"),
    "memory": (
        "label",
        "t_ns",
        "mem_free_bytes",
        "page_cache_bytes",
        "anonymous_bytes",
        "kernel_stack_bytes",
        "page_table_bytes",
        "percpu_bytes",
        "slabs",
        "vmalloc",
    ),
    "end": ("status", "steps_run", "steps_total", "t_ns"),
}


# What everybody calculates with: a record in which it is no integer from 0 to 2^63 − 1 is damage.
_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "step": ("index", "t_start_ns", "t_end_ns"),
    "phase": ("t_start_ns", "t_end_ns"),
    "latency": ("count", "sum_ns", "min_ns", "max_ns"),
    "end": ("t_ns",),
}
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class RecordStream:
    """The records in order; `damage` describes lines that are none; `cut`: no line end."""

    records: tuple[Record, ...]
    damage: tuple[str, ...]
    cut: bool

    def of_type(self, kind: str) -> tuple[Record, ...]:
        """The records of one type, in order."""
        return tuple(record for record in self.records if record["type"] == kind)

    def first(self, kind: str) -> Record | None:
        """The first record of one type, or None."""
        return next((record for record in self.records if record["type"] == kind), None)

    @property
    def end(self) -> Record | None:
        """The `end` record, or None if the agent did not come to its end."""
        ends = self.of_type("end")
        return ends[-1] if ends else None


def without_header(record: Record) -> dict[str, Any]:
    """A record without what every record has, version and type."""
    return {key: value for key, value in record.items() if key not in ("v", "type")}


def parse_records(data: bytes) -> RecordStream:
    """The stream's records; never raises for bad contents."""
    records: list[Record] = []
    damage: list[str] = []
    lines = data.split(b"\n")
    cut = lines[-1] != b""
    for number, line in enumerate(lines, start=1):
        if not line.strip(b"\r\0 "):
            if line:
                damage.append(f"line {number}: {len(line)} blank or zero bytes")
            continue
        problem, record = _parse_line(line)
        if record is not None:
            records.append(record)
        elif not (cut and number == len(lines)):
            damage.append(f"line {number}: {problem}")
    return RecordStream(tuple(records), tuple(damage), cut)


def _parse_line(line: bytes) -> tuple[str, Record | None]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"not JSON ({error})", None
    if not isinstance(value, dict):
        return "not a JSON object", None
    if value.get("v") != RECORD_VERSION:
        return f"version {value.get('v')!r}, not {RECORD_VERSION}", None
    kind = value.get("type")
    if not isinstance(kind, str):
        return "no type", None
    absent = [key for key in _REQUIRED.get(kind, ()) if key not in value]
    if absent:
        return f"a {kind} record without {absent[0]!r}", None
    bad = [key for key in _NUMBERS.get(kind, ()) if not _is_number(value[key])]
    if bad:
        return f"a {kind} record whose {bad[0]} is {value[bad[0]]!r}", None
    return "", value


def _is_number(value: Any) -> bool:
    """True and 1.0 are none."""
    return type(value) is int and 0 <= value <= _LARGEST
