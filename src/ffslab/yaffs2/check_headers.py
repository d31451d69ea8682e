"""Checks of object headers: every one on flash, also those that newer ones have replaced.

Interpretations: for an unset field 0xFFFFFFFF is demanded where the format document names it
(size, hard-link target, reserved word, extended sizes); shadowed id, shrink mark and their in-band
copies may also be 0. What is no device has device number 0; 0xFFFFFFFF, which some writers left
there, is worth a warning: other readers show such files as device 255:255. The padding behind the
name is not looked at, nor is the mode of hard links and of headers under 3 and 4 (a shadowed
object's name and mode are not known when it is deleted). The bytes behind a link target's NUL may
be anything.
"""

from __future__ import annotations

import stat

from ffslab.yaffs2.format import (
    EXTENDED_FILE_LIMIT,
    GRAVES,
    ID_CHECKPOINT,
    ID_DELETED,
    ID_LOST_FOUND,
    ID_MAX,
    ID_ROOT,
    ID_SUMMARY,
    ID_UNLINKED,
    NAME_BYTES_MAX,
    TARGET_BYTES_MAX,
    Layout,
    ObjectType,
)
from ffslab.yaffs2.header import (
    DEVICES,
    HEADER_BYTES,
    UNSET,
    ObjectHeader,
    mode_fits,
    parse_header,
)
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.problems import Problems, Where
from ffslab.yaffs2.scan import BlockKind, FlashScan
from ffslab.yaffs2.segregated.head import parse_head
from ffslab.yaffs2.tags import Tags
from ffslab.yaffs2.xattr import KNOWN_PREFIXES, parse_xattrs


def check_headers(flash: FlashImage, scan: FlashScan, problems: Problems) -> None:
    """All headers in blocks that a mount scans for them."""
    segregated = scan.layout is Layout.SEGREGATED
    for record in scan.of_kind(BlockKind.METADATA if segregated else BlockKind.DATA):
        for scanned in record.pages:
            tags = scanned.tags
            if not scanned.readable or tags.sequence != record.sequence or not tags.is_header:
                continue
            object_id = tags.object_id
            where = Where(record.block, scanned.page, object_id)
            if object_id in (*GRAVES, ID_SUMMARY, ID_CHECKPOINT):
                if tags.extended or object_id != ID_SUMMARY:
                    problems.add("header-reserved-id", f"is a header of {object_id:#x}", where)
            elif 0 < object_id <= ID_MAX:
                chunk = flash.data(record.block, scanned.page)
                check = _SegregatedHeaderCheck if segregated else _HeaderCheck
                check(flash, tags, chunk, problems, where).run()


class PageCheck:
    """A page with these tags against the rules."""

    def __init__(self, flash: FlashImage, tags: Tags, problems: Problems, where: Where) -> None:
        self._flash = flash
        self._tags = tags
        self._problems = problems
        self._where = where

    def _add(self, rule: str, message: str) -> None:
        self._problems.add(rule, message, self._where)


