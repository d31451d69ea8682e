"""The figures of wear: how the erases lie on the blocks when all has been written."""

from __future__ import annotations

from collections.abc import Iterator

from ffslab.results.criteria import Aspect, Criterion, wear
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
    unit="%",
    scale=0.01,
    meaning="share of static blocks erased at the last volume",
    better="higher",
    exact=False,
)


def _life(name: str, title: str, meaning: str) -> Metric:
    return Metric(
        name=name,
        title=title,
        unit="GB",
        scale=1e9,
        meaning=meaning,
        better="higher",
        words=("more", "less"),
    )


OUTSIDE = Metric(
    name="outside_erased",
    title="Blocks erased outside",
    unit="blocks",
    meaning="of the partition, at the last volume",
    better="higher",
)
FIRST_BAD = _life("first_bad_bytes", "Until the first bad block", "bytes written by then")
END = _life("end_bytes", "Until the end of writing", "bytes written to a chip worn out or full")
_MOVES, _LIVES = (MOVED, OUTSIDE), (FIRST_BAD, END)
METRICS = (*_MOVES, *_LIVES)
PLACE = "workload/wear"
_WORKLOAD = ("duration_ns", "blocks_erased", "write_amplification", "erases_max", "erases_std")


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    return (
        *case_figures(result),
        *figures_at(_own(result), PLACE, METRICS, (MOVED.name, END.name)),
        *phase_figures(result["phases"], {"workload": _WORKLOAD}),
    )


def _own(result: CaseResult) -> dict[str, float | None]:
    """What only this workload has, by the names of its metrics."""
    measured = wear_of(result)
    if not measured or not measured["volumes"]:
        return {}
    last, grown = measured["volumes"][-1], measured.get("grown")
    dies = result["spec"]["workload"]["to_death"]
    return {
        MOVED.name: last["static_moved"],
        OUTSIDE.name: last["outside"]["erased"] if last["outside"] else None,
        FIRST_BAD.name: grown["written"][0] if grown and grown["written"] else None,
        END.name: measured["written"] if measured["stopped"] and dies else None,
    }


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """What people decide by: whether data that stay move, how long the flash lasted, its wear."""
    dies = result["spec"]["workload"]["to_death"]  # then all data move
    for figure in figures_at(_own(result), PLACE, _LIVES if dies else _MOVES):
        yield Criterion(figure, *_DECIDED[figure.metric.name])
    yield from wear(result)


# Title, aspect, whether the verdict begins with it.
_DECIDED: dict[str, tuple[str, Aspect, bool]] = {
    MOVED.name: ("static data moved", "wear", True),
    OUTSIDE.name: ("blocks erased outside of the partition", "wear", True),
    FIRST_BAD.name: ("written until the first bad block", "life", False),
    END.name: ("written until the end of writing", "life", True),
}


def tasks(_result: CaseResult) -> tuple[TaskWork, ...]:
    """Not counted by task."""
    return ()
