"""Memory of the workload `tree`: groups of caches, and growth since the start."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from tree_support import Memory, Phase, results, tree_case, tree_records

from ffslab.protocol.records import parse_records
from ffslab.workloads.tree.memory import (
    GROUPS,
    SLAB_GROUPS,
    memory_growth,
    memory_results,
    slab_group,
)
from ffslab.workloads.tree.records import MEMORY_SIZES, MemorySnapshot, load_tree_records

ROOT = Path(__file__).resolve().parents[2]


def snapshot(label: str, **parts: Any) -> MemorySnapshot:
    (found,) = load_tree_records(parse_records(tree_records([Memory(label, **parts)]))).memory
    return found


@pytest.mark.parametrize(
    ("cache", "group"),
    [
        ("jffs2_inode_cache", "filesystem"),
        ("jffs2_raw_inode", "filesystem"),
        ("jffs2_refblock", "filesystem"),
        ("ubi_wl_entry_slab", "filesystem"),
        ("yaffs_object", "filesystem"),
        ("erofs_pcluster-16", "filesystem"),
        ("jffs2_i", "inodes"),
        ("ubifs_inode_slab", "inodes"),
        ("erofs_inode", "inodes"),
        ("squashfs_inode_cache", "inodes"),
        ("dentry", "inodes"),
        ("inode_cache", "inodes"),
        ("proc_inode_cache", "inodes"),
        ("hostfs_inode_info", "inodes"),
        ("kmalloc-64", "kmalloc"),
        ("kmalloc-rcl-128", "kmalloc"),
        ("radix_tree_node", "other"),
        ("task_struct", "other"),
    ],
)
def test_groups_of_caches(cache: str, group: str) -> None:
    assert slab_group(cache) == group


def test_growth_since_start() -> None:
    start = snapshot("start", slabs={"dentry": 8192, "kmalloc-64": 4096, "fork": 4096})
    now = snapshot(
        "mount",
        free=99 * 2**20,
        page_cache=100_000,
        kernel_stack=16_384,
        percpu=128,
        slabs={"dentry": 12_288, "kmalloc-64": 4096, "jffs2_i": 40_960, "jffs2_refblock": 8192},
        vmalloc={"jffs2_do_mount_fs": 65_536},
    )
    row = memory_growth(start, now)
    assert row["slab_bytes"] == {
        "filesystem": 8192,
        "kmalloc": 0,
        "inodes": 4096 + 40_960,
        "other": -4096,
    }
    assert row["total_bytes"] == 8192 + 45_056 - 4096 + 65_536 + 128
    assert row["kernel_stack_bytes"] == 16_384
    assert row["other_bytes"] == 2**20 - row["total_bytes"] - 100_000 - 16_384
    assert row["page_cache_bytes"] == 100_000
    assert row["caches"] == [
        ["jffs2_i", 40_960],
        ["jffs2_refblock", 8192],
        ["dentry", 4096],
        ["fork", -4096],
    ]
    assert row["vmalloc"] == [["jffs2_do_mount_fs", 65_536]]
    (only,) = memory_results([start, now], prepared=True)
    assert (only["label"], only["prepared"]) == ("mount", True)


def test_without_start_there_is_no_growth() -> None:
    assert memory_results([snapshot("mount")], prepared=False) == []


def test_guests_are_not_mixed() -> None:
    case = tree_case("mount crash mount unmount")
    before = tree_records([Memory("start"), Phase("mount"), Memory("mount", percpu=5)])
    after = tree_records([Memory("start", percpu=3), Phase("mount-2"), Memory("mount-2", percpu=9)])
    rows = results(case, after, before)["memory"]
    assert [(r["label"], r["prepared"], r["percpu_bytes"]) for r in rows] == [
        ("mount", True, 5),
        ("mount-2", False, 6),
    ]


def test_memory_adds_up() -> None:
    """Property: every cache is in one group, sums are sums, and growth back is the opposite."""
    draw = random.Random(5)
    names = ["jffs2_i", "ubi_x", "kmalloc-8", "dentry", "skbuff", "a_inode_cache"]
    for _ in range(200):
        ends = [
            MemorySnapshot(
                label,
                {name: draw.randrange(10**9) for name in MEMORY_SIZES},
                {name: draw.randrange(10**6) for name in draw.sample(names, 4)},
                {name: draw.randrange(10**6) for name in draw.sample("abcd", 2)},
            )
            for label in ("start", "mount")
        ]
        row, back = memory_growth(ends[0], ends[1]), memory_growth(ends[1], ends[0])
        assert set(row["slab_bytes"]) == set(GROUPS)
        assert sum(row["slab_bytes"].values()) == sum(size for _, size in row["caches"])
        assert row["vmalloc_bytes"] == sum(size for _, size in row["vmalloc"])
        for key in ("total_bytes", "other_bytes", "vmalloc_bytes", "percpu_bytes"):
            assert row[key] == -back[key]
        changes = {name: ends[1].sizes[name] - ends[0].sizes[name] for name in MEMORY_SIZES}
        beside = ("kernel_stack", "page_cache", "anonymous", "page_table")
        others = sum(changes[f"{name}_bytes"] for name in beside)
        # What left free memory is in one of the sums.
        assert -changes["mem_free_bytes"] == row["total_bytes"] + row["other_bytes"] + others
        sizes = [size for _, size in row["caches"]]
        assert sizes == sorted(sizes, reverse=True)
        assert memory_growth(ends[0], ends[0])["total_bytes"] == 0


def test_caches_that_grew_as_much_are_in_order_of_their_names() -> None:
    sizes = dict.fromkeys(MEMORY_SIZES, 0)
    start = MemorySnapshot("start", sizes, {"d": 9}, {})
    alike = dict.fromkeys("khaecgbifj", 5)  # so many that no set has them in order by chance
    now = MemorySnapshot("mount", sizes, {**alike, "z": 6, "d": 9}, {})
    growth = [["z", 6], *([name, 5] for name in "abcefghijk")]
    assert memory_growth(start, now)["caches"] == growth


def test_documented_groups_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "result-format.md").read_text()
    table = text.split("| pattern | group |\n|---|---|\n")[1].split("\n\n")[0]
    documented = [
        (pattern, row.rsplit("`", 2)[1])
        for row in table.splitlines()
        for pattern in re.findall(r"`([^`]+)`", row.split("|")[1])
    ]
    assert documented == list(SLAB_GROUPS)
