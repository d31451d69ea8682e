"""What goes into an image: a directory tree or a tar archive, as a sorted list of entries.

Sorted by the bytes of the names, directories before what is in them, so that the same tree gives
the same image. A tar archive needs no rights for owners and devices. Holes of sparse files are
known (the file system's, or the archive's) and are kept.
"""

from __future__ import annotations

import errno
import os
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ffslab.errors import InfrastructureError, UsageError
from ffslab.yaffs2.format import ObjectType

_PIECE = 1 << 20
_TYPES = {
    stat.S_IFREG: ObjectType.FILE,
    stat.S_IFDIR: ObjectType.DIRECTORY,
    stat.S_IFLNK: ObjectType.SYMLINK,
    stat.S_IFCHR: ObjectType.SPECIAL,
    stat.S_IFBLK: ObjectType.SPECIAL,
    stat.S_IFIFO: ObjectType.SPECIAL,
    stat.S_IFSOCK: ObjectType.SPECIAL,
}
_TAR_XATTR = "SCHILY.xattr."

Pieces = Callable[[], Iterator[tuple[int, bytes]]]


@dataclass(frozen=True, slots=True)
class Entry:
    """One name. `path` is relative, in bytes; empty for the root directory.

    `key` is the same for all names of one object. `pieces` yields offset and bytes of what a
    file holds, ascending; what lies between is holes. `device` is (major, minor).
    """

    path: bytes
    object_type: ObjectType
    mode: int
    uid: int
    gid: int
    mtime: int
    key: object
    size: int = 0
    target: bytes = b""
    device: tuple[int, int] = (0, 0)
    xattrs: tuple[tuple[bytes, bytes], ...] = ()
    pieces: Pieces = lambda: iter(())

    @property
    def name(self) -> bytes:
        return self.path.rpartition(b"/")[2]

    @property
    def parent(self) -> bytes:
        return self.path.rpartition(b"/")[0]

    def shown(self) -> str:
        return os.fsdecode(b"/" + self.path)


def read_source(path: Path) -> Iterator[Entry]:
    """Entries of a directory, or of a tar archive if `path` is a file."""
    if path.is_dir():
        return _directory_entries(path)
    if not path.exists():
        raise UsageError(f"{path} does not exist", remedy="name a directory or a tar archive")
    return _tar_entries(path)


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
    found = full.lstat() if path else full.stat()
    kind = _TYPES[stat.S_IFMT(found.st_mode)]
    is_file = kind is ObjectType.FILE
    shared = found.st_nlink > 1 and kind is not ObjectType.DIRECTORY
    return Entry(
        path=path,
        object_type=kind,
        mode=found.st_mode,
        uid=found.st_uid,
        gid=found.st_gid,
        mtime=found.st_mtime_ns // 1_000_000_000,
        key=(found.st_dev, found.st_ino) if shared else path,
        size=found.st_size if is_file else 0,
        target=os.fsencode(full.readlink()) if kind is ObjectType.SYMLINK else b"",
        device=_device(found) if kind is ObjectType.SPECIAL else (0, 0),
        xattrs=_xattrs(full, follow=not path),
        pieces=(lambda: _file_pieces(full, found.st_size)) if is_file else (lambda: iter(())),
    )


def _device(found: os.stat_result) -> tuple[int, int]:
    return os.major(found.st_rdev), os.minor(found.st_rdev)


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


# --- tar archives ---


def _tar_entries(path: Path) -> Iterator[Entry]:
    try:
        with tarfile.open(path, "r:*", errorlevel=1) as archive:
            members = _members(archive, path)
            for name in sorted(members, key=lambda one: one.split(b"/") if one else []):
                yield _tar_entry(archive, members, name, path)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise UsageError(
            f"{path} cannot be read as a tar archive: {_first_line(error)}",
            cause="it is neither a directory nor an archive, or it is damaged",
            remedy=f"tar -tf {path} lists what it holds; name a directory or a whole archive",
        ) from error


def _first_line(error: Exception) -> str:
    """What went wrong; of a file in no known format not also what each format has to say."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(":")


def _members(archive: tarfile.TarFile, path: Path) -> dict[bytes, tarfile.TarInfo]:
    """Members by path, the last of each; directories that are only implied are added."""
    members: dict[bytes, tarfile.TarInfo] = {}
    for member in archive:
        name = _tar_path(member.name, path)
        members[name] = member
        while name:
            name = name.rpartition(b"/")[0]
            if name not in members:
                implied = tarfile.TarInfo(os.fsdecode(name))
                implied.type, implied.mode = tarfile.DIRTYPE, 0o755
                members[name] = implied
    return members


def _tar_path(name: str, path: Path) -> bytes:
    parts = [part for part in os.fsencode(name).split(b"/") if part not in (b"", b".")]
    if b".." in parts:
        raise UsageError(f"{path}: the member {name!r} leads out of the archive")
    return b"/".join(parts)


_TAR_MODES = {
    tarfile.DIRTYPE: stat.S_IFDIR,
    tarfile.SYMTYPE: stat.S_IFLNK,
    tarfile.CHRTYPE: stat.S_IFCHR,
    tarfile.BLKTYPE: stat.S_IFBLK,
    tarfile.FIFOTYPE: stat.S_IFIFO,
}


def _tar_entry(
    archive: tarfile.TarFile, members: dict[bytes, tarfile.TarInfo], name: bytes, path: Path
) -> Entry:
    member, key = members[name], name
    hops = 0
    while member.islnk():
        key = _tar_path(member.linkname, path)
        hops += 1
        if key not in members or hops > len(members):
            raise UsageError(f"{path}: {member.name!r} is a link to nothing")
        member = members[key]
    kind = _TYPES[_TAR_MODES.get(member.type, stat.S_IFREG)]
    is_file = kind is ObjectType.FILE
    headers = sorted(member.pax_headers.items())
    return Entry(
        path=name,
        object_type=kind,
        mode=_TAR_MODES.get(member.type, stat.S_IFREG) | member.mode & 0o7777,
        uid=member.uid,
        gid=member.gid,
        mtime=int(member.mtime // 1),
        key=key,
        size=member.size if is_file else 0,
        target=os.fsencode(member.linkname) if kind is ObjectType.SYMLINK else b"",
        device=(member.devmajor, member.devminor) if kind is ObjectType.SPECIAL else (0, 0),
        xattrs=tuple(
            (os.fsencode(key[len(_TAR_XATTR) :]), os.fsencode(value))
            for key, value in headers
            if key.startswith(_TAR_XATTR)
        ),
        pieces=(lambda: _tar_pieces(archive, member)) if is_file else (lambda: iter(())),
    )


def _tar_pieces(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[tuple[int, bytes]]:
    """A member's bytes; of a sparse one only what the archive stores."""
    try:
        file = archive.extractfile(member)
        if file is None:
            return
        with file:
            for start, length in _stored_parts(member):
                yield from _tar_part(file, start, length)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise UsageError(f"{member.name} cannot be read from the archive: {error}") from error


def _tar_part(file: IO[bytes], start: int, length: int) -> Iterator[tuple[int, bytes]]:
    file.seek(start)
    while length > 0:
        piece = file.read(min(_PIECE, length))
        if not piece:
            raise EOFError("it ends too early")
        yield start, piece
        start += len(piece)
        length -= len(piece)


def _stored_parts(member: tarfile.TarInfo) -> list[tuple[int, int]]:
    parts: list[tuple[int, int]] | None = getattr(member, "sparse", None)
    return parts if parts is not None else [(0, member.size)]
