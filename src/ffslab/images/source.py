"""Source trees: what an image is built from, as a canonical tar archive in the cache.

A tree is a recipe of the catalog (packages of Debian, the same bytes everywhere), a directory
of the user, or a tar archive of the user. Of a directory the owners become root, since whoever
unpacked it is an accident; modes, times and links stay. A tar archive keeps its owners. Extended
attributes are left out.

An entry of the cache, `tree/SHA256`, holds the archive and what is known of it. It is
made under a lock and appears at once, so several processes may ask for the same tree. The
archive's sum is checked whenever it is used.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from ffslab.errors import InfrastructureError, SpecError
from ffslab.fsimage.entry import Entry
from ffslab.images.assemble import assemble
from ffslab.images.debs import ensure_debs
from ffslab.images.recipe import Recipe, load_recipe, recipe_paths
from ffslab.images.shape import ShapeMeter, TreeShape, tree_digest
from ffslab.images.tarball import HashedSink, write_canonical
from ffslab.images.usertree import changed, user_entries, user_path
from ffslab.lab.cache import (
    cache_root,
    locked,
    make_directory,
    read_stamp,
    replace_directory,
    scratch_directory,
    set_aside_if_damaged,
    write_stamp,
)
from ffslab.lab.progress import Progress

__all__ = ["SourceTree", "TreeShape", "recipe_names", "source_sha256", "source_tree", "tree_digest"]

_TAR = "tree.tar"


@dataclass(frozen=True, slots=True)
class SourceTree:
    """A tree. `tar` is its canonical archive, not to be written to, and `sha256` that file's
    sum; `digest` is the one the agent computes (`tree_digest`)."""

    name: str
    tar: Path
    sha256: str
    shape: TreeShape
    digest: str


def tree_root() -> Path:
    """Where trees are kept; the packages that recipes need are in `packages` below it."""
    return cache_root() / "tree"


def recipe_names() -> tuple[str, ...]:
    """The names of the catalog's recipes."""
    return tuple(recipe_paths())


def recipe(name: str) -> Recipe:
    """The catalog's recipe called `name`; raises SpecError if its file is damaged."""
    return load_recipe(recipe_paths()[name])


def source_sha256(name_or_path: str) -> str:
    """The SHA-256 of a tree's canonical archive, without making it.

    Of a recipe it is what the file states. A directory or archive is read as a whole: seconds
    per gigabyte, so ask once. Raises as `source_tree` does.
    """
    if name_or_path in recipe_names():
        return recipe(name_or_path).expected.sha256
    with user_entries(user_path(name_or_path)) as entries:
        sink = HashedSink()
        write_canonical(entries, sink)
    return sink.sha256


def source_tree(name_or_path: str, progress: Progress) -> SourceTree:
    """The tree of a recipe, a directory or a tar archive, made if it is not in the cache.

    A recipe's name comes before a directory of the same name; write `./NAME` for that.

    Raises UsageError for what is neither, for sockets, for more than a tree may have
    (`tarball.limit_bytes`), for a damaged archive, and for a directory that changes meanwhile;
    SpecError for a recipe that is damaged or gives something else than it states;
    InfrastructureError for packages that cannot be had and for files that cannot be read.
    """
    if name_or_path in recipe_names():
        stated = recipe(name_or_path)
        return _cached(name_or_path, stated.expected.sha256) or _build(stated, progress)
    path = user_path(name_or_path)
    sha256 = source_sha256(name_or_path)
    return _cached(path.name, sha256) or _store_user_tree(path, sha256, progress)


# --- the cache ---


