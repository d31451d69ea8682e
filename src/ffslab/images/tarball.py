"""The canonical tar archive of a tree: equal trees give equal bytes, on every machine.

POSIX "ustar" headers, written here and not by a library, whose headers may change with its
version. Members are sorted by path, component by component, as bytes; so a directory comes
before what is in it, and `.`, the top, is the first. Owner and group are numbers only, times are
whole seconds, links have the mode 0777. What does not fit a ustar header (a name over 100 bytes,
a number with too many digits) is in a pax header in front. A second name of one file is a hard
link to the first in order. Extended attributes are not kept, holes of files are filled. Two
blocks of zeros end the archive.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from ffslab.errors import UsageError
from ffslab.fsimage.entry import Entry, ObjectType
from ffslab.fsimage.limit import limit_bytes, too_large
from ffslab.model.units import format_size

_BLOCK_BYTES = 512
_NAME_BYTES_MAX = 100
_OCTAL_7_DIGITS = 0o7777777
_OCTAL_11_DIGITS = 0o77777777777
_ZEROS = bytes(1 << 20)
_TYPE_FLAGS = {
    ObjectType.FILE: b"0",
    ObjectType.HARD_LINK: b"1",
    ObjectType.SYMLINK: b"2",
    ObjectType.DIRECTORY: b"5",
}


class HashedSink:
    """Takes an archive: computes its SHA-256 and length, and writes it if there is a file."""

    def __init__(self, file: BinaryIO | None = None) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.bytes_written = 0

    def write(self, data: bytes) -> None:
        self._digest.update(data)
        self.bytes_written += len(data)
        if self._file is not None:
            self._file.write(data)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


def write_canonical(entries: Iterable[Entry], sink: HashedSink) -> None:
    """Writes the archive of `entries`, which come sorted and with the top directory first.

    Raises UsageError for a socket, which no archive can hold, for what is no tree, and, before it
    is written, for what makes the archive larger than `limit_bytes()`.
    """
    limit = limit_bytes()
    first_names: dict[object, bytes] = {}
    directories = {b""}
    for entry in entries:
        _check(entry, directories)
        if sink.bytes_written + entry.size > limit:
            raise _over_the_limit(entry, sink.bytes_written, limit)
        if entry.object_type is ObjectType.DIRECTORY:
            directories.add(entry.path)
        first = first_names.setdefault(entry.key, entry.path)
        if first != entry.path:
            sink.write(_headers(entry, ObjectType.HARD_LINK, 0, first))
            continue
        sink.write(_headers(entry, entry.object_type, entry.size, entry.target))
        if entry.object_type is ObjectType.FILE:
            for piece in file_bytes(entry):
                sink.write(piece)
            sink.write(bytes(-entry.size % _BLOCK_BYTES))
    if not first_names:
        raise UsageError("the tree has no entries", cause="an empty archive")
    sink.write(bytes(2 * _BLOCK_BYTES))


def _over_the_limit(entry: Entry, before: int, limit: int) -> UsageError:
    name = entry.shown() if len(entry.path) <= 100 else f"{entry.shown()[:100]}…"
    return too_large(
        f"{name!r} of {format_size(entry.size)} comes after {format_size(before)}",
        limit,
        "another directory or archive was meant, or a sparse file, which counts with its holes",
    )


def _check(entry: Entry, directories: set[bytes]) -> None:
    if stat.S_ISSOCK(entry.mode):
        raise UsageError(
            f"{entry.shown()} is a socket, which an image cannot hold",
            cause="a running program listens there",
            remedy="end the program, or copy the tree without the socket",
        )
    if entry.parent not in directories or not (entry.path or stat.S_ISDIR(entry.mode)):
        raise UsageError(
            f"{entry.shown()} is in something that is not a directory",
            cause="an archive that was put together by hand",
        )


def file_bytes(entry: Entry) -> Iterator[bytes]:
    """The contents of a file, holes filled with zeros."""
    end = 0
    for start, piece in entry.pieces():
        yield from _zeros(start - end)
        yield piece
        end = start + len(piece)
    yield from _zeros(entry.size - end)


def _zeros(count: int) -> Iterator[bytes]:
    while count > 0:
        yield _ZEROS[: min(count, len(_ZEROS))]
        count -= len(_ZEROS)


def _headers(entry: Entry, kind: ObjectType, size: int, target: bytes) -> bytes:
    name = entry.path or b"."
    records = {}
    if len(name) > _NAME_BYTES_MAX:
        records["path"] = name
    if len(target) > _NAME_BYTES_MAX:
        records["linkpath"] = target
    if records and not all(_is_utf8(value) for value in records.values()):
        records["hdrcharset"] = b"BINARY"
    for key, value, most in (
        ("size", size, _OCTAL_11_DIGITS),
        ("mtime", entry.mtime, _OCTAL_11_DIGITS),
        ("uid", entry.uid, _OCTAL_7_DIGITS),
        ("gid", entry.gid, _OCTAL_7_DIGITS),
    ):
        if not 0 <= value <= most:
            records[key] = b"%d" % value
    extended = _pax(records) if records else b""
    return extended + _ustar(
        name,
        mode=0o777 if kind is ObjectType.SYMLINK else stat.S_IMODE(entry.mode),
        numbers=(entry.uid, entry.gid),
        size=size,
        mtime=entry.mtime,
        flag=_TYPE_FLAGS.get(kind) or _special_flag(entry),
        target=target,
        device=entry.device,
    )


def _special_flag(entry: Entry) -> bytes:
    if stat.S_ISCHR(entry.mode):
        return b"3"
    return b"4" if stat.S_ISBLK(entry.mode) else b"6"


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _pax(records: dict[str, bytes]) -> bytes:
    body = b""
    # The character set is stated before the names that it is for.
    for key in sorted(records, key=lambda key: (key != "hdrcharset", key)):
        rest = b" " + key.encode() + b"=" + records[key] + b"\n"
        length = len(rest) + len(str(len(rest)))
        # The length counts its own digits, which can make it one digit longer.
        length = len(rest) + len(str(length))
        body += b"%d" % length + rest
    header = _ustar(b"pax_header", mode=0o644, size=len(body), flag=b"x")
    return header + body + bytes(-len(body) % _BLOCK_BYTES)


def _ustar(
    name: bytes,
    *,
    mode: int,
    size: int,
    flag: bytes,
    numbers: tuple[int, int] = (0, 0),
    mtime: int = 0,
    target: bytes = b"",
    device: tuple[int, int] = (0, 0),
) -> bytes:
    fields = (
        name[:_NAME_BYTES_MAX].ljust(_NAME_BYTES_MAX, b"\0"),
        _octal(mode, 7),
        *(_octal(number, 7) for number in numbers),
        _octal(size, 11),
        _octal(mtime, 11),
        b" " * 8,
        flag,
        target[:_NAME_BYTES_MAX].ljust(_NAME_BYTES_MAX, b"\0"),
        b"ustar\00000",
        bytes(64),
        *(_octal(number, 7) for number in device),
    )
    block = b"".join(fields).ljust(_BLOCK_BYTES, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def _octal(value: int, digits: int) -> bytes:
    """A number in octal; one that does not fit, and is in the pax header, is 0 here."""
    fits = 0 <= value < 8**digits
    return b"%0*o\0" % (digits, value if fits else 0)
