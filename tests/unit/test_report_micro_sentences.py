"""Axes, curves and sentences of the micro-benchmarks' report against effects that are known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_report_micro_support import Effects, Overrides, write_micro_run

from ffslab.report import svg
from ffslab.report.axes import axis_of
from ffslab.report.curves import linear_quantity, log_ticks, ratio_quantity
from ffslab.report.standings import CUT
from ffslab.workloads.micro.report import sentences, tables
from ffslab.workloads.micro.report.charts import styles_for
from ffslab.workloads.micro.report.data import MicroRun, Response, merged
from ffslab.workloads.micro.report.figures import chosen, figures
from ffslab.workloads.micro.report.requests import MOST_DOTS, choose, course_of, thin
from ffslab.workloads.micro.report.series import curves, labels_of, response_ns, sections
from loaded_support import load_micro

SIZES: Overrides = [
    ("filesystem", ("jffs2", "ubifs", "yaffs2")),
    ("workload.request_bytes", ("2 KiB", "32 KiB")),
]
KIB = 2**10


@pytest.fixture(scope="module")
def fill(tmp_path_factory: pytest.TempPathFactory) -> MicroRun:
    folder = tmp_path_factory.mktemp("findings") / "fill"
    return load_micro(write_micro_run(folder, "micro-fill", SIZES, Effects(seed_step=0.0)))


def test_a_fill_rate_is_a_numeric_axis_beside_the_request_size(fill: MicroRun) -> None:
    (section,) = sections(fill)
    assert [axis.name for axis in section.axes] == ["workload.request_bytes", "state.rate_percent"]
    assert section.axes[1].values == (30.0, 60.0, 75.0)
    assert section.labels == ("JFFS2", "UBIFS · write-back", "UBIFS · sync", "YAFFS2")
    assert section.panels == ("random-write",)


def test_curves_are_means_over_seeds_with_their_range(tmp_path: Path) -> None:
    few: Overrides = [*SIZES[1:], ("filesystem", ("jffs2",))]
    run = load_micro(write_micro_run(tmp_path / "r", "micro-saturated", few))
    (section,) = sections(run)
    line = curves(section.samples, response_ns)["random-read", "JFFS2"]
    mean = line[2.0 * KIB,]
    assert mean.seeds == 3
    assert mean.low == pytest.approx(0.9e5, rel=0.01)
    assert mean.mean == pytest.approx(1.0e5, rel=0.01)
    assert mean.high == pytest.approx(1.1e5, rel=0.01)


def test_the_fastest_and_how_far_the_others_are_behind(fill: MicroRun) -> None:
    (section,) = sections(fill)
    ranked = sentences.rankings(section)
    assert [ranking.place for ranking in ranked] == ["30\u00a0%", "60\u00a0%", "75\u00a0%"]
    for ranking in ranked:
        found = ranking.standing
        assert found.order == ("UBIFS · write-back", "JFFS2", "YAFFS2", "UBIFS · sync")
        assert found.behind["JFFS2"].high == pytest.approx(2, rel=0.01)
        assert found.behind["UBIFS · sync"].low == pytest.approx(6, rel=0.01)
        assert found.leaders == ("UBIFS · write-back",)


def test_what_waits_for_the_flash_has_a_ranking_of_its_own(fill: MicroRun) -> None:
    (section,) = sections(fill)
    ranking = sentences.rankings(section, on_flash=True)[0]
    assert ranking.standing.order == ("JFFS2", "YAFFS2", "UBIFS · sync")
    said = "Of those that wait for the flash: **JFFS2** is fastest at every request size"
    assert said in sentences.first_sentences(section)[0].text
    table = tables.ranking_table(section)
    assert table is not None
    cells = {row[0]: row[1] for row in table.rows}
    assert cells["UBIFS · write-back"] == "in memory"
    assert cells["JFFS2"] == "×1.00"


FASTER: Overrides = [
    ("filesystem", ("jffs2", "yaffs2")),
    ("workload.pattern", ("random-write",)),
    ("seed", (1,)),
]


def test_who_is_fastest_where_and_where_lines_cross(tmp_path: Path) -> None:
    """JFFS2 is slower up to 16 KiB and faster from 32 KiB on: no mean of that is told."""
    effects = Effects(speed={"jffs2": 2.0, "yaffs2": 1.0}, crossing_kib=32)
    run = load_micro(write_micro_run(tmp_path / "r", "micro-saturated", FASTER, effects))
    (section,) = sections(run)
    (found,) = [
        sentence.text.replace("\u2060", "") for sentence in sentences.first_sentences(section)
    ]
    assert found == "Random-write: fastest: **YAFFS2** at 2–16 KiB; **JFFS2** at 32–512 KiB."
    table = tables.winners_table(section)
    assert table is not None
    assert "YAFFS2 and JFFS2 between 16 and 32" in table.rows[0][-1]
    relative = sentences.relative_curves(section)
    for size in section.axes[0].values:
        pair = [relative["random-write", label][size,].mean for label in section.labels]
        assert min(pair) == 1
        assert max(pair) == pytest.approx(2, rel=0.03)
    assert "÷ that of the fastest" in figures(section, styles_for(run, labels_of(run)))[1].title


def test_what_ended_by_enospc_is_marked_at_the_number(tmp_path: Path) -> None:
    effects = Effects(full_at=("jffs2", 4 * KIB))
    run = load_micro(write_micro_run(tmp_path / "r", "micro-saturated", FASTER, effects))
    (section,) = sections(run)
    for table in (tables.response_table(section), *tables.wear_tables(section)):
        assert table is not None
        marked = [
            (row[0], head)
            for row in table.rows
            for head, cell in zip(table.head, row, strict=True)
            if CUT in cell
        ]
        assert marked == [("JFFS2", "4\u00a0KiB")]
        assert "75.0 %" in table.note
    case = next(row for row in tables.case_table(run).rows if CUT in row[2])
    assert "jffs2" in case[0] and "4kib" in case[0]
    shown = figures(section, styles_for(run, labels_of(run)))[0]
    assert "Hollow points" in shown.meaning
    assert shown.drawing.count("fill:var(--paper)") == 1
    text = sentences.first_sentences(section)[0].text
    assert f"JFFS2{CUT}" in text and f"YAFFS2{CUT}" not in text


def test_erases_are_told_at_each_point_with_the_volume_that_they_are_for(fill: MicroRun) -> None:
    (section,) = sections(fill)
    mean, deviation = tables.wear_tables(section)
    assert mean.head[:3] == ("configuration", "fill rate", "moved (MB)")
    asked = {case.asked_bytes for case in fill.cases}
    for row in mean.rows:
        moved, of = (float(word) * 1e6 for word in row[2].split(" of "))
        assert {round(of, -5)} == {round(value, -5) for value in asked}
        assert moved == pytest.approx(0.9 * of, rel=0.02)
    assert len(mean.rows) == 4 * 3 and len(mean.head) == 3 + 2
    assert {row[-1] for row in mean.rows} == {"2.00"}
    assert {row[-1] for row in deviation.rows} == {"0.500"}
    assert "mean" not in " ".join(mean.head)


def test_an_axis_with_a_giant_is_logarithmic() -> None:
    assert linear_quantity("erases", [0.9, 1.0, 1.1, 9.8]).logarithmic
    assert not linear_quantity("erases", [0.9, 1.0, 1.1, 2.8]).logarithmic
    assert ratio_quantity([1.0, 1.1]).limits == pytest.approx((1, 1.133))
    assert ratio_quantity([1.0, 400.0]).limits == (1, 8)


def test_sensitivity_to_the_fill_rate(fill: MicroRun) -> None:
    (section,) = sections(fill)
    table = sentences.effects(section, section.axes[1], sentences.response_curves(section))
    assert table is not None
    assert (table.base, table.values) == (30.0, (60.0, 75.0))
    assert table.other is not None and table.other.name == "workload.request_bytes"
    for row in table.rows:
        last = row.factors[-1]
        assert last is not None
        assert (last.low, last.high) == pytest.approx((2, 2), rel=0.02)
        assert last.points == 2
    topics = sentences.topics(section)
    assert [topic.title for topic in topics] == [
        "What the fill rate changes",
        "Which is fastest where",
    ]
    text = topics[0].sentences[0].text
    assert text.startswith("Fill rate 75\u00a0% against 30\u00a0%: ")
    assert "times slower" in text


def test_idle_time_is_compared_with_none(tmp_path: Path) -> None:
    run = load_micro(write_micro_run(tmp_path / "r", "micro-interarrival", SIZES))
    (section,) = sections(run)
    table = sentences.effects(section, section.axes[1], sentences.response_curves(section))
    assert table is not None
    assert table.base == 0
    gains = [factor.high for row in table.rows for factor in row.factors if factor]
    assert gains == pytest.approx([0.5] * 4 * 3, rel=0.02)
    assert sentences.effect_title(table) == "What idle time changes"
    idle = tables.idle_table(run, labels_of(run))
    assert idle is not None
    assert {row[2] for row in idle.rows} == {"gc-thread"}


def test_a_study_of_ones_own_is_drawn_against_any_number(tmp_path: Path) -> None:
    overrides: Overrides = [
        *SIZES,
        ("seed", (1,)),
        ("cpu_scale", (0.5, 1.0, 2.0)),
        ("workload.pattern", ("random-write",)),
        ("workload.fsync_every", (0, 1)),
    ]
    run = load_micro(write_micro_run(tmp_path / "r", "micro-saturated", overrides))
    found = sections(run)
    assert [[axis.name for axis in section.axes] for section in found] == [
        ["workload.request_bytes", "cpu_scale"],
        ["workload.request_bytes", "cpu_scale"],
    ]
    assert found[0].title.endswith("requests for one fsync() 0")
    assert len({section.key for section in found}) == 2


@pytest.mark.parametrize(
    ("name", "values", "heading", "logarithmic"),
    [
        ("workload.request_bytes", (512.0, 524288.0), "request size (KiB)", True),
        ("workload.target_bytes", (2.0**21, 2.0**25), "size of the target (MiB)", True),
        ("workload.pause_us", (0.0, 100.0, 800.0), "sleep between requests (µs)", False),
        ("workload.pause_us", (0.0, 10_000.0), "sleep between requests (ms)", False),
        ("workload.increment", (-1.0, 0.0, 4.0), "distance between requests (requests)", False),
        ("state.rate_percent", (30.0, 75.0), "fill rate (%)", False),
        ("cpu_scale", (0.5, 8.0), "CPU scale", True),
    ],
)
def test_axes_have_units_that_suit(
    name: str, values: tuple[float, ...], heading: str, logarithmic: bool
) -> None:
    axis = axis_of(name, values)
    assert (axis.heading, axis.logarithmic) == (heading, logarithmic)
    assert axis_of("workload.request_bytes", (512.0, 2048.0)).number(512.0) == "0.5"


def test_thinning_keeps_the_slowest_and_is_bounded() -> None:
    latency = [1000 + n % 7 for n in range(10_240)]
    latency[5003] = 90_000
    kept = thin(latency)
    assert len(kept) <= MOST_DOTS
    assert (5003, 90_000) in kept
    assert kept == thin(latency)
    assert [number for number, _ in kept] == sorted({number for number, _ in kept})
    assert thin([3, 1, 2]) == ((0, 3), (1, 1), (2, 2))


def test_a_case_is_chosen_per_configuration_and_pattern(tmp_path: Path) -> None:
    run = load_micro(write_micro_run(tmp_path / "r", "micro-saturated", SIZES))
    picked = choose(run, labels_of(run))
    smallest = [choice for choice in picked if choice.why == "smallest requests"]
    assert len(smallest) == 3 * 4 + 2
    assert all(choice.case.numbers["workload.request_bytes"] == 2 * KIB for choice in smallest)
    course = course_of(run.folder, smallest[0].case)
    assert course is not None
    assert (course.count, course.startup_count) == (9216, 1843)
    assert sum(erases for _, erases in course.erases) == 512


def test_streams_together_have_the_mean_of_all_requests() -> None:
    one, other = Response(1, 10.0, 10, 10, 10, 10), Response(3, 30.0, 20, 40, 50, 60)
    both = merged([one, other])
    assert both == Response(4, 25.0, 20, 40, 50, 60)
    assert merged([]) is None


def test_ticks_and_chosen_values() -> None:
    assert log_ticks(0.05, 90) == [0.1, 1, 10]
    assert log_ticks(30, 80) == [30, 40, 50, 60, 70, 80]
    assert chosen((1, 2, 3)) == (1, 2, 3)
    assert chosen(tuple(range(9))) == (0, 3, 5, 8)


def test_merged_dots_are_all_there() -> None:
    dot = '<path transform="translate({},2.50)" d="M1,0A1,1,0,1,1,-1,0Z" style="fill:var(--c{})" />'
    drawing = "<g>" + "".join(dot.format(n, n // 3) for n in range(5)) + "</g>"
    merged_drawing = svg.merge_dots(drawing)
    assert len(re.findall(r"M[\d.]+ 2\.5h0", merged_drawing)) == 5
    assert merged_drawing.count("<path") == 2
