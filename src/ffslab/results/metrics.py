"""Pure functions from records to the figures of a result.

Durations are virtual nanoseconds, sizes bytes. Wear is always counted over the
erase blocks of the partition under test. FFSMark's own definitions are used:
mean and population standard deviation of the erases per block, and the
difference between the most and the least erased block.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import cast

from ffslab.protocol.records import OK, Latency, Phase, PhaseCounts, Snapshot, phase_counts
from ffslab.results.result import (
    FlashResult,
    FlashTimes,
    LatencyResult,
    PhaseResult,
    WearResult,
)

SUB_BUCKETS = 128
FLASH_TIMES = (
    *("flash_read_ns", "flash_program_ns", "flash_erase_ns", "flash_transfer_ns"),
    "flash_ns",
)
_CHIP_COUNTERS = ("chip_read_ns", "chip_program_ns", "chip_erase_ns", "chip_transfer_ns")
_NO_WEAR: WearResult = {}


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


def latency_metrics(latency: Latency) -> LatencyResult:
    """Latencies with their mean and quantiles; buckets are kept."""
    count = latency.count

    def quantile(q: float) -> int:
        return quantile_ns(latency.buckets, count, q, latency.min_ns, latency.max_ns)

    return {
        "phase": latency.phase,
        "op": latency.op,
        "count": count,
        "sum_ns": latency.sum_ns,
        "mean_ns": latency.sum_ns / count if count else 0.0,
        "min_ns": latency.min_ns,
        "max_ns": latency.max_ns,
        "p50_ns": quantile(0.5),
        "p90_ns": quantile(0.9),
        "p99_ns": quantile(0.99),
        "p999_ns": quantile(0.999),
        "buckets": [list(bucket) for bucket in latency.buckets],
    }


def wear_metrics(before: Sequence[int], after: Sequence[int]) -> WearResult:
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


def write_amplification(pages: int, page_bytes: int, bytes_written: int) -> float | None:
    """Bytes programmed ÷ bytes the workload wrote; None if it wrote nothing."""
    return pages * page_bytes / bytes_written if bytes_written else None


def phase_metrics(
    phase: Phase,
    snapshots: Mapping[str, Snapshot],
    page_bytes: int,
) -> PhaseResult:
    """One phase's figures from its record and the flash snapshots around it."""
    counters = counter_difference(phase.flash_start, phase.flash_end)
    start, end = snapshots.get(f"{phase.name}:start"), snapshots.get(f"{phase.name}:end")
    duration_ns = phase.t_end_ns - phase.t_start_ns
    return {
        "phase": phase.name,
        "status": phase.status,
        "errno_name": phase.errno_name,
        "t_start_ns": phase.t_start_ns,
        "t_end_ns": phase.t_end_ns,
        "duration_ns": duration_ns,
        **phase.counts,
        "read_bytes_per_s": rate_per_s(phase.counts["bytes_read"], duration_ns),
        "write_bytes_per_s": rate_per_s(phase.counts["bytes_written"], duration_ns),
        "flash": counters,
        **_flash(counters, page_bytes, phase.counts["bytes_written"]),
        **(wear_metrics(start["erases"], end["erases"]) if start and end else _NO_WEAR),
    }


def workload_metrics(
    phases: Sequence[PhaseResult],
    snapshots: Mapping[str, Snapshot],
    page_bytes: int,
    names: Sequence[str],
) -> PhaseResult | None:
    """The sum over the phases `names`, called phase `workload`; None unless all are there.

    Wear is from the start of the first to the end of the last, so that it is the wear that FFSMark
    reports for a run.
    """
    by_name = {phase["phase"]: phase for phase in phases}
    if not names or not set(names) <= set(by_name):
        return None
    chosen = [by_name[name] for name in names]
    bad = next((phase for phase in chosen if phase["status"] != OK), chosen[-1])
    start, end = snapshots.get(f"{names[0]}:start"), snapshots.get(f"{names[-1]}:end")
    counters = counter_difference(start["counters"], end["counters"]) if start and end else {}
    duration_ns = sum(phase["duration_ns"] for phase in chosen)
    counts = _summed(chosen)
    return {
        "phase": "workload",
        "status": bad["status"],
        "errno_name": bad["errno_name"],
        "t_start_ns": chosen[0]["t_start_ns"],
        "t_end_ns": chosen[-1]["t_end_ns"],
        "duration_ns": duration_ns,
        **counts,
        "read_bytes_per_s": rate_per_s(counts["bytes_read"], duration_ns),
        "write_bytes_per_s": rate_per_s(counts["bytes_written"], duration_ns),
        "flash": counters,
        **_flash(counters, page_bytes, counts["bytes_written"]),
        **(wear_metrics(start["erases"], end["erases"]) if start and end else _NO_WEAR),
    }


def _summed(phases: Sequence[PhaseResult]) -> PhaseCounts:
    counts: Counter[str] = Counter()
    for phase in phases:
        counts.update(phase_counts(cast(Mapping[str, int], phase)))
    return phase_counts(counts)


def _flash(counters: Mapping[str, int], page_bytes: int, bytes_written: int) -> FlashResult:
    """What the counters of a phase say; empty without them."""
    if not counters:
        return {}
    pages = counters.get("pages_programmed", 0)
    return {
        "pages_read": counters.get("pages_read", 0),
        "pages_programmed": pages,
        "blocks_erased": counters.get("blocks_erased", 0),
        **flash_times(counters),
        "in_driver_ns": in_driver_ns(counters),
        "write_amplification": write_amplification(pages, page_bytes, bytes_written),
    }
