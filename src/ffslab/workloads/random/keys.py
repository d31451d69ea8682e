"""The settings of random: how long it is, which operations there are more of, what is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ffslab.model.workload import Workload, key

LEAST_BYTES = 2**17  # of all files, at most: the agent's bound
_PERCENT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Random(Workload):
    """A history of random operations, which its seed and these keys determine."""

    kind: str = key("random", "the workload")
    rounds: int = key(
        60, "rounds; after each the whole tree is compared", lowest=1, highest=1_000_000
    )
    operations: int = key(100, "operations of a round", lowest=1, highest=1_000_000)
    after: Literal["both", "remount", "drop", "nothing"] = key(
        "both",
        "after a round: `remount`, `drop` caches, `both` in turns as the seed has it; then "
        "it is compared once more",
    )
    shape: Literal["mixed", "names", "data", "small-files", "large-files", "holes"] = key(
        "mixed",
        "`names`, `data`: five times as many operations on these; the others: another tree",
    )
    full_percent: int = key(
        25, "all files together take so much of the partition at most", lowest=1, highest=95
    )
    fills: int = key(
        0,
        "how often of 10,000 operations the partition is filled, used and emptied",
        lowest=0,
        highest=1000,
    )
    turn_over: bool = key(
        True, "some operations write and delete as many bytes as the partition has"
    )
    xattrs: Literal["all", "files", "none"] = key(
        "all", "extended attributes of `all`, of `files` and directories only, of `none`"
    )
    over_emptied: bool = key(True, "directories are renamed over directories that were emptied")
    times: bool = key(False, "times of files and directories are compared, too", changes="setting")

    def most_bytes(self, partition_bytes: int) -> int:
        """What all files together may have."""
        return max(partition_bytes * self.full_percent // _PERCENT, LEAST_BYTES)
