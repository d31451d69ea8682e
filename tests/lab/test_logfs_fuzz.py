"""Damaged contents never crash the kernel: mount and use over mutated images of LogFS.

As test_yaffs_fuzz.py. The nightly form tries 20,000 mutations:

    FFSLAB_NIGHTLY=1 ./ffslab test tests/lab/test_logfs_fuzz.py -s

A failure names the mutation and the command that replays it alone:

    FFSLAB_FUZZ='base=plain seed=1 first=17 count=1' ./ffslab test tests/lab/test_logfs_fuzz.py
"""

from __future__ import annotations

import os

import pytest
from fs_fuzz import (
    LOGFS,
    REPLAY_VARIABLE,
    Outcome,
    assert_got_through,
    chosen_jobs,
    run_in_checking_kernel,
)

JOBS = chosen_jobs(LOGFS, daily=40, nightly=250, rounds=10)


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
    # The base images have what they are for: names in buckets, blocks of words of four levels.
    assert counts["base_buckets"] >= 10 and counts["base_packed"] > 0, counts
    assert counts["base_levels"] >= 4 + 2 * (len(JOBS) - 1), counts
    assert counts["base_areas"] > 0 and counts["base_aliases"] > 0, counts
