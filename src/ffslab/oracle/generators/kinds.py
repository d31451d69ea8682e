"""The workloads of single files and of files that come and go.

Each is what a device does with its flash, made small: a log, a configuration file, an image of
firmware, a database that overwrites, a mail spool (FFSMark), a partition that is full, and blocks
that are rewritten until UBI moves those that are not.
"""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.oracle.generators.pen import Pen
from ffslab.oracle.history import History

KIB = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Transactions:
    """Files in directories are created; then transactions create, delete, append; then all goes."""

    files: int = 20
    directories: int = 3
    transactions: int = 60
    least_bytes: int = 200
    most_bytes: int = 6000
    sync_every: int = 20

    def history(self, seed: int) -> History:
        pen, there = Pen(seed), []
        for number in range(self.directories):
            pen.call("mkdir", f"d{number}")
        made = 0

        def create() -> None:
            nonlocal made
            path = f"d{pen.between(0, self.directories - 1)}/f{made}"
            made += 1
            pen.write(path, 0, pen.between(self.least_bytes, self.most_bytes))
            there.append(path)

        for _ in range(self.files):
            create()
        pen.call("sync")
        for number in range(self.transactions):
            act = pen.between(0, 2)
            if act == 0 or not there:
                create()
            elif act == 1:
                pen.call("unlink", there.pop(pen.between(0, len(there) - 1)))
            else:
                path = there[pen.between(0, len(there) - 1)]
                pen.append(path, pen.between(self.least_bytes, self.most_bytes))
            if number % self.sync_every == self.sync_every - 1:
                pen.call("sync")
        for path in there:
            pen.call("unlink", path)
        for number in range(self.directories):
            pen.call("rmdir", f"d{number}")
        pen.call("sync")
        return pen.history()


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwrite:
    """One file, synced; then its blocks are overwritten at random, and synced every so often."""

    file_bytes: int = 64 * KIB
    request_bytes: int = 4 * KIB
    requests: int = 60
    fsync_every: int = 1

    def history(self, seed: int) -> History:
        pen = Pen(seed)
        pen.write("data", 0, self.file_bytes)
        pen.call("sync")
        blocks = self.file_bytes // self.request_bytes
        for number in range(self.requests):
            pen.write("data", pen.between(0, blocks - 1) * self.request_bytes, self.request_bytes)
            if number % self.fsync_every == self.fsync_every - 1:
                pen.call("fsync", "data")
        return pen.history()


@dataclass(frozen=True, slots=True, kw_only=True)
class Directories:
    """Directories and files are created, linked, renamed and deleted; the names are synced."""

    calls: int = 120
    names: int = 6
    sync_every: int = 12

    def history(self, seed: int) -> History:
        pen, directories = Pen(seed), ["."]
        files: list[tuple[str, int]] = []  # a name, and which file it is of
        for number in range(1, self.calls + 1):
            where = directories[pen.between(0, len(directories) - 1)]
            new = f"n{number}" if where == "." else f"{where}/n{number}"
            act = pen.between(0, 9)
            if act == 0 and len(directories) < self.names:
                pen.call("mkdir", new)
                directories.append(new)
            elif act <= 3 or not files:
                pen.call("create", new)
                files.append((new, number))
            elif act == 7:
                old, file = files[pen.between(0, len(files) - 1)]
                pen.call("link", old, new)
                files.append((new, file))
            else:
                old, file = files.pop(pen.between(0, len(files) - 1))
                others = [name for name in files if name[1] != file]
                if act <= 5 or (act == 6 and others):
                    if act == 6:
                        victim = others[pen.between(0, len(others) - 1)]
                        files.remove(victim)
                        new = victim[0]
                    pen.call("rename", old, new)
                    files.append((new, file))
                else:
                    pen.call("unlink", old)
            if number % self.sync_every == 0:
                pen.call("fsync", where)
        pen.call("sync")
        return pen.history()


