"""The agent's records: parsing of a stream that may be cut or damaged.

docs/plan-format.md, section 3, defines the records. A guest that crashes cuts
its last line; anything else that is not a record of version 1 is damage and is
reported with its line, never skipped in silence.

The channel is a device of the guest that its programs can write to as well. So what the
agent would not say at that place is damage, too (`RecordOrder`), and no record.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast, get_type_hints

from typing_extensions import TypedDict

from ffslab.protocol.record_order import RecordOrder
from ffslab.protocol.record_values import (
    are_counters,
    are_numbers,
    are_pairs,
    are_task_times,
    are_tasks,
    is_count,
    is_inodes,
    may_be_counters,
    memory_bytes,
)
from ffslab.reading import json_value

RECORD_VERSION = 1
MEASURED_STEP = "tree"  # the workload that phases of single measured steps name
Record = Mapping[str, Any]
_Flat = TypeVar("_Flat", "Space", "Mtd", "Prepared", "Snapshot")

OK = "ok"


class PhaseCounts(TypedDict):
    """What a phase counted, beside its flash operations; docs/plan-format.md, section 3."""

    files_created: int
    files_deleted: int
    files_read: int
    files_appended: int
    bytes_read: int
    bytes_written: int


def phase_counts(counted: Mapping[str, int]) -> PhaseCounts:
    """All counts of a phase, 0 for what `counted` does not have."""
    return cast(PhaseCounts, {name: counted.get(name, 0) for name in PhaseCounts.__annotations__})


def _ended(record: Record) -> dict[str, Any]:
    """What phases and steps have of their times and their end."""
    return {
        "t_start_ns": record["t_start_ns"],
        "t_end_ns": record["t_end_ns"],
        "status": str(record["status"]),
        "errno_name": str(record.get("errno_name", "")),
        "message": str(record.get("message") or ""),
    }


class TaskTime(TypedDict):
    """The time that passed while a task had the CPU, in ns: for its code, for the flash's driver,
    and while a chip was busy, whatever the CPU did. A task that waits for the chip has the CPU if
    no other has it; the idle task has what is left.
    """

    name: str
    code_ns: int
    driver_ns: int
    chip_ns: int


@dataclass(frozen=True, slots=True)
class Phase:
    """A measured part of a workload, or of a step; times are nanoseconds since the guest's boot.

    `flash_start`, `flash_end`: the monitor's counters, empty without one. `task_times`: all of the
    time by whose it was, empty where the kernel does not tell.
    """

    workload: str
    name: str
    t_start_ns: int
    t_end_ns: int
    status: str
    errno_name: str
    message: str
    counts: PhaseCounts
    flash_start: Mapping[str, int]
    flash_end: Mapping[str, int]
    task_times: Sequence[TaskTime] = ()

    @classmethod
    def of(cls, record: Record) -> Phase:
        """The phase of a record `phase`."""
        return cls(
            workload=str(record["workload"]),
            name=str(record["phase"]),
            **_ended(record),
            counts=phase_counts(record),
            flash_start=record.get("flash_start") or {},
            flash_end=record.get("flash_end") or {},
            task_times=record.get("task_times") or (),
        )

    @classmethod
    def of_program(cls, step: Step, before: Mapping[str, int], after: Mapping[str, int]) -> Phase:
        """The phase of a program: the agent does not know what the program reads and writes."""
        return cls(
            workload=step.verb,
            name=step.label,
            t_start_ns=step.t_start_ns,
            t_end_ns=step.t_end_ns,
            status=step.status,
            errno_name=step.errno_name,
            message=step.message,
            counts=phase_counts({}),
            flash_start=before,
            flash_end=after,
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
            index=record["index"],
            verb=str(record["verb"]),
            label=str(record.get("label", "")),
            **_ended(record),
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
class Latency:
    """How long the requests of one kind took in a phase.

    `buckets`: (index, requests) of the agent's log-linear histogram, those that are not empty.
    `slowest`: when each of the slowest requests began, and how long it took, the slowest first.
    """

    phase: str
    op: str
    count: int
    sum_ns: int
    min_ns: int
    max_ns: int
    buckets: tuple[tuple[int, int], ...]
    slowest: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, record: Record) -> Latency:
        """The latencies of a record `latency`."""
        return cls(
            phase=str(record["phase"]),
            op=str(record["op"]),
            **{name: record[name] for name in ("count", "sum_ns", "min_ns", "max_ns")},
            buckets=tuple((index, requests) for index, requests in record["buckets"]),
            slowest=tuple(
                (began, took)
                for began, took in sorted(
                    record.get("slowest", ()), key=lambda pair: (-pair[1], pair[0])
                )
            ),
        )


class Snapshot(TypedDict):
    """The monitor's counters at one time, and of each erase block of the partition how often it was
    erased, programmed and read.
    """

    label: str
    t_ns: int
    counters: dict[str, int]
    erases: list[int]
    programs: list[int]
    reads: list[int]


class Space(TypedDict):
    """What the file system says of its space, and what memory there is, at one label."""

    label: str
    total_bytes: int
    free_bytes: int
    available_bytes: int
    files: int
    files_free: int
    page_cache_bytes: int
    mem_free_bytes: int


class Mtd(TypedDict):
    """The partition under test, as the kernel describes it."""

    name: str
    size_bytes: int
    erase_block_bytes: int
    page_bytes: int
    subpage_bytes: int
    oob_bytes: int
    blocks: int
    bad_blocks: int


class Prepared(TypedDict):
    """What the preparation of a state achieved."""

    state: str
    valid_bytes: int
    invalid_bytes: int
    invalid_present: int
    file_bytes: int
    capacity_bytes: int


# What MTD counts of a device, and what it knows of its ECC; a kernel need not tell all of it.
MTD_COUNTS = ("corrected_bits", "ecc_failures", "bad_blocks", "bbt_blocks")
MTD_ECC = ("ecc_strength_bits", "bitflip_threshold_bits")


class TaskRecord(TypedDict):
    """What a task asked of the flash, and how long it was in the driver for it.

    `oob_pages`: of which the OOB area alone was read or programmed.
    """

    name: str
    pages_read: int
    pages_programmed: int
    blocks_erased: int
    busy_ns: int
    oob_pages: int


@dataclass(frozen=True, slots=True)
class TaskTotals:
    """What each task asked of the flash in a phase; in their order."""

    workload: str
    phase: str
    tasks: tuple[TaskRecord, ...]

    @classmethod
    def of(cls, record: Record) -> TaskTotals:
        """The totals of a record `tasks`."""
        return cls(str(record["workload"]), str(record["phase"]), tuple(record["tasks"]))


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
        """All phases in order, those without a step among them: the guest did not get to it.

        A program that was run between snapshots called NAME:start and NAME:end is one, too.
        """
        ended = [Phase.of(record) for record in self.of_type("phase")]
        programs = self._programs()
        return tuple(sorted((*ended, *programs), key=_start)) if programs else tuple(ended)

    def _programs(self) -> list[Phase]:
        flash = {snapshot["label"]: snapshot["counters"] for snapshot in self.snapshots}
        return [
            Phase.of_program(step, flash[f"{step.label}:start"], flash[f"{step.label}:end"])
            for step in self.steps
            if step.verb == "exec" and {f"{step.label}:start", f"{step.label}:end"} <= set(flash)
        ]

    @property
    def open_phases(self) -> tuple[Phase, ...]:
        """The phases behind the last step."""
        return self._executed[1]

    @cached_property
    def latencies(self) -> tuple[Latency, ...]:
        """All latencies in order."""
        return tuple(Latency.of(record) for record in self.of_type("latency"))

    def captured(self, path: str) -> str | None:
        """What a file of the guest held; None if it was not read."""
        files = (record for record in self.of_type("file") if record.get("path") == path)
        return next((str(record.get("text", "")) for record in files), None)

    @cached_property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """All snapshots of the flash in order."""
        return tuple(
            {**_flat(Snapshot, record), "label": str(record["label"])}
            for record in self.of_type("flash")
        )

    @cached_property
    def spaces(self) -> tuple[Space, ...]:
        """What file systems said of their space, in order."""
        return tuple(_flat(Space, record) for record in self.of_type("space"))

    @cached_property
    def mtd(self) -> Mtd | None:
        """The partition under test, or None if the guest did not get to it."""
        record = self.first("mtd")
        return _flat(Mtd, record) if record is not None else None

    @cached_property
    def prepared(self) -> Prepared | None:
        """What was prepared, or None if nothing was."""
        record = self.first("prepared")
        return _flat(Prepared, record) if record is not None else None

    @cached_property
    def task_totals(self) -> tuple[TaskTotals, ...]:
        """The totals of tasks in order."""
        return tuple(TaskTotals.of(record) for record in self.of_type("tasks"))

    @cached_property
    def end(self) -> End | None:
        """What the agent said at its end, or None if it did not come to that."""
        ends = self.of_type("end")
        if not ends:
            return None
        last = ends[-1]
        return End(str(last["status"]), str(last.get("message") or ""), last["t_ns"])

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


def _start(phase: Phase) -> int:
    return phase.t_start_ns


def _flat(kind: type[_Flat], record: Record) -> _Flat:
    """A record whose fields are those of `kind`."""
    return cast(_Flat, {name: record[name] for name in kind.__annotations__})


def read_records(path: Path) -> RecordStream:
    """`parse_records` of a file; OSError if it cannot be read."""
    with path.open("rb") as file:
        return parse_records(file)


def parse_records(data: bytes | BinaryIO, order: RecordOrder | None = None) -> RecordStream:
    """The stream's records; never raises for bad contents. `order`: else that of ffslab's plans.

    One line at a time is in memory beside them. Much damage, or a line or an amount that no plan
    makes, ends the reading: the rest would be no better.
    """
    lines = io.BytesIO(data) if isinstance(data, bytes) else data
    records: list[Record] = []
    damage: list[str] = []
    order = order or RecordOrder()
    number, cut, kept_bytes = 0, False, 0
    while not cut and (line := lines.readline(_LINE_BYTES)):
        number += 1
        cut = not line.endswith(b"\n")
        if cut and len(line) == _LINE_BYTES:
            damage.append(f"line {number}: more than {_LINE_BYTES:,} bytes")
            break
        line = line.removesuffix(b"\n")
        if not line.strip(b"\r\0 "):
            if line:
                damage.append(f"line {number}: {len(line)} blank or zero bytes")
            continue
        kept_bytes += memory_bytes(line)
        problem, record = _parse_line(line) if kept_bytes <= _MOST_BYTES else ("too much", None)
        if record is None and cut:
            break
        if record is None:
            damage.append(f"line {number}: {problem}")
        else:
            _add(record, records, order, damage, number)
        if len(damage) >= _MOST_DAMAGE or kept_bytes > _MOST_BYTES:
            damage.append(f"line {number}: what follows was not read")
            break
    return RecordStream(tuple(records), tuple(damage), cut)


def _add(
    record: Record, records: list[Record], order: RecordOrder, damage: list[str], number: int
) -> None:
    """Adds the record of a line to those before it, if it may stand there."""
    forged = order.forged_before(record)
    if forged:
        damage.append(f"line {number}: a program ran in step {record['index']}, and wrote records")
        del records[-forged:]
    problem = order.broken_by(record)
    if problem:
        damage.append(f"line {number}: {problem}")
    else:
        records.append(record)


_LINE_BYTES = 2**24  # a snapshot of a million erase blocks has these
_MOST_BYTES = 2**30  # of all records in memory
_MOST_DAMAGE = 100

# EROFS answers statfs with 2^64 − 1: it does not know.
_INODES = ("files", "files_free")
# Records of numbers and texts alone.
_FLAT: Mapping[str, type[Space | Mtd | Prepared]] = {
    "space": Space,
    "mtd": Mtd,
    "prepared": Prepared,
}
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "step": ("index", "verb", "t_start_ns", "t_end_ns", "status"),
    "phase": ("workload", "phase", "t_start_ns", "t_end_ns", "status"),
    "latency": ("workload", "phase", "op", "count", "sum_ns", "min_ns", "max_ns", "buckets"),
    "flash": tuple(Snapshot.__annotations__),
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
    "probe": ("phase", "what", "count", "bytes"),
    "mtd-statistics": ("name", "label"),
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
    **{name: tuple(kind.__annotations__) for name, kind in _FLAT.items()},
}


# What everybody calculates with: a record in which it is no integer from 0 to 2^63 − 1 is damage.
# The counts of a phase, and what MTD does not tell, may be absent.
_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "step": ("index", "t_start_ns", "t_end_ns"),
    "phase": ("t_start_ns", "t_end_ns", *PhaseCounts.__annotations__),
    "micro": (
        *("file_bytes", "volume_bytes", "requests", "requests_done"),
        *("streams", "dropped_rows"),
    ),
    "written": ("image_bytes", "pages", "blocks", "bad_blocks_skipped"),
    "probe": ("count", "bytes", "cpu_ns"),
    "mtd-statistics": (*MTD_COUNTS, *MTD_ECC),
    "latency": ("count", "sum_ns", "min_ns", "max_ns"),
    "flash": ("t_ns",),
    "end": ("t_ns",),
    **{
        name: tuple(
            key for key, of in get_type_hints(kind).items() if of is int and key not in _INODES
        )
        for name, kind in _FLAT.items()
    },
}


def _parse_line(line: bytes) -> tuple[str, Record | None]:
    try:
        value = json_value(line)
    except ValueError as error:
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
    bad = [key for key in _NUMBERS.get(kind, ()) if not is_count(value.get(key, 0))]
    if bad:
        return f"a {kind} record whose {bad[0]} is {value[bad[0]]!r}", None
    for key, (fits, shape) in _SHAPES.get(kind, {}).items():
        if key in value and not fits(value[key]):
            return f"a {kind} record whose {key} is no {shape}", None
    return "", value


_NUMBER_OF_EACH = (are_numbers, "list of numbers")
_SHAPES: Mapping[str, Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "latency": dict.fromkeys(("buckets", "slowest"), (are_pairs, "list of pairs of numbers")),
    "flash": {
        "counters": (are_counters, "object of numbers"),
        **dict.fromkeys(("erases", "programs", "reads"), _NUMBER_OF_EACH),
    },
    "phase": {
        **dict.fromkeys(("flash_start", "flash_end"), (may_be_counters, "object of numbers")),
        "task_times": (are_task_times, "list of tasks with their times"),
    },
    "space": dict.fromkeys(_INODES, (is_inodes, "number of files")),
    "tasks": {"tasks": (are_tasks, "list of tasks with their counts")},
}
