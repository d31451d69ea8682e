"""What the page of power cuts computes: outcomes, words, the cost of recoveries, drawings."""

from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cuts_support import (
    CURVE,
    LOG,
    RECORD,
    TEXTS,
    finding,
    keep,
    kept,
    made,
    new_run,
    parts,
    run_cases,
    study_text,
)
from host_support import cases_of

from ffslab.errors import DamagedResultError
from ffslab.model.case import board_of
from ffslab.oracle.faults import kinds_on
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.cuts.outcomes import OUTCOMES
from ffslab.workloads.cuts.plan import guest_case
from ffslab.workloads.cuts.report.chart import strips
from ffslab.workloads.cuts.report.load import Part
from ffslab.workloads.cuts.report.outcomes import Cell, outcomes_of, tone_of
from ffslab.workloads.cuts.report.recovery import Series, recovery_of
from ffslab.workloads.cuts.report.words import (
    cut_words,
    facts,
    minimize_command,
    result_words,
    under_way,
)
from ffslab.workloads.cuts.walk import cut_of

JFFS2, UBIFS = "jffs2-updatebyrename-s1", "ubifs-updatebyrename-s1"
JFFS2_LOG, UBIFS_LOG = "jffs2-appends-s1", "ubifs-appends-s1"


def only_part(folder: Path, text: str | None = None, **further: Any) -> Part:
    (part,) = parts(kept(folder, made(JFFS2, **further), text=text))
    return part


# --- what a run has ---


def test_cases_are_in_order_with_file_system_and_history(tmp_path: Path) -> None:
    found = parts(kept(tmp_path, made(UBIFS_LOG), made(JFFS2)))
    assert [(part.label, part.history) for part in found] == [
        ("JFFS2", "update-by-rename"),
        ("UBIFS", "appends"),
    ]


def test_labels_tell_what_is_not_the_same_in_all_cases(tmp_path: Path) -> None:
    axes = '"options.compression" = ["none", "default"]\npartition_bytes = ["8 MiB"]'
    run = new_run(tmp_path, study_text(["jffs2"], axes=axes))
    for case in run_cases(run):
        keep(run, made(case.id))
    found = parts(run)
    labels = {part.case.id.replace("appends", "updatebyrename"): part.label for part in found}
    assert len(found) == 4 and len(labels) == len(set(labels.values())) == 2
    assert all(label.startswith("JFFS2") and "8" not in label for label in labels.values())


def test_a_seed_among_several_is_part_of_the_label(tmp_path: Path) -> None:
    run = new_run(tmp_path, study_text(["jffs2"], base="seeds = [1, 2]"))
    for case in run_cases(run):
        keep(run, made(case.id))
    labels = [part.label for part in parts(run)]
    assert len(set(labels)) == 2 and all("2" in label or "1" in label for label in labels)


def test_a_file_system_that_is_on_no_axis_is_the_label(tmp_path: Path) -> None:
    text = study_text(base='filesystem = "yaffs2"')
    text = text.replace('filesystem = ["jffs2", "ubifs"]\n', "")
    run = new_run(tmp_path, text)
    for case in run_cases(run):
        keep(run, made(case.id))
    assert [part.label for part in parts(run)] == ["YAFFS2", "YAFFS2"]


def test_which_call_an_operation_belongs_to(tmp_path: Path) -> None:
    part = only_part(tmp_path)
    assert [under_way(part, operation) for operation in range(5)] == [
        "program of block 7, page 0, in: create a",
        "erase of block 9, in: create a",
        # The second call had returned when the log stood at 2: it made nothing.
        "program of block 7, page 1, in: fsync a",
        "mark of block 12, in: unmount",
        "",
    ]


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("log", ""),
        ("record", "program of block 7, page 0"),
        ("history", "program of block 7, page 0"),
    ],
)
def test_of_a_text_that_is_not_there_nothing_is_told(
    missing: str, told: str, tmp_path: Path
) -> None:
    texts = {name: text for name, text in TEXTS.items() if name != missing}
    (part,) = parts(kept(tmp_path, made(JFFS2), texts=texts))
    assert under_way(part, 0) == told
    assert part.operations.call(0) == ("create a" if missing == "log" else "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("log", LOG.replace("erase 9", "erase x")),
        ("log", LOG.replace("1 erase", "2 erase")),
        ("log", LOG.rpartition("3 mark")[0]),
        ("log", f"{LOG}4 era"),
        ("log", "\0\0\0\0"),
        ("record", RECORD.replace("op 1 0 2 2", "op 1 0 2 x")),
        ("record", RECORD.replace("op 1 0 2 2", "op 1 0 3 2")),
        ("record", RECORD.partition("end")[0]),
        ("record", RECORD[:13]),
        ("history", "create a\nwrite a 0 10 1\n"),
    ],
)
def test_damaged_texts_are_told_with_their_case(name: str, text: str, tmp_path: Path) -> None:
    run = kept(tmp_path, made(JFFS2), texts={**TEXTS, name: text})
    with pytest.raises(DamagedResultError) as caught:
        parts(run)
    assert str(run.case_dir(JFFS2)) in str(caught.value)
    assert f"run --resume {run.path}" in caught.value.remedy


