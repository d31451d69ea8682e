// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of the short-op cache: a few chunks of files, found by file and chunk.
 * What goes into them and out of them is cache.c's.
 */

#include "objects.h"

int yaffs_cache_init(struct yaffs_device *dev)
{
	u32 i;

	if (!dev->options.cache)
		return 0;
	dev->slots = kcalloc(YAFFS_CACHE_SLOTS, sizeof(*dev->slots),
			     GFP_KERNEL);
	if (!dev->slots)
		return -ENOMEM;
	dev->n_slots = YAFFS_CACHE_SLOTS;
	for (i = 0; i < dev->n_slots; i++) {
		dev->slots[i].data = kmalloc(dev->page_bytes, GFP_KERNEL);
		if (!dev->slots[i].data)
			return -ENOMEM;
	}
	return 0;
}

void yaffs_cache_exit(struct yaffs_device *dev)
{
	u32 i;

	for (i = 0; i < dev->n_slots; i++)
		kfree(dev->slots[i].data);
	kfree(dev->slots);
	dev->slots = NULL;
	dev->n_slots = 0;
}

void yaffs_slot_set_dirty(struct yaffs_device *dev, struct yaffs_slot *slot,
			  bool dirty)
{
	INVARIANT(!slot->dirty || dev->n_dirty_slots, "a slot is dirty, and none is counted");
	dev->n_dirty_slots += dirty - slot->dirty;
	slot->dirty = dirty;
}

void yaffs_slot_release(struct yaffs_device *dev, struct yaffs_slot *slot)
{
	yaffs_slot_set_dirty(dev, slot, false);
	slot->obj = NULL;
}

void yaffs_cache_forget(struct yaffs_device *dev)
{
	u32 i;

	for (i = 0; i < dev->n_slots; i++)
		yaffs_slot_release(dev, &dev->slots[i]);
}

struct yaffs_slot *yaffs_slot_find(struct yaffs_object *obj, u32 chunk_id)
{
	struct yaffs_device *dev = obj->dev;
	u32 i;

	yaffs_assert_locked(dev);
	for (i = 0; i < dev->n_slots; i++)
		if (dev->slots[i].obj == obj &&
		    dev->slots[i].chunk_id == chunk_id) {
			dev->slots[i].used = ++dev->slot_clock;
			return &dev->slots[i];
		}
	return NULL;
}

void yaffs_cache_drop(struct yaffs_object *obj, u32 chunk_id)
{
	struct yaffs_device *dev = obj->dev;
	u32 i;

	for (i = 0; i < dev->n_slots; i++)
		if (dev->slots[i].obj == obj &&
		    dev->slots[i].chunk_id >= chunk_id)
			yaffs_slot_release(dev, &dev->slots[i]);
}
