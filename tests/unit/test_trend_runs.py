"""`ffslab trend` over runs of FFSMark with planted figures, and the labels of runs.

The run at which a figure leaves its band is known, so is what the scoreboard has columns for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command
from test_report_support import rows_of, validated, write_run
from test_trend import case_of, trend

from ffslab.compare.trend import TrendRun, trend_of
from ffslab.report.first.brief import brief_of
from ffslab.report.trend.load import load_runs
from ffslab.report.trend.page import MOST_LINES, headline, panels, render_trend
from ffslab.results.outcome import Outcome
from ffslab.results.rundir import RunDirectory

LINES, COLUMNS = 24, 80
SET = [("seed", (1,))]
Factors = Mapping[str, float]


def plant(folder: Path, factors: Factors, **manifest: Any) -> Path:
    """Makes a run's times longer, by the beginnings of case ids, and adds to its manifest."""
    path = folder / "results.jsonl"
    results = [json.loads(line) for line in path.read_text().splitlines()]
    for result in results:
        factor = next((f for name, f in factors.items() if result["id"].startswith(name)), 1.0)
        for phase in result["phases"]:
            for key in ("duration_ns", "on_flash_ns"):
                if phase.get(key) is not None:
                    phase[key] = round(phase[key] * factor)
    path.write_text("".join(json.dumps(result) + "\n" for result in results))
    told = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**told, **manifest}))
    return folder


@pytest.fixture
def planted(tmp_path: Path) -> Callable[..., Path]:
    """Writes a run under results/ with these factors."""

    def write(name: str, factors: Factors, outcomes: Any = None, **manifest: Any) -> Path:
        folder = tmp_path / "results" / name
        write_run(folder, SET, outcomes=outcomes)
        return plant(folder, factors, **manifest)

    return write


def four(planted: Callable[..., Path]) -> list[Path]:
    """UBIFS takes 5 % longer from the third run on."""
    labels = ("v6.1", "v6.2", "v6.9", "v6.10")
    factors: tuple[Factors, ...] = ({}, {"ubifs": 1.01}, {"ubifs": 1.05}, {"ubifs": 1.05})
    return [
        planted(f"2026010{n}T000000Z-ffsmark", own, label=label, started=f"2026-01-0{n}")
        for n, (label, own) in enumerate(zip(labels, factors, strict=True), start=1)
    ]


def test_the_columns_are_those_of_the_scoreboard(planted: Callable[..., Path]) -> None:
    runs = [RunDirectory(path) for path in four(planted)[:2]]
    (chapter,) = brief_of(runs[-1]).chapters
    titles = {column.title for column in chapter.board.columns}
    assert 3 < len(titles) <= 8
    for run in load_runs(runs, []):
        assert run.cases.keys() == set(chapter.cases)
        assert all(one.figures.keys() == titles for one in run.cases.values())
    (some, _) = load_runs(runs, ["ubifs-*"])
    assert some.cases and all(name.startswith("ubifs-") for name in some.cases)


def test_the_run_at_which_a_figure_left_its_band(
    ffslab_command: Command, planted: Callable[..., Path]
) -> None:
    paths = four(planted)
    told = ffslab_command("trend", "--study", "ffsmark")
    assert told.code == 1
    lines = told.output.splitlines()
    assert len(lines) <= LINES and all(len(line) <= COLUMNS for line in lines)
    assert lines[:4] == [
        f"  {n} {path.name}  {label}"
        for n, (path, label) in enumerate(
            zip(paths, ("v6.1", "v6.2", "v6.9", "v6.10"), strict=True), start=1
        )
    ]
    worse = [line for line in lines if "✗" in line]
    assert worse and all(line.endswith("+5 % ✗ 3") for line in worse)
    assert lines[-1].startswith("look at v6.9 first: ubifs-")
    # Within a wider band nothing is worse; the runs may be named, too.
    named = [path.name for path in paths]
    assert ffslab_command("trend", *named, "--threshold", "6").code == 0
    assert ffslab_command("trend", "--study", "ffsmark", "--case", "jffs2*").code == 0
    # The other way round it became faster.
    back = ffslab_command("trend", *reversed(named))
    assert back.code == 0 and "✓ 3" in back.output


def test_labels_are_sorted_as_people_read_them(
    ffslab_command: Command, planted: Callable[..., Path]
) -> None:
    names = [path.name for path in reversed(four(planted))]
    for sort, first in (((), "v6.10"), (("--sort", "label"), "v6.1"), (("--sort", "time"), "v6.1")):
        told = json.loads(ffslab_command("trend", *names, *sort, "--json").output)
        assert told["runs"][0]["label"] == first, sort
    labels = [run["label"] for run in told["runs"]]
    assert labels == ["v6.1", "v6.2", "v6.9", "v6.10"]


def test_json_has_each_value(ffslab_command: Command, planted: Callable[..., Path]) -> None:
    paths = four(planted)
    told = json.loads(ffslab_command("trend", "--study", "ffsmark", "--json").output)
    assert told["threshold_percent"] == 2 and told["against"] == "first"
    assert [run["path"] for run in told["runs"]] == [f"results/{path.name}" for path in paths]
    worse = [one for one in told["figures"] if one["verdict"] == "worse"]
    assert worse and {one["case"].partition("-")[0] for one in worse} == {"ubifs"}
    for one in worse:
        assert one["departures"] == [{"run": 2, "back": None, "direction": "up"}]
        assert one["ratio"] == pytest.approx(1.05) and len(one["values"]) == 4


