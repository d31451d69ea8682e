"""What the flash did while a workload paused: a trace against the times of its requests.

A case of workload `micro` has the time of every request in its records. The measured phase is cut
into pieces in which at least one request was under way, and the pauses between them. An operation
counts where it began; its time counts where it passed, so that an operation which outlasts a pause
is in both. The chip is busy where at least one operation is under way; that a second
task waits for it is not counted twice.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from ffslab.errors import DamagedResultError
from ffslab.protocol.records import Record, RecordStream
from ffslab.protocol.trace import Operation

IN_REQUEST, BETWEEN, OUTSIDE = "in a request", "between", "outside"
_PLACES = (IN_REQUEST, BETWEEN, OUTSIDE)
Interval = tuple[int, int]  # from, to; nanoseconds


@dataclass(frozen=True, slots=True)
class Measurement:
    """The measured phase, and the start and end of each of its requests, sorted."""

    phase: Interval
    requests: tuple[Interval, ...]
    notes: tuple[str, ...] = ()  # what is missing


def measurement(stream: RecordStream) -> Measurement | None:
    """The requests of a case's records; None if it has none, because it is no micro-benchmark.

    Raises DamagedResultError if they do not fit together.
    """
    intervals: list[Interval] = []
    for record in stream.of_type("requests"):
        intervals += _requests(record)
    if not intervals:
        return None
    phase = _measured_phase(stream)
    if phase is None:  # the guest did not come to the phase's record
        phase = min(start for start, _ in intervals), max(end for _, end in intervals)
    notes = []
    if stream.damage:
        lines = len(stream.damage)
        notes.append(f"records.jsonl has {lines:,} damaged lines: requests may be missing")
    if stream.cut:
        notes.append("records.jsonl was cut: requests may be missing")
    return Measurement(phase, tuple(sorted(intervals)), tuple(notes))


def _requests(record: Record) -> Iterator[Interval]:
    starts, latencies = record.get("t_start_ns"), record.get("latency_ns")
    if not _are_times(starts) or not _are_times(latencies) or len(starts) != len(latencies):
        raise DamagedResultError(
            "a `requests` record has no list of starts with as many latencies",
            cause="records.jsonl was changed, or another version of the agent wrote it",
            remedy="run the case again",
        )
    for start, latency in zip(starts, latencies, strict=True):
        yield start, start + latency


def _are_times(value: object) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(
        isinstance(item, int) and item >= 0 and not isinstance(item, bool) for item in value
    )


def _measured_phase(stream: RecordStream) -> Interval | None:
    for phase in stream.phases:
        if (phase.workload, phase.name) == ("micro", "measure"):
            times = phase.t_start_ns, phase.t_end_ns
            return times if times[0] <= times[1] else None
    return None


@dataclass(slots=True)
class TaskShare:
    """What one task did in one of the places: counts of what began there, time that passed."""

    pid: int
    task: str
    place: str
    operations: int = 0
    pages_read: int = 0
    pages_programmed: int = 0
    blocks_erased: int = 0
    busy_ns: int = 0

    def count(self, operation: Operation) -> None:
        """Adds an operation that began here, but not its time."""
        self.operations += 1
        if operation.op == "read":
            self.pages_read += operation.pages
        elif operation.op == "program":
            self.pages_programmed += operation.pages
        elif operation.op == "erase":
            self.blocks_erased += operation.pages


@dataclass(slots=True)
class Pause:
    """A time without a request. `request` is the index of the one before, −1 for the first's."""

    request: int
    t_start_ns: int
    t_end_ns: int
    work: list[tuple[int, int, str]] = field(default_factory=list)  # from, to, kind

    @property
    def duration_ns(self) -> int:
        """How long it lasted."""
        return self.t_end_ns - self.t_start_ns

    @property
    def busy_ns(self) -> int:
        """How long the chip was busy in it."""
        return sum(end - start for start, end in _union(self.work))

    def timeline(self, cells: int) -> str:
        """The pause as `cells` characters: the initial of what took most of the cell, or a dot."""
        line = []
        for cell in range(cells):
            start = self.t_start_ns + self.duration_ns * cell // cells
            end = self.t_start_ns + self.duration_ns * (cell + 1) // cells
            times: dict[str, int] = {}
            for from_, to, kind in self.work:
                if overlap := max(0, min(to, end) - max(from_, start)):
                    times[kind] = times.get(kind, 0) + overlap
            line.append(max(times, key=lambda kind: times[kind])[0] if times else ".")
        return "".join(line)


