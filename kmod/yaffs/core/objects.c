// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects in memory: every file, directory, link and special file of the partition,
 * found by its id in an XArray. What only the header on flash knows (name, mode,
 * times) is read when it is first asked for.
 *
 * In the plain layout ids are given out in turn, not the lowest first: the pages of a deleted
 * object stay on flash until they are erased, and an id that comes back late meets fewer.
 */

#include <linux/ktime.h>
#include <linux/mm.h>

#include "../../compat.h"
#include "objects.h"

#define FREE_TOGETHER 64

static struct kmem_cache *object_cache;

int yaffs_objects_init(void)
{
	object_cache = KMEM_CACHE(yaffs_object, SLAB_RECLAIM_ACCOUNT);
	return object_cache ? 0 : -ENOMEM;
}

void yaffs_objects_exit(void)
{
	kmem_cache_destroy(object_cache);
}

/* The clock of current_time(): times of one operation must not differ. */
u64 yaffs_now_s(void)
{
	struct timespec64 now;

	ktime_get_coarse_real_ts64(&now);
	return max_t(time64_t, now.tv_sec, 0);
}

struct yaffs_object *yaffs_object_find(struct yaffs_device *dev, u32 id)
{
	yaffs_assert_locked(dev);
	return xa_load(&dev->objects, id);
}

static void set_type(struct yaffs_object *obj, u8 type)
{
	obj->type = type;
	if (type == YAFFS_TYPE_FILE) {
		obj->file.shrink_limit = obj->dev->max_file_bytes;
		obj->dev->n_files++;
	} else if (type == YAFFS_TYPE_DIRECTORY) {
		obj->dir.children = RB_ROOT;
		INIT_LIST_HEAD(&obj->dir.unnamed);
		INIT_LIST_HEAD(&obj->dir.dirty);
	}
}

struct yaffs_object *yaffs_object_new(struct yaffs_device *dev, u32 id, u8 type)
{
	struct yaffs_object *obj;
	int err;

	yaffs_assert_locked(dev);
	obj = kmem_cache_zalloc(object_cache, GFP_NOFS);
	if (!obj)
		return ERR_PTR(-ENOMEM);
	obj->dev = dev;
	INIT_LIST_HEAD(&obj->links);
	INIT_LIST_HEAD(&obj->unnamed);
	if (id)
		err = xa_insert(&dev->objects, id, obj, GFP_NOFS);
	else if (yaffs_is_segregated(dev))
		/* Low ids take few parts of those that summaries tell (ids.c). */
		err = xa_alloc(&dev->objects, &id, obj,
			       XA_LIMIT(YAFFS_ID_FIRST, YAFFS_MAX_OBJECT_ID),
			       GFP_NOFS);
	else
		err = xa_alloc_cyclic(&dev->objects, &id, obj,
				      XA_LIMIT(YAFFS_ID_FIRST,
					       YAFFS_MAX_OBJECT_ID),
				      &dev->next_id, GFP_NOFS);
	if (err < 0) {
		kmem_cache_free(object_cache, obj);
		if (err == -EBUSY)
			err = id ? -EEXIST : -ENOSPC;
		return ERR_PTR(err);
	}
	obj->id = id;
	dev->n_objects++;
	set_type(obj, type);
	err = yaffs_ids_prepare(dev, obj->id);
	if (err) {
		yaffs_object_free(obj);
		return ERR_PTR(err);
	}
	if (type == YAFFS_TYPE_FILE && yaffs_is_segregated(dev) &&
	    yaffs_map_new(obj)) {
		yaffs_object_free(obj);
		return ERR_PTR(-ENOMEM);
	}
	return obj;
}

static void free_links(struct yaffs_object *obj)
{
	struct yaffs_object *link, *next;

	if (obj->type == YAFFS_TYPE_HARDLINK) {
		yaffs_object_set_link(obj, NULL);
		return;
	}
	list_for_each_entry_safe(link, next, &obj->links, links)
		yaffs_object_set_link(link, NULL);
}

static void free_type(struct yaffs_object *obj)
{
	switch (obj->type) {
	case YAFFS_TYPE_FILE:
		yaffs_cache_drop(obj, 0);
		yaffs_index_free(obj->dev, &obj->file.index);
		yaffs_map_free(obj);
		obj->dev->n_files--;
		break;
	case YAFFS_TYPE_DIRECTORY:
		list_del_init(&obj->dir.dirty);
		break;
	case YAFFS_TYPE_SYMLINK:
		kfree(obj->symlink);
		break;
	}
}

