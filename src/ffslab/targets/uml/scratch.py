"""Room on the host for guests: where each keeps its flash file, its channels and its RAM.

UML keeps a guest's RAM in a nameless file in /dev/shm, and maps it. A page that cannot be stored
there is a bus error in the middle of the guest's kernel, and so is one of the flash file. So no
guest starts before there is room for all that it may take, beside what those that run may take
yet: a *claim* is entered for it.

/dev/shm is preferred for the flash file too, since that is written at random and thrown away. With
less room there it goes to the run directory's disk; with too little for the RAM of all, fewer
guests run at once; with too little for that of one, as in a container, the RAM is a file in the
guest's directory. No guest can notice any of this: it happens before its time begins.

This process's part of a place is a directory with a lock, which the kernel drops when the owner
ends, however it ends: so what a killed ffslab left behind is found and removed by the next.

Limits. Claims are seen by processes of the same user that use the same place. What other programs
will write there nobody knows: see `ffslab.targets.uml.hostfault` for guests that this ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import InfrastructureError, explained
from ffslab.model.case import Case
from ffslab.model.units import format_size
from ffslab.protocol.chip_file import flash_file_bytes

_PREFIX = "ffslab-scratch-"
_LOCK_NAME = "owner.lock"
_CLAIM = ".claim"
_CHANNELS_BYTES = 16 * 2**20  # initramfs, console and records of one guest
# Room for four million operations; sparse until they happen.
TRACE_BYTES = 256 * 2**20
SHARED_MEMORY = Path("/dev/shm")


@dataclass(frozen=True, slots=True)
class Need:
    """Room that one guest may take at most: for its files, and for its RAM."""

    scratch_bytes: int
    ram_bytes: int


def case_need(case: Case, image_bytes: int = 0) -> Need:
    """The room that a case's guest may take; `image_bytes` of an image that it is given.

    A case writes its partition and the state of pages and blocks; the rest of the flash file stays
    a hole.
    """
    chip = case.board.chip
    spare = flash_file_bytes(chip) - chip.size_bytes
    trace = TRACE_BYTES if case.trace else 0
    files = case.partition_bytes + spare + _CHANNELS_BYTES + trace + image_bytes
    return Need(files, case.board.ram_bytes)


def largest_need(cases: Iterable[Case]) -> Need:
    """The largest room that any of the cases may take."""
    needs = [case_need(case) for case in cases]
    return Need(
        max((need.scratch_bytes for need in needs), default=0),
        max((need.ram_bytes for need in needs), default=0),
    )


@dataclass(frozen=True, slots=True)
class Claim:
    """Room that a guest may take, until `release`."""

    path: Path
    claimed_bytes: int

    def given_to(self, pid: int) -> None:
        """What the process `pid` holds open is a part of the claim from here on."""
        with contextlib.suppress(OSError):
            _write_claim(self.path, self.claimed_bytes, pid)

    def release(self) -> None:
        """Gives the room back."""
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Refusal:
    """There is no room: this much is free, of which `promised` to guests that run."""

    place: Path
    needed_bytes: int
    free_bytes: int
    promised_bytes: int
    guests: int

    def __str__(self) -> str:
        promised = ""
        if self.guests:
            promised = (
                f", {format_size(self.promised_bytes)} of it promised to {self.guests} guest(s)"
            )
        return (
            f"a guest may take {format_size(self.needed_bytes)} in {self.place}, "
            f"which has {format_size(self.free_bytes)} free{promised}"
        )


@dataclass(frozen=True, slots=True)
class Place:
    """A directory that guests take room in; `own` is this process's part of it."""

    own: Path

    @property
    def path(self) -> Path:
        """The directory that is shared with others."""
        return self.own.parent

    def claim(self, needed_bytes: int) -> Claim | Refusal:
        """Room for a guest, if there is any beside what running guests may take yet."""
        with _undisturbed(self.path):
            _remove_stale(self.path)
            claims = [_promise(path) for path in _claim_files(self.path)]
            free, promised = free_bytes(self.path), sum(claims)
            if free - promised < needed_bytes:
                return Refusal(self.path, needed_bytes, free, promised, len(claims))
            try:
                descriptor, path = tempfile.mkstemp(suffix=_CLAIM, dir=self.own)
                os.close(descriptor)
                claim = Claim(Path(path), needed_bytes)
                _write_claim(claim.path, needed_bytes, 0)
            except OSError:
                return Refusal(self.path, needed_bytes, free, promised, len(claims))
            return claim