@pytest.mark.parametrize(
    "further",
    [
        {"counts": {"lost": {"corect": 4}}},
        {"random": {"none": 1}},
        {"findings": [finding("1", "0 lost 0", "mount-fail")]},
        {"findings": [finding("1", "0 lost", "mount-fails")]},
        {"findings": [finding("1", "x lost 0", "mount-fails")]},
        {"recovery": {"curve": [[0, 1, 2, 3]], "worst": 0, "uncut": None}},
        {"recovery": {"curve": CURVE, "worst": 0, "uncut": [1, 2, 3]}},
        {"operations": "4"},
    ],
)
def test_damaged_results_are_told_too(further: dict[str, Any], tmp_path: Path) -> None:
    run = kept(tmp_path, made(JFFS2))
    parts(run)
    path = run.path / "results.jsonl"
    result = json.loads(path.read_text())
    result["cuts"].update(further)
    path.write_text(json.dumps(result) + "\n")
    with pytest.raises(DamagedResultError, match=r"results\.jsonl.*cuts"):
        parts(run)


def test_results_of_older_versions_have_no_mount_without_a_cut(tmp_path: Path) -> None:
    part = only_part(tmp_path, recovery={"curve": CURVE, "worst": 1})
    found = recovery_of(part)
    assert found is not None
    assert [series.uncut for series in (*found.counts, *found.times)] == [None] * 5


# --- outcomes ---


def test_a_table_has_a_block_for_each_workload_and_a_column_for_each_kind(tmp_path: Path) -> None:
    torn = {"torn-bits": {"correct": 2, "stale-data": 1, "mount-fails": 1}, "lost": {"correct": 4}}
    cases = (made(JFFS2_LOG), made(JFFS2, counts=torn), made(UBIFS))
    table = outcomes_of(parts(kept(tmp_path, *cases)))
    assert table.columns == ("lost", "torn-bits") and table.spans == ()
    assert [block.history for block in table.blocks] == ["update-by-rename", "appends"]
    first, second = table.blocks[0].rows
    assert (first.label, first.states, second.label, second.states) == ("JFFS2", "8", "UBIFS", "4")
    assert first.cells == (
        Cell("good", "4"),
        # The worst gives the colour, and stands first.
        Cell("fatal", "2 of 4", ("1 mount-fails", "1 stale-data")),
    )
    assert second.cells == (Cell("good", "4"), None)
    assert [tone for tone, _ in table.tones] == ["fatal", "harm", "good"]
    assert [word for word, _ in table.words] == ["mount-fails", "stale-data"]


def test_recoveries_that_were_cut_have_columns_of_their_own(tmp_path: Path) -> None:
    counts = {
        "lost": {"correct": 4},
        "lost / lost": {"correct": 3, "read-only": 1},
        "torn-bits / lost": {"correct": 2, "use-fails": 2},
        "lost / torn-bits": {"correct": 1},
        "torn-bits": {"correct": 2},
    }
    random = {"correct": 99, "not-atomic": 1}
    cases = (made(JFFS2, counts=counts, random=random), made(UBIFS))
    table = outcomes_of(parts(kept(tmp_path, *cases)))
    assert table.columns == ("lost", "torn-bits", "lost", "torn-bits", "at random")
    assert [count for _, count in table.spans] == [2, 2, 1]
    row, other = table.blocks[0].rows
    assert other.cells == (Cell("good", "4"), None, None, None, None)
    # 4 + 4 + 4 + 1 + 2; those at random are among them.
    assert row.states == "15"
    assert row.cells == (
        Cell("good", "4"),
        Cell("good", "2"),
        Cell("use", "5 of 8", ("2 use-fails", "1 read-only")),
        Cell("good", "1"),
        Cell("harm", "99 of 100", ("1 not-atomic",)),
    )


