"""Latencies that a program of the user's measured: the file that it writes, as latencies of ours.

A line is `NAME NANOSECONDS`; the program reads a clock of the guest, which has virtual time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ffslab.protocol.records import Latency

LATENCIES = "/script-latencies"  # in the guest
OWN_PHASE = "script"
SUB_BUCKETS = 128
_SUB_BUCKETS_LOG2 = 7
_LINE = re.compile(r"([a-z][a-z0-9_-]{0,31}) (\d{1,18})")
MOST_NAMES = 16


def bucket_of(value: int) -> int:
    """The index of a value's bucket in the agent's log-linear histogram."""
    exponent = value.bit_length() - 1
    if exponent < _SUB_BUCKETS_LOG2:
        return value
    shift = exponent - _SUB_BUCKETS_LOG2
    return (shift << _SUB_BUCKETS_LOG2) + (value >> shift)


def bad_line(text: str) -> str:
    """What is wrong with the first line that is no latency; empty if all are."""
    names = set()
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            return f"line {number} is {line[:60]!r}, not NAME NANOSECONDS"
        names.add(match[1])
    return f"there are {len(names)} names, at most {MOST_NAMES}" if len(names) > MOST_NAMES else ""


def own_latencies(text: str, phase: str) -> tuple[Latency, ...]:
    """The latencies of each name in the order of its first line; of a bad file none."""
    if bad_line(text):
        return ()
    by_name: dict[str, list[int]] = {}
    for line in text.splitlines():
        name, took_ns = line.split()
        by_name.setdefault(name, []).append(int(took_ns))
    return tuple(_latency(phase, name, times_ns) for name, times_ns in by_name.items())


def _latency(phase: str, name: str, times_ns: Sequence[int]) -> Latency:
    buckets = Counter(map(bucket_of, times_ns))
    return Latency(
        phase=phase,
        op=name,
        count=len(times_ns),
        sum_ns=sum(times_ns),
        min_ns=min(times_ns),
        max_ns=max(times_ns),
        buckets=tuple(sorted(buckets.items())),
    )
