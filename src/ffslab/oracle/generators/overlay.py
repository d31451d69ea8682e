"""What a product does to a root file system of which the most is in a read-only one below.

Each round has a directory of its own in the lower file system, and all that overlayfs treats apart
is done to what is in it, in an order that is drawn: lower files are appended to, overwritten,
shortened, replaced by renaming another over them, opened and left as they were; renamed, deleted,
made again under the name that was deleted; lower directories are emptied, removed and made again.
Of files with two names one is changed. `still` and all of `keep` are never touched.

A rename of a lower directory is refused (EXDEV) without redirect_dir, and then what mv does is
done: it is copied and removed. JFFS2 refuses more (EINVAL, docs/findings.md): calls that follow
such a one find what was there before.
"""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.oracle.generators.pen import Pen
from ffslab.oracle.history import History

_FILES = (
    ("log", 3000),
    ("config", 2000),
    ("cut", 9000),
    ("meta", 1500),
    ("move", 2500),
    ("over", 4500),
    ("under", 700),
    ("gone", 800),
    ("again", 1200),
    ("empty", 0),
    ("still", 6000),
    ("keep/p", 300),
    ("keep/deep/q", 4500),
    ("sub/a", 5000),
    ("sub/b", 100),
    ("dir/x", 700),
    ("dir/in/y", 5000),
)
_DIRECTORIES = ("keep", "keep/deep", "sub", "dir", "dir/in", "void")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """`rounds`: of all acts on a lower tree each; `big_bytes`: of the largest lower file."""

    rounds: int = 2
    big_bytes: int = 40_000

    def history(self, seed: int) -> History:
        pen = Pen(seed)
        for number in range(self.rounds):
            self._lower(pen, f"r{number}")
        pen.begin()
        for number in range(self.rounds):
            for act in pen.shuffled(_ACTS):
                act(pen, f"r{number}")
            pen.call("sync")
        return pen.history()

    def _lower(self, pen: Pen, top: str) -> None:
        pen.call("mkdir", top)
        for name in _DIRECTORIES:
            pen.call("mkdir", f"{top}/{name}")
        for name, size_bytes in (*_FILES, ("big", self.big_bytes)):
            path = f"{top}/{name}"
            pen.write(path, 0, size_bytes) if size_bytes else pen.call("create", path)
        pen.call("link", f"{top}/meta", f"{top}/alias")
        pen.call("symlink", f"{top}/point", "still")


def _append(pen: Pen, top: str) -> None:
    pen.append(f"{top}/log", 700)
    pen.call("fsync", f"{top}/log")
    pen.append(f"{top}/log", 200)


def _overwrite(pen: Pen, top: str) -> None:
    pen.write(f"{top}/big", 12_000, 5000)
    pen.call("fsync", f"{top}/big")


def _shorten(pen: Pen, top: str) -> None:
    pen.truncate(f"{top}/cut", 4100)
    pen.append(f"{top}/cut", 300)
    pen.call("fdatasync", f"{top}/cut")


def _replace(pen: Pen, top: str) -> None:
    for _ in range(2):
        pen.write(f"{top}/config.new", 0, pen.between(100, 3000))
        pen.call("fsync", f"{top}/config.new")
        pen.call("rename", f"{top}/config.new", f"{top}/config")
        pen.call("fsync", top)


def _divide(pen: Pen, top: str) -> None:
    """Of a file with two names the one is opened for writing, and is a file of its own."""
    pen.open("@0", f"{top}/meta")
    pen.call("fsync", "@0")
    pen.write("@0", 200, 600)
    pen.call("fsync", "@0")
    pen.call("close", "@0")
    pen.call("link", f"{top}/meta", f"{top}/third")
    pen.call("fsync", top)


def _move(pen: Pen, top: str) -> None:
    pen.call("rename", f"{top}/move", f"{top}/sub/moved")
    pen.call("fsync", f"{top}/sub")
    pen.append(f"{top}/sub/moved", 400)
    pen.call("fsync", f"{top}/sub/moved")
    pen.call("rename", f"{top}/over", f"{top}/under")
    pen.call("fsync", top)


def _delete(pen: Pen, top: str) -> None:
    pen.call("unlink", f"{top}/gone")
    pen.call("fsync", top)
    pen.write(f"{top}/gone", 0, 900)
    pen.call("fsync", f"{top}/gone")
    pen.call("unlink", f"{top}/again")
    pen.call("symlink", f"{top}/again", "still")
    pen.call("fsync", top)


def _fill_empty(pen: Pen, top: str) -> None:
    pen.append(f"{top}/empty", 300)
    pen.call("fsync", top)
    pen.call("unlink", f"{top}/point")


def _remove(pen: Pen, top: str) -> None:
    """A directory goes with all that is in it, and another one comes in its place."""
    pen.call("unlink", f"{top}/dir/x")
    pen.call("unlink", f"{top}/dir/in/y")
    pen.call("rmdir", f"{top}/dir/in")
    pen.call("rmdir", f"{top}/dir")
    pen.call("fsync", top)
    pen.call("mkdir", f"{top}/dir")
    pen.write(f"{top}/dir/new", 0, 600)
    pen.call("fsync", f"{top}/dir/new")
    pen.call("fsync", f"{top}/dir")


def _remove_empty(pen: Pen, top: str) -> None:
    pen.call("rmdir", f"{top}/void")
    pen.call("fsync", top)
    pen.call("mkdir", f"{top}/void")
    pen.write(f"{top}/void/new", 0, 500)
    pen.call("fsync", top)


def _move_directory(pen: Pen, top: str) -> None:
    """As mv does, when renaming is refused: it copies, and then removes."""
    pen.call("rename", f"{top}/sub", f"{top}/other")
    pen.call("mkdir", f"{top}/other")
    for name, size_bytes in (("a", 5000), ("b", 100)):
        pen.write(f"{top}/other/{name}", 0, size_bytes)
        pen.call("unlink", f"{top}/sub/{name}")
    pen.call("rmdir", f"{top}/sub")
    pen.call("fsync", top)


_ACTS = (
    _append,
    _overwrite,
    _shorten,
    _replace,
    _divide,
    _move,
    _delete,
    _fill_empty,
    _remove,
    _remove_empty,
    _move_directory,
)
