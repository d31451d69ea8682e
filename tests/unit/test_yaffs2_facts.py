"""What the original does and a reader must take for sound, or make the best of.

Facts that were established with the original itself; each test makes an image in which one of
them holds.
"""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from yaffs2_support import DIRECTORY, HARD_LINK, OPTIONS, SPECIAL, SYMLINK, Image, Log

from ffslab.fsimage.extract import extract_tree
from ffslab.fsimage.problems import Severity
from ffslab.yaffs2 import ImageOptions, check_image, read_tree
from ffslab.yaffs2.check import examine
from ffslab.yaffs2.format import Geometry

S = 2048

# --- object 256 ---


def test_object_256_is_a_file(tmp_path: Path) -> None:
    log = Log()
    log.data(256, 1, b"contents")
    log.file(256, "first", 8)
    image = log.image()
    report = image.check(tmp_path)
    assert not report.counts, report.text()
    assert image.tree(tmp_path)["/first"].content == b"contents"


def test_object_256_is_a_directory_with_files(tmp_path: Path) -> None:
    log = Log()
    log.header(256, DIRECTORY, 1, "d")
    for number in range(3):
        log.data(300 + number, 1, b"%d" % number)
        log.file(300 + number, f"f{number}", 1, parent=256)
    image = log.image()
    report = image.check(tmp_path)
    assert not report.counts, report.text()
    tree = image.tree(tmp_path)
    assert sorted(tree) == ["/", "/d", "/d/f0", "/d/f1", "/d/f2", "/lost+found"]
    assert tree["/d/f2"].content == b"2"


@pytest.mark.parametrize("target", [256, 300])
def test_object_256_is_a_hard_links_target_or_a_hard_link(target: int, tmp_path: Path) -> None:
    link = 556 - target
    log = Log()
    log.data(target, 1, b"shared")
    log.file(target, "object", 6)
    log.header(link, HARD_LINK, 1, "link", target_id=target)
    image = log.image()
    report = image.check(tmp_path)
    assert not report.counts, report.text()
    node = image.tree(tmp_path)["/link"]
    assert (node.link_of, node.content, node.links) == ("/object", b"shared", 2)


@pytest.mark.parametrize("low", [5, 255])
def test_ids_below_256_are_not_given_out(low: int, tmp_path: Path) -> None:
    log = Log()
    log.file(low, "low", 0)
    assert set(log.image().check(tmp_path).counts) == {"reserved-id"}


# --- headers ---


def test_lost_and_found_needs_no_name(tmp_path: Path) -> None:
    """Its header is written when its mode changes, for example."""
    log = Log()
    log.header(2, DIRECTORY, 1, "", mode=0o040711, uid=5)
    log.file(300, "found", 0, parent=2)
    image = log.image()
    report = image.check(tmp_path)
    assert not report.counts, report.text()
    tree = image.tree(tmp_path)
    assert (tree["/lost+found"].mode, tree["/lost+found"].uid) == (0o040711, 5)
    assert "/lost+found/found" in tree


def test_what_is_no_device_has_device_number_0(tmp_path: Path) -> None:
    log = Log()
    places = {
        log.file(300, "file", 0): "file",
        log.header(301, DIRECTORY, 1, "dir"): "dir",
        log.header(302, SYMLINK, 1, "sym", alias=b"x"): "sym",
        log.header(303, HARD_LINK, 1, "link", target_id=300): "link",
        log.header(304, SPECIAL, 1, "fifo"): "fifo",
    }
    image = log.image()
    assert not image.check(tmp_path).counts
    for chunk in places:
        block, page = divmod(chunk, 8)
        assert image.page(block - 1, page)[460:464] == bytes(4)
        image.word(block - 1, page, 460, 0xFFFFFFFF)
    # Earlier versions of our own writers left it unset: no error, and no device either.
    report = image.check(tmp_path)
    assert report.counts == {"header-rdev-unset": len(places)}, report.text()
    assert not report.errors
    assert all(node.rdev == 0 for node in image.tree(tmp_path).values())


# --- images of the original's image tool: every block has sequence number 0x1000 ---


def tool_image(pages_per_block: int, files: int, after: int = 0) -> Image:
    """`files` files of a header and a chunk; then `after` blocks that a mount has written."""
    log = Log(Geometry(pages_per_block=pages_per_block), summaries=False)
    for number in range(files):
        log.file(300 + number, f"f{number}", 5)
        log.data(300 + number, 1, b"%05d" % number)
    image = log.image()
    image.resequence(0x1000)
    if after:
        log = Log(image.geometry)
        usable = pages_per_block - image.geometry.summary_pages
        for number in range(after * usable):
            log.data(300, 1, b"%05d" % number)
        image.raw += log.image().raw
        for block in range(image.blocks - after, image.blocks):
            for page in range(usable, pages_per_block):
                image.word(block, page, 4, block + 1)  # the number in the summary
    return image


