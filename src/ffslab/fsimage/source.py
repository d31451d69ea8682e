"""What goes into an image: a directory tree or a tar archive, as a sorted list of entries.

Sorted by the bytes of the names, directories before what is in them, so that the same tree gives
the same image. A tar archive needs no rights for owners and devices. Holes of sparse files are
known (the file system's, or the archive's) and are kept.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from ffslab.errors import InfrastructureError, UsageError
from ffslab.fsimage.entry import TYPES, Entry, ObjectType
from ffslab.fsimage.tarsource import tar_entries

_PIECE = 1 << 20


def read_source(path: Path) -> Iterator[Entry]:
    """Entries of a directory, or of a tar archive if `path` is a file."""
    if path.is_dir():
        return _directory_entries(path)
    if not path.exists():
        raise UsageError(f"{path} does not exist", remedy="name a directory or a tar archive")
    return tar_entries(path)


# --- directories ---


def _directory_entries(root: Path) -> Iterator[Entry]:
    stack = [b""]
    while stack:
        path = stack.pop()
        full = root / os.fsdecode(path)
        try:
            entry = _stat_entry(full, path)
            inside = full.iterdir() if entry.object_type is ObjectType.DIRECTORY else ()
            names = sorted((os.fsencode(member.name) for member in inside), reverse=True)
        except OSError as error:
            raise _unreadable(full, error) from error
        yield entry
        prefix = path + b"/" if path else b""
        stack.extend(prefix + name for name in names)


def _unreadable(path: Path, error: OSError) -> InfrastructureError:
    return InfrastructureError(
        f"cannot read {path}: {error.strerror or error}",
        cause="it belongs to somebody else, or it changed meanwhile",
        remedy="read the tree as root, or make a tar archive of it",
    )


def _stat_entry(full: Path, path: bytes) -> Entry:
    status = full.lstat() if path else full.stat()
    kind = TYPES[stat.S_IFMT(status.st_mode)]
    is_file = kind is ObjectType.FILE
    shared = status.st_nlink > 1 and kind is not ObjectType.DIRECTORY
    return Entry(
        path=path,
        object_type=kind,
        mode=status.st_mode,
        uid=status.st_uid,
        gid=status.st_gid,
        mtime=status.st_mtime_ns // 1_000_000_000,
        key=(status.st_dev, status.st_ino) if shared else path,
        size=status.st_size if is_file else 0,
        target=_target(full) if kind is ObjectType.SYMLINK else b"",
        device=_device(status) if kind is ObjectType.SPECIAL else (0, 0),
        xattrs=_xattrs(full, follow=not path),
        pieces=(lambda: _file_pieces(full, status.st_size)) if is_file else (lambda: iter(())),
    )


def _target(full: Path) -> bytes:
    """A link's target; a Path would leave out what says nothing, such as the "." of "./a"."""
    return os.fsencode(os.readlink(full))  # noqa: PTH115


def _device(status: os.stat_result) -> tuple[int, int]:
    return os.major(status.st_rdev), os.minor(status.st_rdev)


def _xattrs(full: Path, *, follow: bool) -> tuple[tuple[bytes, bytes], ...]:
    try:
        names = sorted(os.listxattr(full, follow_symlinks=follow))
        return tuple(
            (os.fsencode(name), os.getxattr(full, name, follow_symlinks=follow)) for name in names
        )
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.EPERM):
            return ()
        raise


def _file_pieces(full: Path, size: int) -> Iterator[tuple[int, bytes]]:
    """What is stored of a file; the file system says where its holes are."""
    try:
        with full.open("rb", buffering=0) as file:
            descriptor = file.fileno()
            end = 0
            while end < size:
                start = _seek(descriptor, end, os.SEEK_DATA, size)
                end = min(_seek(descriptor, start, os.SEEK_HOLE, size), size)
                while start < end:
                    piece = os.pread(descriptor, min(_PIECE, end - start), start)
                    if not piece:
                        raise OSError(errno.EIO, "the file became shorter")
                    yield start, piece
                    start += len(piece)
    except OSError as error:
        raise _unreadable(full, error) from error


def _seek(descriptor: int, position: int, whence: int, size: int) -> int:
    if position >= size:
        return size
    try:
        return os.lseek(descriptor, position, whence)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return size
        if error.errno == errno.EINVAL:
            return position if whence == os.SEEK_DATA else size
        raise
