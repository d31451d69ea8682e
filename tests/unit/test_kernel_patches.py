"""The patch series: order, what is passed over, and errors that name the patch."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from ffslab.errors import BuildError, InfrastructureError
from ffslab.lab.archives import VERSION
from ffslab.lab.patches import Applied, Series, apply_series, read_series, series_of
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
    apply_series(tree, series_of(series, VERSION))
    assert (tree / "file").read_text() == "three\n"


def test_no_series_means_no_patches(tmp_path: Path) -> None:
    assert read_series(tmp_path) == []


def test_a_hard_linked_tree_leaves_its_origin_alone(series: Path, tmp_path: Path) -> None:
    origin = make_tree(tmp_path / "origin", "one\n")
    tree = tmp_path / "tree"
    tree.mkdir()
    os.link(origin / "file", tree / "file")
    apply_series(tree, series_of(series, VERSION))
    assert (origin / "file").read_text() == "one\n"
    assert (tree / "file").read_text() == "three\n"


def test_a_patch_that_is_there_already_is_passed_over(series: Path, tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", "two\n")
    apply_series(tree, series_of(series, VERSION))
    assert (tree / "file").read_text() == "three\n"


def test_a_patch_that_does_not_apply_is_named_and_leaves_no_litter(
    series: Path, tmp_path: Path
) -> None:
    tree = make_tree(tmp_path / "tree", "something else\n")
    with pytest.raises(InfrastructureError, match=r"b\.patch does not apply") as caught:
        apply_series(tree, series_of(series, VERSION))
    assert "file" in caught.value.message
    assert caught.value.remedy
    assert [path.name for path in tree.iterdir()] == ["file"]
    assert "of no version" in str(caught.value.cause)
    (tree / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 3\nNAME = x\n")
    with pytest.raises(InfrastructureError) as caught:
        apply_series(tree, series_of(series, VERSION))
    assert str(caught.value.cause).startswith("it is Linux 6.12.3; ")


def test_what_is_for_speed_only_may_be_left_out(series: Path, tmp_path: Path) -> None:
    (series / "c.patch").write_text("--- a/file\n+++ b/file\n@@ -1 +1 @@\n-three\n+four\n")
    (series / "series").write_text("b.patch # the host's speed only\nc.patch\n")
    both = series_of(series, VERSION)
    assert both.optional == {series / "b.patch"}
    first = replace(both, patches=both.patches[:1])
    three = make_tree(tmp_path / "three", "three\n")
    assert apply_series(three, both) == Applied(left_out=("b",))
    assert (three / "file").read_text() == "four\n"
    assert sorted(three.iterdir()) == [three / "file"]
    # One that is there is not left out, and one that applies is applied.
    two = make_tree(tmp_path / "two", "two\n")
    assert apply_series(two, first) == Applied()
    one = make_tree(tmp_path / "one", "one\n")
    assert apply_series(one, first) == Applied()
    assert (one / "file").read_text() == "two\n"
    with pytest.raises(BuildError, match=r"c\.patch does not apply"):
        apply_series(make_tree(tmp_path / "other", "other\n"), both)


def test_what_the_series_calls_for_speed_only_is_in_it() -> None:
    for version in ("patches", "patches-6.12", "patches-7.3"):
        directory = data_dir("kernel") / version
        series = series_of(directory, version)
        assert series.optional | series.essential <= set(series.patches)
        assert not series.optional & series.essential
    assert len(series_of(data_dir("kernel") / "patches", VERSION).optional) == 5


def test_a_series_that_names_a_missing_file_is_an_error(series: Path) -> None:
    (series / "a.patch").unlink()
    with pytest.raises(InfrastructureError, match=r"a\.patch"):
        read_series(series)


def make_base(directory: Path) -> Path:
    """Twenty lines: a series changes the second, as the CPU model does, and the eighth."""
    directory.mkdir()
    (directory / "file").write_text("".join(f"line {number}\n" for number in range(1, 21)))
    return directory


def change(number: int, new: str, context: int = 3) -> str:
    """A patch of a line of `make_base`."""
    first, last = max(1, number - context), min(20, number + context)
    lines = [
        f" line {n}\n" if n != number else f"-line {n}\n+{new}\n" for n in range(first, last + 1)
    ]
    count = last - first + 1
    return f"--- a/file\n+++ b/file\n@@ -{first},{count} +{first},{count} @@\n{''.join(lines)}"


@pytest.fixture
def classes(tmp_path: Path) -> Series:
    directory = tmp_path / "classes"
    directory.mkdir()
    (directory / "model.patch").write_text(change(2, "model"))
    (directory / "seed.patch").write_text(change(8, "seed"))
    (directory / "hosts.patch").write_text(change(17, "hosts", context=0))
    new = "--- /dev/null\n+++ b/driver/new\n@@ -0,0 +1 @@\n+driver\n"
    (directory / "driver.patch").write_text(new)
    (directory / "series").write_text(
        "model.patch\nhosts.patch # of use alone\nseed.patch # essential\n"
        "driver.patch # essential\n"
    )
    return series_of(directory, "6.1")


def test_what_does_not_apply_is_merged_with_the_source_it_was_made_for(
    classes: Series, tmp_path: Path
) -> None:
    base = make_base(tmp_path / "base")
    tree = make_base(tmp_path / "tree")
    origin = tmp_path / "origin"
    text = (tree / "file").read_text().replace("line 5", "another line 5")
    (tree / "file").write_text(text)
    os.link(tree / "file", origin)
    assert apply_series(tree, classes, lambda: base) == Applied(merged=True)
    wanted = (
        text.replace("line 2\n", "model\n").replace("line 8", "seed").replace("line 17", "hosts")
    )
    assert (tree / "file").read_text() == wanted
    assert (tree / "driver" / "new").read_text() == "driver\n"
    assert origin.read_text() == text and sorted(tmp_path.iterdir()) == sorted(
        [base, tree, origin, tmp_path / "classes"]
    )


def test_a_patch_that_applies_needs_no_source_to_merge_with(
    classes: Series, tmp_path: Path
) -> None:
    def asked() -> Path:
        raise AssertionError("nobody needs it")

    assert apply_series(make_base(tmp_path / "tree"), classes, asked) == Applied()


@pytest.mark.parametrize(("merged", "lacking"), [(False, False), (True, False), (True, True)])
def test_without_the_cpu_model_there_is_the_flash(
    classes: Series, tmp_path: Path, merged: bool, lacking: bool
) -> None:
    """The line that the model changes is another one; the essential patches apply or merge, and
    what is of use alone is there if it applies.
    """
    base = make_base(tmp_path / "base")
    tree = make_base(tmp_path / "tree")
    text = (tree / "file").read_text().replace("line 2\n", "their own line 2\n")
    text = text.replace("line 5", "another line 5") if merged else text
    (tree / "file").write_text(text.replace("line 17", "their line 17") if lacking else text)
    applied = apply_series(tree, classes, lambda: base)
    left_out = ("model", "hosts") if lacking else ("model",)
    assert applied == Applied(left_out, merged=merged, flash_only=True)
    wanted = text.replace("line 8", "seed")
    assert (tree / "file").read_text() == wanted.replace(
        "line 17", "their line 17" if lacking else "hosts"
    )
    assert (tree / "driver" / "new").read_text() == "driver\n"


def test_a_tree_that_takes_nothing_is_as_it_was(classes: Series, tmp_path: Path) -> None:
    base = make_base(tmp_path / "base")
    tree = make_base(tmp_path / "tree")
    text = (tree / "file").read_text().replace("line 8", "their own line 8")
    (tree / "file").write_text(text)
    with pytest.raises(BuildError, match=r"seed\.patch does not apply") as caught:
        apply_series(tree, classes, lambda: base)
    assert "merged or as they are" in str(caught.value.cause)
    assert [path.name for path in tree.iterdir() if path.is_file()] == ["file"]
    assert (tree / "file").read_text() == text


def test_a_file_of_ours_that_is_there_otherwise_is_a_conflict(
    classes: Series, tmp_path: Path
) -> None:
    base = make_base(tmp_path / "base")
    tree = make_base(tmp_path / "tree")
    (tree / "driver").mkdir()
    (tree / "driver" / "new").write_text("somebody else's\n")
    with pytest.raises(BuildError, match=r"driver\.patch does not apply"):
        apply_series(tree, classes, lambda: base)
    assert (tree / "driver" / "new").read_text() == "somebody else's\n"
