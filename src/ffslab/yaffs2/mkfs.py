"""Building an image: entries become objects, objects become chunks, chunks go into the log.

A directory's header comes before what is in it, a file's header behind its data. Ids are given
out from 256 upwards in the order of the entries. Access and change time are the modification
time: a copy of the tree gives the same image. The root directory gets a header with the owner,
mode and time of the source's. A directory `lost+found` at the top becomes object 2, and what is
in it is left out, because the original deletes that when it mounts.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from ffslab.errors import UsageError
from ffslab.fsimage.entry import Entry
from ffslab.fsimage.output import new_image
from ffslab.fsimage.source import read_source
from ffslab.model.units import format_size
from ffslab.yaffs2.checkpoint_write import (
    WrittenObject,
    checkpoint_blocks,
    checkpoint_stream,
)
from ffslab.yaffs2.format import (
    CHECKPOINT_FORMS,
    CHECKPOINT_MIN_BLOCKS,
    GRAVES,
    ID_FIRST_ORDINARY,
    ID_LOST_FOUND,
    ID_MAX,
    ID_ROOT,
    NAME_BYTES_MAX,
    TARGET_BYTES_MAX,
    Geometry,
    Layout,
    ObjectType,
    geometry_problem,
)
from ffslab.yaffs2.header import HeaderFields
from ffslab.yaffs2.segregated.marks import PAGES_MAX
from ffslab.yaffs2.segregated.write import SegregatedLog, SegregatedStore
from ffslab.yaffs2.store import OriginalStore, Store
from ffslab.yaffs2.tree import LOST_FOUND_NAME
from ffslab.yaffs2.writer import LogWriter
from ffslab.yaffs2.xattr import pack_xattrs

RESERVED_BLOCKS = 5
_NAME_SPACES = (b"user.", b"trusted.", b"security.")


@dataclass(frozen=True, slots=True)
class MkfsOptions:
    """How the image is made. `partition_bytes` are data bytes, without OOB; None: not known."""

    geometry: Geometry = field(default_factory=Geometry)
    summaries: bool = True
    checkpoint: bool = False
    partition_bytes: int | None = None
    squash_owners: bool = False
    fixed_time: int | None = None
    layout: Layout = Layout.ORIGINAL


@dataclass(frozen=True, slots=True)
class MkfsResult:
    """What was written; `warnings` are sentences for the user."""

    image_bytes: int
    blocks: int
    checkpoint_blocks: int
    partition_blocks: int | None
    objects: int
    warnings: tuple[str, ...]


def make_image(source: Path, image: Path, options: MkfsOptions | None = None) -> MkfsResult:
    """Writes `image`, which appears when it is complete.

    Raises UsageError for what YAFFS2 cannot store or does not fit, and InfrastructureError if
    the source cannot be read or the image not be written.
    """
    options = options or MkfsOptions()
    problem = geometry_problem(options.geometry)
    if problem:
        raise UsageError(f"this geometry is not possible: {problem}")
    pages = options.geometry.pages_per_block
    if options.layout is Layout.SEGREGATED and pages > PAGES_MAX:
        raise UsageError(
            f"blocks of {pages} pages; the segregated layout has at most {PAGES_MAX}",
            remedy="--layout original",
        )
    total = _partition_blocks(options)
    with new_image(image, source) as file:
        store = _store(file, options, total)
        builder = _Builder(store, options)
        builder.add_all(read_source(source))
        taken = _finish(builder, options, total)
    blocks = len(store.log.blocks)
    return MkfsResult(
        image_bytes=(blocks + taken) * options.geometry.raw_block_bytes,
        blocks=blocks,
        checkpoint_blocks=taken,
        partition_blocks=total,
        objects=len(builder.objects),
        warnings=tuple(builder.warnings),
    )


def _store(file: BinaryIO, options: MkfsOptions, total: int | None) -> Store:
    """What the objects are written into."""
    geometry, summaries, most = options.geometry, options.summaries, total or 0
    if options.layout is Layout.SEGREGATED:
        log = SegregatedLog(file, geometry, summaries=summaries, max_blocks=most)
        return SegregatedStore(log)
    return OriginalStore(LogWriter(file, geometry, summaries=summaries, max_blocks=most))


def _partition_blocks(options: MkfsOptions) -> int | None:
    if options.partition_bytes is None:
        if options.checkpoint:
            raise UsageError(
                "a checkpoint describes every block, so the partition's size must be known",
                remedy="--partition-bytes SIZE",
            )
        return None
    blocks = options.geometry.whole_blocks(options.partition_bytes)
    if options.checkpoint and blocks < CHECKPOINT_MIN_BLOCKS:
        raise UsageError(
            f"a partition of {blocks} blocks has no checkpoint: {CHECKPOINT_MIN_BLOCKS} are needed"
        )
    return blocks


def _finish(builder: _Builder, options: MkfsOptions, total: int | None) -> int:
    """Completes the log and writes the checkpoint; the number of its blocks."""
    store = builder.store
    log, form = store.log, CHECKPOINT_FORMS[store.layout]
    geometry = options.geometry
    used = len(log.blocks)
    checkpoint = []
    if options.checkpoint and total is not None and used < total:
        objects = [*builder.objects, *_fakes(builder.objects)]
        stream = checkpoint_stream(geometry, total, log.blocks, objects, form, store.metadata)
        checkpoint = list(checkpoint_blocks(geometry, stream, used, form))
    need = used + (max(1, len(checkpoint)) if options.checkpoint else 0)
    if total is not None and need > total:
        raise UsageError(
            f"the image needs {need} blocks ({format_size(need * geometry.block_bytes)}); "
            f"the partition has {total} ({format_size(total * geometry.block_bytes)})",
            remedy=f"at least --partition-bytes "
            f"{(need + RESERVED_BLOCKS + 1) * geometry.block_bytes}, which leaves the blocks "
            "that YAFFS2 keeps free",
        )
    if total is not None and total - used <= RESERVED_BLOCKS:
        builder.warnings.append(
            f"only {total - used} blocks stay free; YAFFS2 keeps {RESERVED_BLOCKS} in reserve, "
            "so nothing can be written to this file system"
        )
    log.pad()
    for pages in checkpoint:
        log.append_block(pages)
    return len(checkpoint)


def _fakes(objects: Iterable[WrittenObject]) -> Iterator[WrittenObject]:
    """Objects 1 to 4 that have no header."""
    there = {written.object_id for written in objects}
    for object_id in (ID_ROOT, ID_LOST_FOUND, *GRAVES):
        if object_id not in there:
            parent = ID_ROOT if object_id == ID_LOST_FOUND else 0
            yield WrittenObject(object_id, ObjectType.DIRECTORY, parent, fake=True)


class _Builder:
    """Turns entries into objects in the store."""

    def __init__(self, store: Store, options: MkfsOptions) -> None:
        self.store = store
        self.objects: list[WrittenObject] = []
        self.warnings: list[str] = []
        self._options = options
        self._geometry = options.geometry
        self._next_id = ID_FIRST_ORDINARY
        self._directories: dict[bytes, int] = {}
        self._ids: dict[object, int] = {}

    def add_all(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if entry.path.startswith(LOST_FOUND_NAME + b"/"):
                self.warnings.append(f"{entry.shown()} is left out: a mount may delete it")
                continue
            self._check(entry)
            first = self._ids.get(entry.key) if entry.path else None
            if first is None:
                self._add(entry)
            else:
                self._add_link(entry, first)

    def _check(self, entry: Entry) -> None:
        """UsageError for what the format has no room for."""
        shown = entry.shown_shortened()
        if len(entry.name) > NAME_BYTES_MAX:
            raise UsageError(
                f"{shown}: the name has {len(entry.name)} bytes; YAFFS2 stores {NAME_BYTES_MAX}"
            )
        if len(entry.target) > TARGET_BYTES_MAX:
            raise UsageError(
                f"{shown}: the link's target has {len(entry.target)} bytes; YAFFS2 stores "
                f"{TARGET_BYTES_MAX}"
            )
        if max(entry.device) > 255 or min(entry.device) < 0:
            raise UsageError(
                f"{shown}: device {entry.device[0]}:{entry.device[1]} does not fit; YAFFS2 "
                "stores major and minor numbers up to 255"
            )
        if entry.size > self._geometry.max_file_bytes:
            raise UsageError(
                f"{shown}: {entry.size} bytes; files have at most {self._geometry.max_file_bytes}"
            )

    def _id(self, entry: Entry) -> int:
        if not entry.path:
            return ID_ROOT
        if entry.path == LOST_FOUND_NAME and entry.object_type is ObjectType.DIRECTORY:
            return ID_LOST_FOUND
        if self._next_id > ID_MAX:
            raise UsageError(f"more than {ID_MAX - ID_FIRST_ORDINARY + 1} objects")
        self._next_id += 1
        return self._next_id - 1

    def _add(self, entry: Entry) -> None:
        object_id = self._id(entry)
        parent = self._directories[entry.parent] if entry.path else 0
        written = WrittenObject(
            object_id, entry.object_type, parent, fake=object_id in (ID_ROOT, ID_LOST_FOUND)
        )
        if entry.object_type is ObjectType.DIRECTORY:
            self._directories[entry.path] = object_id
        else:
            self._ids[entry.key] = object_id
        if entry.object_type is ObjectType.FILE:
            written.size_or_target = entry.size
            self.store.begin_file()
            self._write_data(entry, written)
        self._write_header(self._fields(entry, parent), written, self._xattr_area(entry))

    def _add_link(self, entry: Entry, target_id: int) -> None:
        parent = self._directories[entry.parent]
        written = WrittenObject(
            self._id(entry), ObjectType.HARD_LINK, parent, size_or_target=target_id
        )
        fields = HeaderFields(ObjectType.HARD_LINK, parent, entry.name, target_id=target_id)
        self._write_header(fields, written, b"")

    def _fields(self, entry: Entry, parent: int) -> HeaderFields:
        time = entry.mtime if self._options.fixed_time is None else self._options.fixed_time
        if time < 0:
            self.warnings.append(f"{entry.shown()}: its time before 1970 becomes 1970")
            time = 0
        uid, gid = (0, 0) if self._options.squash_owners else (entry.uid, entry.gid)
        special = entry.object_type is ObjectType.SPECIAL
        device = special and stat.S_IFMT(entry.mode) in (stat.S_IFCHR, stat.S_IFBLK)
        return HeaderFields(
            entry.object_type,
            parent,
            entry.name,
            mode=entry.mode,
            uid=uid,
            gid=gid,
            atime=time,
            mtime=time,
            ctime=time,
            size=entry.size,
            alias=entry.target,
            rdev=entry.device[0] << 8 | entry.device[1] if device else 0,
        )

    def _xattr_area(self, entry: Entry) -> bytes:
        kept = [(name, value) for name, value in entry.xattrs if name.startswith(_NAME_SPACES)]
        for name, _ in entry.xattrs:
            if not name.startswith(_NAME_SPACES):
                shown = os.fsdecode(name)
                self.warnings.append(f"{entry.shown()}: the attribute {shown} is left out")
        area = pack_xattrs(kept)
        room = self.store.attribute_room
        if len(area) > room:
            raise UsageError(
                f"{entry.shown()}: its extended attributes take {len(area)} bytes; {room} fit "
                "behind the header"
            )
        return area

    def _write_header(self, fields: HeaderFields, written: WrittenObject, area: bytes) -> None:
        self.store.write_header(fields, written, area)
        self.objects.append(written)

    def _write_data(self, entry: Entry, written: WrittenObject) -> None:
        for number, data in entry.blocks(self._geometry.data_bytes):
            count = min(self._geometry.data_bytes, entry.size - number * len(data))
            self.store.write_data(written, number + 1, count, data)
