"""What a forecast reads off a run: blocks to lose, looks, wear of before, what became of it."""

from __future__ import annotations

from typing import Any

import pytest

from ffslab.lifetime.spares import spares_of

BLOCK = 131_072


def spec_of(kind: str, *, ubi: Any = None, blocks: int = 2048, **more: Any) -> dict[str, Any]:
    """A partition of 100 blocks of 128 KiB, of a chip of this many."""
    chip = {"blocks": blocks, "page_bytes": 2048, "pages_per_block": 64, **more}
    return {
        "board": {"chip": chip},
        "filesystem": {"type": kind, "ubi": ubi},
        "partition_bytes": 100 * BLOCK,
    }


@pytest.mark.parametrize(
    ("blocks", "per", "factory_bad", "expected"),
    [
        # 1 in 1,024, rounded up.
        (1024, 1, 0, 1),
        (1025, 1, 0, 2),
        # If nobody says: 20 × 1,024 ÷ 1,024, and 20 × 1,076 ÷ 1,024 = 21.02.
        (1024, None, 0, 20),
        (1076, 0, 0, 22),
        # Blocks that were bad from the beginning are taken off the reserve, as far as it goes.
        (1024, 20, 20, 0),
        (1024, 20, 21, 0),
        (1024, 20, 19, 1),
    ],
)
def test_the_reserve_of_ubi(blocks: int, per: int | None, factory_bad: int, expected: int) -> None:
    spec = spec_of("ubifs", ubi={"max_beb_per1024": per}, blocks=blocks, factory_bad=factory_bad)
    assert spares_of(spec, 0, 0).blocks == expected


@pytest.mark.parametrize(
    ("kind", "available", "file", "expected"),
    [
        # JFFS2 gives up a block and a hundredth of the partition, another block, earlier.
        ("jffs2", 4 * BLOCK, 0, 2),
        ("jffs2", 4 * BLOCK - 1, 0, 1),
        ("yaffs2", 4 * BLOCK, 0, 4),
        ("yaffs2", 4 * BLOCK - 1, 0, 3),
        # 50 blocks of file take 51.
        ("yaffs2", 55 * BLOCK, 50 * BLOCK, 4),
    ],
)
def test_the_space_that_nothing_needs(
    kind: str, available: int, file: int, expected: int
) -> None:
    assert spares_of(spec_of(kind), available, file).blocks == expected
