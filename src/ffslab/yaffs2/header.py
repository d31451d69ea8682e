"""Object headers: the first 512 bytes of a chunk with chunk id 0. Parsing and writing.

Parsing keeps every field as it is on flash; `check_headers.py` judges them. The order of the
64-bit times is change, access, modification, that of the 32-bit ones access, modification,
change. A 64-bit field whose high word is 0xFFFFFFFF is unset: the 32-bit one counts.
"""

from __future__ import annotations

import stat
import struct
from dataclasses import dataclass

from ffslab.yaffs2.format import NAME_BYTES_MAX, TARGET_BYTES_MAX, ObjectType

HEADER_BYTES = 512
UNSET = 0xFFFFFFFF
_LAYOUT = struct.Struct("<2IH256s2s8I160s13I")
assert _LAYOUT.size == HEADER_BYTES

DEVICES = (stat.S_IFCHR, stat.S_IFBLK)
# The mode's file types of each object type; a hard link's mode says nothing.
FORMATS = {
    ObjectType.FILE: (stat.S_IFREG,),
    ObjectType.DIRECTORY: (stat.S_IFDIR,),
    ObjectType.SYMLINK: (stat.S_IFLNK,),
    ObjectType.SPECIAL: (stat.S_IFIFO, *DEVICES, stat.S_IFSOCK),
}


def mode_fits(kind: ObjectType, mode: int) -> bool:
    """Whether an object of this type may have this mode."""
    return kind not in FORMATS or stat.S_IFMT(mode) in FORMATS[kind]


@dataclass(frozen=True, slots=True)
class ObjectHeader:
    """All fields, as they are on flash."""

    type_number: int
    parent_id: int
    name_checksum: int
    name_field: bytes
    padding: bytes
    mode: int
    uid: int
    gid: int
    atime_low: int
    mtime_low: int
    ctime_low: int
    size_low: int
    target_id: int
    alias_field: bytes
    rdev: int
    ctime_words: tuple[int, int]
    atime_words: tuple[int, int]
    mtime_words: tuple[int, int]
    inband_shadowed_id: int
    inband_is_shrink: int
    size_high: int
    reserved: int
    shadowed_id: int
    is_shrink: int

    @property
    def name(self) -> bytes:
        return self.name_field.split(b"\0", 1)[0]

    @property
    def alias(self) -> bytes:
        """The target of a symbolic link; empty if the field is unset."""
        text = self.alias_field.split(b"\0", 1)[0]
        return b"" if text.startswith(b"\xff" * 8) else text

    @property
    def size(self) -> int:
        """Size of a file in bytes."""
        high = 0 if self.size_high == UNSET else self.size_high
        return self.size_low | high << 32

    @property
    def atime(self) -> int:
        return _time(self.atime_low, self.atime_words)

    @property
    def mtime(self) -> int:
        return _time(self.mtime_low, self.mtime_words)

    @property
    def ctime(self) -> int:
        return _time(self.ctime_low, self.ctime_words)

    @property
    def shadowed(self) -> int:
        """Id of the object that this header shadows, or 0: the field counts as signed."""
        return self.shadowed_id if 0 < self.shadowed_id < 1 << 31 else 0


def _time(low: int, words: tuple[int, int]) -> int:
    """Seconds since 1970; the 32-bit field counts as unsigned, the 64-bit one as signed."""
    if words[1] == UNSET:
        return low
    value = words[0] | words[1] << 32
    return value - (1 << 64) if value >> 63 else value


def parse_header(chunk: bytes) -> ObjectHeader:
    """The header in the first 512 bytes of a chunk."""
    v = _LAYOUT.unpack_from(chunk)
    times = ((v[15], v[16]), (v[17], v[18]), (v[19], v[20]))
    fields = (*v[:15], *times, *v[21:])
    return ObjectHeader(*fields)


@dataclass(frozen=True, slots=True)
class HeaderFields:
    """What a header is written from. `size` counts for files, `target_id` for hard links."""

    object_type: ObjectType
    parent_id: int
    name: bytes
    mode: int = 0
    uid: int = 0
    gid: int = 0
    atime: int = 0
    mtime: int = 0
    ctime: int = 0
    size: int = 0
    target_id: int = 0
    alias: bytes = b""
    rdev: int = 0
    shrink: bool = False
    shadowed_id: int = 0


def pack_header(fields: HeaderFields) -> bytes:
    """512 bytes, as the original would write them.

    Raises ValueError for a name or link target that is too long.
    """
    if len(fields.name) > NAME_BYTES_MAX or len(fields.alias) > TARGET_BYTES_MAX:
        raise ValueError("a name has at most 254 bytes, a link target at most 159")
    is_file = fields.object_type is ObjectType.FILE
    alias = fields.alias.ljust(160, b"\0") if fields.alias else b"\xff" * 160
    size_low, size_high = UNSET, UNSET
    if is_file:
        size_low = fields.size & UNSET
        size_high = fields.size >> 32
    return _LAYOUT.pack(
        fields.object_type,
        fields.parent_id,
        0xFFFF,
        fields.name,
        b"\xff\xff",
        fields.mode,
        fields.uid,
        fields.gid,
        fields.atime & UNSET,
        fields.mtime & UNSET,
        fields.ctime & UNSET,
        size_low,
        fields.target_id if fields.object_type is ObjectType.HARD_LINK else UNSET,
        alias,
        fields.rdev,
        *_time_words(fields.ctime),
        *_time_words(fields.atime),
        *_time_words(fields.mtime),
        # In-band copies: where the tags have no room for the shadowed id.
        fields.shadowed_id,
        UNSET,
        size_high,
        UNSET,
        fields.shadowed_id,
        int(fields.shrink),
    )


def _time_words(seconds: int) -> tuple[int, int]:
    return seconds & UNSET, seconds >> 32 & UNSET
