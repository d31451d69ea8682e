"""Damaged contents never crash the kernel: mount and use over mutated images of LogFS.

As test_yaffs_fuzz.py. The nightly form tries 20,000 mutations:

    FFSLAB_NIGHTLY=1 ./ffslab test tests/lab/test_logfs_fuzz.py -s

A failure names the mutation and the command that replays it alone:

    FFSLAB_FUZZ='base=plain seed=1 first=17 count=1' ./ffslab test tests/lab/test_logfs_fuzz.py
"""

from __future__ import annotations

import os

import pytest
from fs_fuzz import LOGFS, REPLAY_VARIABLE, Outcome, build, chosen_jobs, run_jobs

from ffslab.kernel import ensure_lab

JOBS = chosen_jobs(LOGFS, daily=40, nightly=250, rounds=10)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    lab = ensure_lab("debug")
    directory = tmp_path_factory.mktemp("fuzz")
    return run_jobs(lab, build(directory / "build"), directory, JOBS)


def test_nothing_is_reported(outcome: Outcome) -> None:
    assert not outcome.failures, "\n\n".join(["", *map(str, outcome.failures)])


@pytest.mark.skipif(REPLAY_VARIABLE in os.environ, reason="a replay is no sample")
def test_mutations_get_through(outcome: Outcome) -> None:
    """Otherwise all of this would prove nothing: most images are mounted and used."""
    counts = outcome.counts
    assert counts["mutations"] == sum(job.count for job in JOBS)
    assert counts["mounted"] > 0.6 * counts["mounts"], counts
    assert counts["calls_good"] > counts["calls_failed"], counts
    assert counts["calls_good"] > 100 * counts["mutations"], counts
    assert counts["violations"] == 0, counts
    # The base images have what they are for: names in buckets, blocks of words of four levels.
    assert counts["base_buckets"] >= 10 and counts["base_packed"] > 0, counts
    assert counts["base_levels"] >= 4 + 2 * (len(JOBS) - 1), counts
    assert counts["base_areas"] > 0 and counts["base_aliases"] > 0, counts