def test_columns_have_titles_over_them_if_there_are_several_sorts(tmp_path: Path) -> None:
    part = only_part(tmp_path, counts={"lost": {"stale-data": 4}}, random={"stale-data": 4})
    table = outcomes_of([part])
    assert [count for _, count in table.spans] == [1, 1]
    cell = Cell("harm", "0 of 4", ("4 stale-data",))
    assert table.blocks[0].rows[0].cells == (cell, cell)


@pytest.mark.parametrize(
    ("possible", "said"), [(9_000, "4 of 9,000 + 1,200"), (5, "4 of 5 + 1,200"), (4, "1,204")]
)
def test_of_a_sample_is_said_of_how_many(possible: int, said: str, tmp_path: Path) -> None:
    counts = {"lost": {"correct": 4}, "lost / lost": {"correct": 1_200}}
    for name, workload, words in (("some", "sample = 4", said), ("all", "", "1,204")):
        (tmp_path / name).mkdir()
        text = study_text(workload=workload)
        part = only_part(tmp_path / name, text, counts=counts, states_possible=possible)
        assert outcomes_of([part]).blocks[0].rows[0].states == words


def test_how_bad_outcomes_are() -> None:
    tones = {outcome: tone_of(outcome) for outcome in OUTCOMES}
    fatal = {"guest-died", "mount-fails", "remount-fails"}
    use = {"use-fails", "read-only", "kernel-warning", "leak"}
    assert {outcome for outcome, tone in tones.items() if tone == "fatal"} == fatal
    assert {outcome for outcome, tone in tones.items() if tone == "use"} == use
    assert {outcome for outcome, tone in tones.items() if tone == "good"} == {"correct"}
    assert tones["stale-data"] == tones["changed-by-use"] == tones["changed-by-power"] == "harm"


# --- words ---


def test_the_result_is_a_sentence(tmp_path: Path) -> None:
    assert result_words(()) == "No state has been gone through yet."
    run = new_run(tmp_path)
    keep(run, made(JFFS2, counts={"lost": {"correct": 1500}}))
    assert result_words(parts(run)) == "All 1,500 states are correct."
    keep(run, made(UBIFS, counts={"lost": {"mount-fails": 1}}))
    assert result_words(parts(run)) == (
        "1 of 1,501 states is not correct: 1 mount-fails (UBIFS 1)."
    )
    counts = {"lost": {"correct": 3, "stale-data": 2}, "done": {"guest-died": 1}}
    keep(run, made(UBIFS_LOG, counts=counts))
    keep(run, made(JFFS2_LOG, counts={"lost": {"stale-data": 1}}))
    assert result_words(parts(run)) == (
        "5 of 1,508 states are not correct: 1 guest-died, 1 mount-fails, 3 stale-data "
        "(JFFS2 1, UBIFS 4)."
    )


def told(run: RunDirectory) -> dict[str, str]:
    return {name: text.replace("\u00a0", " ") for name, text in facts(parts(run))}


def test_facts_of_cuts_as_they_are_by_default(tmp_path: Path) -> None:
    found = told(kept(tmp_path, made(JFFS2), made(UBIFS_LOG)))
    assert found["Histories"] == "update-by-rename; appends"
    assert (found["Operations"], found["States"]) == ("8", "8")
    assert found["Kinds of cut"] == " ".join(kinds_on(["NAND"]))
    assert found["Sample"] == "every operation"
    assert found["Each state is"].endswith("used (24 of each case until full), mounted again")
    assert found["Partition"] == "8 MiB"
    assert found["Chip"].endswith("pages of 2,048 B")
    assert found["Other faults of the chip"] == "none"
    assert found["Timing"].startswith("none")
    assert not {"Cuts in a row", "Kinds of these"} & set(found)


