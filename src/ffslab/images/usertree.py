"""The user's source trees: a directory, or a tar archive, also a compressed one.

A directory must not change while it is read: numbers, sizes and times of all files are looked at
before and after.
"""

from __future__ import annotations

import lzma
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ffslab.errors import InfrastructureError, UsageError
from ffslab.fsimage.entry import Entry
from ffslab.fsimage.source import read_source
from ffslab.fsimage.tarsource import is_compressed, open_unpacked, unpack
from ffslab.lab.cache import cache_root, make_directory
from ffslab.program import program


def user_path(name_or_path: str) -> Path:
    """The directory or file that the user names.

    Raises UsageError if there is none, InfrastructureError if one may not look there.
    """
    try:
        # An empty name would be the working directory.
        path = Path(name_or_path).expanduser() if name_or_path else None
        if path and (path.is_dir() or path.is_file()):
            return path.resolve()
        what = "is neither a directory nor a file" if path and path.exists() else "does not exist"
    except PermissionError as error:
        raise InfrastructureError(
            f"cannot look at {name_or_path}: {error.strerror}",
            cause="a directory on the way to it belongs to somebody else",
            remedy="read the tree as root, or name a tar archive of it",
        ) from error
    except OSError as error:
        what = f"cannot be looked at ({error.strerror or error})"
    except RuntimeError:
        what = "names a user without a known home directory"
    shown = repr(name_or_path) if len(name_or_path) < 200 else f"{name_or_path[:200]!r}…"
    raise UsageError(
        f"no tree {shown}: there is no such recipe, and as a path it {what}",
        remedy=f"{program()} list trees, or name a directory or a tar archive",
    )


@contextmanager
def user_entries(path: Path) -> Iterator[Iterator[Entry]]:
    if not path.is_dir():
        with _unpacked(path) as tar:
            yield read_source(tar)
        return
    if cache_root().resolve().is_relative_to(path):
        raise UsageError(
            f"ffslab's cache, {cache_root()}, is a part of the tree {path}",
            remedy="name a smaller directory, or set XDG_CACHE_HOME to another place",
        )
    before = _listing(path)
    # Whoever unpacked the tree owns it now: an accident.
    yield (replace(entry, uid=0, gid=0) for entry in read_source(path))
    after = _listing(path)
    if before != after:
        different = sorted(set(before.items()) ^ set(after.items()))
        raise changed(path, Path(os.fsdecode(different[0][0])))


def changed(tree: Path, path: Path) -> UsageError:
    return UsageError(
        f"{tree} changed while it was read: {path}",
        cause="a program is writing there",
        remedy="wait until it has ended, or copy the tree and name the copy",
    )


def _listing(root: Path) -> dict[bytes, tuple[int, ...]]:
    """What tells whether a file was changed: number, mode, size and times of each path."""
    facts: dict[bytes, tuple[int, ...]] = {}
    pending = [os.fsencode(root)]
    while pending:
        path = pending.pop()
        try:
            facts[path] = _facts(os.lstat(path))
            with os.scandir(path) as inside:
                for member in inside:
                    if member.is_dir(follow_symlinks=False):
                        pending.append(member.path)
                    else:
                        facts[member.path] = _facts(member.stat(follow_symlinks=False))
        except OSError as error:
            raise InfrastructureError(
                f"cannot read {os.fsdecode(error.filename or path)}: {error.strerror}",
                cause="it belongs to somebody else, or it changed meanwhile",
                remedy="read the tree as root, or name a tar archive of it",
            ) from error
    return facts


def _facts(of: os.stat_result) -> tuple[int, ...]:
    return of.st_ino, of.st_mode, of.st_size, of.st_mtime_ns, of.st_ctime_ns


@contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    """The archive without its compression: members are read in another order than stored."""
    try:
        packed = is_compressed(path)
    except OSError as error:
        raise InfrastructureError(
            f"cannot read {path}: {error.strerror}", remedy=f"chmod a+r {path}"
        ) from error
    if not packed:
        yield path
        return
    directory = make_directory(cache_root() / "tree")
    with tempfile.NamedTemporaryFile(dir=directory, suffix=".tar") as plain:
        try:
            with open_unpacked(path) as file:
                unpack(file, plain, path)
            plain.flush()
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise UsageError(
                f"{path} cannot be unpacked: {error}",
                cause="the archive is damaged, or the disk is full",
                remedy=f"df -h {directory}, or make the archive anew",
            ) from error
        yield Path(plain.name)
