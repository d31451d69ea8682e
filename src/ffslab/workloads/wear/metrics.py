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
NOTE = """The key `wear` of a result: the agent's record `wear` ([plan-format.md](plan-format.md)), `first_block` (the
partition's first block on the chip), `static_blocks` (numbers within the partition) and `volumes`: at each volume, and
where the writing ended early there, `written_bytes`, `time_ns` since the static data were written, `inside` and
`outside` of the partition (`blocks`, `erased`, `mean`, `std`, `min`, `max` of the erases per block since then),
`write_amplification` (programmed bytes ÷ written), `erases` of each block of the partition, and the verdicts. `grown`
has the blocks that were marked bad meanwhile: `before` (bad ones at the start), and for each rise `written` (bytes)
and `bad_blocks` (all of them); `erases` of each block of the partition at the first rise, null without one; all of it
null if nobody counted.
The key is null if the guest did not get so far. Phases are `static`, `write` (`workload`), `verify`. The rule of the
verdicts:

- A *static block* is one of the partition of which the phase `static` programmed at least half of the pages.
  `static_moved` is the share of them that has been erased since; what they held was then written elsewhere.
- `static_leveling` is `yes` from 50 % on, `partly` from 5 % on, else `no`; null without static data.
- `global_leveling` is `yes` if a block outside of the partition was erased, else `no`; null if there is none.

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
