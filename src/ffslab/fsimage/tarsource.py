"""Tar archives as source trees: tarfile reads the headers, and here they are checked.

An archive may come from anywhere. What it says of itself must fit together, or it is refused as
a whole: sizes what is stored, the map of a sparse member (GNU's old form and the three in pax
headers) its data, links an earlier member, parents a directory. What tarfile passes over in silence
is an error too: a damaged header in the middle, where it takes the archive for complete. Nothing
that a header claims is believed before memory or time is spent on it: headers of one member have a
bound, and so have the number of names and the length of the archive (`ffslab.fsimage.limit`).

Names are those of a Linux file system; a leading `/` is dropped, `..` is refused. Of several
members with one name the last counts, as if they were unpacked one after the other.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import os
import stat
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from ffslab.errors import FfslabError, UsageError
from ffslab.fsimage.entry import TYPES, Entry, ObjectType
from ffslab.fsimage.limit import limit_bytes, too_large

# Many times what the trees of devices have; with names of usual length, this many take half a
# gigabyte of memory to read.
NAMES_MAX = 500_000
_HEADERS_BYTES_MAX = 4 << 20  # of one member: pax records, long names, maps of sparse files
_PATH_BYTES_MAX = 4095  # PATH_MAX of Linux without the zero
_NAME_BYTES_MAX = 255  # NAME_MAX
_ID_MAX = 2**32 - 2  # the last is "no change" to chown()
_MAJOR_MAX, _MINOR_MAX = 2**12 - 1, 2**20 - 1
_TIME_MAX_S = 2**62
_BLOCK_BYTES = tarfile.BLOCKSIZE
_PIECE_BYTES = 1 << 20
_XATTR = "SCHILY.xattr."
_MAGICS = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")
_MODES = {
    **dict.fromkeys(tarfile.REGULAR_TYPES, stat.S_IFREG),
    tarfile.DIRTYPE: stat.S_IFDIR,
    tarfile.SYMTYPE: stat.S_IFLNK,
    tarfile.CHRTYPE: stat.S_IFCHR,
    tarfile.BLKTYPE: stat.S_IFBLK,
    tarfile.FIFOTYPE: stat.S_IFIFO,
}


class _Refused(Exception):
    """The archive contradicts itself, or is none; the text says how."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A member that may be an entry. `key` names the object, `parts` are offset and length of
    what the archive stores of a file, one behind the other from `data_at` on."""

    info: tarfile.TarInfo
    key: object
    data_at: int = 0
    parts: tuple[tuple[int, int], ...] = ()


def is_compressed(path: Path) -> bool:
    """Whether the file is of gzip, bzip2, xz or zstd; OSError if it cannot be read."""
    with path.open("rb") as file:
        return file.read(6).startswith(_MAGICS)


def open_unpacked(path: Path) -> BinaryIO:
    """The file without its compression; OSError if it cannot be opened.

    Of zstd only from its beginning to its end: the reader cannot go back.
    """
    with path.open("rb") as file:
        magic = file.read(6)
    if magic.startswith(_MAGICS[0]):
        return cast(BinaryIO, gzip.open(path, "rb"))
    if magic.startswith(_MAGICS[1]):
        return cast(BinaryIO, bz2.open(path, "rb"))
    if magic.startswith(_MAGICS[2]):
        return cast(BinaryIO, lzma.open(path, "rb"))
    if magic.startswith(_MAGICS[3]):
        # Python's own library has no zstd; Arrow, which tables need anyway, has.
        import pyarrow

        return cast(BinaryIO, pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), "zstd"))
    return path.open("rb")


@contextmanager
def _open_seekable(path: Path) -> Iterator[BinaryIO]:
    """The same for a reader that goes back: what is compressed is unpacked into a nameless file.

    UsageError for an archive that is larger than a tree may be, before more of it is unpacked.
    """
    with open_unpacked(path) as file:
        if not is_compressed(path):
            if path.stat().st_size > limit_bytes():
                raise too_large(str(path), limit_bytes(), "another archive was meant")
            yield file
            return
        with tempfile.TemporaryFile() as plain:
            unpack(file, plain, path)
            plain.seek(0)
            yield cast(BinaryIO, plain)


def unpack(packed: BinaryIO, plain: IO[bytes], path: Path) -> None:
    """Unpacks as much of `path` as a tree may have; UsageError if there is more."""
    limit, written = limit_bytes(), 0
    while piece := packed.read(_PIECE_BYTES):
        written += len(piece)
        if written > limit:
            raise too_large(f"{path} unpacked", limit, "an archive of something else was meant")
        plain.write(piece)


def tar_entries(path: Path) -> Iterator[Entry]:
    """Entries of an archive, sorted; UsageError if it is none, is damaged, or contradicts itself.

    What `pieces` of an entry reads comes from the same file, so the generator must not be closed
    before.
    """
    try:
        with _open_seekable(path) as file:
            members = _members(file)
            for name in sorted(members, key=lambda member: member.split(b"/") if member else []):
                yield _entry(file, name, members[name], path)
    except FfslabError:
        raise
    # A parser that was not written for hostile input raises whatever its steps happen to raise.
    except Exception as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> UsageError:
    # Of a file in no known format tarfile also tells what each format has to say.
    what = (str(error).splitlines() or [type(error).__name__])[0].rstrip(":")
    return UsageError(
        f"{path} cannot be read as a tar archive: {what[:300]}",
        cause="it is neither a directory nor an archive, or it is damaged",
        remedy=f"tar -tvf {path} lists what it holds; name a directory or a whole archive",
    )


# --- headers ---


class _HeaderReader(io.RawIOBase):
    """What tarfile reads headers from: no more than a member's headers may have.

    It would otherwise read as much at once as a header says, and follow maps as long as they go on.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.allow()

    def allow(self) -> None:
        """Before the headers of another member."""
        self._left_bytes = _HEADERS_BYTES_MAX

    def read(self, size: int = -1, /) -> bytes:
        if not 0 <= size <= self._left_bytes:
            raise _Refused(f"a member has headers of more than {_HEADERS_BYTES_MAX >> 20} MiB")
        self._left_bytes -= size
        return self._file.read(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


def _members(file: BinaryIO) -> dict[bytes, _Member]:
    """The last member of each name, with directories that are only implied."""
    members: dict[bytes, _Member] = {}
    for count, (info, stored_bytes) in enumerate(_headers(file)):
        name = _path(info.name)
        members[name] = _member(info, stored_bytes, members)
        while name:
            name = name.rpartition(b"/")[0]
            if name in members:
                break
            implied = tarfile.TarInfo(os.fsdecode(name))
            implied.type, implied.mode = tarfile.DIRTYPE, 0o755
            members[name] = _Member(implied, name)
        if max(count + 1, len(members)) > NAMES_MAX:
            raise _Refused(f"it has more than {NAMES_MAX:,} names")
    for name in members:
        if name and not members[name.rpartition(b"/")[0]].info.isdir():
            raise _Refused(f"{_shown(os.fsdecode(name))} is in something that is not a directory")
    return members


def _headers(file: BinaryIO) -> Iterator[tuple[tarfile.TarInfo, int]]:
    """The members in their order, each with the length of what is stored for it, in blocks."""
    reader = _HeaderReader(file)
    end = 0
    with tarfile.open(fileobj=cast(IO[bytes], reader), mode="r:", errorlevel=1) as archive:
        while True:
            reader.allow()
            info = archive.next()
            if info is None:
                break
            # Else the next header would be one that was read already, for ever.
            if not end <= info.offset < info.offset_data <= archive.offset:
                raise _Refused(f"{_shown(info.name)} has an impossible size")
            end = archive.offset
            yield info, archive.offset - info.offset_data
    file.seek(end)
    if any(file.read(_BLOCK_BYTES)):
        raise _Refused(f"there is no header at byte {end:,}, where one should be")


# --- members ---


def _member(info: tarfile.TarInfo, stored_bytes: int, known: dict[bytes, _Member]) -> _Member:
    if info.islnk():
        target = known.get(_path(info.linkname))
        if target is None or target.info.isdir():
            raise _Refused(
                f"{_shown(info.name)} is a hard link to a name that does not come before it"
            )
        return target
    if info.type not in _MODES:
        kind = info.type.decode("latin-1")
        raise _Refused(f"{_shown(info.name)} has the type {kind!r}, which no file system has")
    _check_numbers(info)
    if info.issym() and not 0 < len(os.fsencode(info.linkname)) <= _PATH_BYTES_MAX:
        raise _Refused(f"{_shown(info.name)} is a symbolic link without a possible target")
    if "\0" in info.linkname:
        raise _Refused(f"{_shown(info.name)} has a zero in its target")
    if not info.isreg():
        return _Member(info, info.offset)
    return _Member(info, info.offset, info.offset_data, _parts(info, stored_bytes))


def _check_numbers(info: tarfile.TarInfo) -> None:
    numbers = (
        ("owner", info.uid, 0, _ID_MAX),
        ("group", info.gid, 0, _ID_MAX),
        ("time", info.mtime, -_TIME_MAX_S, _TIME_MAX_S),
        ("major device number", info.devmajor if info.isdev() else 0, 0, _MAJOR_MAX),
        ("minor device number", info.devminor if info.isdev() else 0, 0, _MINOR_MAX),
    )
    for what, value, least, most in numbers:
        if not (math.isfinite(value) and least <= value <= most):
            raise _Refused(f"{_shown(info.name)} has an impossible {what}")


def _parts(info: tarfile.TarInfo, stored_bytes: int) -> tuple[tuple[int, int], ...]:
    """Where in the file the stored bytes go: ascending, apart, inside the file, and all of them."""
    sparse: list[tuple[int, int]] | None = getattr(info, "sparse", None)
    # Lengths of zero end a map, or fill its table.
    parts = [part for part in ([(0, info.size)] if sparse is None else sparse) if part[1]]
    end = total = 0
    for start, length in parts:
        if start < end or length < 0 or start + length > info.size:
            raise _Refused(f"the map of the sparse file {_shown(info.name)} contradicts itself")
        end = start + length
        total += length
    if info.size < 0 or -(-total // _BLOCK_BYTES) * _BLOCK_BYTES != stored_bytes:
        raise _Refused(f"the size of {_shown(info.name)} differs from what is stored")
    return tuple(parts)


def _path(name: str) -> bytes:
    """The name as a relative path; refused if no file system could have it."""
    parts = [part for part in os.fsencode(name).split(b"/") if part not in (b"", b".")]
    if b".." in parts:
        raise _Refused(f"the name {_shown(name)} leads out of the archive")
    path = b"/".join(parts)
    longest = max(map(len, parts), default=0)
    if longest > _NAME_BYTES_MAX or len(path) > _PATH_BYTES_MAX or b"\0" in path:
        raise _Refused(f"no file can have the name {_shown(name)}")
    return path


def _shown(name: str) -> str:
    return repr(name) if len(name) <= 100 else f"{name[:100]!r}…"


# --- entries ---


def _entry(file: BinaryIO, name: bytes, member: _Member, path: Path) -> Entry:
    info = member.info
    mode = _MODES[info.type]
    kind = TYPES[mode]
    is_file = kind is ObjectType.FILE
    return Entry(
        path=name,
        object_type=kind,
        mode=mode | info.mode & 0o7777,
        uid=info.uid,
        gid=info.gid,
        mtime=int(info.mtime // 1),
        key=member.key,
        size=info.size if is_file else 0,
        target=os.fsencode(info.linkname) if kind is ObjectType.SYMLINK else b"",
        device=(info.devmajor, info.devminor) if kind is ObjectType.SPECIAL else (0, 0),
        xattrs=tuple(
            (os.fsencode(key[len(_XATTR) :]), os.fsencode(value))
            for key, value in sorted(info.pax_headers.items())
            if key.startswith(_XATTR)
        ),
        pieces=lambda: _pieces(file, member, path),
    )


def _pieces(file: BinaryIO, member: _Member, path: Path) -> Iterator[tuple[int, bytes]]:
    """A member's bytes; of a sparse one only what the archive stores."""
    at = member.data_at
    for start, length in member.parts:
        done = 0
        while done < length:
            piece = _read(file, at + done, min(_PIECE_BYTES, length - done), path)
            yield start + done, piece
            done += len(piece)
        at += length


def _read(file: BinaryIO, at: int, length: int, path: Path) -> bytes:
    try:
        file.seek(at)
        piece = file.read(length)
    # Decompressors have errors of their own.
    except Exception as error:
        raise _damaged(path, error) from error
    if not piece:
        raise _damaged(path, EOFError("it ends too early"))
    return piece
