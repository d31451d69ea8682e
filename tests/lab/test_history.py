"""Random histories: what a file system shows is what a model of it says, through remounts,
full partitions and the collection of much more garbage than the partition holds.

A failure prints the seed, the operation, what was expected and found, what happened to the file
before, and the command that repeats it. FFSLAB_NIGHTLY=1 runs many seeds with more operations;
FFSLAB_HISTORY_SEED=N begins with another seed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from guest_programs import (
    DEBUG,
    LOGFS_ZLIB,
    NIGHTLY,
    OURS,
    SUBJECTS,
    YAFFS2,
    YAFFS2_INBAND,
    YAFFS2_SEGREGATED,
    Subject,
    build,
    run_program,
)
from lab_support import ROOT

from ffslab.lab.lab_build import LabBuild

FIRST_SEED = int(os.environ.get("FFSLAB_HISTORY_SEED", "1"))
NIGHTLY_SEEDS = 20
NIGHTLY_FACTOR = 5  # more operations of each seed
SHAPE_OPERATIONS = 5000

# Trees unlike the program's default one.
SHAPES = {
    "small-files": ("--nodes-max=1000", "--bytes-max=2500000", "--file-max=8192"),
    "large-files": ("--nodes-max=30", "--bytes-max=4000000", "--file-max=1048576"),
    "filled-often": ("--fills=100",),
    "large-holes": ("--sparse-max=134217728",),
}

# Chips unlike the board's; a partition has as many blocks more as may go bad.
CHIPS = {
    "small-pages": (("page_bytes", 1024), ("oob_bytes", 32), ("subpages", 1)),
    "large-pages": (("page_bytes", 4096), ("oob_bytes", 128), ("subpages", 1), ("nop", 1)),
    "bad-blocks": (("factory_bad", 200),),
    "bit-errors": (("rber_e12", 3_000_000), ("ecc_strength_bits", 4)),
    "failing": (("program_fail_ppm", 60), ("erase_fail_ppm", 1500)),
}


@dataclass(frozen=True)
class History:
    """One run: `words` come after the options of the subject."""

    subject: Subject
    seed: int
    operations: int
    shape: str = ""
    words: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return "-".join(part for part in (self.subject.name, self.shape, str(self.seed)) if part)


def shapes(subject: Subject) -> dict[str, tuple[str, ...]]:
    """With one that nearly fills the partition."""
    return {"full": (f"--bytes-max={subject.full_bytes}",), **SHAPES}


def on_chip(subject: Subject, name: str) -> History:
    """A history on another chip; of pages of 1 KiB a third remains for extended attributes."""
    chip = dict(CHIPS[name])
    page_bytes = chip.get("page_bytes", 2048)
    words = ["--may-shrink", f"--chunk={page_bytes - 16 * ('inband' in subject.name)}"]
    if page_bytes != 2048:
        words += [f"--xattr-max={page_bytes // 3}", f"--xattr-refused={page_bytes}"]
    changed = replace(subject, partition="16 MiB", chip=CHIPS[name])
    return History(changed, FIRST_SEED, SHAPE_OPERATIONS, name, tuple(words))


def histories() -> list[History]:
    factor = NIGHTLY_FACTOR if NIGHTLY else 1
    ours = [subject for subject in SUBJECTS if subject.filesystem.startswith(OURS)]
    # Those of Linux show whether the program is right; that takes no long histories.
    runs = [
        History(subject, FIRST_SEED + number, subject.operations * factor ** (subject in ours))
        for subject in SUBJECTS
        for number in range(NIGHTLY_SEEDS if NIGHTLY and subject in ours else subject.seeds)
    ]
    runs += [
        History(subject, FIRST_SEED, SHAPE_OPERATIONS * factor, shape, words)
        for subject in (ours if NIGHTLY else [YAFFS2, YAFFS2_SEGREGATED, LOGFS_ZLIB])
        for shape, words in shapes(subject).items()
    ]
    chips = (YAFFS2, YAFFS2_INBAND, YAFFS2_SEGREGATED, LOGFS_ZLIB)
    runs += [on_chip(subject, name) for subject in chips for name in CHIPS]
    return runs


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("history", tmp_path_factory.mktemp("history"))


def words(run: History) -> list[str]:
    operations = run.operations // (4 if DEBUG else 1)
    return [
        *run.subject.both,
        *run.subject.history,
        f"--seed={run.seed}",
        f"--operations={operations}",
        "--sleep-max-ms=4000",
        f"--turn-over-bytes={run.subject.case().partition_bytes}",
        *run.words,
    ]


@pytest.mark.parametrize("run", histories(), ids=lambda run: run.id)
def test_history(lab: LabBuild, tmp_path: Path, history: Path, run: History) -> None:
    limit_s = 900 if NIGHTLY else 120
    subject = run.subject
    guest = run_program(
        lab,
        tmp_path / "guest",
        subject,
        history,
        words(run),
        mounts=subject.remounts,
        limit_s=limit_s,
    )
    assert f"history: passed, seed {run.seed}" in guest.output
    # Garbage was collected, or the history proves little.
    pages = subject.case().partition_blocks * subject.case().board.chip.pages_per_block
    assert DEBUG or guest.captured("flash0/counters")["programs"] > 2 * pages


@pytest.mark.parametrize("subject", SUBJECTS, ids=[subject.name for subject in SUBJECTS])
def test_history_survives_a_boot(
    lab: LabBuild, tmp_path: Path, history: Path, subject: Subject
) -> None:
    """What one guest wrote, another verifies, with every alternative of the mount options."""
    arguments = [*words(History(subject, FIRST_SEED + 1000, 600)), "--fills=0"]
    mounts = subject.remounts
    first = run_program(lab, tmp_path / "first", subject, history, arguments, mounts=mounts)
    for number in range(max(1, len(subject.options))):
        options = subject.options[number:] + subject.options[:number]
        run_program(
            lab,
            tmp_path / f"second-{number}",
            replace(subject, options=options),
            history,
            [*arguments, "--verify-only"],
            flash=first.flash,
            mounts=mounts,
        )


def test_a_program_is_the_same_from_every_clone(tmp_path: Path, history: Path) -> None:
    """Its size is among the guest's virtual times, which must not depend on a clone's path."""
    clone = tmp_path / "a clone whose path is longer than others".replace(" ", "-")
    for folder in ("guest", "tests/lab/guest"):
        shutil.copytree(ROOT / folder, clone / folder)
    other = tmp_path / "out"
    subprocess.run(
        ["make", "-s", "-C", str(clone / "tests/lab/guest"), f"O={other}", str(other / "history")],
        check=True,
    )
    assert (other / "history").read_bytes() == history.read_bytes()


def test_a_difference_is_found(lab: LabBuild, tmp_path: Path, history: Path) -> None:
    """Verified as the tree of another seed, or of ten operations fewer, it fails."""
    arguments = [*words(History(YAFFS2, FIRST_SEED, 1500)), "--fills=0"]
    first = run_program(lab, tmp_path / "first", YAFFS2, history, arguments)
    for number, other in enumerate((f"--seed={FIRST_SEED + 1}", "--operations=1490")):
        with pytest.raises(AssertionError, match="history: FAILED"):
            run_program(
                lab,
                tmp_path / f"second-{number}",
                YAFFS2,
                history,
                [*arguments, other, "--verify-only"],
                flash=first.flash,
            )
