"""The tables of single requests: columns, stream by stream.

A run of micro-benchmarks has millions of requests. They are in no result, only in the records of
each case; here they go from there to columns, one case at a time, so that memory is bounded by
the largest case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ffslab.results.columns import FLAG, INT, KEY, TEXT, Columns
from ffslab.results.result import CaseResult
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.micro.requests import FlashRow, RequestSeries, read_requests
from ffslab.workloads.micro.startup import startup_count
from ffslab.workloads.micro.stored import streams_of

_FLASH = ("pages_read", "pages_programmed", "blocks_erased", "oob_pages")

REQUEST_COLUMNS: Mapping[str, str] = {
    **KEY,
    "stream": INT,
    "request": INT,
    "op": TEXT,
    "offset": INT,
    "t_start_ns": INT,
    "latency_ns": INT,
    "running": FLAG,
    **dict.fromkeys(_FLASH, INT),
    **dict.fromkeys([f"after_{name}" for name in _FLASH], INT),
}
REQUEST_TASK_COLUMNS: Mapping[str, str] = {
    **KEY,
    "stream": INT,
    "request": INT,
    "when": TEXT,
    "task": TEXT,
    **dict.fromkeys(_FLASH, INT),
    "busy_ns": INT,
}
TABLES: Mapping[str, Mapping[str, str]] = {}  # all are too large for rows of a result
RECORD_TABLES = {"requests": REQUEST_COLUMNS, "request_tasks": REQUEST_TASK_COLUMNS}


def case_columns(_result: CaseResult) -> Mapping[str, object]:
    """None: what all tables have of it is in its spec."""
    return {}


def rows(_result: CaseResult) -> Mapping[str, Iterable[Mapping[str, object]]]:
    """None: a result has no single requests."""
    return {}


def record_columns(run: RunDirectory, result: CaseResult) -> Iterator[tuple[str, Columns]]:
    """Both tables of a case that has requests; DamagedResultError if its records are gone."""
    if not streams_of(result):
        return
    case_id = result["id"]
    key = (run.path.name, case_id)
    for series in read_requests(run.case_dir(case_id)):
        yield "requests", request_columns(key, series)
        yield "request_tasks", task_columns(key, series)


def request_columns(key: tuple[str, str], series: RequestSeries) -> Columns:
    """The columns of `requests` for one stream."""
    count = len(series.latency_ns)
    startup = startup_count(series.latency_ns)
    during, after = _sums(series.during, count), _sums(series.after, count)
    return {
        "run": [key[0]] * count,
        "case_id": [key[1]] * count,
        "stream": [series.stream] * count,
        "request": range(count),
        "op": [series.op] * count,
        "offset": series.offset,
        "t_start_ns": series.t_start_ns,
        "latency_ns": series.latency_ns,
        "running": [False] * startup + [True] * (count - startup),
        **during,
        **{f"after_{name}": values for name, values in after.items()},
    }


def task_columns(key: tuple[str, str], series: RequestSeries) -> Columns:
    """The columns of `request_tasks` for one stream: in order of the requests."""
    rows = [(row, "request") for row in series.during] + [(row, "after") for row in series.after]
    rows.sort(key=lambda row: row[0].request)
    count = len(rows)
    return {
        "run": [key[0]] * count,
        "case_id": [key[1]] * count,
        "stream": [series.stream] * count,
        "when": [when for _, when in rows],
        **{
            name: [getattr(row, name) for row, _ in rows]
            for name in ("request", "task", *_FLASH, "busy_ns")
        },
    }


def _sums(rows: Sequence[FlashRow], count: int) -> dict[str, list[int]]:
    """By request, what all tasks did."""
    sums = {name: [0] * count for name in _FLASH}
    for name, values in sums.items():
        for row in rows:
            values[row.request] += getattr(row, name)
    return sums
