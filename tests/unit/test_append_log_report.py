"""What the report says of append-log alone is what was planted into a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from append_log_support import LOG_STUDY, MS, Made, line_latencies, write_log_run
from test_report_support import charts_of

from ffslab.model.case import Case
from ffslab.report.sections.section import Section
from ffslab.workloads.append_log.keys import AppendLog
from ffslab.workloads.append_log.report import PARTS, sections
from loaded_support import load_run

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


def shown(folder: Path, study: str = STUDY, what: Does = does) -> dict[str, Section]:
    run = load_run(write_log_run(folder / "run", study, what))
    return {section.key: section for section in sections(run, "")}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Section]:
    return shown(tmp_path_factory.mktemp("planted"))


def test_whose_the_pages_are(planted: dict[str, Section]) -> None:
    """Of UBIFS's 3,000 pages 750 are by its own threads, and 100 in the flush by a kworker."""
    section = planted["tasks"]
    told = "**UBIFS, state free, writes per sync 1** has 28 % of its pages from other tasks"
    assert section.sentence == f"{told} than the daemon."
    (chart,) = charts_of(section.charts[0].drawing).values()
    rows = chart["data"]["rows"]
    found = {
        (label, facet, part): value
        for label, facet, part, value in zip(
            *(rows[name] for name in ("label", "facet", "part", "value")), strict=True
        )
    }
    one = ("UBIFS · writes per sync 1", "state free")
    assert [found[(*one, part)] for part in PARTS] == [2.15, 0.1, 0.75]
    assert found["YAFFS2 · writes per sync ∞", "state used", "the daemon"] == 0.03
    rows = [row for row in section.tables[0].rows if row[1] == "state free, writes per sync 1"]
    assert [row[2:] for row in rows if row[0] == "UBIFS"] == [
        ("init", "2.15"), ("ubi_bgt0d", "0.742"), ("kworker", "0.100"), ("ubifs_bgt0_0", "0.00800"),
    ]  # fmt: skip


def test_how_long_the_flash_lasts(planted: dict[str, Section]) -> None:
    """8,192 pages that stand 100,000 programs, 4.5 for a line of 10 s ÷ 1,000: 182 million lines,
    which are 21 days; a year has 365.25. A hundredth of a page: 26 years.
    """
    section = planted["life"]
    told = "0.058 years at the least: **UBIFS, state used, writes per sync 1**."
    assert section.sentence == told
    years = {row[:2]: row[2] for row in section.tables[0].rows}
    assert years["JFFS2", "state free, writes per sync ∞"] == "26.0"
    assert len(years) == 18  # three file systems in two states, with three intervals


def test_a_chip_without_a_rated_endurance_lasts(tmp_path: Path) -> None:
    study = STUDY.replace("[axes]", '[axes]\n"chip.endurance_cycles" = [0]')
    assert list(shown(tmp_path, study)) == ["tasks"]


def test_a_case_that_ran_out_of_space_is_in_no_figure(tmp_path: Path) -> None:
    def full(case: Case, workload: AppendLog) -> Made:
        made = does(case, workload)
        if case.filesystem.name != "jffs2":
            return made
        return replace(made, latencies_ns={}, stopped="ENOSPC", done=0, synced=0)

    labels = {row[0] for row in shown(tmp_path, what=full)["tasks"].tables[0].rows}
    assert labels == {"UBIFS", "YAFFS2"}
    nothing = LOG_STUDY.replace('["jffs2", "ubifs"]', '["jffs2"]')
    assert shown(tmp_path / "run", nothing, full) == {}
