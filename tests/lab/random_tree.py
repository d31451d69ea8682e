"""Random operations on a tree of files, from a seed: a script for the guest with its model."""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from fstree import Inode, Script

MAX_DEPTH = 5


@dataclass(frozen=True)
class Limits:
    """How much there may be at a time. `chunk_bytes`: sizes are chosen around its multiples."""

    chunk_bytes: int
    names: int = 150
    bytes: int = 1_700_000


class RandomOperations:
    """Adds operations to a script, all of which the model says will succeed."""

    def __init__(self, script: Script, random: Random, limits: Limits) -> None:
        self._script = script
        self._random = random
        self._limits = limits
        self._weights: dict[Callable[[], None], int] = {
            self._create: 12,
            self._make_directory: 4,
            self._make_special: 4,
            self._write: 32,
            self._truncate: 8,
            self._unlink: 8,
            self._remove_directory: 3,
            self._link: 5,
            self._rename: 6,
            self._replace: 5,
            self._change_mode: 4,
            self._set_attribute: 3,
            self._wait: 1,
        }

    def add(self, count: int) -> None:
        """Draws `count` times; what is not possible at the moment is left out."""
        operations = [*self._weights]
        weights = [*self._weights.values()]
        for operation in self._random.choices(operations, weights, k=count):
            operation()

    # --- what there is ---

    @property
    def _tree(self) -> dict[str, Inode]:
        return self._script.tree

    def _paths(self, *types: int) -> list[str]:
        return [path for path, inode in self._tree.items() if stat.S_IFMT(inode.mode) in types]

    def _files(self) -> list[str]:
        return self._paths(stat.S_IFREG)

    def _directories(self) -> list[str]:
        return self._paths(stat.S_IFDIR)

    def _others(self) -> list[str]:
        return self._paths(stat.S_IFREG, stat.S_IFLNK, stat.S_IFIFO)

    def _is_full(self) -> bool:
        return len(self._tree) >= self._limits.names

    def _new_name(self) -> str:
        while True:
            name = self._random.choice(["n", "x" * self._random.randrange(1, 60)])
            directory = self._random.choice(["", *self._directories()])
            path = f"{directory}/{name}{self._random.randrange(10**6)}"
            if path not in self._tree and path.count("/") <= MAX_DEPTH:
                return path

    # --- operations ---

    def _create(self) -> None:
        chunk = self._limits.chunk_bytes
        size = self._random.choice([1, 100, chunk, 5 * chunk + 3, 30_000])
        if not self._is_full():
            self._script.write(self._new_name(), 0, size, self._random.randrange(1 << 20))

    def _make_directory(self) -> None:
        if not self._is_full():
            self._script.mkdir(self._new_name())

    def _make_special(self) -> None:
        if self._is_full():
            return
        if self._random.random() < 0.5:
            self._script.symlink("t" * self._random.randrange(1, 160), self._new_name())
        else:
            self._script.mknod(self._new_name(), stat.S_IFIFO | 0o600)

    def _write(self) -> None:
        inodes = {*self._tree.values()}
        if not self._files() or sum(i.contents.stored for i in inodes) > self._limits.bytes:
            return
        chunk = self._limits.chunk_bytes
        path = self._random.choice(self._files())
        beyond = self._random.choice([0, 0, 2 * chunk, 9 * chunk])
        offset = self._random.randrange(self._tree[path].size + 1 + beyond)
        size = self._random.choice([1, 50, chunk, 3 * chunk, 20_000])
        self._script.write(path, offset, size, self._random.randrange(1 << 20))

    def _truncate(self) -> None:
        if self._files():
            path = self._random.choice(self._files())
            size = self._tree[path].size
            longer = size + self._random.randrange(9 * self._limits.chunk_bytes)
            choices = [0, self._random.randrange(size + 1), longer]
            self._script.truncate(path, self._random.choice(choices))

    def _unlink(self) -> None:
        if self._others():
            self._script.unlink(self._random.choice(self._others()))

    def _remove_directory(self) -> None:
        parents = {path.rpartition("/")[0] for path in self._tree}
        empty = [path for path in self._directories() if path not in parents]
        if empty:
            self._script.rmdir(self._random.choice(empty))

    def _link(self) -> None:
        if self._others() and not self._is_full():
            self._script.link(self._random.choice(self._others()), self._new_name())

    def _rename(self) -> None:
        if self._tree:
            old, new = self._random.choice([*self._tree]), self._new_name()
            if not new.startswith(f"{old}/"):
                self._script.rename(old, new)

    def _replace(self) -> None:
        if len(self._others()) >= 2:
            old, new = self._random.sample(self._others(), 2)
            if self._tree[old] is not self._tree[new]:
                self._script.rename(old, new)

    def _change_mode(self) -> None:
        paths = self._paths(stat.S_IFREG, stat.S_IFDIR)
        if paths:
            self._script.chmod(self._random.choice(paths), self._random.choice([0o700, 0o755]))

    def _set_attribute(self) -> None:
        if self._files():
            value = str(self._random.randrange(10**9))
            self._script.setxattr(self._random.choice(self._files()), "user.x", value)

    def _wait(self) -> None:
        self._script.line("sleep", self._random.randrange(1, 3000))
