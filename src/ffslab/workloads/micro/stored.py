"""The keys of a result that are micro's own: their types (docs/result-format.md describes them)."""

from __future__ import annotations

from typing import NotRequired, cast

from typing_extensions import TypedDict

from ffslab.protocol.records import TaskRecord
from ffslab.results.result import CaseResult, PhaseTask


class FlashCounts(TypedDict):
    """Flash operations; `oob_pages`: of which the OOB area alone was read or programmed."""

    pages_read: int
    pages_programmed: int
    blocks_erased: int
    oob_pages: int


class RequestFlash(TypedDict):
    """The same of all tasks: in requests, and between one and the next."""

    request: FlashCounts
    after: FlashCounts


class RequestTask(FlashCounts):
    """The same of one task in one request; the first versions told its time, too."""

    name: str
    busy_ns: NotRequired[int]


class WhenTask(TaskRecord):
    """What one task did in all requests (`when` is "request"), or between them ("after")."""

    when: str


class SlowestResult(TypedDict):
    """One of the slowest requests."""

    request: int
    latency_ns: int
    offset: int
    cause: str
    tasks: list[RequestTask]


class SummaryResult(TypedDict):
    """Latencies of requests, in virtual nanoseconds; quantiles are exact."""

    count: int
    mean_ns: float
    min_ns: int
    p50_ns: int
    p90_ns: int
    p99_ns: int
    p999_ns: int
    max_ns: int


class StreamResult(TypedDict):
    """The requests of one stream."""

    stream: int
    op: str
    count: int
    bytes: int
    startup_count: int
    all: SummaryResult | None
    startup: SummaryResult | None
    running: SummaryResult | None
    flash: RequestFlash
    tasks: list[WhenTask]
    slowest: list[SlowestResult]


class MicroResult(TypedDict):
    """The agent's record, and what each task did in the measured phases."""

    pattern: str
    cache: str
    file_bytes: int
    volume_bytes: int
    requests: int
    requests_done: int
    stopped: str
    streams: int
    dropped_rows: int
    tasks: list[PhaseTask]


class MicroKeys(TypedDict):
    """Runs of the first versions have neither."""

    micro: NotRequired[MicroResult | None]
    requests: NotRequired[list[StreamResult]]


def micro_of(result: CaseResult) -> MicroResult | None:
    """The key `micro` of a result of whichever workload."""
    return cast(MicroKeys, result).get("micro")


def streams_of(result: CaseResult) -> list[StreamResult]:
    """The key `requests`; empty without any."""
    return cast(MicroKeys, result).get("requests") or []
