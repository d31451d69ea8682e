"""Where a directory keeps a name: the hash, and the 20 places that it may take.

Bytes of a name are unsigned. The original takes them as the CPU's `char`, so that a name outside
ASCII has other places on ARM than on x86; that is a bug, which we do not follow.
"""

from __future__ import annotations

from collections.abc import Iterator

from ffslab.logfs.format import POINTERS

_FACTOR = 293
_FIRST = 16
_MASK = 0xFFFFFFFF
_BUCKETS_AT = POINTERS**3
_BUCKET = 16
_BUCKETS = (2**31 - _BUCKETS_AT) // _BUCKET
# Start and length of the ranges that have one place for a hash.
_RANGES = (
    (0, _FIRST),
    (_FIRST, POINTERS - _FIRST),
    (POINTERS, POINTERS**2 - POINTERS),
    (POINTERS**2, POINTERS**3 - POINTERS**2),
)
BIX_MAX = _BUCKETS_AT + _BUCKET * _BUCKETS - 1


def name_hash(name: bytes) -> int:
    """32 bits."""
    value = 0
    for byte in name:
        value = value * _FACTOR + byte & _MASK
    return value


def places(name: bytes) -> Iterator[int]:
    """The bix that are tried for a name, in order."""
    value = name_hash(name)
    for start, length in _RANGES:
        yield start + value % length
    bucket = _BUCKETS_AT + _BUCKET * (value % _BUCKETS)
    yield from range(bucket, bucket + _BUCKET)
