// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a heap of objects to a tree. Scan and checkpoint give each object the number
 * of its parent; here the numbers become pointers, links find their targets, and what
 * has no path to the root gets a place in lost+found.
 *
 * Objects under "unlinked" were in use when power was lost, or half deleted; those
 * under "deleted" were gone already. Both are removed from flash when the mount may
 * write. A read-only mount leaves that to the moment when it becomes writable.
 *
 * Only what is itself in one of the two was deleted. An object whose directory is
 * there no more was not: a header may be missing that could have been read yesterday.
 * It is kept in lost+found, unless the user asked for that to be emptied.
 */

#include <linux/sched.h>

#include "blocks.h"
#include "contents.h"
#include "mount.h"
#include "names.h"
#include "pages.h"

static bool is_root(const struct yaffs_object *obj)
{
	const struct yaffs_device *dev = obj->dev;

	return obj == dev->root || obj == dev->unlinked || obj == dev->deleted;
}

/* NULL: there is none, or it was deleted. */
static struct yaffs_object *directory_of(struct yaffs_object *obj)
{
	struct yaffs_object *dir = yaffs_object_find(obj->dev, obj->parent_id);

	if (!dir || dir == obj || dir->type != YAFFS_TYPE_DIRECTORY)
		return NULL;
	return !is_root(dir) && yaffs_is_grave(dir->parent_id) ? NULL : dir;
}

/*
 * Sets each object's parent, though not yet the parent's children. Objects of one
 * directory mostly follow each other.
 */
static void find_parents(struct yaffs_device *dev)
{
	XA_STATE(xas, &dev->objects, 0);
	struct yaffs_object *obj, *dir = NULL;

	dev->lost_found->parent_id = YAFFS_ID_ROOT;
	rcu_read_lock();
	xas_for_each(&xas, obj, YAFFS_MAX_OBJECT_ID) {
		if (!dir || dir->id != obj->parent_id || dir == obj)
			dir = directory_of(obj);
		obj->parent = is_root(obj) ? NULL : dir;
	}
	rcu_read_unlock();
}

/*
 * Follows parents up to a root or to an object that has a path. Returns the object
 * where the path breaks: its parent is no directory, or on the path already.
 */
static struct yaffs_object *broken_path(struct yaffs_object *obj)
{
	for (; !is_root(obj) && !obj->seen; obj = obj->parent) {
		obj->walked = true;
		if (!obj->parent || obj->parent->walked)
			return obj;
	}
	return NULL;
}

/* Sees to it that the object has a path; true if it has to be one by lost+found. */
static bool make_path(struct yaffs_object *obj)
{
	struct yaffs_object *broken = broken_path(obj);

	if (broken)
		broken->parent = obj->dev->lost_found;
	for (; obj && obj->walked; obj = obj->parent) {
		obj->walked = false;
		obj->seen = true;
	}
	return broken;
}

/* A child of lost+found must have a name; one without a header gets it here. */
static int adopt(struct yaffs_object *obj)
{
	struct yaffs_object *dir = obj->parent;
	int err;

	yaffs_directory_add(dir, obj);
	obj->unlinked = dir == obj->dev->unlinked;
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
	    yaffs_is_grave(target->parent_id))
		target = NULL;
	yaffs_object_set_link(link, target);
	if (!target)
		link->dev->recover_links = true;
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
	link->dev->recover_links = true;
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

/* Forgets what the flash says is deleted already. */
static void forget(struct yaffs_object *obj)
{
	struct yaffs_device *dev = obj->dev;
	bool read_only = dev->read_only;

	/* Nothing may be erased yet: only the books are kept. */
	dev->read_only = true;
	if (obj->type == YAFFS_TYPE_FILE)
		yaffs_file_drop(obj);
	if (obj->hdr_chunk)
		yaffs_chunk_dead(dev, obj->hdr_chunk);
	dev->read_only = read_only;
	obj->parent = NULL;	/* it is not among the children */
	yaffs_object_free(obj);
}

int yaffs_recover_links(struct yaffs_device *dev)
{
	struct yaffs_object *obj;
	unsigned long id;
	u32 lost = 0;
	int err;

	find_parents(dev);
	dev->lost_found->seen = true;
	xa_for_each(&dev->objects, id, obj) {
		if (is_root(obj))
			continue;
		if (obj->parent == dev->deleted) {
			forget(obj);
			continue;
		}
		lost += make_path(obj);
		err = adopt(obj);
		if (err)
			return err;
		if (obj->type == YAFFS_TYPE_HARDLINK)
			find_target(obj);
		if (obj->type == YAFFS_TYPE_FILE && !obj->hdr_chunk)
			obj->file.stored_size = obj->file.size;
		dev->recover_tails |= obj->tail;
		if (id % 64 == 0)
			cond_resched();
	}
	if (lost)
		pr_info("yaffs2: %s: %u objects without a path to the root: lost+found\n",
			dev->mtd->name, lost);
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

/*
 * What was being replaced by a rename, and is known to be so by the mark of the other's
 * header alone. The collector would take that off.
 */
static int delete_shadowed(struct yaffs_device *dev)
{
	struct yaffs_object *obj;
	unsigned long id;
	int err = 0;

	dev->gc.disabled++;
	xa_for_each(&dev->objects, id, obj)
		if (obj->parent == dev->unlinked && !obj->hdr_chunk && !err)
			err = delete_child(obj);
	dev->gc.disabled--;
	/* With the collector there may be room. */
	return err == -ENOSPC ? 0 : err;
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

/*
 * Blocks in which nothing is live: found by the scan, or left by a power cut. Not one that says
 * which objects there are, as long as older pages may speak of others.
 */
static void recycle_blocks(struct yaffs_device *dev)
{
	struct yaffs_block *b;
	u32 block;

	for (block = 1; block <= dev->n_blocks; block++) {
		b = &dev->blocks[block];
		if (b->state == YAFFS_BLOCK_FULL && !b->pages_in_use &&
		    !b->has_shrink && !b->pinned)
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
	err = delete_shadowed(dev);
	if (!err)
		err = empty_directory(dev->unlinked);
	if (!err)
		err = empty_directory(dev->deleted);
	if (!err && dev->options.empty_lost_found)
		err = empty_directory(dev->lost_found);
	if (!err && dev->recover_links)
		err = delete_dangling(dev);
	if (!err && dev->recover_tails)
		err = cut_tails(dev);
	if (err == -ENOSPC || err == -EIO) {
		pr_info("yaffs2: %s: some deleted objects remain (%d)\n",
			dev->mtd->name, err);
		err = 0;
	}
	return err;
}
