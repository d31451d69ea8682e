"""Traces, whole and damaged, and what `ffslab trace` makes of them."""

from __future__ import annotations

import csv
import json
import random
import re
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ffslab.cli.app import main
from ffslab.errors import DamagedResultError
from ffslab.protocol.records import parse_records
from ffslab.protocol.trace import Operation, Trace, read_trace, sum_by_task, trim_trace
from ffslab.workloads.micro.idle import BETWEEN, IN_REQUEST, OUTSIDE, Pause, idle_work, measurement

# kmod/flashmon/trace_format.h, written down once more.
HEADER = struct.Struct("<8sIIQQII24x")
RECORD = struct.Struct("<QQIIIIiiB3x16s4s")
KINDS = {"read": 1, "program": 2, "erase": 3}


def operation(
    start: int, duration: int, kind: str, task: str = "writer", pid: int = 7, **fields: int
) -> Operation:
    values = {"block": 3, "page": 5, "data_bytes": 2048, "oob_bytes": 0, "result": 0, "pages": 1}
    values |= fields
    return Operation(start, duration, op=kind, task=task, pid=pid, **values)


def record(o: Operation, record_bytes: int = 64) -> bytes:
    packed = RECORD.pack(
        o.t_start_ns, o.duration_ns, o.block, o.page, o.data_bytes, o.oob_bytes, o.result, o.pid,
        KINDS[o.op], o.task.encode(), o.pages.to_bytes(4, "little"),
    )  # fmt: skip
    return packed.ljust(record_bytes, b"\xee")


def trace_bytes(
    operations: Sequence[Operation],
    *,
    count: int | None = None,
    dropped: int = 0,
    version: int = 2,
    record_bytes: int = 64,
) -> bytes:
    number = len(operations) if count is None else count
    header = HEADER.pack(b"FLASHMON", version, record_bytes, number, dropped, 2048, 131072)
    return header + b"".join(record(o, max(record_bytes, 64)) for o in operations)


def trace_of(directory: Path, data: bytes) -> Trace:
    path = directory / "trace.bin"
    path.write_bytes(data)
    return read_trace(path)


SOME = (
    operation(100, 50, "read"),
    operation(90, 200, "program", "jffs2_gcd_mtd1", 4, pages=0, oob_bytes=8),
    operation(300, 500, "erase", "jffs2_gcd_mtd1", 4, data_bytes=131072, result=-5),
    operation(900, 10, "read", pages=2, result=-117),
)