def test_facts_of_one_that_samples_on_a_chip_with_faults(tmp_path: Path) -> None:
    workload = (
        'sample = 1_200\nvariants = 2\nrecovery_sample = 5\ncheck = "mount"\nkinds = "lost"\n'
        'timing = "board"\npaired_distance_pages = 4'
    )
    faults = '"chip.factory_bad" = [3]\n"chip.program_fail_ppm" = [50]'
    text = study_text(workload=workload, axes=faults)
    found = told(kept(tmp_path, made(JFFS2, states_possible=5_000), text=text))
    assert found["Sample"] == (
        "1,200 states of each case, 2 variants of each kind, "
        "every cut of the recovery from 5 of them"
    )
    assert found["States"] == "4; one cut anywhere would leave 5,000"
    assert found["Each state is"] == "mounted and looked at"
    assert found["Kinds of cut"] == "lost"
    assert found["Other faults of the chip"] == (
        "3 factory bad blocks, 50 ppm of programs fail, pages paired 4 apart"
    )
    assert found["Timing"] == "the board’s"


def test_facts_of_partitions_of_several_sizes_that_are_not_filled(tmp_path: Path) -> None:
    axes = 'partition_bytes = ["10240 KiB", "8704 KiB"]'
    text = study_text(axes=axes, workload="fill_sample = 0").replace(
        'partition_bytes = "8 MiB"\n', ""
    )
    run = new_run(tmp_path, text)
    for case in run_cases(run):
        keep(run, made(case.id))
    found = told(run)
    assert found["Partition"] == "10 MiB; 8.50 MiB"
    assert found["Each state is"] == "mounted, looked at, used, mounted again"


def test_cuts_in_words() -> None:
    assert cut_words(cut_of("1200 torn-bits 0").cut) == "torn-bits at 1,200"
    assert cut_words(cut_of("3 erase-half 2").cut) == "erase-half at 3, variant 2"


