"""A recipe carried out: packages' members become a tree's entries.

What two packages have is taken from the first. Hard links inside a package become files of
their own. A directory that nobody describes belongs to root and has the mode 0755. A pattern or a
rename that matches nothing is an error: the recipe means a package that it does not have.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from tarfile import TarInfo

from ffslab.errors import SpecError
from ffslab.fsimage.entry import Entry, ObjectType
from ffslab.images import debs
from ffslab.images.recipe import PackageFile, Recipe, pattern_regex


def assemble(recipe: Recipe, deb_paths: Mapping[str, Path]) -> list[Entry]:
    """The entries of the recipe's tree in canonical order, the top first.

    Raises SpecError that names the package and the pattern, or the path, which is wrong.
    """
    assembly = _Assembly(recipe)
    for package in recipe.packages:
        assembly.add_package(package, deb_paths[package.name])
    assembly.add_own()
    return assembly.finish()


class _Assembly:
    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._entries: dict[str, Entry] = {}
        # All directories of the packages: for those that turn out to be needed.
        self._directories: dict[str, Entry] = {}
        self._prefixes_used: set[str] = set()

    def add_package(self, package: PackageFile, deb: Path) -> None:
        unused = {*package.take, *package.drop}
        for member, data in debs.members(deb):
            path = member.name.removeprefix(".").strip("/")
            entry = self._entry(self._renamed(path), member, data)
            if entry.object_type is ObjectType.DIRECTORY:
                self._directories.setdefault(_text(entry), entry)
            taken = _matching(package.take, path)
            dropped = _matching(package.drop, path) if taken else set()
            unused -= taken | dropped
            if entry.object_type is ObjectType.SYMLINK and not package.links:
                continue
            if taken and not dropped:
                self._entries.setdefault(_text(entry), entry)
        if unused:
            patterns = ", ".join(repr(pattern) for pattern in sorted(unused))
            raise self._wrong(f"package {package.name}: nothing matches {patterns}")

    def _renamed(self, path: str) -> str:
        for rename in self._recipe.rename:
            if f"{path}/".startswith(rename.prefix):
                self._prefixes_used.add(rename.prefix)
                return (rename.to + f"{path}/"[len(rename.prefix) :]).strip("/")
        return path

    def _entry(self, path: str, member: TarInfo, data: bytes) -> Entry:
        owner = {"uid": member.uid, "gid": member.gid, "mtime": int(member.mtime)}
        if member.isdir():
            return _directory(path, member.mode, **owner)
        if member.issym():
            return _link(path, member.linkname, **owner)
        if member.isreg() or member.islnk():
            return _file(path, member.mode, data, **owner)
        raise self._wrong(f"{member.name} is not a file, directory or link")

    def add_own(self) -> None:
        """What the recipe itself describes; it takes the place of what packages have."""
        time = {"mtime": self._recipe.time_s}
        for group in self._recipe.directories:
            for path in group.paths:
                self._entries[path] = _directory(path, int(group.mode, 8), **time)
        for path, target in self._recipe.links.items():
            if path in self._entries:
                raise self._wrong(f"the link {path} would replace what is there")
            self._entries[path] = _link(path, target, **time)
        for text in self._recipe.texts:
            self._entries[text.path] = _file(
                text.path, int(text.mode, 8), text.text.encode(), **time
            )

    def finish(self) -> list[Entry]:
        """All entries with the directories that they are in, sorted."""
        for rename in self._recipe.rename:
            if rename.prefix not in self._prefixes_used:
                raise self._wrong(f"rename {rename.prefix!r} matches nothing")
        for path in list(self._entries):
            while path:
                path = path.rpartition("/")[0]
                if path not in self._entries:
                    self._entries[path] = self._directories.get(path) or _directory(
                        path, 0o755, mtime=self._recipe.time_s
                    )
                elif self._entries[path].object_type is not ObjectType.DIRECTORY:
                    raise self._wrong(f"{path} is not a directory, but something is in it")
        return sorted(
            self._entries.values(), key=lambda entry: entry.path.split(b"/") if entry.path else []
        )

    def _wrong(self, what: str) -> SpecError:
        return SpecError(f"recipe {self._recipe.name}: {what}")


def _matching(patterns: Sequence[str], path: str) -> set[str]:
    return {pattern for pattern in patterns if pattern_regex(pattern).fullmatch(path)}


def _text(entry: Entry) -> str:
    return os.fsdecode(entry.path)


def _directory(path: str, mode: int, *, mtime: int, uid: int = 0, gid: int = 0) -> Entry:
    key = os.fsencode(path)
    return Entry(key, ObjectType.DIRECTORY, stat.S_IFDIR | mode, uid, gid, mtime, key)


def _link(path: str, target: str, *, mtime: int, uid: int = 0, gid: int = 0) -> Entry:
    key = os.fsencode(path)
    return Entry(
        *(key, ObjectType.SYMLINK, stat.S_IFLNK | 0o777, uid, gid, mtime, key),
        target=os.fsencode(target),
    )


def _file(path: str, mode: int, data: bytes, *, mtime: int, uid: int = 0, gid: int = 0) -> Entry:
    key = os.fsencode(path)
    return Entry(
        *(key, ObjectType.FILE, stat.S_IFREG | mode, uid, gid, mtime, key),
        size=len(data),
        pieces=lambda: iter([(0, data)]) if data else iter(()),
    )
