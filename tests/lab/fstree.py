"""Trees of files for the lab tests: scripts for the guest's `fstree`, and what they make.

A `Script` collects operations. Those on files below its directory also change a model, so that
the host knows what a listing of the guest must say. Whatever else the guest is to do (mounts,
operations that must fail) goes in by `line`, past the model.

A listing is a dictionary by path, with "/" for the directory that was listed. Its values say what
is known of a name, so that listings of different origin (the model, the guest, the flash) can be
compared by what both know.
"""

from __future__ import annotations

import io
import json
import stat
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from ffslab.yaffs2 import Node

RECORD_BYTES = 16
# As list.c: of larger files only the first and the last window are summed.
WINDOW_BYTES = 1 << 20
LARGE_BYTES = 64 << 20
PAGE_BYTES = 4096
LOST_FOUND = "/lost+found"

Listing = Mapping[str, Mapping[str, Any]]


def pattern(offset: int, size: int, seed: int) -> bytes:
    """What a file of `seed` has there: records of 16 characters, as pattern.c makes them."""
    first, last = offset // RECORD_BYTES, -(-(offset + size) // RECORD_BYTES)
    who = f"{seed & 0xFFFFFFF:07x}"
    text = "".join(f"{who} {number & 0xFFFFFFF:07x}\n" for number in range(first, last))
    start = offset - first * RECORD_BYTES
    return text.encode()[start : start + size]


class Contents:
    """Bytes of a file with holes."""

    def __init__(self) -> None:
        self.size = 0
        self._pages: dict[int, bytearray] = {}

    def write(self, offset: int, data: bytes) -> None:
        self.size = max(self.size, offset + len(data))
        done = 0
        while done < len(data):
            number, inside = divmod(offset + done, PAGE_BYTES)
            page = self._pages.setdefault(number, bytearray(PAGE_BYTES))
            now = min(PAGE_BYTES - inside, len(data) - done)
            page[inside : inside + now] = data[done : done + now]
            done += now

    def truncate(self, size: int) -> None:
        self.size = size
        number, inside = divmod(size, PAGE_BYTES)
        for beyond in [page for page in self._pages if page > number]:
            del self._pages[beyond]
        if number in self._pages:
            self._pages[number][inside:] = bytes(PAGE_BYTES - inside)

    def read(self, offset: int, size: int) -> bytes:
        size = max(0, min(size, self.size - offset))
        first, last = offset // PAGE_BYTES, -(-(offset + size) // PAGE_BYTES)
        blank = bytes(PAGE_BYTES)
        pages = b"".join(bytes(self._pages.get(n, blank)) for n in range(first, last))
        start = offset - first * PAGE_BYTES
        return pages[start : start + size]

    @property
    def stored(self) -> int:
        """Bytes of pages that were written."""
        return len(self._pages) * PAGE_BYTES

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """Offset and bytes of what was written, cut at the end of the file."""
        for number in sorted(self._pages):
            start = number * PAGE_BYTES
            if start < self.size:
                yield start, bytes(self._pages[number][: self.size - start])


def sum_of(contents: Contents, unreadable: tuple[int, ...] = ()) -> int:
    """The sum that the guest lists; pages at the positions `unreadable` count as zeros."""
    if contents.size <= LARGE_BYTES:
        windows = [(0, contents.size)]
    else:
        windows = [(0, WINDOW_BYTES), (contents.size - WINDOW_BYTES, WINDOW_BYTES)]
    crc = 0
    for start, size in windows:
        data = bytearray(contents.read(start, size))
        for position in unreadable:
            if start <= position < start + len(data):
                page = slice(position - start, position - start + PAGE_BYTES)
                data[page] = bytes(len(data[page]))
        crc = zlib.crc32(data, crc)
    return crc


@dataclass(eq=False)
class Inode:
    """What the model knows of a file. Times are None until the script sets them."""

    mode: int
    uid: int = 0
    gid: int = 0
    atime: int | None = None
    mtime: int | None = None
    target: str = ""
    device: tuple[int, int] = (0, 0)
    contents: Contents = field(default_factory=Contents)
    xattrs: dict[str, bytes] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.target.encode()) if stat.S_ISLNK(self.mode) else self.contents.size


