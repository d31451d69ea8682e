"""The step `memory` against allocations of known size.

A module takes memory in every way that a file system does, with sizes that its parameters say. It
is loaded twice, without and with allocations, so that the difference of the records after the two
loads is what it took and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fstree import Script
from guest_programs import DEBUG, build
from lab_support import Boot, boot, cases, edited
from own_modules import Own
from yaffs_guest import PROGRAM, run

from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.protocol.plan import encode
from ffslab.targets.virtual_flash import RIG, module_path, plan_text

pytestmark = pytest.mark.skipif(
    DEBUG, reason="KASAN makes objects larger and keeps freed ones in its quarantine"
)

PAGE = 4096
SOURCE = r"""
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static unsigned int objects, object_bytes = 8, small, small_bytes, large, large_bytes;
static unsigned int areas, area_bytes, pages, page_order;
module_param(objects, uint, 0);
module_param(object_bytes, uint, 0);
module_param(small, uint, 0);
module_param(small_bytes, uint, 0);
module_param(large, uint, 0);
module_param(large_bytes, uint, 0);
module_param(areas, uint, 0);
module_param(area_bytes, uint, 0);
module_param(pages, uint, 0);
module_param(page_order, uint, 0);

/* Chains: each piece holds the address of the one before, so nothing else is allocated. */
static struct kmem_cache *cache;
static void *object_chain, *small_chain, *large_chain, *area_chain;
static struct list_head page_list = LIST_HEAD_INIT(page_list);

static int push(void **chain, void *piece)
{
	if (!piece)
		return -ENOMEM;
	*(void **)piece = *chain;
	*chain = piece;
	return 0;
}

static void *pop(void **chain)
{
	void *piece = *chain;

	if (piece)
		*chain = *(void **)piece;
	return piece;
}

noinline int eater_takes_areas(void);
noinline int eater_takes_areas(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < areas; i++)
		err = push(&area_chain, vmalloc(area_bytes));
	return err;
}

static int take_pages(void)
{
	unsigned int i;

	for (i = 0; i < pages; i++) {
		struct page *page = alloc_pages(GFP_KERNEL, page_order);

		if (!page)
			return -ENOMEM;
		list_add(&page->lru, &page_list);
	}
	return 0;
}

static int __init start(void)
{
	unsigned int i;
	int err = 0;

	cache = kmem_cache_create("eater_object", object_bytes, 0, 0, NULL);
	if (!cache)
		return -ENOMEM;
	for (i = 0; !err && i < objects; i++)
		err = push(&object_chain, kmem_cache_alloc(cache, GFP_KERNEL));
	for (i = 0; !err && i < small; i++)
		err = push(&small_chain, kmalloc(small_bytes, GFP_KERNEL));
	for (i = 0; !err && i < large; i++)
		err = push(&large_chain, kmalloc(large_bytes, GFP_KERNEL));
	err = err ?: eater_takes_areas();
	err = err ?: take_pages();
	return err;
}

static void __exit stop(void)
{
	struct page *page, *next;
	void *piece;

	while ((piece = pop(&object_chain)))
		kmem_cache_free(cache, piece);
	while ((piece = pop(&small_chain)))
		kfree(piece);
	while ((piece = pop(&large_chain)))
		kfree(piece);
	while ((piece = pop(&area_chain)))
		vfree(piece);
	list_for_each_entry_safe(page, next, &page_list, lru)
		__free_pages(page, page_order);
	kmem_cache_destroy(cache);
}

