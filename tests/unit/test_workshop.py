"""The workshop of kernels: what a build on top of another finds, on trees of a few files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ffslab.errors import BuildError
from ffslab.lab.cache import is_complete
from ffslab.lab.workshop import (
    at_work,
    close_workshop,
    copy_objects,
    lay_over,
    link_tree,
    open_workshop,
)

LONG_AGO_NS = 10**18


def tree(top: Path, **files: str) -> Path:
    """A tree with files of long ago; a text "-> NAME" makes a symbolic link."""
    for name, text in files.items():
        path = top / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            path.symlink_to(text.removeprefix("-> "))
            continue
        path.write_text(text)
        os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))
    return top


def contents(top: Path) -> dict[str, str]:
    return {
        str(path.relative_to(top)): f"-> {path.readlink()}"
        if path.is_symlink()
        else path.read_text()
        for path in sorted(top.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_a_tree_laid_over_another_one_touches_what_differs(tmp_path: Path) -> None:
    older = tree(tmp_path / "older", fs__a_c="a", fs__b_c="b", gone_h="gone", x="-> fs/a.c")
    newer = {"fs__a_c": "a", "fs__b_c": "patched", "net__n_c": "n", "x": "-> fs/b.c"}
    expected = contents(tree(tmp_path / "same", **newer))
    lay_over(tree(tmp_path / "newer", **newer), older)
    assert contents(older) == expected
    times = {path.name: path.stat().st_mtime_ns for path in older.rglob("*.c")}
    assert times["a.c"] == LONG_AGO_NS
    # As old as in the source, they would be taken for older than the objects made of others.
    assert min(times["b.c"], times["n.c"]) > LONG_AGO_NS
    assert not (tmp_path / "newer").exists()


def test_a_file_of_the_source_comes_back_as_a_copy(tmp_path: Path) -> None:
    source = tree(tmp_path / "source", a_c="a")
    older = tree(tmp_path / "older", a_c="patched")
    link_tree(source, tmp_path / "newer")
    lay_over(tmp_path / "newer", older)
    assert (source / "a.c").stat().st_mtime_ns == LONG_AGO_NS
    assert not (older / "a.c").samefile(source / "a.c")


def workshop(tmp_path: Path) -> Path:
    """One at rest, with an object and what it was made of."""
    directory = tmp_path / "um-1"
    open_workshop(directory)
    tree(directory, src__a_c="a", obj__a_o="object")
    close_workshop(directory)
    return directory


def test_a_build_goes_on_from_what_the_last_one_left(tmp_path: Path) -> None:
    directory = workshop(tmp_path)
    assert is_complete(directory)
    open_workshop(directory)
    assert not is_complete(directory)
    assert (directory / "obj" / "a.o").read_text() == "object"


def test_builds_go_on_from_each_other_again_and_again(tmp_path: Path) -> None:
    directory = workshop(tmp_path)
    for number in range(3):
        open_workshop(directory)
        tree(directory, **{f"obj__{number}_o": "another object"})
        close_workshop(directory)
    assert len(list((directory / "obj").iterdir())) == 4
    assert list(tmp_path.iterdir()) == [directory]


def test_what_a_failed_build_left_is_gone_on_with(tmp_path: Path) -> None:
    directory = workshop(tmp_path)
    with pytest.raises(BuildError), at_work(directory):
        tree(directory, obj__b_o="another object")
        raise BuildError("exit status 2: make")
    open_workshop(directory)
    assert {path.name for path in (directory / "obj").iterdir()} == {"a.o", "b.o"}


def test_a_killed_build_is_no_failed_one(tmp_path: Path) -> None:
    directory = workshop(tmp_path)
    with pytest.raises(KeyboardInterrupt), at_work(directory):
        raise KeyboardInterrupt
    with at_work(directory):
        assert list(directory.iterdir()) == []
    assert is_complete(directory)


def test_an_interrupted_first_build_is_continued(tmp_path: Path) -> None:
    directory = tmp_path / "um-1"
    open_workshop(directory)
    tree(directory, obj__a_o="object")
    open_workshop(directory)
    assert (directory / "obj" / "a.o").exists()


def test_what_an_interrupted_later_build_left_is_not_trusted(tmp_path: Path) -> None:
    directory = workshop(tmp_path)
    open_workshop(directory)
    open_workshop(directory)
    assert list(directory.iterdir()) == []


@pytest.mark.parametrize("name", ["obj/a.o", "src/a.c"])
def test_a_damaged_workshop_is_set_aside(tmp_path: Path, name: str) -> None:
    directory = workshop(tmp_path)
    (directory / name).write_text("damaged")
    open_workshop(directory)
    assert list(directory.iterdir()) == []
    assert (tmp_path / "um-1.damaged-1" / name).read_text() == "damaged"


def test_a_copy_of_the_objects_has_what_is_wanted_and_its_own_source(tmp_path: Path) -> None:
    objects = tree(
        tmp_path / "obj", a_o="a", Makefile="old", include__a_h="h", source="-> /workshop/src"
    )
    copy_objects(objects, tmp_path / "copy", tmp_path / "src", lambda path: path.suffix != ".o")
    copied = contents(tmp_path / "copy")
    assert copied.pop("Makefile").splitlines()[-1] == f"include {tmp_path}/src/Makefile"
    assert copied == {"include/a.h": "h", "source": f"-> {tmp_path}/src"}
