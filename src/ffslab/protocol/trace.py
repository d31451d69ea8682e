"""Reads a trace: every operation on the flash, as flashmon recorded it.

kmod/flashmon/trace_format.h is the format: a header, then records of one size in the order in
which the operations ended. The header says how many there are and how many more found no room. A
trace that was cut is read as far as it goes; what is missing is in `Trace.notes`.

Limit: records are read one by one, about half a million in a second.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ffslab.errors import DamagedResultError

_MAGIC = b"FLASHMON"
_VERSION = 2
# magic, version, record_bytes, records, dropped, page_bytes, block_bytes
_HEADER = struct.Struct("<8sIIQQII24x")
# t_start_ns, duration_ns, block, page, data_bytes, oob_bytes, result, pid, op, task, pages
_RECORD = struct.Struct("<QQIIIIiiB3x16sI")
_RECORD_BYTES_MAX = 4096
_RECORDS_AT_ONCE = 4096
_OPERATIONS = {1: "read", 2: "program", 3: "erase"}


class Operation(NamedTuple):
    """One request to the driver. `pages` is what the counters got: of an erase, blocks."""

    t_start_ns: int
    duration_ns: int
    block: int  # the first erase block
    page: int  # the first page, in that block
    data_bytes: int
    oob_bytes: int
    result: int  # of the driver: 0, or a negative errno
    pid: int
    op: str  # read, program, erase
    task: str
    pages: int

    @property
    def t_end_ns(self) -> int:
        """When the driver had done it."""
        return self.t_start_ns + self.duration_ns

    @property
    def failed(self) -> bool:
        """The driver reported an error; bit errors that were corrected (-EUCLEAN) are none."""
        return self.result < 0 and self.result != -errno.EUCLEAN


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace file whose header is good; `notes` say what of the operations is missing."""

    path: Path
    page_bytes: int
    block_bytes: int
    records: int
    record_bytes: int
    notes: tuple[str, ...]

    def operations(self) -> Iterator[Operation]:
        """The operations in the order in which they ended."""
        tasks: dict[bytes, str] = {}
        left = self.records
        with self.path.open("rb") as file:
            file.seek(_HEADER.size)
            while left > 0:
                data = file.read(self.record_bytes * min(left, _RECORDS_AT_ONCE))
                count = len(data) // self.record_bytes
                if not count:
                    return
                left -= count
                for at in range(0, count * self.record_bytes, self.record_bytes):
                    *numbers, op, task, pages = _RECORD.unpack_from(data, at)
                    if task not in tasks:
                        tasks[task] = _task_name(task)
                    name = _OPERATIONS.get(op, f"unknown {op}")
                    yield Operation._make((*numbers, name, tasks[task], pages))


def read_trace(path: Path) -> Trace:
    """The trace in the file; DamagedResultError if it is none, or of another format."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER.size)
            size_bytes = path.stat().st_size
    except OSError as error:
        raise DamagedResultError(f"{path}: cannot be read: {error.strerror}") from error
    if not header.strip(b"\0"):
        raise DamagedResultError(
            f"{path}: the trace is empty",
            cause="the guest ended before it began to trace",
            remedy=f"less {path.with_name('console.log')}",
        )
    if len(header) < _HEADER.size or not header.startswith(_MAGIC):
        raise _damaged(path, "it does not begin with the header of a trace")
    _, version, record_bytes, records, dropped, page_bytes, block_bytes = _HEADER.unpack(header)
    if version != _VERSION:
        raise DamagedResultError(
            f"{path}: the trace has format {version}, this ffslab reads {_VERSION}",
            cause="it was recorded by another version of ffslab",
            remedy="trace the case again",
        )
    if not _RECORD.size <= record_bytes <= _RECORD_BYTES_MAX or not page_bytes or not block_bytes:
        raise _damaged(path, "its header gives impossible sizes")
    there = (size_bytes - _HEADER.size) // record_bytes
    notes = []
    if there < records:
        notes.append(f"the file was cut: {there:,} of {records:,} operations are there")
    if dropped:
        notes.append(f"the trace was full: {dropped:,} later operations are not in it")
    return Trace(path, page_bytes, block_bytes, min(records, there), record_bytes, tuple(notes))


def _task_name(data: bytes) -> str:
    text = data.partition(b"\0")[0].decode("utf-8", errors="replace")
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def _damaged(path: Path, what: str) -> DamagedResultError:
    return DamagedResultError(
        f"{path}: damaged: {what}",
        cause="the file was changed after ffslab wrote it",
        remedy="trace the case again",
    )


@dataclass(slots=True)
class TaskSum:
    """What one task did of one kind of operation."""

    pid: int
    task: str
    op: str
    operations: int = 0
    pages: int = 0
    errors: int = 0
    busy_ns: int = 0
    t_first_ns: int = 0
    t_last_ns: int = 0

    def add(self, operation: Operation) -> None:
        """Counts one operation, which ended behind those before."""
        if not self.operations:
            self.t_first_ns = operation.t_start_ns
        self.operations += 1
        self.pages += operation.pages
        self.errors += operation.failed
        self.busy_ns += operation.duration_ns
        self.t_first_ns = min(self.t_first_ns, operation.t_start_ns)
        self.t_last_ns = max(self.t_last_ns, operation.t_end_ns)


def sum_by_task(operations: Iterable[Operation]) -> list[TaskSum]:
    """The operations summed by task and kind; the tasks in the order in which they came."""
    sums: dict[tuple[int, str, str], TaskSum] = {}
    order: dict[tuple[int, str], int] = {}
    for operation in operations:
        key = (operation.pid, operation.task, operation.op)
        task_sum = sums.get(key)
        if task_sum is None:
            task_sum = sums[key] = TaskSum(*key)
            order.setdefault(key[:2], len(order))
        task_sum.add(operation)
    ranks = {name: rank for rank, name in enumerate(_OPERATIONS.values())}
    return sorted(
        sums.values(), key=lambda s: (order[s.pid, s.task], ranks.get(s.op, len(ranks)), s.op)
    )


def trim_trace(path: Path) -> None:
    """Cuts the trace behind its last record; kmod/flashmon/trace_format.h is its format."""
    with path.open("r+b") as file:
        header = file.read(_HEADER.size)
        if not header.startswith(_MAGIC) or len(header) < _HEADER.size:
            # The guest ended before it began to trace: keep no empty 256 MiB.
            if not header.strip(b"\0"):
                file.truncate(0)
            return
        _, _, record_bytes, records, *_ = _HEADER.unpack(header)
        length = _HEADER.size + record_bytes * records
        if length < path.stat().st_size:
            file.truncate(length)
