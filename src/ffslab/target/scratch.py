"""Where guests keep their flash file and channels while they run.

/dev/shm is preferred: the flash file is written at random and thrown away. It
is used when it has room for all guests at once, else the run directory's disk.
A scratch directory carries the process id of its owner, so that what a killed
ffslab left behind is found and removed by the next.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.model.specs import Case
from ffslab.model.units import format_size
from ffslab.target.flashfile import flash_file_bytes

_PREFIX = "ffslab-"
_SHARED_MEMORY = Path("/dev/shm")
_CHANNELS_BYTES = 16 * 2**20  # initramfs, console and records of one guest


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


def choose_scratch(need: Need, jobs: int, run_dir: Path, wanted: Path | None = None) -> Path:
    """A new directory for this process's guests; InfrastructureError if nowhere is room."""
    if wanted is not None:
        _require_room(wanted, need.scratch_bytes * jobs)
        return _own_directory(wanted)
    if _SHARED_MEMORY.is_dir() and os.access(_SHARED_MEMORY, os.W_OK):
        _remove_stale(_SHARED_MEMORY)
        total = (need.scratch_bytes + need.ram_bytes) * jobs
        if _free_bytes(_SHARED_MEMORY) >= total:
            return _own_directory(_SHARED_MEMORY)
    _require_room(run_dir, need.scratch_bytes * jobs)
    return _own_directory(run_dir)


def _own_directory(parent: Path) -> Path:
    _remove_stale(parent)
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))


def _require_room(directory: Path, needed_bytes: int) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        free = _free_bytes(directory)
    except OSError as error:
        raise InfrastructureError(
            f"scratch directory {directory}: {error.strerror}",
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
    for path in parent.glob(f"{_PREFIX}*-*"):
        owner = path.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(path, ignore_errors=True)
