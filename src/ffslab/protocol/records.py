"""The agent's records: parsing of a stream that may be cut or damaged.

docs/plan-format.md, section 3, defines the records. A guest that crashes cuts
its last line; anything else that is not a record of version 1 is damage and is
reported with its line, never skipped in silence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
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


OK = "ok"
# What a phase counted, beside its flash operations; docs/plan-format.md, section 3.
PHASE_COUNTS = (
    *("files_created", "files_deleted", "files_read", "files_appended"),
    *("bytes_read", "bytes_written"),
)


@dataclass(frozen=True, slots=True)
class Phase:
    """A measured part of a workload, or of a step; times are nanoseconds since the guest's boot.

    `counts` by PHASE_COUNTS; `flash_start`, `flash_end`: the monitor's counters, empty without one.
    """

    workload: str
    name: str
    t_start_ns: int
    t_end_ns: int
    status: str
    errno_name: str
    message: str
    counts: Mapping[str, int]
    flash_start: Mapping[str, int]
    flash_end: Mapping[str, int]

    @classmethod
    def of(cls, record: Record) -> Phase:
        """The phase of a record `phase`."""
        return cls(
            workload=str(record.get("workload", "")),
            name=str(record["phase"]),
            t_start_ns=record.get("t_start_ns", 0),
            t_end_ns=record.get("t_end_ns", 0),
            status=str(record.get("status", OK)),
            errno_name=str(record.get("errno_name", "")),
            message=str(record.get("message") or ""),
            counts={key: record.get(key, 0) for key in PHASE_COUNTS},
            flash_start=record.get("flash_start") or {},
            flash_end=record.get("flash_end") or {},
        )

    @property
    def failed(self) -> bool:
        """Whether it ended with an error."""
        return self.status != OK


@dataclass(frozen=True, slots=True)
class Step:
    """A step that was executed, with the phases that it reported.

    `may_fail`: the plan allows it to fail. `may_fill`: it may end for lack of space.
    """

    index: int
    verb: str
    label: str
    t_start_ns: int
    t_end_ns: int
    status: str
    errno_name: str
    message: str
    may_fail: bool
    may_fill: bool
    phases: tuple[Phase, ...] = ()

    @classmethod
    def of(cls, record: Record, phases: tuple[Phase, ...] = ()) -> Step:
        """The step of a record `step`."""
        return cls(
            index=record.get("index", 0),
            verb=str(record["verb"]),
            label=str(record.get("label", "")),
            t_start_ns=record.get("t_start_ns", 0),
            t_end_ns=record.get("t_end_ns", 0),
            status=str(record.get("status", OK)),
            errno_name=str(record.get("errno_name", "")),
            message=str(record.get("message") or ""),
            may_fail=bool(record.get("may_fail")),
            may_fill=bool(record.get("may_fill")),
            phases=phases,
        )

    @property
    def failed(self) -> bool:
        """Whether it ended with an error."""
        return self.status != OK

    @property
    def duration_ns(self) -> int:
        """Virtual time from begin to end."""
        return self.t_end_ns - self.t_start_ns


@dataclass(frozen=True, slots=True)
class End:
    """What the agent says last."""

    status: str
    message: str
    t_ns: int

    @property
    def is_good(self) -> bool:
        """Whether the plan ended well."""
        return self.status == OK


@dataclass(frozen=True)
class RecordStream:
    """The records in order; `damage` describes lines that are none; `cut`: no line end.

    What every workload has is typed here, once; the records of a single workload are typed by its
    package.
    """

    records: tuple[Record, ...]
    damage: tuple[str, ...]
    cut: bool

    def of_type(self, kind: str) -> tuple[Record, ...]:
        """The records of one type, in order."""
        return tuple(record for record in self.records if record["type"] == kind)

    def first(self, kind: str) -> Record | None:
        """The first record of one type, or None."""
        return next((record for record in self.records if record["type"] == kind), None)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The executed steps, each with its phases, which are reported right before it."""
        return self._executed[0]

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """All phases in order, those without a step among them: the guest did not get to it."""
        return tuple(Phase.of(record) for record in self.of_type("phase"))

    @property
    def open_phases(self) -> tuple[Phase, ...]:
        """The phases behind the last step."""
        return self._executed[1]

    @cached_property
    def end(self) -> End | None:
        """What the agent said at its end, or None if it did not come to that."""
        ends = self.of_type("end")
        if not ends:
            return None
        last = ends[-1]
        return End(str(last["status"]), str(last.get("message") or ""), last.get("t_ns", 0))

    @cached_property
    def _executed(self) -> tuple[tuple[Step, ...], tuple[Phase, ...]]:
        steps: list[Step] = []
        pending: list[Phase] = []
        for record in self.records:
            if record["type"] == "phase":
                pending.append(Phase.of(record))
            elif record["type"] == "step":
                steps.append(Step.of(record, tuple(pending)))
                pending = []
        return tuple(steps), tuple(pending)


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
