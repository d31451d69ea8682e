"""The sections that every workload has: planted cases become these sentences, charts, tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_report_first import Measured, along, at, case, cost, run_of, time
from test_report_support import charts_of, page_of_words, section_of, vega_lite, write_run

from ffslab.protocol.records import TaskTime
from ffslab.report import spent, svg
from ffslab.report.data import Latency, packed_buckets
from ffslab.report.first.samples import matter_of
from ffslab.report.first.weigh import weigh
from ffslab.report.kept import kept_of
from ffslab.report.load import read_figures
from ffslab.report.sections.general import general_sections
from ffslab.report.sections.results import results_table
from ffslab.report.sections.section import Section

MOST_WORDS = 30
MS = 1_000_000


def sections(measured: Measured, prefix: str = "") -> dict[str, Section]:
    run, criteria = run_of(measured)
    matter = matter_of(run, criteria)
    weighed = [weigh(row) for row in matter.rows]
    found = list(general_sections(run, criteria, matter, weighed, prefix))
    for section in found:
        assert len(section.sentence.split()) <= MOST_WORDS, section.sentence
    assert len({section.key for section in found}) == len(found)
    return {section.key: section for section in found}


def rows_of(drawing: str) -> list[dict[str, Any]]:
    """The rows of a drawing's only chart, which Vega-Lite accepts."""
    (chart,) = charts_of(drawing).values()
    vega_lite().validate({**chart["spec"], "config": svg.theme()})
    columns: Mapping[str, Sequence[Any]] = chart["data"]["rows"]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("measured", "sentence"),
    [
        (
            along({"jffs2": [4], "ubifs": [2]}),
            "The work: **UBIFS** is best; JFFS2 is up to 2.00 times slower.",
        ),
        (
            along({"jffs2": [4, 2, 9], "ubifs": [2, 3, 3]}),
            "The work: **UBIFS** is best at 2 of 3; JFFS2 is up to 3.00 times slower.",
        ),
        (
            along({"jffs2": [4, 6], "ubifs": [2, 3]}),
            "The work: **UBIFS** is best at all 2; JFFS2 is up to 2.00 times slower.",
        ),
        (along({"jffs2": [2], "ubifs": [2.01]}), "The work: no difference."),
        (along({"jffs2": [2]}), ""),
    ],
)
def test_what_people_decide_by_in_a_sentence(measured: Measured, sentence: str) -> None:
    assert sections(measured)["time"].sentence == sentence


def test_a_rate_is_best_where_it_is_high() -> None:
    """3 MB/s are a quarter of 12: what has them is 75 % lower."""
    rates = {"jffs2": 3e6, "ubifs": 12e6}
    measured = [
        (case(name), [cost("write_bytes_per_s", rate, "time")]) for name, rate in rates.items()
    ]
    (section,) = sections(measured).values()
    assert section.sentence.startswith("Write throughput: **UBIFS** is best; JFFS2 is up to ")


def test_each_aspect_has_its_section_with_a_chart_and_a_table_for_each_figure() -> None:
    rows = [
        *(time(4), time(1, "the rest"), cost("pages_programmed", 9)),
        *(cost("available_bytes", 2**20, "space"), cost("memory_used_bytes", 2**20, "memory")),
        cost("max_ns", 5, "wait"),
    ]
    found = sections([(case(name), rows) for name in ("jffs2", "ubifs")], "a-")
    assert list(found) == ["a-time", "a-wait", "a-wear", "a-space", "a-memory"]
    section = found["a-time"]
    assert [chart.title for chart in section.charts] == ["The work", "The rest"]
    assert [table.title for table in section.tables] == ["The work", "The rest"]
    assert list(charts_of(section.charts[1].drawing)) == ["a-time-1"]


