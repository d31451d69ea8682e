"""What a report says of power cuts: the scoreboard, cards of findings, what cuts cost."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from cuts_support import (
    CURVE,
    LOG,
    RECORD,
    SERIES_STUDY,
    TEXTS,
    finding,
    keep,
    kept,
    made,
    new_run,
    run_cases,
    section,
    shown,
    study_text,
)
from host_support import stream_of
from test_report_support import rows_of

from ffslab.campaign.done import wall_of
from ffslab.errors import DamagedResultError
from ffslab.model.case import board_of
from ffslab.oracle.faults import KINDS
from ffslab.report.first.board import Board, Shown
from ffslab.report.first.board import board_of as scoreboard_of
from ffslab.report.first.headline import headline
from ffslab.report.first.samples import matter_of
from ffslab.report.first.weigh import weigh
from ffslab.report.page import render
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.cuts.metrics import criteria
from ffslab.workloads.cuts.report.costs import series_cells
from ffslab.workloads.cuts.report.findings import MOST_CARDS, strip
from ffslab.workloads.cuts.report.load import operations_of
from ffslab.workloads.cuts.states import parse_log
from ffslab.workloads.cuts.stored import StoredSeries
from ffslab.workloads.cuts.walk import Cut

JFFS2, UBIFS = "jffs2-updatebyrename-s1", "ubifs-updatebyrename-s1"
JFFS2_LOG, UBIFS_LOG = "jffs2-appends-s1", "ubifs-appends-s1"
FINDINGS = [
    finding("aaaa0002", "1 torn-bits 3", "stale-data", confirmed=False),
    finding("aaaa0001", "0 lost 0", "mount-fails", states=1_234),
    finding("aaaa0003", "2 lost 0 / 5 torn-bits 0", "kernel-warning"),
]
BAD = made(
    JFFS2,
    counts={
        "lost": {"correct": 1, "mount-fails": 1_234},
        "torn-bits": {"stale-data": 1},
        "lost / torn-bits": {"kernel-warning": 1},
    },
    findings=FINDINGS,
)
SERIES: StoredSeries = {
    "cuts": 40,
    "lives": [0, 30],
    "given_up": [],
    "space": [[0, 9_000_000, 1, 1, 2, 5, 3], [30, 7_500_000, 1, 1, 4, 50, 30]],
    "recovery": {"none": [2, 900, 0, 0, 900, 0, 0], "lost": [40, 400, 80, 4, 33, 9, 1]},
    "spared": [],
}


def first_of(run: RunDirectory) -> tuple[str, Board]:
    """The headline and the scoreboard of a run."""
    own = {result["id"]: tuple(criteria(result)) for result in run.results()}
    matter = matter_of(shown(run)[0], own)
    weighed = [weigh(row) for row in matter.rows]
    return headline(matter, weighed), scoreboard_of(matter, weighed)


def cell_texts(board: Board) -> dict[str, list[str]]:
    cells = [column.values() for column in board.cells]
    return {
        column.head: [f"{'✓ ' if cell.best else ''}{cell.text}" for cell in own]
        for column, own in zip(board.columns, cells, strict=True)
    }


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<script.*?</script>|<[^>]*>", " ", html)))


def fail(run: RunDirectory, case_id: str) -> None:
    """A case whose history failed without any cut."""
    own = next(case for case in run_cases(run) if case.id == case_id)
    run.start_case(own, "ffsplan 1\n")
    outcome = Outcome("crash", "without any cut: no space")
    result = case_result(own, outcome, stream_of(), None, own={"cuts": None})
    run.finish_case(result, wall_of(own, 1, None, None))
    run.collect([case.id for case in run_cases(run)])


# --- the first screen ---


def test_the_scoreboard_is_file_system_by_kind_of_cut(tmp_path: Path) -> None:
    """A case that failed by its states is in it; histories are added up, or chosen."""
    run = kept(tmp_path, BAD, made(JFFS2_LOG), made(UBIFS), made(UBIFS_LOG, random={"correct": 2}))
    told, board = first_of(run)
    assert told == (
        "13 of 1,249 states are correct; JFFS2 does not mount in 1,234 and goes back behind "
        "synced data in 1."
    )
    assert cell_texts(board) == {
        "all": ["1,236 of 1,241", "✓ 8"],
        "lost": ["1,234 of 1,239", "✓ 8"],
        "torn-bits": ["1 of 1"],
        "recovery cut": ["1 of 1"],
        "at random": ["✓ 2"],
    }
    jffs2, ubifs = board.cells[0].values()
    assert jffs2.note == (
        "does not mount (1,234), goes back behind synced data (1), makes the kernel warn (1)"
    )
    # Neither at a place, nor hollow, nor partial.
    assert ubifs == Shown("8", "", 0, 0.0, True, False, False, False, "")
    assert board.columns[1].title == f"Lost: {KINDS['lost'].left}"
    page = board.for_page
    assert page["places"] == [["update-by-rename"], ["appends"]]
    assert page["columns"][1]["tally"] and page["columns"][1]["cells"][1] == [
        [0, 4, ()],
        [1, 4, ()],
    ]


def test_the_page_tells_what_failed_by_its_states_from_what_failed(tmp_path: Path) -> None:
    run = kept(tmp_path, BAD, made(UBIFS))
    html = render(run.path)
    page = text_of(html)
    assert html.count('<article class="failure">') == len(FINDINGS)
    assert "✕ 1 of 2 cases passed, 1 found something wrong" in page
    assert "cases failed" not in page and "did not pass" not in page
    fail(run, UBIFS_LOG)
    page = text_of(render(run.path))
    assert f"crash {UBIFS_LOG} without any cut: no space" in page
    assert "1 of 3 cases failed" in page


def test_all_correct_is_said_and_nothing_more(tmp_path: Path) -> None:
    run = kept(tmp_path, made(JFFS2), made(UBIFS))
    assert first_of(run)[0] == "All 8 states are correct."
    assert [one.key for one in shown(run)[1]] == ["findings", "recovery", "tried"]
    assert section(run, "findings").sentence.startswith("Nothing")
    (tmp_path / "none").mkdir()
    nobody = new_run(tmp_path / "none")
    fail(nobody, JFFS2)
    assert first_of(nobody)[0] == "" and not first_of(nobody)[1].columns
    assert section(nobody, "findings").sentence == "No state has been gone through."


# --- findings ---


def test_findings_are_cards_the_gravest_first(tmp_path: Path) -> None:
    run = kept(tmp_path, BAD, made(UBIFS))
    found = section(run, "findings")
    assert found.sentence == (
        "3 faults in 1,236 states; the gravest: **JFFS2** does not mount after lost."
    )
    cards = [text_of(card) for card in str(found.markup).split("<article")[1:]]
    for card, identifier in zip(cards, ("aaaa0001", "aaaa0002", "aaaa0003"), strict=True):
        for verb in ("replay", "minimize"):
            assert f"crash {verb} {identifier} --run {run.path}" in card
    first, second, third = cards
    assert "mount-fails JFFS2 does not mount nothing is there" in first
    assert "in 1,234 states Input create a (under way)" in first
    assert "Cut lost at operation 0, program of block 7, page 0 (lost leaves: nothing" in first
    assert "torn-bits at operation 1 (variant 3), erase of block 9" in second
    assert "not confirmed alone" in second and "not confirmed" not in first + third
    assert "create a · write a 0 10 1 · fsync a (under way)" in third
    assert "in its recovery torn-bits at operation 5 (torn-bits leaves" in third


def test_findings_that_are_alike_are_one_card_with_the_shortest_way(tmp_path: Path) -> None:
    late, early = (
        finding("aaaa0001", "2 lost 0", "stale-data", detail="7 bytes, not 9"),
        finding("bbbb0001", "1 lost 0", "stale-data", detail="5 bytes, not 6", states=2),
    )
    run = kept(
        tmp_path, made(JFFS2, findings=[late]), made(JFFS2_LOG, findings=[early]), made(UBIFS)
    )
    found = section(run, "findings")
    assert found.markup.count("<article") == 1
    card = text_of(str(found.markup))
    assert "crash replay bbbb0001" in card and "aaaa0001" not in card
    assert "in 3 states: history update-by-rename, history appends" not in card
    assert "in 3 states: history appends, history update-by-rename" in card
    assert [row[0] for row in found.tables[0].rows] == ["bbbb0001", "aaaa0001"]


def test_of_many_faults_only_some_are_cards(tmp_path: Path) -> None:
    many = [
        finding(f"aaaa{n:04}", "0 lost 0", "stale-data", detail=f"{'ab'[n % 2]}{'x' * (300 + n)}")
        for n in range(MOST_CARDS + 2)
    ]
    found = section(kept(tmp_path, made(JFFS2, findings=many)), "findings")
    assert found.markup.count("<article") == MOST_CARDS
    assert len(found.tables[0].rows) == MOST_CARDS + 2
    assert "x…" in found.markup and "x" * 300 not in found.markup


def test_the_strip_has_the_chip_around_the_cut() -> None:
    rows = rows_of(strip(parse_log(LOG), Cut(1, "erase-half", 0), "c"))
    told = [(row["operation"], row["block"], row["text"], row["fate"]) for row in rows]
    assert told == [
        (0, "7", "0", "done"),
        (1, "9", "✕", "erase-half"),
        (2, "7", "1", "not begun"),
        (3, "12", "", "not begun"),
    ]
    assert rows[1]["paint"] not in (rows[0]["paint"], rows[2]["paint"])
    long = "".join(f"{n} program 7 {n} 0 2048 1\n" for n in range(100))
    numbers = [row["operation"] for row in rows_of(strip(parse_log(long), Cut(50, "lost", 0), "c"))]
    assert numbers == list(range(32, 54))
    assert strip((), Cut(0, "lost", 0), "c") == ""


@pytest.mark.parametrize("missing", ["log", "record", "history"])
def test_of_a_text_that_is_not_there_less_is_told(missing: str, tmp_path: Path) -> None:
    texts = {name: text for name, text in TEXTS.items() if name != missing}
    card = str(section(kept(tmp_path, BAD, texts=texts), "findings").markup)
    assert ("create a" in card) == (missing == "log")
    assert ("program of block 7" in card) == ("vega" in card) == (missing != "log")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("log", LOG.replace("erase 9", "erase x")),
        ("log", LOG.rpartition("3 mark")[0]),
        ("record", RECORD.replace("op 1 0 2 2", "op 1 0 3 2")),
        ("record", RECORD.partition("end")[0]),
        ("history", "create a\nwrite a 0 10 1\n"),
    ],
)
def test_damaged_texts_are_told_with_their_case(name: str, text: str, tmp_path: Path) -> None:
    run = kept(tmp_path, BAD, texts={**TEXTS, name: text})
    with pytest.raises(DamagedResultError) as caught:
        shown(run)
    assert str(run.case_dir(JFFS2)) in str(caught.value)
    assert f"run --resume {run.path}" in caught.value.remedy


def test_which_call_an_operation_belongs_to(tmp_path: Path) -> None:
    run = kept(tmp_path, made(JFFS2))
    operations = operations_of(run.path, JFFS2, shown(run)[0].cases[0].own)
    # The second call had returned when the log stood at 2: it made nothing.
    calls = [operations.calls_to(number) for number in range(4)]
    assert [own[-1] for own in calls] == ["create a", "create a", "fsync a", "unmount"]
    assert list(map(len, calls)) == [1, 1, 3, 4]


def test_what_others_wrote_is_escaped(tmp_path: Path) -> None:
    evil = '<script>alert("x")</script> & "'
    run = kept(
        tmp_path,
        made(JFFS2, findings=[finding("aaaa0001", "0 lost 0", "stale-data", detail=evil)]),
        texts={**TEXTS, "history": "create <i>&amp;\nwrite a 0 1 1\nfsync a\n"},
    )
    card = str(section(run, "findings").markup)
    assert evil in unescape(card) and "<script>alert" not in card and "<i>&" not in card
    assert "create &lt;i&gt;&amp;amp;" in card


# --- where, at what cost, of how much ---


def test_outcomes_by_case(tmp_path: Path) -> None:
    found = section(kept(tmp_path, BAD, made(UBIFS)), "outcomes")
    assert "1 of 2 cases" in found.sentence and "1,236 of 1,237" in found.sentence
    cells = {(row["case"], row["outcome"]): row for row in rows_of(found.charts[0].drawing)}
    assert {key: row["states"] for key, row in cells.items()} == {
        ("JFFS2", "mount-fails"): 1_234,
        ("JFFS2", "stale-data"): 1,
        ("JFFS2", "kernel-warning"): 1,
        ("JFFS2", "correct"): 1,
        ("UBIFS", "correct"): 4,
    }
    strong = [cells["JFFS2", word]["strength"] for word in ("correct", "stale-data", "mount-fails")]
    assert strong == sorted(strong) and strong[0] < strong[1] < strong[2]


def test_the_estimate_of_a_mount_is_between_the_figures_of_the_board(tmp_path: Path) -> None:
    run = kept(tmp_path, made(JFFS2))
    own = shown(run)[0].cases[0].own
    (result,) = run.results()
    board = board_of(result["spec"])
    counts = (30, 2, 1)  # after operation 1
    bounds = [board.flash_ns(counts, whole=whole) for whole in (False, True)]
    assert 30 * board.chip.t_read_ns < bounds[0] < bounds[1]
    assert [own.longest.least_ns, own.longest.most_ns] == bounds and own.longest.operation == 1
    assert own.uncut.most_ns == board.flash_ns((5, 1, 0), whole=True)
    recovery = section(run, "recovery")
    assert "at most" in recovery.sentence and "estimate" in recovery.note
    assert [row["pages read"] for row in rows_of(recovery.charts[0].drawing)] == [10, 30, 20, 30]
    assert recovery.tables[0].rows[0][:5] == ("JFFS2", "1", "30", "2", "1")


def test_the_time_of_guests_with_time_is_the_measured_one(tmp_path: Path) -> None:
    # The longest reads least.
    curve = [[2, 20, 0, 0, 3_000_000], [0, 10, 0, 0, 8_500_000]]
    case = made(JFFS2, recovery={"curve": curve, "worst": 0, "uncut": None})
    recovery = section(
        kept(tmp_path, case, text=study_text(workload='timing = "board"')), "recovery"
    )
    assert "8.50\u00a0ms" in recovery.sentence and "at most" not in recovery.sentence
    assert [row["ms"] for row in rows_of(recovery.charts[0].drawing)] == [8.5, 3]
    assert recovery.tables[0].rows[0][-2:] == ("8.50\u00a0ms", "–")


def test_no_worst_case_is_lost_among_thousands(tmp_path: Path) -> None:
    curve = [[n, 100 + 900 * (n == 4_321), 0, 0, 0] for n in range(5_000)]
    case = made(JFFS2, operations=5_000, recovery={"curve": curve, "worst": 4_321})
    drawn = rows_of(section(kept(tmp_path, case, texts={}), "recovery").charts[0].drawing)
    assert 100 < len(drawn) < 200
    assert [row["operation"] for row in drawn if row["pages read"] == 1_000] == [4_321]


def test_of_a_sample_is_said_of_how_many(tmp_path: Path) -> None:
    run = kept(tmp_path, made(JFFS2, states_possible=9), text=study_text(workload="sample = 4"))
    tried = section(run, "tried")
    assert "4 states: a sample of the 9" in tried.sentence
    assert tried.tables[0].rows == (("JFFS2", "3", "4", "4", "9"),)
    (tmp_path / "all").mkdir()
    assert "sample" not in section(kept(tmp_path / "all", made(JFFS2)), "tried").sentence


def test_configurations_have_what_tells_them_apart(tmp_path: Path) -> None:
    axes = '"options.compression" = ["none", "default"]'
    run = new_run(tmp_path, study_text(["jffs2"], axes=axes, base="seeds = [1, 2]"))
    for case in run_cases(run):
        keep(run, made(case.id))
    rows = section(run, "tried").tables[0].rows
    assert len({row[0] for row in rows}) == len(rows) == 8
    assert {row[0].split(" · ")[0] for row in rows} == {"JFFS2"}
    assert sum("seed 2" in row[0] for row in rows) == 4


# --- many cuts in a row ---


def run_of_series(place: Path) -> RunDirectory:
    run = new_run(place, SERIES_STUDY.format(workload='cuts = 40\nkinds = "lost done"'))
    for case in run_cases(run):
        found = [finding("abcd1234", "31 lost 0", "mount-fails")] if "jffs2" in case.id else []
        recovery = {"curve": [], "worst": None}
        keep(run, made(case.id, series=SERIES, findings=found, recovery=recovery), {})
    return run


def test_a_series_in_words() -> None:
    assert series_cells(SERIES) == ("40", "2", "8.58", "7.15", "7.15", "2", "30", "10", "33")
    nothing: StoredSeries = {**SERIES, "space": [], "recovery": {"none": [1, 5, 0, 0, 5, 0, 0]}}
    assert series_cells(nothing) == ("40", "2", *("–",) * 7)


def test_a_series_has_a_line_for_each_life_and_no_shorter_history(tmp_path: Path) -> None:
    run = run_of_series(tmp_path)
    series = section(run, "series")
    assert series.sentence == "After 80 cuts in all, 2 flashes do not mount any more."
    rows = [row for row in rows_of(series.charts[0].drawing) if row["configuration"] == "JFFS2"]
    assert [(row["cuts"], row["MiB"], row["life"]) for row in rows] == [
        (0, 8.58307, 1),
        (30, 7.15256, 2),
    ]
    assert {one.key for one in shown(run)[1]} == {"findings", "series"}
    card = text_of(str(section(run, "findings").markup))
    assert "cut 31 of the series: lost" in card and "crash replay abcd1234" in card
    assert "minimize" not in card
    # What fits is a column of the scoreboard beside the tallies, and so are flashes that leak.
    assert cell_texts(first_of(run)[1])["flashes"] == ["✓ 2"] * 2
    assert cell_texts(first_of(run)[1])["fits"] == ["✓ 7.15\u00a0MiB"] * 2


def test_a_flash_that_leaks_is_in_the_headline_though_its_states_are_correct(
    tmp_path: Path,
) -> None:
    run = new_run(tmp_path, SERIES_STUDY.format(workload="cuts = 40"))
    # Of one flash both space and blocks are lost.
    leaks = [finding(f"abcd000{number}", "40 lost 0", "leak") for number in range(2)]
    recovery = {"curve": [], "worst": None}
    keep(run, made("jffs2-s1", series=SERIES, findings=leaks, recovery=recovery), {})
    told, board = first_of(run)
    assert told == "All 4 states are correct; JFFS2 loses space for good in 1."
    assert cell_texts(board)["flashes"] == ["1 of 2"]


@pytest.mark.parametrize(
    "further", [{"recovery": {}}, {"counts": {"lost": {"fine": 4}}}, {"findings": [{"id": "a"}]}]
)
def test_damaged_results_are_told(further: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(DamagedResultError, match=r"results\.jsonl"):
        shown(kept(tmp_path, made(JFFS2, **further)))


def test_results_of_older_versions_have_no_mount_without_a_cut(tmp_path: Path) -> None:
    run = kept(tmp_path, made(JFFS2, recovery={"curve": CURVE, "worst": 1}))
    assert section(run, "recovery").tables[0].rows[0][-1] == "–"
