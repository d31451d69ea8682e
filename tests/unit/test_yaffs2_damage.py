"""Damaged, truncated and random images: no exception, and bounded time and memory."""

from __future__ import annotations

import random
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from test_yaffs2_check import checkpoint_image, log_image
from yaffs2_support import DIRECTORY, OPTIONS, Log, lab_file

from ffslab.errors import UsageError
from ffslab.fsimage.show import listing_lines, problem_lines
from ffslab.yaffs2 import ImageOptions, check_image, read_tree
from ffslab.yaffs2.check import examine
from ffslab.yaffs2.show import report_document, summary_lines

GUESS = ImageOptions()


def use(path: Path, options: ImageOptions = GUESS) -> None:
    """Everything that the command line does with an image."""
    checked = examine(path, options)
    report_document(checked.report)
    list(summary_lines(checked.report))
    list(problem_lines(checked.report, 5))
    list(listing_lines(checked.nodes()))
    for node in checked.nodes():
        assert sum(len(piece) for _, piece in node.pieces()) <= path.stat().st_size


@pytest.mark.parametrize("seed", range(30))
def test_any_damage_is_survived(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    image = checkpoint_image(tmp_path) if seed % 2 else log_image()
    for _ in range(draw.choice((1, 4, 40))):
        start = draw.randrange(len(image.raw))
        size = draw.choice((1, 1, 4, 28, 600, 5000))
        kind = draw.randrange(3)
        if kind == 0:
            image.raw[start : start + size] = draw.randbytes(min(size, len(image.raw) - start))
        elif kind == 1:
            image.raw[start] ^= 1 << draw.randrange(8)
        else:
            end = min(start + size, len(image.raw))
            image.raw[start:end] = draw.choice((b"\0", b"\xff")) * (end - start)
    if draw.random() < 0.3:
        del image.raw[draw.randrange(len(image.raw)) :]
    path = image.write(tmp_path)
    use(path, OPTIONS)
    use(path)


@pytest.mark.parametrize("seed", range(15))
def test_any_change_of_words_is_survived(seed: int, tmp_path: Path) -> None:
    """Tags with a good ECC and headers with extreme numbers: nothing may be taken on trust."""
    draw = random.Random(100 + seed)
    image = checkpoint_image(tmp_path) if seed % 2 else log_image()
    extremes = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 1 << 28, 0x3FFFF, 257)
    written = [
        (block, page)
        for block in range(image.blocks)
        for page in range(8)
        if image.tags(block, page).sequence != 0xFFFFFFFF
    ]
    for _ in range(12):
        place = draw.choice(written)
        if draw.random() < 0.5:
            word = draw.choice(("object_word", "chunk_word", "bytes_word", "sequence"))
            image.set_tags(*place, **{word: draw.choice(extremes)})
        else:
            image.word(*place, draw.choice(range(0, 640, 4)), draw.choice(extremes))
    use(image.write(tmp_path), OPTIONS)


@pytest.mark.parametrize("size", [0, 1, 15, 16, 511, 2112, 2112 * 64 - 1, 100_000])
def test_small_files_are_survived(size: int, tmp_path: Path) -> None:
    path = tmp_path / "image"
    for content in (bytes(size), b"\xff" * size, random.Random(size).randbytes(size)):
        path.write_bytes(content)
        use(path)
        use(path, OPTIONS)
        use(path, ImageOptions(inband=True, oob_bytes=0))


