"""The figures of a micro-benchmark: its requests, and their causes.

Pure functions from records to the keys `requests` and `micro` of a result
(docs/result-format.md). Quantiles are exact: the nearest rank among all requests.

The cause of a request's latency is told from the flash operations in it, by `cause_of`. It is
a rule about counts of pages, not a look into the file system: a write that reads metadata which
was not in memory looks like garbage collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ffslab.errors import DamagedResultError
from ffslab.model.case import Case
from ffslab.model.units import format_size
from ffslab.protocol.records import Phase, RecordStream
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult
from ffslab.results.shortfall import FULL, LEAST_PERCENT, Shortfall
from ffslab.workloads.micro.keys import Micro
from ffslab.workloads.micro.requests import FlashRow, RequestSeries, load_requests
from ffslab.workloads.micro.startup import startup_count
from ffslab.workloads.micro.stored import (
    FlashCounts,
    MicroKeys,
    MicroResult,
    RequestTask,
    SlowestResult,
    StreamResult,
    SummaryResult,
    WhenTask,
    streams_of,
)

# Together they are the phase `workload` of a result.
PHASES = ("measure", "flush")
KEYS = MicroKeys
ELSEWHERE: Mapping[str, object] = {"micro": None, "requests": []}
SLOWEST = 10
_CACHE_PAGE_BYTES = 4096
_SPARE_PAGES = 2

GARBAGE_COLLECTION = "garbage collection"
NO_OPERATION = "no flash operation"


@dataclass(frozen=True, slots=True)
class RequestShape:
    """What a cause needs to know of the requests: their size, and the chip's page."""

    request_bytes: int
    page_bytes: int

    @property
    def most_programmed(self) -> int:
        """Above so many pages a write has copied others' data: half as many again and two."""
        pages = -(-self.request_bytes // self.page_bytes)
        return pages + pages // 2 + _SPARE_PAGES

    def most_read(self, offset: int) -> int:
        """Above so many pages a write has read more than what it changes, and two.

        File systems read what is, or would be, in a 4 KiB page of the page cache before they
        change it: JFFS2 even where it writes into a hole.
        """
        first = offset // _CACHE_PAGE_BYTES
        cache_pages = -(-(offset + self.request_bytes) // _CACHE_PAGE_BYTES) - first
        return -(-cache_pages * _CACHE_PAGE_BYTES // self.page_bytes) + _SPARE_PAGES


def mean_response_ns(result: CaseResult) -> float | None:
    """The mean latency of all requests of all streams of a result; None without any."""
    summaries = [stream["all"] for stream in streams_of(result) if stream["all"]]
    count = sum(summary["count"] for summary in summaries)
    total = sum(summary["count"] * summary["mean_ns"] for summary in summaries)
    return total / count if count else None


def latency_summary(latencies: Sequence[int]) -> SummaryResult | None:
    """Count, mean and exact quantiles (nearest rank) in nanoseconds; None for no request."""
    if not latencies:
        return None
    ordered = sorted(latencies)
    count = len(ordered)

    def nearest_rank(per_mille: int) -> int:
        return ordered[-(-count * per_mille // 1000) - 1]

    return {
        "count": count,
        "mean_ns": sum(ordered) / count,
        "min_ns": ordered[0],
        "p50_ns": nearest_rank(500),
        "p90_ns": nearest_rank(900),
        "p99_ns": nearest_rank(990),
        "p999_ns": nearest_rank(999),
        "max_ns": ordered[-1],
    }


def cause_of(op: str, offset: int, rows: Sequence[FlashRow], shape: RequestShape) -> str:
    """Why a request took its time, from the flash operations during it; the first that holds.

    1. Other tasks were longer in the driver than the requester: `write-back` if the longest is
       a kworker, else `waits for TASK`.
    2. `erase`: a block was erased, by whichever task; `garbage collection and erase` if the
       requester programmed more than in 3. Reads are no sign here: JFFS2 reads erased blocks.
    3. `garbage collection`: a write whose task read more pages than the data that it changes
       have, and two, or programmed more than its data need, half as many again, and two.
    4. `OOB areas`: the requester looked at more of these alone than at pages.
    5. `program`, `read`: the requester's own. 6. `no flash operation`.
    """
    mine = [row for row in rows if row.own]
    own, own_oob_pages = _counts(mine), sum(row.oob_pages for row in mine)
    others = [row for row in rows if not row.own]
    copies = op == "write" and own["pages_programmed"] > shape.most_programmed
    if others and sum(row.busy_ns for row in others) > sum(row.busy_ns for row in mine):
        longest = max(others, key=lambda row: row.busy_ns).task
        return "write-back" if longest.startswith("kworker") else f"waits for {longest}"
    if any(row.blocks_erased for row in rows):
        return f"{GARBAGE_COLLECTION} and erase" if copies else "erase"
    if copies or (op == "write" and own["pages_read"] > shape.most_read(offset)):
        return GARBAGE_COLLECTION
    if own_oob_pages > own["pages_read"] + own["pages_programmed"]:
        return "OOB areas"
    if own["pages_programmed"]:
        return "program"
    return "read" if own["pages_read"] else NO_OPERATION


def request_results(series: RequestSeries, shape: RequestShape) -> StreamResult:
    """One stream's object in `requests`."""
    startup = startup_count(series.latency_ns)
    latencies = series.latency_ns
    return {
        "stream": series.stream,
        "op": series.op,
        "count": len(latencies),
        "bytes": len(latencies) * shape.request_bytes,
        "startup_count": startup,
        "all": latency_summary(latencies),
        "startup": latency_summary(latencies[:startup]),
        "running": latency_summary(latencies[startup:]),
        "flash": {
            "request": _counts(series.during),
            "after": _counts(series.after),
        },
        "tasks": [*_by_task(series.during, "request"), *_by_task(series.after, "after")],
        "slowest": _slowest(series, shape),
    }


def compared_times_ns(result: CaseResult) -> dict[str, float]:
    """The mean response time, if there was a request."""
    mean = mean_response_ns(result)
    return {} if mean is None else {"mean response time": mean}


def check_records(stream: RecordStream) -> None:
    """DamagedResultError if the records of requests contradict each other."""
    load_requests(stream)


def result_keys(case: Case, stream: RecordStream, _prepared: Sequence[Preparation]) -> MicroKeys:
    """The keys `micro` and `requests`; of contradictory records nothing is kept."""
    workload = case.workload
    assert isinstance(workload, Micro)
    shape = RequestShape(workload.request_bytes, case.board.chip.page_bytes)
    try:
        requests = [request_results(series, shape) for series in load_requests(stream)]
    except DamagedResultError:
        return {"micro": None, "requests": []}
    return {"micro": _micro_result(stream), "requests": requests}


def _micro_result(stream: RecordStream) -> MicroResult | None:
    """The key `micro`; None if the guest did not get so far."""
    record = stream.first("micro")
    if record is None:
        return None
    return {
        "pattern": str(record["pattern"]),
        "cache": str(record["cache"]),
        "file_bytes": record["file_bytes"],
        "volume_bytes": record["volume_bytes"],
        "requests": record["requests"],
        "requests_done": record["requests_done"],
        "stopped": str(record["stopped"]),
        "streams": record["streams"],
        "dropped_rows": record["dropped_rows"],
        "tasks": [
            {"phase": total.phase, **task} for total in stream.task_totals for task in total.tasks
        ],
    }


def _slowest(series: RequestSeries, shape: RequestShape) -> list[SlowestResult]:
    latencies = series.latency_ns
    chosen = sorted(range(len(latencies)), key=lambda i: (-latencies[i], i))[:SLOWEST]
    rows: dict[int, list[FlashRow]] = {request: [] for request in chosen}
    for row in series.during:
        if row.request in rows:
            rows[row.request].append(row)
    return [
        {
            "request": request,
            "latency_ns": latencies[request],
            "offset": series.offset[request],
            "cause": cause_of(series.op, series.offset[request], rows[request], shape),
            "tasks": [_request_task(row) for row in rows[request]],
        }
        for request in chosen
    ]


def _request_task(row: FlashRow) -> RequestTask:
    return {
        "name": row.task,
        "pages_read": row.pages_read,
        "pages_programmed": row.pages_programmed,
        "blocks_erased": row.blocks_erased,
        "oob_pages": row.oob_pages,
    }


def _by_task(rows: Iterable[FlashRow], when: str) -> list[WhenTask]:
    """Sums by task, the longest in the driver first."""
    by_task: dict[str, list[FlashRow]] = {}
    for row in rows:
        by_task.setdefault(row.task, []).append(row)
    sums: list[WhenTask] = [
        {
            "name": name,
            "when": when,
            **_counts(part),
            "busy_ns": sum(row.busy_ns for row in part),
        }
        for name, part in by_task.items()
    ]
    return sorted(sums, key=lambda task: (-task["busy_ns"], task["name"]))


def _counts(rows: Iterable[FlashRow]) -> FlashCounts:
    read = programmed = erased = oob = 0
    for row in rows:
        read += row.pages_read
        programmed += row.pages_programmed
        erased += row.blocks_erased
        oob += row.oob_pages
    return {
        "pages_read": read,
        "pages_programmed": programmed,
        "blocks_erased": erased,
        "oob_pages": oob,
    }


def shortfall(workload: Micro, stream: RecordStream, full_phase: Phase | None) -> Shortfall | None:
    """The volume is the measure; where only the test file is smaller than asked for, the file."""
    record = stream.first("micro")
    if record is None:
        return None
    done, planned = int(record["requests_done"]), int(record["requests"])
    volume, file = int(record["volume_bytes"]), int(record["file_bytes"])
    cut = volume < workload.volume_bytes
    stopped = FULL if record["stopped"] or full_phase is not None else ""
    what = "bytes"
    measured = done * workload.request_bytes
    asked = workload.volume_bytes if cut else planned * workload.request_bytes
    told = []
    if stopped or done < planned:
        why = f": the partition is full ({FULL})" if stopped else ""
        told.append(f"{done:,} of {planned:,} requests{why}")
    if cut:
        sizes = f"{format_size(volume)} of {format_size(workload.volume_bytes)}"
        told.append(f"{sizes}: the file system has room for no more")
    elif not told and 0 < file < workload.test_file_bytes:
        what, measured, asked = "bytes of the test file", file, workload.test_file_bytes
        told.append(f"a test file of {format_size(file)} instead of {format_size(asked)}")
    if not told:
        return None
    enough = measured * 100 >= asked * LEAST_PERCENT
    if not enough:
        little = f"less than {LEAST_PERCENT} % of what was asked for" if done else "nothing"
        told.insert(0, f"{little} was measured")
    accepted = workload.limit and enough
    return Shortfall(what, measured, asked, stopped, accepted, "; ".join(told))
