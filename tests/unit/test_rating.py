"""The rating of file systems: rules, limits, grades, and where values are from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ffslab.cli.app import main
from ffslab.errors import FfslabError, SpecError
from ffslab.lifetime.read import life_of
from ffslab.loader import load_catalog
from ffslab.model.rating import RatingFile, RuleFile, fits
from ffslab.model.study import study_from_document
from ffslab.model.validation import validated
from ffslab.rating.grade import Readings, combined, grade_of, graded_of, limits_of, picked, rate
from ffslab.rating.read import (
    Measured,
    figure_readings,
    mainline_readings,
    rated_run,
    rating_of,
)
from ffslab.report import build
from ffslab.report.load import open_run
from ffslab.report.rating import quantity, rated, rule_words, view_of
from ffslab.results.schema import BY_NAME, DURATION, Figure
from ffslab.workloads.cuts.metrics import CORRECT_PERCENT
from loaded_support import recorded_results, unpacked


def rule(**keys: Any) -> RuleFile:
    return validated(RuleFile, keys, "test")


def time_rule(**keys: Any) -> RuleFile:
    return rule(figure="list.duration_ns", **keys)


def seconds(**values: list[float]) -> Readings:
    return Readings(values, {}, "s")


@pytest.mark.parametrize(
    ("value", "grade"), [(0.5, 0), (1.0, 0), (1.1, 1), (2.0, 1), (3.0, 2), (4.0, 2), (4.1, 3)]
)
def test_a_limit_is_met_when_it_is_reached(value: float, grade: int) -> None:
    assert grade_of(value, (1, 2, 4), False) == grade


@pytest.mark.parametrize(("value", "grade"), [(100, 0), (99.95, 1), (99.9, 1), (99, 2), (98.9, 3)])
def test_where_more_is_better_limits_fall(value: float, grade: int) -> None:
    assert grade_of(value, (100, 99.9, 99), True) == grade


def test_worst_best_and_mean_of_several_values() -> None:
    values = [3.0, 1.0, 5.0]
    assert [picked(of, values, False) for of in ("worst", "best", "mean")] == [5, 1, 3]
    assert [picked(of, values, True) for of in ("worst", "best", "mean")] == [1, 5, 3]


def test_limits_may_be_factors_of_the_best() -> None:
    """The worst of each is 4 s and 6 s, so the best is 4 s: limits of 6, 8 and 16 s."""
    readings = seconds(jffs2=[2, 4], ubifs=[6, 1])
    factors = time_rule(times_best=[1.5, 2, 4])
    assert limits_of(factors, readings) == (6, 8, 16)
    assert graded_of(factors, readings, "ubifs").grade == 0
    # Throughput: the best is 12, so at least 8, 6 and 3.
    faster = Readings({"jffs2": [12.0], "ubifs": [5.0]}, {}, "MiB/s", higher_is_better=True)
    assert limits_of(factors, faster) == (8, 6, 3)
    assert graded_of(factors, faster, "ubifs").grade == 2
    assert limits_of(factors, seconds()) == ()


def test_several_rules_give_the_worst_or_the_middle_grade() -> None:
    assert combined([0, 2, 1], "worst") == 2
    assert combined([0, 3, 1], "middle") == 1
    assert combined([0, 1, 2, 3], "middle") == 2  # of an even number the worse
    assert combined([0, None], "worst") is None


def test_what_was_not_measured_has_no_grade() -> None:
    criterion = {"name": "Boot", "rule": [{"figure": "list.duration_ns", "limits": [1, 2, 4]}]}
    rating = validated(RatingFile, {"criterion": [criterion]}, "test")
    readings = Readings({"jffs2": [1.5]}, {"ubifs": "a case did not pass"}, "s")
    (column,) = rate(rating, ("jffs2", "ubifs"), lambda _: readings)
    assert column.cells["jffs2"].grade == 1
    assert column.cells["ubifs"].grade is None
    assert column.cells["ubifs"].rules[0].why == "a case did not pass"


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "needs figure or mainline"),
        ({"figure": "a.b", "mainline": True, "limits": [1, 2, 3]}, "needs figure or mainline"),
        ({"figure": "a.b"}, "needs limits or times_best"),
        ({"figure": "a.b", "limits": [1, 2, 3], "times_best": [1, 2, 3]}, "needs limits or"),
        ({"figure": "a.b", "limits": [1, 3, 2]}, "limits go one way"),
        ({"figure": "a.b", "limits": [1, 2]}, "at least 3 items"),
        ({"mainline": True, "limits": [1, 2, 3]}, "mainline has no limits"),
        ({"exploration": "power-loss", "limits": [1, 2, 3]}, "unknown key"),
        ({"mainline": True, "part": "boot"}, "so they need figure"),
        ({"figure": "a.b", "limits": [1, 2, 3], "off": "worst"}, "unknown key"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        rule(**keys)


def test_names_of_a_rating_differ() -> None:
    one = {"name": "Boot", "rule": [{"mainline": True}]}
    with pytest.raises(SpecError, match="a name is there twice"):
        validated(RatingFile, {"criterion": [one, one]}, "test")
    with pytest.raises(SpecError, match="a name is there twice"):
        words = ["Good", "Good", "Fair", "Poor"]
        validated(RatingFile, {"criterion": [one], "grades": words}, "test")


def test_a_rule_chooses_its_cases() -> None:
    chosen = time_rule(limits=[1, 2, 3], part=["boot", "cut"], where={"options.fastmap": "off"})
    assert fits(chosen, {"part": "cut", "options.fastmap": "off"})
    assert not fits(chosen, {"part": "cut", "options.fastmap": "on"})
    assert not fits(chosen, {"part": "other", "options.fastmap": "off"})
    one = time_rule(limits=[1, 2, 3], part="boot", where={"seed": [1, 2]})
    assert fits(one, {"part": "boot", "seed": 2})
    assert not fits(one, {"part": "boot", "seed": 3})
    assert fits(time_rule(limits=[1, 2, 3]), {})


def measured(filesystem: str, ns: float | None, passed: bool = True, part: str = "") -> Measured:
    figures = {} if ns is None else {"list.duration_ns": Figure(DURATION, "list", ns)}
    return Measured(filesystem, {"part": part}, passed, figures)


def test_values_are_in_the_unit_of_the_metric_and_a_failed_case_leaves_none() -> None:
    cases = [
        measured("jffs2", 2e9),
        measured("jffs2", 3e9),
        measured("ubifs", 1e9),
        measured("ubifs", None, passed=False),
        measured("yaffs2", None),
    ]
    found = figure_readings(time_rule(limits=[1, 2, 3]), cases, ("jffs2", "ubifs", "yaffs2"))
    assert (found.values, found.unit, found.higher_is_better) == ({"jffs2": [2, 3]}, "s", False)
    assert found.missing["ubifs"] == "a case did not pass"
    assert found.missing["yaffs2"] == "no case of the run measured it"
    throughput = rule(figure=f"x.{BY_NAME['write_bytes_per_s'].name}", limits=[3, 2, 1])
    assert figure_readings(throughput, [], ()).higher_is_better


def test_power_cuts_are_rated_by_the_states_of_ordinary_cases() -> None:
    """Of 100 states 99 are correct, and all of 100: the worse counts."""
    share = rule(figure="states.correct_percent", limits=[100, 99.5, 98])

    def share_of(filesystem: str, percent: float | None, passed: bool = True) -> Measured:
        figures = {} if percent is None else {share.figure: Figure(CORRECT_PERCENT, "", percent)}
        return Measured(filesystem, {}, passed, figures)

    cases = [share_of("jffs2", 99), share_of("jffs2", 100), share_of("ubifs", 100)]
    cases += [share_of("yaffs2", 100), share_of("yaffs2", None, passed=False)]
    names = ("jffs2", "ubifs", "yaffs2", "logfs")
    found = figure_readings(share, cases, names)
    assert (found.values, found.unit) == ({"jffs2": [99, 100], "ubifs": [100]}, "%")
    assert found.higher_is_better
    assert [graded_of(share, found, name).grade for name in names] == [2, 0, None, None]
    assert found.missing == {
        "yaffs2": "a case did not pass",
        "logfs": "no case of the run measured it",
    }


def test_life_is_rated_by_its_forecast() -> None:
    """Of a case that measured wear: not by what the first gigabytes wore."""
    (wear,) = [one for one in recorded_results("celf", "wear") if "ubifs" in one["id"]]
    told = life_of(wear).forecast
    assert told is not None
    life = rule(figure="life.first_bad_bytes", times_best=[1.1, 1.5, 2.5])
    rating = validated(
        RatingFile, {"criterion": [{"name": "Life", "rule": [life.model_dump()]}]}, "test"
    )
    (column,) = rated_run(rating, {}, [wear]).columns
    (found,) = column.cells["ubifs"].rules
    assert (found.value, found.unit, found.grade) == (told.first_bad.middle / 1e9, "GB", 0)


def test_mainline_is_what_the_catalog_said() -> None:
    told = {"jffs2": {"mainline": "2.4.10"}, "yaffs2": {"mainline": ""}}
    found = mainline_readings(("jffs2", "yaffs2", "logfs"), told)
    assert found.values == {"jffs2": [1], "yaffs2": [0]}
    assert "older version" in found.missing["logfs"]
    assert [graded_of(rule(mainline=True), found, name).grade for name in told] == [0, 3]


def test_a_share_is_not_rounded_up_to_all() -> None:
    assert quantity(99.9781, "%").startswith("99.978")
    assert quantity(99.999999, "%").startswith("99.9999")
    assert quantity(100, "%") == "100\u00a0%"
    assert quantity(0.5, "s") == "0.500\u00a0s"


RATING = """
[rating]
[[rating.criterion]]
name = "Mount"
[[rating.criterion.rule]]
figure = "mount-2.duration_ns"
times_best = [1.0, 1e6, 1e9]
[[rating.criterion]]
name = "Power loss"
[[rating.criterion.rule]]
figure = "states.correct_percent"
limits = [100, 99, 98]
[[rating.criterion]]
name = "In Linux"
[[rating.criterion.rule]]
mainline = true
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = unpacked("mount-scaling", tmp_path_factory.mktemp("rating"))
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["study_text"] += RATING
    manifest["filesystems"] = {name: {"mainline": "2.4"} for name in ("jffs2", "ubifs")}
    (path / "manifest.json").write_text(json.dumps(manifest))
    return path