def encoded(text: str) -> str:
    """A word of a script: bytes that are not harmless as %XX."""
    raw = text.encode("utf-8", "surrogateescape")
    return "".join(chr(c) if 32 < c < 127 and c != 37 else f"%{c:02x}" for c in raw)


def decoded(text: str) -> str:
    return unquote_to_bytes(text).decode("utf-8", "surrogateescape")


class Script:
    """Operations, and the tree that they make below `directory`. Paths of the tree begin with /.

    `touched` are the files that operations named, or that were below a directory so named.
    """

    def __init__(self, directory: str = "/mnt") -> None:
        self.directory = directory
        self.lines: list[str] = []
        self.tree: dict[str, Inode] = {}
        self.touched: set[Inode] = set()

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    def line(self, verb: str, *words: object) -> None:
        """An operation that does not change the model; its paths are the guest's."""
        self.lines.append(" ".join([verb, *(encoded(str(word)) for word in words)]))

    def _do(self, verb: str, path: str, *words: object) -> None:
        self.line(verb, self.directory + path, *words)
        self._touch(path)

    def _touch(self, path: str) -> None:
        inodes = (i for p, i in self.tree.items() if p == path or p.startswith(f"{path}/"))
        self.touched.update(inodes)

    def _in_directory(self, path: str) -> None:
        """A name came or went: the time of the directory is not what the script set."""
        parent = self.tree.get(path.rpartition("/")[0])
        if parent:
            parent.mtime = None

    # --- names ---

    def mkdir(self, path: str, mode: int = 0o755) -> None:
        self._do("mkdir", path, f"{mode:o}")
        self._in_directory(path)
        self.tree[path] = Inode(stat.S_IFDIR | mode)

    def create(self, path: str, mode: int = 0o644) -> None:
        self._do("create", path, f"{mode:o}")
        self._in_directory(path)
        self.tree[path] = Inode(stat.S_IFREG | mode)

    def mknod(self, path: str, mode: int, major: int = 0, minor: int = 0) -> None:
        self._do("mknod", path, f"{mode:o}", major, minor)
        self._in_directory(path)
        self.tree[path] = Inode(mode, device=(major, minor))

    def symlink(self, target: str, path: str) -> None:
        self.line("symlink", target, self.directory + path)
        self._in_directory(path)
        self.tree[path] = Inode(stat.S_IFLNK | 0o777, target=target)

    def link(self, old: str, new: str) -> None:
        self._do("link", old, self.directory + new)
        self._in_directory(new)
        self.tree[new] = self.tree[old]

    def unlink(self, path: str) -> None:
        self._do("unlink", path)
        self._in_directory(path)
        del self.tree[path]

    def rmdir(self, path: str) -> None:
        self._do("rmdir", path)
        self._in_directory(path)
        del self.tree[path]

    def rename(self, old: str, new: str) -> None:
        """Also of directories; what was at `new` is replaced."""
        self._do("rename", old, self.directory + new)
        self._touch(new)
        self._in_directory(old)
        self._in_directory(new)
        below = [path for path in self.tree if path == old or path.startswith(old + "/")]
        for path in below:
            self.tree[new + path[len(old) :]] = self.tree.pop(path)

    # --- attributes ---

    def chmod(self, path: str, mode: int) -> None:
        self._do("chmod", path, f"{mode:o}")
        inode = self.tree[path]
        inode.mode = stat.S_IFMT(inode.mode) | mode

    def chown(self, path: str, uid: int, gid: int) -> None:
        self._do("chown", path, uid, gid)
        self.tree[path].uid, self.tree[path].gid = uid, gid

    def utimes(self, path: str, atime: int, mtime: int) -> None:
        """Directories: what is done in them afterwards changes their time again."""
        self._do("utimes", path, atime, mtime)
        self.tree[path].atime, self.tree[path].mtime = atime, mtime

    def setxattr(self, path: str, name: str, value: str) -> None:
        self._do("setxattr", path, name, value)
        self.tree[path].xattrs[name] = value.encode()

    def removexattr(self, path: str, name: str) -> None:
        self._do("removexattr", path, name)
        del self.tree[path].xattrs[name]

    # --- contents ---

    def write(self, path: str, offset: int, size: int, seed: int) -> None:
        """Writes the pattern of `seed`; makes the file if there is none."""
        self._do("write", path, offset, size, seed)
        if path not in self.tree:
            self.tree[path] = Inode(stat.S_IFREG | 0o644)
            self._in_directory(path)
        inode = self.tree[path]
        inode.contents.write(offset, pattern(offset, size, seed))
        inode.mtime = None

    def truncate(self, path: str, size: int) -> None:
        self._do("truncate", path, size)
        self.tree[path].contents.truncate(size)
        self.tree[path].mtime = None

    # --- what there is ---

    def _links(self, path: str) -> int:
        inode = self.tree[path]
        if not stat.S_ISDIR(inode.mode):
            return sum(other is inode for other in self.tree.values())
        return 2 + sum(
            stat.S_ISDIR(other.mode) and name.rpartition("/")[0] == path
            for name, other in self.tree.items()
        )

    def listing(self, *, one_link: bool = False) -> Listing:
        """What the guest must list, but for the root and lost+found.

        `one_link`: directories have one, whatever is in them.
        """
        known: dict[str, dict[str, Any]] = {}
        for path, inode in self.tree.items():
            entry: dict[str, Any] = {
                "mode": inode.mode,
                "nlink": self._links(path),
                "uid": inode.uid,
                "gid": inode.gid,
                "device": inode.device,
                "xattrs": dict(inode.xattrs),
            }
            if not stat.S_ISDIR(inode.mode):
                entry["size"] = inode.size
            elif one_link:
                entry["nlink"] = 1
            if stat.S_ISREG(inode.mode):
                entry |= {"crc": sum_of(inode.contents), "unreadable": ()}
            if stat.S_ISLNK(inode.mode):
                entry["target"] = inode.target
            if inode.mtime is not None:
                entry["mtime"] = inode.mtime
            if inode.atime is not None:
                entry["atime"] = inode.atime
            known[path] = entry
        return known

    def archive(self, path: Path) -> None:
        """Writes the tree as a tar archive, which needs no rights and keeps all but atimes."""
        names: dict[int, str] = {}
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
            for name in sorted(self.tree, key=lambda one: one.split("/")):
                inode = self.tree[name]
                member = _member(name, inode)
                first = names.setdefault(id(inode), name)
                if first != name:
                    member.type, member.linkname, member.size = tarfile.LNKTYPE, first[1:], 0
                data = inode.contents.read(0, member.size)
                archive.addfile(member, io.BytesIO(data))


