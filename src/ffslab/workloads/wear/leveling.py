"""Whether wear is spread over all blocks: the rule, on erase counts alone (docs/metrics.md).

A *static block* is one of the partition of which the phase that wrote the static data programmed
at least half of the pages. It has *moved* when it has been erased since: a block is erased only
after what it held has been written elsewhere. Static wear leveling is `yes` if at least half of
the static blocks moved, `partly` from a twentieth on, else `no`: the last blocks of the static data
hold other data, too, and are collected by any file system. Global leveling is `yes` if any block
outside of the partition was erased, else `no`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ffslab.workloads.wear.stored import Spread

YES, PARTLY, NO = "yes", "partly", "no"
MOVED_YES = 0.5
MOVED_PARTLY = 0.05
STATIC_SHARE = 0.5  # of a block's pages


def static_blocks(programs: Sequence[int], pages_per_block: int) -> tuple[int, ...]:
    """The numbers of those blocks that hold static data, of the pages programmed meanwhile."""
    least = pages_per_block * STATIC_SHARE
    return tuple(number for number, pages in enumerate(programs) if pages >= least)


def moved_share(erases: Sequence[int], static: Sequence[int]) -> float | None:
    """The share of the static blocks that have been erased; None if there are none."""
    if not static:
        return None
    return sum(1 for number in static if erases[number]) / len(static)


def static_verdict(moved: float | None) -> str | None:
    """Whether static data move."""
    if moved is None:
        return None
    if moved >= MOVED_YES:
        return YES
    return PARTLY if moved >= MOVED_PARTLY else NO


def global_verdict(outside: Sequence[int]) -> str | None:
    """Whether blocks outside take part; None if there are none, or nobody counts them."""
    if not outside:
        return None
    return YES if any(outside) else NO


def spread(erases: Sequence[int]) -> Spread:
    """What there is to say of the erases of a set of blocks, which is not empty.

    The standard deviation is that of the population: these blocks are all there are.
    """
    blocks, total = len(erases), sum(erases)
    variance = (blocks * sum(n * n for n in erases) - total * total) / (blocks * blocks)
    return {
        "blocks": blocks,
        "erased": sum(1 for n in erases if n),
        "mean": total / blocks,
        "std": math.sqrt(variance),
        "min": min(erases),
        "max": max(erases),
    }
