"""The tables of single requests, one Parquet file per case.

A run of micro-benchmarks has millions of requests. They are in no result, only in the records of
each case; here they go from there to columns, one case at a time, so that memory is bounded by
the largest case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ffslab.results.rundir import RunDirectory
from ffslab.workloads.micro.requests import FlashRow, RequestSeries, read_requests
from ffslab.workloads.micro.startup import startup_count

_INT, _TEXT, _BOOL = "BIGINT", "VARCHAR", "BOOLEAN"
_FLASH = ("pages_read", "pages_programmed", "blocks_erased", "oob_pages")

REQUEST_COLUMNS: Mapping[str, str] = {
    "run": _TEXT,
    "case_id": _TEXT,
    "stream": _INT,
    "request": _INT,
    "op": _TEXT,
    "offset": _INT,
    "t_start_ns": _INT,
    "latency_ns": _INT,
    "running": _BOOL,
    **dict.fromkeys(_FLASH, _INT),
    **dict.fromkeys([f"after_{name}" for name in _FLASH], _INT),
}
REQUEST_TASK_COLUMNS: Mapping[str, str] = {
    "run": _TEXT,
    "case_id": _TEXT,
    "stream": _INT,
    "request": _INT,
    "when": _TEXT,
    "task": _TEXT,
    **dict.fromkeys(_FLASH, _INT),
    "busy_ns": _INT,
}
_TABLES = {"requests": REQUEST_COLUMNS, "request_tasks": REQUEST_TASK_COLUMNS}
Columns = dict[str, Sequence[Any]]


class RequestStage:
    """Writes NAME-NNNNNN.parquet for both tables into a directory, in the order of the cases."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files = 0
        # An empty one gives both tables their columns even if there is no request.
        self._write("requests", dict.fromkeys(REQUEST_COLUMNS, ()))
        self._write("request_tasks", dict.fromkeys(REQUEST_TASK_COLUMNS, ()))

    def add(self, run: RunDirectory, result: Mapping[str, Any]) -> None:
        """The requests of a case that has any; DamagedResultError if its records are gone."""
        if not result.get("requests"):
            return
        case_id = str(result["id"])
        self._files += 1
        key = (run.path.name, case_id)
        for series in read_requests(run.case_dir(case_id)):
            self._write("requests", request_columns(key, series), series.stream)
            self._write("request_tasks", task_columns(key, series), series.stream)

    def _write(self, name: str, columns: Columns, stream: int = 0) -> None:
        import pyarrow
        import pyarrow.parquet

        types = {_INT: pyarrow.int64(), _TEXT: pyarrow.string(), _BOOL: pyarrow.bool_()}
        arrays = {
            column: pyarrow.array(columns[column], type=types[kind])
            for column, kind in _TABLES[name].items()
        }
        path = self._directory / f"{name}-{self._files:06}-{stream:03}.parquet"
        pyarrow.parquet.write_table(pyarrow.table(arrays), path)


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