_TAR_TYPES = {
    stat.S_IFREG: tarfile.REGTYPE,
    stat.S_IFDIR: tarfile.DIRTYPE,
    stat.S_IFLNK: tarfile.SYMTYPE,
    stat.S_IFCHR: tarfile.CHRTYPE,
    stat.S_IFBLK: tarfile.BLKTYPE,
    stat.S_IFIFO: tarfile.FIFOTYPE,
}


def _member(name: str, inode: Inode) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name[1:])
    member.type = _TAR_TYPES[stat.S_IFMT(inode.mode)]
    member.mode = stat.S_IMODE(inode.mode)
    member.uid, member.gid = inode.uid, inode.gid
    member.mtime = inode.mtime or 0
    member.linkname = inode.target
    member.devmajor, member.devminor = inode.device
    member.size = inode.size if stat.S_ISREG(inode.mode) else 0
    member.pax_headers = {f"SCHILY.xattr.{k}": v.decode() for k, v in inode.xattrs.items()}
    return member


# --- files that are written over and over ---


@dataclass(frozen=True)
class Churn:
    """`fstree`'s churn: files PREFIX0 to PREFIX(n-1), written in rounds, each time anew.

    It ends at the first error, which is in `result`, a file of the guest.
    """

    prefix: str
    files: int
    bytes: int
    rounds: int
    seed: int = 1
    directory: str = "/mnt"

    @property
    def result(self) -> str:
        return f"/tmp/churn-{self.prefix.strip('/')}"

    def script(self, pause_ms: int = 0) -> Script:
        script = Script(self.directory)
        words = (self.files, self.bytes, self.seed, self.rounds, self.result, pause_ms)
        script.line("churn", self.directory + self.prefix, *words)
        return script

    def contents(self, result: str) -> dict[str, Contents]:
        """What must be in the files; not of the one that the error met."""
        numbers = {key: int(value) for key, value in map(str.split, result.splitlines())}
        found = {}
        for number in range(self.files):
            done = numbers["rounds"] + (number < numbers["files"])
            if done and not (numbers["errno"] and number == numbers["files"]):
                seed = self.seed + (done - 1) * self.files + number
                contents = Contents()
                contents.write(0, pattern(0, self.bytes, seed))
                found[f"{self.prefix}{number}"] = contents
        return found


