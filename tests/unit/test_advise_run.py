"""What an earlier run measured counts in a new one if case, spec and build are the same."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from host_support import begun_run
from test_advise_limits import alone
from test_advise_needs import CATALOG

from ffslab.advise.candidates import candidates
from ffslab.advise.probes import probes
from ffslab.advise.run import prepared_study
from ffslab.campaign.kept import adopt, is_same, runs_of
from ffslab.campaign.prepared import Prepared
from ffslab.results.result import CaseResult
from ffslab.results.rundir import CASE_RESULT, STATES, RunDirectory
from ffslab.targets.target import Site
from loaded_support import recorded_results

BUILD = "0123456789ab"  # of every run that begun_run begins


@dataclass(frozen=True)
class Built:
    """A site as far as its builds are asked for."""

    build_id: str = BUILD
    variant_ids: dict[str, str] = field(default_factory=dict)


def site(build_id: str = BUILD, **variants: str) -> Site:
    return cast(Site, Built(build_id, variants))


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    """Three cases: the boot of UBIFS with three compressors."""
    needs = alone(power_cuts=False, limits={"boot_s": 1.0}, consider={"filesystems": ["jffs2"]})
    found = prepared_study(needs, probes(needs, candidates(needs, CATALOG), CATALOG), tmp_path)
    assert len(found.cases) == 3
    return found


@cache
def some_result() -> CaseResult:
    """A result of whatever."""
    result: CaseResult = recorded_results("wear")[0]
    return result


def run_of(tmp_path: Path, name: str, prepared: Prepared, *measured: int) -> RunDirectory:
    """A run with results of these cases."""
    folder = tmp_path / name
    folder.mkdir()
    run = begun_run(folder, prepared)
    for case in (prepared.cases[number] for number in measured):
        run.case_dir(case.id).mkdir(parents=True)
        text = json.dumps({**some_result(), "id": case.id, "spec_hash": case.spec_hash})
        (run.case_dir(case.id) / CASE_RESULT).write_text(text)
        (run.case_dir(case.id) / "by").write_text(name)
    return run


def changed(run: RunDirectory, **keys: Any) -> RunDirectory:
    run.write_manifest({**run.manifest(), **keys})
    return run


def makers(run: RunDirectory, prepared: Prepared) -> list[str]:
    """Which run each case's result is of."""
    files = [run.case_dir(case.id) / "by" for case in prepared.cases]
    return [file.read_text() if file.exists() else "" for file in files]


def test_results_of_the_same_cases_are_copied(tmp_path: Path, prepared: Prepared) -> None:
    """What the new run has it keeps; what is begun and not done is replaced."""
    run, other = run_of(tmp_path, "new", prepared, 0), run_of(tmp_path, "old", prepared, 0, 1)
    run.case_dir(prepared.cases[1].id).mkdir()
    for one in (run, other):
        (one.path / STATES).mkdir()
        (one.path / STATES / one.path.name).touch()
    assert adopt(run, other, prepared.cases, site()) == 1
    assert makers(run, prepared) == ["new", "old", ""]
    assert {one.name for one in (run.path / STATES).iterdir()} == {"new", "old"}
    assert run.done_ids(prepared.cases) == {case.id for case in prepared.cases[:2]}
    third = run_of(tmp_path, "third", prepared, 2)
    assert adopt(run, third, prepared.cases, site()) == 1  # no states were kept there
    assert makers(run, prepared) == ["new", "old", "third"]


def test_states_come_with_results_only(tmp_path: Path, prepared: Prepared) -> None:
    run, other = run_of(tmp_path, "new", prepared, 0), run_of(tmp_path, "old", prepared, 0)
    (other.path / STATES).mkdir()
    assert adopt(run, other, prepared.cases, site()) == 0
    assert not (run.path / STATES).exists()


@pytest.mark.parametrize(
    ("keys", "here", "copied"),
    [
        ({}, site(), 1),
        ({}, site("another"), 0),
        ({"build_id": "another"}, site(), 0),
        ({"kernels": {"fastmap": {"build_id": "a"}}}, site(fastmap="a"), 1),
        ({"kernels": {"fastmap": {"build_id": "a"}}}, site(fastmap="b"), 0),
        # One that differs is enough; one that no case needs here is not looked at.
        ({"kernels": {"fastmap": {"build_id": "a"}, "old": {"build_id": "c"}}},
         site(fastmap="b", old="c"), 0),
        ({"kernels": {"fastmap": {"build_id": "a"}}}, site(), 1),
    ],
)  # fmt: skip
def test_what_another_build_measured_is_not_copied(
    tmp_path: Path, prepared: Prepared, keys: dict[str, Any], here: Site, copied: int
) -> None:
    run = run_of(tmp_path, "new", prepared)
    other = changed(run_of(tmp_path, "old", prepared, 1), **keys)
    assert adopt(run, other, prepared.cases, here) == copied
    assert makers(run, prepared) == ["", "old" if copied else "", ""]


@pytest.mark.parametrize(
    ("keys", "here", "same"),
    [
        ({}, site(), True),
        ({}, site("another"), False),
        ({}, site(fastmap="a"), False),
        ({"kernels": {"fastmap": {"build_id": "a"}}}, site(fastmap="a"), True),
        ({"kernels": {"fastmap": {"build_id": "a"}}}, site(fastmap="b"), False),
        ({"cases": []}, site(), False),
    ],
)
def test_a_run_of_the_same_cases_and_builds_goes_on(
    tmp_path: Path, prepared: Prepared, keys: dict[str, Any], here: Site, same: bool
) -> None:
    run = changed(run_of(tmp_path, "run", prepared), **keys)
    assert is_same(run, prepared.cases, here) == same


@pytest.mark.parametrize("key", ["id", "spec_hash"])
def test_a_run_of_other_cases_does_not(tmp_path: Path, prepared: Prepared, key: str) -> None:
    run = run_of(tmp_path, "run", prepared)
    listed = run.manifest()["cases"]
    changed(run, cases=[{**listed[0], key: "x"}, *listed[1:]])
    assert not is_same(run, prepared.cases, site())


def test_runs_of_a_study_are_found_the_latest_first(tmp_path: Path, prepared: Prepared) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in ("a", "b", "c", "d"):
        run_of(runs, name, prepared)
    changed(RunDirectory(runs / "b"), study="other")
    (runs / "d" / "manifest.json").write_text("damaged")
    found = runs_of(prepared.study.name, runs)
    assert [run.path.name for run in found] == ["c", "a"]
    assert runs_of(prepared.study.name, tmp_path / "nowhere") == ()
