"""What the report knows about a case of workload `micro`: frozen values, free of any file format.

`ffslab.workloads.micro.report.load` fills these; series, sentences, tables and charts read
only these.
Durations are virtual nanoseconds, sizes bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ffslab.report.data import Run

PATTERNS = ("sequential-read", "random-read", "sequential-write", "random-write")
REQUEST, PAUSE, RATE = "workload.request_bytes", "workload.pause_us", "state.rate_percent"


@dataclass(frozen=True)
class Response:
    """Response times of some requests; percentiles are None where no record holds them."""

    count: int
    mean_ns: float
    p50_ns: float | None
    p90_ns: float | None
    p99_ns: float | None
    max_ns: float


@dataclass(frozen=True)
class TaskWork:
    """What a task did on the flash; `when` is "request" or "after". Of `oob_pages` it read or
    programmed the OOB area alone.
    """

    name: str
    when: str
    pages_read: int
    pages_programmed: int
    blocks_erased: int
    busy_ns: int = 0
    oob_pages: int = 0

    @property
    def operations(self) -> int:
        return self.pages_read + self.pages_programmed + self.blocks_erased + self.oob_pages


@dataclass(frozen=True)
class SlowRequest:
    """One of a stream's slowest requests."""

    request: int
    latency_ns: int
    offset: int
    cause: str
    tasks: tuple[TaskWork, ...]


@dataclass(frozen=True)
class Stream:
    """The requests of one stream of a case: all, those before the running phase, and the rest."""

    stream: int
    op: str
    startup_count: int
    all: Response
    startup: Response | None
    running: Response | None
    tasks: tuple[TaskWork, ...]
    slowest: tuple[SlowRequest, ...]


@dataclass(frozen=True)
class Preparation:
    """What the guest that prepared a case's flash achieved."""

    key: str
    state: str
    valid_bytes: int
    invalid_bytes: int
    invalid_present: bool
    file_bytes: int
    pages_programmed: int
    blocks_erased: int
    free_before: int | None
    free_after: int | None
    reserve_bytes: int | None


@dataclass(frozen=True)
class MicroCase:
    """One case. `line` has the axes that tell configurations apart, `numbers` its place on the
    numeric axes. Of the volume asked for, `volume_bytes` fitted; `moved_bytes` is what its requests
    moved until they were done or, for the reason `stopped`, ended before; `requests` were planned.
    """

    id: str
    seed: str
    passed: bool
    part: str
    pattern: str
    mix_pattern: str
    cache: str
    line: Mapping[str, str]
    numbers: Mapping[str, float]
    streams: tuple[Stream, ...] = ()
    erases_mean: float | None = None
    erases_std: float | None = None
    pages_programmed: int = 0
    blocks_erased: int = 0
    flush_pages: int = 0
    asked_bytes: int = 0
    volume_bytes: int = 0
    moved_bytes: int = 0
    requests: int = 0
    file_bytes: int = 0
    stopped: str = ""
    preparation: Preparation | None = None

    @property
    def requests_done(self) -> int:
        return sum(stream.all.count for stream in self.streams)

    @property
    def writes(self) -> bool:
        return self.pattern.endswith("write") or self.mix_pattern.endswith("write")


@dataclass(frozen=True)
class MicroRun:
    """A run: `run` has what every report shows, `cases` the figures of those of workload micro.

    `line_axes` are the axes of `MicroCase.line` that vary, file system first; `parts` are the
    study's parts with their titles.
    """

    run: Run
    cases: tuple[MicroCase, ...]
    line_axes: tuple[str, ...]
    folder: Path
    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> tuple[MicroCase, ...]:
        return tuple(case for case in self.cases if case.passed and case.streams)


def merged(responses: Iterable[Response]) -> Response | None:
    """The responses of several streams as one; None when there are none.

    Of several streams a percentile is the largest of theirs, which that of all requests together
    does not exceed.
    """
    kept = [response for response in responses if response.count]
    if len(kept) < 2:
        return kept[0] if kept else None
    count = sum(response.count for response in kept)
    return Response(
        count=count,
        mean_ns=sum(response.mean_ns * response.count for response in kept) / count,
        p50_ns=_largest(response.p50_ns for response in kept),
        p90_ns=_largest(response.p90_ns for response in kept),
        p99_ns=_largest(response.p99_ns for response in kept),
        max_ns=max(response.max_ns for response in kept),
    )


def _largest(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known) if known else None
