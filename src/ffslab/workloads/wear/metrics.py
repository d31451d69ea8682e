"""The figures of wear: how the erases lie on the blocks when all has been written."""

from __future__ import annotations

from collections.abc import Iterator

from ffslab.results.criteria import Criterion, wear
from ffslab.results.result import CaseResult
from ffslab.results.schema import (
    Figure,
    Metric,
    TaskWork,
    case_figures,
    figures_at,
    phase_figures,
)
from ffslab.workloads.wear.stored import wear_of

KIND = "wear"
OF = "wear"
NOTE = """The key `wear` of a result has the agent's record `wear` ([plan-format.md](plan-format.md)) and:

- `first_block`: the partition's first block on the chip. `static_blocks`: numbers within the partition.
- `volumes`: a row for each volume, and for the place where the writing ended early. It has `written_bytes`, `time_ns`
  since the static data were written, `inside` and `outside` of the partition (`blocks`, `erased`, `mean`, `std`, `min`,
  `max` of the erases per block since then), `write_amplification` (programmed bytes ÷ written), `erases` of each block
  of the partition, and the verdicts.
- `grown`: the blocks that were marked bad meanwhile. `before` has the bad ones at the start, and each rise `written`
  (bytes) and `bad_blocks` (all of them). `erases` has the erases of each block of the partition at the first rise, null
  without a rise. All of `grown` is null if nothing counted bad blocks.

The key is null if the guest did not get so far. Phases are `static`, `write` (`workload`), `verify`. The rule of the
verdicts:

- A *static block* is a block of the partition in which the phase `static` programmed at least half of the pages.
  `static_moved` is the share of static blocks that were erased since, after their contents moved elsewhere.
- `static_leveling` is `yes` from 50 % on, `partly` from 5 % on, else `no`; null without static data.
- `global_leveling` is `yes` if a block outside the partition was erased, else `no`; null if no block is outside.

"""  # noqa: E501  (columns of the document)
MOVED = Metric(
    name="static_moved",
    title="Static blocks moved",
    meaning="share of static blocks erased at the last volume",
    better="higher",
    exact=False,
)
METRICS = (MOVED,)
PLACE = "workload/wear"
_WORKLOAD = ("duration_ns", "blocks_erased", "write_amplification", "erases_max", "erases_std")


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    wear = wear_of(result)
    last = wear["volumes"][-1] if wear and wear["volumes"] else None
    return (
        *case_figures(result),
        *(figures_at(last, PLACE, METRICS, (MOVED.name,)) if last else ()),
        *phase_figures(result["phases"], {"workload": _WORKLOAD}),
    )


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """What people decide by: what the writing does to the flash."""
    yield from wear(result)


def tasks(_result: CaseResult) -> tuple[TaskWork, ...]:
    """Not counted by task."""
    return ()
