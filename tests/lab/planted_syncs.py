"""Syncs that do nothing: each kind that a program can ask of an open file, in each file system.

The kernel asks the file system for them all by ->fsync(), but for syncfs(2); which call it was
shows in the arguments. fsync(2) and fdatasync(2) are of the whole file, a write to a file opened
with O_SYNC, or O_DSYNC, and msync(2) of what was written or mapped; the second and the fourth
of these want no more of the inode than what leads to the data.

JFFS2 has no mappings that can be written to: there `msync` is O_DSYNC alone.
"""

from __future__ import annotations

from planted_faults import LOST, Fault

_CALLS = {
    "fsync": "!datasync && end == LLONG_MAX",
    "fdatasync": "datasync && end == LLONG_MAX",
    "osync": "!datasync && end != LLONG_MAX",
    "msync": "datasync && end != LLONG_MAX",
}
_LOSSES = frozenset({"stale-data", "synced-data-lost", "wrong-size"})
# Before this text of ->fsync() it returns.
_BEFORE = {
    "yaffs2": "\tyaffs_request_begin(dev, &request, yaffs_pages_to_sync(dev));\n\terr = file_write",
    "logfs": "\terr = file_write_and_wait_range(file, start, end);",
}
_SYNC_FS = {
    "yaffs2": ("vfs/super.c", "\tif (!wait)\n", "\tif (!wait || dev)\n"),
    "logfs": ("vfs/super.c", "\t.sync_fs = logfs_sync_fs,\n", ""),
}
FILESYSTEMS = ("jffs2", "ubifs", "yaffs2", "logfs")


def _changes(filesystem: str, call: str) -> tuple[tuple[str, str, str], ...]:
    """Of the two that are ours; tests/planted/mistakes.patch has those of the others."""
    if filesystem not in _BEFORE:
        return ()
    if call == "syncfs":
        return (_SYNC_FS[filesystem],)
    before = _BEFORE[filesystem]
    return (("vfs/file.c", before, f"\tif ({_CALLS[call]})\n\t\treturn 0;\n{before}"),)


SYNCS = tuple(
    Fault(
        f"{filesystem}-no-{call}",
        f"{call} does nothing",
        "open-files",
        LOST,
        _LOSSES,
        changes=_changes(filesystem, call),
    )
    for filesystem in FILESYSTEMS
    for call in (*_CALLS, "syncfs")
)
# Each call at least once; a module of ours has to be compiled for each of its own.
SAMPLE = (
    *("jffs2-no-fsync", "jffs2-no-syncfs", "ubifs-no-fdatasync", "ubifs-no-msync"),
    "logfs-no-osync",
)
