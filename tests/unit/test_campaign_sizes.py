"""A study that wants the size of its file systems' code: measured once, kept, and never fatal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from host_support import LAB, STUDY, FakeSite, FakeTarget, SilentProgress, cases_of

from ffslab.campaign import run as campaign
from ffslab.campaign.done import PoolOptions
from ffslab.campaign.run import RunRequest, execute, made_ready, prepare
from ffslab.codesize import measure as measuring
from ffslab.codesize.sizes import CodeSizes, Measured, Size
from ffslab.codesize.stored import read_sizes
from ffslab.errors import InfrastructureError, SpecError
from ffslab.lab.progress import SilentProgress as SilentBuild
from ffslab.results.rundir import SIZES
from ffslab.targets.target import SiteOptions

NOW = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
WANTED = STUDY + '\n[sizes]\narchitectures = ["arm", "um", "arm"]\n'


def study_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(text)
    return path


def run_of(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a run on a target without a kernel."""
    site = FakeSite(FakeTarget())

    class FakeModule:
        KIND = FakeTarget.kind

        @staticmethod
        def site_for(*_arguments: object) -> FakeSite:
            return site

    prepared = prepare(str(study_file(tmp_path, text)))
    monkeypatch.setattr(campaign, "site_module", lambda _name: FakeModule)
    request = RunRequest(prepared, PoolOptions(1, 60), "ffslab run", tmp_path / "results")
    request, ready = made_ready(request, SiteOptions(), SilentBuild())
    return execute(request, ready, SilentProgress(), lambda: NOW).run.path


def measured(
    architecture: str, parts: Iterable[str], _progress: object, _source: Path | None
) -> Measured:
    if architecture == "arm":
        raise InfrastructureError("no compiler for ARM", remedy="as root: apt-get install it")
    return Measured("lab", "debian", "12", LAB.build_id, {part: Size(1) for part in parts})


def test_a_study_without_the_table_measures_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_arguments: Any, **_options: Any) -> CodeSizes:
        raise AssertionError

    monkeypatch.setattr(campaign, "measure", never)
    assert not (run_of(tmp_path, STUDY, monkeypatch) / SIZES).exists()


def test_what_can_be_measured_is_kept_and_the_cases_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "_measured", measured)
    path = run_of(tmp_path, WANTED, monkeypatch)
    sizes = read_sizes(path)
    assert sizes is not None and list(sizes.architectures) == ["um"]
    assert sizes.unmeasured == {"arm": "no compiler for ARM; as root: apt-get install it"}
    # The file systems of the study's cases, and no others of the catalog.
    wanted = {case.filesystem.name for case in cases_of(STUDY)}
    assert {name for one in sizes.filesystems for name in one.names} == wanted
    assert len((path / "results.jsonl").read_text().splitlines()) == len(cases_of(STUDY))


def test_architectures_are_those_of_the_study_each_once(tmp_path: Path) -> None:
    assert prepare(str(study_file(tmp_path, WANTED))).study.sizes == ("arm", "um")
    assert prepare(str(study_file(tmp_path, STUDY + "\n[sizes]\n"))).study.sizes == ("um", "arm")
    assert prepare(str(study_file(tmp_path, STUDY))).study.sizes == ()


@pytest.mark.parametrize("value", ['["mips"]', "[]", '"arm"'])
def test_another_architecture_is_refused(tmp_path: Path, value: str) -> None:
    path = study_file(tmp_path, STUDY + f"\n[sizes]\narchitectures = {value}\n")
    with pytest.raises(SpecError, match=r"sizes\.architectures"):
        prepare(str(path))


def test_cases_are_the_same_with_and_without(tmp_path: Path) -> None:
    def hashes(text: str) -> Sequence[str]:
        return [case.spec_hash for case in prepare(str(study_file(tmp_path, text))).cases]

    assert hashes(WANTED) == hashes(STUDY)
