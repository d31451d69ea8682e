// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a heap of objects to a tree. Scan and checkpoint give each object the number
 * of its parent; here the numbers become pointers, links find their targets, and what
 * has no path to the root gets a place in lost+found.
 *
 * Objects under "unlinked" were in use when power was lost, or half deleted; those
 * under "deleted" were gone already. Both, and by default all of lost+found, are
 * removed from flash when the mount may write. A read-only mount leaves that to the
 * moment when it becomes writable.
 */

#include <linux/sched.h>

#include "yaffs.h"

static bool is_root(const struct yaffs_object *obj)
{
	const struct yaffs_device *dev = obj->dev;

	return obj == dev->root || obj == dev->unlinked || obj == dev->deleted;
}

static struct yaffs_object *directory_of(struct yaffs_object *obj)
{
	struct yaffs_object *dir = yaffs_object_find(obj->dev, obj->parent_id);

	return dir && dir != obj && dir->type == YAFFS_TYPE_DIRECTORY ? dir :
									NULL;
}

/*
 * Follows parents up to a root or to an object that has a path. Returns the object
 * where the path breaks: its parent is no directory, or on the path already.
 */
static struct yaffs_object *broken_path(struct yaffs_object *obj)
{
	struct yaffs_object *dir;

	for (; !is_root(obj) && !obj->seen; obj = dir) {
		obj->walked = true;
		dir = directory_of(obj);
		if (!dir || dir->walked)
			return obj;
	}
	return NULL;
}

static void mark_path(struct yaffs_object *obj)
{
	for (; obj && obj->walked; obj = directory_of(obj)) {
		obj->walked = false;
		obj->seen = true;
	}
}

static void make_paths(struct yaffs_device *dev)
{
	struct yaffs_object *obj, *broken;
	unsigned long id;
	u32 lost = 0;

	dev->lost_found->parent_id = YAFFS_ID_ROOT;
	dev->lost_found->seen = true;
	xa_for_each(&dev->objects, id, obj) {
		broken = broken_path(obj);
		if (broken) {
			broken->parent_id = YAFFS_ID_LOST_FOUND;
			lost++;
		}
		mark_path(obj);
		if (id % 64 == 0)
			cond_resched();
	}
	if (lost)
		pr_info("yaffs2: %s: %u objects without a path to the root: lost+found\n",
			dev->mtd->name, lost);
}

/* A child of lost+found must have a name; one without a header gets it here. */
static int adopt(struct yaffs_object *obj)
{
	struct yaffs_device *dev = obj->dev;
	struct yaffs_object *dir = yaffs_object_find(dev, obj->parent_id);
	int err;

	yaffs_directory_add(dir, obj);
	obj->unlinked = dir == dev->unlinked;
	if (obj->hdr_chunk || obj->loaded)
		return 0;
	err = yaffs_object_load(obj);	/* -EUCLEAN, and a name by its id */
	if (err == -ENOMEM)
		return err;
	obj->damaged = false;
	obj->mode = obj->type == YAFFS_TYPE_DIRECTORY ? S_IFDIR | 0700 :
							S_IFREG | 0600;
	return 0;
}

static void find_target(struct yaffs_object *link)
{
	struct yaffs_object *target = yaffs_object_find(link->dev,
						link->hardlink.target_id);

	if (!target || target->type == YAFFS_TYPE_HARDLINK ||
	    target->type == YAFFS_TYPE_DIRECTORY ||
	    target->parent_id == YAFFS_ID_UNLINKED ||
	    target->parent_id == YAFFS_ID_DELETED)
		target = NULL;
	yaffs_object_set_link(link, target);
}

/*
 * A link that has the name of its own target: power was lost while the one took the
 * place of the other. It is treated as one without a target.
 */
static int drop_double(struct yaffs_object *link)
{
	struct yaffs_object *target = link->hardlink.target;

	if (!target || link->parent != target->parent)
		return 0;
	if (yaffs_object_load(link) == -ENOMEM ||
	    yaffs_object_load(target) == -ENOMEM)
		return -ENOMEM;
	if (link->damaged || target->damaged || strcmp(link->name, target->name))
		return 0;
	yaffs_directory_remove(link);
	yaffs_object_set_link(link, NULL);
	return 0;
}

static int drop_doubles(struct yaffs_device *dev)
{
	struct yaffs_object *obj;
	unsigned long id;
	int err = 0;

	xa_for_each(&dev->objects, id, obj)
		if (obj->type == YAFFS_TYPE_HARDLINK && !err)
			err = drop_double(obj);
	return err;
}

/*
 * Forgets what the flash says is deleted already. A deleted directory should have no
 * children; one that has some (@walked) goes with them, later.
 */
