"""The page of an exploration: its table, findings, recovery, and what is not there yet."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command

from ffslab.errors import DamagedResultError
from ffslab.exploration.run import Directory, Request, begin
from ffslab.exploration.stored import VERSION, StoredFinding, StoredUnit
from ffslab.exploration.walked import Cut
from ffslab.report.exploration.chart import strips
from ffslab.report.exploration.load import load
from ffslab.report.exploration.outcomes import outcomes_of, tone_of
from ffslab.report.exploration.page import render_exploration, write_exploration
from ffslab.report.exploration.recovery import Series, flash_ns, recovery_of
from ffslab.report.exploration.series import words_of
from ffslab.report.exploration.words import commands, cut_words, facts, result_words, under_way

TEXT = """
exploration = 1
name = "mine"
title = "Mine & <yours>"
description = "Two file systems."
[base]
board = "apf27"
partition_bytes = "8 MiB"
[axes]
filesystem = ["jffs2", "ubifs"]
[[workload]]
kind = "update-by-rename"
parameters.updates = 4
[[workload]]
kind = "overwrite"
name = "database"
"""
IN_A_ROW = """
[series]
cuts = 40
"""
LOG = "".join(f"{n} program 62 {n} 0 2048 0\n" for n in range(9)) + "9 erase 3\n"
HISTORY = "mkdir etc\nwrite etc/conf.new 0 200 1\nfsync etc/conf.new\n"
RECORD = "op 0 0 0 1\nop 1 0 1 4\nop 2 0 4 7\nend 3 7 7\n"
CURVE = [[at, 500 + at, 200 if at == 4 else 0, 0, 1000 * at] for at in range(10)]


def finding(outcome: str = "mount-fails", **changes: Any) -> StoredFinding:
    found: dict[str, Any] = {
        "id": "0a1b2c3d",
        "state": "4 torn-bits 2",
        "outcome": outcome,
        "kind": "torn-bits",
        "detail": "mounting fails: <no> & never",
        "states": 1,
        "confirmed": True,
        "filled": False,
        "console": [],
    }
    return {**found, **changes}  # type: ignore[typeddict-item]


def unit(unit_id: str, **changes: Any) -> StoredUnit:
    filesystem, _, workload = unit_id.split("-", 2)
    stored: dict[str, Any] = {
        "v": VERSION,
        "id": unit_id,
        "filesystem": filesystem,
        "workload": workload,
        "seed": 1,
        "calls": 3,
        "operations": 10,
        "states_possible": 40,
        "states": 12,
        "untouched": 0,
        "counts": {"lost": {"correct": 10}, "torn-bits": {"correct": 2}},
        "random": {},
        "findings": [],
        "recovery": {"curve": CURVE, "worst": 9, "uncut": [90, 0, 0, 7]},
    }
    return {**stored, **changes}  # type: ignore[typeddict-item]


def wrong(unit_id: str, **changes: Any) -> StoredUnit:
    counts = {"lost": {"correct": 10}, "torn-bits": {"correct": 1, "mount-fails": 1}}
    return unit(unit_id, counts=counts, findings=[finding(**changes)])


def made(place: Path, units: Sequence[StoredUnit], text: str = TEXT) -> Directory:
    """A directory in which these units have been explored."""
    path = place / "mine.toml"
    path.write_text(text)
    request = Request(str(path), (), (), "ffslab crash run mine.toml")
    directory = begin(request, place, datetime(2026, 1, 1, tzinfo=UTC))
    for stored in units:
        where = directory.unit_dir(stored["id"])
        where.mkdir(parents=True)
        for name, words in (("history", HISTORY), ("record", RECORD), ("log", LOG)):
            (where / name).write_text(words)
        directory.finish(stored)
    return directory


IDS = [f"{fs}-s1-{name}" for fs in ("jffs2", "ubifs") for name in ("update-by-rename", "database")]


@pytest.fixture
def whole(tmp_path: Path) -> Directory:
    return made(tmp_path, [wrong(IDS[0]), *(unit(one) for one in IDS[1:])])


# What is there.


def test_units_are_read_with_their_operations_and_calls(whole: Directory) -> None:
    loaded = load(whole)
    assert [part.stored["id"] for part in loaded.parts] == IDS
    assert [part.label for part in loaded.parts] == ["JFFS2", "JFFS2", "UBIFS", "UBIFS"]
    assert loaded.states == 48 and not loaded.missing
    first = loaded.parts[0]
    assert under_way(first, 0) == "program of block 62, page 0, in: mkdir etc"
    assert under_way(first, 4) == "program of block 62, page 4, in: fsync etc/conf.new"
    assert under_way(first, 9) == "erase of block 3, in: unmount"
    assert under_way(first, 10) == ""


def test_what_has_not_been_explored_is_named(tmp_path: Path) -> None:
    loaded = load(made(tmp_path, [unit(IDS[1])]))
    assert loaded.missing == (IDS[0], *IDS[2:])
    page = render_exploration(Directory(loaded.path))
    assert "3 of 4 units have not been explored yet" in page
    assert "crash run --resume" in page


def test_a_page_of_nothing_says_so(tmp_path: Path) -> None:
    page = render_exploration(made(tmp_path, []))
    assert "No state has been gone through yet." in page
    assert "No unit has been explored yet." in page


def test_texts_that_are_gone_leave_less_to_say(whole: Directory) -> None:
    for name in ("history", "record", "log"):
        (whole.unit_dir(IDS[0]) / name).unlink()
    assert under_way(load(whole).parts[0], 0) == ""
    assert "0a1b2c3d" in render_exploration(whole)


def test_a_damaged_unit_is_an_error(whole: Directory) -> None:
    path = whole.unit_dir(IDS[2]) / "unit.json"
    path.write_text(path.read_text()[:-20])
    with pytest.raises(DamagedResultError, match=re.escape(str(path))):
        load(whole)


# Outcomes.


def test_a_cell_says_how_many_are_correct_and_what_the_others_are(whole: Directory) -> None:
    table = outcomes_of(load(whole).parts, is_sample=False)
    assert table.columns == ("lost", "torn-bits")
    assert [block.workload for block in table.blocks] == ["update-by-rename", "database"]
    (jffs2, ubifs) = table.blocks[0].rows
    good, bad = jffs2.cells
    assert good is not None and (good.tone, good.head, good.lines) == ("good", "10", ())
    assert bad is not None and (bad.tone, bad.head) == ("fatal", "1 of 2")
    assert bad.lines == ("1 mount-fails",)
    assert (jffs2.label, jffs2.states, ubifs.label) == ("JFFS2", "12", "UBIFS")
    assert [tone for tone, _ in table.tones] == ["fatal", "good"]
    assert [word for word, _ in table.words] == ["mount-fails"]


def test_recoveries_that_were_cut_and_samples_have_columns_of_their_own(tmp_path: Path) -> None:
    counts = {
        "lost": {"correct": 8},
        "lost / done": {"correct": 2},
        "torn-bits / done": {"stale-data": 1},
    }
    stored = unit(IDS[0], counts=counts, random={"correct": 5}, states=11)
    parts = load(made(tmp_path, [stored])).parts
    table = outcomes_of(parts, is_sample=True)
    assert table.columns == ("lost", "done", "at random")
    assert [span for _, span in table.spans] == [1, 1, 1]
    (row,) = table.blocks[0].rows
    assert row.states == "11 of 40"
    assert row.cells[1] is not None and row.cells[1].tone == "harm"
    assert row.cells[1].head == "2 of 3"


@pytest.mark.parametrize(
    ("outcome", "tone"),
    [
        ("correct", "good"),
        ("guest-died", "fatal"),
        ("remount-fails", "fatal"),
        ("synced-data-lost", "harm"),
        ("changed-by-power", "harm"),
        ("use-fails", "use"),
        ("leak", "use"),
    ],
)
def test_an_outcome_has_a_colour(outcome: str, tone: str) -> None:
    assert tone_of(outcome) == tone


# Words.


def test_the_result_is_a_sentence(whole: Directory, tmp_path: Path) -> None:
    assert result_words(load(whole)) == "1 of 48 states is not correct: 1 mount-fails (JFFS2 1)."
    (tmp_path / "good").mkdir()
    good = made(tmp_path / "good", [unit(one) for one in IDS])
    assert result_words(load(good)) == "All 48 states are correct."


def test_facts_tell_what_was_explored(whole: Directory) -> None:
    told = dict(facts(load(whole)))
    assert told["File systems"] == "JFFS2, UBIFS"
    assert told["Workloads"] == "update-by-rename, database"
    assert told["Sample"] == "every operation"
    assert told["Each state is"].startswith("mounted, looked at, used (24 of each unit until full)")
    assert told["Other faults of the chip"] == "none"
    assert "Cuts in a row" not in told


def test_commands_lead_on(whole: Directory) -> None:
    told = [words for _, words in commands(load(whole))]
    assert told[0] == "ffslab crash run mine.toml"
    assert any("crash minimize 0a1b2c3d --run" in words for words in told)
    assert cut_words(Cut(1234, "torn-bits", 2)) == "torn-bits at 1,234, variant 2"


# Recovery.


def test_a_mount_without_time_has_an_estimate_with_two_bounds(whole: Directory) -> None:
    part = load(whole).parts[0]
    found = recovery_of(part, is_timed=False)
    assert found is not None and found.is_exhaustive
    reads, programs, _ = found.counts
    assert reads.worst == (9, 509) and reads.uncut == 90 and programs.worst == (4, 200)
    assert reads.percentile(50) == 504 and reads.percentile(95) == 509
    low, high = found.times
    assert low.worst[0] == high.worst[0] == found.worst == 4
    assert 0 < low.worst[1] < high.worst[1]


def test_the_estimate_is_the_board_s_figures_times_the_counts(whole: Directory) -> None:
    board = load(whole).parts[0].board
    chip = replace(
        board.chip,
        page_bytes=2000,
        oob_bytes=0,
        t_command_ns=1,
        t_read_ns=10,
        t_prog_ns=100,
        t_erase_ns=1000,
        bus_read_ps=1000,
        bus_write_ps=2000,
        ecc_read_ns=5,
        ecc_write_ns=6,
    )
    bare = replace(board, chip=chip, driver_read_ns=20, driver_program_ns=30, driver_erase_ns=7)
    assert flash_ns(bare, (1, 0, 0), whole=False) == 1 + 10 + 7
    assert flash_ns(bare, (1, 0, 0), whole=True) == 1 + 10 + 2000 + 5 + 20
    assert flash_ns(bare, (0, 1, 0), whole=True) == 1 + 100 + 4000 + 6 + 30
    assert flash_ns(bare, (0, 0, 3), whole=True) == 3 * (1 + 1000 + 7)
    assert flash_ns(bare, (2, 1, 1), whole=False) == 2 * 18 + 108 + 1008


def test_a_mount_with_time_has_it_measured(whole: Directory) -> None:
    found = recovery_of(load(whole).parts[0], is_timed=True)
    assert found is not None and not found.estimate
    assert found.times[0].worst == (9, 0.009) and found.worst == 9


def test_without_a_lost_operation_there_is_no_recovery_to_tell(tmp_path: Path) -> None:
    stored = unit(IDS[0], recovery={"curve": [], "worst": None})
    parts = load(made(tmp_path, [stored])).parts
    assert recovery_of(parts[0], is_timed=False) is None


def test_the_chart_keeps_each_worst_case() -> None:
    points = tuple((at, 1.0 + (at == 4321) * 99) for at in range(10_000))
    drawn = strips((Series("pages read", points, 3.0),), 10_000, "c0", "A & B", "r0")
    root = ET.fromstring(drawn)
    path = max((one.get("d", "") for one in root.iter("path")), key=len)
    assert path.count("M") < 1000  # as many as there are pixels
    title = next(root.iter("title")).text or ""
    assert title == "A & B. Worst: pages read: 100 after a cut at operation 4321"
    assert len(list(root.iter("circle"))) == 1
    nothing = strips((Series("blocks erased", ((0, 0.0),)),), 1, "c0", "x", "r1")
    assert "none" in nothing and "<circle" not in nothing


# The page.


def test_the_page_has_all_of_it_and_no_text_is_markup(whole: Directory) -> None:
    page = render_exploration(whole)
    for words in ("Mine &amp; &lt;yours&gt;", "mounting fails: &lt;no&gt; &amp; never"):
        assert words in page
    assert "<no>" not in page and "<yours>" not in page
    assert page.count('class="tone fatal"') >= 2 and "torn-bits at 4, variant 2" in page
    assert "crash replay 0a1b2c3d --run" in page
    assert "time is an estimate" in page
    assert page.count("<figure") == 4
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_findings_tell_how_many_and_whether_they_were_repeated(tmp_path: Path) -> None:
    stored = wrong(IDS[0], states=1234, confirmed=False, detail="x" * 400)
    page = render_exploration(made(tmp_path, [stored]))
    assert "and 1,233 more, not the same alone in a guest" in page
    assert "x" * 300 + "…" in page and "x" * 301 not in page


def test_cuts_in_a_row_have_a_table_and_numbers_of_their_own(tmp_path: Path) -> None:
    series = {
        "cuts": 40,
        "lives": [0, 30],
        "space": [[0, 9_000_000, 1, 1, 2, 5, 3], [30, 7_500_000, 1, 1, 4, 50, 30]],
        "recovery": {"none": [2, 900, 0, 0, 900, 0, 0], "lost": [40, 400, 80, 4, 33, 9, 1]},
        "spared": [],
    }
    ids = [f"{name}-s1-series" for name in ("jffs2", "ubifs")]
    units = [
        wrong(ids[0], state="31 lost 0"),
        unit(ids[1]),
    ]
    for stored in units:
        stored["series"] = series  # type: ignore[typeddict-item]
        stored["recovery"] = {"curve": [], "worst": None}
    without = TEXT[: TEXT.index("[[workload]]")]
    directory = made(tmp_path, units, without + IN_A_ROW)
    page = render_exploration(directory)
    assert words_of(series) == (  # type: ignore[arg-type]
        *("40", "2", "9.00", "7.50", "7.50", "2", "30", "10", "33"),
    )
    assert 'id="series"' in page and 'id="recovery"' not in page
    assert "cut 31: lost" in page and "crash minimize" not in page
    assert dict(facts(load(directory)))["Cuts in a row"] == "40"


def test_it_is_written_where_one_wants_it(whole: Directory, tmp_path: Path) -> None:
    assert write_exploration(whole) == whole.path / "report.html"
    assert write_exploration(whole, tmp_path) == tmp_path / "report.html"
    assert write_exploration(whole, tmp_path / "my.html").read_text().startswith("<!doctype html>")


# The commands.


def test_report_writes_the_page_of_an_exploration(
    whole: Directory, tmp_path: Path, ffslab_command: Command
) -> None:
    target = tmp_path / "x.html"
    for words in (["report", str(whole.path)], ["crash", "report", str(whole.path)]):
        done = ffslab_command(*words, "--to", str(target))
        assert done.code == 0 and done.output.strip() == str(target)
        assert "Mine" in target.read_text()
        target.unlink()
    by_name = ffslab_command("report", whole.path.name, "-o", str(whole.path.parent))
    assert by_name.code == 0 and (whole.path / "report.html").is_file()


def test_no_directory_and_a_damaged_one_are_told_apart(
    whole: Directory, tmp_path: Path, ffslab_command: Command
) -> None:
    missing = ffslab_command("crash", "report", "nowhere", "-o", str(tmp_path))
    assert missing.code == 2 and "no exploration" in missing.error
    (whole.path / "exploration.json").write_text(json.dumps([1]))
    damaged = ffslab_command("crash", "report", str(whole.path))
    assert damaged.code == 3 and "exploration.json" in damaged.error
