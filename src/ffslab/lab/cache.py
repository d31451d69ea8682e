"""The cache directory: where it is, who may write, how a hash names an entry.

An entry is a directory named after the hash of everything that went into it. It is
complete once its stamp file exists; the stamp is written last, when all else is on the disk, so an
interruption or a loss of power leaves an entry that is finished or redone, never one that is taken
for complete.

The stamp has the SHA-256 of every file that is used later, and of itself. Who uses an entry asks
`is_sound` first: a disk, a copy or an editor may have changed it. What is damaged is named, moved
aside and made again.
"""

from __future__ import annotations

import fcntl
import hashlib
import itertools
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ffslab.errors import InfrastructureError
from ffslab.lab.progress import Progress
from ffslab.lock_holder import holder_of, write_holder

STAMP = "complete.json"
_SCRATCH_PREFIX = "tmp-"
_DAMAGED = ".damaged-"
_IDENTITY = "sha256"
_FILES = "files"
_SELF = "stamp"
# Of a kernel: what only builds of modules read, too much for each run.
_FOR_BUILDS = "for-builds"
_FOR_BUILDS_NAME = "for-builds.json"
# With more files than this one sync of everything costs less than one for each.
_SYNCED_ONE_BY_ONE = 200
_log = logging.getLogger(__name__)


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
    sync_path(final.parent)


def write_stamp(
    entry: Path,
    facts: Mapping[str, object],
    made: Iterable[Path] = (),
    for_builds: Iterable[Path] = (),
) -> None:
    """Marks `entry` complete; `facts` say what it was made from, `made` are its files that are used
    later: `is_sound` checks them and `built_identity` stands for them. Those `for_builds` of other
    entries are checked by who builds these.

    All of it is on the disk when this returns.
    """
    files, further = sorted(made), sorted(for_builds)
    sync_files(entry, [*files, *further])
    stamp: dict[str, object] = dict(facts)
    if files:
        stamp = {_IDENTITY: sha256_of_files(entry, files), **facts}
        stamp[_FILES] = _sums(entry, files)
    if further:
        write_durably(entry / _FOR_BUILDS_NAME, json.dumps(_sums(entry, further), indent=0))
        stamp[_FOR_BUILDS] = file_sha256(entry / _FOR_BUILDS_NAME)
    stamp[_SELF] = _sha256_of_stamp(stamp)
    write_durably(entry / STAMP, json.dumps(stamp, indent=1, sort_keys=True) + "\n")


def _sums(entry: Path, files: Iterable[Path]) -> dict[str, str]:
    return {path.relative_to(entry).as_posix(): file_sha256(path) for path in files}


def write_durably(path: Path, text: str) -> None:
    """Writes a file that appears at once, and is on the disk then."""
    pending = path.with_name(path.name + ".new")
    pending.write_text(text, encoding="utf-8")
    sync_path(pending)
    pending.replace(path)
    sync_path(path.parent)


