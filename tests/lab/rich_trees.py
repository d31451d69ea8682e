"""Scripts for the guest: a tree with everything that a file system of ours can store, and files
that keep its collector busy.
"""

from __future__ import annotations

import random
import stat
from dataclasses import dataclass

from fstree import LOST_FOUND, Script


@dataclass(frozen=True)
class Limits:
    """What a file system can store. `wide_devices`: of more than eight bits each."""

    name_bytes: int
    target_bytes: int
    xattrs: bool
    wide_devices: bool
    lost_found: bool


YAFFS2 = Limits(254, 159, xattrs=True, wide_devices=False, lost_found=True)
LOGFS = Limits(255, 4095, xattrs=False, wide_devices=True, lost_found=False)
GIB = 1 << 30
_PAGE_BYTES, _FILE_BYTES = 2048, 100_000


def overwritten_files(files: int, count: int, seed: int) -> Script:
    """So many files of 100 KB, and then so many overwrites of a page of any of them."""
    script, draw = Script(), random.Random(seed)
    for number in range(files):
        script.write(f"/file{number}", 0, _FILE_BYTES, number)
    for contents in range(count):
        page = draw.randrange(_FILE_BYTES // _PAGE_BYTES)
        file = f"/file{draw.randrange(files)}"
        script.write(file, page * _PAGE_BYTES, _PAGE_BYTES, 100 + contents)
    return script


def rich_tree(
    script: Script, chunk_bytes: int, *, large: bool = True, limits: Limits = YAFFS2
) -> None:
    """Adds the tree; `large`: with files of more than 2 and 4 GiB, nearly all holes."""
    _sizes(script, chunk_bytes)
    _holes(script, chunk_bytes, large=large)
    _names(script, limits)
    _links(script, chunk_bytes, limits)
    _specials(script, limits)
    _attributes(script)
    if limits.xattrs:
        _extended_attributes(script)
    _garbage(script, chunk_bytes)
    _times(script, limits)


def _sizes(script: Script, chunk: int) -> None:
    script.mkdir("/sizes")
    sizes = {0, 1, 2047, 2048, 2049, chunk - 1, chunk, chunk + 1, 10 * chunk + 7}
    for size in sorted(sizes):
        path = f"/sizes/{size}"
        script.create(path)
        if size:
            script.write(path, 0, size, seed=size)
    script.write("/sizes/over", 0, 5 * chunk, seed=1)
    script.write("/sizes/over", chunk - 3, 6, seed=2)
    script.write("/sizes/over", 3 * chunk, chunk, seed=3)
    script.write("/sizes/cut", 0, 5 * chunk, seed=4)
    script.truncate("/sizes/cut", 2 * chunk + 9)
    script.write("/sizes/emptied", 0, 3 * chunk, seed=5)
    script.truncate("/sizes/emptied", 0)


def _holes(script: Script, chunk: int, *, large: bool) -> None:
    script.mkdir("/holes")
    script.write("/holes/short", 0, 100, seed=11)
    script.write("/holes/short", 3 * chunk + 5, 50, seed=12)
    script.write("/holes/long", 0, 10, seed=13)
    script.write("/holes/long", 9 * chunk + 1, chunk, seed=14)
    script.write("/holes/first", 6 * chunk, 20, seed=15)
    script.create("/holes/only")
    script.truncate("/holes/only", 5 * chunk + 3)
    # What was there before must not come back, neither at once nor after a scan.
    script.write("/holes/regrown", 0, 8 * chunk, seed=16)
    script.truncate("/holes/regrown", chunk + 10)
    script.truncate("/holes/regrown", 12 * chunk)
    script.write("/holes/regrown-short", 0, 3 * chunk, seed=17)
    script.truncate("/holes/regrown-short", chunk + 10)
    script.truncate("/holes/regrown-short", 2 * chunk + 20)
    if large:
        script.write("/holes/2g", 0, 10, seed=18)
        script.write("/holes/2g", 2 * GIB + 5, 3000, seed=19)
        script.create("/holes/4g")
        script.truncate("/holes/4g", 5 * GIB + 1)


def _names(script: Script, limits: Limits) -> None:
    script.mkdir("/names")
    for name in ("n" * limits.name_bytes, "a b\tc", "%41", "é…字", "\udcff\udcfe", "...", "-"):
        script.create(f"/names/{name}")
    script.line("!ENAMETOOLONG", "create", f"/mnt/names/{'n' * (limits.name_bytes + 1)}", "644")
    path = "/names"
    for _ in range(20):
        path += "/d"
        script.mkdir(path)
    script.write(f"{path}/deep", 0, 5, seed=21)
    script.mkdir("/names/moved")
    script.create("/names/moved/inside")
    script.rename("/names/moved", "/names/d/elsewhere")
    script.write("/names/new", 0, 7, seed=22)
    script.write("/names/replaced", 0, 9000, seed=23)
    script.rename("/names/new", "/names/replaced")
    script.mkdir("/names/empty")
    script.mkdir("/names/full")
    script.create("/names/full/file")
    script.rename("/names/full", "/names/empty")


def _links(script: Script, chunk: int, limits: Limits) -> None:
    script.mkdir("/links")
    script.write("/links/original", 0, chunk + 1, seed=31)
    script.link("/links/original", "/links/second")
    script.link("/links/original", "/names/third")
    script.link("/links/second", "/links/fourth")
    script.unlink("/links/original")  # the object takes the place of one of its links
    script.write("/links/gone", 0, 10, seed=32)
    script.link("/links/gone", "/links/kept")
    script.unlink("/links/gone")
    script.write("/links/kept", 10, 10, seed=32)
    script.link("/links/kept", "/links/dropped")
    script.unlink("/links/dropped")
    script.symlink("x", "/links/s1")
    script.symlink("t" * limits.target_bytes, "/links/longest")
    too_long = "t" * (limits.target_bytes + 1)
    script.line("!ENAMETOOLONG", "symlink", too_long, "/mnt/links/longer")
    script.symlink("../a b/%/字", "/links/odd")
    script.link("/links/s1", "/links/s1-link")
    script.chown("/links/s1", 7, 8)


def _specials(script: Script, limits: Limits) -> None:
    script.mkdir("/dev")
    script.mknod("/dev/tty", stat.S_IFCHR | 0o620, 5, 1)
    script.mknod("/dev/last", stat.S_IFCHR | 0o600, 255, 255)
    script.mknod("/dev/block", stat.S_IFBLK | 0o660, 7, 200)
    script.mknod("/dev/fifo", stat.S_IFIFO | 0o644)
    script.mknod("/dev/socket", stat.S_IFSOCK | 0o755)
    script.link("/dev/tty", "/dev/tty-link")
    if limits.wide_devices:
        script.mknod("/dev/wide", stat.S_IFCHR | 0o600, 4095, 1_048_575)
    else:
        script.line("!EINVAL", "mknod", "/mnt/dev/wide", f"{stat.S_IFCHR | 0o600:o}", 256, 0)


def _attributes(script: Script) -> None:
    script.mkdir("/attr", 0o1777)
    for number, (mode, uid, gid) in enumerate(
        [(0, 0, 0), (0o7777, 1, 65535), (0o644, 65536, 1 << 31), (0o4755, (1 << 32) - 2, 99)]
    ):
        path = f"/attr/{number}"
        script.create(path)
        script.chown(path, uid, gid)
        script.chmod(path, mode)
    script.write("/attr/x", 0, 5000, seed=41)


def _extended_attributes(script: Script) -> None:
    script.setxattr("/attr/x", "user.a", "short")
    script.setxattr("/attr/x", "trusted.long", "v" * 300)
    script.setxattr("/attr/x", "user.empty", "")
    script.setxattr("/attr/x", "user.removed", "1")
    script.setxattr("/attr/x", "user.a", "shorter and longer")
    script.removexattr("/attr/x", "user.removed")
    script.line("!ENOSPC", "setxattr", "/mnt/attr/x", "user.large", "v" * 20000)
    script.setxattr("/attr", "user.directory", "d")
    script.symlink("t", "/attr/s")
    script.setxattr("/attr/s", "trusted.symlink", "s")
    script.setxattr("/dev/fifo", "trusted.fifo", "f")


def _garbage(script: Script, chunk: int) -> None:
    """Names come and go, contents are written again: dead pages in many blocks."""
    script.mkdir("/garbage")
    for number in range(40):
        script.write(f"/garbage/{number}", 0, chunk // 2 + 60 * number, seed=100 + number)
    for number in range(0, 40, 2):
        script.write(f"/garbage/{number}", number, 700, seed=200 + number)
    for number in range(0, 40, 3):
        script.unlink(f"/garbage/{number}")


def _times(script: Script, limits: Limits) -> None:
    """Last: a name that is made later changes the time of its directory."""
    times = [0, 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 33) + 5, 1_234_567_890]
    for number, path in enumerate(sorted(script.tree)):
        script.utimes(path, times[(number + 1) % len(times)], times[number % len(times)])
    if limits.lost_found:
        script.line("chmod", f"/mnt{LOST_FOUND}", "711")
    script.line("chown", "/mnt", 12, 13)
    script.line("utimes", "/mnt", 77, 78)
