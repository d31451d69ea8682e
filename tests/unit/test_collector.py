"""What YAFFS2 says of its garbage collector: from the guest's files to result and report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from host_support import cases_of
from made_records import made_run, planned
from test_report_support import rows_of

from ffslab.cli.show import collector_lines
from ffslab.errors import DamagedResultError, SpecError
from ffslab.loader import load_catalog
from ffslab.model.case import Case, case_spec
from ffslab.model.catalog import filesystem_from_document
from ffslab.protocol.records import RecordStream, parse_records
from ffslab.report.collector import sections
from ffslab.report.page import render
from ffslab.results.casefile import case_result
from ffslab.results.collector import collector
from ffslab.results.outcome import Outcome
from ffslab.targets.virtual_flash import plans

COUNTERS = "/proc/yaffs2/mtd0"
PLAIN = "page_bytes 2048\ngc_copies 7\n"
FORECAST = (
    "forecast_runs 400\nforecast_unknown_runs 2\nforecast_broken_runs 1\n"
    "forecast_taken_ns 6500000000\nforecast_error_sum_permille 1800\n"
    "forecast_error_p99_permille 76\n"
)
BOUND = (
    "bound_us 20000\nbound_calls 5000\nbound_missed 3\nbound_forced_runs 1\n"
    "bound_longest_ns 18250000\n"
)
RUNS = "1000000 1100000 1 0\n2500000 2500000 1 1\n"
STUDY = """
schema = 1
name = "collected"
title = "Collected"

[base]
board = "xscale-1g"
filesystem = "yaffs2-improved"
partition_bytes = "8 MiB"

