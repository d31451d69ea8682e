"""The key of a result that is wear's own: its types (docs/metrics.md says what it has)."""

from __future__ import annotations

from typing import NotRequired, cast

from typing_extensions import TypedDict

from ffslab.results.result import CaseResult


class Spread(TypedDict):
    """Erases per block of a set of blocks, since the static data were written."""

    blocks: int
    erased: int
    mean: float
    std: float
    min: int
    max: int


class Volume(TypedDict):
    """What had become of the blocks when `written_bytes` had been written."""

    written_bytes: int
    time_ns: int
    inside: Spread
    outside: Spread | None
    write_amplification: float | None
    static_moved: float | None
    static_leveling: str | None
    global_leveling: str | None
    erases: list[int]


class Grown(TypedDict):
    """Blocks that were marked bad while it wrote: how many in all (`bad_blocks`, those of before
    included) when how much had been written, at each rise; `erases` of every block of the partition
    since the static data were written, at the first rise.
    """

    before: int
    written: list[int]
    bad_blocks: list[int]
    erases: list[int] | None


class WearResult(TypedDict):
    """The agent's record, and the blocks at each volume; `first_block` of the partition. `grown`:
    null if nobody counted.
    """

    asked: int
    written: int
    files: int
    stopped: str
    first_block: int
    static_blocks: list[int]
    volumes: list[Volume]
    grown: NotRequired[Grown | None]


class WearKeys(TypedDict):
    """Null if the records contradict each other, or the guest did not get so far."""

    wear: NotRequired[WearResult | None]


def wear_of(result: CaseResult) -> WearResult | None:
    """The key `wear` of a result of whichever workload."""
    return cast(WearKeys, result).get("wear")