def test_equal_numbers_0x1000_are_sound_and_the_block_size_is_not_guessed_from_them(
    tmp_path: Path,
) -> None:
    path = tool_image(64, 700).write(tmp_path)
    report = check_image(path)
    assert set(report.counts) == {"image-block-size"}, report.text()
    assert report.count(Severity.ERROR) == 0
    assert report.geometry.pages_per_block == 64
    assert "--pages-per-block" in report.problems[0].message
    for size in (16, 64, 256):
        options = ImageOptions(pages_per_block=size)
        report = check_image(path, options)
        # 1,408 pages are not a whole number of blocks of 256; the last ones are erased.
        assert set(report.counts) == ({"image-unpadded"} if size == 256 else set()), report.text()
        assert report.geometry.pages_per_block == size
        # The order of the pages is the same, and so are the files.
        tree = read_tree(path, options)
        assert {tree[f"/f{number}"].content for number in range(700)} == {
            b"%05d" % number for number in range(700)
        }


@pytest.mark.parametrize("pages_per_block", [32, 64, 128, 256])
def test_blocks_that_a_mount_wrote_give_the_block_size(
    pages_per_block: int, tmp_path: Path
) -> None:
    image = tool_image(pages_per_block, 2 * pages_per_block, after=3)
    path = image.write(tmp_path)
    report = check_image(path)
    assert not report.counts, report.text()
    assert report.geometry.pages_per_block == pages_per_block
    last = 3 * (pages_per_block - image.geometry.summary_pages) - 1
    assert read_tree(path)["/f0"].content == b"%05d" % last


def test_other_equal_numbers_are_a_violation(tmp_path: Path) -> None:
    image = tool_image(8, 30)
    assert not image.check(tmp_path).counts
    image.resequence(0x1001)
    assert set(image.check(tmp_path).counts) == {"sequence-duplicate"}


def test_an_image_of_a_tool_may_end_with_a_page(tmp_path: Path) -> None:
    image = tool_image(8, 10)
    del image.raw[image.at(2, 4) :]
    report = image.check(tmp_path)
    assert set(report.counts) == {"image-unpadded"}
    assert not report.errors
    assert image.tree(tmp_path)["/f9"].content == b"00009"
    del image.raw[image.at(2, 3) + 100 :]
    assert "image-truncated" in image.check(tmp_path).counts


# --- headers that contradict their tags: an error, and name and contents are kept ---

CONTENTS = b"x" * S + b"y" * S + b"tail"
SIZE = len(CONTENTS)
# Pages of `disputed_image` and offsets in a header.
DIR_AT, FILE_AT, LINK_AT = (0, 0), (0, 4), (0, 5)
TYPE, PARENT, FILE_SIZE, TARGET = 0, 4, 292, 296


def disputed_image() -> Image:
    log = Log(summaries=False)
    log.header(256, DIRECTORY, 1, "dir")
    for chunk in range(3):
        log.data(257, chunk + 1, CONTENTS[chunk * S : chunk * S + S])
    log.file(257, "file", SIZE, parent=256)
    log.header(258, HARD_LINK, 1, "link", target_id=257)
    return log.image()


def tags_say(place: tuple[int, int], **words: int) -> Callable[[Image], None]:
    return lambda image: image.set_tags(*place, **words)


def header_says(place: tuple[int, int], offset: int, value: int) -> Callable[[Image], None]:
    return lambda image: image.word(*place, offset, value)