@dataclass(frozen=True, slots=True)
class IdleWork:
    """The operations of a trace by task and place, and the pauses in order of time."""

    measurement: Measurement
    shares: tuple[TaskShare, ...]
    pauses: tuple[Pause, ...]

    @property
    def pause_ns(self) -> int:
        """The time between requests."""
        return sum(pause.duration_ns for pause in self.pauses)

    @property
    def busy_ns(self) -> int:
        """How much of it the chip was busy."""
        return sum(pause.busy_ns for pause in self.pauses)


def idle_work(operations: Iterable[Operation], measured: Measurement) -> IdleWork:
    """Sorts the operations into the requests, the pauses between them, and what is outside."""
    pieces = _Pieces(measured)
    shares: dict[tuple[int, str, str], TaskShare] = {}
    order: dict[tuple[int, str], int] = {}

    def share(operation: Operation, stretch: str) -> TaskShare:
        key = (operation.pid, operation.task, stretch)
        order.setdefault(key[:2], len(order))
        return shares.setdefault(key, TaskShare(*key))

    for operation in operations:
        share(operation, pieces.place_at(operation.t_start_ns)).count(operation)
        for number, start, end in pieces.parts(operation.t_start_ns, operation.t_end_ns):
            share(operation, pieces.places[number]).busy_ns += end - start
            if pause := pieces.pauses.get(number):
                pause.work.append((start, end, operation.op))
    ordered = sorted(shares.values(), key=lambda s: (order[s.pid, s.task], _PLACES.index(s.place)))
    return IdleWork(measured, tuple(ordered), tuple(pieces.pauses.values()))


class _Pieces:
    """All of time in pieces, each in one place; piece n begins at `starts[n]`."""

    def __init__(self, measured: Measurement) -> None:
        first, last = measured.phase
        self.starts = [0]
        self.places = [OUTSIDE]
        self.pauses: dict[int, Pause] = {}
        at = first
        for start, end in _union(measured.requests):
            start, end = max(start, first), min(end, last)
            if start > at:
                self._add_pause(at, start, measured.requests)
            if end > start:
                self._add(start, IN_REQUEST)
            at = max(at, end)
        if last > at:
            self._add_pause(at, last, measured.requests)
        self._add(last, OUTSIDE)

    def _add(self, start: int, stretch: str) -> None:
        self.starts.append(start)
        self.places.append(stretch)

    def _add_pause(self, start: int, end: int, requests: Sequence[Interval]) -> None:
        self._add(start, BETWEEN)
        before = bisect_right(requests, start, key=lambda request: request[0]) - 1
        self.pauses[len(self.starts) - 1] = Pause(before, start, end)

    def place_at(self, time_ns: int) -> str:
        return self.places[bisect_right(self.starts, time_ns) - 1]

    def parts(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """The pieces that the interval touches: number, and from when to when."""
        number = bisect_right(self.starts, start) - 1
        while start < end:
            behind = self.starts[number + 1] if number + 1 < len(self.starts) else end
            to = min(end, behind)
            if to > start:
                yield number, start, to
            start, number = to, number + 1


def _union(intervals: Iterable[tuple[int, int, str] | Interval]) -> list[Interval]:
    """Intervals that do not touch each other and cover the same time, sorted."""
    merged: list[Interval] = []
    for start, end in sorted((interval[0], interval[1]) for interval in intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
