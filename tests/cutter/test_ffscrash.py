# SPDX-License-Identifier: GPL-2.0-only
"""ffscrash on directories of this machine, against a model of what it promises.

Only the standard library is needed. usage: test_ffscrash.py FFSCRASH
"""

from __future__ import annotations

import errno
import os
import random
import stat
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

SHM = Path("/dev/shm")
MASK = 2**64 - 1
SECTOR = 512
PLAIN = "".join(map(chr, range(33, 127))).replace("%", "")


def word(seed: int, number: int) -> bytes:
    x = (seed + 0x9E3779B97F4A7C15 * (1 + number)) & MASK
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return (x ^ x >> 31).to_bytes(8, "little")


def contents(seed: int, start: int, end: int) -> bytes:
    """The bytes of a write from file position `start` to `end`."""
    first, last = start // 64, end // 64 + 1
    if seed % 2:
        block = b"".join(word(seed, number) for number in range(8 * first, 8 * last))
    else:
        block = b"".join(8 * word(seed, number) for number in range(first, last))
    return block[start - 64 * first : end - 64 * first]


def crcs(data: bytes) -> str:
    sums = [zlib.crc32(data[at : at + SECTOR]) for at in range(0, len(data), SECTOR)]
    runs = [(value, len(list(run))) for value, run in groupby(sums)]
    return ",".join(f"{value:08x}" + (f"*{n}" if n > 1 else "") for value, n in runs) or "-"


def name(path: bytes) -> str:
    return "".join(chr(byte) if chr(byte) in PLAIN else f"%{byte:02x}" for byte in path)


def line(root: bytes, path: bytes) -> str:
    where = Path(os.fsdecode(root), os.fsdecode(path))
    status = where.lstat()
    node = f"{status.st_nlink} {status.st_ino}"
    if stat.S_ISDIR(status.st_mode):
        return f"dir {name(path)} {node} 0"
    if stat.S_ISLNK(status.st_mode):
        return f"symlink {name(path)} {node} 0 {name(os.fsencode(where.readlink()))}"
    if not stat.S_ISREG(status.st_mode):
        return f"other {name(path)} {node} 0"
    data = where.read_bytes()
    return f"file {name(path)} {len(data)} {node} 0 {crcs(data)}"


def observation(root: Path) -> list[str]:
    top = os.fsencode(root)
    paths = [b"."]
    for directory, directories, files in os.walk(top):
        inside = os.path.relpath(directory, top)
        for name in directories + files:
            paths.append(name if inside == b"." else inside + b"/" + name)
    return [line(top, path) for path in sorted(paths)]


class Program:
    def __init__(self, path: Path, scratch: Path) -> None:
        self.path = path
        self.scratch = scratch
        self.root = scratch / "root"
        self.root.mkdir()

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.path), *words], capture_output=True, text=True, timeout=120, check=False
        )

    def history(self, *lines: str) -> list[list[int]]:
        """The numbers of each line `op`."""
        file = self.scratch / "history"
        file.write_text("".join(f"{line}\n" for line in lines))
        done = self.call("history", str(file), str(self.root))
        assert done.returncode == 0, done.stderr
        *ops, end = done.stdout.splitlines()
        assert end == f"end {len(lines)} 0 0"
        assert [line.split()[0] for line in ops] == ["op"] * len(lines)
        return [[int(word) for word in line.split()[1:]] for line in ops]

    def observe(self) -> list[str]:
        done = self.call("observe", str(self.root), "attributes=1")
        assert done.returncode == 0, done.stderr
        *lines, space, end = done.stdout.splitlines()
        assert end == f"observed {len(lines)}"
        kind, *numbers = space.split()
        assert kind == "statfs" and len(numbers) == 3 and int(numbers[0]) >= int(numbers[1])
        return lines


def test_each_operation_does_what_it_says(program: Program) -> None:
    ops = program.history(
        "mkdir d", "create d/new", "write a 100 2000 7", "writesync a 0 50 9", "append a 600 8",
        "truncate a 2500", "fsync a", "fdatasync a", "fsync d", "sync", "link a b",
        "rename a d/a", "symlink x/../y s", "mkfifo p", "create gone", "unlink gone",
        "mkdir empty", "rmdir empty",
    )  # fmt: skip
    assert ops == [[index, 0, 0, 0] for index in range(18)]
    data = (program.root / "b").read_bytes()
    assert len(data) == 2500
    assert data[:50] == contents(9, 0, 50)
    assert data[50:100] == bytes(50)
    assert data[100:2100] == contents(7, 100, 2100)
    assert data[2100:] == contents(8, 2100, 2500)
    assert sorted(path.name for path in program.root.iterdir()) == ["b", "d", "p", "s"]
    assert (program.root / "d" / "a").samefile(program.root / "b")
    assert (program.root / "s").readlink() == Path("x/../y")
    assert (program.root / "p").is_fifo()
    assert program.observe() == observation(program.root)


