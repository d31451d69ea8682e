"""The mistakes of Linux that docs/findings.md has, expected: a kernel that mends one fails here.

Then its exception goes, and the document says in which kernel it is mended. The small inputs that
users have are in examples/findings; JFFS2 and UBIFS with the changes of kernel/fixes take the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
from guest_programs import JFFS2, STUDY, UBIFS, Subject, build, run_program
from lab_support import ROOT, results, run_study
from mended import catalog_with

from ffslab.campaign.run import prepare
from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from findings import finding

INPUTS = ROOT / "examples" / "findings"


@dataclass(frozen=True)
class Input:
    """A study of examples/findings. `words`: options of `run` for a module with another type."""

    number: str
    name: str
    filesystem: str
    outcome: str
    reason: str
    words: Sequence[str] = ()


SMALL = (
    Input(
        *("F-JFFS2-05", "removed-names", "jffs2", "fail", "these are back: name"),
        words=("--set", "workload.arguments=20 jffs2x"),
    ),
    Input(
        *("F-JFFS2-24", "removed-attribute", "jffs2", "fail", "this is back: user.a"),
        words=("--set", "workload.arguments=jffs2x"),
    ),
    Input(
        *("F-JFFS2-25", "inherited-attribute", "jffs2", "fail", "a new file has this: user.a"),
        words=("--set", "workload.arguments=6 jffs2x"),
    ),
    Input("F-JFFS2-08", "rename-onto-emptied", "jffs2", "stuck", "without use of the flash"),
    Input("F-UBIFS-09", "xattr-of-symlink", "ubifs", "corrupt", "Invalid argument"),
)
BY_NUMBER = pytest.mark.parametrize("small", SMALL, ids=[small.number for small in SMALL])


@BY_NUMBER
def test_a_small_input_shows_the_mistake(lab: LabBuild, tmp_path: Path, small: Input) -> None:
    del lab
    chosen = ("--set", f"filesystem={small.filesystem}")
    run = run_study(INPUTS / f"{small.name}.toml", tmp_path, *chosen, status=1)
    (result,) = results(run)
    assert result["outcome"] == finding(small.number, small.outcome), result["reason"]
    assert small.reason in result["reason"]


@BY_NUMBER
def test_the_change_mends_it(lab: LabBuild, tmp_path: Path, small: Input) -> None:
    del lab
    catalog = catalog_with(tmp_path / "mended", small.filesystem)
    chosen = ("--catalog", str(catalog), "--set", f"filesystem={small.filesystem}-own")
    study = INPUTS / f"{small.name}.toml"
    (result,) = results(run_study(study, tmp_path / "runs", *chosen, *small.words))
    assert result["outcome"] == "pass", result["reason"]


@dataclass(frozen=True)
class Excepted:
    """An option of a subject that leaves out or loosens `check`; without it `found` is printed.

    `mended`: the options in its place that the changed file system passes; None: none mends it.
    """

    number: str
    subject: Subject
    option: str
    check: str
    found: str
    more: Sequence[str] = ()
    mended: Sequence[str] | None = None


POSIX = (
    Excepted(
        *("F-JFFS2-09", JFFS2, "--xattr-refused", "xattr-too-large", "not fit: Success"),
        mended=(),
    ),
    Excepted(
        *("F-JFFS2-10", JFFS2, "--id-max", "access-owners", "found 65533"),
        mended=("--id-max=65535", "--id-refused=65536"),
    ),
    Excepted("F-JFFS2-11", JFFS2, "--lax-times", "time-of-files", "leaves mtime"),
    Excepted("F-JFFS2-14", JFFS2, "--time-gran", "time-set", "found 1000000000"),
    Excepted("F-JFFS2-17", JFFS2, "--no-mmap-write", "map-shared-writing", "Invalid argument"),
    Excepted("F-JFFS2-18", JFFS2, "", "rename-exchange", "found EINVAL", ("--exchange",)),
    Excepted("F-JFFS2-18", JFFS2, "", "open-tmpfile-named", "EOPNOTSUPP", ("--tmpfile",)),
    Excepted("F-JFFS2-19", JFFS2, "--name-max", "names-longest", "ENAMETOOLONG"),
    Excepted("F-JFFS2-19", JFFS2, "--symlink-max", "symlink-lengths", "ENAMETOOLONG"),
    Excepted("F-JFFS2-19", JFFS2, "--size-max", "hole-huge", "found 49"),
    Excepted(
        *("F-UBIFS-10", UBIFS, "--except", "open-bad-memory", "expected 5000 bytes"), mended=()
    ),
    Excepted("F-UBIFS-12", UBIFS, "--lax-times", "time-of-files", "sets mtime"),
    Excepted("F-UBIFS-13", UBIFS, "--time-gran", "time-set", "found 1000000000"),
    Excepted("F-UBIFS-14", UBIFS, "--blocks-by-size", "hole-huge", "a hole occupies"),
)


def id_of(one: Excepted) -> str:
    return f"{one.number}-{one.check}"


def words_without(one: Excepted, words: Sequence[str]) -> list[str]:
    left = [word for word in words if not (one.option and word.startswith(one.option))]
    assert bool(one.option) == (len(left) < len(words))
    return [*left, *one.more]


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


HISTORY = (
    Excepted("F-JFFS2-16", JFFS2, "--root-links", "operation 0", "number of links of #0"),
    Excepted("F-UBIFS-11", UBIFS, "--lax-times", "exchange", "ctime of #194", ("--seed=4",)),
)


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


SLEEPS = "--sleep-max-ms=4000"
LONGER = (
    Excepted("F-JFFS2-12", JFFS2, "--no-dir-times", "operation 784", "time of #", ("--seed=2",)),
    Excepted("F-JFFS2-13", JFFS2, "--late-times", "operation 2554", "mtime of #", ("--seed=1",)),
)


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
