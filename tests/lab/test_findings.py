"""The mistakes of Linux that docs/findings.md has, expected: a kernel that mends one fails here.

Then its exception goes, and the document says in which kernel it is mended. The small inputs that
users have are in examples/findings; JFFS2 and UBIFS with the changes of kernel/fixes take the same.
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from finding_inputs import (
    HISTORY,
    LONGER,
    POSIX,
    SLEEPS,
    SMALL,
    Excepted,
    Input,
    id_of,
    words_without,
)
from guest_programs import JFFS2, STUDY, UBIFS, Subject, build, run_program
from lab_support import results, run_study
from mended import catalog_with

from ffslab.campaign.run import prepare
from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from findings import finding


def number_of(small: Input) -> str:
    return small.number


@pytest.mark.parametrize("small", SMALL, ids=number_of)
def test_a_small_input_shows_the_mistake(lab: LabBuild, tmp_path: Path, small: Input) -> None:
    del lab
    chosen = ("--set", f"filesystem={small.filesystem}")
    run = run_study(small.study, tmp_path, *chosen, status=1)
    shown = [result for result in results(run) if result["outcome"] != "pass"]
    assert shown, "no case shows it"
    for result in shown:
        assert result["outcome"] == finding(small.number, small.outcome), result["reason"]
        assert small.reason in result["reason"]


@pytest.mark.parametrize("small", [one for one in SMALL if one.has_change], ids=number_of)
def test_the_change_mends_it(lab: LabBuild, tmp_path: Path, small: Input) -> None:
    del lab
    catalog = catalog_with(tmp_path / "mended", small.filesystem)
    chosen = ("--catalog", str(catalog), "--set", f"filesystem={small.filesystem}-own")
    for result in results(run_study(small.study, tmp_path / "runs", *chosen, *small.words)):
        assert result["outcome"] == "pass", result["reason"]


@pytest.fixture(scope="module")
def posix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("posix", tmp_path_factory.mktemp("posix"))


@pytest.mark.parametrize("one", POSIX, ids=id_of)
def test_a_check_of_posix_fails_without_its_exception(
    lab: LabBuild, tmp_path: Path, posix: Path, one: Excepted
) -> None:
    subject = replace(one.subject, partition=one.subject.posix_partition)
    words = words_without(one, [*subject.both, *subject.posix])
    with pytest.raises(AssertionError, match=f"{one.check}: FAILED") as failed:
        run_program(lab, tmp_path / "guest", subject, posix, [*words, one.check])
    assert finding(one.number, one.found) in str(failed.value)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("history", tmp_path_factory.mktemp("history"))


@pytest.mark.parametrize("one", HISTORY, ids=id_of)
def test_a_history_fails_without_its_exception(
    lab: LabBuild, tmp_path: Path, history: Path, one: Excepted
) -> None:
    words = words_without(one, [*one.subject.both, *one.subject.history])
    words += ["--operations=2000"]
    with pytest.raises(AssertionError, match="history: FAILED") as failed:
        run_program(
            lab, tmp_path / "guest", one.subject, history, words, mounts=one.subject.remounts
        )
    assert finding(one.number, one.found) in str(failed.value)


def mended(directory: Path, subject: Subject, **changes: Any) -> tuple[LabBuild, Subject]:
    """The subject's file system with the changes, and a lab that has it."""
    catalog = catalog_with(directory, subject.filesystem)

    class Mended(Subject):
        def case(self) -> Case:
            study = directory / "study.toml"
            name = f"{self.filesystem}-own"
            study.write_text(STUDY.format(partition=self.partition, filesystem=name))
            (case,) = prepare(str(study), catalogs=[catalog]).cases
            return case

    values = {field.name: getattr(subject, field.name) for field in fields(subject)}
    own = Mended(**{**values, **changes})
    return ensure_lab(file_systems=[own.case().filesystem]), own


Both = dict[str, tuple[LabBuild, Subject]]


@pytest.fixture(scope="module")
def both(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """JFFS2, of which a history may mount and fill as any other's, and UBIFS."""
    del lab
    words = tuple(word for word in JFFS2.history if not word.startswith("--fills"))
    return {
        "jffs2": mended(tmp_path_factory.mktemp("jffs2"), JFFS2, history=words, remounts=True),
        "ubifs": mended(tmp_path_factory.mktemp("ubifs"), UBIFS, history=()),
    }


@pytest.mark.parametrize("one", [one for one in POSIX if one.mended is not None], ids=id_of)
def test_a_mended_check_of_posix_passes(
    both: Both, tmp_path: Path, posix: Path, one: Excepted
) -> None:
    lab, subject = both[one.subject.filesystem]
    words = words_without(one, [*subject.both, *subject.posix])
    words += [*(one.mended or ()), one.check]
    guest = run_program(lab, tmp_path / "guest", subject, posix, words)
    assert f"{one.check}: passed" in guest.output


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs"])
def test_mended_it_keeps_what_it_was_told(
    both: Both, tmp_path: Path, history: Path, filesystem: str
) -> None:
    lab, subject = both[filesystem]
    words = [*subject.both, *subject.history, "--seed=1", "--operations=2500", SLEEPS]
    guest = run_program(lab, tmp_path / "guest", subject, history, words)
    assert "history: passed" in guest.output


@pytest.mark.parametrize("one", LONGER, ids=id_of)
def test_times_differ_where_the_rest_is_mended(
    both: Both, tmp_path: Path, history: Path, one: Excepted
) -> None:
    lab, subject = both["jffs2"]
    words = words_without(one, [*subject.both, *subject.history])
    words += ["--fills=0", "--operations=12000", SLEEPS]
    with pytest.raises(AssertionError, match="history: FAILED") as failed:
        run_program(lab, tmp_path / "guest", subject, history, words)
    assert finding(one.number, one.found) in str(failed.value)