def test_names_change_as_flags_say(program: Program) -> None:
    program.history("write a 0 10 1", "write b 0 20 3", "exchange a b")
    assert [(program.root / path).stat().st_size for path in "ab"] == [20, 10]
    ops = program.history("renamenew a b", "renamenew a c", "whiteout c d")
    assert [op[1] for op in ops] == [errno.EEXIST, 0, 0]
    assert stat.S_ISCHR((program.root / "c").lstat().st_mode)
    assert program.observe()[2].startswith("other c 1 ")
    assert program.observe()[3].startswith("attributes c 0 ")
    assert (program.root / "d").stat().st_size == 20


def test_a_file_without_a_name_gets_one(program: Program) -> None:
    ops = program.history("tmpfile @0 .", "write @0 0 700 1", "fsync @0", "tmpfile @0 .")
    assert [op[1] for op in ops] == [0, 0, 0, errno.EBUSY]
    assert list(program.root.iterdir()) == []
    ops = program.history("tmpfile @0 .", "write @0 0 700 1", "linkfd @0 a", "linkfd @1 b")
    assert [op[1] for op in ops] == [0, 0, 0, errno.EBADF]
    assert (program.root / "a").read_bytes() == contents(1, 0, 700)


def test_attributes_are_changed_and_told_where_they_are_not_the_usual_ones(
    program: Program,
) -> None:
    ops = program.history(
        *("mkdir d", "create a", "chmod a 600", "chmod d 1700", "setmtime a 1000000000"),
        *("create b", "setxattr b user.y 20 7", "setxattr b user.x 0 1", "setxattr b user.z 9 5"),
        *("removexattr b user.z", "removexattr b user.z", "chmod none 600", "symlink a s"),
    )
    assert [op[1] for op in ops if op[1]] == [errno.ENODATA, errno.ENOENT]
    told = [line for line in program.observe() if line.startswith("attributes ")]
    crc = f"{zlib.crc32(contents(7, 0, 20)):08x}"
    assert told == [
        "attributes a 600 1000000000 -",
        f"attributes b 644 - user.x=0:00000000,user.y=20:{crc}",
        "attributes d 1700 - -",
    ]


def found_by_path(program: Program) -> dict[str, list[str]]:
    """The words of each entry's line."""
    lines = (line.split() for line in program.observe())
    return {words[1]: words for words in lines if words[0] != "attributes"}


def test_what_nobody_may_open_is_told(program: Program) -> None:
    program.history("mkdir d", "write d/a 0 700 1", "create b")
    (program.root / "d" / "a").chmod(0)
    (program.root / "b").chmod(0o200)
    found = found_by_path(program)
    assert found["d/a"][5:] == [str(errno.EACCES), "-"]
    assert found["b"][5] == "0" and found["d"][4] == "0"
    (program.root / "d").chmod(0)
    found = found_by_path(program)
    assert found["d"][4] == str(errno.EACCES)
    (program.root / "d").chmod(0o755)


def test_a_failure_has_its_number_and_the_next_follows(program: Program) -> None:
    ops = program.history(
        "create a", "create a", "unlink none", "mkdir a", "rmdir .", "write a/b 0 1 1",
        "truncate none 5", "fsync none", "rename none x", "write b 0 3 1",
    )  # fmt: skip
    expected = [
        0, errno.EEXIST, errno.ENOENT, errno.EEXIST, errno.EINVAL, errno.ENOTDIR,
        errno.ENOENT, errno.ENOENT, errno.ENOENT, 0,
    ]  # fmt: skip
    assert [number for _, number, _, _ in ops] == expected
    assert (program.root / "b").read_bytes() == contents(1, 0, 3)


def test_descriptors_stay_open_from_line_to_line(program: Program) -> None:
    ops = program.history(
        "mkdir d", "write a 0 9000 1", "open @0 a", "opensync @1 a", "opendsync @2 a", "open @3 d",
        "write @0 100 50 3", "write @1 200 50 5", "write @2 300 50 7", "mapwrite @0 4000 200 9",
        "mapwrite @2 5000 4000 11", "msync @0", "syncrange @0 0 4096", "fsync @0", "fdatasync @2",
        "fsync @3", "dup @0 @15", "close @0", "rename a d/b", "append @15 40 13",
        "truncate @1 9020", "create gone", "open @0 gone", "unlink gone", "append @0 100 15",
        "link d/b c", "close @15",
    )  # fmt: skip
    assert ops == [[index, 0, 0, 0] for index in range(27)]
    data = (program.root / "c").read_bytes()
    assert len(data) == 9020
    written = [(100, 150, 3), (200, 250, 5), (300, 350, 7), (4000, 4200, 9), (5000, 9000, 11)]
    expected = bytearray(contents(1, 0, 9000) + contents(13, 9000, 9020))
    for start, end, seed in written:
        expected[start:end] = contents(seed, start, end)
    assert data == expected
    assert sorted(path.name for path in program.root.iterdir()) == ["c", "d"]
    assert (program.root / "d" / "b").samefile(program.root / "c")


