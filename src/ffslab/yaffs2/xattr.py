"""Extended attributes: records behind the header, from byte 512 of its chunk to the end.

A record is its total length (signed, 4 bytes, itself included), the full name with a NUL, the
value. The list ends at a length ≤ 0 (erased flash reads as −1) or where the area ends.
Interpretation: fewer than 4 bytes left is the end as well; what follows the end may be 0x00 (a
record was removed) or 0xFF, in any mixture.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

_LENGTH = struct.Struct("<i")
KNOWN_PREFIXES = (b"user.", b"trusted.", b"security.", b"system.")


def parse_xattrs(area: bytes, *, padded: bool = False) -> tuple[dict[bytes, bytes], str]:
    """Names and values, and what is wrong with the area (empty if nothing is).

    Where the area is `padded` to a multiple of 4 bytes, the last bytes may be anything.
    """
    attributes: dict[bytes, bytes] = {}
    position = 0
    problem = ""
    while position + _LENGTH.size <= len(area):
        (length,) = _LENGTH.unpack_from(area, position)
        if length <= 0:
            break
        if length < _LENGTH.size + 2 or position + length > len(area):
            return attributes, f"a record at byte {position} has an impossible length of {length}"
        record = area[position + _LENGTH.size : position + length]
        name, end, value = record.partition(b"\0")
        if not end or not name:
            return attributes, f"the record at byte {position} has no name that ends"
        if name in attributes:
            problem = f"the name {name!r} is there twice"
        attributes.setdefault(name, value)
        position += length
    rest = area[position:]
    if padded and len(rest) < _LENGTH.size:
        rest = b""
    if not problem and rest.strip(b"\xff\0"):
        problem = f"there are bytes behind the last record, at byte {position}"
    return attributes, problem


def pack_xattrs(attributes: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The records, in the order given."""
    packed = bytearray()
    for name, value in attributes:
        packed += _LENGTH.pack(_LENGTH.size + len(name) + 1 + len(value))
        packed += name + b"\0" + value
    return bytes(packed)
