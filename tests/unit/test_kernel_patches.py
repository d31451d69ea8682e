"""The patch series: order, what is passed over, and errors that name the patch."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ffslab.errors import BuildError, InfrastructureError
from ffslab.lab.patches import apply_series, read_series, speed_only
from ffslab.paths import data_dir

ONE_TO_TWO = "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-one\n+two\n"
TWO_TO_THREE = "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-two\n+three\n"


@pytest.fixture
def series(tmp_path: Path) -> Path:
    directory = tmp_path / "patches"
    directory.mkdir()
    (directory / "b.patch").write_text(ONE_TO_TWO)
    (directory / "a.patch").write_text(TWO_TO_THREE)
    (directory / "series").write_text("# in this order\nb.patch\n\na.patch # the second\n")
    return directory


def make_tree(directory: Path, text: str) -> Path:
    directory.mkdir()
    (directory / "file").write_text(text)
    return directory


def test_patches_apply_in_the_order_of_the_series(series: Path, tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", "one\n")
    apply_series(tree, read_series(series))
    assert (tree / "file").read_text() == "three\n"


def test_no_series_means_no_patches(tmp_path: Path) -> None:
    assert read_series(tmp_path) == []


def test_a_hard_linked_tree_leaves_its_origin_alone(series: Path, tmp_path: Path) -> None:
    origin = make_tree(tmp_path / "origin", "one\n")
    tree = tmp_path / "tree"
    tree.mkdir()
    os.link(origin / "file", tree / "file")
    apply_series(tree, read_series(series))
    assert (origin / "file").read_text() == "one\n"
    assert (tree / "file").read_text() == "three\n"


def test_a_patch_that_is_there_already_is_passed_over(series: Path, tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", "two\n")
    apply_series(tree, read_series(series))
    assert (tree / "file").read_text() == "three\n"


def test_a_patch_that_does_not_apply_is_named_and_leaves_no_litter(
    series: Path, tmp_path: Path
) -> None:
    tree = make_tree(tmp_path / "tree", "something else\n")
    with pytest.raises(InfrastructureError, match=r"b\.patch does not apply") as caught:
        apply_series(tree, read_series(series))
    assert "file" in caught.value.message
    assert caught.value.remedy
    assert [path.name for path in tree.iterdir()] == ["file"]
    assert "of no version" in str(caught.value.cause)
    (tree / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 3\nNAME = x\n")
    with pytest.raises(InfrastructureError) as caught:
        apply_series(tree, read_series(series))
    assert str(caught.value.cause).startswith("it is Linux 6.12.3; ")


def test_what_is_for_speed_only_may_be_left_out(series: Path, tmp_path: Path) -> None:
    (series / "c.patch").write_text("--- a/file\n+++ b/file\n@@ -1 +1 @@\n-three\n+four\n")
    (series / "series").write_text("b.patch # the host's speed only\nc.patch\n")
    patches, optional = read_series(series), speed_only(series)
    assert optional == {series / "b.patch"}
    three = make_tree(tmp_path / "three", "three\n")
    assert apply_series(three, patches, optional=optional) == ["b"]
    assert (three / "file").read_text() == "four\n"
    assert sorted(three.iterdir()) == [three / "file"]
    # One that is there is not left out, and one that applies is applied.
    two = make_tree(tmp_path / "two", "two\n")
    assert apply_series(two, patches[:1], optional=optional) == []
    one = make_tree(tmp_path / "one", "one\n")
    assert apply_series(one, patches[:1], optional=optional) == []
    assert (one / "file").read_text() == "two\n"
    with pytest.raises(BuildError, match=r"c\.patch does not apply"):
        apply_series(make_tree(tmp_path / "other", "other\n"), patches, optional=optional)


def test_what_the_series_calls_for_speed_only_is_in_it() -> None:
    for version in ("patches", "patches-6.12", "patches-7.3"):
        directory = data_dir("kernel") / version
        assert speed_only(directory) <= set(read_series(directory))
    assert len(speed_only(data_dir("kernel") / "patches")) == 5


def test_a_series_that_names_a_missing_file_is_an_error(series: Path) -> None:
    (series / "a.patch").unlink()
    with pytest.raises(InfrastructureError, match=r"a\.patch"):
        read_series(series)