static void forget(struct yaffs_object *obj)
{
	struct yaffs_device *dev = obj->dev;
	bool read_only = dev->read_only;

	if (is_root(obj) || obj->parent_id != YAFFS_ID_DELETED || obj->walked)
		return;
	/* Nothing may be erased yet: only the books are kept. */
	dev->read_only = true;
	if (obj->type == YAFFS_TYPE_FILE)
		yaffs_file_drop(obj);
	if (obj->hdr_chunk)
		yaffs_chunk_dead(dev, obj->hdr_chunk);
	dev->read_only = read_only;
	yaffs_object_free(obj);
}

int yaffs_recover_links(struct yaffs_device *dev)
{
	struct yaffs_object *obj, *dir;
	unsigned long id;
	int err;

	make_paths(dev);
	xa_for_each(&dev->objects, id, obj) {
		dir = directory_of(obj);
		if (dir)
			dir->walked = true;
	}
	xa_for_each(&dev->objects, id, obj)
		forget(obj);
	xa_for_each(&dev->objects, id, obj) {
		obj->seen = false;
		obj->walked = false;
		if (is_root(obj))
			continue;
		err = adopt(obj);
		if (err)
			return err;
		if (obj->type == YAFFS_TYPE_HARDLINK)
			find_target(obj);
		if (obj->type == YAFFS_TYPE_FILE && !obj->hdr_chunk)
			obj->file.stored_size = obj->file.size;
	}
	return dev->mounted_by == YAFFS_BY_SCAN ? drop_doubles(dev) : 0;
}

/* ---- what changes the flash ---- */

static int delete_child(struct yaffs_object *obj)
{
	int err;

	/* What has another name lives on under that. */
	if (obj->type != YAFFS_TYPE_HARDLINK && obj->n_links)
		return yaffs_unlink(obj);
	err = yaffs_object_delete(obj);
	/* It was seen while the mount was read-only: its inode frees it. */
	if (!err && !obj->in_use)
		yaffs_object_free(obj);
	return err;
}

static struct yaffs_object *any_child(struct yaffs_object *dir)
{
	if (!list_empty(&dir->dir.unnamed))
		return list_first_entry(&dir->dir.unnamed, struct yaffs_object,
					unnamed);
	return yaffs_directory_at(dir, 0);
}

/* Something below @obj without children; @obj itself if it has none. */
static struct yaffs_object *deepest(struct yaffs_object *obj)
{
	struct yaffs_object *child;

	while (obj->type == YAFFS_TYPE_DIRECTORY) {
		child = any_child(obj);
		if (!child)
			break;
		obj = child;
	}
	return obj;
}

/* Deletes everything below @dir, but not @dir; depth first, without recursion. */
static int empty_directory(struct yaffs_object *dir)
{
	struct yaffs_object *obj, *parent;
	int err = 0;

	for (obj = deepest(dir); obj != dir && !err; obj = deepest(parent)) {
		parent = obj->parent;
		err = delete_child(obj);
		cond_resched();
	}
	return err;
}

/* Hard links without a target: they cannot be used. */
static int delete_dangling(struct yaffs_device *dev)
{
	struct yaffs_object *obj;
	unsigned long id;
	int err = 0;

	xa_for_each(&dev->objects, id, obj)
		if (obj->type == YAFFS_TYPE_HARDLINK && !obj->hardlink.target &&
		    !err)
			err = delete_child(obj);
	return err;
}

/* Files that were being made shorter. */
static int cut_tails(struct yaffs_device *dev)
{
	struct yaffs_object *obj;
	unsigned long id;
	int err = 0;

	xa_for_each(&dev->objects, id, obj)
		if (obj->tail && !err)
			err = yaffs_file_cut_tail(obj);
	return err == -EBADMSG ? 0 : err;
}

/* Blocks in which nothing is live: found by the scan, or left by a power cut. */
static void recycle_blocks(struct yaffs_device *dev)
{
	struct yaffs_block *b;
	u32 block;

	for (block = 1; block <= dev->n_blocks; block++) {
		b = &dev->blocks[block];
		if (b->state == YAFFS_BLOCK_FULL && !b->pages_in_use &&
		    !b->has_shrink)
			yaffs_block_recycle(dev, block);
	}
}

int yaffs_recover(struct yaffs_device *dev)
{
	int err;

	if (dev->mounted_by == YAFFS_BY_SCAN) {
		yaffs_checkpoint_invalidate(dev);
		recycle_blocks(dev);
	}
	err = empty_directory(dev->unlinked);
	if (!err)
		err = empty_directory(dev->deleted);
	if (!err && dev->options.empty_lost_found)
		err = empty_directory(dev->lost_found);
	if (!err)
		err = delete_dangling(dev);
	if (!err)
		err = cut_tails(dev);
	if (err == -ENOSPC || err == -EIO) {
		pr_info("yaffs2: %s: some deleted objects remain (%d)\n",
			dev->mtd->name, err);
		err = 0;
	}
	return err;
}