def test_a_shorter_history_is_looked_for_of_the_first_finding(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    keep(run, made(JFFS2))
    assert minimize_command(parts(run), run.path) == ""
    keep(run, made(UBIFS, findings=[finding("abcd1234", "0 lost 0", "mount-fails")]))
    words = minimize_command(parts(run), run.path)
    assert words.endswith(f"crash minimize abcd1234 --run {run.path}")


# --- what recoveries cost ---


def test_a_series_has_its_worst_its_ranks_and_its_unit() -> None:
    values = (5.0, 1.0, 9.0, 9.0, 2.0, 3.0, 4.0, 6.0, 7.0, 8.0)
    series = Series("x", tuple(enumerate(values)), 4.0)
    assert series.worst == (2, 9.0)  # the first of two
    # In order 1 2 3 4 5 6 7 8 9 9: half of ten is the fifth, 95 % the tenth, 1 % the first.
    assert [series.percentile(at) for at in (50, 95, 80, 1)] == [5, 9, 8, 1]
    thousand = replace(series, points=tuple((number, 1000 - number) for number in range(1000)))
    assert [thousand.percentile(at) for at in (50, 95)] == [500, 950]
    assert [series.text(value) for value in (1234.0, 0.0, None)] == ["1,234", "0", "–"]
    assert replace(series, unit="ms").text(1.23456) == "1.23"


def test_counts_of_guests_without_time(tmp_path: Path) -> None:
    part = only_part(tmp_path)
    found = recovery_of(part)
    assert found is not None and found.is_exhaustive
    assert [series.name for series in found.drawn] == [
        "pages read",
        "pages programmed",
        "blocks erased",
    ]
    assert found.counts == found.drawn
    assert [series.points for series in found.drawn] == [
        ((0, 10), (1, 30), (2, 20), (3, 30)),
        ((0, 0), (1, 2), (2, 4), (3, 0)),
        ((0, 0), (1, 1), (2, 0), (3, 0)),
    ]
    assert [series.uncut for series in found.drawn] == [5, 1, 0]


def round_spec(part: Part) -> dict[str, Any]:
    times = {
        "page_bytes": 2048,
        "oob_bytes": 64,
        "t_command_ns": 200,
        "t_read_ns": 25_000,
        "t_prog_ns": 300_000,
        "t_erase_ns": 2_000_000,
        "bus_read_ps": 50_000,
        "bus_write_ps": 60_000,
        "ecc_read_ns": 7_000,
        "ecc_write_ns": 9_000,
    }
    board = {**part.spec["board"], "chip": {**part.spec["board"]["chip"], **times}}
    driver = {"driver_read_ns": 165_000, "driver_program_ns": 15_000, "driver_erase_ns": 20_000}
    return {**part.spec, **driver, "board": board}


def test_the_estimate_is_between_the_figures_of_the_board(tmp_path: Path) -> None:
    """By hand."""
    part = only_part(tmp_path)
    spec = round_spec(part)
    # Of the driver's work for a page as much is fixed as for an erase, at most all.
    read_ns, program_ns, erase_ns = 200 + 25_000 + 20_000, 200 + 300_000 + 15_000, 2_020_200
    for counts, ns in (
        ((1, 0, 0), read_ns),
        ((0, 1, 0), program_ns),
        ((0, 0, 1), erase_ns),
        ((10, 3, 2), 10 * read_ns + 3 * program_ns + 2 * erase_ns),
    ):
        assert board_of(spec).flash_ns(counts, whole=False) == ns
    # 2,112 bytes of 50 ns, and of 60 ns.
    read_ns = 200 + 25_000 + 105_600 + 7_000 + 165_000
    program_ns = 200 + 300_000 + 126_720 + 9_000 + 15_000
    for counts, ns in (
        ((1, 0, 0), read_ns),
        ((0, 1, 0), program_ns),
        ((0, 0, 1), erase_ns),
        ((10, 3, 2), 10 * read_ns + 3 * program_ns + 2 * erase_ns),
    ):
        assert board_of(spec).flash_ns(counts, whole=True) == ns
    found = recovery_of(replace(part, spec=spec))
    assert found is not None
    low, high = found.times
    # After operation 1: 30 pages read, 2 programmed, 1 block erased; without a cut 5 and 1.
    assert low.points[1][1] == pytest.approx((30 * 45_200 + 2 * 315_200 + 2_020_200) / 1e6)
    assert high.points[1][1] == pytest.approx((30 * 302_800 + 2 * 450_920 + 2_020_200) / 1e6)
    assert low.uncut == pytest.approx((5 * 45_200 + 315_200) / 1e6)
    assert high.uncut == pytest.approx((5 * 302_800 + 450_920) / 1e6)
    assert found.worst == 1
    assert {series.unit for series in found.times} == {"ms"}


def test_the_most_expensive_mount_is_that_of_the_upper_bound(tmp_path: Path) -> None:
    """Six reads are at most dearer than a program, and at least cheaper."""
    curve = [[0, 6, 0, 0, 0], [1, 0, 1, 0, 0]]
    part = only_part(tmp_path, recovery={"curve": curve, "worst": 0})
    found = recovery_of(replace(part, spec=round_spec(part)))
    assert found is not None
    assert [series.worst[0] for series in found.times] == [1, 0]
    assert found.worst == 0


def test_the_estimate_takes_the_boards_times_and_not_those_of_the_guest(tmp_path: Path) -> None:
    part = only_part(tmp_path)
    (case,) = (one for one in cases_of(study_text()) if one.id == JFFS2)
    array_ns = part.spec["board"]["chip"]["t_read_ns"]
    assert guest_case(case).board.chip.t_read_ns == 0 < array_ns
    assert part.board.flash_ns((1, 0, 0), whole=False) > array_ns


def test_the_time_of_guests_with_time_is_the_measured_one(tmp_path: Path) -> None:
    text = study_text(workload='timing = "board"')
    # The most expensive by time reads least.
    curve = [[2, 20, 0, 0, 3_000_000], [0, 10, 0, 0, 8_500_000]]
    recovery = {"curve": curve, "worst": 0, "uncut": [5, 1, 0, 2_000_000]}
    found = recovery_of(only_part(tmp_path, text, recovery=recovery))
    assert found is not None and found.estimate == () and not found.is_exhaustive
    (time,) = found.times
    assert (time.points, time.uncut, time.unit) == (((0, 8.5), (2, 3.0)), 2.0, "ms")
    assert found.worst == 0
    assert found.counts[0].points == ((0, 10), (2, 20))


def test_nothing_is_known_of_mounts_if_no_operation_was_just_lost(tmp_path: Path) -> None:
    part = only_part(tmp_path, recovery={"curve": [], "worst": None, "uncut": None})
    assert recovery_of(part) is None


# --- drawings ---


def drawn(*series: Series, operations: int) -> ET.Element:
    return ET.fromstring(strips(series, operations, "c0", "A < B", "r0"))


def texts(root: ET.Element) -> list[str]:
    return ["".join(text.itertext()) for text in root.iter("text")]


def strokes(root: ET.Element) -> list[list[tuple[float, float, float]]]:
    """Of each strip: where each stroke is, from where to where."""
    found = []
    for path in root.iter("path"):
        if "stroke-linecap" not in path.get("style", ""):
            continue
        pieces = re.findall(r"M([\d.]+) ([\d.]+)(?:V([\d.]+)|h0)", path.get("d", ""))
        found.append([(float(x), float(y), float(end or y)) for x, y, end in pieces])
    return found


def test_a_chart_says_where_the_worst_is() -> None:
    series = Series("pages read", ((0, 10), (1, 1500), (2, 20)), 5.0)
    root = drawn(series, Series("blocks erased", ((0, 0), (1, 0))), operations=3)
    found = texts(root)
    assert "○ 1,500 at 1" in found and "none" in found and "pages read" in found
    title = root.findtext("title")
    assert title is not None
    assert title.startswith("A < B.") and "1,500 after a cut at operation 1" in title
    assert len(strokes(root)) == 1  # of what is 0 everywhere there is a line of text only
    assert [tick for tick in found if tick in "012"] == ["0", "0", "1", "2"]
    dashed = [one for one in root.iter("path") if "dasharray" in one.get("style", "")]
    assert len(dashed) == 1


def test_points_stand_where_their_values_are() -> None:
    root = drawn(Series("x", ((0, 0), (5, 50), (10, 100)), 25.0), operations=11)
    (points,) = strokes(root)
    (left, low, _), (middle, half, _), (right, high, _) = points
    assert left == 0 and middle == pytest.approx(right / 2, abs=1.5)
    assert low > half > high and half == pytest.approx((low + high) / 2, abs=0.2)
    (ring,) = root.iter("circle")
    assert float(ring.get("cy", "")) == high and float(ring.get("cx", "")) >= right - 1.5
    (dashed,) = (one for one in root.iter("path") if "dasharray" in one.get("style", ""))
    place = re.match(r"M0 ([\d.]+)H", dashed.get("d", ""))
    # A quarter of the way up.
    assert place is not None
    assert float(place[1]) == pytest.approx(low + (high - low) / 4, abs=0.2)


def test_no_worst_case_is_lost_among_thousands() -> None:
    points = tuple((number, 7 if number == 4321 else 1) for number in range(10_000))
    root = drawn(Series("x", points), operations=10_000)
    (columns,) = strokes(root)
    assert 100 < len(columns) < 400
    (tall,) = [column for column in columns if column[1] != column[2]]
    width = max(column[0] for column in columns)
    assert tall[0] == pytest.approx(width * 0.4321, abs=2)
    assert "○ 7 at 4,321" in texts(root)


def test_one_operation_is_a_chart_too() -> None:
    root = drawn(Series("x", ((0, 3),)), operations=1)
    assert strokes(root)[0][0][0] == 0
    box = [float(word) for word in root.get("viewBox", "").split()]
    for text in root.iter("text"):
        assert box[0] <= float(text.get("x", "")) <= box[0] + box[2]
        assert float(text.get("y", "")) <= box[3]


def test_the_drawing_ends_below_what_is_in_it() -> None:
    """Whatever stands last: a strip, or a line of text."""
    some, none = Series("x", ((0, 3), (1, 2))), Series("y", ((0, 0), (1, 0)))
    heights = []
    for series in ((some, none), (none, some), (some, some), (none,)):
        root = drawn(*series, operations=2)
        height = float(root.get("viewBox", "").split()[3])
        lowest = max(float(text.get("y", "")) for text in root.iter("text"))
        assert lowest < height < lowest + 20
        heights.append(height)
    assert heights[3] < min(heights[:2]) and max(heights[:2]) < heights[2]


def test_a_case_without_texts_is_read_from_its_result(tmp_path: Path) -> None:
    run = kept(tmp_path, made(JFFS2))
    shutil.rmtree(run.case_dir(JFFS2))
    (part,) = parts(run)
    assert part.operations.logged == ()
    assert part.cuts["states"] == 4
