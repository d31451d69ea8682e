"""Pure functions from records to the figures of a result, each with the type of what it returns.

`ffslab.results.phases` makes the rows of a result with them, and `ffslab.results.result` the types
of these rows: a new figure changes neither.

Durations are virtual nanoseconds, sizes bytes. Wear is always counted over the
erase blocks of the partition under test. FFSMark's own definitions are used:
mean and population standard deviation of the erases per block, and the
difference between the most and the least erased block.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import cast

from typing_extensions import TypedDict

from ffslab.protocol.own_latencies import SUB_BUCKETS
from ffslab.protocol.records import Latency, PhaseCounts

BUCKETS = 58 * SUB_BUCKETS  # of values of 64 bits
FLASH_TIMES = (
    *("flash_read_ns", "flash_program_ns", "flash_erase_ns", "flash_transfer_ns"),
    "flash_ns",
)
_CHIP_COUNTERS = ("chip_read_ns", "chip_program_ns", "chip_erase_ns", "chip_transfer_ns")


class LatencyMetrics(TypedDict):
    """The figures of many operations of one kind, in virtual nanoseconds."""

    count: int
    sum_ns: int
    mean_ns: float
    min_ns: int
    max_ns: int
    p50_ns: int
    p90_ns: int
    p99_ns: int
    p999_ns: int


class RateMetrics(TypedDict):
    """How fast the workload was."""

    read_bytes_per_s: float
    write_bytes_per_s: float


class FlashTimes(TypedDict, total=False):
    """How long the chip was busy, in virtual nanoseconds; there where it counts that."""

    flash_read_ns: int
    flash_program_ns: int
    flash_erase_ns: int
    flash_transfer_ns: int
    flash_ns: int


class FlashMetrics(FlashTimes, total=False):
    """What was asked of the flash; there with a monitor."""

    pages_read: int
    pages_programmed: int
    blocks_erased: int
    in_driver_ns: int
    write_amplification: float | None
    read_amplification: float | None


class WearMetrics(TypedDict, total=False):
    """Erases per block between two snapshots; there if both are."""

    erases_mean: float
    erases_std: float
    erases_spread: int
    erases_max: int


class PhaseMetrics(RateMetrics, FlashMetrics, WearMetrics):
    """The figures of a phase beside its time and what the agent counted."""


def bucket_bounds(index: int) -> tuple[int, int]:
    """The values [low, high) of a bucket of the agent's log-linear histogram.

    128 sub-buckets per power of two, as guest/agent/core/histogram.h defines: indices below
    128 are the value itself; index 128·(e − 6) + s covers (128 + s)·2^(e − 7).
    """
    if index < SUB_BUCKETS:
        return index, index + 1
    shift = index // SUB_BUCKETS - 1
    low = (SUB_BUCKETS + index % SUB_BUCKETS) << shift
    return low, low + (1 << shift)


def quantile_ns(
    buckets: Sequence[Sequence[int]], count: int, q: float, minimum: int, maximum: int
) -> int:
    """The value below or at which a share `q` of the requests is; 0 for none.

    The middle of the bucket that holds the ⌈q·count⌉-th value, within the exact
    minimum and maximum: off by at most 0.4 %.
    """
    rank = max(1, math.ceil(q * count))
    seen = 0
    for index, members in buckets:
        seen += members
        if seen >= rank:
            low, high = bucket_bounds(index)
            return min(max((low + high - 1) // 2, minimum), maximum)
    return maximum if count else 0


def latency_metrics(latency: Latency) -> LatencyMetrics:
    """Latencies with their mean and quantiles."""
    count = latency.count

    def quantile(q: float) -> int:
        return quantile_ns(latency.buckets, count, q, latency.min_ns, latency.max_ns)

    return {
        "count": count,
        "sum_ns": latency.sum_ns,
        "mean_ns": latency.sum_ns / count if count else 0.0,
        "min_ns": latency.min_ns,
        "max_ns": latency.max_ns,
        "p50_ns": quantile(0.5),
        "p90_ns": quantile(0.9),
        "p99_ns": quantile(0.99),
        "p999_ns": quantile(0.999),
    }


def wear_metrics(before: Sequence[int], after: Sequence[int]) -> WearMetrics:
    """Erases per block between two snapshots: mean, standard deviation, max − min."""
    erases = [b - a for a, b in zip(before, after, strict=True)]
    if not erases:
        return {"erases_mean": 0.0, "erases_std": 0.0, "erases_spread": 0, "erases_max": 0}
    total, squares, blocks = sum(erases), sum(n * n for n in erases), len(erases)
    # Exact integers until the last step: the same bits on every machine.
    variance = (blocks * squares - total * total) / (blocks * blocks)
    return {
        "erases_mean": total / blocks,
        "erases_std": math.sqrt(variance),
        "erases_spread": max(erases) - min(erases),
        "erases_max": max(erases),
    }


def counter_difference(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """What each counter gained; counters that only one side has are left out."""
    return {name: after[name] - before[name] for name in after if name in before}


def flash_times(counters: Mapping[str, int]) -> FlashTimes:
    """How long the chip was busy in ns, as it counted itself, by what it did; and `flash_ns`.

    Reads, programs and erases have their commands, array times and ECC; transfers are the bus,
    both ways. `flash_ns` is all of them. Empty where the chip does not count, as on a board.
    """
    if not all(name in counters for name in _CHIP_COUNTERS):
        return {}
    parts = [counters[name] for name in _CHIP_COUNTERS]
    return cast(FlashTimes, dict(zip(FLASH_TIMES, (*parts, sum(parts)), strict=True)))


def in_driver_ns(counters: Mapping[str, int]) -> int:
    """The time that tasks spent in the driver: two that wait for one chip both count."""
    return sum(counters.get(name, 0) for name in ("read_ns", "program_ns", "erase_ns"))


def mtd_calls(counters: Mapping[str, int]) -> int:
    """How often the MTD device was asked to read, write or erase."""
    return sum(counters.get(name, 0) for name in ("read_calls", "write_calls", "erase_calls"))


def rate_per_s(amount: int, duration_ns: int) -> float:
    """Amount per second of virtual time; 0 for an empty interval."""
    return amount * 1e9 / duration_ns if duration_ns > 0 else 0.0


def amplification(pages: int, page_bytes: int, moved_bytes: int) -> float | None:
    """Bytes of the pages ÷ bytes that the workload moved that way; None if it moved none."""
    return pages * page_bytes / moved_bytes if moved_bytes else None


def phase_metrics(
    duration_ns: int,
    counts: PhaseCounts,
    counters: Mapping[str, int],
    page_bytes: int,
    erases: tuple[Sequence[int], Sequence[int]] | None,
) -> PhaseMetrics:
    """The figures of a phase, or of several together.

    `counters`: what those of the flash gained; `erases`: of each block, before and after.
    """
    return {
        **rate_metrics(duration_ns, counts),
        **flash_metrics(counters, page_bytes, counts),
        **(wear_metrics(*erases) if erases else WearMetrics()),
    }


def rate_metrics(duration_ns: int, counts: PhaseCounts) -> RateMetrics:
    """What the workload read and wrote over its time."""
    return {
        "read_bytes_per_s": rate_per_s(counts["bytes_read"], duration_ns),
        "write_bytes_per_s": rate_per_s(counts["bytes_written"], duration_ns),
    }


def flash_metrics(
    counters: Mapping[str, int], page_bytes: int, counts: PhaseCounts
) -> FlashMetrics:
    """What the flash did for what the workload asked; empty without counters."""
    if not counters:
        return {}
    read, programmed = counters.get("pages_read", 0), counters.get("pages_programmed", 0)
    return {
        "pages_read": read,
        "pages_programmed": programmed,
        "blocks_erased": counters.get("blocks_erased", 0),
        **flash_times(counters),
        "in_driver_ns": in_driver_ns(counters),
        "write_amplification": amplification(programmed, page_bytes, counts["bytes_written"]),
        "read_amplification": amplification(read, page_bytes, counts["bytes_read"]),
    }