void yaffs_object_free(struct yaffs_object *obj)
{
	struct yaffs_device *dev = obj->dev;

	yaffs_assert_locked(dev);
	INVARIANT(obj->type != YAFFS_TYPE_DIRECTORY || yaffs_directory_is_empty(obj),
		  "directory %u goes, but not its children", obj->id);
	INVARIANT(!obj->hdr_chunk || !test_bit(obj->hdr_chunk, dev->live),
		  "object %u goes, but not its header on page %u", obj->id, obj->hdr_chunk);
	yaffs_directory_remove(obj);
	free_links(obj);
	free_type(obj);
	kfree(obj->name);
	xa_erase(&dev->objects, obj->id);
	yaffs_ids_remove(dev, obj->id);
	dev->n_objects--;
	kmem_cache_free(object_cache, obj);
}

/*
 * Frees objects with what hangs on them, but not what ties them to others, which go
 * too. Neighbours in memory are freed together, which costs the allocator little.
 */
static void free_together(struct yaffs_device *dev, struct yaffs_object **objects,
			  u32 n)
{
	void *leaves[FREE_TOGETHER];
	u32 n_leaves = 0, i;

	for (i = 0; i < n; i++) {
		struct yaffs_object *obj = objects[i];

		if (obj->type == YAFFS_TYPE_SYMLINK)
			kfree(obj->symlink);
		if (obj->type == YAFFS_TYPE_FILE)
			yaffs_map_free(obj);
		if (obj->type == YAFFS_TYPE_FILE &&
		    !yaffs_index_take_leaf(dev, &obj->file.index,
					   &leaves[n_leaves]))
			n_leaves++;
		kfree(obj->name);
	}
	yaffs_index_free_leaves(leaves, n_leaves);
	compat_free_bulk(object_cache, n, (void **)objects);
}

struct yaffs_object **yaffs_objects_by_bucket(struct yaffs_device *dev)
{
	u32 next[YAFFS_CKPT_BUCKETS] = {}, i, sum = 0, count;
	XA_STATE(xas, &dev->objects, 0);
	struct yaffs_object **order, *obj;

	order = kvmalloc_array(max(dev->n_objects, 1U), sizeof(*order),
			       GFP_NOFS);
	if (!order)
		return NULL;
	rcu_read_lock();
	xas_for_each(&xas, obj, YAFFS_MAX_OBJECT_ID)
		next[obj->id % YAFFS_CKPT_BUCKETS]++;
	for (i = 0; i < YAFFS_CKPT_BUCKETS; i++) {
		count = next[i];
		next[i] = sum;
		sum += count;
	}
	xas_set(&xas, 0);
	xas_for_each(&xas, obj, YAFFS_MAX_OBJECT_ID)
		order[next[obj->id % YAFFS_CKPT_BUCKETS]++] = obj;
	rcu_read_unlock();
	return order;
}

/* In the order in which a checkpoint's objects were read, hence allocated. */
static void free_all(struct yaffs_device *dev)
{
	struct yaffs_object **order = yaffs_objects_by_bucket(dev), *obj;
	unsigned long id;
	u32 i;

	if (!order) {
		xa_for_each(&dev->objects, id, obj)
			free_together(dev, &obj, 1);
		return;
	}
	for (i = 0; i < dev->n_objects; i += FREE_TOGETHER) {
		free_together(dev, order + i,
			      min_t(u32, dev->n_objects - i, FREE_TOGETHER));
		cond_resched();
	}
	kvfree(order);
}

void yaffs_objects_free(struct yaffs_device *dev)
{
	yaffs_cache_forget(dev);
	free_all(dev);
	xa_destroy(&dev->objects);
	yaffs_ids_clear(dev);
	INIT_LIST_HEAD(&dev->dirty_directories);
	dev->n_objects = 0;
	dev->n_files = 0;
	dev->root = NULL;
	dev->lost_found = NULL;
	dev->unlinked = NULL;
	dev->deleted = NULL;
}

struct yaffs_object *yaffs_object_target(struct yaffs_object *obj)
{
	return obj->type == YAFFS_TYPE_HARDLINK ? obj->hardlink.target : obj;
}

void yaffs_object_set_link(struct yaffs_object *link,
			   struct yaffs_object *target)
{
	INVARIANT(link->type == YAFFS_TYPE_HARDLINK &&
		  (!target || target->type != YAFFS_TYPE_HARDLINK),
		  "object %u is no hard link, or one to another", link->id);
	INVARIANT(!link->hardlink.target || link->hardlink.target->n_links,
		  "object %u has links, and none is counted", link->hardlink.target_id);
	if (link->hardlink.target) {
		list_del_init(&link->links);
		link->hardlink.target->n_links--;
	}
	link->hardlink.target = target;
	if (target) {
		link->hardlink.target_id = target->id;
		list_add_tail(&link->links, &target->links);
		target->n_links++;
	}
}

u32 yaffs_object_nlink(const struct yaffs_object *obj)
{
	if (obj->unlinked || obj->deleted)
		return 0;
	if (obj->type == YAFFS_TYPE_DIRECTORY)
		return 2 + obj->dir.n_directories;
	return 1 + obj->n_links;
}