def _write_claim(path: Path, claimed_bytes: int, pid: int) -> None:
    pending = path.with_suffix(".new")
    pending.write_text(f"{claimed_bytes} {pid}\n", encoding="utf-8")
    pending.replace(path)


def _claim_files(place: Path) -> list[Path]:
    """All claims there. Another process may end meanwhile, and its directory with it: glob() over
    both levels would raise an error for that.
    """
    found: list[Path] = []
    for directory in place.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            found += (path for path in directory.iterdir() if path.name.endswith(_CLAIM))
    return found


def _promise(claim: Path) -> int:
    """What a claim's guest may take in addition to what it has."""
    try:
        claimed, pid = (int(word) for word in claim.read_text(encoding="utf-8").split())
        device = claim.stat().st_dev
    except (OSError, ValueError):
        return 0  # just given back
    return max(0, claimed - _taken_bytes(pid, device)) if pid else claimed


def _taken_bytes(pid: int, device: int) -> int:
    """What a process's open files take on a file system, those without a name too."""
    taken = {}
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            status = descriptor.stat()
            if status.st_dev == device:
                taken[status.st_ino] = status.st_blocks * 512
    return sum(taken.values())


@contextmanager
def _undisturbed(place: Path) -> Iterator[None]:
    """No other process looks for room there meanwhile."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class Scratch:
    """Where the guests of a run are: their files in `files.own`, their RAM in `ram.path`.

    `jobs` is how many may run at once; `told` says why it is not as was asked for. `shared`: both
    places are of one file system. `ram_on_disk`: the RAM is in the guest's own directory.
    """

    files: Place
    ram: Place
    jobs: int
    shared: bool = False
    told: str = ""
    ram_on_disk: bool = False

    @property
    def directory(self) -> Path:
        """Where guests' directories are made."""
        return self.files.own

    def claim(self, need: Need) -> tuple[Claim, ...] | Refusal:
        """Room for a guest's files and RAM, or what is missing."""
        if self.shared:
            both = self.ram.claim(need.scratch_bytes + need.ram_bytes)
            return both if isinstance(both, Refusal) else (both,)
        files = self.files.claim(need.scratch_bytes)
        if isinstance(files, Refusal):
            return files
        ram = self.ram.claim(need.ram_bytes)
        if isinstance(ram, Refusal):
            files.release()
            return ram
        return files, ram


@contextmanager
def scratch_directory(
    need: Need,
    jobs: int,
    run_dir: Path,
    wanted: Path | None = None,
    shared_memory: Path = SHARED_MEMORY,
) -> Iterator[Scratch]:
    """Room for this process's guests, removed at the end.

    `wanted` is where their files are to be; their RAM is in `shared_memory`, if it has room. Raises
    InfrastructureError if there is no room for one guest.
    """
    disk = wanted or run_dir
    _require_directory(disk)
    for place in (disk, shared_memory):
        with _undisturbed(place):
            _remove_stale(place)
    files, ram, fitting = _choice(
        need, jobs, [disk] if wanted else [shared_memory, disk], shared_memory
    )
    told = _less_than_asked(need, jobs, fitting, files, ram, shared_memory)
    with ExitStack() as stack:
        own_ram = stack.enter_context(_place(ram))
        same = _same_file_system(files, ram)
        own_files = own_ram if files == ram else stack.enter_context(_place(files))
        yield Scratch(own_files, own_ram, fitting, same, told, ram != shared_memory)


