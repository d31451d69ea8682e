"""The journal as a mount reads it: the last commit, in the segment that was begun last."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ffslab.logfs.format import (
    ALIAS,
    ALIAS_BYTES,
    ANCHOR,
    ANCHOR_BYTES,
    AREA,
    AREA_BYTES,
    COMPRESS_NONE,
    COMPRESS_ZLIB,
    DYNAMIC_BYTES,
    EMBEDDED,
    ENTRY_ALIGNMENT,
    ENTRY_HEADER,
    ENTRY_HEADER_BYTES,
    ERASE_COUNTS_BYTES,
    FIRST_ENTRY_AT,
    SEGMENT_HEADER_BYTES,
    Alias,
    Area,
    DynamicSuperblock,
    EntryType,
    SegmentHeader,
    SegmentType,
    Superblock,
    crc32,
    parse_dynamic,
    parse_segment_header,
)
from ffslab.logfs.image import Device
from ffslab.logfs.problems import Problems, Where

_TYPES = frozenset(EntryType)
_UNPACKED_MAX = 0xFFFF


@dataclass(frozen=True, slots=True)
class Anchor:
    """The inode of the inode file."""

    size: int = 0
    last_ino: int = 0
    used_bytes: int = 0
    height: int = 0
    data: tuple[int, ...] = (0,) * EMBEDDED

    def pack(self) -> bytes:
        return ANCHOR.pack(self.size, self.last_ino, self.used_bytes, self.height, *self.data)


def parse_anchor(raw: bytes) -> Anchor:
    """The anchor of 168 bytes."""
    values = ANCHOR.unpack(raw)
    return replace(Anchor(*values[:4]), data=tuple(values[4:]))


@dataclass(frozen=True, slots=True)
class Entry:
    """A journal entry whose CRC is right; `payload` is None if it cannot be uncompressed."""

    ofs: int
    kind: int
    payload: bytes | None
    end: int  # in its segment


@dataclass(slots=True)
class Journal:
    """What the last commit says. `anchor` and `dynamic` are None if there is no such commit."""

    segno: int | None = None
    headers: dict[int, SegmentHeader] = field(default_factory=dict)
    anchor: Anchor | None = None
    dynamic: DynamicSuperblock | None = None
    aliases: list[Alias] = field(default_factory=list)
    areas: list[Area] = field(default_factory=list)
    erase_counts: tuple[int, ...] = ()
    commits: int = 0
    tail_entries: int = 0


@dataclass(frozen=True)
class _Segment:
    """A segment of the journal, `raw`, which begins at `start`; searched when that is needed."""

    segno: int
    header: SegmentHeader | None
    start: int
    raw: bytes

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        is_erased = self.raw.count(0xFF) == len(self.raw)
        return () if is_erased else tuple(scan_entries(self.raw, self.start))

    @cached_property
    def commits(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.kind == EntryType.COMMIT]

    @cached_property
    def began(self) -> int:
        """The global erase count then, 0 if nobody knows.

        One whose header is damaged, or another's, is as old as the last commit in it.
        """
        if self.header and self.header.segno == self.segno:
            return self.header.gec
        listed = _listed(self.commits[-1]) if self.commits else None
        for entry in self.entries:
            if listed and entry.ofs in listed and entry.kind == EntryType.DYNAMIC and entry.payload:
                is_whole = len(entry.payload) == DYNAMIC_BYTES
                return parse_dynamic(entry.payload).gec if is_whole else 0
        return 0


def read_journal(device: Device, superblock: Superblock, problems: Problems) -> Journal:
    """Reads the last commit in the segment begun last of those that have one."""
    segments = [_read_segment(device, superblock, n) for n in superblock.journal_segnos]
    begun = sorted((s for s in segments if s.began), key=lambda s: s.began, reverse=True)
    journal = Journal(headers={s.segno: s.header for s in begun if s.header})
    if not begun:
        problems.add("journal-none", "no segment of the journal has a valid header or commit")
        return journal
    _check_headers(begun, problems)
    chosen = next((segment for segment in begun if segment.commits), None)
    journal.segno = (chosen or begun[0]).segno
    if chosen is None:
        problems.add("journal-commit", "no segment has a valid commit", Where(journal.segno))
        return journal
    for segment in begun[: begun.index(chosen)]:
        problems.add("journal-begun", "begun, without a commit", Where(segment.segno))
    last = chosen.commits[-1]
    journal.commits = len(chosen.commits)
    journal.tail_entries = sum(entry.ofs > last.ofs for entry in chosen.entries)
    if journal.tail_entries:
        message = f"{journal.tail_entries} entries behind the last commit"
        problems.add("journal-tail", message, Where(journal.segno))
    _read_commit(journal, last, {entry.ofs: entry for entry in chosen.entries}, problems)
    _check_erase_counts(journal, superblock, problems)
    return journal


def _read_segment(device: Device, superblock: Superblock, segno: int) -> _Segment:
    start = segno << superblock.segment_shift
    raw = device.read(start, 1 << superblock.segment_shift)
    header = parse_segment_header(raw[:SEGMENT_HEADER_BYTES])
    if header and header.kind != SegmentType.JOURNAL:
        header = None
    return _Segment(segno, header, start, raw)


def _listed(commit: Entry) -> list[int] | None:
    """Offsets of the entries of a commit; None if it is no list of them."""
    payload = commit.payload
    if payload is None or len(payload) % 8:
        return None
    return [int.from_bytes(payload[at : at + 8], "big") for at in range(0, len(payload), 8)]


def _check_headers(segments: Sequence[_Segment], problems: Problems) -> None:
    for segment in segments:
        where = Where(segment.segno)
        if segment.header is None:
            problems.add("journal-header", "it has commits, and a damaged header", where)
        elif segment.header.segno != segment.segno:
            message = f"its header says that it is segment {segment.header.segno}"
            problems.add("journal-segno", message, where)


def scan_entries(raw: bytes, start: int) -> Iterator[Entry]:
    """Valid entries of a journal segment `raw`, which begins at `start` on the device."""
    at = FIRST_ENTRY_AT
    while at + ENTRY_HEADER_BYTES <= len(raw):
        entry = _parse_entry(raw, at, start)
        if entry is None:
            at += ENTRY_ALIGNMENT
            continue
        yield entry
        at = entry.end + -entry.end % ENTRY_ALIGNMENT


def _parse_entry(raw: bytes, at: int, start: int) -> Entry | None:
    header = raw[at : at + ENTRY_HEADER_BYTES]
    crc, stored, unpacked, kind, compression = ENTRY_HEADER.unpack(header)
    end = at + ENTRY_HEADER_BYTES + stored
    if kind not in _TYPES or compression not in (COMPRESS_NONE, COMPRESS_ZLIB) or end > len(raw):
        return None
    payload: bytes | None = raw[at + ENTRY_HEADER_BYTES : end]
    assert payload is not None
    if crc != crc32(header[4:] + payload):
        return None
    if compression == COMPRESS_ZLIB:
        payload = inflate(payload, unpacked)
    elif stored != unpacked:
        payload = None
    return Entry(start + at, kind, payload, end)


def inflate(stored: bytes, length: int) -> bytes | None:
    """Uncompresses what must give exactly `length` bytes; None if it does not."""
    stream = zlib.decompressobj()
    try:
        inflated = stream.decompress(stored, length + 1)
    except zlib.error:
        return None
    return inflated if len(inflated) == length and stream.eof else None


def _read_commit(
    journal: Journal, commit: Entry, entries: dict[int, Entry], problems: Problems
) -> None:
    listed = _listed(commit)
    if listed is None:
        message = "the commit is not a list of offsets"
        problems.add("journal-entry", message, Where(offset=commit.ofs))
        return
    for ofs in listed:
        entry = entries.get(ofs)
        if entry is None or entry.ofs >= commit.ofs or entry.kind == EntryType.COMMIT:
            message = "the commit lists an entry that is not valid there"
            problems.add("journal-entry", message, Where(offset=ofs))
        elif entry.payload is None or not _take_entry(journal, entry.kind, entry.payload):
            message = f"an entry of type {entry.kind} has no possible contents, or comes twice"
            problems.add("journal-entry", message, Where(offset=ofs))
    for name, record in (("anchor", journal.anchor), ("dynamic superblock", journal.dynamic)):
        if record is None:
            problems.add("journal-missing", f"the last commit has no {name}")


def _take_entry(journal: Journal, kind: int, payload: bytes) -> bool:
    """Adds what an entry says; whether it can be."""
    size = len(payload)
    match kind:
        case EntryType.ANCHOR if size == ANCHOR_BYTES and journal.anchor is None:
            journal.anchor = parse_anchor(payload)
        case EntryType.DYNAMIC if size == DYNAMIC_BYTES and journal.dynamic is None:
            journal.dynamic = parse_dynamic(payload)
        case EntryType.ERASE_COUNTS if size == ERASE_COUNTS_BYTES and not journal.erase_counts:
            words = (payload[at : at + 4] for at in range(0, size, 4))
            journal.erase_counts = tuple(int.from_bytes(word, "big") for word in words)
        case EntryType.ALIASES if size % ALIAS_BYTES == 0:
            for at in range(0, size, ALIAS_BYTES):
                journal.aliases.append(Alias(*ALIAS.unpack_from(payload, at)))
        case EntryType.AREA if size >= AREA_BYTES:
            area = Area(*AREA.unpack_from(payload))
            journal.areas.append(replace(area, buffer=payload[AREA_BYTES:]))
        case _:
            return False
    return True


def _check_erase_counts(journal: Journal, superblock: Superblock, problems: Problems) -> None:
    """Counts that the journal has of its own segments, in the order of the superblock."""
    if not journal.erase_counts:
        return
    for segno, count in zip(superblock.journal, journal.erase_counts, strict=False):
        header = journal.headers.get(segno)
        if header and header.erase_count != count:
            message = f"the journal says {count} erases, its header {header.erase_count}"
            problems.add("journal-erase-count", message, Where(segno))
