"""Built images, kept on the host under a hash of all that determines their bytes.

An entry appears by a rename and is used only if the image still has the digest that was recorded;
one that is damaged is built again. A lock keeps two processes, or two threads, from building the
same image: the second waits and finds it. Images are small and none is ever removed here.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ffslab.errors import InfrastructureError
from ffslab.lab.cache import (
    file_sha256,
    locked,
    read_stamp,
    replace_directory,
    set_aside_if_damaged,
    write_stamp,
)
from ffslab.lab.progress import Progress
from ffslab.paths import cache_dir

IMAGE_NAME = "image"


def image_root() -> Path:
    """Where built images are kept."""
    return cache_dir().absolute() / "image"


@dataclass(frozen=True, slots=True)
class ImageStore:
    """A directory of built images."""

    root: Path

    @contextmanager
    def entry(self, key: str, progress: Progress) -> Iterator[Path]:
        """Holds the entry of that key, which may not be there yet; OSErrors are explained."""
        try:
            # One lock of 256: lock files do not pile up, and builds at the same time seldom meet.
            with locked(self.root / f"lock-{key[:2]}", progress):
                yield self.root / key
        except OSError as error:
            raise InfrastructureError(
                f"cannot keep an image in {error.filename or self.root}: {error.strerror or error}",
                cause="the disk is full, or no permission to write there",
                remedy=f"free some space (rm -r {self.root}), or set XDG_CACHE_HOME=DIRECTORY",
            ) from error

    def facts(self, entry: Path) -> dict[str, Any] | None:
        """What was recorded with a complete entry, its image checked; None if there is none."""
        try:
            facts = read_stamp(entry)
            if facts["sha256"] == file_sha256(entry / IMAGE_NAME):
                return facts
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return None

    @contextmanager
    def scratch(self, entry: Path) -> Iterator[Path]:
        """An empty directory to build `entry` in, removed afterwards. The entry's lock is held,
        so what an interrupted build left there is nobody's."""
        directory = self.root / f"tmp-{entry.name}"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def keep(self, scratch: Path, entry: Path, image: Path, facts: dict[str, Any]) -> None:
        """Makes `entry` of the file `image`, somewhere in `scratch`."""
        final = scratch / "entry"
        final.mkdir()
        image.rename(final / IMAGE_NAME)
        write_stamp(final, facts, [final / IMAGE_NAME])
        set_aside_if_damaged(entry)
        replace_directory(final, entry)


# What tells a file from what it was before: it is on that device, that inode, of that size, and was
# written to and changed at those times.
FileState = tuple[int, int, int, int, int]


def file_state(path: Path) -> FileState:
    """The state of a file, links followed; OSError if there is none."""
    status = path.stat()
    return (
        *(status.st_dev, status.st_ino, status.st_size),
        *(status.st_mtime_ns, status.st_ctime_ns),
    )


def unchanged_sha256(path: Path) -> str:
    """The file's digest, for files that are asked for often: read again only if its state is
    another than when this process read it.
    """
    return _sha256_in_state(path, file_state(path))


@lru_cache(maxsize=256)
def _sha256_in_state(path: Path, _state: FileState) -> str:
    return file_sha256(path)
