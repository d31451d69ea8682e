"""Damaged, truncated and random images: no exception, and nothing that is not in the image."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from logfs_support import PARTITION, SEGMENT, UNIT, Image, lab_file, make, use_image, usual_tree

from ffslab.errors import UsageError
from ffslab.logfs import ImageOptions, check_image
from ffslab.logfs.format import Alias, Area

EXTREMES = (0, 1, 0xFF, 4095, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 63) - 1, (1 << 64) - 1)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image with a second commit that has aliases and an open area."""
    image = Image(make(tmp_path_factory.mktemp("logfs"), usual_tree, compress=True))
    ino = image.ino("leaf")
    image.segment_header_at(20, 0)
    begin = bytes(image.raw[20 * SEGMENT : 20 * SEGMENT + 24])
    image.commit(
        aliases=[Alias(1, ino, 0o100640 << 48 | 4, 0, 0), Alias(3, 0, 1 << 36, 0, 20)],
        areas=[Area(20, 24, 0, 0, begin.ljust(UNIT, b"\xff"))],
    )
    assert not image.check().problems
    return image.path


def written(raw: bytes) -> list[int]:
    """Places with something else than 0xFF."""
    return [at for at in range(0, len(raw), 64) if raw[at : at + 64].strip(b"\xff\0")]


@pytest.mark.parametrize("seed", range(120))
def test_any_damage_is_survived(seed: int, good: Path, tmp_path: Path) -> None:
    draw = random.Random(seed)
    raw = bytearray(good.read_bytes())
    places = written(raw)
    for _ in range(draw.choice((1, 4, 40))):
        start = draw.choice(places) + draw.randrange(64)
        size = draw.choice((1, 1, 4, 28, 600))
        kind = draw.randrange(3)
        if kind == 0:
            raw[start : start + size] = draw.randbytes(size)
        elif kind == 1:
            raw[start] ^= 1 << draw.randrange(8)
        else:
            raw[start : start + size] = draw.choice((b"\0", b"\xff")) * size
    del raw[PARTITION:]
    if draw.random() < 0.2:
        del raw[draw.randrange(len(raw)) :]
    path = tmp_path / "image"
    path.write_bytes(raw)
    use_image(path)


@pytest.mark.parametrize("seed", range(120))
def test_any_number_with_a_right_crc_is_survived(seed: int, good: Path, tmp_path: Path) -> None:
    """Inodes, pointers, dentries and headers with extreme numbers: nothing is taken on trust."""
    draw = random.Random(1000 + seed)
    path = tmp_path / "image"
    path.write_bytes(good.read_bytes())
    image = Image(path)
    objects = [
        *image.mounted.inode_file.blocks.values(),
        *(ofs for found in image.mounted.inodes.values() for ofs in found.walked.blocks.values()),
        *(image.root_ofs(image.ino(name)) for name in ("deep", "holes")),
    ]
    for _ in range(draw.choice((1, 3, 10))):
        ofs = draw.choice(objects)
        try:
            payload = bytearray(image.payload(ofs))
        except AssertionError:
            continue
        kind = draw.randrange(4)
        if kind == 0:
            field = draw.choice(("ino", "bix", "kind", "compression", "length"))
            limit = {"ino": 64, "bix": 64, "length": 16}.get(field, 8)
            image.rewrite(ofs, **{field: draw.choice(EXTREMES) & (1 << limit) - 1})
        elif kind == 1:
            other = draw.choice(objects) | draw.choice((0, 1 << 63))
            slot = draw.randrange(len(payload) // 8)
            payload[8 * slot : 8 * slot + 8] = other.to_bytes(8, "big")
            image.rewrite(ofs, bytes(payload))
        else:
            slot = draw.randrange(len(payload) // 8)
            payload[8 * slot : 8 * slot + 8] = draw.choice(EXTREMES).to_bytes(8, "big")
            image.rewrite(ofs, bytes(payload))
    path.write_bytes(image.raw)
    use_image(path)


@pytest.mark.parametrize("seed", range(60))
def test_any_commit_is_survived(seed: int, good: Path, tmp_path: Path) -> None:
    draw = random.Random(2000 + seed)
    path = tmp_path / "image"
    path.write_bytes(good.read_bytes())
    image = Image(path)

    def number(bits: int) -> int:
        return (draw.choice((*EXTREMES, draw.randrange(64))) + draw.randrange(-1, 2)) % (1 << bits)

    image.commit(
        slot=2,
        anchor={
            name: number(bits)
            for name, bits in (("size", 64), ("last_ino", 64), ("used_bytes", 64), ("height", 8))
            if draw.random() < 0.3
        },
        dynamic={
            name: number(64)
            for name in ("victim", "rename_directory", "rename_position", "used_bytes")
            if draw.random() < 0.5
        },
        aliases=[
            Alias(draw.choice((1, 2, 3, number(64))), number(64), number(64), number(8), number(16))
            for _ in range(draw.randrange(5))
        ],
        areas=[
            Area(number(32), number(32), number(8), 0, b"\0" * draw.choice((0, UNIT)))
            for _ in range(draw.randrange(4))
        ],
        listed=[number(64) for _ in range(draw.randrange(3))],
    )
    path.write_bytes(image.raw)
    use_image(path)


@pytest.mark.parametrize("seed", range(40))
def test_any_superblock_is_survived(seed: int, good: Path, tmp_path: Path) -> None:
    draw = random.Random(3000 + seed)
    path = tmp_path / "image"
    path.write_bytes(good.read_bytes())
    image = Image(path)
    widths = {
        "segment_shift": 8,
        "write_shift": 8,
        "block_shift": 8,
        "fs_bytes": 64,
        "segment_bytes": 32,
        "ifile_levels": 8,
        "iblock_levels": 8,
    }
    names = draw.sample(list(widths), 2)
    fields = {name: draw.choice((*EXTREMES, 17)) % (1 << widths[name]) for name in names}
    image.superblock(draw.choice((0, 1, None)), **fields)
    if draw.random() < 0.5:
        image.superblock(0, copies=(draw.choice(EXTREMES), draw.choice(EXTREMES)))
    path.write_bytes(image.raw)
    use_image(path)


@pytest.mark.parametrize("size", [0, 1, 255, 256, 4096, SEGMENT, SEGMENT + 100, PARTITION - 1])
def test_files_that_end_early_are_survived(size: int, good: Path, tmp_path: Path) -> None:
    path = tmp_path / "image"
    path.write_bytes(good.read_bytes()[:size])
    use_image(path)
    assert check_image(path).errors


def test_random_bytes_are_no_image(tmp_path: Path) -> None:
    path = tmp_path / "image"
    path.write_bytes(random.Random(1).randbytes(300_000))
    use_image(path)
    assert check_image(path).shows_no_image


def test_a_partition_inside_a_chip_is_found(good: Path, tmp_path: Path) -> None:
    path = lab_file(good, tmp_path / "lab", first_block=7)
    report = check_image(path)
    assert (report.first_block, report.file_format, report.counts) == (7, "lab", {})
    assert not check_image(path, ImageOptions(first_block=7, blocks=40)).problems
    assert check_image(path, ImageOptions(first_block=6)).shows_no_image


@pytest.mark.parametrize(
    "options",
    [
        ImageOptions(page_bytes=100),
        ImageOptions(oob_bytes=-1),
        ImageOptions(pages_per_block=0),
        ImageOptions(first_block=-1),
        ImageOptions(first_block=1 << 20),
        ImageOptions(blocks=0),
    ],
)
def test_impossible_options_are_refused(options: ImageOptions, good: Path) -> None:
    with pytest.raises(UsageError):
        check_image(good, options)
