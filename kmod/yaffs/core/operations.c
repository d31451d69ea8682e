// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names: create, link, unlink, rename. Each is one or a few headers on flash, in an
 * order that leaves a sound tree wherever power is lost.
 *
 * Unlink. A file that an inode still uses gets a header under "unlinked" first, so
 * that a mount after a crash knows that it is to be deleted; the final header, under
 * "deleted" and with the shrink mark, follows when the inode goes. Other objects get
 * the final header at once. That header is dead as soon as it is written: only scans
 * read it.
 *
 * Rename over a target. A header with the new name shadows the target: a scan that
 * finds this header drops the target. Then the target is unlinked, and the header is
 * written again without the shadow, since the target's id may be used again. The
 * collector must not run in between: it would take the shadow off too early.
 */

#include "contents.h"
#include "gc.h"
#include "names.h"
#include "pages.h"

static void touch_object(struct yaffs_object *obj)
{
	obj->ctime_s = yaffs_now_s();
	obj->dirty = true;
}

/* ---- create ---- */

static int set_up_new(struct yaffs_object *obj, struct yaffs_object *dir,
		      const char *name, u32 name_bytes, const char *symlink)
{
	int err;

	if (symlink) {
		obj->symlink = kstrdup(symlink, GFP_NOFS);
		if (!obj->symlink)
			return -ENOMEM;
	}
	err = yaffs_object_set_name(obj, name, name_bytes);
	if (err)
		return err;
	yaffs_directory_add(dir, obj);
	return yaffs_header_write_new(obj);
}

struct yaffs_object *yaffs_create(struct yaffs_object *dir, const char *name,
				  u32 name_bytes, u8 type,
				  const struct yaffs_attributes *attributes,
				  const char *symlink)
{
	static const char unlinked[] = "unlinked";
	struct yaffs_object *obj;
	int err;

	yaffs_assert_locked(dir->dev);
	if (dir->deleted)
		return ERR_PTR(-ENOENT);
	obj = yaffs_object_new(dir->dev, 0, type);
	if (IS_ERR(obj))
		return obj;
	obj->loaded = true;
	if (type == YAFFS_TYPE_FILE)
		yaffs_map_begin(obj);
	obj->mode = attributes->mode;
	obj->uid = attributes->uid;
	obj->gid = attributes->gid;
	obj->rdev = attributes->rdev;
	obj->atime_s = yaffs_now_s();
	obj->mtime_s = obj->atime_s;
	obj->ctime_s = obj->atime_s;
	if (!name) {
		obj->unlinked = true;
		name = unlinked;
		name_bytes = sizeof(unlinked) - 1;
	}
	err = set_up_new(obj, dir, name, name_bytes, symlink);
	if (err) {
		yaffs_object_free(obj);
		return ERR_PTR(err);
	}
	yaffs_directory_touch(dir);
	return obj;
}

/* ---- move ---- */

/* Gives the object another place, in memory and on flash, or leaves all as it is. */
static int move_object(struct yaffs_object *obj, struct yaffs_object *dir,
		       const char *name, u32 name_bytes,
		       const struct yaffs_header_change *change)
{
	struct yaffs_object *old_dir = obj->parent;
	char *copy, *old_name;
	int err;

	err = yaffs_object_load(obj);
	if (err)
		return err;
	old_name = obj->name;
	copy = kmemdup_nul(old_name, strlen(old_name), GFP_NOFS);
	if (!copy)
		return -ENOMEM;
	err = yaffs_object_set_name(obj, name, name_bytes);
	if (err)
		goto out_free;
	yaffs_directory_remove(obj);
	yaffs_directory_add(dir, obj);
	err = yaffs_header_write(obj, change);
	if (err) {
		yaffs_directory_remove(obj);
		yaffs_directory_add(old_dir, obj);
		yaffs_object_set_name(obj, copy, strlen(copy));
	}
out_free:
	kfree(copy);
	return err;
}

/* ---- link ---- */

int yaffs_link(struct yaffs_object *target, struct yaffs_object *dir,
	       const char *name, u32 name_bytes)
{
	struct yaffs_object *link;
	int err;

	yaffs_assert_locked(dir->dev);
	if (dir->deleted)
		return -ENOENT;
	if (target->unlinked) {
		/* It had no name: this one is its first, no hard link. */
		target->unlinked = false;
		err = move_object(target, dir, name, name_bytes, NULL);
		if (err)
			target->unlinked = true;
		else
			yaffs_directory_touch(dir);
		return err;
	}
	link = yaffs_object_new(target->dev, 0, YAFFS_TYPE_HARDLINK);
	if (IS_ERR(link))
		return PTR_ERR(link);
	link->loaded = true;
	yaffs_object_set_link(link, target);
	err = set_up_new(link, dir, name, name_bytes, NULL);
	if (err) {
		yaffs_object_free(link);
		return err;
	}
	touch_object(target);
	yaffs_directory_touch(dir);
	return 0;
}