[axes]
"options.gc" = ["original", "predict"]
"options.gc_bound" = ["none", "20ms"]
"""


def stream(**files: str) -> RecordStream:
    """Records of a guest that kept these files; `runs` is that of the collections."""
    paths = {"counters": COUNTERS, "runs": f"{COUNTERS}-collections", "other": "/proc/cpu_model"}
    lines = [
        json.dumps({"v": 1, "type": "file", "path": paths[name], "text": text})
        for name, text in files.items()
    ]
    found = parse_records("".join(f"{line}\n" for line in lines).encode())
    assert not found.damage
    return found


def test_forecasts_and_the_bound_are_told_apart() -> None:
    """1,800 tenths of a percent over 400 runs are 0.45 % on average."""
    both = collector(stream(counters=PLAIN + FORECAST + BOUND, runs=RUNS, other="loops 1\n"))
    assert both == {
        "forecast": {
            "runs": 400,
            "unknown_runs": 2,
            "broken_runs": 1,
            "taken_ns": 6_500_000_000,
            "error_mean_percent": 0.45,
            "error_p99_percent": 7.6,
            "last_runs": [[1_000_000, 1_100_000, 1, 0], [2_500_000, 2_500_000, 1, 1]],
        },
        "bound": {
            "bound_us": 20_000,
            "calls": 5000,
            "missed": 3,
            "forced_runs": 1,
            "longest_ns": 18_250_000,
        },
    }
    only = collector(stream(counters=PLAIN + BOUND))
    assert only is not None and set(only) == {"bound"}


def test_without_runs_there_is_no_mean() -> None:
    found = collector(stream(counters=FORECAST.replace("400", "0").replace("1800", "0"), runs=""))
    assert found is not None
    assert found["forecast"]["error_mean_percent"] == 0 and not found["forecast"]["last_runs"]


def test_a_guest_that_kept_nothing_has_none() -> None:
    assert collector(stream()) is None
    assert collector(stream(other="loops 1\n")) is None
    assert collector(stream(counters=PLAIN)) is None


@pytest.mark.parametrize(
    ("counters", "runs"),
    [
        ("forecast_runs many\n", ""),
        ("forecast_runs\n", ""),
        (FORECAST, "1 2 3\n"),
        (FORECAST, "1 2 3 4 5\n"),
        (FORECAST, "1 2 three 4\n"),
    ],
)
def test_what_is_no_such_file_is_damage(counters: str, runs: str) -> None:
    with pytest.raises(DamagedResultError, match="not a file of YAFFS2"):
        collector(stream(counters=counters, runs=runs))


# What the catalog says is kept, and what the plan does.


def captured(case: Case) -> list[str]:
    (plan,) = plans(case)
    lines = [line for line in plan.splitlines() if line.startswith("capture path=/proc/yaffs2")]
    last = plan.splitlines().index("umount target=/mnt") if lines else 0
    assert all(plan.splitlines().index(line) < last for line in lines)
    return [line.partition("=")[2] for line in lines]


def test_files_are_kept_as_the_options_are_chosen() -> None:
    by_id = {case.id: case for case in cases_of(STUDY)}
    kept = {name: captured(case) for name, case in by_id.items()}
    assert kept["original-none-s1"] == []
    assert kept["original-20ms-s1"] == [COUNTERS]
    assert kept["predict-none-s1"] == [COUNTERS, f"{COUNTERS}-collections"]
    assert kept["predict-20ms-s1"] == kept["predict-none-s1"]  # the counters once
    spec = case_spec(by_id["predict-20ms-s1"])["filesystem"]
    assert spec["kept_files"] == [
        "/proc/yaffs2/mtd{number}",
        "/proc/yaffs2/mtd{number}-collections",
    ]
    assert "kept_files" not in case_spec(by_id["original-none-s1"])["filesystem"]


def test_with_the_defaults_it_is_yaffs2() -> None:
    """But for the name: the same steps, so that a difference is that of an option."""
    improved = {case.id: case for case in cases_of(STUDY)}["original-none-s1"]
    text = STUDY.partition("[axes]")[0].replace("yaffs2-improved", "yaffs2")
    (plain,) = cases_of(text)
    assert plans(improved) == plans(plain)


@pytest.mark.parametrize("path", ["/etc/passwd", "/proc/../etc/passwd", "/proc/Kcore", "proc/x"])
def test_only_files_below_proc_are_kept(path: str) -> None:
    document = {
        "schema": 1,
        "name": "mine",
        "title": "Mine",
        "type": "jffs2",
        "source": "mtd:{partition}",
        "min_blocks": 5,
        "options": {"x": {"default": "a", "values": {"a": {"kept_files": [path]}}}},
    }
    with pytest.raises(SpecError, match="kept_files"):
        filesystem_from_document(document, "mine.toml")
    assert load_catalog().filesystems["yaffs2-improved"].options["gc"].default == "original"


# What is shown.


def test_a_case_is_shown_with_it() -> None:
    (case, *_) = cases_of(STUDY)
    records = stream(counters=FORECAST + BOUND, runs=RUNS)
    assert collector_lines(case_result(case, Outcome("fail", "a test"), records, "f" * 64)) == [
        "collector: 400 runs forecast, 6.50 s together, mean error 0.45 %, 99 of 100 within 7.6 %",
        "bound of 20.0 ms: missed by 3 of 5,000 calls, which waited at most 18.2 ms for the "
        "collector",
    ]
    assert not collector_lines(case_result(case, Outcome("fail", "a test"), stream(), "f" * 64))


def test_the_report_has_what_cases_kept() -> None:
    """A table of each, and a drawing of the runs; nothing of cases that kept nothing."""
    (section,) = sections(
        [
            ("a", collector(stream(counters=BOUND))),
            ("b", collector(stream(counters=FORECAST + BOUND, runs=RUNS))),
            ("c", None),
        ]
    )
    forecasts, bounds = section.tables
    assert forecasts.rows == (("b", "400", "6.50 s", "0.45 %", "7.6 %", "2", "1"),)
    assert [row[0] for row in bounds.rows] == ["a", "b"]
    assert bounds.rows[0][1:] == ("20.0 ms", "5,000", "3", "1", "18.2 ms")
    assert section.sentence == "6 of 10,000 calls waited longer for it than their bound."
    (chart,) = section.charts
    rows = rows_of(chart.drawing)
    assert [row["kind"] for row in rows].count("run") == 2
    assert {row["facet"] for row in rows} == {"b"}


def test_a_collector_without_a_bound_is_judged_by_its_worst_forecast() -> None:
    (section,) = sections([("b", collector(stream(counters=FORECAST, runs=RUNS)))])
    assert section.sentence == "Forecasts err by 0.45 % in the mean at most: **b**."


def test_a_run_that_kept_nothing_has_no_section() -> None:
    assert not list(sections([("a", None)]))


@pytest.mark.slow
def test_the_page_has_the_section(tmp_path: Path) -> None:
    kept = {"predict-20ms-s1": stream(counters=FORECAST + BOUND, runs=RUNS)}
    failed = Outcome("fail", "a test")
    run = made_run(
        tmp_path / "run",
        planned(STUDY),
        lambda case: case_result(case, failed, kept.get(case.id, stream()), "f" * 64),
    )
    page = render(run)
    assert 'href="#collector"' in page and "6.50 s" in page