module_init(start);
module_exit(stop);
MODULE_LICENSE("GPL");
"""


@dataclass(frozen=True)
class Record:
    """A `memory` record with its rows by name."""

    raw: Mapping[str, Any]
    slabs: Mapping[str, tuple[int, int]] = field(init=False)  # bytes of pages, active objects
    areas: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        slabs = {name: (taken, active) for name, taken, active, _ in self.raw["slabs"]}
        assert len(slabs) == len(self.raw["slabs"])
        object.__setattr__(self, "slabs", slabs)
        object.__setattr__(self, "areas", dict(self.raw["vmalloc"]))

    def slab(self, name: str) -> int:
        return self.slabs.get(name, (0, 0))[0]

    def active(self, name: str) -> int:
        return self.slabs.get(name, (0, 0))[1]

    @property
    def explained(self) -> int:
        """Bytes of everything that has an owner in the record."""
        keys = (
            *("page_cache_bytes", "anonymous_bytes", "kernel_stack_bytes"),
            *("page_table_bytes", "percpu_bytes"),
        )
        owned = sum(taken for taken, _ in self.slabs.values()) + sum(self.areas.values())
        return owned + sum(int(self.raw[key]) for key in keys)


def memory(guest: Boot) -> dict[str, Record]:
    return {raw["label"]: Record(raw) for raw in guest.of_type("memory")}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, lab: LabBuild) -> Own:
    assert lab.build_id
    files = {"Kbuild": "obj-m += eater.o\n", "eater.c": SOURCE}
    return Own(tmp_path_factory.mktemp("eater"), "eater", files)


def loads(own: Own, directory: Path, parameters: Mapping[str, int]) -> dict[str, Record]:
    """Records before, with the module alone, with what it takes, and after its end."""
    words = encode(" ".join(f"{key}={value}" for key, value in parameters.items()))
    path = module_path("eater")
    case = own.case()
    steps = [line for line in RIG.begin(case, trace=False) if "eater" not in line]
    steps += ["memory label=first", f"insmod path={path}", "memory label=empty"]
    steps += ["rmmod name=eater", "memory label=before", f"insmod path={path} args={words}"]
    steps += ["memory label=taken", "rmmod name=eater", "memory label=freed"]
    guest = boot(own.lab(), directory, case, "\n".join(["ffsplan 1", *steps]) + "\n")
    assert guest.of_type("end")[0]["status"] == "ok", guest.of_type("end")
    return memory(guest)


def slabs_of(objects: int, per_slab: int) -> int:
    return -(-objects // per_slab)


@pytest.mark.parametrize(
    ("objects", "object_bytes", "per_slab", "slab_pages"),
    # 20 objects of 200 bytes go into a page, 8 of 1000 into two: SLUB wants 8 in a slab.
    [(1000, 200, 20, 1), (1001, 200, 20, 1), (100, 1000, 8, 2), (3, 1000, 8, 2)],
)
def test_a_cache_of_its_own_is_exact(
    own: Own, tmp_path: Path, objects: int, object_bytes: int, per_slab: int, slab_pages: int
) -> None:
    found = loads(own, tmp_path / "guest", {"objects": objects, "object_bytes": object_bytes})
    assert "eater_object" not in found["empty"].slabs
    slabs = slabs_of(objects, per_slab)
    assert found["taken"].slab("eater_object") == slabs * slab_pages * PAGE
    # The rest of the slab that the CPU allocates from counts as in use.
    assert found["taken"].active("eater_object") in {objects, slabs * per_slab}
    (row,) = [row for row in found["taken"].raw["slabs"] if row[0] == "eater_object"]
    assert row[3] == object_bytes
    assert "eater_object" not in found["freed"].slabs


def test_vmalloc_is_exact(own: Own, tmp_path: Path) -> None:
    found = loads(own, tmp_path / "guest", {"areas": 3, "area_bytes": (1 << 20) + 1})
    assert "eater_takes_areas" not in found["empty"].areas
    assert found["taken"].areas["eater_takes_areas"] == 3 * (256 + 1) * PAGE
    assert "eater_takes_areas" not in found["freed"].areas
    others = [{**record.areas} for record in (found["empty"], found["taken"])]
    others[1].pop("eater_takes_areas")
    assert others[0] == others[1]


def test_large_kmalloc_is_exact(own: Own, tmp_path: Path) -> None:
    """Pages that no cache counts: the row behind the caches."""
    found = loads(own, tmp_path / "guest", {"large": 5, "large_bytes": 65536})
    growth = found["taken"].slab("kmalloc-large") - found["empty"].slab("kmalloc-large")
    assert growth == 5 * 65536
    assert found["taken"].raw["slabs"][-1][0] == "kmalloc-large"
    assert found["freed"].slab("kmalloc-large") == found["before"].slab("kmalloc-large")


@pytest.mark.parametrize(
    ("small_bytes", "cache", "object_bytes", "per_slab", "slab_pages"),
    [(100, "kmalloc-128", 128, 32, 1), (1000, "kmalloc-1k", 1024, 8, 2)],
)
def test_shared_caches_are_right_within_a_slab(
    own: Own,
    tmp_path: Path,
    small_bytes: int,
    cache: str,
    object_bytes: int,
    per_slab: int,
    slab_pages: int,
) -> None:
    small = 1003
    found = loads(own, tmp_path / "guest", {"small": small, "small_bytes": small_bytes})
    taken, empty = found["taken"], found["empty"]
    slab_bytes = slab_pages * PAGE
    assert abs(taken.slab(cache) - empty.slab(cache) - small * object_bytes) < slab_bytes
    assert abs(taken.active(cache) - empty.active(cache) - small) < per_slab


def test_pages_without_owner_lower_the_free_memory(own: Own, tmp_path: Path) -> None:
    """With all kinds at once: what rows do not explain is what alloc_pages() gave."""
    parameters = {
        "objects": 1000,
        "object_bytes": 200,
        "areas": 3,
        "area_bytes": 1 << 20,
        "small": 500,
        "small_bytes": 100,
        "large": 5,
        "large_bytes": 65536,
        "pages": 16,
        "page_order": 5,
    }
    found = loads(own, tmp_path / "guest", parameters)
    taken, empty = found["taken"], found["empty"]
    drop = empty.raw["mem_free_bytes"] - taken.raw["mem_free_bytes"]
    unexplained = drop - (taken.explained - empty.explained)
    # More by the kernel's page tables of the areas, less by the single pages that it had at hand:
    # those do not count as free.
    assert abs(unexplained - 16 * 32 * PAGE) <= 16 * PAGE
    assert drop > 3 * (1 << 20) + 5 * 65536 + 16 * 32 * PAGE


def some_case() -> Case:
    """JFFS2 on a free flash."""
    (case,) = [
        case
        for case in cases().values()
        if case.filesystem.type == "jffs2" and case.state.kind == "free"
    ]
    return case


def measured(lab: LabBuild, directory: Path) -> Boot:
    """A workload with records at its edges, each twice."""
    plan = plan_text(some_case())
    twice = "memory label={0}\nmemory label={0}-again\n"
    plan = edited(
        plan,
        [
            ("mount type=jffs2", twice.format("start") + "mount type=jffs2"),
            ("umount target=/mnt\n", twice.format("files") + "umount target=/mnt\n"),
        ],
    )
    return boot(lab, directory, some_case(), plan + twice.format("end"))


def test_records_are_cheap_and_the_same_each_time(lab: LabBuild, tmp_path: Path) -> None:
    first = measured(lab, tmp_path / "first")
    second = measured(lab, tmp_path / "second")
    assert first.of_type("memory") == second.of_type("memory")
    for label in ("start", "files", "end"):
        once, again = (memory(first)[name].raw for name in (label, f"{label}-again"))
        differing = {key for key in once if once[key] != again[key]}
        assert differing - {"slabs"} == {"label", "t_ns"}
        # Objects in use are not exact: SLUB may take another slab to allocate from.
        assert [row[:2] for row in once["slabs"]] == [row[:2] for row in again["slabs"]]
    # On the board's 400 MHz ARM9. Most of it is the kernel printing a line for every cache.
    steps = [r for r in first.of_type("step") if r["verb"] == "memory"]
    assert max(r["t_end_ns"] - r["t_start_ns"] for r in steps) < 6_000_000


def test_files_are_seen_in_the_file_systems_caches(lab: LabBuild, tmp_path: Path) -> None:
    """JFFS2 keeps 48 bytes for each inode on the flash; when it is gone, they are free."""
    files, per_slab = 700, 85
    script = Script()
    for number in range(files):
        script.write(f"/{number}", 0, 100, seed=number)
    text = tmp_path / "script"
    text.write_text(script.text)
    program = {PROGRAM: build("fstree", tmp_path), "/test/script0": text}
    plan = plan_text(some_case())
    (workload,) = [line for line in plan.splitlines() if line.startswith("ffsmark ")]
    steps = f"memory label=empty\n{run(0)}\nmemory label=files"
    plan = edited(plan, [(workload, steps)]) + "memory label=end\n"
    found = memory(boot(lab, tmp_path / "guest", some_case(), plan, files=program))
    inodes = {label: record.active("jffs2_inode_cache") for label, record in found.items()}
    assert abs(inodes["files"] - inodes["empty"] - files) < per_slab
    assert inodes["end"] <= per_slab
    taken = found["files"].slab("jffs2_inode_cache") - found["empty"].slab("jffs2_inode_cache")
    assert abs(taken - files * 48) < 2 * PAGE
