"""The cache directory: where it is, who may write, how a hash names an entry.

An entry is a directory named after the hash of everything that went into it. It is
valid once its stamp file exists; the stamp is written last, so an interruption leaves an
entry that is finished or redone, never one that is taken for complete.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.holder import holder_of, write_holder
from ffslab.kernel.progress import Progress

STAMP = "complete.json"
_SCRATCH_PREFIX = "tmp-"
_IDENTITY = "sha256"


def cache_root(environment: Mapping[str, str] | None = None) -> Path:
    """`$XDG_CACHE_HOME/ffslab`, by default `~/.cache/ffslab`."""
    variables = os.environ if environment is None else environment
    base = variables.get("XDG_CACHE_HOME", "")
    return (Path(base).absolute() if base else Path.home() / ".cache") / "ffslab"


def make_directory(path: Path) -> Path:
    """Creates `path`; raises InfrastructureError where the user has no right or no space."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InfrastructureError(
            f"cannot create {path}: {error.strerror}",
            cause="the cache directory belongs to another user, or the disk is full",
            remedy=f"export XDG_CACHE_HOME=DIRECTORY that you may write to (now {path.parent})",
        ) from error
    return path


@contextmanager
def locked(
    path: Path, progress: Progress, clock_s: Callable[[], float] = time.time
) -> Iterator[int]:
    """Holds an exclusive lock on `path`, waiting for another process if need be.

    Yields the lock's descriptor. A child that inherits it keeps the lock after a `kill -9` of
    this process: no second build starts in a directory where an orphaned one still works.
    The file says who holds the lock and since when, for those who wait.
    """
    make_directory(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.note(f"waiting for {holder_of(descriptor, clock_s())} (lock {path})")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        write_holder(descriptor, clock_s())
        yield descriptor
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def scratch_directory(parent: Path) -> Path:
    """An empty directory in `parent`, to be filled and then renamed into place.

    The caller holds the lock on `parent`: what an interrupted run left behind is removed.
    """
    make_directory(parent)
    for leftover in parent.glob(_SCRATCH_PREFIX + "*"):
        shutil.rmtree(leftover, ignore_errors=True)
    return make_directory(parent / f"{_SCRATCH_PREFIX}{os.getpid()}")


def replace_directory(scratch: Path, final: Path) -> None:
    """Makes `scratch` appear as `final` at once, instead of what was there."""
    if final.exists():
        shutil.rmtree(final)
    scratch.rename(final)


def write_stamp(entry: Path, facts: Mapping[str, object], made: Sequence[Path] = ()) -> None:
    """Marks `entry` complete; `facts` say what it was made from, `made` are files of it that
    `built_identity` is to stand for.
    """
    stamp = {**facts, _IDENTITY: sha256_of_files(entry, made)} if made else facts
    pending = entry / (STAMP + ".new")
    pending.write_text(json.dumps(stamp, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    pending.replace(entry / STAMP)


def built_identity(entry: Path) -> str:
    """The hash of what was made in a complete entry.

    Its name is a hash of what ffslab knows to go in. This tells builds apart that another
    assembler, linker or C library made of the same.
    """
    try:
        return str(json.loads((entry / STAMP).read_text(encoding="utf-8"))[_IDENTITY])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InfrastructureError(
            f"{entry / STAMP} cannot be read: {error!r}",
            cause="the file was edited or cut",
            remedy=f"rm -r {entry}, and the same command again",
        ) from error


def is_complete(entry: Path) -> bool:
    return (entry / STAMP).is_file()


def hash_texts(texts: Iterable[str]) -> str:
    """64 bits of SHA-256 over the texts and their boundaries, as 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "backslashreplace")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:16]


def hash_files(root: Path, files: Iterable[Path]) -> str:
    """Like `hash_texts`, over the names below `root` and the contents of `files`."""
    return sha256_of_files(root, files)[:16]


def sha256_of_files(root: Path, files: Iterable[Path]) -> str:
    """The whole SHA-256 over the names below `root` and the contents of `files`."""
    digest = hashlib.sha256()
    for path in sorted(files):
        name = os.fsencode(path.relative_to(root))
        data = path.read_bytes()
        for part in (name, data):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    return digest.hexdigest()