def test_a_run_is_rated_by_the_rules_of_its_study(run: Path) -> None:
    found = rated(open_run(run))
    assert found is not None
    mount, cuts, mainline = found.columns
    grades = {name: cell.grade for name, cell in mount.cells.items()}
    # The best is as good as itself; the others are within 10⁶ times.
    assert sorted(set(grades.values()) - {None}) == [0, 1]
    assert all(cell.grade is None for cell in cuts.cells.values())
    assert {name: cell.grade for name, cell in mainline.cells.items() if cell.grade == 0}
    view = view_of(found)
    assert view.head == ("Mount", "Power loss", "In Linux")
    assert any("no case of the run measured it" in text for text in view.missing)
    words = rule_words(next(iter(mount.cells.values())).rules[0], found.rating.grades)
    assert "Excellent ≤" in words
    assert "times the best" in words


def test_the_terminal_shows_the_rating(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["ffslab", "show", str(run)])
    with pytest.raises(SystemExit) as end:
        main()
    lines = capsys.readouterr().out.splitlines()
    assert end.value.code in (0, None)
    (head,) = (number for number, line in enumerate(lines) if line.startswith("configuration"))
    assert lines[head - 1].split() == ["Power", "In"]
    assert lines[head].split() == ["configuration", "Mount", "loss", "Linux"]
    name, *_, cuts, mainline = lines[head + 1].split()
    assert (name, cuts, mainline) == ("JFFS2", "–", "Excellent")
    assert f"Values and rules: ffslab rating {run}" in lines


@pytest.mark.slow
def test_the_report_shows_the_rating(run: Path) -> None:
    page = build(run).read_text(encoding="utf-8")
    assert '<section id="grades">' in page
    assert "Excellent if Linux has it" in page


def test_a_study_without_rules_has_no_rating() -> None:
    assert rating_of({"study_text": "schema = 1"}) is None
    assert rating_of({}) is None
    assert rating_of({"study_text": "no TOML ["}) is None
    with pytest.raises(FfslabError, match="rating of the run's study"):
        rating_of({"study_text": "[rating]\ncriterion = 3"})


def test_a_study_with_wrong_rules_is_refused() -> None:
    document = {
        "schema": 1,
        "name": "a",
        "title": "A",
        "base": {"board": "apf27", "filesystem": "jffs2"},
        "rating": {"criterion": [{"name": "Boot", "rule": []}]},
    }
    with pytest.raises(SpecError, match=r"rating\.criterion"):
        study_from_document(document, load_catalog(), "test")
