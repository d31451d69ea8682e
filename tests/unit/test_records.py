"""Records are typed when they are read; what is no record, or has not its shape, is damage."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ffslab.protocol import records
from ffslab.protocol.record_values import memory_bytes
from ffslab.protocol.records import (
    End,
    Latency,
    Mtd,
    Phase,
    Prepared,
    RecordStream,
    Snapshot,
    Space,
    Step,
    TaskTotals,
    parse_records,
    read_records,
)

LARGEST = 2**63 - 1
PHASE = {
    "type": "phase",
    "workload": "micro",
    "phase": "measure",
    "t_start_ns": 5,
    "t_end_ns": 9,
    "status": "error",
    "errno_name": "EIO",
    "message": "why",
    "files_created": 1,
    "files_deleted": 2,
    "files_read": 3,
    "files_appended": 4,
    "bytes_read": 5,
    "bytes_written": 6,
    "flash_start": {"pages_read": 1},
    "flash_end": {"pages_read": 8},
}
STEP = {
    "type": "step",
    "index": 3,
    "verb": "mount",
    "label": "again",
    "status": "error",
    "t_start_ns": 10,
    "t_end_ns": 25,
    "errno_name": "EUCLEAN",
    "message": "bad",
    "may_fail": 1,
    "may_fill": 1,
}
LATENCY = {
    "type": "latency",
    "workload": "micro",
    "phase": "measure",
    "op": "write",
    "count": 3,
    "sum_ns": 30,
    "min_ns": 9,
    "max_ns": 11,
    "buckets": [[9, 1], [10, 2]],
}
FLASH = {
    "type": "flash",
    "label": "measure:start",
    "t_ns": 7,
    "counters": {"pages_read": 2},
    "erases": [1, 2],
    "programs": [3, 4],
    "reads": [5, 6],
}
SPACE = {
    "type": "space",
    "label": "mount",
    "total_bytes": 1,
    "free_bytes": 2,
    "files": 4,
    "available_bytes": 3,
    "files_free": 5,
    "page_cache_bytes": 6,
    "mem_free_bytes": 7,
}
MTD = {
    "type": "mtd",
    "name": "data",
    "size_bytes": 1,
    "erase_block_bytes": 2,
    "page_bytes": 3,
    "subpage_bytes": 4,
    "oob_bytes": 5,
    "blocks": 6,
    "bad_blocks": 7,
}
PREPARED = {
    "type": "prepared",
    "state": "aged",
    "valid_bytes": 1,
    "invalid_bytes": 2,
    "invalid_present": 3,
    "file_bytes": 4,
    "capacity_bytes": 5,
}
TASK = {
    "name": "a",
    "pages_read": 1,
    "pages_programmed": 2,
    "blocks_erased": 3,
    "busy_ns": 4,
    "oob_pages": 5,
}
TASK_TIME = {"name": "init", "code_ns": 1, "driver_ns": 0, "chip_ns": 2**63 - 1}
TASKS = {"type": "tasks", "workload": "tree", "phase": "mount", "tasks": [TASK]}
COUNTS = {
    "files_created": 1,
    "files_deleted": 2,
    "files_read": 3,
    "files_appended": 4,
    "bytes_read": 5,
    "bytes_written": 6,
}
MICRO = {
    "type": "micro",
    "pattern": "random-write",
    "cache": "buffered",
    "file_bytes": 1,
    "volume_bytes": 2,
    "requests": 3,
    "requests_done": 4,
    "stopped": "",
    "streams": 5,
    "dropped_rows": 6,
}
WRITTEN = {
    "type": "written",
    "path": "image",
    "image_bytes": 1,
    "pages": 2,
    "blocks": 3,
    "bad_blocks_skipped": 4,
}
END = {"type": "end", "status": "ok", "steps_run": 1, "steps_total": 1, "t_ns": 99}


def line(record: Mapping[str, Any]) -> bytes:
    return json.dumps({"v": 1, **record}).encode() + b"\n"


def stream_of(*records: Mapping[str, Any]) -> RecordStream:
    stream = parse_records(b"".join(map(line, records)))
    assert not stream.damage and not stream.cut
    return stream


def typed(kind: type[Any], *values: object) -> dict[str, object]:
    """An object of that type, its values in the order of its keys."""
    return dict(zip(kind.__annotations__, values, strict=True))


def test_each_record_is_a_value_of_its_type() -> None:
    stream = stream_of(MTD, SPACE, FLASH, PREPARED, PHASE, LATENCY, TASKS, STEP, SPACE, END)
    phase = Phase(
        workload="micro",
        name="measure",
        t_start_ns=5,
        t_end_ns=9,
        status="error",
        errno_name="EIO",
        message="why",
        counts=COUNTS,
        flash_start={"pages_read": 1},
        flash_end={"pages_read": 8},
    )
    assert stream.phases == (phase,)
    assert phase.failed
    (step,) = stream.steps
    assert step == Step(
        index=3,
        verb="mount",
        label="again",
        t_start_ns=10,
        t_end_ns=25,
        status="error",
        errno_name="EUCLEAN",
        message="bad",
        may_fail=True,
        may_fill=True,
        phases=(phase,),
    )
    assert (step.failed, step.duration_ns) == (True, 15)
    buckets = ((9, 1), (10, 2))
    assert stream.latencies == (Latency("measure", "write", 3, 30, 9, 11, buckets),)
    counts: tuple[object, ...] = ({"pages_read": 2}, [1, 2], [3, 4], [5, 6])
    snapshot = typed(Snapshot, "measure:start", 7, *counts)
    assert stream.snapshots == (snapshot,)
    assert stream.spaces == (typed(Space, "mount", 1, 2, 3, 4, 5, 6, 7),) * 2
    assert stream.mtd == typed(Mtd, "data", 1, 2, 3, 4, 5, 6, 7)
    assert stream.prepared == typed(Prepared, "aged", 1, 2, 3, 4, 5)
    assert stream.task_totals == (TaskTotals("tree", "mount", (TASK,)),)
    assert stream.end == End("ok", "", 99)
    assert stream.end.is_good


def test_a_guest_that_did_not_get_that_far_has_none() -> None:
    stream = stream_of()
    assert (stream.mtd, stream.prepared, stream.end) == (None, None, None)
    assert stream.steps == stream.phases == stream.latencies == stream.spaces == ()


def test_what_a_record_may_leave_out() -> None:
    bare = {"type": "phase", "workload": "w", "phase": "p", "status": "ok"}
    (phase,) = stream_of({**bare, "t_start_ns": 0, "t_end_ns": LARGEST}).phases
    assert (phase.errno_name, phase.message, phase.failed) == ("", "", False)
    assert set(phase.counts.values()) == {0} and phase.flash_start == phase.flash_end == {}
    step = {"type": "step", "index": 0, "verb": "v", "status": "ok", "t_start_ns": 1}
    (one,) = stream_of({**step, "t_end_ns": 1}).steps
    told = (one.label, one.errno_name, one.message, one.may_fail, one.may_fill, one.failed)
    assert told == ("", "", "", False, False, False)
    bad = stream_of({**END, "status": "error", "message": "no"}).end
    assert bad == End("error", "no", 99) and not bad.is_good


def test_phases_belong_to_the_step_behind_them() -> None:
    def phase(name: str) -> dict[str, Any]:
        return {**PHASE, "phase": name}

    stream = stream_of(phase("a"), phase("b"), STEP, {**STEP, "index": 4}, phase("c"))
    assert [[one.name for one in step.phases] for step in stream.steps] == [["a", "b"], []]
    assert [one.name for one in stream.open_phases] == ["c"]
    assert [one.name for one in stream.phases] == ["a", "b", "c"]


def test_a_typed_record_stands_in_a_result_as_it_was_read() -> None:
    stream = stream_of(MTD, SPACE, FLASH, PREPARED)
    assert stream.mtd and stream.prepared
    pairs = (
        (stream.mtd, MTD),
        (stream.spaces[0], SPACE),
        (stream.snapshots[0], FLASH),
        (stream.prepared, PREPARED),
    )
    for one, record in pairs:
        assert {"type": record["type"], **one} == record


@pytest.mark.parametrize(
    "record",
    [PHASE, STEP, LATENCY, FLASH, SPACE, MTD, PREPARED, TASKS, END],
    ids=lambda r: r["type"],
)
def test_a_record_without_what_it_needs_is_damage(record: Mapping[str, Any]) -> None:
    optional = {"type", "label", "errno_name", "message", "may_fail", "may_fill", "flash_start"}
    optional |= {"flash_end", *COUNTS}
    if record["type"] in ("flash", "space"):
        optional.remove("label")
    for key in record.keys() - optional:
        rest = {name: value for name, value in record.items() if name != key}
        stream = parse_records(line(END) + line(rest))
        assert stream.damage == (f"line 2: a {record['type']} record without {key!r}",)
        assert len(stream.records) == 1


@pytest.mark.parametrize(
    ("record", "key"),
    [
        *((STEP, key) for key in ("index", "t_start_ns", "t_end_ns")),
        *((PHASE, key) for key in ("t_start_ns", "t_end_ns")),
        *((LATENCY, key) for key in ("count", "sum_ns", "min_ns", "max_ns")),
        *((SPACE, key) for key in SPACE if key.endswith("_bytes")),
        *((MTD, key) for key in MTD if key not in ("type", "name")),
        *((PREPARED, key) for key in PREPARED if key not in ("type", "state")),
        (FLASH, "t_ns"),
        (END, "t_ns"),
        *((PHASE, key) for key in COUNTS),
        *((MICRO, key) for key in MICRO if key.endswith("bytes") or key.startswith("requests")),
        *((MICRO, key) for key in ("streams", "dropped_rows")),
        *((WRITTEN, key) for key in ("image_bytes", "pages", "blocks", "bad_blocks_skipped")),
    ],
)
def test_a_number_that_is_none_is_damage(record: Mapping[str, Any], key: str) -> None:
    for wrong in (-1, LARGEST + 1, True, 1.0, "1", None):
        stream = parse_records(line({**record, key: wrong}))
        told = f"line 1: a {record['type']} record whose {key} is {wrong!r}"
        assert stream.damage == (told,) and not stream.records
    for right in (0, LARGEST):
        stream_of({**record, key: right})


def test_the_slowest_requests_come_first() -> None:
    slowest = [[5, 10], [9, 20], [1, 20], [7, 15]]
    stream = stream_of(MTD, {**PHASE, "phase": "measure"}, {**LATENCY, "slowest": slowest})
    (latency,) = stream.latencies
    assert latency.slowest == ((1, 20), (9, 20), (7, 15), (5, 10))


@pytest.mark.parametrize(
    ("record", "key", "shape", "wrong"),
    [
        (LATENCY, "buckets", "list of pairs of numbers", ({}, [1], [[1]], [[1, 2, 3]], [[1, -1]])),
        (LATENCY, "slowest", "list of pairs of numbers", ({}, [1], [[1]], [[1, 2, 3]], [[1, -1]])),
        (FLASH, "counters", "object of numbers", ([], {"a": "1"}, {"a": -1})),
        (FLASH, "erases", "list of numbers", ({}, [0.5], ["1"], 3)),
        (FLASH, "programs", "list of numbers", ({}, [True])),
        (FLASH, "reads", "list of numbers", ({}, [None])),
        (TASKS, "tasks", "list of tasks with their counts", ({}, [1], [[]], [{}])),
        (PHASE, "task_times", "list of tasks with their times", ({}, 1, [{}], [TASK_TIME, {}])),
        *(
            (PHASE, "task_times", "list of tasks with their times", ([{**TASK_TIME, key: -1}],))
            for key in TASK_TIME
        ),
        *(
            (TASKS, "tasks", "list of tasks with their counts", ([{**TASK, key: None}],))
            for key in TASK
        ),
        (TASKS, "tasks", "list of tasks with their counts", ([TASK, {**TASK, "busy_ns": True}],)),
        (PHASE, "flash_start", "object of numbers", ([1], "x", {"a": "1"}, {"a": -1})),
        (PHASE, "flash_end", "object of numbers", ([1], {"a": None})),
        (SPACE, "files", "number of files", (-1, 2**64, 1.0, True)),
        (SPACE, "files_free", "number of files", ("1",)),
    ],
)
def test_what_has_not_its_shape_is_damage(
    record: Mapping[str, Any], key: str, shape: str, wrong: tuple[Any, ...]
) -> None:
    for value in wrong:
        stream = parse_records(line({**record, key: value}))
        assert stream.damage == (f"line 1: a {record['type']} record whose {key} is no {shape}",)
    empty = {"list": [], "object": {}, "number": 0}[shape.split()[0]]
    stream_of({**record, key: empty})


def test_a_file_system_may_not_know_how_many_files_there_can_be() -> None:
    """EROFS says 2^64 − 1."""
    (space,) = stream_of({**SPACE, "files": 2**64 - 1, "files_free": 2**64 - 1}).spaces
    assert (space["files"], space["files_free"]) == (2**64 - 1, 2**64 - 1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"[]\n", "not a JSON object"),
        (b'{"v":2,"type":"end"}\n', "version 2, not 1"),
        (b'{"v":1,"type":7}\n', "no type"),
        (b"\0\0 \n", "3 blank or zero bytes"),
        (b"{\n", "not JSON"),
        (b"[" * 100_000 + b"\n", "not JSON"),
    ],
)
def test_a_line_that_is_no_record_is_damage(text: bytes, why: str) -> None:
    stream = parse_records(line(END) + text)
    (told,) = stream.damage
    assert told.startswith("line 2: ") and why in told
    assert stream.end is not None


def test_a_last_line_without_its_end_is_cut_and_no_damage() -> None:
    whole = line(END)
    for length in range(1, len(whole) - 1):
        stream = parse_records(line(SPACE) + whole[:length])
        assert (stream.cut, stream.damage, len(stream.records)) == (True, (), 1)
    assert parse_records(line(SPACE)).cut is False
    both = parse_records(b"{\n" + whole[:5])
    assert both.cut and [told[:7] for told in both.damage] == ["line 1:"]


START = {"type": "start", "agent": "1", "kernel": "6.1", "clock": "monotonic", "seed": 1}
LATER = {**STEP, "index": 4}


@pytest.mark.parametrize(
    ("records", "number", "why"),
    [
        ((PHASE, STEP, PHASE), 3, "a second phase micro measure"),
        ((PHASE, {**PHASE, "t_start_ns": 6}, STEP), 2, "a second phase micro measure"),
        ((FLASH, {**FLASH, "t_ns": 99}), 2, f"a second flash {FLASH['label']}"),
        ((START, STEP, START), 3, "a second start"),
        ((MTD, MTD), 2, "a second mtd"),
        ((PREPARED, PREPARED), 2, "a second prepared"),
        ((STEP, STEP), 2, "step 3 behind step 3"),
        ((LATER, STEP), 2, "step 3 behind step 4"),
        ((END, {**END, "t_ns": 100}), 2, "end record behind the end"),
        ((PHASE, END, LATENCY), 3, "latency record behind the end"),
        ((END, {"type": "no such"}), 2, "no such record behind the end"),
    ],
)
def test_what_the_agent_does_not_say_again_or_later_is_damage(
    records: tuple[Mapping[str, Any], ...], number: int, why: str
) -> None:
    """Somebody else wrote it; it is not among the records, and what came first is."""
    stream = parse_records(b"".join(map(line, records)))
    assert stream.damage == (f"line {number}: {why}",)
    kept = [dict(record) for at, record in enumerate(records, start=1) if at != number]
    assert [{key: one[key] for key in one if key != "v"} for one in stream.records] == kept


@pytest.mark.parametrize("verb", ["exec", "shell"])
def test_while_a_program_runs_the_agent_says_nothing(verb: str) -> None:
    """So what came meanwhile is the program's, and no record."""
    program = {**LATER, "verb": verb}
    told = f"a program ran in step {program['index']}, and wrote records"
    others = [{**PHASE, "phase": name} for name in "abc"]
    for before in ([START], [START, others[2], STEP]):
        honest = b"".join(map(line, [*before, program, END]))
        assert not parse_records(honest).damage
        forged = b"".join(map(line, [*before, *others[:2], program, END]))
        stream = parse_records(forged)
        assert stream.damage == (f"line {len(before) + 3}: {told}",)
        assert stream.records == parse_records(honest).records