/* ---- delete ---- */

static int delete_and_free(struct yaffs_object *obj)
{
	int err = yaffs_object_delete(obj);

	if (!err && !obj->in_use)
		yaffs_object_free(obj);
	return err;
}

/*
 * The object takes the place of the oldest of its hard links. If power is lost before
 * the link is deleted, both have the same name: then a mount drops the link.
 */
static int become_link(struct yaffs_object *obj)
{
	struct yaffs_object *link = list_first_entry(&obj->links,
						     struct yaffs_object,
						     links);
	int err;

	err = yaffs_object_load(link);
	if (err)
		return err;
	obj->ctime_s = yaffs_now_s();
	err = move_object(obj, link->parent, link->name, strlen(link->name),
			  NULL);
	if (err)
		return err;
	return delete_and_free(link);
}

static int unlink_object(struct yaffs_object *obj)
{
	static const char name[] = "unlinked";
	int err;

	if (obj->n_links)
		return become_link(obj);
	if (obj->type != YAFFS_TYPE_FILE || !obj->in_use || obj->damaged)
		return delete_and_free(obj);
	obj->ctime_s = yaffs_now_s();
	err = move_object(obj, obj->dev->unlinked, name, sizeof(name) - 1, NULL);
	if (!err)
		obj->unlinked = true;
	return err;
}

int yaffs_unlink(struct yaffs_object *entry)
{
	struct yaffs_object *dir = entry->parent;
	struct yaffs_object *target;
	int err;

	yaffs_assert_locked(entry->dev);
	if (entry->fake)
		return -EPERM;
	if (entry->type == YAFFS_TYPE_DIRECTORY &&
	    !yaffs_directory_is_empty(entry))
		return -ENOTEMPTY;
	if (entry->type == YAFFS_TYPE_HARDLINK) {
		target = entry->hardlink.target;
		err = delete_and_free(entry);
		if (!err && target)
			touch_object(target);
	} else {
		err = unlink_object(entry);
	}
	if (!err)
		yaffs_directory_touch(dir);
	return err;
}

/* ---- rename ---- */

/*
 * An object that has hard links lives on under the name of one of them: it must not
 * be shadowed. So that its own name is never gone, a further link takes that over,
 * and is returned. While both have it, a mount after a crash drops the link.
 */
static struct yaffs_object *stand_in(struct yaffs_object *obj)
{
	struct yaffs_object *link;
	int err;

	err = yaffs_object_load(obj);
	if (err)
		return ERR_PTR(err);
	link = yaffs_object_new(obj->dev, 0, YAFFS_TYPE_HARDLINK);
	if (IS_ERR(link))
		return link;
	link->loaded = true;
	yaffs_object_set_link(link, obj);
	err = set_up_new(link, obj->parent, obj->name, strlen(obj->name), NULL);
	if (err) {
		yaffs_object_free(link);
		return ERR_PTR(err);
	}
	err = become_link(obj);
	return err ? ERR_PTR(err) : link;
}

static int replace(struct yaffs_object *entry, struct yaffs_object *dir,
		   const char *name, u32 name_bytes, struct yaffs_object *victim)
{
	struct yaffs_header_change shadow = {};
	int err;

	if (victim->n_links && victim->type != YAFFS_TYPE_HARDLINK) {
		victim = stand_in(victim);
		if (IS_ERR(victim))
			return PTR_ERR(victim);
	}
	shadow.shadowed_id = victim->id;
	err = move_object(entry, dir, name, name_bytes, &shadow);
	if (err)
		return err;
	err = yaffs_unlink(victim);
	return yaffs_header_write(entry, NULL) ?: err;
}

int yaffs_rename(struct yaffs_object *entry, struct yaffs_object *dir,
		 const char *name, u32 name_bytes, struct yaffs_object *victim)
{
	struct yaffs_device *dev = entry->dev;
	struct yaffs_object *old_dir = entry->parent;
	int err;

	yaffs_assert_locked(dev);
	if (entry->fake || (victim && victim->fake))
		return -EPERM;
	if (dir->deleted)
		return -ENOENT;
	if (victim && victim->type == YAFFS_TYPE_DIRECTORY &&
	    !yaffs_directory_is_empty(victim))
		return -ENOTEMPTY;
	if (entry->type != YAFFS_TYPE_HARDLINK)
		entry->ctime_s = yaffs_now_s();
	yaffs_gc_before_write(dev);
	dev->gc.disabled++;
	if (victim)
		err = replace(entry, dir, name, name_bytes, victim);
	else
		err = move_object(entry, dir, name, name_bytes, NULL);
	dev->gc.disabled--;
	if (err)
		return err;
	yaffs_directory_touch(old_dir);
	if (dir != old_dir)
		yaffs_directory_touch(dir);
	return 0;
}