CONTRADICTIONS = {
    **{f"tags-type-{kind}": tags_say(FILE_AT, object_word=257 | kind << 28)
       for kind in (0, 2, 3, 5, 6)},
    "tags-type-4": tags_say(FILE_AT, object_word=257 | 4 << 28, bytes_word=256),
    **{f"tags-parent-{parent}": tags_say(FILE_AT, chunk_word=parent | 1 << 31)
       for parent in (0, 3, 4, 257, 258, 999, 0x3FFFFFF)},
    "tags-size-0": tags_say(FILE_AT, bytes_word=0),
    "tags-size-in-the-middle": tags_say(FILE_AT, bytes_word=S + 1),
    "tags-size-chunk-short": tags_say(FILE_AT, bytes_word=2 * S),
    **{f"header-type-{kind}": header_says(FILE_AT, TYPE, kind) for kind in (0, 2, 3, 4, 5, 6)},
    **{f"header-parent-{parent}": header_says(FILE_AT, PARENT, parent)
       for parent in (0, 1, 4, 257, 999)},
    "header-size-0": header_says(FILE_AT, FILE_SIZE, 0),
    "header-size-large": header_says(FILE_AT, FILE_SIZE, 1 << 30),
    "directory-tags-type": tags_say(DIR_AT, object_word=256 | 1 << 28),
    "directory-tags-parent": tags_say(DIR_AT, chunk_word=256 | 1 << 31),
    "directory-header-type": header_says(DIR_AT, TYPE, 1),
    "link-tags-type": tags_say(LINK_AT, object_word=258 | 1 << 28),
    "link-tags-target": tags_say(LINK_AT, bytes_word=999),
    "link-tags-target-directory": tags_say(LINK_AT, bytes_word=256),
    "link-header-target": header_says(LINK_AT, TARGET, 999),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_header_that_contradicts_its_tags_keeps_name_and_contents(
    name: str, tmp_path: Path
) -> None:
    image = disputed_image()
    assert not image.check(tmp_path).counts
    CONTRADICTIONS[name](image)
    path = image.write(tmp_path)
    checked = examine(path, OPTIONS)
    assert checked.report.errors
    names = {"/", "/dir", "/dir/file", "/link", "/lost+found"}
    tree = {node.path: node for node in checked.nodes()}
    assert set(tree) == names, checked.report.text()
    assert tree["/dir/file"].content == CONTENTS
    assert tree["/link"].content == CONTENTS
    assert stat.S_ISREG(tree["/dir/file"].mode)
    extract_tree(checked.names(), tmp_path / "out")
    assert (tmp_path / "out" / "dir" / "file").read_bytes() == CONTENTS
    assert (tmp_path / "out" / "link").read_bytes() == CONTENTS


def test_a_deleted_file_stays_deleted_if_tags_and_header_agree(tmp_path: Path) -> None:
    log = Log()
    log.data(257, 1, b"gone")
    log.file(257, "gone", 4)
    log.unlinked(257)
    log.deleted(257)
    assert sorted(log.image().tree(tmp_path)) == ["/", "/lost+found"]


# --- what has no path to the root is in lost+found, as after a mount ---


def test_an_object_without_a_directory_is_in_lost_and_found(tmp_path: Path) -> None:
    log = Log(summaries=False)
    log.data(300, 1, b"kept")
    log.file(300, "file", 4, parent=999)
    log.header(301, DIRECTORY, 998, "dir")
    log.file(302, "inside", 0, parent=301)
    log.header(303, HARD_LINK, 1, "link", target_id=300)
    path = log.image().write(tmp_path)
    checked = examine(path, OPTIONS)
    assert set(checked.report.counts) == {"object-orphan"}
    tree = {node.path: node for node in checked.nodes()}
    strays = {"/lost+found/file", "/lost+found/dir", "/lost+found/dir/inside"}
    assert set(tree) == {"/", "/lost+found", "/link"} | strays
    assert tree["/link"].link_of == "/lost+found/file"
    assert checked.report.statistics["objects_file"] == 2
    extract_tree(checked.names(), tmp_path / "out")
    assert (tmp_path / "out" / "lost+found" / "file").read_bytes() == b"kept"
    assert (tmp_path / "out" / "lost+found" / "dir" / "inside").exists()


def test_what_is_in_a_deleted_directory_was_not_deleted_itself(tmp_path: Path) -> None:
    log = Log(summaries=False)
    log.header(300, DIRECTORY, 4, "deleted", shrink=True)
    log.file(301, "inside", 0, parent=300)
    log.file(302, "gone", 0, parent=4, shrink=True)
    image = log.image()
    assert "object-in-deleted" in image.check(tmp_path).counts
    assert sorted(image.tree(tmp_path)) == ["/", "/lost+found", "/lost+found/inside"]


def test_data_without_a_header_are_kept_under_a_number(tmp_path: Path) -> None:
    log = Log(summaries=False)
    log.data(300, 1, b"a" * S)
    log.data(300, 2, b"end")
    image = log.image()
    assert "object-no-header" in image.check(tmp_path).counts
    node = image.tree(tmp_path)["/lost+found/obj300"]
    assert node.content == b"a" * S + b"end"
    assert stat.S_ISREG(node.mode)


def test_directories_below_each_other_are_shown_once(tmp_path: Path) -> None:
    log = Log(summaries=False)
    log.header(300, DIRECTORY, 301, "a")
    log.header(301, DIRECTORY, 302, "b")
    log.header(302, DIRECTORY, 300, "c")
    log.file(303, "f", 0, parent=301)
    image = log.image()
    assert set(image.check(tmp_path).counts) == {"object-cycle"}
    below = sorted(image.tree(tmp_path))[2:]
    # 300 is in 301, which is in 302; that is in 300, where the way began.
    assert below == [f"/lost+found/{name}" for name in ("c", "c/b", "c/b/a", "c/b/f")]


def test_equal_names_in_lost_and_found_are_no_further_error(tmp_path: Path) -> None:
    log = Log(summaries=False)
    for number in (300, 301):
        log.data(number, 1, b"%d" % number)
        log.file(number, "same", 3, parent=number + 600)
    checked = examine(log.image().write(tmp_path), OPTIONS)
    assert set(checked.report.counts) == {"object-orphan"}
    assert [node.path for node in checked.nodes()][2:] == ["/lost+found/same"] * 2
    extract_tree(checked.names(), tmp_path / "out")
    found = {path.name: path.read_bytes() for path in (tmp_path / "out/lost+found").iterdir()}
    assert found == {"same": b"300", "same~obj301": b"301"}
