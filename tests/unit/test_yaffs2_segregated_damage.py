"""Damaged images of the segregated layout: no exception, and nothing is taken on trust."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from test_yaffs2_damage import use
from test_yaffs2_segregated_check import checkpoint_image, good_log
from yaffs2_segregated_support import HEAD_AT, seal
from yaffs2_support import OPTIONS, SMALL, Image

EXTREMES = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 1 << 28, 1 << 30, 0x3FFFF, 300)


def some_image(seed: int, tmp_path: Path) -> Image:
    return (
        checkpoint_image(tmp_path)[0] if seed % 3 == 0 else good_log(summaries=seed % 2 > 0).image
    )


@pytest.mark.parametrize("seed", range(20))
def test_any_damage_is_survived(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    image = some_image(seed, tmp_path)
    for _ in range(draw.choice((1, 4, 40))):
        start = draw.randrange(len(image.raw))
        size = draw.choice((1, 1, 4, 28, 600, 5000))
        if draw.random() < 0.5:
            image.raw[start] ^= 1 << draw.randrange(8)
        else:
            end = min(start + size, len(image.raw))
            image.raw[start:end] = draw.choice((b"\0", b"\xff", b"\x5a")) * (end - start)
    path = image.write(tmp_path)
    use(path, OPTIONS)
    use(path)


@pytest.mark.parametrize("seed", range(40))
def test_any_change_of_words_is_survived(seed: int, tmp_path: Path) -> None:
    """Good ECCs and CRCs over extreme numbers: in tags, heads, cuts and entries."""
    draw = random.Random(100 + seed)
    image = some_image(seed, tmp_path)
    written = [
        (block, page)
        for block in range(image.blocks)
        for page in range(SMALL.pages_per_block)
        if image.tags(block, page).sequence != 0xFFFFFFFF
    ]
    for _ in range(12):
        place = draw.choice(written)
        if draw.random() < 0.4:
            name = draw.choice(("object_word", "chunk_word", "bytes_word", "sequence"))
            image.set_tags(*place, **{name: draw.choice((*EXTREMES, 0xF0001001))})
            continue
        start = HEAD_AT if image.tags(*place).chunk_word >> 31 else 0
        offset = draw.choice(range(4 if draw.random() < 0.5 else 12, 220, 4))
        image.word(*place, start + offset, draw.choice((*EXTREMES, draw.randrange(80))))
        seal(image, place, start)
    use(image.write(tmp_path), OPTIONS)
