"""A newc cpio archive, written in this process, equal for equal contents.

The guest's root is an initramfs. `cpio` and `gen_init_cpio` are not needed, and
what they put in (inode numbers, times, owners of the host) must not be in it:
the archive is a part of a case's input. Hence fixed inode numbers in order of
appearance, owner 0 and time 0. The format is described in the kernel's
Documentation/driver-api/early-userspace/buffer-format.rst.

Limits: regular files, directories, symbolic links and character devices; no
hard links; a file is below 4 GiB.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

_MAGIC = "070701"
_TRAILER = "TRAILER!!!"
_S_IFDIR = 0o040000
_S_IFREG = 0o100000
_S_IFLNK = 0o120000
_S_IFCHR = 0o020000


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One member: `path` is absolute in the guest, `data` the contents or link target."""

    path: str
    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def regular_file(path: str, data: bytes, *, executable: bool = False) -> ArchiveEntry:
    """A regular file, mode 0755 when `executable`, else 0644."""
    return ArchiveEntry(path, _S_IFREG | (0o755 if executable else 0o644), data)


def symbolic_link(path: str, target: str) -> ArchiveEntry:
    """A symbolic link to `target`."""
    return ArchiveEntry(path, _S_IFLNK | 0o777, target.encode())


def character_device(path: str, major: int, minor: int) -> ArchiveEntry:
    """A character device node, mode 0600."""
    return ArchiveEntry(path, _S_IFCHR | 0o600, b"", (major, minor))


def directory(path: str) -> ArchiveEntry:
    """A directory, mode 0755."""
    return ArchiveEntry(path, _S_IFDIR | 0o755)


def build_archive(entries: Iterable[ArchiveEntry]) -> bytes:
    """The archive of `entries` in their order; missing parent directories come first.

    Raises ValueError for a path that appears twice.
    """
    chunks: list[bytes] = []
    seen: set[str] = set()
    for inode, entry in enumerate(_with_parents(entries), start=1):
        if entry.path in seen:
            raise ValueError(f"{entry.path} appears twice in the archive")
        seen.add(entry.path)
        chunks += _member(entry, inode)
    chunks += _member(ArchiveEntry("/" + _TRAILER, 0), 0)
    chunks.append(bytes(-sum(map(len, chunks)) % 512))
    # Joined once: the files are the largest part by far.
    return b"".join(chunks)


def _with_parents(entries: Iterable[ArchiveEntry]) -> list[ArchiveEntry]:
    ordered: list[ArchiveEntry] = []
    known: set[str] = {"/"}
    for entry in entries:
        for parent in reversed(PurePosixPath(entry.path).parents):
            if str(parent) not in known:
                known.add(str(parent))
                ordered.append(directory(str(parent)))
        if entry.mode & 0o170000 == _S_IFDIR:
            if entry.path in known:
                continue
            known.add(entry.path)
        ordered.append(entry)
    return ordered


def _member(entry: ArchiveEntry, inode: int) -> tuple[bytes, ...]:
    name = entry.path.lstrip("/").encode() + b"\0"
    is_directory = entry.mode & 0o170000 == _S_IFDIR
    fields = (
        inode,
        entry.mode,
        0,  # owner
        0,  # group
        2 if is_directory else 1,
        0,  # modification time
        len(entry.data),
        0,
        0,  # device that holds the file
        *entry.device,
        len(name),
        0,  # checksum, unused in this format
    )
    header = (_MAGIC + "".join(f"{field:08X}" for field in fields)).encode()
    head = header + name
    return head, bytes(-len(head) % 4), entry.data, bytes(-len(entry.data) % 4)
