"""Checks of inodes and names: sizes, links, places by hash, and what recovery will do."""

from __future__ import annotations

import stat
from collections.abc import Iterator

from ffslab.fsimage.node import text
from ffslab.logfs.format import (
    BLOCK_BYTES,
    INO_LAST_RESERVED,
    INO_MASTER,
    INO_ROOT,
    INO_SEGMENTS,
    POINTERS,
)
from ffslab.logfs.mount import Dentry, FoundInode, Mounted
from ffslab.logfs.names import BIX_MAX, places
from ffslab.logfs.problems import Problems, Where
from ffslab.logfs.tree import Tree

_TARGET_MAX = 4095
_SIZE_MAX = (1 << 63) - 1


def check_tree(mounted: Mounted, tree: Tree, problems: Problems) -> None:
    """Every inode, every name, and the state of interrupted operations."""
    _check_inode_file(mounted, problems)
    for ino, kind in ((INO_ROOT, stat.S_IFDIR), (INO_SEGMENTS, stat.S_IFREG)):
        file = mounted.inodes.get(ino)
        if file is None or file.format != kind:
            problems.add("inode-missing", "a mount fails without it", Where(ino=ino))
    for file in mounted.inodes.values():
        _check_inode(file, problems)
        _check_links(mounted, tree, file, problems)
        _check_names(mounted, file, problems)
    _check_directories(mounted, tree, problems)
    _check_recovery(mounted, problems)


def _check_inode_file(mounted: Mounted, problems: Problems) -> None:
    anchor = mounted.anchor
    if anchor.used_bytes != mounted.inode_file.used_bytes:
        message = (
            f"the anchor says {anchor.used_bytes} bytes, its objects have "
            f"{mounted.inode_file.used_bytes}"
        )
        problems.add("inode-used", message, Where(ino=INO_MASTER))
    if not INO_LAST_RESERVED <= anchor.last_ino < POINTERS**2:
        problems.add("inode-last", f"it is {anchor.last_ino}")


def _check_inode(file: FoundInode, problems: Problems) -> None:
    inode, where = file.inode, Where(ino=file.ino)
    if file.ino in (0, INO_MASTER) or INO_SEGMENTS < file.ino < INO_LAST_RESERVED:
        problems.add("inode-reserved", "this number is reserved", where)
    if inode.used_bytes != file.walked.used_bytes:
        message = f"it says {inode.used_bytes} bytes, its objects have {file.walked.used_bytes}"
        problems.add("inode-used", message, where)
    kind = file.format
    if kind == stat.S_IFLNK and not (1 <= inode.size <= _TARGET_MAX and 0 in file.walked.blocks):
        problems.add("inode-size", f"a symbolic link of {inode.size} bytes", where)
    if kind == stat.S_IFDIR and inode.size % BLOCK_BYTES:
        problems.add("inode-size", f"a directory of {inode.size} bytes", where)
    limit = (BIX_MAX + 1) * BLOCK_BYTES if kind == stat.S_IFDIR else _SIZE_MAX
    if inode.size > limit:
        problems.add("inode-size", f"{inode.size} bytes", where)


def _check_links(mounted: Mounted, tree: Tree, file: FoundInode, problems: Problems) -> None:
    """Names are counted as after recovery, which has dropped the victim's link."""
    where = Where(ino=file.ino)
    names = len(tree.names[file.ino])
    links = tree.links(file)
    if file.ino in (INO_ROOT, INO_SEGMENTS):
        if names:
            problems.add("dentry-directory", "it has a name in a directory", where)
        if file.inode.nlink != 1:
            problems.add("inode-links", f"it has {file.inode.nlink} links", where)
    elif file.ino == mounted.dynamic.victim:
        if links != names:
            problems.add("inode-links", f"{links} links stay, and it has {names} names", where)
    elif not names:
        problems.add("inode-orphan", f"mode {file.inode.mode:#o}, and no name", where)
    elif file.format == stat.S_IFDIR and names > 1:
        problems.add("dentry-directory", f"it has {names} names", where)
    elif links != names:
        problems.add("inode-links", f"it has {links} links and {names} names", where)


def _check_names(mounted: Mounted, file: FoundInode, problems: Problems) -> None:
    names: dict[bytes, int] = {}
    for dentry in sorted(file.dentries, key=lambda dentry: dentry.bix):
        path = text(dentry.name)
        where = Where(None, dentry.ofs, file.ino, None, dentry.bix, path)
        for rule, message in _dentry_problems(mounted, dentry):
            problems.add(rule, message, where)
        if dentry.name in names:
            message = f"the same name as in block {names[dentry.name]}"
            problems.add("dentry-duplicate", message, where)
        names.setdefault(dentry.name, dentry.bix)


def _dentry_problems(mounted: Mounted, dentry: Dentry) -> Iterator[tuple[str, str]]:
    name = dentry.name
    if not dentry.padded or b"/" in name or b"\0" in name or name in (b".", b".."):
        yield "dentry-name", "no possible name"
    elif dentry.bix not in places(name):
        yield "dentry-place", "a lookup does not find it there"
    target = mounted.inodes.get(dentry.ino)
    if target is None:
        yield "dentry-inode", f"there is no inode {dentry.ino}"
    elif dentry.kind != target.format >> 12:
        yield "dentry-type", f"type {dentry.kind}, its inode has mode {target.inode.mode:#o}"


def _check_directories(mounted: Mounted, tree: Tree, problems: Problems) -> None:
    """Directories with a name that no way leads to from the root are below themselves."""
    for ino, file in mounted.inodes.items():
        if file.format == stat.S_IFDIR and ino not in tree.reached and tree.names[ino]:
            problems.add("dentry-directory", "no way leads there from the root", Where(ino=ino))


def _check_recovery(mounted: Mounted, problems: Problems) -> None:
    dynamic = mounted.dynamic
    if dynamic.victim:
        where = Where(ino=dynamic.victim)
        victim = mounted.inodes.get(dynamic.victim)
        if victim is None:
            problems.add("victim-missing", "it is to be deleted, and not there", where)
        else:
            left = victim.inode.nlink - 1
            what = f"{left} links stay" if left > 0 else "which deletes it"
            problems.add("victim-pending", f"a mount drops a link, {what}", where)
    if dynamic.rename_directory:
        directory = mounted.inodes.get(dynamic.rename_directory)
        bix = dynamic.rename_position // BLOCK_BYTES
        where = Where(ino=dynamic.rename_directory, bix=bix)
        dentries = directory.dentries if directory else []
        old = [dentry for dentry in dentries if dentry.bix == bix]
        if old:
            message = f"a mount removes the name {text(old[0].name)!r}"
            problems.add("rename-pending", message, where)
        else:
            problems.add("rename-missing", "there is no such name", where)