@pytest.mark.parametrize("seed", range(40))
def test_damaged_headers_of_lab_files_are_survived(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    path = lab_file(tmp_path / "flash", log_image(), blocks=6)
    content = bytearray(path.read_bytes())
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(8, 72)
        content[at] = draw.randrange(256)
    if seed % 2:
        content[64:68] = struct.pack("<I", zlib.crc32(content[:64]) ^ 0xFFFFFFFF)
    if seed % 5 == 0:
        del content[draw.randrange(len(content)) :]
    path.write_bytes(content)
    use(path)
    assert check_image(path).errors or seed % 2


def test_the_header_of_a_lab_file_is_checked(tmp_path: Path) -> None:
    path = lab_file(tmp_path / "flash", log_image(), blocks=6)
    content = bytearray(path.read_bytes())
    content[64] ^= 1
    path.write_bytes(content)
    assert "image-header" in check_image(path).counts


def test_a_huge_sparse_file_is_read_in_pieces(tmp_path: Path) -> None:
    """A file whose last chunk is the largest there is: half a terabyte, one page of it stored."""
    log = Log()
    last = (1 << 28) - 1
    log.data(257, last, b"end")
    size = (last - 1) * 2048 + 3
    log.file(257, "huge", size)
    image = log.image()
    report = image.check(tmp_path)
    assert not report.counts, report.text()
    node = image.tree(tmp_path)["/huge"]
    assert list(node.pieces()) == [(size - 3, b"end")]


def calls_of(work: Callable[[], None]) -> int:
    """How many calls of functions the work takes: its cost, on any machine under any load."""
    calls = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def deep_tree_calls(directory: Path, levels: int) -> int:
    """The cost of checking and listing that many directories in each other."""
    directory.mkdir()
    log = Log(summaries=False)
    for number in range(levels):
        parent = 1 if number == 0 else 299 + number
        log.header(300 + number, DIRECTORY, parent, "n" * 200)
    image = log.image()

    def use() -> None:
        assert set(image.check(directory).counts) == {"path-long"}
        tree = image.tree(directory)
        assert len(tree) == levels + 2
        assert max(map(len, tree)) <= 4400

    return calls_of(use)


@pytest.mark.slow
def test_a_deep_tree_has_no_endless_paths(tmp_path: Path) -> None:
    """And the work grows with the depth, not with its square."""
    shallow, deep = (deep_tree_calls(tmp_path / str(levels), levels) for levels in (300, 3000))
    assert 5 * shallow < deep < 15 * shallow


def test_long_cycles_end(tmp_path: Path) -> None:
    log = Log(summaries=False)
    for number in range(2000):
        log.header(300 + number, DIRECTORY, 300 + (number + 1) % 2000, f"d{number}")
    report = log.image().check(tmp_path)
    # One of them is in lost+found, with all others below it.
    assert report.counts.pop("path-long") > 1000
    assert report.counts == {"object-cycle": 2000}


def test_equal_names_are_in_the_tree_once(tmp_path: Path) -> None:
    log = Log()
    log.data(257, 1, b"first")
    log.file(257, "a", 5)
    log.file(258, "a", 0)
    assert log.image().tree(tmp_path)["/a"].size == 5


@pytest.mark.parametrize(
    "options",
    [
        ImageOptions(page_bytes=77),
        ImageOptions(page_bytes=-1),
        ImageOptions(oob_bytes=10, inband=False),
        ImageOptions(pages_per_block=1),
        ImageOptions(oob_offset=60, inband=False, oob_bytes=64),
        ImageOptions(first_block=1000),
        ImageOptions(first_block=-1),
        ImageOptions(blocks=0),
    ],
)
def test_impossible_options_are_usage_errors(options: ImageOptions, tmp_path: Path) -> None:
    path = log_image().write(tmp_path)
    with pytest.raises(UsageError):
        check_image(path, options)


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        check_image(tmp_path / "missing")
    with pytest.raises(UsageError):
        read_tree(tmp_path)


def calls_to_check(directory: Path, files: int) -> int:
    """Calls of functions that checking an image of so many files of 19 pages takes."""
    from ffslab.yaffs2.format import Geometry

    log = Log(Geometry())
    for number in range(files):
        for chunk in range(1, 19):
            log.data(300 + number, chunk, b"x" * 2048)
        log.file(300 + number, f"f{number}", 18 * 2048)
    directory.mkdir()
    path = log.image().write(directory)

    def check() -> None:
        report = check_image(path)
        assert not report.counts, report.text()

    return calls_of(check)


@pytest.mark.slow
def test_the_work_of_a_check_grows_with_the_image(tmp_path: Path) -> None:
    """Not with its square."""
    small, large = (calls_to_check(tmp_path / str(files), files) for files in (50, 500))
    assert 5 * small < large < 15 * small
