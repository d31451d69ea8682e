"""Damaged contents never crash the kernel: mount and use over mutated images.

The guests run the debug kernel (KASAN, UBSAN, lockdep, kmemleak), which is built when the cache
does not have it. Every run tries a few hundred mutations. The nightly form tries over 20,000:

    FFSLAB_NIGHTLY=1 ./ffslab test tests/lab/test_yaffs_fuzz.py -s

A failure names the mutation and the command that replays it alone:

    FFSLAB_FUZZ='base=plain seed=1 first=17 count=1' ./ffslab test tests/lab/test_yaffs_fuzz.py

FFSLAB_FUZZ_SEED chooses another first seed for the nightly form.
"""

from __future__ import annotations

import os

import pytest
from fs_fuzz import (
    REPLAY_VARIABLE,
    YAFFS2,
    Job,
    Outcome,
    assert_got_through,
    chosen_jobs,
    judge,
    parse_job,
    run_in_checking_kernel,
)

JOBS = chosen_jobs(YAFFS2, daily=50, nightly=260, rounds=10)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return run_in_checking_kernel(tmp_path_factory.mktemp("fuzz"), JOBS)


def test_nothing_is_reported(outcome: Outcome) -> None:
    assert not outcome.failures, "\n\n".join(["", *map(str, outcome.failures)])


@pytest.mark.skipif(REPLAY_VARIABLE in os.environ, reason="a replay is no sample")
def test_mutations_get_through(outcome: Outcome) -> None:
    """Otherwise all of this would prove nothing: most images are mounted and used."""
    counts = outcome.counts
    assert_got_through(counts, JOBS)
    # Both ways into the file system: the checkpoint believed, and the scan.
    assert 0.1 * counts["mounted"] < counts["by_checkpoint"] < 0.9 * counts["mounted"], counts


def test_the_judge_sees_reports() -> None:
    """What the debug kernel would write is a failure, with the right mutation."""
    job = Job(YAFFS2, "plain", 1, 0, 10)
    done = "fsfuzz: done: mutations 10 mounts 20\n"
    before = "[  1.0] fsfuzz: #6 flip p3 1\n[  1.0] fsfuzz: #7 parent p5 obj 257 parent 257\n"
    reports = (
        "[  1.1] BUG: KASAN: slab-out-of-bounds in yaffs_mount+0x10/0x20 [yaffs]",
        "[  1.1] UBSAN: shift-out-of-bounds in kmod/yaffs/core/scan.c:10:3",
        "[  1.1] WARNING: possible circular locking dependency detected",
        "[  1.1] WARNING: CPU: 0 PID: 20 at fs/inode.c:1 iput+0x1/0x2",
        "[  1.1] BUG yaffs_object (Tainted: G O): Objects remaining on shutdown",
        "[  1.1] fsfuzz: page allocation failure: order:9, mode:0xcc0",
        "[  1.1] VFS: Busy inodes after unmount of mtd0.",
        "[  1.1] fsfuzz: FINDING: 3 rule violations",
        "[  1.1] fsfuzz: FINDING: cannot unmount: Device or resource busy",
        "[  1.1] kmemleak: Kernel memory leak detector disabled",
    )
    for report in reports:
        (failure,) = judge(job, f"{before}{report}\n{done}", hangs=False).failures
        assert failure.number == 7 and "parent 257" in failure.description
        assert "first=7 count=1" in str(failure) and report.split("] ")[1] in failure.text
    leak = f"{before}[ 2.0] fsfuzz: #end of the mutations\n[ 3.0] fsfuzz: FINDING: kmemleak\n"
    (failure,) = judge(job, leak + done, hangs=False).failures
    assert failure.number is None and "leaks=1" in str(failure)
    assert [f.kind for f in judge(job, before, hangs=False).failures] == ["early end"]
    assert [f.kind for f in judge(job, before, hangs=True).failures] == ["hang"]
    assert not judge(job, before + done, hangs=False).failures
    assert parse_job(YAFFS2, str(job)) == job
