"""Latencies that a program writes down: what a line is, and the same histogram as the agent's."""

from __future__ import annotations

import pytest

from ffslab.protocol.own_latencies import MOST_NAMES, bad_line, bucket_of, own_latencies
from ffslab.results.metrics import bucket_bounds, latency_metrics


def test_names_come_in_the_order_of_their_first_lines() -> None:
    several = own_latencies("commit 500\nread 7\ncommit 1500\n", "script")
    assert [(each.op, each.count, each.phase) for each in several] == [
        ("commit", 2, "script"),
        ("read", 1, "script"),
    ]
    commit = several[0]
    assert (commit.min_ns, commit.max_ns, commit.sum_ns) == (500, 1500, 2000)
    assert latency_metrics(commit)["mean_ns"] == 1000.0
    assert latency_metrics(several[1])["p50_ns"] == 7


@pytest.mark.parametrize("value", [0, 1, 127, 128, 129, 255, 256, 1000, 65_535, 10**9, 10**18 - 1])
def test_a_value_is_in_its_bucket(value: int) -> None:
    low, high = bucket_bounds(bucket_of(value))
    assert low <= value < high


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("commit\n", "line 1 is 'commit'"),
        ("commit 1\ncommit 1.5\n", "line 2 is 'commit 1.5'"),
        ("commit -1\n", "line 1"),
        ("Commit 1\n", "line 1"),
        ("commit 1\n\n", "line 2 is ''"),
        ("commit 1234567890123456789\n", "line 1"),
        ("".join(f"n{number} 1\n" for number in range(MOST_NAMES + 1)), "17 names, at most 16"),
    ],
)
def test_what_is_no_latency_is_told_and_counts_nothing(text: str, told: str) -> None:
    assert told in bad_line(text)
    assert own_latencies(text, "script") == ()


def test_a_file_without_lines_is_no_mistake() -> None:
    assert bad_line("") == "" and own_latencies("", "script") == ()
