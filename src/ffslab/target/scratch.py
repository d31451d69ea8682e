"""Where guests keep their flash file and channels while they run.

/dev/shm is preferred: the flash file is written at random and thrown away. It
is used when it has room for all guests at once, else the run directory's disk.
The owner of a scratch directory holds a lock in it, which the kernel drops when
the owner ends, however it ends: so what a killed ffslab left behind is found
and removed by the next.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.model.specs import Case
from ffslab.model.units import format_size
from ffslab.target.flashfile import flash_file_bytes

_PREFIX = "ffslab-scratch-"
_LOCK_NAME = "owner.lock"
_CHANNELS_BYTES = 16 * 2**20  # initramfs, console and records of one guest
SHARED_MEMORY = Path("/dev/shm")


@dataclass(frozen=True, slots=True)
class Need:
    """Room that one guest may take at most: in scratch, and its RAM in /dev/shm."""

    scratch_bytes: int
    ram_bytes: int


def largest_need(cases: Iterable[Case]) -> Need:
    """The largest room that any of the cases may take.

    A case writes its partition and the state of pages and blocks; the rest of
    the flash file stays a hole.
    """
    scratch = ram = 0
    for case in cases:
        chip = case.board.chip
        spare = flash_file_bytes(chip) - chip.size_bytes
        scratch = max(scratch, case.partition_bytes + spare + _CHANNELS_BYTES)
        ram = max(ram, case.board.ram_bytes)
    return Need(scratch, ram)


@contextmanager
def scratch_directory(
    need: Need,
    jobs: int,
    run_dir: Path,
    wanted: Path | None = None,
    shared_memory: Path = SHARED_MEMORY,
) -> Iterator[Path]:
    """A directory for this process's guests, removed at the end.

    Raises InfrastructureError if there is no room for `jobs` guests anywhere.
    """
    parent = wanted or _roomy(shared_memory, (need.scratch_bytes + need.ram_bytes) * jobs)
    if parent is None:
        parent = run_dir
    if parent != shared_memory:
        _require_room(parent, need.scratch_bytes * jobs)
    _remove_stale(parent)
    directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    try:
        with (directory / _LOCK_NAME).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _roomy(directory: Path, needed_bytes: int) -> Path | None:
    if not directory.is_dir() or not os.access(directory, os.W_OK):
        return None
    _remove_stale(directory)
    return directory if _free_bytes(directory) >= needed_bytes else None


def _require_room(directory: Path, needed_bytes: int) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        free = _free_bytes(directory)
    except OSError as error:
        raise InfrastructureError(
            f"scratch directory {directory}: {error.strerror}",
            cause="no right to write there, or not a directory",
            remedy="name another place with --scratch DIR",
        ) from error
    if free < needed_bytes:
        raise InfrastructureError(
            f"no space: the guests may need {format_size(needed_bytes)} in {directory}, "
            f"which has {format_size(free)}",
            cause="each guest keeps a flash file while it runs",
            remedy="free some space, name another place with --scratch DIR, or use fewer --jobs",
        )


def _free_bytes(directory: Path) -> int:
    return shutil.disk_usage(directory).free


def _remove_stale(parent: Path) -> None:
    """Removes scratch directories whose owner no longer holds the lock.

    One without a lock file is just being made, or is another user's.
    """
    for directory in parent.glob(f"{_PREFIX}*"):
        try:
            with (directory / _LOCK_NAME).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        shutil.rmtree(directory, ignore_errors=True)
