"""Requests of a micro-benchmark from its records: whole, damaged and cut."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_records import lines_of
from micro_support import AGENT, Guest, Row, Stream, micro_cases, micro_records

from ffslab.errors import DamagedResultError
from ffslab.protocol.records import RecordStream, parse_records
from ffslab.results.outcome import judge
from ffslab.workloads.micro.keys import Micro
from ffslab.workloads.micro.requests import FlashRow, load_requests, read_requests
from ffslab.workloads.results import asked_of

Records = list[dict[str, Any]]
GCD = "jffs2_gcd_mtd0"


def _guest(count: int = 3000) -> Guest:
    rows = [
        Row(0, pages_programmed=2, busy_ns=400_000),
        Row(0, GCD, 1, pages_read=64, blocks_erased=1, busy_ns=9_000_000),
        Row(count - 1, GCD, 0, pages_read=3, busy_ns=300_000),
    ]
    return Guest((Stream(range(1000, 1000 + count), rows=rows, pause_ns=50),))


def _data(guest: Guest | None = None) -> bytes:
    return micro_records(micro_cases()[0], guest or _guest())


def test_series_come_back(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_bytes(_data())
    (series,) = read_requests(tmp_path)
    assert (series.stream, series.op) == (0, "write")
    assert series.latency_ns == tuple(range(1000, 4000))
    assert series.offset == tuple(range(0, 3000 * 4096, 4096))
    assert series.t_start_ns[1] - series.t_start_ns[0] == 1050
    assert series.during == (
        FlashRow(0, AGENT, True, 0, 2, 0, 400_000),
        FlashRow(2999, GCD, False, 3, 0, 0, 300_000),
    )
    assert series.after == (FlashRow(0, GCD, False, 64, 0, 1, 9_000_000),)


def test_streams_of_a_mix() -> None:
    streams = (Stream((1, 2, 3)), Stream((7,), op="read", rows=[Row(0, pages_read=1)]))
    write, read = load_requests(parse_records(_data(Guest(streams))))
    assert (write.op, write.latency_ns, write.during) == ("write", (1, 2, 3), ())
    assert (read.op, read.stream, len(read.during)) == ("read", 1, 1)


def _requests(stream: int, latencies: list[int], op: str = "write", first: int = 0) -> Any:
    lists = {"offset": latencies, "t_start_ns": latencies, "latency_ns": latencies}
    return {"type": "requests", "stream": stream, "first": first, "op": op, **lists}


def test_series_are_in_order_of_their_numbers() -> None:
    """A stream's records may lie between those of others, and one may hold no request."""
    largest = 2**63 - 1
    records = (
        _requests(1, [5], "read"),
        _requests(0, [3, largest]),
        _requests(2, []),
        _requests(1, [6], "read", 1),
    )
    found = load_requests(RecordStream(records, (), False))
    assert [series.stream for series in found] == [0, 1, 2]
    assert [series.latency_ns for series in found] == [(3, largest), (5, 6), ()]
    with pytest.raises(DamagedResultError, match="offset is no list"):
        load_requests(RecordStream((_requests(0, [3, largest + 1]),), (), False))


def test_other_workloads_have_none() -> None:
    assert load_requests(parse_records(b'{"v":1,"type":"start"}\n')) == ()


def _of(records: Records, kind: str, number: int = 0) -> dict[str, Any]:
    return [record for record in records if record["type"] == kind][number]


def _change(kind: str, key: str, value: Any, number: int = 0) -> Callable[[Records], None]:
    def change(records: Records) -> None:
        _of(records, kind, number)[key] = value

    return change


def _row(*row: Any) -> Callable[[Records], None]:
    return _change("request-flash", "rows", [list(row)])


