"""The sections that every workload has: planted cases become these sentences, charts, tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from first_support import Measured, along, at, case, cost, run_of, time, times
from test_report_support import (
    by_key,
    charts_of,
    page_of_words,
    plain,
    rows_of,
    section_of,
    told,
    write_run,
)

from ffslab.protocol.records import TaskTime
from ffslab.report import spent, svg
from ffslab.report.data import Histogram, Latency, packed_buckets
from ffslab.report.first.samples import matter_of
from ffslab.report.first.weigh import weigh
from ffslab.report.kept import read_kept
from ffslab.report.load import open_run
from ffslab.report.sections.general import general_sections
from ffslab.report.sections.results import results_table
from ffslab.report.sections.section import Section

MS = 1_000_000


def sections(measured: Measured, prefix: str = "") -> dict[str, Section]:
    run, criteria = run_of(measured)
    matter = matter_of(run, criteria)
    weighed = [weigh(row) for row in matter.rows]
    return by_key(general_sections(run, criteria, matter, weighed, prefix))


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


@pytest.mark.parametrize(
    ("name", "values", "behind"),
    [
        # 3 MB/s are a quarter of 12, 6 MB/s a half; no factor to 0 can be told.
        ("write_bytes_per_s", (3e6, 12e6), "is up to 4.00 times slower"),
        ("pages_programmed", (9, 0), "has 18"),
    ],
)
def test_how_far_behind_is_in_words_of_the_metric(
    name: str, values: tuple[float, ...], behind: str
) -> None:
    measured = [
        (case(system, state=str(state)), [cost(name, value * (state if n == 0 else 1))])
        for state in (1, 2)
        for n, (system, value) in enumerate(zip(("yaffs2", "jffs2"), values, strict=True))
    ]
    told = sections(measured)["wear"].sentence.partition(": ")[2]
    assert told == f"**JFFS2** is best at all 2; YAFFS2 {behind}."


def test_a_table_of_many_places_has_a_row_for_each() -> None:
    """It is turned where there are more than eight places, and more than configurations."""
    states = [at(f"s{number}", jffs2=4 + number, ubifs=2) for number in range(9)]
    many = [pair for pairs in states for pair in pairs]
    (table,) = sections([*many, *at("s1", yaffs2=3)])["time"].tables
    assert [*map(plain, (*table.head, *table.rows[0], *table.rows[1]))] == [
        *("place", "JFFS2", "UBIFS", "YAFFS2"),
        *("state s0", "4.00 s", "✓ 2.00 s", "–", "state s1", "5.00 s", "✓ 2.00 s", "3.00 s"),
    ]
    assert (table.title, len(table.rows)) == ("The work", 9)
    (table,) = sections(many[:16])["time"].tables
    assert table.head[:2] == ("configuration", "state s0") and len(table.rows) == 2
    one = sections(times(jffs2=4, ubifs=2))["time"].tables[0]
    assert one.head == ("configuration", "value")
    assert one.note == "✓ is the best, or within 2 % of it."


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
    assert (section.sentence, section.note) == ("The work: no difference.", "")


def test_tables_mark_the_best_and_what_is_not_like_it() -> None:
    """What writes back ends in memory: it is no best, and its dot is hollow."""
    measured = [
        *at("free", jffs2=4, yaffs2=2),
        (case("ubifs", "write-back"), [time(1, in_memory=True)]),
        (case("yaffs2", state="aged"), [time(3)]),
        (case("logfs", "write-back"), [time(9, in_memory=True)]),
        (case("logfs", "write-back", state="aged"), [time(9)]),
        (case("erofs"), [cost("pages_programmed", 1)]),
    ]
    section = sections(measured)["time"]
    (table,) = section.tables
    assert [[plain(cell) for cell in row] for row in (table.head, *table.rows)] == [
        ["configuration", "state free", "state aged"],
        *(["JFFS2", "4.00 s", "–"], ["YAFFS2", "✓ 2.00 s", "✓ 3.00 s"]),
        *(["UBIFS", "1.00 s◦", "–"], ["LogFS", "9.00 s◦", "9.00 s"]),
    ]
    assert "◦ ends in memory" in table.note
    assert section.note == (
        "Hollow: LogFS · write-back and UBIFS · write-back return when data are in memory. "
    )
    hollow = {
        (row["label"], row["place"])
        for row in rows_of(section.charts[0].drawing)
        if row["fill"] == svg.PAINT["paper"]
    }
    assert hollow == {("UBIFS", "free"), ("LogFS", "free")}


def test_what_an_axis_changes_is_a_ratio_to_its_first_value() -> None:
    states = [*at("free", jffs2=4, ubifs=2), *at("aged", jffs2=5, ubifs=30), *at("used", ubifs=1)]
    section = sections(states)["change-state"]
    assert section.title == "What does state change?"
    assert told(section) == [
        "Most: the work of **UBIFS** with state aged: 15.0 times slower than with free.",
        "State aged, used against free "
        "(A dot is a configuration: JFFS2, UBIFS. The line is no change.)",
        "  the work / JFFS2 / state aged: 1.25",
        "  the work / UBIFS / state aged: 15",
        "  the work / UBIFS / state used: 0.5",
        "[What state changes]",
        "figure | state | against | JFFS2 | UBIFS",
        "The work | aged | free | 1.25 times slower | 15.0 times slower",
        "The work | used | free | – | 2.00 times faster",
    ]
    assert 'aria-label="÷ state free"' in section.charts[0].drawing
    table = section.tables[0]
    assert (table.text_columns, table.told) == (3, True)


def test_versions_of_linux_are_curves_too() -> None:
    """In the order of their release, in which 5.10 is before 6.1; a name is no version."""
    versions = ("7.3", "5.10", "6.1", "6.12")
    measured = [
        (case(name, kernel=version, state=state), [time(start + number)])
        for number, version in enumerate(versions)
        for (name, start) in (("jffs2", 4), ("ubifs", 2))
        for state in ("free", "aged")
        if (name, version) != ("ubifs", "5.10")
    ]
    curve, ratios = sections(measured)["change-kernel"].charts
    assert curve.meaning == "Lines of one file system differ in state."
    assert '"sort":["5.10","6.1","6.12","7.3"]' in curve.drawing
    assert {(row["x"], row["line"], row["value"]) for row in rows_of(curve.drawing)} == {
        (version, f"{system} state {state}", start + number)
        for number, version in enumerate(versions)
        for (system, start) in (("JFFS2", 4), ("UBIFS", 2))
        for state in ("free", "aged")
        if (system, version) != ("UBIFS", "5.10")
    }
    assert ratios.title.startswith("Kernel 5.10, 6.1, 6.12 against 7.3")
    for fewer in (versions[:2], (*versions, "fixed")):
        own = [(case("jffs2", kernel=version), [time(1 + n)]) for n, version in enumerate(fewer)]
        assert len(sections(own)["change-kernel"].charts) == 1


def test_a_rate_falls_and_what_does_not_change_is_left_out() -> None:
    """What ends in memory is not judged; with an option the rate is as it was."""
    measured = [
        (
            case("ubifs", state=state, compression=way),
            [
                cost("write_bytes_per_s", rate * 1e6, "time"),
                cost("pages_programmed", 7),
                replace(time(64 / rate**3, "late", in_memory=True), headline=False),
            ],
        )
        for state, rates in {"free": (4, 8), "aged": (1, 8)}.items()
        for way, rate in zip(("none", "lzo"), rates, strict=True)
    ]
    found = sections(measured, "a-")
    assert list(found) == ["a-time", "a-wear", "a-change-compression", "a-change-state"]
    assert told(found["a-change-state"]) == [
        "Most: Write throughput of **UBIFS** with state aged: 4.00 times slower than with free.",
        "State aged against free (A dot is a configuration: UBIFS. The line is no change.)",
        "  Write throughput / UBIFS / compression none: 0.25",
        "  Write throughput / UBIFS / compression lzo: 1",
        "  late / UBIFS / compression none: 64",
        "  late / UBIFS / compression lzo: 1",
        "[What state changes]",
        "figure | state | against | UBIFS",
        "Write throughput | aged | free | 4.00 times slower to same",
        "Late | aged | free | same to 64.0 times slower",
    ]
    # What has no first value is compared with none.
    alone = case("ubifs", state="aged", compression="zlib")
    more = [*measured, (alone, [cost("write_bytes_per_s", 1, "time")])]
    assert told(sections(more)["change-state"]) == told(found["a-change-state"])
    # Of nothing but such times the largest is told all the same; of what is no better, nothing.
    late = [(one, rows[2:]) for one, rows in measured]
    assert "late of **UBIFS**" in sections(late)["change-state"].sentence
    read = [(case("ubifs", state=s), [cost("bytes_read", n)]) for n, s in enumerate("abc", 1)]
    assert [line[:9] for line in told(sections(read)["change-state"])[:2]] == ["", "State b, "]


def test_only_cases_that_differ_in_nothing_else_are_compared_and_seeds_are_means() -> None:
    """UBIFS (4 + 8) ÷ (1 + 2); JFFS2 has no aged case, and its own way of writing."""
    measured = [
        (case("ubifs", "write-back", seed=seed, state=state), [time(seconds)])
        for state, line in {"free": (1, 2), "aged": (4, 8)}.items()
        for seed, seconds in zip("12", line, strict=True)
    ]
    measured += [(case("ubifs", "sync"), [time(10)]), (case("jffs2"), [time(1)])]
    found = sections(measured)
    assert told(found["change-state"])[2] == "  the work / UBIFS: 4"
    # The first of UBIFS's own: JFFS2's write-through is no match.
    assert told(found["change-write_mode"])[:3] == [
        "Most: the work of **UBIFS** with write mode sync: 6.67 times slower than with write-back.",
        "Write mode sync against write-back "
        "(A dot is a configuration: UBIFS. The line is no change.)",
        "  the work / UBIFS: 6.66667",
    ]


def test_each_file_system_has_the_first_value_that_it_was_run_with() -> None:
    zero = {"jffs2": 2, "ubifs": 1, "yaffs2": 1}
    states = [*at("a", jffs2=1, yaffs2=0), *at("b", **zero), *at("c", ubifs=4, jffs2=0)]
    section = sections(states)["change-state"]
    assert told(section) == [
        "Most: the work of **UBIFS** with state c: 4.00 times slower than with b.",
        "State, each against the first of its kind "
        "(A dot is a configuration: JFFS2, UBIFS. The line is no change.)",
        "  the work / JFFS2 / state b against a: 2",
        "  the work / UBIFS / state c against b: 4",
        "[What state changes]",
        "figure | state | against | JFFS2 | UBIFS",
        *("The work | b | a | 2.00 times slower | –", "The work | c | b | – | 4.00 times slower"),
    ]
    assert 'aria-label="÷ the same at the other state"' in section.charts[0].drawing


def test_of_many_places_the_quantiles_are_drawn() -> None:
    """Ratios from 1 to 9 at nine places: of each option every second is a dot."""

    def values(places: Sequence[int]) -> list[str]:
        measured = [
            (case(name, way, cpu_scale=scale, part=str(n), compression=how), [time(seconds)])
            for name, way, how in (
                *(("ubifs", "sync", "none"), ("ubifs", "sync", "lzo")),
                *(("ubifs", "write-back", "none"), ("jffs2", "sync", "none")),
            )
            for n in places
            for scale, seconds in (("0.5", 1), ("2", n))
        ]
        found = sections(measured)
        sentence = f"with CPU scale 2: {max(places)}.00 times slower than with 0.5."
        assert found["change-cpu_scale"].sentence.endswith(sentence)
        assert "change-part" not in found
        dots = (line for line in told(found["change-cpu_scale"]) if line.startswith("  "))
        return [line.rpartition(" ")[2] for line in dots]

    assert values((5, 1, 9, 3, 7, 2, 8, 4, 6)) == ["1", "3", "5", "7", "9"] * 4
    assert values((5, 3)) == ["3", "5"] * 4


def test_most_is_the_largest_ratio_either_way() -> None:
    """5 ÷ 2 is less than 3. A key has no dot."""
    ways = [("jffs2", "a", 5), ("jffs2", "b", 2), ("ubifs", "a", 1), ("ubifs", "b", 3)]
    measured = [(case(name, **{"workload.way": way}), [time(n)]) for name, way, n in ways]
    section = sections(measured)["change-workload-way"]
    assert section.sentence.startswith("Most: the work of **UBIFS**")


@pytest.mark.parametrize(
    ("axis", "count", "shown"),
    [("state", 6, True), ("state", 7, False), ("cpu_scale", 3, True), ("cpu_scale", 4, False)],
)
def test_of_few_values_ratios_are_drawn_of_more_numbers_curves(
    axis: str, count: int, shown: bool
) -> None:
    texts = [f"{'s' if axis == 'state' else ''}{n}" for n in range(1, count + 1)]
    measured = [(case("ubifs", **{axis: text}), [time(n)]) for n, text in enumerate(texts, 1)]
    assert (f"change-{axis}" in sections(measured)) is shown


def test_an_axis_of_many_numbers_is_a_curve_and_no_ratio() -> None:
    found = sections(along({"jffs2": range(1, 8), "ubifs": range(2, 9)}))
    assert list(found) == ["time"]
    assert rows_of(found["time"].charts[0].drawing)[6]["x"] == "7"


def latency(op: str, *counts: tuple[int, int]) -> tuple[Latency, Histogram]:
    """Operations that took so many ns (below 128, where buckets are exact)."""
    values = [value for value, count in counts for _ in range(count)]
    told = (len(values), sum(values), min(values), max(values))
    return Latency("p", op, *told), Histogram(*told, packed_buckets(counts))


def test_latency_is_shown_to_the_maximum_with_seeds_together() -> None:
    reads = {"1": latency("read", (10, 9), (100, 1)), "2": latency("read", (10, 9), (120, 1))}
    write, of_write = latency("write", (5, 1))
    measured = [
        (
            replace(
                case("ubifs", seed=seed),
                latencies=(read, write),
                histograms={"read": of_read, "write": of_write},
            ),
            [],
        )
        for seed, (read, of_read) in reads.items()
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
        replace(latency(op, (most, 2))[0], slowest=((2 * MS, most), (10**9, 7)))
        for op, most in ops.items()
    )
    measured = [
        (replace(case("ubifs"), latencies=(*own, latency("erase", (99, 1))[0])), []),
        (replace(case("jffs2"), latencies=(latency("write", (95, 1))[0],)), []),
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
    kept = read_kept(open_run(folder))[0].figures
    assert sum(kept.erases) > 0 and kept.criteria
    assert {lat.op for lat in kept.latencies} > {"create", "read", "delete"}
    assert kept.parts["outside the flash"] > 0 and len(kept.parts) == 5
    page = page_of_words(folder, validate=True)
    for key in ("time", "wear", "latency", "parts", "blocks"):
        assert "<h2>" in section_of(page, key)
