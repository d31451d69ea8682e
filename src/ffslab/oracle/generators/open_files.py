"""Files that stay open: what each kind of sync of a descriptor brings to flash, and nothing else.

A workload that opens and closes its files around each write tests closing, which syncs by itself
in some file systems. Here each kind of sync has a file of its own, which is changed by a few
hundred bytes, less than a page, and synced in that way alone; so a kind that does nothing loses
what it was asked to keep, until another sync happens to write it. Between that the open files are
renamed, shortened, written to by their path, synced through a second descriptor; one is deleted
while it is open, one is never synced. The directories that change are synced while they are open.

Limit: JFFS2 refuses mappings that can be written to, with EINVAL; there `mapped` stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.oracle.generators.pen import Pen
from ffslab.oracle.history import History

# A file for each kind of sync, the descriptor that it is open under, and how it is opened.
_FILES = (
    ("fsync", "@0", "open"),
    ("fdatasync", "@1", "open"),
    ("mapped", "@2", "open"),
    ("syncfs", "@3", "open"),
    ("sync", "@4", "opensync"),
    ("dsync", "@5", "opendsync"),
    ("unsynced", "@6", "open"),
)
_NAMES, _SECOND, _GONE = "@7", "@8", "@15"
_SYNCS = {"fsync": "fsync", "fdatasync": "fdatasync", "mapped": "msync"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFiles:
    """`rounds`: in each every file is changed, in another order, and synced in its way."""

    rounds: int = 4
    file_bytes: int = 6000
    change_bytes: int = 300

    def history(self, seed: int) -> History:
        pen = Pen(seed)
        pen.call("mkdir", "names")
        for path, _, _ in _FILES:
            pen.write(path, 0, self.file_bytes)
        pen.call("sync")
        for path, descriptor, verb in _FILES:
            pen.open(descriptor, path, verb)
        pen.open(_NAMES, "names")
        pen.dup("@0", _SECOND)
        for number in range(self.rounds):
            for path, descriptor, _ in pen.shuffled(_FILES):
                self._change(pen, path, descriptor)
                self._sync(pen, path, descriptor)
            self._names(pen, number)
            self._shorten(pen)
            self._deleted(pen)
        pen.call("close", _SECOND)
        pen.call("close", "@6")
        return pen.history()

    def _change(self, pen: Pen, path: str, descriptor: str) -> None:
        """Within what the file has from the beginning, or at its end."""
        at = pen.between(0, self.file_bytes // 2 - self.change_bytes)
        if path == "mapped":
            pen.store(descriptor, at, self.change_bytes)
        elif pen.between(0, 1):
            pen.append(descriptor, self.change_bytes)
        else:
            pen.write(descriptor, at, self.change_bytes)

    def _sync(self, pen: Pen, path: str, descriptor: str) -> None:
        if path == "syncfs":
            pen.call("sync")
        elif path in _SYNCS:
            pen.call(_SYNCS[path], descriptor)
        elif path == "unsynced":
            pen.sync_range(descriptor, 0, self.file_bytes)

    def _names(self, pen: Pen, number: int) -> None:
        """Names come and go in a directory that is open; one of them is that of an open file."""
        pen.call("create", f"names/n{number}")
        pen.call("fsync", _NAMES)
        if number % 2:
            pen.call("rename", "names/dsync", "dsync")
        else:
            pen.call("rename", "dsync", "names/dsync")
        pen.call("fsync", _NAMES)

    def _shorten(self, pen: Pen) -> None:
        """Through one descriptor; what follows is synced through another."""
        pen.truncate("@0", self.file_bytes - pen.between(0, self.change_bytes))
        pen.append("@0", self.change_bytes)
        pen.call("fsync", _SECOND)
        pen.append("fdatasync", self.change_bytes)
        pen.write("@1", 0, self.change_bytes)
        pen.call("fdatasync", "@1")

    def _deleted(self, pen: Pen) -> None:
        pen.write("gone", 0, self.change_bytes)
        pen.open(_GONE, "gone")
        pen.call("unlink", "gone")
        pen.append(_GONE, self.change_bytes)
        pen.call("fsync", _GONE)
        pen.call("close", _GONE)