@dataclass(frozen=True, slots=True, kw_only=True)
class Appends:
    """Lines are appended to a log; some are synced; a log that is full gets another name."""

    lines: int = 150
    line_bytes: int = 128
    fsync_every: int = 5
    rotate_lines: int = 60

    def history(self, seed: int) -> History:
        pen = Pen(seed)
        pen.call("create", "log")
        for number in range(1, self.lines + 1):
            pen.append("log", self.line_bytes)
            if number % self.fsync_every == 0:
                pen.call("fdatasync", "log")
            if number % self.rotate_lines == 0:
                pen.call("rename", "log", "log.1")
                pen.call("create", "log")
                pen.call("fsync", ".")
        return pen.history()


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateByRename:
    """A configuration file is written anew beside itself, synced, and renamed over itself.

    `fsync_directory` 0: a program that forgets the directory, whose last update may be lost.
    """

    updates: int = 25
    least_bytes: int = 100
    most_bytes: int = 3000
    fsync_directory: int = 1

    def history(self, seed: int) -> History:
        pen = Pen(seed)
        pen.call("mkdir", "etc")
        pen.write("etc/conf", 0, self.most_bytes)
        pen.call("sync")
        for _ in range(self.updates):
            pen.write("etc/conf.new", 0, pen.between(self.least_bytes, self.most_bytes))
            pen.call("fsync", "etc/conf.new")
            pen.call("rename", "etc/conf.new", "etc/conf")
            if self.fsync_directory:
                pen.call("fsync", "etc")
        return pen.history()


@dataclass(frozen=True, slots=True, kw_only=True)
class Full:
    """Files until nothing more fits; then some are deleted, others overwritten, again and again.

    `partition_bytes`: as much is written, or a third more if the rounds are counted; the last calls
    of a round fail with ENOSPC.
    """

    partition_bytes: int = 4096 * KIB
    file_bytes: int = 64 * KIB
    rounds: int = 2

    def history(self, seed: int) -> History:
        pen, there = Pen(seed), []
        for number in range(-(-self.partition_bytes // self.file_bytes)):
            there.append(f"f{number}")
            pen.write(there[-1], 0, self.file_bytes)
        pen.call("sync")
        for _ in range(self.rounds):
            for _ in range(max(1, len(there) // 8)):
                pen.call("unlink", there.pop(pen.between(0, len(there) - 1)))
            pen.call("sync")
            for path in list(there[:: max(1, len(there) // 4)]):
                pen.write(path, 0, self.file_bytes // 2)
                pen.call("fsync", path)
        return pen.history()


@dataclass(frozen=True, slots=True, kw_only=True)
class Firmware:
    """An image of firmware is written to a second file, synced, and renamed over the first."""

    image_bytes: int = 256 * KIB
    piece_bytes: int = 64 * KIB
    updates: int = 2

    def history(self, seed: int) -> History:
        pen = Pen(seed)
        self._image(pen, "image")
        pen.call("sync")
        for _ in range(self.updates):
            self._image(pen, "image.new")
            pen.call("fsync", "image.new")
            pen.call("rename", "image.new", "image")
            pen.call("fsync", ".")
        return pen.history()

    def _image(self, pen: Pen, path: str) -> None:
        for at in range(0, self.image_bytes, self.piece_bytes):
            pen.write(path, at, min(self.piece_bytes, self.image_bytes - at))


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedBlocks:
    """Cold files that nobody touches, and a hot one that is rewritten and synced until UBI moves
    the blocks of the cold ones.

    `worn_erases`: on UBI every fourth block says from the beginning that it has been erased so many
    times more than the rest. From 4096 of difference on, the kernel's threshold, UBI moves blocks.
    """

    cold_bytes: int = 512 * KIB
    hot_bytes: int = 16 * KIB
    rewrites: int = 80
    worn_erases: int = 5000

    def history(self, seed: int) -> History:
        pen = Pen(seed)
        piece = 64 * KIB
        for at in range(0, self.cold_bytes, piece):
            pen.write(f"cold{at // piece}", 0, min(piece, self.cold_bytes - at))
        pen.call("sync")
        for _ in range(self.rewrites):
            pen.write("hot", 0, self.hot_bytes, sync=True)
        return pen.history()