def sync_path(path: Path) -> None:
    """Brings a file's contents, or a directory's names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_files(entry: Path, files: Sequence[Path]) -> None:
    """Brings files below `entry` to the disk, and the names of the directories they are in."""
    if len(files) > _SYNCED_ONE_BY_ONE:
        os.sync()
        return
    directories = {parent for path in files for parent in path.parents if entry in parent.parents}
    for path in (*files, *directories):
        sync_path(path)


def file_sha256(path: Path) -> str:
    """The file's digest, as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sha256_of_stamp(stamp: Mapping[str, object]) -> str:
    rest = {key: value for key, value in stamp.items() if key != _SELF}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def read_stamp(entry: Path) -> dict[str, Any]:
    """What the stamp of an entry says; OSError if there is none, ValueError if it is damaged."""
    try:
        stamp = json.loads((entry / STAMP).read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("it nests too deep") from None
    if not isinstance(stamp, dict):
        raise ValueError("it is not a table")
    if _SELF in stamp and stamp[_SELF] != _sha256_of_stamp(stamp):
        raise ValueError("it is not what ffslab wrote")
    return stamp


def built_identity(entry: Path) -> str:
    """The hash of what was made in a complete entry.

    Its name is a hash of what ffslab knows to go in. This tells builds apart that another
    assembler, linker or C library made of the same.
    """
    try:
        return str(read_stamp(entry)[_IDENTITY])
    except (OSError, ValueError, KeyError) as error:
        raise InfrastructureError(
            f"{entry / STAMP} cannot be read: {error!r}",
            cause="the file was edited or cut",
            remedy=f"rm -r {entry}, and the same command again",
        ) from error


def is_complete(entry: Path) -> bool:
    """Whether an entry was finished; `is_sound` tells whether it still is what it was."""
    return (entry / STAMP).is_file()


def damage_of(entry: Path) -> str:
    """What is wrong with a complete entry, and in which file; empty if nothing is.

    Every file that its stamp lists is read, which takes a millisecond per megabyte.
    """
    try:
        stamp = read_stamp(entry)
    except OSError as error:
        return f"{STAMP}: {error.strerror}"
    except ValueError as error:
        return f"{STAMP}: {error}"
    if _SELF not in stamp:
        return _damage_of_older(entry, stamp)
    return _damage_of_files(entry, stamp.get(_FILES, {}))


def damage_of_all(entry: Path) -> str:
    """As `damage_of`, with the files that builds of other entries read: a second for a kernel.

    Entries of earlier versions have no list of these.
    """
    wrong = damage_of(entry)
    if wrong or not (listed := read_stamp(entry).get(_FOR_BUILDS)):
        return wrong
    sums = entry / _FOR_BUILDS_NAME
    return _damage_of_files(entry, {sums.name: listed}) or _damage_of_files(
        entry, json.loads(sums.read_text(encoding="utf-8"))
    )


def _damage_of_files(entry: Path, sums: Mapping[str, str]) -> str:
    for name, sha256 in sums.items():
        wrong = _damage_of_file(entry / name, sha256)
        if wrong:
            return f"{name}: {wrong}"
    return ""


def has_no_hashes(entry: Path) -> bool:
    """Whether an earlier version made the entry, whose stamps said nothing of its files."""
    try:
        stamp = read_stamp(entry)
    except (OSError, ValueError):
        return False
    return _SELF not in stamp and _IDENTITY not in stamp


def _damage_of_older(entry: Path, stamp: Mapping[str, object]) -> str:
    """Of an entry with one hash for all its files, or none."""
    if _IDENTITY not in stamp:
        return f"{STAMP}: it has no hashes of files"
    files = (
        path
        for path in entry.iterdir()
        if path.is_file() and path.suffix != ".log" and not path.name.startswith(STAMP)
    )
    if sha256_of_files(entry, files) == stamp[_IDENTITY]:
        return ""
    return "its files are not the ones that were built"


def _damage_of_file(path: Path, sha256: str) -> str:
    try:
        if file_sha256(path) == sha256:
            return ""
        return "its contents differ from what was built" if path.stat().st_size else "it is empty"
    except OSError as error:
        return error.strerror or str(error)


def is_sound(entry: Path) -> bool:
    """Whether an entry is complete, and its files are what was built."""
    return is_complete(entry) and not damage_of(entry)


def set_aside_if_damaged(entry: Path, damage: Callable[[Path], str] = damage_of) -> bool:
    """Whether there is a sound entry; a damaged one is named and moved out of the way.

    `damage` is `damage_of_all` if something will be built against the entry. The caller holds the
    lock under which the entry is made.
    """
    if not is_complete(entry):
        return False
    wrong = damage(entry)
    if wrong and not has_no_hashes(entry):
        set_aside(entry, wrong)
    return not wrong


def set_aside(entry: Path, wrong: str) -> None:
    """Renames a damaged entry, says so, and leaves it to whoever wants to know how it came."""
    aside = next(
        moved_to
        for number in itertools.count(1)
        if not (moved_to := entry.with_name(f"{entry.name}{_DAMAGED}{number}")).exists()
    )
    entry.rename(aside)
    sync_path(entry.parent)
    _log.warning(
        "ffslab: %s is damaged (%s)\n  it is made again; what was there is now %s, "
        "which may be removed",
        *(entry, wrong, aside),
    )


def is_set_aside(entry: Path) -> bool:
    return _DAMAGED in entry.name


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
