"""The report of append-log says what was planted into a run, and no more."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from append_log_support import LOG_STUDY, MS, Made, line_latencies, write_log_run
from test_report_support import page_of_words

from ffslab.model.case import Case
from ffslab.report.axes import Mean
from ffslab.workloads.append_log.keys import AppendLog
from ffslab.workloads.append_log.report import sentences, tables
from ffslab.workloads.append_log.report.load import NEVER, LogRun
from ffslab.workloads.append_log.report.series import (
    lines_of,
    mean_of,
    of_line,
    of_metric,
    slowest,
)
from loaded_support import load_log

STUDY = """
schema = 1
name = "logs"
title = "Logs"

[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1, 2]

[base.workload]
kind = "append-log"
lines = 1000
interval_us = 9_000

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
state = ["free", { name = "used", valid_percent = 85 }]
"workload.fsync_every" = [1, 10, 0]
"""
# A synced line by file system, and pages per line.
TAKES = {"jffs2": 4 * MS, "ubifs": 2 * MS, "yaffs2": 1 * MS}
PAGES = {"jffs2": 1000, "ubifs": 3000, "yaffs2": 2000}
Does = Callable[[Case, AppendLog], Made]


def does(case: Case, workload: AppendLog) -> Made:
    """YAFFS2 is fastest with syncs and UBIFS without; only JFFS2 has slow lines, if used."""
    name, used = case.filesystem.name, case.state.name == "used"
    write = {"jffs2": MS // 2, "ubifs": MS // 100, "yaffs2": MS // 50}[name]
    writes = line_latencies(write, write, 0)
    every = workload.fsync_every
    pages = PAGES[name] // (every or 100)
    if used:
        pages = pages * 3 // 2
    if not every:
        return Made({"append": writes}, synced=0, tasks={"init": pages})
    slow = 800 * MS if used and name == "jffs2" else TAKES[name]
    count = 1000 // every
    lines = line_latencies(TAKES[name], slow, 1, count)
    latencies = {"append": writes, "sync": lines, "append-sync": lines}
    background = {"ubifs_bgt0_0": 8, "ubi_bgt0d": pages // 4 - 8} if name == "ubifs" else {}
    left = 100 if name == "ubifs" and every == 1 else 0
    own = pages - sum(background.values()) - left
    return Made(latencies, tasks={"init": own, **background}, flush_pages=left, erases=8)


def run_of(folder: Path, study: str = STUDY, what: Does = does) -> LogRun:
    return load_log(write_log_run(folder / "run", study, what))


def told(run: LogRun) -> str:
    """All sentences, without what marks in them mean to a browser."""
    lines = [sentence.text for topic in sentences.topics(run) for sentence in topic.sentences]
    text = "\n".join(lines).replace("**", "").replace("\u2060", "")
    return re.sub("[\u00a0\u00a0]", " ", text)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> LogRun:
    return run_of(tmp_path_factory.mktemp("planted"))


# Where a case stands.


def test_places(planted: LogRun) -> None:
    axis = planted.axis
    assert axis is not None and axis.values == (1, 10, NEVER)
    assert planted.panes == ("free", "used") and planted.labels == ("JFFS2", "UBIFS", "YAFFS2")
    assert [len(planted.at("UBIFS", "used", point)) for point in axis.values] == [2, 2, 2]
    assert planted.place("", 10) == "sync interval 10"
    assert planted.place("used", 10) == "used, sync interval 10"
    assert planted.place("used", NEVER) == "used, no sync"
    assert [axis.number(value) for value in axis.values] == ["1", "10", "no sync"]


def test_a_numeric_axis_of_its_own(tmp_path: Path) -> None:
    sizes = '"workload.line_bytes" = [64, 4096]'
    study = STUDY.replace('"workload.fsync_every" = [1, 10, 0]', sizes)
    run = run_of(tmp_path, study)
    assert run.axis is not None and run.axis.heading == "size of a line (B)"
    assert [run.axis.number(point) for point in run.points] == ["64", "4,096"]


@pytest.mark.parametrize(
    ("axis", "heading", "values"),
    [
        ('"workload.interval_us" = [1000, 0]', "sleep between lines (ms)", (0, 1000)),
        ("cpu_scale = [2, 1]", "CPU scale", (1, 2)),
    ],
)
def test_further_numeric_axes(
    tmp_path: Path, axis: str, heading: str, values: tuple[float, ...]
) -> None:
    run = run_of(tmp_path, STUDY.replace('"workload.fsync_every" = [1, 10, 0]', axis))
    assert run.axis is not None
    assert (run.axis.heading, run.axis.values) == (heading, values)


def test_two_numeric_axes_give_panes_of_the_second(tmp_path: Path) -> None:
    study = STUDY.replace('state = ["free"', 'cpu_scale = [1, 2]\nstate = ["free"')
    run = run_of(tmp_path, study.replace("[1, 10, 0]", "[100, 0, 8, 1]"))
    assert run.axis is not None and run.axis.name == "workload.fsync_every"
    assert run.axis.values == (1, 8, 100, NEVER)
    assert run.panes == (
        "free · cpu scale 1",
        "used · cpu scale 1",
        "free · cpu scale 2",
        "used · cpu scale 2",
    )
    # Two panes of one state are no two states.
    assert "against" not in told(run)


def test_options_tell_configurations_apart_where_a_file_system_has_two(tmp_path: Path) -> None:
    axes = 'filesystem = ["jffs2", "yaffs2"]\n"options.compression" = ["none", "default"]'
    axes += '\n"workload.line_bytes" = [64]'
    run = run_of(tmp_path, LOG_STUDY.replace('filesystem = ["jffs2", "ubifs"]', axes))
    assert run.labels == (
        "JFFS2 · no compression",
        "JFFS2 · zlib",
        "YAFFS2 · no compression",
    )
    assert run.axis is None and run.panes == ("",)
    assert run.place("", 0) == "" and run.place("used", 0) == "used"
    identity = {"filesystem": "jffs2", "compression": "zlib"}
    (one,) = run.at("JFFS2 · zlib", "", 0)
    assert run.identity(one) == identity
    without = replace(one, case=replace(one.case, axes={"filesystem": "jffs2"}))
    assert run.identity(without) == {"filesystem": "jffs2", "compression": ""}


# Findings.


def test_who_is_fastest_where(planted: LogRun) -> None:
    text = told(planted)
    for pane in ("Free", "Used"):
        assert (
            f"{pane}: 99th percentile of a line by sync interval – fastest: YAFFS2 at 1–10; UBIFS "
            "at no sync; behind: JFFS2 4.00 (sync interval 1) to 50.0 (no sync) times slower."
        ) in re.sub(r"(4\.0[01]|3\.99|49\.[89]|50\.[0-2])(?= \()", lambda m: _near(m[1]), text)


def _near(shown: str) -> str:
    """Histograms are exact within 0.4 %."""
    return "4.00" if float(shown) < 5 else "50.0"


def test_the_slowest_line_and_how_many_are_slow(planted: LogRun) -> None:
    text = told(planted)
    slow = re.search(
        r"The slowest line of the run took (.*), on (.*): (\d+) times its median", text
    )
    assert slow is not None
    assert slow[1] == "800 ms" and slow[2] == "JFFS2 (used, sync interval 1)"
    assert int(slow[3]) == pytest.approx(200, rel=0.01)
    # One of 1,000 with every line synced, one of 100 with every tenth.
    assert (
        "Lines of more than 10 times the median: JFFS2 up to 1.0 % (used, sync interval 10); "
        "of UBIFS and YAFFS2 none."
    ) in text


def test_a_line_that_is_not_synced_can_be_the_slowest(tmp_path: Path) -> None:
    def changed(case: Case, workload: AppendLog) -> Made:
        made = does(case, workload)
        if case.filesystem.name == "yaffs2" and workload.fsync_every == 10:
            slow = {"append": line_latencies(MS // 50, 900 * MS, 1)}
            return replace(made, latencies_ns={**made.latencies_ns, **slow})
        return made

    run = run_of(tmp_path, what=changed)
    where = "on YAFFS2 (free, sync interval 10)"
    assert f"The slowest line of the run took 900 ms, {where}" in told(run)
    (one, _) = run.at("YAFFS2", "free", 10)
    assert slowest(one) == 900 * MS and of_line(99)(one) == pytest.approx(MS, rel=0.004)


def test_pages_of_a_line(planted: LogRun) -> None:
    text = told(planted)
    assert (
        "Free: pages per line – sync interval 1: JFFS2 1.00, YAFFS2 2.00 and UBIFS 3.00; "
        "no sync: JFFS2 0.0100, YAFFS2 0.0200 and UBIFS 0.0300."
    ) in text
    # 4,500 pages of 2 KiB for 128,000 bytes: 72.
    assert "to 72.0 (UBIFS, used, sync interval 1)" in text
    assert "programs from 0.160 bytes (JFFS2, free, no sync)" in text


def test_how_long_the_flash_lasts(planted: LogRun) -> None:
    # 8,192 pages that stand 100,000 programs, 4.5 for a line of 10 s ÷ 1,000: 182 million lines,
    # which are 21 days; a year has 365.25.
    (one, _) = planted.at("UBIFS", "used", 1)
    lines = 8192 * 100_000 / 4.5
    assert one.case.metrics["life_lines"] == pytest.approx(lines)
    assert one.case.metrics["life_years"] == pytest.approx(lines * 0.01 / 86_400 / 365.25)
    text = told(planted)
    assert "last from 0.058 years (UBIFS, used, sync interval 1; 182 million lines)" in text
    # A hundredth of a page for a line of 10 ms: 8,192 × 10^5 × 100 × 10 ms are 819,200,000 s.
    assert "182 million lines) to 26 years (JFFS2, free, no sync)" in text


def test_a_chip_without_a_rated_endurance_lasts(tmp_path: Path) -> None:
    study = STUDY.replace("[axes]", '[axes]\n"chip.endurance_cycles" = [0]')
    assert "rated erases" not in told(run_of(tmp_path, study))


def test_what_a_state_changes(planted: LogRun) -> None:
    text = told(planted)
    pages = "pages per line 1.50 times as many."
    assert f"YAFFS2, used against free: the slowest line is the same; {pages}" in text
    assert re.search(
        r"JFFS2, used against free: the slowest line is the same \(no sync\) to 200 times slower "
        r"\(sync interval 1\); pages per line 1\.50 times as many\.",
        text,
    )


def test_who_programs_beside_the_daemon(planted: LogRun) -> None:
    # 750 and 100 in the flush of 3,000: 28 %; 1,125 and 100 of 4,500: 27 %.
    shares = "UBIFS 0–28 % (ubi_bgt0d, kworker and ubifs_bgt0_0)."
    assert f"Pages that other tasks than the daemon program: {shares}" in told(planted)


def test_rotations(tmp_path: Path) -> None:
    def rotated(case: Case, workload: AppendLog) -> Made:
        made = does(case, workload)
        rotations = {"rotate": (30 * MS, 30 * MS, 70 * MS)}
        if case.filesystem.name != "ubifs" or workload.fsync_every != 1:
            return made
        return replace(made, rotations=3, latencies_ns={**made.latencies_ns, **rotations})

    run = run_of(tmp_path, what=rotated)
    # A rotation is no line.
    assert {slowest(one) for one in run.at("UBIFS", "free", 1)} == {2 * MS}
    text = told(run)
    (found,) = [line for line in text.splitlines() if "a rotation takes" in line]
    # Two seeds in two states.
    assert re.fullmatch(
        r"UBIFS: a rotation takes (30\.0|30\.1|29\.9) ms at the median, 15\.\d times what a "
        r"line takes; the slowest of 12 took 70\.0 ms\.",
        found,
    )


def test_a_case_that_ran_out_of_space_is_in_no_figure(tmp_path: Path) -> None:
    def full(case: Case, workload: AppendLog) -> Made:
        made = does(case, workload)
        if case.filesystem.name != "jffs2":
            return made
        if not workload.fsync_every:
            return replace(made, latencies_ns={}, stopped="ENOSPC", done=0, synced=0)
        return replace(made, stopped="ENOSPC", done=10, synced=10)

    folder = write_log_run(tmp_path / "run", STUDY, full)
    text = (folder / "results.jsonl").read_text()
    # The judgement is the campaign's; a result by hand says it was one.
    assert '"stopped":"ENOSPC"' in text
    run = load_log(folder)
    assert [one.case.outcome for one in run.cases][:12] == ["short"] * 12
    assert run.labels == ("UBIFS", "YAFFS2")
    page = page_of_words(folder)
    assert "12 of 36 cases failed" in page and "after 10 of 1,000 lines" in page


def test_a_configuration_that_is_missing_in_one_state(tmp_path: Path) -> None:
    def full(case: Case, workload: AppendLog) -> Made:
        made = does(case, workload)
        place = (case.filesystem.name, case.state.name)
        gone = place == ("jffs2", "used")
        gone = gone or (place == ("yaffs2", "free") and not workload.fsync_every)
        return replace(made, stopped="ENOSPC", done=10, synced=10) if gone else made

    run = run_of(tmp_path, what=full)
    assert list(lines_of(run, "free", of_line(99))) == ["JFFS2", "UBIFS", "YAFFS2"]
    assert list(lines_of(run, "used", of_line(99))) == ["UBIFS", "YAFFS2"]
    text = told(run)
    assert "Used: pages per line – sync interval 1: YAFFS2 3.00 and UBIFS 4.50;" in text
    assert "no sync: JFFS2 0.0100 and UBIFS 0.0300." in text
    assert "JFFS2, used against free" not in text and "UBIFS, used against free" in text


def test_every_sentence_where_nothing_but_the_file_system_varies(tmp_path: Path) -> None:
    def half(_: Case, workload: AppendLog) -> Made:
        assert workload.fsync_every == 1
        lines = line_latencies(100, 2000, 2)
        spread = {"append": lines, "sync": lines, "append-sync": lines}
        return Made(spread, tasks={"init": 1024}, erases=8)

    run = run_of(tmp_path, LOG_STUDY, half)
    # Nothing disturbs the lines.
    assert len(sentences.topics(run)) == 3
    # 8,192 pages × 100,000 ÷ 1.024: 800 million lines, of 10 ms each.
    assert told(run).splitlines() == [
        "99th percentile of a line – JFFS2 and UBIFS (within 2 % of each other) are fastest.",
        "The slowest line of the run took 2.00 µs, on JFFS2: 20.0 times its median of 100 ns.",
        "Lines of more than 10 times the median: JFFS2 up to 0.20 %; UBIFS up to 0.20 %.",
        "Pages per line – JFFS2 1.02 and UBIFS 1.02.",
        "For a byte of the log the chip programs 16.4 bytes.",
        "At the pace of the cases, and with ideal wear levelling, the partition’s rated erases "
        "last 0.25 years (800 million lines).",
    ]


def test_it_is_the_99th_percentile(tmp_path: Path) -> None:
    def tails(case: Case, _: AppendLog) -> Made:
        lines = line_latencies(100, 100, 0)
        if case.filesystem.name == "ubifs":  # 15 of 1,000
            lines = line_latencies(90, 120, 15)
        return Made({"append": lines, "sync": lines, "append-sync": lines})

    text = told(run_of(tmp_path, LOG_STUDY, tails))
    assert "99th percentile of a line – JFFS2 is fastest; behind: UBIFS 20 % slower." in text


def test_means_and_ranges_over_seeds(tmp_path: Path) -> None:
    def seeded(case: Case, workload: AppendLog) -> Made:
        made = does(case, workload)
        return replace(made, tasks={"init": 1000 * (2 * case.seed - 1)}, flush_pages=0)

    run = run_of(tmp_path, what=seeded)
    mean = mean_of(run.at("YAFFS2", "free", 1), of_metric("pages_per_line"))
    assert mean == Mean(2.0, 1.0, 3.0, 2)
    assert mean_of((), of_metric("pages_per_line")) is None


# The page.


def test_the_page(tmp_path: Path) -> None:
    page = page_of_words(write_log_run(tmp_path / "run", STUDY, does), validate=True)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for anchor in re.findall(r'href="#([^"]+)"', page):
        assert anchor in ids
    for section in ("findings", "interval", "latency", "flash", "results"):
        assert f'<section id="{section}"' in page
    for words in ("p99 of a line (ms)", "Pages per line", "sync interval (lines)", "UBIFS writes"):
        assert words in page


def test_the_page_of_a_single_configuration(tmp_path: Path) -> None:
    study = LOG_STUDY.replace('["jffs2", "ubifs"]', '["jffs2"]')
    page = page_of_words(write_log_run(tmp_path / "run", study, does), validate=True)
    assert '<section id="interval"' not in page and "All lines" in page
    assert "The slowest line of the run took" in page
    assert "JFFS2 writes one node" in page and "UBIFS writes" not in page


def test_tables(planted: LogRun) -> None:
    rows = {row[:2]: row[2:] for row in tables.flash_table(planted).rows}
    found = rows["UBIFS", "free, sync interval 1"]
    # Pages and reads per line, amplification, others' share, erases per 1,000 lines and per block.
    assert found[:6] == ("3.00", "0", "48.0", "28", "8.00", "0.0625")
    latencies = tables.latency_table(planted)
    ops = {"what the daemon waits for", "write() of a line", "a sync"}
    assert {row[2] for row in latencies.rows} == ops
    unsynced = [row for row in latencies.rows if row[:2] == ("UBIFS", "free, no sync")]
    assert [(row[2], row[3]) for row in unsynced] == [("what the daemon waits for", "2,000")]
    assert len(tables.case_table(planted).rows) == 36


def alike(lines: tuple[int, ...], **changes: Any) -> Does:
    """Every case has these lines."""
    spread = {"append": lines, "sync": lines, "append-sync": lines}
    return lambda _case, _workload: replace(Made(spread, tasks={"init": 1024}, erases=8), **changes)


def test_the_slowest_line_stands_beside_its_own_median(tmp_path: Path) -> None:
    """Of 1,000 lines the 500th takes 2 ms; the 490th took 1 ms, and the 510th 3."""
    lines = (MS,) * 490 + (2 * MS,) * 10 + (3 * MS,) * 500
    text = told(run_of(tmp_path, LOG_STUDY, alike(lines)))
    assert "took 3.00 ms, on JFFS2: 1.50 times its median of 2.00 ms." in text


def test_a_rotation_is_told_by_its_median(tmp_path: Path) -> None:
    """Of 100 the 50th takes 20 ms, the 49th 10, the 51st 30; of the lines the 500th 2 ms."""
    lines = (MS,) * 490 + (2 * MS,) * 10 + (3 * MS,) * 500
    rotations = (10 * MS,) * 49 + (20 * MS,) + (30 * MS,) * 50
    spread = {"append": lines, "sync": lines, "append-sync": lines, "rotate": rotations}
    does = alike(lines, latencies_ns=spread, rotations=100)
    found = [
        line for line in told(run_of(tmp_path, LOG_STUDY, does)).splitlines() if "rotat" in line
    ]
    median = r"(20\.[01]|19\.9) ms at the median, (10\.0|9\.9\d|10\.1) times what a line takes"
    assert len(found) == 2 and all(re.search(median, line) for line in found)


def test_how_many_lines_are_slow_has_two_digits(tmp_path: Path) -> None:
    """94 of 1,000: 9.4 %."""
    text = told(run_of(tmp_path, LOG_STUDY, alike(line_latencies(MS, 20 * MS, 94))))
    assert "JFFS2 up to 9.4 %; UBIFS up to 9.4 %" in text


def test_tasks_beside_the_daemon_from_a_twentieth_of_the_pages(tmp_path: Path) -> None:
    """52 of 1,040 pages, exactly 5 %, and one of them less; 17 and 30 of two tasks are 4.52 %."""

    def shares(own: int, **others: int) -> str:
        folder = tmp_path / f"{own}"
        folder.mkdir()
        made = alike(line_latencies(MS, MS, 0), tasks={"init": own, **others})
        found = re.search("Pages that other tasks .*: (.*)", told(run_of(folder, LOG_STUDY, made)))
        return found[1] if found else ""

    assert shares(988, kworker=52) == "JFFS2 5.0 % (kworker); UBIFS 5.0 % (kworker)."
    assert shares(989, kworker=51) == ""
    # 346 of 1,000 are 35 %, and so the words say; of equally busy tasks names decide.
    assert shares(654, zz=173, aa=173) == "JFFS2 35 % (aa and zz); UBIFS 35 % (aa and zz)."


def test_lines_until_the_end_are_rounded_to_millions(tmp_path: Path) -> None:
    """8,192 × 100,000 ÷ 1.1 are 744.7 million."""
    run = run_of(tmp_path, LOG_STUDY, alike(line_latencies(MS, MS, 0), tasks={"init": 1100}))
    assert "(745 million lines)" in told(run)
