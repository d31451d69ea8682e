"""Charts of much: what stands for many cases, and lines over an amount; large figures."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from first_support import case, cells, cost, run_of, told
from markupsafe import escape
from micro_support import write_usual_run
from test_report_support import Overrides, rows_of, validated

from ffslab.report import svg
from ffslab.report.axes import axis_of
from ffslab.report.data import Histogram, Latency, Run, packed_buckets, varying_axes
from ffslab.report.files import case_folders, commands_of
from ffslab.report.first.headline import _changes, _settings
from ffslab.report.first.samples import Cell, Place, Row
from ffslab.report.lines import Axes, Line, lines, names_of
from ffslab.report.page import render
from ffslab.report.plots import Point, curves
from ffslab.report.sections.general import latency_section, time_section
from ffslab.results.criteria import Criterion
from ffslab.results.schema import Figure
from ffslab.workloads.micro.metrics import RESPONSE
from ffslab.workloads.wear.metrics import END, MOVED, OUTSIDE
from loaded_support import load_run

STUDY: Overrides = [("seed", (1,)), ("filesystem", ("jffs2", "yaffs2"))]
SIZE = "workload.request_bytes"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_usual_run(tmp_path_factory.mktemp("many") / "r", overrides=STUDY)


def row(places: list[Place], **values: list[float]) -> Row:
    """A row with the values of each configuration at the places."""
    cells = {
        label: {number: Cell({"1": value}) for number, value in enumerate(own)}
        for label, own in values.items()
    }
    return Row("a write", RESPONSE, "time", True, tuple(places), cells, tuple(places))


def test_names_at_the_ends_of_curves_are_apart() -> None:
    """Three ends within a pixel and one far below: names have 12 of 300 pixels each."""
    ends = {"a": 1e6, "b": 1.001e6, "c": 1.002e6, "d": 1e3}
    points = [Point(k, "jffs2", v * x, x=x) for k, v in ends.items() for x in (1.0, 16.0)]
    (chart,) = validated(curves(points, RESPONSE, axis_of("n", (1.0, 16.0)), "t", "i")).values()
    rows = chart["data"]["rows"]
    at = dict(zip(rows["label"], rows["end"], strict=True))
    placed = sorted((end for end in rows["end"] if end is not None), reverse=True)
    assert len(placed) == 4 and at["c"] == placed[0]
    assert all(one / other > 1.2 for one, other in pairwise(placed))
    assert all(end is None for end, x in zip(rows["end"], rows["x"], strict=True) if x == 1)


def test_only_settings_are_said_to_cost_something() -> None:
    """Neither a part of a study, nor an axis of more than four numbers; numbers have units."""
    names = ("part", "workload.pause_us", SIZE)
    texts = [
        ("a", "0", "1"),
        ("b", "0", "2"),
        ("b", "2000", "2"),
        *(("b", "0", str(n)) for n in "345"),
    ]
    places: list[Place] = [tuple(zip(names, text, strict=True)) for text in texts]
    found = row(places, one=[9.0, 6.0, 2.0, 1.0, 1.0, 1.0])
    assert list(_settings(found)) == ["workload.pause_us"]
    (most,) = _changes(found, {"one": "L"})
    assert most.words == "sleep between requests 0\u00a0ms against 2\u00a0ms costs L 3.0×"
    late = Cell({"1": 6.0}, in_memory=True)
    found = replace(found, cells={"one": {**found.cells["one"], 1: late}})
    assert not _changes(found, {"one": "L"})


def test_latency_and_time_of_many_places_are_of_one(folder: Path) -> None:
    run = load_run(folder)

    def changed(case: Any) -> Any:
        longest = 10**6 if "randomwrite-request8kib" in case.id else 10**4
        told = (10, 10**4, 10**3, longest)
        parts = dict.fromkeys(("flash, reads", "outside the flash"), 1000000000.0)
        parts["flash, reads"] *= 5 if "sequentialread-request2kib" in case.id else 1
        return replace(
            case,
            latencies=(Latency("measure", "write", *told),),
            histograms={"write": Histogram(*told, packed_buckets([(100, 10)]))},
            parts=parts,
        )

    run = replace(run, cases=tuple(map(changed, run.cases)))
    (chart,) = latency_section(run).charts
    assert "pattern random-write, request size 8\u00a0KiB" in chart.meaning
    assert {row["label"] for row in rows_of(chart.drawing)} == {"JFFS2", "YAFFS2"}
    (chart,) = time_section(run).charts
    assert "pattern sequential-read, request size 2\u00a0KiB" in chart.meaning


def test_cases_share_a_command_and_lead_to_their_files(folder: Path) -> None:
    run: Run = load_run(folder)
    (command,) = commands_of(run.cases)
    assert command.endswith(" --case CASE")
    assert command.replace("CASE", run.cases[3].id) == run.cases[3].command
    assert case_folders(folder, folder / "report.html") == "cases"
    assert case_folders(folder, folder.parent / "x.html") == "r/cases"
    page = render(folder)
    assert f'<a href="cases/{run.cases[3].id}/">' in page and escape(command) in page


def test_an_axis_varies_if_it_has_two_values_besides_none(folder: Path) -> None:
    run = load_run(folder)
    assert run.varying == varying_axes(run.cases) == ("filesystem", "workload.pattern", SIZE)


# Lines over an amount, and figures that are large, or none, on the first screen.

AXES = Axes("written (GB)", "erases", 50.0)


def life(gigabytes: float) -> Criterion:
    return Criterion(Figure(END, "", gigabytes * 1e9), "the end", "life", True)


def share(value: float) -> Criterion:
    return Criterion(Figure(MOVED, "", value), "static data moved", "wear", True)


def outside(blocks: int) -> Criterion:
    return Criterion(Figure(OUTSIDE, "", blocks), "blocks outside", "wear", True)


def test_names_of_lines_that_end_alike_are_kept_apart_and_within() -> None:
    drawn = [Line(name, name, [(0, 0), (5, 100)], "a") for name in ("jffs2", "ubifs", "yaffs2")]
    drawn.append(Line("jffs2", "jffs2", [(0, 0), (5, 3)], "b"))
    page = lines(drawn, AXES, "title", "it")
    named = [(row["facet"], row["y"]) for row in rows_of(page) if row["kind"] == "name"]
    heights = sorted(y for facet, y in named if facet == "a")
    # 105 is the top; names are 9 % of that from each other.
    assert heights[2] <= 105 and min(heights[1] - heights[0], heights[2] - heights[1]) > 9.4
    assert [y for facet, y in named if facet == "b"] == [3]
    assert "data-wide" in page and "data-wide" not in lines(drawn[:0], AXES, "title", "it")


def test_a_line_without_points_is_no_chart() -> None:
    assert lines([Line("jffs2", "jffs2", [])], AXES, "title", "it") == ""


def test_a_case_is_named_by_its_configuration_and_its_place() -> None:
    cases = [case("jffs2", state=state) for state in ("free", "aged")]
    run, _ = run_of([(each, []) for each in [*cases, case("ubifs")]])
    assert list(names_of(run).values()) == [
        ("JFFS2", "state free"),
        ("JFFS2", "state aged"),
        ("UBIFS", "state free"),
    ]


def test_who_lasts_longest_is_told_of_lives_of_any_size() -> None:
    """Bytes of a life are 10^10 and more; what is compared is their inverse."""
    first = told([(case("jffs2"), [life(10.3)]), (case("ubifs"), [life(7.9)])])
    assert first.headline == "JFFS2 lasts longest with 10.3 GB, then UBIFS with 7.90 GB."
    assert cells(first)["JFFS2"].best and not cells(first)["UBIFS"].best


def test_what_nobody_has_decides_nothing() -> None:
    """Both are headlines, so that both are columns; the one in which all are 0 is no contest."""
    measured = [
        (case("jffs2"), [share(0.25), outside(0), cost("pages_programmed", 3)]),
        (case("ubifs"), [share(0.03), outside(0), cost("pages_programmed", 2)]),
    ]
    first = told(measured)
    assert first.headline == (
        "Static data moved: JFFS2 is best with 25.0 %, then UBIFS with 3.00 %; UBIFS wears least."
    )
    assert [column.head for column in first.board.columns] == ["data moved", "outside", "pages"]
    assert not any(cell.best or cell.heat for cell in cells(first, 1).values())


def test_a_chart_says_whether_it_needs_the_room_of_two() -> None:
    def is_wide(**spec: object) -> bool:
        return "data-wide" in svg.draw({"mark": "bar", **spec}, "t", "it", {"rows": []})

    assert is_wide(width=400) and is_wide(facet={}, columns=2)
    assert not is_wide(width=230) and not is_wide(width={"step": 20}) and not is_wide()