def test_tables_mark_the_best_and_what_is_not_like_it() -> None:
    """UBIFS writing back ends in memory: it is no best, and its dot is hollow."""
    measured = [
        *at("free", jffs2=4, yaffs2=2),
        (case("ubifs", "write-back"), [time(1, in_memory=True)]),
        (case("yaffs2", state="aged"), [time(3)]),
    ]
    section = sections(measured)["time"]
    (table,) = section.tables
    assert table.head == ("configuration", "state free", "state aged")
    assert [[plain(cell) for cell in row] for row in table.rows] == [
        ["JFFS2", "4.00 s", "–"], ["YAFFS2", "✓ 2.00 s", "3.00 s"], ["UBIFS", "1.00 s◦", "–"],
    ]  # fmt: skip
    assert "◦ ends in memory" in table.note
    assert section.note == "Hollow: UBIFS · write-back return when data are in memory. "
    hollow = {
        row["label"]
        for row in rows_of(section.charts[0].drawing)
        if row["fill"] == svg.PAINT["paper"]
    }
    assert hollow == {"UBIFS"}


def test_what_an_axis_changes_is_a_ratio_to_its_first_value() -> None:
    found = sections(
        [*at("free", jffs2=4, ubifs=2), *at("aged", jffs2=5, ubifs=30), *at("used", ubifs=1)]
    )
    section = found["change-state"]
    assert section.title == "What does state change?"
    assert (
        section.sentence
        == "Most: the work of **UBIFS** with state aged: 15.0 times slower than with free."
    )
    (chart,) = section.charts
    assert chart.title == "State aged, used against free"
    assert [(row["label"], row["facet"], row["value"]) for row in rows_of(chart.drawing)] == [
        ("JFFS2", "state aged", 1.25), ("UBIFS", "state aged", 15), ("UBIFS", "state used", 0.5),
    ]  # fmt: skip
    (table,) = section.tables
    assert table.rows[0] == ("The work", "aged", "free", "1.25 times slower", "15.0 times slower")
    assert table.rows[1] == ("The work", "used", "free", "–", "2.00 times faster")


def test_only_cases_that_differ_in_nothing_else_are_compared_and_seeds_are_means() -> None:
    """UBIFS (4 + 8) ÷ (1 + 2); JFFS2 has no aged case, and its own way of writing."""
    measured = [
        (case("ubifs", "write-back", seed=seed, state=state), [time(seconds)])
        for state, line in {"free": (1, 2), "aged": (4, 8)}.items()
        for seed, seconds in zip("12", line, strict=True)
    ]
    measured += [(case("ubifs", "sync"), [time(10)]), (case("jffs2"), [time(1)])]
    found = sections(measured)
    assert [row["value"] for row in rows_of(found["change-state"].charts[0].drawing)] == [4]
    # The first of UBIFS's own: JFFS2's write-through is no match.
    writing = found["change-write_mode"]
    assert [row["value"] for row in rows_of(writing.charts[0].drawing)] == [pytest.approx(6.66667)]
    assert writing.sentence.endswith(
        "**UBIFS** with write mode sync: 6.67 times slower than with write-back."
    )


def test_an_axis_of_many_numbers_is_a_curve_and_no_ratio() -> None:
    found = sections(along({"jffs2": range(1, 8), "ubifs": range(2, 9)}))
    assert list(found) == ["time"]
    assert rows_of(found["time"].charts[0].drawing)[6]["x"] == "7"


def latency(op: str, *counts: tuple[int, int]) -> Latency:
    """Operations that took so many ns (below 128, where buckets are exact)."""
    values = [value for value, count in counts for _ in range(count)]
    packed = packed_buckets(counts)
    return Latency("p", op, len(values), sum(values), min(values), max(values), packed)