def test_what_the_agent_says_of_other_things_is_no_repetition() -> None:
    others = (
        *({**PHASE, "phase": "a"}, {**PHASE, "workload": "tree"}),
        *({**STEP, "index": 0}, PHASE, LATENCY, LATENCY, SPACE, SPACE, TASKS, TASKS, STEP, LATER),
        *(FLASH, {**FLASH, "label": "another"}, END),
    )
    assert len(stream_of(*others).records) == len(others)


class Counted(io.BytesIO):
    """A file that knows how much was asked for at once, and how much was read."""

    most = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        assert size is not None and size > 0
        self.most = max(self.most, size)
        return super().readline(size)

    def read(self, size: int | None = -1, /) -> bytes:
        raise AssertionError(size)


def test_a_line_without_end_is_not_read_to_its_end() -> None:
    file = Counted(line(STEP) + (2**24 + 2**20) * b"x")
    stream = parse_records(file)
    assert stream.damage == ("line 2: more than 16,777,216 bytes",)
    assert (len(stream.records), file.most) == (1, 2**24)
    assert file.tell() == len(line(STEP)) + 2**24


@pytest.mark.parametrize("text", [b"x\n", line(PHASE)])
def test_much_damage_ends_the_reading(text: bytes) -> None:
    file = Counted(100_000 * text)
    stream = parse_records(file)
    assert len(stream.damage) == 101 and stream.damage[-1].endswith("what follows was not read")
    assert len(stream.records) <= 1 and file.tell() <= 101 * len(text)