def _without(kind: str, number: int) -> Callable[[Records], None]:
    def change(records: Records) -> None:
        records.remove(_of(records, kind, number))

    return change


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (_change("requests", "latency_ns", [1, 2]), "1024 offset, 1024 t_start_ns, 2 latency_ns"),
        (_change("requests", "offset", None), "offset is no list"),
        (_change("requests", "offset", [-1] * 1024), "offset is no list"),
        (_change("requests", "latency_ns", ["1"] * 1024), "latency_ns is no list"),
        (_change("requests", "latency_ns", [True] * 1024), "latency_ns is no list"),
        (_change("requests", "t_start_ns", [2**63] * 1024), "t_start_ns is no list"),
        (_change("requests", "first", 5), "request 5 follows, not 0"),
        (_change("requests", "first", "x"), "from 'x'"),
        (_change("requests", "stream", [0]), "stream [0]"),
        (_change("requests", "op", "erase"), "op 'erase'"),
        (_change("requests", "op", "read", 1), "both reads and writes"),
        (_without("requests", 1), "request 2048 follows, not 1024"),
        (_without("requests", 2), "request 2999 of 2048"),
        (_change("micro", "requests_done", 3001), "3000 requests are recorded of 3001"),
        (_change("request-flash", "stream", 1), "stream 1, which has no requests"),
        (_change("request-flash", "stream", {}), "which has no requests"),
        (_change("request-flash", "tasks", [1]), "no names"),
        (_change("request-flash", "tasks", [AGENT, 1]), "no names"),
        (_change("request-flash", "rows", [[0, 0, 0, 1, 1, 1, 1, 0], 7]), "no list of lists"),
        (_change("request-flash", "rows", [[0, 0, 0, 1, 1, 1, 1, 0], [0]]), "not 8 numbers"),
        (_change("request-flash", "tasks", [AGENT]), "task 1 of 1"),
        (_change("request-flash", "rows", 7), "no list of lists"),
        (_row(0, 0, 0, 1, 1, 1, 0), "not 8 numbers"),
        (_row(0, 0, 0, 1, 1, 1, 1, -1), "not 8 numbers"),
        (_row(0, 0, 0, 1, 1, 1, 1, 0.5), "not 8 numbers"),
        (_row(3000, 0, 0, 1, 1, 1, 1, 0), "request 3000 of 3000"),
        (_row(0, 2, 0, 1, 1, 1, 1, 0), "when 2"),
        (
            _change("request-flash", "rows", [[1, 0, 0, 1, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1, 0]]),
            "request 0 is too late",
        ),
        (
            _change("request-flash", "rows", [[n, 0, 0, 1, 1, 1, 1, 0] for n in (0, 2, 1)]),
            "request 1 is too late",
        ),
    ],
)
def test_contradictions_are_named(
    tmp_path: Path, change: Callable[[Records], None], what: str
) -> None:
    records = [json.loads(line) for line in _data().splitlines()]
    change(records)
    data = lines_of(records)
    (tmp_path / "records.jsonl").write_bytes(data)
    with pytest.raises(DamagedResultError) as error:
        read_requests(tmp_path)
    assert what in error.value.message
    assert str(tmp_path / "records.jsonl") in error.value.message
    outcome = judge(parse_records(data), "", 0, None, asked_of(Micro(), own=True))
    assert outcome.kind == "crash" and what in outcome.reason


@pytest.mark.parametrize("kind", ["requests", "request-flash", "micro", "tasks"])
def test_a_record_without_a_key_is_damage(tmp_path: Path, kind: str) -> None:
    records = [json.loads(line) for line in _data().splitlines()]
    record = _of(records, kind)
    del record[list(record)[-1]]
    (tmp_path / "records.jsonl").write_bytes(lines_of(records))
    with pytest.raises(DamagedResultError, match=f"a {kind} record without"):
        read_requests(tmp_path)


def test_no_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DamagedResultError, match="cannot be read"):
        read_requests(tmp_path)


def test_cut_anywhere_gives_what_is_there_or_an_error() -> None:
    whole = _data()
    before = 0
    for length in range(0, len(whole), 211):
        try:
            series = load_requests(parse_records(whole[:length]))
        except DamagedResultError:
            continue
        count = len(series[0].latency_ns) if series else 0
        assert count >= before
        before = count
    assert before == 3000


def test_many_requests_are_read_quickly() -> None:
    stream = parse_records(_data(Guest((Stream(range(50_000)),))))
    start = time.process_time()
    load_requests(stream)
    assert time.process_time() - start < 0.5