class _HeaderCheck(PageCheck):
    """One header against the rules."""

    _padded = False  # whether the attributes are filled up with anything
    _sizeless: tuple[int, ...] = GRAVES  # parents of files without a size

    def __init__(
        self, flash: FlashImage, tags: Tags, chunk: bytes, problems: Problems, where: Where
    ) -> None:
        super().__init__(flash, tags, problems, where)
        self._chunk = chunk
        self._header = parse_header(chunk)

    def run(self) -> None:
        header = self._header
        if not 1 <= header.type_number <= 5:
            self._add("header-type", f"has type {header.type_number}")
            return
        kind = ObjectType(header.type_number)
        self._check_tags(header, kind)
        self._check_name(header)
        self._check_attributes(header, kind)
        self._check_times(header)
        self._check_by_type(header, kind)
        self._check_marks(header, kind)
        self._check_xattrs()

    def _check_tags(self, header: ObjectHeader, kind: ObjectType) -> None:
        tags = self._tags
        large = self._is_too_large(header, kind)
        if not tags.extended:
            if not large:
                self._add("header-tags-plain", "has tags without type and parent")
            return
        if large:
            self._add("header-tags-size", f"has extended tags and a size of {header.size}")
        if tags.type_number != kind:
            self._add("header-tags-type", f"tags say type {tags.type_number}, header {kind:d}")
        if tags.parent_id != header.parent_id:
            message = f"tags say parent {tags.parent_id}, header {header.parent_id}"
            self._add("header-tags-parent", message)
        expected = 0
        if kind is ObjectType.FILE:
            expected = self._size_in_tags(header)
        elif kind is ObjectType.HARD_LINK:
            expected = header.target_id
        if tags.bytes_word != expected and not large:
            message = f"tags say {tags.bytes_word:#x}, the header {expected:#x}"
            self._add("header-tags-size", message)

    def _is_too_large(self, header: ObjectHeader, kind: ObjectType) -> bool:
        """Whether extended tags have no room for the size."""
        return kind is ObjectType.FILE and header.size >= EXTENDED_FILE_LIMIT

    def _size_in_tags(self, header: ObjectHeader) -> int:
        return header.size

    def _check_name(self, header: ObjectHeader) -> None:
        name, rest = header.name, header.name_field[len(header.name) :]
        if header.name_checksum != 0xFFFF:
            self._add("header-checksum", f"the old checksum is {header.name_checksum:#x}")
        if len(name) > NAME_BYTES_MAX:
            self._add("header-name", f"the name has {len(name)} bytes or no end")
        elif rest.strip(b"\0"):
            self._add("header-name", "there are bytes behind the name")
        if b"/" in name or name in (b".", b".."):
            self._add("header-name", f"the name {name!r} is a path")
        nameless = self._where.object_id in (ID_ROOT, ID_LOST_FOUND)
        if not name and not nameless and header.parent_id not in GRAVES:
            self._add("name-missing", "has no name")
        expected = {ID_UNLINKED: b"unlinked", ID_DELETED: b"deleted"}.get(header.parent_id)
        if expected and name != expected:
            self._add("header-deleted", f"the name is {name!r}, not {expected!r}")

    def _check_attributes(self, header: ObjectHeader, kind: ObjectType) -> None:
        parent, object_id = header.parent_id, self._where.object_id
        if object_id == ID_ROOT:
            if parent not in (0, ID_ROOT):
                self._add("header-parent", f"the root has parent {parent}")
        elif not 0 < parent <= ID_MAX or parent == object_id:
            self._add("header-parent", f"has parent {parent:#x}")
        if parent not in GRAVES and not mode_fits(kind, header.mode):
            self._add("header-mode", f"mode {header.mode:o} for a {kind.name.lower()}")
        if header.mode >> 16 and kind is not ObjectType.HARD_LINK:
            self._add("header-mode", f"mode {header.mode:#x} has more than 16 bits")

    def _check_times(self, header: ObjectHeader) -> None:
        for name, low, words in (
            ("access", header.atime_low, header.atime_words),
            ("modification", header.mtime_low, header.mtime_words),
            ("change", header.ctime_low, header.ctime_words),
        ):
            if words[1] != UNSET and words[0] != low:
                self._add("header-times", f"{name} time is {low} and {words[0]}")

    def _check_by_type(self, header: ObjectHeader, kind: ObjectType) -> None:
        if kind is ObjectType.FILE:
            self._check_size(header)
        elif header.size_low != UNSET or header.size_high != UNSET:
            self._add("header-unset", f"a {kind.name.lower()} has a file size")
        if kind is ObjectType.HARD_LINK:
            # A deleted link need not say what it was a link to.
            released = header.parent_id in GRAVES and header.target_id in (0, UNSET)
            possible = 0 < header.target_id <= ID_MAX
            if not released and (not possible or header.target_id == self._where.object_id):
                self._add("header-target", f"is a link to object {header.target_id:#x}")
        elif header.target_id != UNSET:
            self._add("header-target", f"a {kind.name.lower()} has a target")
        if kind is ObjectType.SYMLINK:
            if not 1 <= len(header.alias) <= TARGET_BYTES_MAX:
                self._add("header-alias", f"the target has {len(header.alias)} bytes")
        elif header.alias_field != b"\xff" * 160:
            self._add("header-unset", f"a {kind.name.lower()} has a link target")
        device = kind is ObjectType.SPECIAL and stat.S_IFMT(header.mode) in DEVICES
        if device and header.rdev > 0xFFFF:
            self._add("header-rdev", f"device number {header.rdev:#x}")
        if not device and header.rdev == UNSET:
            message = f"a {kind.name.lower()} has device number 0xffffffff, not 0"
            self._add("header-rdev-unset", message)
        elif not device and header.rdev:
            self._add("header-unset", f"a {kind.name.lower()} has a device number")
        if header.reserved != UNSET:
            self._add("header-unset", f"the reserved word is {header.reserved:#x}")

    def _check_size(self, header: ObjectHeader) -> None:
        largest = self._flash.geometry.max_file_bytes
        if header.size > largest:
            self._add("header-size", f"a size of {header.size} bytes; {largest} are possible")
        elif header.parent_id in self._sizeless and header.size:
            message = f"a size of {header.size} bytes under parent {header.parent_id}"
            self._add("header-size", message)

    def _check_marks(self, header: ObjectHeader, kind: ObjectType) -> None:
        tags = self._tags
        shrink = header.is_shrink == 1
        if header.is_shrink not in (0, 1, UNSET):
            self._add("header-shrink", f"the mark in the header is {header.is_shrink:#x}")
        elif tags.extended and tags.shrink != shrink and header.is_shrink != UNSET:
            self._add("header-shrink", f"tags say {tags.shrink}, the header {shrink}")
        if header.inband_is_shrink not in (0, 1, UNSET):
            self._add("header-unset", f"the in-band shrink mark is {header.inband_is_shrink:#x}")
        may_shrink = kind is ObjectType.FILE or header.parent_id in GRAVES
        if (tags.shrink or shrink) and not may_shrink:
            self._add("header-shrink-type", f"a {kind.name.lower()} shrinks")
        self._check_deleted(header, shrink=shrink)
        shadowed = header.shadowed
        if tags.extended and tags.shadows != bool(shadowed):
            message = f"tags say {tags.shadows}, the header shadows {shadowed or 'nothing'}"
            self._add("header-shadow", message)
        if shadowed and (shadowed > ID_MAX or shadowed == self._where.object_id):
            self._add("header-shadow", f"shadows object {shadowed:#x}")
        if header.inband_shadowed_id not in (0, UNSET, header.shadowed_id):
            message = f"shadows {shadowed}, in its copy {header.inband_shadowed_id}"
            self._add("header-shadow", message)

    def _check_deleted(self, header: ObjectHeader, *, shrink: bool) -> None:
        del shrink  # compared with the tags before
        if header.parent_id == ID_DELETED and self._tags.extended and not self._tags.shrink:
            self._add("header-deleted", "does not have the shrink mark")

    def _attributes(self) -> bytes:
        return self._chunk[HEADER_BYTES:]

    def _check_xattrs(self) -> None:
        attributes, problem = parse_xattrs(self._attributes(), padded=self._padded)
        if problem:
            self._add("xattr", problem)
        for name in attributes:
            if not name.startswith(KNOWN_PREFIXES):
                self._add("xattr-prefix", f"the name {name!r}")


class _SegregatedHeaderCheck(_HeaderCheck):
    """Tags are extended for every size, nothing shrinks, attributes are behind the cuts.

    An unlinked file may have its size: its header is as any other.
    """

    _padded = True
    _sizeless = (ID_DELETED,)

    def _is_too_large(self, header: ObjectHeader, kind: ObjectType) -> bool:
        del header, kind
        return False

    def _size_in_tags(self, header: ObjectHeader) -> int:
        return header.size & UNSET

    def _check_deleted(self, header: ObjectHeader, *, shrink: bool) -> None:
        del header
        if self._tags.shrink or shrink:
            self._add("header-shrink", "has the shrink mark, which the segregated layout has not")

    def _attributes(self) -> bytes:
        return self._chunk[parse_head(self._chunk, in_header=True).attributes]
