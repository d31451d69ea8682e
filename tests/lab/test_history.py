"""Random histories: what a file system shows is what a model of it says, through remounts,
full partitions and the collection of much more garbage than the partition holds.

A failure prints the seed, the operation, what was expected and found, what happened to the file
before, and the command that repeats it. FFSLAB_NIGHTLY=1 runs many seeds with more operations;
FFSLAB_HISTORY_SEED=N begins with another seed.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from guest_programs import DEBUG, NIGHTLY, SUBJECTS, Subject, build, run_program

from ffslab.target.lab import LabBuild

FIRST_SEED = int(os.environ.get("FFSLAB_HISTORY_SEED", "1"))
NIGHTLY_SEEDS = 20
NIGHTLY_FACTOR = 5  # more operations of each seed

RUNS = [
    (subject, FIRST_SEED + number)
    for subject in SUBJECTS
    for number in range(NIGHTLY_SEEDS if NIGHTLY else subject.seeds)
]


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("history", tmp_path_factory.mktemp("history"))


def words(subject: Subject, seed: int) -> list[str]:
    operations = subject.operations * (NIGHTLY_FACTOR if NIGHTLY else 1) // (4 if DEBUG else 1)
    return [
        *subject.both,
        *subject.history,
        f"--seed={seed}",
        f"--operations={operations}",
        "--sleep-max-ms=4000",
    ]


@pytest.mark.parametrize(
    ("subject", "seed"), RUNS, ids=[f"{subject.name}-{seed}" for subject, seed in RUNS]
)
def test_history(lab: LabBuild, tmp_path: Path, history: Path, subject: Subject, seed: int) -> None:
    limit_s = 900 if NIGHTLY else 120
    guest = run_program(
        lab,
        tmp_path / "guest",
        subject,
        history,
        words(subject, seed),
        mounts=subject.remounts,
        limit_s=limit_s,
    )
    assert f"history: passed, seed {seed}" in guest.console
    # Garbage was collected, or the history proves little.
    pages = subject.case().partition_blocks * subject.case().board.chip.pages_per_block
    assert guest.captured("flash0/counters")["programs"] > 1.5 * pages


@pytest.mark.parametrize("subject", SUBJECTS, ids=[subject.name for subject in SUBJECTS])
def test_history_survives_a_boot(
    lab: LabBuild, tmp_path: Path, history: Path, subject: Subject
) -> None:
    """What one guest wrote, another verifies, with every alternative of the mount options."""
    arguments = words(subject, FIRST_SEED + 1000)
    arguments += ["--operations=600", "--fills=0"]
    mounts = subject.remounts
    first = run_program(lab, tmp_path / "first", subject, history, arguments, mounts=mounts)
    for number in range(max(1, len(subject.options))):
        options = subject.options[number:] + subject.options[:number]
        turned = replace(subject, options=options)
        run_program(
            lab,
            tmp_path / f"second-{number}",
            turned,
            history,
            [*arguments, "--verify-only"],
            flash=first.flash,
            mounts=mounts,
        )