def _less_than_asked(
    need: Need, jobs: int, fitting: int, files: Path, ram: Path, shared_memory: Path
) -> str:
    """What the user should know of the choice; empty if it is as good as can be."""
    rooms = " and ".join(sorted({_room_told(shared_memory), _room_told(files)}))
    told = []
    if ram != shared_memory:
        told.append(f"the guests' RAM is in {ram}, which may take longer")
    if fitting < jobs:
        told.append(f"{fitting} guest(s) at once instead of {jobs}")
    return f"{', '.join(told)}: {rooms}, {_asked(need)}" if told else ""


def _choice(
    need: Need, jobs: int, candidates: Sequence[Path], shared_memory: Path
) -> tuple[Path, Path, int]:
    """Where files and RAM go, and how many guests fit; InfrastructureError if none does."""
    disk = candidates[-1]
    for ram, places in ((shared_memory, candidates), (disk, [disk])):
        for fitting in range(jobs, 0, -1):
            for files in places:
                if _fit(need, fitting, files, ram):
                    return files, ram, fitting
    told = sorted({_room_told(place) for place in (shared_memory, *candidates)})
    raise InfrastructureError(
        f"no space for one guest: {', '.join(told)}, {_asked(need)}",
        cause=f"disk and {shared_memory} are full, or small (df {disk} {shared_memory})",
        remedy=f"free some space in {disk}, or (run) name another disk: --scratch DIR; "
        + _larger(shared_memory),
    )


def _larger(shared_memory: Path) -> str:
    return (
        "a container gets more by docker run --shm-size=2g, others as root by "
        f"mount -o remount,size=2G {shared_memory}"
    )


def _asked(need: Need) -> str:
    return (
        f"and a guest may take {format_size(need.ram_bytes)} for its RAM and "
        f"{format_size(need.scratch_bytes)} for its files"
    )


def _fit(need: Need, jobs: int, files: Path, ram: Path) -> bool:
    if _same_file_system(files, ram):
        return free_bytes(files) >= (need.scratch_bytes + need.ram_bytes) * jobs
    return (
        free_bytes(files) >= need.scratch_bytes * jobs and free_bytes(ram) >= need.ram_bytes * jobs
    )


def _room_told(place: Path) -> str:
    if not _usable(place):
        return f"{place} cannot be used"
    return f"{place} has {format_size(free_bytes(place))} free"


def free_bytes(directory: Path) -> int:
    """What a user may still write there; 0 in a directory where nothing can be written."""
    if not _usable(directory):
        return 0
    status = os.statvfs(directory)
    if not status.f_blocks:
        return 2**62  # a tmpfs without limit has no blocks
    return status.f_bavail * status.f_frsize


def _usable(directory: Path) -> bool:
    return directory.is_dir() and os.access(directory, os.W_OK)


def _same_file_system(one: Path, other: Path) -> bool:
    with contextlib.suppress(OSError):
        return one.stat().st_dev == other.stat().st_dev
    return False


def _require_directory(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not os.access(directory, os.W_OK):
            raise PermissionError(13, os.strerror(13), str(directory))
    except OSError as error:
        raise explained(error) or InfrastructureError(
            f"scratch directory {directory}: {error.strerror}",
            cause="no permission to write there, or not a directory",
            remedy="name another place with --scratch DIR",
        ) from error


@contextmanager
def _place(parent: Path) -> Iterator[Place]:
    try:
        with _undisturbed(parent):
            directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
            lock = (directory / _LOCK_NAME).open("w")
            fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        raise InfrastructureError(
            f"cannot make a directory in {parent}: {error.strerror}",
            cause="no space, or no inodes left there",
            remedy="name another place with --scratch DIR",
        ) from error
    try:
        with lock:
            yield Place(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _remove_stale(parent: Path) -> None:
    """Removes scratch directories whose owner no longer holds the lock.

    The place is undisturbed: none is just being made. One without a lock file is another user's.
    """
    for directory in parent.glob(f"{_PREFIX}*"):
        try:
            with (directory / _LOCK_NAME).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        shutil.rmtree(directory, ignore_errors=True)
