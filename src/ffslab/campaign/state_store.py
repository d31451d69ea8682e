"""Prepared states of the flash, kept on the host: a snapshot of the chip per state.

A state is what a guest left on the flash, and every guest that needs it gets a copy of that file.
It is kept under the key of the guest's job (`ffslab.campaign.chain`), so whether it was kept makes
no difference to a result.

An entry appears by a rename and is used only if its files still have the digests that were
recorded: the flash, and what the guest printed, which judges it. A damaged one is moved aside and
prepared again. The store is bounded: `prune` removes what was used longest ago.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import InfrastructureError, full
from ffslab.lab.cache import (
    STAMP,
    damage_of,
    is_complete,
    read_stamp,
    set_aside,
    sync_path,
    write_stamp,
)
from ffslab.limits import gib_setting
from ffslab.model.units import format_size
from ffslab.paths import cache_dir
from ffslab.protocol.chip_file import DIGEST_FORM, flash_digest
from ffslab.targets.target import FLASH_NAME

_FLASH = "flash_sha256"
_OF_THIS_DIGEST = f".{DIGEST_FORM.rstrip(':')}"
_LOCK = "users.lock"
_TEMPORARY = "tmp-"
_LIMIT_GIB = 4.0
LIMIT_VARIABLE = "FFSLAB_STATE_CACHE_GIB"
PLACE_VARIABLE = "FFSLAB_STATE_CACHE"


def state_root(environment: Mapping[str, str] | None = None) -> Path:
    """Where states are kept: the variable's directory, by default `state` in the cache."""
    place = (os.environ if environment is None else environment).get(PLACE_VARIABLE, "")
    return Path(place) if place else cache_dir() / "state"


def limit_bytes(environment: Mapping[str, str] | None = None) -> int:
    """How much the store may keep; UsageError if the variable is no number."""
    return gib_setting(LIMIT_VARIABLE, _LIMIT_GIB, environment)


@dataclass(frozen=True, slots=True)
class StateStore:
    """A directory of prepared states; safe to use from several threads and processes."""

    root: Path

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """While a run uses the store, nothing is removed from it by another one."""
        with self.errors_explained():
            self.root.mkdir(parents=True, exist_ok=True)
            lock = (self.root / _LOCK).open("a")
        with lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            yield

    def _place(self, key: str) -> Path:
        """Where the entry of that key is: not where a version with another digest looks for its
        own, since each would take those of the other for damaged and remove them.
        """
        return self.root / f"{key}{_OF_THIS_DIGEST}"

    def find(self, key: str) -> Path | None:
        """The entry of that key, its contents checked; None if there is none, or a damaged one."""
        entry = self._place(key)
        if not is_complete(entry):
            return None
        wrong = damage_of_state(entry)
        if wrong:
            with contextlib.suppress(OSError):  # Another process may have moved it.
                set_aside(entry, wrong)
            return None
        with contextlib.suppress(OSError):
            os.utime(entry / STAMP)
        return entry

    @contextmanager
    def new_entry(self) -> Iterator[Path]:
        """An empty directory for a guest's files; what was not kept is removed."""
        with self.errors_explained():
            self.root.mkdir(parents=True, exist_ok=True)
            directory = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=self.root))
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def keep(self, directory: Path, key: str, flash_sha256: str) -> Path:
        """Makes `directory`, a new entry with its files, the entry of `key`.

        If there is one already, prepared by another process or before --fresh-states, it stays:
        its contents are the same. InfrastructureError if they are not.
        """
        final = self._place(key)
        with self.errors_explained():
            write_stamp(directory, {_FLASH: flash_sha256}, _printed(directory))
            sync_path(directory / FLASH_NAME)
            if self.find(key) is None:
                self._appear(directory, key)
        if flash_digest(final / FLASH_NAME) != flash_sha256:
            raise InfrastructureError(
                f"two preparations of one state of the flash differ: {final}",
                cause="something of the host influences the guest: a bug of ffslab",
                remedy=f"move {final} elsewhere for a report of the bug, and repeat the command",
            )
        return final

    def _appear(self, directory: Path, key: str) -> None:
        try:
            directory.rename(self._place(key))
            sync_path(self.root)
        except OSError:
            # Another process was quicker.
            if self.find(key) is None:
                raise

    def prune(self, limit: int) -> list[str]:
        """Removes the entries used longest ago until `limit` bytes are left, and leftovers.

        Nothing is removed while another process uses the store. Returns the keys removed.
        """
        if not self.root.is_dir():
            return []
        with (self.root / _LOCK).open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return []
            for leftover in self.root.glob(f"{_TEMPORARY}*"):
                shutil.rmtree(leftover, ignore_errors=True)
            return self._remove_oldest(limit)

    @contextmanager
    def errors_explained(self) -> Iterator[None]:
        """What the disk refuses while a state is kept, with what would help."""
        try:
            yield
        except OSError as error:
            raise self._explained(error) from error

    def _explained(self, error: OSError) -> InfrastructureError:
        elsewhere = f"export {PLACE_VARIABLE}=DIRECTORY on another disk"
        cause, remedy = f"no permission to write in {self.root}, or a failing disk", elsewhere
        if full(error):
            kept = self.kept_bytes()
            cause = f"the disk is full (df {self.root}); kept states take {format_size(kept)} of it"
            remedy = f"free some space there, or {elsewhere}"
            if kept:
                remedy = f"export {LIMIT_VARIABLE}=0, which removes them first, or {remedy}"
        return InfrastructureError(
            f"cannot keep a prepared state in {error.filename or self.root}: {error.strerror}",
            cause=cause,
            remedy=remedy,
        )

    def kept_bytes(self) -> int:
        """What the states take on the disk."""
        total = 0
        for stamp in self.root.glob(f"*/{STAMP}"):
            with contextlib.suppress(OSError):
                total += _disk_bytes(stamp.parent)
        return total

    def _remove_oldest(self, limit: int) -> list[str]:
        entries = []
        for stamp in self.root.glob(f"*/{STAMP}"):
            with contextlib.suppress(OSError):
                entries.append((stamp.stat().st_mtime_ns, stamp.parent, _disk_bytes(stamp.parent)))
        total = sum(size for _, _, size in entries)
        removed = []
        for _, entry, size in sorted(entries):
            if total <= limit:
                break
            shutil.rmtree(entry, ignore_errors=True)
            removed.append(entry.name)
            total -= size
        return removed


def damage_of_state(entry: Path) -> str:
    """What is wrong with a kept state, and in which file; empty if nothing is."""
    wrong = damage_of(entry)
    if wrong:
        return wrong
    try:
        if read_stamp(entry).get(_FLASH) == flash_digest(entry / FLASH_NAME):
            return ""
    except (OSError, ValueError) as error:
        return f"{FLASH_NAME}: {error}"
    return f"{FLASH_NAME}: its contents differ from what was kept"


def _printed(directory: Path) -> list[Path]:
    """Files beside the flash, whose digest has a form of its own."""
    return [path for path in directory.iterdir() if path.name != FLASH_NAME]


def _disk_bytes(directory: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in directory.iterdir())
