"""What UBI itself counted of erases, where no flash monitor is: pure.

UBI keeps in each erase block how often it was erased, and lists that in
`/sys/kernel/debug/ubi/ubiN/detailed_erase_block_info`. A board's plan captures the file after the
mount and before the unmount; the difference is what the case erased, but for the attach itself.
"""

from __future__ import annotations

import re

from typing_extensions import TypedDict

from ffslab.protocol.records import RecordStream

FILE = "detailed_erase_block_info"
_ROW = re.compile(r"^\s*(\d+)\s+(\d+)\s*$")


class EraseCounters(TypedDict):
    """Erases of all blocks of the UBI device: during the case, and over their life."""

    blocks: int
    erases: int
    life_mean: float
    life_max: int
    life_min: int


def erase_counters(stream: RecordStream) -> EraseCounters | None:
    """The counters of a case's guest; None if it did not capture them twice."""
    texts = [
        str(record.get("text", ""))
        for record in stream.of_type("file")
        if str(record.get("path", "")).endswith(f"/{FILE}")
    ]
    if len(texts) < 2:
        return None
    first, last = _counts(texts[0]), _counts(texts[-1])
    if not last:
        return None
    # A block that went bad meanwhile is in the first list only.
    both = first.keys() & last.keys()
    return {
        "blocks": len(last),
        "erases": sum(last[block] - first[block] for block in both),
        "life_mean": sum(last.values()) / len(last),
        "life_max": max(last.values()),
        "life_min": min(last.values()),
    }


def _counts(text: str) -> dict[int, int]:
    matches = (_ROW.match(line) for line in text.splitlines())
    return {int(match[1]): int(match[2]) for match in matches if match}
