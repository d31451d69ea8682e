"""What POSIX and Linux promise of a file system, in about a hundred small checks.

`tests/lab/guest/posix --list` names them. What a file system does otherwise by design, and the
one or other known fault of file systems that are not ours, stands in guest_programs.py.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from guest_programs import DEBUG, SUBJECTS, Subject, build, run_program

from ffslab.lab.lab_build import LabBuild

UNKNOWN_OPTION = "no-such-option"  # that a check mounts with, and that the kernel complains of


@pytest.fixture(scope="session")
def posix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("posix", tmp_path_factory.mktemp("posix"))


@pytest.mark.parametrize("subject", SUBJECTS, ids=[subject.name for subject in SUBJECTS])
def test_posix(lab: LabBuild, tmp_path: Path, posix: Path, subject: Subject) -> None:
    guest = run_program(
        lab,
        tmp_path / "guest",
        replace(subject, partition=subject.posix_partition),
        posix,
        [*subject.both, *subject.posix, *(["--entries=1000"] if DEBUG else [])],
        allowed=UNKNOWN_OPTION,
    )
    summary = re.search(r"posix: (\d+) passed, 0 failed, (\d+) skipped", guest.output)
    assert summary and int(summary[1]) > 90 and int(summary[2]) <= subject.posix_skips
