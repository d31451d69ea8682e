"""Perturbed cases: another layout of the guest, the same work; they measure the band of builds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from host_support import STUDY, begun_run, cases_of, prepared_study, study_of
from micro_support import write_usual_run
from test_report_support import write_run

from ffslab.campaign.chain import Job
from ffslab.campaign.inputs import guest_inputs
from ffslab.errors import SpecError
from ffslab.loader import load_catalog
from ffslab.model.case import Case, case_spec
from ffslab.model.estimates import AS_STATED, ESTIMATE
from ffslab.model.perturbation import band_values
from ffslab.model.specs import PERTURBATION
from ffslab.model.study import expand, select, with_overrides
from ffslab.report.page import render
from ffslab.results.reproduce import reproduce_command
from ffslab.results.stated import changed_ids, perturbed_ids
from ffslab.targets.uml.guests import KIND
from ffslab.targets.uml.perturbation import guest_seed, padding
from ffslab.targets.virtual_flash import plan_text
from loaded_support import load_run

PLAIN: list[tuple[str, tuple[Any, ...]]] = [
    ("seed", (1,)), ("options.compression", ("none",)), ("state", ("free",)),
]  # fmt: skip


def banded(count: int, *more: tuple[str, tuple[Any, ...]]) -> dict[str, Case]:
    study = with_overrides(
        study_of(STUDY), [*more, (PERTURBATION, band_values(count))], load_catalog()
    )
    return {case.id: case for case in expand(study, load_catalog())}


def test_the_cases_themselves_stay_what_they_are() -> None:
    found = banded(2)
    plain = cases_of()
    assert len(found) == 3 * len(plain)
    for case in plain:
        assert found[case.id] == case
        assert PERTURBATION not in case_spec(case)
        assert found[case.id].spec_hash == case.spec_hash
    assert "ubifs-free-perturbation2-s1" in found


def test_only_the_layout_is_another() -> None:
    found = banded(2)
    case, one, two = (
        found[name] for name in ("ubifs-free-s1", "ubifs-free-perturbation1-s1",
                                 "ubifs-free-perturbation2-s1")
    )  # fmt: skip
    assert case_spec(one) == {**case_spec(case), PERTURBATION: 1}
    assert dict(one.axes) == {**dict(case.axes), PERTURBATION: 1}
    assert plan_text(one) == plan_text(case)
    assert guest_seed(case) == case.seed
    assert len({guest_seed(case), guest_seed(one), guest_seed(two)}) == 3
    assert padding(case) == ()
    sizes = [len(entry.data) for found in (one, two) for entry in padding(found)]
    assert len(set(sizes)) == 2 and all(size % 4096 for size in sizes)
    assert len({guest_inputs(KIND)(each) for each in (case, one, two)}) == 3


def key(case: Case) -> str:
    return Job(case, "plan", KIND.history(case), "build").key


def test_a_state_is_prepared_for_each_layout() -> None:
    case = cases_of()[0]
    keys = {key(replace(case, perturbation=n)) for n in (0, 1, 2)}
    assert len(keys) == 3


@pytest.mark.parametrize("value", [-1, 17, True, "2", 1.5])
def test_a_perturbation_that_there_is_not(value: Any) -> None:
    study = with_overrides(study_of(STUDY), [(PERTURBATION, (value,))], load_catalog())
    with pytest.raises(SpecError, match="from 0 to 16"):
        expand(study, load_catalog())


def test_with_a_case_come_its_perturbed_versions() -> None:
    cases = tuple(banded(2).values())
    chosen = [case.id for case in select(cases, ["ubifs-free-s1"])]
    assert chosen == [
        "ubifs-free-s1", "ubifs-free-perturbation1-s1", "ubifs-free-perturbation2-s1",
    ]  # fmt: skip
    assert [c.id for c in select(cases, [chosen[1]])] == [chosen[1]]


def test_the_command_that_repeats_a_case_runs_no_other() -> None:
    overrides = [(PERTURBATION, [0, 1, 12]), ("seed", [1])]
    for case_id, perturbed in (
        ("ubifs-s1", ""),
        ("ubifs-perturbation1-s1", f"--set '{PERTURBATION}=[0, 1]' "),
        ("ubifs-perturbation12-s1", f"--set '{PERTURBATION}=[0, 12]' "),
    ):
        command = reproduce_command("quick", overrides, case_id)
        assert command == f"ffslab run quick {perturbed}--set seed=1 --case {case_id}"


def test_the_manifest_names_them(tmp_path: Path) -> None:
    prepared = prepared_study("quick", [(PERTURBATION, (0, 2))])
    manifest = begun_run(tmp_path, prepared).manifest()
    found = perturbed_ids(manifest)
    assert len(found) == 4 and all(PERTURBATION in case_id for case_id in found)
    alone = prepared_study("quick", [(PERTURBATION, (2,))])
    (tmp_path / "alone").mkdir()
    assert not perturbed_ids(begun_run(tmp_path / "alone", alone).manifest())


def test_they_are_no_cases_of_the_report(tmp_path: Path) -> None:
    plain = write_run(tmp_path / "plain", PLAIN)
    found = write_run(tmp_path / "banded", [*PLAIN, (PERTURBATION, (0, 1, 2))])
    before, after = load_run(plain), load_run(found)
    assert before.cases and [case.id for case in after.cases] == [case.id for case in before.cases]
    assert [case.axes for case in after.cases] == [case.axes for case in before.cases]
    assert after.missing == 0
    assert "perturbation" not in render(found)


def test_they_are_no_cases_of_a_report_on_micro_benchmarks(tmp_path: Path) -> None:
    few = [("seed", (1,)), ("filesystem", ("jffs2",))]
    plain = load_run(write_usual_run(tmp_path / "plain", overrides=few))
    banded = write_usual_run(tmp_path / "banded", overrides=[*few, (PERTURBATION, (0, 1))])
    assert [(case.id, case.own) for case in load_run(banded).cases] == [
        (case.id, case.own) for case in plain.cases
    ]


def test_they_are_no_estimates_either(tmp_path: Path) -> None:
    both = [*PLAIN, (ESTIMATE, (AS_STATED, "double-driver")), (PERTURBATION, (0, 1))]
    manifest = begun_run(tmp_path, prepared_study("ffsmark", both)).manifest()
    changed = changed_ids(manifest)
    assert changed and not set(changed) & perturbed_ids(manifest)
    assert set(changed.values()) == {"double-driver"}