def test_latency_is_shown_to_the_maximum_with_seeds_together() -> None:
    reads = {"1": latency("read", (10, 9), (100, 1)), "2": latency("read", (10, 9), (120, 1))}
    measured = [
        (replace(case("ubifs", seed=seed), latencies=(read, latency("write", (5, 1)))), [])
        for seed, read in reads.items()
    ]
    section = sections(measured)["latency"]
    assert plain(section.sentence) == "The longest operation, read, takes 120 ns: **the case**."
    assert [chart.title for chart in section.charts] == ["read", "write"]
    steps = [(row["t"], row["share"]) for row in rows_of(section.charts[0].drawing)]
    assert steps == [(10, 1), (100, 0.1), (120, 0.05)]
    assert [plain(cell) for cell in section.tables[0].rows[0]][:2] == ["all cases", "20"]


def test_the_slowest_operations_are_dots_at_their_time() -> None:
    """Kinds by their longest, at most three; those whose slowest were not kept have none."""
    ops = {"read": 50, "write": 90, "sync": 70, "stat": 10}
    own = tuple(
        replace(latency(op, (most, 2)), slowest=((2 * MS, most), (10**9, 7)))
        for op, most in ops.items()
    )
    measured = [
        (replace(case("ubifs"), latencies=(*own, latency("erase", (99, 1)))), []),
        (replace(case("jffs2"), latencies=(latency("write", (95, 1)),)), []),
    ]
    section = sections(measured)["when"]
    assert plain(section.sentence) == (
        "The slowest write, 90 ns, begins 2.00 ms into its phase: **UBIFS**."
    )
    assert [chart.title for chart in section.charts] == ["write", "sync", "read"]
    shown = [(row["label"], row["began"], row["t"]) for row in rows_of(section.charts[0].drawing)]
    assert shown == [("UBIFS", 0.002, 90), ("UBIFS", 1, 7)]
    assert "when" not in sections(measured[1:])


def test_time_is_a_bar_of_its_parts_and_wear_a_map_of_its_blocks() -> None:
    parts = {"flash, reads": 1e9, "flash, programs": 2e9, "outside the flash": 1e9}
    other = {**parts, "outside the flash": 17e9}
    measured = [
        (replace(case("jffs2"), parts=parts, erases=(0, 3)), []),
        (replace(case("ubifs"), parts=other, erases=(1, 1)), []),
    ]
    found = sections(measured)
    assert found["parts"].sentence == "Up to 85 % of all time is outside the flash: **UBIFS**."
    shown = {
        (row["label"], row["part"]): row["value"]
        for row in rows_of(found["parts"].charts[0].drawing)
    }
    assert shown["UBIFS", "outside the flash"] == 17 and shown["JFFS2", "flash, erases"] == 0
    assert [plain(cell) for cell in found["parts"].tables[0].rows[1]][-2:] == ["17.0 s", "20.0 s"]
    # What waits for more than half of its time is told without waiting.
    idle = {"flash, reads": 1e9, "driver": 3e9, "waiting": 5e9}
    found = sections([(replace(case("jffs2"), parts=idle), []), *measured[1:]])
    assert found["parts"].sentence == (
        "Up to 85 % of all time but waiting is outside the flash: **UBIFS**."
    )
    (chart,) = found["parts"].charts
    assert {row["part"] for row in rows_of(chart.drawing)} >= {"driver", "outside the flash"}
    assert "waiting" not in {row["part"] for row in rows_of(chart.drawing)}
    assert chart.meaning == "Without waiting, which the table has."
    assert [plain(cell) for cell in found["parts"].tables[0].rows[0]][-3:] == [
        *("5.00 s", "0 ns", "9.00 s"),
    ]
    idle["waiting"] = 4e9
    found = sections([(replace(case("jffs2"), parts=idle), [])])
    assert found["parts"].sentence == "Up to 88 % of all time is outside the flash: **all cases**."
    found = sections(measured)
    wear = found["blocks"]
    assert wear.sentence == "The most erased block has 3 erases: **JFFS2**."
    assert (
        wear.markup.count('<svg class="wear"') == 2 and "min 1 · mean 1.00 · max 1" in wear.markup
    )


FLASH = {"flash_read_ns": 10, "flash_program_ns": 20, "flash_erase_ns": None}
IDLE = TaskTime(name="swapper", code_ns=30, driver_ns=0, chip_ns=12)