def test_a_trend_needs_two_runs_and_one_way_to_name_them(
    ffslab_command: Command, planted: Callable[..., Path]
) -> None:
    path = planted("20260101T000000Z-ffsmark", {})
    for words in (
        (),
        (path.name,),
        ("--study", "ffsmark"),
        ("--study", "quick"),
        (path.name, path.name, "--study", "ffsmark"),
        (path.name, path.name, "--case", "nothing*"),
    ):
        refused = ffslab_command("trend", *words)
        assert refused.code == 2 and "next: " in refused.error, words


def test_runs_without_a_figure_in_common_are_not_judged(
    ffslab_command: Command, planted: Callable[..., Path], tmp_path: Path
) -> None:
    path = planted("20260101T000000Z-ffsmark", {})
    other = write_run(tmp_path / "results" / "20260102T000000Z-ffsmark", [("seed", (2,))])
    told = ffslab_command("trend", path.name, other.name)
    assert told.code == 2 and "no figure is in two of these runs" in told.output


def test_a_case_that_fails_now_is_told_first(
    ffslab_command: Command, planted: Callable[..., Path]
) -> None:
    first = planted("20260101T000000Z-ffsmark", {})
    case = json.loads((first / "results.jsonl").read_text().splitlines()[0])["id"]
    planted("20260102T000000Z-ffsmark", {}, {case: Outcome("crash", "an oops")})
    told = ffslab_command("trend", "--study", "ffsmark")
    assert told.code == 1 and f"{case}, run 2: fails now: crash: an oops" in told.output


def test_the_page_has_a_chart_for_each_figure(
    ffslab_command: Command, planted: Callable[..., Path], tmp_path: Path
) -> None:
    four(planted)
    page = tmp_path / "trend.html"
    told = ffslab_command("trend", "--study", "ffsmark", "--html", str(page))
    assert told.code == 1 and f"page: {page}" in told.error
    text = page.read_text(encoding="utf-8")
    loaded = load_runs([RunDirectory(path) for path in sorted(tmp_path.glob("results/*"))], [])
    made = trend_of(loaded)
    drawn = panels(made)
    # The others did not leave their band anywhere.
    assert len(validated(text)) == len(drawn) == 1 and "4 other figures are within" in text
    assert len(panels(trend_of(loaded, 0.1))) == 5
    assert "since v6.9" in text and headline(made).startswith("ubifs-")
    (panel,) = drawn
    rows = rows_of(panel.drawing)
    assert len({row["case"] for row in rows}) == panel.shown == min(panel.lines, MOST_LINES)
    later = [row for row in rows if row["case"].startswith("ubifs") and row["number"] > 2]
    assert later and {row["ratio"] for row in later} == {1.05}
    assert {row["number"] for row in rows if row["size"] > 100} == {3}  # the ring
    names = [row["name"].lower() for row in rows if row["name"]]
    assert sorted(names) == sorted({row["case"].partition("-")[0] for row in rows})


def test_what_was_nothing_is_shown_as_it_is() -> None:
    (panel,) = panels(trend(case_of(0), case_of(0), case_of(3)))
    (chart,) = validated(panel.drawing).values()
    assert chart["data"]["rows"]["ratio"] == [0, 0, 3] and not chart["data"]["band"]
    found = headline(trend(case_of(0), case_of(3)))
    assert found == "c, a: from 0 since v1."


def test_a_page_of_hostile_labels_is_whole() -> None:
    runs = [
        TrendRun("r", "r", "it's </script> \\ 1", "", "b", "s", {"<b>": case_of(value)})
        for value in (1, 2)
    ]
    text = render_trend(trend_of(runs))
    (chart,) = validated(text).values()
    axis = chart["spec"]["layer"][1]["encoding"]["x"]["axis"]
    assert "'it\\'s </script> \\\\ 1'" in axis["labelExpr"]
    assert "<b>:" not in text and "it's </script>" not in text


# --- labels of runs ---


def test_a_label_is_kept_listed_and_shown(ffslab_command: Command) -> None:
    assert ffslab_command("run", "small.toml", "--no-report", "--label", " v6.2 ").code == 0
    assert ffslab_command("list", "runs").output.rstrip().endswith("; label v6.2")
    assert "label: v6.2" in ffslab_command("show", "latest").output.splitlines()
    assert ffslab_command("list", "runs", "v6.2").output
    (run,) = Path("results").glob("*-small")
    # A complete run that is resumed with a label has that one from then on; without one it stays.
    assert ffslab_command("run", str(run), "--resume", "--no-report", "--label", "b").code == 0
    assert ffslab_command("run", str(run), "--resume", "--no-report").code == 0
    assert json.loads((run / "manifest.json").read_text())["label"] == "b"
    assert ffslab_command("run", "small.toml", "--no-report", "-o", "other").code == 0
    (other,) = Path("other").glob("*-small")
    assert "label" not in json.loads((other / "manifest.json").read_text())
    assert (run / "results.jsonl").read_bytes() == (other / "results.jsonl").read_bytes()


@pytest.mark.parametrize("label", ["x" * 61, "two\nlines", "a\x1b[31m"])
def test_a_label_that_no_line_has_room_for_is_refused(ffslab_command: Command, label: str) -> None:
    refused = ffslab_command("run", "small.toml", "--no-report", "--label", label)
    assert refused.code == 2 and "--label" in refused.error
    assert not list(Path().glob("results/*"))
