"""How many years the flash lives: an estimate from a short run, in one place."""

from __future__ import annotations

from ffslab.advise.needs import DAYS_A_YEAR

# CONFIG_MTD_UBI_WL_THRESHOLD, the kernel's default: UBI moves what lies on a block that was erased
# so much less often than another. It bounds how uneven the blocks of a UBI device can become.
UBI_THRESHOLD = 4096


def years_of_life(
    endurance: int, blocks: int, block_bytes: int, daily_flash_bytes: float, imbalance: float
) -> float:
    """Years until the most erased block reaches the endurance that the chip's file states.

    All that is programmed a day needs as much erased; `imbalance` is how many times the mean the
    most erased block was erased. An estimate: both are taken to stay what they were in a short run,
    and blocks that die earlier or later are not looked at.
    """
    daily_erases = daily_flash_bytes / block_bytes
    if not daily_erases:
        return float("inf")
    return endurance * blocks / (daily_erases * imbalance) / DAYS_A_YEAR


def imbalance_of(most: float, mean: float, endurance: int, *, ubi: bool) -> float:
    """How many times the mean the most erased block is erased, over a life.

    As in the short run; on UBI not more than its threshold allows, which short runs do not reach:
    when the most erased block reaches the endurance, the mean is at most the threshold below.
    """
    measured = max(most / mean, 1.0) if mean else 1.0
    if ubi and endurance > UBI_THRESHOLD:
        return min(measured, endurance / (endurance - UBI_THRESHOLD))
    return measured