class TestReader:
    @pytest.mark.parametrize("record_bytes", [64, 96])
    def test_operations_come_back(self, tmp_path: Path, record_bytes: int) -> None:
        trace = trace_of(tmp_path, trace_bytes(SOME, record_bytes=record_bytes))
        assert tuple(trace.operations()) == SOME
        assert (trace.page_bytes, trace.block_bytes, trace.notes) == (2048, 131072, ())

    def test_more_than_one_chunk(self, tmp_path: Path) -> None:
        many = [operation(i, 1, "read") for i in range(10_000)]
        assert list(trace_of(tmp_path, trace_bytes(many)).operations()) == many

    def test_a_negative_result_is_a_failure_unless_bits_were_corrected(self) -> None:
        results = {0: False, -1: True, -5: True, -117: False, 1: False}
        for result, failed in results.items():
            assert operation(0, 1, "read", result=result).failed is failed

    def test_records_have_a_size_that_a_record_may_have(self, tmp_path: Path) -> None:
        longest = trace_bytes(SOME, record_bytes=4096)
        assert tuple(trace_of(tmp_path, longest).operations()) == SOME
        for size in (63, 4097):
            with pytest.raises(DamagedResultError, match="impossible sizes"):
                trace_of(tmp_path, trace_bytes(SOME, record_bytes=size))

    def test_empty_trace(self, tmp_path: Path) -> None:
        assert list(trace_of(tmp_path, trace_bytes(())).operations()) == []

    def test_a_cut_trace_is_read_as_far_as_it_goes(self, tmp_path: Path) -> None:
        data = trace_bytes(SOME)
        for size in range(64, len(data)):
            trace = trace_of(tmp_path, data[:size])
            whole = (size - 64) // 64
            assert tuple(trace.operations()) == SOME[:whole]
            assert trace.notes == (f"the file was cut: {whole} of 4 operations are there",)

    def test_what_is_behind_the_last_record_does_not_count(self, tmp_path: Path) -> None:
        trace = trace_of(tmp_path, trace_bytes(SOME, count=2))
        assert tuple(trace.operations()) == SOME[:2]

    def test_a_full_trace_says_so(self, tmp_path: Path) -> None:
        (note,) = trace_of(tmp_path, trace_bytes(SOME, dropped=1234)).notes
        assert "1,234 later operations are not in it" in note

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (b"", "empty"),
            (b"\0" * 64, "empty"),
            (b"FLASHMON\2", "header"),
            (b"\xff" * 300, "header"),
            (trace_bytes(SOME, version=1), "format 1"),
            (trace_bytes((), record_bytes=0), "sizes"),
            (trace_bytes((), record_bytes=63), "sizes"),
            (trace_bytes((), record_bytes=2**31), "sizes"),
            (HEADER.pack(b"FLASHMON", 2, 64, 0, 0, 0, 0), "sizes"),
        ],
    )
    def test_what_is_no_trace(self, tmp_path: Path, data: bytes, words: str) -> None:
        with pytest.raises(DamagedResultError, match=words):
            trace_of(tmp_path, data)

    def test_a_directory_or_nothing(self, tmp_path: Path) -> None:
        for path in (tmp_path, tmp_path / "absent"):
            with pytest.raises(DamagedResultError):
                read_trace(path)

    def test_any_bytes(self, tmp_path: Path) -> None:
        """Behind a good header anything is an operation, and nothing an exception of its own."""
        generator = random.Random(1)
        for _ in range(300):
            data = bytearray(trace_bytes(SOME))
            for _ in range(generator.randrange(1, 40)):
                data[generator.randrange(len(data))] = generator.randrange(256)
            try:
                trace = trace_of(tmp_path, bytes(data))
            except DamagedResultError:
                continue
            assert sum(found.operations for found in sum_by_task(trace.operations())) <= 4

    def test_names_are_printable(self, tmp_path: Path) -> None:
        data = bytearray(trace_bytes(SOME[:1]))
        data[64 + 44 : 64 + 60] = b"a\x1b[2J\n\xff".ljust(16, b"b")
        (found,) = trace_of(tmp_path, bytes(data)).operations()
        assert found.task.isprintable()
        assert found.task == "a\ufffd[2J\ufffd\ufffdbbbbbbbbb"


@pytest.mark.parametrize(
    ("data", "bytes_left"),
    [
        # Of four records that the file has two were written: a header of 64 bytes, and these.
        (trace_bytes(SOME, count=2), 64 + 2 * 64),
        (trace_bytes(SOME, count=2, record_bytes=96), 64 + 2 * 96),
        (trace_bytes(SOME, count=0), 64),
        # All of them, more than the file has, and a file that ends in its header.
        (trace_bytes(SOME), 64 + 4 * 64),
        (trace_bytes(SOME, count=9), 64 + 4 * 64),
        (b"FLASHMON\2", 9),
        # Nothing was written: no header, and none of a file that is shorter than one.
        (bytes(4096), 0),
        (bytes(9), 0),
        # No trace at all, whatever it may be.
        (b"NOTFLASH" + bytes(4096), 4104),
        (b"\1" + bytes(8), 9),
    ],
)
def test_a_trace_is_cut_behind_its_last_record(
    tmp_path: Path, data: bytes, bytes_left: int
) -> None:
    path = tmp_path / "trace.bin"
    path.write_bytes(data)
    trim_trace(path)
    assert path.read_bytes() == data[:bytes_left]


def test_sums_by_task_and_kind() -> None:
    writer, programs, erases = sum_by_task(SOME)
    assert (writer.task, writer.op, writer.operations, writer.pages) == ("writer", "read", 2, 3)
    assert (writer.busy_ns, writer.t_first_ns, writer.t_last_ns) == (60, 100, 910)
    assert writer.errors == 0  # bit errors that were corrected
    assert (programs.op, programs.operations, programs.pages) == ("program", 1, 0)
    assert (erases.op, erases.errors, erases.busy_ns) == ("erase", 1, 500)


