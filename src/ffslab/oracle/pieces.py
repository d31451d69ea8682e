"""Whether contents that were found can be those of a change that a cut divided.

`prefix`: the first n bytes of a write are there, for some n; the rest is as before. `any`: any
parts. Parts end anywhere, not only where sectors do: a node ends where its block is full, a chunk
with in-band tags has 2,032 bytes. So a sector may be old up to some byte and new from there, or the
reverse; which byte is found by trying all, of the sectors that are neither old nor new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import islice, pairwise, product
from operator import xor
from zlib import crc32

from ffslab.oracle.contents import SECTOR_BYTES, sector_count, sector_sum
from ffslab.oracle.files import FileLog, Version
from ffslab.oracle.promises import PREFIX


def is_piece(
    log: FileLog,
    before: Version,
    after: Version,
    size_bytes: int,
    sums: Sequence[str],
    pieces: str,
) -> bool:
    """Whether a file of this size with these sums is between two versions that follow another."""
    if not (before.is_known and after.is_known):
        return True
    low, high = sorted((before.size_bytes, after.size_bytes))
    if not low <= size_bytes <= high:
        return False
    if pieces == PREFIX:
        return _is_prefix(log, before, after, size_bytes, sums)
    if after.size_bytes < size_bytes:
        # Shortened: until the new size is there nothing of what is left may be missing.
        after = before
    return all(
        checksum in (log.sum(before, at, size_bytes), log.sum(after, at, size_bytes))
        or is_mixed(log, before, after, at, size_bytes, checksum)
        for at, checksum in enumerate(sums)
    )


def is_mixed(
    log: FileLog, before: Version, after: Version, sector: int, size_bytes: int, checksum: str
) -> bool:
    """Whether a sector is old up to some byte and new from there, or the reverse."""
    old = log.sector(before, sector, size_bytes)
    new = log.sector(after, sector, size_bytes)
    if old == new:
        return False
    return any(
        checksum in (sector_sum(new[:at] + old[at:]), sector_sum(old[:at] + new[at:]))
        for at in range(1, len(old))
    )


# Of how many halves of a sector the search for what is left tries at most, and of how many whole
# ones that may be divided once more.
_MOST_HALVES, _MOST_DIVIDED = 200_000, 32


def is_left(
    log: FileLog,
    versions: Sequence[Version],
    sector: int,
    size_bytes: int,
    checksum: str,
    *,
    holes: bool,
) -> bool:
    """Whether a sector is what is left of these versions when some of their writes are lost.

    Between the ends of two writes it has what some version had there, or with `holes` zeros; and
    where a write was stored in two parts, which may be anywhere, one of them may be lost.
    """
    parts = _parts(log, versions, sector, size_bytes, holes)
    if _is_joined(parts, checksum):
        return True
    whole = [b"".join(combination) for combination in islice(product(*parts), _MOST_DIVIDED)]
    return any(
        checksum == sector_sum(contents[:at] + other[at:])
        for contents in whole
        for other in whole
        for at in range(1, len(contents))
    )


def _parts(
    log: FileLog, versions: Sequence[Version], sector: int, size_bytes: int, holes: bool
) -> list[list[bytes]]:
    """A sector from end to end of its writes: for each part what it may have."""
    start = sector * SECTOR_BYTES
    end = min(start + SECTOR_BYTES, size_bytes)
    changes = [log.change(version) for version in versions]
    ends = {
        at
        for change in changes
        for at in (change.start_bytes, change.end_bytes)
        if start < at < end
    }
    contents = {log.bytes_of(version, start, end) for version in versions}
    if holes:
        contents.add(bytes(end - start))
    return [
        sorted({data[low - start : high - start] for data in contents})
        for low, high in pairwise((start, *sorted(ends), end))
    ]


def _is_joined(parts: Sequence[Sequence[bytes]], checksum: str) -> bool:
    """Whether one of each part, one behind the other, can have this sum.

    A dozen changes of one sector can be combined in billions of ways. But CRC-32 is linear: the sum
    is that of zeros, changed by a term of each part. So half of the parts are enough to go through,
    with a look-up of what the others would have to be.
    """
    size = sum(len(choices[0]) for choices in parts)
    zeros = crc32(bytes(size))
    terms, at = [], 0
    for choices in parts:
        behind = bytes(size - at - len(choices[0]))
        terms.append([crc32(bytes(at) + choice + behind) ^ zeros for choice in choices])
        at += len(choices[0])
    # Both halves alike, whatever the order of the parts.
    terms.sort(key=len)
    first = set(islice(_combined(terms[::2]), _MOST_HALVES))
    wanted = int(checksum, 16) ^ zeros
    return any(
        wanted ^ combined in first for combined in islice(_combined(terms[1::2]), _MOST_HALVES)
    )


def _combined(terms: Sequence[Sequence[int]]) -> Iterator[int]:
    return (reduce(xor, chosen, 0) for chosen in product(*terms))


def _is_prefix(
    log: FileLog, before: Version, after: Version, size_bytes: int, sums: Sequence[str]
) -> bool:
    """Whether the first n bytes of the write after `before` are there, for some n ≥ 0.

    A write behind the end makes a hole first: its size may be there, and none of its bytes.
    """
    change = log.change(after)
    if change.seed is None:
        return False  # another size is one node
    start, end = change.start_bytes, change.end_bytes
    if size_bytes > before.size_bytes:
        # The size tells how many bytes are there.
        return size_bytes >= start and all(
            checksum == _overlaid(log, before, after, at, size_bytes, size_bytes)
            for at, checksum in enumerate(sums)
        )
    # Within the old size: n is in the first sector that is not as new, or it is where that begins.
    first = start // SECTOR_BYTES
    most = min(end, size_bytes)
    split = sector_count(size_bytes)
    for at, checksum in enumerate(sums):
        if at >= first and checksum != log.sum(after, at, size_bytes):
            split = at
            break
    for at, checksum in enumerate(sums):
        is_old = checksum == log.sum(before, at, size_bytes)
        if (at < first or at > split) and not is_old:
            return False
        if at == split and not is_old:
            low, high = max(start, at * SECTOR_BYTES), min(most, (at + 1) * SECTOR_BYTES)
            ends = range(low, high + 1)
            if not any(checksum == _overlaid(log, before, after, at, size_bytes, n) for n in ends):
                return False
    return True


def _overlaid(
    log: FileLog, before: Version, after: Version, sector: int, size_bytes: int, end_bytes: int
) -> str:
    """The sum of a sector that is new up to file position `end_bytes`, and old from there."""
    at = end_bytes - sector * SECTOR_BYTES
    if at <= 0:
        return log.sum(before, sector, size_bytes)
    if at >= SECTOR_BYTES:
        return log.sum(after, sector, size_bytes)
    old = log.sector(before, sector, size_bytes)
    return sector_sum(log.sector(after, sector, size_bytes)[:at] + old[at:])