@pytest.mark.parametrize(
    "text", ["{}", "[]", "[[7,7],[7,7]]", "[1000,1000,1000]", '"a"', '"\\u00e4\\u00e4\\u00e4"']
)
def test_more_than_any_plan_makes_ends_the_reading(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Counted by what it takes in memory, which for some lines is very much more."""
    one = b'{"v":1,"type":"other","x":[' + b",".join([text.encode()] * 5000) + b"]}\n"
    monkeypatch.setattr(records, "_MOST_BYTES", 2**22)
    file = Counted(1000 * one)
    tracemalloc.start()
    try:
        stream = parse_records(file)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    read = len(stream.records) + 1
    assert stream.damage == (f"line {read}: too much", f"line {read}: what follows was not read")
    assert 2 <= read < 100 and file.tell() == read * len(one)
    assert taken < 2**22


def test_what_a_line_takes_in_memory() -> None:
    """A dict of one key takes 232 bytes, a list with its place 64, a short text as much."""
    assert memory_bytes(b"{}") == 2 + 232
    assert memory_bytes(b"[]") == 2 + 64
    assert memory_bytes(b"[1,1]") == 5 + 64 + 64


def test_a_million_requests_are_read() -> None:
    numbers = ",".join(str(7_000_000_000 + 1000 * n) for n in range(1000))
    one = '{"v":1,"type":"other","offset":[%s],"t_start_ns":[%s],"latency_ns":[%s]}\n' % (
        (numbers,) * 3
    )
    assert 1000 * memory_bytes(one.encode()) < records._MOST_BYTES / 4


def test_a_file_is_read_as_its_bytes_are(tmp_path: Path) -> None:
    data = line(PHASE) + b"x\n" + line(STEP)[:-1]
    (tmp_path / "r").write_bytes(data)
    assert read_records(tmp_path / "r") == parse_records(data) != parse_records(b"")
    with pytest.raises(FileNotFoundError):
        read_records(tmp_path / "none")