def test_sums_are_in_order_of_tasks_and_kinds() -> None:
    """Tasks as they came, then reads, programs, erases, and kinds that are not known by name."""
    kinds = ["unknown 9", "unknown 8", "erase", "program", "read"]
    operations = [operation(0, 0, kind, "b", 2) for kind in kinds]
    operations += [operation(40, 10, "read", "a", 1), operation(20, 90, "read", "a", 1)]
    sums = sum_by_task(operations)
    assert [(s.task, s.op) for s in sums] == [
        *(("b", kind) for kind in ("read", "program", "erase", "unknown 8", "unknown 9")),
        ("a", "read"),
    ]
    assert (sums[0].t_first_ns, sums[0].t_last_ns, sums[0].busy_ns) == (0, 0, 0)
    # The operation that ended last may have begun first.
    assert (sums[5].t_first_ns, sums[5].t_last_ns, sums[5].busy_ns) == (20, 110, 100)


def micro_records(
    requests: Sequence[tuple[int, int]],
    phase: tuple[int, int] | None = (1000, 2000),
    **changes: Any,
) -> bytes:
    """The records of a micro-benchmark with requests from … to …, in two parts."""
    lines: list[dict[str, Any]] = []
    for part in (requests[: len(requests) // 2], requests[len(requests) // 2 :]):
        line = {
            "type": "requests",
            "workload": "micro",
            "phase": "measure",
            "stream": 0,
            "op": "write",
            "first": 0,
            "offset": [0 for _ in part],
            "t_start_ns": [start for start, _ in part],
            "latency_ns": [end - start for start, end in part],
        }
        lines.append(line | changes)
    if phase:
        for name, (start, end) in (("flush", (2000, 2100)), ("measure", phase)):
            times = {"t_start_ns": start, "t_end_ns": end, "status": "ok"}
            lines.append({"type": "phase", "workload": "micro", "phase": name} | times)
    return b"".join(json.dumps({"v": 1, **line}).encode() + b"\n" for line in lines)


class TestMeasurement:
    def test_requests_and_phase(self) -> None:
        found = measurement(parse_records(micro_records([(1500, 1600), (1100, 1200)])))
        assert found is not None
        assert found.phase == (1000, 2000)
        assert found.requests == ((1100, 1200), (1500, 1600))

    def test_a_guest_that_ended_early(self) -> None:
        found = measurement(parse_records(micro_records([(1100, 1200), (1500, 1600)], None)))
        assert found is not None and found.phase == (1100, 1600)

    @pytest.mark.parametrize(
        ("times", "phase"),
        [
            ((0, 0), (0, 0)),
            ((1600, 1500), (0, 1600)),  # no phase ends before it begins: the requests' own times
            (("x", 5), (0, 1600)),
            ((5, None), (0, 1600)),
        ],
    )
    def test_a_phase_of_impossible_times_is_none(self, times: Any, phase: tuple[int, int]) -> None:
        found = measurement(parse_records(micro_records([(0, 0), (1500, 1600)], times)))
        assert found is not None and found.phase == phase

    def test_no_requests(self) -> None:
        assert measurement(parse_records(b"")) is None
        assert measurement(parse_records(b'{"v":1,"type":"space"}\nrubbish\n')) is None

    @pytest.mark.parametrize(
        "changes",
        [
            {"t_start_ns": None},
            {"latency_ns": 5},
            {"latency_ns": [1, 2, 3]},
            {"t_start_ns": ["1"]},
            {"t_start_ns": [-1]},
            {"t_start_ns": [True]},
        ],
    )
    def test_damage(self, changes: dict[str, Any]) -> None:
        with pytest.raises(DamagedResultError):
            measurement(parse_records(micro_records([(1100, 1200), (1500, 1600)], **changes)))


def idle_of(operations: Sequence[Operation], requests: Sequence[tuple[int, int]]) -> Any:
    measured = measurement(parse_records(micro_records(requests)))
    assert measured is not None
    return idle_work(operations, measured)


def share(work: Any, task: str, place: str) -> tuple[int, int, int, int, int]:
    (found,) = [s for s in work.shares if (s.task, s.place) == (task, place)]
    pages = (found.pages_read, found.pages_programmed, found.blocks_erased)
    return (found.operations, *pages, found.busy_ns)


class TestIdle:
    requests = ((1000, 1100), (1400, 1500))  # then a pause until 2000

    def test_places(self) -> None:
        work = idle_of(
            [
                operation(1010, 50, "program"),
                operation(1200, 100, "erase", "gc"),
                operation(1450, 20, "read"),
                operation(500, 30, "read"),
                operation(2000, 30, "read"),
            ],
            self.requests,
        )
        assert share(work, "writer", IN_REQUEST) == (2, 1, 1, 0, 70)
        assert share(work, "gc", BETWEEN) == (1, 0, 0, 1, 100)
        assert share(work, "writer", OUTSIDE) == (2, 2, 0, 0, 60)
        assert [(p.request, p.t_start_ns, p.t_end_ns) for p in work.pauses] == [
            (0, 1100, 1400),
            (1, 1500, 2000),
        ]
        assert (work.pause_ns, work.busy_ns) == (800, 100)

    def test_an_operation_over_an_edge(self) -> None:
        """It counts where it began, its time where it passed."""
        work = idle_of([operation(1090, 400, "erase", "gc")], self.requests)
        assert share(work, "gc", IN_REQUEST) == (1, 0, 0, 1, 10 + 90)
        assert share(work, "gc", BETWEEN) == (0, 0, 0, 0, 300)

    def test_an_operation_longer_than_everything(self) -> None:
        work = idle_of([operation(0, 10**9, "erase", "gc")], self.requests)
        assert share(work, "gc", OUTSIDE)[-1] == 10**9 - 1000
        assert (work.pause_ns, work.busy_ns) == (800, 800)

    def test_a_waiting_task_is_not_counted_twice(self) -> None:
        both = [operation(1200, 100, "erase", "gc"), operation(1250, 100, "read", "other", 9)]
        assert idle_of(both, self.requests).busy_ns == 150

    def test_requests_of_several_streams(self) -> None:
        """No pause where any request is under way."""
        work = idle_of([], [(1000, 1300), (1100, 1200), (1250, 1400), (1500, 2000)])
        assert [(p.request, p.t_start_ns, p.t_end_ns) for p in work.pauses] == [(2, 1400, 1500)]

    def test_before_the_first_request(self) -> None:
        work = idle_of([], [(1200, 2000)])
        assert [(p.request, p.duration_ns) for p in work.pauses] == [(-1, 200)]

    def test_no_pause(self) -> None:
        work = idle_of([operation(1010, 50, "program")], [(1000, 1500), (1500, 2000)])
        assert work.pauses == () and work.pause_ns == 0

    def test_times_of_the_places_add_up(self) -> None:
        generator = random.Random(2)
        for _ in range(200):
            at, requests = 1000, []
            while at < 1900:
                end = at + generator.randrange(1, 80)
                requests.append((at, end))
                at = end + generator.choice([0, 0, 30, 200])
            operations = [
                operation(generator.randrange(2500), generator.randrange(300), "read", "x", i)
                for i in range(20)
            ]
            work = idle_of(operations, requests)
            assert sum(s.busy_ns for s in work.shares) == sum(o.duration_ns for o in operations)
            assert sum(s.operations for s in work.shares) == 20
            # The model: every nanosecond of the phase by itself.
            idle = set(range(1000, 2000)).difference(*(range(a, b) for a, b in requests))
            busy = set().union(*(range(o.t_start_ns, o.t_end_ns) for o in operations))
            assert (work.pause_ns, work.busy_ns) == (len(idle), len(idle & busy))

    def test_timeline(self) -> None:
        work = idle_of(
            [operation(1125, 50, "read"), operation(1300, 75, "erase"), operation(1376, 4, "read")],
            self.requests,
        )
        assert work.pauses[0].timeline(6) == "rr..ee"
        assert work.pauses[1].timeline(6) == "......"
        # Cells of ten nanoseconds in three: 0 to 3, to 6, to 10.
        assert Pause(0, 100, 110, [(103, 104, "read")]).timeline(3) == ".r."
        assert Pause(0, 100, 110, [(105, 106, "read")]).timeline(3) == ".r."
        # As long as the other, and first: all of it is in the cell.
        both = [(103, 104, "read"), (104, 105, "program")]
        assert Pause(0, 100, 110, both).timeline(3) == ".r."

    def test_shares_are_by_task_and_place(self) -> None:
        """Tasks in the order in which they came, each in the order of the places."""
        operations = [
            operation(1250, 10, "read", "B", pages=3),
            operation(1020, 10, "program", "A", pages=5),
            operation(1030, 10, "erase", "B", pages=7),
            operation(5, 10, "read", "B", pages=2),
        ]
        work = idle_of(operations, [(1000, 1100), (1500, 2000)])
        assert [
            (s.task, s.place, s.operations, s.pages_read, s.pages_programmed, s.blocks_erased)
            for s in work.shares
        ] == [
            ("B", "in a request", 1, 0, 0, 7),
            ("B", "between", 1, 3, 0, 0),
            ("B", "outside", 1, 2, 0, 0),
            ("A", "in a request", 1, 0, 5, 0),
        ]


# --- the verb ---


@dataclass(frozen=True)
class Ended:
    code: int
    output: str
    error: str


class Verb:
    """`ffslab trace` in this process, on runs that the test makes."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], root: Path
    ) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys
        self.run = root / "20260101T000000Z-mine"

    def case(self, name: str, trace: bytes | None, records: bytes = b"") -> Path:
        directory = self.run / "cases" / name
        directory.mkdir(parents=True)
        (directory / "records.jsonl").write_bytes(records)
        if trace is not None:
            (directory / "trace.bin").write_bytes(trace)
        names = sorted(path.name for path in directory.parent.iterdir())
        manifest = {
            "v": 1,
            "study": "mine",
            "study_file": "/somewhere/mine.toml",
            "overrides": [["state", ["aged"]]],
            "cases": [{"id": name} for name in names],
        }
        (self.run / "manifest.json").write_text(json.dumps(manifest))
        return directory

    def __call__(self, *arguments: object) -> Ended:
        words = ["ffslab", "trace", str(self.run), *map(str, arguments)]
        self._monkeypatch.setattr(sys, "argv", words)
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        captured = self._capsys.readouterr()
        assert "Traceback" not in captured.err and "internal error" not in captured.err
        assert all(len(line) <= 80 for line in captured.out.splitlines()), captured.out
        return Ended(code, captured.out, captured.err)


@pytest.fixture
def verb(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Verb:
    monkeypatch.delenv("FFSLAB_COMMAND", raising=False)
    return Verb(monkeypatch, capsys, tmp_path)


def rows(output: str) -> list[list[str]]:
    return [re.split(r" +", line.strip()) for line in output.splitlines()]


class TestVerb:
    def test_table(self, verb: Verb) -> None:
        verb.case("a", trace_bytes(SOME))
        done = verb()
        assert done.code == 0
        assert ["writer", "7", "read", "2", "3", "60", "ns", "100", "ns", "910", "ns"] in rows(
            done.output
        )
        assert "1 erase operations of jffs2_gcd_mtd1 failed" in done.output

    def test_large_numbers_fit(self, verb: Verb) -> None:
        """Hours, and tens of millions of pages."""
        hour = 3600 * 10**9
        many = [
            operation(
                hour + n * hour // 3000, hour // 4000, kind, "kworker/u128:99", 32768, pages=20_000
            )
            for n in range(1200)
            for kind in KINDS
        ]
        records = micro_records([(hour, hour + 5), (2 * hour, 2 * hour + 5)], (hour, 3 * hour))
        verb.case("a", trace_bytes(many), records)
        assert verb("a", "--idle").code == 0

    def test_markup_in_a_name(self, verb: Verb) -> None:
        verb.case("a", trace_bytes([operation(1, 1, "read", "[red]x[/]")]))
        assert "[red]x[/]" in verb().output

    def test_empty_trace(self, verb: Verb) -> None:
        verb.case("a", trace_bytes(()), micro_records([(1000, 1100), (1200, 1300)]))
        done = verb("--idle")
        assert done.code == 0 and "idle in all of them" in done.output

    def test_notes(self, verb: Verb) -> None:
        verb.case("a", trace_bytes(SOME, dropped=5)[:-10])
        done = verb("a")
        assert done.code == 0
        assert "cut: 3 of 4" in done.output and "5 later operations" in done.output

    def test_idle(self, verb: Verb) -> None:
        trace = trace_bytes([operation(1010, 50, "program"), operation(1200, 100, "erase", "gc")])
        verb.case("a", trace, micro_records([(1000, 1100), (1400, 1500)]))
        done = verb("--idle")
        assert done.code == 0
        assert "2 pauses" in done.output and "(12.5 %)" in done.output
        assert ["gc", "between", "0", "0", "1", "100", "ns", "12.5", "%"] in rows(done.output)
        assert re.search(r"\|\.+e+\.+\|", done.output)
        assert ["writer", "in", "a", "request", "0", "1", "0", "50", "ns"] in rows(done.output)

    def test_damaged_records(self, verb: Verb) -> None:
        records = micro_records([(1000, 1100), (1400, 1500)])
        verb.case("a", trace_bytes(SOME), b"rubbish\n" + records + b'{"v":1,"ty')
        done = verb("--idle")
        assert done.code == 0
        assert "1 damaged lines" in done.output and "was cut" in done.output

    def test_csv(self, verb: Verb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        verb.case("a", trace_bytes(SOME))
        monkeypatch.chdir(tmp_path)
        file = Path("operations.csv")
        assert f"4 operations in {file}\n" in verb("--csv", file).output
        with file.open(newline="") as stream:
            found = list(csv.DictReader(stream))
        assert [row["t_start_ns"] for row in found] == ["100", "90", "300", "900"]
        assert found[1]["task"] == "jffs2_gcd_mtd1" and found[2]["result"] == "-5"

    def test_csv_without_a_place(self, verb: Verb, tmp_path: Path) -> None:
        verb.case("a", trace_bytes(SOME))
        done = verb("--csv", tmp_path / "absent" / "x.csv")
        assert done.code == 3 and "cannot write" in done.error

    def test_untraced_case_and_how_to_trace_it(self, verb: Verb) -> None:
        verb.case("a", None)
        for arguments in ((), ("a",)):
            done = verb(*arguments)
            assert done.code == 2
            command = "ffslab run /somewhere/mine.toml --set 'state=\"aged\"' --case a --trace"
            assert f"next: {command}" in done.error

    def test_several_traced_cases(self, verb: Verb) -> None:
        verb.case("a", trace_bytes(SOME))
        verb.case("b", trace_bytes(SOME))
        done = verb()
        assert done.code == 2 and "a, b" in done.error
        assert verb("b").code == 0

    def test_unknown_case(self, verb: Verb) -> None:
        verb.case("jffs2-free", trace_bytes(SOME))
        done = verb("jffs2-fre")
        assert done.code == 2 and "did you mean 'jffs2-free'" in done.error
        assert verb("../cases/jffs2-free").code == 2

    @pytest.mark.parametrize("data", [b"", b"\0" * 200, b"FLASH", b"\xff" * 500])
    def test_damaged_trace(self, verb: Verb, data: bytes) -> None:
        verb.case("a", data)
        done = verb("a")
        assert done.code == 3 and "trace.bin" in done.error and "next:" in done.error

    def test_idle_of_another_workload(self, verb: Verb) -> None:
        directory = verb.case("a", trace_bytes(SOME))
        done = verb("a", "--idle")
        assert done.code == 2 and "its workload is not micro" in done.error
        (directory / "records.jsonl").unlink()
        assert verb("a", "--idle").code == 3
