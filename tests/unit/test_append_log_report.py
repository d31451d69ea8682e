"""What the report says of append-log alone: whose pages, and for how long, of planted cases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from append_log_support import Made, log_case, log_result
from test_report_support import by_key, told

from ffslab.report.data import Case, Run
from ffslab.report.sections.section import Section
from ffslab.workloads.append_log.report import Log, figures_of, sections
from loaded_support import load_run, unpacked

EVERY = "workload.fsync_every"


def case(
    filesystem: str,
    pages: Mapping[str, float],
    years: float | None = None,
    *,
    outcome: str = "pass",
    **axes: str,
) -> Case:
    axes = {"filesystem": filesystem, "state": "free", "seed": "1", **axes}
    return Case("-".join(axes.values()), axes, outcome, "", own=Log(pages, years))


def shown(*cases: Case) -> dict[str, Section]:
    return by_key(sections(Run("r", "s", "t", "", "", cases), "p-"))


def test_what_is_kept_of_a_case() -> None:
    """1,000 lines with 2,000 pages of the daemon and 500 of a worker. 8,192 pages stand 100,000
    programs, 2.5 for a line of 10 s ÷ 1,000; a year has 365.25 days.
    """
    made = Made({}, tasks={"init": 2000, "kworker/u2:1": 400}, flush_pages=100)
    case = log_case(interval_us=9_000)
    found = figures_of(log_result(made, case))  # type: ignore[arg-type]
    assert found is not None and found.pages == {"init": 2.0, "kworker/u2:1": 0.5}
    assert found.life_years == pytest.approx(8192 * 1e5 / 2.5 * 0.01 / 31_557_600)
    nothing: Any = log_result(Made({}, done=0, synced=0, stopped="ENOSPC"), case)
    assert figures_of(nothing) is None and figures_of({**nothing, "log": None}) is None


def test_whose_the_pages_are() -> None:
    """Means over two seeds; a worker's number does not matter, a task without pages is no row."""
    threads = {"init": 2.0, "kworker/u2:1": 0.5, "kworker/0:0": 0.25, "ubi_bgt0d": 0.0}
    found = shown(
        case("ubifs", threads, seed="1", compression="lzo"),
        case("ubifs", {**threads, "ubi_bgt0d": 2.5}, seed="2", compression="lzo"),
        case("ubifs", {"ffsagent": 1.0}, compression="none"),
        case("jffs2", {"init": 4.0, "jffs2_gcd": 1.0}, state="used", **{EVERY: "1"}),
        case("jffs2", {"init": 0.5}, state="used", **{EVERY: "0"}),
        case("jffs2", {"init": 99.0, "jffs2_gcd": 999.0}, outcome="fail"),
        Case("none", {"filesystem": "yaffs2"}, "pass", ""),
    )
    assert list(found) == ["tasks"]
    assert told(found["tasks"]) == [
        "**UBIFS · lzo, state free** has 50 % of its pages from other tasks than the daemon.",
        "Pages of a line by task ()",
        "  UBIFS · lzo / state free / the daemon: 2",
        "  UBIFS · lzo / state free / the kernel, writing back: 0.75",
        "  UBIFS · lzo / state free / tasks of the file system: 1.25",
        "  UBIFS · no compression / state free / the daemon: 1",
        "  UBIFS · no compression / state free / the kernel, writing back: 0",
        "  UBIFS · no compression / state free / tasks of the file system: 0",
        "  JFFS2 · writes per sync 1 / state used / the daemon: 4",
        "  JFFS2 · writes per sync 1 / state used / the kernel, writing back: 0",
        "  JFFS2 · writes per sync 1 / state used / tasks of the file system: 1",
        "  JFFS2 · writes per sync ∞ / state used / the daemon: 0.5",
        "  JFFS2 · writes per sync ∞ / state used / the kernel, writing back: 0",
        "  JFFS2 · writes per sync ∞ / state used / tasks of the file system: 0",
        "[Pages of a line by task]",
        "configuration | at | task | pages per line",
        "UBIFS · lzo | state free | init | 2.00",
        "UBIFS · lzo | state free | ubi_bgt0d | 1.25",
        "UBIFS · lzo | state free | kworker | 0.750",
        "UBIFS · no compression | state free | ffsagent | 1.00",
        "JFFS2 | state used, writes per sync 1 | init | 4.00",
        "JFFS2 | state used, writes per sync 1 | jffs2_gcd | 1.00",
        "JFFS2 | state used, writes per sync ∞ | init | 0.500",
    ]
    assert (
        "pages)" in found["tasks"].charts[0].drawing and found["tasks"].tables[0].text_columns == 3
    )
    few = [case("jffs2", {"init": 1.0}), case("ubifs", {"init": 0.0})]
    assert told(shown(*few)["tasks"])[0] == "The daemon."
    assert told(shown(case("jffs2", {"init": 1.0, "gc": 2.0}))["tasks"])[0].startswith(
        "**JFFS2** has 67 %"
    )


def test_how_long_the_flash_lasts() -> None:
    found = shown(
        case("jffs2", {}, 26.04, seed="1"),
        case("jffs2", {}, 30.04, seed="2"),
        case("jffs2", {}, None, state="used"),
        case("ubifs", {}, 0.05763),
    )
    assert list(found) == ["life"]
    assert told(found["life"]) == [
        "0.058 years at the least: **UBIFS, state free**.",
        "Life at the pace of the cases ()",
        "  JFFS2 / state free: 28.04",
        "  UBIFS / state free: 0.05763",
        "[Life at the pace of the cases]",
        *("configuration | at | years", "JFFS2 | state free | 28.0", "UBIFS | state free | 0.0576"),
    ]
    assert "Life (years)" in found["life"].charts[0].drawing
    assert found["life"].tables[0].text_columns == 2
    assert shown(case("jffs2", {})) == {}


def test_sections_of_a_real_run(tmp_path: Path) -> None:
    """72 cases of three seeds."""
    run = load_run(unpacked("append-log", tmp_path))
    tasks, life = sections(run, "")
    assert len(life.tables[0].rows) == 72 // 3 and len(tasks.tables[0].rows) > 24
    assert tasks.sentence and life.sentence
