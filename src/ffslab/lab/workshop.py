"""Where kernels are compiled: two directories whose paths and objects stay from build to build.

kbuild compiles what changed options and sources ask for, as long as tree and objects are where they
were. So the variants of a kernel are made one after the other in the same place, and each later
one takes what the options leave. An entry of the cache gets a copy of what modules are built
against. `tests/lab/test_kernels_alike.py` compares what a build on top of another makes with what a
build of its own does.

A workshop at rest has a stamp with the hash of every file in it. One whose build was killed is
emptied, unless that was its first: there every object is whole, or lacks the line of its command.
"""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ffslab.lab.cache import (
    STAMP,
    damage_of_all,
    is_complete,
    make_directory,
    set_aside_if_damaged,
    write_stamp,
)
from ffslab.lab.patches import apply_series

# What the stamp becomes while something is built on top of what it stands for.
_BEFORE = "before.json"


def open_workshop(directory: Path) -> None:
    """Readies a workshop for a build: empty, as its last build left it, or as its first one did
    when it was interrupted. The caller holds the lock of builds.
    """
    if is_complete(directory) and set_aside_if_damaged(directory, damage_of_all):
        (directory / STAMP).rename(directory / _BEFORE)
    elif (directory / _BEFORE).exists():
        shutil.rmtree(directory)
    make_directory(directory)


def close_workshop(directory: Path) -> None:
    """Writes the stamp of a workshop whose build went well."""
    trees = (tree for tree in directory.iterdir() if tree.is_dir())
    write_stamp(directory, {}, (), (path for tree in trees for path in _files(tree)))
    (directory / _BEFORE).unlink(missing_ok=True)


def patched_tree(tree: Path, trees: Sequence[Path], patches: Sequence[Path]) -> None:
    """Makes `tree` of `trees`, laid over each other, with the patches.

    Hard links: `patch` writes a new file and renames it, so the source is not touched.
    """
    for source in trees:
        shutil.copytree(source, tree, symlinks=True, copy_function=_link, dirs_exist_ok=True)
    apply_series(tree, list(patches))


def lay_over(tree: Path, older: Path, *, removing: bool = True) -> None:
    """Makes `older` what `tree` is; files that differ are newer than all objects then.

    Without `removing` files that `tree` has not stay: objects among the sources.
    """
    if not older.is_dir():
        tree.rename(older)
        return
    wanted, present = _names(tree), _names(older)
    for name in (present - wanted) if removing else ():
        (older / name).unlink()
    for name in wanted:
        if name not in present or not _same(tree / name, older / name):
            _replace(tree / name, older / name)
    shutil.rmtree(tree)


def link_tree(tree: Path, copy: Path) -> None:
    """Makes `copy` of hard links to the files of a tree."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(tree, copy, symlinks=True, copy_function=_link)


def copy_objects(
    objects: Path, copy: Path, source: Path, is_wanted: Callable[[Path], bool]
) -> None:
    """Copies those of the objects whose names are wanted; `source` is the tree beside the copy."""
    shutil.rmtree(copy, ignore_errors=True)
    for name in filter(is_wanted, _names(objects)):
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(objects / name, target, follow_symlinks=False)
    (copy / "source").unlink()
    (copy / "source").symlink_to(source)


def _names(tree: Path) -> set[Path]:
    """The files and symbolic links of a tree, below it."""
    names = set()
    for directory, subdirectories, files in os.walk(tree):
        below = Path(directory).relative_to(tree)
        links = [name for name in subdirectories if (Path(directory) / name).is_symlink()]
        names |= {below / name for name in (*files, *links)}
    return names


def _files(top: Path) -> Iterator[Path]:
    return (top / name for name in _names(top) if not (top / name).is_symlink())


def _same(path: Path, other: Path) -> bool:
    if path.is_symlink() or other.is_symlink():
        return path.is_symlink() and other.is_symlink() and path.readlink() == other.readlink()
    return path.samefile(other) or filecmp.cmp(path, other, shallow=False)


def _replace(path: Path, older: Path) -> None:
    """Puts a copy of `path`, written now, into the place of `older`."""
    older.parent.mkdir(parents=True, exist_ok=True)
    older.unlink(missing_ok=True)
    if path.is_symlink():
        older.symlink_to(path.readlink())
        return
    shutil.copyfile(path, older)
    shutil.copymode(path, older)


def _link(origin: str, copy: str) -> None:
    # A tree laid over another one may have the same file.
    Path(copy).unlink(missing_ok=True)
    os.link(origin, copy, follow_symlinks=False)