def own_time(name: str, code_ns: int, driver_ns: int = 0) -> TaskTime:
    return TaskTime(name=name, code_ns=code_ns, driver_ns=driver_ns, chip_ns=9)


def test_beside_the_flash_time_is_the_drivers_and_each_tasks() -> None:
    """100 ns: 30 of the flash, 7 of the driver, code of two tasks, and the rest is waiting."""
    flash = {"flash, reads": 10, "flash, programs": 20, "flash, erases": 0, "flash, transfers": 0}
    assert spent.parts_of(FLASH, 100, ()) == {**flash, "outside the flash": 70}
    tasks = [own_time("init", 10, 4), own_time("ffsagent", 5), IDLE]
    tasks += [own_time("kworker/u2:1", 1, 3), own_time("kworker/0:2", 2), own_time("asleep", 0)]
    parts = spent.parts_of(FLASH, 100, tasks)
    assert parts == {
        **flash,
        "driver": 7,
        "CPU, the work itself": 15,
        "CPU, kworker": 3,
        "waiting": 45,
    }
    assert sum(parts.values()) == 100 and spent.outside_of(parts) == 70
    # What the chip did after the end leaves less for all others: 20 ns of 25.
    short = spent.parts_of(FLASH, 50, tasks)
    assert short["waiting"] == pytest.approx(0) and sum(short.values()) == pytest.approx(50)
    assert short["driver"] == pytest.approx(7 * 20 / 25)
    assert spent.parts_of(FLASH, 20, ())["outside the flash"] == 0


def test_of_many_tasks_the_largest_are_told() -> None:
    """Largest in any bar; the work itself always has its own part."""
    first = {"flash, reads": 1.0, "CPU, a": 5.0, "CPU, b": 1.0, "CPU, c": 2.0, "waiting": 4.0}
    second = {"CPU, the work itself": 0.5, "CPU, d": 3.0, "CPU, b": 1.5, "CPU, e": 1.0}
    parts, paint = spent.folded([first, second, {"outside the flash": 1.0}])
    assert parts[0] == {
        "flash, reads": 1,
        "CPU, a": 5,
        "CPU, c": 2,
        "CPU, other tasks": 1,
        "waiting": 4,
    }
    assert parts[1] == {"CPU, the work itself": 0.5, "CPU, d": 3, "CPU, other tasks": 2.5}
    assert list(paint) == [
        *("flash, reads", "flash, programs", "flash, erases", "flash, transfers"),
        *("CPU, the work itself", "CPU, a", "CPU, d", "CPU, c", "CPU, other tasks"),
        *("waiting", "outside the flash"),
    ]
    assert len({colour for part, colour in paint.items() if part != "waiting"}) == 10
    assert {svg.PAINT[colour] for colour in paint.values()}
    assert first["CPU, b"] == 1.0


def test_what_was_not_measured_has_no_section() -> None:
    assert sections([(case("jffs2"), [])]) == {}


def test_all_results_are_a_row_for_each_case() -> None:
    failed = replace(case("ubifs"), outcome="crash")
    run, criteria = run_of([*along({"jffs2": [4]}), (failed, [])])
    table = results_table(run, criteria, "t")
    assert table.head == ("case", "outcome", "the work")
    assert [(row[1], plain(row[2])) for row in table.rows] == [("pass", "4.00 s"), ("crash", "–")]


def test_a_real_result_gives_parts_latencies_and_erases(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", [("seed", (1,)), ("state", ("free",))])
    kept = read_figures(folder, kept_of)[0].figures
    assert sum(kept.erases) > 0 and kept.criteria
    assert {lat.op for lat in kept.latencies} > {"create", "read", "delete"}
    assert kept.parts["outside the flash"] > 0 and len(kept.parts) == 5
    page = page_of_words(folder, validate=True)
    for key in ("time", "wear", "latency", "parts", "blocks"):
        assert "<h2>" in section_of(page, key)
