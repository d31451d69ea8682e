"""The settings of workload `raw`: what is published of the board, to be put beside it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from ffslab.model.workload import Workload, key


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw(Workload):
    """What somebody measured on the board itself, as published: in MB/s of 2^20 bytes, MiB/s."""

    kind: str = key("raw", "the workload")
    erase_mb_s: float = key(
        0.0,
        "published, in MiB/s (MB/s of 2^20 bytes); 0: not published",
        lowest=0,
        highest=10**6,
        changes="setting",
    )
    write_mb_s: float = key(
        0.0, "published, with ECC; 0: not published", lowest=0, highest=10**6, changes="setting"
    )
    read_mb_s: float = key(
        0.0, "published, with ECC; 0: not published", lowest=0, highest=10**6, changes="setting"
    )
    within_percent: float = key(
        3.0, "a difference up to this is agreement", lowest=0, highest=10**6, changes="setting"
    )

    @property
    def told(self) -> Hashable:
        """The guest does the same whatever is published; what the case finds is another thing."""
        return (self.erase_mb_s, self.write_mb_s, self.read_mb_s, self.within_percent)
