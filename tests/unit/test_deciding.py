"""The figures that decide: those of the scoreboard, or those that a study names."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compare_support import MS, result, scaled, side, with_figure
from test_report_support import write_run

from ffslab.campaign.run import prepare
from ffslab.compare.cases import Side, compared_case
from ffslab.compare.engine import compare_runs
from ffslab.compare.verdicts import Verdict
from ffslab.errors import SpecError
from ffslab.report.comparison.load import load_side
from ffslab.results.criteria import MOST_DECIDING
from ffslab.results.files import MANIFEST
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.deciding import compared_figures, deciding_words

STUDY = """schema = 1
name = "own"
title = "Own figures"
[base]
board = "apf27"
filesystem = "jffs2"
[base.workload]
number = 50
transactions = 50
[compare]
figures = [{}]
"""


def chosen(row: dict[str, Any], *words: str) -> list[str]:
    """The keys of the figures that decide."""
    figures, criteria = compared_figures(row, words)  # type: ignore[arg-type]
    keys = [criterion.figure.key for criterion in criteria]
    assert [figure.key for figure in figures if figure.main] == keys
    return keys


def test_without_a_word_they_are_those_of_the_scoreboard() -> None:
    row = with_figure(result(), "workload", write_amplification=1.5, erases_max=3)
    assert chosen(row) == [
        "creation.duration_ns", "deletion.duration_ns", "workload.pages_programmed",
        "workload.erases_max",
    ]  # fmt: skip
    assert len(chosen(row)) <= MOST_DECIDING


def test_a_study_names_its_own_in_its_order() -> None:
    row = result(steps=[{"verb": "mount", "status": "ok", "duration_ns": 7 * MS}])
    words = ("mount.time", "creation.pages_read", "*.blocks_erased")
    assert chosen(row, *words[:2]) == ["mount.duration_ns", "creation.pages_read"]
    assert chosen(row, *words)[:2] == chosen(row, *words[:2])
    assert set(chosen(row, *words)[2:]) == {
        f"{place}.blocks_erased" for place in ("creation", "deletion", "workload")
    }
    assert chosen(row, "creation.nothing") == []
    heads = compared_case(row, words).heads  # type: ignore[arg-type]
    assert heads["creation.pages_read"] == "creation.pages_read"
    assert heads["workload.blocks_erased"] == "erases"  # a name of the scoreboard stays


def test_how_much_was_measured_decides_where_that_is_not_all() -> None:
    short = {"what": "bytes", "measured": 61, "asked": 100, "stopped": "ENOSPC", "accepted": True}
    figures, _ = compared_figures(result(outcome="short", short=short))  # type: ignore[arg-type]
    assert next(f for f in figures if f.key == "measured_share").main
    figures, _ = compared_figures(result())  # type: ignore[arg-type]
    assert not next(f for f in figures if f.key == "measured_share").main


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ('"creation.tyme"', "compare.figures: no case has a figure 'creation.tyme' (did you mean"),
        ("", "compare.figures"),
        (", ".join(f'"creation.time{n}"' for n in range(9)), "compare.figures"),
    ],
)
def test_a_wrong_word_is_refused_before_anything_runs(
    tmp_path: Path, figures: str, told: str
) -> None:
    study = tmp_path / "own.toml"
    study.write_text(STUDY.format(figures))
    with pytest.raises(SpecError) as error:
        prepare(str(study), [])
    assert told in str(error.value)


def test_the_base_says_which_figures_decide(tmp_path: Path) -> None:
    """And the words change no case."""
    study = tmp_path / "own.toml"
    study.write_text(STUDY.format('"creation.pages_read"'))
    plain = tmp_path / "plain.toml"
    plain.write_text(STUDY.format("").partition("[compare]")[0])
    assert [case.spec_hash for case in prepare(str(study), []).cases] == [
        case.spec_hash for case in prepare(str(plain), []).cases
    ]
    sides: list[Side] = []
    for name, text in (("base", study.read_text()), ("new", plain.read_text())):
        write_run(tmp_path / name)
        manifest = json.loads((tmp_path / name / MANIFEST).read_text())
        (tmp_path / name / MANIFEST).write_text(json.dumps({**manifest, "study_text": text}))
        sides.append(load_side(RunDirectory(tmp_path / name), sides[0] if sides else None))
    for loaded in sides:
        assert set(loaded.cases[0].heads) == {"creation.pages_read"}
    assert compare_runs(*sides).verdict is Verdict.SAME
    assert deciding_words({"study_text": "x = ["}) == deciding_words({}) == ()


@pytest.mark.parametrize(
    ("key", "verdict"),
    [("creation.duration_ns", Verdict.SAME), ("creation.pages_read", Verdict.WORSE)],
)
def test_only_the_named_figures_make_the_verdict(key: str, verdict: Verdict) -> None:
    row = result()
    rows = (row, scaled(row, key, 2))
    sides = [
        replace(
            side([shown], f"run {build}", build),
            cases=(compared_case(shown, ["creation.pages_read"]),),  # type: ignore[arg-type]
        )
        for build, shown in zip(("b1", "b2"), rows, strict=True)
    ]
    assert compare_runs(*sides).verdict is verdict
