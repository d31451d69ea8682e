"""Erase counts behind the entries of summaries, which the mount option `wear=` writes: ignored."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from test_yaffs2_check import log_image
from test_yaffs2_segregated_check import good_log
from yaffs2_support import Image

WEAR_AT = 16 + 7 * 12  # in the last page of a block of 8, behind the entries


def counts_of(erases: dict[int, int]) -> bytes:
    """Counts of erases by internal block, as they are on flash."""
    covered = struct.pack("<I", len(erases))
    covered += b"".join(struct.pack("<2I", *count) for count in erases.items())
    return b"WEAR" + struct.pack("<I", zlib.crc32(covered)) + covered


def plain() -> tuple[Image, list[int]]:
    """An image, and its blocks with a summary."""
    return log_image(), [0, 1]


def segregated() -> tuple[Image, list[int]]:
    """As `plain`, but of data blocks only: the others have a part of the ids there."""
    image = good_log().image
    full = [block for block in range(image.blocks) if image.tags(block, 7).sequence != 0xFFFFFFFF]
    return image, [block for block in full if not image.tags(block, 0).object_word & 1 << 23]


@pytest.mark.parametrize("damaged", [False, True])
@pytest.mark.parametrize("make", [plain, segregated])
def test_erase_counts_in_summaries_change_nothing(
    make: Callable[[], tuple[Image, list[int]]], damaged: bool, tmp_path: Path
) -> None:
    image, blocks = make()
    before = image.check(tmp_path).text()
    tree = sorted(image.tree(tmp_path))
    assert blocks
    for block in blocks:
        image.patch(block, 7, WEAR_AT, counts_of({1: 5, 2: 100_000, 200: 0}))
        if damaged:
            image.flip(block, 7, WEAR_AT + 9, 3)
    report = image.check(tmp_path)
    assert not report.counts, report.text()
    assert report.text() == before
    assert sorted(image.tree(tmp_path)) == tree