def _cached(name: str, sha256: str) -> SourceTree | None:
    """The tree in the cache; None if it is not there, or is not what it was."""
    entry = tree_root() / sha256
    try:
        facts = read_stamp(entry)
        with (entry / _TAR).open("rb") as file:
            whole = hashlib.file_digest(file, "sha256").hexdigest() == sha256
        shape = TreeShape(**{field.name: int(facts["shape"][field.name]) for field in _SHAPE})
        digest = str(facts["digest"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return SourceTree(name, entry / _TAR, sha256, shape, digest) if whole else None


_SHAPE = fields(TreeShape)


@contextmanager
def _scratch(root: Path) -> Iterator[Path]:
    """A directory for a new entry; what is refused half-way does not stay, however large."""
    scratch = scratch_directory(root)
    try:
        yield scratch
    finally:
        # After success it has been renamed.
        shutil.rmtree(scratch, ignore_errors=True)


def _store(scratch: Path, tree: SourceTree, origin: str) -> SourceTree:
    final = tree_root() / tree.sha256
    facts: dict[str, Any] = {"origin": origin, "shape": asdict(tree.shape), "digest": tree.digest}
    write_stamp(scratch, facts, [scratch / _TAR])
    set_aside_if_damaged(final)
    replace_directory(scratch, final)
    return replace(tree, tar=final / _TAR)


def _write(entries: Iterator[Entry], scratch: Path, name: str) -> SourceTree:
    """Writes the archive into `scratch`; the digest is read back from it."""
    meter = ShapeMeter()
    tar = scratch / _TAR
    try:
        with tar.open("wb") as file:
            sink = HashedSink(file)
            write_canonical(meter.watch(entries), sink)
    except OSError as error:
        raise InfrastructureError(
            f"cannot write {tar}: {error.strerror or error}", cause="the disk is full"
        ) from error
    return SourceTree(name, tar, sink.sha256, meter.shape(), "")


# --- recipes ---


def _build(stated: Recipe, progress: Progress) -> SourceTree:
    root = make_directory(tree_root())
    with locked(root / "lock", progress) as lock:
        # Another process may have finished while this one waited.
        ready = _cached(stated.name, stated.expected.sha256)
        if ready is not None:
            return ready
        debs = ensure_debs(stated.packages, stated.mirrors, root / "packages", lock, progress)
        with progress.phase(f"building the tree {stated.name}"), _scratch(root) as scratch:
            tree = _write(iter(assemble(stated, debs)), scratch, stated.name)
            tree = replace(tree, digest=tree_digest(tree.tar))
            _compare(stated, tree)
            packages = ", ".join(f"{package.name} {package.version}" for package in stated.packages)
            return _store(scratch, tree, f"recipe {stated.name}: {packages}")


def _compare(stated: Recipe, tree: SourceTree) -> None:
    """Raises SpecError that says in what the tree is not the one that the recipe states."""
    expected = stated.expected
    got, wanted = asdict(tree.shape), asdict(expected.shape())
    differences = [
        f"{key}: {got[key]}, not {wanted[key]}" for key in wanted if got[key] != wanted[key]
    ]
    if tree.digest != expected.digest:
        differences.append(f"digest: {tree.digest}, not {expected.digest}")
    if not differences and tree.sha256 == expected.sha256:
        return
    if not differences:
        differences.append("names, contents, modes and owners are right, times are not")
    differences.append(f"SHA-256 of the archive: {tree.sha256}, not {expected.sha256}")
    raise SpecError(
        f"the tree of recipe {stated.name} differs from the one that it states\n  "
        + "\n  ".join(differences),
        cause="the recipe was edited and its table [expected] was not",
        remedy=f"if the new tree is intended, put it into [expected] of "
        f"{recipe_paths().get(stated.name, stated.name)}; else undo the edit",
    )


# --- the user's trees ---


def _store_user_tree(path: Path, sha256: str, progress: Progress) -> SourceTree:
    root = make_directory(tree_root())
    with locked(root / "lock", progress):
        # Another process may have finished while this one waited, and use it now.
        ready = _cached(path.name, sha256)
        if ready is not None:
            return ready
        with (
            progress.phase(f"reading the tree {path}"),
            user_entries(path) as entries,
            _scratch(root) as scratch,
        ):
            tree = _write(entries, scratch, path.name)
            if tree.sha256 != sha256:
                raise changed(path, path)
            return _store(scratch, replace(tree, digest=tree_digest(tree.tar)), str(path))