def test_a_descriptor_is_open_once(program: Program) -> None:
    ops = program.history(
        "create a", "mkdir d", "symlink a s", "fsync @0", "open @0 none", "open @0 s", "open @0 a",
        "open @0 a", "dup @0 @0", "dup @1 @2", "open @1 d", "write @1 0 5 1", "truncate @1 5",
        "mapwrite @0 0 5 3", "msync @0", "append @0 5 5", "mapwrite @0 0 5 7", "mapwrite @0 1 5 9",
        "close @0", "close @0", "write @0 0 5 11", "mapwrite @0 0 5 13", "syncrange @0 0 5",
        "open @0 a",
    )  # fmt: skip
    expected = [
        0, 0, 0, errno.EBADF, errno.ENOENT, errno.ELOOP, 0,
        errno.EBUSY, errno.EBUSY, errno.EBADF, 0, errno.EBADF, errno.EINVAL,
        errno.EINVAL, errno.EINVAL, 0, 0, errno.EINVAL,
        0, errno.EBADF, errno.EBADF, errno.EBADF, errno.EBADF,
        0,
    ]  # fmt: skip
    assert [number for _, number, _, _ in ops] == expected
    assert (program.root / "a").read_bytes() == contents(7, 0, 5)


def test_a_wrong_history_does_nothing(program: Program) -> None:
    file = program.scratch / "history"
    file.write_text("create a\nremove a\n")
    done = program.call("history", str(file), str(program.root))
    assert done.returncode == 2 and "line 1: unknown operation 'remove'" in done.stderr
    assert not list(program.root.iterdir())


def test_strange_names_are_words(program: Program) -> None:
    for raw in (b"a b", b"%41", b"new\nline", b"\xff\xfe", b"tab\t", b"~", b"A-b", b"A"):
        (program.root / os.fsdecode(raw)).mkdir()
        (program.root / os.fsdecode(raw) / "x").write_bytes(raw)
    (program.root / "link").symlink_to("to somewhere")
    lines = program.observe()
    assert lines == observation(program.root)
    assert any(line.split()[1] == "new%0aline/x" for line in lines)


def test_random_trees(program: Program) -> None:
    """Thousands of names in several levels, files of any size up to some sectors."""
    rng = random.Random(1)
    directories = [program.root]
    for number in range(150):
        above = rng.choice(directories)
        (above / f"d{number}").mkdir()
        directories.append(above / f"d{number}")
    for number in range(2500):
        size = rng.choice([0, 1, 511, 512, 513, rng.randrange(9000)])
        file = rng.choice(directories) / f"f{number}"
        file.write_bytes(rng.choice([bytes(size), rng.randbytes(size)]))
    assert program.observe() == observation(program.root)


def test_large_directories(program: Program) -> None:
    """More names than are listed at once, and more directories of one level."""
    for number in range(100):
        directory = program.root / f"d{number}"
        directory.mkdir()
        for file in range(120 if number % 33 == 0 else number % 3):
            (directory / f"{file}{'x' * (file % 200)}").touch()
    assert program.observe() == observation(program.root)


def test_large_files(program: Program) -> None:
    """Those of more than the buffer, of all of it, and what lies behind them."""
    rng = random.Random(2)
    mib = 2**20
    for number, size in enumerate((2 * mib, 2 * mib + 1, 5 * mib - 3, mib, mib + 513, 100)):
        (program.root / f"f{number}").write_bytes(rng.randbytes(size))
    with (program.root / "hole").open("wb") as file:
        file.truncate(200 * mib)
    with (program.root / "huge").open("wb") as file:
        file.truncate(2**40)
    lines = program.observe()
    holes = [line.split() for line in lines if " hole " in line or " huge " in line]
    assert holes[0][5:] == ["0", f"{zlib.crc32(bytes(512)):08x}*{200 * mib // 512}"]
    assert holes[1][5:] == [str(errno.EFBIG), "-"]
    (program.root / "huge").unlink()
    assert [line for line in lines if " huge " not in line] == observation(program.root)


def test_a_directory_that_is_not_there(program: Program) -> None:
    program.root.rmdir()
    assert program.call("observe", str(program.root)).stdout.startswith("lost . 2\n")


def test_wear_of_a_flash_that_is_not_there(program: Program) -> None:
    done = program.call("wear", "no-such-flash", "5000")
    assert done.returncode == 1 and "/proc/mtd" in done.stderr


def test_wrong_usage(program: Program) -> None:
    for words in ((), ("fly",), ("observe",), ("history", "x"), ("wear", "x"), ("wear", "x", "-1")):
        assert program.call(*words).returncode == 2
    assert program.call("--help").stdout.startswith("usage: ffscrash history")


def run_one(path: Path, test: Callable[[Program], None]) -> bool:
    base = SHM if os.access(SHM, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="ffscrash-", dir=base) as scratch:
        try:
            test(Program(path, Path(scratch)))
        except Exception as error:  # a test that crashes has failed
            print(f"FAIL {test.__name__}: {type(error).__name__}: {error}")
            return False
    print(f"ok   {test.__name__}")
    return True


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(sys.argv[1]).resolve()
    tests = [value for key, value in globals().items() if key.startswith("test_")]
    good = [run_one(path, test) for test in tests]
    print(f"{good.count(True)} passed, {good.count(False)} failed")
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
