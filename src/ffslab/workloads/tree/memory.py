"""What a mounted file system costs in RAM: growth of the kernel's memory since before it was there.

Pure functions from `memory` records to the rows `memory` of a result (docs/result-format.md). The
first snapshot, "start", is taken when all modules are loaded and nothing is attached or mounted;
every figure of another one is its difference to "start", in bytes, and may be negative. Caches of
objects count with whole pages, used or not: that is what is missing elsewhere.

The stacks of threads are told and not added: a stack of the lab takes 64 KiB, one of a board 8.

Limits. A file system that takes pages by itself, not from a cache of objects and not with vmalloc,
is found in `other_bytes` only, with whatever else the kernel did. Where the kernel shows no caches
(/proc/slabinfo is absent), all are in there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from ffslab.workloads.tree.records import START_LABEL, MemorySnapshot
from ffslab.workloads.tree.stored import MemoryGrowth, MemoryResult

FILESYSTEM, KMALLOC, INODES, OTHER = "filesystem", "kmalloc", "inodes", "other"
GROUPS = (FILESYSTEM, KMALLOC, INODES, OTHER)

# Which group a cache of objects is in: the first pattern that fits. `inodes` are caches of the
# VFS, which the kernel shrinks when it needs memory; "jffs2_inode_cache", in spite of its name,
# is none: it is JFFS2's own list of the inodes on the flash. docs/result-format.md has the table.
SLAB_GROUPS: tuple[tuple[str, str], ...] = (
    ("dentry", INODES),
    ("inode_cache", INODES),
    ("bdev_cache", INODES),
    ("jffs2_i", INODES),
    ("ubifs_inode_slab", INODES),
    ("squashfs_inode_cache", INODES),
    ("erofs_inode", INODES),
    ("logfs_inode_cache", INODES),
    ("jffs2_*", FILESYSTEM),
    ("ubifs_*", FILESYSTEM),
    ("ubi_*", FILESYSTEM),
    ("yaffs*", FILESYSTEM),
    ("squashfs_*", FILESYSTEM),
    ("erofs_*", FILESYSTEM),
    ("logfs_*", FILESYSTEM),
    ("kmalloc-*", KMALLOC),
    ("dma-kmalloc-*", KMALLOC),
    ("*_inode_cache", INODES),
    ("*_inode_info", INODES),
    ("*", OTHER),
)
# What explains a drop of free memory without being counted as the file system's.
_EXPLAINED = ("kernel_stack_bytes", "page_cache_bytes", "anonymous_bytes", "page_table_bytes")


def slab_group(cache: str) -> str:
    """The group of GROUPS that a cache of objects belongs to, by SLAB_GROUPS."""
    return next(group for pattern, group in SLAB_GROUPS if fnmatchcase(cache, pattern))


def memory_results(snapshots: Sequence[MemorySnapshot], prepared: bool) -> list[MemoryResult]:
    """One row per snapshot but "start", in order; none without "start".

    `prepared`: the guest is the one that prepared the flash.
    """
    start = next((snapshot for snapshot in snapshots if snapshot.label == START_LABEL), None)
    if start is None:
        return []
    return [
        {"label": snapshot.label, "prepared": prepared, **memory_growth(start, snapshot)}
        for snapshot in snapshots
        if snapshot.label != START_LABEL
    ]


def memory_growth(start: MemorySnapshot, now: MemorySnapshot) -> MemoryGrowth:
    """The figures of one row, in bytes."""
    caches = _growth(start.slabs, now.slabs)
    callers = _growth(start.vmalloc, now.vmalloc)
    sizes = {name: now.sizes[name] - start.sizes[name] for name in now.sizes}
    groups = dict.fromkeys(GROUPS, 0)
    for cache, size in caches:
        groups[slab_group(cache)] += size
    vmalloc = sum(size for _, size in callers)
    total = sum(groups.values()) + vmalloc + sizes["percpu_bytes"]
    explained = total + sum(sizes[name] for name in _EXPLAINED)
    return {
        "slab_bytes": {
            "filesystem": groups[FILESYSTEM],
            "kmalloc": groups[KMALLOC],
            "inodes": groups[INODES],
            "other": groups[OTHER],
        },
        "vmalloc_bytes": vmalloc,
        "kernel_stack_bytes": sizes["kernel_stack_bytes"],
        "percpu_bytes": sizes["percpu_bytes"],
        "page_cache_bytes": sizes["page_cache_bytes"],
        "other_bytes": -sizes["mem_free_bytes"] - explained,
        "total_bytes": total,
        "caches": [list(row) for row in caches],
        "vmalloc": [list(row) for row in callers],
    }


def flat_memory(row: MemoryResult) -> Mapping[str, object]:
    """A row with each group of slabs as a figure of its own."""
    slabs = row["slab_bytes"]
    return {
        **row,
        "slab_filesystem_bytes": slabs["filesystem"],
        "slab_kmalloc_bytes": slabs["kmalloc"],
        "slab_inodes_bytes": slabs["inodes"],
        "slab_other_bytes": slabs["other"],
    }


def _growth(before: Mapping[str, int], after: Mapping[str, int]) -> list[tuple[str, int]]:
    """Name and bytes of what changed, the largest growth first."""
    changes = {name: after.get(name, 0) - before.get(name, 0) for name in {*before, *after}}
    grown = [(name, size) for name, size in changes.items() if size]
    return sorted(grown, key=lambda row: (-row[1], row[0]))
