"""The requests of a case of workload `micro`: every one of them, and the flash operations of each.

The agent cuts them into records (docs/plan-format.md, section 3). Here they become one series
per stream again. A series has as many requests as its records hold: a guest that crashed leaves
a shorter one. Anything that contradicts itself (lists of different lengths, a gap, flash
operations of a request that is not there) is a DamagedResultError that says what.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from ffslab.errors import DamagedResultError
from ffslab.program import program
from ffslab.protocol.record_values import LARGEST
from ffslab.protocol.records import Record, RecordStream, read_records

RECORDS_NAME = "records.jsonl"
_LISTS = ("offset", "t_start_ns", "latency_ns")
_ROW = 8


@dataclass(frozen=True, slots=True)
class FlashRow:
    """What one task asked of the flash during, or right after, one request.

    `own`: it is the task that made the request. `busy_ns` is the time it spent in the driver,
    `oob_pages` pages of which it read or programmed the OOB area alone.
    """

    request: int
    task: str
    own: bool
    pages_read: int
    pages_programmed: int
    blocks_erased: int
    busy_ns: int
    oob_pages: int = 0


@dataclass(frozen=True, slots=True)
class RequestSeries:
    """The requests of one stream in order; index i of the three tuples is request i.

    Times are virtual nanoseconds, offsets bytes in the test file. `during` and `after` (until
    the step's next request) are in order of the requests and have no row without an operation.
    """

    stream: int
    op: str  # read or write
    offset: tuple[int, ...]
    t_start_ns: tuple[int, ...]
    latency_ns: tuple[int, ...]
    during: tuple[FlashRow, ...] = ()
    after: tuple[FlashRow, ...] = ()


def read_requests(case_dir: Path) -> tuple[RequestSeries, ...]:
    """The series of a case's directory; DamagedResultError names file and what is wrong.

    A last line that was cut (the guest crashed) is left out.
    """
    path = case_dir / RECORDS_NAME
    try:
        stream = read_records(path)
    except OSError as error:
        raise DamagedResultError(
            f"{path}: cannot be read: {error.strerror}",
            cause="the file was removed after the run",
            remedy=f"repeat the case: {program()} run RUN_DIRECTORY --resume",
        ) from error
    if stream.damage:
        raise _damaged(str(path), stream.damage[0])
    return load_requests(stream, str(path))


def load_requests(stream: RecordStream, where: str = RECORDS_NAME) -> tuple[RequestSeries, ...]:
    """The series of a record stream, by stream number; empty for other workloads.

    DamagedResultError names `where` and what does not fit together.
    """
    parts: dict[int, _Part] = {}
    try:
        for record in stream.of_type("requests"):
            _add_requests(parts, record)
        for record in stream.of_type("request-flash"):
            _add_rows(parts, record)
        _check_total(parts.values(), stream)
    except ValueError as error:
        raise _damaged(where, str(error)) from None
    return tuple(parts[number].series() for number in sorted(parts))


@dataclass(slots=True)
class _Part:
    """A series while its records are read."""

    stream: int
    op: str
    lists: tuple[list[int], list[int], list[int]] = field(default_factory=lambda: ([], [], []))
    rows: tuple[list[FlashRow], list[FlashRow]] = field(default_factory=lambda: ([], []))

    @property
    def count(self) -> int:
        return len(self.lists[0])

    def series(self) -> RequestSeries:
        offset, start, latency = (tuple(values) for values in self.lists)
        during, after = (tuple(rows) for rows in self.rows)
        return RequestSeries(self.stream, self.op, offset, start, latency, during, after)


def _add_requests(parts: dict[int, _Part], record: Record) -> None:
    stream, first, op = record["stream"], record["first"], record["op"]
    if not _are_numbers((stream, first)) or op not in ("read", "write"):
        raise ValueError(f"requests of stream {stream!r} from {first!r}, op {op!r}")
    part = parts.setdefault(stream, _Part(stream, op))
    if op != part.op:
        raise ValueError(f"stream {stream} both reads and writes")
    if first != part.count:
        raise ValueError(f"stream {stream}: request {first} follows, not {part.count}")
    lists = [record[name] for name in _LISTS]
    for name, values in zip(_LISTS, lists, strict=True):
        if not isinstance(values, list) or not _are_numbers(values):
            raise ValueError(f"stream {stream}, requests from {first}: {name} is no list of times")
    if len({len(values) for values in lists}) != 1:
        lengths = ", ".join(f"{len(v)} {n}" for n, v in zip(_LISTS, lists, strict=True))
        raise ValueError(f"stream {stream}, requests from {first}: {lengths}")
    for whole, values in zip(part.lists, lists, strict=True):
        whole += values


def _add_rows(parts: dict[int, _Part], record: Record) -> None:
    stream, tasks, rows = record["stream"], record["tasks"], record["rows"]
    part = parts.get(stream) if _are_numbers((stream,)) else None
    if part is None:
        raise ValueError(f"flash operations of stream {stream!r}, which has no requests")
    if not isinstance(tasks, list) or not all(isinstance(task, str) for task in tasks):
        raise ValueError(f"flash operations of stream {stream}: the tasks have no names")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ValueError(f"flash operations of stream {stream}: the rows are no list of lists")
    if any(len(row) != _ROW for row in rows) or not _are_numbers(chain.from_iterable(rows)):
        raise ValueError(f"flash operations of stream {stream}: a row is not {_ROW} numbers")
    for request, when, task, *counts in rows:
        if request >= part.count or when > 1 or task >= len(tasks):
            raise ValueError(
                f"flash operations of stream {stream}: request {request} of {part.count}, "
                f"when {when}, task {task} of {len(tasks)}"
            )
        flash_rows = part.rows[when]
        if flash_rows and flash_rows[-1].request > request:
            raise ValueError(f"flash operations of stream {stream}: request {request} is too late")
        flash_rows.append(FlashRow(request, tasks[task], task == 0, *counts))


def _check_total(parts: Iterable[_Part], stream: RecordStream) -> None:
    """Of a guest that came to its end all requests are there."""
    micro = stream.first("micro")
    end = stream.end
    if micro is None or end is None or not end.is_good:
        return
    total = sum(part.count for part in parts)
    if total != micro["requests_done"]:
        raise ValueError(f"{total} requests are recorded of {micro['requests_done']!r} that ended")


def _are_numbers(values: Iterable[Any]) -> bool:
    """Integers from 0 to 2^63 − 1 only; true and 1.0 are none."""
    values = values if isinstance(values, (list, tuple)) else list(values)
    if not values:
        return True
    return set(map(type, values)) == {int} and min(values) >= 0 and max(values) <= LARGEST


def _damaged(where: str, what: str) -> DamagedResultError:
    return DamagedResultError(
        f"{where}: damaged: {what}",
        cause="the file was edited or cut after the run, or another version of the agent wrote it",
        remedy="repeat the case: remove its directory under cases/ and run with --resume",
    )


def thinned(latency_ns: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """At most `most` requests (number, latency): all, or the slowest and the fastest of each of
    equally long pieces.
    """
    piece = max(-(-2 * len(latency_ns) // most), 2) if len(latency_ns) > most else 1
    for start in range(0, len(latency_ns), piece):
        numbers = range(start, min(start + piece, len(latency_ns)))
        ends = {pick(numbers, key=lambda number: latency_ns[number]) for pick in (max, min)}
        yield from ((number, latency_ns[number]) for number in sorted(ends))
