"""What a report says of micro-benchmarks: their requests in order, causes, removal, parts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from micro_support import write_usual_run
from result_support import stub
from test_report_support import Overrides, by_key

from ffslab.report.axes import axis_of
from ffslab.report.data import Group, Run
from ffslab.report.page import render
from ffslab.report.plots import Point
from ffslab.report.sections.section import Section
from ffslab.results.outcome import Outcome
from ffslab.workloads.micro.report.figures import Between, Slow, _stream, figures_of
from ffslab.workloads.micro.report.page import _between_point, sections
from ffslab.workloads.micro.report.parts import _means, _sentence
from ffslab.workloads.micro.report.requests import Course, course_of
from ffslab.workloads.micro.requests import thinned
from ffslab.workloads.micro.stored import StreamResult
from loaded_support import load_run

ONE: Overrides = [("seed", (1,)), ("filesystem", ("jffs2", "ubifs", "yaffs2"))]
FEW: Overrides = [*ONE, ("workload.request_bytes", ("2 KiB", "32 KiB", "512 KiB"))]
WORK = {"pages_read": 1, "pages_programmed": 2_000, "blocks_erased": 3, "oob_pages": 5}


def shown(run: Run) -> dict[str, Section]:
    return by_key(sections(run, ""))


@pytest.fixture(scope="module")
def saturated(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return load_run(write_usual_run(tmp_path_factory.mktemp("m") / "r", overrides=FEW))


def test_a_stream_is_read() -> None:
    times = {"count": 11, "mean_ns": 12.5, "p50_ns": 13, "max_ns": 14}
    slow = {"latency_ns": 21, "cause": "erase", "tasks": [{"name": "t", **WORK}]}
    slow["tasks"] += [{"name": "idle", **dict.fromkeys(WORK, 0)}]
    entry = stub(StreamResult, op="read", startup_count=9, all=times, slowest=[slow, {}])
    entry["startup"], entry["running"] = {"mean_ns": 31.5}, {"mean_ns": 32.5}
    entry["tasks"] = [
        {"name": "agent", "when": "request", "busy_ns": 41, **WORK},
        {"name": "kworker/u2:1", "when": "after", "busy_ns": 42, **WORK},
    ]
    found = _stream(entry)
    assert found is not None
    assert (found.op, found.count, found.startup_count, found.mean_ns) == ("read", 11, 9, 12.5)
    assert (found.p50_ns, found.max_ns, found.busy_ns) == (13, 14, 83)
    assert (found.startup_ns, found.running_ns) == (31.5, 32.5)
    assert found.between == (Between("kworker", 1, 2_000, 3, 42),)
    assert found.slowest == Slow(21, "erase", "t: 1 read, 2,000 programmed, 3 erased")
    assert _stream({**entry, "all": None}) is None


def test_erases_are_told_by_phase() -> None:
    phases = [{"phase": name, "blocks_erased": n} for n, name in enumerate(("x", "invalidate"))]
    row = {"phases": [*phases, {"phase": "flush"}]}
    row["spec"] = {"workload": {"pattern": "random-write", "mix_pattern": ""}}
    assert figures_of(row).erased == {"removal": 1, "flush": 0}  # type: ignore[arg-type]


def test_thinning_keeps_the_slowest_and_is_bounded() -> None:
    latency = [1000 + n % 7 for n in range(10_240)]
    latency[5003] = 90_000
    kept = tuple(thinned(latency, 500))
    assert len(kept) <= 500 and (5003, 90_000) in kept
    assert [number for number, _ in kept] == sorted({number for number, _ in kept})
    assert tuple(thinned([3, 1, 2], 500)) == ((0, 3), (1, 1), (2, 2))


def test_requests_in_order_are_of_one_place(saturated: Run) -> None:
    section = shown(saturated)["requests"]
    configurations = ["JFFS2", "UBIFS · write-back", "UBIFS · sync", "YAFFS2"]
    assert [chart.title for chart in section.charts] == configurations
    assert "pattern random-write" in section.note and "request size 2\u00a0KiB" in section.note
    case = next(case for case in saturated.cases if "randomwrite-request2kib" in case.id)
    course = course_of(saturated.path, case.id)
    assert course is not None and course.count == case.own.requests
    assert course.erases == (0, 16, 32)
    # 300 µs, 10 % more for each of seven requests in turn: (35 × 1.3 + 6.0) ÷ 40 in the mean.
    (table,) = section.tables
    told = ("JFFS2", "40", "0", "–", "386\u00a0µs", "480\u00a0µs")
    assert table.rows[0] == told


@pytest.mark.parametrize(
    ("erases", "said"),
    [
        (
            [(7, 9), (3,), (9,), (8,)],
            "**UBIFS · write-back** erases first, at request 3; UBIFS · sync",
        ),
        ([(7,), (), (), (8,)], "at request 7; in the requests of 2 of 4 none is erased."),
        ([(), (), (), ()], "No request erased a block."),
    ],
)
def test_who_erases_first(
    saturated: Run, monkeypatch: pytest.MonkeyPatch, erases: list[tuple[int, ...]], said: str
) -> None:
    courses = iter([Course(10, ((0, 1_000),), own) for own in erases])
    made: Callable[..., Course] = lambda *_: next(courses)  # noqa: E731
    monkeypatch.setattr("ffslab.workloads.micro.report.requests.course_of", made)
    assert said in shown(saturated)["requests"].sentence


def test_records_that_were_removed_are_said_to_be_missing(tmp_path: Path) -> None:
    folder = write_usual_run(tmp_path / "r", overrides=FEW)
    for path in folder.glob("cases/*/records.jsonl"):
        path.unlink()
    section = shown(load_run(folder))["requests"]
    assert not section.charts and "cases/" in section.note and "records.jsonl" in section.note


def test_what_the_removal_erases(saturated: Run) -> None:
    def changed(case: Any, removal: int) -> Any:
        erased = {"removal": removal, "requests": 100, "flush": 0}
        return replace(case, own=replace(case.own, erased=erased))

    def told(most: int) -> str:
        cases = (changed(c, most if c.filesystem == "yaffs2" else 1) for c in saturated.cases)
        section = shown(replace(saturated, cases=tuple(cases)))["removal"]
        assert len(section.tables[0].rows) == 4
        return section.sentence

    assert "removal" not in shown(saturated)
    found = "**YAFFS2** erases 300 blocks then, 75 % of all that it erases: its requests find them"
    assert told(300).startswith(found)
    assert told(2).endswith("2 % of all that it erases.")


def test_causes_are_drawn_against_the_median(saturated: Run) -> None:
    case, *others = saturated.cases
    stream = replace(case.own.streams[0], p50_ns=10, slowest=Slow(730, "erase", "t: 5 erased"))
    case = replace(case, own=replace(case.own, streams=(stream,)))
    section = shown(replace(saturated, cases=(case, *others)))["causes"]
    assert "73.0 times, is a request of **JFFS2**: erase." in section.sentence
    rows = {row[:2]: row[2:5] for row in section.tables[0].rows}
    assert rows["erase", "JFFS2"] == ("1", "73.0", "730\u00a0ns, t: 5 erased")


def test_work_between_requests(tmp_path: Path) -> None:
    """40 of 100 ns of the work come after a request."""
    folder = write_usual_run(tmp_path / "r", "micro-interarrival", FEW)
    run = load_run(folder)
    first = run.cases[0]
    task = Between("t", 0, 0, 0, 40)
    stream = replace(first.own.streams[0], busy_ns=100, between=(task,))
    case = replace(first, own=replace(first.own, streams=(stream,)))
    found = _between_point("l", "10", [case])
    assert (found.value, found.x) == (40, 10)
    section = shown(run)["between"]
    assert {row[2] for row in section.tables[0].rows} == {"gc-thread"}
    assert {row[1] for row in section.tables[0].rows} == {"0", "10", "100", "1000"}


def test_each_part_with_an_axis_of_its_own_is_a_section(tmp_path: Path) -> None:
    run = load_run(
        write_usual_run(tmp_path / "r", "micro-uflip", [ONE[0], ("filesystem", ("jffs2",))])
    )
    parts = [section for section in sections(run, "p-") if section.key.startswith("part-")]
    names = ["Granularity", "Alignment", "Locality", "Partitioning", "Order", "Parallelism"]
    assert [section.title.partition(":")[0] for section in parts] == [
        *names, "Mix", "Pause", "Bursts",
    ]  # fmt: skip
    assert parts[0].title == "Granularity: size of the requests"
    assert "random-write beside sequential-write" in parts[6].charts[0].drawing
    for section in parts:
        assert section.charts[0].drawing and len(section.sentence.split()) <= 30


def test_parts_with_the_same_axis_are_no_sections_of_their_own(saturated: Run) -> None:
    assert not [key for key in shown(saturated) if key.startswith("part-")]


def test_means_are_over_all_requests_of_all_seeds(saturated: Run) -> None:
    """(2 × 10 + 6 × 30 + 2 × 70) ÷ 10; of a mix one side is the first stream."""
    case = saturated.cases[0]
    streams = tuple(
        replace(case.own.streams[0], count=count, mean_ns=mean)
        for count, mean in ((2, 10.0), (6, 30.0), (2, 70.0))
    )
    own = replace(case.own, pattern="a", streams=streams)
    none = replace(own, streams=())
    for figures, means in (
        (own, {"a": 34.0}),
        (replace(own, mix_pattern="b"), {"a beside b": 10.0, "b beside a": 40.0}),
        (none, {}),
        (replace(none, mix_pattern="b"), {}),
    ):
        cases = tuple(replace(case, own=each) for each in (figures, none))
        assert _means(Group({}, cases)) == means


def test_a_part_tells_the_largest_change_against_its_base() -> None:
    """A distance is compared with 1, not with the smallest, which is backwards."""
    values = {-1.0: 100.0, 1.0: 200.0, 4.0: 600.0}
    points = [Point("L", "jffs2", value, x=x, facet="f") for x, value in values.items()]
    axis = axis_of("workload.increment", tuple(values))
    assert "at distance between requests 4: 3.00 times slower than at 1." in _sentence(points, axis)
    assert _sentence(points[:1], axis) == ""


def test_a_single_case_and_no_case_give_a_report(tmp_path: Path) -> None:
    one: Overrides = [
        *(("seed", (1,)), ("filesystem", ("jffs2",)), ("workload.pattern", ("random-write",))),
        ("workload.request_bytes", ("2 KiB",)),
    ]
    folder = write_usual_run(tmp_path / "one", overrides=one)
    assert "Where does garbage collection begin?" in render(folder)
    ids = [json.loads(line)["id"] for line in (folder / "results.jsonl").read_text().splitlines()]
    outcomes = {case_id: Outcome("crash", "kernel panic") for case_id in ids}
    failed = write_usual_run(tmp_path / "none", overrides=one, outcomes=outcomes)
    assert "kernel panic" in render(failed)