def wrong_contents(files: Mapping[str, Contents], listing: Listing) -> list[str]:
    """What of these files is missing or has wrong bytes. An error instead of bytes is not wrong."""
    problems = []
    for path, contents in files.items():
        entry = listing.get(path)
        if entry is None:
            problems.append(f"{path}: missing")
        elif "crc" in entry and (
            entry["size"] != contents.size
            or entry["crc"] != sum_of(contents, tuple(at for at, _ in entry["unreadable"]))
        ):
            problems.append(f"{path}: wrong contents")
    return problems


def errors_in(listing: Listing) -> list[str]:
    """Names of all errors that a listing met."""
    pages = [name for entry in listing.values() for _, name in entry.get("unreadable", ())]
    others = [entry[key] for entry in listing.values() for key in ("error", "xattr_error")
              if key in entry]  # fmt: skip
    return pages + others


# --- listings of other origin ---


def parse_listing(text: str) -> Listing:
    """What the guest's `fstree list` wrote."""
    listing: dict[str, dict[str, Any]] = {}
    for line in text.splitlines():
        entry = json.loads(line)
        path = decoded(entry.pop("path"))
        assert path not in listing, f"listed twice: {path}"
        if "target" in entry:
            entry["target"] = decoded(entry["target"])
        if "major" in entry:
            entry["device"] = (entry.pop("major"), entry.pop("minor"))
        if "unreadable" in entry:
            entry["unreadable"] = tuple((at, name) for at, name in entry["unreadable"])
        if "xattrs" in entry:
            xattrs = entry["xattrs"].items()
            entry["xattrs"] = {decoded(name): bytes.fromhex(value) for name, value in xattrs}
        listing[path] = entry
    return listing


def image_listing(tree: Mapping[str, Node]) -> Listing:
    """What is known of a tree that was read from an image.

    The root and lost+found exist without being on flash; then nothing is said of them.
    """
    listing: dict[str, dict[str, Any]] = {}
    for path, node in tree.items():
        if path in ("/", LOST_FOUND) and not node.ctime:
            continue
        entry: dict[str, Any] = {
            "ino": node.object_id,
            "mode": node.mode,
            "uid": node.uid,
            "gid": node.gid,
            "atime": node.atime,
            "mtime": node.mtime,
            "ctime": node.ctime,
            "device": node.device,
            "xattrs": node.xattrs,
        }
        if node.type != "directory":
            entry |= {"size": node.size, "nlink": node.links}
        if node.type == "symlink":
            entry["target"] = node.target
        if node.type == "file":
            contents = Contents()
            for offset, piece in node.pieces():
                contents.write(offset, piece)
            contents.truncate(node.size)
            entry["crc"] = sum_of(contents)
        listing[path] = entry
    return listing


def differences(expected: Listing, found: Listing, ignore: tuple[str, ...] = ()) -> list[str]:
    """Sentences about what differs. The root and lost+found may be in one of the listings only."""
    problems = []
    for path in sorted({*expected, *found}):
        if path not in found or path not in expected:
            if path not in ("/", LOST_FOUND):
                problems.append(f"{path}: {'missing' if path not in found else 'not expected'}")
            continue
        want, have = expected[path], found[path]
        if "error" in have:
            problems.append(f"{path}: {have['error']}")
        problems += [
            f"{path}: {key} is {have[key]!r}, not {want[key]!r}"
            for key in sorted({*want} & {*have} - {*ignore})
            if want[key] != have[key]
        ]
    return problems


def assert_same(expected: Listing, found: Listing, ignore: tuple[str, ...] = ()) -> None:
    """Fails with the differences."""
    problems = differences(expected, found, ignore)
    assert not problems, f"{len(problems)} differences:\n" + "\n".join(problems[:30])
