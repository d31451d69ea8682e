"""Tells the start-up phase of a series of requests from its running phase.

Bouganim, Jónsson and Bonnet (uFLIP, CIDR 2009) found that the first requests to a flash device
may be cheap until it has to reclaim space, and that a mean over both phases says nothing about
either. So may a flash file system's: until it must collect or erase, it writes to free blocks.

The rule. Each latency becomes its index on the agent's logarithmic scale (128 steps for each power
of two, guest/agent/core/histogram.h). Among all places that cut the series in two, the one with the
smallest sum of squared errors around the two means is the change (least squares, one change
point). The part before it is a start-up phase if

1. both parts have at least MIN_REQUESTS, and the second is at least a tenth of the series;
2. the mean latency of the second is at least 5/4 of that of the first;
3. the cut explains enough: at least 1/200 of the squared error (little, since a collector that
   makes few requests dear changes the mean much and the logarithms hardly), and
   F = explained · (n − 2) ÷ rest is at least 25 (a difference of means of five standard errors,
   if requests were independent);
4. the start-up level does not come back: every stretch of the running phase that is as long as
   the start-up (or all of it, if it is shorter) is, in mean, above it by at least a quarter of
   the difference. So a collector
   that works every k-th request makes no start-up of the k − 1 requests before its first work;
5. the start-up is level: its halves differ by less than a third of the difference. So a ramp
   has no start-up.

Limits: one change only: where requests become dear twice, it is where that explains most; a
start-up as short as the longest pause of the collector is not seen. All arithmetic is on
integers, so that every machine finds the same; time is proportional to the number of requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ffslab.protocol.own_latencies import bucket_of

MIN_REQUESTS = 4
_MIN_F = 25
_MIN_SHARE = 200  # one part in so many


def startup_count(latency_ns: Sequence[int]) -> int:
    """How many requests at the beginning are the start-up phase; 0 if there is none."""
    count = len(latency_ns)
    if count < 2 * MIN_REQUESTS:
        return 0
    levels = [bucket_of(latency) for latency in latency_ns]
    sums = list(accumulate(levels, initial=0))
    # n² times the variance: an integer.
    scatter = count * sum(level * level for level in levels) - sums[-1] ** 2
    cut = _best_cut(sums, count)
    explains = _explains(sums, count, cut, scatter)
    if not explains or not _is_dearer(latency_ns, cut):
        return 0
    return cut if _stays_away(sums, count, cut) and _is_level(sums, count, cut) else 0


def _best_cut(sums: Sequence[int], count: int) -> int:
    """The length of the first part that leaves the least squared error; the first if several.

    The squared error falls by d² ÷ (n · k · (n − k)) with d = n · (sum of the first k) − k · sum.
    """
    best, best_gain, best_weight = MIN_REQUESTS, -1, 1
    for k in range(MIN_REQUESTS, count - MIN_REQUESTS + 1):
        gain, weight = (count * sums[k] - k * sums[count]) ** 2, k * (count - k)
        if gain * best_weight > best_gain * weight:
            best, best_gain, best_weight = k, gain, weight
    return best


def _explains(sums: Sequence[int], count: int, cut: int, scatter: int) -> bool:
    """Rules 1 and 3. Both sides of every comparison are times n · k · (n − k)."""
    explained = (count * sums[cut] - cut * sums[count]) ** 2
    whole = scatter * cut * (count - cut)
    rest = whole - explained
    return (
        scatter > 0
        and 10 * (count - cut) >= count
        and _MIN_SHARE * explained >= whole
        and explained * (count - 2) >= _MIN_F * rest
    )


def _is_dearer(latency_ns: Sequence[int], cut: int) -> bool:
    """Rule 2."""
    first, second = sum(latency_ns[:cut]), sum(latency_ns[cut:])
    return 4 * second * cut >= 5 * first * (len(latency_ns) - cut)


def _stays_away(sums: Sequence[int], count: int, cut: int) -> bool:
    """Rule 4: 3/4 of the start-up's mean and 1/4 of the running phase's is the bound."""
    rest = count - cut
    stretch = min(cut, rest)
    lowest = min(sums[j + stretch] - sums[j] for j in range(cut, count - stretch + 1))
    bound = 3 * sums[cut] * rest + (sums[count] - sums[cut]) * cut
    return 4 * lowest * cut * rest >= bound * stretch


def _is_level(sums: Sequence[int], count: int, cut: int) -> bool:
    """Rule 5; of an odd number the middle one is in neither half."""
    half = cut // 2
    difference = abs(sums[cut] - sums[cut - half] - sums[half])  # of sums over `half`
    step = (sums[count] - sums[cut]) * cut - sums[cut] * (count - cut)
    return 3 * difference * cut * (count - cut) < step * half
